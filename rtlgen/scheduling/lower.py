"""Lower a scheduled Scop to a KernelPlan."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import cast

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.affine import affine_sum
from rtlgen.ir.expr import BinaryOp, ScalarParameter, UnaryOp, walk
from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    ArithmeticOp,
    CastOp,
    ConstantOp,
    ForwardOp,
    IndexForm,
    IndexOp,
    IndexStyle,
    KernelPlan,
    Level,
    LevelBound,
    LoadOp,
    Memory,
    Operation,
    ParameterOp,
    Predicate,
    Region,
    Scalar,
    SelectOp,
    Store,
    Stream,
    Tap,
)
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.ir.sets import count_points
from rtlgen.scheduling.banks import BankMap, Unbankable
from rtlgen.scheduling.datapath import is_register, read_latency_cycles
from rtlgen.scheduling.errors import IndexStyleUnsuitable, RaggedDomain
from rtlgen.scheduling.forwarding import Issue, IssueTimes, Routing, Unforwardable
from rtlgen.scheduling.graph import Node
from rtlgen.scheduling.lags import Timing, flow_key
from rtlgen.scheduling.ports import PortMap
from rtlgen.scheduling.predicates import CounterSpace, index_form
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


@dataclass(frozen=True, slots=True)
class Figures:
    """What the search found, for the plan's reports."""

    shifts: Mapping[str, int]
    ii_reasons: Mapping[str, str]
    fused_iterations: int
    floor_iterations: int


