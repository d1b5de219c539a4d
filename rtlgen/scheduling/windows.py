"""Windows: which memories on chip the accesses of a tile kernel go to, and what moves their words.

A value that a read takes comes from one of three places, known for every instance:

- from a store on its way, by a tap, as in any island;
- from a *kept* memory, where an earlier store of these tiles has left it: in between it never goes
  off chip;
- from off chip, by way of a *filled* window: nothing in these tiles has written it before.

Of an array on chip the first and the last are one memory, the array itself.

A value goes to a kept memory where somebody reads it from there, and to a *drained* window where it
has to be off chip afterwards. So nothing is loaded that was written here, and nothing is stored
twice.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.affine import Affine
from rtlgen.ir.plan import Address, Memory, MemoryKind, OffChip, Transfer
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access, Array, Statement
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Flow
from rtlgen.scheduling.errors import RaggedDomain
from rtlgen.scheduling.folds import Kept, fields_of, folded_places, smallest_fold
from rtlgen.scheduling.footprints import Fields, Footprint, User, folded_form
from rtlgen.scheduling.forwarding import TapSet
from rtlgen.scheduling.predicates import counter_box, index_form, predicate_within
from rtlgen.scheduling.stream_builder import level_of
from rtlgen.scheduling.tile_kernel import TileKernel

COPIES_BITS = 1
"""Log2 of the copies of a window: one is in use while the mover is at the other."""

Key = tuple[str, int]
"""A statement, and the number of one of its reads."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A memory, and where in it some instances of a read or a statement find or leave their value.

    Members
    -------
    place: fields of a folded address, or the number of the element; None of one that is looked up.
    port: the read port that a read has to itself.
    """

    memory: str
    place: Fields | Affine | None
    instances: isl.Set
    tile_bits: int = 0
    port: int = 0

    def address(self, loops: Sequence[NestLoop]) -> Address | None:
        """Return the address by the counters of a nest."""
        if self.place is None:
            return None
        if isinstance(self.place, Affine):
            return index_form(self.place, loops)
        return folded_form(self.place, self.tile_bits, loops)


@dataclass(frozen=True, slots=True, eq=False)
class Windows:
    """All memories of a tile kernel whose arrays are off chip.

    Members
    -------
    taps: by read. sources: by read, where the other instances find their value.
    targets: by statement, where its values go to.
    words: by window, how many its mover moves in all tiles.
    held: the arrays on chip, and how many read ports they need.
    issue_cycles: cycles from tile to tile from which on everything is in order.
    """

    taps: Mapping[Key, Sequence[TapSet]]
    sources: Mapping[Key, Sequence[Place]]
    targets: Mapping[str, Sequence[Place]]
    memories: tuple[Memory, ...]
    transfers: tuple[Transfer, ...]
    words: Mapping[str, int]
    held: Mapping[str, int]
    issue_cycles: int


class WindowPlanner:
    """Plan the windows of a tile kernel.

    Parameters
    ----------
    off_chip: the arrays off chip, by name. word_bits: of the bus.
    outliving: by statement, the instances whose value must be off chip after these tiles.
    read_latency_cycles: of block RAM.
    taken: names that memories cannot have.
    """

    def __init__(
        self,
        kernel: TileKernel,
        off_chip: Mapping[str, OffChip],
        word_bits: int,
        outliving: Mapping[str, isl.Set],
        read_latency_cycles: int,
        taken: Collection[str],
    ) -> None:
        self.kernel = kernel
        self.sets = kernel.sets
        self.off_chip = off_chip
        self.word_bits = word_bits
        self.outliving = outliving
        self.read_latency_cycles = read_latency_cycles
        self.names = set(taken)
        self.taps: dict[Key, Sequence[TapSet]] = {}
        self.sources: dict[Key, list[Place]] = {}
        self.targets: dict[str, list[Place]] = {s.name: [] for s in kernel.statements}
        self.memories: list[Memory] = []
        self.words: dict[str, int] = {}
        self.held: dict[str, int] = {}
        self.transfers: list[Transfer] = []
        self.issue_cycles = 1

    def plan(self) -> Windows:
        """Return the windows.

        Raises
        ------
        RaggedDomain: it takes too many conditions to tell which elements are stored.
        """
        for statement in self.kernel.statements:
            issue = self.kernel.times[statement.name]
            self._apart(issue.ii * issue.placement.count)
        fed, unfed = self._split_reads()
        self._fill(unfed)
        self._keep(fed)
        for statement in self.kernel.statements:
            if statement.write.array in self.off_chip:
                self._drain(statement)
        for array in self.sets.scop.arrays:
            if array.name not in self.off_chip:
                self._hold(array)
        return Windows(
            self.taps,
            self.sources,
            self.targets,
            tuple(self.memories),
            tuple(self.transfers),
            self.words,
            self.held,
            self.issue_cycles,
        )

    def _split_reads(self) -> tuple[dict[Key, list[Flow]], dict[Key, isl.Set]]:
        """Return what reads take from kept memories, and which instances take from off chip."""
        fed: dict[Key, list[Flow]] = {}
        unfed: dict[Key, isl.Set] = {}
        for statement in self.kernel.statements:
            for read in self.kernel.timing.datapaths[statement.name].node_of_read:
                key = statement.name, read
                self.taps[key] = self.kernel.taps(*key)
                self.sources[key] = []
                if statement.reads[read].array not in self.off_chip:
                    continue
                left = self.sets.accessing(statement, statement.reads[read])
                for tap in self.taps[key]:
                    left = left.subtract(tap.instances)
                for flow in self.kernel.relations.feeding(*key):
                    through = flow.relation.intersect_range(left).coalesce()
                    if not through.is_empty():
                        kept = Flow(flow.source, flow.sink, flow.sink_read, through)
                        fed.setdefault(key, []).append(kept)
                        left = left.subtract(through.range())
                if not left.is_empty():
                    unfed[key] = left.coalesce()
        return fed, unfed

    def _fill(self, unfed: Mapping[Key, isl.Set]) -> None:
        """Make a filled window for all reads of an array that step alike."""
        groups: dict[tuple[object, ...], list[Key]] = {}
        for name, read in unfed:
            access = self.sets.scop.statement(name).reads[read]
            steps = tuple(subscript.terms for subscript in access.affine)
            groups.setdefault((access.array, steps), []).append((name, read))
        for keys in groups.values():
            self._fill_window(keys, unfed)

    def _fill_window(self, keys: Sequence[Key], unfed: Mapping[Key, isl.Set]) -> None:
        statements = [self.sets.scop.statement(name) for name, _ in keys]
        users = [
            self._user(statement, statement.reads[read])
            for statement, (_, read) in zip(statements, keys, strict=True)
        ]
        footprint = self._footprint(users)
        name = self._name(f"{footprint.array.name}_in")
        words = reduce(
            isl.Set.union,
            [
                footprint.words_touched(self.sets, user, unfed[key])
                for key, user in zip(keys, users, strict=True)
            ],
        )
        for port, (key, user) in enumerate(zip(keys, users, strict=True)):
            fields = footprint.element_fields(user.access)
            self.sources[key].append(Place(name, fields, unfed[key], COPIES_BITS, port))
        self._add_window(footprint, name, len(keys), words.coalesce(), [])

    def _keep(self, fed: Mapping[Key, Sequence[Flow]]) -> None:
        """Make a kept memory for the values of every statement that are read from one."""
        by_source: dict[str, list[tuple[Key, Flow]]] = {}
        for key, flows in fed.items():
            for flow in flows:
                by_source.setdefault(flow.source, []).append((key, flow))
        for name, users in by_source.items():
            self._keep_values(self.sets.scop.statement(name), users)

    def _keep_values(self, statement: Statement, users: Sequence[tuple[Key, Flow]]) -> None:
        array = self.sets.scop.array(statement.write.array)
        kept = Kept(
            statement,
            reduce(isl.Set.union, [flow.relation.domain() for _, flow in users]).coalesce(),
            self.kernel.store_cycle(statement.name),
            tuple(flow for _, flow in users),
            tuple(self.kernel.address_cycle(*key) for key, _ in users),
        )
        bits = smallest_fold(self.sets, kept, self.kernel.depth, array.shape)
        name = self._name(f"{array.name}_kept")
        target = fields_of(statement.write, bits)
        self.targets[statement.name].append(Place(name, target, kept.written))
        for port, (key, flow) in enumerate(users):
            fields = fields_of(self._read(key), bits)
            self.sources[key].append(Place(name, fields, flow.relation.range(), 0, port))
        self._order_kept(kept, users, bits)
        depth = 1 << sum(width for _, width in target)
        self.memories.append(self._memory(name, array, "block", depth, len(users)))

    def _order_kept(
        self, kept: Kept, users: Sequence[tuple[Key, Flow]], bits: Sequence[int]
    ) -> None:
        """Let tiles be so far apart that what is in order tile by tile is so in time, too."""
        statement = kept.statement
        stored = self._stored(statement.name)
        places = folded_places(self.sets, statement, statement.write, bits)
        places = places.intersect_domain(kept.written)
        self._in_order(places.apply_range(places.reverse()), stored, stored)
        for key, flow in users:
            read = key[0], self.kernel.address_cycle(*key)
            seen = folded_places(self.sets, self.sets.scop.statement(key[0]), self._read(key), bits)
            seen = seen.intersect_domain(flow.relation.range())
            self._in_order(flow.relation, stored, read)
            self._in_order(seen.apply_range(places.reverse()), read, stored)

    def _in_order(
        self, relation: isl.Map, early: tuple[str, Affine], late: tuple[str, Affine]
    ) -> None:
        self._apart(self.kernel.distance(relation, early, late))

    def _apart(self, cycles: int) -> None:
        self.issue_cycles = max(self.issue_cycles, cycles)

    def _drain(self, statement: Statement) -> None:
        leaving = self.outliving[statement.name]
        if leaving.is_empty():
            return
        user = self._user(statement, statement.write)
        footprint = self._footprint([user])
        name = self._name(f"{footprint.array.name}_out")
        words = footprint.words_touched(self.sets, user, leaving)
        lanes = [
            footprint.words_touched(self.sets, user, leaving, lane)
            for lane in range(footprint.lanes)
        ]
        fields = footprint.element_fields(statement.write)
        self.targets[statement.name].append(Place(name, fields, leaving, COPIES_BITS))
        self._add_window(footprint, name, 1, words, lanes)

    def _hold(self, array: Array) -> None:
        """Let an array on chip be its own memory, for all tiles."""
        ports = 0
        stored = {s.name: self.outliving[s.name] for s in self.kernel.statements}
        for key in self.sources:
            access = self._read(key)
            if access.array != array.name:
                continue
            left = self.sets.accessing(self.sets.scop.statement(key[0]), access)
            for tap in self.taps[key]:
                left = left.subtract(tap.instances)
            for flow in self.kernel.relations.feeding(*key):
                through = flow.relation.intersect_range(left)
                stored[flow.source] = stored[flow.source].union(through.domain())
                read = key[0], self.kernel.address_cycle(*key)
                self._in_order(through, self._stored(flow.source), read)
            if not left.is_empty():
                place = None if access.is_lookup else self.sets.scop.element_number(access)
                self.sources[key].append(Place(array.name, place, left.coalesce(), 0, ports))
                ports += 1
        writers = [s for s in self.kernel.statements if s.write.array == array.name]
        for statement in writers:
            instances = stored[statement.name].coalesce()
            place = self.sets.scop.element_number(statement.write)
            self.targets[statement.name].append(Place(array.name, place, instances))
        if len(writers) > 1:
            # Their stores keep apart in a tile, and tiles do.
            self._apart(max(self._stored_last(statement) for statement in writers) + 1)
        for d in self.kernel.relations.dependences:
            if d.array == array.name and d.kind != "flow":
                late = self._stored(d.sink)
                early = (
                    self._stored(d.source)
                    if d.source_read is None
                    else (d.source, self.kernel.address_cycle(d.source, d.source_read))
                )
                self._in_order(d.relation, early, late)
        self.held[array.name] = max(1, ports)

    def _stored(self, name: str) -> tuple[str, Affine]:
        return name, self.kernel.store_cycle(name)

    def _stored_last(self, statement: Statement) -> int:
        issue = self.kernel.times[statement.name]
        stage = self.kernel.timing.datapaths[statement.name].result_stage
        return issue.offset + issue.ii * (issue.placement.count - 1) + stage

    def _add_window(
        self,
        footprint: Footprint,
        name: str,
        ports: int,
        words: isl.Set,
        lanes: Sequence[isl.Set],
    ) -> None:
        """Add a window and its mover; one that is drained has its words by lane, too."""
        loops = footprint.loops(self.kernel.tile_loops)
        box = counter_box(self.sets, loops)
        moved = _from_first(words, loops)
        when = predicate_within(moved, box)
        if when is None and lanes:
            raise self._untold(footprint.array.name)
        if when is None:
            # A word too many does no harm, as long as it is there.
            moved = _from_first(isl.Set.from_basic_set(words.convex_hull()), loops)
            when = predicate_within(moved, box)
        if when is None:
            raise self._untold(footprint.array.name)
        strobes = []
        for lane in lanes:
            strobe = predicate_within(_from_first(lane, loops), box.intersect(moved))
            if strobe is None:
                raise self._untold(footprint.array.name)
            strobes.append(strobe)
        self.words[name] = count_points(moved)
        at = folded_form(footprint.word_fields(), COPIES_BITS, loops)
        self.transfers.append(
            Transfer(
                direction="store" if lanes else "load",
                window=name,
                array=footprint.array.name,
                levels=tuple(level_of(loop, loops) for loop in loops),
                word=index_form(footprint.word(), loops),
                at=at,
                when=when,
                strobes=tuple(strobes),
            )
        )
        array = self.sets.scop.array(footprint.array.name)
        kind: MemoryKind = "drained" if lanes else "filled"
        depth = footprint.lanes << at.width_bits
        self.memories.append(self._memory(name, array, kind, depth, ports))

    def _untold(self, array: str) -> RaggedDomain:
        return RaggedDomain(
            f"the words of {array} that a tile moves have no simple description",
            labels=(Label(self.sets.scop.array(array).span, "an irregular part of it is moved"),),
            help="choose tiles of whole words, or keep the array on chip",
        )

    def _memory(self, name: str, array: Array, kind: MemoryKind, depth: int, ports: int) -> Memory:
        return Memory(
            name=name,
            width_bits=array.element.width_bits,
            signed=array.element.signed,
            shape=(depth,),
            role="local",
            storage="local",
            kind=kind,
            read_ports=ports,
            read_latency_cycles=self.read_latency_cycles,
            collision_free=True,
            word_bits=0 if kind == "block" else self.word_bits,
        )

    def _read(self, key: Key) -> Access:
        return self.sets.scop.statement(key[0]).reads[key[1]]

    def _user(self, statement: Statement, access: Access) -> User:
        tile = {loop.iterator for loop in self.kernel.tile_loops}
        box = self.sets.scop.schedule.box(statement.name)
        return User(statement, access, {k: ends for k, ends in box.items() if k not in tile})

    def _footprint(self, users: Sequence[User]) -> Footprint:
        array = self.off_chip[users[0].access.array]
        tile = tuple(loop.iterator or "" for loop in self.kernel.tile_loops)
        return Footprint.of(array, self.word_bits // array.width_bits, tile, users)

    def _name(self, wanted: str) -> str:
        name, number = wanted, 0
        while name in self.names:
            number += 1
            name = f"{wanted}{number}"
        self.names.add(name)
        return name


def _from_first(words: isl.Set, loops: Sequence[NestLoop]) -> isl.Set:
    """Return [tile, word] with every loop counted from its first iteration."""
    space = words.get_space()
    shift = isl.MultiAff.identity_on_domain_space(space)
    for place, loop in enumerate(loops):
        first = isl.Val(loop.first, words.get_ctx())
        shift = shift.set_aff(place, shift.get_aff(place).add_constant_val(first))
    return words.preimage_multi_aff(shift)
