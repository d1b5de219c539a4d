"""Bounds that are the least or the greatest of several affine functions."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import NonAffineBound
from rtlgen.ir.sets import ScopSets
from rtlgen.transforms.normalise import normalise
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import have_gcc, run_gcc

HEAD = """
#include <math.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((b) <= (a) ? (a) : (b))
static int least(int a, int b) { if (b < a) return b; return a; }
static int greatest(int a, int b) { return a > b ? a : b; }
#define floord(n, d) (((n) < 0) ? -((-(n) + (d) - 1) / (d)) : (n) / (d))
#define ceild(n, d) (((n) < 0) ? -((-(n)) / (d)) : ((n) + (d) - 1) / (d))
#define FLOOR(n, d) floor(((double)(n)) / ((double)(d)))
#define CEIL(n, d) ceil((float)(n) / (float)(d))
static int down(int n, int d) { return n >= 0 ? n / d : (n - d + 1) / d; }
void f(int a[16][16]) { for (int i = 0; i < 16; i++) """

LOOPS = {
    "least of two": "for (int j = 0; j < MIN(10, i + 3); j++)",
    "least of two, inclusive": "for (int j = 0; j <= MIN(10, i + 3); j++)",
    "bound on the left": "for (int j = 0; MIN(10, i + 3) > j; j++)",
    "least by a function": "for (int j = 0; j < least(10, i + 3); j++)",
    "least of three": "for (int j = 0; j < MIN(MIN(12, i + 3), 20 - i); j++)",
    "least, and one less": "for (int j = 0; j < MIN(12, i + 3) - 1; j++)",
    "greatest start": "for (int j = MAX(0, i - 4); j < 16; j++)",
    "greatest start by a function": "for (int j = greatest(i - 4, 0); j < 16; j++)",
    "both": "for (int j = MAX(0, i - 3); j <= MIN(15, i + 3); j++)",
    "downwards": "for (int j = MIN(15, i + 3); j >= MAX(2, i - 3); j--)",
    "steps": "for (int j = 0; j < MIN(10, i + 3); j += 3)",
    "unsigned": "for (unsigned j = 0; j < MIN(10u, (unsigned)i + 3u); j++)",
    "blocks": "for (int j = i; j < MIN(16, i + 5); j++)",
    "empty for some": "for (int j = 4; j < MIN(9, i); j++)",
    "neither of two": "for (int j = 0; j < (i < 5 ? i : 16 - i); j++)",
    "the least by where they cross": "for (int j = 0; j < (i < 8 ? i : 16 - i); j++)",
    "half": "for (int j = 0; j < i / 2; j++)",
    "half, inclusive, from half of it": "for (int j = i / 4; j <= i / 2; j++)",
    "shifted": "for (int j = i >> 1; j < (i + 17) >> 1; j++)",
    "quotient, downwards": "for (int j = (i + 1) / 2; j >= i / 3; j--)",
    "bound on the left, a quotient": "for (int j = 15; (2 * i + 1) / 3 < j; j--)",
    "rounded down": "for (int j = 0; j <= floord(2 * i - 9, 3); j++)",
    "rounded up": "for (int j = MAX(0, ceild(3 * i - 20, 4)); j < 16; j++)",
    "a multiple": "for (int j = MAX(0, ceild(4 * i - 15, 4)); j < floord(12 * i + 7, 18); j++)",
    "rounded both ways": "for (int j = ceild(i, 3); j < MIN(16, floord(3 * i + 7, 5)); j++)",
    "rounded as double": "for (int j = MAX(CEIL(i - 9, 4), 0); j <= FLOOR(2 * i - 5, 3); j++)",
    "rounded by a function": "for (int j = 3; j <= down(5 * i - 20, 4) - 1 && j < 16; j++)",
}


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize("name", LOOPS)
def test_the_loop_runs_as_in_c(name: str) -> None:
    scop = parse_text(f"{HEAD} {LOOPS[name]} a[i][j] = 3 * a[i][j] + i; }}", function="f").scop
    inputs = random_inputs(scop, 1)
    expected, got = run_gcc(scop, inputs), run_golden(scop, inputs)
    assert (expected.arrays["a"] == got.arrays["a"]).all()


def test_the_domain_is_exact() -> None:
    text = f"{HEAD} for (int j = MAX(0, i - 3); j <= MIN(15, i + 3); j++) a[i][j] = 1; }}"
    scop = normalise(parse_text(text, function="f").scop)
    expected = sum(1 for i in range(16) for j in range(16) if abs(i - j) <= 3)
    (domain,) = ScopSets(scop).domains.values()
    assert domain.count_val().to_python() == expected


@pytest.mark.parametrize(
    "loop",
    [
        "for (int j = 0; j < i * a[0][1]; j++)",
        "for (int j = i % (a[0][1] + 1); j < 16; j += 2)",
        "for (int j = 15; j != i * a[0][1] / 16; j--)",
    ],
)
def test_what_is_no_such_bound_is_refused(loop: str) -> None:
    with pytest.raises(NonAffineBound):
        parse_text(f"{HEAD} {loop} a[i][0] = 1; }}", function="f")
