"""The corpus: each kernel is compiled and replayed, and means what gcc says it means.

The kernels were written for this project from mathematical definitions. Between them they use
everything that the supported C has.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path

import numpy as np
import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_file, parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.end_to_end.bounds import assert_within_bound
from tests.end_to_end.judge import Compiled, batch_failures, simulation_failures
from tests.kernels.features import FEATURES, features_of
from tests.oracles.gcc_oracle import have_gcc, run_gcc
from tests.simulators import needs_icarus

FOLDER = Path(__file__).parent
KERNELS = sorted(FOLDER.glob("*.c"))
each_kernel = pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if number % 3 else ())
        for number, path in enumerate(KERNELS)
    ],
    ids=lambda path: path.stem,
)
needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

SEED = 1
BATCHES = 8
ENOUGH = 20
"""Fewer values than this in a large array could hide a wrong one."""


@cache
def accepted(path: Path) -> Compiled:
    program = parse_file(path)
    assert not program.warnings
    return Compiled(program.scop, compile_program(program, CompileOptions()))


def test_there_are_kernels_enough() -> None:
    assert len(KERNELS) >= 80


@pytest.mark.parametrize("feature", FEATURES)
def test_the_corpus_uses(feature: str) -> None:
    assert [path for path in KERNELS if feature in features_of(path.read_text())]


def test_a_text_without_a_feature_does_not_have_it() -> None:
    assert features_of("// a % b, i % 3 == 1\nvoid f(void) {\n}\n") == frozenset()


@pytest.mark.sample(
    without=(
        "halves",
        "tiled_by_tool",
        "decimate",
        "copies",
        "ring_buffer",
        "edit_distance",
        "mirrored",
        "biquads",
        "cordic",
        "all_pairs",
        "mosaic",
        "time_levels",
    )
)
@each_kernel
def test_kernel_is_replayed_and_takes_no_more_cycles_than_its_steps_or_its_chain(
    path: Path,
) -> None:
    assert accepted(path).compilation.replayed
    assert_within_bound(path.stem, accepted(path))


# Nests that run apart take as many cycles as there are steps: the bound above is hardly weaker.
@pytest.mark.sample(
    without=(
        "gemm_blocked",
        "halves",
        "mosaic",
        "neighbours",
        "run_ahead",
    )
)
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if number % 4 else ())
        for number, path in enumerate(KERNELS)
    ],
    ids=lambda path: path.stem,
)
def test_no_kernel_takes_more_cycles_than_its_nests_one_after_another(path: Path) -> None:
    apart = compile_program(parse_file(path), CompileOptions(fuse="none"))
    assert predicted_cycles(accepted(path).compilation.plan) <= predicted_cycles(apart.plan)


@needs_gcc
@each_kernel
def test_kernel_computes_what_gcc_computes(path: Path) -> None:
    scop = parse_file(path).scop
    for seed in (SEED, 2, 3):
        inputs = random_inputs(scop, seed)
        golden, second = run_golden(scop, inputs, engine="interpreter"), run_gcc(scop, inputs)
        assert compare_memories(golden.arrays, second.arrays).exact
        assert golden.returned == second.returned
        assert golden.events == ()


@pytest.mark.sample(
    without=(
        "halves",
        "phases",
        "wave_table",
    )
)
@each_kernel
def test_results_tell_right_from_wrong(path: Path) -> None:
    scop = parse_file(path).scop
    golden = run_golden(scop, random_inputs(scop, SEED))
    for array in scop.arrays:
        if array.role in ("out", "inout") and array.depth >= ENOUGH:
            assert len(np.unique(golden.arrays[array.name])) >= ENOUGH, array.name


@pytest.mark.simulation
@pytest.mark.parametrize(
    "part",
    [pytest.param(n, marks=pytest.mark.long) for n in range(BATCHES)],
)
def test_kernels_are_exact_on_verilator(part: int, tmp_path: Path) -> None:
    paths = KERNELS[part::BATCHES]
    failures = batch_failures([accepted(path) for path in paths], tmp_path, SEED)
    wrong = {path.stem: failed for path, failed in zip(paths, failures, strict=True) if failed}
    assert wrong == {}


@pytest.mark.sample("downsample", "upsample", "narrow_sums")
@pytest.mark.simulation
@needs_icarus
@pytest.mark.parametrize(
    "path",
    [
        pytest.param(path, marks=pytest.mark.long if number % 2 else ())
        for number, path in enumerate(KERNELS[::3])
    ],
    ids=lambda path: path.stem,
)
def test_kernel_is_exact_on_icarus(path: Path, tmp_path: Path) -> None:
    kernel = accepted(path)
    assert simulation_failures(kernel.plan, kernel.program, tmp_path, "icarus", seed=SEED) == []


@needs_gcc
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
