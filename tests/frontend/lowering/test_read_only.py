"""Functions take the values of what they only read; whatever else is read as it stands."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from tests.frontend.gcc_check import assert_as_gcc

JOB = """
struct job { int n; const int *x; int *y; int gain; };
static int scaled(const struct job *j, int i) { return j->gain * j->x[i]; }
static void step(const struct job *j, int i) { j->y[i] = scaled(j, i) + j->n; }
void run(const struct job *m) {
  for (int i = 0; i < m->n; i++)
    step(m, i);
}
"""

READ = {
    "a parameter": """
static int twice(const int *p) { return *p + p[0]; }
void f(int n, int y[8]) { for (int i = 0; i < 8; i++) y[i] += twice(&n); }
""",
    "what goes on to another function": """
static int inner(const int *q) { return *q + 1; }
static int outer(const int *p) { return inner(p) * *p; }
void f(int n, int y[8]) { for (int i = 0; i < 8; i++) y[i] += outer(&n); }
""",
    "a variable of an iteration": """
static int inner(const int *q) { return *q + 1; }
void f(int y[8]) { for (int i = 0; i < 8; i++) { int k = y[i] * i; y[i] = inner(&k); } }
""",
    "a variable that changes between calls": """
static int inner(const int *q) { return *q + 1; }
void f(int n, int y[8]) { for (int i = 0; i < 8; i++) { y[i] = inner(&n); n += y[i]; } }
""",
    "a variable that is set later": """
static int inner(const int *q) { return *q + 1; }
void f(int n, int y[8]) { int k; for (int i = 0; i < 8; i++) { k = y[i]; y[i] = inner(&k) + n; } }
""",
    "a function with a prototype": """
static int inner(const int *q);
void f(int n, int y[8]) { for (int i = 0; i < 8; i++) y[i] = inner(&n); }
static int inner(const int *q) { return *q + 1; }
""",
}

OTHERS = {
    "a variable that another argument changes": """
static int both(const int *q, int *w) { *w = 3; return *q; }
void f(int n, int y[8]) { for (int i = 0; i < 8; i++) y[i] = both(&n, &n); }
""",
    "an element": """
static int inner(const int *q) { return *q + 1; }
void f(int n, int y[8]) { for (int i = 0; i < 7; i++) y[i] = inner(&n) + inner(&y[i + 1]); }
""",
    "a variable of the file": """
int k;
static int inner(const int *q) { return *q + 1; }
void f(int n, int y[8]) { for (int i = 0; i < 8; i++) { k += n; y[i] = inner(&k); } }
""",
    "a variable that is set by way of a pointer": """
static int inner(const int *q) { return *q + 1; }
void f(int n, int y[8]) { int *w = &n; for (int i = 0; i < 8; i++) { y[i] = inner(&n); *w = i; } }
""",
}


@pytest.mark.parametrize("text", READ.values(), ids=READ)
def test_values_are_handed_over_where_an_address_is_only_read(text: str) -> None:
    program = assert_as_gcc(text)
    assert "&" not in program.lowered and "*q" not in program.lowered


@pytest.mark.parametrize("text", OTHERS.values(), ids=OTHERS)
def test_other_addresses_stay(text: str) -> None:
    program = assert_as_gcc(text)
    assert "const int *q" in program.lowered


def test_members_that_are_fixed_stay_so_in_every_function() -> None:
    defines = {"m_n": "16", "m_x_EXTENT": "16", "m_y_EXTENT": "16"}
    scop = parse_text(JOB, defines=defines).scop
    assert {loop.stop.constant for s in scop.statements for loop in s.loops} == {16}
    assert all(loop.stop.is_constant for s in scop.statements for loop in s.loops)
