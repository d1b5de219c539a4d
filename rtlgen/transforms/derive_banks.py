"""Derive the banks that the accesses of a program ask for, as those of code unrolled by hand do.

    a[8*i] .. a[8*i + 7]   in one nest: each access stays in one of 8 banks, its own
    h[0] .. h[15]          all accesses are of one element each: every element is a register

What two accesses in loops that are alike touch in one cycle differs by a constant there. So a
dimension is worth a cut where their subscripts leave several remainders, the same in every
iteration.
Whether the cut is worth its memory is for whoever plans the program to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import gcd, prod

from rtlgen.ir.affine import Affine
from rtlgen.ir.bank_map import MOST_BANKS, Cut
from rtlgen.ir.scop import Array, Scop
from rtlgen.transforms.partition import looked_up_arrays


@dataclass(frozen=True, slots=True)
class _Use:
    """The subscripts of an access, and the loops around it: alike ones can run in step."""

    subscripts: tuple[Affine, ...]
    nest: tuple[tuple[Affine, Affine, int], ...]


def derived_cuts(scop: Scop, decided: Iterable[str]) -> dict[str, tuple[Cut, ...]]:
    """Return cuts that let accesses of a normalised program meet, by array.

    Parameters
    ----------
    decided: arrays of which somebody has said how they are cut.
    """
    left_out = {*decided, *looked_up_arrays(scop)}
    found = {}
    for array in scop.arrays:
        is_whole = array.is_table or array.is_stream or array.is_external or array.depth == 1
        if array.name in left_out or is_whole:
            continue
        cuts = _cuts(array, _uses(scop, array.name))
        if cuts:
            found[array.name] = cuts
    return found


def other_partition(scop: Scop, array: str) -> str | None:
    """Return the options that cut an array as its accesses ask for, or None where it is so cut."""
    others = (other.name for other in scop.arrays if other.name != array)
    cuts = derived_cuts(scop, others).get(array, ())
    if not cuts or cuts == scop.array(array).cuts:
        return None
    return " ".join(f"--partition {array}={cut}" for cut in cuts)


def _uses(scop: Scop, array: str) -> list[_Use]:
    return [
        _Use(access.affine, tuple((loop.start, loop.stop, loop.scale) for loop in statement.loops))
        for statement in scop.statements
        for access in (statement.write, *statement.reads)
        if access.array == array
    ]


def _cuts(array: Array, uses: Sequence[_Use]) -> tuple[Cut, ...]:
    subscripts = [subscript for use in uses for subscript in use.subscripts]
    if all(subscript.is_constant for subscript in subscripts):
        is_small = array.depth <= MOST_BANKS and len({use.subscripts for use in uses}) > 1
        cuts = (Cut(dim, "cyclic", extent) for dim, extent in enumerate(array.shape) if extent > 1)
        return tuple(cuts) if is_small else ()
    counts = {dim: _count(uses, dim, extent) for dim, extent in enumerate(array.shape)}
    cut = {dim: count for dim, count in counts.items() if count > 1}
    if prod(cut.values()) > MOST_BANKS:
        # The dimension that tells most accesses apart.
        best = max(cut, key=lambda dim: (_told_apart(uses, dim, cut[dim]), -dim))
        cut = {best: cut[best]}
    return tuple(Cut(dim, "cyclic", count) for dim, count in cut.items())


def _count(uses: Sequence[_Use], dim: int, extent: int) -> int:
    """Return into how many parts a dimension is worth to be cut."""
    steps = {_step(use.subscripts[dim]) for use in uses}
    most = min(extent, MOST_BANKS)
    candidates = [
        count
        for count in range(2, most + 1)
        if all(step % count == 0 for step in steps)
        or (count & (count - 1) == 0 and any(step % count == 0 for step in steps))
    ]
    apart = {count: _told_apart(uses, dim, count) for count in candidates}
    best = max(candidates, key=lambda count: (apart[count], -count), default=1)
    return best if apart.get(best, 0) > 1 else 1


def _step(subscript: Affine) -> int:
    """Return the number of which the distances of a subscript's values are multiples; 0: none."""
    return gcd(*(coefficient for _, coefficient in subscript.terms))


def _told_apart(uses: Sequence[_Use], dim: int, count: int) -> int:
    """Return how many banks the accesses in alike loops that stay in a bank are in, at most."""
    banks: dict[tuple[tuple[Affine, Affine, int], ...], set[int]] = {}
    for use in uses:
        subscript = use.subscripts[dim]
        if _step(subscript) % count == 0:
            banks.setdefault(use.nest, set()).add(subscript.constant % count)
    return max(map(len, banks.values()), default=0)
