"""Scalars that step on when others have gone round are quotients of the iterators."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from tests.frontend.gcc_check import assert_as_gcc
from tests.frontend.scatters import is_scattered
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = "int f(int a[256], int b[16][16], int c[4][4][16]) "


def written_scalars(text: str) -> set[str]:
    scop = parse_text(text).scop
    scalars = {array.name for array in scop.arrays if array.shape == ()}
    return scalars & {statement.write.array for statement in scop.statements}


@pytest.mark.sample(every=2)
@needs_gcc
@pytest.mark.parametrize(
    "step",
    [
        "if (++x == 5) { x = 0; y++; }",
        "x++; if (x == 5) { x = 0; y++; }",
        "x++; if (x >= 5) { y++; x = 0; }",
        "if (x == 4) { x = 0; ++y; } else x++;",
        "if (x < 4) x++; else { x = 0; y += 1; }",
        "x = x == 4 ? 0 : x + 1; if (x == 0) y++;",
        "if (++x > 4) { x -= 5; y += 2; }",
        "int wraps = x == 4; x = wraps ? 0 : x + 1; y += wraps;",
        "if (++x == 5) { x = 0; if (++y == 3) y = 0; }",
        "if (++x == 5) { x = 0; y = y == 0 ? 2 : y - 1; }",
        "if (++x == 5) { x = 0; y += 2; if (y > 6) y -= 7; }",
        "x += 2; if (x >= 5) { x -= 5; y++; }",
        "for (int k = 0; k < 7; k++) if (++x == 5) { x = 0; y++; }",
        "for (int k = 0; k < 10; k++) if (++x == 5) { x = 0; y++; }",
    ],
)
def test_the_second_counter_is_known_in_what_is_read_and_written(step: str) -> None:
    text = (
        HEAD + "{ int x = 0, y = 0, s = 0; for (int i = 0; i < 24; i++) {"
        " a[16 * (y & 15) + x] += b[x][y & 15] + i;" + step + " } return 8 * x + y; }"
    )
    program = assert_as_gcc(text)
    assert not {"x", "y"} & {statement.write.array for statement in program.scop.statements}
    assert not program.scop.statements[0].write.is_lookup


@needs_gcc
@pytest.mark.parametrize("inner", [3, 4, 5, 6, 12])
def test_the_counters_go_on_over_nested_loops(inner: int) -> None:
    body = (
        f"int x = 0, y = 0; for (int i = 0; i < 4; i++) for (int j = 0; j < {inner}; j++)"
        " { b[y][x] += a[i] + j; if (++x == 4) { x = 0; y++; } } return 8 * x + y;"
    )
    assert written_scalars(HEAD + f"{{ {body} }}") == {"return_value"}
    assert_as_gcc(HEAD + f"{{ {body} }}")


@needs_gcc
@pytest.mark.parametrize(
    "step",
    [
        "if (++x == 4) { x = 0; if (++y == 3) { y = 0; z++; } }",
        "x++; if (x == 4) { x = 0; y++; if (y >= 3) { y = 0; z += 1; } }",
        "if (x != 3) x++; else { x = 0; if (y != 2) y++; else { y = 0; z++; } }",
        "x++; if (x == 4) { x = 0; y++; } if (y == 3) { y = 0; z++; }",
    ],
)
def test_three_counters_step_each_other(step: str) -> None:
    text = (
        HEAD + "{ int x = 0, y = 0, z = 0; for (int i = 0; i < 37; i++) { c[z][y][x] += a[i] + i; "
        f"{step} }} return 64 * z + 8 * y + x; }}"
    )
    program = assert_as_gcc(text)
    assert not program.scop.statements[0].write.is_lookup


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        # Stepped before they are used.
        "int x = 4, y = -1; for (int i = 0; i < 24; i++)"
        " { if (++x == 5) { x = 0; y++; } b[y][x] = a[i]; }",
        # So, too, where they go on over a loop around, and in larger steps of it.
        "int x = 3; for (int i = 0; i < 4; i++) for (int j = 0; j < 6; j++)"
        " { if (++x == 4) x = 0; b[i][x] += a[i] + j; }",
        # By its bits, also where it has but one value in a loop.
        "int x = 5; for (int i = 0; i < 6; i++) for (int j = 0; j < 3; j++)"
        " { x ^= 6; a[x] += i + j; }",
        "int x = 1; for (int i = 0; i < 2; i++) {"
        " for (int j = 3; j >= 3; j--) { x ^= 6; a[x] += j; } b[x][i] = 2; }",
        "int x = 4, row = -16; for (int r = 0; r < 3; r++) for (int i = 0; i < 24; i++)"
        " { if (++x == 5) { x = 0; row += 16; } a[row + x] += i; }",
        "int x = 4, y = -1; for (int i = 47; i > 0; i -= 2)"
        " { x = x == 4 ? 0 : x + 1; if (!x) y++; b[y][x] += a[i]; }",
        # The second one from where an outer loop is.
        "for (int r = 0; r < 4; r++) { int x = 0, y = 2 * r; for (int i = 0; i < 9; i++)"
        " { b[y][x] += a[i] + r; if (++x == 3) { x = 0; y++; } } }",
        # A row offset.
        "int x = 0, row = 0; for (int i = 0; i < 24; i++)"
        " { a[row + x] += i; if (++x == 6) { x = 0; row += 16; } }",
        # Backwards, and in larger steps of the loop.
        "int x = 3, y = 5; for (int i = 46; i >= 0; i -= 2)"
        " { b[y][x] += a[i]; if (x-- == 0) { x = 3; y--; } }",
        # What drives it is as before after each run of the inner loop.
        "int x = 0, y = 0; for (int i = 0; i < 6; i++) { for (int j = 0; j < 4; j++)"
        " { b[y][x] += j; if (++x == 4) { x = 0; y++; } } a[y] += i; }",
        # In step with an inner loop's iterator.
        "int x = 0, y = 0; for (int i = 0; i < 9; i++) for (int j = 0; j < 6; j++)"
        " { a[x] += j; if (j % 3 == 1) x++; b[i][j] ^= x; }",
        # Behind the loops.
        "int x = 0, y = 0; for (int i = 0; i < 22; i++) if (++x == 4) { x = 0; y++; }"
        " b[y][x] = 1; a[y] = x;",
    ],
)
def test_counters_that_step_each_other_mean_what_gcc_says(body: str) -> None:
    text = HEAD + "{ " + body + " return a[0]; }"
    assert_as_gcc(text)
    assert not written_scalars(text) - {"return_value"}


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "if (i % 2) a[o++] = i; else a[128 + e++] = i;",
        "if (i % 4 == 3) a[o++] += b[0][i & 15]; e += o;",
        "if (i == 5) o += 7; a[o + i] ^= i;",
        "a[o] += i; o += i & 1 ? 2 : 1; a[o] ^= 3;",
        "if (i % 5 == 2) { a[o] = i; o = o - 1 + 4; }",
        "if (i == 10) o++; b[o][i & 15] = i;",
    ],
)
@pytest.mark.parametrize("header", ["i = 0; i < 24; i++", "i = 46; i > 0; i -= 3"])
def test_a_counter_may_be_stepped_by_what_the_iterator_says(body: str, header: str) -> None:
    text = HEAD + f"{{ int o = 0, e = 0; for (int {header}) {{ {body} }} return 256 * o + e; }}"
    program = assert_as_gcc(text)
    assert "o" not in {statement.write.array for statement in program.scop.statements}


@needs_gcc
@pytest.mark.parametrize(
    "swap",
    [
        "int t = x; x = y; y = t;",
        "int t = x; x = y; y = z; z = t;",
        "int t = z; z = y; y = x; x = t; a[x] ^= y;",
        "x = 8 - x;",
        "int t = x; x = y; y = t; if (++z == 20) z = 16;",
    ],
)
@pytest.mark.parametrize("header", ["i = 0; i < 7; i++", "i = 9; i > 0; i -= 2"])
def test_scalars_that_change_places_are_known(swap: str, header: str) -> None:
    text = HEAD + (
        f"{{ int x = 0, y = 8, z = 16; for (int {header}) {{ a[x + 2] += a[y + 40 + (i & 3)] * i;"
        f" a[z] ^= a[y]; {swap} a[y] -= x; }} return x + 32 * y + 1024 * z; }}"
    )
    program = assert_as_gcc(text)
    assert not {"x", "y"} & {statement.write.array for statement in program.scop.statements}


@pytest.mark.parametrize(
    "swap", ["int t = x; x = y; y = t + b[0][1];", "int t = x; x = b[0][0]; y = t;"]
)
def test_scalars_that_change_otherwise_are_computed(swap: str) -> None:
    assert is_scattered(
        HEAD + "{ int x = 0, y = 8; for (int i = 0; i < 27; i++) { a[x] += y; "
        f"{swap} }} return 0; }}"
    )


@pytest.mark.parametrize(
    "step",
    [
        "if (++x == 5) { x = 0; if (a[i]) y++; }",
        "if (++x == 5) { x = 0; y++; } if (x == 2) y += 2;",
        "if (++x == 5) { x = 0; y++; } if (i == 7) y = 0;",
        "if (++x == 5) x = 0; if (i < 9) y++;",
        "if (++x == 5) x = 0; if (i & 4) y++;",
    ],
)
def test_a_counter_that_is_stepped_irregularly_is_computed(step: str) -> None:
    assert is_scattered(
        HEAD + "{ int x = 0, y = 0; for (int i = 0; i < 24; i++) { b[y & 15][x] += i; "
        f"{step} }} return 0; }}"
    )


@needs_gcc
def test_a_scalar_changed_by_way_of_a_pointer_is_not_taken_for_a_counter() -> None:
    assert_as_gcc(
        HEAD + "{ int x = 0, s = 0; int *p = &x; for (int i = 0; i < 8; i++)"
        " { s += x * i; x++; *p += 2; } return s; }"
    )
