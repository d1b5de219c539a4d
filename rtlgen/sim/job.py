"""What the simulating process is asked to do, and what it answers.

A job is a folder: `job.json` and `inputs.npz` go in, `result.json` and `outputs.npz` come out, and
with a memory off chip also `memory.npy` and `left.npz`. Words are bit patterns
in unsigned NumPy arrays of the element's width.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, TypeAlias, get_args

import numpy as np

from rtlgen.manifest.contents import Manifest
from rtlgen.sim.axi_behaviour import AxiBehaviour, BusError
from rtlgen.system.typed_json import TypedJson

Outcome: TypeAlias = Literal["done", "hang", "unknown", "protocol", "memory"]
Words: TypeAlias = np.ndarray

_FORM = TypedJson()

FOLDER_VARIABLE = "RTLGEN_BENCH_JOB"
"""Environment variable that tells the bench where its job is."""

DRIVERS_VARIABLE = "RTLGEN_BENCH_DRIVERS"
"""Environment variable that tells the bench where the drivers of a block are."""


@dataclass(frozen=True, slots=True)
class Job:
    """Runs on one data set after the other, without a reset between.

    Members
    -------
    words: by array name, a row of words a data set, for each array that has a host port.
    memory: what is in the memory off chip, a row of bytes a data set; None where there is none.
    scalars: of each data set, bit patterns in the order of the manifest.
    limit_cycles: a run that takes longer is a hang.
    runs: how often all data sets are gone through.
    four_state: the simulator knows X, so outputs are watched for it.
    axi: how a memory behind an AXI4 port behaves; and how often streams pause.
    reset_cycle: there is a run before all others that a reset ends in that cycle; 0: there is none.
        Only the C++ main program does that.
    """

    manifest: Manifest
    words: Mapping[str, Words]
    memory: Words | None
    scalars: tuple[tuple[int, ...], ...]
    limit_cycles: int
    runs: int
    four_state: bool
    axi: AxiBehaviour = field(default_factory=AxiBehaviour)
    reset_cycle: int = 0

    def __post_init__(self) -> None:
        if self.runs < 1 or self.limit_cycles < 1 or not self.scalars:
            raise ValueError(f"{self.runs} runs of at most {self.limit_cycles} cycles")
        if any(len(rows) != self.data_sets for rows in self.words.values()):
            raise ValueError(f"not {self.data_sets} data sets for each array")
        if (self.memory is None) != (self.manifest.memory is None):
            raise ValueError("a memory without contents, or contents without a memory")
        is_axi = self.manifest.memory is not None and self.manifest.memory.is_axi
        pausing = self.axi.pauses if self.manifest.streams else 0
        if not is_axi and self.axi != AxiBehaviour(pauses=pausing):
            raise ValueError("what only a memory behind an AXI4 port does")

    @property
    def data_sets(self) -> int:
        return len(self.scalars)

    def write(self, folder: Path) -> None:
        """Write the job into `folder`."""
        document = {
            "manifest": self.manifest.to_json(),
            "scalars": self.scalars,
            "limit_cycles": self.limit_cycles,
            "runs": self.runs,
            "four_state": self.four_state,
            "axi": _FORM.encode(self.axi, AxiBehaviour),
        }
        (folder / "job.json").write_text(json.dumps(document), encoding="utf-8")
        np.savez(folder / "inputs.npz", allow_pickle=False, **self.words)
        if self.memory is not None:
            np.save(folder / "memory.npy", self.memory)

    @staticmethod
    def read(folder: Path) -> Job:
        """Return the job that was written into `folder`."""
        document = json.loads((folder / "job.json").read_text(encoding="utf-8"))
        with np.load(folder / "inputs.npz") as archive:
            words = {name: archive[name] for name in archive.files}
        manifest = Manifest.from_json(document["manifest"])
        return Job(
            manifest,
            words,
            np.load(folder / "memory.npy") if manifest.memory else None,
            tuple(map(tuple, document["scalars"])),
            document["limit_cycles"],
            document["runs"],
            document["four_state"],
            _FORM.decode(document["axi"], AxiBehaviour, "axi"),
        )


@dataclass(frozen=True, slots=True)
class RunRecord:
    """What one run gave: bit patterns, None where the circuit has no such port.

    Members
    -------
    error: of the memory, which answered with one, so that what is left has no meaning.
    """

    cycles: int
    returned: int | None
    checksum: int | None
    error: BusError | None = None


_Runs: TypeAlias = tuple[RunRecord, ...]


@dataclass(frozen=True, slots=True)
class MemoryLeft:
    """What is in the memory off chip after a run; in a `Result`, a row a data set.

    Members
    -------
    bytes: 0 in local arrays, whose contents then are nobody's matter.
    written: the cycle of the run in which each byte was last written, 0 where it was not.
    """

    bytes: Words
    written: Words


@dataclass(frozen=True, slots=True)
class Result:
    """The answer to a job.

    Members
    -------
    outcome, message: `done`, or which rule was broken and how.
    runs: the runs that came to their end, in order.
    words: by array name, a row a data set: what its last run left. Data sets that were not reached
        have none.
    repeatable: every run on a data set left the same words, return value and checksum.
    memory: None where there is none off chip.
    """

    outcome: Outcome
    message: str
    runs: tuple[RunRecord, ...]
    words: Mapping[str, Words]
    repeatable: bool = True
    memory: MemoryLeft | None = None

    def __post_init__(self) -> None:
        if self.outcome not in get_args(Outcome):
            raise ValueError(f"unknown outcome {self.outcome}")

    def write(self, folder: Path) -> None:
        """Write the result into `folder`; `result.json` last, as the sign that it is whole."""
        np.savez(folder / "outputs.npz", allow_pickle=False, **self.words)
        if self.memory is not None:
            np.savez(folder / "left.npz", bytes=self.memory.bytes, written=self.memory.written)
        document = {
            "outcome": self.outcome,
            "message": self.message,
            "runs": _FORM.encode(self.runs, _Runs),
            "repeatable": self.repeatable,
        }
        (folder / "result.json").write_text(json.dumps(document), encoding="utf-8")

    @staticmethod
    def read(folder: Path) -> Result:
        """Return the result that was written into `folder`."""
        document = json.loads((folder / "result.json").read_text(encoding="utf-8"))
        with np.load(folder / "outputs.npz") as archive:
            words = {name: archive[name] for name in archive.files}
        memory = None
        if (folder / "left.npz").exists():
            with np.load(folder / "left.npz") as archive:
                memory = MemoryLeft(archive["bytes"], archive["written"])
        return Result(
            document["outcome"],
            document["message"],
            _FORM.decode(document["runs"], _Runs, "runs"),
            words,
            document["repeatable"],
            memory,
        )
