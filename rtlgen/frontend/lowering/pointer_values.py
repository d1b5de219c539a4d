"""What pointers point to, and which of them move.

What pointers point to: a variable, and the way into it.

    a + 3        a: [3]              &m[i][0]     m: [i][0]
    p->v         p: [0].v[0]         &s           s: itself

The last step of the way is the one that a pointer moves along.

Which pointers move, and what they point into.

int *p = a + 3; p++;              p: a[..], from 3 on
int *q = m[i]; q++;               q: m[i][..]
int *f = &m[0][0]; f += n;        f: m[..][..]: it runs through two dimensions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import PointerUnsupported
from rtlgen.frontend.lowering.names import Names, Symbol
from rtlgen.frontend.lowering.nodes import FreshNames, integer, parameters_of
from rtlgen.frontend.lowering.rewriter import Before, Rewriter, refusal
from rtlgen.frontend.lowering.types import (
    INT,
    ArrayOf,
    PointerTo,
    RecordType,
    Type,
    cast,
    element_of,
    number_type,
    plain,
)
from rtlgen.frontend.syntax.locate import Locator

STEP_OPS = {"p++": "+", "++": "+", "p--": "-", "--": "-"}


@dataclass(frozen=True, slots=True, eq=False)
class Index:
    """A subscript.

    Members
    -------
    inner: extents of the dimensions behind this one that it runs through, too: the subscript
        counts the elements of all of them.
    """

    value: c_ast.Node
    inner: tuple[c_ast.Node, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """A member."""

    name: str


Step: TypeAlias = Index | Choice
Pattern: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Target:
    """What an expression points to, or names.

    Members
    -------
    base: an array, a structure, a number, or a pointer.
    """

    base: Symbol
    steps: tuple[Step, ...]

    @property
    def pattern(self) -> Pattern:
        """The kinds of the steps."""
        return tuple("[]" if isinstance(step, Index) else step.name for step in self.steps)

    def moved(self, step: c_ast.Node, op: str = "+") -> Target | None:
        """Return what is so many elements further on."""
        if not self.steps or not isinstance(self.steps[-1], Index):
            return None
        last = self.steps[-1]
        return self.with_last(replace(last, value=combined(op, last.value, step)))

    def with_last(self, step: Step) -> Target:
        """Return the target with another last step."""
        return Target(self.base, (*self.steps[:-1], step))

    def inside(self, *steps: Step) -> Target:
        """Return a part of the target."""
        return Target(self.base, (*self.steps, *steps))


class Targets:
    """Finds what expressions point to."""

    def __init__(self, names: Names) -> None:
        self._names = names

    def pointed_to(self, node: c_ast.Node) -> Target | None:
        """Return what the value of a pointer points to."""
        names = self._names
        match node:
            case c_ast.ID(name=name):
                symbol = names.lookup(name)
                if symbol is None or not isinstance(symbol.type, ArrayOf | PointerTo):
                    return None
                return Target(symbol, (Index(integer(0, node.coord)),))
            case c_ast.UnaryOp(op="&", expr=inner):
                # What points to a pointer changes with it.
                is_pointer = isinstance(names.type_of(inner), PointerTo)
                return None if is_pointer else self.named(inner)
            case c_ast.UnaryOp(op=op, expr=c_ast.ID() as pointer) if op in STEP_OPS:
                return self.pointed_to(pointer)
            case c_ast.BinaryOp(op="+" | "-" as op):
                side = pointer_side(names, node)
                if side is None:
                    return None
                found = self.pointed_to(side)
                other = node.right if side is node.left else node.left
                return None if found is None else found.moved(as_int(names, other), op)
            case c_ast.Cast(to_type=to, expr=inner):
                return self._converted(names.read(to), inner)
        found = self.named(node)
        if found is None or not isinstance(names.type_of(node), ArrayOf):
            return None
        return found.inside(Index(integer(0, node.coord)))

    def named(self, node: c_ast.Node) -> Target | None:
        """Return the variable, or the part of one, that an expression names."""
        names = self._names
        match node:
            case c_ast.ID(name=name):
                symbol = names.lookup(name)
                return None if symbol is None or symbol.is_type else Target(symbol, ())
            case c_ast.ArrayRef(name=base, subscript=index):
                if not isinstance(names.decayed(base), PointerTo):
                    base, index = index, base
                found = self.pointed_to(base)
                return None if found is None else found.moved(as_int(names, index))
            case c_ast.UnaryOp(op="*", expr=inner):
                return self.pointed_to(inner)
            case c_ast.StructRef(name=inner, type=kind, field=member):
                found = self.named(inner) if kind == "." else self.pointed_to(inner)
                return None if found is None else found.inside(Choice(member.name))
        return None

    def _converted(self, to: Type, node: c_ast.Node) -> Target | None:
        """Return what a converted pointer points to: the same, or the first number in it."""
        wanted, found = element_of(to), self.pointed_to(node)
        given = element_of(self._names.decayed(node))
        while found is not None and isinstance(given, ArrayOf) and not isinstance(wanted, ArrayOf):
            found, given = found.inside(Index(integer(0, node.coord))), given.of
        return found if self._is_same(wanted, given) else None

    def _is_same(self, a: Type | None, b: Type | None) -> bool:
        if isinstance(a, RecordType) and isinstance(b, RecordType):
            return a.record is b.record
        if isinstance(a, ArrayOf) and isinstance(b, ArrayOf):
            return self._is_same(a.of, b.of)
        number_a, number_b = number_type(a), number_type(b)
        return number_a is not None and number_a == number_b

    def extents(self, symbol: Symbol, pattern: Sequence[str]) -> list[c_ast.Node | None]:
        """Return the extent of each step of a pattern; None of a member, or an open one."""
        found: list[c_ast.Node | None] = []
        type_: Type | None = symbol.type
        for step in pattern:
            if step == "[]":
                found.append(type_.extent if isinstance(type_, ArrayOf) else None)
                type_ = element_of(type_)
            else:
                found.append(None)
                member = self._names.member_of(type_, step)
                type_ = None if member is None else member.type
        return found


def pointer_side(names: Names, node: c_ast.BinaryOp) -> c_ast.Node | None:
    """Return the pointer in `p + n`, `n + p` or `p - n`; None if there is none, or two."""
    sides = [s for s in (node.left, node.right) if isinstance(names.decayed(s), PointerTo)]
    return sides[0] if len(sides) == 1 else None


def is_null(names: Names, node: c_ast.Node) -> bool:
    """Return whether an expression is a null pointer, as `0` or `NULL` spell it."""
    while isinstance(node, c_ast.Cast) and isinstance(names.read(node.to_type), PointerTo):
        node = node.expr
    return names.constant(node) == 0


def way_root(names: Names, node: c_ast.Node) -> c_ast.Node:
    """Return what the way that an expression goes begins with."""
    while True:
        match node:
            case c_ast.ArrayRef(name=base, subscript=index):
                node = base if isinstance(names.decayed(base), PointerTo) else index
            case c_ast.StructRef(name=inner):
                node = inner
            case c_ast.UnaryOp(op=op, expr=inner) if op in ("*", "&", *STEP_OPS):
                node = inner
            case c_ast.BinaryOp(op="+" | "-"):
                side = pointer_side(names, node)
                if side is None:
                    return node
                node = side
            case c_ast.Cast(expr=inner):
                node = inner
            case c_ast.TernaryOp(iftrue=inner):
                node = inner
            case c_ast.Assignment(lvalue=inner):
                node = inner
            case _:
                return node


# Numbers.


def literal(node: c_ast.Node) -> int | None:
    """Return the value of what `integer` returns."""
    match node:
        case c_ast.Constant(type="int", value=text) if text.isdecimal():
            return int(text)
        case c_ast.UnaryOp(op="-", expr=inner):
            value = literal(inner)
            return None if value is None else -value
    return None


def combined(op: str, a: c_ast.Node, b: c_ast.Node) -> c_ast.Node:
    """Return a sum, difference, product, quotient or remainder, without what does nothing."""
    first, second = literal(a), literal(b)
    if first is not None and second is not None:
        match op:
            case "+" | "-" | "*":
                results = {"+": first + second, "-": first - second, "*": first * second}
                return integer(results[op], b.coord)
            case "/" | "%" if first >= 0 and second > 0:
                return integer(first // second if op == "/" else first % second, b.coord)
    if second == 0 and op in ("+", "-"):
        return a
    if first == 0 and op == "+":
        return b
    if op == "*" and (first == 1 or second == 1):
        return b if first == 1 else a
    return c_ast.BinaryOp(op, a, b, b.coord if first is not None else a.coord)


def as_int(names: Names, node: c_ast.Node) -> c_ast.Node:
    """Return a distance as an int: no array has more elements than one counts."""
    known = names.constant(node)
    if known is not None:
        return integer(known, node.coord)
    found = names.number(node)
    is_held = found is not None and (found.bits < INT.bits or found == INT)
    return node if is_held else cast(plain(INT), node)


COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))


@dataclass(slots=True, eq=False)
class Pointer:
    """A pointer variable.

    Members
    -------
    sources: what it is set to, with the place; None where that is not known.
    moves: it is set or stepped. is_compared: its value is compared, or subtracted.
    """

    function: str
    symbol: Symbol
    sources: list[tuple[Target | None, c_ast.Node]] = field(default_factory=list)
    moves: bool = False
    is_compared: bool = False


class Scan(Rewriter):
    """Collects the pointers of a file.

    Members
    -------
    pointers: by the identity of their declarations.
    turns_subscripts: an array stands between the brackets: `i[a]`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._targets = Targets(self.names)
        self.pointers: dict[int, Pointer] = {}
        self.turns_subscripts = False

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        made = super().declaration(node)
        if isinstance(node, c_ast.Decl) and not self.names.is_outermost and not node.storage:
            symbol = self._note(node)
            is_set = node.init is not None and not isinstance(node.init, c_ast.InitList)
            if symbol is not None and is_set:
                self._set(symbol, node.init)
        return made

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        made = super().parameters(node)
        for parameter in parameters_of(node):
            self._note(parameter)
        return made

    def _note(self, node: c_ast.Decl) -> Symbol | None:
        """Note a variable that is a pointer."""
        symbol = self.names.lookup(node.name) if node.name else None
        if symbol is None or not isinstance(symbol.type, PointerTo):
            return None
        self.pointers[id(node)] = Pointer(self.function, symbol)
        return symbol

    def _set(self, symbol: Symbol, value: c_ast.Node) -> None:
        while isinstance(value, c_ast.Assignment):
            value = value.rvalue
        values = [value]
        if isinstance(value, c_ast.TernaryOp):
            values = [value.iftrue, value.iffalse]
        values = [each for each in values if not is_null(self.names, each)]
        pointer = self.pointers[id(symbol.node)]
        pointer.sources += [(self._targets.pointed_to(each), each) for each in values]

    def _pointer(self, node: c_ast.Node) -> Pointer | None:
        """Return the pointer variable that an expression is."""
        symbol = self.names.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return None if symbol is None else self.pointers.get(id(symbol.node))

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.Assignment(lvalue=target):
                pointer = self._pointer(target)
                if pointer is not None:
                    pointer.moves = True
                    if node.op == "=":
                        self._set(pointer.symbol, node.rvalue)
            case c_ast.UnaryOp(op=op, expr=target) if op in STEP_OPS:
                pointer = self._pointer(target)
                if pointer is not None:
                    pointer.moves = True
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in COMPARISONS or op == "-":
                sides = [self.names.decayed(side) for side in (left, right)]
                if all(isinstance(side, PointerTo) for side in sides):
                    for side in (left, right):
                        pointer = self._pointer(way_root(self.names, side))
                        if pointer is not None:
                            pointer.is_compared = True
            case c_ast.ArrayRef(name=base, subscript=index):
                is_pointer = isinstance(self.names.decayed(base), PointerTo)
                if not is_pointer and isinstance(self.names.decayed(index), PointerTo):
                    self.turns_subscripts = True
        return self.inside(node, before)


