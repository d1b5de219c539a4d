"""The figures of a design, and the text file that keeps them: a row a line, sorted by command."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from benchmarks.record import RESULTS

FILE = RESULTS / "designs.txt"

_HEADER = """\
# What the compiler makes of each program, `rtlgen plan` of what stands at the end of a line.
# Written by `make designs MODE=write`; `make designs` compares. See CONTRIBUTING.md.
#
# cycles: predicted, start to done; or the code with which it is refused. RAM: block RAMs, DSP:
# multiplier blocks of the design as built. steps: elementary steps of the analysis and the search.
# plan, Verilog: digests of both.
#
"""
_COLUMNS = ("cycles", "RAM", "DSP", "steps", "plan", "Verilog")
_WIDTHS = (9, 4, 4, 11, 10, 10)
"""Wide enough for every row there may be: no row moves the others."""
_NONE = "-"


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """What is kept of a design.

    Members
    -------
    cycles, block_rams, dsp: of the design as built; None of one that is refused.
    refused: the code of the diagnostic, or None.
    steps: elementary steps. plan, verilog: digests.
    """

    cycles: int | None = None
    block_rams: int | None = None
    dsp: int | None = None
    refused: str | None = None
    steps: int
    plan: str | None = None
    verilog: str | None = None

    def __post_init__(self) -> None:
        built = [self.cycles, self.block_rams, self.dsp, self.plan, self.verilog]
        if any((figure is None) == (self.refused is None) for figure in built):
            raise ValueError(f"a design is built, with all its figures, or refused: {self}")

    def costs(self) -> tuple[int, int, int]:
        """Return cycles, block RAMs and multiplier blocks of a design that is built."""
        assert self.cycles is not None
        assert self.block_rams is not None
        assert self.dsp is not None
        return self.cycles, self.block_rams, self.dsp

    def cells(self) -> tuple[str, ...]:
        """Return the columns of its line."""
        first = self.cycles if self.refused is None else self.refused
        figures = (first, self.block_rams, self.dsp, self.steps, self.plan, self.verilog)
        return tuple(_NONE if figure is None else str(figure) for figure in figures)

    @classmethod
    def of_cells(cls, cells: tuple[str, ...]) -> Figures:
        """Return the figures of the columns of a line."""
        cycles, rams, dsp, steps, plan, verilog = cells
        if rams == _NONE:
            return cls(refused=cycles, steps=int(steps))
        return cls(
            cycles=int(cycles),
            block_rams=int(rams),
            dsp=int(dsp),
            steps=int(steps),
            plan=plan,
            verilog=verilog,
        )


def file_text(rows: Mapping[str, Figures]) -> str:
    """Return the text of the file."""
    lines = [_line(rows[row].cells(), row) for row in sorted(rows)]
    title = _line(_COLUMNS, "rtlgen plan ...")
    return "\n".join([f"{_HEADER}#{title[1:]}", *lines]) + "\n"


def _line(cells: tuple[str, ...], row: str) -> str:
    figures = (cell.rjust(width) for cell, width in zip(cells, _WIDTHS, strict=True))
    return f"{' '.join(figures)}  {row}"


def rows_of(text: str) -> dict[str, Figures]:
    """Return the rows that a text holds.

    Raises
    ------
    ValueError: it is not such a text, or one row stands in it twice.
    """
    rows: dict[str, Figures] = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        *cells, row = line.split(maxsplit=len(_COLUMNS))
        if row in rows:
            raise ValueError(f"two lines are about {row}")
        rows[row] = Figures.of_cells(tuple(cells))
    return rows


def read_rows(path: Path = FILE) -> dict[str, Figures]:
    """Return the rows of the file; none, where there is no file yet."""
    return rows_of(path.read_text(encoding="utf-8")) if path.is_file() else {}
