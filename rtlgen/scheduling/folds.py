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

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

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


def sharing_places(sets: ScopSets, kept: Kept, bits: Sequence[int]) -> isl.Map:
    """Return {writing instance -> writing instance} of values that go to one place."""
    statement, write = kept.statement, kept.statement.write
    names = statement.iterators
    shape = sets.scop.array(write.array).shape
    where = []
    for subscript, width, extent in zip(write.affine, bits, shape, strict=True):
        difference = f"({affine_text(subscript, names)}) - ({_second(subscript, names)})"
        # A condition without a quotient, where there is one.
        if 1 << width >= extent:
            where.append(f"{difference} = 0")
        elif width:
            where.append(f"({difference}) mod {1 << width} = 0")
    tuple_name = sets.statement_tuple(statement.name)
    first, second = (",".join(f"{letter}{k}" for k in range(len(names))) for letter in "de")
    text = (
        f"{{ {tuple_name}[{first}] -> {tuple_name}[{second}] : {' and '.join(where) or 'true'} }}"
    )
    return sets.read_map(text).intersect_domain(kept.written).intersect_range(kept.written)


def _second(form: Affine, names: Sequence[str]) -> str:
    """Return a form of the second instance of a pair."""
    return " + ".join(
        [*(f"{c}*e{names.index(name)}" for name, c in form.terms), str(form.constant)]
    )


def overwritten(sets: ScopSets, kept: Kept, depth: int, bits: Sequence[int]) -> isl.Map:
    """Return {reading instance -> writing instance that took its value's place too early}."""
    keep_going(sets.context)
    alike = sharing_places(sets, kept, bits)
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


def smallest_fold(
    sets: ScopSets, kept: Kept, depth: int, shape: Sequence[int], guess: Sequence[int] = ()
) -> tuple[int, ...]:
    """Return for each dimension how many low bits of the subscript tell the values apart.

    The last dimension is folded first: neighbours in a row stay neighbours.

    Parameters
    ----------
    guess: bits to begin the search with, which do not change what it finds.
    """
    bits = [(extent - 1).bit_length() for extent in shape]
    likely = [min(pair) for pair in zip(guess, bits, strict=True)] if guess else None
    # One proof for all dimensions at once, where the guess is right or too many bits.
    holds = likely is not None and overwritten(sets, kept, depth, likely).is_empty()

    def suffices(place: int, tried: int) -> bool:
        folded = [*bits[:place], tried, *bits[place + 1 :]]
        if holds and likely is not None and folded[place:] == likely[place:]:
            return True
        return overwritten(sets, kept, depth, folded).is_empty()

    for place in reversed(range(len(bits))):
        wanted = None if likely is None else likely[place]
        bits[place] = _fewest(partial(suffices, place), bits[place], wanted)
    return tuple(bits)


def _fewest(suffices: Callable[[int], bool], most: int, guess: int | None) -> int:
    """Return the smallest number that suffices; all from there up to `most` do.

    From a guess, steps become longer and longer until the number lies between two of them.
    """
    few, enough, step = 0, most, 1
    tried = most // 2 if guess is None else min(guess, most - 1)
    while few < enough:
        if suffices(tried):
            enough = tried
            tried = enough - step
        else:
            few = tried + 1
            tried = few + step - 1
        step *= 2
        if guess is None or (few > 0 and enough < most):
            tried = (few + enough) // 2
        tried = max(few, min(tried, enough - 1))
    return enough


def fields_of(access: Access, bits: Sequence[int]) -> Fields:
    """Return the place of an element: the last subscript lowest; at least one bit of it."""
    fields = [(form, width) for form, width in zip(access.affine, bits, strict=True) if width]
    return tuple(reversed(fields)) or ((access.affine[-1], 1),)
