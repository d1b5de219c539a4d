"""Windows: which memories on chip the accesses of a tile kernel go to, and what moves their words.

A value that a read takes comes from one of three places, known for every instance:

- from a store on its way, by a tap, as in any island;
- from a *kept* memory, where an earlier store of these tiles has left it: in between it never goes
  off chip;
- from off chip, by way of a *filled* window: nothing in these tiles has written it before, or so
  long before that it is out of the scope of its statement (`windows.places`).

Of several workers a kept memory may be a *peer* one: a tile leaves a value there for the next row
of tiles, which is another worker's.

Of an array on chip the first and the last are one memory, the array itself.

A value goes to a kept memory where somebody reads it from there, and to a *drained* window where it
has to be off chip afterwards. A load that reads what tiles before have stored waits for these.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import prod

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.memories import numbered_name
from rtlgen.ir.plan import Memory, MemoryKind, Transfer, Wait
from rtlgen.ir.scop import Array, Statement
from rtlgen.ir.sets import attempt
from rtlgen.ir.transfer_patterns import words_in_tiles
from rtlgen.memories.folds import fields_of, folded_places
from rtlgen.memories.footprints import Footprint
from rtlgen.memories.lane_banks import LaneBanks
from rtlgen.poly.dependences import Dependence
from rtlgen.scheduling.errors import NoLanes, RaggedDomain
from rtlgen.windows.kept_memories import KeptMemory
from rtlgen.windows.movers import Moved, load_words, store_words
from rtlgen.windows.places import Key, Place, Windows
from rtlgen.windows.planner import Sized, WindowPlanner

MOST_ABREAST = 32
"""Words that a mover looks at in one cycle, each by conditions of its own."""

SHARE_OF_LOOKS = Fraction(1, 4)
"""Of a tile's cycles, what its movers may take to look at rows of which they move nothing."""

ORDER_OPERATIONS = 30_000
"""isl operations that finding pairs of accesses in different tiles may take."""


def _banks(footprint: Footprint, cuts: Mapping[int, int]) -> LaneBanks | None:
    """Return the banks of a window by low bits of its dimensions; None where it is in one piece."""
    digits = []
    for dim, bits in cuts.items():
        low, width = footprint.field(dim)
        # Where all iterations together have fewer subscripts, some lanes never run.
        digits.append((low, min(bits, width)))
    return LaneBanks.of(digits)


