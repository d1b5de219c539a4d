"""Every example means the same to the golden model's two engines and to gcc."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest

from rtlgen.frontend import parse_file
from rtlgen.ir.scop import Scop
from rtlgen.verify.c_oracle import with_known_nan
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import random_inputs
from rtlgen.verify.equivalence import Outcome
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import have_gcc, run_gcc

FOLDER = Path(__file__).parent.parent / "examples"
EXAMPLES = sorted([*FOLDER.glob("*/*.c"), *FOLDER.glob("float/*/*.c")])
NAMES = [path.stem for path in EXAMPLES]
SMALL = [path for path in EXAMPLES if path.stem not in ("gemm64", "tce", "vgg")]


def bits(values: object) -> npt.NDArray[np.uint8]:
    """Return what is stored, in which a NaN is equal to itself."""
    return np.atleast_1d(np.asarray(values)).view(np.uint8)


def vgg_counts() -> dict[str, int]:
    """Return the instances of vgg's statements: bias, sum and ReLU a layer, one a pooling."""
    width, image, counts = 3, 32, []
    for channels, convolutions in ((1, 2), (2, 2), (4, 4), (8, 4), (8, 4)):
        for _ in range(convolutions):
            pixels = channels * image**2
            counts += [pixels, pixels * width * 9, pixels]
            width = channels
        image //= 2
        counts.append(channels * image**2)
    for neurons in (64, 64, 16):
        counts += [neurons, neurons * width, neurons]
        width = neurons
    return {f"S{k}": count for k, count in enumerate(counts)}


INSTANCES = {
    "aes": {"S0": 64, "S1": 640, "S2": 704},
    "2mm": {"S0": 64, "S1": 512, "S2": 64, "S3": 512},
    "3mm": {"S0": 64, "S1": 512, "S2": 64, "S3": 512, "S4": 64, "S5": 512},
    "atax": {"S0": 8, "S1": 8, "S2": 64, "S3": 64},
    "bicg": {"S0": 8, "S1": 8, "S2": 64, "S3": 64},
    "gemm": {"S0": 64, "S1": 512},
    "fgemm": {"S0": 256, "S1": 4096},
    "jacobi_solver": {"S0": 120, "S1": 660, "S1_1": 660, "S2": 120, "S3": 120},
    "softmax_layer": {"S0": 10, "S1": 320, "S2": 1, "S3": 9, "S4": 1}
    | {f"S{n}": 10 for n in range(5, 25)},
    "half_fir": {"S0": 241, "S1": 241 * 16, "S2": 241},
    "gemm64": {"S0": 64**2, "S1": 64**3},
    "gemver": {"S0": 64, "S1": 64, "S2": 8, "S3": 64},
    "gesummv": {"S0": 8, "S1": 8, "S2": 64, "S3": 64, "S4": 8},
    "horner": {"S0": 16 * 15 * 16},
    "mms": {"S0": 512, "S1": 512},
    "mms_d": {"S0": 792, "S1": 864},
    "mvt": {"S0": 64, "S1": 64},
    "accum_swg": {"S0": 20, "S1": 80, "S2": 20},
    "loop_pipeline": {"S0": 400},
    "order": {"S0": 1, "S1": 2016},
    "serially_execute": {"S0": 1, "S1": 4096, "S2": 64},
    "tce": {"S0": 8**5, "S1": 8**5, "S2": 8**5, "S3": 8**5},
    "dct": {"S0": 512, "S1": 4096, "S2": 512, "S3": 4096, "S4": 512},
    "2mm_d": {"S0": 72, "S1": 792, "S2": 96, "S3": 864},
    "3mm_d": {"S0": 72, "S1": 792, "S2": 108, "S3": 1080, "S4": 96, "S5": 864},
    "doitgen": {"S0": 512, "S1": 4096, "S2": 512},
    "doitgen_d": {"S0": 792, "S1": 8712, "S2": 792},
    "gemver_opt": {"S0": 64, "S1": 64, "S2": 8, "S3": 64},
    "syrk": {"S0": 36, "S1": 288},
    "syr2k": {"S0": 36, "S1": 288},
    "symm": {"S0": 64, "S1": 224, "S2": 224, "S3": 64},
    "trmm": {"S0": 224, "S1": 64},
    "structure": {"S0": 1024, "S1": 4096},
    "transposed": {"S0": 240},
    "vgg": vgg_counts(),
}


