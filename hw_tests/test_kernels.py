"""Hand-written plans as Verilog, on both simulators, against their meaning."""

from __future__ import annotations

import random
from pathlib import Path

import numpy as np
import pytest

import rtlgen
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.functional_units import functional_units
from rtlgen.ir.plan import KernelPlan
from rtlgen.manifest.file import FILE_NAME, write_manifest
from rtlgen.output.verilog import generate, manifest_of
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.source import SourceFile
from rtlgen.verify.cosim import simulate
from tests.plans.gemm import gemm_plan
from tests.plans.interpreter import interpret
from tests.plans.random_plans import random_plan
from tests.plans.sums import sum_plan
from tests.simulators import SIMULATORS

pytestmark = pytest.mark.simulation


def random_elements(width_bits: int, signed: bool, count: int, rng: random.Random) -> list[int]:
    low = -(1 << width_bits - 1) if signed else 0
    return [low + rng.getrandbits(width_bits) for _ in range(count)]


@pytest.mark.sample("sum-icarus", "random5-icarus")
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize(
    "plan",
    [gemm_plan(4, checksum=("C",)), sum_plan(0, None), random_plan(5), random_plan(13)],
    ids=["gemm", "sum", "random5", "random13"],
)
def test_a_plan_as_verilog_does_what_it_means(
    plan: KernelPlan, simulator: str, tmp_path: Path
) -> None:
    verilog = generate(plan)
    (tmp_path / "kernel.v").write_text(verilog.text)
    manifest = manifest_of(
        plan, verilog, file="kernel.v", source=SourceFile("x.c", ""), version="0", options={}
    )
    assert write_manifest(tmp_path, manifest).name == FILE_NAME
    rng = random.Random(3)
    # Memories that the host does not reach may hold anything.
    images = {
        m.name: random_elements(m.width_bits, m.signed, m.depth, rng)
        if not m.values
        else list(m.values)
        for m in plan.memories
    }
    scalars = {s.name: random_elements(s.width_bits, s.signed, 1, rng)[0] for s in plan.scalars}
    arrays = {
        m.name: np.array(
            images[m.name], dtype=f"{'' if m.signed else 'u'}int{m.width_bits}"
        ).reshape(m.shape)
        for m in plan.memories
        if m.has_host_port
    }
    result = simulate(
        tmp_path,
        manifest,
        {**arrays, **scalars},
        simulator=simulator,  # type: ignore[arg-type]
        engine="cocotb",
    )
    after = interpret(plan, images, scalars)
    for name in arrays:
        assert result.arrays[name].ravel().tolist() == after[name]
    assert result.cycles == predicted_cycles(plan)
    assert result.returned == (after[plan.returned][0] if plan.returned else None)


SHARING = """void f(const short a[9], const int b[9], int q[9], int s[1], int r[9], int k) {
  s[0] = 1;
  for (int i = 0; i < 9; i++) { q[i] = b[i] / (a[i] | 1); s[0] += (a[i] + k) * (b[i] - k) + q[i]; }
  for (int i = 0; i < 9; i++) r[i] = (a[i] - k) * (s[0] - k) + b[i] / (s[0] | 1); }"""


@pytest.mark.sample("icarus")
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_statements_share_a_multiplier_and_a_divider(simulator: Simulator) -> None:
    design = rtlgen.compile(source=SHARING, path="f.c")
    assert {unit.op.op for unit in functional_units(design.plan.regions)} == {"mul", "div"}
    found = design.verify(simulator=simulator, seeds=3)
    assert found.exact, found.failures
    assert found.cycles == found.predicted_cycles
