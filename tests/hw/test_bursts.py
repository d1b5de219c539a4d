"""The address of a word is that of its array, and its place there."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature
from amaranth.sim import Simulator

from hw_tests.formal.mutants import changed
from rtlgen.hw.bursts import ADDRESS_BITS, PAGE_BITS, ArrayPages, far_members
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan import MemorySide, OffChip, PlanError

PAGE = 1 << PAGE_BITS
TOP = 1 << ADDRESS_BITS


def side_of(word_bits: int, *bytes_of_arrays: int) -> MemorySide:
    """Return arrays A, B, ... of so many bytes, each at the next page of the map."""
    arrays, page = [], 0
    for name, size in zip("ABC", bytes_of_arrays, strict=False):
        base = page * PAGE * 8 // word_bits
        arrays.append(OffChip(name, 8, False, (size,), "inout", base))
        page += -(-size // PAGE)
    # The order of the program is another one.
    return MemorySide(word_bits, Bus("axi", 8), tuple(arrays[1:] + arrays[:1]))


class Addresses(wiring.Component):
    """What `ArrayPages` makes of the number of a word."""

    def __init__(self, pages: ArrayPages, word_bits: int) -> None:
        self.pages = pages
        super().__init__(
            Signature(
                {
                    "word": In(word_bits),
                    **far_members(pages),
                    "array": Out(len(pages.names)),
                    "address": Out(ADDRESS_BITS),
                }
            )
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        far = [getattr(self, name) for name in far_members(self.pages)]
        m.d.comb += [
            self.array.eq(self.pages.array_of(self.word)),
            self.address.eq(self.pages.address(self.word, self.array, far)),
        ]
        return m


def ends(side: MemorySide, array: OffChip) -> list[int]:
    """Return the first word of an array, the last one, and those around the ends of its pages."""
    page = PAGE // side.bytes_per_word
    words = array.words(side.word_bits)
    return sorted({0, words - 1} | {n for k in range(0, words, page) for n in (k, k - 1) if n >= 0})


def wrong_addresses(
    side: MemorySide,
    bases: Mapping[str, int],
    names: Sequence[str] | None = None,
    kind: type[ArrayPages] = ArrayPages,
) -> list[str]:
    """Return the words at the ends of arrays and of pages whose address is a wrong one."""
    pages = kind(side, set(bases if names is None else names))
    top = Addresses(pages, max(1, (side.depth_words - 1).bit_length()))
    wrong: list[str] = []

    async def bench(ctx: Any) -> None:
        for n, (name, start) in enumerate(zip(pages.names, pages.starts, strict=True)):
            assert not bases[name] % PAGE
            far = (bases[name] >> PAGE_BITS) - start
            ctx.set(getattr(top, f"far_{n}"), far % (TOP >> PAGE_BITS))
        for n, name in enumerate(pages.names):
            (array,) = (each for each in side.arrays if each.name == name)
            for place in ends(side, array):
                ctx.set(top.word, array.base_words + place)
                address = bases[name] + place * side.bytes_per_word
                if (ctx.get(top.array), ctx.get(top.address)) != (1 << n, address):
                    wrong.append(f"{name}, word {place}: {ctx.get(top.address):#x}")

    simulator = Simulator(top)
    simulator.add_testbench(bench)
    simulator.run()
    return wrong


@pytest.mark.parametrize("word_bits", [8, 64, 512])
@pytest.mark.parametrize("base", [0, PAGE, (1 << 32) - PAGE, TOP - 3 * PAGE])
def test_words_of_one_array_are_from_its_base_on(word_bits: int, base: int) -> None:
    assert not wrong_addresses(side_of(word_bits, 2 * PAGE + 100), {"A": base})


THREE = (PAGE, 3 * PAGE - 1, 100)
"""Bytes of A, B and C: a page, up to the last byte of three, and the beginning of one."""
PLACES = [
    pytest.param({"A": 0, "B": 16 * PAGE, "C": 32 * PAGE}, id="in order"),
    pytest.param({"A": 7 * PAGE, "B": 4 * PAGE, "C": 3 * PAGE}, id="the other way round"),
    # Behind their first page, the words of B are above bit 32, and end with the last address.
    pytest.param({"A": TOP - PAGE, "B": (1 << 32) - PAGE, "C": 1 << 63}, id="across bit 32"),
    pytest.param({"A": (1 << 32) - PAGE, "B": TOP - 3 * PAGE, "C": 0}, id="up to the last address"),
    # A place below that in the map: the pages between them go round.
    pytest.param({"A": PAGE, "B": 0, "C": 0}, id="below the map"),
]


@pytest.mark.parametrize("word_bits", [8, 64, 512])
@pytest.mark.parametrize("bases", PLACES)
def test_words_of_three_arrays_are_each_from_its_base_on(
    word_bits: int, bases: dict[str, int]
) -> None:
    assert not wrong_addresses(side_of(word_bits, *THREE), bases)


@pytest.mark.parametrize("names", ["AB", "AC", "BC", "B", "C"])
def test_a_port_knows_the_arrays_that_it_moves_alone(names: str) -> None:
    bases = {"A": 7 * PAGE, "B": (1 << 32) - PAGE, "C": 3 * PAGE}
    pages = ArrayPages(side_of(64, *THREE), set(names))
    assert pages.names == tuple(names)
    assert not wrong_addresses(side_of(64, *THREE), bases, names)


MUTANTS: list[tuple[str, str, Callable[[str], bool]]] = [
    ("page >= start", "page > start", lambda wrong: wrong[0] in "BC"),
    ("page >= start", "page >= start - 1", lambda wrong: wrong[0] in "AB"),
    ("here & ~above", "here", lambda wrong: wrong[0] in "BC"),
    ("pages + place[PAGE_BITS:]", "pages | place[PAGE_BITS:]", lambda wrong: wrong[0] in "ABC"),
    ("pages + place[PAGE_BITS:]", "pages", lambda wrong: wrong[0] in "BC"),
    ("Cat(place[:PAGE_BITS]", "Cat(place[: PAGE_BITS - 1], 0", lambda wrong: wrong[0] in "ABC"),
]


@pytest.mark.parametrize(("old", "new", "is_meant"), MUTANTS)
def test_a_wrong_address_is_noticed(old: str, new: str, is_meant: Callable[[str], bool]) -> None:
    bases = {"A": 7 * PAGE, "B": (1 << 32) - PAGE, "C": 3 * PAGE}
    wrong = wrong_addresses(side_of(64, *THREE), bases, kind=changed(ArrayPages, old, new))
    assert wrong and all(map(is_meant, wrong)), wrong


def test_an_array_that_begins_inside_of_a_page_is_no_plan() -> None:
    arrays = tuple(OffChip(name, 8, False, (8,), "in", base) for name, base in (("A", 0), ("B", 1)))
    assert MemorySide(64, Bus("fixed", 8), arrays).depth_words == 2
    with pytest.raises(PlanError, match="B begins inside of a page"):
        MemorySide(64, Bus("axi", 8), arrays)