def lower(
    timing: Timing,
    regions: Sequence[Sequence[str]],
    times: IssueTimes,
    routing: Routing,
    ports: PortMap,
    banks: BankMap,
    figures: Figures,
    target: Target,
    options: PlanOptions,
) -> KernelPlan:
    """Return the plan of a program whose statements issue in `regions`, one after another.

    Parameters
    ----------
    times: issue cycles of all statements on one time axis, on which the regions do not overlap.

    Raises
    ------
    Unforwardable: see there.
    RaggedDomain: a statement's instances are not a union of a few polyhedra.
    Unbankable: a load cannot tell from which bank it reads.
    IndexStyleUnsuitable: `shift` with a trip count that is no power of two.
    """
    scop = timing.scop
    built: list[Region] = []
    for names in regions:
        base = min(times[name].offset for name in names)
        end = max(_end(timing, times[name], name) for name in names)
        place = {name: n for n, name in enumerate(names)}
        builders = (
            _StreamBuilder(timing, times, routing, ports, banks, place, scop.statement(name))
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
        scalars=_scalars(scop),
        memories=tuple(_memories(scop, ports, banks, target)),
        regions=plan_regions,
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


def _scalars(scop: Scop) -> tuple[Scalar, ...]:
    used = {
        node.name
        for statement in scop.statements
        for node in walk(statement.expr)
        if isinstance(node, ScalarParameter)
    }
    return tuple(
        Scalar(s.name, s.type.width_bits, s.type.signed) for s in scop.scalars if s.name in used
    )


def _memories(scop: Scop, ports: PortMap, banks: BankMap, target: Target) -> list[Memory]:
    used = {a.array for s in scop.statements for a in (s.write, *s.reads)} | {scop.returned}
    return [
        Memory(
            name=array.name,
            width_bits=array.element.width_bits,
            signed=array.element.signed,
            shape=array.shape,
            role=array.role,
            storage=array.storage,
            kind="rom" if array.is_table else "register" if is_register(array) else "block",
            read_ports=ports.read_ports[array.name],
            read_latency_cycles=read_latency_cycles(array, target),
            collision_free=True,
            values=array.values,
            write_ports=banks.write_ports.get(array.name, 1),
            homes=banks.homes.get(array.name, ()),
        )
        for array in scop.arrays
        if array.name in used
    ]


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


class _StreamBuilder:
    def __init__(
        self,
        timing: Timing,
        times: IssueTimes,
        routing: Routing,
        ports: PortMap,
        banks: BankMap,
        place: Mapping[str, int],
        statement: Statement,
    ) -> None:
        self.scop = timing.scop
        self.statement = statement
        self.datapath = timing.datapaths[statement.name]
        self.issue = times[statement.name]
        self.routing = routing
        self.ports = ports
        self.banks = banks
        self.place = place
        self.loops = self.issue.placement.loops
        self.space = CounterSpace(timing.sets, statement, self.loops)
        self.domain = timing.sets.domains[statement.name]
        self.operations: list[Operation] = []
        self.numbers: dict[int, int] = {}

    def stream(self, figures: Figures, base: int) -> Stream:
        name = self.statement.name
        for number, node in enumerate(self.datapath.nodes):
            self.numbers[number] = self._operation(number, node)
        write = self.statement.write
        store = Store(
            memory=write.array,
            address=self._address(write),
            stage=self.datapath.result_stage,
            value=self.numbers[self.datapath.result],
            when=self._predicate(self.routing.stored[name]),
            span=write.span,
            port=self.banks.port[name],
        )
        return Stream(
            statement=name,
            text=self.statement.text,
            span=self.statement.span,
            levels=tuple(self._level(loop) for loop in self.loops),
            instances=_count(self.domain),
            shift=figures.shifts[name],
            offset_cycles=self.issue.offset - base,
            ii=self.issue.ii,
            ii_reason=figures.ii_reasons[name],
            operations=tuple(self.operations),
            store=store,
            iterations=self.issue.placement.flat(0).iterations,
        )

    def _level(self, loop: NestLoop) -> Level:
        if loop.is_box:
            return Level(loop.extent, loop.iterator)

        # Counters begin at the loop's smallest value.
        def counted(bound: Bound) -> LevelBound:
            form = bound.form - bound.divisor * loop.at
            return LevelBound(index_form(form, self.loops), bound.divisor)

        lowers, uppers = tuple(map(counted, loop.lowers)), tuple(map(counted, loop.uppers))
        return Level(loop.extent, loop.iterator, lowers, uppers, loop.at_least)

    def _address(self, access: Access) -> IndexForm:
        strides = self.scop.array(access.array).strides
        parts = (s * stride for s, stride in zip(access.affine, strides, strict=True))
        return index_form(affine_sum(parts), self.loops)

    def _predicate(self, instances: isl.Set) -> Predicate:
        predicate = self.space.predicate(instances)
        if predicate is None:
            raise RaggedDomain(
                f"the iterations of {self.statement.name} have no simple description",
                labels=(Label(self.statement.span, "executed in an irregular set of iterations"),),
                help="write strides as loop steps, or split the loop",
            )
        return predicate

    def _add(self, operation: Operation) -> int:
        self.operations.append(operation)
        return len(self.operations) - 1

    def _operation(self, number: int, node: Node) -> int:
        stage, latency = self.datapath.starts[number], self.datapath.latencies[number]
        width, signed, span = node.width_bits, node.signed, self.statement.span
        operands = tuple(self.numbers[operand] for operand in node.operands)
        match node.op:
            case "constant":
                return self._add(
                    ConstantOp(width_bits=width, signed=signed, stage=0, value=node.value)
                )
            case "parameter":
                return self._add(
                    ParameterOp(width_bits=width, signed=signed, stage=0, name=node.name)
                )
            case "index":
                assert node.affine is not None
                form = index_form(node.affine, self.loops)
                return self._add(
                    IndexOp(width_bits=width, signed=signed, stage=stage, form=form, span=span)
                )
            case "load":
                return self._load(number, node)
            case "cast":
                return self._add(
                    CastOp(
                        width_bits=width,
                        signed=signed,
                        stage=stage,
                        latency_cycles=latency,
                        operands=operands,
                        span=span,
                    )
                )
            case "select":
                return self._add(
                    SelectOp(
                        width_bits=width,
                        signed=signed,
                        stage=stage,
                        latency_cycles=latency,
                        operands=operands,
                        span=span,
                    )
                )
            case _:
                return self._add(
                    ArithmeticOp(
                        width_bits=width,
                        signed=signed,
                        stage=stage,
                        latency_cycles=latency,
                        operands=operands,
                        span=span,
                        op=cast(UnaryOp | BinaryOp, node.op),
                        modulus_bits=node.modulus_bits,
                    )
                )

    def _load(self, number: int, node: Node) -> int:
        name = self.statement.name
        access = self.statement.reads[node.read]
        stage, latency = self.datapath.starts[number], self.datapath.latencies[number]
        width, signed = node.width_bits, node.signed
        taps = self._taps(node.read)
        loaded = self.routing.loaded[name, node.read]
        if loaded.is_empty():
            value: Operation = ConstantOp(width_bits=width, signed=signed, stage=0, value=0)
        else:
            value = LoadOp(
                width_bits=width,
                signed=signed,
                stage=stage,
                latency_cycles=latency,
                operands=tuple(self.numbers[operand] for operand in node.operands),
                span=access.span,
                memory=access.array,
                port=self.ports.port[name, number],
                address=None if access.is_lookup else self._address(access),
                needed=self._predicate(loaded),
                banks=self._banks(node.read, loaded),
                read=node.read,
            )
            if not taps:
                return self._add(value)
        operand = self._add(value)
        return self._add(
            ForwardOp(
                width_bits=width,
                signed=signed,
                stage=self.datapath.use_stage(node.read),
                operands=(operand,),
                span=access.span,
                taps=taps,
                read=node.read,
            )
        )

    def _banks(self, read: int, loaded: isl.Set) -> tuple[Predicate, ...]:
        """Return where the value is in bank 1, 2, ..; what holds elsewhere does not matter."""
        found = []
        for instances in self.banks.loaded.get((self.statement.name, read), ()):
            where = NEVER if instances.is_empty() else self.space.predicate(instances.gist(loaded))
            if loaded.is_subset(instances):
                where = ALWAYS
            if where is None:
                where = self.space.predicate(instances)
            if where is None:
                raise Unbankable(self.statement.reads[read].array)
            found.append(where)
        return tuple(found)

    def _taps(self, read: int) -> tuple[Tap, ...]:
        found = []
        sets = self.routing.taps[self.statement.name, read]
        covered = self.routing.loaded[self.statement.name, read].is_empty()
        for tap in sets:
            when = ALWAYS if covered and len(sets) == 1 else self.space.predicate(tap.instances)
            if when is None:
                raise Unforwardable(flow_key(tap.flow))
            found.append(Tap(self.place[tap.flow.source], tap.delay_cycles, when))
        return tuple(found)


def _count(domain: isl.Set) -> int:
    return count_points(domain)
