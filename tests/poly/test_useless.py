"""Statements that do nothing are found exactly where plain execution finds them."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, assume, given, settings

from rtlgen.errors import Diagnostic
from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.planning.analysis import examine
from rtlgen.poly.dependences import dataflow, memory_dependences
from rtlgen.poly.liveness import useless_statements
from rtlgen.source import Span
from rtlgen.transforms.normalise import normalise
from tests.oracles.scops import random_scops
from tests.poly.enumeration import element, instances

LEFT_OUT = "S0 is left out of the circuit"
DEAD = {
    "a missing subscript": ("int s = 0; for (int i = 0; i < 8; i++) s = a[i]; b[0] = s;", "s",
                            "S1(0)", ("S1(1) overwrites it",)),
    "a local that nobody reads": ("int t[8]; for (int i = 2; i < 8; i++) t[i] = a[i]; b[0] = 1;",
                                  "t[2]", "S0(2)",
                                  ("the local t is gone after the run", LEFT_OUT)),
    "a result that is set again": (
        "for (int i = 0; i < 8; i++) a[i] = b[i]; for (int i = 7; i >= 0; i--) a[i] = 5;",
        "a[0]", "S0(0)", ("S1(0) overwrites it", LEFT_OUT)),
}  # fmt: skip


def warnings_of(body: str) -> tuple[Diagnostic, ...]:
    found = examine(parse_text(f"void f(int a[8], int b[8]) {{ {body} }}")).warnings
    return tuple(warning for warning in found if warning.code.startswith("W02"))


@pytest.mark.parametrize(("body", "name", "instance", "why"), DEAD.values(), ids=DEAD)
def test_a_dead_store_is_named_with_what_makes_it_dead(
    body: str, name: str, instance: str, why: tuple[str, ...]
) -> None:
    (warning,) = warnings_of(body)
    assert warning.code == "W0202"
    assert warning.message == f"the value that {name} gets is never used"
    assert warning.labels[0].text == f"stored by {instance}, read by nobody"
    assert warning.notes == why


def test_what_only_dead_statements_read_is_named_with_these() -> None:
    body = "int u = 0, t[8]; for (int i = 0; i < 8; i++) { u += a[i]; t[i] = u; b[i] = 1; }"
    first, second = warnings_of(body)
    assert first.message == "the values that u gets are never seen"
    assert first.labels[0].text == "stored by S1(0)"
    assert first.notes == (
        "read by S1, S2 alone, for nothing that outlives the run",
        "S1 is left out of the circuit",
    )
    assert second.message == "the value that t[0] gets is never used"


USEFUL = {
    "the last value is left over":
        "int last = 0; for (int i = 0; i < 8; i++) { a[i] = last; last = b[i]; }",
    "a border is set again":
        "for (int i = 0; i < 8; i++) a[i] = 0; for (int i = 0; i < 2; i++) a[7 * i] = 1;",
    "an initialiser": "int t = 0; for (int i = 0; i < 8; i++) { t = a[i]; b[i] = t; }",
    "rows begin anew":
        "int t = 0; for (int i = 0; i < 4; i++) { t = i; for (int j = 0; j < 2; j++) "
        "{ b[2 * i + j] = t; t = a[2 * i + j]; } }",
    "a running sum": "int s = 0; for (int i = 0; i < 8; i++) { s += a[i]; b[i] = s; }",
}  # fmt: skip


@pytest.mark.parametrize("body", USEFUL.values(), ids=USEFUL)
def test_common_forms_are_not_warned_of(body: str) -> None:
    assert warnings_of(body) == ()


def test_a_returned_value_is_used() -> None:
    text = "int f(int a[8]) { int s = 0; for (int i = 0; i < 8; i++) s += a[i]; return s; }"
    assert examine(parse_text(text)).warnings == ()


def test_an_assignment_to_itself_has_no_effect() -> None:
    (warning,) = warnings_of("for (int i = 0; i < 8; i++) a[i] = a[i];")
    assert (warning.code, warning.message) == ("W0203", "S0 has no effect")
    assert warnings_of("for (int i = 0; i < 8; i++) a[i] = a[7 - i];") == ()


def test_a_statement_that_never_runs_is_named() -> None:
    body = "for (int i = 0; i < 8; i++) { a[i] = 1; if (2 * i == 5) b[i] = 1; }"
    (warning,) = warnings_of(body)
    assert (warning.code, warning.message) == ("W0201", "S1 is never executed")


def found(scop: Scop) -> set[str]:
    """Return the statements whose stores are said to be dead."""
    sets = ScopSets(scop)
    said = useless_statements(scop, sets, memory_dependences(sets), dataflow(sets))
    names = [re.match(r"stored by (\w+)\(", w.labels[0].text) for w in said]
    return {name[1] for name in names if name}


def executed(scop: Scop) -> set[str]:
    """Return the same by running the program."""
    ran = instances(scop)
    last: dict[object, int] = {}
    used: set[int] = set()
    sources: dict[str, set[str]] = {}
    following: dict[int, str] = {}
    for number, instance in enumerate(ran):
        statement = scop.statement(instance.statement)
        read = {last.get(element(scop, instance, read), -1) for read in statement.reads} - {-1}
        used |= read
        sources.setdefault(statement.name, set()).update(ran[n].statement for n in read)
        place = element(scop, instance, statement.write)
        if place in last:
            following[last[place]] = statement.name
        last[place] = number
    local = {a.name for a in scop.arrays if a.role == "local" and a.name != scop.returned}
    left = {n for n in last.values() if scop.statement(ran[n].statement).write.array not in local}
    used |= left
    live = {ran[n].statement for n in left}
    while more := {source for name in live for source in sources[name]} - live:
        live |= more
    count = Counter(instance.statement for instance in ran)
    again = Counter(
        x.statement for n, x in enumerate(ran) if n not in used and following.get(n) == x.statement
    )
    return {s for s in count if s not in live or 2 * again[s] > count[s]}


@pytest.mark.long
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_scops())
def test_it_says_what_execution_says(program: Scop) -> None:
    scop = normalise(program)
    assume(scop.statements)
    # All spans are the same there, as of initialisers, which are left alone.
    elsewhere = tuple(replace(a, span=Span("test.c", 1, 2)) for a in scop.arrays)
    scop = replace(scop, arrays=elsewhere)
    same = {s.name for s in scop.statements if s.write in s.reads}
    assert found(scop) - same == executed(scop) - same


# Which stores are overwritten takes isl very long to tell here.
MANY_OVERLAPS = """void f(const int x[20], int c[60]) {
  for (int i = 0; i < 2; i++) {
    c[0] = i;
    for (int j = 0; j < 3; j++) for (int h = 0; h < 3; h++)
      for (int w = 0; w < 3; w++) for (int o = 0; o < 3; o++)
        c[3 * h + 2 * w + o] += x[j + h + w];
  } }"""


def test_a_warning_that_takes_too_long_is_left_out() -> None:
    assert examine(parse_text(MANY_OVERLAPS)).warnings == ()
    # The warnings of other statements are there.
    text = MANY_OVERLAPS.replace("int c[60]", "int c[60], int d[1]").replace(
        "c[0] = i;", "c[0] = i; d[0] = d[0];"
    )
    assert [w.code for w in examine(parse_text(text)).warnings] == ["W0203"]
