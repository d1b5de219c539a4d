"""Every diagnostic of rtlgen, provoked and rendered, against `diagnostics/CODE.expected`.

The refusals of C programs have their own cases in `tests/frontend/diagnostics`, a few others stand
beside what they judge. Together they show every code that exists.
"""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rtlgen
import rtlgen.bench.tables
import rtlgen.errors
import rtlgen.ir.effort
import rtlgen.memories.predicates
import rtlgen.sim.cocotb_runner
from rtlgen.cli.program import cli
from rtlgen.cli.rechecking import source_of
from rtlgen.cli.supervision import crash
from rtlgen.design import Design
from rtlgen.driver import compile_program
from rtlgen.errors import InternalError, RtlgenError, long_forms, registered_codes
from rtlgen.flow.synth import count_cells
from rtlgen.frontend import parse_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going, limited_effort
from rtlgen.ir.plan import Region
from rtlgen.ir.scop import loop_paths
from rtlgen.ir.sets import ScopSets
from rtlgen.judges.replay import replay
from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import read_manifest, read_verilog
from rtlgen.nests.period import Member, common_period
from rtlgen.nests.precedence import Precedence, Related
from rtlgen.options import CompileOptions, PartitionWish
from rtlgen.planning.analysis import analyse, examine
from rtlgen.poly.correspondence import correspondence
from rtlgen.poly.edges import Edge
from rtlgen.poly.extrema import set_extrema
from rtlgen.poly.legality import require_legal
from rtlgen.poly.pluto import pluto
from rtlgen.sim.axi_behaviour import RESPONSES, BusError
from rtlgen.sim.job import Outcome, Result, RunRecord
from rtlgen.sim.off_chip import array_places
from rtlgen.system.cache import new_in
from rtlgen.system.memory_limit import memory_limit_mb
from rtlgen.system.tools import find_tool, run_tool
from rtlgen.transforms.fuse import distribute
from rtlgen.transforms.units import Unit
from rtlgen.verify.c_oracle import COptions, c_outcomes
from rtlgen.verify.cosim import _raise_broken_rule
from rtlgen.verify.data import random_data_sets
from rtlgen.verify.golden import SubscriptError, run_golden
from rtlgen.verify.inputs import check_inputs, load_inputs
from rtlgen.verify.session import session_closed
from rtlgen.verify.values import Elements
from rtlgen.waves.instances import BuiltCircuit, parsed_instance
from rtlgen.waves.trace_file import traced_circuit
from sim.designs.increment import Increment
from tests.tiling.programs import KIB, LOOKUP, PRODUCT, planned

TESTS = Path(__file__).parent
FOLDER = TESTS / "diagnostics"

CHAIN = """\
void chain(int a[4][6], int b[4])
{
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++)
      b[i] += a[i][j];
  for (int i = 0; i < 4; i++)
    a[0][i] = b[i] * 3;
}
"""

SIXES = """\
void sixes(int a[4][6])
{
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 6; j++)
      a[i][j] = j;
}
"""

Provoke = Callable[[pytest.MonkeyPatch], object]
CASES: dict[str, Provoke] = {}


def provokes(code: str) -> Callable[[Provoke], Provoke]:
    """Register a function that raises the error with this code; it runs in an empty folder."""

    def register(function: Provoke) -> Provoke:
        CASES[code] = function
        return function

    return register


def design(text: str = CHAIN, **options: object) -> Design:
    settings = CompileOptions(**options)  # type: ignore[arg-type]
    return Design(compile_program(parse_text(text, "chain.c"), settings), settings)


def program_error(text: str, **options: object) -> None:
    design(text, **options)


@provokes("E0201")
def leaving_an_array(_: pytest.MonkeyPatch) -> None:
    program_error(CHAIN.replace("a[0][i]", "a[i + 1][i]"))


@provokes("E0202")
def distributing_in_the_wrong_order(_: pytest.MonkeyPatch) -> None:
    program = analyse(parse_text(CHAIN, "chain.c"))
    turned = distribute(program.scop, [Unit(("S1",)), Unit(("S0",))])
    try:
        require_legal(program.sets, program.dependences, turned.schedule, "running S1 before S0")
    except RtlgenError as error:
        error.sources = program.program.sources
        raise


