"""The circuits of IEEE 754 operations, each alone between registers: cycles, area and clock."""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from amaranth.back import rtlil
from amaranth.hdl import Module, Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from benchmarks.record import (
    DEVICE,
    EXAMPLES,
    circumstances,
    markdown_table,
    tools_text,
    write_results,
)
from rtlgen.bench.measure import synthesise_design
from rtlgen.datapath.build import float_latency_cycles
from rtlgen.design import compile_design
from rtlgen.flow.synth import DEFAULT_SEEDS, SynthesisReport, SynthesisTarget, synthesise
from rtlgen.flow.yosys import run_script
from rtlgen.hw.float.build import FloatUnit
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.plan import FloatingOp
from rtlgen.ir.types import FLOAT16, FLOAT32, FLOAT64, INT32, FloatType, NumberType
from rtlgen.options import CompileOptions
from rtlgen.target import get_target

TARGET = get_target("ecp5")

OPERATIONS: tuple[tuple[FloatOp, int], ...] = (
    ("add", 2),
    ("mul", 2),
    ("fma", 3),
    ("div", 2),
    ("sqrt", 1),
    ("lt", 2),
    ("min", 2),
    ("rint", 1),
    ("from_int", 1),
    ("to_int", 1),
)
"""Each with the number of its operands."""

TYPES = (FLOAT32, FLOAT64, FLOAT16)

WITHOUT_SUBNORMALS: tuple[FloatOp, ...] = ("add", "mul", "fma", "div", "sqrt")
"""Which are measured of `float` as `--float ftz` has them, too."""

IN_TURN: tuple[FloatOp, ...] = ("div", "sqrt")
"""Which are measured, too, where they begin as seldom as that makes them smaller."""

LANE = EXAMPLES / "float" / "fgemm" / "fgemm.c"
"""A kernel that is little else than a lane: a product, a product and a sum."""

AIMS = {
    "add": (750, 130.0),
    "mul": (500, TARGET.clock_mhz),
    LANE.stem: (2_500, TARGET.clock_mhz),
}
"""LUT and clock of `float` operations that are in every kernel, and of such a kernel.

300 LUT were wished for a product: without its shifter and what counts zeros it has 208, and 27 bits
that may come from any of 32 places take 5 LUT each.
"""


class BetweenRegisters(wiring.Component):  # type: ignore[misc]
    """An operation with registers in front of it; behind it are its own.

    Members
    -------
    operandN: In. result: Out, one cycle later than that of the operation.
    """

    def __init__(self, unit: FloatUnit) -> None:
        self._unit = unit
        ports = unit.signature.members
        super().__init__(
            {name: In(m.shape) if m.flow is In else Out(m.shape) for name, m in ports.items()}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.unit = self._unit
        for name, member in self._unit.signature.members.items():
            inner, outer = getattr(self._unit, name), getattr(self, name)
            if member.flow is In:
                m.d.sync += inner.eq(outer)
            else:
                m.d.comb += outer.eq(inner)
        return m


def operation(
    op: FloatOp, of: NumberType, to: NumberType, *, begins_seldom: bool = False
) -> FloatingOp:
    """Return an operation of the target's latency."""
    cycles = float_latency_cycles(op, of, to, TARGET)
    return FloatingOp(
        width_bits=to.width_bits,
        signed=to.signed,
        stage=0,
        latency_cycles=cycles,
        op=op,
        of=of,
        to=to,
        interval_cycles=cycles if begins_seldom else 1,
    )


def synthesise_operation(
    op: FloatingOp,
    operands: int,
    seeds: Sequence[int] = DEFAULT_SEEDS,
    target: SynthesisTarget = "ecp5",
) -> SynthesisReport:
    """Return area and clock of an operation between registers; without seeds, the area."""
    unit = BetweenRegisters(FloatUnit(op, [Shape(op.of.width_bits, op.of.signed)] * operands))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "unit.il").write_text(rtlil.convert(unit, name="unit"), encoding="utf-8")
        run_script(["read_rtlil unit.il", "proc -noopt", "write_verilog unit.v"], folder)
        return synthesise(folder / "unit.v", "unit", target, seeds=seeds)


