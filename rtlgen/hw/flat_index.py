"""Index recovery from one flat counter: by division, and by bit slices."""

from __future__ import annotations

from abc import abstractmethod
from functools import reduce
from operator import mul

from amaranth.hdl import Module, Signal, Value

from rtlgen.hw.index_units import IndexUnit, pace
from rtlgen.hw.multiplier import constant_product
from rtlgen.hw.pipeline import DelayLines, Stages
from rtlgen.ir.operation_costs import reciprocal


class FlatIndex(IndexUnit):
    """A flat counter x = 0 .. count - 1; how it becomes indices is the subclasses' affair."""

    def elaborate(self, platform: object) -> Module:
        m = Module()
        x = Signal(range(max(2, self.count)))
        at_end = Signal(init=self.count == 1)
        issue = pace(m, self.begin, at_end, self.ii)
        if self.count > 1:
            with m.If(issue):
                m.d.sync += [x.eq(x + 1), at_end.eq(x == self.count - 2)]
                with m.If(at_end):
                    m.d.sync += x.eq(0)
        delayed = DelayLines(m).at(issue, self.latency_cycles, reset=True)
        m.d.comb += self.valid.eq(delayed)
        m.d.comb += [
            counter.eq(value)
            for counter, value in zip(self.counters, self.recover(m, x), strict=True)
        ]
        m.d.comb += [
            last.eq(counter == extent - 1)
            for extent, counter, last in zip(self.extents, self.counters, self.lasts, strict=True)
        ]
        self.encode_step(m)
        return m

    @abstractmethod
    def recover(self, m: Module, x: Signal) -> list[Value]:
        """Return the counters that belong to `x`, `latency_cycles` later."""

    def inner_counts(self) -> list[int]:
        """Return for each level how many iterations one step of it takes."""
        return [reduce(mul, self.extents[level + 1 :], 1) for level in range(len(self.extents))]


class Divide(FlatIndex):
    """Recover indices by arithmetic: i = x / (n1*n2), j = x / n2 - i*n1, k = x - i*(n1*n2) - j*n2.

    The quotients are multiplications by a reciprocal. The published baseline; with latency 0 it is
    the one long combinational path that the paper describes, otherwise registers stand after the
    quotients and after each index.

    Reference
    ---------
    MFF: Ishikawa et al., modulo-free flattening, VLD2017-97.
    """

    def recover(self, m: Module, x: Signal) -> list[Value]:
        if not self.extents:
            return []
        stages = Stages(m, self.latency_cycles)
        counts = self.inner_counts()
        quotients = stages.cut(
            [self._quotient(x, count) for count in counts],
            [f"quotient_{level}" for level in range(len(counts))],
        )
        names = [f"index_{level}" for level in range(len(counts))]
        values = quotients
        for level in range(1, len(counts)):
            index = values[level]
            for outer in range(level):
                index = index - constant_product(values[outer], counts[outer] // counts[level])
            values[level] = index[: len(self.counters[level])]
            values = stages.cut(values, names)
        while stages.cycles_left:
            values = stages.cut(values, [f"{name}_{stages.cycles_left}" for name in names])
        return values

    def _quotient(self, x: Signal, divisor: int) -> Value:
        by = reciprocal(divisor, self.count - 1)
        return (x * by.factor)[by.shift :]


class Shift(FlatIndex):
    """Recover indices as slices of the flat counter, which takes no logic at all.

    Every extent but the outermost must be a power of two: see `sliceable`.
    """

    def recover(self, m: Module, x: Signal) -> list[Value]:
        stages = Stages(m, self.latency_cycles)
        flat = stages.delay_to_end(x, "x")
        slices: list[Value] = []
        for count, counter in zip(self.inner_counts(), self.counters, strict=True):
            low = count.bit_length() - 1
            slices.append(flat[low : low + len(counter)])
        return slices


def sliceable(extents: tuple[int, ...]) -> bool:
    """Tell whether every extent but the outermost one is a power of two."""
    return all(extent & (extent - 1) == 0 for extent in extents[1:])
