"""The independent judge of tiles: replay every load, store and word that is moved.

As `judges.replay` it enumerates, uses no isl, and represents a value by the instance that
produced it. Tiles of a worker start as close to each other as they may, `issue_cycles` apart: if
they wait for words, what is in order stays so. It proves for the given sizes that

- workers together run every instance of the program once;
- every operand comes from the instance that the C program says, or from before these tiles;
- what a kernel finds in a memory of its peer has been stored there in a tile that it has waited
  for, and is overwritten in none that has not waited for it;
- what a filled window shows a tile is the element that the program reads, as it was before these
  tiles or as a tile has stored it for which the load waits, and no other worker may store to it
  before that. Stores of one worker come in the order of its tiles: two of one element have a load
  of the first one's value in between, or never happen. Those of two workers wait for each other;
- each element off chip that is needed later ends with the last value that the program gives it, and
  none is written that the program does not write;
- no port of a bank is used in a cycle for two elements, and no word has two places, or a place two
  words. Lanes that do not issue together share no port: they may be in two tiles, which start as
  far apart as words let them.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import prod
from typing import TypeAlias

import numpy as np

from rtlgen.ir.ints import Bools, Ints, distinct
from rtlgen.ir.issued_instances import choices, tokens_at
from rtlgen.ir.iterations import address_values, chosen_bits, predicate_mask
from rtlgen.ir.judged_part import JudgedPart
from rtlgen.ir.operations import ComputedBase, UnitOp
from rtlgen.ir.plan import (
    MAX_REPLAYED,
    Address,
    AnyBank,
    ChooseOp,
    ForwardOp,
    KernelPlan,
    LoadOp,
    OffChip,
    Stream,
    Workers,
    banks_named,
)
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.scop import Scop
from rtlgen.ir.write_history import INITIAL, WriteHistory, history_of
from rtlgen.judges.histories import UNKNOWN, OffChipHistory, OffChipStores, PeerHistory, PeerStores
from rtlgen.judges.moved_words import MovedWords
from rtlgen.judges.replay import are_within, repeats
from rtlgen.judges.tile_clocks import Issued, TileClocks, issued_everywhere

Needed: TypeAlias = Mapping[str, Bools]
"""For each array off chip, the elements whose values are needed behind some tiles, row-major."""

MET = UNKNOWN - 1
"""The producer of what is loaded in the cycle of a store to its place, of the plan's first memory;
those of the others are the numbers below.
"""


def replay_parts(plan: KernelPlan, parts: Sequence[JudgedPart], scop: Scop) -> bool:
    """Prove the data flow of a plan whose body is in tiles, the last part of it first.

    Where some part has too many iterations for that, return False.

    Parameters
    ----------
    parts: what each part of the body runs. scop: the program, as it is planned.

    Raises
    ------
    PlanUnsound: with the first thing that is wrong.
    """
    needed: Needed | None = needed_by_host(plan, scop)
    for workers, part in reversed(list(zip(plan.body, parts, strict=True))):
        assert isinstance(workers, Workers), "every part of such a plan is in tiles"
        assert needed is not None, "the part behind it was replayed"
        needed = replay_tiles(plan, workers, part, needed)
        if needed is None:
            # What it needs of the parts before it is not known.
            return False
    return True


def replay_tiles(
    plan: KernelPlan, workers: Workers, part: JudgedPart, needed: Needed
) -> Needed | None:
    """Prove the data flow of workers; return what they need, with what they leave as needed.

    Where their tiles are too many to enumerate, return None.

    Parameters
    ----------
    part: what they run. needed: what the workers behind these need of them, and the host.

    Raises
    ------
    PlanUnsound: with the first thing that is wrong.
    """
    iterations = sum(
        region.tiles * sum(stream.count for stream in region.kernel.streams)
        for region in workers.regions
    )
    if iterations > MAX_REPLAYED:
        return None
    judge = _Judge(plan, workers, part)
    judge.check(needed)
    return judge.needs(needed)


def needed_by_host(plan: KernelPlan, scop: Scop) -> Needed:
    """Return what is needed when all is done: whatever the host can see."""
    assert plan.memory_side is not None
    return {
        array.name: np.full(prod(array.shape), scop.array(array.name).storage != "local")
        for array in plan.memory_side.arrays
    }


class _Judge:
    def __init__(self, plan: KernelPlan, workers: Workers, part: JudgedPart) -> None:
        assert plan.memory_side is not None
        self.plan = plan
        self.workers = workers
        self.clocks = TileClocks(workers)
        self.scop = part.tiled
        self.side = plan.memory_side
        self.members = issued_everywhere(workers, part)
        self.program = {array.name: self._program_history(array.name) for array in self.scop.arrays}
        self.stored = {memory.name: self._stores(memory.name) for memory in plan.memories}
        peers = {peer for region in workers.regions for peer in region.peers}
        self.handed = {peer: self._handed(peer) for peer in sorted(peers)}
        self.moved = {
            transfer.window: MovedWords(plan, number, len(region.levels), transfer)
            for number, region in enumerate(workers.regions)
            for transfer in region.transfers
        }
        self.drained = {array.name: self._drained(array.name) for array in self.side.arrays}
        self.port_uses: dict[tuple[str, int], list[tuple[Ints, Ints]]] = {}

    def check(self, needed: Needed) -> None:
        for moved in self.moved.values():
            moved.check_places()
        for member in self.members:
            self._check_own_ports(member.stream)
            if any(map(member.stream.keeps_loaded, member.stream.copies)):
                self.fail(f"{member.stream.name} keeps what it has loaded")
        for member in self.members:
            self._check_operands(member)
        for (memory, port), uses in self.port_uses.items():
            cycles, addresses = (np.concatenate(parts) for parts in zip(*uses, strict=True))
            if _differs_at_once(self._slots(memory, cycles, addresses), addresses):
                self.fail(f"two loads use read port {port} of {memory} in one cycle")
        for array in self.side.arrays:
            self._check_result(array, needed[array.name])

    def needs(self, needed: Needed) -> Needed:
        """Return what is needed of the regions before this one."""
        found = {name: mask.copy() for name, mask in needed.items()}
        for name, mask in found.items():
            mask[self.program[name].elements] = False
        for member in self.members:
            for access in member.statement.reads:
                if access.array in found and not access.is_lookup:
                    array = self.scop.array(access.array)
                    made = member.made(access, array.shape)
                    elements = member.elements(access, array.strides)[made]
                    before = self.program[access.array].before(elements, member.moments[made])
                    found[access.array][elements[before == INITIAL]] = True
        return found

    def fail(self, what: str) -> None:
        raise PlanUnsound(f"the plan of {self.plan.name} is not sound: {what}")

    def _program_history(self, name: str) -> WriteHistory:
        strides = self.scop.array(name).strides
        elements, moments = [], []
        for member in self.members:
            if member.statement.write.array != name:
                continue
            if member.statement.is_scatter:
                for those, which in self._may_write(member, member.real):
                    elements.append(those)
                    moments.append(member.moments[which])
                continue
            elements.append(member.elements(member.statement.write, strides)[member.real])
            moments.append(member.moments[member.real])
        return history_of(elements, moments, moments)

    def _may_write(self, member: Issued, mask: Bools) -> Iterator[tuple[Ints, Ints]]:
        """Yield the elements that scatters may write, and which of the iterations may, in turn.

        Whatever they write counts as new in each of them.
        """
        access = member.statement.write
        array = self.scop.array(access.array)
        for choice in choices(access):
            made = mask & member.made(access, array.shape, choice)
            yield member.elements(access, array.strides, choice)[made], np.flatnonzero(made)

    def _stores(self, name: str) -> WriteHistory:
        """Return what the streams store to a memory on chip, by its addresses."""
        addresses, cycles, tokens, slots = [], [], [], []
        for member in self.members:
            for store in member.stream.stores:
                if store.memory != name:
                    continue
                mask = predicate_mask(store.when, member.counters)
                if np.any(mask & ~member.real):
                    self.fail(f"{member.stream.statement} stores to {name} in a padding iteration")
                presented = member.cycles + store.stage
                if store.address is None:
                    slots.append(presented[mask])
                    for those, which in self._may_write(member, mask):
                        addresses.append(those)
                        cycles.append(presented[which])
                        tokens.append(member.moments[which])
                    continue
                self._check_bank(store.address, name, member, mask)
                addresses.append(address_values(store.address, member.counters, member.tiles)[mask])
                cycles.append(presented[mask])
                tokens.append(member.moments[mask])
                slots.append(self._slots(name, cycles[-1], addresses[-1]))
        if slots and repeats(np.concatenate(slots)):
            self.fail(f"two stores through the write port of {name} in one cycle")
        return history_of(addresses, cycles, tokens)

    def _handed(self, name: str) -> PeerHistory:
        """Return what a kernel stores to a memory that another one loads from."""
        writers = [n for n, region in enumerate(self.workers.regions) if region.stores_to(name)]
        stores = PeerStores(writers[0] if writers else 0, [], [], [], [])
        for member in self.members:
            for store in member.stream.stores:
                if store.memory == name:
                    assert store.address is not None, "no worker hands a scattered array over"
                    mask = predicate_mask(store.when, member.counters)
                    where = address_values(store.address, member.counters, member.tiles)
                    stores.addresses.append(where[mask])
                    stores.tiles.append(member.tiles[mask])
                    stores.cycles.append((member.cycles + store.stage)[mask])
                    stores.tokens.append(member.moments[mask])
        return PeerHistory(self.clocks, stores)

    def _slots(self, name: str, cycles: Ints, addresses: Ints) -> Ints:
        """Return a number for each cycle and bank of a memory in which an address is used."""
        bits = self.plan.memory(name).bank_bits
        return (cycles << len(bits)) | chosen_bits(addresses, bits)

    def _check_bank(self, address: Address, name: str, member: Issued, mask: Bools) -> None:
        """Check that what an address says of its bank is so in some iterations."""
        if not isinstance(address, AnyBank):
            return
        memory = self.plan.memory(name)
        others = tuple(bit for bit in range((memory.depth - 1).bit_length()))
        others = tuple(bit for bit in others if bit not in memory.bank_bits)
        if (address.bank_bits, address.row_bits) != (memory.bank_bits, others):
            self.fail(f"{member.stream.name} takes other bits for the bank of {name}")
        places = address_values(address, member.counters, member.tiles)[mask]
        if not np.isin(chosen_bits(places, address.bank_bits), address.banks).all():
            self.fail(f"{member.stream.name} is in another bank of {name}")

    def _check_own_ports(self, stream: Stream) -> None:
        """Check that a lane shares no port of a bank with a lane that issues at another time."""
        others = [
            other
            for other in self.plan.streams
            if other.statement == stream.statement and other.offset_cycles > stream.offset_cycles
        ]
        own, uses = _ports_used(stream), [(other, _ports_used(other)) for other in others]
        for other, ports in uses:
            for memory, _, _ in sorted(own & ports):
                self.fail(f"{stream.name} and {other.name} meet in a bank of {memory}")

    def _drained(self, array: str) -> OffChipHistory:
        """Return what the tiles store to an array off chip."""
        elements, tiles, tokens, windows = [], [], [], []
        names = [t.window for t in self.workers.transfers if t.direction == "store"]
        for number, name in enumerate(names):
            moved = self.moved[name]
            if moved.array.name != array:
                continue
            own = [member for member in self.members if member.worker == moved.worker]
            where, when, what = moved.written(own)
            elements.append(where)
            tiles.append(when)
            tokens.append(what)
            windows.append(np.full(len(where), number, dtype=np.int64))
        empty = np.zeros(0, dtype=np.int64)
        stores = OffChipStores(
            clocks=self.clocks,
            elements=np.concatenate([empty, *elements]),
            tokens=np.concatenate([empty, *tokens]),
            tiles=np.concatenate([empty, *tiles]),
            windows=np.concatenate([empty, *windows]),
            names=names,
        )
        return OffChipHistory(stores)

    # What a tile reads.

    def _check_operands(self, member: Issued) -> None:
        operations = member.stream.operations
        inner = {
            operand
            for op in operations
            if isinstance(op, ChooseOp | ForwardOp)
            for operand in op.operands
        }
        values: dict[int, Ints] = {}
        reads: dict[int, int] = {}
        for number, op in enumerate(operations):
            match op:
                case LoadOp(address=None):
                    self._check_lookup(member, op)
                    continue
                case LoadOp():
                    values[number], reads[number] = self._loaded(member, op), op.read
                case ChooseOp(operands=(first, second)) if {first, second} <= set(values):
                    when = predicate_mask(op.when, member.counters)
                    values[number] = np.where(when, values[first], values[second])
                    reads[number] = reads[first]
                case ForwardOp():
                    unknown = np.full(len(member.tiles), UNKNOWN, dtype=np.int64)
                    taken = values.get(op.operands[0], unknown)
                    values[number] = self._tapped(member, op, taken)
                    reads[number] = op.read
                case ComputedBase() if op.interval_cycles > 1:
                    self._check_interval(member, op)
                    continue
                case _:
                    continue
            if number not in inner:
                self._check_read(member, reads[number], values[number])

    def _check_interval(self, member: Issued, op: UnitOp) -> None:
        """Check that a division begins in every instance, and never too soon after another one."""
        begins = predicate_mask(op.when, member.counters)
        too_soon = are_within(member.cycles[begins], op.interval_cycles)
        if too_soon or not begins[member.real].all():
            self.fail(f"{member.stream.statement} divides more often than its divider does")

    def _check_read(self, member: Issued, read: int, seen: Ints) -> None:
        access = member.statement.reads[read]
        array = self.scop.array(access.array)
        elements = member.elements(access, array.strides)
        expected = self.program[access.array].before(elements, member.moments)
        if (first := seen[member.real].min(initial=INITIAL)) <= MET:
            memory = self.plan.memories[MET - first].name
            self.fail(f"{member.stream.statement} loads from {memory} in the cycle of a store")
        # Where the program does not read, or outside of the array, it does not use the value.
        used = member.made(access, array.shape) if access.is_partial else member.real
        if np.any((seen != expected)[used]):
            self.fail(f"{member.stream.statement} takes a wrong value of {access.array}")

    def _check_lookup(self, member: Issued, op: LoadOp) -> None:
        """Check that whichever element is looked up, its content is what the program says."""
        access, name = member.statement.reads[op.read], op.memory
        history, stored = self.program[access.array], self.stored[name]
        asked = predicate_mask(op.needed, member.counters)
        if np.any(member.real & ~asked):
            self.fail(f"{member.stream.statement} uses {name} without asking for it")
        if not len(history) and not len(stored):
            return
        array, cycles = self.scop.array(access.array), member.cycles + op.stage
        for choice in choices(access):
            made = asked & member.made(access, array.shape, choice)
            elements = member.elements(access, array.strides, choice)[made]
            expected = history.before(elements, member.moments[made])
            if not np.array_equal(stored.before(elements, cycles[made]), expected):
                self.fail(f"{member.stream.statement} may look up a wrong value of {name}")
            is_block = self.plan.memory(name).kind == "block"
            if is_block and np.any(stored.met(elements, cycles[made])):
                self.fail(f"{member.stream.statement} may look up {name} in the cycle of a store")

    def _loaded(self, member: Issued, op: LoadOp) -> Ints:
        """Return the token that a load brings in each iteration."""
        assert op.address is not None
        needed = predicate_mask(op.needed, member.counters)
        memory = self.plan.memory(op.memory)
        cycles = member.cycles + op.stage
        self._check_bank(op.address, op.memory, member, needed)
        addresses = address_values(op.address, member.counters, member.tiles)
        uses = self.port_uses.setdefault((op.memory, op.port), [])
        uses.append((cycles[needed], addresses[needed]))
        found = np.full(len(needed), UNKNOWN, dtype=np.int64)
        if memory.kind == "filled":
            moved = self.moved[op.memory]
            tiles, right = moved.shown(member, op, addresses, needed)
            access = member.statement.reads[op.read]
            elements = member.elements(access, self.scop.array(access.array).strides)[needed]
            seen = self.drained[access.array].seen(
                member.worker, op.memory, elements, tiles, member.moments[needed]
            )
            found[needed] = np.where(right, seen, UNKNOWN)
            return found
        if op.memory in self.handed:
            seen = self.handed[op.memory].seen(
                member.worker, addresses[needed], member.tiles[needed]
            )
            found[needed] = seen
            return found
        stored = self.stored[op.memory]
        found[needed] = stored.before(addresses[needed], cycles[needed])
        if memory.kind == "block":
            # That does not matter where a tap brings the value, or another memory.
            number = [m.name for m in self.plan.memories].index(op.memory)
            found[needed & stored.met(addresses, cycles)] = MET - number
        return found

    def _tapped(self, member: Issued, op: ForwardOp, otherwise: Ints) -> Ints:
        found = otherwise.copy()
        own = [other for other in self.members if other.worker == member.worker]
        for tap in op.taps:
            source = own[tap.stream]
            if tap.read is not None:
                self.fail(f"{source.stream.name} passes on what it has loaded")
            mask = predicate_mask(tap.when, member.counters)
            presented = source.cycles + source.stream.store.stage
            wanted = (member.cycles + op.stage - tap.delay_cycles)[mask]
            order = np.argsort(presented, kind="stable")
            tokens = np.where(source.real, source.moments, UNKNOWN)
            found[mask] = tokens_at(presented[order], tokens[order], wanted)
        return found

    # What is off chip in the end.

    def _check_result(self, array: OffChip, needed: Bools) -> None:
        history = self.drained[array.name]
        if len(history.disordered()):
            self.fail(f"two stores to an element of {array.name} are not in order")
        program = self.program[array.name]
        touched = distinct(np.concatenate([history.elements, program.elements]))
        ends, wanted = history.last(touched), program.last(touched)
        # Of what nobody reads after these tiles, the last value may stay on chip.
        wrong = (ends != wanted) & (needed[touched] | (wanted == INITIAL))
        if np.any(wrong):
            self.fail(f"{array.name} does not end with the last values of the program")


def _ports_used(stream: Stream) -> set[tuple[str, int, int]]:
    """Return memory, port and bank of what a stream loads and stores; the write port is -1."""
    found = {
        (op.memory, op.port, bank)
        for op in stream.operations
        if isinstance(op, LoadOp) and op.address is not None
        for bank in banks_named(op.address)
    }
    return found | {
        (store.memory, -1, bank)
        for store in stream.stores
        if not store.when.is_false
        for bank in ((0,) if store.address is None else banks_named(store.address))
    }


def _differs_at_once(slots: Ints, addresses: Ints) -> bool:
    """Tell whether two addresses differ that are used in one slot."""
    order = np.argsort(slots, kind="stable")
    slots, addresses = slots[order], addresses[order]
    return bool(np.any((slots[1:] == slots[:-1]) & (addresses[1:] != addresses[:-1])))
