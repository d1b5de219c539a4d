"""Banks that were asked for, and banks that accesses ask for."""

from __future__ import annotations

import pytest

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.bank_map import Cut
from rtlgen.ir.scop import Scop
from rtlgen.options import wish_of
from rtlgen.transforms.derive_banks import derived_cuts
from rtlgen.transforms.normalise import normalise
from rtlgen.transforms.partition import partition

TWO = "void f(int a[6][8], int b[8], int n) { for (int i = 0; i < 8; i++) b[i] += a[2][i] + n; }"


def scop_of(text: str) -> Scop:
    return normalise(parse_text(text, "program.c").scop)


@pytest.mark.parametrize(
    ("wishes", "cuts"),
    [
        (["cyclic:2:4"], (Cut(1, "cyclic", 4),)),
        (["block:1:3", "cyclic:2:2"], (Cut(0, "block", 3), Cut(1, "cyclic", 2))),
        (["complete:1"], (Cut(0, "cyclic", 6),)),
        (["complete:0"], (Cut(0, "cyclic", 6), Cut(1, "cyclic", 8))),
        (["cyclic:1:1"], ()),
    ],
)
def test_a_wish_cuts_its_dimension(wishes: list[str], cuts: tuple[Cut, ...]) -> None:
    array = partition(scop_of(TWO), {"a": tuple(map(wish_of, wishes))}).array("a")
    assert array.cuts == cuts
    assert str(wish_of(wishes[0])) == wishes[0]


@pytest.mark.parametrize(
    "text", ["cyclic:2", "cyclic:1:0", "block:x:2", "complete:1:4", "cyclic:-1:2", "none", ""]
)
def test_what_is_no_wish_is_said_so(text: str) -> None:
    with pytest.raises(ValueError, match="partition is"):
        wish_of(text)


@pytest.mark.parametrize(
    ("name", "wish", "code", "message"),
    [
        ("z", "cyclic:1:2", "E0310", "there is no array z"),
        ("a", "cyclic:3:2", "E0310", "a has no dimension 3"),
        ("a", "cyclic:1:7", "E0311", "dimension 1 has 6 values, too few for 7 parts"),
        ("a", "block:1:4", "E0311", "dimension 1 has 6 values, too few for 4 parts"),
        ("a", "complete:2", "", ""),
    ],
)
def test_what_does_not_fit_is_refused(name: str, wish: str, code: str, message: str) -> None:
    if not code:
        assert partition(scop_of(TWO), {name: (wish_of(wish),)}).array(name).bank_map.banks == 8
        return
    with pytest.raises(RtlgenError) as caught:
        partition(scop_of(TWO), {name: (wish_of(wish),)})
    text = caught.value.diagnostic.render(parse_text(TWO, "program.c").sources)
    assert caught.value.code == code and message in text


@pytest.mark.parametrize(
    ("body", "cuts"),
    [
        ("for (int i = 0; i < 64; i += 4) { a[i] += 1; a[i + 1] += 2; a[i + 3] += 3; }", 4),
        ("for (int i = 0; i < 64; i += 4) { a[i] += 1; a[i + 2] += 2; }", 4),
        ("for (int i = 0; i < 64; i += 6) { a[i] += 1; a[i + 1] += 2; }", 2),
        ("for (int i = 0; i < 64; i += 4) a[i] += 1;", 1),
        ("for (int i = 0; i < 63; i++) a[i] += a[i + 1];", 1),
        ("for (int i = 0; i < 64; i += 4) { a[i] += 1; a[i + 1] += 2; }\n"
         "for (int i = 0; i < 64; i++) a[i] += 1;", 2),
        ("for (int i = 0; i < 60; i += 3) { a[i] += 1; a[i + 1] += 2; }\n"
         "for (int i = 0; i < 64; i++) a[i] += 1;", 1),
    ],
)  # fmt: skip
def test_a_nest_asks_for_banks_that_tell_its_accesses_apart(body: str, cuts: int) -> None:
    found = derived_cuts(scop_of(f"void f(int a[64]) {{ {body} }}"), ())
    assert found == ({} if cuts == 1 else {"a": (Cut(0, "cyclic", cuts),)})
    assert derived_cuts(scop_of(f"void f(int a[64]) {{ {body} }}"), ["a"]) == {}


def test_an_array_of_constants_subscripts_is_registers() -> None:
    scop = scop_of(
        "void f(int h[2][2], int y[8], int x[8]) { for (int i = 0; i < 8; i++)"
        " y[i] = h[0][0] * x[i] + h[0][1] + h[1][0] + h[1][1]; }"
    )
    cuts = derived_cuts(scop, ())
    assert cuts == {"h": (Cut(0, "cyclic", 2), Cut(1, "cyclic", 2))}
