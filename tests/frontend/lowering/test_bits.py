"""Bit-precise integers mean what C23 says: no promotion, and as many bits as they have.

Compilers of 2022 do not know them. Each program stands beside one in types that they know, in which
every conversion is written out by hand; gcc says what that computes.
"""

from __future__ import annotations

import random

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError, UnsupportedType
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc, run_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

PRELUDE = """
#define U(n, x) ((unsigned long)(x) & ((n) == 64 ? ~0UL : (1UL << ((n) & 63)) - 1))
#define S(n, x) ((long)((unsigned long)(x) << (64 - (n))) >> (64 - (n)))
"""
PARAMETERS = "unsigned char a[8], signed char b[8], int c[8], long d[8], int x"
LOOP = "for (int i = 0; i < 8; i++)"

PAIRS = {
    "sums wrap in their own width": (
        f"unsigned _BitInt(7) s = x; {LOOP} {{ s += a[i]; c[i] = s; }}",
        f"unsigned s = U(7, x); {LOOP} {{ s = U(7, U(7, s) + a[i]); c[i] = s; }}",
    ),
    "signed ones, too": (
        f"_BitInt(5) s = x; {LOOP} {{ s = s * (_BitInt(5))3 - (_BitInt(4))b[i]; c[i] = s; }}",
        f"int s = S(5, x); {LOOP} {{ s = S(5, S(5, s * 3) - S(4, b[i])); c[i] = s; }}",
    ),
    "int is wider": (
        f"unsigned _BitInt(7) s = 100; {LOOP} c[i] = s * b[i] + s;",
        f"int s = 100; {LOOP} c[i] = s * b[i] + s;",
    ),
    "and 40 bits are wider than int": (
        f"_BitInt(40) s = x; {LOOP} {{ s = s * 1000 + c[i]; d[i] = s; }}",
        f"long s = x; {LOOP} {{ s = S(40, S(40, s * 1000) + c[i]); d[i] = s; }}",
    ),
    "unsigned wins in one width": (
        f"unsigned _BitInt(9) u = a[0]; _BitInt(9) s = x; {LOOP} c[i] = (u - s) / (u | 1uwb);",
        f"unsigned u = a[0]; {LOOP} c[i] = U(9, u - U(9, S(9, x))) / (u | 1);",
    ),
    "int of 32 bits ranks above": (
        f"""_BitInt(32) s = x; unsigned _BitInt(32) u = x;
        {LOOP} d[i] = (s < a[i]) + (u + c[i] > 5);""",
        f"{LOOP} d[i] = (x < a[i]) + ((unsigned)x + (unsigned)c[i] > 5);",
    ),
    "shifts keep the left type": (
        f"unsigned _BitInt(6) u = x; {LOOP} c[i] = (u << (i & 3)) + (u >> 1) + (u << 1wb);",
        f"""unsigned u = U(6, x);
        {LOOP} c[i] = U(6, U(6, U(6, u << (i & 3)) + (u >> 1)) + U(6, u << 1));""",
    ),
    "not and minus": (
        f"unsigned _BitInt(3) u = x; _BitInt(3) s = x; {LOOP} c[i] = -u * 8 + ~u + -s + (!s << 9);",
        f"""int u = U(3, x), s = S(3, x);
        {LOOP} c[i] = U(3, -u) * 8 + (int)U(3, ~u) + S(3, -s) + (!s << 9);""",
    ),
    "the least number has no opposite": (
        f"_BitInt(4) s = x; {LOOP} c[i] = -s / (_BitInt(4))-1 + s / (_BitInt(2))-1;",
        f"int s = S(4, x); {LOOP} c[i] = S(4, S(4, S(4, -s) / -1) + S(4, s / -1));",
    ),
    "literals are as short as they can be": (
        f"{LOOP} c[i] = 3wb + 3wb + (7uwb + 1uwb) * 10 + (0wb - 1wb);",
        f"{LOOP} c[i] = S(3, 6) + U(3, 8) * 10 + S(2, -1);",
    ),
    "arms and conditions": (
        f"""unsigned _BitInt(5) u = x;
        {LOOP} {{ if (u + u) c[i] = i & 1 ? u : (_BitInt(7))b[i]; u++; }}""",
        f"""int u = U(5, x);
        {LOOP} {{ if (U(5, u + u)) c[i] = i & 1 ? u : S(7, b[i]); u = U(5, u + 1); }}""",
    ),
    "arrays, typedefs and structures": (
        f"""typedef unsigned _BitInt(11) u11;
        struct pair {{ u11 first; _BitInt(3) second; }} p = {{x, x}};
        u11 t[3] = {{x, 5000, c[0]}};
        {LOOP} {{
          p.first += t[i % 3]; p.second--; t[i % 3] <<= 1; c[i] = p.first * 9 + p.second;
        }}""",
        f"""int first = U(11, x), second = S(3, x), t[3] = {{U(11, x), U(11, 5000), U(11, c[0])}};
        {LOOP} {{ first = U(11, first + t[i % 3]); second = S(3, second - 1);
          t[i % 3] = U(11, t[i % 3] << 1); c[i] = first * 9 + second; }}""",
    ),
    "calls": (
        f"{LOOP} c[i] = more(x + i) + less(a[i], b[i]);",
        f"{LOOP} c[i] = S(6, U(4, U(4, x + i) + 9) + S(6, U(4, a[i]) - S(6, b[i])));",
    ),
    "compound assignments are made in the common type": (
        f"""unsigned _BitInt(5) u = x;
        {LOOP} {{ u += u * u + 3uwb; c[i] += u * u; b[i] -= u * 3uwb; d[i] *= u + 1; }}""",
        f"""int u = U(5, x);
        {LOOP} {{ u = U(5, u + U(5, u * u + 3)); c[i] += (int)U(5, u * u);
          b[i] -= (int)U(5, u * 3); d[i] *= u + 1; }}""",
    ),
    "arrays without a name": (
        f"""unsigned _BitInt(5) u = x;
        {LOOP} c[i] = (int[]){{u * u, u, 7}}[i % 3] + (unsigned _BitInt(4)[]){{x, a[i]}}[i & 1];""",
        f"""int u = U(5, x);
        {LOOP} c[i] = (int[]){{U(5, u * u), u, 7}}[i % 3] + (int)U(4, i & 1 ? a[i] : x);""",
    ),
    "one bit": (
        f"unsigned _BitInt(1) flag = x; {LOOP} {{ flag = flag ^ a[i]; c[i] = flag; flag += 1; }}",
        f"""int flag = U(1, x);
        {LOOP} {{ flag = U(1, flag ^ a[i]); c[i] = flag; flag = U(1, flag + 1); }}""",
    ),
    "64 bits": (
        f"""unsigned _BitInt(64) u = x; _BitInt(64) s = x;
        {LOOP} {{ u *= u + 3; d[i] = u > s; d[i] += s * i; }}""",
        f"""unsigned long u = x;
        {LOOP} {{ u *= u + 3; d[i] = u > (unsigned long)x; d[i] += (long)x * i; }}""",
    ),
}  # fmt: skip

