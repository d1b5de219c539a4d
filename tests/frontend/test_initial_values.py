"""Initial values of local arrays: computed, designated, partly given, anew in every iteration."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import prod

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import InitialiserUnsupported
from rtlgen.frontend.scop.drafts import Part, parts
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = "void f(int a[8], int b[8], int x) "

BODIES = {
    "computed": "int t[3] = {x, x + 1, a[2]}; for (int i = 0; i < 8; i++) b[i] = t[i % 3];",
    "anew in every iteration, the rest 0": """
        for (int i = 0; i < 6; i++) {
          int t[4] = {i, 5};
          for (int k = 0; k < 4; k++) t[k] += k + x;
          for (int k = 3; k > 0; k--) t[k - 1] += t[k];
          a[i] += t[0] + t[3];
        }""",
    "constants around a value": """
        for (int i = 0; i < 8; i++) {
          short t[7] = {1, 2, 3, a[i], 70000, 6};
          for (int k = 0; k < 7; k++) { b[i] = 3 * b[i] + t[k]; t[k] = 9; }
        }""",
    "quotients and remainders of an iterator": """
        for (int i = 0; i < 8; i++) {
          int t[6] = {i / 4, i % 4, i >> 1, i & 3, (unsigned char)(i * 50), i / 9};
          const int k = i / 3, m = i % 3 - i / 16;
          for (int n = 0; n < 6; n++) b[i] = 5 * b[i] + t[n] + k - m;
        }""",
    "looked up where an iterator says": """
        for (int i = 0; i >= 0; i -= 2) {
          int t[2] = {a[(i ? 0 : x) & 7], i};
          const int k = a[(i ? x : 3) & 7];
          b[i] = t[0] + t[1] + k;
        }""",
    "designated": "int t[6] = {[4] = x, [1] = -2, 9}; for (int i = 0; i < 6; i++) b[i] = t[i];",
    "designated twice": """
        int t[3] = {1, x, [0] = 7, [1] = 8};
        for (int i = 0; i < 3; i++) b[i] = t[i];""",
    "a designated element of two dimensions": """
        int t[2][4] = {[1][2] = x, 7, [0] = {1, [3] = x}};
        for (int i = 0; i < 8; i++) b[i] = t[i / 4][i % 4];""",
    "nested braces left out": """
        int t[2][4] = {1, 2, x, 4, 5, x};
        for (int i = 0; i < 8; i++) b[i] = t[i / 4][i % 4];""",
    "a row of constants, and one computed": """
        for (int n = 0; n < 3; n++) {
          int t[3][2] = {{1, 2}, {n, a[n]}};
          for (int i = 0; i < 6; i++) { b[i] += t[i / 2][i % 2]; t[i / 2][i % 2] = 5; }
        }""",
    "braces around single values": "int t[2] = {{x}, {3}}, u = {t[0]}; b[0] = t[1] + u;",
    "as many elements as values": """
        int w[] = {1, x, 1}, v[][2] = {1, 2, x}, d[] = {[3] = x};
        b[0] = sizeof w + sizeof v + sizeof d;
        for (int i = 0; i < 3; i++) b[i + 1] = w[i] + v[i / 2][i % 2] + d[i + 1];""",
    "strings": """
        char s[] = "abc", r[2][4] = {"abcd", {"e"}}, q[] = {"xy\\n"}, p[][3] = {"a", "bcd"};
        b[0] = sizeof s + sizeof q + sizeof p;
        for (int i = 0; i < 4; i++) b[i + 1] = s[i] + q[i] + p[i / 3][i % 3];
        for (int i = 0; i < 8; i++) a[i] += r[i / 4][i % 4];""",
    "const, and computed": """
        for (int i = 0; i < 8; i++) { const int t[2] = {a[i], i}; b[i] = t[a[i] & 1]; }""",
    "under a condition on data": """
        for (int i = 0; i < 8; i++)
          if (a[i] > 0 && a[i] < 8) {
            int t[3] = {1, b[a[i]], x};
            for (int k = 0; k < 3; k++) b[i] += t[k];
          }""",
    "what wraps": "unsigned char t[3] = {x, 300, a[1]}; for (int i = 0; i < 3; i++) b[i] = t[i];",
    "calls": """
        int t[3] = {half(x), half(a[1]), 4};
        for (int i = 0; i < 3; i++) b[i] = t[i];""",
}


@needs_gcc
@pytest.mark.parametrize("name", BODIES)
def test_it_means_what_gcc_says(name: str) -> None:
    helper = "static int half(int v) { int t[2] = {v / 2, v}; return t[0] + t[v & 1]; }"
    assert_as_gcc(f"{helper if name == 'calls' else ''} {HEAD} {{ {BODIES[name]} }}")


@needs_gcc
def test_tables_may_be_designated() -> None:
    assert_as_gcc(
        """
        enum { N = 2 };
        static const int d[6] = {[N * 2] = 7, [1] = -2, 9}, e[][3] = {[1][1] = 4, 5, [0] = {1}};
        const char digits[] = "0123456789abcdef";
        void f(const unsigned x[8], int y[8]) {
          for (int i = 0; i < 8; i++)
            y[i] = d[x[i] % 6] + e[x[i] & 1][i % 3] + digits[x[i] & 15] + sizeof digits + sizeof e;
        }"""
    )


def test_runs_of_constants_are_loops_and_computed_elements_assignments() -> None:
    scop = parse_text(
        f"{HEAD} {{ int t[6] = {{1, 2, x}}; for (int i = 0; i < 6; i++) b[i] = t[i]; }}"
    ).scop
    assert [(s.text, len(s.loops)) for s in scop.statements] == [
        ("t[0..1] = {...}", 1),
        ("t[2] = x", 0),
        ("t[3..5] = {...}", 1),
        ("b[i] = t[i]", 1),
    ]
    assert [len(s.reads) for s in scop.statements[:3]] == [1, 0, 0]


def test_parts_cover_an_array_once_and_stand_alone_where_computed() -> None:
    assert list(parts((5,), ())) == [Part((), 0, 5)]
    assert list(parts((5,), (2,))) == [Part((), 0, 2), Part((), 2, 1), Part((), 3, 2)]
    assert list(parts((4, 2), (3,))) == [
        Part((), 0, 1),
        Part((1,), 0, 1),
        Part((1,), 1, 1),
        Part((), 2, 2),
    ]


@pytest.mark.parametrize(
    ("declared", "why"),
    [
        ("int t[2] = {x, 1, 2}", "more values than places"),
        ("int t[2][2] = {{x, 1, 2}}", "more values than places"),
        ("int t[2] = {[2] = x}", "there is no element 2"),
        ("int t[2] = {[-1] = x}", "there is no element -1"),
        ("int t[2] = {[x] = 1}", "this is no constant"),
        ("int t[2] = {[1][1] = x}", "braces or names that do not follow the dimensions"),
        ("int t[2] = {{x, 1}, 2}", "braces or names that do not follow the dimensions"),
        ("int t[2] = {.x = 1}", "braces or names that do not follow the dimensions"),
        ("static int t[2] = {x}", "this is no constant"),
        ("int t[2] = x", "its values stand in no braces"),
    ],
)
def test_what_fits_no_element_is_refused(declared: str, why: str) -> None:
    with pytest.raises(InitialiserUnsupported) as refused:
        parse_text(f"{HEAD} {{ {declared}; b[0] = *t; }}")
    assert refused.value.diagnostic.labels[0].text == why


def _list(draw: random.Random, shape: Sequence[int]) -> str:
    """Return random braces that C accepts for an array of that shape."""
    items, at, size = [], 0, prod(shape)
    while at < size and draw.random() < 0.8:
        designator, level = "", 0
        if draw.random() < 0.2:
            level = draw.randint(1, len(shape))
            index = [draw.randrange(extent) for extent in shape[:level]]
            at = sum(i * prod(shape[k + 1 :]) for k, i in enumerate(index))
            designator = "".join(f"[{i}]" for i in index) + " = "
        else:
            level = next(d for d in range(1, len(shape) + 1) if at % prod(shape[d:]) == 0)
        inner = shape[level:]
        if inner and draw.random() < 0.5:
            items.append(designator + _list(draw, inner))
            at += prod(inner)
        else:
            number = draw.randint(2, 9)
            told = f"i {draw.choice(('/', '%', '<', '&', '>>', '* 99 /'))} {number}"
            chosen = f"(i ? {draw.choice(('x', number))} : a[{draw.choice(('i', 'x & 7'))}])"
            value = draw.choice(
                ("x", "i", str(draw.randint(-9, 9)), told, chosen, f"a[{chosen} & 7]")
            )
            is_braced = not inner and draw.random() < 0.2
            items.append(designator + (f"{{{value}}}" if is_braced else value))
            at += 1
    return "{" + ", ".join(items) + "}" if items else "{0}"


@needs_gcc
def test_random_braces_and_names_fill_arrays_as_gcc_does() -> None:
    draw = random.Random(5)
    arrays = []
    for number in range(60):
        shape = [draw.randint(1, 3) for _ in range(draw.randint(1, 3))]
        extents = "".join(f"[{extent}]" for extent in shape)
        arrays.append((f"t{number}", extents, prod(shape), _list(draw, shape)))
    for group in (arrays[k : k + 10] for k in range(0, len(arrays), 10)):
        body = "".join(
            f"{{ int {name}{extents} = {values};"
            + _sum(name, [int(e) for e in extents.strip("[]").split("][")])
            + " }"
            for name, extents, _, values in group
        )
        assert_as_gcc(f"{HEAD} {{ for (int i = 0; i < 6; i++) {{ {body} }} }}", runs=1)


def _sum(name: str, shape: Sequence[int]) -> str:
    loops = "".join(
        f"for (int k{d} = 0; k{d} < {extent}; k{d}++) " for d, extent in enumerate(shape)
    )
    element = name + "".join(f"[k{d}]" for d in range(len(shape)))
    return f"{loops} b[i] = 3 * b[i] + {element};"
