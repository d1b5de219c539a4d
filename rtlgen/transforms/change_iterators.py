"""Turn a statement's iterators into functions of the loops of a schedule."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import gcd

from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.scop import Statement
from rtlgen.poly.edges import coordinates
from rtlgen.poly.schedule_tree import Part, Row
from rtlgen.transforms.integer_inverse import Echelon, column_echelon


@dataclass(frozen=True, slots=True)
class Change:
    """A statement in the times of its rows.

    Members
    -------
    times: one name a row, outermost first. own: further iterators, with one value each for given
        times: where the rows reach only some integers.
    values: of the old iterators, in terms of `times` and `own`.
    conditions: forms over the same that are >= 0 for the instances and for nothing else.
    """

    times: tuple[str, ...]
    own: tuple[str, ...]
    values: Mapping[str, Affine]
    conditions: tuple[Affine, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.times, *self.own)


def change_iterators(statement: Statement, rows: Sequence[Row], prefix: str) -> Change:
    """Return a normalised statement in the loops `rows`; new iterators are called prefix1, ...

    Raises
    ------
    ValueError: the rows give two instances the same time.
    """
    tiles = _tiles(statement, rows)
    variables = [*statement.iterators, *(tile.variable for tile in tiles)]
    forms = [_row_form(statement, row, tiles) for row in rows]
    matrix = [[form.coefficient(v) for v in variables] for form in forms]
    times = tuple(f"{prefix}{k + 1}" for k in range(len(rows)))
    # A row that reaches every integer is solved for before one that reaches only some of them.
    solvable = sorted(range(len(rows)), key=lambda n: gcd(*matrix[n]) != 1)
    echelon = column_echelon([matrix[n] for n in solvable], len(variables))
    solved = _solve(echelon, [forms[n] for n in solvable], [times[n] for n in solvable], prefix)
    values = {
        variable: affine_sum(
            value * factor for value, factor in zip(solved, row, strict=True) if factor
        )
        for variable, row in zip(variables, echelon.unimodular, strict=True)
    }
    conditions = [c.substitute(values) for c in (*statement.bounds, *_tile_bounds(tiles))]
    for form, time in zip(forms, times, strict=True):
        rest = Affine.variable(time) - form.substitute(values)
        conditions += [rest, -rest]
    used = {name for value in values.values() for name in value.variables}
    own = tuple(name for name in _own_names(echelon, times, prefix) if name in used)
    needed = tuple(dict.fromkeys(c for c in conditions if not c.is_constant))
    return Change(times, own, {name: values[name] for name in statement.iterators}, needed)


@dataclass(frozen=True, slots=True)
class _Tile:
    """The number of a tile as a variable: size * variable <= form < size * (variable + 1)."""

    variable: str
    form: Affine
    size: int


def _tiles(statement: Statement, rows: Sequence[Row]) -> list[_Tile]:
    found: dict[tuple[Affine, int], _Tile] = {}
    for row in rows:
        for part in row.parts:
            key = (_normalised(statement, part), part.size)
            if part.size > 1 and key not in found:
                # No C identifier has a space in it.
                found[key] = _Tile(f"tile {len(found)}", *key)
    return list(found.values())


def _normalised(statement: Statement, part: Part) -> Affine:
    """Return the form of a part over the normalised iterators."""
    counted = dict(zip(statement.iterators, coordinates(statement), strict=True))
    return part.forms[statement.name].substitute(counted)


def _row_form(statement: Statement, row: Row, tiles: Sequence[_Tile]) -> Affine:
    variables = {(tile.form, tile.size): tile.variable for tile in tiles}
    parts = []
    for part in row.parts:
        form = _normalised(statement, part)
        parts.append(form if part.size == 1 else Affine.variable(variables[form, part.size]))
    return affine_sum(parts)


def _tile_bounds(tiles: Sequence[_Tile]) -> list[Affine]:
    found = []
    for tile in tiles:
        offset = tile.form - Affine.variable(tile.variable) * tile.size
        found += [offset, -offset + (tile.size - 1)]
    return found


def _own_names(echelon: Echelon, times: Sequence[str], prefix: str) -> list[str]:
    first = len(times) + 1
    return [f"{prefix}{first + k}" for k in range(len(echelon.pivots))]


def _solve(
    echelon: Echelon, forms: Sequence[Affine], times: Sequence[str], prefix: str
) -> list[Affine]:
    """Return the y of `integer_inverse`: integer forms of the times, or iterators of their own."""
    solved: list[Affine] = []
    own = _own_names(echelon, times, prefix)
    for k, pivot in enumerate(echelon.pivots):
        row = echelon.echelon[pivot]
        if row[k] == 1:
            outer = affine_sum(y * c for y, c in zip(solved, row, strict=False) if c)
            time = Affine.variable(times[pivot]) - forms[pivot].constant
            solved.append(time - outer)
        else:
            solved.append(Affine.variable(own[k]))
    return solved
