"""Folds: how few words hold the values that tiles leave for later ones.

Each dimension of an array is folded by itself, to its low bits. A fold is right if no store goes to
the place of a value that is still to be read:

    p writes, q reads what p wrote, p' writes to the place of p:   never  p < p' <= q

in the order of tiles, and inside of a tile of cycles. That is a question whether a set is empty,
for all sizes at once; a pair of it is the witness.

Reference: De Greef, Catthoor, De Man, "Memory size reduction through storage order optimization",
1997; Darte, Schreiber, Villard, "Lattice-based memory allocation", IEEE TC 2005.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.poly.dependences import Flow
from rtlgen.scheduling.footprints import Fields


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Values of one statement that stay on chip until they are read.

    Members
    -------
    flows: to the reads that take them from there, restricted to these instances.
    written: the instances that write them. store_cycle: the cycle of the store in its tile.
    read_cycles: of each flow, the cycle in its tile in which the address is presented.
    """

    statement: Statement
    written: isl.Set
    store_cycle: Affine
    flows: tuple[Flow, ...]
    read_cycles: tuple[Affine, ...]


def folded_places(
    sets: ScopSets, statement: Statement, access: Access, bits: Sequence[int]
) -> isl.Map:
    """Return {instance -> subscripts, each modulo a power of two}."""
    names = statement.iterators
    images = [
        f"({affine_text(subscript, names)}) mod {1 << width}" if width else "0"
        for subscript, width in zip(access.affine, bits, strict=True)
    ]
    dims = ",".join(f"d{k}" for k in range(len(names)))
    tuple_name = sets.statement_tuple(statement.name)
    return sets.read_map(f"{{ {tuple_name}[{dims}] -> [{','.join(images)}] }}")


def overwritten(sets: ScopSets, kept: Kept, depth: int, bits: Sequence[int]) -> isl.Map:
    """Return {reading instance -> writing instance that took its value's place too early}."""
    keep_going(sets.context)
    write = kept.statement.write
    places = folded_places(sets, kept.statement, write, bits).intersect_domain(kept.written)
    alike = places.apply_range(places.reverse())
    written_at = _time(sets, kept.statement, kept.store_cycle, depth)
    later = alike.intersect(written_at.lex_lt_map(written_at))
    found = None
    for flow, cycle in zip(kept.flows, kept.read_cycles, strict=True):
        sink = sets.scop.statement(flow.sink)
        read_at = _time(sets, sink, cycle, depth)
        # q -> p -> p', of which those with p' not after q are too early.
        early = flow.relation.reverse().apply_range(later).intersect(read_at.lex_ge_map(written_at))
        if not early.is_empty():
            return early
        found = early
    assert found is not None, "values are kept for somebody"
    return found


def _time(sets: ScopSets, statement: Statement, cycle: Affine, depth: int) -> isl.Map:
    tile = [Affine.variable(name) for name in statement.iterators[:depth]]
    return sets.time_map(statement, [*tile, cycle])


def smallest_fold(sets: ScopSets, kept: Kept, depth: int, shape: Sequence[int]) -> tuple[int, ...]:
    """Return for each dimension how many low bits of the subscript tell the values apart.

    The last dimension is folded first: neighbours in a row stay neighbours.
    """
    bits = [(extent - 1).bit_length() for extent in shape]
    for place in reversed(range(len(bits))):
        # What so many bits tell apart, more do, too.
        few, enough = 0, bits[place]
        while few < enough:
            tried = (few + enough) // 2
            folded = [*bits[:place], tried, *bits[place + 1 :]]
            if overwritten(sets, kept, depth, folded).is_empty():
                enough = tried
            else:
                few = tried + 1
        bits[place] = enough
    return tuple(bits)


def fields_of(access: Access, bits: Sequence[int]) -> Fields:
    """Return the place of an element: the last subscript lowest; at least one bit of it."""
    fields = [(form, width) for form, width in zip(access.affine, bits, strict=True) if width]
    return tuple(reversed(fields)) or ((access.affine[-1], 1),)
