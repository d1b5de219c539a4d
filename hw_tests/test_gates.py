"""The netlist for ECP5 does what the Verilog does, cell by cell, host accesses included."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

import rtlgen
from rtlgen.manifest.file import read_manifest
from rtlgen.system.tools import run_tool
from sim.netlists import BLOCKS, cell_models, lockstep_bench, renamed, synthesise
from tests.simulators import needs_icarus

pytestmark = [pytest.mark.simulation, pytest.mark.synthesis, needs_icarus]

EXAMPLES = Path(__file__).parents[1] / "examples"

KERNELS = {
    # Two banks and a table of their elements' homes, a local scalar, products.
    "banks": """void banks(int c[2][3], int a[2][3]) {
      for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) { int t = 0;
        for (int k = 0; k < i; k++) { c[k][j] += a[i][j] * a[k][j]; t -= a[k][j]; }
        c[i][j] = a[i][i] + c[i][j] * t; } }""",
    # Bytes, half words and long words; a table, a lookup, a register and a returned value.
    "widths": """static const short t[8] = {3, -7, 12, 5, 0, 9, -1, 6};
      int widths(signed char a[40], unsigned short b[20], long long w[5], int k, int s[1]) {
        int sum = 0;
        for (int i = 0; i < 20; i++) { b[i] = a[2 * i] + t[a[i] & 7] * k; sum += b[i]; }
        for (int i = 0; i < 5; i++) w[i] = w[i] - ((long long)sum << 7) + s[0];
        s[0] = sum; return sum; }""",
}
PORTS_OF_EVERY_WIDTH = """
void ports(signed char a[4096], char b[2048], short c[1024], int d[512], long long e[64]) {
  for (int i = 0; i < 64; i++) {
    a[63 * i] = b[31 * i] + c[15 * i];
    d[7 * i] ^= a[63 * i];
    e[i] -= d[7 * i];
  }
}"""


def simulate(folder: Path, files: list[Path], top: str) -> str:
    """Return what Icarus prints for module `top` of `files`."""
    output = folder / f"{top}.vvp"
    log = folder / f"{top}.log"
    command = ["iverilog", "-g2012", "-s", top, "-o", str(output), *map(str, files)]
    run_tool(command, log=log, cwd=folder)
    run_tool(["vvp", "-n", str(output)], log=log, cwd=folder)
    return log.read_text(encoding="utf-8")


def gates_of(source: Path, name: str, folder: Path, **options: Any) -> list[Path]:
    """Return a netlist that the shipped test bench passes, with the models of its cells.

    The bench loads and reads all arrays, the result, cycles.
    """
    rtlgen.compile(source, **options).write(folder)
    netlist = synthesise(folder, name)
    gates = [netlist, *cell_models(netlist)]
    printed = simulate(folder, [*gates, folder / f"{name}_tb.v"], f"{name}_tb")
    assert f"PASS: {name}\n" in printed and "FAIL" not in printed
    return gates


def check(source: Path, name: str, folder: Path, host_cycles: int) -> list[Path]:
    """Compare a kernel with its netlist; return the netlist with the models of its cells."""
    gates = gates_of(source, name, folder)
    netlist, manifest = gates[0], read_manifest(folder)
    # Both side by side under random traffic of the host.
    bench = folder / "lockstep.v"
    bench.write_text(lockstep_bench(manifest, host_cycles))
    both = [folder / f"{name}.v", renamed(netlist, name), *gates[1:], bench]
    assert "PASS" in simulate(folder, both, "lockstep")
    return gates


SABOTAGE = (
    ("= left * right;", "= left * right + 1;"),
    ('== "CLK0" ? held :', '== "CLK0" ? product :'),
    ('REGMODE_B == "OUTREG" ? held_b :', 'REGMODE_B == "OUTREG" ? out_b :'),
)
"""A product that is off by one, and no register behind a product, or behind a word."""


@pytest.mark.long
@pytest.mark.parametrize("name", KERNELS)
def test_a_netlist_does_what_the_verilog_does(name: str, tmp_path: Path) -> None:
    source = tmp_path / f"{name}.c"
    source.write_text(KERNELS[name])
    gates = check(source, name, tmp_path, 300)
    text = gates[0].read_text()
    assert 'REG_OUTPUT_CLK("CLK0")' in text, "a product is registered in its block"
    if name == "widths":
        assert '"OUTREG"' in text, "and so is a word"
        # Sabotage: wrong blocks are noticed by the shipped test bench, which knows nothing of them.
        blocks, wrong = BLOCKS.read_text(), tmp_path / "wrong.v"
        for right, changed in SABOTAGE:
            assert right in blocks
            wrong.write_text(blocks.replace(right, changed))
            with pytest.raises(rtlgen.RtlgenError):
                simulate(tmp_path, [*gates[:2], wrong, tmp_path / f"{name}_tb.v"], f"{name}_tb")


@pytest.mark.long
@pytest.mark.parametrize("name", ["gemm", "mms_d", "aes", "symm", "accum_swg"])
def test_the_netlist_of_an_example_does_what_its_verilog_does(name: str, tmp_path: Path) -> None:
    check(EXAMPLES / name / f"{name}.c", name, tmp_path, 400)


@pytest.mark.long
@pytest.mark.parametrize("memory", ["onchip", "axi"])
def test_the_netlist_of_a_block_does_what_its_test_bench_asks(memory: str, tmp_path: Path) -> None:
    options: dict[str, Any] = {"top": "axi", "memory": memory, "define": {"N": 12}}
    netlist, *_ = gates_of(EXAMPLES / "gemm" / "gemm.c", "gemm", tmp_path, **options)
    assert "TRELLIS_DPR16X4" in netlist.read_text(), "counters and arguments are in a RAM"


@pytest.mark.long
def test_block_rams_of_every_width_are_read_and_written(tmp_path: Path) -> None:
    source = tmp_path / "ports.c"
    source.write_text(PORTS_OF_EVERY_WIDTH)
    netlist, *_ = check(source, "ports", tmp_path, 2000)
    widths = set(re.findall(r"\.DATA_WIDTH_[AB]\(32'd(\d+)\)", netlist.read_text()))
    assert {"9", "18", "36"} <= widths


def test_a_read_that_meets_a_write_of_its_word_shows_nothing(tmp_path: Path) -> None:
    """The model of the block RAM promises no more than the device does."""
    pins = [
        f".ADA{n}({'1' if n < 4 else 'a'}{f'[{n - 5}]' if n > 4 else ''})" for n in (0, 1, 2, 3)
    ]
    pins += [".ADA4(1'b0)", ".ADB4(1'b0)"]
    pins += [f".ADA{n}(wa[{n - 5}]), .ADB{n}(ra[{n - 5}])" for n in range(5, 14)]
    pins += [f".DIA{n}(data[{n}]), .DIB{n}(data[{n + 18}])" for n in range(18)]
    pins += [f".DOA{n}(out[{n}]), .DOB{n}(out[{n + 18}])" for n in range(18)]
    pins += [f".CS{port}{n}(1'b0)" for port in "AB" for n in range(3)]
    pins += [".CLKA(clk), .CLKB(clk), .CEA(1'b1), .CEB(1'b1), .WEA(1'b1), .WEB(1'b0)"]
    pins += [".RSTA(1'b0), .RSTB(1'b0), .OCEA(1'b0), .OCEB(1'b1)"]
    pins[:4] = [f".ADA{n}(1'b1), .ADB{n}(1'b0)" for n in range(4)]
    bench = tmp_path / "bench.v"
    bench.write_text(
        "module bench; reg clk = 0; reg [8:0] wa = 5, ra = 5; reg [35:0] data = 36'd77;"
        " wire [35:0] out;\n"
        f"DP16KD #(.DATA_WIDTH_A(36), .DATA_WIDTH_B(36)) ram ({', '.join(pins)});\n"
        'initial begin #1 clk = 1; #1 $display("met %d", out); clk = 0; wa = 6; data = 8;\n'
        '#1 clk = 1; #1 $display("after %0d", out); $finish; end endmodule\n'
    )
    printed = simulate(tmp_path, [bench, BLOCKS], "bench").lower().split()
    assert printed[printed.index("met") + 1] == "x"
    assert printed[printed.index("after") + 1] == "77"
