"""The loop orders and pads that a statement may be given in a fused loop."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations_with_replacement, permutations, product
from math import prod

from rtlgen.ir.schedule import FlatDim, NestLoop

MAX_CANDIDATES = 5_000
"""Orders and pads considered for one statement; beyond it the deepest paddings are left out."""


@dataclass(frozen=True, slots=True)
class Placement:
    """One way to enumerate a statement's instances.

    Members
    -------
    loops: outermost first, padding included.
    rank: coefficients over the statement's iterators, in their order, and the constant.
    count: number of iterations, padding included.
    changes: how far it is from the program as written; breaks ties in favour of the user's order.
    """

    loops: tuple[NestLoop, ...]
    rank: tuple[tuple[int, ...], int]
    count: int
    changes: int


def placement(loops: Sequence[NestLoop], iterators: Sequence[str], changes: int = 0) -> Placement:
    """Return the placement of a statement with these `iterators` under these `loops`."""
    flat = FlatDim(tuple(loops))
    rank = flat.rank
    coefficients = tuple(rank.coefficient(name) for name in iterators)
    return Placement(flat.loops, (coefficients, rank.constant), flat.count, changes)


def placements(
    own: Sequence[NestLoop],
    iterators: Sequence[str],
    pad_extents: Sequence[int],
    depth: int,
    largest: int,
) -> list[Placement]:
    """Return every order of the loops `own`, padded with up to `depth - len(own)` pad loops.

    Parameters
    ----------
    pad_extents: the trip counts that a pad loop may have.
    largest: placements with more iterations are left out, the unpadded ones excepted.
    """
    found: list[Placement] = []
    for pads in range(max(0, depth - len(own)) + 1):
        for padding in _paddings(pads, pad_extents):
            extra = prod(pad.extent for pad in padding)
            if pads and extra * prod(loop.extent for loop in own) > largest:
                continue
            found += _orders(own, padding, iterators)
            if len(found) > MAX_CANDIDATES:
                return found[:MAX_CANDIDATES]
    return found


def _paddings(count: int, extents: Sequence[int]) -> Iterator[tuple[NestLoop, ...]]:
    """Yield every choice of `count` pad loops; the instance stands in their first or last trip."""
    useful = sorted({extent for extent in extents if extent > 1})
    for sizes in combinations_with_replacement(useful, count):
        for ends in product((0, 1), repeat=count):
            yield tuple(
                NestLoop(None, size, (size - 1) * end)
                for size, end in zip(sizes, ends, strict=True)
            )


def _orders(
    own: Sequence[NestLoop], padding: Sequence[NestLoop], iterators: Sequence[str]
) -> Iterator[Placement]:
    seen = set()
    items = [*own, *padding]
    for order in permutations(range(len(items))):
        loops = tuple(items[k] for k in order)
        if loops in seen:
            continue
        seen.add(loops)
        kept = [k for k in order if k < len(own)]
        swaps = sum(a > b for n, a in enumerate(kept) for b in kept[n + 1 :])
        yield placement(loops, iterators, changes=2 * swaps + 3 * len(padding))
