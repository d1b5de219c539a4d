"""gcc's reading of a C text agrees with a Scop of it, and disagrees with any other."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, BinaryOp, Cast, Expr, IndexValue, Read, ScalarParameter
from rtlgen.ir.scop import Access, LoopNode, ScalarArgument, Scop, StatementNode
from rtlgen.ir.types import INT32, IntType
from rtlgen.source import SourceFile
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import have_gcc, parameter_names, run_gcc
from tests.oracles.scops import HERE, access, array, loop, scop

pytestmark = pytest.mark.skipif(not have_gcc(), reason="gcc is not installed")

TEXT = """
#ifndef N
#define N 5
#endif
unsigned char g[3];
short total = 7;
int f(int unused[2], unsigned char k, int A[N][N], long long last)
{
  int s;
  for (int i = 0; i < N; i++)
    for (int j = i; j < N; j++) {
      A[i][j] = A[j][i] * k - j;
      total += A[i][j];
    }
  g[1] = g[2] + g[0];
  s = A[0][1];
  return s;
}
"""
INT16, UINT8 = IntType(16, True), IntType(8, False)


def program(subtract: BinaryOp = "sub") -> Scop:
    """Return the Scop of `TEXT`, or of one with another operator in it."""
    product = Binary("mul", Read(0, INT32), Cast(ScalarParameter("k", UINT8), INT32), INT32)
    total = Binary("add", Cast(Read(0, INT16), INT32), Read(1, INT32), INT32)
    bytes_ = Binary("add", Cast(Read(0, UINT8), INT32), Cast(Read(1, UINT8), INT32), INT32)
    body: Mapping[str, tuple[Access, tuple[Access, ...], Expr]] = {
        "S0": (
            access("A", "i", "j"),
            (access("A", "j", "i"),),
            Binary(subtract, product, IndexValue(Affine.variable("j"), INT32), INT32),
        ),
        "S1": (access("total"), (access("total"), access("A", "i", "j")), Cast(total, INT16)),
        "S2": (access("g", 1), (access("g", 2), access("g", 0)), Cast(bytes_, UINT8)),
        "S3": (access("s"), (access("A", 0, 1),), Read(0, INT32)),
    }
    nest = LoopNode(
        loop("i", 0, 5),
        (LoopNode(loop("j", "i", 5), (StatementNode("S0"), StatementNode("S1"))),),
    )
    arrays = [
        replace(array("g", (3,), "inout", UINT8), storage="global"),
        replace(array("total", (), "inout", INT16), storage="global"),
        array("A", (5, 5)),
        array("s", (), "local"),
    ]
    built = scop(
        arrays,
        [nest, StatementNode("S2"), StatementNode("S3")],
        body,
        [ScalarArgument("k", UINT8, HERE)],
        returned="s",
    )
    return replace(built, source=SourceFile("test.c", TEXT))


@pytest.mark.parametrize("seed", range(4))
def test_parameters_globals_scalars_and_the_result_agree(seed: int) -> None:
    inputs = random_inputs(program(), seed)
    golden, second = run_golden(program(), inputs), run_gcc(program(), inputs)
    assert compare_memories(golden.arrays, second.arrays).text() == "all 29 elements agree"
    assert golden.returned == second.returned


def test_a_scop_that_is_not_the_text_is_noticed() -> None:
    wrong = program("add")
    inputs = random_inputs(wrong, 0)
    assert not compare_memories(
        run_golden(wrong, inputs).arrays, run_gcc(wrong, inputs).arrays
    ).exact


def test_inputs_are_left_alone() -> None:
    inputs = random_inputs(program(), 1)
    before = {name: np.array(value) for name, value in inputs.items()}
    run_gcc(program(), inputs)
    assert all(np.array_equal(before[name], value) for name, value in inputs.items())


def test_macros_may_be_defined_from_outside() -> None:
    body = {"S0": (access("A", 0), (), IndexValue(Affine((), 3), INT32))}
    built = scop([array("A", (1,), "out")], [StatementNode("S0")], body)
    text = "void f(int A[1]) { A[0] = VALUE; }"
    given_text = replace(built, source=SourceFile("test.c", text))
    result = run_gcc(given_text, {"A": np.zeros(1, np.int32)}, define=["VALUE=3"])
    assert result.arrays["A"].tolist() == [3]


def test_parameter_names_are_read_in_order() -> None:
    text = (
        "static int g(void) { return f(1); }\nvoid f(const int *restrict p, int A[2][3], long n) {"
    )
    assert parameter_names("f", "int f(int (*a)[8], int b[(2 * (3)) + 1]) {") == ["a", "b"]
    assert parameter_names("f", text) == ["p", "A", "n"]
    assert parameter_names("g", text) == []
    with pytest.raises(ValueError, match="h is not defined"):
        parameter_names("h", text)


def test_a_text_that_gcc_refuses_is_reported() -> None:
    broken = replace(program(), source=SourceFile("test.c", "int f(void) { return }"))
    with pytest.raises(ValueError, match="gcc refuses"):
        run_gcc(broken, random_inputs(broken, 0))
