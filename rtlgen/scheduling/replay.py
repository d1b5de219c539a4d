"""The independent judge of plans: replay every load and store, and ask whose value each one sees.

It uses neither isl nor anything that made the plan. Every iteration of every stream is enumerated,
its predicates are evaluated, and its memory events are put in the order of their cycles. A value is
represented by the statement instance that produced it, so the replay proves for the given sizes
that every operand, and the final content of every element, comes from the instance that the C
program says, whatever the data. The C program's side is the same question asked in program order.
Which element a lookup reads depends on data, so every one that it may read is asked for.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import prod

import numpy as np
from numpy.typing import NDArray

from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.iterations import stream_iterations
from rtlgen.ir.plan import (
    Condition,
    ForwardOp,
    IndexForm,
    KernelPlan,
    LoadOp,
    Memory,
    PlanError,
    Predicate,
    Stream,
)
from rtlgen.ir.quasi_affine import quasi_affine_values
from rtlgen.ir.schedule import NestLoop, Schedule
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.scheduling.errors import PlanUnsound

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]

MAX_ITERATIONS = 4_000_000
"""Issued iterations up to which a plan is replayed; about a second a million."""

MAX_ELEMENTS = 60_000_000
"""Elements of changing arrays that lookups may touch, counted for each instance."""

INITIAL = -1
"""The producer of what was in the memory before the run."""

STALE = -3
"""The producer of what is in a bank that is not the element's home, before the first store."""


def replay(plan: KernelPlan, scop: Scop, program: Schedule, placed: Schedule) -> bool:
    """Prove the plan's data flow by enumeration; return False when it is too large to enumerate.

    Parameters
    ----------
    scop: the normalised program; program: its schedule in program order.
    placed: the schedule whose loops became the levels of the streams.

    Raises
    ------
    PlanUnsound: with the first event that is wrong.
    """
    if sum(stream.count for stream in plan.streams) > MAX_ITERATIONS:
        return False
    if _looked_up(plan, scop) > MAX_ELEMENTS:
        return False
    regions = _enumerate(plan, scop, program, placed)
    judge = _Judge(plan, scop, [member for members in regions for member in members])
    for members in regions:
        for member in members:
            judge.check_operands(member, members)
    for memory in plan.memories:
        judge.check_memory(memory.name)
    return True


@dataclass(frozen=True, slots=True, eq=False)
class _Instances:
    """The real iterations of a stream, n of them.

    Members
    -------
    counters: (n, levels); points: (n, iterators), the iteration in the program.
    cycles: (n,) issue cycle of each, from the start of the run.
    tokens: (n,) a number for every instance, unique in the plan.
    moments: (n,) place in program order among all instances of all statements.
    bubbles, bubble_cycles: counters and issue cycles of the iterations that are padding.
    end_cycle: in which their region ends, and all that they still do.
    """

    statement: Statement
    stream: Stream
    counters: Ints
    points: Ints
    cycles: Ints
    tokens: Ints
    moments: Ints
    bubbles: Ints
    bubble_cycles: Ints
    end_cycle: int

    def elements(self, access: Access, strides: Sequence[int], choice: Sequence[int] = ()) -> Ints:
        """Return the element that the C program's `access` touches in every instance.

        Parameters
        ----------
        choice: the values of the subscripts that depend on data.
        """
        total = np.zeros(len(self.tokens), dtype=np.int64)
        for value, stride in zip(self._values(access, choice), strides, strict=True):
            total += value * stride
        return total

    def inside(self, access: Access, shape: Sequence[int], choice: Sequence[int] = ()) -> Bools:
        """Return the instances whose access is inside of its array."""
        every = np.ones(len(self.tokens), dtype=np.bool_)
        for value, extent in zip(self._values(access, choice), shape, strict=True):
            every &= (value >= 0) & (value < extent)
        return every

    def _values(self, access: Access, choice: Sequence[int]) -> Iterator[Ints]:
        given = iter(choice)
        for subscript in access.subscripts:
            if isinstance(subscript, Affine):
                yield _affine(subscript, self.statement.iterators, self.points)
            elif subscript.known is not None:
                yield quasi_affine_values(subscript.known, self.statement.iterators, self.points)
            else:
                yield np.full(len(self.tokens), next(given), dtype=np.int64)


