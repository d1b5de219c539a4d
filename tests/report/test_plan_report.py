"""The report gives the plan's figures, as JSON and as text."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import replace

import pytest

import rtlgen
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.expr import Constant, Expr, Read
from rtlgen.ir.plan import KernelPlan, LoadOp, Region
from rtlgen.ir.scop import Access, LoopNode, Scop, StatementNode
from rtlgen.ir.types import INT32
from rtlgen.report.plan_report import Findings, plan_report
from rtlgen.report.tables import text_table
from rtlgen.report.text import plan_report_text
from tests.oracles.plans import chained_sums
from tests.oracles.scops import access, array, loop, scop


def program() -> Scop:
    """Return statements of the names that `chained_sums` plans, and one that never runs."""
    body: Mapping[str, tuple[Access, tuple[Access, ...], Expr]] = {
        "S0": (access("b", "i"), (access("b", "i"),), Read(0, INT32)),
        "S1": (access("c", "i"), (access("b", "i"),), Read(0, INT32)),
        "S2": (access("c", "i"), (), Constant(0, INT32)),
    }
    tree = [LoopNode(loop("i", 0, 4), tuple(map(StatementNode, body)))]
    return scop([array("b", (4,)), array("c", (4,))], tree, body)


def two_regions() -> KernelPlan:
    plan = chained_sums()
    first, second = plan.regions[0].streams
    alone = replace(second, operations=second.operations[:4], store=replace(second.store, value=3))
    regions = (Region.whole((first,)), Region.whole((replace(alone, offset_cycles=0),)))
    return replace(plan, body=regions, index_latency_cycles=3, checksum=None)


def test_it_has_what_scripts_rely_on() -> None:
    report = json.loads(json.dumps(plan_report(program(), chained_sums(), {"seconds": 0.5})))
    assert report["statements"][1] == {
        "name": "S1",
        "text": "",
        "file": "test.c",
        "line": 1,
        "instances": 4,
        "shift": 0,
        "loops": [
            {"name": "i", "extent": 4, "pad": False},
            {"name": "pad1", "extent": 4, "pad": True},
        ],
        "folded": False,
    }
    assert (report["fused_iterations"], report["issue_slots"]) == (16, 22)
    assert report["perfect"] is True
    assert report["predicted_cycles"] == predicted_cycles(chained_sums())
    assert report["streams"][1] == {
        "statement": "S1",
        "region": 0,
        "ii": 1,
        "ii_reason": "no dependence needs more",
        "depth": 4,
        "divisions": [],
        "iterations": 16,
        "instances": 4,
        "first_cycle": 6,
        "last_issue_cycle": 21,
        "last_cycle": 24,
    }
    assert report["figures"] == {"seconds": 0.5}


def test_ports_and_copies_of_every_memory_are_given() -> None:
    memories = plan_report(program(), chained_sums())["memories"]
    assert [(m["name"], m["read_ports"], m["write_ports"], m["banks"]) for m in memories] == [
        ("A", 1, 1, 1),
        ("b", 2, 1, 2),
        ("c", 1, 1, 1),
    ]


FORWARDED = """void f(const int a[8], int b[8]) {
  int t[8];
  for (int i = 0; i < 8; i++) { t[i] = a[i] * a[i]; b[i] = t[i] + 1; } }
