"""What functions of a file change; and calls of functions outside of it, left out.

Functions of a file that change something that outlives their calls, found without reading them.

static int next(int *seed) { return *seed = *seed * 5 + 1; }        what is handed over
static int count(void) { static int n; return ++n; }                what it keeps
static int twice(int x) { x *= 2; return x; }                       nothing

Calls of functions outside of the file, that cannot touch what the kernel computes, left out.

Rewrite
-------
    struct timeval start, end;                  struct timeval start, end;
    gettimeofday(&start, NULL);
    for (...) a[i] += b[i];                     for (...) a[i] += b[i];
    gettimeofday(&end, NULL);
    double spent = end.tv_sec - start.tv_sec;   double spent;
    printf("%f", spent);                        printf("%f", spent);
    free(b);

Neither an array nor a pointer is handed over, but to `free`, and what the function returns, or
leaves in a variable whose address it takes, ends in calls that are left out as well. Functions that
no header declares might change the variables of the file: there must be none. A function of the
file that only asks such functions, `double now(void)`, is left out as they are.

    printf("%d", dummy(a));                     dummy(a);           which is refused
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import changed, statement_fields
from rtlgen.frontend.lowering.types import (
    ArrayOf,
    PointerTo,
)
from rtlgen.frontend.syntax.assigned import NUMBERS, below, called_below, called_by, functions
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import ABSOLUTE, BLOCK_CALLS, TELLING


def changing_functions(tree: c_ast.FileAST) -> frozenset[str]:
    """Return the names of functions that change more than their own variables, or call such.

    What functions outside of the file do is not known, and not asked for.
    """
    bodies, found = functions(tree), set[str]()
    names = Names()
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef):
            found |= {node.decl.name} if _changes(node, names) else set()
        elif isinstance(node, c_ast.Decl | c_ast.Typedef):
            names.declare(node)
    while callers := {
        name
        for name, node in bodies.items()
        if name not in found and not found.isdisjoint(called_below(node.body))
    }:
        found |= callers
    return frozenset(found)


def _changes(function: c_ast.FuncDef, names: Names) -> bool:
    """Return whether a function changes more than its own variables; declare its name."""
    returns = (x.expr for x in below(function.body) if isinstance(x, c_ast.Return) and x.expr)
    returned = {id(part) for expr in returns for part in _returned(expr)}
    # A list, so that all of it is declared.
    found = [_changes_itself(x, names) for x in names.walk(function) if id(x) not in returned]
    return any(found)


def _returned(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield the addresses that a function gives to its caller, who may change what is there."""
    match node:
        case c_ast.UnaryOp(op="&"):
            yield node
        case c_ast.TernaryOp(iftrue=first, iffalse=second):
            yield from (*_returned(first), *_returned(second))
        case c_ast.BinaryOp(op="+" | "-", left=first, right=second):
            yield from (*_returned(first), *_returned(second))
        case c_ast.Cast(expr=inner):
            yield from _returned(inner)


def _changes_itself(node: c_ast.Node, names: Names) -> bool:
    if isinstance(node, c_ast.Decl):
        is_pointer = isinstance(node.type, c_ast.PtrDecl) and node.init is not None
        return is_pointer and not _points_to_own(node.init, names)
    target = changed(node, "&")
    return target is not None and not _is_own(target, names)


def _is_own(node: c_ast.Node, names: Names) -> bool:
    """Return whether an expression names a variable that dies with the call, or a part of it."""
    match node:
        case c_ast.ID(name=name):
            symbol = names.lookup(name)
            return symbol is not None and symbol.is_own
        case c_ast.ArrayRef(name=array):
            return isinstance(names.type_of(array), ArrayOf) and _is_own(array, names)
        case c_ast.StructRef(type=".", name=whole):
            return _is_own(whole, names)
    return False


