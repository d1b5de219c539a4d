"""Each pass changes the schedule as it says, and refuses what is no such change."""

from __future__ import annotations

import pytest

from rtlgen.driver import compile_program, parse
from rtlgen.ir.schedule import FlatDim, NestLoop
from rtlgen.ir.scop import Scop
from rtlgen.options import CompileOptions
from rtlgen.options.passes import TRANSFORMS
from rtlgen.poly.legality import find_violation
from rtlgen.transforms.fuse import distribute, flatten, fuse, fused_iterations, pad, permute
from tests.poly.sources import EXAMPLE_NAMES, EXAMPLES, SMALL, analysed, example


def dims(scop: Scop, statement: str) -> str:
    return ", ".join(map(str, scop.schedule.dims[statement]))


def test_distribution_gives_each_statement_a_nest_of_its_own() -> None:
    analysis = analysed(SMALL["product"])
    scop = distribute(analysis.scop, analysis.units)
    assert dims(scop, "S0") == "0, i<3, j<3"
    assert dims(scop, "S1") == "1, i<3, j<3, k<3"
    assert find_violation(analysis.sets, analysis.dependences, scop.schedule) is None


def test_distribution_keeps_a_ring_of_statements_in_its_loops() -> None:
    analysis = analysed(SMALL["stencil"])
    assert [unit.statements for unit in analysis.units] == [("S0", "S1")]
    scop = distribute(analysis.scop, analysis.units)
    assert dims(scop, "S0") == "0, 0, t<2, 0, i<4, 0"
    assert dims(scop, "S1") == "0, 0, t<2, 1, i<4, 0"


def test_permutation_reorders_the_loops_of_one_statement() -> None:
    scop = distribute(example("mms").scop, example("mms").units)
    changed = permute(scop, "S0", ["k", "i", "j"])
    assert dims(changed, "S0") == "0, k<8, i<8, j<8"
    assert dims(changed, "S1") == dims(scop, "S1")


@pytest.mark.parametrize("order", [["i", "j"], ["i", "j", "j"], ["i", "j", "x"]])
def test_permutation_takes_every_loop_once(order: list[str]) -> None:
    analysis = example("mms")
    with pytest.raises(ValueError, match="has the loops"):
        permute(distribute(analysis.scop, analysis.units), "S0", order)


def test_padding_adds_loops_and_lengthens_others() -> None:
    analysis = analysed(SMALL["product"])
    scop = distribute(analysis.scop, analysis.units)
    padded = pad(scop, "S0", [NestLoop("i", 3), NestLoop("j", 4), NestLoop(None, 3, 2)])
    assert dims(padded, "S0") == "0, i<3, j<4, pad@2<3"
    assert find_violation(analysis.sets, analysis.dependences, padded.schedule) is None


@pytest.mark.parametrize(
    "loops",
    [
        [NestLoop("i", 3)],
        [NestLoop("j", 3), NestLoop("i", 3)],
        [NestLoop("i", 2), NestLoop("j", 3)],
        [NestLoop("i", 3, 1), NestLoop("j", 3)],
    ],
    ids=["lost", "reordered", "cut", "cut-below"],
)
def test_padding_keeps_every_iteration_in_order(loops: list[NestLoop]) -> None:
    analysis = analysed(SMALL["product"])
    with pytest.raises(ValueError, match="does not pad"):
        pad(distribute(analysis.scop, analysis.units), "S0", loops)


def test_flattening_and_fusing_give_one_counter_with_shifts() -> None:
    analysis = example("mms_d")
    scop = distribute(analysis.scop, analysis.units)
    for number, name in enumerate(("S0", "S1")):
        scop = flatten(scop, number, {name: FlatDim(scop.schedule.loops(name))})
    assert str(scop.schedule.time("S0")[1]) == "99*i + 11*j + k"
    for shift, legal in ((26, True), (25, False)):
        fused = fuse(scop, {"S0": 0, "S1": shift})
        assert dims(fused, "S1") == f"[i<8, j<12, k<9] + {shift}, 1"
        assert fused_iterations(fused) == 864 + shift
        violation = find_violation(analysis.sets, analysis.dependences, fused.schedule)
        assert (violation is None) == legal


def test_fusing_wants_flattened_nests() -> None:
    analysis = example("mms")
    with pytest.raises(ValueError, match="S0 is not flattened"):
        fuse(distribute(analysis.scop, analysis.units), {"S0": 0, "S1": 0})


@pytest.mark.parametrize("name", EXAMPLE_NAMES)
def test_the_program_after_every_pass_is_legal(name: str) -> None:
    options = CompileOptions()
    compilation = compile_program(parse(EXAMPLES / name / f"{name}.c", options), options)
    analysis = compilation.analysis
    assert list(compilation.stages) == list(TRANSFORMS)
    for stage, scop in compilation.stages.items():
        if stage not in ("parse", "prune", "unroll", "fold", "expand", "strip"):
            schedule = scop.schedule
            assert find_violation(analysis.sets, analysis.dependences, schedule) is None, stage
