"""Build the stream of one statement: its operations with their stages, its store, its loops."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, reduce
from typing import cast

import islpy as isl

from rtlgen.datapath.binding import (
    MAX_LISTED,
    in_starts,
    iterations_apart,
    iterations_between_starts,
    listed_iterations_apart,
)
from rtlgen.datapath.graph import Node
from rtlgen.datapath.lags import Timing, flow_key
from rtlgen.errors import Label
from rtlgen.ir.affine import Affine
from rtlgen.ir.bank_addresses import bank_address
from rtlgen.ir.effort import MAX_OPERATIONS
from rtlgen.ir.expr import BinaryOp, UnaryOp
from rtlgen.ir.operation_costs import cycles_of_digits, digits_alike
from rtlgen.ir.operations import UnitOp, is_by_digits, is_shareable
from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    Address,
    ArithmeticOp,
    CastOp,
    ChooseOp,
    ConstantOp,
    FloatingOp,
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
from rtlgen.ir.sets import attempt
from rtlgen.memories.footprints import folded_form
from rtlgen.memories.forwarding import Issue, IssueTimes, PassedSet, TapSet, Unforwardable
from rtlgen.memories.ports import NoVersions, PortMap, VersionMap
from rtlgen.memories.predicates import CounterSpace, index_form
from rtlgen.memories.row_buffers import KeptStore, Rows
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import access_text
from rtlgen.scheduling.errors import BankUnknown, RaggedDomain


@dataclass(frozen=True, slots=True)
class Figures:
    """What the search found, for the plan's reports."""

    shifts: Mapping[str, int]
    ii_reasons: Mapping[str, str]
    fused_iterations: int
    floor_iterations: int