class _History:
    """Writes to the elements of one array, ordered by time."""

    def __init__(self, elements: Ints, times: Ints, tokens: Ints) -> None:
        self._base = int(times.max(initial=0)) + 2
        keys = elements * self._base + times
        order = np.argsort(keys, kind="stable")
        self._keys, self._tokens = keys[order], tokens[order]

    def __len__(self) -> int:
        return len(self._keys)

    def before(self, elements: Ints, times: Ints) -> Ints:
        """Return the last token written to each element strictly before the given time."""
        if not len(self._keys):
            return np.full(len(elements), INITIAL, dtype=np.int64)
        asked = elements * self._base + np.minimum(times, self._base - 1)
        place = np.searchsorted(self._keys, asked, side="left") - 1
        found = np.where(place >= 0, self._keys[place] // self._base == elements, False)
        return np.where(found, self._tokens[place], INITIAL)

    @property
    def elements(self) -> Ints:
        """The elements that are written."""
        return np.unique(self._keys // self._base)

    def last(self, elements: Ints) -> Ints:
        """Return the last token of each element."""
        return self.before(elements, np.full(len(elements), self._base - 1, dtype=np.int64))

    def meets(self, elements: Ints, times: Ints) -> bool:
        """Tell whether some element is written at the very time given for it."""
        early = times < self._base
        return bool(np.isin((elements * self._base + times)[early], self._keys).any())


def _looked_up(plan: KernelPlan, scop: Scop) -> int:
    """Return how many elements of changing arrays all the instances together may look up."""
    changing = {statement.write.array for statement in scop.statements}
    return sum(
        stream.instances * prod(w.high - w.low + 1 for w in access.windows if w.known is None)
        for stream in plan.streams
        for access in scop.statement(stream.statement).reads
        if access.is_uncertain and access.array in changing
    )


class _Judge:
    def __init__(self, plan: KernelPlan, scop: Scop, members: Sequence[_Instances]) -> None:
        self.plan = plan
        self.scop = scop
        self.members = members
        self.stored = {m.name: self._bank_histories(m) for m in plan.memories}
        self.written = {m.name: self._program_history(m.name) for m in plan.memories}
        self.port_cycles: dict[tuple[str, int], list[Ints]] = {}

    def check_operands(self, member: _Instances, region: Sequence[_Instances]) -> None:
        """Check every load of a stream, and what replaces it where a tap does."""
        operations = member.stream.operations
        forwards = {op.operands[0]: op for op in operations if isinstance(op, ForwardOp)}
        for number, op in enumerate(operations):
            forward = forwards.get(number)
            tapped = self._check_taps(member, forward, region) if forward else None
            if isinstance(op, LoadOp):
                self._check_load(member, op, tapped)
            elif tapped is not None and not tapped.all():
                self._fail(f"{member.stream.statement} lacks a value")

    def check_memory(self, name: str) -> None:
        """Check that no port is used twice and that the last writes survive."""
        array = self.scop.array(name)
        if array.storage != "local" or name == self.scop.returned:
            # All others keep what they had before the run.
            histories = (self.written[name], *self.stored[name])
            touched = np.unique(np.concatenate([history.elements for history in histories]))
            last = self.written[name].last(touched)
            if not np.array_equal(self._last_stored(name, touched), last):
                self._fail(f"{name} does not end with the last writes of the program")
        if self.plan.memory(name).kind == "register":
            return
        for (memory, port), cycles in self.port_cycles.items():
            if memory == name and _repeats(np.concatenate(cycles)):
                self._fail(f"two loads use read port {port} of {name} in one cycle")

    def _check_load(self, member: _Instances, op: LoadOp, tapped: Bools | None) -> None:
        name, where = op.memory, member.stream.statement
        used = np.ones(len(member.tokens), dtype=np.bool_) if tapped is None else ~tapped
        needed = _mask(op.needed, member.counters)
        access = member.statement.reads[op.read]
        if access.is_conditional:
            # Elsewhere the program does not use the value, or it would leave the array.
            lowest = tuple(window.low for window in access.windows if window.known is None)
            used &= member.inside(access, self.scop.array(name).shape, lowest)
        if np.any(used & ~needed):
            self._fail(f"{where} uses {name} without asking for it")
        if access.array != name:
            self._fail(f"{where} reads {name} in place of {access.array}")
        if op.address is None:
            self._check_lookup(member, op, access, used)
            self._use_port(member, op, needed)
            return
        elements = member.elements(access, self.scop.array(name).strides)
        addresses = _values(op.address, member.counters)
        if not np.array_equal(addresses[needed], elements[needed]):
            self._fail(f"{where} addresses the wrong element of {name}")
        cycles = member.cycles + op.stage
        banks = self._banks(member, op)
        seen = self._stored_before(name, banks[used], addresses[used], cycles[used])
        expected = self.written[name].before(elements[used], member.moments[used])
        if not np.array_equal(seen, expected):
            self._fail(f"{where} loads a wrong value of {name}")
        if self._meets_store(name, addresses[used], cycles[used]):
            self._fail(f"{where} loads an element of {name} in the cycle of its store")
        self._use_port(member, op, needed)

    def _check_lookup(self, member: _Instances, op: LoadOp, access: Access, used: Bools) -> None:
        """Check that whichever element is looked up, its content is what the program says."""
        name, where = op.memory, member.stream.statement
        cycles, moments = (member.cycles + op.stage)[used], member.moments[used]
        if not any(map(len, self.stored[name])) and not self.written[name]:
            return
        array = self.scop.array(name)
        windows = [range(w.low, w.high + 1) for w in access.windows if w.known is None]
        for choice in product(*windows):
            inside = member.inside(access, array.shape, choice)[used]
            those = member.elements(access, array.strides, choice)[used][inside]
            when = cycles[inside]
            banks = self._banks(member, op)[used][inside]
            seen = self._stored_before(name, banks, those, when)
            if not np.array_equal(seen, self.written[name].before(those, moments[inside])):
                self._fail(f"{where} may look up a wrong value of {name}")
            if self._meets_store(name, those, when):
                self._fail(f"{where} may look up an element of {name} in the cycle of its store")

    def _use_port(self, member: _Instances, op: LoadOp, needed: Bools) -> None:
        # What a bubble loads is used nowhere, but while it does it holds the port.
        loading = _mask(op.needed, member.bubbles)
        if op.address is not None:
            addresses = _values(op.address, member.bubbles[loading])
            if np.any((addresses < 0) | (addresses >= self.scop.array(op.memory).depth)):
                self._fail(f"{member.stream.statement} addresses no element of {op.memory}")
        idle = member.bubble_cycles[loading] + op.stage
        used = (member.cycles[needed] + op.stage, idle[idle < member.end_cycle])
        self.port_cycles.setdefault((op.memory, op.port), []).extend(used)

    def _check_taps(self, member: _Instances, op: ForwardOp, region: Sequence[_Instances]) -> Bools:
        where = member.stream.statement
        access = member.statement.reads[op.read]
        array = self.scop.array(access.array)
        elements = member.elements(access, array.strides)
        # Outside of the array the program does not use the value.
        used = member.inside(access, array.shape) if access.is_conditional else None
        taken = np.zeros(len(member.tokens), dtype=np.bool_)
        for tap in op.taps:
            source = region[tap.stream]
            mask = _mask(tap.when, member.counters)
            if np.any(taken & mask):
                self._fail(f"{where} takes two values of {access.array} at once")
            taken |= mask
            mask = mask if used is None else mask & used
            presented = source.cycles + source.stream.store.stage
            wanted = (member.cycles + op.stage - tap.delay_cycles)[mask]
            seen = _tokens_at(presented, source.tokens, wanted)
            expected = self.written[access.array].before(elements[mask], member.moments[mask])
            if not np.array_equal(seen, expected):
                self._fail(
                    f"{where} forwards a wrong value of {access.array} from "
                    f"{source.stream.statement}"
                )
        return taken

    def _banks(self, member: _Instances, op: LoadOp) -> Ints:
        """Return the bank from which each instance takes the element."""
        banks = np.zeros(len(member.tokens), dtype=np.int64)
        for bank, where in enumerate(op.banks, start=1):
            mask = _mask(where, member.counters)
            if np.any(mask & (banks > 0) & _mask(op.needed, member.counters)):
                self._fail(f"{member.stream.statement} takes {op.memory} from two banks at once")
            banks[mask] = bank
        return banks

    def _stored_before(self, name: str, banks: Ints, elements: Ints, cycles: Ints) -> Ints:
        """Return the last token stored to each element of the given banks before given cycles.

        Before its first store in a run, an element has its value in its home alone.
        """
        found = np.full(len(elements), STALE, dtype=np.int64)
        for bank, history in enumerate(self.stored[name]):
            inside = banks == bank
            found[inside] = history.before(elements[inside], cycles[inside])
        found[(found == INITIAL) & (self._homes(name, elements) != banks)] = STALE
        return found

    def _homes(self, name: str, elements: Ints) -> Ints:
        """Return the banks in which elements are before and after a run."""
        homes = self.plan.memory(name).homes
        if not homes:
            return np.zeros(len(elements), dtype=np.int64)
        found: Ints = np.array(homes, dtype=np.int64)[elements]
        return found

    def _last_stored(self, name: str, elements: Ints) -> Ints:
        """Return the token in the home of each element after the run."""
        last = [history.last(elements) for history in self.stored[name]]
        found: Ints = np.stack(last)[self._homes(name, elements), np.arange(len(elements))]
        return found

    def _meets_store(self, name: str, elements: Ints, cycles: Ints) -> bool:
        """Tell whether some element of a block RAM is stored in the cycle given for it."""
        if self.plan.memory(name).kind != "block":
            return False
        return any(history.meets(elements, cycles) for history in self.stored[name])

    def _bank_histories(self, memory: Memory) -> list[_History]:
        return [self._plan_history(memory.name, bank) for bank in range(memory.write_ports)]

    def _plan_history(self, name: str, bank: int) -> _History:
        elements, cycles, tokens = [_EMPTY], [_EMPTY], [_EMPTY]
        for member in self.members:
            store = member.stream.store
            if (store.memory, store.port) != (name, bank):
                continue
            if _mask(store.when, member.bubbles).any():
                self._fail(f"{member.stream.statement} stores to {name} in a padding iteration")
            mask = _mask(store.when, member.counters)
            elements.append(_values(store.address, member.counters)[mask])
            cycles.append((member.cycles + store.stage)[mask])
            tokens.append(member.tokens[mask])
        touched = np.concatenate(elements)
        depth = self.scop.array(name).depth
        if len(touched) and (touched.min() < 0 or touched.max() >= depth):
            self._fail(f"a store leaves {name}")
        if _repeats(np.concatenate(cycles)):
            self._fail(f"two stores through a write port of {name} in one cycle")
        return _History(touched, np.concatenate(cycles), np.concatenate(tokens))

    def _program_history(self, name: str) -> _History:
        strides = self.scop.array(name).strides
        own = [m for m in self.members if m.statement.write.array == name]
        return _History(
            np.concatenate([_EMPTY, *(m.elements(m.statement.write, strides) for m in own)]),
            np.concatenate([_EMPTY, *(m.moments for m in own)]),
            np.concatenate([_EMPTY, *(m.tokens for m in own)]),
        )

    def _fail(self, what: str) -> None:
        raise PlanUnsound(f"the plan of {self.plan.name} is not sound: {what}")


_EMPTY: Ints = np.empty(0, dtype=np.int64)


def _enumerate(
    plan: KernelPlan, scop: Scop, program: Schedule, placed: Schedule
) -> list[list[_Instances]]:
    regions: list[list[_Instances]] = []
    base = first_token = 0
    for region in plan.regions:
        members = []
        for stream in region.streams:
            statement = scop.statement(stream.statement)
            iterations = _iterations(stream)
            real, points = _instances_of(statement, placed.loops(stream.statement), iterations)
            if len(points) != stream.instances:
                raise PlanUnsound(
                    f"{stream.statement} runs {len(points)} of {stream.instances} instances"
                )
            order = np.stack(
                [
                    _affine(dim, statement.iterators, points)
                    for dim in program.time(stream.statement)
                ],
                axis=1,
            )
            tokens = np.arange(first_token, first_token + len(points), dtype=np.int64)
            first_token += len(points)
            cycles = stream.offset_cycles + stream.ii * np.arange(len(iterations), dtype=np.int64)
            if np.any(cycles[real] + stream.depth_cycles > region.length_cycles):
                raise PlanUnsound(f"{stream.statement} is cut off before its last instance")
            padding = ~real & (cycles < region.length_cycles)
            members.append(
                _Instances(
                    statement,
                    stream,
                    iterations[real],
                    points,
                    base + cycles[real],
                    tokens,
                    order,
                    bubbles=iterations[padding],
                    bubble_cycles=base + cycles[padding],
                    end_cycle=base + region.length_cycles,
                )
            )
        regions.append(members)
        base += region.length_cycles
    return _with_moments(regions)


def _with_moments(regions: list[list[_Instances]]) -> list[list[_Instances]]:
    """Replace the program's time vectors, still in `moments`, by their places in its order."""
    order = np.concatenate([m.moments for members in regions for m in members])
    place = np.empty(len(order), dtype=np.int64)
    place[np.lexsort(order.T[::-1])] = np.arange(len(order))
    return [[replace(m, moments=place[m.tokens]) for m in members] for members in regions]


def _iterations(stream: Stream) -> Ints:
    try:
        return stream_iterations(stream)
    except PlanError as error:
        raise PlanUnsound(str(error)) from error


def _instances_of(
    statement: Statement, loops: Sequence[NestLoop], counters: Ints
) -> tuple[Bools, Ints]:
    """Return which iterations are instances of the program, and their points."""
    iterators = statement.iterators
    points = np.zeros((len(counters), len(iterators)), dtype=np.int64)
    real = np.ones(len(counters), dtype=np.bool_)
    for level, loop in enumerate(loops):
        if loop.iterator is not None:
            points[:, iterators.index(loop.iterator)] = counters[:, level] + loop.at
    for level, loop in enumerate(loops):
        if loop.iterator is None:
            places = [_affine(position, iterators, points) for position in loop.position]
            real &= counters[:, level] == np.max(places, axis=0)
    for bound in statement.loops:
        value = points[:, iterators.index(bound.iterator)]
        real &= value >= _affine(bound.start, iterators, points)
        real &= bound.scale * value < _affine(bound.stop, iterators, points)
    for condition in statement.conditions:
        if isinstance(condition, Congruence):
            real &= _affine(condition.form, iterators, points) % condition.modulus == 0
        else:
            real &= _affine(condition, iterators, points) >= 0
    return real, points[real]


def _affine(affine: Affine, names: Sequence[str], points: Ints) -> Ints:
    total = np.full(len(points), affine.constant, dtype=np.int64)
    for name, c in affine.terms:
        total += c * points[:, names.index(name)]
    return total


def _values(form: IndexForm, counters: Ints) -> Ints:
    result: Ints = counters @ np.array(form.coefficients, dtype=np.int64) + form.constant
    return result


def _mask(predicate: Predicate, counters: Ints) -> Bools:
    mask = np.zeros(len(counters), dtype=np.bool_)
    for conditions in predicate.alternatives:
        every = np.ones(len(counters), dtype=np.bool_)
        for condition in conditions:
            every &= _holds(condition, counters)
        mask |= every
    return mask


def _holds(condition: Condition, counters: Ints) -> Bools:
    values = _values(condition.form, counters)
    return values == 0 if condition.equal else values >= 0


def _repeats(cycles: Ints) -> bool:
    return len(np.unique(cycles)) != len(cycles)


def _tokens_at(presented: Ints, tokens: Ints, wanted: Ints) -> Ints:
    """Return the token presented in each wanted cycle, or one that matches nothing."""
    place = np.searchsorted(presented, wanted)
    inside = np.minimum(place, len(presented) - 1)
    return np.where(presented[inside] == wanted, tokens[inside], INITIAL - 1)
