"""Lower a scheduled Scop to a KernelPlan."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtlgen.errors import Label
from rtlgen.ir.expr import ScalarParameter, walk
from rtlgen.ir.plan import KernelPlan, LoadOp, Memory, MemoryKind, Region, Scalar
from rtlgen.ir.scop import Array, Scop
from rtlgen.options import IndexStyle
from rtlgen.scheduling.datapath import read_latency_cycles
from rtlgen.scheduling.errors import IndexStyleUnsuitable
from rtlgen.scheduling.forwarding import Issue, IssueTimes
from rtlgen.scheduling.kept_values import KeptMemory, Rows, read_ports
from rtlgen.scheduling.lags import Timing
from rtlgen.scheduling.ports import PortMap
from rtlgen.scheduling.stream_builder import Figures, IslandStreamBuilder
from rtlgen.scheduling.versions import VersionMap
from rtlgen.target import Target


@dataclass(frozen=True, slots=True)
class PlanOptions:
    """What the user may ask of the circuit besides its schedule.

    Members
    -------
    index_latency_cycles: None for the target's own choice.
    """

    index_style: IndexStyle = "odometer"
    index_latency_cycles: int | None = None
    checksum: bool = False


def lower(
    timing: Timing,
    regions: Sequence[Sequence[str]],
    times: IssueTimes,
    rows: Rows,
    ports: PortMap,
    versions: VersionMap,
    figures: Figures,
    target: Target,
    options: PlanOptions,
) -> KernelPlan:
    """Return the plan of a program whose statements issue in `regions`, one after another.

    Parameters
    ----------
    times: issue cycles of all statements on one time axis, on which the regions do not overlap.
    rows: what is in memories of its own, and how the others travel.

    Raises
    ------
    Unforwardable: see there.
    RaggedDomain: a statement's instances are not a union of a few polyhedra.
    NoVersions: a load cannot tell which version it reads.
    IndexStyleUnsuitable: `shift` with a trip count that is no power of two.
    """
    scop = timing.scop
    built: list[Region] = []
    for names in regions:
        base = min(times[name].offset for name in names)
        end = max(_end(timing, times[name], name) for name in names)
        place = {name: n for n, name in enumerate(names)}
        builders = (
            IslandStreamBuilder(timing, times, rows, ports, versions, place, scop.statement(name))
            for name in names
        )
        streams = tuple(builder.stream(figures, base) for builder in builders)
        built.append(Region(streams, end - base))
    plan_regions = tuple(built)
    if options.index_style != "odometer":
        _require_boxes(plan_regions, options.index_style)
    if options.index_style == "shift":
        _require_powers_of_two(plan_regions)
    latency = options.index_latency_cycles
    if latency is None:
        latency = target.index_latency_cycles(options.index_style)
    return KernelPlan(
        name=scop.name,
        source_file=scop.source.path,
        scalars=scalars_of(scop),
        memories=(
            *_used(memories_of(scop, ports, versions, target), rows, plan_regions),
            *(_memory_of(memory, target) for memory in rows.memories),
        ),
        body=plan_regions,
        index_style=options.index_style,
        index_latency_cycles=latency,
        checksum=result_arrays(scop) if options.checksum else None,
        returned=scop.returned,
        fused_iterations=figures.fused_iterations,
        floor_iterations=figures.floor_iterations,
    )


def _end(timing: Timing, issue: Issue, name: str) -> int:
    """Return the cycle after the store of a statement's last instance."""
    return issue.offset + timing.length_cycles(name, issue.placement, issue.ii)


def result_arrays(scop: Scop) -> tuple[str, ...]:
    """Return the arrays that a run may change and that are visible outside, as declared."""
    return tuple(a.name for a in scop.arrays if a.role in ("out", "inout") and a.storage != "local")


def scalars_of(scop: Scop) -> tuple[Scalar, ...]:
    """Return the scalar arguments that some statement uses."""
    used = {
        node.name
        for statement in scop.statements
        for node in walk(statement.expr)
        if isinstance(node, ScalarParameter)
    }
    return tuple(
        Scalar(s.name, s.type.width_bits, s.type.signed, s.limits)
        for s in scop.scalars
        if s.name in used
    )


def memories_of(scop: Scop, ports: PortMap, versions: VersionMap, target: Target) -> list[Memory]:
    """Return the memories of a program whose arrays are all on chip."""
    used = {a.array for s in scop.statements for a in (s.write, *s.reads)} | {scop.returned}
    return [
        Memory(
            name=array.name,
            width_bits=array.element.width_bits,
            signed=array.element.signed,
            shape=array.shape,
            role=array.role,
            storage=array.storage,
            kind=_kind_of(array),
            read_ports=ports.read_ports[array.name],
            read_latency_cycles=read_latency_cycles(array, target),
            collision_free=True,
            values=array.values,
            write_ports=versions.write_ports.get(array.name, 1),
            homes=versions.homes.get(array.name, ()),
            cuts=array.cuts,
            is_double=array.is_double,
            is_external=array.is_external,
        )
        for array in scop.arrays
        if array.name in used
    ]


def _kind_of(array: Array) -> MemoryKind:
    if array.is_stream:
        return "source" if array.role == "in" else "sink"
    return "rom" if array.is_table else "register" if array.is_register else "block"


def _used(memories: Sequence[Memory], rows: Rows, regions: Sequence[Region]) -> Iterator[Memory]:
    """Yield the memories without those all of whose values are in rows."""
    streams = [stream for region in regions for stream in region.streams]
    used = {store.memory for stream in streams for store in stream.stores}
    used |= {op.memory for s in streams for op in s.operations if isinstance(op, LoadOp)}
    kept = {memory.array.name for memory in rows.memories}
    for memory in memories:
        if memory.is_visible or memory.name in used or memory.name not in kept:
            yield memory


def _memory_of(kept: KeptMemory, target: Target) -> Memory:
    """Return the memory of some values of an array."""
    return Memory(
        name=kept.name,
        width_bits=kept.array.element.width_bits,
        signed=kept.array.element.signed,
        shape=(kept.words,),
        role="local",
        storage="local",
        kind="block",
        read_ports=read_ports(kept),
        read_latency_cycles=read_latency_cycles(kept.array, target),
        collision_free=True,
        style=target.ram_style(kept.words, is_one_of_many=True),
        part=kept.part,
        is_double=kept.part is not None and kept.array.is_double,
    )


def _require_boxes(regions: Sequence[Region], style: IndexStyle) -> None:
    for region in regions:
        for stream in region.streams:
            if stream.iterations is not None:
                raise IndexStyleUnsuitable(
                    f"the index style {style} does not fit {stream.statement}",
                    labels=(Label(stream.span),),
                    notes=("the bounds of an inner loop depend on an outer one",),
                    help="use --index odometer",
                )


def _require_powers_of_two(regions: Sequence[Region]) -> None:
    for region in regions:
        for stream in region.streams:
            for level in stream.levels[1:]:
                if level.extent & (level.extent - 1):
                    raise IndexStyleUnsuitable(
                        f"the index style shift does not fit {stream.statement}",
                        labels=(Label(stream.span),),
                        notes=(f"an inner loop has {level.extent} iterations, no power of two",),
                        help="use --index odometer or --index divide",
                    )
