"""Loops in lanes are the program that they were, whatever the numbers of iterations and lanes."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.scop import Scop, walk_tree
from rtlgen.options import CompileOptions
from rtlgen.transforms.lanes import LaneWishes, unroll
from rtlgen.transforms.normalise import normalise
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.judges.test_replay import compiled

PROGRAMS = {
    "independent": "void f(int a[13], int b[13]) { for (int i = 0; i < 13; i++) a[i] = b[i] * 3; }",
    "steps down": "void f(int a[16], int b[16]) {"
    " for (int i = 15; i > 1; i -= 2) a[i] += b[i - 1]; }",
    "recurrence": "void f(int a[13], int b[13]) {"
    " for (int i = 1; i < 13; i++) { a[i] = a[i - 1] - b[i]; b[i] = a[i] * 3; } }",
    "triangle": "void f(int a[9][9], int x[9]) {"
    " for (int i = 0; i < 9; i++) for (int j = 0; j <= i; j++) x[i] = x[i] * 3 + a[i][j]; }",
    "matrices": "void f(int a[5][6], int b[6][7], int c[5][7], int n) {"
    " for (int i = 0; i < 5; i++) for (int j = 0; j < 7; j++) { c[i][j] *= n;"
    " for (int k = 0; k < 6; k++) c[i][j] += a[i][k] * b[k][j]; } }",
    "narrow": "void f(signed char s[1], unsigned char a[11]) {"
    " for (int j = 0; j < 11; j++) s[0] -= a[j] * 5; }",
    "condition": "void f(int a[12], int b[12]) {"
    " for (int i = 0; i < 12; i++) if (i > 3) { a[i] += b[i]; b[i] ^= 1; } }",
    "substitution": "void f(int a[9][9], int b[9], int x[9]) { for (int i = 0; i < 9; i++) {"
    " x[i] = b[i]; for (int j = 0; j < i; j++) x[i] -= a[i][j] * x[j]; x[i] /= a[i][i]; } }",
    "decomposition": "void f(int a[7][7]) { for (int i = 0; i < 7; i++) {"
    " for (int j = 0; j < i; j++) {"
    " for (int k = 0; k < j; k++) a[i][j] -= a[i][k] * a[k][j]; a[i][j] /= a[j][j]; }"
    " for (int j = i; j < 7; j++) for (int k = 0; k < i; k++) a[i][j] -= a[i][k] * a[k][j]; } }",
    "factors": "int f(int a[10]) { int p = 1; for (int j = 0; j < 10; j++) p *= a[j]; return p; }",
}

RAGGED = frozenset(
    (("triangle", "j"), ("substitution", "j"), ("decomposition", "j"), ("decomposition", "k"))
)
"""Loops whose number of iterations varies."""


def results(scop: Scop) -> dict[str, list[int]]:
    """Return what the program leaves, by its definition."""
    found = run_golden(scop, random_inputs(scop, 5), engine="interpreter")
    images = {name: np.asarray(image).ravel().tolist() for name, image in found.arrays.items()}
    return images | ({} if found.returned is None else {"return": [found.returned]})


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("lanes", [2, 3, 4, 7, None])
@pytest.mark.parametrize("loop", ["i", "j", "k"])
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_program_computes_what_it_did(name: str, loop: str, lanes: int | None) -> None:
    scop = parse_text(PROGRAMS[name], "program.c").scop
    if f"int {loop} =" not in PROGRAMS[name] or (lanes is None and (name, loop) in RAGGED):
        with pytest.raises(RtlgenError):
            unroll(scop, LaneWishes({loop: lanes}))
        return
    unrolled = unroll(scop, LaneWishes({loop: lanes}))
    assert results(unrolled) == results(scop)
    assert results(normalise(unrolled)) == results(scop)


def statements(text: str, **lanes: int | None) -> list[str]:
    return [
        s.name for s in unroll(parse_text(text, "program.c").scop, LaneWishes(lanes)).statements
    ]


def test_each_lane_has_statements_of_its_own() -> None:
    assert statements(PROGRAMS["recurrence"], i=2) == ["S0", "S1", "S0_1", "S1_1"]
    assert statements(PROGRAMS["matrices"], j=2) == ["S0", "S1", "S0_1", "S1_1"]
    assert statements(PROGRAMS["matrices"], i=2, j=2)[-1] == "S1_1_1"


def test_what_lanes_add_up_is_one_statement() -> None:
    assert statements(PROGRAMS["matrices"], k=3) == ["S0", "S1"]
    found = statements(PROGRAMS["matrices"], j=7, k=6)
    assert found[:4] == ["S0", "S1", "S0_1", "S1_1"] and len(found) == 2 * 7
    double = "int f(int a[9]) { int s = 0; for (int i = 0; i < 3; i++)"
    double += " for (int j = 0; j < 3; j++) s += a[3 * i + j]; return s; }"
    assert statements(double, i=3, j=None) == ["S0", "S1"]


def test_what_lanes_update_and_read_elsewhere_is_not_added_up() -> None:
    text = "void f(int a[9]) { for (int i = 0; i < 8; i++) a[7] += a[i]; }"
    assert len(statements(text, i=4)) == 4
    looked_up = "void f(int a[9], int b[8]) { for (int i = 0; i < 8; i++) a[8] += a[b[i] & 7]; }"
    assert len(statements(looked_up, i=4)) == 4


@pytest.mark.parametrize("lanes", [2, 3, 4])
def test_what_lanes_read_of_other_elements_is_added_up(lanes: int) -> None:
    sum_of_rest = "void f(int a[9]) { for (int i = 0; i < 8; i++) a[8] += a[i]; }"
    assert statements(sum_of_rest, i=lanes) == ["S0"]
    for name in ("substitution", "decomposition"):
        scop = parse_text(PROGRAMS[name], "program.c").scop
        loop = {"substitution": "j", "decomposition": "k"}[name]
        unrolled = unroll(scop, LaneWishes({loop: lanes}))
        assert [s.name for s in unrolled.statements] == [s.name for s in scop.statements]


def test_a_lane_reads_only_where_it_runs() -> None:
    scop = parse_text(PROGRAMS["substitution"], "program.c").scop
    added = unroll(scop, LaneWishes({"j": 2})).statements[1]
    wheres = {str(read): tuple(map(str, read.where)) for read in added.reads}
    assert wheres["x[j]"] == () and wheres["x[j + 1]"] == ("i - j - 2",)
    with pytest.raises(ValueError, match="where it does not read it"):
        replace(added, reads=tuple(replace(r, where=(Affine((), -1),)) for r in added.reads))


@pytest.mark.parametrize("lanes", [2, 3, 4, 9])
@pytest.mark.parametrize(("name", "loop"), [("substitution", "j"), ("decomposition", "k")])
def test_what_is_behind_a_ragged_loop_runs_in_its_last_iteration(
    name: str, loop: str, lanes: int
) -> None:
    scop = parse_text(PROGRAMS[name], "program.c").scop
    every = frozenset(statement.name for statement in scop.statements)
    apart, joint = (
        unroll(scop, LaneWishes({loop: lanes}), names) for names in (frozenset[str](), every)
    )
    longer = [s.name for s, t in zip(joint.statements, apart.statements, strict=True) if s != t]
    assert longer == {"substitution": ["S1", "S2"], "decomposition": ["S0", "S1"]}[name]
    assert results(joint) == results(normalise(joint)) == results(scop)


def test_a_statement_behind_a_loop_that_may_never_run_stays_where_it_is() -> None:
    text = "void f(int a[9][9]) { for (int i = 0; i < 9; i++) {"
    text += " for (int k = 3; k < i; k++) a[i][1] -= a[k][1] * a[i][k]; a[i][1] *= 3; } }"
    scop = parse_text(text, "program.c").scop
    wishes = LaneWishes({"k": 2})
    assert unroll(scop, wishes, frozenset(("S0", "S1"))) == unroll(scop, wishes)


def lane_cycles(text: str, **lanes: int | None) -> int:
    return predicted_cycles(compiled(text, CompileOptions(unroll=lanes)).plan)


@pytest.mark.long
def test_lanes_of_a_decomposition_take_fewer_cycles() -> None:
    text = PROGRAMS["decomposition"].replace("7", "14")
    assert [lane_cycles(text, k=count) for count in (1, 2)] == [514, 432]


def test_no_loop_is_left_of_one_that_is_unrolled_whole() -> None:
    wishes = LaneWishes({"k": None, "j": None})
    scop = unroll(parse_text(PROGRAMS["matrices"], "program.c").scop, wishes)
    loops = [node for node in walk_tree(scop.tree) if hasattr(node, "loop")]
    assert len(loops) == 1


@pytest.mark.parametrize(
    ("lanes", "code"),
    [({"q": 2}, "E0313"), ({"i": 13, "j": 99}, "E0313"), ({"j": None}, "E0314")],
)
def test_what_cannot_be_is_refused(lanes: dict[str, int | None], code: str) -> None:
    text = PROGRAMS["independent"] if "i" in lanes else PROGRAMS["triangle"]
    with pytest.raises(RtlgenError) as caught:
        unroll(parse_text(text, "program.c").scop, LaneWishes(lanes))
    assert caught.value.code == code


@pytest.mark.parametrize(("lanes", "cycles"), [(1, 519), (2, 264), (4, 135), (8, 71)])
def test_lanes_divide_the_cycles_of_a_product(lanes: int, cycles: int) -> None:
    text = (
        "void f(int a[8][8], int b[8][8], int c[8][8], int x, int y) {"
        " for (int i = 0; i < 8; i++) for (int j = 0; j < 8; j++) { c[i][j] *= y;"
        " for (int k = 0; k < 8; k++) c[i][j] += x * a[i][k] * b[k][j]; } }"
    )
    plan = compiled(text, CompileOptions(unroll={"j": lanes})).plan
    assert predicted_cycles(plan) == cycles
    assert plan.memory("a").read_ports <= 2
