"""What a published table is: rows that name kernels, and how one is measured and shown."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from rtlgen.errors import RtlgenError
from rtlgen.flow.synth import DEFAULT_SEEDS
from rtlgen.report.tables import text_table
from rtlgen.verify.cosim import Simulator

DEFAULT_KERNELS = Path("examples")


class NoRowSelected(RtlgenError):
    """`--only` matches no row of the benchmark.

    The pattern is compared with the whole name of a kernel, as a shell compares file names:
    `--only 'mms*'` takes mms and mms_d. Quote it, or the shell expands it first.
    """

    code = "E0406"


class KernelsNotFound(RtlgenError):
    """A benchmark does not find the C files of its kernels.

    They are in rtlgen's repository: row `gemm` measures `DIR/gemm/gemm.c` or `DIR/gemm.c`, where
    DIR is what `--kernels` says, by default `examples` in the current directory, or the folder in
    `benchmarks` that is called like the benchmark. Run it at the top of a checkout, or say where
    one is:

        rtlgen bench mf3 --kernels ~/rtlgen/examples
    """

    code = "E0407"


def kernel_files(directory: Path, names: Sequence[str]) -> dict[str, Path]:
    """Return the file `directory`/NAME/NAME.c, or else `directory`/NAME.c, of every name.

    Raises
    ------
    KernelsNotFound: the first file that is not there is named.
    """
    files = {name: _file(directory, name) for name in names}
    missing = [name for name, path in files.items() if not path.is_file()]
    if missing:
        raise KernelsNotFound(
            f"there is no {files[missing[0]]}",
            notes=(f"of {len(names)} kernels, {len(missing)} are missing: {', '.join(missing)}",),
            help="run it at the top of a checkout of rtlgen, or say --kernels DIR",
        )
    return files


def _file(directory: Path, name: str) -> Path:
    """Return the file of a kernel; where there is none, the first that was looked for."""
    places = (directory / name / f"{name}.c", directory / f"{name}.c")
    return next((path for path in places if path.is_file()), places[0])


@dataclass(frozen=True, slots=True)
class BenchRow:
    """One kernel of a table.

    Members
    -------
    kernel: the name of the row, and of the C file unless `example` gives another.
    published: the document's figures, by the names of ours where they mean the same.
    at_most: figure -> largest value with which the row reaches its target.
    defines: macros that the kernel is compiled with. options: others, by the names that
        `CompileOptions` gives them.
    """

    kernel: str
    published: Mapping[str, object] = field(default_factory=dict)
    at_most: Mapping[str, int] = field(default_factory=dict)
    example: str | None = None
    defines: Mapping[str, str] = field(default_factory=dict)
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def file(self) -> str:
        """The name of the C file."""
        return self.example or self.kernel


@dataclass(frozen=True, slots=True)
class BenchSettings:
    """How all rows are measured.

    Members
    -------
    synthesis: adds area and clock. seeds: of place and route; none leaves out the clock.
    """

    simulator: Simulator = "verilator"
    synthesis: bool = True
    seeds: Sequence[int] = DEFAULT_SEEDS


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
        """Failures, and targets that were not reached, a sentence each.

        What was not measured, as area without synthesis, misses no target.
        """
        over = [
            f"{name} {self.figures[name]}, target {limit}"
            for name, limit in self.row.at_most.items()
            if name in self.figures and self.figures[name] > limit
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
    """A column of the text form: a figure and, where `published`, the document's beside it.

    Members
    -------
    published_as: the document's figure, where it has another name.
    of_document: the column is the document's figure alone.
    """

    figure: str
    heading: str
    published: bool = False
    published_as: str | None = None
    of_document: bool = False

    @property
    def document_figure(self) -> str:
        return self.published_as or self.figure

    def figures_of(self, result: RowResult) -> Mapping[str, object]:
        """Return the figures among which that of the column is."""
        return result.row.published if self.of_document else result.figures


@dataclass(frozen=True, slots=True)
class Section:
    """A part of the text form: columns, for all kernels or for some."""

    title: str
    columns: tuple[Column, ...]
    kernels: tuple[str, ...] | None = None

    def cells(self, results: Sequence[RowResult]) -> tuple[list[str], list[list[object]]]:
        """Return the headings, and the section's rows among `results`."""
        rows = [r for r in results if self.kernels is None or r.row.kernel in self.kernels]
        # Area and clock may have been left out.
        columns = [c for c in self.columns if any(c.figure in c.figures_of(r) for r in rows)]
        header = ["kernel", "exact"]
        cells: list[list[object]] = [[r.row.kernel, not r.failures] for r in rows]
        for column in columns:
            header.append(column.heading)
            for line, result in zip(cells, rows, strict=True):
                line.append(column.figures_of(result).get(column.figure))
            if column.published:
                header.append("published")
                for line, result in zip(cells, rows, strict=True):
                    line.append(result.row.published.get(column.document_figure))
        return header, cells


@dataclass(frozen=True, slots=True)
class Overall:
    """What all measured rows together say.

    Members
    -------
    figures: by name, JSON-serialisable. text: lines below the table.
    missed: targets that were not reached, a sentence each.
    """

    figures: Mapping[str, Any] = field(default_factory=dict)
    text: str = ""
    missed: tuple[str, ...] = ()


def _nothing(results: Sequence[RowResult]) -> Overall:
    return Overall()


@dataclass(frozen=True, slots=True)
class BenchTable:
    """A published table.

    Members
    -------
    measure: from a row, the file of its kernel, and the settings.
    kernels: where the C files are, from the top of a checkout.
    overall: from the measured rows, what they say together.
    """

    name: str
    title: str
    rows: tuple[BenchRow, ...]
    measure: Callable[[BenchRow, Path, BenchSettings], RowResult]
    sections: tuple[Section, ...]
    kernels: Path = DEFAULT_KERNELS
    overall: Callable[[Sequence[RowResult]], Overall] = _nothing

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
        """Return the measured rows as plain text, section by section."""
        parts = [(section.title, *section.cells(results)) for section in self.sections]
        texts = [f"{title}\n\n{text_table(header, rows)}" for title, header, rows in parts if rows]
        return "\n\n".join(text for text in (*texts, self.overall(results).text) if text)
