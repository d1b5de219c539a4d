"""Banks for lanes: where what issues together goes to, and comes from, in one cycle.

Lanes are neighbouring iterations of a loop. In a subscript whose step from lane to lane is odd, the
low bits tell them apart, as long as these bits count as many values as there are lanes: so a memory
that is cut into banks by these bits has no two of them in one bank, wherever the tile begins. If
nothing else moves the bits, every lane has a bank of its own; else lanes and banks are crossed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.ir.bank_map import Cut
from rtlgen.ir.plan import Address, AnyBank, FoldedForm
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access


@dataclass(frozen=True, slots=True)
class LaneBanks:
    """The bits of a folded address that number the bank: `width_bits` from bit `low` on.

    Members
    -------
    dim: the dimension of the array whose subscript they are of.
    """

    dim: int
    low: int
    width_bits: int

    def shape(self, depth: int) -> tuple[int, int, int]:
        """Return the box whose second dimension these bits are."""
        rest = depth >> self.low + self.width_bits
        return rest, 1 << self.width_bits, 1 << self.low

    @property
    def cuts(self) -> tuple[Cut, ...]:
        return (Cut(1, "cyclic", 1 << self.width_bits),)

    def address(self, place: FoldedForm, extents: Sequence[int]) -> Address:
        """Return an address with its bank: one, where no level moves the bits.

        Parameters
        ----------
        extents: of the levels.
        """
        own = tuple(range(self.low, self.low + self.width_bits))
        others = tuple(bit for bit in range(place.width_bits) if bit not in own)
        count, low = 1 << self.width_bits, 0
        for field in place.fields:
            if low == self.low:
                moving = zip(field.form.coefficients, extents, strict=True)
                if not any(c % count for c, extent in moving if extent > 1):
                    return AnyBank(place, own, others, (field.form.constant % count,))
            low += field.width_bits
        return AnyBank(place, own, others, tuple(range(count)))


def bits_for(lanes: int) -> int:
    """Return the bits that tell lanes apart."""
    return (lanes - 1).bit_length()


def told_apart_by(access: Access, lane_loop: NestLoop | None) -> int | None:
    """Return the dimension whose subscript tells lanes apart, the innermost one.

    None where no one does, or where there are no lanes.
    """
    if lane_loop is None or access.is_lookup:
        return None
    odd = [dim for dim, step in enumerate(_steps(access, lane_loop)) if step % 2]
    return max(odd, default=None)


def ports_of(access: Access, lane_loop: NestLoop | None, dim: int | None) -> int:
    """Return the read ports of each bank that the lanes of an access take together.

    One is enough if all of them ask for one element, or each is in a bank of its own. Nobody knows
    where lanes look something up: each takes one.

    Parameters
    ----------
    dim: by which the memory is cut into banks; None: it is in one piece.
    """
    if lane_loop is None:
        return 1
    if access.is_lookup:
        return lane_loop.extent
    steps = _steps(access, lane_loop)
    is_shared = not any(steps) or (dim is not None and steps[dim] % 2 == 1)
    return 1 if is_shared else lane_loop.extent


def _steps(access: Access, lane_loop: NestLoop) -> Sequence[int]:
    """Return how far each subscript steps from lane to lane."""
    lane = lane_loop.iterator
    assert lane is not None, "lanes are counted"
    return [form.coefficient(lane) for form in access.affine]
