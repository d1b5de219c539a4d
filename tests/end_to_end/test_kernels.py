"""Kernels that nothing was tuned for: each is exact as a plan, and in simulation."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.memories import row_buffers
from rtlgen.options import CompileOptions
from rtlgen.sim.cocotb_runner import Simulator
from tests.end_to_end.bounds import EXCEPTIONS, assert_within_bound
from tests.end_to_end.judge import Compiled, assert_plan_exact, compiled, simulation_failures
from tests.simulators import SIMULATORS, needs_icarus

FOLDER = Path(__file__).parent
KERNELS = sorted((FOLDER / "kernels").glob("*.c"))
REGRESSIONS = sorted((FOLDER / "regressions").glob("*.c"))

# One of each kind: rings of statements, division, II > 1, triangles, scalars, 64 bits, one element.
SIMULATED = [
    "bubble_like",
    "cholesky",
    "edge_loops",
    "empty_rows",
    "fdtd_2d",
    "fibonacci",
    "mirrored",
    "rows_of_two_lengths",
    "symm",
    "syrk",
    "trisolv",
    "wide_mix",
]

MOST_CYCLES = {
    "accum_swg": 43, "covariance": 137, "fdtd_2d": 106, "fir": 72, "heat_3d": 73, "jacobi_1d": 40,
    "jacobi_2d": 51, "out_of_order": 31, "serial_region": 65, "syrk": 67, "trmm": 65,
    "cholesky": 113, "gramschmidt": 98, "lu": 93, "ludcmp": 226, "symm": 43, "trisolv": 128,
    "adi": 167, "durbin": 160, "rows_of_two_lengths": 505, "seidel_2d": 77,
    "two_triangles": 562,
}  # fmt: skip


@cache
def accepted(path: Path) -> Compiled:
    found = compiled(path.read_text())
    assert found is not None, "none of these is beyond the compiler"
    return found


@pytest.mark.sample(
    without=(
        "ludcmp",
        "gramschmidt",
        "two_triangles",
        "cholesky",
        "durbin",
        "lu",
        "nussinov",
        "rows_of_two_lengths",
        "torus",
        "fdtd_2d",
        "floyd_warshall",
        "seidel_2d",
    ),
    every=3,
)
@pytest.mark.parametrize("path", [*KERNELS, *REGRESSIONS], ids=lambda path: path.stem)
def test_a_plan_computes_what_the_program_computes_and_gets_no_slower(path: Path) -> None:
    found = accepted(path)
    if path in KERNELS:
        assert_within_bound(path.stem, found)
    assert predicted_cycles(found.plan) <= MOST_CYCLES.get(path.stem, predicted_cycles(found.plan))
    assert_plan_exact(found, seed=0)
    assert_plan_exact(found, seed=1)


def test_what_is_said_of_kernels_is_said_of_some_that_exist() -> None:
    others = {path.stem for path in (FOLDER.parent / "kernels").glob("*.c")}
    assert MOST_CYCLES.keys() <= {path.stem for path in KERNELS}
    assert EXCEPTIONS.keys() <= {path.stem for path in KERNELS} | others


def test_a_plan_that_waits_is_noticed() -> None:
    text = (FOLDER / "kernels" / "seidel_2d.c").read_text()
    plain = compiled(text, CompileOptions(scheduler="pluto"))
    assert plain is not None
    with pytest.raises(AssertionError):
        assert_within_bound("seidel_2d", plain)


@pytest.mark.parametrize("path", REGRESSIONS, ids=lambda path: path.stem)
def test_an_unfused_plan_computes_the_same(path: Path) -> None:
    unfused = compiled(path.read_text(), CompileOptions(fuse="none"))
    assert unfused is not None
    assert_plan_exact(unfused)


@pytest.mark.long
def test_one_write_port_an_array_is_a_choice(monkeypatch: pytest.MonkeyPatch) -> None:
    text = (FOLDER / "kernels" / "cholesky.c").read_text()
    # With values in rows beside the array, which is small, one port does for what is left.
    monkeypatch.setattr(row_buffers, "LEAST_ROOM", 128)
    several, one = compiled(text), compiled(text, CompileOptions(write_ports="one"))
    assert several is not None and one is not None
    assert several.plan.memory("A").write_ports > 1 == one.plan.memory("A").write_ports
    assert predicted_cycles(several.plan) < predicted_cycles(one.plan)
    assert_plan_exact(one)


@pytest.mark.sample("fibonacci", "edge_loops")
@pytest.mark.simulation
@pytest.mark.parametrize("name", SIMULATED)
def test_a_circuit_computes_what_the_program_computes(name: str, tmp_path: Path) -> None:
    found = accepted(FOLDER / "kernels" / f"{name}.c")
    assert simulation_failures(found.plan, found.program, tmp_path, "icarus") == []


@pytest.mark.simulation
@needs_icarus
def test_places_from_a_ram_before_anything_is_in_it_do_no_harm(tmp_path: Path) -> None:
    found = accepted(FOLDER / "regressions" / "place_not_yet_written.c")
    assert simulation_failures(found.plan, found.program, tmp_path, "icarus") == []


@pytest.mark.simulation
@pytest.mark.long
@pytest.mark.parametrize("simulator", SIMULATORS)
@pytest.mark.parametrize("path", [*KERNELS, *REGRESSIONS], ids=lambda path: path.stem)
def test_every_circuit_is_exact_on_every_simulator(
    path: Path, simulator: Simulator, tmp_path: Path
) -> None:
    found = accepted(path)
    assert simulation_failures(found.plan, found.program, tmp_path, simulator) == []
