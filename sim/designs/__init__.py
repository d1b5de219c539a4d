"""Hand-written circuits that keep the manifest's convention, and build directories of them."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from rtlgen.manifest.contents import (
    ArrayEntry,
    ArrayRole,
    FileEntry,
    HostPort,
    Manifest,
    Port,
    ReturnEntry,
    ScalarEntry,
)
from rtlgen.manifest.file import sha256_of, write_manifest

SCALE_ADD = Path(__file__).with_name("scale_add.v").read_text(encoding="utf-8")
SCALE_ADD_CYCLES = 18


def _array(name: str, bits: int, shape: tuple[int, ...], role: ArrayRole) -> ArrayEntry:
    ports = HostPort(*(f"{name}_{kind}" for kind in ("addr", "en", "we", "wdata", "rdata")))
    return ArrayEntry(name, bits, True, shape, role, ports)


def _host_port(array: ArrayEntry) -> list[Port]:
    assert array.ports is not None
    return [
        Port(array.ports.addr, "in", array.address_bits),
        Port(array.ports.en, "in", 1),
        Port(array.ports.we, "in", array.element_bytes),
        Port(array.ports.wdata, "in", array.element_bits),
        Port(array.ports.rdata, "out", array.element_bits),
    ]


def scale_add_manifest(verilog: str = SCALE_ADD, cycles: int = SCALE_ADD_CYCLES) -> Manifest:
    """Return the manifest of `scale_add`, or of a changed copy of it."""
    arrays = (
        _array("A", 32, (4, 4), "in"),
        _array("B", 8, (16,), "in"),
        _array("C", 32, (4, 4), "out"),
    )
    control = [Port(n, "in", 1) for n in ("clk", "rst", "start")]
    control += [Port("done", "out", 1), Port("idle", "out", 1)]
    rest = [Port("k", "in", 16), Port("return_value", "out", 32), Port("checksum", "out", 64)]
    return Manifest(
        name="scale_add",
        top="scale_add",
        clock="clk",
        reset="rst",
        start="start",
        done="done",
        idle="idle",
        ports=tuple(control + [p for array in arrays for p in _host_port(array)] + rest),
        arrays=arrays,
        scalars=(ScalarEntry("k", "k", 16, True),),
        returned=ReturnEntry("return_value", 32, True),
        checksum="checksum",
        checksum_arrays=("C",),
        predicted_cycles=cycles,
        verilog=FileEntry("scale_add.v", sha256_of(verilog)),
        source=FileEntry("scale_add.c", sha256_of("")),
        version="0",
    )


def build_scale_add(
    directory: Path, verilog: str = SCALE_ADD, cycles: int = SCALE_ADD_CYCLES
) -> Manifest:
    """Write a build directory of `scale_add` and return its manifest."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "scale_add.v").write_text(verilog, encoding="utf-8")
    manifest = scale_add_manifest(verilog, cycles)
    write_manifest(directory, manifest)
    return manifest


def sabotaged(old: str, new: str) -> str:
    """Return the Verilog of `scale_add` with one thing wrong."""
    assert SCALE_ADD.count(old) == 1, f"{old!r} is not there exactly once"
    return SCALE_ADD.replace(old, new)


def random_inputs(seed: int) -> dict[str, np.ndarray | int]:
    """Return data over the full range of each type."""
    rng = np.random.default_rng(seed)
    return {
        "A": rng.integers(-(2**31), 2**31, (4, 4), dtype=np.int32),
        "B": rng.integers(-128, 128, 16, dtype=np.int8),
        "C": rng.integers(-(2**31), 2**31, (4, 4), dtype=np.int32),
        "k": int(rng.integers(-(2**15), 2**15)),
    }


def expected_c(inputs: Mapping[str, np.ndarray | int]) -> np.ndarray:
    """Return C after a run, with the wrap-around of a 32-bit int."""
    a, b = np.asarray(inputs["A"]), np.asarray(inputs["B"])
    exact: np.ndarray = a.astype(np.int64) * int(inputs["k"]) + b.reshape(4, 4)
    wrapped: np.ndarray = exact.astype(np.int32)
    return wrapped


def expected_checksum(c: np.ndarray) -> int:
    """Return what the circuit's (not rtlgen's) checksum of C must be."""
    value = 0
    for element in c.astype(np.int64).ravel():
        rotated = (value << 1 | value >> 63) & (2**64 - 1)
        value = rotated ^ (int(element) & 0xFFFFFFFF)
    return value
