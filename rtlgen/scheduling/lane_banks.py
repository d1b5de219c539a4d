"""Banks for lanes: where what issues together goes to, and comes from, in one cycle.

Lanes are neighbouring iterations of a loop. In a subscript whose step from lane to lane is odd, the
low bits tell them apart, as long as these bits count as many values as there are lanes: so a memory
that is cut into banks by these bits has no two of them in one bank, wherever the tile begins. If
nothing else moves the bits, every lane has a bank of its own; else lanes and banks are crossed.

Lanes that run one behind the other are at different elements, and may be in different tiles, whose
distance in time nobody knows. So two of them never share a bank: they need one of their own, by a
subscript whose low bits nothing else moves. A memory to which they write rows and from which they
read columns is cut by both, and has a bank for each pair of a lane that writes and one that reads.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from math import gcd

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
