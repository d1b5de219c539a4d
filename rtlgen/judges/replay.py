"""The independent judge of plans: replay every load and store, and ask whose value each one sees.

It uses neither isl nor anything that made the plan. Every iteration of every stream is enumerated,
its predicates are evaluated, and its memory events are put in the order of their cycles. A value is
represented by the statement instance that produced it, so the replay proves for the given sizes
that every operand, and the final content of every element, comes from the instance that the C
program says, whatever the data. The C program's side is the same question asked in program order.
Which element a lookup reads depends on data, so every one that it may read is asked for. A scatter
counts as a store to each element that it may write, of a value of its own.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from types import MappingProxyType

import numpy as np

from rtlgen.ir.bank_map import ArrayPart
from rtlgen.ir.functional_units import functional_units
from rtlgen.ir.ints import Bools, Ints, distinct
from rtlgen.ir.issued_instances import IssuedInstances, choices, issued_instances, tokens_at
from rtlgen.ir.iterations import element_numbers, predicate_mask
from rtlgen.ir.operations import ComputedBase, UnitOp
from rtlgen.ir.plan import (
    ALWAYS,
    ChooseOp,
    ForwardOp,
    KernelPlan,
    LoadOp,
    Memory,
    Store,
)
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import Access, Scop, Statement
from rtlgen.ir.write_history import INITIAL, WriteHistory

MAX_ELEMENTS = 60_000_000
"""Elements of changing arrays that lookups may touch, counted for each instance."""

STALE = -3
"""The producer of what is in a version that is not the element's home, before the first store."""

BEFORE, MOST_ELEMENTS = -(1 << 40), 1 << 36
"""The producer of what was in element n of array k before the run, where it is known which element
it is, is BEFORE - k * MOST_ELEMENTS - n."""

UNKNOWN = -10
"""An element that depends on data; each load has a number of its own, this one and lower."""


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
    if not plan.is_replayable:
        return False
    if _looked_up(plan, scop) > MAX_ELEMENTS:
        return False
    regions = issued_instances(plan, scop, program, placed)
    judge = _Judge(plan, scop, [member for members in regions for member in members])
    for members in regions:
        judge.check_region(members)
    judge.check_units()
    for memory in plan.memories:
        judge.check_memory(memory.name)
    return True


def _looked_up(plan: KernelPlan, scop: Scop) -> int:
    """Return how many elements of changing arrays all the instances together may look up."""
    changing = {statement.write.array for statement in scop.statements}
    return sum(
        stream.instances * prod(reach.size for reach in access.reaches)
        for stream in plan.streams
        for access in _accesses(scop.statement(stream.statement))
        if access.is_uncertain and access.array in changing
    )


def _accesses(statement: Statement) -> tuple[Access, ...]:
    return (statement.write, *statement.reads)


