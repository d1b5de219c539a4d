"""Several workers that share the tiles of a region planned for one.

Each has the same kernel, windows and kept memories of its own, and its own share of the iterations
of one tile loop; see `ir.sharing`. In the iterations of the loops outside of that one they keep
step: what a transfer waits for there is what all workers have stored. Where the iterations of that
loop wait for one another, each waits for the worker that has the one before; what it hands over to
the one that has the next it stores in a memory of that worker's.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial

from rtlgen.ir.iterations import iterations_of, level_range
from rtlgen.ir.levels import (
    Address,
    AnyBank,
    Field,
    FoldedForm,
    InBank,
    IndexForm,
    Level,
    Predicate,
)
from rtlgen.ir.operations import is_shareable
from rtlgen.ir.plan import (
    ArithmeticOp,
    ChooseOp,
    FloatingOp,
    ForwardOp,
    IndexOp,
    LoadOp,
    Memory,
    Operation,
    Region,
    Store,
    Stream,
    TiledRegion,
    Transfer,
    Wait,
    Workers,
)
from rtlgen.ir.sharing import SharedLoops, shared_loops
from rtlgen.options import Policy


@dataclass(frozen=True, slots=True)
class WorkerRequest:
    """What is asked of workers.

    Members
    -------
    count: how many there are at most. policy: which tiles are whose, see `ir.sharing`.
    barrier: whether all of them meet after each wave, see `windows.waiting`.
    """

    count: int = 1
    policy: Policy = "cyclic"
    barrier: bool = False


ONE_WORKER = WorkerRequest()


@dataclass(frozen=True, slots=True)
class Shared:
    """Workers and what is theirs.

    Members
    -------
    workers: those that have something to do. memories: windows and kept memories of all of them.
    numbers: of each worker. counters: of each, those of the tile loops before by those of its own.
    """

    workers: Workers
    memories: tuple[Memory, ...]
    numbers: tuple[int, ...]
    counters: tuple[tuple[IndexForm, ...], ...]


def one_worker(region: TiledRegion, memories: Sequence[Memory]) -> Shared:
    """Let one worker do what a region does."""
    depth = len(region.levels)
    units = tuple(IndexForm.counter(n, depth) for n in range(depth))
    return Shared(Workers((region,)), tuple(memories), (0,), (units,))


def share(
    region: TiledRegion,
    memories: Sequence[Memory],
    request: WorkerRequest,
    space: int,
    held: Mapping[str, int],
    taken: Collection[str],
) -> Shared:
    """Let several workers do what a region does.

    Parameters
    ----------
    memories: windows and kept memories of the region. space: the tile loop that is shared.
    held: read ports that each worker has of the arrays on chip. taken: names that memories cannot
        have.
    """
    every = [
        (number, shared_loops(region.levels, space, request.policy, request.count, number))
        for number in range(request.count)
    ]
    active = [(number, loops) for number, loops in every if not loops.never]
    names = _names([memory.name for memory in memories], len(active), taken)
    mates = [_Mate(loops, own) for (_, loops), own in zip(active, names, strict=True)]
    copies = [_Copy(region, space, place, mates, held) for place in range(len(mates))]
    return Shared(
        Workers(tuple(copy.region() for copy in copies)),
        tuple(replace(m, name=own[m.name]) for own in names for m in memories),
        tuple(number for number, _ in active),
        tuple(loops.counters for _, loops in active),
    )


def _names(memories: Sequence[str], workers: int, taken: Collection[str]) -> list[dict[str, str]]:
    """Return for every worker its names of some memories."""
    if workers == 1:
        return [{name: name for name in memories}]
    found: list[dict[str, str]] = []
    used = set(taken)
    for worker in range(workers):
        own = {}
        for name in memories:
            wanted = f"{name}_w{worker}"
            while wanted in used:
                wanted += "_"
            used.add(wanted)
            own[name] = wanted
        found.append(own)
    return found


@dataclass(frozen=True, slots=True)
class _Mate:
    """A worker as others see it: its tile loops, and its names of memories."""

    loops: SharedLoops
    names: Mapping[str, str]


class _Copy:
    """The region of one worker.

    Parameters
    ----------
    place: the worker's among those that have something to do, which are `mates`.
    held: read ports of the arrays on chip.
    """

    def __init__(
        self,
        region: TiledRegion,
        space: int,
        place: int,
        mates: Sequence[_Mate],
        held: Mapping[str, int],
    ) -> None:
        self.held = held
        self.before = region
        self.loops = mates[place].loops
        self.space = space
        self.place = place
        self.mates = mates

    def region(self) -> TiledRegion:
        before = self.before
        levels = self.loops.levels
        outer = iterations_of(levels[:-1])
        _, trips = level_range(levels[-1], outer)
        streams = tuple(map(self._stream, before.kernel.streams))
        return TiledRegion(
            Region(streams, before.kernel.length_cycles),
            levels,
            int(trips.sum()),
            before.issue_cycles,
            tuple(map(self._transfer, before.transfers)),
            tuple(dict.fromkeys([*map(self._name, before.peers), *map(self._next, before.peers)])),
            tuple(self._of(wait, -1, self._name(wait.window)) for wait in before.after),
            tuple(self._of(wait, 1, self._next(wait.window)) for wait in before.room),
        )

    def _next(self, memory: str) -> str:
        """Return the memory of the worker to whom values are handed over."""
        return self.mates[(self.place + 1) % len(self.mates)].names[memory]

    def _name(self, memory: str) -> str:
        # What is no memory of the region is an array on chip, which all workers read.
        return self.mates[self.place].names.get(memory, memory)

    def _levels(self, levels: Sequence[Level]) -> tuple[Level, ...]:
        """Return the loops of a stream or a transfer: those over tiles, and those inside."""
        inside = tuple(levels[len(self.before.levels) :])
        padded = partial(IndexForm.padded, levels=len(self.loops.levels) + len(inside))
        return (*(level.with_forms(padded) for level in self.loops.levels), *inside)

    def _working(self, when: Predicate, depth: int) -> Predicate:
        """Return a predicate that holds only where the worker has something to do."""
        levels = len(self.loops.levels) + depth - len(self.before.levels)
        more = tuple(replace(c, form=c.form.padded(levels)) for c in self.loops.has_work)
        moved = self._predicate(when)
        return Predicate(tuple((*conditions, *more) for conditions in moved.alternatives))

    def _predicate(self, when: Predicate) -> Predicate:
        return when.with_forms(self.loops.moved)

    def _address(self, address: Address) -> Address:
        match address:
            case FoldedForm():
                return self._folded(address)
            case InBank():
                return replace(address, row=self.loops.moved(address.row))
            case AnyBank(place):
                if isinstance(place, FoldedForm):
                    return replace(address, place=self._folded(place))
                return replace(address, place=self.loops.moved(place))
            case IndexForm():
                return self.loops.moved(address)

    def _folded(self, address: FoldedForm) -> FoldedForm:
        fields = (Field(self.loops.moved(f.form), f.width_bits) for f in address.fields)
        return replace(address, fields=tuple(fields))

    def _stream(self, stream: Stream) -> Stream:
        depth = len(stream.levels)
        return replace(
            stream,
            levels=self._levels(stream.levels),
            tile_levels=len(self.loops.levels),
            operations=tuple(self._operation(op, depth) for op in stream.operations),
            store=self._store(stream.store, depth),
            copies=tuple(self._store(store, depth) for store in stream.copies),
        )

    def _operation(self, op: Operation, depth: int) -> Operation:
        match op:
            case LoadOp():
                return replace(
                    op,
                    memory=self._name(op.memory),
                    port=op.port + self.place * self.held.get(op.memory, 0),
                    address=None if op.address is None else self._address(op.address),
                    needed=self._predicate(op.needed),
                    versions=tuple(map(self._predicate, op.versions)),
                )
            case IndexOp():
                return replace(op, form=self.loops.moved(op.form))
            case ForwardOp():
                taps = (replace(tap, when=self._predicate(tap.when)) for tap in op.taps)
                return replace(op, taps=tuple(taps))
            case ChooseOp():
                return replace(op, when=self._predicate(op.when))
            case ArithmeticOp() | FloatingOp() if is_shareable(op):
                return replace(op, when=self._working(op.when, depth))
            case _:
                return op

    def _store(self, store: Store, depth: int) -> Store:
        return replace(
            store,
            memory=(
                self._next(store.memory)
                if store.memory in self.before.peers
                else self._name(store.memory)
            ),
            address=None if store.address is None else self._address(store.address),
            when=self._working(store.when, depth),
        )

    def _transfer(self, transfer: Transfer) -> Transfer:
        return replace(
            transfer,
            window=self._name(transfer.window),
            levels=self._levels(transfer.levels),
            word=self.loops.moved(transfer.word),
            at=self._folded(transfer.at),
            when=self._working(transfer.when, len(transfer.levels)),
            strobes=tuple(map(self._predicate, transfer.strobes)),
            after=tuple(wait for own in transfer.after for wait in self._waits(own)),
        )

    def _of(self, wait: Wait, step: int, window: str) -> Wait:
        """Return how the worker waits for the one that has the iteration before, or behind."""
        mate = self.mates[(self.place + step) % len(self.mates)]
        return replace(
            wait,
            window=window,
            taken=self._predicate(wait.taken),
            given=wait.given.with_forms(mate.loops.moved),
        )

    def _waits(self, wait: Wait) -> list[Wait]:
        """Return what a worker waits for: what all have stored, or within its tiles itself.

        Or what the worker has that goes through the iteration before of the loop that is shared.
        """
        if not wait.is_plain:
            return [self._of(wait, -1, self.mates[self.place - 1].names[wait.window])]
        if wait.loops > self.space:
            return [replace(wait, window=self._name(wait.window), loops=len(self.loops.levels))]
        return [replace(wait, window=mate.names[wait.window]) for mate in self.mates]
