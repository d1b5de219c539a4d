"""Tiles: a static island that runs once a tile, and what moves words for it in the meantime.

A `TiledRegion` runs its kernel, a `Region`, once for every point of the tile loops. In the kernel
nothing ever waits; the kernel itself starts, for every tile, when

- `issue_cycles` have passed since it started for the tile before, and
- each of its filled windows holds what the tile reads, and
- each of its drained windows has room for what the tile writes.

The *movers*, one a transfer, fill and drain the windows. A window has 2**tile_bits copies (see
`FoldedForm`); tile number t has copy t modulo that. So a mover runs ahead of the kernel, or
behind it, by as many tiles as there are copies.

Several tiled regions run side by side as `Workers`, each with a kernel and windows of its own, and
share the tiles of one nest. What passes from one worker to another passes through the memory off
chip: a transfer *waits* for stores of its own worker or of others. Or it passes through a *peer
memory*, in which one worker's kernel stores and another one's loads: then the second kernel waits
for the first one.

Every window has one writer and one reader: what comes from off chip, what a tile leaves for a
later one, and what goes off chip are in memories of their own, although they may be parts of one C
array. Which of them a read means is known when the plan is made (`ChooseOp`).

Timing of tiles: `ir.timeline`.
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.ir.levels import ALWAYS, FoldedForm, IndexForm, Level, Predicate
from rtlgen.ir.memory_side import Direction
from rtlgen.ir.operations import ChooseOp, LoadOp
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.streams import Region


@dataclass(frozen=True, slots=True)
class Mark:
    """Iterations of the outermost tile loops that count.

    Members
    -------
    loops: how many of the tile loops; all of them count tiles.
    when: which of their iterations; its forms have a coefficient for every tile loop.
    """

    loops: int
    when: Predicate = ALWAYS


@dataclass(frozen=True, slots=True)
class Wait:
    """What a transfer, or a kernel, waits for before it begins iterations of outermost tile loops.

    Those are counted from the start of the run, and so are those that the store of a window is done
    with: the first one to be waited for is `distance` before the first one that waits.

    Members
    -------
    window: whose store is waited for; of a kernel, a peer memory in which another kernel stores.
    loops: in iterations of how many tile loops both count.
    taken: which iterations of the tile loops wait. given: which of those waited for count.
    """

    window: str
    distance: int
    loops: int
    taken: Predicate = ALWAYS
    given: Predicate = ALWAYS

    def __post_init__(self) -> None:
        if self.distance < int(self.is_plain) or self.loops < 1:
            raise PlanError(f"a wait for {self.window} that never ends: {self}")

    @property
    def is_plain(self) -> bool:
        """Whether all iterations of those loops count, on both sides."""
        return self.taken.is_true and self.given.is_true

    @property
    def takes(self) -> Mark:
        """What waits."""
        return Mark(self.loops, self.taken)

    @property
    def gives(self) -> Mark:
        """What is waited for."""
        return Mark(self.loops, self.given)


@dataclass(frozen=True, slots=True)
class Transfer:
    """The words that are moved between an array off chip and a window, tile by tile.

    Members
    -------
    window: the memory on chip. array: the one off chip.
    levels: the tile loops, then a box with the words of a tile, the same box in every tile.
    word: the word off chip, counted from the first one of the memory. at: the word of the window.
    when: the iterations that move a word; the others pass by.
    strobes: for each element of a word, the lowest first, where a store writes it; () for a load.
    after: what it waits for: a load that reads what earlier tiles have stored, or a store that
        writes over what is read before.
    abreast: iterations of the innermost level that the mover looks at in one cycle. It moves a word
        a cycle nevertheless, but passes by as many that move none.
    """

    direction: Direction
    window: str
    array: str
    levels: tuple[Level, ...]
    word: IndexForm
    at: FoldedForm
    when: Predicate
    strobes: tuple[Predicate, ...] = ()
    after: tuple[Wait, ...] = ()
    abreast: int = 1

    def __post_init__(self) -> None:
        if self.abreast != 1:
            self._require_words_abreast()
        for form in (self.word, *self.at.forms):
            if len(form.coefficients) != len(self.levels):
                raise PlanError(f"{self.window}: {form} does not fit {len(self.levels)} levels")
        for place, level in enumerate(self.levels):
            for bound in (*level.lowers, *level.uppers):
                if any(bound.form.coefficients[place:]):
                    raise PlanError(f"{self.window}: bound {bound} looks inward")

    @property
    def copies(self) -> int:
        """Copies of the window."""
        return 1 << self.at.tile_bits

    @property
    def groups(self) -> int:
        """In how many cycles the mover looks at the words of a row."""
        return -(-self.levels[-1].extent // self.abreast)

    @property
    def place_bits(self) -> int:
        """The low bits of the place in the window that count the words of a row."""
        first = self.at.fields[0] if self.at.fields else None
        return first.width_bits if first is not None and first.form.coefficients[-1] else 0

    def _require_words_abreast(self) -> None:
        """Require that what a mover looks at in a cycle are neighbours, there and here."""
        step, *places = [form.coefficients[-1] for form in (self.word, *self.at.forms)]
        if step != 1 or places[:1] not in ([], [0], [1]) or any(places[1:]):
            raise PlanError(f"{self.window}: words abreast are no neighbours")
        if not 1 < self.abreast <= self.levels[-1].extent:
            raise PlanError(f"{self.window}: {self.abreast} words abreast")


@dataclass(frozen=True, slots=True)
class TiledRegion:
    """A region that is started once a tile.

    Members
    -------
    kernel: its streams have the tile loops as their outermost levels.
    levels: the tile loops, each with bounds that depend on outer ones alone.
    tiles: number of their iterations.
    issue_cycles: cycles from the start of a tile to that of the next, at least.
    peers: the memories that its kernel shares with that of another worker.
    after: what its kernel waits for: those that store in the ones that it loads from.
    room: the same for those that load from the ones that it stores in, before it overwrites what
        they have not read.
    """

    kernel: Region
    levels: tuple[Level, ...]
    tiles: int
    issue_cycles: int
    transfers: tuple[Transfer, ...]
    peers: tuple[str, ...] = ()
    after: tuple[Wait, ...] = ()
    room: tuple[Wait, ...] = ()

    @property
    def issue_slots(self) -> int:
        """Cycles from the first issue to after the last one, as if no word were waited for."""
        return (self.tiles - 1) * self.issue_cycles + self.kernel.issue_slots

    def __post_init__(self) -> None:
        depth = len(self.levels)
        if self.tiles < 1:
            raise PlanError("a tiled region without tiles")
        for stream in self.kernel.streams:
            if stream.tile_levels != depth or not _same(stream.levels, self.levels):
                raise PlanError(f"{stream.statement} has other tile loops than its region")
            if stream.ii * stream.count > self.issue_cycles:
                raise PlanError(f"{stream.statement} is not done when its next tile begins")
            if self.kernel.is_cut(stream):
                raise PlanError(f"{stream.statement} is cut off at the end of a tile")
        names = [transfer.window for transfer in self.transfers]
        if len(set(names)) != len(names):
            raise PlanError(f"a window has several movers: {names}")
        for transfer in self.transfers:
            if not _same(transfer.levels, self.levels):
                raise PlanError(f"{transfer.window} has other tile loops than its region")
            if not all(level.is_box for level in transfer.levels[depth:]):
                raise PlanError(f"the words of a tile in {transfer.window} are no box")
            if any(wait.loops > depth for wait in transfer.after):
                raise PlanError(f"{transfer.window} waits in loops inside of a tile")
        if any(wait.loops > depth for wait in self.waits):
            raise PlanError("a kernel waits in loops inside of a tile")
        if not {wait.window for wait in self.waits} <= set(self.peers):
            raise PlanError(f"a kernel waits for {self.waits}, and its peers are {self.peers}")
        windows = set(names)
        for stream in self.kernel.streams:
            for op in stream.operations:
                if isinstance(op, LoadOp) and op.address is None and op.memory in windows:
                    raise PlanError(f"{stream.statement} looks up the window {op.memory}")
                if isinstance(op, ChooseOp) and len(op.operands) != 2:
                    raise PlanError(f"{stream.statement} chooses between {op.operands}")

    def transfer(self, window: str) -> Transfer:
        """Return the transfer of a window; KeyError when it has none."""
        for transfer in self.transfers:
            if transfer.window == window:
                return transfer
        raise KeyError(window)

    def used_cycle(self, window: str) -> int:
        """Return the cycle of a tile after which its kernel uses the window no more.

        That is the cycle after its last address of a filled one, its last store to a drained one.
        """
        last = -1
        for stream in self.kernel.streams:
            final = stream.offset_cycles + stream.ii * (stream.count - 1)
            stages = [op.stage for op in stream.operations if _loads(op, window)]
            stages += [store.stage for store in stream.stores if store.memory == window]
            last = max([last, *(final + stage for stage in stages)])
        return last + 1

    @property
    def waits(self) -> tuple[Wait, ...]:
        """All that its kernel waits for."""
        return (*self.after, *self.room)

    @property
    def handed_cycle(self) -> int:
        """The cycle of a tile after which its kernel is done with the memories of its peers."""
        return max(map(self.used_cycle, self.peers), default=0)

    def stores_to(self, memory: str) -> bool:
        """Tell whether its kernel stores to a memory."""
        return any(store.memory == memory for s in self.kernel.streams for store in s.stores)

    def loads_from(self, memory: str) -> bool:
        """Tell whether its kernel loads from a memory."""
        return any(_loads(op, memory) for s in self.kernel.streams for op in s.operations)


@dataclass(frozen=True, slots=True)
class Workers:
    """Tiled regions that run side by side.

    They begin together, and what follows begins when all are done. Where one waits for another,
    both have as many iterations of the loops in which they wait.

    Members
    -------
    regions: one a worker.
    """

    regions: tuple[TiledRegion, ...]

    def __post_init__(self) -> None:
        if not self.regions:
            raise PlanError("no worker")
        stores: set[str] = set()
        windows: list[str] = []
        for region in self.regions:
            windows += [transfer.window for transfer in region.transfers]
            stores |= {t.window for t in region.transfers if t.direction == "store"}
        if len(set(windows)) != len(windows):
            raise PlanError(f"two workers have one window: {windows}")
        for region in self.regions:
            for transfer in region.transfers:
                if not stores.issuperset(wait.window for wait in transfer.after):
                    raise PlanError(f"{transfer.window} waits for what is not stored")
        for peer in {peer for region in self.regions for peer in region.peers}:
            users = [region for region in self.regions if peer in region.peers]
            stored = sum(region.stores_to(peer) for region in self.regions)
            loaded = sum(region.loads_from(peer) for region in self.regions)
            if len(users) > 2 or stored > 1 or loaded > 1:
                raise PlanError(f"{peer} is no memory of two workers")

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """Those of all workers."""
        return tuple(transfer for region in self.regions for transfer in region.transfers)

    def marks(self, transfer: Transfer, depth: int) -> tuple[Mark, ...]:
        """Return what a transfer counts, for its own waits and for those of others.

        Parameters
        ----------
        depth: the number of its tile loops; that all tiles count needs no mark.
        """
        own = [wait.takes for wait in transfer.after]
        found = dict.fromkeys([*own, *self.waited_for(transfer.window)])
        return tuple(mark for mark in found if mark != Mark(depth))

    def giver(self, number: int, wait: Wait) -> int:
        """Return which worker's kernel that of a worker waits for: its peer at a memory."""
        users = [n for n, region in enumerate(self.regions) if wait.window in region.peers]
        others = [n for n in users if n != number]
        return others[0] if others else number

    def kernel_marks(self, number: int) -> tuple[Mark, ...]:
        """Return what a worker's kernel counts, for its own waits and for those of others."""
        own = [wait.takes for wait in self.regions[number].waits]
        return tuple(dict.fromkeys([*own, *self.handed(number)]))

    def handed(self, number: int) -> tuple[Mark, ...]:
        """Return what other kernels wait for a worker's to be done with, each once."""
        waits = ((n, wait) for n, region in enumerate(self.regions) for wait in region.waits)
        found = (wait.gives for n, wait in waits if self.giver(n, wait) == number)
        return tuple(dict.fromkeys(found))

    def waited_for(self, window: str) -> tuple[Mark, ...]:
        """Return what others wait for the store of a window to be done with, each once."""
        waits = (wait for transfer in self.transfers for wait in transfer.after)
        return tuple(dict.fromkeys(wait.gives for wait in waits if wait.window == window))


def _same(levels: tuple[Level, ...], tile_levels: tuple[Level, ...]) -> bool:
    """Tell whether `levels` begin with the tile loops."""
    outer = levels[: len(tile_levels)]
    return list(map(_meaning, outer)) == list(map(_meaning, tile_levels))


def _meaning(level: Level) -> tuple[object, ...]:
    """Return a level without its name and without the zeros for levels further in."""
    bounds = [
        [(_trimmed(b.form.coefficients), b.form.constant, b.divisor) for b in bounds]
        for bounds in (level.lowers, level.uppers)
    ]
    return level.extent, level.at_least, bounds


def _trimmed(coefficients: tuple[int, ...]) -> tuple[int, ...]:
    """Return coefficients without the zeros at their end."""
    kept = list(coefficients)
    while kept and not kept[-1]:
        kept.pop()
    return tuple(kept)


def _loads(op: object, window: str) -> bool:
    return isinstance(op, LoadOp) and op.memory == window
