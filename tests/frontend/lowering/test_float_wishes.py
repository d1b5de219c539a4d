"""Floats in another order: the program as rewritten is one that could be written by hand."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.design import Design
from rtlgen.driver import compile_program, parse_source
from rtlgen.frontend.lowering.float_wishes import FloatRewriting
from rtlgen.frontend.program import parse_text
from rtlgen.options import CompileOptions
from rtlgen.options.choices import float_wishes_of
from rtlgen.report.text import plan_report_text
from rtlgen.source import Span
from rtlgen.verify.golden import run_golden

CONTRACTED = {
    "y[i] = a[i] * b[i] + y[i];": "y[i] = fmaf(a[i], b[i], y[i]);",
    "y[i] = y[i] + a[i] * b[i];": "y[i] = fmaf(a[i], b[i], y[i]);",
    "y[i] = y[i] - a[i] * b[i];": "y[i] = fmaf(-a[i], b[i], y[i]);",
    "y[i] = a[i] * b[i] - y[i];": "y[i] = fmaf(a[i], b[i], -y[i]);",
    "y[i] += a[i] * b[i];": "y[i] = fmaf(a[i], b[i], y[i]);",
    "y[i] -= a[i] * b[i];": "y[i] = fmaf(-a[i], b[i], y[i]);",
    "y[i] = a[i] * b[i] + y[i] * 2.0f;": "y[i] = fmaf(a[i], b[i], y[i] * 2.0f);",
    # The product is a float, the sum is not.
    "y[i] = a[i] * b[i] + 0.1;": "y[i] = a[i] * b[i] + 0.1;",
    "y[i] = (a[i] + b[i]) * y[i];": "y[i] = (a[i] + b[i]) * y[i];",
    "y[i] = i * 3 + 1;": "y[i] = i * 3 + 1;",
}
HEAD = "#include <math.h>\nvoid f(const float a[64], const float b[64], float y[64])"


def outputs(scop: object, count: int = 64) -> np.ndarray:
    generator = np.random.default_rng(7)
    given = {n: generator.normal(size=count).astype(np.float32) for n in ("a", "b", "y")}
    names = {array.name for array in scop.arrays}  # type: ignore[attr-defined]
    result = run_golden(scop, {n: v for n, v in given.items() if n in names})  # type: ignore[arg-type]
    if result.returned is not None:
        return np.array(result.returned)
    return result.arrays["y"]


@pytest.mark.parametrize("statement", CONTRACTED)
def test_products_that_are_added_are_not_rounded(statement: str) -> None:
    text = f"{HEAD} {{ for (int i = 0; i < 64; i++) {statement} }}"
    by_hand = f"{HEAD} {{ for (int i = 0; i < 64; i++) {CONTRACTED[statement]} }}"
    contracted = parse_text(text, floats=FloatRewriting(contract=True)).scop
    assert np.array_equal(outputs(contracted), outputs(parse_text(by_hand).scop))


def test_it_makes_a_difference() -> None:
    text = f"{HEAD} {{ for (int i = 0; i < 64; i++) y[i] += a[i] * b[i]; }}"
    contracted = parse_text(text, floats=FloatRewriting(contract=True)).scop
    assert not np.array_equal(outputs(contracted), outputs(parse_text(text).scop))


SUMS = {
    "s += a[i] * b[i];": "p[i % 8] += a[i] * b[i];",
    "s = s + a[i];": "p[i % 8] += a[i];",
    "s = a[i] + s;": "p[i % 8] += a[i];",
    "s -= a[i];": "p[i % 8] += -a[i];",
    "if (b[i] > 0) s += a[i];": "if (b[i] > 0) p[i % 8] += a[i];",
}
SUM = "float f(const float a[64], const float b[64]) { float s = 1; "
JOIN = " s += ((p[0]+p[1])+(p[2]+p[3]))+((p[4]+p[5])+(p[6]+p[7])); return s; }"


def reassociated(text: str, wish: str = "reassociate=8") -> object:
    options = CompileOptions(floats=float_wishes_of([wish]))
    return parse_source(text, "kernel.c", options).scop


@pytest.mark.parametrize("statement", SUMS)
def test_a_sum_that_waits_is_cut_into_parts(statement: str) -> None:
    text = f"{SUM} for (int i = 0; i < 64; i++) {{ {statement} }} return s; }}"
    parts = "float p[8]; for (int k = 0; k < 8; k++) p[k] = 0;"
    by_hand = f"{SUM} {parts} for (int i = 0; i < 64; i++) {{ {SUMS[statement]} }} {JOIN}"
    found = outputs(reassociated(text))
    assert found == outputs(parse_text(by_hand).scop)
    assert found != outputs(parse_text(text).scop)


@pytest.mark.parametrize(
    "header", ["int i = 63; i >= 0; i--", "int i = 3; i < 61; i++", "int i = 0; i < 64; i += 2"]
)
def test_iterations_take_turns_however_the_loop_counts(header: str) -> None:
    text = f"{SUM} for ({header}) s += a[i] * b[i]; return s; }}"
    parts = "float p[8]; int n = 0; for (int k = 0; k < 8; k++) p[k] = 0;"
    by_hand = f"{SUM} {parts} for ({header}) {{ p[n % 8] += a[i] * b[i]; n++; }} {JOIN}"
    assert outputs(reassociated(text)) == outputs(parse_text(by_hand).scop)


@pytest.mark.parametrize(
    "body",
    [
        "s += a[i]; if (s > 9) s = 0;",
        "s += a[i] * s;",
        "s = s * a[i];",
    ],
)
def test_what_is_no_sum_alone_stays(body: str) -> None:
    text = f"{SUM} for (int i = 0; i < 64; i++) {{ {body} }} return s; }}"
    assert outputs(reassociated(text)) == outputs(parse_text(text).scop)


@pytest.mark.parametrize("place", ["b[0] & 3", "next()"])
def test_a_place_that_the_loop_declares_is_another_one_each_time(place: str) -> None:
    text = f"""static int g;
    static int next(void) {{ g = g + 1; return g & 3; }}
    void f(float s[4], const float x[8], const int b[8]) {{
      for (int i = 0; i < 8; i++) {{
        int k = {place};
        s[k] += x[i];
      }}
    }}"""
    asked = FloatRewriting(sums=((Span("kernel.c", 6, 9, 4), 4),))
    found = parse_text(text, function="f", floats=asked)
    assert found.lowered == parse_text(text, function="f").lowered


@pytest.mark.parametrize(
    ("word", "why"),
    [
        ("contract", "no product is added to anything"),
        ("ftz", "there is no operation on floats"),
    ],
)
def test_what_changes_nothing_is_told(word: str, why: str) -> None:
    text = "void f(const float a[8], float b[8]) { for (int i = 0; i < 8; i++) b[i] = a[i]; }"
    options = CompileOptions(floats=float_wishes_of([word]))
    (warning,) = parse_source(text, "kernel.c", options).warnings
    assert warning.render() == f"warning[W0118]: --float {word} changes nothing: {why}"


def test_a_plan_says_how_floats_are_computed() -> None:
    text = "void f(float a[8]) { for (int i = 0; i < 8; i++) a[i] = a[i] * 3 + 1; }"
    options = CompileOptions(floats=float_wishes_of(["contract", "ftz"]))
    program = parse_source(text, "kernel.c", options)
    assert program.warnings == ()
    design = Design(compile_program(program, options), options)
    assert "one flattened loop, --float contract,ftz" in plan_report_text(design.report())


def test_sums_that_wait_for_nothing_keep_their_order() -> None:
    text = """
    void f(const float a[64], const float b[64], float y[64]) {
      for (int i = 0; i < 8; i++)
        for (int j = 0; j < 8; j++)
          for (int k = 0; k < 8; k++)
            y[8 * i + j] += a[8 * i + k] * b[8 * k + j];
    }"""
    options = CompileOptions(floats=float_wishes_of(["reassociate"]))
    program = parse_source(text, "kernel.c", options)
    (warning,) = program.warnings
    assert warning.render() == (
        "warning[W0118]: --float reassociate changes nothing: no sum waits for its adder"
    )
    assert np.array_equal(outputs(program.scop), outputs(parse_text(text).scop))


@pytest.mark.parametrize("word", ["daz", "reassociate=1", "reassociate=x", "contract=2", ""])
def test_words_that_mean_nothing_are_refused(word: str) -> None:
    with pytest.raises(ValueError, match="way to compute floats"):
        float_wishes_of([word])
