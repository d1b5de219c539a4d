"""A circuit with two arrays in a memory off chip, for any word, element and shape."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from math import prod
from pathlib import Path

import numpy as np

from rtlgen.hw.names import AXI_PORTS
from rtlgen.manifest.contents import ArrayEntry, ArrayRole, FileEntry, Manifest, Port
from rtlgen.manifest.file import sha256_of, write_manifest
from rtlgen.manifest.memory_map import (
    AXI_BASE_BYTES,
    AxiPorts,
    MappedArray,
    MemoryKind,
    MemoryMap,
    MemoryPorts,
)

_FILES: dict[MemoryKind, str] = {
    "fixed": "increment.v",
    "axi": "increment_axi.v",
    "dram": "increment_axi.v",
}
_PORTS: dict[MemoryKind, MemoryPorts | AxiPorts] = {
    "fixed": MemoryPorts("mem_en", "mem_we", "mem_addr", "mem_wdata", "mem_rdata", "mem_ack"),
    "axi": AXI_PORTS,
    "dram": AXI_PORTS,
}
_MOST_BEATS = 16


@dataclass(frozen=True, slots=True)
class Increment:
    """B = A + 1, an element a lane: word by word, or burst by burst on AXI4."""

    word_bits: int
    element_bits: int
    shape: tuple[int, ...]
    latency_cycles: int
    kind: MemoryKind = "fixed"

    @property
    def _used_bytes(self) -> int:
        return self.shape[-1] * self.element_bits // 8

    @property
    def _row_words(self) -> int:
        return -(-self._used_bytes * 8 // self.word_bits)

    @property
    def words(self) -> int:
        """Words of an array."""
        return prod(self.shape[:-1]) * self._row_words

    @property
    def cycles(self) -> int:
        """Cycles from start to done: a read and a write for every word, or for every burst.

        Behind a DRAM nobody asks.
        """
        if self.kind == "fixed":
            return 2 * self.words * self.latency_cycles + 1
        return 2 * (len(self._bursts) * self.latency_cycles + self.words) + 1

    @property
    def _bursts(self) -> list[int]:
        """Words of each burst: none crosses a page, since both arrays begin with one."""
        full, rest = divmod(self.words, _MOST_BEATS)
        return [_MOST_BEATS] * full + [rest] * (rest > 0)

    @property
    def depth_words(self) -> int:
        """Words of the memory: behind an AXI4 port, each array begins with a page."""
        if self.kind == "fixed":
            return 2 * self.words
        page = AXI_BASE_BYTES * 8 // self.word_bits
        return -(-self.words // page) * page + self.words

    def verilog(self) -> str:
        """Return the circuit."""
        values = {
            "WORD": self.word_bits,
            "ELEMENT": self.element_bits,
            "ADDRESS": self._address_bits,
            "WORDS": self.words,
            "ROW": self._row_words,
            "USED": self._used_bytes,
            "SIZE": (self.word_bits // 8).bit_length() - 1,
        }
        text = Path(__file__).with_name(_FILES[self.kind]).read_text(encoding="utf-8")
        return re.sub("@([A-Z]+)@", lambda match: str(values[match[1]]), text)

    @property
    def _address_bits(self) -> int:
        return (self.depth_words - 1).bit_length()

    def manifest(
        self, verilog: str = "", *, roles: tuple[ArrayRole, ArrayRole] = ("in", "out")
    ) -> Manifest:
        """Return the manifest of the circuit, or of a changed copy of it."""
        word_bytes = self.word_bits // 8
        row_bytes = self._row_words * word_bytes
        places = {"A": 0, "B": (self.depth_words - self.words) * word_bytes}
        is_axi = self.kind != "fixed"
        memory = MemoryMap(
            kind=self.kind,
            ports=_PORTS[self.kind],
            word_bits=self.word_bits,
            depth_words=self.depth_words,
            latency_cycles=self.latency_cycles,
            byte_order="little",
            arrays=tuple(
                MappedArray(
                    name,
                    self.element_bits,
                    self.shape,
                    base,
                    self.shape[-1],
                    row_bytes,
                    f"{name}_base" if is_axi else None,
                )
                for name, base in places.items()
            ),
        )
        ports = [Port(name, "in", 1) for name in ("clk", "rst", "start")]
        ports += [Port("done", "out", 1), Port("idle", "out", 1)]
        ports += [Port(name, *use) for name, use in memory.port_uses()]
        return Manifest(
            name="increment",
            top="increment",
            clock="clk",
            reset="rst",
            start="start",
            done="done",
            idle="idle",
            ports=tuple(ports),
            arrays=tuple(
                ArrayEntry(name, self.element_bits, False, self.shape, role, None)
                for name, role in zip(places, roles, strict=True)
            ),
            scalars=(),
            returned=None,
            checksum=None,
            checksum_arrays=(),
            predicted_cycles=self.cycles,
            verilog=FileEntry("increment.v", sha256_of(verilog)),
            source=FileEntry("increment.c", sha256_of("")),
            version="0",
            memory=memory,
        )

    def build(
        self,
        directory: Path,
        *changes: tuple[str, str],
        roles: tuple[ArrayRole, ArrayRole] = ("in", "out"),
    ) -> Manifest:
        """Write a build directory, with some texts of the Verilog replaced by others."""
        verilog = self.verilog()
        for old, new in changes:
            assert verilog.count(old) == 1, f"{old!r} is not there exactly once"
            verilog = verilog.replace(old, new)
        directory.mkdir(parents=True, exist_ok=True)
        (directory / "increment.v").write_text(verilog, encoding="utf-8")
        manifest = self.manifest(verilog, roles=roles)
        write_manifest(directory, manifest)
        return manifest

    def inputs(self, seed: int) -> dict[str, np.ndarray]:
        """Return random A and B."""
        rng = np.random.default_rng(seed)
        most, dtype = 1 << self.element_bits, np.dtype(f"u{self.element_bits // 8}")
        return {name: rng.integers(0, most, self.shape, dtype) for name in "AB"}

    def expected(self, inputs: Mapping[str, np.ndarray]) -> dict[str, np.ndarray]:
        """Return the arrays after a run."""
        one = inputs["A"].dtype.type(1)
        return {"A": inputs["A"], "B": inputs["A"] + one}
