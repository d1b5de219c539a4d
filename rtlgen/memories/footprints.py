"""The part of an array off chip that a tile touches: its place in a window, the words to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.memory_side import BURST_WORDS
from rtlgen.ir.plan import Field, FoldedForm, OffChip
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access, Statement, row_major_strides
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.memories.predicates import index_form

Fields = tuple[tuple[Affine, int], ...]
"""The fields of an address, the lowest first: a subscript, and how many of its low bits."""


@dataclass(frozen=True, slots=True)
class User:
    """An access that touches the array.

    Members
    -------
    box: inclusive range of every iterator inside of a tile.
    """

    statement: Statement
    access: Access
    box: dict[str, tuple[int, int]]


@dataclass(frozen=True, slots=True)
class Extent:
    """What a tile touches in one dimension: `span` subscripts from `low` on, by the tile loops."""

    low: Affine
    span: int


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a tile touches of an array through accesses that step alike.

    Its image in a window is addressed by the low bits of the subscripts: those of so many
    neighbours are all different, wherever they begin.

    Members
    -------
    lanes: elements in a word. tile_loops: the loops over tiles, in order.
    folds: of every dimension, the low bits that are the address, of words in the last one; None:
        as many as tell all neighbours apart.
    """

    array: OffChip
    lanes: int
    tile_loops: tuple[NestLoop, ...]
    extents: tuple[Extent, ...]
    folds: tuple[int, ...] | None = None

    @staticmethod
    def of(
        array: OffChip, lanes: int, tile_loops: Sequence[NestLoop], users: Sequence[User]
    ) -> Footprint:
        """Return the footprint of accesses whose subscripts differ by constants alone."""
        extents = []
        for place in range(len(array.shape)):
            forms = [(user.access.affine[place], user.box) for user in users]
            tile = [loop.iterator or "" for loop in tile_loops]
            outer = Affine.of({name: forms[0][0].coefficient(name) for name in tile})
            ranges = [(form - outer).range(box) for form, box in forms]
            low = min(first for first, _ in ranges)
            extents.append(Extent(outer + low, max(last for _, last in ranges) - low + 1))
        return Footprint(array, lanes, tuple(tile_loops), tuple(extents))

    @property
    def tile(self) -> tuple[str, ...]:
        """The tile iterators, in order."""
        return tuple(loop.iterator or "" for loop in self.tile_loops)

    @property
    def _phase(self) -> Affine:
        """Where a row begins, but for tile loops that step by whole words."""
        low = self.extents[-1].low
        return Affine.of({n: c for n, c in low.terms if c % self.lanes}, low.constant)

    @property
    def _word_range(self) -> tuple[int, int]:
        """First and last word of a row, counted from what the other tile loops step to."""
        box = {
            loop.iterator or "": (loop.first, loop.first + loop.extent - 1)
            for loop in self.tile_loops
        }
        first, last = self._phase.range(box)
        return first // self.lanes, (last + self.extents[-1].span - 1) // self.lanes

    @property
    def row_words(self) -> int:
        """Words that a row of the footprint may reach into."""
        first, last = self._word_range
        anywhere = (self.extents[-1].span + self.lanes - 2) // self.lanes + 1
        return last - first + 1 if self._phase.is_constant else min(anywhere, last - first + 1)

    def burst_words(self, word_bits: int) -> int:
        """Return the words of a burst at most: those of a row, where rows do not follow it."""
        if self.row_words >= self.array.row_words(word_bits):
            return BURST_WORDS
        return min(BURST_WORDS, self.row_words)

    @property
    def widths(self) -> tuple[int, ...]:
        """Bits of every dimension in the place of a word."""
        if self.folds is not None:
            return self.folds
        rows = [(extent.span - 1).bit_length() for extent in self.extents[:-1]]
        return (*rows, (self.row_words - 1).bit_length())

    @property
    def row_bits(self) -> int:
        return self.widths[-1]

    @property
    def lane_bits(self) -> int:
        return (self.lanes - 1).bit_length()

    def element_fields(self, access: Access) -> Fields:
        """Return the place of an element in a copy of the window."""
        *rows, last = access.affine
        return self._fields((last, self.row_bits + self.lane_bits), rows)

    def field(self, dim: int) -> tuple[int, int]:
        """Return first bit and width of a dimension's subscript in the place of an element."""
        *widths, words = self.widths
        last = words + self.lane_bits
        if dim == len(widths):
            return 0, last
        return last + sum(widths[dim + 1 :]), widths[dim]

    def _fields(self, last: tuple[Affine, int], rows: Sequence[Affine]) -> Fields:
        others = list(zip(rows, self.widths, strict=False))
        return tuple(field for field in (last, *reversed(others)) if field[1])

    # The words of a tile, as a nest.

    def loops(self) -> tuple[NestLoop, ...]:
        """Return the loops over the tiles and, as a box, all words that one may touch."""
        own = [
            NestLoop(self._counter(k), extent.span) for k, extent in enumerate(self.extents[:-1])
        ]
        first, last = self._word_range
        return (*self.tile_loops, *own, NestLoop(self._counter(len(own)), last - first + 1))

    def _counter(self, place: int) -> str:
        # No iterator of a tile or of the program has a space in its name.
        return f"word {place}"

    def _subscripts(self) -> tuple[tuple[Affine, ...], Affine]:
        """Return the subscripts of a row, and the word in it, by the loops."""
        rows = tuple(
            extent.low + Affine.variable(self._counter(k))
            for k, extent in enumerate(self.extents[:-1])
        )
        return rows, Affine.variable(self._counter(len(rows))) + self._first_word

    @property
    def _first_word(self) -> Affine:
        """The word in which the counter of words is 0, by the tile loops."""
        low = self.extents[-1].low
        whole = {n: c // self.lanes for n, c in low.terms if not c % self.lanes}
        return Affine.of(whole, self._word_range[0])

    def word(self) -> Affine:
        """Return the word off chip, by the loops."""
        rows, word = self._subscripts()
        length = self.array.row_words(self.lanes * self.array.width_bits)
        strides = row_major_strides(self.array.shape[:-1], length)
        parts = [form * stride for form, stride in zip(rows, strides, strict=True)]
        return affine_sum([*parts, word, Affine((), self.array.base_words)])

    def word_fields(self) -> Fields:
        """Return the place of a word in a copy of the window, by the loops."""
        rows, word = self._subscripts()
        return self._fields((word, self.row_bits), rows)

    # The same in isl.

    def words_touched(
        self, sets: ScopSets, user: User, instances: isl.Set, lane: int | None = None
    ) -> isl.Set:
        """Return [tile, word] of all words that instances touch, by counters of the loops.

        Parameters
        ----------
        lane: of the element in the word; None for any.
        """
        names = user.statement.iterators
        *rows, last = (affine_text(form, names) for form in user.access.affine)
        low = [affine_text(extent.low, names) for extent in self.extents]
        tile = [f"d{names.index(name)}" for name in self.tile]
        word = f"floor(({last})/{self.lanes}) - ({affine_text(self._first_word, names)})"
        own = [f"({row}) - ({first})" for row, first in zip(rows, low, strict=False)]
        where = "" if lane is None else f" : ({last}) mod {self.lanes} = {lane}"
        dims = ",".join(f"d{k}" for k in range(len(names)))
        image = ",".join([*tile, *own, word])
        tuple_name = sets.statement_tuple(user.statement.name)
        return instances.apply(
            sets.read_map(f"{{ {tuple_name}[{dims}] -> [{image}]{where} }}")
        ).coalesce()

    def words_there(self, sets: ScopSets) -> isl.Set:
        """Return [tile, word] of all words of the nest that are in the array."""
        loops = self.loops()
        rows, word = self._subscripts()
        names = [loop.counter or "" for loop in loops]
        length = self.array.row_words(self.lanes * self.array.width_bits)
        where = [
            f"{loop.first} <= d{k} < {loop.first + loop.extent}" for k, loop in enumerate(loops)
        ]
        for form, extent in zip((*rows, word), (*self.array.shape[:-1], length), strict=True):
            where.append(f"0 <= {affine_text(form, names)} < {extent}")
        dims = ",".join(f"d{k}" for k in range(len(loops)))
        return sets.read_set(f"{{ [{dims}] : {' and '.join(where)} }}")


def folded_form(fields: Fields, tile_bits: int, loops: Sequence[NestLoop]) -> FoldedForm:
    """Return an address as the plan has it."""
    return FoldedForm(
        tuple(Field(index_form(form, loops), bits) for form, bits in fields), tile_bits
    )
