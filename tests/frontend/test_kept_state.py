"""Functions that keep something from call to call, called inside of expressions."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import SideEffect
from rtlgen.source import SourceFile
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import have_gcc, run_gcc

TICK = "static int tick(int by) { static int n; n += by; return n; }"
TWICE = "static int twice(int v) { return tick(v) + 1; }"
FILTER = """static int fir(int v) {
  static int n[3];
  int sum = 0;
  for (int k = 2; k > 0; k--) { n[k] = n[k - 1]; sum += n[k]; }
  n[0] = v;
  return sum + v;
}"""
HEAD = "void f(int a[8], int b[8], int x)"
LOOP = "for (int i = 0; i < 8; i++)"

PROGRAMS = {
    "from two places": f"{TICK} {HEAD} {{ {LOOP} {{ a[i] = tick(1); b[i] = tick(i) - 1; }} }}",
    "under if": f"{TICK} {HEAD} {{ {LOOP} if (a[i] > 3) b[i] = tick(1) + 2; }}",
    "under if and else": f"""{TICK} {HEAD} {{
        {LOOP} if (a[i] > 3) b[i] = tick(1) + 2; else b[i] = tick(2) - 1; }}""",
    "in a condition": f"{TICK} {HEAD} {{ {LOOP} if (a[i] > 3 && tick(2) > 8) b[i] = x; }}",
    "in a subscript": f"{TICK} {HEAD} {{ {LOOP} b[i] = a[tick(1) & 7]; }}",
    "called by another": f"""{TICK} {TWICE} {HEAD} {{
        {LOOP} {{ b[i] = twice(a[i]) * 2; b[i] += tick(3); }} }}""",
    "the argument of itself": f"{TICK} {HEAD} {{ {LOOP} b[i] = 2 * tick(tick(1) & 3); }}",
    "an initial value": f"{TICK} {HEAD} {{ {LOOP} {{ int t[2] = {{tick(x), 1}}; b[i] = *t; }} }}",
    "an array": f"{FILTER} {HEAD} {{ {LOOP} b[i] = fir(a[i]) >> 1; }}",
}


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize("name", PROGRAMS)
def test_each_call_happens_where_it_stands(name: str) -> None:
    scop = parse_text(PROGRAMS[name]).scop
    assert [array.role for array in scop.arrays if array.name == "n"] == ["inout"]
    inputs = random_inputs(scop, 2)
    # Only what is declared outside has a name in a library.
    inside = "static int n[3];" if "fir" in PROGRAMS[name] else "static int n;"
    outside = inside.removeprefix("static ") + PROGRAMS[name].replace(inside, "")
    theirs = run_gcc(replace(scop, source=SourceFile("kernel.c", outside)), inputs)
    mine = run_golden(scop, inputs)
    for array, expected in theirs.arrays.items():
        np.testing.assert_array_equal(mine.arrays[array], expected, err_msg=array)


@pytest.mark.parametrize(
    ("statement", "label"),
    [
        ("b[i] = a[i] > 0 && tick(1);", "writes `n`"),
        ("b[i] = a[i] || tick(1);", "writes `n`"),
        ("b[i] = a[i] > 0 ? tick(1) : 0;", "writes `n`"),
        ("b[i] = tick(1) + tick(a[i]);", "writes `n`, as another call does"),
        ("b[i] = tick(1) + twice(a[i]);", "writes `n`, as another call does"),
        ("b[tick(1) & 7] = tick(2);", "writes `n`, as another call does"),
        ("b[i] = add(tick(1), tick(2));", "writes `n`, as another call does"),
        ("b[i] = count(1) + g;", "writes `g`"),
        ("{ int m = 1; b[i] = step(&m) + m; }", "writes `m`"),
    ],
)
def test_what_depends_on_an_order_or_an_answer_is_refused(statement: str, label: str) -> None:
    helpers = f"""int g; {TICK} {TWICE}
        static int add(int p, int q) {{ int t[1]; t[0] = p; return *t + q; }}
        static int count(int by) {{ g += by; return g; }}
        static int step(int *p) {{ *p += 1; return *p; }}"""
    with pytest.raises(SideEffect) as refused:
        parse_text(f"{helpers} {HEAD} {{ {LOOP} {statement} }}", function="f")
    assert refused.value.diagnostic.labels[0].text == label
