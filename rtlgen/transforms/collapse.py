"""Short rows laid out one behind the other: the last two dimensions of an array as one.

A row off chip begins on a word, so a kernel of 3 x 3 bytes takes three words of eight, and as much
RAM on chip. As one row of nine bytes it takes two. Where a row takes at most half a word, no box of
rows takes more words than before: there is a word for each row before, and two rows share one after
that at least.

    w[c][d][p][q] of [32][32][3][3] bytes    ->    w[c][d][3 * p + q] of [32][32][9]

Elements stay in the order of C. Where subscripts depend on data, an array stays as it is, and so do
longer rows: these are cut into tiles and lanes, which begin on words as long as rows do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace

from rtlgen.ir.scop import Access, Array, Scop, Statement

MOST_ELEMENTS = 7
"""Of a row that is short: a pixel, a row of a filter; their loops are whole in tiles and lanes."""


def collapse_short_rows(scop: Scop, row_bits: int, kept: Collection[str]) -> Scop:
    """Return a program whose arrays have no short rows, where that can be.

    Parameters
    ----------
    row_bits: of a short row, at most. kept: arrays that stay as they are.
    """
    looked_up = {
        access.array
        for statement in scop.statements
        for access in (statement.write, *statement.reads)
        if access.is_lookup
    }
    found = {
        array.name: _collapsed(array, row_bits)
        for array in scop.arrays
        if array.name not in looked_up and array.name not in kept and not array.is_table
    }
    shapes = {name: shape for name, shape in found.items() if shape != scop.array(name).shape}
    if not shapes:
        return scop
    return replace(
        scop,
        arrays=tuple(replace(a, shape=shapes.get(a.name, a.shape)) for a in scop.arrays),
        statements=tuple(_with_shapes(s, scop, shapes) for s in scop.statements),
    )


def _collapsed(array: Array, row_bits: int) -> tuple[int, ...]:
    """Return the extents of an array without short rows."""
    shape = array.shape
    most = min(MOST_ELEMENTS, row_bits // array.element.width_bits)
    while len(shape) > 1 and shape[-1] <= most:
        *outer, rows, elements = shape
        shape = (*outer, rows * elements)
    return shape


def _with_shapes(
    statement: Statement, scop: Scop, shapes: Mapping[str, tuple[int, ...]]
) -> Statement:
    """Return a statement that touches the same elements in arrays of other extents."""

    def moved(access: Access) -> Access:
        if access.array not in shapes:
            return access
        extents, dims = scop.array(access.array).shape, len(shapes[access.array])
        *outer, last = access.affine[:dims]
        for subscript, extent in zip(access.affine[dims:], extents[dims:], strict=True):
            last = last * extent + subscript
        return replace(access, subscripts=(*outer, last))

    return replace(
        statement,
        write=moved(statement.write),
        reads=tuple(moved(read) for read in statement.reads),
    )
