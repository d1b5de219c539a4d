"""Area and clock of circuits, measured once: what was asked before is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rtlgen.flow.synth import SynthesisTarget, synthesis_programs, synthesise
from rtlgen.system.result_cache import question, recall, remember


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
