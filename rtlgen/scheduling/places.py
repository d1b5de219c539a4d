"""Where the values of a tile kernel are: its memories on chip, and instances in them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.plan import Address, Memory, Transfer, Wait
from rtlgen.ir.schedule import NestLoop
from rtlgen.scheduling.footprints import Fields, folded_form
from rtlgen.scheduling.forwarding import TapSet
from rtlgen.scheduling.lane_banks import LaneBanks
from rtlgen.scheduling.passing import Key
from rtlgen.scheduling.predicates import index_form

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
