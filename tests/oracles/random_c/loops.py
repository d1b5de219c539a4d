"""Heads of loops: up and down, by steps, with bounds of every kind."""

from __future__ import annotations

from dataclasses import dataclass

from tests.oracles.random_c.draft import Draft, Index

MAX_TRIPS = (8, 6, 4, 3)
"""Iterations of a loop, by the loops around it."""

TYPES = ("int", "int", "int", "int", "int", "short", "long", "unsigned", "uint8_t", "size_t")


@dataclass(frozen=True, slots=True)
class Head:
    """The head of a loop, and what its body may use.

    Members
    -------
    before: lines in front of it. trips: iterations, at most.
    """

    text: str
    indices: tuple[Index, ...]
    trips: int
    before: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class _Bound:
    """An inclusive end of a loop, and the values that it may have."""

    text: str
    low: int
    high: int


def loop_head(draft: Draft, around: int) -> Head:
    """Return the head of a loop inside of `around` others."""
    most = MAX_TRIPS[min(around, len(MAX_TRIPS) - 1)]
    if draft.chance(0.02):
        return _halving(draft)
    first = draft.pick((0, 0, 0, 1, 1, 2, 3))
    last = first + draft.between(0 if draft.chance(0.2) else 1, most - 1)
    low = _Bound(draft.number(first), first, first)
    high = _Bound(draft.number(last), last, last)
    outer = [index for index in draft.scope.indices if index.is_atom]
    if outer and draft.wants("triangular"):
        if draft.chance(0.5):
            low = _leaning(draft, draft.pick(outer), first, upper=False)
        else:
            high = _leaning(draft, draft.pick(outer), last, upper=True)
    elif outer and draft.wants("chosen bounds"):
        if draft.chance(0.5):
            low = _chosen(draft, draft.pick(outer), first)
        else:
            high = _chosen(draft, draft.pick(outer), last)
    return _head(draft, low, high)


def _leaning(draft: Draft, outer: Index, plain: int, *, upper: bool) -> _Bound:
    """Return a bound that follows an outer iterator."""
    match draft.between(0, 4):
        case 0 | 1 | 2:
            move = draft.pick((-1, 0, 0, 1))
            text = f"{outer.text} {'-' if move < 0 else '+'} {abs(move)}" if move else outer.text
            return _Bound(text, outer.low + move, outer.high + move)
        case 3:
            return _Bound(f"{outer.text} / 2", outer.low // 2, outer.high // 2)
        case _:
            name = "MIN" if upper else "MAX"
            values = [min(v, plain) if upper else max(v, plain) for v in (outer.low, outer.high)]
            return _Bound(f"{name}({outer.text}, {plain})", *values)


def _chosen(draft: Draft, outer: Index, plain: int) -> _Bound:
    at, other = draft.between(outer.low, outer.high), draft.between(0, 4)
    text = f"({outer.text} {draft.pick(('==', '<', '>='))} {at} ? {other} : {plain})"
    return _Bound(text, min(other, plain), max(other, plain))


def _head(draft: Draft, low: _Bound, high: _Bound) -> Head:
    name = draft.name("i")
    step = draft.pick((2, 3)) if draft.wants("steps") else 1
    most = max(high.high, low.low)
    trips = (most - low.low) // step + 1
    if draft.wants("down"):
        index = Index(name, low.low, most)
        ends = (f"{name} >= {low.text}", f"{low.text} <= {name}", f"{name} > {low.text} - 1")
        advance = (f"{name}--", f"--{name}") if step == 1 else ()
        moves = (*advance, f"{name} -= {step}", f"{name} = {name} - {step}")
        text = f"for (int {name} = {high.text}; {draft.pick(ends)}; {draft.pick(moves)})"
        return Head(text, (index,), trips)
    type_ = draft.pick(TYPES) if low.low >= 0 and high.low >= 0 else "int"
    signed = type_ in ("int", "short", "long")
    index = Index(name, low.low, most, signed)
    ends = (f"{name} <= {high.text}", f"{name} < {high.text} + 1", f"{high.text} >= {name}")
    advance = (f"{name}++", f"++{name}") if step == 1 else ()
    moves = (*advance, f"{name} += {step}")
    end, move = draft.pick(ends), draft.pick(moves)
    if signed and low.text.isdigit() and draft.wants("two variables"):
        other, start = draft.name("j"), draft.between(5, 9)
        room = (trips - 1) * step
        second = Index(other, start - room, start)
        text = f"for (int {name} = {low.text}, {other} = {start}; {end}; {move}, {other} -= {step})"
        return Head(text, (index, second), trips)
    if draft.chance(0.05):
        text = f"for ({name} = {low.text}; {end}; {move})"
        return Head(text, (index,), trips, (f"{type_} {name};",))
    return Head(f"for ({type_} {name} = {low.text}; {end}; {move})", (index,), trips)


def _halving(draft: Draft) -> Head:
    name, start = draft.name("h"), draft.pick((4, 8))
    text = f"for (int {name} = {start}; {name} > 0; {name} >>= 1)"
    return Head(text, (Index(name, 1, start),), start.bit_length())
