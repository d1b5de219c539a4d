"""No input ends in a traceback: it is accepted, or refused with a place inside the text."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rtlgen.frontend import parse_file, parse_text
from rtlgen.frontend.errors import FileUnreadable, FrontendError, TooDeep
from rtlgen.frontend.text import preprocess
from rtlgen.frontend.text.tokens import split
from tests.frontend.test_semantics import PROGRAMS

FOLDER = Path(__file__).parent / "diagnostics"
TEXTS = [
    *PROGRAMS.values(),
    *(
        path.read_text("latin-1")
        for path in sorted(FOLDER.glob("*.c"))
        if "too_deep" not in path.stem
    ),
]
PIECES = sorted(
    {piece for text in TEXTS for _, piece in split(text)} | {"#", "\\\n", "\n", "/*", "'", '"'}
)


def pieces_of(text: str) -> list[str]:
    return [piece for _, piece in split(text)]


def assert_answered(text: str) -> FrontendError | None:
    """Parse, and check the places of whatever is said about the text."""
    try:
        program = parse_text(text, "fuzz.c")
    except FrontendError as error:
        failure: FrontendError | None = error
        said, sources = error.diagnostics, error.sources
    else:
        said, sources, failure = program.warnings, program.sources, None
    for diagnostic in said:
        assert diagnostic.render(sources)
        for label in diagnostic.labels:
            line = sources[label.span.file].line(label.span.line)
            assert label.span.column + label.span.length <= len(line) + 2, (text, diagnostic)
    return failure


@settings(max_examples=80, deadline=None)
@given(st.sampled_from(TEXTS), st.data())
def test_a_truncated_program_is_answered(text: str, data: st.DataObject) -> None:
    assert_answered(text[: data.draw(st.integers(0, len(text)))])


@settings(max_examples=150, deadline=None)
@given(st.sampled_from([text for text in TEXTS if pieces_of(text)]), st.data())
def test_a_program_with_changed_tokens_is_answered(text: str, data: st.DataObject) -> None:
    for _ in range(data.draw(st.integers(1, 4))):
        found = list(split(text)) or [(0, "")]
        start, old = data.draw(st.sampled_from(found))
        new = data.draw(st.sampled_from(PIECES))
        match data.draw(st.sampled_from(("drop", "insert", "replace", "move"))):
            case "drop":
                text = text[:start] + text[start + len(old) :]
            case "insert":
                text = f"{text[:start]} {new} {text[start:]}"
            case "replace":
                text = f"{text[:start]} {new} {text[start + len(old) :]}"
            case "move":
                to, _ = data.draw(st.sampled_from(found))
                text = f"{text[:to]} {old} {text[to:]}"
    assert_answered(text)


@settings(max_examples=100, deadline=None)
@given(st.text(max_size=80) | st.lists(st.sampled_from(PIECES), max_size=30).map(" ".join))
def test_random_text_is_answered(text: str) -> None:
    assert_answered(text)


@pytest.mark.sample(
    without=(
        "------",
        "(int)(",
        "1 ? 2 ",
        "1 + 1 ",
    )
)
@pytest.mark.parametrize(
    "inside",
    [
        "(" * 5000 + "1" + ")" * 5000,
        "-" * 30000 + "1",
        "!" * 3000 + "1",
        "(int)" * 5000 + "1",
        "1 ? 2 : " * 3000 + "3",
        " + ".join(["1"] * 5000),
        "a[" * 3000 + "0" + "]" * 3000,
        "9" * 100_000,
        "0x" + "f" * 10_000,
        "'" + "x" * 5000 + "'",
    ],
    ids=lambda text: text[:6],
)
def test_deep_or_huge_expressions_are_refused(inside: str) -> None:
    assert assert_answered(f"void f(int a[8]) {{ a[0] = {inside}; }}") is not None


@pytest.mark.sample(
    without=(
        "elses",
        "loops",
    )
)
@pytest.mark.parametrize(
    "body",
    [
        "{" * 3000 + "}" * 3000,
        "if (1) " * 3000 + "a[0] = 1;",
        "if (0) a[0] = 1; else " * 3000 + "a[0] = 1;",
        "for (int i = 0; i < 2; i++) " * 1000 + "a[0] = 1;",
        "".join(f"l{k}: " for k in range(3000)) + "a[0] = 1;",
    ],
    ids=["blocks", "ifs", "elses", "loops", "labels"],
)
def test_deep_statements_are_refused(body: str) -> None:
    assert isinstance(assert_answered(f"void f(int a[8]) {{ {body} }}"), TooDeep)


def test_deep_nesting_within_the_limits_is_accepted() -> None:
    sum_ = " + ".join(["a[1]"] * 150)
    brackets = "(" * 150 + "a[1]" + ")" * 150
    assert assert_answered(f"void f(int a[8]) {{ a[0] = {sum_}; a[1] = {brackets}; }}") is None


def test_macros_that_explode_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(preprocess, "MAX_EXPANSION", 5000)
    doublings = "".join(f"#define X{k} X{k - 1} X{k - 1}\n" for k in range(1, 40))
    text = f"#define X0 a[0] = 1;\n{doublings}void f(int a[8]) {{ X39 }}\n"
    assert isinstance(assert_answered(text), TooDeep)


def test_a_header_that_includes_itself_is_refused(tmp_path: Path) -> None:
    (tmp_path / "loop.h").write_text('int x;\n#include "loop.h"\n')
    main = tmp_path / "main.c"
    main.write_text('#include "loop.h"\nvoid f(int a[8]) { a[0] = 1; }\n')
    with pytest.raises(TooDeep) as caught:
        parse_file(main)
    assert caught.value.diagnostic.render(caught.value.sources)


@pytest.mark.parametrize("name", ["two\nlines.c", "bell\a.c", "byte\udcff.c", "nul\0.c"])
def test_a_name_that_cannot_be_printed_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileUnreadable, match="the name holds a character that cannot be printed"):
        parse_file(tmp_path / name)


@pytest.mark.parametrize("name", ["missing.c", "."])
def test_what_is_no_file_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(FileUnreadable):
        parse_file(tmp_path / name)