HELPERS = """
static unsigned _BitInt(4) more(unsigned _BitInt(4) v) { return v + 9; }
static _BitInt(6) less(unsigned _BitInt(4) v, _BitInt(6) w) { _BitInt(6) t = v; return t - w; }
"""


def assert_same(precise: str, plain: str, seed: int) -> None:
    mine = parse_text(precise, function="f").scop
    inputs = random_inputs(mine, seed)
    theirs = run_gcc(parse_text(plain).scop, inputs)
    golden = run_golden(mine, inputs)
    for name, expected in theirs.arrays.items():
        np.testing.assert_array_equal(golden.arrays[name], expected, err_msg=precise)


@needs_gcc
@pytest.mark.parametrize("name", PAIRS)
def test_it_computes_what_is_written_out_by_hand(name: str) -> None:
    precise, plain = PAIRS[name]
    for seed in (1, 2):
        assert_same(
            f"{HELPERS if name == 'calls' else ''} void f({PARAMETERS}) {{ {precise} }}",
            f"{PRELUDE} void f({PARAMETERS}) {{ {plain} }}",
            seed,
        )


@needs_gcc
def test_what_comes_from_outside_has_no_other_bits() -> None:
    precise = "void f(unsigned _BitInt(5) a[8], _BitInt(3) b[8], int c[8], _BitInt(6) x) "
    plain = "void f(unsigned char a[8], signed char b[8], int c[8], signed char x) "
    for seed in (1, 2):
        assert_same(
            f"{precise} {{ {LOOP} c[i] = a[i] * 100 + b[i] * 10 + x; }}",
            f"{PRELUDE} {plain} {{ {LOOP} c[i] = U(5, a[i]) * 100 + S(3, b[i]) * 10 + S(6, x); }}",
            seed,
        )


