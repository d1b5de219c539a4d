"""`if`s on data: domains for their affine parts, guards for the rest."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.expr import Select
from rtlgen.ir.scop import ConditionNode, Scop, walk_tree
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.accesses import require_in_bounds
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")


def scop_of(text: str) -> Scop:
    return parse_text(text).scop


def test_a_single_assignment_chooses_between_the_new_and_the_old_value() -> None:
    (statement,) = scop_of("""
        void f(int a[8], int m[8]) {
          for (int i = 0; i < 8; i++) if (a[i] > m[i]) m[i] = a[i];
        }""").statements
    assert isinstance(statement.expr, Select)
    assert {str(read) for read in statement.reads} == {"a[i]", "m[i]"}


def test_two_assignments_to_one_place_become_one() -> None:
    scop = scop_of("""
        void f(int a[8], unsigned b[8]) {
          for (int i = 0; i < 8; i++) if (a[i] > 3) { b[i] = -1; } else b[i] = a[i];
        }""")
    assert [str(s.write) for s in scop.statements] == ["b[i]"]
    assert {str(read) for read in scop.statements[0].reads} == {"a[i]"}


@pytest.mark.parametrize(
    "branches",
    [
        "if (a[i] & 8) x ^= a[i]; else x <<= 1;",
        "if (a[i] > x) x = a[i]; else x--;",
        "if (x & 8) { ++x; } else x -= 3;",
    ],
)
def test_two_ways_to_change_one_place_become_one(branches: str) -> None:
    body = branches.replace("x", "b[0]")
    (statement,) = scop_of(
        f"void f(int a[8], int b[1]) {{ for (int i = 0; i < 8; i++) {body} }}"
    ).statements
    assert isinstance(statement.expr, Select)


def test_a_condition_is_kept_when_the_branch_changes_what_it_reads() -> None:
    scop = scop_of("""
        void f(int a[8], int b[8]) {
          for (int i = 0; i < 8; i++) if (a[i] > 3) { a[i] = 0; b[i] = 1; }
        }""")
    assert [str(s.write) for s in scop.statements] == ["condition", "a[i]", "b[i]"]
    free = scop_of("""
        void f(int a[8], int b[8], int c[8]) {
          for (int i = 0; i < 8; i++) if (a[i] > 3) { c[i] = 0; b[i] = 1; }
        }""")
    assert [str(s.write) for s in free.statements] == ["c[i]", "b[i]"]


def test_a_value_that_is_only_used_under_the_guard_needs_none() -> None:
    scop = scop_of("""
        void f(int a[8], int b[8]) {
          for (int i = 0; i < 8; i++) if (a[i] > 3) { int t = b[i] * 2; b[i] = t + 1; }
        }""")
    assert not isinstance(scop.statements[0].expr, Select)
    assert isinstance(scop.statements[1].expr, Select)


def test_the_affine_part_of_a_conjunction_keeps_the_rest_in_bounds() -> None:
    scop = scop_of("""
        void f(int a[8]) {
          for (int i = 0; i < 8; i++) {
            if (i > 0 && a[i - 1] > 3) a[i] = 1;
            if (a[i] < 9 && i < 7 && a[i + 1] > 3) a[i] = 2;
            if (i == 0 || a[i - 1] > 5) a[i] += 3;
            if (!(i == 7 || a[i + 1] > 5)) a[i] += 4; else a[i] -= 1;
          }
        }""")
    require_in_bounds(ScopSets(scop))
    assert sum(isinstance(node, ConditionNode) for node in walk_tree(scop.tree)) >= 5


def test_a_mixed_disjunction_that_cannot_leave_an_array_is_one_statement() -> None:
    scop = scop_of("""
        void f(int a[8], int b[8]) {
          for (int i = 0; i < 8; i++) if (i == 3 || a[i] > 5) b[i] = 0;
        }""")
    assert len(scop.statements) == 1
    assert scop.statements[0].conditions == ()


def test_an_unchosen_division_by_zero_is_no_event() -> None:
    scop = scop_of("""
        void f(int a[8], int b[8]) {
          for (int i = 0; i < 8; i++) {
            if (b[i] != 0) a[i] = a[i] / b[i];
            if (b[i] != 0) { int q = 100 / b[i]; a[i] += q; }
            if (b[i] != 0) if (100 / b[i] > 3) a[i]++;
          }
        }""")
    inputs = random_inputs(scop, 1)
    inputs["b"] = np.zeros_like(inputs["b"])
    assert run_golden(scop, inputs, engine="interpreter").events == ()


@needs_gcc
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_guarded_programs_compute_what_gcc_computes(seed: int) -> None:
    assert_as_gcc(
        """
        int last;
        int f(signed char a[16], short b[16], unsigned char c[16], int n) {
          int count = 0, best = a[0], at = 0;
          for (int i = 0; i < 16; i++) {
            if (a[i] > best) { best = a[i]; at = i; }
            if (a[i] > 0 && b[i] < n || c[i] == 7) count++;
            else if (c[i] & 1) { count += 2; last = i; }
            else { a[i] = ~a[i]; if (a[i] < 0) a[i] >>= 1; else c[i] = a[i]; b[i]--; }
            if (i % 3 == 1) b[i] = count;
            if ((i & 3) == 0) c[i] ^= 0x55; else if (n > 100) c[i]++;
            if (a[i] > 10) {
              for (int j = 0; j < i; j++) { a[j]--; if (a[j] == b[j]) b[j] = 0; }
              if (i > 0 && a[i - 1] > 0) a[i] = a[i - 1];
            }
            int x, y;
            if (b[i]) x = c[i]; else x = -1;
            if (x > 3) { y = x; x = i; } else { y = 2; }
            a[i] += x + y;
            if (n) ; else a[i] = 0;
            if (a[i] & 4) count ^= a[i]; else count <<= 1;
            if (count > 9) last--; else ++last;
            if (last & 1) b[i] += last; else b[i] = -count;
          }
          return best + at * 3 + count;
        }""",
        seed=seed,
    )


@needs_gcc
def test_conversions_happen_before_the_choice() -> None:
    assert_as_gcc("""
        void f(int a[16], long b[16], unsigned u[16]) {
          for (int i = 0; i < 16; i++) {
            if (a[i] > 0) b[i] = -1; else b[i] = u[i];
            if (u[i] > 5) b[i] += u[i]; else b[i] = a[i] - 1u;
            if (a[i] > 9) u[i] *= -1; else u[i]--;
          }
        }""")


ROOM = "int room[8]; for (int i = 0; i < 8; i++) room[i] = 7 - i;"


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "if (room[i] > 0) b[i] += a[i + 1];",
        "b[i] = room[i] > 0 ? a[i + 1] : a[i];",
        "b[i] = room[i] > 0 && a[i + 1] > 0;",
        "b[i] = room[i] == 0 || a[i + 1] > 0;",
        "if (room[i] > 0 && a[i + 1] > 0) { b[i] = 1; a[i] = b[i] - 3; }",
        "if (room[i] > 0 && a[i + 1] > 0) { a[i + 1] = i; b[i] = 7; }",
        "if ((a[i] > 0 || b[i] > 9) && room[i] / (i + 1) > 0) { a[i] = b[i]; b[i] = 2; }",
        "if (room[i] > 0) { if (a[i + 1] > 0) { a[i + 1] = b[i]; b[i] = 5; } else b[i] = 6; }",
        "if (room[i]) a[i + 1] = b[i];",
        "if (room[i]) { a[i + 1] += b[i]; b[i + 1]--; }",
        "int t; if (room[i] > 0) t = a[i + 1]; if (room[i] > 0) b[i] = t;",
    ],
)
def test_what_only_data_keeps_inside_of_its_array_is_as_with_gcc(body: str) -> None:
    assert_as_gcc(
        f"void f(int a[8], int b[8]) {{ {ROOM} for (int i = 0; i < 8; i++) {{ {body} }} }}"
    )


def test_a_guarded_assignment_is_left_out_where_it_would_leave_its_array() -> None:
    program = parse_text("""
        void f(const int x[8], int a[8]) {
          for (int i = 0; i < 8; i++) if (x[i] > 0) a[i + 1] = x[i];
        }""")
    assert [warning.code for warning in program.warnings] == ["W0108"]
    (statement,) = program.scop.statements
    assert [str(condition) for condition in statement.conditions] == ["-i + 6"]
    require_in_bounds(ScopSets(program.scop))
