"""The figures of a plan, as `rtlgen plan --json` and report.json give them."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from rtlgen.ir.block_rams import Footprint, block_rams, ram_copies
from rtlgen.ir.cycles import body_cycles, checksum_cycles, predicted_cycles
from rtlgen.ir.functional_units import FunctionalUnit, functional_units
from rtlgen.ir.operation_costs import all_digits, blocks_on, digit_circuits
from rtlgen.ir.operations import UnitOp, is_by_digits
from rtlgen.ir.plan import (
    KernelPlan,
    Memory,
    Region,
    Scalar,
    Stream,
    Workers,
    regions_of,
)
from rtlgen.ir.plan_text import level_names
from rtlgen.ir.scop import Scop, Statement
from rtlgen.target import Target, get_target


@dataclass(frozen=True, slots=True)
class Findings:
    """What was found while a plan was made, JSON-serialisable.

    Members
    -------
    schedule: the loops that a scheduler chose, see `report.loops`; None where C's were kept.
    expansions: of temporaries: arrays, elements before and after.
    expansion_cost: see `expansion_cost`; None where nobody chose.
    skews: units in skewed loops; pauses: statements that pause; see `report.loops`.
    why: a reason for the regions.
    idle_slots: see `scheduling.idle_slots`.
    bounds: what takes more cycles than the longest statement: write ports, dependences.
    unproven: what a limit leaves unproven.
    limits: those of the compiler that changed the plan.
    lane_choice: the lanes that were chosen, and what ends their number; None where none were.
    tried: what the search has looked at, see `rtlgen.planning.planned.Tried`.
    tiles: see `rtlgen.tiling.summary`; empty where all arrays are on chip.
    folded: statements that run in the program, but whose values are known or unused.
    figures: further ones, by name.
    """

    schedule: Mapping[str, Any] | None = None
    expansions: Sequence[Mapping[str, Any]] = ()
    expansion_cost: Mapping[str, Any] | None = None
    skews: Sequence[Mapping[str, Any]] = ()
    pauses: Sequence[Mapping[str, Any]] = ()
    why: str = ""
    idle_slots: Sequence[Mapping[str, object]] = ()
    bounds: Sequence[str] = ()
    unproven: Sequence[str] = ()
    limits: Sequence[str] = ()
    lane_choice: Mapping[str, Any] | None = None
    tried: Sequence[Mapping[str, Any]] = ()
    tiles: Mapping[str, Any] = field(default_factory=dict)
    folded: Collection[str] = ()
    figures: Mapping[str, object] = field(default_factory=dict)


def plan_report(
    scop: Scop,
    plan: KernelPlan,
    figures: Mapping[str, object] | None = None,
    nests: Sequence[Mapping[str, Any]] = (),
    found: Findings | None = None,
    target: Target | None = None,
) -> dict[str, Any]:
    """Return the report of `plan` as a JSON-serialisable object.

    Cycles are counted from the start of the kernel. `issue_slots` is the number of cycles in which
    some stream still issues, region by region; `perfect` says that one counter issues them all. Of
    tiles, `streams` and `regions` describe the first one, as it runs where it need not wait.

    Parameters
    ----------
    scop: the program as written.
    figures: what comes from elsewhere: measurements, options, the tool's version.
    nests: as `nest_report` gives them.
    target: whose block RAMs and multiplier blocks are counted; the default one if it is not given.
    """
    found, target = found or Findings(), target or get_target()
    types = _types(scop, plan)
    return {
        "kernel": plan.name,
        "source": plan.source_file,
        "statements": [_statement(s, plan, s.name in found.folded) for s in scop.statements],
        "fused_iterations": plan.fused_iterations,
        "floor_iterations": plan.floor_iterations,
        "gap_iterations": plan.fused_iterations - plan.floor_iterations,
        "expansions": list(found.expansions),
        "expansion_cost": found.expansion_cost,
        "issue_slots": sum(map(issue_slots, plan.body)),
        "idle_slots": list(found.idle_slots),
        "streams": _streams(plan),
        "regions": _regions(plan, found.why),
        "nests": list(nests),
        "memories": [_memory(plan, memory, types) for memory in plan.memories],
        "shared_units": [_shared(plan, unit) for unit in functional_units(plan.regions)],
        "scalars": [
            {
                "name": s.name,
                "bits": s.width_bits,
                "signed": s.signed,
                "type": types.get(s.name, _integer(s)),
            }
            for s in plan.scalars
        ],
        "index_style": plan.index_style,
        "index_latency_cycles": plan.index_latency_cycles,
        "checksum_cycles": checksum_cycles(plan),
        "predicted_cycles": predicted_cycles(plan),
        "block_rams": block_rams(plan, target),
        "dsp": blocks_on(plan, target),
        "schedule": found.schedule,
        "skews": list(found.skews),
        "pauses": list(found.pauses),
        "perfect": len(plan.body) == 1,
        "bounds": list(found.bounds),
        "unproven": list(found.unproven),
        "limits": list(found.limits),
        "lane_choice": found.lane_choice,
        "tried": list(found.tried),
        **found.tiles,
        "figures": {**(figures or {}), **found.figures},
    }


def expansion_cost(
    before: KernelPlan | None, at_least: int, after: KernelPlan, target: Target
) -> dict[str, Any]:
    """Return what an expansion of temporaries saves and costs, each as [before, after].

    Parameters
    ----------
    before: None: it was never planned, and there is only what is there after. at_least: its cycles.
    """
    plans = [plan for plan in (before, after) if plan is not None]
    footprints = [Footprint.of(plan, target) for plan in plans]
    return {
        "cycles_without_at_least": at_least,
        "cycles": [predicted_cycles(plan) for plan in plans],
        "block_rams": [each.block_rams for each in footprints],
        "register_bits": [each.register_bits for each in footprints],
        "address_bits": [each.address_bits for each in footprints],
    }


def issue_slots(part: Region | Workers) -> int:
    """Return the issue slots of the busiest worker's tiles, as if no word were waited for."""
    if isinstance(part, Region):
        return part.issue_slots
    return max(tiled.issue_slots for tiled in part.regions)


