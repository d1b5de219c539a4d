"""The thirty kernels of PolyBench/C 4.2.1, in texts of our own, in double precision.

As in the suite, how far a loop runs is a parameter, `main` calls the kernel with numbers for all of
them, and MINI_DATASET says how large they are. POLYBENCH_ALONE leaves `main` out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest

import rtlgen
from rtlgen.frontend import parse_file
from rtlgen.frontend.errors import ParameterInControl
from rtlgen.planning.analysis import examine
from tests.frontend.lowering.c_check import assert_scop_as_c
from tests.oracles.gcc_oracle import have_gcc

FILES = sorted(Path(__file__).parent.glob("*.c"))
SIMULATED = ("trisolv",)

BOUNDED_BY_NOTHING = {
    "adi": {"tsteps": "4", "n": "12"}, "correlation": {"m": "14"},
    "deriche": {"w": "16", "h": "12"}, "fdtd-2d": {"tmax": "6"}, "heat-3d": {"tsteps": "4"},
    "jacobi-1d": {"tsteps": "6"}, "jacobi-2d": {"tsteps": "6"}, "seidel-2d": {"tsteps": "6"},
}  # fmt: skip
"""Whose sizes no array bounds, or not alone: without `main` they are refused, and name these."""

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)


def function_of(path: Path) -> str:
    return f"kernel_{path.stem.replace('-', '_')}"


def test_all_thirty_are_there() -> None:
    assert len(FILES) == 30


@needs_gcc
@pytest.mark.sample("cholesky", "correlation", "jacobi-2d", "trisolv")
@each_file
def test_a_kernel_means_what_gcc_says(path: Path) -> None:
    assert_scop_as_c(parse_file(path, function=function_of(path)).scop, {})


@needs_gcc
@pytest.mark.sample("adi", "lu")
@each_file
def test_a_kernel_alone_means_what_gcc_says(path: Path) -> None:
    defines = {"POLYBENCH_ALONE": "1"}
    if path.stem in BOUNDED_BY_NOTHING:
        sizes = BOUNDED_BY_NOTHING[path.stem]
        with pytest.raises(ParameterInControl, match=f"-D {next(iter(sizes))}=VALUE"):
            parse_file(path, function=function_of(path), defines=defines)
        program = parse_file(path, function=function_of(path), defines=defines | sizes)
        if path.stem == "adi":
            sizes_of_one = defines | {"tsteps": "4"}
            found = examine(parse_file(path, function=function_of(path), defines=sizes_of_one))
            (said, *_) = (w.help for w in found.warnings if w.code == "W0205")
            assert said is not None and "-D n=VALUE" in said
        examine(program)
    else:
        program = parse_file(path, function=function_of(path), defines=defines)
        assert_scop_as_c(program.scop, defines)


@pytest.mark.sample("jacobi-1d", "trisolv")
@needs_gcc
@pytest.mark.parametrize("name", ["gemm", "jacobi-1d", "trisolv"])
def test_a_kernel_in_float_means_what_gcc_says(name: str) -> None:
    path = next(path for path in FILES if path.stem == name)
    defines = {"DATA_TYPE_IS_FLOAT": "1"}
    scop = parse_file(path, function=function_of(path), defines=defines).scop
    assert_scop_as_c(scop, defines)


@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("name", SIMULATED)
def test_a_circuit_of_a_kernel_is_exact(name: str) -> None:
    verify(next(path for path in FILES if path.stem == name))


@pytest.mark.simulation
@pytest.mark.long
@needs_gcc
@each_file
def test_a_kernel_of_the_smallest_data_set_is_verified_against_gcc(path: Path) -> None:
    verify(path, {"MINI_DATASET": "1"})


def verify(path: Path, defines: Mapping[str, str] | None = None) -> None:
    design = rtlgen.compile(path, function=function_of(path), define=defines or {})
    verified = design.verify(oracle="gcc" if have_gcc() else "golden")
    assert verified.exact, verified.failures
    assert verified.cycles == verified.predicted_cycles
