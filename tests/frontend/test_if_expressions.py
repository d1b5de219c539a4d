"""Conditions of `#if` have the values that C gives them, and huge shifts cost nothing."""

from __future__ import annotations

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.frontend.text.constants import if_value
from rtlgen.frontend.text.tokens import split


def value(text: str) -> int:
    return if_value([token for _, token in split(text)])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("1 << 20000000000", 0),
        ("1 << (1 << 40)", 0),
        ("-1 >> 20000000000", -1),
        ("1 >> -5", 32),
        ("1 << 63 >> 63", -1),
        ("-5 / 2", -2),
        ("-5 % 2", -1),
        ("9223372036854775807 / 3", 3074457345618258602),
        ("(-9223372036854775807 - 1) / -1", -(2**63)),
        ("-1 > 0u", 1),
        ("~0u >> 1 == 9223372036854775807", 1),
        ("0xffffffffffffffff == -1", 1),
        ("'A' + 0b11 + 010", 76),
        (r"L'\100' == 64 && 'A' == 65", 1),
        (r"L'\377' - u'\xff' + '\377' + U'\x12345'", 0x12345 - 1),
        ("0 && 1 / 0 || (1 ? 2 : 1 / 0)", 1),
        ("2 + 3 * 4 - 1 == 13 && !name", 1),
        ("- - ~ 5 << 1", -12),
    ],
)
def test_values_are_those_of_c(text: str, expected: int) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("1 / 0", "it divides by 0"),
        ("1 +", "an operand is missing at its end"),
        ("(1", "is missing"),
        ("1 2", "unexpected `2`"),
        ("1.5", "no integer constant"),
        ("9" * 5000, "larger than any 64-bit type"),
        ("f(1)", "the macro `f` is not defined"),
        ("(" * 5000, "nested more than 100 levels deep"),
        ("1 ? " * 5000, "nested more than 100 levels deep"),
        ("'ab'", "not one plain character"),
    ],
)
def test_what_has_no_value_is_told_why(text: str, reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        value(text)


@pytest.mark.parametrize(
    ("condition", "taken"),
    [
        ("defined N", True),
        ("defined ( N ) && !defined(X)", True),
        ("F(2)==3", True),
        ("N < -3", False),
    ],
)
def test_macros_are_expanded_and_names_after_defined_are_not(condition: str, taken: bool) -> None:
    text = (
        f"#define N -3\n#define F(x) ((x)+1)\n#if {condition}\n"
        "void f(int a[4]) { a[0] = 1; }\n#else\nvoid f(int a[4]) { a[0] = 2; }\n#endif\n"
    )
    assert parse_text(text).scop.statements[0].text == f"a[0] = {1 if taken else 2}"


@pytest.mark.parametrize("condition", ["defined", "defined(", "defined 3", "1 <<", "1 / 0"])
def test_a_condition_without_value_is_refused_with_its_place(condition: str) -> None:
    with pytest.raises(RtlgenError) as caught:
        parse_text(f"#if {condition}\n#endif\nvoid f(int a[4]) {{ a[0] = 1; }}\n")
    assert caught.value.code == "E0102"
    assert caught.value.diagnostic.labels[0].span.line == 1


OPERATORS = ["+", "-", "*", "&", "|", "^", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&&", "||"]
OPERANDS = st.sampled_from(
    [
        "0",
        "1",
        "2",
        "63",
        "64",
        "0u",
        "7u",
        "4294967296",
        "9223372036854775807",
        "0x8000000000000000",
    ]
)
EXPRESSIONS = st.recursive(
    OPERANDS,
    lambda inner: st.one_of(
        st.tuples(
            inner,
            st.sampled_from(OPERATORS),
            inner,
        ).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(st.sampled_from("-~!"), inner).map(lambda t: f"{t[0]} {t[1]}"),
        st.tuples(inner, st.sampled_from("/%"), st.sampled_from(["3", "7u", "-2"])).map(
            lambda t: f"({t[0]} {t[1]} {t[2]})"
        ),
        st.tuples(inner, inner, inner).map(lambda t: f"({t[0]} ? {t[1]} : {t[2]})"),
    ),
    max_leaves=8,
)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="gcc is not installed")
@settings(max_examples=3, deadline=None)
@given(st.lists(EXPRESSIONS, min_size=100, max_size=100))
def test_gcc_decides_the_same(conditions: list[str]) -> None:
    text = "".join(
        f"#if ({c}) == 0x{value(c) % 2**64:x}\n{n}\n#endif\n" for n, c in enumerate(conditions)
    )
    done = subprocess.run(
        ["gcc", "-E", "-P", "-w", "-"], input=text, capture_output=True, text=True
    )
    assert done.stdout.split() == [str(n) for n in range(len(conditions))], done.stderr[:500]
