"""Affine forms of counters without multipliers: registers that follow them from step to step.

A form's value changes from one iteration to the next by a constant that depends only on the step
code of the iteration. So a register that adds this constant follows the form, and it can stand at
any pipeline stage that the step code is delayed to: delaying the two or three bits of the
step code, shared by all forms, is cheaper than delaying wide addresses.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from rtlgen.ir.plan import IndexForm

DELAY_LIMIT = 2
"""A value that is there up to this many stages earlier is delayed instead of followed anew."""


@dataclass(frozen=True, slots=True)
class FormRequest:
    """The low `width_bits` bits of `form` are read in `stage`."""

    form: IndexForm
    stage: int
    width_bits: int


@dataclass(frozen=True, slots=True)
class Fixed:
    """The form does not move."""

    value: int


@dataclass(frozen=True, slots=True)
class Slices:
    """The form is counters side by side in stage 0; `lows[l]` is the first bit of counter l."""

    lows: tuple[int | None, ...]


@dataclass(frozen=True, slots=True)
class Delayed:
    """The value that the same form has in stage `source_stage`, later."""

    source_stage: int


@dataclass(frozen=True, slots=True)
class Follower:
    """A register that starts at `initial` and adds `deltas[step code]` after each iteration."""

    initial: int
    deltas: tuple[int, ...]

    def __post_init__(self) -> None:
        if not any(self.deltas):
            raise ValueError("a form that does not move needs no register")

    @property
    def advance(self) -> int | None:
        """The p for which every step of at least p ended levels, and no other, adds one constant.

        Such a register needs a single enable bit, not the step code.
        """
        moving = [code for code, delta in enumerate(self.deltas) if delta]
        same = len({self.deltas[code] for code in moving}) == 1
        first = moving[0]
        return first if same and moving == list(range(first, len(self.deltas))) else None


@dataclass(frozen=True, slots=True)
class Ahead:
    """The form is added up from counters that are known some iterations before stage 0."""


Realisation: TypeAlias = Fixed | Slices | Delayed | Follower | Ahead


@dataclass(frozen=True, slots=True)
class FormValue:
    """One realised form: `width_bits` bits of it in `stage`."""

    form: IndexForm
    stage: int
    width_bits: int
    how: Realisation


def realise(requests: Iterable[FormRequest], extents: tuple[int, ...]) -> tuple[FormValue, ...]:
    """Choose how each requested form gets its value, sources before the values that delay them."""
    values: list[FormValue] = []
    for form, (width, stages) in _by_form(requests).items():
        values += _realise_form(form, width, sorted(stages), extents)
    return tuple(values)


def realise_ahead(requests: Iterable[FormRequest]) -> tuple[FormValue, ...]:
    """Let each requested form be ready in stage 0, and be delayed from there.

    That is for nests in which what a form changes by is no constant, so that nothing can follow it.
    """
    values: list[FormValue] = []
    for form, (width, stages) in _by_form(requests).items():
        values.append(FormValue(form, 0, width, Ahead()))
        values += [FormValue(form, stage, width, Delayed(0)) for stage in sorted(stages - {0})]
    return tuple(values)


def _by_form(requests: Iterable[FormRequest]) -> dict[IndexForm, tuple[int, set[int]]]:
    """Return for each form the bits and the stages that are asked for."""
    found: dict[IndexForm, tuple[int, set[int]]] = {}
    for request in requests:
        width, stages = found.get(request.form, (1, set()))
        found[request.form] = max(width, request.width_bits), stages | {request.stage}
    return found


def _realise_form(
    form: IndexForm, width: int, stages: list[int], extents: tuple[int, ...]
) -> list[FormValue]:
    if not any(coefficient % (1 << width) for coefficient in form.coefficients):
        fixed = Fixed(form.constant % (1 << width))
        return [FormValue(form, stage, width, fixed) for stage in stages]
    lows = slice_lows(form, extents)
    values: list[FormValue] = []
    previous: int | None = None
    if lows is not None and stages[0] <= DELAY_LIMIT:
        values.append(FormValue(form, 0, width, Slices(lows)))
        previous = 0
    for stage in stages:
        if stage == previous:
            continue
        if previous is not None and stage - previous <= DELAY_LIMIT:
            values.append(FormValue(form, stage, width, Delayed(previous)))
        else:
            values.append(FormValue(form, stage, width, follower(form, width, extents)))
        previous = stage
    return values


def slice_lows(form: IndexForm, extents: tuple[int, ...]) -> tuple[int | None, ...] | None:
    """Return where each counter stands if the form is counters side by side, else None."""
    if form.constant < 0:
        return None
    taken = form.constant
    lows: list[int | None] = []
    for coefficient, extent in zip(form.coefficients, extents, strict=True):
        if coefficient == 0:
            lows.append(None)
            continue
        if coefficient < 0 or coefficient & (coefficient - 1):
            return None
        bits = coefficient * ((1 << (extent - 1).bit_length()) - 1)
        if taken & bits:
            return None
        taken |= bits
        lows.append(coefficient.bit_length() - 1)
    return tuple(lows)


def follower(form: IndexForm, width: int, extents: tuple[int, ...]) -> Follower:
    """Return the register that follows `form` modulo 2**width."""
    deltas = []
    rewind = 0
    for coefficient, extent in reversed(tuple(zip(form.coefficients, extents, strict=True))):
        deltas.append((coefficient - rewind) % (1 << width))
        rewind += coefficient * (extent - 1)
    deltas.append(-rewind % (1 << width))
    return Follower(form.constant % (1 << width), tuple(deltas))
