"""Many operands through many circuits at once, on Verilator with a C++ main program."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from amaranth.back import rtlil
from amaranth.hdl import Module, Shape
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtlgen.datapath.build import float_latency_cycles
from rtlgen.flow.yosys import run_script
from rtlgen.hw.float.build import FloatUnit
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.plan import FloatingOp
from rtlgen.ir.types import NumberType
from rtlgen.sim.models import Harness, compile_verilated
from rtlgen.sim.verilator import UNOPTIMISED, find_verilator
from rtlgen.system.tools import run_tool
from rtlgen.target import get_target


@dataclass(frozen=True, slots=True)
class Case:
    """An operation with the latency that the target gives it."""

    op: FloatOp
    of: NumberType
    to: NumberType

    @property
    def operands(self) -> int:
        if self.op == "fma":
            return 3
        one = "sqrt", "floor", "ceil", "trunc", "round", "rint", "from_int", "to_int", "convert"
        return 1 if self.op in one else 2

    @property
    def planned(self) -> FloatingOp:
        return FloatingOp(
            width_bits=self.to.width_bits,
            signed=self.to.signed,
            stage=0,
            latency_cycles=float_latency_cycles(self.op, self.of, self.to, get_target()),
            op=self.op,
            of=self.of,
            to=self.to,
        )

    def __str__(self) -> str:
        return f"{self.op} {self.of} -> {self.to}"


class _Bank(wiring.Component):
    """All the circuits behind one set of operands."""

    def __init__(self, cases: Sequence[Case]) -> None:
        self._cases = cases
        width = 64 * max(2, len(cases))
        super().__init__({"a": In(64), "b": In(64), "c": In(64), "results": Out(width)})

    def elaborate(self, platform: object) -> Module:
        m = Module()
        for number, case in enumerate(self._cases):
            shape = Shape(case.of.width_bits, case.of.signed)
            unit = FloatUnit(case.planned, [shape] * case.operands)
            m.submodules[f"unit_{number}"] = unit
            for n, operand in enumerate((self.a, self.b, self.c)[: case.operands]):
                m.d.comb += getattr(unit, f"operand{n}").eq(operand)
            m.d.comb += self.results[64 * number : 64 * number + 64].eq(unit.result)
        return m


class Bank:
    """Circuits in one compiled model.

    Parameters
    ----------
    optimisation: option for g++: but for millions of samples, more goes into compiling them than
        into running them.
    """

    def __init__(
        self, cases: Sequence[Case], folder: Path, optimisation: str = UNOPTIMISED
    ) -> None:
        self.cases = cases
        self._folder = folder
        text = rtlil.convert(_Bank(cases), name="bank")
        (folder / "bank.il").write_text(text, encoding="utf-8")
        run_script(["read_rtlil bank.il", "proc", "opt_clean", "write_verilog bank.v"], folder)
        main = Path(__file__).with_name("stream_main.cpp")
        harness = Harness(main=main, optimisation=optimisation)
        self._executable = compile_verilated(
            find_verilator(), [folder / "bank.v"], "bank", folder, harness
        )

    def run(self, samples: np.ndarray) -> np.ndarray:
        """Return the results of every case, of samples of three operands; each has a row."""
        header = [len(self.cases), *(c.planned.latency_cycles for c in self.cases), len(samples)]
        inputs, outputs = self._folder / "inputs.bin", self._folder / "outputs.bin"
        with inputs.open("wb") as file:
            np.array(header, dtype=np.uint64).tofile(file)
            samples.astype(np.uint64).tofile(file)
        run_tool([self._executable, inputs, outputs], log=self._folder / "simulation.log")
        return np.fromfile(outputs, dtype=np.uint64).reshape(len(self.cases), -1)