def _points_to_own(node: c_ast.Node, names: Names) -> bool:
    """Return whether a pointer points into a variable that dies with the call, or nowhere."""
    match node:
        case c_ast.UnaryOp(op="&", expr=inner):
            return _is_own(inner, names)
        case c_ast.Cast(expr=inner):
            return _points_to_own(inner, names)
        case c_ast.BinaryOp(left=left, right=right):
            sides = [s for s in (left, right) if isinstance(names.decayed(s), PointerTo)]
            return all(_points_to_own(side, names) for side in sides)
        case c_ast.Constant():
            return True
    return isinstance(names.type_of(node), ArrayOf) and _is_own(node, names)


_FREEING = frozenset(("free", "_mm_free"))
_JUMPING = frozenset(
    ("_Exit", "_exit", "abort", "exit", "longjmp", "quick_exit", "setjmp", "siglongjmp")
)
"""Functions that do not come back to where they are called, or do so twice."""


def drop_outside_calls(
    tree: c_ast.FileAST, locator: Locator, changing: frozenset[str]
) -> dict[str, list[c_ast.FuncCall]]:
    """Rewrite all functions of a file in place.

    Parameters
    ----------
    changing: functions that change what outlives their calls.

    Returns
    -------
    dict: the calls that are left out, by the name of the function in which they stood.
    """
    bodies = functions(tree)
    variables = [
        node
        for node in tree.ext
        if isinstance(node, c_ast.Decl) and node.name and not isinstance(node.type, c_ast.FuncDecl)
    ]
    of_file = [node for node in variables if not locator.is_above(node)]
    from_headers = {
        node.name
        for node in tree.ext
        if isinstance(node, c_ast.Decl)
        and isinstance(node.type, c_ast.FuncDecl)
        and locator.is_above(node)
    }
    refused = frozenset((*bodies, *BLOCK_CALLS, *ABSOLUTE, *TELLING, *_JUMPING))
    is_changing = any("const" not in variable.quals for variable in of_file)
    known = frozenset(from_headers) | _FREEING if is_changing else None
    asking = _asking(bodies, changing, refused, known)
    outside = _Outside(refused - asking, None if known is None else known | asking, from_headers)
    left_out: dict[str, list[c_ast.FuncCall]] = {}
    scalars = {v.name for v in variables if _is_number(v)}
    shared = {variable.name for variable in variables}
    for name, node in bodies.items():
        if not locator.is_above(node.decl):
            left_out[name] = _Function(node, outside, shared, scalars).rewrite()
    return left_out


def _asking(
    bodies: Mapping[str, c_ast.FuncDef],
    changing: frozenset[str],
    refused: frozenset[str],
    known: frozenset[str] | None,
) -> frozenset[str]:
    """Return the functions of the file that change nothing, and ask functions outside of it."""
    found: set[str] = set()
    while True:
        more = {
            name
            for name, node in bodies.items()
            if name not in found | changing
            and (asked := called_below(node.body) - {*TELLING, *ABSOLUTE})
            and all(x in found or (x not in refused and (not known or x in known)) for x in asked)
        }
        if not more:
            return frozenset(found)
        found |= more


@dataclass(frozen=True, slots=True)
class _Outside:
    """Which functions are outside of the file.

    Members
    -------
    refused: those that are not, or that are no plain calls.
    known: the only functions that may be left out; None for any.
    from_headers: functions that headers declare.
    """

    refused: frozenset[str]
    known: frozenset[str] | None
    from_headers: set[str]