@provokes("E0203")
def a_shift_that_is_too_small(_: pytest.MonkeyPatch) -> None:
    program_error(CHAIN, shifts={"S1": 0})


@provokes("E0204")
def a_shift_of_nothing(_: pytest.MonkeyPatch) -> None:
    program_error(CHAIN, shifts={"S2": 0})


@provokes("E0206")
def outer_shifting_of_nests_of_unequal_trip_counts(_: pytest.MonkeyPatch) -> None:
    program_error(CHAIN.replace("i++)\n    a[0]", "i += 2)\n    a[0]"), fuse="ols")


@provokes("E0220")
def looking_up_what_may_lie_outside(_: pytest.MonkeyPatch) -> None:
    program_error(CHAIN.replace("b[i] * 3", "b[a[1][i] % 4 + 30] * 3"))


@provokes("E0208")
def an_analysis_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtlgen.ir.effort, "MAX_OPERATIONS", 300)
    program_error(CHAIN)


@provokes("E0205")
def a_cycle_that_no_period_satisfies(_: pytest.MonkeyPatch) -> None:
    made = design().compilation.analysis
    scop = made.scop
    paths = loop_paths(scop.tree)
    members = [
        Member(s.name, s.iterators, scop.schedule.loops(s.name), paths[s.name])
        for s in scop.statements
    ]
    carried = next(d for d in made.dependences if d.source != d.sink)
    pairs = set_extrema(carried.relation.wrap().flatten())
    there = Precedence(carried.source, carried.sink, 1000, pairs, carried)
    back = replace(
        there,
        source=carried.sink,
        sink=carried.source,
        related=set_extrema(carried.relation.reverse().wrap().flatten()),
    )
    common_period(members, [there, back], Related(made.sets, frozenset()))


@provokes("E0210")
def edges_that_contradict_each_other(_: pytest.MonkeyPatch) -> None:
    sets = analyse(parse_text(SIXES, "sixes.c")).sets
    both_ways = sets.read_map("{ s0[i,j] -> s0[3 - i, 5 - j] : 0 <= i < 4 and 0 <= j < 6 }")
    pluto(sets, [Edge("S0", "S0", both_ways)])


@provokes("E0211")
def a_change_of_iterators_that_loses_instances(_: pytest.MonkeyPatch) -> None:
    made = analyse(parse_text(SIXES, "sixes.c"))
    (statement,) = made.scop.statements
    cut = replace(statement, conditions=(Affine.variable("i") - 1,))
    correspondence(made.sets, ScopSets(replace(made.scop, statements=(cut,)), made.sets))


@provokes("E0212")
def three_sizes_for_two_loops(_: pytest.MonkeyPatch) -> None:
    program_error(SIXES, tile=(2, 2, 2))


@provokes("E0230")
def a_local_that_nothing_wrote(_: pytest.MonkeyPatch) -> None:
    local = "void chain(int a[4][6])\n{\n  int b[5];"
    program_error(CHAIN.replace("void chain(int a[4][6], int b[4])\n{", local))


@provokes("E0231")
def a_stream_read_backwards(_: pytest.MonkeyPatch) -> None:
    text = "void f(const int x[8], int y[8])\n{\n  for (int i = 0; i < 8; i++)\n"
    program_error(text + "    y[i] = x[7 - i];\n}\n", memory={"": "stream"})


@provokes("E0325")
def a_stream_that_is_read_and_written(_: pytest.MonkeyPatch) -> None:
    design(memory={"a": "stream"})


@provokes("E0326")
def a_local_array_beside_the_core(_: pytest.MonkeyPatch) -> None:
    text = "void f(int a[9])\n{\n  int b[9];\n  for (int i = 0; i < 9; i++)\n    b[i] = a[i];\n"
    text += "  for (int i = 0; i < 9; i++)\n    a[i] = b[8 - i];\n}\n"
    program_error(text, memory={"b": "external"})


@provokes("E0301")
def a_domain_without_description(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtlgen.memories.predicates.CounterSpace, "predicate", lambda *_: None)
    program_error(CHAIN)


