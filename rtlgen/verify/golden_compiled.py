"""The golden model, fast: the Scop as C of its own, compiled and called in this process.

The emitted function is

    int rtlgen_golden(void **arrays, uint8_t **written, const uint64_t *scalars,
                      uint64_t *counts, uint64_t *events, int64_t *first, int64_t *fault)

`arrays`: one row-major block an array of the Scop, changed in place; `written`: for each local
array a byte an element. `counts[s]`, `events[kind * statements + s]` and the iterators of each
event's first instance in `first` come back. It returns 1 at a subscript out of bounds, with the
statement, the access, its subscripts and the iterators in `fault`.
"""

from __future__ import annotations

import ctypes
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rtlgen.ir.scop import Scop
from rtlgen.system.tools import find_tool, run_tool
from rtlgen.verify.golden_emit import ENTRY, WRITE_ACCESS, emit, point_length, rank_limit
from rtlgen.verify.golden_state import (
    EVENT_KINDS,
    GoldenEvent,
    SubscriptError,
    out_of_bounds,
)
from rtlgen.verify.values import Elements

COMPILERS = ("cc", "gcc", "clang", "c++", "g++", "clang++")
_OPTIONS = ("-shared", "-fPIC", "-w", "-ffp-contract=off", "-fno-math-errno")


@dataclass(frozen=True, slots=True, eq=False)
class Library:
    """The entry point of a compiled Scop; the library stays loaded."""

    entry: Any


def compile_scop(scop: Scop, *, is_short: bool = False) -> Library:
    """Compile a Scop for this machine.

    Parameters
    ----------
    is_short: the runs will be so short that compiling for speed is not worth its time.

    Raises
    ------
    MissingToolError: there is no C compiler.
    """
    return _compiled(emit(scop), "-O0" if is_short else "-O1")


class CompiledProgram:
    """A run of a compiled Scop, with the same interface as `Interpreter`.

    Parameters
    ----------
    library: of this Scop; compiled by default.

    Raises
    ------
    MissingToolError: there is no C compiler.
    """

    def __init__(
        self,
        scop: Scop,
        memory: dict[str, Elements],
        scalars: dict[str, int],
        library: Library | None = None,
    ) -> None:
        self._scop = scop
        self._memory = [memory[array.name] for array in scop.arrays]
        self._written = [
            np.zeros(array.depth if array.role == "local" else 0, np.uint8) for array in scop.arrays
        ]
        values = [scalars[scalar.name] % (1 << 64) for scalar in scop.scalars]
        self._scalars = np.array(values, np.uint64)
        statements, points = len(scop.statements), point_length(scop)
        self._counts = np.zeros(statements, np.uint64)
        self._events = np.zeros((len(EVENT_KINDS), statements), np.uint64)
        self._first = np.zeros((len(EVENT_KINDS), statements, points), np.int64)
        self._fault = np.zeros(2 + rank_limit(scop) + points, np.int64)
        self._entry = (library or compile_scop(scop)).entry

    def run(self) -> None:
        """Execute the whole program.

        Raises
        ------
        SubscriptError
        """
        blocks = (self._scalars, self._counts, self._events, self._first, self._fault)
        if self._entry(
            _pointers(self._memory), _pointers(self._written), *(b.ctypes.data for b in blocks)
        ):
            raise self._out_of_bounds()

    @property
    def counts(self) -> dict[str, int]:
        """Executed instances of every statement."""
        names = (statement.name for statement in self._scop.statements)
        return dict(zip(names, self._counts.tolist(), strict=True))

    @property
    def events(self) -> tuple[GoldenEvent, ...]:
        """What C leaves undefined and the run met."""
        return tuple(
            GoldenEvent(
                kind,
                statement.name,
                int(self._events[k, s]),
                tuple(self._first[k, s, : len(statement.loops)].tolist()),
            )
            for s, statement in enumerate(self._scop.statements)
            for k, kind in enumerate(EVENT_KINDS)
            if self._events[k, s]
        )

    def _out_of_bounds(self) -> SubscriptError:
        number, access, *values = self._fault.tolist()
        statement = self._scop.statements[number]
        point = values[rank_limit(self._scop) :]
        iterators = dict(zip(statement.iterators, point, strict=False))
        accessed = statement.write if access == WRITE_ACCESS else statement.reads[access]
        element = values[: len(accessed.subscripts)]
        return out_of_bounds(self._scop, statement.name, accessed, element, iterators)


def _pointers(blocks: list[Elements] | list[npt.NDArray[np.uint8]]) -> Any:
    return (ctypes.c_void_p * len(blocks))(*(block.ctypes.data for block in blocks))


@lru_cache(maxsize=32)
def _compiled(text: str, optimisation: str) -> Library:
    compiler = find_tool(*COMPILERS)
    language = "c++" if compiler.endswith("++") else "c"
    with tempfile.TemporaryDirectory(prefix="rtlgen-golden-") as name:
        folder = Path(name)
        source, library = folder / "golden.c", folder / "golden.so"
        source.write_text(text)
        command = (compiler, optimisation, *_OPTIONS, "-x", language, source, "-o", library, "-lm")
        run_tool(command, log=folder / "compile.log")
        entry = getattr(ctypes.CDLL(str(library)), ENTRY)
    entry.argtypes = [ctypes.c_void_p] * 7
    entry.restype = ctypes.c_int
    return Library(entry)