def _statement(statement: Statement, plan: KernelPlan, is_folded: bool) -> dict[str, Any]:
    """Return the entry of a statement; one that never runs, or is folded, has no stream."""
    stream = next((s for s in plan.streams if s.statement == statement.name), None)
    return {
        "name": statement.name,
        "text": statement.text,
        "file": statement.span.file,
        "line": statement.span.line,
        "instances": stream.instances if stream else 0,
        "shift": stream.shift if stream else 0,
        "loops": _loops(stream) if stream else [],
        "folded": is_folded,
    }


def _loops(stream: Stream) -> list[dict[str, Any]]:
    names = level_names(stream.levels)
    return [
        {"name": name, "extent": level.extent, "pad": level.name is None}
        for name, level in zip(names, stream.levels, strict=True)
    ]


def _streams(plan: KernelPlan) -> list[dict[str, Any]]:
    entries, base = [], 0
    for number, (part, cycles) in enumerate(zip(plan.body, body_cycles(plan), strict=True)):
        # Workers are alike: one of them stands for all.
        region = regions_of(part)[0]
        first = base + plan.index_latency_cycles
        entries += [_stream(region, stream, number, first) for stream in region.streams]
        base += cycles
    return entries


def _stream(region: Region, stream: Stream, number: int, base: int) -> dict[str, Any]:
    return {
        "statement": stream.statement,
        "region": number,
        "ii": stream.ii,
        "ii_reason": stream.ii_reason,
        "depth": stream.depth_cycles,
        "divisions": [_division(stream, op) for op in stream.operations if is_by_digits(op)],
        "iterations": region.issued(stream),
        "instances": stream.instances,
        "first_cycle": base + stream.offset_cycles,
        "last_issue_cycle": base + region.last_issue(stream),
        "last_cycle": base + region.last_cycle(stream),
    }


