"""Operations on floats as Verilog, on both simulators, through cocotb."""

from __future__ import annotations

from pathlib import Path

import pytest
from amaranth.hdl import unsigned

from hw_tests.test_components import run_bench
from rtlgen.datapath.build import float_latency_cycles
from rtlgen.hw.float.build import FloatUnit
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.plan import FloatingOp
from rtlgen.ir.types import FLOAT16, FLOAT32, FloatType
from rtlgen.sim.cocotb_runner import CocotbTestFailedError
from rtlgen.target import get_target
from tests.simulators import SIMULATORS

pytestmark = pytest.mark.simulation


def stream_operands(
    op: FloatOp, operands: int, type_: FloatType, simulator: str, folder: Path, late: int = 0
) -> None:
    """Run the bench on a circuit that is so many cycles later than the bench expects."""
    cycles = float_latency_cycles(op, type_, type_, get_target())
    planned = FloatingOp(
        width_bits=type_.width_bits,
        signed=False,
        stage=0,
        latency_cycles=cycles + late,
        op=op,
        of=type_,
        to=type_,
    )
    unit = FloatUnit(planned, [unsigned(type_.width_bits)] * operands)
    settings: dict[str, int | str] = {
        "OP": op,
        "EXPONENT_BITS": type_.exponent_bits,
        "FRACTION_BITS": type_.fraction_bits,
        "OPERANDS": operands,
        "LATENCY": cycles,
        "SEED": 3,
    }
    run_bench(unit, "bench_float_unit", settings, simulator, folder)


@pytest.mark.sample("add-icarus", "mul-verilator")
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize(
    ("op", "operands", "type_"),
    [("add", 2, FLOAT16), ("mul", 2, FLOAT32), ("div", 2, FLOAT16), ("fma", 3, FLOAT16)],
    ids=["add", "mul", "div", "fma"],
)
def test_an_operation_begins_in_every_cycle(
    op: FloatOp, operands: int, type_: FloatType, simulator: str, tmp_path: Path
) -> None:
    stream_operands(op, operands, type_, simulator, tmp_path)


def test_the_bench_fails_a_circuit_that_is_late(tmp_path: Path) -> None:
    with pytest.raises(CocotbTestFailedError):
        stream_operands("add", 2, FLOAT16, "verilator", tmp_path, late=1)
