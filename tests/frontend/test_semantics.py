"""Programs mean what gcc says they mean: each is run by the golden model and by gcc."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.frontend.text.tokens import split
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import SubscriptError, run_golden
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc, run_gcc

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

PROGRAMS = {
    "what no constant leads to": """
        static long shifted(long x, signed char by) { return by < 0 ? x >> -by : x << by; }
        static long moved(long x, signed char by) { if (by < 0) return x >> -by; return x << by; }
        static int part(int x, int n) { int r = 7; if (n != 0) r = x / n; return r; }
        long f(long a[8], int x) {
          for (int i = 0; i < 8; i++)
            a[i] = shifted(a[i], -8) + moved(a[i], 3) + part(x, 0) + (0 && x / 0) + (1 || x % 0);
          return part(x, 2);
        }""",
    "promotion of narrow types": """
        #include <stdint.h>
        void f(uint8_t a[16], int8_t b[16], int c[16], unsigned d[16]) {
          for (int i = 0; i < 16; i++) {
            c[i] = a[i] + b[i];
            d[i] = a[i] - 300;
            a[i] = a[i] * b[i] >> 3;
            b[i] = ~a[i];
          }
        }""",
    "mixed signedness": """
        void f(int a[16], unsigned b[16], long c[16], unsigned long d[16], int r[16]) {
          for (int i = 0; i < 16; i++) {
            r[i] = (a[i] < b[i]) + 2 * (a[i] < c[i]) + 4 * (c[i] > d[i]) + 8 * (b[i] >= c[i]);
            c[i] = a[i] + b[i];
            d[i] = -b[i] + a[i] * 3u;
          }
        }""",
    "compound assignment converts back": """
        void f(signed char a[16], unsigned short b[16], int c[16]) {
          for (int i = 0; i < 16; i++) {
            a[i] += c[i]; a[i] -= 7L; b[i] *= c[i]; b[i] ^= a[i]; a[i] &= b[i];
            b[i] |= 0x101; b[i] <<= 3; a[i] >>= 1; c[i] /= 3; c[i] %= 1000;
            a[i]++; --b[i];
          }
        }""",
    "literals": """
        void f(long a[12], int b[12]) {
          for (int i = 0; i < 12; i++) {
            a[0] = 0xffffffff + 1; a[1] = 4294967295 + 1; a[2] = -2147483648; a[3] = 017 + 'a';
            a[4] = 0x8000000000000000; a[5] = 5u - 6; a[6] = 5ul - 6; a[7] = '\\n' * '\\x7f';
            a[8] = '\\377'; a[9] = 1ll << 40; a[10] = (1u << 31) >> 31; a[11] = -1 >> 1;
            b[i] = -1 < 1u;
          }
        }""",
    "logic and conditional expressions": """
        void f(int a[16], int b[16], short c[16], unsigned char d[16]) {
          for (int i = 0; i < 16; i++) {
            a[i] = b[i] && c[i] || !d[i];
            b[i] = c[i] > d[i] ? c[i] : d[i] - 1u;
            c[i] = !!a[i] + (a[i] ? b[i] : c[i] ? 3 : -4);
            d[i] = +d[i] == -d[i];
          }
        }""",
    "casts": """
        #include <stdint.h>
        void f(int a[16], uint64_t b[16]) {
          for (int i = 0; i < 16; i++) {
            a[i] = (int8_t)a[i] + (uint16_t)b[i] - (unsigned char)i;
            b[i] = (uint32_t)-a[i] * (int64_t)a[i] + (unsigned)(b[i] >> 7);
          }
        }""",
    "iterators as values": """
        void f(unsigned char a[300], long b[300], unsigned c[300]) {
          for (unsigned short i = 0; i < 300; i++) {
            a[i] = i * 7; b[i] = i - 10; c[i] = i * i * i * 70000;
          }
          for (unsigned i = 0; i < 300; i++) {
            b[i] += i - 10; c[i] ^= (i % 7) * (i / 3) << (i & 3);
          }
          for (signed char i = 0; i < 100; i++) b[i] += (unsigned char)(i * 3) - (i << 4);
        }""",
    "every form of loop": """
        void f(int a[64]) {
          int k;
          for (int i = 0; i < 8; i++) a[i] += 1;
          for (int i = 8; 16 > i; ++i) a[i] += 2;
          for (int i = 23; i >= 16; i--) a[i] += 3;
          for (int i = 31; 23 < i; --i) a[i] += 4;
          for (int i = 32; i <= 39; i += 3) a[i] += i;
          for (int i = 47; i > 40; i -= 2) a[i] += i;
          for (int i = 48; i != 60; i += 4) a[i] += i;
          for (int i = 55; i != 47; i = i - 1) a[i] += i;
          for (k = 60; 64 != k; k = 1 + k) a[k] -= k;
          for (k = 3; k >= 0; k = k - 1) a[k] -= k;
          for (int i = 0; 3 * i < 25; i++) a[i] += 5;
          for (int i = 0; i + 2 <= 9; i++) a[i + 2] += 5;
          for (unsigned i = 7; i > 0; i--) a[i] += 6;
          for (unsigned char i = 0; i < 20u; i += 6) a[i] += 7;
        }""",
    "triangles and trapezoids": """
        void f(int a[16][32]) {
          for (int i = 0; i < 16; i++) {
            for (int j = 0; j < i; j++) a[i][j] += j;
            for (int j = i; j <= 2 * i + 1; j++) a[i][j] -= i;
            for (int j = 15; j > i; j -= 2) a[i][j + 1] ^= 9;
            for (int j = 2 * i + 1; j >= i - 1 + 1; j--) a[15 - i][31 - j] += a[i][j];
          }
        }""",
    "unsigned triangles": """
        void f(int a[16][16]) {
          for (unsigned i = 0; i < 16; i++)
            for (unsigned j = i; j < 16; j++) {
              a[i][j - i] += j - i;
              if (i >= 1) a[i - 1][j] -= 1;
            }
        }""",
    "conditions": """
        void f(int a[12][12]) {
          for (int i = 0; i < 12; i++)
            for (int j = 0; j < 12; j++) {
              if (i == j) a[i][j] = 1; else if (i < j) a[i][j] += 2; else a[i][j] -= 3;
              if (i > 2 && (j <= i + 1 && 2 * j != 50)) a[i][j] *= 5;
              if (i != 0) a[i][j] += a[i - 1][j];
              if (i == 11) { a[i][j] ^= 1; } else { a[i + 1][j] ^= 2; }
              if (!(i >= 3 || j > 4)) a[i][j] <<= 1;
              if (1) a[i][j]++; else a[i][j] = 0;
              if (i) a[i][0]--;
            }
        }""",
    "linearised subscripts and negative coefficients": """
        #define N 9
        void f(int a[N * N], int b[N][N]) {
          for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++) {
              a[i * N + j] += b[N - 1 - i][j];
              b[j][-i + 8] -= a[(N - i) * N - 1 - j];
              a[(i << 1) + (4 * j) / 2] ^= 3;
            }
        }""",
    "locals, globals and constants": """
        enum { ROWS = 4, COLS, LAST = ROWS * COLS - 1 };
        static const int gain = 3;
        typedef short row[COLS];
        int total, table[ROWS][COLS];
        void f(row a[ROWS], int k) {
          const int limit = ROWS;
          int line[COLS], scale = gain * k;
          total = LAST;
          for (int i = 0; i < limit; i++) {
            int sum = 0;
            for (int j = 0; j < COLS; j++) { line[j] = a[i][j] * scale; sum += line[j]; }
            for (int j = 0; j < COLS; j++) table[i][j] = sum - line[j];
            total += sum;
          }
        }""",
    "a returned variable": """
        int f(int a[16]) {
          int s = 0;
          for (int i = 0; i < 16; i++) s += a[i] * i;
          return s;
        }""",
    "a returned expression of another type": """
        unsigned char f(int a[16], int k) {
          long s = 1;
          for (int i = 0; i < 16; i++) s = s * 3 + a[i];
          return (s >> 5) + k;
        }""",
    "shadowed names": """
        int x;
        void f(int a[8], int b[8]) {
          int i = 7;
          for (int j = 0; j < 8; j++) {
            int i = j * 2;
            a[j] = i;
            { int i = 5; a[j] += i; b[j] = x; int x = 4; b[j] += x; }
            a[j] -= i;
          }
          for (int k = 0; k < 8; k++) { int a = 3; b[k] += a * i; }
          for (int k = 0; k < 2; k++) for (int k = 0; k < 8; k++) b[k] += k;
        }""",
    "a region with pragmas": """
        int f(int a[8]) {
          int s = 3;
        #pragma scop
          for (int i = 0; i < 8; i++) s += a[i];
        #pragma endscop
          return s;
        }""",
    "function-like macros": """
        #define MAX(x, y) ((x) > (y) ? (x) : (y))
        #define FOR(v, n) for (int v = 0; v < (n); v++)
        #define AT(m, r, c) m[(r) * 4 + (c)]
        #define NEG -1
        void f(int a[16], int b[16]) {
          FOR(i, 4) FOR(j, 4) { AT(a, i, j) = MAX(AT(a, i, j), AT(b, j, i)) -NEG; }
        }""",
    "fixed parameters are not input": """
        void f(int n, int a[8]) { for (int i = 0; i < 8; i++) a[i] += n; }""",
}


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("name", PROGRAMS)
def test_program_computes_what_gcc_computes(name: str) -> None:
    assert_as_gcc(PROGRAMS[name])


# What a token may become without making the text something other than C.
KINDS = [
    kind.split()
    for kind in (
        "+ - * / % & | ^ << >> < <= > >= == != && ||",
        "= += -= *= &= |= ^= <<= >>=",
        "++ --",
        "int unsigned char short long",
        "i j k a b c n d x s 0 1 2 3 7 8 9 16 4u -1 i*2 i+1 j-i (i<j?1:j) a[i] b[i] -i !i ~j",
    )
]


@settings(max_examples=30, deadline=None)
@given(st.sampled_from(sorted(PROGRAMS.values())), st.data())
def test_changed_programs_compute_what_gcc_computes_or_are_refused(
    text: str, data: st.DataObject
) -> None:
    for _ in range(data.draw(st.integers(1, 5))):
        start, old = data.draw(st.sampled_from(list(split(text))))
        kinds = [kind for kind in KINDS if old in kind]
        if kinds and "#" not in text[text.rfind("\n", 0, start) + 1 : start]:
            new = data.draw(st.sampled_from(kinds[0]))
            text = f"{text[:start]} {new} {text[start + len(old) :]}"
    try:
        scop = parse_text(text).scop
    except FrontendError:
        return
    if max((loop.stop.constant for s in scop.statements for loop in s.loops), default=0) > 1000:
        return
    inputs = random_inputs(scop, seed=1)
    try:
        mine = run_golden(scop, inputs, engine="interpreter")
    except SubscriptError:
        return
    if mine.events or any(w.code in ("W0101", "W0106") for w in parse_text(text).warnings):
        # C gives the program no meaning, or gcc sees text that is left out here.
        return
    theirs = run_gcc(scop, inputs)
    for name, expected in theirs.arrays.items():
        np.testing.assert_array_equal(mine.arrays[name], expected, err_msg=text)
    assert mine.returned == theirs.returned, text


def test_a_wrong_understanding_is_noticed() -> None:
    text = "void f(int a[8]) { for (int i = 0; i < 8; i++) a[i] = OP; }"
    assert_as_gcc(text.replace("OP", "a[i] >> 1"))
    with pytest.raises(AssertionError, match="a\n"):
        # gcc sees the macro of the command line, the front end that of the file.
        assert_as_gcc(
            "#ifdef __GNUC__\n#define OP (unsigned)a[i] >> 1\n#else\n#define OP a[i] >> 1\n#endif\n"
            + text
        )


def test_a_define_fixes_a_scalar_parameter() -> None:
    text = "void f(int n, int a[8]) { for (int i = 0; i < n; i++) a[i] = n; }"
    scop = parse_text(text, defines={"n": "5"}).scop
    assert scop.scalars == ()
    assert str(scop.statements[0].loops[0].stop) == "5"


@pytest.mark.parametrize("seed", [1, 2])
def test_several_bounds_and_sizes(seed: int) -> None:
    assert_as_gcc(
        """
        int g[12];
        void f(int a[16][16], short b[6]) {
          long local[3][5];
          for (int i = 0; i < 16; i++) {
            for (int j = 0; j < i && j < 9; j++) a[i][j] += j;
            for (int j = 15; 2 * i > 3 && j >= i && 20 - i <= j; j--) a[i][j] -= i;
            for (int j = 0; j < 16 && i + j < 20 && j <= 2 * i; j += 3) a[i][j] ^= 5;
          }
          for (unsigned long k = 0; k < sizeof(g) / sizeof(g[0]); k++) g[k] = sizeof(short) + k;
          b[0] = sizeof local; b[1] = sizeof(local[1]); b[2] = sizeof(a[0][1]) - 5;
        }""",
        seed=seed,
    )


@pytest.mark.parametrize(
    "condition",
    ["i < 80 && a[i]", "i < 80 && i != 70", "i < 80 && i * i < 4900"],
)
def test_a_second_condition_that_bounds_nothing_ends_the_loop(condition: str) -> None:
    assert_as_gcc(f"void f(int a[80]) {{ for (int i = 0; {condition}; i++) a[i] = 0; }}")