class _Judge:
    def __init__(self, plan: KernelPlan, scop: Scop, members: Sequence[IssuedInstances]) -> None:
        self.plan = plan
        self.scop = scop
        self.members = members
        self.arrays = {array.name for array in scop.arrays}
        self.written = {array.name: self._program_history(array.name) for array in scop.arrays}
        self.stored = {m.name: self._version_histories(m) for m in plan.memories}
        self.port_uses: dict[tuple[str, int], list[Ints]] = {}

    def check_region(self, region: Sequence[IssuedInstances]) -> None:
        """Check every load of the streams of a region, and what replaces it where a tap does."""
        for member, kept in zip(region, self._kept(region), strict=True):
            self.check_operands(member, region, kept)

    def check_operands(
        self,
        member: IssuedInstances,
        region: Sequence[IssuedInstances],
        kept: Mapping[int, Bools] = MappingProxyType({}),
    ) -> None:
        """Check every load of a stream, and what replaces it where a tap does.

        Parameters
        ----------
        kept: the operations whose value others use, and in which instances.
        """
        operations = member.stream.operations
        matching: dict[int, ForwardOp] = {}
        every = np.ones(len(member.tokens), dtype=np.bool_)
        used: dict[int, Bools] = {}
        # What is behind a choice or a tap is used where that takes it.
        for number, op in reversed([*enumerate(operations)]):
            where = used.get(number, every)
            if number in kept:
                where = where | kept[number]
            match op:
                case ForwardOp(operands=(operand,)) if any(tap.is_matched for tap in op.taps):
                    matching[operand] = op
                case ForwardOp(operands=(operand,)):
                    where = where & ~self._check_taps(member, op, region)
                    used[operand] = where
                    is_loaded = isinstance(operations[operand], LoadOp | ChooseOp)
                    if not is_loaded and self._read_where(member, op.read, where).any():
                        self._fail(f"{member.stream.statement} lacks a value")
                case ChooseOp(operands=(first, second)):
                    chosen = predicate_mask(op.when, member.counters)
                    used[first], used[second] = where & chosen, where & ~chosen
                case LoadOp():
                    self._check_load(member, op, where, matching.get(number))
                case ComputedBase() if op.interval_cycles > 1:
                    self._check_interval(member, op)
                case _:
                    pass

    def _kept(self, region: Sequence[IssuedInstances]) -> list[dict[int, Bools]]:
        """Return where what a read brings is stored or tapped, by the number of what has it."""
        found: list[dict[int, Bools]] = [{} for _ in region]

        def add(n: int, number: int, mask: Bools) -> None:
            found[n][number] = found[n][number] | mask if number in found[n] else mask

        for n, member in enumerate(region):
            for store in filter(member.stream.keeps_loaded, member.stream.copies):
                add(n, store.value, predicate_mask(store.when, member.counters))
            for op in member.stream.operations:
                for tap in op.taps if isinstance(op, ForwardOp) else ():
                    if tap.read is None:
                        continue
                    source = region[tap.stream]
                    mask = predicate_mask(tap.when, member.counters)
                    number = source.stream.tapped(tap)
                    result = source.stream.operations[number].result_stage
                    wanted = (member.cycles + op.stage - tap.delay_cycles)[mask]
                    add(tap.stream, number, np.isin(source.cycles + result, wanted))
        return found

    def check_memory(self, name: str) -> None:
        """Check that no port is used twice and that the last writes survive."""
        if name in self.arrays and self._outlives_run(name):
            # All others keep what they had before the run.
            histories = (self.written[name], *self.stored[name])
            touched = distinct(np.concatenate([history.elements for history in histories]))
            last = self.written[name].last(touched)
            if not np.array_equal(self._last_stored(name, touched), last):
                self._fail(f"{name} does not end with the last writes of the program")
        part = self.plan.memory(name).part
        if part is not None and self._outlives_run(part.array):
            touched = self.written[part.array].elements
            touched = touched[part.places(touched) >= 0]
            last = self.written[part.array].last(touched)
            if not np.array_equal(self._last_stored(name, part.places(touched)), last):
                self._fail(f"{name} does not end with what is in {part.array} then")
        if self.plan.memory(name).kind == "register":
            return
        for (memory, port), uses in self.port_uses.items():
            if memory == name and self._is_port_contested(self.plan.memory(name), uses):
                self._fail(f"two loads use read port {port} of {name} in one cycle")

    def _outlives_run(self, name: str) -> bool:
        return self.scop.array(name).storage != "local" or name == self.scop.returned

    def _check_load(
        self, member: IssuedInstances, op: LoadOp, used: Bools, matching: ForwardOp | None
    ) -> None:
        name, where = op.memory, member.stream.statement
        needed = predicate_mask(op.needed, member.counters)
        access = member.statement.reads[op.read]
        array = self.scop.array(access.array)
        used = self._read_where(member, op.read, used)
        if np.any(used & ~needed):
            self._fail(f"{where} uses {name} without asking for it")
        if access.array != name and name in self.arrays:
            self._fail(f"{where} reads {name} in place of {access.array}")
        if op.address is None:
            if matching is None:
                self._check_lookup(member, op, access, used)
            else:
                self._check_matched(member, op, access, used, matching)
            self._use_port(member, op, needed, None)
            return
        elements = member.elements(access, array.strides)
        addresses = element_numbers(self.plan.memory(name), op.address, member.counters)
        # Where a value is in a few rows of its array, its place may be any, if it is there.
        if name in self.arrays and not np.array_equal(addresses[needed], elements[needed]):
            self._fail(f"{where} addresses the wrong element of {name}")
        cycles = member.cycles + op.stage
        versions = self._versions(member, op)
        seen = self._stored_before(name, versions[used], addresses[used], cycles[used])
        expected = self.written[array.name].before(elements[used], member.moments[used])
        part = self.plan.memory(name).part
        if part is not None:
            if part.array != array.name or not self._is_placed(part, addresses, elements, needed):
                self._fail(f"{where} addresses the wrong element of {part.array} in {name}")
        elif name not in self.arrays:
            is_old = expected == INITIAL
            if np.any(is_old & (seen == INITIAL)):
                self._fail(f"{where} loads from {name} what was in {array.name} before the run")
            expected = self._named(array.name, elements[used], expected)
        if not np.array_equal(seen, expected):
            self._fail(f"{where} loads a wrong value of {name}")
        if self._meets_store(name, addresses[used], cycles[used]):
            self._fail(f"{where} loads an element of {name} in the cycle of its store")
        self._use_port(member, op, needed, addresses)

    def check_units(self) -> None:
        """Check that operations that share a functional unit never begin too close together.

        Those that compute the same do begin together.
        """
        for unit in functional_units(self.plan.regions):
            begun = list[Ints]()
            for number in unit.leaders:
                user = unit.users[number]
                member = self.members[user.stream]
                cycles = self._begins(member, user.op) + unit.chosen_stage(user.op.stage)
                # What would begin behind the end of its region does not.
                begun.append(cycles[cycles < member.end_cycle])
            if are_within(np.concatenate(begun), unit.op.interval_cycles):
                names = sorted({self.plan.streams[user.stream].name for user in unit.users})
                self._fail(f"{' and '.join(names)} begin too close together in a unit they share")

    def _begins(self, member: IssuedInstances, op: UnitOp) -> Ints:
        """Return the issue cycles of the iterations in which an operation begins.

        Raises
        ------
        PlanUnsound: it does not begin in every instance.
        """
        real, padding = (
            predicate_mask(op.when, counters) for counters in (member.counters, member.bubbles)
        )
        if not real.all():
            self._fail(f"{member.stream.statement} has no operands in an instance")
        return np.concatenate([member.cycles[real], member.bubble_cycles[padding]])

    def _check_interval(self, member: IssuedInstances, op: UnitOp) -> None:
        """Check that a division begins in every instance, and never too soon after another one."""
        if are_within(self._begins(member, op), op.interval_cycles):
            self._fail(f"{member.stream.statement} divides more often than its divider does")

    def _is_placed(self, part: ArrayPart, addresses: Ints, elements: Ints, asked: Bools) -> bool:
        """Tell whether each element that is asked for is in a part, at its place."""
        places = part.places(elements[asked])
        return bool(np.all((places >= 0) & (places == addresses[asked])))

    def _read_where(self, member: IssuedInstances, read: int, used: Bools) -> Bools:
        """Return where the program makes a read, of the tokens whose value is used."""
        access = member.statement.reads[read]
        if not access.is_partial:
            return used
        # Elsewhere the program does not use the value, or it would leave the array.
        shape, made = self.scop.array(access.array).shape, np.zeros_like(used)
        for choice in choices(access):
            made |= member.inside(access, shape, choice)
        return used & made

    def _check_lookup(
        self, member: IssuedInstances, op: LoadOp, access: Access, used: Bools
    ) -> None:
        """Check that whichever element is looked up, its content is what the program says."""
        name, where = op.memory, member.stream.statement
        cycles, moments = (member.cycles + op.stage)[used], member.moments[used]
        if not any(map(len, self.stored[name])) and not self.written[name]:
            return
        array = self.scop.array(name)
        for choice in choices(access):
            inside = member.inside(access, array.shape, choice)[used]
            those = member.elements(access, array.strides, choice)[used][inside]
            when = cycles[inside]
            versions = self._versions(member, op)[used][inside]
            seen = self._stored_before(name, versions, those, when)
            if not np.array_equal(seen, self.written[name].before(those, moments[inside])):
                self._fail(f"{where} may look up a wrong value of {name}")
            if self._meets_store(name, those, when):
                self._fail(f"{where} may look up an element of {name} in the cycle of its store")

    def _check_matched(
        self, member: IssuedInstances, op: LoadOp, access: Access, used: Bools, matching: ForwardOp
    ) -> None:
        """Check that whichever element is looked up, in the memory or on its way to there.

        From each instance on its way backwards, for each element that it may write: the program
        says that it is the one before the reader, or before the one found last; and what the memory
        shows came before all of them.
        """
        name, where, stream = op.memory, member.stream.statement, member.stream
        if not all(tap.is_matched and tap.when == ALWAYS for tap in matching.taps):
            self._fail(f"{where} finds what is on its way to {name} in some instances only")
        array, stored = self.scop.array(name), predicate_mask(stream.store.when, member.counters)
        presented = (member.cycles + stream.store.stage)[stored]
        order = np.argsort(presented)
        presented, number = presented[order], np.flatnonzero(stored)[order]
        asked, uses = (member.cycles + op.stage)[used], (member.cycles + matching.stage)[used]
        steps: list[tuple[Bools, Ints, int]] = []
        for delay in sorted(tap.delay_cycles for tap in matching.taps):
            place = np.searchsorted(presented, uses - delay)
            hit = np.isin(uses - delay, presented)
            place[~hit] = 0
            found = number[place] if len(number) else np.zeros_like(place)
            steps.append((hit, found, delay))
        others = [
            self._plan_history(self.plan.memory(name), port, member)
            for port in range(self.plan.memory(name).write_ports)
        ]
        written = self.written[name]
        for choice in choices(access):
            inside = member.inside(access, array.shape, choice)[used]
            those = member.elements(access, array.strides, choice)[used]
            until, met = member.moments[used], np.zeros(len(uses), dtype=np.bool_)
            for hit, found, delay in steps:
                # In other elements, the place that is compared is another one.
                own = hit & inside & written.met(those, member.moments[found])
                expected = written.before(those[own], until[own])
                if not np.array_equal(expected, member.tokens[found][own]):
                    self._fail(f"{where} may find a wrong value on its way to {name}")
                until = np.where(own, member.moments[found], until)
                met |= own & (uses - delay == asked)
            versions = self._versions(member, op)[used][inside]
            seen = self._stored_before(name, versions, those[inside], asked[inside])
            if not np.array_equal(seen, written.before(those[inside], until[inside])):
                self._fail(f"{where} may look up a wrong value of {name}")
            alone = inside & ~met
            if self._meets_store(name, those[alone], asked[alone]) or (
                self.plan.memory(name).kind == "block"
                and any(h.meets(those[inside], asked[inside]) for h in others)
            ):
                self._fail(f"{where} may look up an element of {name} in the cycle of its store")

    def _use_port(
        self, member: IssuedInstances, op: LoadOp, needed: Bools, addresses: Ints | None
    ) -> None:
        """Note when a load holds a port, and for which elements; of a lookup nobody knows them."""
        # What a bubble loads is used nowhere, but while it does it holds the port.
        loading = predicate_mask(op.needed, member.bubbles)
        idle = member.bubble_cycles[loading] + op.stage
        unknown = UNKNOWN - (len(self.port_uses.get((op.memory, op.port), ())))
        elements = np.full(int(needed.sum()), unknown, dtype=np.int64)
        others = np.full(len(idle), unknown, dtype=np.int64)
        if op.address is not None and addresses is not None:
            memory, elements = self.plan.memory(op.memory), addresses[needed]
            others = element_numbers(memory, op.address, member.bubbles[loading])
            if np.any((others < 0) | (others >= memory.depth)):
                self._fail(f"{member.stream.statement} addresses no element of {op.memory}")
        running = idle < member.end_cycle
        used = np.stack(
            [
                np.concatenate([member.cycles[needed] + op.stage, idle[running]]),
                np.concatenate([elements, others[running]]),
            ]
        )
        self.port_uses.setdefault((op.memory, op.port), []).append(used)

    def _is_port_contested(self, memory: Memory, uses: Sequence[Ints]) -> bool:
        """Tell whether two elements are asked for through one port of a bank in one cycle."""
        cycles, elements = distinct_pairs(np.concatenate(uses, axis=1))
        known = elements >= 0
        banks = np.where(known, memory.bank_map.of_elements(np.where(known, elements, 0))[0], 0)
        if known.all():
            return repeats(cycles * memory.bank_map.banks + banks)
        # Whatever a lookup asks for, it may be in any bank.
        if repeats(cycles[~known]) or np.intersect1d(cycles[~known], cycles[known]).size:
            return True
        return repeats((cycles * memory.bank_map.banks + banks)[known])

    def _check_taps(
        self, member: IssuedInstances, op: ForwardOp, region: Sequence[IssuedInstances]
    ) -> Bools:
        where = member.stream.statement
        access = member.statement.reads[op.read]
        array = self.scop.array(access.array)
        elements = member.elements(access, array.strides)
        # Outside of the array the program does not use the value.
        used = member.inside(access, array.shape) if access.is_partial else None
        taken = np.zeros(len(member.tokens), dtype=np.bool_)
        for tap in op.taps:
            source = region[tap.stream]
            mask = predicate_mask(tap.when, member.counters)
            if np.any(taken & mask):
                self._fail(f"{where} takes two values of {access.array} at once")
            taken |= mask
            mask = mask if used is None else mask & used
            wanted = (member.cycles + op.stage - tap.delay_cycles)[mask]
            expected = self.written[access.array].before(elements[mask], member.moments[mask])
            stage, tokens = source.stream.store.stage, source.tokens
            if tap.read is not None:
                number = source.stream.tapped(tap)
                stage = source.stream.operations[number].result_stage
                tokens = self._brought(source, number)
                expected = self._named(access.array, elements[mask], expected)
            seen = tokens_at(source.cycles + stage, tokens, wanted)
            if not np.array_equal(seen, expected):
                self._fail(
                    f"{where} forwards a wrong value of {access.array} from "
                    f"{source.stream.statement}"
                )
        return taken

    def _versions(self, member: IssuedInstances, op: LoadOp) -> Ints:
        """Return the version from which each instance takes the element."""
        versions = np.zeros(len(member.tokens), dtype=np.int64)
        for version, where in enumerate(op.versions, start=1):
            mask = predicate_mask(where, member.counters)
            if np.any(mask & (versions > 0) & predicate_mask(op.needed, member.counters)):
                self._fail(f"{member.stream.statement} takes {op.memory} from two versions at once")
            versions[mask] = version
        return versions

    def _stored_before(self, name: str, versions: Ints, elements: Ints, cycles: Ints) -> Ints:
        """Return the last token stored to each element of the given versions before given cycles.

        Before its first store in a run, an element has its value in its home alone.
        """
        found = np.full(len(elements), STALE, dtype=np.int64)
        for version, history in enumerate(self.stored[name]):
            inside = versions == version
            found[inside] = history.before(elements[inside], cycles[inside])
        found[(found == INITIAL) & (self._homes(name, elements) != versions)] = STALE
        return found

    def _homes(self, name: str, elements: Ints) -> Ints:
        """Return the versions in which elements are before and after a run."""
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

    def _version_histories(self, memory: Memory) -> list[WriteHistory]:
        return [self._plan_history(memory, port) for port in range(memory.write_ports)]

    def _plan_history(
        self, memory: Memory, port: int, without: IssuedInstances | None = None
    ) -> WriteHistory:
        """Return what is stored through a port, but for the stores of one stream."""
        name = memory.name
        elements, cycles, tokens, events = [_EMPTY], [_EMPTY], [_EMPTY], [_EMPTY]
        every = ((member, store) for member in self.members for store in member.stream.stores)
        for member, store in every:
            if (store.memory, store.port) != (name, port) or member is without:
                continue
            if predicate_mask(store.when, member.bubbles).any():
                self._fail(f"{member.stream.statement} stores to {name} in a padding iteration")
            mask = predicate_mask(store.when, member.counters)
            if store.address is None:
                presented = (member.cycles + store.stage)[mask]
                events.append(presented)
                for those, which in self._may_write(member, mask):
                    elements.append(those)
                    cycles.append(presented[which])
                    tokens.append(member.tokens[mask][which])
                continue
            places = element_numbers(memory, store.address, member.counters)
            if memory.part is not None:
                self._check_stored_part(member, store, memory.part, places, mask)
            elements.append(places[mask])
            cycles.append((member.cycles + store.stage)[mask])
            tokens.append(self._stored_tokens(member, store)[mask])
            banks, _ = memory.bank_map.of_elements(np.clip(places[mask], 0, memory.depth - 1))
            events.append(cycles[-1] * memory.bank_map.banks + banks)
        touched = np.concatenate(elements)
        depth = memory.depth
        if len(touched) and (touched.min() < 0 or touched.max() >= depth):
            self._fail(f"a store leaves {name}")
        if repeats(np.concatenate(events)):
            self._fail(f"two stores through a write port of {name} in one cycle")
        return WriteHistory(touched, np.concatenate(cycles), np.concatenate(tokens))

    def _may_write(self, member: IssuedInstances, mask: Bools) -> Iterator[tuple[Ints, Ints]]:
        """Yield the elements that scatters may write, and which of the instances may, in turn.

        Whatever they write counts as new in each of them.
        """
        access = member.statement.write
        array = self.scop.array(access.array)
        for choice in choices(access):
            inside = member.inside(access, array.shape, choice)[mask]
            those = member.elements(access, array.strides, choice)[mask]
            yield those[inside], np.flatnonzero(inside)

    def _check_stored_part(
        self, member: IssuedInstances, store: Store, part: ArrayPart, places: Ints, mask: Bools
    ) -> None:
        """Check that a store to a part of an array is of the element that the program writes."""
        write, name = member.statement.write, member.stream.statement
        elements = member.elements(write, self.scop.array(write.array).strides)
        is_own = write.array == part.array and not member.stream.keeps_loaded(store)
        if not is_own or not self._is_placed(part, places, elements, mask):
            self._fail(f"{name} stores to {store.memory} what is not there in {part.array}")

    def _stored_tokens(self, member: IssuedInstances, store: Store) -> Ints:
        """Return whose value each instance stores: its own, or that of what it has loaded."""
        if not member.stream.keeps_loaded(store) and not self._is_passed_on(member, store):
            return member.tokens
        if store.memory in self.arrays:
            self._fail(f"{member.stream.statement} stores to {store.memory} what it has loaded")
        return self._brought(member, store.value)

    def _is_passed_on(self, member: IssuedInstances, store: Store) -> bool:
        """Tell whether a value that is written as it was read is kept for reads of where it was."""
        if store.memory in self.arrays or not member.stream.is_brought(store.value):
            return False
        wanted = {
            other.statement.reads[op.read].array
            for other in self.members
            for op in other.stream.operations
            if isinstance(op, LoadOp) and op.memory == store.memory
        }
        return bool(wanted) and member.statement.write.array not in wanted

    def _brought(self, member: IssuedInstances, number: int) -> Ints:
        """Return whose value an operation brings in each instance, if it is the right one."""
        access = member.statement.reads[member.stream.read_of(number)]
        if access.is_partial or access.is_lookup:
            self._fail(f"{member.stream.statement} keeps what it may not have loaded")
        elements = member.elements(access, self.scop.array(access.array).strides)
        found = self.written[access.array].before(elements, member.moments)
        return self._named(access.array, elements, found)

    def _named(self, array: str, elements: Ints, tokens: Ints) -> Ints:
        """Return tokens with those of what was there before the run told apart by elements."""
        number = [each.name for each in self.scop.arrays].index(array)
        return np.where(tokens == INITIAL, BEFORE - number * MOST_ELEMENTS - elements, tokens)

    def _program_history(self, name: str) -> WriteHistory:
        strides = self.scop.array(name).strides
        elements, moments, tokens = [_EMPTY], [_EMPTY], [_EMPTY]
        for member in self.members:
            if member.statement.write.array != name:
                continue
            if member.statement.is_scatter:
                written = self._may_write(member, np.ones(len(member.tokens), dtype=np.bool_))
            else:
                everyone = np.arange(len(member.tokens))
                written = iter([(member.elements(member.statement.write, strides), everyone)])
            for those, which in written:
                elements.append(those)
                moments.append(member.moments[which])
                tokens.append(member.tokens[which])
        return WriteHistory(
            np.concatenate(elements), np.concatenate(moments), np.concatenate(tokens)
        )

    def _fail(self, what: str) -> None:
        raise PlanUnsound(f"the plan of {self.plan.name} is not sound: {what}")


_EMPTY: Ints = np.array([], dtype=np.int64)


def distinct_pairs(pairs: Ints) -> Ints:
    """Return the columns of a (2, n) array that differ, each once."""
    order = np.lexsort(pairs)
    ordered = pairs[:, order]
    is_first = np.ones(ordered.shape[1], dtype=np.bool_)
    is_first[1:] = (ordered[:, 1:] != ordered[:, :-1]).any(axis=0)
    found: Ints = ordered[:, is_first]
    return found


def are_within(cycles: Ints, interval: int) -> bool:
    """Tell whether some of the cycles are less than an interval apart."""
    return bool((np.diff(np.sort(cycles)) < interval).any())


def repeats(cycles: Ints) -> bool:
    """Tell whether some number stands there twice."""
    ordered = np.sort(cycles)
    return bool((ordered[1:] == ordered[:-1]).any())
