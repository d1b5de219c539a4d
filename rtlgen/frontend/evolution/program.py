"""What the body of a loop makes of scalars, as a small program in SSA form, and its evaluation.

    x++; if (x == 5) { x = 0; y++; }          x 1 = x 0 + 1
                                              choose x 1 == 5:  y 1 = y 0 + 1
                                              x 2 = (0 | x 1)   y 2 = (y 1 | y 0)

Control is structured: a choice between two blocks, and an inner loop with what it carries. A value
is a number, an affine function of what was not given a number, or not known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.truth_tables import SYMBOLS, computed
from rtlgen.frontend.text.constants import result_of
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    Select,
    Unary,
    children,
    walk,
)
from rtlgen.ir.types import IntType

MAX_STEPS = 40_000
"""Instructions that are carried out to find out what one loop does."""

MAX_TO_REST = 64
"""Iterations of a loop of too many, after which it changes nothing any more."""

UNKNOWN = "?"
"""The name of what is not known."""

Value: TypeAlias = int | Affine | None
"""A number, a function of what has no number, or not known."""

Place: TypeAlias = tuple[int, str]
"""The identity of a node, the name or the body of a loop, and the unique name of a scalar."""

Environment: TypeAlias = Mapping[str, Value]
"""Values by name; a name that is left out stands for itself."""


@dataclass(frozen=True, slots=True)
class Let:
    """`name` is the value of an expression, whose reads are of tables that are known."""

    name: str
    expr: Expr
    reads: tuple[tuple[Affine | None, tuple[int, ...]], ...] = ()


@dataclass(frozen=True, slots=True)
class Note:
    """A scalar has a value here that is asked for."""

    place: Place
    value: Affine


@dataclass(frozen=True, slots=True)
class Choose:
    """One of two blocks is carried out; `chosen` are values behind it, of each of both."""

    condition: Let
    blocks: tuple[Block, Block]
    chosen: tuple[tuple[str, Affine, Affine], ...]


@dataclass(frozen=True, slots=True)
class Carried:
    """A scalar of an inner loop: its name inside, before, behind one iteration, and behind all."""

    name: str
    first: Affine
    next: Affine
    last: str


@dataclass(frozen=True, slots=True)
class Repeat:
    """An inner loop.

    Members
    -------
    end: what the counter is behind it.
    uses: names from outside, without those that are carried.
    """

    counter: str
    start: Affine
    stop: Affine
    step: int
    end: str
    carried: tuple[Carried, ...]
    body: Block
    uses: tuple[str, ...]


Instruction: TypeAlias = Let | Note | Choose | Repeat
Block: TypeAlias = tuple[Instruction, ...]


def names_used(block: Block) -> Iterator[str]:
    """Yield the names of all values that a block uses, its own among them."""
    for each in block:
        match each:
            case Let():
                yield from uses_of(each)
            case Note(_, value):
                yield from value.variables
            case Choose(condition, blocks, chosen):
                yield from uses_of(condition)
                for inner in blocks:
                    yield from names_used(inner)
                for _, first, second in chosen:
                    yield from first.variables | second.variables
            case Repeat():
                yield from each.start.variables | each.stop.variables
                yield from each.uses
                for scalar in each.carried:
                    yield from scalar.first.variables


def uses_of(let: Let) -> frozenset[str]:
    """Return the names in an expression."""
    parts = [node.affine.variables for node in walk(let.expr) if isinstance(node, IndexValue)]
    at = [place.variables for place, _ in let.reads if place is not None]
    return frozenset[str]().union(*parts, *at)


def deciding(block: Block, wanted: Affine) -> frozenset[str]:
    """Return the names from outside of a block on which one of its values depends."""
    found = set(wanted.variables)
    _collect(block, found)
    return frozenset(found)


def _collect(block: Block, found: set[str]) -> None:
    for each in reversed(block):
        match each:
            case Let(name) if name in found:
                found |= uses_of(each)
            case Choose(condition, blocks, chosen):
                ways = [parts for parts in chosen if parts[0] in found]
                for _, first, second in ways:
                    found |= first.variables | second.variables
                if ways:
                    found |= uses_of(condition)
                for inner in blocks:
                    _collect(inner, found)
            case Repeat() if each.end in found or any(x.last in found for x in each.carried):
                found |= {*each.start.variables, *each.stop.variables, *each.uses}
                for scalar in each.carried:
                    found |= scalar.first.variables


@dataclass(slots=True)
class Evaluation:
    """Carries blocks out.

    Parameters
    ----------
    types: of the names that blocks define. ranges: of all other names.

    Members
    -------
    noted: what was read at each place since it was emptied; None: it may be several values.
    """

    types: Mapping[str, IntType]
    ranges: Ranges
    steps: int = 0
    noted: dict[Place, Value] = field(default_factory=dict)
    _values: dict[str, Value] = field(default_factory=dict)
    _known: dict[tuple[object, ...], tuple[Value, ...]] = field(default_factory=dict)

    def run(self, block: Block, given: Environment) -> None:
        """Carry a block out from given values; `value` tells what is known behind it."""
        self._values = {**given, UNKNOWN: None}
        self._run(block)

    def value(self, of: Affine) -> Value:
        """Return a value of the block that was run last."""
        return self._sum(of, None)

    def values(self) -> Environment:
        """Return the values of all names in the run before."""
        return dict(self._values)

    def _run(self, block: Block) -> None:
        for each in block:
            self.steps += 1
            match each:
                case Let(name):
                    self._values[name] = self._let(each)
                case Note(place, of):
                    value = self._sum(of, None)
                    known = self.noted.setdefault(place, value)
                    self.noted[place] = value if known == value else None
                case Choose():
                    self._choose(each)
                case Repeat():
                    self._repeat(each)

    def _choose(self, choice: Choose) -> None:
        condition = self._let(choice.condition)
        if isinstance(condition, int):
            self._run(choice.blocks[0 if condition else 1])
        else:
            self._run(choice.blocks[0])
            self._run(choice.blocks[1])
        found: dict[str, Value] = {}
        for name, first, second in choice.chosen:
            if isinstance(condition, int):
                found[name] = self._sum(first if condition else second, None)
            else:
                values = [self._sum(way, None) for way in (first, second)]
                found[name] = values[0] if values[0] == values[1] else None
        self._values |= found

    # Inner loops.

    def _repeat(self, loop: Repeat) -> None:
        first = tuple(self._sum(scalar.first, None) for scalar in loop.carried)
        trips = self._trips(loop)
        used = (self._values.get(name, name) for name in loop.uses)
        key = (id(loop), trips, first, self._sum(loop.start, None), *used)
        if key not in self._known:
            self._known[key] = self._repeated(loop, trips, first)
        for scalar, value in zip(loop.carried, self._known[key], strict=True):
            self._values[scalar.last] = value
        start = self._sum(loop.start, None)
        end = None
        if start is not None and trips is not None:
            end = as_value(as_form(start) + as_form(trips) * loop.step)
        self._values[loop.end] = end

    def _trips(self, loop: Repeat) -> Value:
        start, stop = self._sum(loop.start, None), self._sum(loop.stop, None)
        if start is None or stop is None:
            return None
        room = as_form(stop) - as_form(start)
        if room.is_constant:
            return max(0, -(-room.constant // loop.step))
        trips = room * loop.step
        return trips if abs(loop.step) == 1 and self.range(trips)[0] >= 0 else None

    def _repeated(self, loop: Repeat, trips: Value, first: Sequence[Value]) -> tuple[Value, ...]:
        """Return what scalars are behind a loop: moved by constants, or found by running it."""
        if trips is None or trips == 0:
            return tuple(first) if trips == 0 else (None,) * len(first)
        for name in (loop.counter, *(scalar.name for scalar in loop.carried)):
            self._values.pop(name, None)
        before = self.steps
        self._run(loop.body)
        size = self.steps - before
        found: dict[int, Value] = {}
        for place, scalar in enumerate(loop.carried):
            move = by_constant(self._sum(scalar.next, None), scalar.name)
            if move is not None and (begun := first[place]) is not None:
                found[place] = as_value(as_form(begun) + as_form(trips) * move)
        behind: Sequence[Value] = (None,) * len(first)
        if len(found) < len(first) and isinstance(trips, int):
            behind = self._iterated(loop, trips, first, size)
        return tuple(found.get(place, value) for place, value in enumerate(behind))

    def _iterated(
        self, loop: Repeat, trips: int, first: Sequence[Value], size: int
    ) -> Sequence[Value]:
        unknown = (None,) * len(first)
        asks = loop.counter in names_used(loop.body)
        start = self._sum(loop.start, None)
        most = trips
        if self.steps + trips * size > MAX_STEPS:
            # It cannot be carried out to its end: it may come to rest.
            most = 0 if asks else MAX_TO_REST
        state = tuple(first)
        for k in range(most):
            if self.steps > MAX_STEPS:
                return unknown
            if asks:
                at = None if start is None else as_value(as_form(start) + k * loop.step)
                self._values[loop.counter] = at
            for scalar, value in zip(loop.carried, state, strict=True):
                self._values[scalar.name] = value
            self._run(loop.body)
            after = tuple(self._sum(scalar.next, None) for scalar in loop.carried)
            if after == state and not asks:
                return state
            state = after
        return state if most == trips else unknown

    # Expressions.

    def _let(self, let: Let) -> Value:
        return self._of(let.expr, let)

    def _of(self, expr: Expr, let: Let) -> Value:
        if not isinstance(expr.type, IntType):
            return None
        match expr:
            case Constant(value):
                return value
            case IndexValue(affine, type_):
                return self._sum(affine, type_)
            case Select(condition, if_true, if_false):
                chosen = self._of(condition, let)
                if isinstance(chosen, int):
                    return self._of(if_true if chosen else if_false, let)
                first = self._of(if_true, let)
                return first if first == self._of(if_false, let) else None
            case Read(index, at=()):
                place, values = let.reads[index]
                found = None if place is None else self._sum(place, None)
                inside = isinstance(found, int) and 0 <= found < len(values)
                return values[found] if isinstance(found, int) and inside else None
            case Cast() | Unary() | Binary():
                parts = [self._of(part, let) for part in children(expr)]
                return self._applied(expr, parts)
        return None

    def _applied(self, expr: Cast | Unary | Binary, parts: Sequence[Value]) -> Value:
        assert isinstance(expr.type, IntType)
        numbers = [part for part in parts if isinstance(part, int)]
        if len(numbers) == len(parts):
            return computed(expr, numbers)
        if any(part is None for part in parts):
            if isinstance(expr, Binary) and expr.op in ("and", "mul") and 0 in parts:
                return 0
            return None
        forms = [as_form(part) for part in parts]
        match expr:
            case Cast(operand):
                assert isinstance(operand.type, IntType)
                is_one = self._fits(forms[0], operand.type)
                is_as_wide = operand.type.width_bits == expr.type.width_bits
                return self._held(forms[0], expr.type) if is_one or is_as_wide else None
            case Unary("neg"):
                return self._held(-forms[0], expr.type)
            case Binary("add" | "sub" as op):
                total = forms[0] + forms[1] if op == "add" else forms[0] - forms[1]
                return self._held(total, expr.type)
            case Binary("mul") if numbers:
                varying = forms[1] if forms[0].is_constant else forms[0]
                return self._held(varying * numbers[0], expr.type)
            case Binary(op, left) if op in COMPARISONS:
                assert isinstance(left.type, IntType)
                if all(self._fits(form, left.type) for form in forms):
                    return _decided(op, *self.range(forms[0] - forms[1]))
        return None

    def _sum(self, affine: Affine, type_: IntType | None) -> Value:
        """Return an affine function of values, in a type."""
        total, rest = affine.constant, Affine()
        for name, coefficient in affine.terms:
            value = self._values.get(name, name)
            if isinstance(value, int):
                total += coefficient * value
            elif value is None:
                return None
            else:
                form = Affine.variable(name) if isinstance(value, str) else value
                own = self.types.get(name)
                if own is not None and not self._is_seen_as(form, own, type_):
                    return None
                rest += form * coefficient
        if rest.is_constant:
            total += rest.constant
            return total if type_ is None else type_.wrap(total)
        rest += total
        return rest if type_ is None else self._held(rest, type_)

    def _is_seen_as(self, form: Affine, own: IntType, type_: IntType | None) -> bool:
        """Return whether a value of one type may be computed with as it is in another type."""
        return type_ is None or own.width_bits == type_.width_bits or self._fits(form, own)

    def _held(self, form: Affine, type_: IntType) -> Value:
        """Return a value that a type holds, or that may as well wrap as its symbols do."""
        if form.is_constant:
            return type_.wrap(form.constant)
        if type_.is_bool:
            return None
        if self._fits(form, type_):
            return form
        widths = {self.types[n].width_bits for n in form.variables & self.types.keys()}
        return form if widths == {type_.width_bits} else None

    def _fits(self, form: Affine, type_: IntType) -> bool:
        low, high = self.range(form)
        return type_.minimum <= low and high <= type_.maximum

    def range(self, form: Affine) -> tuple[int, int]:
        """Return between which values a form lies."""
        low = high = 0
        rest = form
        for name, c in form.terms:
            type_ = self.types.get(name)
            if type_ is not None:
                ends = sorted((c * type_.minimum, c * type_.maximum))
                low, high, rest = low + ends[0], high + ends[1], rest - Affine.of({name: c})
        return low + self.ranges.minimum(rest), high + self.ranges.maximum(rest)


def by_constant(value: Value, name: str) -> int | None:
    """Return by how much a value is larger than what has a name, if that is a constant."""
    if not isinstance(value, Affine):
        return None
    gone = value - Affine.variable(name)
    return gone.constant if gone.is_constant else None


def as_form(value: Value) -> Affine:
    """Return a value that is known as a function."""
    assert value is not None
    return value if isinstance(value, Affine) else Affine((), value)


def as_value(form: Affine) -> Value:
    """Return a function as a value: a number, if it is one."""
    return form.constant if form.is_constant else form


def _decided(op: str, low: int, high: int) -> int | None:
    """Return whether a comparison with 0 holds of all from `low` to `high`, or of none of them."""
    holds = {result_of(SYMBOLS_OF[op], end, 0) for end in (low, high)}
    if low < 0 < high:
        return None
    return holds.pop() if len(holds) == 1 else None


SYMBOLS_OF: Mapping[str, str] = {str(op): symbol for op, symbol in SYMBOLS.items()}
