"""What outlives a run: globals and `static` variables, with and without initial values."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.ir.scop import Scop
from rtlgen.verify.golden import run_golden
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc


def stored(scop: Scop) -> dict[str, str]:
    return {array.name: array.storage for array in scop.arrays if array.storage != "parameter"}


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_what_no_function_changes_is_a_constant() -> None:
    text = """
        int gain = 5;
        short weights[4] = {3, -1, 4};
        static int size(int n) { return n * gain; }
        void f(int a[8]) { for (int i = 0; i < 8; i++) a[i] = size(a[i]) + weights[i & 3]; }"""
    assert_as_gcc(text)
    (table,) = (a for a in parse_text(text, function="f").scop.arrays if a.name == "weights")
    assert table.values == (3, -1, 4, 0)


@pytest.mark.parametrize(
    "change",
    ["t[0] = 1;", "t[i]++;", "set(t);", "set(&t[1]);", "int *p = t; p[1] = 2;", "*(t + 1) -= 3;"],
)
def test_what_some_function_changes_is_loaded_by_the_host(change: str) -> None:
    program = parse_text(
        f"""
        static int t[4] = {{1, 2}};
        static void set(int *p) {{ p[0] = 7; }}
        void f(int a[8]) {{ for (int i = 0; i < 3; i++) {{ {change} a[i] = t[i]; }} }}""",
        function="f",
    )
    assert stored(program.scop) == {"t": "global"}
    assert [w.code for w in program.warnings] == ["W0109"]


@pytest.mark.parametrize(
    "use",
    ["get(t[i])", "first(t)", "(int)sizeof(t)"],
)
def test_what_functions_only_read_is_a_constant(use: str) -> None:
    program = parse_text(
        f"""
        static int t[4] = {{1, 2}};
        static int get(int x) {{ if (x) x += 2; return x; }}
        static int first(const int *p) {{ return p[0]; }}
        void f(int a[8]) {{ for (int i = 0; i < 3; i++) a[i] = {use} + t[i]; }}""",
        function="f",
    )
    assert program.warnings == () and "t" in stored(program.scop)
    assert program.scop.array("t").values == (1, 2, 0, 0)


def test_a_variable_that_starts_with_0_is_loaded_without_a_warning() -> None:
    program = parse_text("int n = 0; void f(int a[8]) { n += a[0]; a[1] = n; }")
    assert stored(program.scop) == {"n": "global"} and program.warnings == ()


def test_a_static_variable_keeps_its_content_from_run_to_run() -> None:
    scop = parse_text("int f(int x) { static int total; total += x; return total; }").scop
    first = run_golden(scop, {"x": 5, "total": 2})
    assert (first.returned, int(first.arrays["total"])) == (7, 7)
    assert run_golden(scop, {"x": 5, "total": first.arrays["total"]}).returned == 12


def test_calls_of_one_function_share_its_static_variable() -> None:
    scop = parse_text("""
        static void push(int x, int y[1]) { static int last; y[0] += last; last = x; }
        void f(int y[1]) { push(3, y); push(4, y); }""").scop
    assert stored(scop)["last"] == "global"
    after = run_golden(scop, {"last": 10, "y": np.array([1], dtype=np.int32)})
    assert (int(after.arrays["y"][0]), int(after.arrays["last"])) == (14, 4)


def test_initial_values_that_are_no_constants_are_refused() -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text("void f(int a[8]) { static int n = a[0]; n++; a[1] = n; }")
    assert caught.value.code == "E0127"
