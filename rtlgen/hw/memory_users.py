"""Who reads and writes a memory, and the wires to it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from amaranth.hdl import Module, Signal, Value

from rtlgen.hw.bank_places import chosen_wires
from rtlgen.hw.memory import ArrayStorage, LoadUser, StoreUser
from rtlgen.ir.plan import Address, AnyBank


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
