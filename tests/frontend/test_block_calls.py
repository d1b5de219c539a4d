"""`memset`, `memcpy` and `memmove` do what they do in C, or are refused."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import CallUnsupported, FrontendError
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

HEAD = """
#include <string.h>
#include <stdint.h>
void f(const int a[12], int b[12], int m[4][12], int8_t c[8], long w[2][3][4], int n) """

CALLS = {
    "an array": "int t[12]; memcpy(t, a, sizeof t); memset(b, 0, 4 * 12); b[7] = t[3];",
    "all ones": "memset(b, 0xff, 5 * sizeof b[0]); memset(c, -1, 3);",
    "a pattern": "memset(m[1], 0x5a, sizeof(m[1])); memset(c + 2, 'x', 4);",
    "rows": "memset(w, 1, 2 * sizeof(w[0]));",
    "a part of a row": "memcpy(&m[0][1], m[2] + 3, 4 * sizeof(int));",
    "without its result": "(void)memset(b, 0, 12 * sizeof(*b));",
    "in a loop, under a condition": """for (int i = 0; i < 4; i++)
                                         if (a[i] > 0) memcpy(m[i], a, 12 * sizeof(*a));""",
    "moved up": "memmove(b + 1, b, 7 * sizeof *b); memmove(&w[0][1], w[0], 2 * sizeof w[0][0]);",
    "moved down": "memmove(b, b + 2, 7 * sizeof *b); memmove(m[0], m[1], 3 * sizeof m[0][0]);",
    "moved to itself": "memmove(b + 3, &b[3], 4 * sizeof *b);",
    "moved by an iterator": """for (int i = 0; i < 4; i++) memmove(b + 2 * i, b + 3, 5 * sizeof *b);
                               for (int i = 1; i < 3; i++) memmove(m + i, m, 2 * sizeof m[0]);""",
    "moved from where data says": "memmove(b + 1, b + (a[0] & 3), 5 * sizeof *b);",
    "moved to another array": "memmove(m[2], b + 1, 4 * sizeof *b);",
    "moved between rows": "memmove(m[0] + 1, m[1], 3 * sizeof(int)); memmove(m[3], m[2], 16);",
    "nothing": "memset(b, 0, 0); b[0] = 1;",
}


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize("body", CALLS.values(), ids=CALLS)
def test_a_block_call_does_what_gcc_does(body: str) -> None:
    assert_as_gcc(f"{HEAD} {{ {body} }}")


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize("element", ["float", "double", "_Float16"])
def test_the_bytes_of_floats_are_moved_and_set(element: str) -> None:
    """Neither is a conversion: of 0x3e in each byte as little as of what lies in between."""
    assert_as_gcc(
        f"#include <string.h>\nvoid f(const int a[2], {element} b[12], {element} c[4]) {{"
        " memmove(b + 1, b + (a[0] & 3), 5 * sizeof *b); memset(c, 0x3e, 3 * sizeof *c);"
        " memset(c + 3, 0, sizeof *c); }"
    )


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize(
    ("to", "of"),
    [("float", "int32_t"), ("uint32_t", "float"), ("int64_t", "double"), ("int", "uint32_t")],
)
def test_bytes_whose_number_is_data_are_moved_as_they_are(to: str, of: str) -> None:
    assert_as_gcc(
        f"#include <string.h>\n#include <stdint.h>\nvoid f(int n, const {of} a[8], {to} b[8]) {{"
        f" memcpy(b, a, (n & 7) * sizeof({of})); }}"
    )


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_pointers_that_stay_are_moved_between_like_their_arrays() -> None:
    move = "memmove(p, q, ((n & 3) + 2) * sizeof *p)"
    assert_as_gcc(
        "#include <string.h>\n"
        f"void f(int n, int a[8], int b[8]) {{ int *p = a + 1, *q = b; {move}; }}"
    )


@pytest.mark.parametrize("kept", ["int *p = a + 1, *q = a;", "int *p = n ? b : a, *q = a;"])
def test_within_what_may_be_one_array_no_number_of_bytes_is_data(kept: str) -> None:
    move = "memmove(p, q, ((n & 3) + 2) * sizeof *p)"
    with pytest.raises(CallUnsupported):
        parse_text(f"#include <string.h>\nvoid f(int n, int a[8], int b[8]) {{ {kept} {move}; }}")


@pytest.mark.parametrize(
    "body",
    [
        "memset(b, 0, n);",
        "memset(b, n, 8);",
        "memset(b, 0, 7);",
        "memset(b, 0);",
        "memcpy(b, c, 8);",
        "memcpy(m, a, sizeof(int) * 12);",
    ],
)
def test_what_is_no_loop_over_elements_is_refused(body: str) -> None:
    with pytest.raises(CallUnsupported):
        parse_text(f"{HEAD} {{ {body} b[0] = 1; }}")


def test_the_size_of_a_parameter_is_not_that_of_the_array() -> None:
    with pytest.raises(FrontendError, match="size of a pointer"):
        parse_text(f"{HEAD} {{ memset(b, 0, sizeof b); }}")