class _Function:
    """Rewrites one function.

    Parameters
    ----------
    outside: which functions are. shared: variables of the file. scalars: of them, the numbers.
    """

    def __init__(
        self, node: c_ast.FuncDef, outside: _Outside, shared: set[str], scalars: set[str]
    ) -> None:
        self._node = node
        self._outside = outside
        declared = [part for part in below(node) if isinstance(part, c_ast.Decl) and part.name]
        numbers = {part.name for part in declared if _is_number(part)} | scalars
        self._numbers = numbers - {part.name for part in declared if not _is_number(part)}
        inside = [part for part in below(node.body) if isinstance(part, c_ast.Decl)]
        self._locals = {
            part.name
            for part in inside
            if part.name and not part.storage and isinstance(part.type, c_ast.TypeDecl)
        }
        outer = {part.name for part in declared if not any(part is other for other in inside)}
        self._locals -= outer | shared
        self._statements = {id(part): part for part in _statements(node.body)}
        marks = [
            item.coord.line
            for item in node.body.block_items or ()
            if isinstance(item, c_ast.Pragma)
        ]
        self._region = (marks[0], marks[-1]) if marks else None
        self._watched: set[str] = set()
        self._calls: list[c_ast.FuncCall] = []

    def rewrite(self) -> list[c_ast.FuncCall]:
        """Leave out what can be, and return the calls among it."""
        if not any(self._is_outside(part) for part in below(self._node.body)):
            return []
        self._watched = self._watching()
        for node in below(self._node.body):
            self._sweep(node)
        return self._calls

    def _is_outside(self, node: c_ast.Node) -> bool:
        """Return whether a node is a call of a function outside of the file.

        What stands beside a marked region is not left out: it says what comes in and goes out.
        """
        name = called_by(node)
        if not name:
            return False
        if self._region and not self._region[0] < node.coord.line < self._region[1]:
            return False
        is_known = self._outside.known is None or name in self._outside.known
        return is_known and name not in self._outside.refused and name not in self._numbers

    # Variables that only tell how long it took.

    def _watching(self) -> set[str]:
        """Return the variables that hold what outside calls give, and end in calls left out."""
        candidates = set(self._locals)
        while used := candidates & {
            *self._used_elsewhere(self._node.body, candidates),
            *self._set_to_others(candidates),
        }:
            candidates -= used
        self._watched = candidates
        found: set[str] = set()
        while True:
            reached = {
                name
                for part in below(self._node.body)
                for name in candidates & {_target(part)}
                if self._comes_from_outside(part, found)
            }
            reached |= {
                name
                for part in below(self._node.body)
                if self._is_outside(part)
                for name in _addresses(part)
                if name in candidates
            }
            if reached <= found:
                return found
            found |= reached

    def _set_to_others(self, candidates: set[str]) -> Iterator[str]:
        """Yield names of candidates that are set to what the kernel computes."""
        for node in below(self._node.body):
            name = _target(node)
            if name is None:
                continue
            no_variables = {
                id(part.name if isinstance(part, c_ast.FuncCall) else part.field)
                for part in below(node)
                if isinstance(part, c_ast.FuncCall | c_ast.StructRef)
            }
            value = node.init if isinstance(node, c_ast.Decl) else node
            for part in below(value):
                is_name = isinstance(part, c_ast.ID) and id(part) not in no_variables
                if is_name and part.name not in candidates:
                    yield name

    def _used_elsewhere(self, node: c_ast.Node, candidates: set[str]) -> Iterator[str]:
        """Yield names of candidates that are used for something else than to be told."""
        if isinstance(node, c_ast.ID):
            yield node.name
            return
        if name := called_by(node):
            is_left_out = name in TELLING or self._is_outside(node)
            if is_left_out and node.args is not None:
                for argument in node.args.exprs:
                    asked = (part for part in below(argument) if isinstance(part, c_ast.FuncCall))
                    if not all(self._may_go(part) for part in asked):
                        yield from self._used_elsewhere(argument, candidates)
                return
        is_statement = id(node) in self._statements
        if is_statement and _target(node) in candidates and not _has_effects(node):
            return
        if isinstance(node, c_ast.StructRef):
            # Its member is no variable.
            yield from self._used_elsewhere(node.name, candidates)
            return
        for _, child in node.children():
            yield from self._used_elsewhere(child, candidates)

    def _comes_from_outside(self, node: c_ast.Node, found: set[str]) -> bool:
        value = node.init if isinstance(node, c_ast.Decl) else node
        return value is not None and any(
            self._may_go(part) or (isinstance(part, c_ast.ID) and part.name in found)
            for part in below(value)
        )

    # Statements.

    def _sweep(self, node: c_ast.Node) -> None:
        """Leave out what can be among the statements of a node."""
        for name in statement_fields(node):
            value = getattr(node, name)
            if isinstance(value, list):
                value[:] = [self._told(part) for part in value if not self._goes(part)]
                continue
            told = self._told(value)
            goes = self._goes(told)
            setattr(node, name, c_ast.EmptyStatement(told.coord) if goes else told)

    def _told(self, part: c_ast.Node) -> c_ast.Node:
        """Return a statement, or the call in what it tells that might change what is computed."""
        if called_by(part) in TELLING and part.args is not None:
            for inner in below(part.args):
                is_outside = self._is_outside(inner) and not self._may_go(inner)
                if is_outside and inner.name.name not in self._outside.from_headers:
                    return inner
        return part

    def _goes(self, part: c_ast.Node) -> bool:
        """Return whether a statement is left out; a declaration only loses its value."""
        if isinstance(part, c_ast.Decl):
            if part.name in self._watched and part.init is not None:
                self._note(part.init)
                part.init = None
            return False
        goes = _target(part) in self._watched or self._may_go(part)
        if goes:
            self._note(part)
        return goes

    def _note(self, root: c_ast.Node) -> None:
        self._calls += [part for part in below(root) if self._is_outside(part)]

    def _may_go(self, node: c_ast.Node) -> bool:
        """Return whether a node is a call that cannot touch what is computed."""
        if isinstance(node, c_ast.Cast):
            return self._may_go(node.expr)
        if not self._is_outside(node):
            return False
        arguments = list(node.args.exprs) if node.args is not None else []
        if node.name.name in _FREEING:
            return not any(
                changed(part) is not None for argument in arguments for part in below(argument)
            )
        return all(self._is_harmless(argument) for argument in arguments)

    def _is_harmless(self, node: c_ast.Node) -> bool:
        """Return whether an argument gives the function nothing of what is computed to change."""
        match node:
            case c_ast.Constant():
                return True
            case c_ast.ID(name=name):
                return name in self._numbers
            case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                return name in self._watched
            case c_ast.UnaryOp(op="sizeof"):
                return True
            case c_ast.UnaryOp(op="+" | "-" | "~" | "!", expr=inner) | c_ast.Cast(expr=inner):
                return self._is_harmless(inner)
            case c_ast.BinaryOp(left=left, right=right):
                return self._is_harmless(left) and self._is_harmless(right)
        return False