"""


def test_what_nothing_reads_is_no_memory() -> None:
    design = rtlgen.compile(source=FORWARDED)
    loads = [op for stream in design.plan.streams for op in stream.operations]
    assert not any(isinstance(op, LoadOp) and op.memory == "t" for op in loads)
    assert len(re.findall(r"^  reg [^\n]*\];$", design.verilog.text, re.MULTILINE)) == len("ab")
    (memory,) = (m for m in design.report()["memories"] if m["name"] == "t")
    shown = {name: memory[name] for name in ("kind", "style", "read_ports", "write_ports", "banks")}
    assert shown == {
        "kind": "forwarded", "style": None, "read_ports": 0, "write_ports": 0, "banks": 0
    }  # fmt: skip
    text = plan_report_text(design.report())
    assert re.search(r"^t +\[8\] +int32 +local +forwarded +0 +0 +0$", text, re.MULTILINE)


def test_what_ports_cost_and_what_is_unproven_are_lines_of_their_own() -> None:
    plan = chained_sums()
    memory = replace(plan.memory("b"), write_ports=2)
    several = replace(plan, memories=tuple(memory if m.name == "b" else m for m in plan.memories))
    report = plan_report(
        program(), several, found=Findings(bounds=["too few"], unproven=["not replayed"])
    )
    text = plan_report_text(report)
    assert "too few\nb: 2 write ports, so 2 copies of the whole array, 128 bits each\n" in text
    assert text.endswith("\n\nnot replayed")


def test_a_statement_that_never_runs_has_no_stream() -> None:
    report = plan_report(program(), chained_sums())
    assert report["statements"][2]["instances"] == 0
    assert "never runs" in plan_report_text(report)


def test_regions_follow_one_another() -> None:
    plan = two_regions()
    report = plan_report(program(), plan)
    assert report["perfect"] is False
    first, second = report["regions"]
    assert second["first_cycle"] == first["first_cycle"] + first["cycles"]
    assert report["streams"][1]["first_cycle"] == second["first_cycle"] + 3
    # The last store of the last region is the last cycle of the kernel.
    assert report["streams"][1]["last_cycle"] == report["predicted_cycles"] - 1
    assert report["issue_slots"] == 32


def test_the_text_is_a_page_of_aligned_tables() -> None:
    assert plan_report_text(plan_report(program(), chained_sums())) == (
        "sums, sums.c: 3 statements in one flattened loop\n"
        "\n"
        "stmt  at        instances  loops       shift  first  II  depth  why this II\n"
        "S0    test.c:1         16  i<4 j<4         0      0   1      7  no dependence needs more\n"
        "S1    test.c:1          4  i<4 pad1<4      0      6   1      4  no dependence needs more\n"
        "S2    test.c:1          0  -               0      -   -      -  never runs\n"
        "\n"
        "memory  shape   type   role   kind   reads  writes  banks\n"
        "A       [4][4]  int32  in     block      1       1      1\n"
        "b       [4]     int32  inout  block      2       1      2\n"
        "c       [4]     int32  out    block      1       1      1\n"
        "\n"
        "fused iterations            16\n"
        "floor                       16\n"
        "gap to the floor             0\n"
        "issue slots                 22\n"
        "predicted cycles            36\n"
        "block RAMs                   4\n"
        "DSP                          3"
    )


def test_cells_are_formatted_by_their_kind() -> None:
    table = text_table(("a", "b", "c"), [("x", 1234567, True), ("long", None, 2.25)])
    assert table == "a             b    c\nx     1,234,567  yes\nlong          -  2.2"


def test_an_empty_table_is_its_header() -> None:
    assert text_table(("a", "b"), []) == "a  b"


def test_a_ragged_table_is_refused() -> None:
    with pytest.raises(ValueError, match="a row of 1 cells in a table of 2 columns"):
        text_table(("a", "b"), [("x",)])


def test_the_schedule_of_lanes_names_each_of_them() -> None:
    text = "void f(int a[20]) { for (int i = 1; i < 20; i++) a[i] = (a[i] ^ a[i - 1]) * 3; }"
    design = rtlgen.compile(source=text, unroll={"i": 4}, tile=(4,))
    rows = design.report()["schedule"]["rows"]
    assert [row["statement"] for row in rows] == ["S0", "S0_1", "S0_2", "S0_3"]
    assert all(len(row["vector"]) == 3 for row in rows)


def test_types_are_those_of_c() -> None:
    design = rtlgen.compile(
        source="float f(const float x[8], double a, short n[8]) {"
        "  float s = 0; for (int i = 0; i < 8; i++) s += x[i] * a + n[i]; return s; }"
    )
    report = design.report()
    types = {memory["name"]: memory["type"] for memory in report["memories"]}
    assert (types["x"], types["n"]) == ("float32", "int16")
    assert report["scalars"] == [{"name": "a", "bits": 64, "signed": False, "type": "float64"}]
    assert re.search(r"^x +\[8\] +float32 +in", plan_report_text(report), re.MULTILINE)