@dataclass(frozen=True, slots=True, eq=False)
class Walker:
    """A pointer that is a position.

    Members
    -------
    base: what it points into. pattern: the way to where it points.
    run: how many dimensions it runs through, counted from the last one.
    leads: the variables, or values, of the subscripts before those.
    at: the variable of its position; a value where it never changes.
    """

    base: Symbol
    pattern: Pattern
    run: int
    leads: tuple[str | int, ...]
    at: str | int
    pointer: Pointer


class Walkers:
    """Decides which pointers become positions.

    Members
    -------
    found: those that do, by the identity of their declarations.
    refused: of which it is not known what they point into, by the function.
    """

    def __init__(self, scan: Scan, tree: c_ast.FileAST, locator: Locator) -> None:
        self._pointers = scan.pointers
        self._locator = locator
        self._targets = Targets(scan.names)
        self._names = scan.names
        self._fresh = FreshNames(tree)
        self.found: dict[int, Walker] = {}
        self.refused: list[tuple[str, PointerUnsupported]] = []
        chosen = self._chosen()
        for key in chosen:
            try:
                self._resolve(key, chosen)
            except PointerUnsupported as error:
                self.refused.append((self._pointers[key].function, error))

    def _chosen(self) -> list[int]:
        """Return the pointers that move, that are compared, and those that they are set to."""
        chosen = {
            key
            for key, pointer in self._pointers.items()
            if pointer.moves
            or (not pointer.symbol.is_parameter and (pointer.is_compared or self._is_flat(pointer)))
        }
        pending = list(chosen)
        while pending:
            for target, _ in self._pointers[pending.pop()].sources:
                key = None if target is None else id(target.base.node)
                source = None if key is None else self._pointers.get(key)
                if source is not None and key not in chosen and not source.symbol.is_parameter:
                    assert key is not None
                    chosen.add(key)
                    pending.append(key)
        return [key for key in self._pointers if key in chosen]

    def _is_flat(self, pointer: Pointer) -> bool:
        """Return whether a pointer stays at the first element of several rows: `&m[0][0]`."""
        if len(pointer.sources) != 1:
            return False
        target, node = pointer.sources[0]
        is_first = isinstance(node, c_ast.UnaryOp | c_ast.Cast)
        if not is_first or target is None:
            return False
        zeros = _zeros(target)
        return len(zeros) > 1 and literal(zeros[0].value) == 0

    def _resolve(self, key: int, chosen: Sequence[int]) -> Walker | None:
        """Return the walker that a pointer becomes; None where it is never set."""
        if key in self.found:
            return self.found[key]
        pointer = self._pointers[key]
        targets = list(self._ends(key, set(chosen), set()))
        if not targets:
            return None
        first = targets[0][0]
        for target, node in targets[1:]:
            if target.base.node is not first.base.node or target.pattern != first.pattern:
                raise self._several(pointer, first, targets[0][1], target, node)
        indices = [[s for s in target.steps if isinstance(s, Index)] for target, _ in targets]
        if first.pattern[-1:] != ("[]",):
            leads = [[each.value for each in row] for row in indices]
            run = 0
        else:
            run = min(len(_zeros(target)) for target, _ in targets)
            leads = [[each.value for each in row[: len(row) - run]] for row in indices]
        name = pointer.symbol.name
        made: list[str | int] = []
        for column in zip(*leads, strict=True):
            values = {literal(value) for value in column}
            value = values.pop() if len(values) == 1 else None
            made.append(self._fresh.fresh(f"{name}_row") if value is None else value)
        at: str | int = self._fresh.fresh(f"{name}_at") if run else 0
        if not pointer.moves and len(pointer.sources) == 1 and run:
            source = pointer.sources[0][0]
            assert source is not None
            place = literal(indices[0][-1].value)
            if id(source.base.node) not in chosen and place is not None:
                at = place
        walker = Walker(first.base, first.pattern, run, tuple(made), at, pointer)
        self.found[key] = walker
        return walker

    def _ends(
        self, key: int, chosen: set[int], seen: set[int]
    ) -> Iterator[tuple[Target, c_ast.Node]]:
        """Yield what a pointer may point to, by way of others."""
        if key in seen:
            return
        seen.add(key)
        pointer = self._pointers[key]
        if pointer.symbol.is_parameter:
            node = pointer.symbol.node
            yield Target(pointer.symbol, (Index(integer(0, node.coord)),)), node
        for target, node in pointer.sources:
            if target is None:
                raise self._unknown(pointer, node)
            other = id(target.base.node)
            if other not in chosen:
                yield target, node
                continue
            # The way goes on from where the other pointer is.
            for end, _ in self._ends(other, chosen, seen):
                first = target.steps[0]
                last = end.steps[-1]
                if isinstance(first, Index) and isinstance(last, Index):
                    # How far the other one has moved is not known here.
                    sum_ = Index(_unknown_number(node) if len(target.steps) > 1 else last.value)
                    yield Target(end.base, (*end.steps[:-1], sum_, *target.steps[1:])), node
                elif len(target.steps) > 1 or not isinstance(first, Index):
                    yield Target(end.base, (*end.steps, *target.steps[1:])), node
                else:
                    yield end, node

    def _several(
        self, pointer: Pointer, a: Target, at: c_ast.Node, b: Target, other: c_ast.Node
    ) -> PointerUnsupported:
        names = f"`{a.base.name}`", f"`{b.base.name}`"
        where = "into different arrays" if a.base.node is not b.base.node else "to different things"
        return PointerUnsupported(
            f"the pointer `{pointer.symbol.name}` may point {where}",
            labels=(
                Label(self._locator.span(other), f"into {names[1]}"),
                Label(self._locator.span(at), f"into {names[0]}"),
            ),
            help="use a pointer for each of them, or put both into one array",
        )

    def _unknown(self, pointer: Pointer, node: c_ast.Node) -> PointerUnsupported:
        message = f"it is not known what `{pointer.symbol.name}` points to"
        remedy = "let it point into an array that is named here, or count in an integer"
        return refusal(PointerUnsupported, message, self._locator, node, remedy, "set to this")


def _zeros(target: Target) -> list[Index]:
    """Return the subscripts at the end of a way that a pointer may run through.

    It runs through rows if it starts with the first one of them.
    """
    found: list[Index] = []
    for step in reversed(target.steps):
        if not isinstance(step, Index) or (found and literal(step.value) != 0):
            break
        found.append(step)
    return found


def _unknown_number(node: c_ast.Node) -> c_ast.Node:
    return c_ast.ID("", node.coord)