def _shared(plan: KernelPlan, unit: FunctionalUnit) -> dict[str, Any]:
    """Return what shares a functional unit, and whether the choice between them has a cycle.

    Of `operations` that always compute the same, one counts among the `values`.
    """
    names = {plan.streams[user.stream].name for user in unit.users}
    return {
        "operation": unit.op.op,
        "statements": sorted(names),
        "operations": len(unit.users),
        "values": len(unit.leaders),
        "is_registered": unit.is_registered,
    }


def _division(stream: Stream, op: UnitOp) -> dict[str, Any]:
    """Return how often a division or a root begins, its digits, and what computes them."""
    return {
        "operation": op.op,
        "interval_cycles": op.interval_cycles,
        "digits": all_digits(op, stream.operations),
        "circuits": digit_circuits(op, stream.operations, op.interval_cycles),
    }


def _regions(plan: KernelPlan, why: str) -> list[dict[str, Any]]:
    entries, base = [], 0
    for part, cycles in zip(plan.body, body_cycles(plan), strict=True):
        region = regions_of(part)[0]
        entries.append(
            {
                "first_cycle": base,
                "cycles": cycles,
                "issue_slots": region.issue_slots,
                "statements": [stream.statement for stream in region.streams],
                "why": why,
            }
        )
        base += cycles
    return entries


def _types(scop: Scop, plan: KernelPlan) -> dict[str, str]:
    """Return the types of what the program has, and of the memories for parts of it, by name."""
    types = {array.name: str(array.element) for array in scop.arrays}
    types |= {scalar.name: str(scalar.type) for scalar in scop.scalars}
    for tiled in plan.tiled_regions:
        types |= {each.window: types[each.array] for each in tiled.transfers}
    written = {statement.name: types[statement.write.array] for statement in scop.statements}
    for stream in plan.streams:
        # What a statement stores elsewhere, too, is of the type of its array.
        for store in stream.stores if stream.statement in written else ():
            types.setdefault(store.memory, written[stream.statement])
    return types


def _integer(words: Memory | Scalar) -> str:
    return f"{'' if words.signed else 'u'}int{words.width_bits}"


def _banks(memory: Memory, copies: int) -> int:
    """Return how many parts a memory has.

    Each write port of a block memory has copies of its own, one for each port that reads it.
    """
    if memory.is_stream:
        return 0
    return min(copies, 1) if memory.kind == "register" else copies


def _memory(plan: KernelPlan, memory: Memory, types: Mapping[str, str]) -> dict[str, Any]:
    copies = ram_copies(plan, memory)
    # What nothing reads is not built: all values go from stores to loads through registers.
    is_built = bool(copies) or memory.is_stream or memory.is_external
    is_constant = memory.kind in ("rom", "source")
    return {
        "name": memory.name,
        "role": memory.role,
        "storage": memory.storage,
        "kind": ("external" if memory.is_external else memory.kind) if is_built else "forwarded",
        "style": memory.style if memory.is_ram and is_built else None,
        "bits": memory.width_bits,
        "signed": memory.signed,
        "type": types.get(memory.name, _integer(memory)),
        "shape": list(memory.shape),
        "words": memory.depth,
        "read_ports": memory.read_ports if is_built and memory.kind != "sink" else 0,
        "write_ports": memory.write_ports if is_built and not is_constant else 0,
        "banks": memory.twins * _banks(memory, len(copies)),
        "partition": [str(cut) for cut in memory.cuts],
        "bank_words": memory.ram_words,
        "read_latency_cycles": memory.read_latency_cycles,
        "host_port": memory.has_host_port,
        "double_buffer": memory.is_double,
    }