@provokes("E0303")
def bit_fields_of_a_six(_: pytest.MonkeyPatch) -> None:
    program_error(SIXES, index_style="shift")


@provokes("E0304")
def a_plan_that_starts_too_early(_: pytest.MonkeyPatch) -> None:
    made = design()
    compilation = made.compilation
    (region,) = made.plan.regions
    early = tuple(replace(stream, offset_cycles=0) for stream in region.streams)
    scop = compilation.analysis.scop
    broken = replace(made.plan, body=(Region.whole(early),))
    replay(broken, scop, scop.schedule, compilation.stages["flatten"].schedule)


@provokes("E0305")
def a_statement_that_never_runs(_: pytest.MonkeyPatch) -> None:
    program_error(
        CHAIN.replace("      b[i]", "      if (2 * i == 3) b[i]").replace(
            "    a[0][i]", "    if (2 * i == 5) a[0][i]"
        )
    )


@provokes("E0306")
def a_result_that_nobody_sees(_: pytest.MonkeyPatch) -> None:
    program_error("void f(const int a[8])\n{\n  int s = 0;\n  s += a[1];\n}\n")


@provokes("E0307")
def windows_that_do_not_fit(_: pytest.MonkeyPatch) -> None:
    planned(PRODUCT, 64, (8, 8, 8), budget_bits=KIB)


@provokes("E0308")
def a_lookup_off_chip(_: pytest.MonkeyPatch) -> None:
    planned(LOOKUP, 16)


UNROLLED = """\
void unrolled(int a[12], const int b[12])
{
  for (int i = 0; i < 12; i += 3) {
    a[i] += b[i];
    a[i + 1] += b[i + 2];
  }
}
"""


@provokes("E0309")
def a_bank_that_no_bits_tell(_: pytest.MonkeyPatch) -> None:
    text = UNROLLED.replace("i += 3", "i += 2").replace("[i + 2]", "[i]")
    program_error(text, partitions={"b": (PartitionWish("cyclic", 1, 3),)})


@provokes("E0310")
def a_dimension_that_is_not_there(_: pytest.MonkeyPatch) -> None:
    program_error(UNROLLED, partitions={"a": (PartitionWish("complete", 2),)})


@provokes("E0311")
def more_parts_than_values(_: pytest.MonkeyPatch) -> None:
    program_error(UNROLLED, partitions={"a": (PartitionWish("block", 1, 13),)})


@provokes("E0312")
def two_stores_to_a_bank(_: pytest.MonkeyPatch) -> None:
    text = UNROLLED.replace("a[i + 1]", "a[i + 2]")
    program_error(text, partitions={"a": (PartitionWish("cyclic", 1, 2),)})


@provokes("E0313")
def lanes_of_no_loop(_: pytest.MonkeyPatch) -> None:
    program_error(CHAIN, unroll={"k": 2})


@provokes("E0314")
def a_triangle_unrolled_whole(_: pytest.MonkeyPatch) -> None:
    program_error(CHAIN.replace("j < 6", "j < i"), unroll={"j": None})


@provokes("E0315")
def a_place_for_no_array(_: pytest.MonkeyPatch) -> None:
    design(memory={"c": "fixed:8"})


@provokes("E0316")
def a_bus_of_half_an_element(_: pytest.MonkeyPatch) -> None:
    program_error(CHAIN.replace("int b[4]", "long b[4]"), memory={"b": "fixed:8"}, bus_bits=32)


@provokes("E0317")
def a_scalar_off_chip(_: pytest.MonkeyPatch) -> None:
    text = "int f(const int a[8])\n{\n  int s = 0;\n  for (int i = 0; i < 8; i++) s += a[i];\n"
    program_error(text + "  return s;\n}\n", memory={"s": "fixed:8"})


@provokes("E0318")
def two_memories_off_chip(_: pytest.MonkeyPatch) -> None:
    design(memory={"a": "fixed:8", "b": "fixed:4"})


@provokes("E0319")
def a_shift_in_tiles(_: pytest.MonkeyPatch) -> None:
    design(memory={"": "fixed:8"}, shifts={"S1": 24})


@provokes("E0322")
def more_products_than_multipliers(_: pytest.MonkeyPatch) -> None:
    program_error(UNROLLED.replace("+= b[i];", "*= b[i];"), max_dsp=2)


