"""`--max-bram`, or else what the device has, is kept to with all copies of the arrays."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

import pytest

import rtlgen
from rtlgen.design import Design
from rtlgen.errors import InternalError, RtlgenError
from rtlgen.frontend import ParsedProgram, parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.options import CompileOptions
from rtlgen.planning import ram_limit
from rtlgen.planning.compilation import Chosen
from rtlgen.planning.ram_limit import TooLittleRam
from rtlgen.poly.errors import NoHyperplane
from rtlgen.scheduling.errors import WindowsTooLarge
from rtlgen.tiling.choice import TileRequest
from rtlgen.tiling.placement import Placement

STENCILS = Path(__file__).parents[2] / "benchmarks" / "stencils"

FDTD = (STENCILS / "fdtd_2d.c").read_text("utf-8")

MIRRORED = """
void mirrored(int a[N], int b[N]) {
  for (int i = 0; i < N; i++)
    b[i] = a[i] * a[N - 1 - i];
}
"""


def compiled(text: str, kib: int | None, **options: object) -> Design:
    return rtlgen.compile(source=text, max_bram_kib=kib, **options)  # type: ignore[arg-type]


def cycles(design: Design) -> int:
    return predicted_cycles(design.compilation.plan)


def ram_bytes(design: Design) -> int:
    """Return what block RAM and memories of logic cells take, each copy of a bank for itself."""
    found = 0
    for memory in design.compilation.plan.memories:
        if memory.is_ram:
            copies = memory.read_ports * max(1, memory.write_ports)
            found += memory.depth * memory.width_bits * copies // 8
    return found


def test_arrays_for_whose_port_tiles_would_wait_move_out_too() -> None:
    path = Path(__file__).parent / "row_hash.c"
    freely, on_chip = rtlgen.compile(path), rtlgen.compile(path, memory={"x": "axi"})
    side = freely.compilation.plan.memory_side
    assert side is not None and [array.name for array in side.arrays] == ["x", "y"]
    assert cycles(freely) < 1.1 * 256 * 64 < 0.5 * cycles(on_chip)


def test_within_a_limit_the_loops_with_the_fewest_cycles_are_taken() -> None:
    design = compiled(FDTD, 23)
    assert cycles(design) == 11_605 and ram_bytes(design) > 12 * 1024
    assert not design.compilation.limits


@pytest.mark.long
def test_without_a_limit_little_ram_is_worth_a_few_cycles() -> None:
    design = compiled(FDTD, None)
    arrays = [m for m in design.compilation.plan.memories if m.has_host_port]
    assert cycles(design) == 12_012 and all(memory.read_ports == 1 for memory in arrays)
    (said,) = design.compilation.limits
    assert said == (
        "arrays take 9 KiB on chip in PLUTO's loops, 12,012 cycles, and 23 in those with the "
        "fewest, 11,605: --max-bram 23 takes these"
    )


@pytest.mark.sample("options1")
@pytest.mark.parametrize(
    "options",
    [{"memory": "onchip", "unroll": {"t": 2}}, {"shift": {"S3": 551}}, {"scheduler": "isl"}],
)
def test_loops_that_are_asked_for_are_left(options: dict[str, object]) -> None:
    design = compiled(FDTD, None, **options)
    assert not any("PLUTO" in said for said in design.compilation.limits)


@pytest.mark.long
@pytest.mark.sample("1.0")
@pytest.mark.parametrize("loss", [1.0, 1.03])
def test_little_ram_is_not_worth_many_cycles(loss: float, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ram_limit, "LEAN_LOSS", loss)
    assert cycles(compiled(FDTD, None)) == 11_605


def but_in_pluto_loops(monkeypatch: pytest.MonkeyPatch, error: RtlgenError) -> None:
    """Let programs be planned in places, but not in PLUTO's loops."""
    planned = ram_limit.in_places

    def planned_so(program: ParsedProgram, options: CompileOptions, place: Placement) -> Chosen:
        if options.scheduler == "pluto":
            raise error
        return planned(program, options, place)

    monkeypatch.setattr(ram_limit, "in_places", planned_so)


def test_loops_that_cannot_be_had_leave_the_others(monkeypatch: pytest.MonkeyPatch) -> None:
    but_in_pluto_loops(monkeypatch, NoHyperplane("no hyperplane orders S1, S2, S3"))
    found = ram_limit.within_limit(parse_text(FDTD, "fdtd_2d.c"), CompileOptions())
    assert predicted_cycles(found.chosen.plan) == 11_605 and not found.is_limited


def test_a_plan_that_a_judge_refuses_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    but_in_pluto_loops(monkeypatch, PlanUnsound("a wrong value"))
    with pytest.raises(PlanUnsound):
        ram_limit.within_limit(parse_text(FDTD, "fdtd_2d.c"), CompileOptions())


def test_without_copies_no_other_loops_are_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    """Planning takes as long as it did."""

    def refuse(*_: object) -> None:
        raise AssertionError("planned twice")

    monkeypatch.setattr(ram_limit, "_in_leaner_loops", refuse)
    jacobi = compiled((STENCILS / "jacobi_1d.c").read_text("utf-8"), None)
    assert cycles(jacobi) == 572
    with pytest.raises(InternalError, match="planned twice"):
        compiled(FDTD, None)


