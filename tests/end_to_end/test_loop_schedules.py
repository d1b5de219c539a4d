"""Programs in the loops of a scheduler, tiled and skewed, as circuits: exact, without a bubble."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from tests.end_to_end.judge import assert_plan_exact, batch_failures, compiled, simulation_failures
from tests.poly.stencils import stencil

LOOPS = {
    "plain": CompileOptions(),
    "pluto": CompileOptions(scheduler="pluto"),
    "tiles": CompileOptions(tile=(4, 4)),
    "wavefronts of tiles": CompileOptions(tile=(4, 4), wavefront=True),
    "feautrier": CompileOptions(scheduler="feautrier"),
}


@pytest.mark.parametrize("options", LOOPS.values(), ids=LOOPS)
def test_a_skewed_and_tiled_nest_takes_no_more_cycles_than_the_plain_one(
    options: CompileOptions,
) -> None:
    accepted = compiled(stencil("transposed", 16), options)
    assert accepted is not None
    assert_plan_exact(accepted)
    (stream,) = accepted.plan.streams
    assert (stream.ii, stream.count) == (1, stream.instances)
    assert predicted_cycles(accepted.plan) == 243


def test_two_sweeps_in_one_skewed_nest_take_hardly_more_cycles_than_in_their_own_loops() -> None:
    text = stencil("jacobi_1d", 30, 20)
    plain, skewed = compiled(text), compiled(text, LOOPS["pluto"])
    assert plain is not None and skewed is not None
    assert_plan_exact(skewed)
    assert predicted_cycles(skewed.plan) <= predicted_cycles(plain.plan) * 1.05


@pytest.mark.long
def test_a_sweep_in_place_is_skewed_without_being_asked() -> None:
    text = stencil("seidel_2d", 14, 6)
    free, asked = compiled(text), compiled(text, LOOPS["feautrier"])
    assert free is not None and asked is not None
    assert_plan_exact(free)
    assert_plan_exact(asked)
    assert free.compilation.analysis.skewed is not None
    assert free.plan.streams[0].ii == asked.plan.streams[0].ii == 1
    assert predicted_cycles(free.plan) <= predicted_cycles(asked.plan)


@pytest.mark.parametrize("name", ["jacobi_1d", "seidel_2d"])
def test_a_tiled_stencil_computes_the_same(name: str) -> None:
    accepted = compiled(stencil(name, 6, 3), CompileOptions(tile=(2, 4)))
    assert accepted is not None
    assert_plan_exact(accepted)


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("name", ["wavefronts of tiles"])
def test_the_circuit_of_a_skewed_and_tiled_nest_is_exact(name: str, tmp_path: Path) -> None:
    accepted = compiled(stencil("transposed", 16), LOOPS[name])
    assert accepted is not None
    assert simulation_failures(accepted.plan, accepted.program, tmp_path, "verilator") == []


TWO_SWEPT = """
void two_swept(int a[9][9], int b[9][9]) {
  for (int i = 1; i < 9; i++)
    for (int j = 1; j < 9; j++) {
      a[i][j] = a[i][j - 1] * 3 + b[i - 1][j];
      b[i][j] = b[i][j - 1] ^ a[i - 1][j] * a[i][j];
    }
}
"""


@pytest.mark.long
@pytest.mark.simulation
def test_the_circuits_of_loops_that_the_compiler_skewed_are_exact(tmp_path: Path) -> None:
    kernels = Path(__file__).parent / "kernels"
    texts = [(kernels / f"{name}.c").read_text() for name in ("floyd_warshall", "seidel_2d")]
    texts.append(TWO_SWEPT)
    programs = [found for text in texts if (found := compiled(text)) is not None]
    assert [p.compilation.analysis.skewed is not None for p in programs] == [True] * len(texts)
    assert batch_failures(programs, tmp_path) == [[], [], []]


@pytest.mark.sample("jacobi_1d-pluto")
@pytest.mark.simulation
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("jacobi_1d", LOOPS["pluto"]),
        ("seidel_2d", LOOPS["feautrier"]),
        ("jacobi_1d", LOOPS["tiles"]),
    ],
    ids=["jacobi_1d-pluto", "seidel_2d-feautrier", "jacobi_1d-tiles"],
)
def test_the_circuit_of_a_scheduled_stencil_is_exact(
    name: str, options: CompileOptions, tmp_path: Path
) -> None:
    accepted = compiled(stencil(name, 10, 4), options)
    assert accepted is not None
    assert simulation_failures(accepted.plan, accepted.program, tmp_path, "verilator") == []
