"""Compound literals and strings are arrays, set where C sets them."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError, UnsupportedExpression
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

HEAD = """
static int dot(const int w[3], int v) { return w[0] + w[1] * v - w[2]; }
static int bump(int *p) { *p += 3; return *p * 2; }
void f(int a[8], int b[8], int x) """
LOOP = "for (int i = 0; i < 8; i++)"

BODIES = {
    "constants": f"{LOOP} b[i] = (int[]){{1, 2, -3}}[i % 3] * a[i];",
    "two dimensions": f"{LOOP} b[i] = (int[2][4]){{{{1, 2}}, {{3}}}}[i / 4][i % 4] + a[i];",
    "designated": f"{LOOP} b[i] = (short[8]){{[3] = 7, [i] = x}}[7 - i];".replace("[i] = x", "8"),
    "a part that is set twice": f"""{LOOP}
        b[i] = (int[2][2]){{[0] = {{1, x}}, [1] = {{2, 4}}, [0] = {{3}}}}[i >> 2][i & 1];""",
    "computed": f"{LOOP} b[i] = (int[]){{a[i], i, x}}[i % 3];",
    "an argument": f"{LOOP} b[i] = dot((int[]){{a[i], i, x}}, 3) + dot((int[3]){{1, 2}}, i);",
    "a pointer": f"const int *w = (int[]){{1, 2, x}}; {LOOP} b[i] = w[i % 3];",
    "anew in every iteration": f"""{LOOP} {{
        int *p = (int[]){{i, a[i]}};
        p[0] += p[1];
        p[1] += x;
        b[i] = p[0] ^ p[1];
    }}""",
    "under if": f"""{LOOP}
        if (a[i] > 0) b[i] = (int[]){{a[i], i, x}}[i % 3]; else b[i] = (int[2]){{x}}[i & 1];""",
    "constants under ?:": f'{LOOP} b[i] = a[i] > 0 ? (int[]){{1, 2, 3}}[i % 3] : "ab"[i & 1];',
    "numbers": f"{LOOP} b[i] = (short){{a[i]}} + (unsigned char){{300}};",
    "the address of a number": f"{LOOP} b[i] = bump(&(int){{a[i]}});",
    "texts": f"""const char *s = "a\\tc"; {LOOP}
        b[i] = s[i % 4] + "0123456789abcdef"[a[i] & 15] + *"x" + ("yz" + 1)[0];""",
    "names that are taken": f"""int literal = 1, text = 2;
        {LOOP} b[i] = (int[]){{literal, text}}[i & 1];""",
    "behind a comma": "x = 3, b[0] = (int[]){x, 1}[a[0] & 1], x = 4, b[1] = (int[]){x, 2}[0];",
}


@needs_gcc
@pytest.mark.parametrize("name", BODIES)
def test_it_means_what_gcc_says(name: str) -> None:
    assert_as_gcc(f"{HEAD} {{ {BODIES[name]} }}")


def test_constants_that_nobody_changes_are_tables() -> None:
    scop = parse_text(
        f'{HEAD} {{ {LOOP} b[i] = (int[]){{4, 5}}[a[i] & 1] + "az"[a[i] & 1]; }}'
    ).scop
    assert len(scop.statements) == 1
    assert scop.array("literal").values == (4, 5)
    assert scop.array("text").values == (97, 122, 0)


@pytest.mark.parametrize(
    "statement",
    [
        "b[i] = a[i] > 0 ? (int[]){1, x, 3}[i % 3] : 0;",
        "b[i] = a[i] > 0 && (int[]){1, x}[i & 1];",
        "for (int k = 0; k < (int[]){x, 2}[1]; k++) b[k] = 1;",
        "int k; for (k = (int[]){x, 2}[1]; k < 3; k++) b[k] = 1;",
        "b[i] = (x++, (int[]){x, 2}[1]);",
    ],
)
def test_what_would_be_set_inside_of_an_expression_is_refused(statement: str) -> None:
    with pytest.raises(UnsupportedExpression) as refused:
        parse_text(f"{HEAD} {{ {LOOP} {{ {statement} }} }}")
    diagnostic = refused.value.diagnostic
    assert diagnostic.message == "a compound literal here would be set inside of an expression"
    assert diagnostic.help == "declare an array above the statement, and use it here"


def test_a_text_cannot_be_changed() -> None:
    with pytest.raises(FrontendError):
        parse_text(f'{HEAD} {{ char *s = "abc"; s[0] = 1; b[0] = s[1]; }}')
