"""Read ports for lanes: which reads of a memory share one.

In one cycle the reads of a stencil are at elements whose distances are known, in all lanes:

    a[i][j-1], a[i][j], a[i][j+1], a[i-1][j], a[i+1][j]   in 16 lanes: 18 of row i, 16 of each other

If the low bits of their subscripts tell all of these apart, a memory that is cut into banks by
these bits has no two of them in one bank, wherever the tile begins. So one read port of each bank
is enough for all of them, where else each read has a copy of the memory. Who may read several
banks has multiplexers, so that is worth it where the RAM does not do for copies.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import prod

from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access
from rtlgen.scheduling.lane_banks import bits_for, ports_of

MOST_SHARED_BANKS = 256
"""Banks up to which reads share ports."""


@dataclass(frozen=True, slots=True)
class LaneRead:
    """A read of a memory.

    Members
    -------
    together: what reads have in common that are made in one cycle by the same iteration.
    """

    access: Access
    together: object


@dataclass(frozen=True, slots=True)
class LanePorts:
    """How reads of a memory share its ports.

    Members
    -------
    cuts: by dimension, how many low bits of its subscript number the banks.
    ports: of each read, the first one. own: whether each of its lanes has one. count: of all.
    """

    cuts: Mapping[int, int]
    ports: tuple[int, ...]
    own: tuple[bool, ...]
    count: int


def lane_ports(
    reads: Sequence[LaneRead],
    lane_loop: NestLoop | None,
    dims: Sequence[int],
    *,
    in_step: bool,
    shared: bool,
) -> LanePorts:
    """Return the ports of reads of a memory that is cut into banks by some dimensions at least.

    Parameters
    ----------
    in_step: whether lanes issue together. shared: whether reads may share a port; else each has its
        own.
    """
    bits = 0 if lane_loop is None else bits_for(lane_loop.extent)
    least = dict.fromkeys(dims, bits)
    accesses = [read.access for read in reads]
    alone = [ports_of(access, lane_loop, dims, in_step) for access in accesses]
    plain = _dealt(reads, alone, least, [[n] for n in range(len(reads))])
    if lane_loop is None or not in_step or not shared or not dims:
        return plain
    found = [plain]
    for cuts in _cuts(accesses, lane_loop, least):
        groups = _sharing(reads, alone, lane_loop, cuts)
        found.append(_dealt(reads, alone, cuts, groups))
    return min(found, key=lambda ports: (ports.count, sum(ports.cuts.values())))


def _cuts(
    accesses: Sequence[Access], lane_loop: NestLoop, least: Mapping[int, int]
) -> list[dict[int, int]]:
    """Return the ways to cut a memory into no more banks than there may be."""
    lane = lane_loop.iterator or ""
    ranges = []
    for dim in range(len(accesses[0].affine)):
        forms = [access.affine[dim] for access in accesses]
        offsets = [form.constant for form in forms]
        reach = max(abs(form.coefficient(lane)) for form in forms) * (lane_loop.extent - 1)
        most = (max(offsets) - min(offsets) + reach).bit_length()
        low = least.get(dim, 0)
        ranges.append(range(low, max(low, most) + 1))
    found = []
    for widths in product(*ranges):
        if prod(1 << width for width in widths) <= MOST_SHARED_BANKS:
            found.append({dim: width for dim, width in enumerate(widths) if width})
    return found


def _sharing(
    reads: Sequence[LaneRead],
    alone: Sequence[int],
    lane_loop: NestLoop,
    cuts: Mapping[int, int],
) -> list[list[int]]:
    """Return the reads in groups of which each has one port."""
    groups: list[list[int]] = []
    for number in range(len(reads)):
        fits = (
            group
            for group in groups
            if alone[number] == 1
            and all(
                alone[other] == 1 and _are_apart(reads[other], reads[number], lane_loop, cuts)
                for other in group
            )
        )
        group = next(fits, None)
        if group is None:
            groups.append([number])
        else:
            group.append(number)
    return groups


def _are_apart(
    first: LaneRead, second: LaneRead, lane_loop: NestLoop, cuts: Mapping[int, int]
) -> bool:
    """Tell whether two reads never want different elements of one bank in one cycle."""
    pairs = list(zip(first.access.affine, second.access.affine, strict=True))
    if first.together != second.together or any(a.terms != b.terms for a, b in pairs):
        return False
    lane = lane_loop.iterator or ""
    for lanes in range(1 - lane_loop.extent, lane_loop.extent):
        distances = [b.constant - a.constant + b.coefficient(lane) * lanes for a, b in pairs]
        in_one_bank = all(distances[dim] % (1 << width) == 0 for dim, width in cuts.items())
        if any(distances) and in_one_bank:
            return False
    return True


def _dealt(
    reads: Sequence[LaneRead],
    alone: Sequence[int],
    cuts: Mapping[int, int],
    groups: Sequence[Sequence[int]],
) -> LanePorts:
    """Return the ports, those of the reads of one group together."""
    ports, count = [0] * len(reads), 0
    for group in groups:
        for number in group:
            ports[number] = count
        count += max(alone[number] for number in group)
    return LanePorts(cuts, tuple(ports), tuple(own > 1 for own in alone), count)
