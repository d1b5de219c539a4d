"""C23 means what it means in C11's spelling, and C11 stays what it is."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import (
    CSyntaxError,
    FrontendError,
    PointerUnsupported,
    UnsupportedDeclaration,
)
from rtlgen.ir.types import IntType
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = "void f(int a[8], int b[8], int x) "
LOOP = "for (int i = 0; i < 8; i++)"

PROGRAMS = {
    "truth": f"{HEAD} {{ bool on = x; {LOOP} {{ b[i] = on == true ? a[i] : false; on = !on; }} }}",
    "constants": f"""
        constexpr int taps[3] = {{3, 1, 2}};
        {HEAD} {{ constexpr int n = 8, m = n - 1;
          for (int i = 0; i < n; i++) b[i] = a[m - i] * taps[i % 3]; }}""",
    "attributes": f"""
        [[nodiscard]] static int twice([[maybe_unused]] int v) {{ return 2 * v; }}
        {HEAD} {{ [[maybe_unused]] int t = 1; {LOOP} [[likely]] b[i] = twice(a[i]); }}""",
    "assertions": f"""
        static_assert(sizeof(int) == 4);
        {HEAD} {{ static_assert(sizeof a[0] == 4, "words"); {LOOP} b[i] = a[i]; }}""",
    "digits": f"{HEAD} {{ {LOOP} b[i] = (a[i] & 0b1010'0101) + 1'000'000 + 0xFF'FFu + 0'17; }}",
    "digits in directives": f"""
        #define MANY 1'000
        #if MANY > 9'99
        {HEAD} {{ {LOOP} b[i] = a[i] + MANY; }}
        #endif""",
    "characters": f"{HEAD} {{ {LOOP} b[i] = a[i] + u8'\\xff' - sizeof(u8'a'); }}",
    "the old auto": f"{HEAD} {{ auto int t = x; {LOOP} b[i] = t++; }}",
}


@needs_gcc
@pytest.mark.parametrize("name", PROGRAMS)
def test_it_means_what_gcc_says(name: str) -> None:
    assert_as_gcc(PROGRAMS[name])


@needs_gcc
@pytest.mark.parametrize(
    "declared",
    [
        "typedef int bool; static bool true = 7;",
        "enum { false = 3, true = 5 }; typedef short bool;",
        "static int constexpr(int bool) { int true = bool; return true; }",
    ],
)
def test_names_of_the_program_are_no_keywords(declared: str) -> None:
    used = "constexpr(a[i])" if "constexpr" in declared else "(bool)a[i] + true"
    assert_as_gcc(f"{declared} {HEAD} {{ {LOOP} b[i] = {used}; }}")


def test_an_enumeration_may_have_the_type_that_it_asks_for() -> None:
    # Compilers of 2022 do not know it.
    scop = parse_text(
        f"enum level : unsigned char {{ low, high = 200 }};"
        f"enum level now; {HEAD} {{ {LOOP} b[i] = now += high; }}"
    ).scop
    assert scop.array("now").element == IntType(8, False)


@pytest.mark.parametrize(
    ("text", "error", "message"),
    [
        ("if (a == nullptr) b[0] = 1;", PointerUnsupported, "null pointers are not supported"),
        ("b[0] = nullptr;", PointerUnsupported, "null pointers are not supported"),
        ("static_assert(sizeof(int) == 8);", UnsupportedDeclaration, "does not hold"),
        ("[[gnu::vector_size(16)]] int t; b[0] = t;", UnsupportedDeclaration, "gnu::vector_size"),
        ("constexpr int t = x; b[0] = t;", FrontendError, "initial value"),
        ("bool t = ; b[0] = t;", CSyntaxError, "invalid expression"),
        ("int t = 1'; b[0] = t;", CSyntaxError, "unmatched '"),
    ],
)
def test_what_cannot_be_is_refused(text: str, error: type[FrontendError], message: str) -> None:
    with pytest.raises(error) as refused:
        parse_text(f"{HEAD} {{ {text} }}")
    assert message in refused.value.diagnostic.message
