"""A GTKWave save file for a trace: signals by statement, counters shown as instances of C."""

from __future__ import annotations

import logging
import shutil
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import astuple
from pathlib import Path

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.ir.issued_instances import IssuedStream
from rtlgen.ir.iterations import iterations_of
from rtlgen.ir.plan import Stream
from rtlgen.manifest.file import unwritable
from rtlgen.system.tools import MissingToolError
from rtlgen.waves.errors import TraceUnreadableError
from rtlgen.waves.instances import BuiltCircuit, read_circuit
from rtlgen.waves.trace_file import TracedCircuit, traced_circuit

_LOG = logging.getLogger("rtlgen.waves")

MOST_TRANSLATED = 100_000
"""Iterations of a stream up to which each is told by name: GTKWave reads all of them at its start,
and a line takes some 40 bytes."""

# Bits of GTKWave's `@` lines, in hexadecimal.
_BINARY, _HEX, _TRANSLATED_HEX = "28", "22", "2022"
_GROUP, _GROUP_END = "800200", "1000200"
_CLOSED_GROUP, _CLOSED_GROUP_END = "c00200", "1401200"


def show_in_gtkwave(trace: Path, build_dir: Path) -> None:
    """Write the save file of a trace that a simulation has just written; say why where none can be.

    Raises
    ------
    OutputDirectoryError: it cannot be written.
    """
    try:
        circuit = read_circuit(build_dir)
        controls = [issued.point.control for issued in circuit.issued]
        write_save_file(traced_circuit(trace, circuit.manifest, controls), circuit)
    except (TraceUnreadableError, MissingToolError) as error:
        _LOG.warning("no save file for GTKWave: %s", error.diagnostic.message)


def write_save_file(trace: TracedCircuit, circuit: BuiltCircuit) -> Path:
    """Write the save file of a trace beside it, with its translate filters; return its path.

    Raises
    ------
    OutputDirectoryError: it cannot be written.
    """
    path = trace.path.with_suffix(".gtkw")
    filters = trace.path.with_suffix(".filters")
    try:
        shutil.rmtree(filters, ignore_errors=True)
        writer = _Writer(trace, circuit, filters.absolute())
        lines = [
            "[*] Written by rtlgen: signals by statement of the C program.",
            f'[dumpfile] "{trace.path.absolute()}"',
            f'[savefile] "{path.absolute()}"',
            "[timestart] 0",
            *writer.lines(),
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    except OSError as error:
        raise unwritable(trace.path.parent, error.strerror) from error
    return path


class _Writer:
    def __init__(self, trace: TracedCircuit, circuit: BuiltCircuit, filters: Path) -> None:
        self._trace, self._circuit, self._filters = trace, circuit, filters

    def lines(self) -> Iterator[str]:
        manifest = self._circuit.manifest
        control = list(astuple(manifest.kernel_pins))
        scalars = [scalar.port for scalar in manifest.scalars if scalar.port is not None]
        yield from self._group("control", [*control, *scalars, "sequencer.n"])
        for stream, issued in zip(self._circuit.plan.streams, self._circuit.issued, strict=True):
            yield from self._statement(stream, issued)
        ports = {port.name for port in manifest.ports} - {*control, *scalars}
        yield from self._group("ports", [n for n in self._trace.signals if n in ports], True)

    def _statement(self, stream: Stream, issued: IssuedStream) -> Iterator[str]:
        point = issued.point
        yield f"@{_GROUP}"
        yield f"-{point.datapath}: {stream.text}"
        yield from self._instance(stream, issued)
        own = f"{point.datapath}_"
        yield from self._signals(
            name
            for name in self._in(point.control)
            if name.removeprefix(f"{point.control}.").startswith(own)
        )
        yield from self._group("operators", self._in(point.datapath), True)
        yield f"@{_GROUP_END}"
        yield f"-{point.datapath}: {stream.text}"

    def _instance(self, stream: Stream, issued: IssuedStream) -> Iterator[str]:
        """Yield the counters of a stream, as one signal with the instances in place of values."""
        point = issued.point
        counted = [f"{point.control}.index.counter_{n}" for n in range(len(point.counted))]
        parts = [f"{point.control}.index.valid", *counted]
        if any(part not in self._trace.signals for part in parts):
            return
        late = f", {point.valid_to_issue} cycles early" if point.valid_to_issue else ""
        combined = " ".join(map(self._shown, parts))
        name = f"#{{{point.datapath} instance{late}}} {combined}"
        iterations = stream.iterations or np.prod([level.extent for level in stream.levels])
        if iterations > MOST_TRANSLATED:
            yield from (f"@{_HEX}", name)
            return
        self._filters.mkdir(exist_ok=True)
        file = self._filters / f"{point.datapath}.txt"
        widths = [self._trace.width(part) for part in parts]
        rows = translations(stream, issued, widths)
        file.write_text("".join(f"{value} {text}\n" for value, text in rows), encoding="utf-8")
        yield from (f"@{_TRANSLATED_HEX}", f"^1 {file}", name)

    def _group(self, title: str, names: Iterable[str], closed: bool = False) -> Iterator[str]:
        begin, end = (_CLOSED_GROUP, _CLOSED_GROUP_END) if closed else (_GROUP, _GROUP_END)
        lines = list(self._signals(names))
        if lines:
            yield from (f"@{begin}", f"-{title}", *lines, f"@{end}", f"-{title}")

    def _signals(self, names: Iterable[str]) -> Iterator[str]:
        form = None
        for name in names:
            if name not in self._trace.signals:
                continue
            wanted = _BINARY if self._trace.width(name) == 1 else _HEX
            if wanted != form:
                yield f"@{wanted}"
                form = wanted
            yield self._shown(name)

    def _shown(self, name: str) -> str:
        width = self._trace.width(name)
        bits = "" if width == 1 else f"[{width - 1}:0]"
        return f"{self._trace.scope}.{name}{bits}"

    def _in(self, scope: str) -> list[str]:
        """Return the signals of a module itself, not of those in it, that have names."""
        inside = (
            name.removeprefix(f"{scope}.")
            for name in self._trace.signals
            if name.startswith(f"{scope}.")
        )
        clocks = (self._circuit.manifest.clock, self._circuit.manifest.reset)
        return [
            f"{scope}.{name}"
            for name in inside
            if "." not in name and "$" not in name and name not in clocks
        ]


def translations(
    stream: Stream, issued: IssuedStream, widths: Sequence[int]
) -> Iterator[tuple[str, str]]:
    """Yield values of `valid` and the counters of a stream, and the instances that they are.

    Parameters
    ----------
    widths: bits of each, the highest first; a value is in hexadecimal, with all its digits.
    """
    counters: Ints = iterations_of(stream.levels)
    counters = counters[issued.instances.real(counters)]
    digits = -(-sum(widths) // 4)
    values = np.ones(len(counters), dtype=object)
    for level, width in zip(issued.point.counted, widths[1:], strict=True):
        values = values * (1 << width) + counters[:, level]
    for value, place in zip(values, issued.instances.points(counters).tolist(), strict=True):
        yield f"{int(value):0{digits}x}", issued.instances.text(place)
