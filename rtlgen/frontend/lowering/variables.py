"""The scalars of a function, as its text declares and uses them, and those with one value.

Rewrite
-------
    int n = 8, t[n];            int n = 8, t[8];            n is never assigned
    int t[] = {1, [4] = 2};     int t[5] = {1, [4] = 2};

    static void f(int n);       n of `f` is 8: nobody outside of the file can call it
    int n = 8; f(n); f(8);

    void f(int *a);             void f(int a[64]);              -D a_EXTENT=64
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import BadDefinition
from rtlgen.frontend.lowering.initialisers import take_count
from rtlgen.frontend.lowering.names import Evaluator, Names, Symbol
from rtlgen.frontend.lowering.nodes import LOOPS, integer, opposite, reads_memory, replaced
from rtlgen.frontend.lowering.types import (
    INT,
    ArrayOf,
    Number,
    Plain,
    PointerTo,
    as_value,
    declarator,
    innermost,
    name_coord,
    number_type,
    placed,
    plain,
)
from rtlgen.frontend.reading.types import SUFFIX
from rtlgen.frontend.syntax.assigned import (
    assigned,
    below,
    called_below,
    called_by,
    functions,
    mentioned,
    setting_of,
)
from rtlgen.frontend.syntax.liveness import Liveness
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import ASSERTING, parameters


def take_known_extents(tree: c_ast.FileAST, locator: Locator) -> None:
    """Rewrite all functions of a file in place."""
    names, seen = Names(), set[int]()
    for node in tree.ext:
        changed = {name for name, _ in assigned(node)} if isinstance(node, c_ast.FuncDef) else set()
        for symbol in names.used(node):
            # Where it is used, another variable may have the name of one in its extent.
            is_new = isinstance(symbol.node, c_ast.Decl) and id(symbol.node) not in seen
            seen.add(id(symbol.node))
            array = symbol.node.type if is_new else None
            if is_new and isinstance(symbol.type, ArrayOf) and symbol.node.init is not None:
                take_count(symbol.node, symbol.type, names, locator)
            while isinstance(array, c_ast.ArrayDecl):
                if array.dim is not None:
                    extent = _known(array.dim, names, changed)
                    size = None if isinstance(extent, c_ast.Constant) else names.constant(extent)
                    array.dim = extent if size is None or size < 1 else integer(size, extent.coord)
                array = array.type


def state_extents(
    tree: c_ast.FileAST, function: c_ast.FuncDef, fixed: Mapping[str, str], locator: Locator
) -> None:
    """Give the parameters of a function that point to arrays the extents that options state.

    Raises
    ------
    BadDefinition: an option is no positive number.
    """
    names = Names()
    for node in tree.ext:
        if node is function:
            break
        if isinstance(node, c_ast.Decl | c_ast.Typedef):
            names.declare(node)
    for parameter in parameters(function):
        option = f"{parameter.name}{SUFFIX}"
        type_ = as_value(names.read(parameter.type))
        is_open = isinstance(parameter.type, c_ast.PtrDecl | c_ast.TypeDecl) or (
            isinstance(parameter.type, c_ast.ArrayDecl) and parameter.type.dim is None
        )
        if option not in fixed or not is_open or not isinstance(type_, PointerTo):
            continue
        text = fixed[option].strip()
        if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
            label = "points to an array of unknown extent"
            raise BadDefinition(
                f"-D {option}={text} is no extent",
                labels=(Label(locator.name_span(parameter, parameter.name), label),),
                help=f"write -D {option}=VALUE with a positive number",
            )
        at = name_coord(parameter)
        parameter.type = declarator(ArrayOf(type_.to, integer(int(text), at)), parameter.name, at)


def known_parameters(tree: c_ast.FileAST, function: str) -> dict[str, int]:
    """Return the parameters of a function that are the same integer whenever it is called.

    That is known of a `static` function, all calls of which are in the file.
    """
    found = functions(tree).get(function)
    if found is None or "static" not in found.decl.storage:
        return {}
    declared = parameters(found)
    names = Names()
    calls = list(_calls(tree, function, names))
    named = sum(isinstance(x, c_ast.ID) and x.name == function for x in below(tree))
    # Where it is named otherwise, somebody may call it by its address.
    if not calls or len(calls) != named or any(len(x) != len(declared) for x in calls):
        return {}
    known = {}
    for parameter, first, *others in zip(declared, *calls, strict=True):
        number = number_type(names.read(parameter.type))
        if first is None or any(other != first for other in others) or number is None:
            continue
        low, high = number.limits
        if low <= first <= high and not number.is_floating:
            known[parameter.name] = first
    return known


@dataclass(frozen=True, slots=True)
class Deciding:
    """The integers that a kernel is given on which its control depends.

    Members
    -------
    of_all: in the order in which they are declared.
    of_loops: those on which the number of iterations depends, by the line of the loop's place.
    """

    of_all: tuple[str, ...] = ()
    of_loops: Mapping[int, tuple[str, ...]] = field(default_factory=dict)


def deciding_parameters(tree: c_ast.FileAST, function: str) -> Deciding:
    """Return the parameters that an option may fix so that control is known."""
    bodies = functions(tree)
    loops: dict[int, set[str]] = {}
    # What decides in each function, of its parameters.
    decides: dict[str, frozenset[str]] = {}
    pending = [function]
    while pending:
        name = pending.pop()
        found = _deciding_in(bodies[name], bodies, decides, loops)
        if found != decides.get(name):
            decides[name] = found
            pending += [x for x, body in bodies.items() if name in called_below(body)]
        pending += [x for x in called_below(bodies[name]) if x in bodies and x not in decides]
    names = Names()
    for node in tree.ext:
        if isinstance(node, c_ast.Decl | c_ast.Typedef):
            names.declare(node)
    numbers = [(x.name, number_type(names.read(x.type))) for x in parameters(bodies[function])]
    listed = [n for n, number in numbers if number is not None and not number.is_floating]
    of_all = tuple(x for x in listed if x in decides[function])
    own = {x.coord.line for x in below(bodies[function].body) if isinstance(x, LOOPS)}
    of_loops = {line: tuple(x for x in listed if x in asked) for line, asked in loops.items()}
    # What a function is given that is called may be any of them.
    return Deciding(of_all, {k: x if k in own else of_all for k, x in of_loops.items()})


def _deciding_in(
    function: c_ast.FuncDef,
    bodies: Mapping[str, c_ast.FuncDef],
    decides: Mapping[str, frozenset[str]],
    loops: dict[int, set[str]],
) -> frozenset[str]:
    """Return the names on which loops, sizes and subscripts in a function depend."""
    sources: dict[str, set[str]] = {}
    found: set[str] = set()
    for node in below(function.body):
        name, value = setting_of(node) or ("", None)
        if isinstance(node, c_ast.Assignment) and isinstance(node.lvalue, c_ast.ID):
            name, value = node.lvalue.name, node.rvalue
        if value is not None and not reads_memory(value):
            sources.setdefault(name, set()).update(mentioned(value))
    for node in below(function.body):
        match node:
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                init = node.init if isinstance(node, c_ast.For) else None
                asked = _closed(mentioned(node.cond, init), sources)
                loops.setdefault(node.coord.line, set()).update(asked)
                found |= asked
            case c_ast.ArrayRef(subscript=index):
                found |= mentioned(index)
            case c_ast.ArrayDecl(dim=c_ast.Node() as extent):
                found |= mentioned(extent)
            case c_ast.FuncCall(name=c_ast.ID(name=name), args=c_ast.ExprList(exprs=given)):
                taken = parameters(bodies[name]) if name in bodies else ()
                for parameter, value in zip(taken, given, strict=False):
                    if parameter.name in decides.get(name, ()):
                        found |= mentioned(value)
    return _closed(found, sources)


def _closed(names: Iterable[str], sources: Mapping[str, set[str]]) -> frozenset[str]:
    """Return some names, and those that they are set to."""
    found, pending = set(names), list(names)
    while pending:
        more = sources.get(pending.pop(), set()) - found
        found |= more
        pending += more
    return frozenset(found)


def _calls(tree: c_ast.FileAST, function: str, names: Names) -> Iterator[list[int | None]]:
    """Yield the integers that each call of a function gives it; None where that is not known."""
    for node in tree.ext:
        changed = {name for name, _ in assigned(node)} if isinstance(node, c_ast.FuncDef) else set()
        for part in names.walk(node):
            match part:
                case c_ast.FuncCall(name=c_ast.ID(name=name), args=given) if name == function:
                    arguments = given.exprs if given is not None else ()
                    yield [names.constant(_known(x, names, changed)) for x in arguments]


def _known(extent: c_ast.Node, names: Names, changed: set[str]) -> c_ast.Node:
    """Return an extent, or an argument, with values in place of variables."""
    values = {}
    for part in below(extent):
        symbol = names.lookup(part.name) if isinstance(part, c_ast.ID) else None
        if symbol is not None and symbol.name not in changed and _holds(symbol, names):
            values[symbol.name] = placed(symbol.node.init, part.coord)
    return replaced(extent, values)


def _holds(symbol: Symbol, names: Names) -> bool:
    """Return whether something is a variable that is given a literal that its type holds."""
    node, number = symbol.node, number_type(symbol.type)
    if not isinstance(node, c_ast.Decl) or not isinstance(node.init, c_ast.Constant):
        return False
    # A constant is one already, and what is shared may change elsewhere.
    if symbol.is_shared or node.storage or "const" in node.quals or number is None:
        return False
    value = None if number.is_floating else names.constant(node.init)
    return value is not None and value <= number.limits[1]


class Variables:
    """What a function declares.

    A name that stands for several things of different types, or for something else than a number of
    the function, is none of its scalars.

    Parameters
    ----------
    tree: the file.
    """

    def __init__(self, function: c_ast.FuncDef, tree: c_ast.FileAST) -> None:
        self._liveness = Liveness()
        self._liveness.before(function.body.block_items or ())
        self._names = Names()
        self._scalars: dict[str, Number] = {}
        self._numbers: set[str] = set()
        self._single: set[str] = set()
        self._floating: set[str] = set()
        self._defined = functions(tree).keys()
        found: dict[str, list[Symbol]] = {}
        for symbol in _used(self._names, function, tree):
            found.setdefault(symbol.name, []).append(symbol)
        for name, symbols in found.items():
            first, numbers = symbols[0], {number_type(each.type) for each in symbols}
            number = numbers.pop() if len(numbers) == 1 else None
            is_one = number is not None or all(each.node is first.node for each in symbols)
            if all(each.node is first.node for each in symbols):
                self._single.add(name)
            else:
                first = replace(first, value=None)
            if not is_one and any(map(_is_floating, symbols)):
                self._floating.add(name)
            self._names.bind(first if is_one else Symbol(name, Plain(()), first.node))
            if number is None or not all(each.is_own for each in symbols):
                continue
            self._numbers.add(name)
            if not number.is_floating:
                self._scalars[name] = number
        for part in below(function.body):
            match part:
                case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                    # Who has its address may change it.
                    self._scalars.pop(name, None)
                    self._numbers.discard(name)

    def is_scalar(self, name: str) -> bool:
        """Return whether a name stands for one integer of the function, wherever it is used."""
        return name in self._scalars

    def is_single(self, name: str) -> bool:
        """Return whether a name stands for one and the same thing wherever it is used."""
        return name in self._single

    def is_calling(self, node: c_ast.Node) -> bool:
        """Return whether a function is called below a node, other than to assert something."""
        silent = ASSERTING - self._defined
        calls = (x for x in below(node) if isinstance(x, c_ast.FuncCall))
        return any(called_by(x) not in silent for x in calls)

    def is_number(self, name: str) -> bool:
        """Return whether a name stands for one number of the function, that nobody else sees."""
        return name in self._numbers

    def type(self, name: str) -> Plain:
        """Return the type of a scalar."""
        return plain(self._scalars[name])

    def width_bits(self, name: str) -> int:
        """Return the width of a scalar."""
        number = self._scalars[name]
        return 1 if number.is_bool else number.bits

    def limits(self, name: str) -> tuple[int, int]:
        """Return the least and the greatest value of a scalar."""
        return self._scalars[name].limits

    def limits_of(self, node: c_ast.Node) -> tuple[int, int] | None:
        """Return the least and the greatest value of an expression's type, if it is an integer."""
        number = self._names.number(node)
        return None if number is None or number.is_floating else number.limits

    def wrapped(self, name: str, value: int) -> int:
        """Return what a scalar holds that is set to a number."""
        return self._scalars[name].wrapped(value)

    def evaluator(self) -> Evaluator:
        """Return what computes expressions of the function."""
        return Evaluator(self._names)

    def may_be_unsigned(self, node: c_ast.Node) -> bool:
        """Return whether some part of an expression is computed, or compared, as unsigned.

        A narrow number is an int there; what is of no known type may be anything.
        """
        inner: tuple[c_ast.Node, ...] = ()
        number: Number | None = INT
        match node:
            case c_ast.BinaryOp(op="&&" | "||"):
                inner = node.left, node.right
            case c_ast.BinaryOp(op="<<" | ">>"):
                inner, number = (node.left, node.right), self._names.promoted(node.left)
            case c_ast.BinaryOp():
                inner, number = (node.left, node.right), self._names.common(node.left, node.right)
            case c_ast.UnaryOp(op="!"):
                inner = (node.expr,)
            case c_ast.UnaryOp(op="+" | "-" | "~") | c_ast.Cast():
                inner, number = (node.expr,), self._names.promoted(node)
            case c_ast.TernaryOp():
                inner = node.cond, node.iftrue, node.iffalse
            case _:
                number = self._names.promoted(node)
        return number is None or not number.is_signed or any(map(self.may_be_unsigned, inner))

    def opposite(self, condition: c_ast.Node) -> c_ast.Node:
        """Return a condition that holds where this one does not."""
        used = {part.name for part in below(condition) if isinstance(part, c_ast.ID)}
        is_float = bool(used & self._floating) or self._names.compares_floats(condition)
        return opposite(condition, may_be_nan=is_float)

    def is_used_outside(self, name: str, loop: c_ast.Node) -> bool:
        """Return whether something may use the value that a loop leaves in a scalar."""
        return self._liveness.is_used_behind(name, loop)


def _is_floating(symbol: Symbol) -> bool:
    """Return whether a variable, or an element of it, is a float."""
    number = number_type(innermost(symbol.type))
    return number is not None and number.is_floating


def _used(names: Names, function: c_ast.FuncDef, tree: c_ast.FileAST) -> Iterator[Symbol]:
    """Yield what all names that a function declares and uses stand for, each in its scope."""
    for node in tree.ext:
        if node is function:
            yield from names.used(node)
        elif isinstance(node, c_ast.FuncDef | c_ast.Decl | c_ast.Typedef):
            names.declare(node.decl if isinstance(node, c_ast.FuncDef) else node)
