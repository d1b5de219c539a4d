"""Programs in the loops of a scheduler, tiled and skewed, as circuits: exact, without a bubble."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.driver import CompileOptions
from rtlgen.ir.cycles import predicted_cycles
from tests.end_to_end.judge import assert_plan_exact, compiled, simulation_failures
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


@pytest.mark.simulation
@pytest.mark.parametrize("name", ["pluto", "wavefronts of tiles"])
def test_the_circuit_of_a_skewed_and_tiled_nest_is_exact(name: str, tmp_path: Path) -> None:
    accepted = compiled(stencil("transposed", 16), LOOPS[name])
    assert accepted is not None
    assert simulation_failures(accepted.plan, accepted.program, tmp_path, "verilator") == []