class StreamBuilder(ABC):
    """The stream of one statement, whatever memories its values are in.

    Parameters
    ----------
    loops: of the stream, outermost first; the first `tile_levels` of them are those over tiles.
    place: number of every statement among the streams of its region.
    start_cycles: from the start of a tile to that of the next, at least.
    """

    def __init__(
        self,
        timing: Timing,
        issue: Issue,
        loops: Sequence[NestLoop],
        place: Mapping[str, int],
        statement: Statement,
        tile_levels: int = 0,
        start_cycles: int = 0,
    ) -> None:
        self.start_cycles = start_cycles
        self.scop = timing.scop
        self.statement = statement
        self.datapath = timing.datapaths[statement.name]
        self.issue = issue
        self.place = place
        self.loops = loops
        self.tile_levels = tile_levels
        self.lane = 0
        self.space = CounterSpace(timing.sets, statement, loops)
        self.domain = timing.sets.domains[statement.name]
        self.operations: list[Operation] = []
        self.numbers: dict[int, int] = {}

    @abstractmethod
    def _load(self, number: int, node: Node) -> int:
        """Add the operations that bring the value of a read; return the number of the last."""

    @abstractmethod
    def _stores(self) -> list[Store]:
        """Return the stores of the statement's value."""

    def stream(self, figures: Figures, base: int) -> Stream:
        """Return the stream in a region whose first cycle is `base` on the axis of the times.

        Raises
        ------
        Unforwardable, RaggedDomain, NoVersions: see `lower`.
        """
        name = self.statement.name
        for number, node in enumerate(self.datapath.nodes):
            self.numbers[number] = self._operation(number, node)
        store, *copies = self._stores()
        return Stream(
            statement=name,
            text=self.statement.text,
            span=self.statement.span,
            levels=tuple(level_of(loop, self.loops) for loop in self.loops),
            instances=self._instances(),
            shift=figures.shifts[name],
            offset_cycles=self.issue.offset - base,
            ii=self.issue.ii,
            ii_reason=figures.ii_reasons[name],
            operations=tuple(self.operations),
            store=store,
            iterations=None if self.tile_levels else self.issue.placement.flat(0).iterations,
            tile_levels=self.tile_levels,
            copies=tuple(copies),
            lane=self.lane,
        )

    def _form(self, affine: Affine) -> IndexForm:
        """Return a function of the iterators as one of the counters."""
        return index_form(affine, self.loops)

    def _predicate(self, instances: isl.Set) -> Predicate:
        predicate = self.space.predicate(instances)
        if predicate is None:
            raise RaggedDomain(
                f"the iterations of {self.statement.name} have no simple description",
                labels=(Label(self.statement.span, "executed in an irregular set of iterations"),),
                help="write strides as loop steps, or split the loop",
            )
        return predicate

    def _instances(self) -> int:
        return count_points(self.domain)

    def _where_read(self, instances: isl.Set) -> Predicate | None:
        """Return a predicate for instances that read a value in some way, or None."""
        return self.space.predicate(instances)

    def _add(self, operation: Operation) -> int:
        self.operations.append(operation)
        return len(self.operations) - 1

    def _operation(self, number: int, node: Node) -> int:
        stage, latency = self.datapath.starts[number], self.datapath.latencies[number]
        width, signed, span = node.width_bits, node.signed, self.statement.span
        operands = tuple(self.numbers[operand] for operand in node.operands)
        match node.op:
            case "scatter":
                # The store takes its operands.
                return operands[0]
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
                form = self._form(node.affine)
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
            case "floating":
                assert node.floating is not None
                floating, of, to = node.floating
                computed = FloatingOp(
                    width_bits=width,
                    signed=signed,
                    stage=stage,
                    latency_cycles=latency,
                    operands=operands,
                    span=span,
                    op=floating,
                    of=of,
                    to=to,
                )
                return self._add(self._with_begins(computed))
            case _:
                op = ArithmeticOp(
                    width_bits=width,
                    signed=signed,
                    stage=stage,
                    latency_cycles=latency,
                    operands=operands,
                    span=span,
                    op=cast(UnaryOp | BinaryOp, node.op),
                    modulus_bits=node.modulus_bits,
                )
                return self._add(self._with_begins(op))

    def _with_begins(self, op: Operation) -> Operation:
        """Return an operation with where it begins, and how often, if anybody needs to know."""
        if is_shareable(op):
            op = replace(op, when=self._when or ALWAYS)
        return self._seldom(op) if is_by_digits(op) else op

    @cached_property
    def _when(self) -> Predicate | None:
        """The iterations that are instances, where there is a predicate for that."""
        return self.space.predicate(self.domain)

    def _seldom(self, op: UnitOp) -> UnitOp:
        """Return what finds digits with the interval in which it begins, where that saves area."""
        digits = max(digits_alike(op, self.operations))
        if op.latency_cycles < cycles_of_digits(op, self.operations) or digits == 1:
            return op
        when = self._when
        if when is None:
            return op
        interval = attempt(
            self.domain.get_ctx(), MAX_OPERATIONS, lambda: self._interval_cycles(when, digits)
        )
        if interval in (None, 1):
            return op
        return replace(op, interval_cycles=interval)

    def _interval_cycles(self, when: Predicate, most: int) -> int:
        """Return how many cycles are between two instances at least; `most` where they are more.

        Parameters
        ----------
        when: the iterations that are instances.
        """
        ii = self.issue.ii
        whole = -(-most // ii)
        if not all(loop.is_box for loop in self.loops[self.tile_levels :]):
            iterations = self.issue.placement.flat(0).iterations
            if iterations is None or iterations > MAX_LISTED:
                return min(ii, most)
            levels = [level_of(loop, self.loops) for loop in self.loops]
            return min(most, ii * listed_iterations_apart(levels, when, whole))
        extents = [loop.extent for loop in self.loops]
        placed = in_starts(self.space.counted(self.domain), extents, self.tile_levels)
        found = ii * iterations_apart(placed, whole)
        if self.tile_levels:
            found = min(found, ii * iterations_between_starts(placed, self.start_cycles // ii))
        return max(1, min(most, found))

    def _built_taps(self, sets: Sequence[TapSet], is_covered: bool) -> tuple[Tap, ...]:
        """Return taps as the plan has them; together they bring every value if `is_covered`."""
        found = []
        for tap in sets:
            if tap.is_matched:
                stream = self._stream_of(tap)
                found.append(Tap(stream, tap.delay_cycles, ALWAYS, is_matched=True))
                continue
            always = is_covered and len(sets) == 1
            when = ALWAYS if always else self._where_read(tap.instances)
            if when is None:
                raise Unforwardable(flow_key(tap.flow))
            found.append(Tap(self._stream_of(tap), tap.delay_cycles, when))
        return tuple(found)

    def _stream_of(self, tap: TapSet) -> int:
        """Return the number of the stream that brings the value of a tap."""
        return self.place[tap.flow.source]

    def _store(self, memory: str, address: Address | None, when: Predicate, port: int = 0) -> Store:
        """Return a store of the statement's value; of a scatter without an address."""
        value = at = enable = None
        if address is None:
            root = self.datapath.nodes[self.datapath.result]
            value, at, enable = (self.numbers[operand] for operand in root.operands)
        return Store(
            memory=memory,
            address=address,
            stage=self.datapath.result_stage,
            value=self.numbers[self.datapath.result] if value is None else value,
            when=when,
            span=self.statement.write.span,
            port=port,
            at=at,
            enable=enable,
        )

    def _nothing(self, node: Node) -> ConstantOp:
        """Return what stands for a value that is never read from a memory."""
        return ConstantOp(width_bits=node.width_bits, signed=node.signed, stage=0, value=0)

    def _forwarded(self, node: Node, value: int, taps: tuple[Tap, ...]) -> int:
        """Let stores on their way bring the value of a read where a tap holds."""
        if not taps:
            return value
        return self._add(
            ForwardOp(
                width_bits=node.width_bits,
                signed=node.signed,
                stage=self.datapath.use_stage(node.read),
                operands=(value,),
                span=self.statement.reads[node.read].span,
                taps=taps,
                read=node.read,
            )
        )


class IslandStreamBuilder(StreamBuilder):
    """The stream of a statement whose arrays are all on chip.

    Parameters
    ----------
    times, rows, ports, versions: of the whole program.
    """

    def __init__(
        self,
        timing: Timing,
        times: IssueTimes,
        rows: Rows,
        ports: PortMap,
        versions: VersionMap,
        place: Mapping[str, int],
        statement: Statement,
    ) -> None:
        issue = times[statement.name]
        super().__init__(timing, issue, issue.placement.loops, place, statement)
        self.rows = rows
        self.routing = rows.routing
        self.ports = ports
        self.versions = versions
        self._loads: dict[int, int] = {}

    def _stores(self) -> list[Store]:
        write, name = self.statement.write, self.statement.name
        kept = list(self.rows.stored_by(name))
        found = [self._kept_store(store) for store in kept]
        stored = self.routing.stored[name]
        if all(store.read is not None for store in kept) or not stored.is_empty():
            when, port = self._predicate(stored), self.versions.port[name]
            address = None if self.statement.is_scatter else self._address(write)
            found.insert(0, self._store(write.array, address, when, port))
        return found

    def _kept_store(self, kept: KeptStore) -> Store:
        """Return a store to a memory beside the arrays."""
        address = folded_form(kept.fields, 0, self.loops)
        store = self._store(kept.memory, address, self._predicate(kept.instances))
        if kept.read is None:
            return store
        load = self._loads[kept.read]
        span = self.statement.reads[kept.read].span
        return replace(store, value=load, stage=self.operations[load].result_stage, span=span)

    def _address(self, access: Access) -> Address:
        array = self.scop.array(access.array)
        if not array.cuts:
            return index_form(self.scop.element_number(access), self.loops)
        subscripts = [index_form(subscript, self.loops) for subscript in access.affine]
        found = bank_address(array.bank_map, subscripts, [loop.extent for loop in self.loops])
        if found is None:
            raise BankUnknown.of(array, access, access_text(self.scop, access))
        return found

    def _load(self, number: int, node: Node) -> int:
        name = self.statement.name
        access = self.statement.reads[node.read]
        loaded = self.routing.loaded[name, node.read]
        brought: list[tuple[isl.Set, int]] = []
        if not loaded.is_empty():
            load = self._loaded(
                number,
                node,
                memory=access.array,
                port=self.ports.port[name, number],
                address=None if access.is_lookup else self._address(access),
                needed=self._predicate(loaded),
                versions=self._versions(node.read, loaded),
            )
            self._loads[node.read] = load
            brought.append((loaded, load))
        for memory, read in self.rows.read_by((name, node.read)):
            load = self._loaded(
                number,
                node,
                memory=memory.name,
                port=read.port,
                address=folded_form(memory.fields_of(access), 0, self.loops),
                needed=self._predicate(read.instances),
                versions=(),
            )
            brought.append((read.instances, load))
        key = name, node.read
        passed = self._passed_taps(self.routing.passed.get(key, ()))
        taps = self._built_taps(self.routing.taps[key], not brought and not passed)
        value = self._chosen(number, node, brought) if brought else self._add(self._nothing(node))
        return self._forwarded(node, value, (*taps, *passed))

    def _passed_taps(self, sets: Sequence[PassedSet]) -> tuple[Tap, ...]:
        """Return taps that bring what other reads have brought."""
        return tuple(
            Tap(
                self.place[passed.source[0]],
                passed.delay_cycles,
                self._predicate(passed.instances),
                passed.source[1],
            )
            for passed in sets
        )

    def _loaded(
        self,
        number: int,
        node: Node,
        *,
        memory: str,
        port: int,
        address: Address | None,
        needed: Predicate,
        versions: tuple[Predicate, ...],
    ) -> int:
        """Add a load of a read from one memory."""
        return self._add(
            LoadOp(
                width_bits=node.width_bits,
                signed=node.signed,
                stage=self.datapath.starts[number],
                latency_cycles=self.datapath.latencies[number],
                operands=tuple(self.numbers[operand] for operand in node.operands),
                span=self.statement.reads[node.read].span,
                memory=memory,
                port=port,
                address=address,
                needed=needed,
                versions=versions,
                read=node.read,
            )
        )

    def _chosen(self, number: int, node: Node, brought: Sequence[tuple[isl.Set, int]]) -> int:
        """Let one of several loads bring the value of a read, each that of some instances."""
        anywhere = reduce(isl.Set.union, [instances for instances, _ in brought])
        (_, value), *others = brought
        for instances, load in others:
            when = self.space.predicate(instances.gist(anywhere))
            choice = ChooseOp(
                width_bits=node.width_bits,
                signed=node.signed,
                stage=self.datapath.starts[number] + self.datapath.latencies[number],
                operands=(load, value),
                span=self.statement.reads[node.read].span,
                when=self._predicate(instances) if when is None else when,
            )
            value = self._add(choice)
        return value

    def _versions(self, read: int, loaded: isl.Set) -> tuple[Predicate, ...]:
        """Return where the value is in version 1, 2, ..; what holds elsewhere does not matter."""
        found = []
        for instances in self.versions.loaded.get((self.statement.name, read), ()):
            where = NEVER if instances.is_empty() else self.space.predicate(instances.gist(loaded))
            if loaded.is_subset(instances):
                where = ALWAYS
            if where is None:
                where = self.space.predicate(instances)
            if where is None:
                raise NoVersions(self.statement.reads[read].array)
            found.append(where)
        return tuple(found)


def level_of(loop: NestLoop, loops: Sequence[NestLoop]) -> Level:
    """Return one of the loops of a nest as a level, whose counter begins at the smallest value."""
    if loop.is_box:
        return Level(loop.extent, loop.iterator)

    def counted(bound: Bound) -> LevelBound:
        form = bound.form - bound.divisor * loop.at
        return LevelBound(index_form(form, loops), bound.divisor)

    lowers, uppers = tuple(map(counted, loop.lowers)), tuple(map(counted, loop.uppers))
    return Level(loop.extent, loop.iterator, lowers, uppers, loop.at_least)
