"""Banks and read ports for lanes: what issues together, in one cycle.

Banks for lanes: where what issues together goes to, and comes from, in one cycle.

Lanes are neighbouring iterations of a loop. In a subscript whose step from lane to lane is odd, the
low bits tell them apart, as long as these bits count as many values as there are lanes: so a memory
that is cut into banks by these bits has no two of them in one bank, wherever the tile begins. If
nothing else moves the bits, every lane has a bank of its own; else lanes and banks are crossed.

Lanes that run one behind the other are at different elements, and may be in different tiles, whose
distance in time nobody knows. So two of them never share a bank: they need one of their own, by a
subscript whose low bits nothing else moves. A memory to which they write rows and from which they
read columns is cut by both, and has a bank for each pair of a lane that writes and one that reads.

Read ports for lanes: which reads of a memory share one.

In one cycle the reads of a stencil are at elements whose distances are known, in all lanes:

    a[i][j-1], a[i][j], a[i][j+1], a[i-1][j], a[i+1][j]   in 16 lanes: 18 of row i, 16 of each other

If the low bits of their subscripts tell all of these apart, a memory that is cut into banks by
these bits has no two of them in one bank, wherever the tile begins. So one read port of each bank
is enough for all of them, where else each read has a copy of the memory. Who may read several
banks has multiplexers, so that is worth it where the RAM does not do for copies.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from math import gcd, prod

from rtlgen.ir.bank_map import Cut
from rtlgen.ir.plan import Address, AnyBank, FoldedForm
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access


@dataclass(frozen=True, slots=True)
class LaneBanks:
    """The bits of a folded address that number the bank.

    Members
    -------
    lows: where the bits of each subscript begin that is cut, the lowest first. widths: how many
        there are of each.
    """

    lows: tuple[int, ...]
    widths: tuple[int, ...]

    @staticmethod
    def of(digits: Collection[tuple[int, int]]) -> LaneBanks | None:
        """Return the banks of digits, each of the first bit and of how many; None without any."""
        found = sorted(digit for digit in digits if digit[1])
        if not found:
            return None
        return LaneBanks(tuple(low for low, _ in found), tuple(width for _, width in found))

    def shape(self, depth: int) -> tuple[int, ...]:
        """Return the box of which every second dimension is one of these."""
        found, known = [], 0
        for low, width in zip(self.lows, self.widths, strict=True):
            found += [1 << low - known, 1 << width]
            known = low + width
        return (depth >> known, *reversed(found))

    @property
    def cuts(self) -> tuple[Cut, ...]:
        places = range(1, 2 * len(self.lows), 2)
        widths = zip(places, reversed(self.widths), strict=True)
        return tuple(Cut(place, "cyclic", 1 << width) for place, width in widths)

    def address(self, place: FoldedForm, extents: Sequence[int]) -> Address:
        """Return an address with its bank: one, where no level moves the bits.

        Parameters
        ----------
        extents: of the levels.
        """
        pairs = list(zip(self.lows, self.widths, strict=True))
        own = tuple(low + bit for low, width in pairs for bit in range(width))
        others = tuple(bit for bit in range(place.width_bits) if bit not in own)
        banks: tuple[int, ...] = (0,)
        shift = 0
        for low, width in pairs:
            digits = self._digits(place, low, width, extents)
            banks = tuple(digit << shift | bank for digit in digits for bank in banks)
            shift += width
        return AnyBank(place, own, others, banks)

    def _digits(
        self, place: FoldedForm, wanted: int, width: int, extents: Sequence[int]
    ) -> Sequence[int]:
        """Return the values that so many bits from one on may have."""
        count, low = 1 << width, 0
        for field in place.fields:
            if low == wanted:
                moving = zip(field.form.coefficients, extents, strict=True)
                step = gcd(count, *(c for c, extent in moving if extent > 1))
                return range(field.form.constant % step, count, step)
            low += field.width_bits
        return range(count)


def bits_for(lanes: int) -> int:
    """Return the bits that tell lanes apart."""
    return (lanes - 1).bit_length()


def told_apart_by(access: Access, lane_loop: NestLoop | None, in_step: bool) -> int | None:
    """Return the dimension whose subscript tells lanes apart, the innermost one.

    None where no one does, or where there are no lanes.

    Parameters
    ----------
    in_step: whether lanes issue together; else the subscript has to do so at any time.
    """
    if lane_loop is None or access.is_lookup:
        return None
    dims = range(len(access.affine))
    return max((dim for dim in dims if _tells(access, dim, lane_loop, in_step)), default=None)


def _tells(access: Access, dim: int, lane_loop: NestLoop, in_step: bool) -> bool:
    """Tell whether the low bits of a subscript are others in every lane."""
    lane = lane_loop.iterator
    steps = dict(access.affine[dim].terms)
    own = steps.pop(lane or "", 0)
    count = 1 << bits_for(lane_loop.extent)
    return own % 2 == 1 and (in_step or not any(step % count for step in steps.values()))


def ports_of(access: Access, lane_loop: NestLoop | None, dims: Sequence[int], in_step: bool) -> int:
    """Return the read ports of each bank that the lanes of an access take together.

    One is enough if each is in a bank of its own, or if all of them ask for one element in one
    cycle. Nobody knows where lanes look something up: each takes one.

    Parameters
    ----------
    dims: by which the memory is cut into banks. in_step: whether lanes issue together.
    """
    if lane_loop is None:
        return 1
    if access.is_lookup:
        return lane_loop.extent
    is_shared = in_step and not any(_steps(access, lane_loop))
    has_own = any(_tells(access, dim, lane_loop, in_step) for dim in dims)
    return 1 if is_shared or has_own else lane_loop.extent


def _steps(access: Access, lane_loop: NestLoop) -> Sequence[int]:
    """Return how far each subscript steps from lane to lane."""
    lane = lane_loop.iterator
    assert lane is not None, "lanes are counted"
    return [form.coefficient(lane) for form in access.affine]


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
