"""Whether the elements of a stream come once each, and in order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from rtlgen.frontend import parse_text
from rtlgen.planning.analysis import analyse
from rtlgen.poly.errors import StreamOutOfOrder
from rtlgen.poly.stream_order import require_in_order
from rtlgen.transforms.interfaces import in_streams


def judge(parameters: str, body: str, name: str = "x") -> None:
    program = parse_text(f"void f({parameters}) {{ {body} }}", "f.c")
    scop = in_streams(program.scop, {name: "stream"})
    require_in_order(analyse(replace(program, scop=scop)).sets)


READ_ONCE = [
    ("const int x[8], int y[8]", "for (int i = 0; i < 8; i++) y[i] = x[i] * x[i];"),
    (
        "const int x[3][4], int y[12]",
        "for (int i = 0; i < 3; i++) for (int j = 0; j < 4; j++) y[4 * i + j] = x[i][j];",
    ),
    # Read by two statements, and by turns.
    (
        "const int x[9], int y[9]",
        "y[0] = x[0]; for (int i = 1; i < 5; i++) { y[2 * i - 1] = x[2 * i - 1];"
        " y[2 * i] = x[2 * i] + 1; }",
    ),
    # One loop for each half, and the rows of a triangle.
    (
        "const int x[8], int y[8]",
        "for (int i = 0; i < 4; i++) y[i] = x[i]; for (int i = 4; i < 8; i++) y[i] = x[i];",
    ),
    # What is read under a condition is there to be read.
    ("const int x[4], int y[4]", "for (int i = 0; i < 4; i++) y[i] = i > 0 ? x[i] : 0;"),
    ("const int x[6], int y[6]", "for (int i = 5; i >= 0; i--) y[i] = x[5 - i];"),
]


@pytest.mark.parametrize(("parameters", "body"), READ_ONCE)
def test_what_is_read_once_and_in_order_is_a_stream(parameters: str, body: str) -> None:
    judge(parameters, body)


BACK = [
    ("for (int i = 0; i < 8; i++) y[i] = x[7 - i];", "x[6] is read after x[7]"),
    (
        "for (int i = 0; i < 8; i++) y[i] = x[i]; for (int i = 0; i < 8; i++) y[i] += x[i];",
        "x[0] is read after x[7]",
    ),
    (
        "for (int i = 1; i < 8; i++) y[i] = x[i]; y[0] = x[0];",
        "x[0] is read after x[7]",
    ),
    ("for (int i = 0; i < 8; i++) { y[i] = x[i]; y[i] += x[i]; }", "x[0] is read a second time"),
    ("for (int i = 0; i < 4; i++) y[i] = x[2 * i] - x[2 * i + 1];", "x[1] is read with x[0]"),
    ("for (int i = 0; i < 7; i++) y[i] = x[i];", "x[7] is never read"),
    ("for (int i = 0; i < 4; i++) y[i] = x[2 * i];", "x[1] is never read"),
    ("for (int i = 0; i < 8; i++) y[i] = x[i * i % 8];", "which element comes next is computed"),
    ("for (int i = 0; i < 8; i++) y[i] = x[y[i] & 7];", "which element comes next is computed"),
]


@pytest.mark.parametrize(("body", "why"), BACK)
def test_what_goes_back_or_is_left_out_is_none(body: str, why: str) -> None:
    with pytest.raises(StreamOutOfOrder) as caught:
        judge("const int x[8], int y[8]", body)
    assert caught.value.diagnostic.message == f"x is no stream: {why}"


def test_the_witness_names_both_instances_where_they_stand() -> None:
    with pytest.raises(StreamOutOfOrder) as caught:
        judge(
            "const int x[4][4], int y[4]",
            "for (int j = 0; j < 4; j++) for (int i = 0; i < 4; i++) y[j] = x[i][j];",
        )
    late, early = caught.value.diagnostic.labels
    assert (late.text, early.text) == (
        "S0(1,0) reads x[0][1]",
        "S0(0,3) reads x[3][0] before",
    )


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("for (int i = 0; i < 8; i++) y[i] = x[i];", None),
        ("for (int i = 7; i >= 0; i--) y[i] = x[i];", "y[6] is written after y[7]"),
        ("for (int i = 0; i < 7; i++) y[i + 1] = x[i];", "y[0] is never written"),
        (
            "for (int i = 0; i < 8; i++) { y[i] = x[i]; if (i > 2) y[i] = 3; }",
            "y[3] is written a second time",
        ),
    ],
)
def test_what_is_written_is_judged_likewise(body: str, why: str | None) -> None:
    if why is None:
        judge("const int x[8], int y[8]", body, "y")
        return
    with pytest.raises(StreamOutOfOrder) as caught:
        judge("const int x[8], int y[8]", body, "y")
    assert caught.value.diagnostic.message == f"y is no stream: {why}"


def test_large_arrays_are_proven_without_a_list() -> None:
    judge(
        "const int x[4096][4096], int y[2]",
        "for (int i = 0; i < 4096; i++) for (int j = 0; j < 4096; j++) y[0] = x[i][j];",
    )
