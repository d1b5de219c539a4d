"""Lower a scheduled Scop to a plan, and say which instances its iterations are.

Lower a scheduled Scop to a KernelPlan.

Say of every stream of a plan which instances of the C program its iterations are.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from rtlgen.datapath.build import read_latency_cycles
from rtlgen.datapath.lags import Timing
from rtlgen.errors import Label
from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.expr import ScalarParameter, walk
from rtlgen.ir.issued_instances import InstanceMap, Multiple, Pad
from rtlgen.ir.judged_part import JudgedPart
from rtlgen.ir.plan import (
    IndexForm,
    KernelPlan,
    LoadOp,
    Memory,
    MemoryKind,
    Region,
    Scalar,
    Workers,
)
from rtlgen.ir.schedule import NestLoop, Schedule
from rtlgen.ir.scop import Array, Scop, Statement
from rtlgen.memories.forwarding import Issue, IssueTimes
from rtlgen.memories.ports import PortMap, VersionMap
from rtlgen.memories.row_buffers import KeptMemory, Rows, read_ports
from rtlgen.options import IndexStyle
from rtlgen.scheduling.errors import IndexStyleUnsuitable
from rtlgen.scheduling.stream_builder import Figures, IslandStreamBuilder
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


def instance_maps(
    plan: KernelPlan, scop: Scop, placed: Schedule, in_c: Scop
) -> tuple[InstanceMap, ...]:
    """Return the maps of the streams of a plan without tiles, in order.

    Parameters
    ----------
    scop, placed: as for `replay`. in_c: the program as it is written.
    """
    found = []
    for stream in plan.streams:
        statement = scop.statement(stream.statement)
        levels = len(stream.levels)
        counters = [IndexForm.counter(level, levels) for level in range(levels)]
        over = _Nest(placed.loops(stream.statement), counters, levels)
        origin = statement.origin or tuple(map(Affine.variable, statement.iterators))
        found.append(_map(statement, origin, over, in_c))
    return tuple(found)


def tiled_instance_maps(workers: Workers, part: JudgedPart, in_c: Scop) -> tuple[InstanceMap, ...]:
    """Return the maps of the streams of workers, in order; parameters as for `replay_tiles`."""
    found = []
    for number, region in enumerate(workers.regions):
        for stream in region.kernel.streams:
            levels, depth = len(stream.levels), len(region.levels)
            counters = [form.padded(levels) for form in part.counters[number]]
            counters += [IndexForm.counter(level, levels) for level in range(depth, levels)]
            if part.lanes > 1:
                counters.append(IndexForm.fixed(stream.lane, levels))
            statement = part.tiled.statement(stream.statement)
            over = _Nest(part.loops[stream.statement], counters, levels)
            found.append(_map(statement, _origin_in_tiles(statement, part), over, in_c))
    return tuple(found)


def _origin_in_tiles(statement: Statement, part: JudgedPart) -> tuple[Affine, ...]:
    """Return the iterators of C as functions of those of the statement in tiles."""
    written = part.written.statement(statement.name)
    before = dict(zip(written.iterators, part.before[statement.name], strict=True))
    origin = written.origin or tuple(map(Affine.variable, written.iterators))
    return tuple(value.substitute(before) for value in origin)


class _Nest:
    """The loops of a statement over the counters of a stream.

    Parameters
    ----------
    counters: of every loop, as a function of the stream's, of which there are `levels`.
    """

    def __init__(
        self, loops: Sequence[NestLoop], counters: Sequence[IndexForm], levels: int
    ) -> None:
        self._counted = tuple(zip(loops, counters, strict=True))
        self._levels = levels

    def form(self, affine: Affine) -> IndexForm:
        """Return a function of the iterators as one of the counters."""
        total = IndexForm.fixed(affine.constant, self._levels)
        for loop, counter in self._counted:
            if loop.iterator is not None:
                total += (counter + loop.at) * affine.coefficient(loop.iterator)
        return total

    def pads(self) -> Iterable[Pad]:
        for loop, counter in self._counted:
            if loop.iterator is None:
                yield Pad(counter, tuple(map(self.form, loop.position)))


def _map(statement: Statement, origin: Sequence[Affine], over: _Nest, in_c: Scop) -> InstanceMap:
    bounds = []
    for loop in statement.loops:
        counter = Affine.variable(loop.iterator)
        bounds += [counter - loop.start, loop.stop - counter * loop.scale - 1]
    conditions = statement.conditions
    bounds += [form for form in conditions if isinstance(form, Affine)]
    written = _as_written(statement, in_c)
    return InstanceMap(
        statement.name if written is None else written.name,
        _names(origin, written),
        tuple(map(over.form, origin)),
        pads=tuple(over.pads()),
        at_least_zero=tuple(map(over.form, bounds)),
        multiples=tuple(
            Multiple(over.form(c.form), c.modulus) for c in conditions if isinstance(c, Congruence)
        ),
    )


def _as_written(statement: Statement, in_c: Scop) -> Statement | None:
    """Return the statement of C that something is, or is a lane of; None where none is alike."""
    known: Mapping[str, Statement] = {s.name: s for s in in_c.statements}
    if statement.name in known:
        return known[statement.name]
    alike = [s for s in in_c.statements if (s.span, s.text) == (statement.span, statement.text)]
    return alike[0] if len(alike) == 1 else None


def _names(origin: Sequence[Affine], written: Statement | None) -> tuple[str, ...]:
    if written is not None and len(written.iterators) == len(origin):
        return written.iterators
    return tuple(f"x{number}" for number in range(len(origin)))
