"""Storage of one array in a RAM of the user's: pins that ask it, and what it answers."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value, unsigned
from amaranth.lib.wiring import In, Member, Out

from rtlgen.hw.block_storage import BlockStorage
from rtlgen.hw.memory import Write
from rtlgen.ir.plan import address_bits


class OutsideStorage(BlockStorage):
    """Pins of a RAM beside the kernel, one set for each port of the array.

    Members
    -------
    ram_readN_addr: Out, number of the element that is read. ram_readN_en: Out(1), one is.
    ram_readN_data: In, that element, from the next cycle on, until another one is read.
    ram_write_addr: Out, number of the element that is written. ram_write_en: Out(1), one is.
    ram_write_data: Out, the element.
    """

    def more_members(self) -> dict[str, Member]:
        addr, word = unsigned(address_bits(self.plan.depth)), unsigned(self.plan.width_bits)
        members: dict[str, Member] = {}
        for port in sorted({user.port for user in self.loads}):
            pin = f"ram_read{port}"
            members |= {f"{pin}_addr": Out(addr), f"{pin}_en": Out(1), f"{pin}_data": In(word)}
        if self.stores:
            pin = "ram_write"
            members |= {f"{pin}_addr": Out(addr), f"{pin}_en": Out(1), f"{pin}_data": Out(word)}
        return members

    def elaborate(self, platform: object) -> Module:
        m = super().elaborate(platform)
        if self.stores:
            write = self.write(0)
            m.d.comb += [
                self.ram_write_addr.eq(write.addr),
                self.ram_write_en.eq(write.lanes.any()),
                self.ram_write_data.eq(write.data),
            ]
        return m

    def _build_copy(
        self,
        m: Module,
        copy: tuple[int, int, int],
        request: tuple[Value, Value],
        write: Write,
    ) -> Signal:
        """Ask the RAM of a read port; return the element that it shows."""
        pin = f"ram_read{copy[-1]}"
        addr, en = request
        m.d.comb += [getattr(self, f"{pin}_addr").eq(addr), getattr(self, f"{pin}_en").eq(en)]
        shown: Signal = getattr(self, f"{pin}_data")
        return shown
