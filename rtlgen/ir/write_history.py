"""Which write to an element was the last one at some time."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from rtlgen.ir.ints import Bools, Ints, distinct

INITIAL = -1
"""The producer of what was in the memory before the run."""


class WriteHistory:
    """Writes to the elements of one array, ordered by time."""

    def __init__(self, elements: Ints, times: Ints, tokens: Ints) -> None:
        self._base = int(times.max(initial=0)) + 2
        keys = elements * self._base + times
        order = np.argsort(keys, kind="stable")
        self._keys, self._tokens = keys[order], tokens[order]

    def __len__(self) -> int:
        return len(self._keys)

    def before(self, elements: Ints, times: Ints) -> Ints:
        """Return the last token written to each element strictly before the given time."""
        if not len(self._keys):
            return np.full(len(elements), INITIAL, dtype=np.int64)
        asked = elements * self._base + np.minimum(times, self._base - 1)
        place = np.searchsorted(self._keys, asked, side="left") - 1
        found = np.where(place >= 0, self._keys[place] // self._base == elements, False)
        return np.where(found, self._tokens[place], INITIAL)

    @property
    def elements(self) -> Ints:
        """The elements that are written."""
        return distinct(self._keys // self._base)

    def last(self, elements: Ints) -> Ints:
        """Return the last token of each element."""
        return self.before(elements, np.full(len(elements), self._base - 1, dtype=np.int64))

    def meets(self, elements: Ints, times: Ints) -> bool:
        """Tell whether some element is written at the very time given for it."""
        return bool(self.met(elements, times).any())

    def met(self, elements: Ints, times: Ints) -> Bools:
        """Tell of each element whether it is written at the very time given for it."""
        if not len(self._keys):
            return np.zeros(len(elements), dtype=np.bool_)
        asked = elements * self._base + np.minimum(times, self._base - 1)
        place = np.minimum(np.searchsorted(self._keys, asked), len(self._keys) - 1)
        found: Bools = self._keys[place] == asked
        return found


def history_of(
    elements: Sequence[Ints], times: Sequence[Ints], tokens: Sequence[Ints]
) -> WriteHistory:
    """Return a history of writes that are known in parts."""
    empty = np.zeros(0, dtype=np.int64)
    return WriteHistory(*(np.concatenate([empty, *parts]) for parts in (elements, times, tokens)))
