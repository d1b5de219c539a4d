"""The module for LiteX works in a SoC that is simulated, driven over its bus."""

from __future__ import annotations

import importlib.util
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import rtlgen
from rtlgen.manifest.contents import Manifest
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.sim.off_chip import image_of, words_of
from rtlgen.sim.verilator import find_verilator
from rtlgen.system.tools import run_tool
from rtlgen.verify.compare import checksum
from rtlgen.verify.inputs import from_words
from rtlgen.verify.values import to_words
from tests.simulators import needs_icarus

pytestmark = [
    pytest.mark.simulation,
    pytest.mark.skipif(importlib.util.find_spec("litex") is None, reason="LiteX is not installed"),
    needs_icarus,
]

ROOT = Path(__file__).resolve().parents[2]
SOC = Path(__file__).with_name("litex_soc.py")

MIX = """\
long long mix(const unsigned char x[6], long long y[6], short z[6], int k) {
  for (int i = 0; i < 6; i++) { y[i] = y[i] * k + x[i]; z[i] = z[i] + x[i]; }
  return y[5];
}
"""

# Accesses as `kind address data`: 0 reads, 1 writes, 2 reads until a bit of `data` is set.
BENCH = """\
`timescale 1ns/1ps
module bench;
    reg clk = 0, rst = 1, cyc = 0, we = 0;
    reg [29:0] adr = 0;
    reg [31:0] dat_w = 0;
    wire [31:0] dat_r;
    wire ack;
    integer script, answers, kind, found;
    reg [31:0] address, data;
    always #5 clk = ~clk;
    soc dut (
        .sys_clk(clk), .sys_rst(rst), .sim_trace(1'b0), .bus_adr(adr), .bus_dat_w(dat_w),
        .bus_dat_r(dat_r), .bus_sel(4'hf), .bus_cyc(cyc), .bus_stb(cyc), .bus_ack(ack),
        .bus_we(we));
    task access;
        begin
            adr = address >> 2; dat_w = data; we = kind == 1; cyc = 1;
            @(posedge clk);
            while (!ack) @(posedge clk);
            found = dat_r;
            @(negedge clk) cyc = 0;
        end
    endtask
    initial begin
        script = $fopen("script.txt", "r");
        answers = $fopen("answers.txt", "w");
        repeat (4) @(negedge clk);
        rst = 0;
        while ($fscanf(script, "%d %h %h", kind, address, data) == 3) begin
            @(negedge clk);
            access;
            while (kind == 2 && !(found & data)) begin @(negedge clk); access; end
            if (kind == 0) $fdisplay(answers, "%h", found);
        end
        $fclose(answers);
        $finish;
    end
    initial begin #2000000 $display("no end"); $fatal(1); end
endmodule
"""