@provokes("E0324")
def less_ram_than_arrays_that_stay_on_chip_take(_: pytest.MonkeyPatch) -> None:
    text = "void f(int a[1024], int b[512])\n{\n  for (int i = 0; i < 512; i++)\n"
    text += "    b[i] = a[2 * i] + a[2 * i + 1];\n}\n"
    program_error(text, memory={"": "onchip"}, max_bram_kib=4)


@provokes("E0323")
def more_lanes_in_tiles_than_banks(_: pytest.MonkeyPatch) -> None:
    text = "void f(int a[99])\n{\n  for (int i = 0; i < 99; i++)\n    a[i] *= 3;\n}\n"
    program_error(text, memory={"": "axi"}, unroll={"i": None})


@provokes("E0321")
def a_recurrence_for_two_threads(_: pytest.MonkeyPatch) -> None:
    text = "void f(int a[16])\n{\n  for (int i = 1; i < 16; i++)\n    a[i] = a[i - 1] + 3;\n}\n"
    program_error(text, memory={"": "axi"}, threads=2, tile=(4,))


@provokes("E0320")
def two_copies_of_what_the_host_does_not_reach(_: pytest.MonkeyPatch) -> None:
    text = "void f(int a[9])\n{\n  int b[9];\n  for (int i = 0; i < 9; i++)\n    b[i] = a[i];\n"
    text += "  for (int i = 0; i < 9; i++)\n    a[i] = b[8 - i];\n}\n"
    program_error(text, double_buffers=("b",))


@provokes("E0401")
def an_unknown_target(_: pytest.MonkeyPatch) -> None:
    design(target="asic")


@provokes("E0402")
def a_build_onto_a_file(_: pytest.MonkeyPatch) -> None:
    Path("occupied").touch()
    design().write("occupied")


@provokes("E0403")
def a_shift_without_a_number(_: pytest.MonkeyPatch) -> None:
    cli.main(["plan", "f.c", "--shift", "S1=soon"], standalone_mode=False)


@provokes("E0404")
def an_explanation_of_nothing(_: pytest.MonkeyPatch) -> None:
    cli.main(["explain", "E9999"], standalone_mode=False)


@provokes("E0209")
def more_memory_than_there_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    held = iter((100, 4000))
    monkeypatch.setattr(rtlgen.ir.effort, "resident_mb", lambda: next(held))
    with limited_effort():
        keep_going(work=rtlgen.ir.effort.WATCHED_WORK)


@provokes("E0409")
def a_limit_that_is_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RTLGEN_MEMORY_MB", "2G")
    memory_limit_mb()


@provokes("E0413")
def a_crash_of_the_work(_: pytest.MonkeyPatch) -> None:
    raise crash(signal.SIGSEGV)


@provokes("E0701")
def a_bug(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtlgen.errors, "VERSION", "1.2.3")
    raise InternalError.of(KeyError("S0"), "rtlgen plan gemm.c --memory axi")


@provokes("E0505")
def a_cache_that_cannot_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    Path("occupied").touch()
    monkeypatch.setenv("RTLGEN_CACHE", "occupied")
    with new_in(Path("occupied"), ".new-", "making it"):
        pass


@provokes("E0410")
def a_folder_without_manifest(_: pytest.MonkeyPatch) -> None:
    read_manifest(Path("nothing"))


@provokes("E0411")
def a_manifest_cut_short(_: pytest.MonkeyPatch) -> None:
    document = manifest().to_json()
    del document["top"]
    Manifest.from_json(document)


@provokes("E0412")
def verilog_changed_by_hand(_: pytest.MonkeyPatch) -> None:
    directory = design().write("build")
    (directory / "chain.v").write_text("module chain; endmodule\n")
    described = read_manifest(directory)
    fixed = replace(described.verilog, sha256="0" * 64)
    read_verilog(directory, replace(described, verilog=fixed))


def manifest() -> Manifest:
    return design().manifest


@provokes("E0420")
def inputs_that_are_no_archive(_: pytest.MonkeyPatch) -> None:
    load_inputs(Path("in.npz"), manifest())


