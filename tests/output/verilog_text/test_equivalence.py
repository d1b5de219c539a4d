"""The Verilog does what Amaranth's own netlist does, proven by ABC; a mistake in it is noticed."""

from __future__ import annotations

from functools import partial
from pathlib import Path

import pytest

import rtlgen
from rtlgen.hw.kernel import Kernel
from rtlgen.hw.top.axi_top import AxiTop
from rtlgen.output.verilog_text.design import verilog_of
from tests.output.verilog_text.circuits import RandomCircuit
from tests.output.verilog_text.equivalence import difference
from tests.plans.gemm import gemm_plan

ROOT = Path(__file__).resolve().parents[3]
EXAMPLES = sorted(str(path.relative_to(ROOT)) for path in ROOT.glob("examples/*/*.c"))


@pytest.mark.synthesis
def test_a_kernel_is_what_amaranth_makes_of_it(tmp_path: Path) -> None:
    text = verilog_of(Kernel(gemm_plan(3)), "gemm", "gemm.c")
    assert difference(Kernel(gemm_plan(3)), text, "gemm", tmp_path) is None


@pytest.mark.synthesis
def test_a_block_is_what_amaranth_makes_of_it(tmp_path: Path) -> None:
    text = verilog_of(AxiTop(gemm_plan(3), "1.2.3"), "gemm", "gemm.c")
    assert difference(AxiTop(gemm_plan(3), "1.2.3"), text, "gemm", tmp_path) is None


@pytest.mark.long
@pytest.mark.synthesis
@pytest.mark.parametrize("example", EXAMPLES)
def test_every_example_is_what_amaranth_makes_of_it(example: str, tmp_path: Path) -> None:
    plan = rtlgen.compile(ROOT / example).plan
    text = verilog_of(Kernel(plan), plan.name, plan.source_file)
    assert difference(Kernel(plan), text, plan.name, tmp_path) is None


@pytest.mark.long
@pytest.mark.synthesis
@pytest.mark.parametrize("memory", ["fixed:8", "axi", "dram"])
def test_a_circuit_off_chip_is_what_amaranth_makes_of_it(memory: str, tmp_path: Path) -> None:
    plan = rtlgen.compile(ROOT / "examples/gemm/gemm.c", memory=memory, define={"N": 32}).plan
    kind = partial(Kernel if memory == "fixed:8" else partial(AxiTop, version="1.2.3"), plan)
    assert difference(kind(), verilog_of(kind(), "gemm", "gemm.c"), "gemm", tmp_path) is None


@pytest.mark.sample("0")
@pytest.mark.synthesis
@pytest.mark.parametrize("seed", range(40))
def test_operators_of_all_widths_and_signs(seed: int, tmp_path: Path) -> None:
    text = verilog_of(RandomCircuit(seed, 12), "top", "")
    assert difference(RandomCircuit(seed, 12), text, "top", tmp_path) is None


@pytest.mark.sample("width")
@pytest.mark.synthesis
@pytest.mark.parametrize(
    ("right", "wrong"),
    [
        pytest.param("? host_addr : load_0_addr", "? load_0_addr : host_addr", id="swapped"),
        pytest.param("reg [15:0] product_0_16", "reg [14:0] product_0_16", id="width"),
        pytest.param(
            "0_0 <= left[15:0] * right[15:0]",
            "0_0 <= $signed(left[15:0]) * $signed(right[15:0])",
            id="sign",
        ),
        pytest.param("left[15:0] * right[15:0]", "left[15:0] + right[15:0]", id="operator"),
        pytest.param("left[31:16]", "left[30:15]", id="slice"),
        pytest.param("idle <= 1'b1", "idle <= 1'b0", id="reset"),
        pytest.param("idle = 1'b1", "idle = 1'b0", id="power-up"),
        pytest.param("(write_port_en[1])", "(write_port_en[2])", id="lane"),
        pytest.param("else if (done)", "else if (~done)", id="condition"),
    ],
)
def test_a_mistake_is_noticed(right: str, wrong: str, tmp_path: Path) -> None:
    text = verilog_of(Kernel(gemm_plan(3)), "gemm", "gemm.c")
    changed = text.replace(right, wrong, 1)
    assert changed != text
    assert difference(Kernel(gemm_plan(3)), changed, "gemm", tmp_path) is not None
