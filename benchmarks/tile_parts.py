"""What the parts around a tile kernel take on ECP5, and how fast the whole circuit is.

The example of PLUTO's paper, 1024 x 1024 bytes in tiles of 8 x 8, its memory off chip with words of
64 bits. Parts are synthesised alone; the whole circuit is placed and routed as well, and so is that
with tiles in strips, as they are planned for little RAM.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

from amaranth.lib import wiring

from benchmarks.record import DEVICE, EXAMPLES, markdown_table, write_results
from rtlgen.design import Design
from rtlgen.design import compile as compile_program
from rtlgen.flow.synth import SynthesisReport, synthesise
from rtlgen.hw.fixed_port import FixedPort
from rtlgen.hw.memory import LoadUser, StoreUser
from rtlgen.hw.mover import Mover
from rtlgen.hw.offers import ALONE
from rtlgen.hw.storage import build_storage
from rtlgen.hw.tile_sequencer import TileSequencer
from rtlgen.ir.plan import KernelPlan, Workers
from rtlgen.output.verilog import component_verilog

TARGET_MHZ = 115.0

STRIPS_KIB = 4


def main() -> int:
    """Measure, store the results, and return 1 when the circuit is too slow."""
    design, strips = _design(tile=(8, 8)), _design(max_bram_kib=STRIPS_KIB)
    rows = []
    with tempfile.TemporaryDirectory(prefix="rtlgen-") as name:
        folder = Path(name)
        for part, component in _parts(design.plan):
            rows.append((part, _synthesised(folder, part, component)))
        whole = _placed(folder / "whole", design)
        in_strips = _placed(folder / "strips", strips)
    rows.append(("the whole circuit", whole))
    rows.append((f"the whole circuit in strips, {STRIPS_KIB} KiB", in_strips))
    table = markdown_table(
        ("part", "LUT", "FF", "block RAM", "MHz"),
        [
            (part, r.lut, r.ff, r.block_ram, None if r.fmax_mhz is None else round(r.fmax_mhz))
            for part, r in rows
        ],
    )
    cycles = f"{design.manifest.predicted_cycles:,} cycles"
    cycles_in_strips = f"in strips {strips.manifest.predicted_cycles:,}"
    text = f"{cycles}, {cycles_in_strips}; {DEVICE}.\n\n{table}"
    write_results("tile_parts", {"parts": {part: asdict(r) for part, r in rows}}, text)
    print(text)
    clocks = [each.fmax_mhz for each in (whole, in_strips)]
    return 0 if all(mhz is not None and mhz >= TARGET_MHZ for mhz in clocks) else 1


def _design(tile: tuple[int, ...] = (), max_bram_kib: int | None = None) -> Design:
    return compile_program(
        EXAMPLES / "transposed" / "transposed.c",
        define={"N": 1024, "ELEMENT": "uint8_t"},
        memory="fixed:8",
        tile=tile,
        max_bram_kib=max_bram_kib,
    )


def _placed(folder: Path, design: Design) -> SynthesisReport:
    design.write(folder)
    return synthesise(folder / design.manifest.verilog.file, design.manifest.top)


def _parts(plan: KernelPlan) -> Iterator[tuple[str, wiring.Component]]:
    """Yield each part around the kernel, with its name."""
    (tiled,) = plan.tiled_regions
    side = plan.memory_side
    assert side is not None
    yield "tile sequencer", TileSequencer(Workers((tiled,)), 0, [0])
    yield "memory port", FixedPort(side, tiled.transfers, [ALONE] * len(tiled.transfers))
    for transfer in tiled.transfers:
        mover = Mover(transfer, len(tiled.levels), side)
        yield f"mover of {transfer.window}, {transfer.direction}", mover
    for memory in plan.memories:
        if memory.kind == "filled":
            loads = tuple(LoadUser(port) for port in range(memory.read_ports))
            yield f"window {memory.name}, filled", build_storage(memory, loads, ())
        elif memory.kind == "drained":
            yield f"window {memory.name}, drained", build_storage(memory, (), (StoreUser(0),))


def _synthesised(folder: Path, part: str, component: wiring.Component) -> SynthesisReport:
    path = folder / f"{part.split(',')[0].replace(' ', '_')}.v"
    path.write_text(component_verilog(component, "part", ""), encoding="utf-8")
    return synthesise(path, "part", seeds=())
