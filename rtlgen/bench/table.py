"""What a published table is: rows that name kernels, and how one is measured and shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rtlgen.bench.errors import NoRowSelected
from rtlgen.report.tables import text_table
from rtlgen.verify.cosim import Simulator


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One kernel of a table.

    Members
    -------
    published: the document's figures, by the names of ours where they mean the same.
    at_most: figure -> largest value with which the row reaches its target.
    """

    kernel: str
    published: Mapping[str, object] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """How all rows are measured; `synthesis` adds area and clock."""

    simulator: Simulator = "verilator"
    synthesis: bool = True


@dataclass(frozen=True, slots=True)
class RowResult:
    """A measured row.

    Members
    -------
    figures: what the table is about, JSON-serialisable.
    failures: why the row is not exact, a sentence each.
    """

    row: BenchRow
    figures: Mapping[str, Any]
    failures: tuple[str, ...] = ()

    @property
    def missed(self) -> tuple[str, ...]:
        """Failures, and targets that were not reached, a sentence each."""
        over = [
            f"{name} {self.figures[name]}, target {limit}"
            for name, limit in self.row.at_most.items()
            if self.figures[name] > limit
        ]
        return (*self.failures, *over)

    def to_json(self) -> dict[str, object]:
        """Return the row as `rtlgen bench --json` prints it."""
        return {
            "kernel": self.row.kernel,
            "exact": not self.failures,
            "published": dict(self.row.published),
            "target": dict(self.row.at_most),
            **self.figures,
            "missed": list(self.missed),
        }


@dataclass(frozen=True, slots=True)
class Column:
    """A column of the text form: a figure and, where `published`, the document's beside it."""

    figure: str
    heading: str
    published: bool = False


@dataclass(frozen=True, slots=True)
class BenchTable:
    """A published table.

    Members
    -------
    measure: from a row, the file of its kernel, and the settings.
    """

    name: str
    title: str
    rows: tuple[BenchRow, ...]
    measure: Callable[[BenchRow, Path, BenchSettings], RowResult]
    columns: tuple[Column, ...]

    def selected(self, pattern: str | None) -> tuple[BenchRow, ...]:
        """Return the rows whose kernel matches a shell pattern; without one, all.

        Raises
        ------
        NoRowSelected
        """
        rows = tuple(
            row for row in self.rows if pattern is None or fnmatchcase(row.kernel, pattern)
        )
        if not rows:
            raise NoRowSelected(
                f"no row of {self.name} matches {pattern}",
                help=f"the rows are {', '.join(row.kernel for row in self.rows)}",
            )
        return rows

    def text(self, results: Sequence[RowResult]) -> str:
        """Return the measured rows as plain text."""
        # Area and clock may have been left out.
        columns = [c for c in self.columns if any(c.figure in r.figures for r in results)]
        header, cells = ["kernel", "exact"], [[r.row.kernel, not r.failures] for r in results]
        for column in columns:
            header.append(column.heading)
            for line, result in zip(cells, results, strict=True):
                line.append(result.figures[column.figure])
            if column.published:
                header.append("published")
                for line, result in zip(cells, results, strict=True):
                    line.append(result.row.published.get(column.figure))
        return text_table(header, cells)
