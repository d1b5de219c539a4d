"""Where the values of a tile kernel are: on chip, passed through the memory off chip, or kept.

What passes from tile to tile through the memory off chip, and what stays on chip until then.

A value that a later tile reads is kept on chip as long as both tiles are in one iteration of the
outermost tile loops; how many loops those are is the *scope* of the statement that writes it: 0 for
all tiles, the number of tile loops for a single tile. Farther than that it is stored, and loaded
again.

Where workers share the iterations of a tile loop in turn, a value that is read in the next one may
be *handed over*: it goes to a memory of the worker that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.plan import Address, Memory, Transfer, Wait
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.sets import equal_outer
from rtlgen.memories.footprints import Fields, folded_form
from rtlgen.memories.forwarding import TapSet
from rtlgen.memories.lane_banks import LaneBanks
from rtlgen.memories.predicates import index_form
from rtlgen.poly.dependences import Flow
from rtlgen.poly.tiling import Crossings

Key: TypeAlias = tuple[str, int]
"""A statement, and the number of one of its reads."""

Read: TypeAlias = tuple[Key, isl.Set, isl.Set]
"""A read, its instances, and those that no tap serves."""

Scopes: TypeAlias = Mapping[str, int]
"""By statement, how many outermost tile loops its values stay on chip in one iteration of."""


@dataclass(frozen=True, slots=True, eq=False)
class KeptFlow:
    """A flow whose values stay on chip.

    Members
    -------
    flow: restricted to its instances. sinks: these. sources: at least those whose value they take.
    around: sinks, and those that would be, did no tap serve them.
    """

    key: Key
    flow: Flow
    sinks: isl.Set
    sources: isl.Set
    around: isl.Set


@dataclass(frozen=True, slots=True, eq=False)
class Passing:
    """What is loaded and stored.

    Members
    -------
    kept: by the statement that writes, what is read from on chip. handed: the same of what is read
        in the next iteration of the loop that is shared.
    loaded: by read, the instances that take their value from off chip.
    awaited: by read, the pairs of tiles among the flows of these, by the statement that writes.
    stored: by statement, the instances whose value has to be off chip.
    """

    kept: Mapping[str, tuple[KeptFlow, ...]]
    loaded: Mapping[Key, isl.Set]
    awaited: Mapping[Key, Mapping[str, isl.Map]]
    stored: Mapping[str, isl.Set]
    handed: Mapping[str, tuple[KeptFlow, ...]] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class HandingOver:
    """What is handed over.

    Members
    -------
    loop: whose iterations are workers', in turn. statements: whose values are.
    """

    loop: int
    statements: frozenset[str]

    def without(self, statement: str) -> HandingOver:
        """Return the same without the values of a statement."""
        return HandingOver(self.loop, self.statements - {statement})


def passing(
    crossings: Crossings,
    reads: Iterable[Read],
    off_chip: Collection[str],
    scopes: Scopes,
    over: HandingOver | None = None,
) -> Passing:
    """Return what passes through the memory off chip.

    Parameters
    ----------
    reads: those that matter. off_chip: names of arrays. over: what is handed over.
    """
    relations = crossings.relations
    scop = relations.sets.scop
    kept: dict[str, list[KeptFlow]] = {}
    handed: dict[str, list[KeptFlow]] = {}
    loaded: dict[Key, isl.Set] = {}
    awaited: dict[Key, dict[str, isl.Map]] = {}
    stored = {s.name: relations.flows.live_out[s.name] for s in scop.statements}
    for key, instances, untapped in reads:
        if scop.statement(key[0]).reads[key[1]].array not in off_chip:
            continue
        # Taps are between instances of one tile: what comes from farther has none.
        left, from_far, waits = instances, [], dict[str, isl.Map]()
        for number, flow in enumerate(relations.flows.flows):
            if (flow.sink, flow.sink_read) != key:
                continue
            levels = scopes[flow.source]
            around = crossings.near_sinks(number, levels)
            near = around.intersect(untapped).coalesce()
            far = crossings.far_sinks(number, levels).intersect(instances).coalesce()
            beside = None
            if over is not None and flow.source in over.statements:
                beside = crossings.beside(number, over.loop).intersect_range(instances).coalesce()
                if not beside.is_empty():
                    passed = Flow(flow.source, flow.sink, flow.sink_read, beside)
                    sinks, sources = beside.range().coalesce(), beside.domain().coalesce()
                    handed.setdefault(flow.source, []).append(
                        KeptFlow(key, passed, sinks, sources, sinks)
                    )
                    far = far.subtract(sinks).coalesce()
            left = left.subtract(crossings.near_sinks(number, 0))
            if not near.is_empty():
                relation = equal_outer(flow.relation, levels).intersect_range(near)
                inside = Flow(flow.source, flow.sink, flow.sink_read, relation)
                sources = crossings.near_sources(number, levels)
                kept.setdefault(flow.source, []).append(
                    KeptFlow(key, inside, near, sources, around)
                )
            if not far.is_empty():
                from_far.append(far)
                leaving = relations.leaving(flow.relation, levels)
                if beside is None:
                    outside = crossings.far_sources(number, levels)
                else:
                    leaving = leaving.subtract(beside).coalesce()
                    outside = leaving.domain().coalesce()
                stored[flow.source] = stored[flow.source].union(outside).coalesce()
                pairs = relations.tile_pairs(leaving)
                known = waits.get(flow.source)
                waits[flow.source] = pairs if known is None else known.union(pairs)
        for far in from_far:
            left = left.union(far)
        if not left.is_empty():
            loaded[key] = left.coalesce()
            awaited[key] = waits
    by_writer = [{name: tuple(flows) for name, flows in found.items()} for found in (kept, handed)]
    return Passing(by_writer[0], loaded, awaited, stored, by_writer[1])


Values: TypeAlias = Mapping[str, Affine]
"""What iterators are."""


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A memory, and where in it some instances of a read or a statement find or leave their value.

    Members
    -------
    place: fields of a folded address, or the number of the element; None of one that is looked up.
    port: the read port that a read has to itself; of the first lane, where each has one.
    banks: into which the memory is cut; None: it is in one piece.
    ports_differ: whether lanes ask for several elements of a bank, each through a port of its own.
    around: instances, and some that find their value nowhere else but on its way, by a tap; None:
        there are none of these.
    """

    memory: str
    place: Fields | Affine | None
    instances: isl.Set
    tile_bits: int = 0
    port: int = 0
    banks: LaneBanks | None = None
    ports_differ: bool = False
    around: isl.Set | None = None

    @property
    def is_folded(self) -> bool:
        """Whether each address that its form can have is one of the memory."""
        return isinstance(self.place, tuple)

    def address(self, loops: Sequence[NestLoop], lane: Values) -> Address | None:
        """Return the address by the counters of a nest.

        Parameters
        ----------
        lane: what the number of the lane is.
        """
        if self.place is None:
            return None
        if isinstance(self.place, Affine):
            return index_form(self.place.substitute(lane), loops)
        fields = tuple((form.substitute(lane), bits) for form, bits in self.place)
        folded = folded_form(fields, self.tile_bits, loops)
        if self.banks is None:
            return folded
        return self.banks.address(folded, [loop.extent for loop in loops])

    def in_lane(self, here: Callable[[isl.Set], isl.Set], lane: int) -> Place:
        """Return the same for the instances of one lane, which are found by `here`."""
        port = self.port + lane * self.ports_differ
        around = None if self.around is None else here(self.around)
        return replace(self, instances=here(self.instances), port=port, around=around)


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
    peers: the memories by way of which values are handed over to the next row of tiles.
    after: what a kernel waits for, for these. room: and before it overwrites what is in them.
    """

    taps: Mapping[Key, Sequence[TapSet]]
    sources: Mapping[Key, Sequence[Place]]
    targets: Mapping[str, Sequence[Place]]
    memories: tuple[Memory, ...]
    transfers: tuple[Transfer, ...]
    words: Mapping[str, int]
    held: Mapping[str, int]
    issue_cycles: int
    peers: tuple[str, ...] = ()
    after: tuple[Wait, ...] = ()
    room: tuple[Wait, ...] = ()
