"""Normalising changes how loops count, and nothing that the program computes."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings

from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Constant
from rtlgen.ir.scop import LoopNode, Scop, StatementNode, walk_tree
from rtlgen.ir.types import INT32
from rtlgen.transforms.normalise import normalise
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import SubscriptError, run_golden
from tests.oracles.scops import access, array, loop, random_scops, scop
from tests.poly.enumeration import instances


@pytest.mark.long
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(random_scops())
def test_the_normalised_program_computes_the_same(program: Scop) -> None:
    inputs = random_inputs(program, 1)
    try:
        expected = run_golden(program, inputs, engine="interpreter")
    except SubscriptError:
        assume(False)
    normal = normalise(program)
    got = run_golden(normal, inputs, engine="interpreter")
    for name, image in expected.arrays.items():
        np.testing.assert_array_equal(got.arrays[name], image)
    assert got.returned == expected.returned
    loops = [node.loop for node in walk_tree(normal.tree) if isinstance(node, LoopNode)]
    assert all((loop.start, loop.step) == (Affine(), 1) for loop in loops)


@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(random_scops())
def test_instances_keep_their_order_and_their_names(program: Scop) -> None:
    normal = normalise(program)
    before = [program.statement(i.statement).instance_text(i.point) for i in instances(program)]
    after = [normal.statement(i.statement).instance_text(i.point) for i in instances(normal)]
    assert after == before


@pytest.mark.long
@settings(max_examples=50, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)
@given(random_scops())
def test_the_schedule_is_program_order(program: Scop) -> None:
    normal = normalise(program)
    times = []
    for instance in instances(normal):
        iterators = normal.statement(instance.statement).iterators
        values = dict(zip(iterators, instance.point, strict=True))
        times.append(tuple(t.evaluate(values) for t in normal.schedule.time(instance.statement)))
    assert times == sorted(set(times))


def test_statements_of_one_loop_keep_step_where_their_boxes_begin_apart() -> None:
    text = """void f(int x[4], int L[4][4]) {
      for (int i = 0; i < 4; i++) {
        x[i] = L[i][i];
        for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
      } }"""
    normal = normalise(parse_text(text, "f.c").scop)
    assert [loop.at for loop in normal.schedule.loops("S1")] == [1, 0]
    assert str(normal.schedule.time("S0")[1]) == str(normal.schedule.time("S1")[1]) == "i"


def test_statements_that_never_run_are_left_out() -> None:
    nothing, everything = loop("j", Affine.of({"i": 1}, 4), 4), loop("j", 0, 4)
    tree = [
        LoopNode(
            loop("i", 0, 4),
            (
                LoopNode(nothing, (StatementNode("S0"),)),
                LoopNode(everything, (StatementNode("S1"),)),
            ),
        )
    ]
    body = (access("A", "j"), (), Constant(1, INT32))
    normal = normalise(scop([array("A", (4,))], tree, {"S0": body, "S1": body}))
    assert [statement.name for statement in normal.statements] == ["S1"]
    assert len(instances(normal)) == 16
