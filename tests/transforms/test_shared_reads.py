"""Elements of streams that several statements of an iteration read."""

from __future__ import annotations

import pytest

import rtlgen
from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Scop
from rtlgen.poly.errors import StreamOutOfOrder
from rtlgen.transforms.interfaces import in_streams, with_shared_reads


def shared(body: str, parameters: str = "int x_word[8]") -> Scop:
    text = f"void f(const int x[8], int y[8], int z[8], {parameters}) {{ {body} }}"
    return with_shared_reads(in_streams(parse_text(text, "f.c").scop, {"x": "stream"}))


def texts(scop: Scop) -> list[str]:
    return [
        f"{statement.write} <- {', '.join(map(str, statement.reads))}"
        for statement in scop.statements
    ]


LOOP = "for (int i = 0; i < 8; i++) {{ {} }}"


def test_one_statement_reads_for_all() -> None:
    scop = shared(LOOP.format("y[i] = x[i]; z[i] = x[i] + x_word[i]; x_word[i] = x[i] * x[i];"))
    word = "x_word1"
    assert texts(scop) == [
        f"{word} <- x[i]",
        f"y[i] <- {word}",
        f"z[i] <- {word}, x_word[i]",
        f"x_word[i] <- {word}, {word}",
    ]
    assert scop.array(word).storage == "local"


def test_two_elements_of_an_iteration_are_read_one_after_the_other() -> None:
    loop = (
        "for (int i = 0; i < 4; i++) { y[i] = x[2 * i]; z[i] = x[2 * i]; y[i + 4] = x[2 * i + 1];"
    )
    scop = shared(loop + " z[i + 4] = x[2 * i + 1]; }")
    assert [s.split(" <- ")[1] for s in texts(scop)] == [
        "x[2*i]", "x_word1", "x_word1", "x[2*i + 1]", "x_word2", "x_word2",
    ]  # fmt: skip


@pytest.mark.parametrize(
    "body",
    [
        LOOP.format("y[i] = x[i] + x[i];"),
        LOOP.format("y[i] = x[i];") + LOOP.format("z[i] = x[i];"),
        LOOP.format("y[i] = x[i]; if (i < 4) z[i] = x[i];"),
        LOOP.format("if (y[i] > 0) y[i] = x[i + 1]; if (z[i] > 1) z[i] = x[i + 1];"),
    ],
)
def test_nothing_else_is_changed(body: str) -> None:
    scop = shared(body)
    assert "x_word1" not in [array.name for array in scop.arrays]


def test_what_is_read_again_in_another_loop_is_refused() -> None:
    text = "void f(const int x[8], int y[8], int z[8]) {"
    text += LOOP.format("y[i] = x[i]; z[i] = x[i];") + LOOP.format("y[i] += x[i];") + "}"
    with pytest.raises(StreamOutOfOrder, match="x is no stream"):
        rtlgen.compile(source=text, memory={"x": "stream"})