@pytest.mark.long
def test_loops_in_which_one_port_an_array_does_take_less_ram() -> None:
    design = compiled(FDTD, 12)
    assert ram_bytes(design) <= 12 * 1024
    arrays = {m.name: m for m in design.compilation.plan.memories if m.has_host_port}
    assert all(memory.read_ports == 1 for memory in arrays.values()) and "hz" in arrays
    assert cycles(design) < 1.05 * 11_605
    (said,) = design.compilation.limits
    assert said == (
        "arrays may take 12 KiB on chip: they take 9 in PLUTO's loops, 12,012 cycles, and 23 in "
        "those with the fewest, 11,605"
    )


@pytest.mark.long
def test_arrays_move_off_chip_whose_copies_are_too_many() -> None:
    """One copy of each would fit."""
    design = compiled(FDTD, 8)
    assert design.compilation.plan.memory_side is not None
    assert ram_bytes(design) <= 8 * 1024
    assert "with their copies, and they may take 8 KiB" in design.compilation.limits[-1]


@pytest.mark.long
def test_the_smallest_limit_that_can_be_met_is_named() -> None:
    with pytest.raises(TooLittleRam) as caught:
        compiled(FDTD, 2, memory="onchip")
    assert caught.value.diagnostic.help == "say --max-bram 9 or more"
    assert cycles(compiled(FDTD, 9, memory="onchip")) == 12_012


def test_a_limit_that_copies_keep_says_nothing() -> None:
    options = {"define": {"N": 256}}
    free = compiled(MIRRORED, None, **options)
    kib = -(-ram_bytes(free) // 1024)
    kept = compiled(MIRRORED, kib, **options)
    assert cycles(kept) == cycles(free) and not kept.compilation.limits


@pytest.mark.long
def test_lanes_whose_copies_drive_arrays_off_chip_are_warned_of() -> None:
    options = {"define": {"N": 512}}
    single = compiled(MIRRORED, 6, **options)
    lanes = compiled(MIRRORED, 6, unroll={"i": 4}, **options)
    assert cycles(lanes) > cycles(single)
    (warning,) = (w for w in lanes.compilation.warnings if w.code == "W0114")
    assert warning.message == "--unroll i=4 saves no cycles"
    assert warning.notes[0] == f"{cycles(lanes):,} cycles, with one lane {cycles(single):,}"
    # Pragmas are wishes, too.
    text = MIRRORED.replace("    b[i]", "#pragma HLS unroll factor=4\n    b[i]")
    text = text.replace("i++)\n", "i++) {\n").replace("- i];", "- i]; }")
    by_pragma = compiled(text, 6, **options)
    assert [w.message for w in by_pragma.compilation.warnings if w.code == "W0114"] == [
        "#pragma HLS unroll factor=4 saves no cycles"
    ]
    # With room for the copies, they save three quarters.
    free = compiled(MIRRORED, 64, unroll={"i": 4}, **options)
    assert cycles(free) < cycles(single) / 3
    assert not any(w.code == "W0114" for w in free.compilation.warnings)


BESIDE = """
void beside(int a[1500], int b[1500], int c[2500]) {
  for (int i = 0; i < 1500; i++)
    b[i] = a[i] * a[1499 - i] + c[i + 1000];
}
"""


@pytest.mark.long
def test_the_device_is_a_limit_for_which_loops_may_take_a_few_cycles_more() -> None:
    design = compiled(FDTD, None, target="ice40")
    larger = compiled(FDTD, 1000, target="ice40")
    assert cycles(larger) < cycles(design) <= 1.05 * cycles(larger)
    assert ram_bytes(design) <= 16 * 1024 < ram_bytes(larger)
    (said,) = design.compilation.limits
    assert said.startswith("iCE40HX8K has 16 KiB for arrays: they take 9 in PLUTO's loops, 12,0")
    assert not larger.compilation.limits


def test_what_no_loops_fit_to_the_device_is_built_for_a_larger_one() -> None:
    design = compiled(MIRRORED, None, target="ice40", define={"N": 1600})
    assert design.compilation.plan.memory_side is None and ram_bytes(design) > 16 * 1024
    assert design.compilation.limits == (
        "iCE40HX8K has 16 KiB for arrays: they take 19 with their copies, which is for a larger "
        "device; --max-bram 16 is for this one",
    )


def test_copies_of_what_stays_on_chip_beside_arrays_off_chip_fit_the_device() -> None:
    """One copy of `a` beside `b` would fit."""
    design = compiled(BESIDE, None, target="ice40")
    assert ram_bytes(design) <= 16 * 1024
    said, larger = design.compilation.limits
    assert "with their copies, and iCE40HX8K has 16 KiB: a, c are off chip" in said
    assert "on a larger device" in larger
    # Whoever says where arrays are has them there.
    asked = compiled(BESIDE, None, target="ice40", memory={"c": "fixed:8"})
    assert ram_bytes(asked) > 16 * 1024
    assert "which is for a larger device" in asked.compilation.limits[-1]


@pytest.mark.parametrize(("bits", "attempts"), [(10**9, 1), (1, 2)])
def test_what_needs_too_much_in_tiles_is_not_tried_with_more_off_chip(
    bits: int, attempts: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[TileRequest] = []

    def refused(_: object, __: object, request: TileRequest) -> NoReturn:
        asked.append(request)
        raise WindowsTooLarge("no tiles fit", bits=bits)

    monkeypatch.setattr(ram_limit, "in_tiles", refused)
    design = compiled(BESIDE, None, target="ice40")
    assert design.compilation.plan.memory_side is None
    assert len(asked) == attempts


@pytest.mark.long
@pytest.mark.simulation
def test_what_fits_is_exact() -> None:
    report = compiled(MIRRORED, 2, define={"N": 256}).verify()
    assert report.exact and report.cycles == report.predicted_cycles
