"""How far apart dependent instances must be issued, in cycles, given the statements' pipelines.

With v the stage in which a statement stores, u the stage in which a read's value is used and a the
stage in which its address is presented:

- flow through the memory: the address comes after the store, so issue distance >= v + 1 - a;
- flow by forwarding: the value goes straight to its use, distance >= v - u; where the read or the
  store depends on data, nobody knows beforehand whether both are of one element: there only from a
  scatter to the lookups of its own statement, whose places the circuit compares;
- anti: the address of a block RAM comes before the store (a + 1 - v), so that the two never meet in
  one cycle; a register may be read in the very cycle in which it is written (a - v);
- output: one store after the other, v_source + 1 - v_sink;
- order, of the accesses to a stream: one after the other, too, each in its stage, a or v.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import islpy as isl

from rtlgen.datapath.build import Datapath
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Scop, loop_paths
from rtlgen.ir.sets import ScopSets
from rtlgen.nests.candidates import Instances, Placement
from rtlgen.nests.period import self_distance
from rtlgen.nests.precedence import Precedence, Related
from rtlgen.poly.dependences import Dataflow, Dependence, Flow
from rtlgen.transforms.units import Unit

FlowKey = tuple[str, str, int]
"""(source, sink, read) of a flow."""


def flow_key(flow: Flow) -> FlowKey:
    return flow.source, flow.sink, flow.sink_read


@dataclass(frozen=True, slots=True, eq=False)
class Timing:
    """What the cycle precedences of a program are made from.

    Members
    -------
    datapaths: by statement.
    related: the related pairs of every dependence and flow.
    instances: of every statement, listed where somebody asks.
    memory_only: flows that may not be forwarded.
    apart: statements of one unit, in program order, that may not overlap within an iteration of the
        loops that they share, so that their stores to one array never meet.
    banked: arrays that may have several write ports, so that stores to them may meet.
    may_overlap: whether iterations of an outer loop may share rows.
    compares: whether the circuit may compare places that data decides.
    """

    sets: ScopSets
    units: Sequence[Unit]
    datapaths: Mapping[str, Datapath]
    dependences: Sequence[Dependence]
    dataflow: Dataflow
    related: Related
    instances: Instances
    memory_only: frozenset[FlowKey] = frozenset()
    apart: frozenset[tuple[str, str]] = frozenset()
    banked: frozenset[str] = frozenset()
    may_overlap: bool = False
    compares: bool = True
    _unit_of: Mapping[str, int] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        numbers = {name: n for n, unit in enumerate(self.units) for name in unit.statements}
        object.__setattr__(self, "_unit_of", numbers)

    @property
    def scop(self) -> Scop:
        return self.sets.scop

    def length_cycles(self, name: str, placed: Placement, ii: int) -> int:
        """Return the cycles from the first issue of a statement to after its last store."""
        return ii * self.instances.last_rank(name, placed) + self.datapaths[name].result_stage + 1

    def precedences(self) -> tuple[Precedence, ...]:
        """Return every constraint on issue cycles, over value-based flows, anti and output."""
        found = [self._flow(flow) for flow in self.dataflow.flows if self.matters(flow)]
        found += [self._order(d) for d in self.dependences if d.kind != "flow" and self._orders(d)]
        found += [p for pair in sorted(self.apart) for p in self._separations(*pair)]
        return tuple(precedence for precedence in found if precedence is not None)

    def _separations(self, first: str, second: str) -> list[Precedence]:
        """Keep the stores of `first` before those of `second`, and those before the next ones."""
        found = []
        for origin in self.related.apart((first, second), self._overlaps):
            source, sink = origin.source, origin.sink
            lag = self.datapaths[source].result_stage + 1 - self.datapaths[sink].result_stage
            pairs = self.related.extrema(origin)
            found.append(Precedence(source, sink, lag, pairs, origin))
        return found

    def _overlaps(self, first: str, second: str) -> list[Dependence]:
        """Return the order of two statements that are kept apart in the loops that they share."""
        paths = loop_paths(self.scop.tree)
        shared = sum(a == b for a, b in zip(paths[first], paths[second], strict=False))
        before = self._shared_time(first, shared).lex_le_map(self._shared_time(second, shared))
        after = self._shared_time(second, shared).lex_lt_map(self._shared_time(first, shared))
        return [
            Dependence(
                "output",
                source,
                sink,
                self.scop.statement(source).write,
                self.scop.statement(sink).write,
                None,
                None,
                relation,
            )
            for source, sink, relation in ((first, second, before), (second, first, after))
            if not relation.is_empty()
        ]

    def _shared_time(self, name: str, shared: int) -> isl.Map:
        statement = self.scop.statement(name)
        outer = [Affine.variable(iterator) for iterator in statement.iterators[:shared]]
        return self.sets.time_map(statement, outer)

    def may_forward(self, flow: Flow) -> bool:
        """Tell whether `flow` has forwarding paths whatever its distances.

        Flows on a cycle of dependences do, since their latency bounds the initiation interval.
        """
        number = self._unit_of.get(flow.source)
        return number is not None and number == self._unit_of.get(flow.sink) and self.is_known(flow)

    def is_known(self, flow: Flow) -> bool:
        """Tell whether it is known which instances get the value, and they may be handed it."""
        read = self.scop.statement(flow.sink).reads[flow.sink_read]
        if read.is_uncertain or self.scop.statement(flow.source).is_scatter:
            return False
        return flow_key(flow) not in self.memory_only

    def is_matched(self, flow: Flow) -> bool:
        """Tell whether a lookup is to find a value on its way if that is of its element.

        Then it is one of the same stream: whatever that has presented was stored before.
        """
        if flow.source != flow.sink or flow_key(flow) in self.memory_only:
            return False
        statement = self.scop.statement(flow.source)
        is_lookup = statement.reads[flow.sink_read].is_lookup
        return self.compares and statement.is_scatter and is_lookup and self.matters(flow)

    def forward_lag(self, flow: Flow) -> int:
        """Return the smallest issue distance at which the value can be used at all."""
        source, sink = self.datapaths[flow.source], self.datapaths[flow.sink]
        return source.result_stage - sink.use_stage(flow.sink_read)

    def memory_lag(self, flow: Flow) -> int:
        """Return the smallest issue distance at which the value is read from the memory."""
        source, sink = self.datapaths[flow.source], self.datapaths[flow.sink]
        return source.result_stage + 1 - sink.address_stage(flow.sink_read)

    def matters(self, flow: Flow) -> bool:
        """Tell whether the value that flows is used at all."""
        return flow.sink_read in self.datapaths[flow.sink].node_of_read

    def _flow(self, flow: Flow) -> Precedence | None:
        is_forwarded = self.may_forward(flow) or self.is_matched(flow)
        lag = self.forward_lag(flow) if is_forwarded else self.memory_lag(flow)
        # One distance for all pairs needs one tap, whose predicate is just where the flow exists.
        uniform = self.forward_lag(flow) if self.is_known(flow) else None
        pairs = self.related.of(flow)
        if pairs is None:
            return None
        return Precedence(flow.source, flow.sink, lag, pairs, flow, uniform)

    def _orders(self, dependence: Dependence) -> bool:
        """A read whose value does not matter orders nothing."""
        ends = (
            (dependence.source, dependence.source_read),
            (dependence.sink, dependence.sink_read),
        )
        return all(
            read is None or dependence.kind == "flow" or read in self.datapaths[name].node_of_read
            for name, read in ends
        )

    def order_lag(self, dependence: Dependence) -> int | None:
        """Return the smallest issue distance that keeps an order of accesses; None for any."""
        if not self._orders(dependence):
            return None
        source, sink = self.datapaths[dependence.source], self.datapaths[dependence.sink]
        if dependence.source_read is None:
            lag = source.result_stage + 1 - sink.result_stage
        elif dependence.sink_read is not None:
            lag = source.address_stage(dependence.source_read) + 1
            lag -= sink.address_stage(dependence.sink_read)
        else:
            is_register = self.scop.array(dependence.array).is_register
            lag = source.address_stage(dependence.source_read) - sink.result_stage
            lag += 0 if is_register else 1
        return lag

    def _order(self, dependence: Dependence) -> Precedence | None:
        lag, pairs = self.order_lag(dependence), self.related.of(dependence)
        if lag is None or pairs is None:
            return None
        return Precedence(dependence.source, dependence.sink, lag, pairs, dependence)


def recurrent_reads(
    unit: Unit,
    flows: Dataflow,
    related: Related,
    statement: str,
    written: Placement,
    others_age: int = 1,
) -> dict[int, int]:
    """Return the reads whose value comes from the statement's own unit, with its smallest age.

    The age is counted in iterations of the nest as `written`.

    Parameters
    ----------
    others_age: of a value of another statement of the unit. It counts as new, but where the two are
        in loops of their own, and as far apart in time as the value asks for.
    """
    ages: dict[int, int] = {}
    for flow in flows.flows:
        if flow.sink != statement or flow.source not in unit.statements:
            continue
        age = others_age
        if flow.source == statement:
            pairs = related.of(flow)
            assert pairs is not None, "a flow relates some instances"
            age = self_distance(Precedence(statement, statement, 0, pairs, flow), written)
        ages[flow.sink_read] = min(age, ages.get(flow.sink_read, age))
    return ages