@dataclass(frozen=True, slots=True)
class Soc:
    """A SoC in a folder, with the places of its CSRs and of what is on its bus."""

    folder: Path
    command: tuple[str, ...]
    csrs: Mapping[str, int]
    regions: Mapping[str, int]

    def do(self, accesses: Sequence[tuple[int, int, int]]) -> list[int]:
        """Make accesses over the bus, and return what was read."""
        lines = [f"{kind} {address:x} {data & 0xFFFFFFFF:x}\n" for kind, address, data in accesses]
        (self.folder / "script.txt").write_text("".join(lines))
        done = subprocess.run(
            self.command, cwd=self.folder, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == 0, done.stdout
        answers = (self.folder / "answers.txt").read_text().split()
        return [int(answer, 16) for answer in answers]


def soc_of(design: rtlgen.Design, folder: Path, simulator: Simulator = "icarus") -> Soc:
    """Return a SoC with the kernel of a design, ready to be simulated.

    LiteX describes logic by assignments that are not blocking. Where its converter from AXI is in
    the SoC, Icarus takes the glitches of these for changes, without end; Verilator does not.
    """
    design.write(folder, flows=["litex"])
    name = design.manifest.name
    shutil.copy(SOC, folder)
    environment = {n: value for n, value in os.environ.items() if n != "PYTHONPATH"}
    done = subprocess.run(
        [sys.executable, SOC.name, name],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-2000:]
    found = json.loads(done.stdout.splitlines()[-1])
    (folder / "bench.v").write_text(BENCH)
    files = ["bench.v", "soc.v", design.manifest.verilog.file]
    compile_it: list[str | Path] = ["iverilog", "-g2012", "-s", "bench", "-o", "soc.vvp"]
    command: tuple[str, ...] = ("vvp", "-n", "soc.vvp")
    if simulator == "verilator":
        options = ["--binary", "--timing", "-Wno-fatal", "--top-module", "bench"]
        compile_it, command = [find_verilator().command, *options], ("obj_dir/Vbench",)
    # The makefile of a Verilator that came as a package calls `python`.
    path = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    log = folder / "compile.log"
    run_tool([*compile_it, *files], log=log, cwd=folder, environment={"PATH": path})
    return Soc(folder, command, found["csrs"], found["regions"])


def words32(array: np.ndarray) -> list[int]:
    """Return an array as its bus shows it: each element in as many words as it needs."""
    if array.itemsize == 8:
        pairs: list[int] = array.view("<u4").ravel().tolist()
        return pairs
    single: list[int] = to_words(array).tolist()
    return single


def run_accesses(soc: Soc, scalars: Mapping[str, int], widths: Mapping[str, int]) -> list[Any]:
    """Return the accesses of a run: scalars, the most significant word first, start, wait."""
    found = []
    for name, value in scalars.items():
        words = -(-widths[name] // 32)
        for n in range(words):
            shifted = (value & ((1 << widths[name]) - 1)) >> 32 * (words - 1 - n)
            found.append((1, soc.csrs[f"scalar_{name}"] + 4 * n, shifted))
    pending = soc.csrs["ev_pending"]
    return [*found, (1, pending, 1), (1, soc.csrs["control"], 1), (2, pending, 1)]


@pytest.mark.sample("mix")
@pytest.mark.parametrize("kernel", ["gemm", "mix", "twins"])
def test_a_soc_runs_the_kernel(tmp_path: Path, kernel: str) -> None:
    if kernel == "gemm":
        design = rtlgen.compile(ROOT / "examples" / "gemm" / "gemm.c", define={"N": 4})
    else:
        twins = ["x", "z"] if kernel == "twins" else []
        design = rtlgen.compile(source=MIX, checksum=True, double_buffer=twins)
    manifest: Manifest = design.manifest
    soc = soc_of(design, tmp_path)
    widths = {scalar.name: scalar.width for scalar in manifest.scalars}
    for number, each in enumerate(design.data_sets().sets[:2]):
        accesses: list[tuple[int, int, int]] = []
        for array in manifest.host_arrays:
            base = soc.regions[f"{manifest.name}_{array.name}"]
            words = words32(np.asarray(each.inputs[array.name]))
            accesses += [(1, base + 4 * n, word) for n, word in enumerate(words)]
        scalars = {name: int(each.inputs[name]) for name in widths}
        accesses += run_accesses(soc, scalars, widths)
        if manifest.swap is not None:
            accesses.append((1, soc.csrs["control"], 2))
        reads = [soc.csrs["status"], soc.csrs["cycles"]]
        if manifest.returned is not None:
            reads += [soc.csrs["returned"] + 4 * n for n in range(manifest.returned.width // 32)]
        if manifest.checksum is not None:
            reads += [soc.csrs["checksum"], soc.csrs["checksum"] + 4]
        heads = len(reads)
        for array in manifest.host_arrays:
            base = soc.regions[f"{manifest.name}_{array.name}"]
            count = len(words32(np.asarray(each.inputs[array.name])))
            reads += [base + 4 * n for n in range(count)]
        answers = soc.do([*accesses, *((0, address, 0) for address in reads)])
        assert answers[:2] == [1, manifest.predicted_cycles], number
        if manifest.returned is not None:
            assert each.golden.returned is not None
            assert answers[2] << 32 | answers[3] == int(each.golden.returned) % 2**64
        if manifest.checksum is not None:
            arrays = [np.asarray(each.golden.arrays[name]) for name in manifest.checksum_arrays]
            assert answers[heads - 2] << 32 | answers[heads - 1] == checksum(arrays)
        expected = [
            word
            for array in manifest.host_arrays
            for word in words32(np.asarray(each.golden.arrays[array.name]))
        ]
        assert answers[heads:] == expected


@pytest.mark.sample("fixed")
@pytest.mark.parametrize(
    "memory", [pytest.param("fixed:3", id="fixed"), pytest.param("axi", id="axi")]
)
def test_a_soc_has_the_arrays_off_chip_in_its_ram(tmp_path: Path, memory: str) -> None:
    source = ROOT / "examples" / "transposed" / "transposed.c"
    design = rtlgen.compile(source, define={"N": 8}, memory=memory, tile=(4, 4), bus_bits=32)
    manifest: Manifest = design.manifest
    assert manifest.memory is not None
    soc = soc_of(design, tmp_path, "verilator" if memory == "axi" else "icarus")
    base = soc.regions["main_ram"] + 0x1000
    (each, *_) = design.data_sets().sets
    (array,) = manifest.data_arrays
    image = image_of(manifest, {array.name: to_words(np.asarray(each.inputs[array.name]))})
    words = image.view("<u4").tolist()
    accesses = [(1, base + 4 * n, word) for n, word in enumerate(words)]
    (place,) = manifest.memory.arrays
    if memory == "axi":
        # Of 64 bits, the most significant word comes first.
        csr = soc.csrs[f"base_{place.name}"]
        accesses += [(1, csr, 0), (1, csr + 4, base + place.base_bytes)]
    else:
        accesses.append((1, soc.csrs["memory_base"], base))
    accesses += run_accesses(soc, {}, {})
    reads = [(0, base + 4 * n, 0) for n in range(len(words))]
    if memory == "axi":
        reads.append((0, soc.csrs["error"], 0))
    answers = soc.do([*accesses, *reads])
    left = np.array(answers[: len(words)], "<u4").view(np.uint8)
    np.testing.assert_array_equal(
        from_words(words_of(left, place), array), each.golden.arrays[array.name]
    )
    assert answers[len(words) :] == ([0] if memory == "axi" else [])


@pytest.mark.long
@pytest.mark.parametrize(
    "options",
    [
        pytest.param({}, id="on chip"),
        pytest.param({"memory": "axi", "bus_bits": 32}, id="axi"),
    ],
)
def test_a_soc_drives_a_block_by_its_registers(tmp_path: Path, options: dict[str, Any]) -> None:
    source = ROOT / "examples" / "gemm" / "gemm.c"
    design = rtlgen.compile(source, define={"N": 4}, top="axi", **options)
    manifest: Manifest = design.manifest
    assert manifest.registers is not None
    soc = soc_of(design, tmp_path, "verilator")
    registers, at = manifest.registers, soc.regions[manifest.name]
    windows = {window.array: window.offset for window in registers.windows}

    def register(name: str) -> int:
        return at + registers.register(name).offset

    (each, *_) = design.data_sets().sets
    places = dict(windows)
    accesses: list[tuple[int, int, int]] = []
    for n, array in enumerate(manifest.data_arrays):
        base = at + windows[array.name] if array.name in windows else 0
        if not base:
            base = soc.regions["main_ram"] + 0x1000 * (3 - n)
            accesses += [(1, register(f"BASE_{array.name}"), base)]
            accesses += [(1, register(f"BASE_{array.name}_HIGH"), 0)]
        places[array.name] = base
        words = words32(np.asarray(each.inputs[array.name]))
        accesses += [(1, base + 4 * k, word) for k, word in enumerate(words)]
    for scalar in manifest.scalars:
        accesses.append((1, register(f"SCALAR_{scalar.name}"), int(each.inputs[scalar.name])))
    accesses += [(1, register("CTRL"), 1), (2, register("CTRL"), 2)]
    reads = [register("SIGNATURE"), register("ERROR"), register("CYCLES")]
    reads += [places["C"] + 4 * k for k in range(16)]
    signature, error, cycles, *left = soc.do([*accesses, *((0, place, 0) for place in reads)])
    assert (signature, error) == (registers.signature_value, 0)
    # The memory of a SoC answers when it likes.
    assert cycles == manifest.predicted_cycles or options
    assert left == words32(np.asarray(each.golden.arrays["C"]))
