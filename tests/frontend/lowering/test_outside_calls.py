"""Calls of functions outside of the file: left out where they touch nothing, else refused."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import CallUnsupported, FrontendError
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

INCLUDES = """
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>
void note(int what);
void *alloc(void);
int fill(int *what);
static int twice(int v) { return 2 * v; }
static double now(void) { struct timeval t; gettimeofday(&t, 0); return t.tv_sec; }
static double since(double start) { return now() - start; }
static int noise(void) { return rand() & 7; }
"""
HEAD = "void f(int a[8], int b[8], int x) "
LOOP = "for (int i = 0; i < 8; i++) b[i] = 3 * a[i];"

LEFT_OUT = {
    "the time": (
        f"""struct timeval start, end;
        gettimeofday(&start, NULL);
        {LOOP}
        gettimeofday(&end, NULL);
        double spent = end.tv_sec - start.tv_sec;
        spent += (end.tv_usec - start.tv_usec) * 1e-6;
        if (x < 0) printf("%f s\\n", spent);""",
        ["gettimeofday", "printf"],
    ),
    "the clock": (
        f'clock_t t = clock(); {LOOP} t = clock() - t; if (x < 0) printf("%ld", (long)t);',
        ["clock", "printf"],
    ),
    "seeds and pauses": (
        f"srand(3 * x + 1); {LOOP} (void)usleep((unsigned)1);",
        ["srand", "usleep"],
    ),
    "by functions of the file": (
        f"""double start = now(); {LOOP}
        if (x < 0) printf("%f %f", now() - start, since(start));""",
        ["now", "printf"],
    ),
    "in a loop": (
        "for (int i = 0; i < 8; i++) { b[i] = a[i]; if (a[i] == 77) srand(i); else srand(x); }",
        ["srand"],
    ),
}


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize("name", LEFT_OUT)
def test_what_touches_nothing_is_left_out(name: str) -> None:
    body, names = LEFT_OUT[name]
    program = assert_as_gcc(f"{INCLUDES} {HEAD} {{ {body} }}")
    messages = [warning.message for warning in program.warnings if warning.code == "W0111"]
    assert sorted(message.split("`")[1] for message in messages) == names


def test_a_function_that_the_file_declares_is_left_out_where_nothing_is_shared() -> None:
    scop = parse_text(f"{INCLUDES} {HEAD} {{ note(x); {LOOP} note(1); free(a); }}").scop
    assert [statement.text for statement in scop.statements] == ["b[i] = 3 * a[i]"]
    with pytest.raises(CallUnsupported):
        parse_text(f"{INCLUDES} int g; {HEAD} {{ note(x); {LOOP} }}")
    with pytest.raises(CallUnsupported):
        parse_text(f"static void tell(int n) {{ note(n); }} int g; {HEAD} {{ tell(x); {LOOP} }}")
    # A header's function knows nothing of the file.
    assert parse_text(f"{INCLUDES} int g; {HEAD} {{ g++; srand(x); {LOOP} }}").scop


@pytest.mark.parametrize(
    "body",
    [
        "fill(a);",
        'printf("%p", fill(a));',
        'if (x) printf("%p", fill(a)); else b[0] = 1;',
        "b[0] = noise();",
        "int t = noise(); b[0] = t;",
        "fill(&a[2]);",
        "fill(a + 1);",
        "int t = 1; fill(&t); b[0] = t;",
        "note(b[0]++);",
        "int s = 0; for (int i = 0; i < 8; i++) s += a[i]; fill(&s);",
        "int t = rand(); b[0] = t;",
        "int t; t = rand(); b[0] = (t += 1);",
        "int t; t = rand(); if (t) b[0] = 1;",
        "int t; t = rand(); for (int i = 0; i < t; i++) b[i] = 1;",
        "b[0] = twice(rand());",
        "b[0] = rand();",
        "b[0] = x ? rand() : rand();",
        "x = rand(); b[0] = x;",
        "free(b++);",
    ],
)
def test_what_may_touch_or_give_something_is_refused(body: str) -> None:
    with pytest.raises(FrontendError):
        parse_text(f"{INCLUDES} {HEAD} {{ {LOOP} {body} }}")


def test_what_stands_beside_a_region_says_what_goes_out() -> None:
    text = f"""{INCLUDES} {HEAD} {{ int s = 0;
    #pragma scop
    note(x);
    for (int i = 0; i < 8; i++) s += a[i];
    #pragma endscop
    fill(&s); }}"""
    scop = parse_text(text).scop
    assert scop.array("s").role in ("out", "inout")


def test_the_refusal_says_what_to_do() -> None:
    with pytest.raises(CallUnsupported) as refused:
        parse_text(f"{INCLUDES} {HEAD} {{ {LOOP} fill(b); }}")
    diagnostic = refused.value.diagnostic
    assert diagnostic.message == "the function `fill` is not defined here"
    assert diagnostic.labels[0].text == "may change what is computed"
    assert diagnostic.help == "define the function in this file, or leave out the call"