def load(path: Path) -> Scop:
    program = parse_file(path)
    assert not program.warnings
    return program.scop


@pytest.mark.sample(
    without=(
        "0-vgg",
        "1-vgg",
        "1-softmax_layer",
    ),
    every=2,
)
@pytest.mark.skipif(not have_gcc(), reason="gcc is not installed")
@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
@pytest.mark.parametrize("seed", [0, 1])
def test_compiled_golden_model_and_gcc_agree(path: Path, seed: int) -> None:
    scop = load(path)
    inputs = random_inputs(scop, seed)
    golden, second = run_golden(scop, inputs, engine="compiled"), run_gcc(scop, inputs)
    # C leaves open which NaN an operation gives.
    outcome = with_known_nan(scop, Outcome(second.arrays, second.returned), golden)
    assert compare_memories(golden.arrays, outcome.arrays).exact
    assert golden.counts == INSTANCES[path.stem]
    assert golden.events == ()


@pytest.mark.sample(
    without=(
        "aes",
        "dct",
        "doitgen",
        "doitgen_d",
        "horner",
        "mms",
        "serially_execute",
        "softmax_layer",
    ),
    every=2,
)
@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_both_engines_agree(path: Path) -> None:
    scop = load(path)
    inputs = random_inputs(scop, 2)
    slow, fast = (run_golden(scop, inputs, engine=e) for e in ("interpreter", "compiled"))
    assert compare_memories(slow.arrays, fast.arrays).exact
    assert slow.counts == fast.counts


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("path", SMALL, ids=lambda path: path.stem)
def test_a_run_changes_what_the_program_writes_and_nothing_else(path: Path) -> None:
    scop = load(path)
    inputs = random_inputs(scop, 3)
    result = run_golden(scop, inputs)
    for array in scop.arrays:
        if array.role == "local":
            continue
        before, after = (bits(x[array.name]) for x in (inputs, result.arrays))
        changed = bool((before != after).any())
        assert changed == (array.role != "in")


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("size", [1, 2, 3, 5])
@pytest.mark.skipif(not have_gcc(), reason="gcc is not installed")
@pytest.mark.parametrize("name", ["gemm", "2mm", "atax", "gemver", "gesummv"])
def test_other_sizes_agree_too(name: str, size: int) -> None:
    path = next(path for path in EXAMPLES if path.stem == name)
    scop = parse_file(path, defines={"N": str(size)}).scop
    inputs = random_inputs(scop, size)
    golden, second = run_golden(scop, inputs), run_gcc(scop, inputs, define=[f"N={size}"])
    assert compare_memories(golden.arrays, second.arrays).exact


def test_mms_d_reads_columns_that_it_never_writes() -> None:
    scop = load(next(path for path in EXAMPLES if path.stem == "mms_d"))
    inputs = random_inputs(scop, 4)
    after = run_golden(scop, inputs).arrays["c"]
    assert after.shape == (8, 12)
    assert (after[:, 9:] == inputs["c"][:, 9:]).all()  # type: ignore[index]
    assert (after[:, :9] != inputs["c"][:, :9]).any(axis=0).all()  # type: ignore[index]


@pytest.mark.parametrize("path", EXAMPLES, ids=NAMES)
def test_every_example_has_a_page_with_a_place_for_its_figures(path: Path) -> None:
    text = (path.parent / "README.md").read_text()
    assert text.startswith(f"# {path.stem}\n")
    is_measured = path.parent.parent == FOLDER
    place = re.search(r"<!-- figures -->\n.*<!-- /figures -->\n", text, re.DOTALL)
    assert (place is not None) == is_measured
    assert path.parent.name == path.stem
