"""What a KernelPlan means, cycle by cycle, by direct reading of its definition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.plan import (
    Address,
    ArithmeticOp,
    CastOp,
    ChooseOp,
    ConstantOp,
    FloatingOp,
    FoldedForm,
    ForwardOp,
    InBank,
    IndexForm,
    IndexOp,
    KernelPlan,
    LoadOp,
    Memory,
    Operation,
    ParameterOp,
    Region,
    SelectOp,
    Store,
    Stream,
    Tap,
    address_bits,
)


def wrap(value: int, width_bits: int, signed: bool) -> int:
    """Return `value` modulo 2**width_bits, in the range of the type."""
    value &= (1 << width_bits) - 1
    return value - (1 << width_bits) if signed and value >> (width_bits - 1) else value


def arithmetic(op: ArithmeticOp, operands: list[int]) -> int:
    """Return the exact result of `op`; C's rounding, and the project's division by zero."""
    a, b = operands[0], operands[-1]
    if op.op in ("div", "rem"):
        if b == 0:
            return -1 if op.op == "div" else a
        quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
        return quotient if op.op == "div" else a - quotient * b
    count = b % op.modulus_bits if op.modulus_bits else 0
    results = {
        "add": a + b, "sub": a - b, "mul": a * b, "and": a & b, "or": a | b, "xor": a ^ b,
        "shl": a << count, "shr": a >> count, "lt": a < b, "le": a <= b, "gt": a > b,
        "ge": a >= b, "eq": a == b, "ne": a != b, "neg": -a, "not": ~a, "lnot": not a,
    }  # fmt: skip
    return int(results[op.op])


@dataclass(frozen=True, slots=True)
class Issued:
    """Iteration `counters` of stream `number`, whose stage 0 is region cycle `cycle`."""

    number: int
    counters: tuple[int, ...]
    cycle: int


class _RegionRun:
    """One region in execution: the loads made so far, and values on demand."""

    def __init__(
        self,
        plan: KernelPlan,
        region: Region,
        images: Images,
        scalars: Mapping[str, int],
    ) -> None:
        self.plan, self.region, self.images, self.scalars = plan, region, images, scalars
        self.loaded: dict[tuple[Issued, int], int] = {}
        self.values: dict[tuple[Issued, int], int | None] = {}
        self.at_store: dict[tuple[int, int], Issued] = {}
        self.at_issue: dict[tuple[int, int], Issued] = {}

    def run(self) -> None:
        loads: dict[int, list[tuple[Issued, int, LoadOp]]] = {}
        stores: dict[int, list[tuple[Issued, Store]]] = {}
        for issued in issues(self.region):
            stream = self.region.streams[issued.number]
            for n, op in enumerate(stream.operations):
                if isinstance(op, LoadOp) and op.needed.holds(issued.counters):
                    loads.setdefault(issued.cycle + op.stage, []).append((issued, n, op))
            self.at_store[issued.number, issued.cycle + stream.store.stage] = issued
            self.at_issue[issued.number, issued.cycle] = issued
            for store in stream.stores:
                stores.setdefault(issued.cycle + store.stage, []).append((issued, store))
        for cycle in range(self.region.length_cycles):
            used: dict[tuple[str, int, int], int] = {}
            for issued, n, op in loads.get(cycle, ()):
                memory = self.plan.memory(op.memory)
                number = self._address(issued, op)
                if memory.kind == "block":
                    port = (op.memory, op.port, bank_at(memory, number))
                    assert used.get(port, number) == number, f"two loads on a port in {cycle}"
                    used[port] = number
                version = version_of(op, issued.counters)
                element = self.images[op.memory][version][number]
                self.loaded[issued, n] = wrap(element, op.width_bits, op.signed)
            self._store(cycle, stores.get(cycle, []))

    def _address(self, issued: Issued, op: LoadOp) -> int:
        if op.address is not None:
            return element_of(self.plan.memory(op.memory), op.address, issued.counters)
        depth = self.plan.memory(op.memory).depth
        looked_up = self.value(issued, op.operands[0])
        assert looked_up is not None, f"looks up {op.memory} at what it did not load"
        # Past the last element the program does not use what it reads.
        return looked_up % (1 << address_bits(depth)) % depth

    def _store(self, cycle: int, issued: list[tuple[Issued, Store]]) -> None:
        written: set[tuple[str, int, int]] = set()
        for each, store in issued:
            stream = self.region.streams[each.number]
            # Computed in time even where nothing is stored: what is forwarded from it builds on it.
            value = self.value(each, store.value)
            if not store.when.holds(each.counters):
                continue
            memory = self.plan.memory(store.memory)
            if store.address is not None:
                address = element_of(memory, store.address, each.counters)
            else:
                assert store.at is not None and store.enable is not None
                place, enable = self.value(each, store.at), self.value(each, store.enable)
                assert enable is not None, f"{stream.statement} does not know whether it stores"
                if not enable:
                    continue
                assert place is not None, f"{stream.statement} does not know where it stores"
                address = place % (1 << address_bits(memory.depth))
            assert value is not None, f"{stream.statement} stores what it did not load"
            port = (store.memory, store.port, bank_at(memory, address))
            assert port not in written, f"two stores to {store.memory} in cycle {cycle}"
            written.add(port)
            element = wrap(value, memory.width_bits, memory.signed)
            self.images[store.memory][store.port][address] = element

    def value(self, issued: Issued, number: int) -> int | None:
        """Return the result of an operation, None after a load that was not needed."""
        key = (issued, number)
        if key not in self.values:
            op = self.region.streams[issued.number].operations[number]
            value = self._evaluate(issued, number, op)
            self.values[key] = None if value is None else wrap(value, op.width_bits, op.signed)
        return self.values[key]

    def _evaluate(self, issued: Issued, number: int, op: Operation) -> int | None:
        match op:
            case ConstantOp(value=value):
                return value
            case ParameterOp(name=name):
                return self.scalars[name]
            case IndexOp(form=form):
                return form.evaluate(issued.counters)
            case LoadOp():
                return self.loaded.get((issued, number))
            case ForwardOp():
                return self._forward(issued, op)
            case ChooseOp(operands=(first, second)):
                return self.value(issued, first if op.when.holds(issued.counters) else second)
        if isinstance(op, SelectOp):
            condition = self.value(issued, op.operands[0])
            if condition is None:
                return None
            # The other arm may be what the program does not read.
            return self.value(issued, op.operands[1 if condition else 2])
        operands = [self.value(issued, operand) for operand in op.operands]
        known = [value for value in operands if value is not None]
        if len(known) < len(operands):
            return None
        match op:
            case CastOp():
                return known[0]
            case ArithmeticOp():
                return arithmetic(op, known)
            case FloatingOp():
                return evaluate(op.op, known, op.of, op.to)
        raise AssertionError(op)

    def _forward(self, issued: Issued, op: ForwardOp) -> int | None:
        for tap in sorted(op.taps, key=lambda tap: tap.delay_cycles):
            if tap.is_matched:
                found = self._matched(issued, op, tap)
                if found is not None:
                    return found
            elif tap.when.holds(issued.counters):
                source = self.region.streams[tap.stream]
                if tap.read is not None:
                    return self._passed(issued.cycle + op.stage - tap.delay_cycles, tap)
                at = self.at_store.get((tap.stream, issued.cycle + op.stage - tap.delay_cycles))
                if at is None:
                    return None
                value = self.value(at, source.store.value)
                memory = self.plan.memory(source.store.memory)
                return None if value is None else wrap(value, memory.width_bits, memory.signed)
        return self.value(issued, op.operands[0])

    def _matched(self, issued: Issued, op: ForwardOp, tap: Tap) -> int | None:
        """Return what a stream was storing to the element that it looks up, if it was."""
        stream = self.region.streams[issued.number]
        at = self.at_store.get((tap.stream, issued.cycle + op.stage - tap.delay_cycles))
        if at is None or not stream.store.when.holds(at.counters):
            return None
        assert stream.store.at is not None and stream.store.enable is not None
        place, wanted = self.value(at, stream.store.at), stream.operations[op.operands[0]]
        assert isinstance(wanted, LoadOp)
        bits = address_bits(self.plan.memory(stream.store.memory).depth)
        looked_up = self.value(issued, wanted.operands[0])
        if not self.value(at, stream.store.enable) or place is None or looked_up is None:
            return None
        return (
            self.value(at, stream.store.value) if (place ^ looked_up) % (1 << bits) == 0 else None
        )

    def _passed(self, cycle: int, tap: Tap) -> int | None:
        """Return what a read had brought in a cycle."""
        source = self.region.streams[tap.stream]
        number = source.tapped(tap)
        at = self.at_issue.get((tap.stream, cycle - source.operations[number].result_stage))
        return None if at is None else self.value(at, number)


def issues(region: Region) -> Iterator[Issued]:
    """Yield every iteration of every stream of `region`."""
    for number, stream in enumerate(region.streams):
        for rank, counters in enumerate(points(stream)):
            yield Issued(number, counters, stream.offset_cycles + stream.ii * rank)


def points(stream: Stream) -> Iterator[tuple[int, ...]]:
    """Yield the counters of every iteration in order."""
    levels = stream.levels

    def inside(outer: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
        if len(outer) == len(levels):
            yield outer
            return
        level = levels[len(outer)]
        known = (*outer, *(0 for _ in levels[len(outer) :]))
        first = max((bound.ceiling(known) for bound in level.lowers), default=0)
        last = min((bound.floor(known) for bound in level.uppers), default=level.extent - 1)
        last = max(last, first + level.at_least - 1)
        for counter in range(first, last + 1):
            yield from inside((*outer, counter))

    return inside(())


def interpret(
    plan: KernelPlan, images: Mapping[str, list[int]], scalars: Mapping[str, int]
) -> dict[str, list[int]]:
    """Return every memory after a run, from its elements (row-major) before it."""
    after = {
        name: _banks(plan.memory(name), before_run(plan.memory(name), images)) for name in images
    }
    for region in plan.regions:
        _RegionRun(plan, region, after, scalars).run()
    return {name: _at_home(plan.memory(name), banks) for name, banks in after.items()}


Images = dict[str, list[list[int]]]
"""The elements of every version of every memory."""


def bank_at(memory: Memory, number: int) -> int:
    """Return the bank of an element."""
    return int(memory.bank_map.of_elements(np.array([number]))[0][0])


def element_of(memory: Memory, address: Address, counters: tuple[int, ...]) -> int:
    """Return the row-major number of the element at an address."""
    if isinstance(address, IndexForm | FoldedForm):
        return address.evaluate(counters)
    if isinstance(address, InBank):
        bank, row = address.bank, address.row.evaluate(counters)
    else:
        place = address.place.evaluate(counters)
        bank, row = (
            sum((place >> bit & 1) << n for n, bit in enumerate(bits))
            for bits in (address.bank_bits, address.row_bits)
        )
    element = int(memory.bank_map.elements[bank, row])
    assert element >= 0 <= row, f"{memory.name} has nothing at {address}"
    return element


def version_of(op: LoadOp, counters: tuple[int, ...]) -> int:
    """Return the version from which a load takes the element."""
    return next((n for n, where in enumerate(op.versions, 1) if where.holds(counters)), 0)


def before_run(memory: Memory, images: Mapping[str, list[int]]) -> list[int]:
    """Return what is in a memory before a run; the host fills a part with its array."""
    if memory.part is None or not memory.part.is_hosted:
        return images[memory.name]
    found = [~0] * memory.depth
    places = memory.part.places(np.arange(memory.part.size))
    for element, place in zip(images[memory.part.array], places.tolist(), strict=True):
        if place >= 0:
            found[place] = element
    return found


def _homes(memory: Memory) -> tuple[int, ...]:
    return memory.homes or (0,) * memory.depth


def _banks(memory: Memory, elements: list[int]) -> list[list[int]]:
    """Return the versions as the last run may have left them: right in the homes alone."""
    return [
        [
            element if home == bank else ~element
            for element, home in zip(elements, _homes(memory), strict=True)
        ]
        for bank in range(memory.write_ports)
    ]


def _at_home(memory: Memory, banks: list[list[int]]) -> list[int]:
    return [banks[home][place] for place, home in enumerate(_homes(memory))]