@provokes("E0421")
def inputs_without_an_array(_: pytest.MonkeyPatch) -> None:
    check_inputs({"b": np.zeros(4, dtype=np.int32)}, manifest())


@provokes("E0422")
def inputs_with_another_name(_: pytest.MonkeyPatch) -> None:
    check_inputs({"B": np.zeros(4, dtype=np.int32)}, manifest())


@provokes("E0423")
def inputs_of_another_type(_: pytest.MonkeyPatch) -> None:
    check_inputs({"a": np.zeros((6, 4))}, manifest())


@provokes("E0424")
def a_run_in_a_closed_session(_: pytest.MonkeyPatch) -> None:
    raise session_closed(manifest())


@provokes("E0425")
def a_trace_that_is_none(_: pytest.MonkeyPatch) -> None:
    traced_circuit(Path("waves.vcd"), manifest(), ["S0_control"])


@provokes("E0426")
def an_instance_that_is_none(_: pytest.MonkeyPatch) -> None:
    built = design()
    circuit = BuiltCircuit(built.manifest, built.plan, built.issued)
    parsed_instance("S0(1,2,3,4)", circuit)


@provokes("E0408")
def a_stage_that_the_program_has_not(_: pytest.MonkeyPatch) -> None:
    design(fuse="none").c_text("fuse")


@provokes("E0501")
def a_tool_that_is_not_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "which", lambda *_, **__: None)
    find_tool("iverilog")


@provokes("E0502")
def a_tool_that_fails(_: pytest.MonkeyPatch) -> None:
    run_tool(["sh", "-c", "echo 'out of paper'; exit 7"], log=Path("tool.log"))


@provokes("E0503")
def a_component_test_that_fails(monkeypatch: pytest.MonkeyPatch) -> None:
    def simulate(*_: object, **__: object) -> str:
        report = '<testsuite><testcase name="counts"><failure/></testcase></testsuite>'
        Path("results.xml").write_text(report)
        return "counts: expected 3, got 4"

    monkeypatch.setattr(rtlgen.sim.cocotb_runner, "run_tool", simulate)
    program = rtlgen.sim.cocotb_runner.Program("verilator", Path("model"), "top")
    rtlgen.sim.cocotb_runner.run_program(program, [], Path())


@provokes("E0504")
def a_python_without_library(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtlgen.sim.cocotb_runner, "shared_python", lambda: None)
    monkeypatch.setattr("sys.executable", "python3")
    rtlgen.sim.cocotb_runner._environment("top", ["bench"], Path("results.xml"))


@provokes("E0510")
def a_netlist_of_another_kind(_: pytest.MonkeyPatch) -> None:
    count_cells("{}", "chain")


def broken_rule(outcome: Outcome, message: str, cycles: tuple[int, ...] = ()) -> None:
    runs = tuple(RunRecord(n, None, None) for n in cycles)
    result = Result(outcome, message, runs, {}, repeatable=not cycles)
    _raise_broken_rule(result, manifest(), Path("sim"))


@provokes("E0610")
def a_circuit_that_hangs(_: pytest.MonkeyPatch) -> None:
    broken_rule("hang", "no done within 1124 cycles")


@provokes("E0611")
def a_circuit_with_an_undefined_output(_: pytest.MonkeyPatch) -> None:
    broken_rule("unknown", "output a_rdata is x after reset")


@provokes("E0612")
def a_circuit_that_is_idle_while_it_runs(_: pytest.MonkeyPatch) -> None:
    broken_rule("protocol", "idle is high in cycle 3")


@provokes("E0613")
def a_circuit_with_a_memory_of_its_past(_: pytest.MonkeyPatch) -> None:
    broken_rule("done", "", (31, 31))


@provokes("E0615")
def a_circuit_that_stores_behind_a_row(_: pytest.MonkeyPatch) -> None:
    broken_rule("memory", "cycle 32 stores to byte 60 of the memory, behind the row a[0]")


@provokes("E0616")
def a_memory_that_answers_with_an_error(_: pytest.MonkeyPatch) -> None:
    design = Increment(64, 16, (3, 6), latency_cycles=8, kind="axi").manifest()
    assert design.memory is not None
    error = BusError("read", array_places(design.memory)[0].address + 24, RESPONSES["slverr"])
    runs = (RunRecord(29, None, None), RunRecord(12, None, None, error=error))
    _raise_broken_rule(Result("done", "", runs, {}), design, Path("sim"))


