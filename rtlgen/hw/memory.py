"""Storage of one array: who reads it, who writes it, the host, and where an element is.

Where an element is, from its number in C's order: what the host and the checksum unit ask with.

With powers of two, and dimensions that are full, that is the choice of wires. Other numbers are
divided by products with a reciprocal, in the cycle of the address.

Who reads and writes a memory, and the wires to it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from operator import or_
from typing import TypeAlias

from amaranth.hdl import Cat, Const, Module, Mux, Signal, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Member, Out, Signature

from rtlgen.hw.multiplier import constant_product
from rtlgen.ir.bank_map import BankMap
from rtlgen.ir.operation_costs import reciprocal
from rtlgen.ir.plan import Address, AnyBank, Memory, address_bits
from rtlgen.ir.scop import row_major_strides


def bank_and_row(m: Module, banks: BankMap, number: Value, name: str) -> tuple[Value, Value]:
    """Return the bank and the row of an element, in the cycle in which its number is there."""
    if not banks.cuts:
        return Const(0, 1), number
    if banks.is_sliced and banks.place_strides == row_major_strides(banks.shape):
        return chosen_wires(number, banks.bank_bits), chosen_wires(number, banks.row_bits)
    subscripts: list[Value] = []
    for extent in reversed(banks.shape):
        number, subscript = quotient_and_remainder(number, extent)
        subscripts.insert(0, subscript)
    bank, row = _of_subscripts(banks, subscripts)
    shown = (
        Signal(address_bits(banks.banks), name=f"{name}_bank"),
        Signal(address_bits(banks.rows), name=f"{name}_row"),
    )
    m.d.comb += [shown[0].eq(bank), shown[1].eq(row)]
    return shown


def _of_subscripts(banks: BankMap, subscripts: Sequence[Value]) -> tuple[Value, Value]:
    bank: Value = Const(0, 1)
    row: Value = Const(0, 1)
    rests = list(subscripts)
    for cut in banks.cuts:
        extent = banks.shape[cut.dim]
        size = cut.count if cut.kind == "cyclic" else cut.part_extent(extent)
        quotient, remainder = quotient_and_remainder(subscripts[cut.dim], size)
        digit, rest = (remainder, quotient) if cut.kind == "cyclic" else (quotient, remainder)
        bank = constant_product(bank, cut.count) + digit
        rests[cut.dim] = rest
    for rest, stride in zip(rests, banks.row_strides, strict=True):
        row = row + constant_product(rest, stride)
    return bank, row


def quotient_and_remainder(number: Value, divisor: int) -> tuple[Value, Value]:
    """Return both for an unsigned number, combinationally."""
    most = (1 << len(number)) - 1
    if divisor > most:
        return Const(0, 1), number
    bits = divisor.bit_length() - 1
    if divisor == 1 << bits:
        return number[bits:], number[:bits]
    exact = reciprocal(divisor, most)
    product = constant_product(number, exact.factor)
    quotient = (product >> exact.shift)[: (most // divisor).bit_length()]
    remainder = (number - constant_product(quotient, divisor))[: (divisor - 1).bit_length()]
    return quotient, remainder


def chosen_wires(number: Value, bits: Sequence[int]) -> Value:
    """Return some bits of a number, the first one lowest; those that it does not have are 0."""
    wires = [number[bit] if bit < len(number) else Const(0, 1) for bit in bits]
    return Cat(*wires) if wires else Const(0, 1)


BYTE_BITS = 8

RAM_CYCLES = 1
"""From the address of a block RAM to its element, its output register not counted."""


WINDOW_CYCLES = 2
"""From an access of a block's bus to what it has read of an array: a register is behind the RAM."""


Place: TypeAlias = tuple[Value, Value]
"""Bank and row of an element."""


@dataclass(frozen=True, slots=True)
class Write:
    """What the write port of a memory does in a cycle; `lanes` has one bit a byte."""

    lanes: Value
    addr: Value
    data: Value


@dataclass(frozen=True, slots=True)
class LoadUser:
    """A user that reads.

    Members
    -------
    port: the read port that it uses. versions: those that it may read, in order.
    banks: those that its elements may be in, in order.
    is_at_home: whether it reads every element in its home, once all stores are made; it asks for
        elements by their numbers in C's order.
    """

    port: int
    versions: tuple[int, ...] = (0,)
    banks: tuple[int, ...] = (0,)
    is_at_home: bool = False

    @property
    def chosen_versions(self) -> tuple[int, ...]:
        """The versions that it asks for by a signal; else it reads the first."""
        return () if self.is_at_home else self.versions[1:]


@dataclass(frozen=True, slots=True)
class StoreUser:
    """A user that writes: the write port that it uses, and the banks that it may write to."""

    port: int
    banks: tuple[int, ...] = (0,)


