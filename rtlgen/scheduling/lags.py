"""How far apart dependent instances must be issued, in cycles, given the statements' pipelines.

With v the stage in which a statement stores, u the stage in which a read's value is used and a the
stage in which its address is presented:

- flow through the memory: the address comes after the store, so issue distance >= v + 1 - a;
- flow by forwarding: the value goes straight to its use, distance >= v - u;
- anti: the address of a block RAM comes before the store (a + 1 - v), so that the two never meet in
  one cycle; a register may be read in the very cycle in which it is written (a - v);
- output: one store after the other, v_source + 1 - v_sink.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.dependences import Dataflow, Dependence, Flow
from rtlgen.poly.extrema import pair_extrema
from rtlgen.scheduling.datapath import Datapath
from rtlgen.transforms.precedence import Precedence
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
    memory_only: flows that may not be forwarded.
    """

    sets: ScopSets
    units: Sequence[Unit]
    datapaths: Mapping[str, Datapath]
    dependences: Sequence[Dependence]
    dataflow: Dataflow
    memory_only: frozenset[FlowKey] = frozenset()

    @property
    def scop(self) -> Scop:
        return self.sets.scop

    def precedences(self) -> tuple[Precedence, ...]:
        """Return every constraint on issue cycles, over value-based flows, anti and output."""
        found = [self._flow(flow) for flow in self.dataflow.flows if self.matters(flow)]
        found += [self._order(d) for d in self.dependences if d.kind != "flow" and self._orders(d)]
        return tuple(found)

    def may_forward(self, flow: Flow) -> bool:
        """Tell whether `flow` has forwarding paths whatever its distances.

        Flows on a cycle of dependences do, since their latency bounds the initiation interval.
        """
        if flow_key(flow) in self.memory_only:
            return False
        return any({flow.source, flow.sink} <= set(unit.statements) for unit in self.units)

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

    def _flow(self, flow: Flow) -> Precedence:
        lag = self.forward_lag(flow) if self.may_forward(flow) else self.memory_lag(flow)
        # One distance for all pairs needs one tap, whose predicate is just where the flow exists.
        barred = flow_key(flow) in self.memory_only
        uniform = None if barred else self.forward_lag(flow)
        extrema = pair_extrema(flow.relation)
        return Precedence(flow.source, flow.sink, lag, extrema, flow, uniform)

    def _orders(self, dependence: Dependence) -> bool:
        """A read whose value does not matter orders nothing."""
        reads = self.datapaths[dependence.source].node_of_read
        return dependence.source_read is None or dependence.source_read in reads

    def _order(self, dependence: Dependence) -> Precedence:
        source, sink = self.datapaths[dependence.source], self.datapaths[dependence.sink]
        if dependence.source_read is None:
            lag = source.result_stage + 1 - sink.result_stage
        else:
            is_register = self.scop.array(dependence.array).depth == 1
            lag = source.address_stage(dependence.source_read) - sink.result_stage
            lag += 0 if is_register else 1
        extrema = pair_extrema(dependence.relation)
        return Precedence(dependence.source, dependence.sink, lag, extrema, dependence)
