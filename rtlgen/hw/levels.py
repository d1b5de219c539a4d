"""The levels of a stream that count anything.

A level of one iteration has a counter that is always 0: no hardware knows of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rtlgen.ir.plan import IndexForm, Level, Stream


def active_extents(stream: Stream) -> tuple[int, ...]:
    """Return the extents of the levels that count anything."""
    return tuple(level.extent for level in stream.levels if level.extent > 1)


def active_form(form: IndexForm, levels: Sequence[Level]) -> IndexForm:
    """Return `form` over the active levels; the counter of any other level is always 0."""
    kept = zip(form.coefficients, levels, strict=True)
    return IndexForm(tuple(c for c, level in kept if level.extent > 1), form.constant)


def active_levels(levels: Sequence[Level]) -> tuple[Level, ...]:
    """Return the levels that count anything, their bounds over each other, without C names."""
    return tuple(
        replace(level.with_forms(lambda form: active_form(form, levels)), name=None)
        for level in levels
        if level.extent > 1
    )
