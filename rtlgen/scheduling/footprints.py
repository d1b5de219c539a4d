"""The part of an array off chip that a tile touches: its place in a window, the words to move."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import islpy as isl

from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.plan import Field, FoldedForm, OffChip
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.scop import Access, Statement, row_major_strides
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.scheduling.predicates import index_form

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
    lanes: elements in a word. tile: the tile iterators, in order.
    """

    array: OffChip
    lanes: int
    tile: tuple[str, ...]
    extents: tuple[Extent, ...]

    @staticmethod
    def of(array: OffChip, lanes: int, tile: tuple[str, ...], users: Sequence[User]) -> Footprint:
        """Return the footprint of accesses whose subscripts differ by constants alone."""
        extents = []
        for place in range(len(array.shape)):
            forms = [(user.access.affine[place], user.box) for user in users]
            outer = Affine.of({name: forms[0][0].coefficient(name) for name in tile})
            ranges = [(form - outer).range(box) for form, box in forms]
            low = min(first for first, _ in ranges)
            extents.append(Extent(outer + low, max(last for _, last in ranges) - low + 1))
        return Footprint(array, lanes, tile, tuple(extents))

    @property
    def is_aligned(self) -> bool:
        """Whether a row begins in the same element of a word in every tile."""
        return not any(c % self.lanes for _, c in self.extents[-1].low.terms)

    @property
    def row_words(self) -> int:
        """Words that a row of the footprint may reach into."""
        span = self.extents[-1].span
        if self.is_aligned:
            return (self.extents[-1].low.constant % self.lanes + span - 1) // self.lanes + 1
        return (span + self.lanes - 2) // self.lanes + 1

    @property
    def row_bits(self) -> int:
        return (self.row_words - 1).bit_length()

    @property
    def lane_bits(self) -> int:
        return (self.lanes - 1).bit_length()

    def element_fields(self, access: Access) -> Fields:
        """Return the place of an element in a copy of the window."""
        *rows, last = access.affine
        return self._fields((last, self.row_bits + self.lane_bits), rows)

    def _fields(self, last: tuple[Affine, int], rows: Sequence[Affine]) -> Fields:
        others = [
            (form, (extent.span - 1).bit_length())
            for form, extent in zip(rows, self.extents, strict=False)
        ]
        return tuple(field for field in (last, *reversed(others)) if field[1])

    # The words of a tile, as a nest.

    def loops(self, tile_loops: Sequence[NestLoop]) -> tuple[NestLoop, ...]:
        """Return the loops over the tiles and the words of a tile, row by row."""
        own = [
            NestLoop(self._counter(k), extent.span) for k, extent in enumerate(self.extents[:-1])
        ]
        name = self._counter(len(own))
        if self.is_aligned:
            return (*tile_loops, *own, NestLoop(name, self.row_words))
        # Where a row begins in a word takes a quotient: the loop counts words of the array's row.
        low, last = self.extents[-1].low, self._row_length - 1
        lowers = (Bound(low - (self.lanes - 1), self.lanes), Bound(Affine()))
        uppers = (
            Bound(low + (self.extents[-1].span - 1), self.lanes),
            Bound(Affine((), last)),
        )
        words = NestLoop(name, last + 1, 0, lowers, uppers, at_least=1)
        return (*tile_loops, *own, words)

    @property
    def _row_length(self) -> int:
        return self.array.row_words(self.lanes * self.array.width_bits)

    def _counter(self, place: int) -> str:
        # No iterator of a tile or of the program has a space in its name.
        return f"word {place}"

    def _subscripts(self) -> tuple[tuple[Affine, ...], Affine]:
        """Return the subscripts of a row, and the word in it, by the loops."""
        rows = tuple(
            extent.low + Affine.variable(self._counter(k))
            for k, extent in enumerate(self.extents[:-1])
        )
        counter = Affine.variable(self._counter(len(rows)))
        return rows, counter + self._first_word() if self.is_aligned else counter

    def _first_word(self) -> Affine:
        """Return the word in which a row begins, of a footprint that is aligned."""
        low = self.extents[-1].low
        return Affine.of(
            {name: c // self.lanes for name, c in low.terms}, low.constant // self.lanes
        )

    def word(self) -> Affine:
        """Return the word off chip, by the loops."""
        rows, word = self._subscripts()
        strides = row_major_strides(self.array.shape[:-1], self._row_length)
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
        word = f"floor(({last})/{self.lanes})"
        if self.is_aligned:
            word += f" - ({affine_text(self._first_word(), names)})"
        own = [f"({row}) - ({first})" for row, first in zip(rows, low, strict=False)]
        where = "" if lane is None else f" : ({last}) mod {self.lanes} = {lane}"
        dims = ",".join(f"d{k}" for k in range(len(names)))
        image = ",".join([*tile, *own, word])
        tuple_name = sets.statement_tuple(user.statement.name)
        return instances.apply(
            sets.read_map(f"{{ {tuple_name}[{dims}] -> [{image}]{where} }}")
        ).coalesce()


def folded_form(fields: Fields, tile_bits: int, loops: Sequence[NestLoop]) -> FoldedForm:
    """Return an address as the plan has it."""
    return FoldedForm(
        tuple(Field(index_form(form, loops), bits) for form, bits in fields), tile_bits
    )
