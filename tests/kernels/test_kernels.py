"""The corpus: each kernel is compiled and replayed, and means what gcc says it means.

The kernels were written for this project from mathematical definitions. Between them they use
everything that the supported C has.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

import rtlgen
from rtlgen.driver import CompileOptions, compile_program
from rtlgen.frontend import parse_file, parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import have_gcc, run_gcc
from tests.simulators import needs_icarus

KERNELS = sorted(Path(__file__).parent.glob("*.c"))
each_kernel = pytest.mark.parametrize("path", KERNELS, ids=lambda path: path.stem)

FEATURES = {
    "affine scalar temporary": r"int \w+ = [ij2] \* ",
    "condition on data": r"if \(\w+\[",
    "conditional expression": r"\?",
    "function call": r"static ",
    "pointer parameter": r"\*\w+[,)]",
    "address of an element": r"&\w+\[",
    "global": r"^(int|unsigned) \w+.*;",
    "region pragma": r"#pragma scop",
    "macro with arguments": r"#define \w+\(",
    "decreasing loop": r"--\)",
    "lower bound not 0": r"for \(int \w = [1-9i]",
    "triangular bound": r"< i;",
    "step": r"\+= 2\)",
    "division": r" / ",
    "remainder": r" % ",
    "unsigned": r"unsigned",
    "64 bits": r"long long",
    "return value": r"^int \w+\(",
    "scalar parameter": r"void \w+\(.*int \w+[,)]",
    "local array": r"^  int \w+\[",
    "shift": r">>",
    "remainder of an iterator": r"i % 3 ==",
}
"""What real kernels use, and how it looks."""


@pytest.mark.parametrize("feature", FEATURES)
def test_the_corpus_uses(feature: str) -> None:
    texts = [path.read_text() for path in KERNELS]
    assert any(re.search(FEATURES[feature], text, re.MULTILINE) for text in texts)


@each_kernel
def test_kernel_is_compiled_and_its_plan_replayed(path: Path) -> None:
    options = CompileOptions()
    program = parse_file(path)
    assert not program.warnings
    assert compile_program(program, options).replayed


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@each_kernel
def test_kernel_computes_what_gcc_computes(path: Path) -> None:
    scop = parse_file(path).scop
    for seed in (1, 2, 3):
        inputs = random_inputs(scop, seed)
        golden, second = run_golden(scop, inputs, engine="interpreter"), run_gcc(scop, inputs)
        assert compare_memories(golden.arrays, second.arrays).exact
        assert golden.returned == second.returned
        assert golden.events == ()


@pytest.mark.simulation
@needs_icarus
@pytest.mark.parametrize("path", KERNELS[::3], ids=lambda path: path.stem)
def test_kernel_is_exact_on_icarus(path: Path) -> None:
    outcome = rtlgen.compile(path).verify(simulator="icarus")
    assert outcome.exact
    assert outcome.cycles == outcome.predicted_cycles


@pytest.mark.long
@pytest.mark.simulation
@each_kernel
def test_kernel_is_exact_on_verilator(path: Path) -> None:
    outcome = rtlgen.compile(path).verify(simulator="verilator", seed=7)
    assert outcome.exact
    assert outcome.cycles == outcome.predicted_cycles


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize(
    ("name", "right", "wrong"),
    [
        ("running_maximum", "a[i] > best", "a[i] >= 0"),
        ("saturating_add", "x < lo", "x > lo"),
        ("linear_row", "column + i", "column + 7 - i"),
        ("masked_store", "mask[i] & 1 &&", "mask[i] & 1 ||"),
    ],
)
def test_a_changed_kernel_is_told_from_the_right_one(name: str, right: str, wrong: str) -> None:
    path = next(path for path in KERNELS if path.stem == name)
    text = path.read_text()
    assert right in text
    scop = parse_file(path).scop
    other = parse_text(text.replace(right, wrong)).scop
    inputs = random_inputs(scop, 1)
    expected, got = run_gcc(scop, inputs), run_golden(other, inputs)
    same = all(
        np.array_equal(expected.arrays[array], got.arrays[array]) for array in expected.arrays
    )
    assert not same or expected.returned != got.returned


def test_every_kernel_needs_its_text(tmp_path: Path) -> None:
    for path in KERNELS:
        cut = tmp_path / path.name
        cut.write_text(path.read_text().rstrip().removesuffix("}"))
        with pytest.raises(FrontendError):
            parse_file(cut)
