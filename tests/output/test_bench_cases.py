"""A test bench checks what shows most, and is left out where that is too much to compute."""

from __future__ import annotations

from pathlib import Path

import pytest

import rtlgen
from rtlgen.output import testbench

GEMM = Path(__file__).parents[2] / "examples" / "gemm" / "gemm.c"


def test_a_test_bench_that_would_take_too_long_is_left_out_with_the_reason(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    design = rtlgen.compile(GEMM, define={"N": 4})
    design.write(tmp_path)
    assert not design.left_out
    assert (tmp_path / "gemm_tb.v").exists()
    # 16 products with beta, and 64 with an element.
    monkeypatch.setattr(testbench, "MOST_INSTANCES", 79)
    (reason,) = design.left_out
    assert "80 instances to compute" in reason
    design.write(tmp_path)
    assert not list(tmp_path.glob("*_tb*"))
    monkeypatch.setattr(testbench, "MOST_INSTANCES", 80)
    assert design.left_out == ()


def test_a_test_bench_with_too_much_data_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    design = rtlgen.compile(GEMM, define={"N": 4})
    monkeypatch.setattr(testbench, "MOST_WORDS", 47)
    assert "48 words" in design.left_out[0]
    monkeypatch.setattr(testbench, "MOST_WORDS", 48)
    assert design.left_out == ()


def test_small_data_has_every_kind_and_large_data_one(monkeypatch: pytest.MonkeyPatch) -> None:
    design = rtlgen.compile(GEMM, define={"N": 4})
    data = design.data_sets()
    assert len(testbench.testbench_cases(design.manifest, data)) == len(data.sets) > 1
    monkeypatch.setattr(testbench, "SEVERAL_WORDS", 47)
    (one,) = testbench.testbench_cases(design.manifest, data)
    assert one.name == max(data.sets, key=lambda each: each.new).name
