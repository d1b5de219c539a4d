"""Every example, through Verilog, on both simulators and in every index style, is exact."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

import rtlgen
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import IndexStyle
from rtlgen.scheduling.errors import IndexStyleUnsuitable
from rtlgen.sim.cocotb_runner import Simulator
from tests.simulators import SIMULATORS, marks_in_turn, needs_icarus

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/*.c"))
LARGE = ("gemm64", "tce", "vgg")
"""Too many cycles for Icarus in every run of the tests."""

QUICKLY_PLANNED = [
    # The search for one loop in vgg goes as far as it may.
    pytest.param(path, marks=pytest.mark.long if path.stem == "vgg" else (), id=path.stem)
    for path in EXAMPLES
]
SMALL = [path for path in EXAMPLES if path.stem not in LARGE]
# Not every matrix product in every style: these have shapes that others have too.
ALIKE = (
    "2mm_d", "3mm_d", "dct", "doitgen", "doitgen_d", "gemver_opt", "syrk", "syr2k", "trmm",
)  # fmt: skip
LIKE_GEMM = ("2mm", "3mm", "aes", "atax", "bicg", "gesummv", "mms", "mvt")
"""In as many styles as they have, or on Icarus, in long runs only."""

STYLED = [
    pytest.param(
        path,
        marks=pytest.mark.long if path.stem in LIKE_GEMM or number % 2 else (),
        id=path.stem,
    )
    for number, path in enumerate(SMALL)
    if path.stem not in ALIKE
]
HAS_LIKE: dict[Simulator, tuple[str, ...]] = {"verilator": ALIKE, "icarus": LIKE_GEMM}
BOTH = [
    pytest.param(
        path,
        simulator,
        id=f"{path.stem}-{simulator}",
        marks=(
            *marks_in_turn(number, simulator),
            *([pytest.mark.long] if path.stem in alike else []),
        ),
    )
    for number, path in enumerate(SMALL)
    for simulator, alike in HAS_LIKE.items()
]

# MF3's figure, and what the circuit may take.
FUSED = {
    "gemm": (512, 562),
    "gemm64": (262144, 262194),
    "mms": (519, 545),
    "mms_d": (890, 915),
    "2mm": (519, 569),
    "3mm": (568, 618),
    "atax": (71, 121),
    "bicg": (64, 114),
    "mvt": (64, 114),
    "gesummv": (64, 114),
    "gemver": (71, 120),
    "loop_pipeline": (400, 415),
    "accum_swg": (80, 20 * 4 + 60),
    "order": (2016, 64 * 63 // 2 + 30),
    "structure": (4096, 64 * 64 + 30),
    "transposed": (240, 250),
    "horner": (3840, 4060),
    "aes": (707, 735),
    "serially_execute": (4096, 64 * 64 + 64 + 40),
    "tce": (33279, 33340),
    "dct": (4145, 4195),
    "2mm_d": (874, 924),
    "3mm_d": (1087, 1137),
    "doitgen": (4096, 4120),
    "doitgen_d": (8712, 8736),
    "gemver_opt": (71, 121),
    "syrk": (288, 338),
    "syr2k": (288, 338),
    "trmm": (225, 240),
    "symm": (232, 245),
    "vgg": (58146, 58400),
}

# Some of their statements depend on each other in a cycle, and others do not; trmm has a shallow
# statement beside a triangular nest; in vgg there are too many.
NOT_PROVEN = ("aes", "symm", "trmm", "vgg")

# No power of two inside, by nature or by a pad; a nest that is no box, or runs skewed.
UNSUITABLE = {
    ("mms_d", "shift"), ("loop_pipeline", "shift"), ("accum_swg", "shift"),
    ("serially_execute", "shift"), ("transposed", "shift"), ("order", "shift"), ("order", "divide"),
    ("symm", "shift"), ("symm", "divide"), ("horner", "shift"), ("horner", "divide"),
}  # fmt: skip


def name_of(path: Path) -> str:
    return path.stem


@cache
def fused(path: Path) -> rtlgen.Design:
    return rtlgen.compile(path)


def verilog_words(text: str) -> str:
    """Return Verilog without its comments and strings."""
    return re.sub(r'//.*|"[^"\n]*"|\(\*.*?\*\)', "", text)


def require_exact(design: rtlgen.Design, simulator: Simulator, seed: int) -> int:
    """Verify `design` and return its checksum."""
    outcome = design.verify(simulator=simulator, seed=seed)
    assert outcome.failures == ()
    assert outcome.cycles == outcome.predicted_cycles
    assert outcome.comparison.mismatches == 0
    assert outcome.comparison.elements > 0
    return outcome.checksum


@pytest.mark.sample(
    without=(
        "aes",
        "horner",
        "symm",
        "tce",
    ),
    every=2,
)
@pytest.mark.parametrize("path", QUICKLY_PLANNED)
def test_fuses_to_the_optimum_within_the_bound_on_cycles(path: Path) -> None:
    report = fused(path).report()
    iterations, limit = FUSED[path.stem]
    assert report["fused_iterations"] == iterations
    assert report["predicted_cycles"] <= limit
    assert report["perfect"]
    assert all(stream["ii"] == 1 for stream in report["streams"])
    assert report["figures"]["data_flow_replayed"]
    assert report["figures"]["fused_iterations_proven"] == (path.stem not in NOT_PROVEN)


@pytest.mark.sample(
    without=(
        "3mm_d",
        "symm",
        "tce",
        "aes",
        "2mm",
        "gemver",
        "3mm",
        "2mm_d",
        "horner",
        "gemver_opt",
        "bicg",
        "doitgen",
    ),
    every=3,
)
@pytest.mark.parametrize("path", QUICKLY_PLANNED)
def test_the_verilog_of_an_example_has_no_loops(path: Path) -> None:
    # Synthesis unrolls those that would clear memories, for minutes, or gives them up.
    assert not re.search(r"\b(for|while|repeat|forever)\b", verilog_words(fused(path).verilog.text))


@pytest.mark.sample("trmm-icarus")
@pytest.mark.simulation
@pytest.mark.parametrize(("path", "simulator"), BOTH)
def test_is_exact_on_both_simulators(path: Path, simulator: Simulator) -> None:
    require_exact(fused(path), simulator, seed=3)


@pytest.mark.sample("gemm64")
@pytest.mark.simulation
@pytest.mark.parametrize(
    "path",
    [
        # The Verilog of vgg is a megabyte: half a minute of C++.
        pytest.param(path, marks=pytest.mark.long if path.stem == "vgg" else ())
        for path in EXAMPLES
        if path.stem in LARGE
    ],
    ids=name_of,
)
def test_the_large_examples_are_exact(path: Path) -> None:
    require_exact(fused(path), "verilator", seed=4)


@pytest.mark.long
@pytest.mark.simulation
@needs_icarus
@pytest.mark.parametrize("path", [p for p in EXAMPLES if p.stem in ("tce", "vgg")], ids=name_of)
def test_the_large_examples_are_exact_on_icarus(path: Path) -> None:
    require_exact(fused(path), "icarus", seed=4)


@pytest.mark.sample(
    without=(
        "aes",
        "symm",
        "tce",
    ),
    every=2,
)
@pytest.mark.parametrize("path", QUICKLY_PLANNED)
def test_no_fused_example_takes_more_cycles_than_its_nests_one_after_another(path: Path) -> None:
    unfused = rtlgen.compile(path, fuse="none")
    assert predicted_cycles(fused(path).plan) <= predicted_cycles(unfused.plan)


@pytest.mark.sample(
    "icarus-loop_pipeline-shift",
    "icarus-accum_swg-shift",
    "icarus-order-divide",
    "icarus-order-shift",
    "icarus-transposed-shift",
    "icarus-mms_d-shift",
    "icarus-loop_pipeline-divide",
    every=2,
)
@pytest.mark.simulation
@pytest.mark.parametrize("style", ["divide", "shift"])
@pytest.mark.parametrize("path", STYLED)
@pytest.mark.parametrize("simulator", [s for s in SIMULATORS if "icarus" in str(s)])
def test_every_index_style_that_applies_gives_the_same_result(
    path: Path, style: IndexStyle, simulator: Simulator
) -> None:
    try:
        design = rtlgen.compile(path, index=style)
    except IndexStyleUnsuitable:
        assert (path.stem, style) in UNSUITABLE
        return
    assert (path.stem, style) not in UNSUITABLE
    # Each is compared with the golden model, which knows no style: so they are all the same.
    require_exact(design, simulator, seed=3)


@pytest.mark.long
@pytest.mark.sample("gemver-verilator")
@pytest.mark.simulation
@pytest.mark.parametrize(
    ("name", "simulator"),
    [
        pytest.param("gemver", "verilator"),
        pytest.param("mms_d", "icarus", marks=needs_icarus),
        pytest.param("gemver", "icarus", marks=(needs_icarus, pytest.mark.long)),
        pytest.param("mms_d", "verilator", marks=pytest.mark.long),
    ],
)
def test_the_checksum_unit_agrees_with_the_golden_model(name: str, simulator: Simulator) -> None:
    (path,) = (path for path in EXAMPLES if path.stem == name)
    outcome = rtlgen.compile(path, checksum=True).verify(simulator=simulator, seed=5)
    assert outcome.exact
    assert len(outcome.unit_checksums) == len(outcome.data.sets)


@pytest.mark.simulation
@pytest.mark.parametrize("simulator", [s for s in SIMULATORS if "icarus" in str(s)])
def test_the_checksum_of_a_kernel_that_only_returns_is_that_of_nothing(
    simulator: Simulator,
) -> None:
    text = "int f(const int a[3]) { int s = 0; for (int i = 0; i < 3; i++) s += a[i]; return s; }"
    design = rtlgen.compile(source=text, checksum=True)
    assert design.manifest.checksum == "checksum" and design.manifest.checksum_arrays == ()
    outcome = design.verify(simulator=simulator)
    assert outcome.exact
    assert set(outcome.unit_checksums) == {0}