def _statements(body: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield the statements below a function's body."""
    for node in below(body):
        for name in statement_fields(node):
            value = getattr(node, name)
            yield from value if isinstance(value, list) else (value,)


def _target(node: c_ast.Node) -> str | None:
    """Return the name of the variable that a statement sets, all of it or a member."""
    match node:
        case c_ast.Decl(name=str(name), init=c_ast.Node()):
            return name
    base = changed(node)
    while isinstance(base, c_ast.StructRef) and base.type == ".":
        base = base.name
    return str(base.name) if isinstance(base, c_ast.ID) else None


def _addresses(call: c_ast.Node) -> Iterator[str]:
    for part in below(call):
        if isinstance(part, c_ast.UnaryOp) and part.op == "&" and isinstance(part.expr, c_ast.ID):
            yield part.expr.name


def _has_effects(node: c_ast.Node) -> bool:
    """Return whether a value sets something on the way."""
    value = node.init if isinstance(node, c_ast.Decl) else node
    return any(changed(part) is not None for part in below(value) if part is not node)


def _is_number(node: c_ast.Decl) -> bool:
    """Return whether a name is declared as a number: the type has no other name."""
    inner = node.type.type if isinstance(node.type, c_ast.TypeDecl) else None
    return isinstance(inner, c_ast.IdentifierType) and set(inner.names) <= NUMBERS
