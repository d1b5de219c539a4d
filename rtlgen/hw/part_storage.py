"""Storage of a part of an array: what the host writes to the array it writes here too."""

from __future__ import annotations

from amaranth.hdl import Cat, Const, Module, Signal, Value, unsigned
from amaranth.lib.wiring import In, Member

from rtlgen.hw.bank_places import quotient_and_remainder
from rtlgen.hw.block_storage import BlockStorage
from rtlgen.hw.memory import BYTE_BITS, Place
from rtlgen.ir.array_part import ArrayPart
from rtlgen.ir.plan import address_bits


class PartStorage(BlockStorage):
    """Block RAM for a box of an array.

    Members
    -------
    host_addr, host_en, host_we, host_wdata: In, of the array's host port; only where the host sees
        the array. It does not read here.
    """

    def more_members(self) -> dict[str, Member]:
        if not self.has_host:
            return {}
        return {
            "host_addr": In(unsigned(address_bits(self._part.size))),
            "host_en": In(1),
            "host_we": In(unsigned(self.plan.width_bits // BYTE_BITS)),
            "host_wdata": In(unsigned(self.plan.width_bits)),
        }

    @property
    def _part(self) -> ArrayPart:
        assert self.plan.part is not None, "chosen by the plan"
        return self.plan.part

    @property
    def has_host(self) -> bool:
        return self._part.is_hosted

    def host_place(self, m: Module) -> Place:
        """Return whether the element of the host is in the part, and where."""
        part, number = self._part, self.host_addr
        subscripts: list[Value] = []
        for extent in reversed(part.shape):
            number, subscript = quotient_and_remainder(number, extent)
            subscripts.append(subscript)
        inside: Value = Const(1, 1)
        fields: list[Value] = []
        for subscript, whole, low, extent, bits in zip(
            subscripts, *map(reversed, (part.shape, part.low, part.extents, part.bits)), strict=True
        ):
            if low:
                inside = inside & (subscript >= low)
            if low + extent < whole:
                inside = inside & (subscript < low + extent)
            fields.append(Cat(subscript, Const(0, bits))[:bits])
        is_inside = Signal(name="host_inside")
        place = Signal(address_bits(part.words), name="host_place")
        m.d.comb += [is_inside.eq(inside), place.eq(Cat(*fields))]
        return is_inside, place

    def host_asks(self, bank: int, host: Place) -> Value:
        return self.idle & self.host_en & host[0]
