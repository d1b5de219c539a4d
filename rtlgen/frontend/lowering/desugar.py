"""C's shorthands and idioms, rewritten into one effect a statement.

Rewrite
-------
    int f(a, n) int a[8]; int n; { S }         int f(int a[8], int n) { S }
    int f(int n, int) { S }                    int f(int n, int unnamed) { S }
    if (__builtin_expect(x > 0, 1)) S          if (x > 0) S
    volatile int n;                            int n;
    a[k++] = x;                                a[k] = x; k++;
    y = a[k]++;                                y = a[k]; a[k]++;
    if (++c == n) c = 0;                       ++c; if (c == n) c = 0;
    if ((c = a[i]) < 0) S                      c = a[i]; if (c < 0) S
    a[i] = b[i] = 0;                           b[i] = 0; a[i] = b[i];
    return s = 5 * s + 1;                      s = 5 * s + 1; return s;
    do { S } while (0);                        { S }
    (void)f(a);                                f(a);
    printf("%d", n);                           nothing: it changes nothing
    assert(n > 0);                             nothing but that it is so
    for (i = 0, j = 9; i < 10; i++, j--) S     j = 9; for (i = 0; i < 10; i++) { S j--; }

What depends on an order that C leaves open, or on which arm of an expression is taken, is kept as
it is, for the reader of expressions to refuse.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import UnsupportedDeclaration
from rtlgen.frontend.lowering.nodes import (
    FreshNames,
    block,
    changed,
    copied,
    has_effect,
    is_void,
    replaced_part,
    specified,
    statement_fields,
    surely,
)
from rtlgen.frontend.lowering.types import INT, declaration, plain
from rtlgen.frontend.syntax.assigned import (
    STEPS,
    Assumption,
    below,
    called_below,
    calls,
    functions,
    mentioned,
    mentions,
    stepped_by,
)
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import ASSERTING, TELLING


def type_parameters_in_place(tree: c_ast.FileAST, locator: Locator) -> None:
    """Rewrite all functions of a file in place; give each parameter a type and a name.

    Raises
    ------
    UnsupportedDeclaration: a type is given to something that is no parameter.
    """
    fresh = FreshNames(tree)
    for node in tree.ext:
        if isinstance(node, c_ast.FuncDef) and isinstance(node.decl.type, c_ast.FuncDecl):
            arguments = node.decl.type.args
            names = [p for p in arguments.params if isinstance(p, c_ast.ID)] if arguments else []
            if names or node.param_decls:
                _rewrite(node, names, locator)
            elif arguments is not None:
                arguments.params = [_with_name(each, fresh) for each in arguments.params]


def _with_name(parameter: c_ast.Node, fresh: FreshNames) -> c_ast.Node:
    """Return a parameter with a name, which a call counts as it does the others."""
    if not isinstance(parameter, c_ast.Typename) or is_void(parameter.type):
        return parameter
    name, type_ = fresh.fresh("unnamed"), parameter.type
    specified(type_).declname = name
    return c_ast.Decl(name, parameter.quals, [], [], [], type_, None, None, parameter.coord)


def _rewrite(node: c_ast.FuncDef, names: list[c_ast.ID], locator: Locator) -> None:
    typed = {declared.name: declared for declared in node.param_decls or ()}
    listed = {name.name for name in names}
    for name, declared in typed.items():
        if name not in listed:
            raise UnsupportedDeclaration(
                f"`{name}` is no parameter of `{node.decl.name}`",
                labels=(Label(locator.name_span(declared, name)),),
                help="declare variables behind the opening brace",
            )
    if names:
        node.decl.type.args.params = [
            # The type of a parameter may be left out.
            typed.get(name.name) or declaration(name.name, plain(INT), None, name.coord)
            for name in names
        ]
    node.param_decls = None


_HINTS = frozenset(("__builtin_expect", "__builtin_expect_with_probability"))


def drop_expectations(root: c_ast.Node) -> None:
    """Rewrite in place what is only asked whether it is 0."""
    for node in below(root):
        match node:
            case c_ast.If() | c_ast.TernaryOp() | c_ast.For() | c_ast.While():
                node.cond = _bare(node.cond)
            case c_ast.BinaryOp(op="&&" | "||"):
                node.left, node.right = _bare(node.left), _bare(node.right)
            case c_ast.UnaryOp(op="!"):
                node.expr = _bare(node.expr)


def _bare(node: c_ast.Node | None) -> c_ast.Node | None:
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=[first, *_])) if (
            name in _HINTS
        ):
            return _bare(first)
    return node


def drop_volatile(root: c_ast.Node) -> list[c_ast.Node]:
    """Rewrite what is below `root` in place; return the declarations that were `volatile`."""
    found: list[c_ast.Node] = []
    for node in below(root):
        match node:
            case c_ast.TypeDecl() | c_ast.PtrDecl() if "volatile" in (node.quals or ()):
                found.append(node)
                node.quals = [each for each in node.quals if each != "volatile"]
            case c_ast.Decl() | c_ast.Typename():
                node.quals = [each for each in node.quals or () if each != "volatile"]
    return found


def desugar(
    tree: c_ast.FileAST, changing: frozenset[str] = frozenset()
) -> dict[str, list[c_ast.FuncCall]]:
    """Rewrite all functions of a file in place.

    Parameters
    ----------
    changing: functions that change what outlives their calls.

    Returns
    -------
    dict: the calls that are left out, by the name of the function in which they stood.
    """
    left_out: dict[str, list[c_ast.FuncCall]] = {}
    known = functions(tree)
    shared = frozenset(
        node.name
        for node in tree.ext
        if isinstance(node, c_ast.Decl) and node.name and not isinstance(node.type, c_ast.FuncDecl)
    )
    for name, function in known.items():
        calls_left_out = left_out.setdefault(name, [])
        _Desugarer(shared, TELLING - known.keys(), calls_left_out, changing).block(function.body)
    return left_out


def separate_effects(tree: c_ast.FileAST) -> None:
    """Rewrite assignments and declarations of a file in place, each to one effect a statement.

    Loops, jumps and conditions stay.
    """
    shared = frozenset(x.name for x in tree.ext if isinstance(x, c_ast.Decl) and x.name)
    desugarer = _Desugarer(shared, frozenset(), [])
    desugarer.targets = frozenset(x.name for x in below(tree) if isinstance(x, c_ast.Goto))
    for node in below(*(function.body for function in functions(tree).values())):
        desugarer.separate(node)


class _Desugarer:
    """Rewrites statements.

    Parameters
    ----------
    shared: names that functions which are called may see.
    telling: functions whose calls are left out. left_out: takes these calls.
    changing: functions that change what outlives their calls.

    Members
    -------
    targets: labels that jumps lead to.
    """

    def __init__(
        self,
        shared: frozenset[str],
        telling: frozenset[str],
        left_out: list[c_ast.FuncCall],
        changing: frozenset[str] = frozenset(),
    ) -> None:
        self._shared = shared
        self._telling = telling
        self._left_out = left_out
        self._changing = changing
        self.targets = frozenset[str]()

    def block(self, node: c_ast.Compound) -> None:
        """Rewrite the items of a block."""
        items = node.block_items
        if items is not None:
            node.block_items = [part for item in items for part in self._parts(item)]

    def separate(self, node: c_ast.Node) -> None:
        """Separate the effects of the statements that stand directly below a node."""
        for name in () if isinstance(node, c_ast.Label) else statement_fields(node):
            value = getattr(node, name)
            if isinstance(value, list):
                value[:] = [part for item in value for part in self._effects(item)]
            elif not isinstance(value, c_ast.Compound):
                parts = self._effects(value)
                setattr(node, name, parts[0] if len(parts) == 1 else block(parts, value.coord))

    def _effects(self, node: c_ast.Node) -> list[c_ast.Node]:
        match node:
            case c_ast.Label():
                parts, own = self._effects(node.stmt), node.stmt
                # A jump leads to all of it; else the label is the name of the statement.
                is_target = node.name in self.targets or own not in parts
                at = 0 if is_target else parts.index(own)
                node.stmt, parts[at] = parts[at], node
                return parts
            case c_ast.Assignment() | c_ast.Decl():
                return [
                    piece
                    for part in self._stepped(node)
                    for piece in (_chain(part) if part is node else [part])
                ]
            case c_ast.Return(expr=c_ast.Assignment() as value) if not _is_stepping(value.lvalue):
                parts = self._effects(value)
                node.expr = value.lvalue
                return [*parts, node]
        return [node]

    def _body(self, node: c_ast.Node | None) -> c_ast.Node | None:
        """Return what stands in place of the statement under a loop or `if`."""
        if node is None:
            return None
        parts = self._parts(node)
        return parts[0] if len(parts) == 1 else block(parts, node.coord)

    def _parts(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return the statements that do what `node` does."""
        match node:
            case c_ast.Compound():
                self.block(node)
            case c_ast.Label():
                return _labelled(node, self._parts(node.stmt))
            case c_ast.DoWhile(cond=c_ast.Constant(value="0")):
                # The idiom of macros with several statements.
                return self._parts(node.stmt)
            case c_ast.If():
                return self._branch(node)
            case c_ast.For():
                return self._loop(node)
            case c_ast.Cast(
                to_type=c_ast.Typename(type=c_ast.TypeDecl(type=c_ast.IdentifierType(names=names)))
            ) if names == ["void"]:
                # `(void)n;` says that n is not used, and does nothing.
                return self._parts(node.expr) if has_effect(node.expr) else []
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in self._telling:
                return self._told(node)
        return self._effects(node)

    def _told(self, node: c_ast.FuncCall) -> list[c_ast.Node]:
        """Leave out a call, unless its arguments change something."""
        if node.args is not None:
            is_changed = any(changed(part) is not None for part in below(node.args))
            if is_changed or not self._changing.isdisjoint(called_below(node.args)):
                return [node]
        self._left_out.append(node)
        if node.name.name in ASSERTING and node.args is not None and len(node.args.exprs) == 1:
            return [Assumption(node.args.exprs[0], node.coord)]
        return []

    def _branch(self, node: c_ast.If) -> list[c_ast.Node]:
        """Move what a condition changes before the `if`, or, `x++`, to the start of both arms."""
        sets = self._setting(node.cond)
        for one in sets:
            node.cond = replaced_part(node.cond, one, one.lvalue)
        node.cond, before, after = self._separated(node.cond)
        if after:
            arms = [[] if arm is None else [arm] for arm in (node.iftrue, node.iffalse)]
            made = [block([*map(copied, after), *arm], node.coord) for arm in arms]
            node.iftrue, node.iffalse = made
        node.iftrue, node.iffalse = self._body(node.iftrue), self._body(node.iffalse)
        return [*(part for one in sets for part in self._effects(one)), *before, node]

    def _setting(self, condition: c_ast.Node) -> list[c_ast.Assignment]:
        """Return the assignment in a condition, if it may as well stand before it."""
        sets = [x for x in surely(condition) if isinstance(x, c_ast.Assignment)]
        if len(sets) != 1 or not isinstance(sets[0].lvalue, c_ast.ID):
            return []
        if sum(changed(part) is not None for part in below(condition)) > 1:
            return []
        name = sets[0].lvalue.name
        is_seen = _mentions_of(condition, name) > _mentions_of(sets[0], name)
        return [] if is_seen or (calls(condition) and name in self._shared) else sets

    def _stepped(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Move every `x++` out of a statement, if C says when it happens."""
        set_here = node.name if isinstance(node, c_ast.Decl) else base_name(node.lvalue)
        node, before, after = self._separated(node, set_here)
        return [*before, node, *after]

    def _separated(
        self, node: c_ast.Node, set_here: str | None = None
    ) -> tuple[c_ast.Node, list[c_ast.Node], list[c_ast.Node]]:
        """Return an expression without its steps, if nothing else in it can tell when they happen.

        Parameters
        ----------
        set_here: the name of what is set to the expression.

        Returns
        -------
        tuple: the expression, the steps that go before it, and those that go behind it.
        """
        steps = list(_steps(node))
        names = {stepped(step) for step in steps}
        is_open = set_here in names.union(*map(_subscript_names, steps))
        is_seen = calls(node) and not self._shared.isdisjoint(names)
        if is_open or is_seen or any(_mentions_of(node, name) != 1 for name in names):
            return node, [], []
        return _without(node, steps)

    # Loops.

    def _loop(self, node: c_ast.For) -> list[c_ast.Node]:
        node.stmt = self._body(node.stmt)
        counted = _counted(node)
        starts = _other_starts(node, counted)
        before = [piece for part in starts for piece in self._parts(part)]
        after = _other_steps(node, counted)
        if after:
            parts = [part for step in after for part in self._parts(step)]
            node.stmt = block([node.stmt, *parts], node.stmt.coord)
        declares = any(isinstance(part, c_ast.Decl) for part in before)
        return [block([*before, node], node.coord)] if declares else [*before, node]


def _other_starts(node: c_ast.For, counted: frozenset[str]) -> list[c_ast.Node]:
    """Take what does not set the iterator out of the first part of a header."""
    match node.init:
        case c_ast.DeclList(decls=parts) | c_ast.ExprList(exprs=parts) if len(parts) > 1:
            mine, others = _apart(parts, counted)
            set_ = frozenset(name for part in others if (name := stepped_by(part)))
            if not others or mentions(_value(mine[0]), set_):
                return []
            is_declared = isinstance(node.init, c_ast.DeclList)
            node.init = c_ast.DeclList(mine, node.init.coord) if is_declared else mine[0]
            return others
    return []


def _other_steps(node: c_ast.For, counted: frozenset[str]) -> list[c_ast.Node]:
    """Take what does not step the iterator out of the last part of a header."""
    if not isinstance(node.next, c_ast.ExprList):
        return []
    mine, others = _apart(node.next.exprs, counted)
    if others:
        node.next = mine[0]
    return others


def _apart(
    parts: Sequence[c_ast.Node], counted: frozenset[str]
) -> tuple[list[c_ast.Node], list[c_ast.Node]]:
    """Return the part of a header that sets the iterator, and the others; none if they use it."""
    mine = [part for part in parts if stepped_by(part) in counted]
    others = [part for part in parts if stepped_by(part) not in counted]
    return (mine, []) if len(mine) != 1 or counted & mentioned(*others) else (mine, others)


def _counted(node: c_ast.For) -> frozenset[str]:
    """Return the names of which one may be the iterator; of several that are set, the first."""
    compared = _compared(node.cond)
    parts: Iterable[c_ast.Node] = ()
    match node.init:
        case c_ast.DeclList(decls=parts) | c_ast.ExprList(exprs=parts):
            pass
        case None if isinstance(node.next, c_ast.ExprList):
            parts = node.next.exprs
    first = next((name for part in parts if (name := stepped_by(part)) in compared), "")
    return frozenset((first,)) if first else compared


def _compared(condition: c_ast.Node | None) -> frozenset[str]:
    """Return the names that the condition of a loop has alone on a side of a comparison."""
    if condition is None:
        return frozenset()
    return frozenset(
        side.name
        for node in below(condition)
        if isinstance(node, c_ast.BinaryOp)
        for side in (node.left, node.right)
        if isinstance(side, c_ast.ID)
    )


def _value(node: c_ast.Node) -> c_ast.Node:
    """Return what a part of a header sets something to."""
    return node.init if isinstance(node, c_ast.Decl) and node.init is not None else node


# Pieces of the tree.


def _chain(node: c_ast.Assignment | c_ast.Decl) -> list[c_ast.Node]:
    """Rewrite `a = b = e`; what `a` gets is what `b` then holds."""
    inner = node.init if isinstance(node, c_ast.Decl) else node.rvalue
    if not isinstance(inner, c_ast.Assignment):
        return [node]
    if _is_stepping(inner.lvalue):
        return [node]
    parts = _chain(inner)
    if isinstance(node, c_ast.Decl):
        node.init = inner.lvalue
        return [*parts, node]
    return [*parts, c_ast.Assignment(node.op, node.lvalue, inner.lvalue, node.coord)]


def _is_step(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op in STEPS


def _mentions_of(node: c_ast.Node, name: str) -> int:
    return sum(isinstance(part, c_ast.ID) and part.name == name for part in below(node))


def _is_stepping(node: c_ast.Node) -> bool:
    return any(_is_step(part) for part in below(node))


def _steps(node: c_ast.Node) -> Iterator[c_ast.UnaryOp]:
    """Yield each `x++` or `a[i]++` in `node`, in text order, that is surely carried out."""
    for part in surely(node):
        if _is_step(part) and base_name(part.expr) is not None:
            inside = [each for each in below(part.expr) if each is not part.expr]
            if not any(changed(x) is not None or isinstance(x, c_ast.FuncCall) for x in inside):
                yield part


def base_name(node: c_ast.Node) -> str | None:
    """Return the name of a variable, of the array of an element, or of a pointer to it."""
    while isinstance(node, c_ast.ArrayRef) or (isinstance(node, c_ast.UnaryOp) and node.op == "*"):
        node = node.name if isinstance(node, c_ast.ArrayRef) else node.expr
    return node.name if isinstance(node, c_ast.ID) else None


def stepped(step: c_ast.UnaryOp) -> str:
    """Return the name of what a step of a variable, or of an element of an array, changes."""
    name = base_name(step.expr)
    assert name is not None, "it is one of these"
    return name


def _subscript_names(step: c_ast.UnaryOp) -> Iterator[str]:
    """Yield the names in the subscripts of what is stepped."""
    node = step.expr
    while isinstance(node, c_ast.ArrayRef):
        yield from (part.name for part in below(node.subscript) if isinstance(part, c_ast.ID))
        node = node.name


def lifted_steps(
    node: c_ast.Node, is_wanted: Callable[[c_ast.UnaryOp], bool]
) -> tuple[list[c_ast.Node], list[c_ast.Node]]:
    """Take steps out of a statement; return those that go before it, and those that go behind it.

    Only what is surely carried out is taken, of variables that the statement names once.
    """
    steps = [step for step in _steps(node) if step is not node and is_wanted(step)]
    _, before, after = _without(node, [x for x in steps if _mentions_of(node, stepped(x)) == 1])
    return before, after


def _without(
    node: c_ast.Node, steps: Sequence[c_ast.UnaryOp]
) -> tuple[c_ast.Node, list[c_ast.Node], list[c_ast.Node]]:
    """Return a node without some of its steps; those that go before it, and those behind it."""
    for step in steps:
        node = replaced_part(node, step, copied(step.expr))
    before = [step for step in steps if not step.op.startswith("p")]
    return node, before, [step for step in steps if step.op.startswith("p")]


def _labelled(node: c_ast.Label, parts: list[c_ast.Node]) -> list[c_ast.Node]:
    """Put a label before the loop, or else the last statement, among `parts`."""
    if not parts:
        return []
    if isinstance(node.stmt, c_ast.For) and isinstance(parts[-1], c_ast.Compound):
        items = parts[-1].block_items
        return [block([*items[:-1], *_labelled(node, items[-1:])], node.coord)]
    return [*parts[:-1], c_ast.Label(node.name, parts[-1], node.coord)]
