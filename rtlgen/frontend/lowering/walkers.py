"""Which pointers become positions, and what they point into.

    int *p = a + 3; p++;              p: a[..], from 3 on
    int *q = m[i]; q++;               q: m[i][..]
    int *f = &m[0][0]; f += n;        f: m[..][..]: it runs through two dimensions
    int *c = x > 0 ? a : b;           c: a[..], or b[..]

A pointer that may point into several things is a position, and a number that tells into which one.
Pointers that are set to one another number them in the same way.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import PointerUnsupported
from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import COMPARISONS, FreshNames, integer, number
from rtlgen.frontend.lowering.pointer_values import (
    STEP_OPS,
    Index,
    Pattern,
    Target,
    Targets,
    is_look_alike,
    is_null,
    way_root,
)
from rtlgen.frontend.lowering.rewriter import Before, Rewriter, refusal
from rtlgen.frontend.lowering.types import PointerTo, Returning, element_of
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import parameters

NOWHERE = -1
"""The number of what a null pointer points into."""

MOST_SPOTS = 16


@dataclass(slots=True, eq=False)
class Pointer:
    """A pointer variable.

    Members
    -------
    sources: what it is set to, with the place; None where that is not known.
    moves: it is set or stepped. steps: it is stepped.
    is_compared: its value is compared, or subtracted.
    may_be_null: it is set to no place.
    """

    function: str
    symbol: Symbol
    sources: list[tuple[Target | None, c_ast.Node]] = field(default_factory=list)
    moves: bool = False
    steps: bool = False
    is_compared: bool = False
    may_be_null: bool = False


class Scan(Rewriter):
    """Collects the pointers of a file.

    Members
    -------
    pointers: by the identity of their declarations.
    compared: those of which two are compared, by their identities.
    needs_rewriting: a pointer is compared with a null pointer, or converted to what it is seen as.
    """

    def __init__(self, tree: c_ast.FileAST, locator: Locator) -> None:
        super().__init__(tree, locator)
        self._targets = Targets(self.names)
        self.pointers: dict[int, Pointer] = {}
        self.compared: list[tuple[int, int]] = []
        self.needs_rewriting = False

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
        for parameter in parameters(node):
            self._note(parameter)
        return made

    def _note(self, node: c_ast.Decl) -> Symbol | None:
        """Note a variable that is a pointer."""
        symbol = self.names.lookup(node.name) if node.name else None
        type_ = None if symbol is None else symbol.type
        if symbol is None or not isinstance(type_, PointerTo) or isinstance(type_.to, Returning):
            return None
        self.pointers[id(node)] = Pointer(self.function, symbol)
        return symbol

    def _set(self, symbol: Symbol, value: c_ast.Node) -> None:
        while isinstance(value, c_ast.Assignment):
            value = value.rvalue
        if isinstance(value, c_ast.TernaryOp):
            for arm in (value.iftrue, value.iffalse):
                self._set(symbol, arm)
            return
        pointer = self.pointers[id(symbol.node)]
        if is_null(self.names, value):
            pointer.may_be_null = True
        else:
            pointer.sources.append((self._targets.pointed_to(value), value))

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
                    pointer.steps |= node.op != "="
                    if node.op == "=":
                        self._set(pointer.symbol, node.rvalue)
            case c_ast.UnaryOp(op=op, expr=target) if op in STEP_OPS:
                pointer = self._pointer(target)
                if pointer is not None:
                    pointer.moves = pointer.steps = True
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in COMPARISONS or op == "-":
                self._compare(left, right)
            case c_ast.Cast() if self._targets.is_seen_otherwise(node):
                self.needs_rewriting = True
        return self.inside(node, before)

    def _compare(self, left: c_ast.Node, right: c_ast.Node) -> None:
        are_pointers = [isinstance(self.names.decayed(side), PointerTo) for side in (left, right)]
        if any(are_pointers) and any(is_null(self.names, side) for side in (left, right)):
            self.needs_rewriting = True
        if not all(are_pointers):
            return
        found = [self._pointer(way_root(self.names, side)) for side in (left, right)]
        for pointer in found:
            if pointer is not None:
                pointer.is_compared = True
        first, second = found
        if first is not None and second is not None:
            self.compared.append((id(first.symbol.node), id(second.symbol.node)))


@dataclass(frozen=True, slots=True, eq=False)
class Spot:
    """What a pointer may point into.

    Members
    -------
    number: that tells it from the others. base: the variable. pattern: the way to where it points.
    run: how many dimensions it runs through, counted from the last one.
    leads: the variables, or values, of the subscripts before those.
    """

    number: int
    base: Symbol
    pattern: Pattern
    run: int
    leads: tuple[str | int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Walker:
    """A pointer that is a position.

    Members
    -------
    spots: what it may point into; none if it is a null pointer.
    which: the variable of the number of the one that it does point into; "" where there is one.
    at: the variable of its position; a value where it never changes.
    """

    spots: tuple[Spot, ...]
    which: str
    at: str | int
    pointer: Pointer

    @property
    def runs(self) -> bool:
        """Whether it may be moved."""
        return any(spot.run for spot in self.spots)

    @property
    def variables(self) -> list[str]:
        """The variables that take its place."""
        leads = [name for spot in self.spots for name in spot.leads]
        names = (*leads, self.at, self.which)
        return [name for name in names if isinstance(name, str) and name]


_Place = tuple[int, Pattern]
"""A variable, by the identity of its declaration, and a way into it."""


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
        self._fresh = FreshNames(tree)
        self.found: dict[int, Walker] = {}
        self.refused: list[tuple[str, PointerUnsupported]] = []
        self._converted = self._all_converted()
        self._moving = self._all_moving()
        ends: dict[int, list[tuple[Target, c_ast.Node]]] = {}
        for key in self._moving:
            try:
                ends[key] = list(self._ends(key, set()))
            except PointerUnsupported as error:
                self.refused.append((self._pointers[key].function, error))
        for group in self._groups(ends, scan.compared):
            self._place(group, ends)

    # Which ones.

    def _all_converted(self) -> set[int]:
        """Return the pointers that see numbers as others of their size, or are set to such."""
        found: set[int] = set()
        while True:
            more = {
                key
                for key, pointer in self._pointers.items()
                if key not in found
                and any(
                    id(target.base.node) in found
                    or is_look_alike(self._targets.element(target), element_of(pointer.symbol.type))
                    for target, _ in pointer.sources
                    if target is not None
                )
            }
            if not more:
                return found
            found |= more

    def _all_moving(self) -> list[int]:
        """Return the pointers that move, that are compared, and those that they are set to."""
        moving = {
            key
            for key, pointer in self._pointers.items()
            if pointer.moves
            or key in self._converted
            or (not pointer.symbol.is_parameter and (pointer.is_compared or self._is_flat(pointer)))
        }
        while True:
            more = {
                key
                for key, pointer in self._pointers.items()
                if key not in moving and not pointer.symbol.is_parameter
                if len(pointer.sources) > 1
                or self._may_be_null(key)
                or len(self._objects(key, set())) > 1
            }
            pending = list(moving | more)
            size = len(moving)
            moving |= more
            while pending:
                for target, _ in self._pointers[pending.pop()].sources:
                    key = None if target is None else id(target.base.node)
                    source = None if key is None else self._pointers.get(key)
                    if source is not None and key not in moving and not source.symbol.is_parameter:
                        assert key is not None
                        moving.add(key)
                        pending.append(key)
            if len(moving) == size:
                return [key for key in self._pointers if key in moving]

    def _objects(self, key: int, seen: set[int]) -> set[_Place]:
        """Return what a pointer may point into, by way of others, as far as that is known."""
        pointer = self._pointers[key]
        if key in seen:
            return set()
        seen.add(key)
        found: set[_Place] = {(key, ())} if pointer.symbol.is_parameter else set()
        for target, _ in pointer.sources:
            if target is None:
                continue
            other = id(target.base.node)
            if other not in self._pointers:
                found.add((other, target.pattern))
            else:
                # How the way goes on tells different parts apart.
                rest = target.pattern[1:]
                found |= {(base, (*way, *rest)) for base, way in self._objects(other, seen)}
        return found

    def _is_flat(self, pointer: Pointer) -> bool:
        """Return whether a pointer stays at the first element of several rows: `&m[0][0]`."""
        if len(pointer.sources) != 1:
            return False
        target, node = pointer.sources[0]
        is_first = isinstance(node, c_ast.UnaryOp | c_ast.Cast)
        if not is_first or target is None:
            return False
        zeros = _zeros(target)
        return len(zeros) > 1 and number(zeros[0].value) == 0

    def _ends(self, key: int, seen: set[int]) -> Iterator[tuple[Target, c_ast.Node]]:
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
            if other not in self._moving:
                yield target, node
                continue
            # The way goes on from where the other pointer is.
            for end, _ in self._ends(other, seen):
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

    # What they point into.

    def _groups(
        self,
        ends: dict[int, list[tuple[Target, c_ast.Node]]],
        compared: Sequence[tuple[int, int]],
    ) -> list[list[int]]:
        """Return the pointers, those together that are set to one another, or compared."""
        group = {key: [key] for key in ends}

        def join(a: int, b: int) -> None:
            if a in group and b in group and group[a] is not group[b]:
                group[a] += group[b]
                for key in group[b]:
                    group[key] = group[a]

        for key in ends:
            for target, _ in self._pointers[key].sources:
                if target is not None:
                    join(key, id(target.base.node))
        for a, b in compared:
            join(a, b)
        found = {id(keys): keys for keys in group.values()}
        return [[key for key in ends if key in keys] for keys in map(set, found.values())]

    def _place(
        self, group: Sequence[int], ends: dict[int, list[tuple[Target, c_ast.Node]]]
    ) -> None:
        """Add the walkers that a group of pointers become."""
        numbers: dict[_Place, int] = {}
        still = self._still(group)
        for key in group:
            pointer = self._pointers[key]
            found: dict[_Place, list[Target]] = {}
            for target, _ in ends[key]:
                place = id(target.base.node), target.pattern
                numbers.setdefault(place, len(numbers))
                found.setdefault(place, []).append(target)
            is_null = self._may_be_null(key)
            if not found and not is_null:
                continue
            if len(found) > MOST_SPOTS:
                self.refused.append((pointer.function, self._too_many(pointer, ends[key])))
                continue
            spots = tuple(
                self._spot(pointer, numbers[place], targets) for place, targets in found.items()
            )
            name = pointer.symbol.name
            runs = any(spot.run for spot in spots)
            known = self._start(pointer) if still is None else still
            at: str | int = 0
            if runs:
                at = self._fresh.fresh(f"{name}_at") if known is None else known
            is_chosen = len(spots) > 1 or is_null
            which = self._fresh.fresh(f"{name}_in") if is_chosen else ""
            self.found[key] = Walker(spots, which, at, pointer)

    def _still(self, group: Sequence[int]) -> int | None:
        """Return the position of pointers that never move on, but are set to one another."""
        places: set[int | None] = set()
        for key in group:
            pointer = self._pointers[key]
            if pointer.steps:
                return None
            if pointer.symbol.is_parameter:
                places.add(0)
            for target, _ in pointer.sources:
                assert target is not None, "it is known where each one ends"
                last = target.steps[-1] if target.steps else None
                place = number(last.value) if isinstance(last, Index) else 0
                if id(target.base.node) not in group:
                    places.add(place)
                elif place != 0 or len(target.steps) > 1:
                    return None
        return places.pop() if len(places) == 1 else None

    def _start(self, pointer: Pointer) -> int | None:
        """Return the position of a pointer that is set once, to a known place."""
        if pointer.moves or len(pointer.sources) != 1:
            return None
        target = pointer.sources[0][0]
        assert target is not None, "it is known where each one ends"
        last = target.steps[-1] if target.steps else None
        is_moving = id(target.base.node) in self._moving
        return None if is_moving or not isinstance(last, Index) else number(last.value)

    def _may_be_null(self, key: int) -> bool:
        """Return whether a pointer is set to no place, or to another one that may be."""
        found, pending = {key}, [key]
        while pending:
            pointer = self._pointers[pending.pop()]
            sources = {id(target.base.node) for target, _ in pointer.sources if target is not None}
            pending += (sources & self._pointers.keys()) - found
            found |= sources
            if pointer.may_be_null:
                return True
        return False

    def _spot(self, pointer: Pointer, which: int, targets: Sequence[Target]) -> Spot:
        first = targets[0]
        indices = [[s for s in target.steps if isinstance(s, Index)] for target in targets]
        run = 0
        if first.pattern[-1:] == ("[]",):
            run = min(len(_zeros(target)) for target in targets)
        leads = [[each.value for each in row[: len(row) - run]] for row in indices]
        made: list[str | int] = []
        for column in zip(*leads, strict=True):
            values = {number(value) for value in column}
            value = values.pop() if len(values) == 1 else None
            name = f"{pointer.symbol.name}_row"
            made.append(self._fresh.fresh(name) if value is None else value)
        return Spot(which, first.base, first.pattern, run, tuple(made))

    def _too_many(
        self, pointer: Pointer, ends: Sequence[tuple[Target, c_ast.Node]]
    ) -> PointerUnsupported:
        node = pointer.symbol.node
        return PointerUnsupported(
            f"the pointer `{pointer.symbol.name}` may point into more than {MOST_SPOTS} arrays",
            labels=(Label(self._locator.name_span(node, pointer.symbol.name), "this one"),),
            help="put them into one array, and choose a row of it",
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
        if not isinstance(step, Index) or (found and number(step.value) != 0):
            break
        found.append(step)
    return found


def _unknown_number(node: c_ast.Node) -> c_ast.Node:
    return c_ast.ID("", node.coord)