def types_of(op: FloatOp, type_: FloatType) -> tuple[NumberType, NumberType]:
    """Return the types of operands and result; integers have 32 bits."""
    if op == "from_int":
        return INT32, type_
    return type_, INT32 if op in ("lt", "to_int") else type_


def measure(
    op: FloatOp,
    operands: int,
    type_: FloatType,
    seeds: Sequence[int] = DEFAULT_SEEDS,
    *,
    begins_seldom: bool = False,
) -> dict[str, Any]:
    """Return one row: an operation of a format."""
    planned = operation(op, *types_of(op, type_), begins_seldom=begins_seldom)
    report = synthesise_operation(planned, operands, seeds)
    assert report.fmax_mhz is not None
    xilinx = xilinx_area(planned, operands)
    return {
        "operation": op,
        "format": str(type_),
        "cycles": planned.latency_cycles,
        "interval_cycles": planned.interval_cycles,
        "lut": report.lut,
        "ff": report.ff,
        "dsp": report.dsp,
        "fmax_mhz": round(report.fmax_mhz, 1),
        "seeds": len(seeds),
        "critical_path": report.critical_path,
    } | xilinx


def measure_lane(seeds: Sequence[int] = DEFAULT_SEEDS) -> dict[str, Any]:
    """Return the row of a whole kernel of one lane, with its loops and memories."""
    design = compile_design(LANE, CompileOptions())
    report = synthesise_design(design, seeds)
    assert report.fmax_mhz is not None
    xilinx = synthesise_design(design, (), "xilinx")
    stream = max(design.plan.streams, key=lambda stream: stream.depth_cycles)
    return {
        "operation": LANE.stem,
        "format": str(FLOAT32),
        "cycles": stream.depth_cycles,
        "interval_cycles": stream.ii,
        "lut": report.lut,
        "ff": report.ff,
        "dsp": report.dsp,
        "fmax_mhz": round(report.fmax_mhz, 1),
        "seeds": len(seeds),
        "critical_path": report.critical_path,
        "xilinx_lut": xilinx.lut,
        "xilinx_ff": xilinx.ff,
        "xilinx_dsp": xilinx.dsp,
    }


def xilinx_area(op: FloatingOp, operands: int) -> dict[str, Any]:
    """Return the area of an operation on Xilinx's series 7."""
    report = synthesise_operation(op, operands, (), "xilinx")
    return {"xilinx_lut": report.lut, "xilinx_ff": report.ff, "xilinx_dsp": report.dsp}


def store(rows: Sequence[Mapping[str, Any]]) -> None:
    """Write the results, and print them."""
    made_by = circumstances()
    table = markdown_table(
        ["operation", "format", "cycles", "every", "LUT", "FF", "DSP", "MHz", "seeds",
         "Xilinx LUT", "FF", "DSP"],
        [
            [r["operation"], r["format"], r["cycles"], r["interval_cycles"], r["lut"], r["ff"],
             r["dsp"], r["fmax_mhz"], r["seeds"], r["xilinx_lut"], r["xilinx_ff"], r["xilinx_dsp"]]
            for r in rows
        ],
    )  # fmt: skip
    footer = f"{made_by['date']}, {DEVICE}, median of the seeds; {tools_text(made_by)}."
    write_results("floats", {"device": DEVICE, "rows": list(rows)}, f"{table}\n\n{footer}")
    print(table)


def main() -> int:
    """Measure, store, and say whether the operations of every kernel are as small and fast."""
    rows = [
        measure(op, operands, type_, begins_seldom=begins_seldom)
        for type_ in (*TYPES, FLOAT32.without_subnormals)
        for op, operands in OPERATIONS
        if type_.subnormals or op in WITHOUT_SUBNORMALS
        for begins_seldom in ((False, True) if op in IN_TURN else (False,))
    ]
    rows.append(measure_lane())
    store(rows)
    missed = [
        row
        for row in rows
        if row["fmax_mhz"] < TARGET.clock_mhz
        or (
            row["format"] == "float32"
            and row["operation"] in AIMS
            and (
                row["lut"] > AIMS[row["operation"]][0]
                or row["fmax_mhz"] < AIMS[row["operation"]][1]
            )
        )
    ]
    for row in missed:
        print(f"missed: {row}")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
