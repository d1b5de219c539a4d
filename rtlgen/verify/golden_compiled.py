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
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, TypeAlias

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

Bytes: TypeAlias = npt.NDArray[np.uint8]

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
        memory: Mapping[str, Elements],
        scalars: Mapping[str, int],
        library: Library | None = None,
    ) -> None:
        self._scop = scop
        self._memory = [memory[array.name] for array in scop.arrays]
        depths = [array.depth if array.role == "local" else 0 for array in scop.arrays]
        self._written, written = _blocks(depths)
        self._pointers = _pointers(self._memory), _pointers(written)
        self._scalars = np.zeros(len(scop.scalars), np.uint64)
        self._give(scalars)
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
        if self._entry(*self._pointers, *(block.ctypes.data for block in blocks)):
            raise self._out_of_bounds()

    def restart(self, scalars: Mapping[str, int]) -> None:
        """Forget the last run; the memory is for the caller to set."""
        self._give(scalars)
        for block in (self._written, self._counts, self._events, self._first, self._fault):
            block.fill(0)

    def _give(self, scalars: Mapping[str, int]) -> None:
        for place, scalar in enumerate(self._scop.scalars):
            self._scalars[place] = scalars[scalar.name] % (1 << 64)

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


class RepeatedProgram:
    """A compiled Scop that is run over and over from one memory, with other scalars.

    Members
    -------
    memory: of each array, what the last run left.

    Parameters
    ----------
    memory: what each run begins with.
    """

    def __init__(
        self,
        scop: Scop,
        memory: Mapping[str, Elements],
        scalars: Mapping[str, int],
        library: Library,
    ) -> None:
        self._block, parts = _blocks([image.nbytes for image in memory.values()])
        self.memory = {
            name: part.view(image.dtype).reshape(image.shape)
            for (name, image), part in zip(memory.items(), parts, strict=True)
        }
        for name, image in memory.items():
            self.memory[name][...] = image
        self._given = self._block.copy()
        self._program = CompiledProgram(scop, self.memory, scalars, library)

    def run(self, scalars: Mapping[str, int]) -> None:
        """Execute the whole program.

        Raises
        ------
        SubscriptError
        """
        np.copyto(self._block, self._given)
        self._program.restart(scalars)
        self._program.run()


_ALIGNMENT = 8
"""Of the widest element, in bytes."""


def _blocks(sizes: Sequence[int]) -> tuple[Bytes, list[Bytes]]:
    """Return zeros, and the parts of them that have these sizes, each where any element may be."""
    starts = [0]
    for size in sizes:
        starts.append(starts[-1] + -(-size // _ALIGNMENT) * _ALIGNMENT)
    block = np.zeros(starts[-1], np.uint8)
    return block, [block[at : at + size] for at, size in zip(starts, sizes, strict=False)]


def _pointers(blocks: Sequence[Elements] | Sequence[Bytes]) -> Any:
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