@provokes("E0620")
def a_run_that_leaves_an_array(_: pytest.MonkeyPatch) -> None:
    program = parse_text(CHAIN.replace("a[0][i]", "a[i + 1][i]"), "chain.c")
    inputs = {"a": np.zeros((4, 6), dtype=np.int32), "b": np.zeros(4, dtype=np.int32)}
    try:
        run_golden(program.scop, inputs, engine="interpreter")
    except RtlgenError as error:
        error.sources = program.sources
        raise


@provokes("E0416")
def a_check_against_a_file_that_has_changed(_: pytest.MonkeyPatch) -> None:
    Path("chain.c").write_text("int x;")
    source_of(manifest())


@provokes("E0431")
def a_chain_of_what_is_no_stream(_: pytest.MonkeyPatch) -> None:
    one = "void one(const int x[4], int y[4]) { for (int i = 0; i < 4; i++) y[i] = x[i] + 1; }"
    first = rtlgen.compile(source=one, memory="stream")
    second = rtlgen.compile(source=one.replace("one", "two"), memory={"y": "stream"})
    rtlgen.chain(first, second, connect=["one.y=two.x"])


@provokes("E0430")
def a_compiler_that_is_asked_about_a_region(_: pytest.MonkeyPatch) -> None:
    scop = parse_text("void f(int a[2]) { a[1] = a[0]; }", "f.c").scop
    c_outcomes(scop, random_data_sets(scop), COptions({}, (), is_cut=True))


EVENTS = {
    "W0601": ("a[i] / s", 0),
    "W0602": ("a[i] / s", -1),
    "W0603": ("a[i] << s", 32),
    "W0604": ("a[i] + t", 1),
    "W0607": ("s * 1e10f", 1),
}


@pytest.mark.parametrize("code", sorted(EVENTS))
def test_a_warning_of_verify_reads_as_expected(code: str, update_golden: bool) -> None:
    value, scalar = EVENTS[code]
    text = "void f(int s, int a[4])\n{\n  int t;\n  for (int i = 0; i < 4; i++)\n"
    program = parse_text(f"{text}    a[i] = {value};\n}}\n", "f.c")
    inputs: dict[str, Elements | int] = {"a": np.full(4, -(2**31), dtype=np.int32), "s": scalar}
    known: dict[str, Elements | int] = {
        name: inputs[name] for name in ("a", *(s.name for s in program.scop.scalars))
    }
    (event,) = run_golden(program.scop, known, engine="interpreter").events
    compare(code, event.diagnostic(program.scop).render(program.sources) + "\n", update_golden)


UNSEEN = {
    "W0605": "b[i] = 3;",
    "W0606": "a[i] = b[i] * 0;",
}


@pytest.mark.parametrize("code", sorted(UNSEEN))
def test_a_warning_about_data_reads_as_expected(code: str, update_golden: bool) -> None:
    text = f"void f(int a[4], int b[4])\n{{\n  for (int i = 0; i < 4; i++)\n    {UNSEEN[code]}\n"
    program = parse_text(f"{text}  for (int i = 0; i < 4; i++)\n    b[i] = a[i];\n}}\n", "f.c")
    (warning,) = random_data_sets(program.scop).diagnostics(program.scop)
    compare(code, warning.render(program.sources) + "\n", update_golden)


def test_a_warning_about_data_without_meaning_reads_as_expected(update_golden: bool) -> None:
    text = "int f(const char s[16])\n{\n  int n = 0;\n  while (s[n])\n    n++;\n  return n;\n}\n"
    program = parse_text(text, "f.c")
    data = random_data_sets(program.scop)
    assert data.sets and len({each.golden.returned for each in data.sets}) > 1
    warning, *_ = data.diagnostics(program.scop)
    compare("W0608", warning.render(program.sources) + "\n", update_golden)
    with pytest.raises(SubscriptError, match="outside") as refused:
        random_data_sets(program.scop, limits={"s": (1, 9)})
    assert "--range" in str(refused.value.diagnostic.help)