class ArrayStorage(wiring.Component):
    """One memory of the plan, as its users see it.

    Parameters
    ----------
    loads: the users that read. stores: the users that write.
    is_looked_up: whether some user computes its addresses, which may then be anything.
    host_cycles: from the host's access to what it has read, 1 or 2.

    Members
    -------
    idle: In(1), the host has the memory while it is high, the users while it is low.
    load_N_addr: In, row of the element that user N asks for. load_N_en: In(1), it does. Those that
        enable a port of a bank in a cycle ask for one element of it.
    load_N_in: In, the bank of that address, of a user with several banks.
    read_N: Out, the element that user N asked for, as long before as the latency is.
    load_N_versionK: In(1), in the cycle of read_N, of a user that may read several versions: take
        version K.
    store_N_addr: In, row of the element that user N stores. store_N_en: In(1), it does; at most one
        enables a port of a bank in a cycle. store_N_data: In, the new element. store_N_in: In, the
        bank, of a user with several banks.
    host_addr: In, number of the host's element. host_en: In(1), the host's access. host_we: In, a
        bit a byte that it writes. host_wdata: In, what it writes. host_rdata: Out, what it read
        `host_cycles` before, or earlier. Only where the memory has a host port.
    """

    def __init__(
        self,
        plan: Memory,
        loads: tuple[LoadUser, ...],
        stores: tuple[StoreUser, ...],
        is_looked_up: bool,
        host_cycles: int = 1,
    ) -> None:
        self.plan = plan
        self.host_cycles = host_cycles
        self.loads = loads
        self.stores = stores
        self.is_looked_up = is_looked_up
        number = unsigned(address_bits(plan.depth))
        addr = unsigned(address_bits(plan.bank_map.rows))
        bank = unsigned(address_bits(plan.bank_map.banks))
        word = unsigned(plan.width_bits)
        members = {"idle": In(1)}
        for n, user in enumerate(loads):
            members[f"load_{n}_addr"] = In(number if user.is_at_home else addr)
            members |= {f"load_{n}_en": In(1), f"read_{n}": Out(word)}
            if len(user.banks) > 1 and not user.is_at_home:
                members[f"load_{n}_in"] = In(bank)
            members |= {f"load_{n}_version{version}": In(1) for version in user.chosen_versions}
        for n, writer in enumerate(stores):
            members |= {f"store_{n}_addr": In(addr), f"store_{n}_en": In(1)}
            members |= {f"store_{n}_data": In(word)}
            if len(writer.banks) > 1:
                members[f"store_{n}_in"] = In(bank)
        if plan.has_host_port:
            members |= {"host_addr": In(number), "host_en": In(1), "host_wdata": In(word)}
            members |= {"host_we": In(unsigned(plan.width_bits // BYTE_BITS))}
            members |= {"host_rdata": Out(word)}
        super().__init__(Signature(members | self.more_members()))

    def more_members(self) -> dict[str, Member]:
        """Return the ports that a kind has besides."""
        return {}

    @abstractmethod
    def elaborate(self, platform: object) -> Module: ...

    def load(self, user: int, what: str) -> Signal:
        """Return the port `addr`, `en`, `in` or `versionK` of a reading user."""
        signal: Signal = getattr(self, f"load_{user}_{what}")
        return signal

    @property
    def host_reads(self) -> Value:
        """Whether the host reads: a write leaves what it read last, so that the two never meet.

        A RAM that is read and written at one address in one cycle shows the old word in Verilog
        and, without its collision logic, anything on the device.
        """
        return self.host_en & ~self.host_we.any()

    def host_place(self, m: Module) -> Place:
        """Return where the element is that the host asks for."""
        return bank_and_row(m, self.plan.bank_map, self.host_addr, "host")

    def write(self, port: int, bank: int = 0, host: Place | None = None) -> Write:
        """Return what a port of a bank writes: the host's word in idle, else a user's that stores.

        Parameters
        ----------
        host: where the element of the host is, where there is one.
        """
        lanes = self.plan.width_bits // BYTE_BITS
        none = Write(Const(0, lanes), Const(0, address_bits(self.plan.bank_map.rows)), Const(0, 1))
        writes = [
            Write(
                self._stores_to(n, bank).replicate(lanes),
                getattr(self, f"store_{n}_addr"),
                getattr(self, f"store_{n}_data"),
            )
            for n, user in enumerate(self.stores)
            if user.port == port and bank in user.banks
        ]
        users = first_of(writes) if writes else none
        if host is None:
            return users
        hosted = Write(Mux(self.host_asks(bank, host), self.host_we, 0), host[1], self.host_wdata)
        if not writes:
            return hosted
        return Write(
            Mux(self.idle, hosted.lanes, users.lanes),
            Mux(self.idle, hosted.addr, users.addr),
            Mux(self.idle, hosted.data, users.data),
        )

    def host_asks(self, bank: int, host: Place) -> Value:
        """Return whether the host asks for an element of a bank."""
        asked = self.idle & self.host_en
        return asked & (host[0] == bank) if self.plan.cuts else asked

    def _stores_to(self, user: int, bank: int) -> Value:
        """Return whether a user stores to a bank."""
        enabled: Signal = getattr(self, f"store_{user}_en")
        if len(self.stores[user].banks) == 1:
            return enabled
        return enabled & (getattr(self, f"store_{user}_in") == bank)


def of_bank(chosen: Value, values: Sequence[tuple[int, Value]]) -> Value:
    """Return the value of the chosen bank, by a tree of multiplexers from the lowest bit up.

    Parameters
    ----------
    values: of the banks that may be chosen, in order of their numbers.
    """
    if len(values) == 1:
        return values[0][1]
    even = [(bank >> 1, value) for bank, value in values if not bank & 1]
    odd = [(bank >> 1, value) for bank, value in values if bank & 1]
    if not even or not odd:
        return of_bank(chosen[1:], even or odd)
    return Mux(chosen[0], of_bank(chosen[1:], odd), of_bank(chosen[1:], even))


def registered(m: Module, data: Value, cycles: int, name: str) -> Value:
    """Return what `data` was some cycles ago."""
    for cycle in range(cycles):
        held = Signal(len(data), name=f"{name}_{cycle}" if cycle else name, reset_less=True)
        m.d.sync += held.eq(data)
        data = held
    return data


def first_load(loads: Sequence[tuple[Value, Value]]) -> tuple[Value, Value]:
    """Return (address, enable) of whichever user enables its load."""
    addr: Value = loads[-1][0]
    for other, enable in reversed(loads[:-1]):
        addr = Mux(enable, other, addr)
    return addr, reduce(or_, [enable for _, enable in loads])


def first_of(writes: Sequence[Write]) -> Write:
    """Return the write of whichever user stores."""
    chosen = writes[-1]
    for write in reversed(writes[:-1]):
        taken = write.lanes[0]
        chosen = Write(
            write.lanes | chosen.lanes,
            Mux(taken, write.addr, chosen.addr),
            Mux(taken, write.data, chosen.data),
        )
    return chosen


@dataclass(slots=True)
class Loader:
    """A user that reads a memory.

    Members
    -------
    addr, en: the row it reads, and when. data: the signal that is to show the element.
    versions: for each copy that it may choose, whether it does. bank: which one, of several.
    """

    user: LoadUser
    addr: Value
    en: Value
    data: Signal
    versions: Mapping[int, Value] = field(default_factory=dict)
    bank: Value | None = None


@dataclass(slots=True)
class Storer:
    """A user that writes a memory; as of a `Loader`, but that it brings `data`."""

    user: StoreUser
    addr: Value
    en: Value
    data: Value
    bank: Value | None = None


@dataclass(slots=True)
class MemoryUsers:
    """All users of a memory, in the order of their numbers in its storage."""

    loads: list[Loader] = field(default_factory=list)
    stores: list[Storer] = field(default_factory=list)

    def connect(self, m: Module, storage: ArrayStorage) -> None:
        """Wire them to what holds the memory."""
        for n, loader in enumerate(self.loads):
            m.d.comb += [
                getattr(storage, f"load_{n}_addr").eq(loader.addr),
                getattr(storage, f"load_{n}_en").eq(loader.en),
                loader.data.eq(getattr(storage, f"read_{n}")),
            ]
            m.d.comb += [
                getattr(storage, f"load_{n}_version{version}").eq(chosen)
                for version, chosen in loader.versions.items()
            ]
            if len(loader.user.banks) > 1 and not loader.user.is_at_home:
                m.d.comb += getattr(storage, f"load_{n}_in").eq(loader.bank)
        for n, storer in enumerate(self.stores):
            m.d.comb += [
                getattr(storage, f"store_{n}_addr").eq(storer.addr),
                getattr(storage, f"store_{n}_en").eq(storer.en),
                getattr(storage, f"store_{n}_data").eq(storer.data),
            ]
            if len(storer.user.banks) > 1:
                m.d.comb += getattr(storage, f"store_{n}_in").eq(storer.bank)


def row_and_bank(address: Address | None, shown: Value) -> tuple[Value, Value | None]:
    """Return the row, and the bank where there are several, of an address that control shows."""
    if isinstance(address, AnyBank):
        return chosen_wires(shown, address.row_bits), chosen_wires(shown, address.bank_bits)
    return shown, None
