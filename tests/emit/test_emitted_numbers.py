"""Programs in floating point as C: what gcc makes of the text has the golden model's bits."""

from __future__ import annotations

from dataclasses import replace
from typing import get_args

import pytest

from rtlgen.emit.unit import c_program
from rtlgen.frontend import parse_text
from rtlgen.ir.expr import COMPARISONS, Cast, Constant, Expr, FloatOp, FloatOperation, Read
from rtlgen.ir.float_flushing import with_flushes
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import LoopNode, Parameter, StatementNode
from rtlgen.ir.types import FLOAT16, FLOAT32, FLOAT64, INT32, FloatType, IntType, NumberType
from rtlgen.verify.data import KINDS, Kind
from tests.emit.execution import Unit, differences
from tests.emit.test_emitted_programs import units_of
from tests.oracles.gcc_oracle import have_gcc
from tests.oracles.scops import access, array, loop, scop

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compile with")
each_kind = pytest.mark.parametrize("kind", KINDS)

PROGRAM = """
#include <math.h>
static const float w[4] = {0.1f, -1e-40f, INFINITY, -0.0f};
static double state;
double g(const float a[8], const double b[8], const int n[8], float r[8], int q[8], double s,
         float t) {
  double total = 0;
  for (int i = 0; i < 8; i++) {
    r[i] = fmaf(a[i], 0.5f, w[i % 4]) - (float)b[i] / n[i] + sqrtf(fabsf(a[i])) * fmaxf(a[i], t);
    q[i] = (int)(a[i] * 4.0f) + (a[i] < b[i]) + (unsigned char)b[i];
    total += b[i] * s > 1e3 ? floor(b[i]) : -rint(a[i]);
    state = fmin(state, ceil(a[i]) + trunc(b[i]) * round(a[i])) + copysign(s, a[i]);
  }
  return total;
}
"""


@each_kind
def test_a_program_in_float_and_double_computes_the_same(kind: Kind) -> None:
    found = units_of(PROGRAM, "numbers")
    assert found and differences(found, kind=kind, seed=3) == []


@each_kind
def test_a_program_without_subnormals_computes_the_same(kind: Kind) -> None:
    program = with_flushes(parse_text(PROGRAM, "numbers.c").scop)
    emitted = c_program(program, "parse")
    assert "flushed_float32(a[i])" in emitted and "flushed_float64(b[i])" in emitted
    assert differences([Unit("numbers.c", program, emitted)], kind=kind, seed=3) == []


def test_its_text_is_what_one_would_write() -> None:
    text = """
    #include <math.h>
    void f(const float x[4], float y[4], float a) {
      for (int i = 0; i < 4; i++) y[i] = sqrtf(a * x[i] + 0.5f) / -2.0f;
    }"""
    emitted = c_program(parse_text(text, "f.c").scop, "parse")
    assert "#include <math.h>" in emitted and "-ffp-contract=off" in emitted
    assert "void f(float x[4], float y[4], float a) {" in emitted
    assert "y[i] = sqrtf((a * x[i]) + 0.5f) / (-2.0f); /* S0, line 4 */" in emitted


def one_loop(expr: Expr, operands: list[NumberType], count: int = 64) -> Unit:
    """Return `r[i] = expr` for all i; the operands are x0[i], x1[i], ..."""
    arrays = [array(f"x{n}", (count,), "in", type_) for n, type_ in enumerate(operands)]
    arrays.append(array("r", (count,), "out", expr.type))
    reads = tuple(access(f"x{n}", "i") for n in range(len(operands)))
    tree = [LoopNode(loop("i", 0, count), (StatementNode("S0"),))]
    program = scop(arrays, tree, {"S0": (access("r", "i"), reads, expr)})
    parameters = tuple(Parameter(a.name, a.element, is_array=True) for a in arrays)
    program = replace(program, parameters=parameters, schedule=Schedule({}))
    return Unit(f"{expr.type}.c", program, c_program(program, "parse"))


ARITY = {"fma": 3} | dict.fromkeys(
    ("add", "sub", "mul", "div", "copysign", "min", "max", "lt", "le", "eq"), 2
)


def all_operations(of: FloatType) -> list[Unit]:
    """Return a program for every operation on numbers of a type."""
    found: list[Unit] = []
    for op in get_args(FloatOp):
        operands = tuple(Read(n, of) for n in range(ARITY.get(op, 1)))
        types: tuple[NumberType, ...] = (INT32,) if op in COMPARISONS else (of,)
        if op == "to_int":
            types = tuple(IntType(bits, sign) for bits in (8, 16, 32, 64) for sign in (True, False))
            types += (IntType(8, False, is_bool=True),)
        if op == "convert":
            types = (FLOAT16, FLOAT32, FLOAT64)
        if op == "from_int":
            integers = [IntType(bits, sign) for bits in (8, 32, 64) for sign in (True, False)]
            found += [one_loop(FloatOperation(op, (Read(0, i),), of), [i]) for i in integers]
            continue
        found += [one_loop(FloatOperation(op, operands, to), [of] * len(operands)) for to in types]
    bits = IntType(of.width_bits, False)
    found += [one_loop(Cast(Read(0, of), bits), [of]), one_loop(Cast(Read(0, bits), of), [bits])]
    found.append(one_loop(Cast(Read(0, of), IntType(8, True)), [of]))
    constants = (0, of.sign_bit, 1, of.infinity - 1, of.infinity, of.nan, of.nan | of.sign_bit | 5)
    for value in (*constants, of.sign_bit | of.infinity):
        chosen = FloatOperation("copysign", (Constant(value, of), Read(0, of)), of)
        found.append(
            one_loop(Cast(chosen, bits), [of]) if value < of.nan else one_loop(chosen, [of])
        )
    return found


@each_kind
@pytest.mark.parametrize("of", [FLOAT16, FLOAT32, FLOAT64], ids=str)
def test_every_operation_computes_the_same(of: FloatType, kind: Kind) -> None:
    assert differences(all_operations(of), kind=kind, seed=1) == []
