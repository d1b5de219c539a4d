"""Which nets go into each module and out of it: its ports."""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from amaranth.hdl import _nir as nir

from rtlgen.output.verilog_text.netlist import (
    TOP,
    Net,
    Netlist,
    Nets,
    bit_of,
    cell_of,
    is_constant,
)
from rtlgen.output.verilog_text.simplify import Simplified


@dataclass(frozen=True, slots=True)
class Crossing:
    """The nets that cross the border of a module."""

    inputs: frozenset[Net]
    outputs: frozenset[Net]


def looked_at(simplified: Simplified, number: int) -> Iterator[Net]:
    """Yield the nets that a live cell depends on."""
    cell = simplified.netlist.cells[number]
    match cell:
        case nir.Operator():
            for nets in cell.inputs:
                yield from nets
        case nir.FlipFlop():
            yield cell.clk
            if number in simplified.statements:
                yield from _stated(
                    simplified, simplified.netlist.cells[simplified.statements[number]]
                )
            else:
                yield from cell.data
        case _:
            yield from cell.input_nets()


def _stated(simplified: Simplified, made: Any) -> Iterator[Net]:
    yield from made.default
    for each in made.assignments:
        yield from each.value
        condition = each.cond
        while not is_constant(condition):
            switch = cell_of(condition)
            yield from simplified.tested_by(switch, bit_of(condition))
            condition = simplified.netlist.cells[switch].en


def crossings_of(simplified: Simplified) -> tuple[Crossing, ...]:
    """Return what crosses the border of every module, by number."""
    netlist = simplified.netlist
    above = _above(netlist)
    inputs: list[set[Net]] = [set() for _ in netlist.modules]
    outputs: list[set[Net]] = [set() for _ in netlist.modules]

    def use(nets: Iterable[Net], user: int) -> None:
        for net in nets:
            if is_constant(net):
                continue
            driver = netlist.cells[cell_of(net)].module_idx
            if driver == user:
                continue
            at = user
            while at not in above[driver] and net not in inputs[at]:
                inputs[at].add(net)
                at = above[at][1]
            if at in above[driver]:
                below = driver
                while below != at:
                    outputs[below].add(net)
                    below = above[below][1]

    for number in simplified.live:
        use(looked_at(simplified, number), netlist.cells[number].module_idx)
    for nets in netlist.outputs.values():
        use(nets, TOP)
    return tuple(
        Crossing(frozenset(ins), frozenset(outs)) for ins, outs in zip(inputs, outputs, strict=True)
    )


def _above(netlist: Netlist) -> list[Sequence[int]]:
    """Return for each module itself and those around it, the innermost first."""
    above: list[Sequence[int]] = []
    for number, module in enumerate(netlist.modules):
        # A module comes behind the one around it.
        around = () if module.parent is None else above[module.parent]
        above.append((number, *around))
    return above


def grouped(nets: frozenset[Net], words: Iterable[Nets], starts: Container[Net]) -> Iterator[Nets]:
    """Yield nets as the words that they belong to; what belongs to none as runs of neighbours.

    Parameters
    ----------
    words: the first one that a net is in counts. starts: no run goes on with one of these.
    """
    left = set(nets)
    for word in words:
        kept = _without_top_constants(word)
        if kept and len(set(kept)) == len(kept) and left.issuperset(kept):
            left.difference_update(kept)
            yield kept
    ordered = sorted(left)
    cuts = [n for n, (a, b) in enumerate(pairwise(ordered), 1) if b != a + 1 or b in starts]
    for start, end in pairwise((0, *cuts, len(ordered)) if ordered else ()):
        yield tuple(ordered[start:end])


def _without_top_constants(nets: Nets) -> Nets:
    end = len(nets)
    while end and is_constant(nets[end - 1]):
        end -= 1
    return nets[:end]
