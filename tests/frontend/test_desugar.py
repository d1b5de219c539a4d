"""Shorthands mean what C says they mean, in the order that C says."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import have_gcc, run_gcc

HEAD = "int g; void f(int a[16], short b[16], int n) "

BODIES = {
    "a continued loop": (
        "int k = 0, i = 0;\n#pragma rtlgen bound 9\ndo { i++; if (a[i & 3] > 0) continue; "
        "b[i & 3] = k; } while (i < 9 && (n || k--)); b[0] += i;"
    ),
    "chain": "for (int i = 0; i < 16; i++) a[i] = b[i] = a[i] * 3;",
    "chain of three": "int t; for (int i = 0; i < 16; i++) a[i] = t = b[i] = a[i] + n;",
    "chain of compound assignments": "for (int i = 0; i < 16; i++) a[i] += b[i] -= a[i];",
    "declared by a chain": "for (int i = 0; i < 16; i++) { int t = b[i] = a[i]; a[i] = t; }",
    "chain with a step": "int k = 0; for (int i = 0; i < 16; i++) a[k++] = b[i] = a[i] - 1;",
    "comma": "for (int i = 0; i < 16; i++) a[i] = n, b[i] = 7;",
    "comma under if": "for (int i = 0; i < 16; i++) if (a[i] > 0) a[i] = 0, b[i]++;",
    "comma under else": "for (int i = 0; i < 16; i++) if (a[i]) b[i] = 0; else a[i] = 1, b[i]--;",
    "step before": "int k = 0; for (int i = 1; i < 16; i++) a[++k] = b[i];",
    "step behind": "int k = 0; for (int i = 0; i < 16; i++) b[i] = a[k++] + n;",
    "two steps": "int k = 0, m = 15; for (int i = 0; i < 16; i++) a[k++] = b[m--];",
    "step in a condition of ?:": "int k = 3; for (int i = 0; i < 9; i++) a[i] = k++ > n ? 1 : 2;",
    "step of a counter of data": "for (int i = 0; i < 16; i++) a[i] = g++ * b[i];",
    "two iterators": "int i, j; for (i = 0, j = 15; i < 16; i++, j--) a[i] = b[j];",
    "do once": "for (int i = 0; i < 16; i++) do { int t = b[i]; a[i] = t = t + 1; } while (0);",
    "label": "for (int i = 0; i < 16; i++) { both: a[i] = b[i] = 2; }",
    "set in a condition": "int t; if ((t = b[3]) > n) a[0] = t; else a[1] = t;",
    "stepped by data in a condition": "if ((b[4] ? n : 3) < (g += b[3]) || n) a[0] = g;",
    "an element stepped beside a call": (
        "for (int i = 0; i < 16; i++) if (abs(b[i]) > a[i & 3]++) g += i; else g ^= a[i];"
    ),
    "no use": "(void)n; (void)g; a[0] = 1;",
    "stepped in one arm": "int k = 0, m = 9; for (int i = 0; i < 8; i++) b[i] = a[i] ? k++ : --m;",
    "elements in both arms": (
        "int i = 0, j = 8; for (int k = 0; k < 8; k++) b[k] = a[i] < a[j] ? a[i++] : a[j++];"
    ),
    "arms of two types": "unsigned u = 3; int k = -9; a[0] = (n ? u-- : k++) / 2; a[1] = u + k;",
    "one of two questions": "int k = 0; a[0] = n && k++; a[1] = n || k--; a[2] = k;",
    "one of two steps": "int k = 5; n > 3 || k++; n > 3 && k--; n ? k++ : g--; a[0] = k;",
    "set in the second question": "int k = 0; if (n > 3 && (k = b[1])) a[0] = k; a[1] = k;",
    "in the else of two questions": (
        "int k = 0; if (n > 3 && (k = b[1]) > 0) a[0] = k; else if (n || k++) a[2] = 9; a[1] = k;"
    ),
    "one in another": "int k = 0, m = 7; a[0] = n ? (m > b[0] ? k++ : m--) : (g && k--); a[m] = k;",
    "two beside each other": "int k = 2, m = 7; a[0] = (n ? k++ : 3) - (b[0] ? m-- : 4); a[m] = k;",
    "comma in an expression": "int k; a[0] = (k = n & 7, k * k) + 1; if (b[k] = 3, n) a[1] = b[k];",
    "comma of nothing": "a[0] = (n, 3);",
    "comma in what a call is given": "a[0] = abs((n, 3 - b[0]));",
    "a loop that asks by the way": (
        "int k = 3, i = 0; while (i < 16 && (b[i] > 0 || k-- > 0)) { a[i] = k; i++; } a[0] = i;"
    ),
    "a loop with a choice": (
        "int k = 3; for (int i = 0; i < 16 && (b[i] & 1 ? k-- : k++); i++) a[i] = k;"
    ),
    "asked behind a continue": (
        "int k = 3, i = 0; do { i++; if (a[i & 7] > 0) continue; b[i] = k; } while (i < 12 && "
        "k-- > 0);"
    ),
    "asked behind": "int k = 3, i = 0; do { a[i] = k; i++; } while (i < 16 && (b[i] || k--));",
    "nothing in one case": (
        "int k = 0, m = 9; n > 3 ? (a[2] = n, k++) : 0; n > 5 ? (void)0 : (void)m--; k++, 0; "
        "a[0] = k; a[1] = m;"
    ),
    "a question of no number": (
        "int k = 0, m = 4; float x = 0, y = 0; x /= x; x < 1 || k++; "
        "while (k < 30 && y < 9 && (b[0] & 1 || m-- > 0)) { k++; y += k == 3 ? x : 1; } a[0] = k;"
    ),
    "hidden where it is asked": (
        "int i = 2, k = 0; do { int i = b[k]; a[k] = i; } "
        "while (++k < 16 && (b[k] & 1 || i-- > 0));"
    ),
    "labelled loop": "int j; here: for (int i = 0, j = 1; i < 15; i++, j++) a[i] = b[j];",
}


@pytest.mark.sample(every=2)
@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize("name", BODIES)
def test_it_means_what_gcc_says(name: str) -> None:
    scop = parse_text(f"{HEAD} {{ {BODIES[name]} }}").scop
    inputs = random_inputs(scop, 3)
    expected, got = run_gcc(scop, inputs), run_golden(scop, inputs)
    for array in expected.arrays:
        assert (expected.arrays[array] == got.arrays[array]).all(), array


@pytest.mark.parametrize(
    "body",
    [
        "a[0] = abs((n++, a[2]));",
        "int k = 0; a[k] = n ? k++ : 3;",
        "int k = 0; a[0] = k + (n && k++);",
        "int k = 0; k = n ? k++ : a[3];",
        "int k = 0; a[0] = g + (n ? a[0]++ : 3);",
        "int k = 0; a[k++] = k;",
        "int k = 0; a[k++] = b[k] = 1;",
        "int k = 0; if (k++ > k) a[0] = 1;",
        "int k = 0; if ((k = n) > k) a[0] = 1;",
        "int k = 0; if ((k = n++) > a[1]) a[0] = k;",
        "int k = 0; if ((a[n & 1] = n) > a[0]) a[0] = k;",
    ],
)
def test_what_is_no_shorthand_is_refused(body: str) -> None:
    with pytest.raises(FrontendError):
        parse_text(f"{HEAD} {{ {body} }}")


def test_a_label_names_the_loop_and_not_its_parts() -> None:
    text = f"{HEAD} {{ int j; here: for (int i = 0, j = 1; i < 15; i++, j++) a[i] = b[j]; }}"
    scop = parse_text(text).scop
    assert [loop.label for loop in scop.statements[0].loops] == ["here"]
    assert [statement.name for statement in scop.statements] == ["S0"]
