"""The Verilog text: always the same, plain, clean, and about the C program only."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import PlanError
from rtlgen.manifest import Manifest
from rtlgen.sim.lint import lint
from rtlgen.source import SourceFile
from rtlgen.verilog import generate, manifest_of
from tests.plans.gemm import FILE, gemm_plan
from tests.plans.random_plans import random_plan
from tests.plans.renaming import renamed
from tests.plans.sums import sum_plan

_IN_ANOTHER_PROCESS = """
from rtlgen.verilog import generate
from tests.plans.gemm import gemm_plan
import sys
sys.stdout.write(generate(gemm_plan(3)).text)
"""


def test_the_text_is_the_same_in_any_process_and_after_any_other_kernel() -> None:
    text = generate(gemm_plan(3)).text
    generate(gemm_plan(4))
    assert generate(gemm_plan(3)).text == text
    other = subprocess.run(
        [sys.executable, "-c", _IN_ANOTHER_PROCESS],
        env={"PYTHONHASHSEED": "12345", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout == text


def test_generation_prints_nothing(capfd: pytest.CaptureFixture[str]) -> None:
    generate(gemm_plan(3))
    assert capfd.readouterr() == ("", "")


def test_only_lines_of_the_c_file_are_named() -> None:
    text = generate(gemm_plan(3)).text
    files = set(re.findall(r'src = "([^"]*):\d+"', text))
    assert files == {FILE}
    assert "/" not in re.sub(r"//.*", "", text)
    lines = {int(line) for line in re.findall(r'src = "[^"]*:(\d+)"', text)}
    assert lines == {6, 10}


def test_the_text_is_plain_assignments_and_clocked_blocks() -> None:
    text = generate(gemm_plan(3)).text
    assert "always @*" not in text and "always_" not in text
    assert set(re.findall(r"always @\([^)]*\)", text)) == {"always @(posedge clk)"}


def test_the_length_of_the_text_does_not_depend_on_the_size_of_the_arrays() -> None:
    small, large = (generate(gemm_plan(size)).text.count("\n") for size in (4, 16))
    assert large - small < 20


def test_arrays_become_block_ram_of_any_vendor() -> None:
    text = generate(gemm_plan(3)).text
    assert text.count('ram_style = "block"') == 3
    assert text.count("no_rw_check") == 3
    careful = [replace(memory, collision_free=False) for memory in gemm_plan(3).memories]
    assert "no_rw_check" not in generate(replace(gemm_plan(3), memories=tuple(careful))).text


@pytest.mark.simulation
@pytest.mark.parametrize(
    "plan",
    [
        gemm_plan(3),
        gemm_plan(4, "shift", checksum=("C",)),
        gemm_plan(3, "divide", 2),
        sum_plan(0, None),
        *(random_plan(seed) for seed in range(4)),
    ],
    ids=lambda plan: plan.name + plan.index_style,
)
def test_the_text_is_clean_for_verilator(plan: object, tmp_path: Path) -> None:
    verilog = generate(plan)  # type: ignore[arg-type]
    path = tmp_path / "kernel.v"
    path.write_text(verilog.text)
    lint(path, verilog.top)


def test_the_manifest_tells_the_real_names() -> None:
    plan = renamed(gemm_plan(3), {"A": "start", "alpha": "reg"})
    plan = replace(plan, name="module")
    verilog = generate(plan)
    source = SourceFile(FILE, "int x;\n")
    manifest = manifest_of(
        plan, verilog, file="module.v", source=source, version="1", options={"top": "core"}
    )
    assert manifest.top == "module_2" and "\nmodule module_2(" in verilog.text
    assert manifest.predicted_cycles == predicted_cycles(plan)
    assert [scalar.port for scalar in manifest.scalars] == ["reg_2", "beta"]
    ports = manifest.array("start").ports
    assert ports is not None and ports.addr == "start_addr"
    assert Manifest.from_json(manifest.to_json()) == manifest
    for port in manifest.ports:
        assert re.search(rf"\b{port.direction}put (\[\d+:0\] )?{port.name};", verilog.text)


def test_bit_slices_are_refused_where_a_loop_is_no_power_of_two() -> None:
    with pytest.raises(PlanError, match="S0 with extents 3, 3, 3 has no bit slices"):
        generate(gemm_plan(3, "shift"))
