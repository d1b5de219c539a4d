"""Functional units: multipliers, dividers and the like that several operations compute with.

An operation has a circuit of its own unless the plan gives it a `unit`. Operations of the same unit
begin in different cycles, so each of them has the unit for itself when it begins; or they are
*twins*: always begin together, with the same operands, as `alpha * a[i]` does in all lanes of `j`.
Which of them share one is decided by `datapath.binding`.

Timing
------
The operands of the operation that begins are chosen and go into the unit. Where the operands of all
its operations are there a cycle earlier than they are used, if only in front of a register, the
choice is made in that cycle, and a register comes between it and the unit: a multiplier takes
nearly all of a cycle. Between twins there is nothing to choose.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeGuard

from rtlgen.ir.operations import (
    ArithmeticOp,
    CastOp,
    ConstantOp,
    FloatingOp,
    ForwardOp,
    LoadOp,
    Operation,
    OperationBase,
    ParameterOp,
    UnitOp,
    is_shareable,
)
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.streams import Region, Stream


@dataclass(frozen=True, slots=True)
class User:
    """An operation that a unit computes: `number` of a stream, which is number `stream` of all.

    Members
    -------
    leader: the first of its twins, by number of the user; it is itself, if it has none before it.
    """

    stream: int
    number: int
    op: UnitOp
    leader: int


@dataclass(frozen=True, slots=True)
class FunctionalUnit:
    """A circuit for several operations.

    Members
    -------
    number: what the operations call it. is_registered: whether operands are chosen a cycle early.
    """

    number: int
    users: tuple[User, ...]
    is_registered: bool

    @property
    def leaders(self) -> tuple[int, ...]:
        """The users between whom is chosen, by number: of twins, one."""
        return tuple(n for n, user in enumerate(self.users) if user.leader == n)

    @property
    def op(self) -> UnitOp:
        """One of the operations; in what the circuit needs to know, all are like it."""
        return self.users[0].op

    def chosen_stage(self, stage: int) -> int:
        """Return the stage in which the operands of an operation in some stage are chosen."""
        return stage - self.is_registered


class ValueNumbers:
    """Numbers of what operations compute: of equal numbers the values are equal in every cycle.

    They are where the operation, its operands, the loops and the cycle in which it begins are.
    """

    def __init__(self) -> None:
        self._numbers: dict[Hashable, int] = {}

    def of(self, region: int, stream: Stream) -> tuple[int, ...]:
        """Return the numbers of the operations of a stream.

        Parameters
        ----------
        region: by its number; others run in other cycles.
        """
        time = (region, stream.levels, stream.tile_levels, stream.ii, stream.iterations)
        issue = self._number(time)
        found: list[int] = []
        for op in stream.operations:
            cycle = stream.offset_cycles + op.stage
            operands = tuple(found[operand] for operand in op.operands)
            found.append(self._number((issue, cycle, _itself(op, stream), operands)))
        return tuple(found)

    def _number(self, what: Hashable) -> int:
        return self._numbers.setdefault(what, len(self._numbers))


def _itself(op: Operation, stream: Stream) -> Hashable:
    """Return an operation without its place in the program and the circuit."""
    plain = replace(op, stage=0, operands=(), span=None)
    match plain:
        case LoadOp():
            # In one cycle an element is the same through every port.
            return replace(plain, port=0, read=0)
        case ForwardOp():
            own = stream if any(tap.is_matched for tap in plain.taps) else None
            return replace(plain, read=0), own
        case ArithmeticOp() | FloatingOp():
            return replace(plain, unit=None)
        case _:
            return plain


def functional_units(regions: Sequence[Region]) -> tuple[FunctionalUnit, ...]:
    """Return the units of all regions of a plan.

    Raises
    ------
    PlanError: operations of a unit are not alike.
    """
    streams = [stream for region in regions for stream in region.streams]
    of_region = [number for number, region in enumerate(regions) for _ in region.streams]
    users: dict[int, list[User]] = {}
    leaders: dict[tuple[int, int], int] = {}
    values = ValueNumbers()
    for place, stream in enumerate(streams):
        sharing_ops = [
            (number, op, op.unit)
            for number, op in enumerate(stream.operations)
            if isinstance(op, UnitOp) and op.unit is not None
        ]
        numbers = values.of(of_region[place], stream) if sharing_ops else ()
        for number, op, unit in sharing_ops:
            own = users.setdefault(unit, [])
            leader = leaders.setdefault((unit, numbers[number]), len(own))
            own.append(User(place, number, op, leader))
    found = []
    for number, sharing in sorted(users.items()):
        if len({unit_key(streams[user.stream], user.op) for user in sharing}) > 1:
            raise PlanError(f"unit {number} is shared by operations that are not alike")
        if len({user.op.interval_cycles for user in sharing}) > 1:
            raise PlanError(f"unit {number} begins in several intervals")
        is_chosen = any(user.leader for user in sharing)
        is_early = all(has_slack(streams[user.stream], user.op) for user in sharing)
        found.append(FunctionalUnit(number, tuple(sharing), is_chosen and is_early))
    return tuple(found)


def choosing_stage(op: OperationBase, units: Mapping[int, FunctionalUnit]) -> int:
    """Return the stage in which an operation, or the unit that it shares, takes its operands.

    Parameters
    ----------
    units: of the plan, by number.
    """
    if isinstance(op, UnitOp) and op.unit is not None:
        return units[op.unit].chosen_stage(op.stage)
    return op.stage


def unit_key(stream: Stream, op: UnitOp) -> tuple[object, ...]:
    """Return in what operations are alike that may share a unit."""
    operands = (stream.operations[operand] for operand in op.operands)
    shapes = tuple((operand.width_bits, operand.signed) for operand in operands)
    formats = (op.of, op.to) if isinstance(op, FloatingOp) else ()
    return op.op, op.width_bits, op.signed, op.latency_cycles, shapes, formats


def has_slack(stream: Stream, op: UnitOp) -> bool:
    """Tell whether the operands are there a cycle before they are used."""
    return op.stage > 0 and all(_is_early(stream, number, op.stage) for number in op.operands)


def is_logic(op: OperationBase) -> TypeGuard[ArithmeticOp]:
    """Tell whether an operation is logic and one register, in front of which its result is."""
    return isinstance(op, ArithmeticOp) and op.latency_cycles == 1 and not is_shareable(op)


def _is_early(stream: Stream, number: int, stage: int) -> bool:
    operand = stream.operations[number]
    # A cast is wiring, wherever it is.
    while isinstance(operand, CastOp):
        operand = stream.operations[operand.operands[0]]
    is_stable = isinstance(operand, ConstantOp | ParameterOp)
    return is_stable or operand.result_stage - is_logic(operand) < stage