ANALYSED = {
    "W0201": "if (2 * i == 5) a[i] = 1",
    "W0202": "s = a[i]",
    "W0203": "a[i] = a[i]",
    "W0204": "a[i] = a[i] > 0 ? s : 0",
}


@pytest.mark.parametrize("code", sorted(ANALYSED))
def test_a_warning_of_the_analysis_reads_as_expected(code: str, update_golden: bool) -> None:
    text = "void f(int a[4], int b[4])\n{\n  int s;\n  for (int i = 0; i < 4; i++) {\n"
    text += f"    {ANALYSED[code]};\n    b[i] = a[i];\n  }}\n}}\n"
    program = parse_text(text, "f.c")
    said = examine(program).warnings
    (warning,) = [w for w in said if w.code != "W0107"]
    compare(code, warning.render(program.sources) + "\n", update_golden)


def test_a_warning_about_a_subscript_reads_as_expected(update_golden: bool) -> None:
    text = (
        "void f(const int x[8], int h[10])\n{\n  for (int i = 0; i < 8; i++)\n    h[x[i]]++;\n}\n"
    )
    program = parse_text(text, "f.c")
    (warning,) = examine(program).warnings
    compare("W0205", warning.render(program.sources) + "\n", update_golden)


def test_a_warning_about_lanes_reads_as_expected(update_golden: bool) -> None:
    text = "void f(int a[16], const int b[16])\n{\n  for (int i = 1; i < 16; i++)\n"
    text += "    a[i] = a[i - 1] * b[i];\n}\n"
    program = parse_text(text, "f.c")
    (warning,) = compile_program(program, CompileOptions(unroll={"i": 4})).warnings
    compare("W0114", warning.render(program.sources) + "\n", update_golden)


def compare(code: str, text: str, update_golden: bool) -> None:
    expected = FOLDER / f"{code}.expected"
    if update_golden:
        expected.write_text(text)
    assert text == expected.read_text()


def rendered(error: RtlgenError) -> str:
    text = "\n\n".join(d.render(error.sources) for d in error.diagnostics)
    # Hashes and folders differ from run to run and from machine to machine.
    text = re.sub(r"\b[0-9a-f]{64}\b", "HASH", text)
    return text + "\n"


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("code", sorted(CASES))
def test_a_diagnostic_reads_as_expected(
    code: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(RtlgenError) as caught:
        CASES[code](monkeypatch)
    assert caught.value.code == code
    compare(code, rendered(caught.value), update_golden)


def shown_codes() -> set[str]:
    """Return every code that some test shows rendered."""
    texts = [path.read_text() for path in TESTS.rglob("*.expected")]
    texts += [path.read_text() for path in TESTS.rglob("test_*.py")]
    return {code for text in texts for code in re.findall(r"\b(?:error|warning)\[(\w+)\]", text)}


def declared_codes() -> Mapping[str, str]:
    """Return the module of every code that the sources declare."""
    root = TESTS.parent
    return {
        code: str(path.relative_to(root))
        for path in (root / "rtlgen").rglob("*.py")
        for code in re.findall(r'^    code = "(E\d{4})"$', path.read_text(), re.MULTILINE)
    }


def test_every_code_is_shown_rendered_by_a_test() -> None:
    assert sorted(set(long_forms()) - shown_codes()) == []


def test_the_program_knows_every_code_that_the_sources_declare() -> None:
    missing = {c: m for c, m in declared_codes().items() if c not in long_forms()}
    assert missing == {}


@pytest.mark.parametrize("code", sorted(long_forms()))
def test_a_long_form_says_more_than_its_first_line(code: str) -> None:
    first, _, rest = long_forms()[code].partition("\n")
    assert first.endswith("."), first
    assert len(rest.split()) >= 10, code


@pytest.mark.parametrize("code", sorted(registered_codes()))
def test_the_exit_status_belongs_to_the_range_of_the_code(code: str) -> None:
    status = registered_codes()[code].exit_code
    allowed = {"E05": {1, 3}, "E06": {1}}.get(code[:3], {2})
    # A plan that the compiler's own replay rejects is no fault of the input.
    assert status in ({1} if code == "E0304" else allowed)
