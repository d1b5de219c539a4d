"""Lanes inside of tiles: which loop runs side by side, and how far behind one lane runs another.

Lanes are iterations of one loop of the C program that issue in one cycle, for all statements of a
unit alike. So that loop has to be one of those that are cut, in C's loops or in PLUTO's, and what
issues together must not depend on each other.

How far lanes that depend on each other run one behind the other.

A lane that needs what the lane before computes issues some cycles later, and so does the one behind
it: lane l runs l times the *skew* later, in every tile. What is inside of one lane does not change,
and the distance between two lanes grows with the skew. So each pair of instances in two lanes asks
for a skew of so many cycles at least, where the second is in a later lane, or at most, where it is
in an earlier one. The smallest skew that all allow is taken.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import TypeAlias

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.bank_map import MOST_BANKS
from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Access, Loop, Scop
from rtlgen.ir.sets import integer
from rtlgen.poly.dependences import Dependence, DependenceKind, Flow, access_text
from rtlgen.poly.legality import Violation
from rtlgen.poly.tiling import TileRelations
from rtlgen.scheduling.errors import NoLanes
from rtlgen.tiling.loops import UnitLoops
from rtlgen.transforms.lanes import Place, place_of
from rtlgen.transforms.tile_nests import Lanes, Tiling
from rtlgen.windows.tile_kernel import TileKernel


@dataclass(frozen=True, slots=True)
class LaneRequest:
    """What is asked for: `count` lanes of the loop of some name; None: one for each iteration.

    Members
    -------
    place: of that loop, where it is one of several; None: all of that name.
    where_possible: whether a unit that cannot run in lanes may run in one, if others do.
    """

    loop: str
    count: int | None
    place: Place | None = None
    where_possible: bool = False

    def names(self, loop: Loop) -> bool:
        """Tell whether a loop is the one that is meant."""
        if self.place is not None:
            return place_of(loop.span) == self.place
        return self.loop in (loop.iterator, loop.label)


def lanes_of(request: LaneRequest, unit: UnitLoops, extents: tuple[int, ...]) -> Lanes | None:
    """Return the lanes of a unit in certain loops; None where it has nothing of that loop.

    Parameters
    ----------
    unit: whose statements have the loops of the C program in `written`.
    extents: of the loops that are cut.

    Raises
    ------
    NoLanes: the loop is not one of those that are cut.
    """
    named = [
        (statement.name, k, loop)
        for statement in unit.written.statements
        for k, loop in enumerate(statement.loops)
        if request.names(loop)
    ]
    if not named:
        return None
    found = {_cut_loop(unit, name, k) for name, k, _ in named}
    loop = named[0][2]
    place = found.pop() if len(found) == 1 else None
    if place is None or len(named) < len(unit.written.statements):
        raise NoLanes(
            f"the loop {request.loop} is none of those that all statements share in tiles",
            labels=(Label(loop.span),),
            notes=("the lanes of a tile are iterations of one loop of all of its statements",),
            help="choose another loop, or leave out --unroll",
        )
    count = min(request.count or extents[place], extents[place])
    if count > MOST_BANKS:
        raise NoLanes.of_sizes(
            f"the loop {request.loop} would be run in {count:,} lanes",
            labels=(Label(loop.span),),
            help=f"{MOST_BANKS} are the most in tiles: each lane has a bank of its own",
        )
    return Lanes(place, count) if count > 1 else None


def _cut_loop(unit: UnitLoops, name: str, place: int) -> int | None:
    """Return the number of the cut loop that steps through a C loop of a statement and no other."""
    forms = unit.before[name]
    iterators = unit.program.scop.statement(name).iterators
    for k, iterator in enumerate(iterators[: unit.depth]):
        steps = [form.coefficient(iterator) for form in forms]
        if abs(steps[place]) == 1 and not any(steps[:place] + steps[place + 1 :]):
            return k
    return None


def free_loops(unit: UnitLoops) -> dict[int, str]:
    """Return the C loops of which two lanes could issue together, as far as is known at once.

    They are by the number of the cut loop that steps through them, the innermost one first.
    """
    found: dict[int, str] = {}
    for loop in (loop for statement in unit.written.statements for loop in statement.loops):
        name = loop.label or loop.iterator
        try:
            lanes = lanes_of(LaneRequest(name, 2), unit, (2,) * unit.depth)
        except NoLanes:
            continue
        if lanes is not None and _is_free(unit, lanes.loop):
            found.setdefault(lanes.loop, name)
    return dict(sorted(found.items(), reverse=True))


def _is_free(unit: UnitLoops, place: int) -> bool:
    """Tell whether two neighbouring iterations of a cut loop may run in step."""
    order = {s.name: n for n, s in enumerate(unit.program.scop.statements)}
    first, second = isl.dim_type.in_, isl.dim_type.out
    for dependence in unit.program.dependences:
        keep_going(dependence.relation.get_ctx())
        is_own = dependence.source == dependence.sink
        pairs = _neighbours(dependence.relation, place)
        depth = pairs.dim(first) if is_own else unit.depth
        for k in (*range(place), *range(place + 1, depth)):
            if k > place and not pairs.order_gt(first, k, second, k).is_empty():
                return False
            pairs = pairs.equate(first, k, second, k)
        in_order = order[dependence.source] < order[dependence.sink]
        if not (in_order or (is_own and dependence.kind == "anti") or pairs.is_empty()):
            return False
    return True


def _neighbours(relation: isl.Map, place: int) -> isl.Map:
    """Restrict a relation to pairs whose second is one iteration of a loop later."""
    apart = isl.Constraint.alloc_equality(isl.LocalSpace.from_space(relation.get_space()))
    apart = apart.set_coefficient_val(isl.dim_type.in_, place, isl.Val(1, relation.get_ctx()))
    apart = apart.set_coefficient_val(isl.dim_type.out, place, isl.Val(-1, relation.get_ctx()))
    return relation.add_constraint(apart.set_constant_val(isl.Val(1, relation.get_ctx())))


def lanes_are_not_cut(request: LaneRequest, sizes: tuple[int, ...], place: int) -> NoLanes:
    """Return the error for tiles that do not cut the loop that is to run in lanes."""
    count = "1 loop is" if len(sizes) == 1 else f"{len(sizes)} loops are"
    return NoLanes.of_sizes(
        f"the loop {request.loop} is not cut into tiles, of which it would have a part in lanes",
        notes=(f"{count} cut by --tile {','.join(map(str, sizes))}",),
        help=f"give {place + 1} sizes, or none",
    )


def lanes_do_not_fit(
    request: LaneRequest | None, sizes: tuple[int, ...], fitting: tuple[int, ...]
) -> NoLanes:
    """Return the error for tiles that are asked for and are no multiple of the lanes."""
    assert request is not None, "lanes are asked for"
    shown = ",".join(map(str, fitting))
    return NoLanes.of_sizes(
        f"tiles of {','.join(map(str, sizes))} iterations do not divide among the lanes of "
        f"{request.loop}",
        help=f"--tile {shown}",
    )


def require_lanes_apart(tiling: Tiling, relations: TileRelations) -> None:
    """Require that lanes depend on nothing that issues together with them.

    Raises
    ------
    NoLanes: with two instances of which one needs the other.
    """
    if tiling.lanes is None:
        return
    scop = relations.sets.scop
    # That a value is needed says more than that its place is.
    for dependence in sorted(relations.dependences, key=lambda d: d.kind != "flow"):
        if dependence.source != dependence.sink or dependence.kind == "anti":
            continue
        pairs = relations.together(dependence.relation)
        if not pairs.is_empty():
            width = len(scop.statement(dependence.source).iterators)
            point = pairs.wrap().lexmin().sample_point()
            values = [
                integer(point.get_coordinate_val(isl.dim_type.set, k)) for k in range(2 * width)
            ]
            raise _depending(scop, dependence, tuple(values[:width]), tuple(values[width:]))


def lanes_out_of_order(scop: Scop, violation: Violation) -> NoLanes:
    """Return the error for lanes in whose order inside of a tile a dependence is broken."""
    return _depending(
        scop, violation.dependence, violation.source_instance, violation.sink_instance
    )


def _depending(
    scop: Scop, dependence: Dependence, source: tuple[int, ...], sink: tuple[int, ...]
) -> NoLanes:
    """Return the error for lanes of which one has to wait for the other."""
    return _waiting(
        scop,
        (dependence.kind, dependence.source, dependence.sink, dependence.sink_access),
        (source, sink),
        "lanes run in step, each statement in one cycle for all of them",
    )


Pairing: TypeAlias = tuple[DependenceKind, str, str, Access]
"""How the second of two instances depends on the first: their statements, what the second does."""


def lanes_need_each_other(
    scop: Scop,
    pairing: Pairing,
    instances: tuple[tuple[int, ...], tuple[int, ...]],
    skew_cycles: int,
) -> NoLanes:
    """Return the error for lanes that cannot run one behind the other either.

    Parameters
    ----------
    instances: the second one issues too early where each lane is so many cycles behind the one
        before, which others ask for at least.
    """
    behind = "1 cycle" if skew_cycles == 1 else f"{skew_cycles} cycles"
    return _waiting(
        scop,
        pairing,
        instances,
        f"each lane runs {behind} behind the one before, or more: that is too early",
    )


def lanes_that_wait(scop: Scop, sizes: tuple[int, ...]) -> NoLanes:
    """Return the error for lanes in tiles so small that each iteration waits for the one before.

    Its pads would be iterations of the loop over lanes, which takes no time.
    """
    text = ",".join(map(str, sizes))
    return NoLanes(
        f"in tiles of {text} iterations each one of a lane waits for the one before",
        labels=tuple(Label(statement.span) for statement in scop.statements),
        help="give tiles that are longer in an inner loop, or leave out --unroll",
    )


def lanes_without_order(scop: Scop) -> NoLanes:
    """Return the error for lanes that no order of the statements of a tile suits."""
    names = ", ".join(statement.name for statement in scop.statements)
    return NoLanes(
        f"lanes of {names} wait for each other in a cycle",
        labels=tuple(Label(statement.span) for statement in scop.statements),
        help="run another loop in lanes, or share tiles among workers: --threads",
    )


def _waiting(
    scop: Scop, pairing: Pairing, instances: tuple[tuple[int, ...], tuple[int, ...]], why: str
) -> NoLanes:
    kind, source, sink, access = pairing
    first = scop.statement(source).instance_text(instances[0])
    second = scop.statement(sink).instance_text(instances[1])
    does = {
        "flow": f"{second} needs the value of {first}",
        "output": f"{second} writes over the value of {first}",
        "anti": f"{second} writes over what {first} reads",
    }
    return NoLanes(
        f"lanes of {sink} wait for each other",
        labels=(Label(access.span, f"{access_text(scop, access)}, of another lane"),),
        notes=(does[kind], why),
        help="run another loop in lanes, or share tiles among workers: --threads",
    )


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
