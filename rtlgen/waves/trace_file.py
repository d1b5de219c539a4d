"""Wave files: signals of one circuit in them, sampled as its clock does."""

from __future__ import annotations

import contextlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.manifest.contents import Manifest
from rtlgen.system.tools import missing_tool
from rtlgen.waves.errors import TraceUnreadableError

try:
    from pywellen import Waveform
except ImportError:  # It is in the extra `flow`.
    Waveform = None

UNKNOWN = -1
"""The value of a signal that is X or Z, or has none yet."""


@dataclass(frozen=True, slots=True, eq=False)
class TracedCircuit:
    """A circuit in a wave file.

    Members
    -------
    scope: its name in the hierarchy. signals: of it and of what is in it, by their names below it,
        each with the file's handle. edges: times at which its clock rises.
    unit_seconds: of the times.
    """

    path: Path
    scope: str
    signals: Mapping[str, Any]
    edges: Ints
    unit_seconds: float

    def sampled(self, name: str) -> Ints:
        """Return the value of a signal just before each rising edge of the clock."""
        with _reading(self.path):
            changes = self.signals[name].tv
        if not changes:
            return np.full(len(self.edges), UNKNOWN, dtype=np.int64)
        times = np.array([time for time, _ in changes], dtype=np.int64)
        values = np.array([_known(value) for _, value in changes], dtype=np.int64)
        places = np.searchsorted(times, self.edges, side="left") - 1
        return np.where(places < 0, UNKNOWN, values[np.maximum(places, 0)])

    def width(self, name: str) -> int:
        """Return how many bits a signal has."""
        return int(self.signals[name].bitwidth or 1)


def _known(value: object) -> int:
    return value if isinstance(value, int) else UNKNOWN


@contextlib.contextmanager
def _reading(path: Path) -> Iterator[None]:
    """Raise TraceUnreadableError where the file is broken: much is read when it is first needed."""
    try:
        yield
    except (RuntimeError, OSError, ValueError) as error:
        reason = " ".join(str(error).split())
        raise TraceUnreadableError(
            f"{path} is no wave file that can be read: {reason}", help="give a .vcd or .fst file"
        ) from None


def traced_circuit(path: Path, manifest: Manifest, controls: Iterable[str]) -> TracedCircuit:
    """Find a circuit in a wave file, wherever it is in the hierarchy.

    Parameters
    ----------
    controls: the names of its modules that control when statements issue.

    Raises
    ------
    MissingToolError: the package that reads wave files is not installed.
    TraceUnreadableError: it is no wave file, or does not show the circuit, or several times.
    """
    if Waveform is None:
        raise missing_tool("pywellen")
    if not path.is_file():
        raise TraceUnreadableError(f"cannot read {path}: there is no such file")
    with _reading(path):
        file = Waveform(str(path))
        variables = {variable.full_name: variable for variable in file.all_vars()}
    pins = manifest.kernel_pins
    ports = [pins.clock, pins.start, pins.done, pins.idle]
    needed = [*ports, *(f"{control}.begin_signal" for control in dict.fromkeys(controls))]
    ending = f".{needed[-1]}"
    scopes = [name.removesuffix(ending) for name in variables if name.endswith(ending)]
    scopes = [s for s in scopes if all(f"{s}.{name}" in variables for name in needed)]
    if len(scopes) != 1:
        count = "does not show" if not scopes else f"shows {len(scopes)} times"
        raise TraceUnreadableError(
            f"{path} {count} the circuit {manifest.top}",
            notes=[f"looked for {', '.join(needed)} in one scope"],
            help="record one instance of the circuit, with all levels of its hierarchy",
        )
    prefix = f"{scopes[0]}."
    signals = {n.removeprefix(prefix): v for n, v in variables.items() if n.startswith(prefix)}
    with _reading(path):
        changes = signals[pins.clock].tv
    rises = [time for time, value in changes if value == 1]
    scale = file.timescale
    unit = scale.factor * 10.0 ** scale.unit.to_exponent() if scale is not None else 1e-12
    return TracedCircuit(path, scopes[0], signals, np.array(rises, dtype=np.int64), unit)
