"""A circuit built from a spoilt plan is caught by the comparison with the golden model."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.driver import compile_program, parse
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.scop import Scop
from rtlgen.judges.replay import replay
from rtlgen.options import CompileOptions
from rtlgen.verify.errors import UnknownOutputError
from tests.end_to_end.judge import simulation_failures
from tests.judges.spoilt import is_wrong, spoilt_plans
from tests.poly.sources import EXAMPLES
from tests.simulators import needs_icarus

pytestmark = [pytest.mark.simulation, needs_icarus]

# A shift one too small, a bound turned round, a forwarding path left out, a wrong address step.
KINDS = ("offset_moved", "store_bound", "tap_dropped", "load_address")


def spoilt(name: str, kind: str) -> tuple[KernelPlan, Scop]:
    """Return the first plan with such a fault that matters; the replay rejects it too."""
    options = CompileOptions()
    compilation = compile_program(parse(EXAMPLES / name / f"{name}.c", options), options)
    scop = compilation.analysis.scop
    for candidate in spoilt_plans(compilation.plan):
        if candidate.kind != kind:
            continue
        try:
            replay(candidate.plan, scop, scop.schedule, compilation.stages["flatten"].schedule)
        except PlanUnsound:
            program = compilation.analysis.program.scop
            if is_wrong(candidate.plan, program):
                return candidate.plan, program
    raise AssertionError(f"{name} has nothing to spoil by {kind}")


@pytest.mark.sample("gemm-tap_dropped")
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["gemm", "mms_d", "gemver"])
def test_simulation_catches_it(name: str, kind: str, tmp_path: Path) -> None:
    plan, program = spoilt(name, kind)
    try:
        failures = simulation_failures(plan, program, tmp_path, "icarus")
    except UnknownOutputError:
        # An address outside of its memory reads nothing that is known.
        return
    assert failures, "the spoilt circuit passed"