class WindowBuilder:
    """Plan the memories on chip one by one, and what moves their words.

    Parameters
    ----------
    sized: what stays on chip. taken: names that memories cannot have.
    copies: log2 of those of some windows; of the others there are as many as it says in `sized`.
    """

    def __init__(
        self,
        planner: WindowPlanner,
        sized: Sized,
        taken: Collection[str],
        copies: Mapping[str, int] | None = None,
    ) -> None:
        self.planner = planner
        self.kernel = planner.kernel
        self.sets = planner.sets
        self.traffic = sized.traffic
        self.passing = sized.traffic.passing
        self.kept = sized.kept
        self.handed = sized.handed
        self.is_tight = sized.is_tight
        self.peers: list[str] = []
        self.usual_copies = sized.copies
        self.copies = copies or {}
        self.names = set(taken)
        self.sources: dict[Key, list[Place]] = {key: [] for key in planner.reads}
        self.targets: dict[str, list[Place]] = {s.name: [] for s in self.kernel.statements}
        self.memories: list[Memory] = []
        self.words: dict[str, int] = {}
        self.held: dict[str, int] = {}
        self.transfers: list[Transfer] = []
        self.drained: dict[str, str] = {}
        self.issue_cycles = 1

    def windows(self) -> Windows:
        """Return the windows.

        Raises
        ------
        RaggedDomain: it takes too many conditions to tell which elements are stored.
        """
        for statement in self.kernel.statements:
            issue = self.kernel.times[statement.name]
            self._apart(issue.ii * issue.placement.count)
        for statement in self.kernel.statements:
            moved = self.traffic.store(statement)
            if moved is not None:
                self._drain(statement, moved)
        for moved, keys in self.traffic.loads():
            self._fill(moved, keys)
        if self.kernel.lanes > 1:
            # Who loads little comes first: a few words a row of tiles would wait for all others.
            self.transfers.sort(key=lambda t: (t.direction == "load", self.words[t.window]))
        for memory in self.kept:
            self._keep(memory, "kept")
            self._order_kept(memory)
        for memory in self.handed:
            self.peers.append(self._keep(memory, "peer"))
            self._order_stores(memory)
        for array in self.sets.scop.arrays:
            if array.name not in self.planner.off_chip:
                self._hold(array)
        for statement in self.kernel.statements:
            if not self.targets[statement.name]:
                self._let_go(statement)
        return Windows(
            self.planner.taps,
            self.sources,
            self.targets,
            tuple(self.memories),
            self.planner.waiting.completed(
                list(map(self._abreast, self.transfers)),
                self.drained,
                self.kernel.relations.dependences,
                bool(self.peers),
            ),
            self.words,
            self.held,
            self.issue_cycles,
            tuple(self.peers),
            self.planner.waiting.of_kernel(self.peers),
            self.planner.waiting.for_room(self.peers) if self.is_tight else (),
        )

    def _abreast(self, transfer: Transfer) -> Transfer:
        """Return a transfer whose mover passes by what it does not move as fast as it has to.

        Without lanes a tile has about as many cycles as there are words around it.
        """
        *outer, last = transfer.levels[self.kernel.depth :]
        rows = prod(level.extent for level in outer)
        if self.kernel.lanes == 1 or rows * last.extent <= self.issue_cycles or last.extent == 1:
            return transfer
        groups = max(1, int(self.issue_cycles * SHARE_OF_LOOKS) // rows)
        return replace(transfer, abreast=min(MOST_ABREAST, -(-last.extent // groups)))

    def _fill(self, moved: Moved, keys: Sequence[Key]) -> None:
        """Make a filled window for reads of an array that step alike."""
        name = numbered_name(f"{moved.footprint.array.name}_in", self.names)
        bits = self._copies_bits(name, moved, drained=False)
        try:
            transfer = load_words(moved, name, bits, self._after(keys))
        except RaggedDomain:
            # In a larger window more words around have places of their own.
            self.planner.wide.add(moved.accesses)
            moved = moved.unfolded()
            transfer = load_words(moved, name, bits, self._after(keys))
        footprint = moved.footprint
        ports = self.traffic.lane_ports(keys)
        banks = _banks(footprint, ports.cuts)
        for n, (key, (user, instances)) in enumerate(zip(keys, moved.users, strict=True)):
            fields = footprint.element_fields(user.access)
            place = Place(name, fields, instances, bits, ports.ports[n], banks, ports.own[n])
            self.sources[key].append(place)
        self._add_window(transfer, ports.count, banks)

    def _copies_bits(self, window: str, moved: Moved, *, drained: bool) -> int:
        if window in self.copies:
            return self.copies[window]
        return self.usual_copies.bits_of(moved, drained)

    def _after(self, keys: Sequence[Key]) -> list[Wait]:
        """Return the stores that a load waits for, and how far before it they are in tiles."""
        pairs: dict[str, isl.Map] = {}
        for key in keys:
            for source, found in self.passing.awaited[key].items():
                window = self.drained[source]
                pairs[window] = pairs[window].union(found) if window in pairs else found
        return self.planner.waiting.of_load(pairs)

    def _keep(self, memory: KeptMemory, what: str) -> str:
        """Add a memory for the values of a statement that are read from one; return its name."""
        statement = memory.kept.statement
        array = self.sets.scop.array(statement.write.array)
        name = numbered_name(f"{array.name}_{what}", self.names)
        banks, ports = memory.banks, memory.ports
        written = Place(name, memory.fields, memory.kept.written, banks=banks)
        self.targets[statement.name].append(written)
        for n, flow in enumerate(memory.flows):
            fields = fields_of(self.planner.keeper.read(flow.key), memory.bits)
            port, own = ports.ports[n], ports.own[n]
            place = Place(name, fields, flow.sinks, 0, port, banks, own, flow.around)
            self.sources[flow.key].append(place)
        self.memories.append(self._memory(name, array, "block", memory.depth, ports.count, banks))
        return name

    def _order_stores(self, memory: KeptMemory) -> None:
        """Let tiles be so far apart that a lane's stores come behind all those of the tile before.

        Stores of one lane are in order, since its tiles do not overlap.
        """
        if not self.kernel.in_step:
            # A lane may be in a tile yet when others are in the next one.
            stored = self._stored(memory.kept.statement.name)
            places = self._places_of(memory)
            self._in_order(partial(places.apply_range, places.reverse()), stored, stored)

    def _places_of(self, memory: KeptMemory) -> isl.Map:
        """Return where in a memory the values go that it keeps."""
        statement = memory.kept.statement
        places = folded_places(self.sets, statement, statement.write, memory.bits)
        return places.intersect_domain(memory.kept.written)

    def _order_kept(self, memory: KeptMemory) -> None:
        """Let tiles be so far apart that what is in order tile by tile is so in time, too."""
        self._order_stores(memory)
        stored, places = self._stored(memory.kept.statement.name), self._places_of(memory)
        bits = memory.bits
        for flow in memory.flows:
            key = flow.key
            read = key[0], self.kernel.address_cycle(*key)
            seen = folded_places(
                self.sets, self.sets.scop.statement(key[0]), self.planner.keeper.read(key), bits
            )
            seen = seen.intersect_domain(flow.sinks)
            self._in_order(flow.flow.relation.coalesce, stored, read)
            self._in_order(partial(seen.apply_range, places.reverse()), read, stored)

    def _in_order(
        self, pairs: Callable[[], isl.Map], early: tuple[str, Affine], late: tuple[str, Affine]
    ) -> None:
        """Let tiles be so far apart that pairs in different ones are in order.

        Where it takes too long to tell which pairs there are, all are.
        """
        # Of several workers, tiles that follow each other are far apart in the order of all.
        in_turn = self.planner.waiting.space is None
        distance = attempt(
            self.sets.context,
            ORDER_OPERATIONS,
            lambda: self.kernel.distance(pairs(), early, late, self.issue_cycles, in_turn=in_turn),
        )
        if distance is None:
            distance = self.kernel.longest(early) - self.kernel.shortest(late) + 1
        self._apart(distance)

    def _apart(self, cycles: int) -> None:
        self.issue_cycles = max(self.issue_cycles, cycles)

    def _drain(self, statement: Statement, moved: Moved) -> None:
        footprint = moved.footprint
        name = self.drained[statement.name] = numbered_name(
            f"{footprint.array.name}_out", self.names
        )
        bits = self._copies_bits(name, moved, drained=True)
        try:
            transfer = store_words(moved, name, bits)
        except RaggedDomain:
            if any(s.write.array == footprint.array.name for s in self._others(statement)):
                raise
            # Nobody else writes these elements: a value that is not the last one does no harm.
            moved = moved.everywhere()
            transfer = store_words(moved, name, bits)
        ((user, instances),) = moved.users
        fields = footprint.element_fields(user.access)
        told = self.planner.keeper.tellable(statement, [[instances]])
        self.planner.keeper.stored_dim(statement)
        banks = _banks(footprint, self.traffic.store_cuts(statement))
        place = Place(name, fields, told, bits, banks=banks)
        self.targets[statement.name].append(place)
        self._add_window(transfer, 1, banks)

    def _others(self, statement: Statement) -> list[Statement]:
        return [other for other in self.kernel.statements if other is not statement]

    def _hold(self, array: Array) -> None:
        """Let an array on chip be its own memory, for all tiles."""
        ports = 0
        alone = {s.name: self.passing.stored[s.name] for s in self.kernel.statements}
        stored = self.kernel.relations.flows.with_scatters(self.sets, alone)
        for key, _, left in self.planner.instances:
            access = self.planner.keeper.read(key)
            if access.array != array.name:
                continue
            for flow in self.kernel.relations.feeding(*key):
                through = flow.relation.intersect_range(left)
                stored[flow.source] = stored[flow.source].union(through.domain())
                read = key[0], self.kernel.address_cycle(*key)
                self._in_order(through.coalesce, self._stored(flow.source), read)
            if not left.is_empty():
                place = None if access.is_lookup else self.sets.scop.element_number(access)
                own = self.planner.keeper.ports_of(access, [])
                source = Place(array.name, place, left.coalesce(), 0, ports, None, own > 1)
                self.sources[key].append(source)
                ports += own
        writers = [s for s in self.kernel.statements if s.write.array == array.name]
        if writers and self.kernel.lanes > 1:
            raise NoLanes.of_store(writers[0], f"{array.name} is on chip, with one write port")
        for statement in writers:
            place = None
            if not statement.is_scatter:
                place = self.sets.scop.element_number(statement.write)
            instances = stored[statement.name].coalesce()
            self.targets[statement.name].append(Place(array.name, place, instances))
        if len(writers) > 1:
            # Their stores keep apart in a tile, and tiles do.
            self._apart(max(self._stored_last(statement) for statement in writers) + 1)
        for d in self.kernel.relations.dependences:
            if d.array == array.name and d.kind != "flow" and self._orders(d):
                late = self._stored(d.sink)
                early = (
                    self._stored(d.source)
                    if d.source_read is None
                    else (d.source, self.kernel.address_cycle(d.source, d.source_read))
                )
                self._in_order(d.relation.coalesce, early, late)
        self.held[array.name] = max(1, ports)

    def _let_go(self, statement: Statement) -> None:
        """Let the values of a statement, which no memory has to hold, be stored nowhere.

        Others may take them on their way. A stream has a store, which never happens here.
        """
        array = self.sets.scop.array(statement.write.array)
        name = numbered_name(f"{array.name}_passed", self.names)
        nowhere = isl.Set.empty(self.sets.domains[statement.name].get_space())
        self.targets[statement.name].append(Place(name, Affine(), nowhere))
        self.memories.append(self._memory(name, array, "register", 1, 1))

    def _orders(self, dependence: Dependence) -> bool:
        """A read whose value does not matter orders nothing."""
        reads = self.kernel.timing.datapaths[dependence.source].node_of_read
        return dependence.source_read is None or dependence.source_read in reads

    def _stored(self, name: str) -> tuple[str, Affine]:
        return name, self.kernel.store_cycle(name)

    def _stored_last(self, statement: Statement) -> int:
        issue = self.kernel.times[statement.name]
        stage = self.kernel.timing.datapaths[statement.name].result_stage
        return issue.offset + issue.ii * (issue.placement.count - 1) + stage

    def _add_window(self, transfer: Transfer, ports: int, banks: LaneBanks | None) -> None:
        array = self.sets.scop.array(transfer.array)
        kind: MemoryKind = "filled" if transfer.direction == "load" else "drained"
        depth = self.planner.word_bits // array.element.width_bits << transfer.at.width_bits
        self.memories.append(self._memory(transfer.window, array, kind, depth, ports, banks))
        self.transfers.append(transfer)
        self.words[transfer.window] = words_in_tiles(transfer, self.kernel.depth)

    def _memory(
        self,
        name: str,
        array: Array,
        kind: MemoryKind,
        depth: int,
        ports: int,
        banks: LaneBanks | None = None,
    ) -> Memory:
        memory = Memory(
            name=name,
            width_bits=array.element.width_bits,
            signed=array.element.signed,
            shape=(depth,) if banks is None else banks.shape(depth),
            cuts=() if banks is None else banks.cuts,
            role="local",
            storage="local",
            kind=kind,
            read_ports=ports,
            read_latency_cycles=self.planner.target.memory_read_latency_cycles,
            collision_free=True,
            word_bits=self.planner.word_bits if kind in ("filled", "drained") else 0,
        )
        if not memory.is_ram:
            return memory
        target, is_one_of_many = self.planner.target, bool(memory.cuts)
        style = target.ram_style(memory.ram_words, is_one_of_many=is_one_of_many)
        return replace(memory, style=style)
