"""Scalars that go round, or step on whenever another one has gone round.

    for (i = 0; i < n; i++) { ...; if (++x == 5) { x = 0; y++; } }     x is i % 5, y is i / 5

Whether a loop only turns a scalar is found by carrying its body out for every value the scalar may
have: whatever it is written with, `x` then goes through a range of values by equal steps. What is
in between, and what follows no such steps, is fitted to values that were tried.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from math import gcd, lcm
from typing import TypeAlias

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.values import SYMBOLS
from rtlgen.frontend.text.constants import result_of
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Select,
    Unary,
    children,
    walk,
    with_children,
)
from rtlgen.ir.quotients import quotient
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT32, INT64, IntType
from rtlgen.ir.value_ranges import value_range

MAX_VALUES = 256
"""Values of a scalar up to which each is tried."""


@dataclass(frozen=True, slots=True)
class Turn:
    """The value low + (pace * (form / scale)) mod modulus, the quotient rounded down.

    Members
    -------
    modulus: None where it never begins again.
    values: all that it may be; empty without a modulus.
    """

    low: Affine
    modulus: int | None
    form: Affine
    values: frozenset[int]
    scale: int = 1
    pace: int = 1

    def __post_init__(self) -> None:
        if self.modulus is not None and not (self.low.is_constant and self.pace > 0):
            raise ValueError(f"{self} does not go round")

    @property
    def period(self) -> int:
        """By how much the form is larger when it is the same again; 0 if it never is."""
        if self.modulus is None:
            return 0
        return self.scale * (self.modulus // gcd(self.modulus, self.pace))

    def at(self, form: int) -> int:
        """Return the value for a value of the form; it has to go round."""
        assert self.modulus is not None
        return self.low.constant + self.pace * (form // self.scale) % self.modulus

    def growth(self, by: int) -> int | None:
        """Return by how much the value is larger where the form is larger by so much, if it is."""
        if self.modulus is not None or self.pace == 0:
            return 0 if by % (self.period or 1) == 0 else None
        return self.pace * (by // self.scale) if by % self.scale == 0 else None

    def moved(self, by: Affine) -> Turn:
        """Return the value when the form is larger by `by`."""
        return replace(self, form=self.form + by)

    def finer(self, factor: int) -> Turn:
        """Return the same value, its form counted in smaller parts."""
        return replace(self, form=self.form * factor, scale=self.scale * factor)

    def range(self, ranges: Ranges) -> tuple[int, int]:
        """Return bounds of the value."""
        if self.modulus is not None:
            return min(self.values), max(self.values)
        whole = self.low * self.scale + self.form * self.pace
        lost = self.pace * (self.scale - 1)
        low, high = ranges.minimum(whole) - max(0, lost), ranges.maximum(whole) - min(0, lost)
        return -(-low // self.scale), high // self.scale

    def affine(self, ranges: Ranges) -> Affine | None:
        """Return the value where it is affine, and never begins again."""
        steps = quotient(self.form, self.scale, ranges.boxes())
        if steps is None:
            return None
        whole = steps * self.pace
        if self.modulus is None:
            return self.low + whole
        turns = {ranges.minimum(whole) // self.modulus, ranges.maximum(whole) // self.modulus}
        if len(turns) > 1:
            return None
        return self.low + whole - turns.pop() * self.modulus

    def expr(self, type_: IntType, ranges: Ranges) -> Expr:
        """Return the value as an expression."""
        # A dividend that is never negative is rounded down in C, too.
        lift = -(ranges.minimum(self.form) // (self.period or self.scale))
        form = self.form + max(0, lift) * (self.period or self.scale)
        low = self.low
        if self.modulus is None:
            low -= max(0, lift) * self.pace
        wide = _holding(form * self.pace, low, ranges)
        found: Expr = IndexValue(form, wide)
        if self.modulus is not None and self.pace == 1:
            found = _applied("rem", found, self.modulus * self.scale, wide)
        found = _applied("div", found, self.scale, wide)
        if self.pace != 1:
            found = _applied("mul", found, self.pace, wide)
            if self.modulus is not None:
                found = _applied("rem", found, self.modulus, wide)
        if low != Affine():
            more = Constant(low.constant, wide) if low.is_constant else IndexValue(low, wide)
            found = Binary("add", found, more, wide)
        return found if wide == type_ else Cast(found, type_)


@dataclass(frozen=True, slots=True)
class Observation:
    """What a scalar is at one place of a loop's body.

    Members
    -------
    law: its value in all iterations in which it is read; None where there is none.
    values: by the value of the iterator.
    """

    iterator: str
    law: Turn | None
    values: Mapping[int, int]

    def known(self, ranges: Ranges) -> Affine | Turn | None:
        """Return the value inside of `ranges`, as a function of the iterators."""
        if self.law is not None:
            return self.law.affine(ranges) or self.law
        at = Affine.variable(self.iterator)
        first, last = ranges.minimum(at), ranges.maximum(at)
        value = self.values.get(first) if first == last else None
        return None if value is None else Affine((), value)


def _holding(form: Affine, low: Affine, ranges: Ranges) -> IntType:
    """Return a type for what is computed on the way."""
    bounds = [getattr(ranges, end)(part) for end in ("minimum", "maximum") for part in (form, low)]
    return INT32 if 2 * sum(abs(bound) for bound in bounds) <= INT32.maximum else INT64


def _applied(op: str, expr: Expr, constant: int, type_: IntType) -> Expr:
    if op == "div" and constant == 1:
        return expr
    match op:
        case "div" | "rem" | "mul":
            return Binary(op, expr, Constant(constant, type_), type_)
    raise ValueError(op)


Effect: TypeAlias = Callable[[int], int | None]
"""What a statement makes of a value of a scalar; None where that depends on something else."""


@dataclass(frozen=True, slots=True)
class Rotation:
    """What a statement does that makes low + (value - low + move) mod modulus of a value.

    Members
    -------
    values: all that are ever reached.
    """

    low: int
    modulus: int
    move: int
    values: frozenset[int]


def rotation(possible: Iterable[int], effect: Effect) -> Rotation | None:
    """Return how a statement turns a scalar; None if it does not.

    Parameters
    ----------
    possible: the values that the scalar may have at first.
    """
    after = _closed(possible, effect)
    if after is None:
        return None
    moves = {new - old for old, new in after.items()}
    low = min(after)
    if moves == {0}:
        return Rotation(low, 0, 0, frozenset(after))
    if len(moves) != 2:
        return None
    modulus, move = max(moves) - min(moves), min(moves, key=abs)
    is_turned = all(new == low + (old - low + move) % modulus for old, new in after.items())
    if max(after) >= low + modulus or not is_turned:
        return None
    return Rotation(low, modulus, move, frozenset(after))


def period_of(values: Sequence[int]) -> int:
    """Return after how many of them values are as before; their number if they never are."""
    return next(n for n in range(1, len(values) + 1) if values[n:] == values[: len(values) - n])


def begun(before: Affine | Turn, found: Rotation) -> Turn | None:
    """Return a value as one that is turned from here on; None if it was turned otherwise."""
    if isinstance(before, Affine):
        return Turn(Affine((), found.low), found.modulus, before - found.low, found.values)
    if before.modulus != found.modulus or before.pace != 1:
        return None
    shifted = (before.low - found.low) * before.scale
    return replace(before.moved(shifted), low=Affine((), found.low), values=found.values)


def inside_loop(turn: Turn, move: int, loop: Loop) -> Turn:
    """Return the value in an iteration of a loop, each of which moves the form by `move` scales.

    Parameters
    ----------
    turn: before the loop, its scale a multiple of the size of the loop's step.
    """
    ahead = Affine.variable(loop.iterator) - loop.start
    return turn.moved(ahead * (move * turn.scale // loop.step))


def values_of(before: Affine | Turn, ranges: Ranges) -> frozenset[int]:
    """Return all values, or none where there are too many."""
    if isinstance(before, Turn):
        return before.values
    low, high = ranges.minimum(before), ranges.maximum(before)
    return frozenset(range(low, high + 1)) if high - low < MAX_VALUES else frozenset()


def _closed(values: Iterable[int], effect: Effect) -> dict[int, int] | None:
    """Return what becomes of every value that is ever reached."""
    after: dict[int, int] = {}
    pending = list(values)
    while pending:
        value = pending.pop()
        if value in after:
            continue
        found = effect(value)
        if found is None or len(after) == MAX_VALUES:
            return None
        after[value] = found
        pending.append(found)
    return after or None


Seen: TypeAlias = dict[int, int]
"""Values of a scalar, by the number of the iteration, or the value of a form."""


def law_in(seen: Seen) -> Turn | None:
    """Return values as a law of what they are given by; None if they follow none.

    They are a staircase, or go round by equal steps; the first of those that fit is taken.
    """
    low, high = min(seen.values()), max(seen.values())
    gap = gcd(*(value - low for value in seen.values()))
    if gap == 0:
        return Turn(Affine((), low), None, Affine(), frozenset(), pace=0)
    first, last = min(seen), max(seen)
    rises = [(seen[k] - low) // gap for k in (first, last)]
    widths = {_longest_run(seen)}
    if rises[0] != rises[1]:
        mean = (last - first) // abs(rises[1] - rises[0])
        widths |= {mean, mean + 1}
    for width in sorted(widths - {0}):
        for start, pace in ((low, gap), (high, -gap)):
            at = _staircase({k: (value - start) // pace for k, value in seen.items()}, width)
            if at is not None:
                return Turn(Affine((), start), None, Affine((), at), frozenset(), width, pace)
    return _rotation({k: (value - low) // gap for k, value in seen.items()}, low, gap)


def _staircase(steps: Seen, width: int) -> int | None:
    """Return what to add to a number of steps of a width, so that the quotient is the height."""
    least = max(width * height - k for k, height in steps.items())
    most = min(width * height + width - 1 - k for k, height in steps.items())
    return least if least <= most else None


def _rotation(steps: Seen, low: int, gap: int) -> Turn | None:
    width, number = _longest_run(steps), max(steps.values()) + 1
    if number > len(steps):
        # What goes round has been everywhere.
        return None
    turns = {(b - a) % number for (i, a), (j, b) in pairwise(sorted(steps.items())) if j == i + 1}
    for pace in sorted(turns - {0}):
        for at in range(width * number):
            if all(pace * ((k + at) // width) % number == h for k, h in steps.items()):
                values = frozenset(low + gap * height for height in steps.values())
                form = Affine((), at)
                return Turn(Affine((), low), number * gap, form, values, width, pace * gap)
    return None


def _longest_run(seen: Seen) -> int:
    """Return in how many iterations on end a scalar has one value, at most."""
    longest = run = 1
    for (i, a), (j, b) in pairwise(sorted(seen.items())):
        run = run + 1 if (j, b) == (i + 1, a) else 1
        longest = max(longest, run)
    return longest


MAX_PERIOD = 4096
"""Values of a form that are tried to find the law of a value."""


def law_of(expr: Expr, loops: Sequence[Loop], ranges: Ranges) -> Turn | None:
    """Return the law of a value that one affine form decides; None if it follows none.

    (i + 4) % 5 == 4 ? 0 : (i + 4) % 5 + 1        i % 5

    It is found by trying the values of two periods, and holds for all: it grows in each as the
    value does. Where it is not seen how that grows, all of a few values are tried.

    Parameters
    ----------
    loops: around it. ranges: inside of them.
    """
    for form in sorted(_forms(expr), key=str):
        apart = _apart(_of_form(expr, form, ranges), form, ranges.boxes())
        if apart is not None and _forms(apart[0]) == {form}:
            law = _law_of_form(apart[0], form, loops, ranges)
            return None if law is None else _ahead(law, apart[1])
    return None


def _ahead(law: Turn, by: Affine) -> Turn | None:
    """Return the law of a value that is larger by an affine form, if it has one."""
    if by == Affine():
        return law
    if law.modulus is not None:
        return None
    if law.pace and all(c % law.pace == 0 for _, c in by.terms):
        steps = Affine.of({name: c // law.pace * law.scale for name, c in by.terms})
        return law.moved(steps)
    return replace(law, low=law.low + by)


def _apart(
    expr: Expr, form: Affine, boxes: Mapping[str, tuple[int, int]]
) -> tuple[Expr, Affine] | None:
    """Return what a form decides of a value, and what is added to that; None if it is no such sum.

    Neither the value nor what the form decides of it wraps where something is added.
    """
    if isinstance(expr, IndexValue):
        constant = expr.affine.constant
        more = expr.affine - constant
        own: Expr = Constant(constant, expr.type)
        if form.variables & more.variables:
            more, own = more - form, replace(expr, affine=form + constant)
        are_held = more == Affine() or (_is_held(expr, boxes) and _is_held(own, boxes))
        return (own, more) if are_held and not form.variables & more.variables else None
    parts = [_apart(part, form, boxes) for part in children(expr)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    found, added = (
        with_children(expr, tuple(part for part, _ in known)),
        [more for _, more in known],
    )
    if not any(more != Affine() for more in added):
        return found, Affine()
    match found:
        case Select() if added[0] == Affine() and added[1] == added[2]:
            return found, added[1]
        case Cast() if _is_held(expr, boxes) and _is_held(found, boxes):
            return found, added[0]
        case Binary("add" | "sub" as op) if _is_held(expr, boxes) and _is_held(found, boxes):
            return found, added[0] + (added[1] if op == "add" else -added[1])
        case Binary("div", left, Constant(by)) if by > 0 and all(
            c % by == 0 for _, c in added[0].terms
        ):
            # Dividends that are never negative are rounded down in C, too.
            dividends = (children(expr)[0], left)
            steps = Affine.of({name: c // by for name, c in added[0].terms})
            is_down = all(value_range(each, boxes)[0] >= 0 for each in dividends)
            return (found, steps) if is_down else None
        case Binary(op) if op in COMPARISONS and added[0] == added[1]:
            sides = [side for whole in (expr, found) for side in children(whole)]
            return (found, Affine()) if all(_is_held(side, boxes) for side in sides) else None
    return None


def _is_held(expr: Expr, boxes: Mapping[str, tuple[int, int]]) -> bool:
    """Return whether what is computed last of a value stays inside of its type."""
    match expr:
        case IndexValue(affine):
            low, high = affine.range(boxes)
        case Cast(operand):
            low, high = value_range(operand, boxes)
        case Binary("add" | "sub" | "mul" as op, left, right):
            of = [value_range(side, boxes) for side in (left, right)]
            ends = [result_of(SYMBOLS[op], a, b) for a in of[0] for b in of[1]]
            low, high = min(ends), max(ends)
        case _:
            return True
    return expr.type.minimum <= low and high <= expr.type.maximum


def _law_of_form(expr: Expr, form: Affine, loops: Sequence[Loop], ranges: Ranges) -> Turn | None:
    """Return the law of a value that one form alone decides; see `law_of`."""
    divisors = [
        abs(node.right.value)
        for node in walk(expr)
        if isinstance(node, Binary) and isinstance(node.right, Constant)
        if node.op in ("div", "rem") and node.right.value
    ]
    # Its values are some first one and multiples of a unit.
    first, unit = form, 0
    for loop in reversed(loops):
        unit = gcd(unit, first.coefficient(loop.iterator) * loop.step)
        first = first.substitute({loop.iterator: loop.start})
    if not unit or not first.is_constant:
        return None
    period = lcm(unit, *divisors) // unit
    growth = _growth(expr, period * unit, ranges.boxes()) if period <= MAX_PERIOD else None
    least = -((first.constant - ranges.minimum(form)) // unit)
    tried = 2 * period
    if growth is None:
        # A few values are all tried, but what is chosen among goes no way of its own.
        number = (ranges.maximum(form) - first.constant) // unit - least + 1
        tried = number if number <= MAX_VALUES and not any(map(_asks, walk(expr))) else 0
    seen: Seen = {}
    for at in range(least, least + tried):
        value = _value_at(expr, first.constant + at * unit)
        if value is None:
            return None
        seen[at] = value
    found = law_in(seen) if seen else None
    if found is None or growth not in (None, found.growth(period)):
        return None
    ahead = form - first
    if found.scale == 1 and found.pace:
        # Each step is one of as many.
        found, ahead = replace(found, form=found.form * found.pace, pace=1), ahead * found.pace
    found = found.finer(unit).moved(ahead)
    common = gcd(found.scale, found.form.constant, *(c for _, c in found.form.terms))
    terms = {name: coefficient // common for name, coefficient in found.form.terms}
    form = Affine.of(terms, found.form.constant // common)
    return replace(found, form=form, scale=found.scale // common)


def _asks(expr: Expr) -> bool:
    return isinstance(expr, Select) or (isinstance(expr, Binary) and expr.op in COMPARISONS)


def _forms(expr: Expr) -> set[Affine]:
    """Return the forms in a value, without their constants."""
    leaves = (node.affine for node in walk(expr) if isinstance(node, IndexValue))
    return {leaf - leaf.constant for leaf in leaves}


def _of_form(expr: Expr, form: Affine, ranges: Ranges) -> Expr:
    """Return a value with remainders as those of another form that is the same modulo theirs."""
    match expr:
        case Binary("rem", IndexValue(affine), Constant(modulus) as by) if modulus > 0:
            ahead = affine - form
            if ranges.minimum(affine) >= 0 and all(c % modulus == 0 for _, c in ahead.terms):
                # A dividend that is never negative is rounded down in C, too.
                lift = -(ranges.minimum(form + ahead.constant) // modulus) * modulus
                dividend = IndexValue(form + (ahead.constant + max(0, lift)), INT64)
                return Binary("rem", dividend, by, expr.type)
    return with_children(expr, tuple(_of_form(part, form, ranges) for part in children(expr)))


def _growth(expr: Expr, by: int, boxes: Mapping[str, tuple[int, int]]) -> int | None:
    """Return by how much a value is larger where its form is larger by so much; None if it varies.

    What grows stays inside of its types.
    """
    parts = [_growth(part, by, boxes) for part in children(expr)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    match expr:
        case IndexValue():
            return by
        case Select():
            return known[1] if known[0] == 0 and known[1] == known[2] else None
        case _ if not any(known):
            # What it is made of is the same again.
            return 0
        case Cast():
            return known[0] if _is_held(expr, boxes) else None
        case Binary("div" | "rem" as op, left, Constant(divisor)) if divisor > 0:
            if value_range(left, boxes)[0] < 0 or known[0] % divisor:
                return None
            return known[0] // divisor if op == "div" else 0
        case Binary("add" | "sub" | "mul" as op, left, right):
            if op == "mul" and not isinstance(right, Constant):
                return None
            found = result_of(SYMBOLS[op], known[0], known[1])
            if isinstance(right, Constant) and op == "mul":
                found = known[0] * right.value
            return found if _is_held(expr, boxes) else None
        case Binary(op) if op in COMPARISONS and known[0] == known[1]:
            return 0
    return None


def _value_at(expr: Expr, at: int) -> int | None:
    """Return a value for a value of the one form in it; None for what is not tried."""
    parts = [_value_at(part, at) for part in children(expr)]
    known = [part for part in parts if part is not None]
    if len(known) < len(parts) or not isinstance(expr.type, IntType):
        return None
    value: int | None = None
    match expr:
        case Constant(constant):
            value = constant
        case IndexValue(affine):
            value = affine.constant + at
        case Select():
            value = known[1] if known[0] else known[2]
        case Unary("lnot"):
            value = int(known[0] == 0)
        case Cast():
            value = int(known[0] != 0) if expr.type.is_bool else known[0]
        case Binary(op) if not ((op in ("div", "rem") and known[1] == 0) or op in ("shl", "shr")):
            value = result_of(SYMBOLS[op], known[0], known[1])
    return None if value is None else expr.type.wrap(value)
