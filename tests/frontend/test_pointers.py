"""Pointer parameters: arrays whose extent the accesses or an option tell."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.accesses import require_in_bounds
from rtlgen.poly.errors import OutOfBounds
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

WALK = """
    void f(int *a, const short b[], unsigned char c[][4], int d[static 6], int n) {
      for (int i = 0; i < n; i++)
        for (int j = 0; j <= i; j++) {
          *(a + i * 2 + j) += b[i] * *(c[j] + 3) - (*(c + i))[1];
          *d = *(d + j) + i;
        }
    }"""


def test_the_extent_is_that_of_the_last_element_touched() -> None:
    scop = parse_text(WALK, defines={"n": "5"}).scop
    shapes = {array.name: array.shape for array in scop.arrays}
    assert shapes == {"a": (13,), "b": (5,), "c": (5, 4), "d": (6,)}
    require_in_bounds(ScopSets(scop))


def test_an_option_gives_the_extent_and_subscripts_must_keep_to_it() -> None:
    given = parse_text(WALK, defines={"n": "5", "a_EXTENT": "64"})
    assert given.scop.array("a").shape == (64,)
    assert given.warnings == ()
    short = parse_text(WALK, defines={"n": "5", "a_EXTENT": "12"}).scop
    with pytest.raises(OutOfBounds):
        require_in_bounds(ScopSets(short))


def test_an_element_before_the_first_is_out_of_bounds() -> None:
    scop = parse_text("void f(int *a) { for (int i = 0; i < 4; i++) a[i - 1] = i; }").scop
    with pytest.raises(OutOfBounds):
        require_in_bounds(ScopSets(scop))


def test_a_pointer_to_rows_is_an_array_of_rows() -> None:
    scop = parse_text("void f(int (*a)[4]) { for (int i = 0; i < 3; i++) a[i][3] = i; }").scop
    assert scop.array("a").shape == (3, 4)


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_pointers_read_and_write_what_gcc_does() -> None:
    assert_as_gcc(WALK.replace(", int n", ""), defines={"n": "5"})


@pytest.mark.parametrize("declaration", ["int *p;", "long double x;", "struct point { int x; } s;"])
def test_a_local_that_is_never_used_may_be_of_any_type(declaration: str) -> None:
    parse_text(f"void f(int a[8]) {{ {declaration} for (int i = 0; i < 8; i++) a[i] = i; }}")


@pytest.mark.parametrize(
    ("declaration", "use", "code"),
    [
        ("int **p;", "p = &a;", "E0109"),
        ("int *p;", "a[0] = p[1];", "E0109"),
        ("long double x;", "x = a[1];", "E0108"),
        ("long double x = 1;", "", "E0108"),
    ],
)
def test_a_local_of_another_type_is_refused_where_it_is_used(
    declaration: str, use: str, code: str
) -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(f"void f(int a[8]) {{ {declaration} {use} a[0] += 1; }}")
    assert caught.value.code == code
