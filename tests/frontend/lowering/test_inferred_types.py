"""`typeof`, `auto` and `sizeof` find the types that gcc finds."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import UnsupportedType
from rtlgen.ir.types import IntType
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = """
enum level { LOW, HIGH };
struct pair { short first; unsigned long second[3]; };
typedef unsigned char byte;
typedef short row[3];
static long far(int v) { return v; }
void f(int a[8], int b[8], int x, byte y, row m[2]) """
LOOP = "for (int i = 0; i < 8; i++)"

EXPRESSIONS = (
    "x", "y", "a[0]", "a", "*a", "m[1]", "m[1][0]", "&a[1]", "x + y", "y + y", "-y", "!x", "x + 1u",
    "x * 1L", "y << 3L", "x < y", "x ? y : 1L", "far(x)", "LOW", "'a'", "1.5f + x", "2.0 * y",
    "(byte)x", "sizeof x", "(x, y)", "x = y", "((struct pair *)a)->second",
    "((struct pair *)a)->first", "a + 1", "&a[1] - a", "0xFFFFFFFF", "4294967296", "5uLL",
    "(bool)x", "m", "*m", "(row *)a", "u8'a'", '"text"', r'"\n\x41\0"', "1.0f + 2.0f", "-1.0f",
)  # fmt: skip


@needs_gcc
def test_sizes_and_signs_of_expressions_are_gccs() -> None:
    # A parameter that is an array has the size of a pointer: that is refused, as a mistake.
    sized = [e for e in EXPRESSIONS if e not in ("a", "m")]
    numbers = [e for e in sized if "second" not in e and '"' not in e and "1.0f" not in e]
    signed = [e for e in numbers if "*" not in e.replace("x *", "")]
    sums = "".join(f"b[k++] = sizeof({e});" for e in sized)
    signs = "".join(
        f"{{ typeof({e}) t; t = -1; b[k++] = t < 0; }}"
        for e in signed
        if e not in ("m[1]", "&a[1]", "a + 1", "1.5f + x")
    )
    text = HEAD.replace("b[8]", "b[80]")
    assert_as_gcc(f"{text} {{ int k = 0; {sums} {signs} }}", runs=1)


BODIES = {
    "typeof": f"{LOOP} {{ typeof(a[0]) t = a[i]; __typeof__(x + 1L) u = t; b[i] = u << 20 >> 9; }}",
    "arrays": """typeof(int[8]) t; typeof(t) u; typeof(t[0]) v[2][4];
        for (int i = 0; i < 8; i++) t[i] = v[i / 4][i % 4] = u[7 - i] = a[i];
        for (int i = 0; i < 8; i++) b[i] = t[7 - i] + u[i] - v[i % 2][i / 2];""",
    "auto": f"{LOOP} {{ auto t = a[i] * 2LL; auto u = y; u += 200; b[i] = (t >> 1) + u; }}",
    "auto, shadowed": f"long t = 1; {LOOP} {{ auto t = y; t += 255; b[i] = t; }} b[0] = t;",
    "auto in a header": "for (auto i = (byte)0; i < 8; i++) b[i] = a[i] + sizeof i;",
    "the GNU spelling": f"{LOOP} {{ __auto_type t = 3L * a[i]; b[i] = t >> 2; }}",
    "maximum": f"""{LOOP} {{ typeof(a[i]) p = a[i]; typeof(x) q = x; b[i] = p > q ? p : q; }}""",
    "pointers": "auto p = &a[1]; typeof(p) q = a; for (int i = 0; i < 7; i++) b[i] = p[i] - q[i];",
    "qualifiers": "const auto t = x + 1; const typeof(y) u = 2; b[0] = t * u;",
    "unqualified": "const short c = 5; typeof_unqual(c) t = c; t += x; b[0] = t;",
    "sizes": f"{LOOP} b[i] = a[i] * (int)sizeof(a[i] + 1L) + sizeof(short[3][2]) + sizeof(row);",
}


@needs_gcc
@pytest.mark.parametrize("name", BODIES)
def test_it_means_what_gcc_says(name: str) -> None:
    if name == "unqualified":
        assert parse_text(f"{HEAD} {{ {BODIES[name]} }}").scop.array("t").element == IntType(
            16, True
        )
        return
    assert_as_gcc(f"{HEAD} {{ {BODIES[name]} }}")


def test_a_type_that_nobody_knows_is_refused() -> None:
    with pytest.raises(UnsupportedType) as refused:
        parse_text(f"{HEAD} {{ typeof(unknown[x]) t = 1; b[0] = t; }}")
    assert "the type of this expression is not known" in refused.value.diagnostic.message
    (label,) = refused.value.diagnostic.labels
    assert label.span.length == len("unknown[x]")


NAMED = """
typedef enum { IDLE, RUN = 4, STOP } mode;
struct box { enum kind { SMALL, LARGE = 7 } k; mode m; short v[3]; };
typedef unsigned char byte; typedef byte line[6]; typedef byte *bytes;
static int pick(const byte *p, mode m) {
  enum { SKIP = 2, ALL };
  switch (m) { case IDLE: return p[SKIP]; case RUN: return ALL; default: return -1; } }
int f(line a[4], bytes q, int n, mode how) {
  enum { N = 4 };
  struct box b = { .k = LARGE, .m = RUN };
  enum kind kind = SMALL;
  int s = 0;
  for (int i = 0; i < N; i++) {
    line t;
    for (int j = 0; j < 6; j++) t[j] = a[i][j] + q[j];
    s += pick(t, i & 1 ? b.m : how) + b.k + (kind == SMALL);
    b.v[i % 3] = (byte)(s + sizeof(line));
    s ^= b.v[i % 3];
  }
  return s + (enum kind)n;
}
"""


def test_names_of_types_and_numbers_are_those_that_they_stand_for() -> None:
    program = assert_as_gcc(NAMED)
    assert "enum" not in program.lowered
    assert program.scop.array("q").element == IntType(8, False)


def test_a_type_that_is_not_declared_stays_one() -> None:
    with pytest.raises(UnsupportedType, match="`kind` is not declared"):
        parse_text("int f(int a[4]) { enum kind k = 0; return a[k]; }")
