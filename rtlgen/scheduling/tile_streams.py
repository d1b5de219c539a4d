"""The streams of a tile kernel: loads from windows and kept memories, stores to them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import reduce

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.plan import (
    ALWAYS,
    ChooseOp,
    IndexForm,
    LoadOp,
    Operation,
    Predicate,
    Store,
)
from rtlgen.ir.scop import Statement
from rtlgen.scheduling.errors import RaggedDomain
from rtlgen.scheduling.forwarding import TapSet
from rtlgen.scheduling.graph import Node
from rtlgen.scheduling.places import Place, Windows
from rtlgen.scheduling.stream_builder import StreamBuilder
from rtlgen.scheduling.tile_kernel import TileKernel


class TileStreamBuilder(StreamBuilder):
    """The stream of a statement in a tile kernel.

    Parameters
    ----------
    place: number of the first stream of every statement among those of the kernel; those of its
        lanes follow each other.
    instances: of the statement. lane: which of those that run side by side.
    """

    def __init__(
        self,
        kernel: TileKernel,
        windows: Windows,
        place: Mapping[str, int],
        statement: Statement,
        instances: int,
        lane: int = 0,
    ) -> None:
        loops = kernel.loops(statement.name)
        issue = kernel.issue_of(statement.name, lane)
        super().__init__(
            kernel.timing, issue, loops, place, statement, kernel.depth, windows.issue_cycles
        )
        self.kernel = kernel
        self.windows = windows
        self.instances = instances
        self.lane = lane
        self.values = {kernel.lane: Affine((), lane)} if kernel.lane else {}
        self.domain = self._here(self.domain)

    def _here(self, instances: isl.Set) -> isl.Set:
        """Return the instances that are in the lane."""
        return self.kernel.in_lane(self.statement.name, instances, self.lane)

    def _places(self, places: Sequence[Place]) -> list[Place]:
        """Return where instances of the lane find or leave their value."""
        found = [place.in_lane(self._here, self.lane) for place in places]
        return [place for place in found if not place.instances.is_empty()]

    def _taps(self, taps: Sequence[TapSet]) -> list[TapSet]:
        """Return the taps of the lane, one for each lane that brings a value."""
        if not self.kernel.lane:
            return list(taps)
        found = []
        for tap in taps:
            flow = tap.flow.relation.intersect_range(self._here(tap.instances))
            for lane in range(self.kernel.lanes):
                sources = self.kernel.in_lane(tap.flow.source, flow.domain(), lane)
                brought = flow.intersect_domain(sources)
                if not brought.is_empty():
                    own = replace(tap.flow, relation=brought)
                    found.append(TapSet(own, tap.delay_cycles, brought.range().coalesce(), lane))
        return found

    def _stream_of(self, tap: TapSet) -> int:
        return super()._stream_of(tap) + tap.lane

    def _form(self, affine: Affine) -> IndexForm:
        return super()._form(affine.substitute(self.values))

    def _instances(self) -> int:
        return self.instances

    def _stores(self) -> list[Store]:
        keep_going(self.kernel.sets.context)
        return [
            self._store(
                target.memory,
                target.address(self.loops, self.values),
                self._predicate(self._here(target.instances)),
            )
            for target in self.windows.targets[self.statement.name]
        ]

    def _load(self, number: int, node: Node) -> int:
        # There are many, in many lanes, each with conditions of its own.
        keep_going(self.kernel.sets.context)
        key = self.statement.name, node.read
        sources = self._places(self.windows.sources[key])
        taps = self._built_taps(self._taps(self.windows.taps[key]), not sources)
        if not sources:
            return self._forwarded(node, self._add(self._nothing(node)), taps)
        anywhere = reduce(isl.Set.union, [source.instances for source in sources])
        value, *others = [self._add(self._loaded(number, node, source)) for source in sources]
        for source, other in zip(sources[1:], others, strict=True):
            when = self._where(
                source, anywhere, [place for place in sources if place is not source]
            )
            value = self._add(self._choice(node, other, value, when, number))
        return self._forwarded(node, value, taps)

    def _loaded(self, number: int, node: Node, source: Place) -> LoadOp:
        return LoadOp(
            width_bits=node.width_bits,
            signed=node.signed,
            stage=self.datapath.starts[number],
            latency_cycles=self.datapath.latencies[number],
            span=self.statement.reads[node.read].span,
            memory=source.memory,
            port=source.port,
            operands=tuple(self.numbers[operand] for operand in node.operands),
            address=source.address(self.loops, self.values),
            needed=self._needed(source),
            read=node.read,
        )

    def _choice(
        self, node: Node, first: int, second: int, when: Predicate, number: int
    ) -> Operation:
        return ChooseOp(
            width_bits=node.width_bits,
            signed=node.signed,
            stage=self.datapath.starts[number] + self.datapath.latencies[number],
            operands=(first, second),
            span=self.statement.reads[node.read].span,
            when=when,
        )

    def _where_read(self, instances: isl.Set) -> Predicate | None:
        # What an iteration reads that is no instance does not matter.
        found = self.space.predicate(instances.gist(self.domain))
        return self.space.predicate(instances) if found is None else found

    def _needed(self, source: Place) -> Predicate:
        """Return where a load is needed, or may be made at least.

        What is loaded where a tap brings the value, or where nothing is read, does no harm: the
        port is the read's own, or that of reads which are in other banks at any time.
        """
        found = self._where_read(source.instances)
        if found is None and source.around is not None:
            found = self._where_read(source.around)
        if found is None:
            return ALWAYS if source.is_folded else self._predicate(source.instances)
        return found

    def _where(self, source: Place, among: isl.Set, others: Sequence[Place]) -> Predicate:
        """Return a predicate for the instances of a source among those of all.

        Parameters
        ----------
        others: the other sources.
        """
        if among.is_subset(source.instances):
            return ALWAYS
        found = self.space.predicate(source.instances.gist(among))
        if found is None and source.around is not None:
            around = source.around
            if all(around.is_disjoint(other.instances) for other in others):
                found = self.space.predicate(around)
        if found is None:
            found = self._where_read(source.instances)
        if found is None:
            raise RaggedDomain(
                f"where {self.statement.name} finds a value has no simple description",
                labels=(Label(self.statement.reads[0].span, "in several memories"),),
                help="choose other tiles, or keep the array on chip",
            )
        return found
