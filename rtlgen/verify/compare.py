"""Compare two memories, element by element, all of it; numbers by their bits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np

from rtlgen.verify.values import Elements, Value, element_value, to_words, value_json, value_text

SHOWN_MISMATCHES = 10


@dataclass(frozen=True, slots=True)
class Mismatch:
    """One element that differs.

    Members
    -------
    index: its subscripts, () for a scalar.
    cycle: when the circuit wrote it last, if that is known.
    """

    array: str
    index: tuple[int, ...]
    expected: Value
    got: Value
    cycle: int | None = None

    def __str__(self) -> str:
        element = self.array + "".join(f"[{i}]" for i in self.index)
        when = "" if self.cycle is None else f", written in cycle {self.cycle}"
        expected, got = value_text(self.expected), value_text(self.got)
        return f"{element}: expected {expected}, got {got}{when}"

    def to_json(self) -> dict[str, object]:
        """Return the mismatch as a JSON-serialisable object."""
        return {
            "array": self.array,
            "index": list(self.index),
            "expected": value_json(self.expected),
            "got": value_json(self.got),
            "cycle": self.cycle,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """The outcome of a comparison.

    Members
    -------
    first: the first mismatches, in order of arrays and of memory.
    mismatches: number of elements that differ.
    elements: number of elements compared.
    """

    first: tuple[Mismatch, ...]
    mismatches: int
    elements: int

    @property
    def exact(self) -> bool:
        """Whether every element agrees, and there was one to compare."""
        return self.mismatches == 0 and self.elements > 0

    def with_cycles(self, cycles: Mapping[tuple[str, tuple[int, ...]], int]) -> Comparison:
        """Return the comparison with the cycles of the writes filled in where they are known."""
        first = tuple(
            replace(mismatch, cycle=cycles.get((mismatch.array, mismatch.index)))
            for mismatch in self.first
        )
        return replace(self, first=first)

    def to_json(self) -> dict[str, object]:
        """Return the comparison as a JSON-serialisable object."""
        return {
            "exact": self.exact,
            "elements": self.elements,
            "mismatches": self.mismatches,
            "first": [mismatch.to_json() for mismatch in self.first],
        }

    def text(self) -> str:
        """Return the comparison for a person, one line a mismatch, without a final newline."""
        if not self.elements:
            return "nothing was compared"
        if self.exact:
            return f"all {self.elements} elements agree"
        lines = [f"{self.mismatches} of {self.elements} elements differ"]
        lines += [f"  {mismatch}" for mismatch in self.first]
        if self.mismatches > len(self.first):
            lines.append(f"  and {self.mismatches - len(self.first)} more")
        return "\n".join(lines)


def compare_memories(
    expected: Mapping[str, Elements],
    got: Mapping[str, Elements],
    *,
    shown: int = SHOWN_MISMATCHES,
) -> Comparison:
    """Compare every element of every array.

    Raises
    ------
    ValueError: the two do not hold the same arrays, of the same types and shapes.
    """
    if set(expected) != set(got):
        raise ValueError(f"arrays {sorted(expected)} are compared with {sorted(got)}")
    first: list[Mismatch] = []
    mismatches = elements = 0
    for name, wanted in expected.items():
        found = got[name]
        if wanted.dtype != found.dtype or wanted.shape != found.shape:
            forms = f"{wanted.dtype} {wanted.shape} is compared with {found.dtype} {found.shape}"
            raise ValueError(f"{name}: {forms}")
        differ = to_words(wanted) != to_words(found)
        places = np.argwhere(differ.reshape(wanted.shape))
        elements += wanted.size
        mismatches += len(places)
        for place in places[: shown - len(first)].tolist():
            index = tuple(place)
            values = (element_value(wanted[index]), element_value(found[index]))
            first.append(Mismatch(name, index, *values))
    return Comparison(tuple(first), mismatches, elements)
