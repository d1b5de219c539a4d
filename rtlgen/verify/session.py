"""A simulated circuit that stays loaded between runs."""

from __future__ import annotations

import contextlib
import os
import shutil
import tempfile
import threading
import weakref
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rtlgen.errors import RtlgenError, without_frames
from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import read_verilog
from rtlgen.sim.verilator import OPTIMISATION
from rtlgen.verify.cosim import Simulator, job_on, results_of
from rtlgen.verify.inputs import Inputs, check_inputs
from rtlgen.verify.loading import Way, chosen_engine, loaded
from rtlgen.verify.values import Elements, Value


class SessionClosedError(RtlgenError):
    """A session was asked for a run after it had been closed.

    A session keeps a simulated circuit loaded inside of its `with` block, or until `close()`:

        with design.session() as session:
            for a in inputs:
                out = session.run(A=a)

    Arrays and cycles of its runs stay what they are. Open another session for more runs.
    """

    code = "E0424"


def session_closed(manifest: Manifest) -> SessionClosedError:
    """Return the error for a run in a session that is closed."""
    return SessionClosedError(
        f"the session of {manifest.name} is closed",
        help="run inside of its `with` block, or open another one",
    )


@dataclass(frozen=True, slots=True, eq=False)
class RunResult:
    """What one simulated run of a design left.

    Members
    -------
    arrays: every array that the host gives or gets, of its C type and shape.
    returned: the function's result, or None; of a `float` it is a numpy.float32.
    cycles: from start to done.
    """

    arrays: Mapping[str, np.ndarray]
    returned: Value | None
    cycles: int


class Session:
    """A simulated circuit that stays loaded: runs differ from those of `Design.run` in speed only.

    The circuit is in a process of its own. A run that fails, or is interrupted, leaves the session
    as it was; threads take turns; a copy of it in a forked process loads a circuit of its own.

    Parameters
    ----------
    write: writes the Verilog of the manifest into a folder.
    """

    def __init__(
        self, manifest: Manifest, write: Callable[[Path], object], simulator: Simulator
    ) -> None:
        self._manifest = manifest
        # It runs often: what compiling for speed takes comes back.
        self._way = Way(simulator, chosen_engine("auto", simulator), None, OPTIMISATION)
        self._mutex = _Mutex()
        with contextlib.ExitStack() as stack:
            self._folder = Path(tempfile.mkdtemp(prefix="rtlgen-"))
            stack.callback(_remove, self._folder, os.getpid())
            write(self._folder)
            verilog = read_verilog(self._folder, manifest)
            self._carry_out = stack.enter_context(
                loaded(verilog, manifest, self._folder, self._folder, self._way)
            )
            self._close = weakref.finalize(self, stack.pop_all().close)

    def __enter__(self) -> Session:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "open" if self._close.alive else "closed"
        return f"<Session of {self._manifest.name}: {self._way.simulator}, {state}>"

    @without_frames
    def run(self, *, inputs: Inputs | None = None, **arrays: Elements | Value | float) -> RunResult:
        """Run the circuit on the given arrays and scalars.

        Parameters
        ----------
        inputs, arrays: by C name; `inputs` takes names that clash with it.

        Raises
        ------
        SessionClosedError: it was closed.
        RtlgenError: an input is missing or of the wrong type, the run hangs.
        """
        manifest = self._manifest
        with self._mutex.held():
            if not self._close.alive:
                raise session_closed(manifest)
            checked = [check_inputs({**(inputs or {}), **arrays}, manifest)]
            job = job_on(checked, manifest, self._way.simulator)
            result = self._carry_out(job)
        (found,) = results_of(job, result, checked, self._folder, self._way)
        return RunResult(found.arrays, found.returned, found.cycles)

    @without_frames
    def close(self) -> None:
        """End the circuit's process; a session that is closed stays so."""
        with self._mutex.held():
            self._close()


class _Mutex:
    """A lock that nobody holds in the copy that a fork makes: who held it is not there."""

    def __init__(self) -> None:
        self._lock, self._owner = threading.Lock(), os.getpid()

    @contextlib.contextmanager
    def held(self) -> Iterator[None]:
        if self._owner != os.getpid():
            self._lock, self._owner = threading.Lock(), os.getpid()
        with self._lock:
            yield


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:
        shutil.rmtree(folder, ignore_errors=True)
