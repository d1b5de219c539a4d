"""Index recovery: from "begin" to the counters of a loop nest, one iteration every II cycles.

Three units with one interface enumerate a box in row-major order. What follows them (addresses,
index values, conditions) hangs on the interface alone, so the styles are interchangeable.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from functools import reduce
from math import prod
from operator import and_

from amaranth.hdl import Const, Module, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out


def step_width(extents: tuple[int, ...]) -> int:
    """Return the width of a step code: 0 to len(extents) levels can end in one iteration."""
    return max(1, len(extents).bit_length())


class IndexUnit(wiring.Component):
    """The interface of all styles.

    Parameters
    ----------
    extents: of the levels, outermost first, each at least 2 (a level of one iteration counts
        nothing and has no place here).
    ii: cycles from one iteration to the next.
    more: members that a style has besides.
    outer_levels: how many of the outermost levels take one iteration a `begin`. The unit pauses
        whenever all levels inside of them have come to their end, until the next `begin`, which may
        come in the last cycle before the pause.

    Members
    -------
    begin: In(1), high before the first iteration: a cycle, and as many as the unit's latency.
    valid: Out(1), high in the cycle an iteration is issued.
    counter_L: Out, the counter of level L in that cycle.
    last_L: Out(1), counter L is at its last value.
    step: Out, the *step code*: how many of the innermost levels are at their last value, that is,
        which level advances from this iteration to the next. After the last iteration of the box
        all of them wrap, which leaves the unit as it was before the first.
    """

    def __init__(
        self,
        extents: tuple[int, ...],
        ii: int,
        latency_cycles: int = 0,
        more: Mapping[str, Member] | None = None,
        outer_levels: int = 0,
    ) -> None:
        if any(extent < 2 for extent in extents) or ii < 1:
            raise ValueError(f"extents {extents}, II {ii}")
        self.extents = extents
        self.ii = ii
        self.latency_cycles = latency_cycles
        self.outer_levels = outer_levels
        counters = {f"counter_{n}": Out(range(extent)) for n, extent in enumerate(extents)}
        lasts = {f"last_{n}": Out(1) for n in range(len(extents))}
        super().__init__(
            {
                "begin": In(1),
                "valid": Out(1),
                "step": Out(step_width(extents)),
                **counters,
                **lasts,
                **(more or {}),
            }
        )

    @property
    def counters(self) -> tuple[Signal, ...]:
        return tuple(getattr(self, f"counter_{n}") for n in range(len(self.extents)))

    @property
    def lasts(self) -> tuple[Signal, ...]:
        return tuple(getattr(self, f"last_{n}") for n in range(len(self.extents)))

    @property
    def pauses(self) -> Value:
        """Whether the unit pauses after the present iteration."""
        return all_of(self.lasts[self.outer_levels :])

    @property
    def count(self) -> int:
        """Number of iterations of the box."""
        return prod(self.extents)

    def is_box_level(self, level: int) -> bool:
        """Return whether a level runs from 0 to its extent - 1 whatever the outer counters are."""
        return True

    @abstractmethod
    def elaborate(self, platform: object) -> Module: ...

    def encode_step(self, m: Module) -> None:
        """Drive `step` from the `last` flags."""
        m.d.comb += self.step.eq(len(self.extents))
        for level, last in enumerate(self.lasts):
            with m.If(~last):
                m.d.comb += self.step.eq(len(self.extents) - 1 - level)


def pace(m: Module, begin: Value, final: Value, ii: int) -> Signal:
    """Return a register that is high every `ii` cycles, from after `begin` until `final`.

    `final` says, in a cycle where the result is high, that it is the last one.
    """
    valid = Signal(name="issue")
    if ii == 1:
        m.d.sync += valid.eq(begin | (valid & ~final))
        return valid
    wait = Signal(range(ii), name="wait")
    m.d.sync += valid.eq(begin | (wait == 1))
    with m.If(valid & ~final):
        m.d.sync += wait.eq(ii - 1)
    with m.Elif(wait != 0):
        m.d.sync += wait.eq(wait - 1)
    return valid


def all_of(values: Sequence[Value]) -> Value:
    """Return the conjunction of one-bit `values`; of none, 1."""
    return reduce(and_, values) if values else Const(1)
