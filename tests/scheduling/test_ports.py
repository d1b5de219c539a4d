"""Accesses that use a port in the same cycle."""

from __future__ import annotations

import islpy as isl

from rtlgen.ir.sets import operations
from rtlgen.scheduling.ports import Busy


def test_pairs_of_accesses_are_steps_of_their_own() -> None:
    context = isl.Context()

    def busy(number: int) -> Busy:
        text = f"{{ [c, b] : exists k : c = 3 k + {number} and 0 <= c < 3000 and 0 <= b < 4 }}"
        return Busy(isl.Set.read_from_str(context, text), (f"S{number}", 0), instances)

    instances = isl.Set.read_from_str(context, "{ S[i] : 0 <= i < 1000 }")
    first, second, third = busy(0), busy(1), busy(3)
    with operations(context, 2_000):
        # All of these together take isl more operations than one step may.
        for _ in range(500):
            assert not first.meets(second) and first.meets(third)