def _random(draw: random.Random, depth: int) -> tuple[str, str, int, bool, bool]:
    """Return an expression, the same in long with its width by hand, and its type."""
    if depth == 0 or draw.random() < 0.1:
        width, signed = draw.randint(2, 40), draw.random() < 0.5
        name = draw.choice(("x", "c[i]", "b[i]", "a[i]"))
        if draw.random() < 0.3:
            return f"({name} + 0)", f"((long)({name} + 0))", 32, True, False
        sign = "" if signed else "unsigned "
        by_hand = f"((long){'S' if signed else 'U'}({width}, {name}))"
        return f"(({sign}_BitInt({width})){name})", by_hand, width, signed, True
    left, right = _random(draw, depth - 1), _random(draw, depth - 1)
    op = draw.choice("+-*&|^")
    wide = max(left[2], right[2])
    exact = not any(side[2] == wide and not side[4] for side in (left, right))
    signed = all(side[3] for side in (left, right) if side[2] == wide)
    form = f"((long){'S' if signed else 'U'}({wide}, "
    first, second = (f"{form}{side[1]}))" for side in (left, right))
    return f"({left[0]} {op} {right[0]})", f"{form}{first} {op} {second}))", wide, signed, exact


@needs_gcc
@pytest.mark.parametrize(("count", "depth"), [(12, 2), pytest.param(60, 3, marks=pytest.mark.long)])
def test_random_expressions_have_the_types_of_the_standard(count: int, depth: int) -> None:
    draw = random.Random(3)
    made = [_random(draw, depth) for _ in range(count)]
    for part in (made[k : k + 6] for k in range(0, count, 6)):
        precise = "".join(f"d[i] = d[i] * 31 + {each[0]};" for each in part)
        plain = "".join(f"d[i] = d[i] * 31 + {each[1]};" for each in part)
        assert_same(
            f"void f({PARAMETERS}) {{ {LOOP} {{ {precise} }} }}",
            f"{PRELUDE} void f({PARAMETERS}) {{ {LOOP} {{ {plain} }} }}",
            4,
        )


def test_a_variable_takes_the_memory_of_the_next_wider_type() -> None:
    scop = parse_text("void f(unsigned _BitInt(9) a[8], _BitInt(3) b[8]) { b[0] = a[0]; }").scop
    assert [(str(array.element), array.name) for array in scop.arrays] == [
        ("uint16", "a"),
        ("int8", "b"),
    ]


@needs_gcc
def test_programs_without_them_are_left_alone() -> None:
    assert_as_gcc(f"void f({PARAMETERS}) {{ auto t = x; {LOOP} c[i] = t + a[i]; }}")


@pytest.mark.parametrize(
    ("statement", "message"),
    [
        ("_BitInt(65) t = x; c[0] = t;", "the width of this bit-precise integer"),
        ("_BitInt(1) t = x; c[0] = t;", "the width of this bit-precise integer"),
        ("_BitInt(x) t = x; c[0] = t;", "the width of this bit-precise integer"),
        ("_BitInt(9) t = x; c[0] = t++;", "a bit-precise integer is stepped inside"),
        ("_BitInt(9) t[2] = {x}; int k = 0; t[k++] += 1; c[0] = *t;", "this is evaluated twice"),
        ("_BitInt(9) t = unknown(x); c[0] = t;", "its type is not known"),
        ("c[0] = 99999999999999999999wb;", "larger than any 64-bit type"),
    ],
)
def test_what_is_not_supported_is_refused(statement: str, message: str) -> None:
    with pytest.raises(UnsupportedType) as refused:
        parse_text(f"void f({PARAMETERS}) {{ {statement} }}")
    assert message in refused.value.diagnostic.message


def test_an_iterator_that_is_one_is_right_or_refused() -> None:
    text = f"void f({PARAMETERS}) {{ for (unsigned _BitInt(4) i = 0; i < 8; i++) c[i] = a[i]; }}"
    try:
        scop = parse_text(text).scop
    except FrontendError:
        return
    inputs = random_inputs(scop, 1)
    golden = run_golden(scop, inputs)
    assert golden.arrays["c"].tolist() == golden.arrays["a"].tolist()
