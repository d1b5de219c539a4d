"""Build the stream of one statement: its operations with their stages, its store, its loops."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.affine import affine_sum
from rtlgen.ir.expr import BinaryOp, UnaryOp
from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    ArithmeticOp,
    CastOp,
    ConstantOp,
    ForwardOp,
    IndexForm,
    IndexOp,
    Level,
    LevelBound,
    LoadOp,
    Operation,
    ParameterOp,
    Predicate,
    SelectOp,
    Store,
    Stream,
    Tap,
)
from rtlgen.ir.schedule import Bound, NestLoop
from rtlgen.ir.scop import Access, Statement
from rtlgen.poly.counting import count_points
from rtlgen.scheduling.banks import BankMap, Unbankable
from rtlgen.scheduling.errors import RaggedDomain
from rtlgen.scheduling.forwarding import IssueTimes, Routing, Unforwardable
from rtlgen.scheduling.graph import Node
from rtlgen.scheduling.lags import Timing, flow_key
from rtlgen.scheduling.ports import PortMap
from rtlgen.scheduling.predicates import CounterSpace, index_form


@dataclass(frozen=True, slots=True)
class Figures:
    """What the search found, for the plan's reports."""

    shifts: Mapping[str, int]
    ii_reasons: Mapping[str, str]
    fused_iterations: int
    floor_iterations: int


class StreamBuilder:
    """The stream of one statement.

    Parameters
    ----------
    times, routing, ports, banks: of the whole program.
    place: number of every statement among the streams of its region.
    """

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
        """Return the stream in a region whose first cycle is `base` on the axis of the times.

        Raises
        ------
        Unforwardable, RaggedDomain, Unbankable: see `lower`.
        """
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
            instances=count_points(self.domain),
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
            case "cast" | "select":
                kind = CastOp if node.op == "cast" else SelectOp
                return self._add(
                    kind(
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
