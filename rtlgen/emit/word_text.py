"""Words of arrays off chip as C: how one is copied to or from a window, where, and when."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from rtlgen.emit.indices import index_text
from rtlgen.emit.lines import INDENT, bare
from rtlgen.emit.unit import Values
from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.code import Index, Operation, all_of, at_least_zero, index_of, substituted
from rtlgen.ir.plan import IndexForm, Predicate

NEVER_TEXT = "0"
"""A condition that never holds."""


@dataclass(frozen=True, slots=True)
class Words:
    """An array off chip and its window, as C has them.

    Members
    -------
    flat: text of the array as a pointer to its first element. extent: elements of a row.
    """

    flat: str
    window: str
    lanes: int
    extent: int
    row_words: int

    @property
    def is_padded(self) -> bool:
        return self.row_words * self.lanes > self.extent

    def column(self, lane: str) -> str:
        return f"word % {self.row_words} * {self.lanes} + {lane}"

    def off_chip(self, lane: str) -> str:
        if self.is_padded:
            row = f"word / {self.row_words} * {self.extent}"
            return f"{self.flat}[{row} + {self.column(lane)}]"
        return f"{self.flat}[word * {self.lanes} + {lane}]"

    def on_chip(self, lane: str) -> str:
        return f"{self.window}[at * {self.lanes} + {lane}]"


def copied_lanes(words: Words, is_load: bool, strobes: Sequence[str | None]) -> list[str]:
    """Return the lines that copy the elements of a word: all of them, or those with a strobe."""
    if is_load or not any(strobes):
        inside = f" && {words.column('lane')} < {words.extent}" if words.is_padded else ""
        sides = words.on_chip("lane"), words.off_chip("lane")
        to, source = sides if is_load else reversed(sides)
        loop = f"for (int64_t lane = 0; lane < {words.lanes}{inside}; lane++)"
        return [f"{loop} {{", f"{INDENT}{to} = {source};", "}"]
    return [
        line
        for lane, strobe in enumerate(strobes)
        if strobe != NEVER_TEXT
        for line in only_if(strobe, [f"{words.off_chip(str(lane))} = {words.on_chip(str(lane))};"])
    ]


def only_if(condition: str | None, lines: list[str]) -> list[str]:
    """Return lines that run where a condition holds; None: always."""
    if condition is None:
        return lines
    if len(lines) == 1:
        return [f"if ({condition}) {{", INDENT + lines[0], "}"]
    return [f"if ({condition}) {{", *lines[1:-1], "}"]


def predicate_text(
    predicate: Predicate, form: Callable[[IndexForm], Affine], calls: Mapping[str, str]
) -> str | None:
    """Return a predicate on counters as C; None where it always holds."""
    if predicate.is_true:
        return None
    total: Index | None = None
    for conditions in predicate.alternatives:
        parts: list[Index] = [_condition(form(c.form), c.equal) for c in conditions]
        every = all_of(parts)
        assert every is not None, "a conjunction of nothing always holds"
        total = every if total is None else Operation("or", (total, every))
    return NEVER_TEXT if total is None else index_text(total, calls)


def _condition(form: Affine, is_equality: bool) -> Operation:
    found = at_least_zero(form)
    return Operation("eq", found.operands) if is_equality else found


def condition_text(condition: Index, values: Values, calls: Mapping[str, str]) -> str:
    """Return a condition on iterators as C, with values of these."""
    return index_text(
        substituted(condition, {name: index_of(form) for name, form in values.items()}), calls
    )


def folded_text(fields: Sequence[tuple[Affine, int]], tile_bits: int, tile: str) -> str:
    """Return a folded address as C: the low bits of every form, one above the other."""
    parts, shift = [], 0
    for form, width in [*fields, *([(Affine.variable(tile), tile_bits)] if tile_bits else [])]:
        text = str(form)
        low = f"({text if text.isidentifier() else f'({text})'} & {(1 << width) - 1})"
        parts.append(f"({low} << {shift})" if shift else low)
        shift += width
    return bare(" | ".join(parts)) if parts else "0"


def of_counters(form: IndexForm, names: Sequence[str], firsts: Sequence[int]) -> Affine:
    """Return a form of 0-based counters as one of the loops that begin at `firsts`, others at 0."""
    starts = [*firsts, *[0] * (len(names) - len(firsts))]
    parts = [
        (Affine.variable(name) - first) * c
        for name, first, c in zip(names, starts, form.coefficients, strict=True)
    ]
    return affine_sum(parts) + form.constant
