"""How far lanes that depend on each other run one behind the other.

A lane that needs what the lane before computes issues some cycles later, and so does the one behind
it: lane l runs l times the *skew* later, in every tile. What is inside of one lane does not change,
and the distance between two lanes grows with the skew. So each pair of instances in two lanes asks
for a skew of so many cycles at least, where the second is in a later lane, or at most, where it is
in an earlier one. The smallest skew that all allow is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import islpy as isl

from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Access
from rtlgen.ir.sets import integer
from rtlgen.poly.dependences import Dependence, DependenceKind, Flow
from rtlgen.scheduling.tile_kernel import TileKernel
from rtlgen.tiling.lanes import lanes_need_each_other


@dataclass(frozen=True, slots=True, eq=False)
class _Order:
    """Pairs of instances of one tile of which the second issues `lag` cycles later, at least."""

    kind: DependenceKind
    source: str
    sink: str
    access: Access
    relation: isl.Map
    lag: int


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two instances of which the second issues too early.

    Members
    -------
    lanes: by how many its lane is the later one. missing_cycles: by how much it is too early.
    """

    source: tuple[int, ...]
    sink: tuple[int, ...]
    lanes: int
    missing_cycles: int


def skewed(kernel: TileKernel) -> TileKernel:
    """Return a kernel whose lanes run as far behind each other as they have to.

    Raises
    ------
    NoLanes: a lane has to wait for a later one.
    """
    found = kernel
    for order in _orders(kernel):
        # Each pair in a later lane asks for so much at least; what that is too much for is refused.
        while (pair := _too_early(found, order)) is not None and pair.lanes > 0:
            more = -(-pair.missing_cycles // pair.lanes)
            found = replace(found, skew_cycles=found.skew_cycles + more)
    require_skew(found)
    return found


def require_skew(kernel: TileKernel) -> None:
    """Require that all that is between lanes of one tile is in order.

    Raises
    ------
    NoLanes: with two instances of which the second issues too early.
    """
    for order in _orders(kernel):
        pair = _too_early(kernel, order)
        if pair is not None:
            raise lanes_need_each_other(
                kernel.sets.scop,
                (order.kind, order.source, order.sink, order.access),
                (pair.source, pair.sink),
                kernel.skew_cycles,
            )


def _orders(kernel: TileKernel) -> Iterator[_Order]:
    """Yield what is to be in order inside of a tile, other than in one lane."""
    timing, scop = kernel.timing, kernel.sets.scop
    for flow in timing.dataflow.flows:
        if timing.matters(flow):
            access = scop.statement(flow.sink).reads[flow.sink_read]
            lag = timing.forward_lag(flow) if timing.is_known(flow) else timing.memory_lag(flow)
            yield _between_lanes(kernel, "flow", flow, access, lag)
    for d in timing.dependences:
        lag_of_order = None if d.kind == "flow" else timing.order_lag(d)
        if lag_of_order is not None:
            yield _between_lanes(kernel, d.kind, d, d.sink_access, lag_of_order)


def _between_lanes(
    kernel: TileKernel, kind: DependenceKind, pairs: Flow | Dependence, access: Access, lag: int
) -> _Order:
    relation = pairs.relation.subtract(kernel.relations.in_one_lane(pairs.relation)).coalesce()
    return _Order(kind, pairs.source, pairs.sink, access, relation, lag)


def _too_early(kernel: TileKernel, order: _Order) -> _Pair | None:
    """Return two instances that issue too early for each other; None where there are none."""
    keep_going(kernel.sets.context)
    relation = order.relation
    first, second = isl.dim_type.in_, isl.dim_type.out
    scop = kernel.sets.scop
    times = (kernel.cycle(order.source, 0), kernel.cycle(order.sink, 0))
    names = [scop.statement(name).iterators for name in (order.source, order.sink)]
    # lag - 1 + time of the first - time of the second >= 0
    early = isl.Constraint.alloc_inequality(isl.LocalSpace.from_space(relation.get_space()))
    context = relation.get_ctx()
    for kind, time, own, sign in zip((first, second), times, names, (1, -1), strict=True):
        for place, name in enumerate(own):
            value = isl.Val(sign * time.coefficient(name), context)
            early = early.set_coefficient_val(kind, place, value)
    constant = order.lag - 1 + times[0].constant - times[1].constant
    found = relation.add_constraint(early.set_constant_val(isl.Val(constant, context)))
    if found.is_empty():
        return None
    point = found.wrap().lexmin().sample_point()
    values = [
        integer(point.get_coordinate_val(isl.dim_type.set, k))
        for k in range(len(names[0]) + len(names[1]))
    ]
    source, sink = values[: len(names[0])], values[len(names[0]) :]
    at = [
        time.evaluate(dict(zip(own, instance, strict=True)))
        for time, own, instance in zip(times, names, (source, sink), strict=True)
    ]
    missing = order.lag - (at[1] - at[0])
    return _Pair(tuple(source), tuple(sink), sink[-1] - source[-1], missing)
