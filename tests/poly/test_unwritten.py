"""A local that is read before it is written is refused exactly where plain execution finds one."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, assume, given, settings

from rtlgen.errors import Diagnostic
from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.planning.analysis import examine
from rtlgen.poly.dependences import Dataflow, dataflow
from rtlgen.poly.errors import ReadBeforeWrite
from rtlgen.poly.liveness import _asked, require_written
from rtlgen.transforms.normalise import normalise
from tests.oracles.scops import random_scops
from tests.poly.enumeration import element, instances

UNWRITTEN = {
    "never written": ("int t; for (int i = 0; i < 8; i++) a[i] = t;", "t", "S0(0)"),
    "written later": (
        "int t; for (int i = 7; i >= 0; i--) { a[i] = t; t = b[i]; }", "t", "S0(7)"),
    "one element": (
        "int t[8]; for (int i = 1; i < 8; i++) t[i] = a[i]; "
        "for (int i = 7; i >= 0; i--) b[i] = t[i];",
        "t[0]", "S1(0)"),
    "beyond the last": (
        "int t[9]; for (int i = 0; i < 8; i++) t[i] = a[i]; "
        "for (int i = 0; i < 8; i++) b[i] = t[i + 1];",
        "t[8]", "S1(7)"),
    "a sum without a start": ("int s; for (int i = 0; i < 8; i++) s += a[i]; b[0] = s;", "s",
                              "S0(0)"),
    "the condition": ("int t; for (int i = 0; i < 8; i++) a[i] = t ? 1 : 2;", "t", "S0(0)"),
}  # fmt: skip


def warnings_of(body: str) -> tuple[Diagnostic, ...]:
    return examine(parse_text(f"void f(int a[8], int b[8]) {{ {body} }}")).warnings


@pytest.mark.parametrize(("body", "name", "instance"), UNWRITTEN.values(), ids=UNWRITTEN)
def test_the_element_and_the_iteration_are_named(body: str, name: str, instance: str) -> None:
    with pytest.raises(ReadBeforeWrite) as caught:
        warnings_of(body)
    text = caught.value.diagnostic.render()
    assert f"the local {name} is read before it has a value" in text
    assert f"read by {instance}" in text


WRITTEN = {
    "outside of the array where a condition keeps it from being read":
        "int t[8]; for (int i = 0; i < 8; i++) t[i] = a[i];"
        "for (int i = 0; i < 8; i++) b[i] = i > 0 ? t[i - 1] : 0;",
    "initialised": "int t = 3; for (int i = 0; i < 8; i++) a[i] = t;",
    "in the same iteration": "int t; for (int i = 0; i < 8; i++) { t = b[i]; a[i] = t; }",
    "an array with values": "int t[8] = {1}; for (int i = 0; i < 8; i++) a[i] = t[i];",
    "by an inlined function": "int t[8]; fill(t); for (int i = 0; i < 8; i++) a[i] = t[i];",
    "a parameter": "for (int i = 0; i < 8; i++) a[i] += b[i];",
    "a guarded store keeps what is there":
        "int t[8]; for (int i = 0; i < 8; i++) { if (a[i] > 0) t[i] = 1; else t[i] = 2; }"
        "for (int i = 0; i < 8; i++) b[i] = t[i];",
}  # fmt: skip


@pytest.mark.parametrize("body", WRITTEN.values(), ids=WRITTEN)
def test_what_has_a_value_is_accepted(body: str) -> None:
    text = "void fill(int x[8]) { for (int i = 0; i < 8; i++) x[i] = i; }\n"
    program = parse_text(f"{text}void f(int a[8], int b[8]) {{ {body} }}", function="f")
    assert [w for w in examine(program).warnings if w.code == "W0204"] == []


CONDITIONAL = {
    "an arm": "int t; for (int i = 0; i < 8; i++) a[i] = b[i] > 0 ? t : 2;",
    "behind &&": "int t; for (int i = 0; i < 8; i++) a[i] = b[i] > 0 && t > 0;",
    "under an if": "int t; for (int i = 0; i < 8; i++) if (b[i] > 0) a[i] = t;",
}


@pytest.mark.parametrize("body", CONDITIONAL.values(), ids=CONDITIONAL)
def test_a_read_that_depends_on_data_is_a_warning(body: str) -> None:
    (warning,) = warnings_of(body)
    assert warning.code == "W0204"
    assert warning.message == "the local t may be read before it has a value"


def test_a_read_in_a_loop_that_never_runs_is_none() -> None:
    body = "int t; for (int i = 0; i < 8; i++) { a[i] = 1; if (2 * i == 5) b[i] = t; }"
    assert [w.code for w in warnings_of(body)] == ["W0201"]


def finds(scop: Scop, flows: Dataflow | None = None) -> bool:
    """Return whether the check has anything to say."""
    sets = ScopSets(scop)
    try:
        return bool(require_written(sets, flows or dataflow(sets)))
    except ReadBeforeWrite:
        return True


def executed(scop: Scop) -> bool:
    """Return whether running the program reads a local that has no value."""
    local = {array.name for array in scop.arrays if array.role == "local"}
    written = set()
    for instance in instances(scop):
        statement = scop.statement(instance.statement)
        for number in _asked(statement):
            read = statement.reads[number]
            if read.array in local and element(scop, instance, read) not in written:
                return True
        written.add(element(scop, instance, statement.write))
    return False


@pytest.mark.long
@settings(max_examples=100, deadline=None, suppress_health_check=list(HealthCheck))
@given(random_scops())
def test_it_says_what_execution_says(program: Scop) -> None:
    scop = normalise(program)
    assume(scop.statements)
    assert finds(scop) == executed(scop)


def test_a_missing_flow_is_noticed() -> None:
    body = "int t; for (int i = 0; i < 8; i++) { t = 3 * a[i]; a[i] += t; }"
    analysis = examine(parse_text(f"void f(int a[8]) {{ {body} }}"))
    assert not finds(analysis.scop)
    kept = tuple(flow for flow in analysis.flows.flows if flow.source != "S0")
    assert finds(analysis.scop, Dataflow(kept, analysis.flows.live_out))
