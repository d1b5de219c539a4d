"""What a function changes beyond its own variables decides whether a call of it may be left out."""

from __future__ import annotations

import pytest
from pycparser import CParser

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.frontend.lowering.calls import changing_functions

FUNCTIONS = {
    "its own copy of a parameter": ("int g(int x) { x *= 2; return x; }", False),
    "its own array": ("int g(int x) { int t[2] = {x}; t[1] = x; t[0]++; return t[1]; }", False),
    "its own iterator": (
        "int g(int *a) { int s = 0; for (int i = 0; i < 4; ++i) s += a[i]; return s; }",
        False,
    ),
    "an element that is handed over": ("int g(int a[4]) { return a[1] = 3; }", True),
    "what a pointer leads to": ("int g(int *p) { return ++*p; }", True),
    "by way of a pointer of its own": ("int g(int a[4]) { int *p = a; *p = 1; return 0; }", True),
    "a variable of the file": ("int n; int g(void) { return n++; }", True),
    "what it keeps": ("int g(void) { static int n; return n += 2; }", True),
    "a member that is handed over": (
        "struct s { int x; }; int g(struct s *p) { return p->x -= 1; }",
        True,
    ),
    "by a function that it calls": (
        "int h(int *p) { return (*p)++; } int g(int *p) { return 1 + h(p); }",
        True,
    ),
    "nothing, and calls what changes nothing": (
        "int h(int x) { return x / 3; } int g(int x) { return h(x) + h(-x); }",
        False,
    ),
    "a name that is a pointer elsewhere": (
        "int g(int *a) { { int *t = a; *t = 1; } { int t; t = 2; return t; } }",
        True,
    ),
    "an element of a member that is handed over": (
        "struct s { int v[4]; }; int g(struct s *p) { p->v[1] = 1; return 0; }",
        True,
    ),
    "what a member points to": (
        "struct s { int *p; }; int g(struct s t) { *t.p = t.p[1] = 1; return 0; }",
        True,
    ),
    "a member of its own": (
        "struct s { int v[4]; }; int g(struct s t) { t.v[1] = 1; return t.v[0]; }",
        False,
    ),
    "a variable of the file, hidden in a block": (
        "int n; int g(int i) { n = i; { int n = 3; i += n; } return i; }",
        True,
    ),
    "its own number of a named type": (
        "typedef int num; int g(num x) { auto num y = x; y++; return y; }",
        False,
    ),
    "nothing by a pointer to its own array": (
        "int g(int x) { int t[2] = {x, 1}; int *p = t + 1, *q = &t[0]; return *p + *q; }",
        False,
    ),
    "what a name of a type may hide": (
        "typedef int *place; int g(place p) { *p = 1; return 0; }",
        True,
    ),
}


@pytest.mark.parametrize(("text", "is_changing"), FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_function_changes(text: str, is_changing: bool) -> None:
    assert ("g" in changing_functions(CParser().parse(text))) == is_changing


@pytest.mark.parametrize("told", ['printf("%d", g(a));', "assert(g(a) > 0);"])
def test_what_is_told_must_not_be_what_changes_something(told: str) -> None:
    """The call was left out, and its effect with it."""
    text = "#include <assert.h>\n#include <stdio.h>\n{} void f(int a[4]) {{ {} a[0] -= a[1]; }}"
    with pytest.raises(FrontendError) as refused:
        parse_text(text.format("int g(int *p) { return ++p[1]; }", told))
    assert refused.value.code == "E0126"
    program = parse_text(text.format("int g(const int *p) { int x = p[1]; return ++x; }", told))
    assert [warning.code for warning in program.warnings] == ["W0111"]
