"""The netlist that yosys makes of a circuit for ECP5, as Verilog that Icarus simulates."""

from __future__ import annotations

import re
from pathlib import Path

import pyosys

from rtlgen.flow.synth import write_netlist
from rtlgen.flow.yosys import run_script
from rtlgen.manifest.contents import ArrayEntry, Manifest

SHARED = Path(pyosys.__file__).parent / "share" / "ecp5"
BLOCKS = Path(__file__).parent / "gates" / "ecp5_blocks.v"
MODULE = re.compile(r"^module (\w+)\b.*?^endmodule$", re.MULTILINE | re.DOTALL)


def synthesise(folder: Path, name: str) -> Path:
    """Synthesise `NAME.v` in `folder` and return the netlist."""
    placed = folder / f"{name}_gates.json"
    write_netlist(folder / f"{name}.v", name, "ecp5", placed)
    netlist = placed.with_suffix(".v")
    run_script([f"read_json {placed.name}", f"write_verilog -noattr {netlist.name}"], folder)
    return netlist


def cell_models(netlist: Path) -> list[Path]:
    """Return the models of the cells that a netlist uses: those of yosys, and this project's."""
    text = netlist.read_text(encoding="utf-8")
    found: dict[str, str] = {}
    # One by one: the files that hold them have others that Icarus does not read.
    for file in ("common_sim.vh", "ccu2c_sim.vh"):
        models = (SHARED / file).read_text(encoding="utf-8")
        found |= {match[1]: match[0] for match in MODULE.finditer(models)}
    used = {name for name in found if re.search(rf"^  {name} ", text, re.MULTILINE)}
    cells = netlist.with_name("cells.v")
    # A carry cell holds two look-up tables of its own.
    cells.write_text("\n".join(found[name] for name in sorted(used | {"LUT2", "LUT4"})))
    return [cells, BLOCKS]


def renamed(netlist: Path, name: str) -> Path:
    """Return a copy of a netlist whose module NAME is called NAME_gates."""
    text = netlist.read_text(encoding="utf-8")
    other = netlist.with_name(f"{name}_renamed.v")
    other.write_text(re.sub(rf"^module {name}\b", f"module {name}_gates", text, flags=re.MULTILINE))
    return other


def lockstep_bench(manifest: Manifest, cycles: int) -> str:
    """Return a bench that drives a circuit and its netlist alike and compares what they show.

    First every element is written: a RAM begins with anything. Then random traffic on all host
    ports while idle: reads and writes of a few elements, of single bytes too, so that each is often
    read in the cycle after its write; then a run; twice over. Read data is compared from the first
    read after a run on.
    """
    inputs = [port for port in manifest.ports if port.direction == "in"]
    outputs = [port for port in manifest.ports if port.direction == "out"]
    lines = ["module lockstep;"]
    lines += [f"  reg [{port.width - 1}:0] {port.name} = 0;" for port in inputs]
    lines += [f"  wire [{p.width - 1}:0] {p.name}, {p.name}_g;" for p in outputs]
    for module, suffix in ((manifest.top, ""), (f"{manifest.top}_gates", "_g")):
        pins = [f".{p.name}({p.name})" for p in inputs]
        pins += [f".{p.name}({p.name}{suffix})" for p in outputs]
        lines.append(f"  {module} dut{suffix} ({', '.join(pins)});")
    hosts = [array.ports for array in manifest.host_arrays if array.ports is not None]
    shown = {ports.rdata for ports in hosts}
    lines += [f"  reg {name}_known = 0;" for name in sorted(shown)]
    compared = [
        f"({p.name} !== {p.name}_g{f' && {p.name}_known' if p.name in shown else ''})"
        for p in outputs
        if manifest.returned is None or p.name != manifest.returned.port
    ]
    deepest = max((array.depth for array in manifest.host_arrays), default=0)
    lines += [
        "  integer address, cycle, turn, wrong = 0;",
        f"  always #5 {manifest.clock} = ~{manifest.clock};",
        f"  always @(negedge {manifest.clock}) if (!{manifest.reset} && cycle > 0 &&"
        f" ({' || '.join(compared)})) wrong = wrong + 1;",
        "  initial begin",
        f"    cycle = 0; {manifest.reset} = 1;",
        f"    repeat (2) @(negedge {manifest.clock}); {manifest.reset} = 0;",
        f"    for (address = 0; address < {deepest}; address = address + 1) begin",
        f"      @(negedge {manifest.clock}); #1;",
        *[f"      {line}" for array in manifest.host_arrays for line in _loading(array)],
        "    end",
        "    for (turn = 0; turn < 2; turn = turn + 1) begin",
        f"      for (cycle = 1; cycle < {cycles}; cycle = cycle + 1) begin",
        f"        @(negedge {manifest.clock}); #1;",
        *[f"        {line}" for array in manifest.host_arrays for line in _traffic(array)],
        "      end",
        *[f"      {ports.en} = 0;" for ports in hosts],
        *[f"      {name}_known = 0;" for name in sorted(shown)],
        *[f"      {scalar.port} = $urandom;" for scalar in manifest.scalars],
        f"      {manifest.start} = 1; @(negedge {manifest.clock}); #1; {manifest.start} = 0;",
        f"      while (!{manifest.idle}) @(negedge {manifest.clock});",
        "    end",
        '    if (wrong == 0) $display("PASS"); else $display("FAIL: %0d cycles differ", wrong);',
        "    $finish;",
        "  end",
        "endmodule",
    ]
    return "\n".join(lines) + "\n"


def _loading(array: ArrayEntry) -> list[str]:
    ports = array.ports
    assert ports is not None
    return [
        f"{ports.addr} = address;",
        f"{ports.en} = address < {array.depth};",
        f"{ports.we} = ~0;",
        f"{ports.wdata} = {{$urandom, $urandom}};",
    ]


def _traffic(array: ArrayEntry) -> list[str]:
    ports = array.ports
    assert ports is not None
    few = min(array.depth, 3)
    return [
        # What a read has returned holds from the edge that saw it on.
        f"if ({ports.en} && {ports.we} == 0) {ports.rdata}_known = 1;",
        f"{ports.addr} = $urandom % 4 == 0 ? $urandom % {array.depth} : $urandom % {few};",
        f"{ports.en} = $urandom % 4 != 0;",
        f"{ports.we} = $urandom % 2 == 0 ? 0 : $urandom;",
        f"{ports.wdata} = {{$urandom, $urandom}};",
    ]
