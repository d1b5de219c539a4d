"""Solve t = M v for integer v: the inverse of a change of iterators, strides included.

Column operations bring M to echelon form, M U = H with U unimodular. Then v = U y, and the y follow
one after another from the rows in which H has its pivots: y_k = (t_p - H_p,<k . y) / H_p,k. Where a
pivot is 1, y_k is an integer combination of the t. Where it is larger, only some t are met (a
stride), and y_k stays a variable of its own.

Reference: Schrijver, "Theory of linear and integer programming", section 4.1 (Hermite normal form).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Echelon:
    """M U = H.

    Members
    -------
    unimodular: U. echelon: H. pivots: the row in which column k of H begins, increasing with k.
    """

    unimodular: Matrix
    echelon: Matrix
    pivots: tuple[int, ...]


def column_echelon(rows: Sequence[Sequence[int]], columns: int) -> Echelon:
    """Return the echelon form of a matrix of full column rank, its pivots positive.

    Raises
    ------
    ValueError: the columns are linearly dependent.
    """
    # The identity below M goes through the same column operations and becomes U.
    work = [list(row) for row in rows]
    work += [[int(i == j) for j in range(columns)] for i in range(columns)]
    pivots: list[int] = []
    for number in range(len(rows)):
        first = len(pivots)
        if first == columns:
            break
        if _gather(work, number, first):
            pivots.append(number)
    if len(pivots) < columns:
        raise ValueError(f"the columns of {list(rows)} are dependent")
    fixed = tuple(map(tuple, work))
    return Echelon(fixed[len(rows) :], fixed[: len(rows)], tuple(pivots))


def _gather(work: list[list[int]], row: int, first: int) -> bool:
    """Bring the entries of a row from column `first` on into that column; False: all are 0."""
    entries = work[row]
    while True:
        present = [c for c in range(first, len(entries)) if entries[c]]
        if not present:
            return False
        smallest = min(present, key=lambda c: abs(entries[c]))
        if len(present) == 1:
            break
        for column in present:
            if column != smallest:
                _subtract(work, column, smallest, entries[column] // entries[smallest])
    sign = -1 if entries[smallest] < 0 else 1
    for line in work:
        moved = sign * line[smallest]
        line[smallest] = line[first]
        line[first] = moved
    return True


def _subtract(work: list[list[int]], column: int, other: int, factor: int) -> None:
    for line in work:
        line[column] -= factor * line[other]
