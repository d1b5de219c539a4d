"""Values in the order in which they go to a memory: how long each is needed there.

A value is stored in one cycle and read in later ones. The next one at its place may not come before
it has been read last.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.quasi_affine import affine_values
from rtlgen.ir.scop import Access, Array, Statement
from rtlgen.scheduling.forwarding import IssueTimes

MAX_DIFFERENCES = 64
"""Pairs of values in one place that are looked at together."""


def elements_of(array: Array, statement: Statement, access: Access, points: Ints) -> Ints:
    """Return the row-major numbers of the elements that an access is to, at each point."""
    strides = np.array(array.strides, dtype=np.int64)
    numbers: Ints = subscripts_of(statement, access, points) @ strides
    return numbers


def subscripts_of(statement: Statement, access: Access, points: Ints) -> Ints:
    """Return the (n, subscripts) of an access at (n, iterators) points."""
    values = [affine_values(form, statement.iterators, points) for form in access.affine]
    return np.stack(values, axis=1)


@dataclass(frozen=True, slots=True, eq=False)
class StoredValues:
    """What an access of a statement brings to a memory, in the order of the cycles.

    Members
    -------
    points: the instances. subscripts: (n, subscripts) of the elements. cycles: of the stores.
    """

    array: Array
    points: Ints
    subscripts: Ints
    cycles: Ints

    @staticmethod
    def of(
        times: IssueTimes,
        statement: Statement,
        array: Array,
        access: Access,
        points: Ints,
        stage: int,
    ) -> StoredValues:
        """Return what some instances of a statement store in a stage."""
        cycles = times[statement.name].cycles(points, stage)
        order = np.argsort(cycles, kind="stable")
        points = points[order]
        subscripts = subscripts_of(statement, access, points)
        return StoredValues(array, points, subscripts, cycles[order])

    def among(self, some: NDArray[np.bool_]) -> StoredValues:
        """Return some of it."""
        return replace(
            self,
            points=self.points[some],
            subscripts=self.subscripts[some],
            cycles=self.cycles[some],
        )

    def last_reads(self, elements: Ints, when: Ints) -> Ints:
        """Return when each value is read last, by reads of elements that follow its store.

        It is the store's own cycle for one that nobody reads.
        """
        base = max(int(self.cycles.max(initial=0)), int(when.max(initial=0))) + 2
        keys = self.subscripts @ np.array(self.array.strides, dtype=np.int64) * base + self.cycles
        order = np.argsort(keys)
        place = np.searchsorted(keys[order], elements * base + when) - 1
        last = self.cycles.copy()
        # A value is read after its store, so that there is one before each read.
        np.maximum.at(last, order[np.maximum(place, 0)], when)
        return last

    def most_alive(self, last: Ints) -> int:
        """Return how many values are stored from the store of a value to its last read, at most."""
        return int((np.searchsorted(self.cycles, last, side="right") - np.arange(len(last))).max())

    def clashes(self, last: Ints) -> Clashes:
        return Clashes(self, last)


@dataclass(frozen=True, slots=True, eq=False)
class Clashes:
    """Values that lose their place to others before they have been read."""

    stored: StoredValues
    last: Ints

    def __call__(self, bits: Sequence[int]) -> list[tuple[int, ...]]:
        """Return how far some values are apart, by subscript, one of which is lost in a fold."""
        keep_going()
        places = np.zeros(len(self.last), dtype=np.int64)
        for column, width in zip(self.stored.subscripts.T, bits, strict=True):
            places = places << width | column & ((1 << width) - 1)
        order = np.argsort(places, kind="stable")
        early, late = order[:-1], order[1:]
        lost = (places[early] == places[late]) & (self.last[early] >= self.stored.cycles[late])
        apart = self.stored.subscripts[late[lost]] - self.stored.subscripts[early[lost]]
        found = np.unique(apart, axis=0)[:MAX_DIFFERENCES]
        return [tuple(row) for row in found.tolist()]
