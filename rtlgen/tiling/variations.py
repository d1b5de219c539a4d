"""Variations of tiles: strips as broad as the RAM allows, and copies of windows.

A unit in strips of tiles, as broad as the RAM allows.

Of the values, those that are read in the strip that writes them all stay on chip. They take the
more RAM the broader it is, and the broader it is, the fewer words are moved.

How many copies each window has, so that its mover runs ahead as far as it has to.

With few copies a mover is one tile ahead. Tiles that move more than others then make the kernel
wait, though the bus is idle before them. More copies take more RAM, and which windows gain by them
depends on all others: so all have many first, and those go that are missed least.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial

from rtlgen.ir.effort import keep_going
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan import TiledRegion, Transfer
from rtlgen.ir.timeline import workers_cycles
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.tiling.cut import CutPart
from rtlgen.tiling.form import Form
from rtlgen.tiling.part import Held, TiledPart
from rtlgen.transforms.tile_nests import Tiling, inner_strip_order, strip_order

MOST_HALVINGS = 2
"""Widths that are tried between one that fits and its double, where the one before it is too wide:
folds are powers of two, and what a strip reads of its neighbours is seldom wider than a tile."""


@dataclass(frozen=True, slots=True)
class Strips:
    """Strips of one kind, by how many tiles they are wide.

    Members
    -------
    along: tiles along the loop that is cut into strips. powers: whether the width is a power of two
        tiles; else any number of them.
    """

    along: int
    in_order: Callable[[int], Tiling]
    powers: bool = False

    def widest(self) -> int:
        """Return the width of the widest strips that are narrower than the whole."""
        if self.powers:
            return 1 << max(0, self.along.bit_length() - 2)
        return self.along - 1

    def after(self, width: int) -> int:
        """Return the next larger width."""
        return 2 * width if self.powers else width + 1


def kinds_of_strips(form: Form, sizes: tuple[int, ...]) -> Iterator[Strips]:
    """Yield the kinds of strips that tiles of some sizes can be in."""
    if len(sizes) < 2:
        return
    # Those asked for may be of the outer loops alone.
    along = -(-form.cuts.lengths[0] // sizes[0])
    for slanted in (True, False):
        yield Strips(along, partial(strip_order, sizes, slanted=slanted), powers=True)
    for loop in range(2, len(sizes)):
        yield inner_strips(form, sizes, loop)


def inner_strips(form: Form, sizes: tuple[int, ...], loop: int) -> Strips:
    """Return strips along an inner loop alone."""
    along = -(-form.cuts.lengths[loop] // sizes[loop])
    return Strips(along, partial(inner_strip_order, sizes, loop=loop))


class StripSearch:
    """Look for the widest strips of which the RAM keeps all values.

    Parameters
    ----------
    fewest: cycles to beat. Narrow strips move no fewer words than wide ones.
    """

    def __init__(self, form: Form, strips: Strips, fewest: int) -> None:
        self.form = form
        self.strips = strips
        self.fewest = fewest

    def best(self, *, partly: bool, like: int | None = None) -> TiledPart | None:
        """Return the unit in the widest strips of which the RAM keeps all values.

        None where no strips take few enough cycles.

        Parameters
        ----------
        partly: whether the RAM keeps what it can of the narrowest ones, where it keeps all of none.
        like: the width of the best strips of other tiles, which may be that of these.
        """
        widest = self.strips.widest()
        if widest < 2 or self._if_few(widest) is None:
            return None
        if like is not None and 2 < like <= widest:
            cut, held = self._held(like)
            if cut is not None and held is not None:
                if held.fits:
                    return self.form.plan(self._widened(like, cut, held, is_likely=True))
                # What narrow strips keep is in proportion: no less than they are narrower.
                if held.around_bits + 2 * held.kept_bits // like > held.budget_bits:
                    return None
        width = 2
        while (cut := self._if_few(width)) is None:
            width *= 2
            if width > widest:
                return None
        held = self.form.held_in_strips(cut)
        if held is not None and held.fits:
            cut = self._widened(width, cut, held)
        elif not partly:
            return None
        return self.form.plan(cut)

    def _if_few(self, width: int) -> CutPart | None:
        """Return the unit in strips; None where that is illegal, or takes too many cycles.

        It takes those of the bus at least, where all values stay on chip in their strip.
        """
        keep_going()
        cut = self.form.cuts.in_order(self.strips.in_order(width))
        if cut is None or self.form.busy_in_strips(cut) >= self.fewest:
            return None
        return cut

    def _widened(self, width: int, cut: CutPart, held: Held, *, is_likely: bool = False) -> CutPart:
        """Return the widest strips that fit, as far as is worth a search.

        Parameters
        ----------
        is_likely: whether there may well be no wider ones.
        """
        low, high, best, halvings = width, self.strips.after(self.strips.widest()), cut, 0
        if is_likely and high > self.strips.after(low):
            found = self._fitting(self.strips.after(low))
            if found is None:
                return cut
            low, (best, held) = self.strips.after(low), found
        while high > self.strips.after(low) and halvings < MOST_HALVINGS:
            wider = self._room(low, held)
            if not low < wider < high:
                halvings += high <= 2 * low
                wider = self._between(low, high)
            found = self._fitting(wider)
            if found is None:
                high = wider
            else:
                low, (best, held) = wider, found
        return best

    def _between(self, low: int, high: int) -> int:
        """Return a width between two: as many times the one as the other is times it."""
        if high > 2 * low:
            return low << (high // low).bit_length() // 2
        return (low + high) // 2

    def _room(self, width: int, held: Held) -> int:
        """Return how wide strips may be that fit, as those of one width suggest.

        Folds are powers of two, and so is what they take: for one tile more it is as much, or twice
        as much.
        """
        times = 1
        while held.around_bits + 2 * times * held.kept_bits <= held.budget_bits:
            times *= 2
        most = times * width if self.strips.powers else 2 * times * width - 1
        return min(most, self.strips.widest())

    def _fitting(self, width: int) -> tuple[CutPart, Held] | None:
        cut, held = self._held(width)
        return (cut, held) if cut is not None and held is not None and held.fits else None

    def _held(self, width: int) -> tuple[CutPart | None, Held | None]:
        """Return strips of some width, and the RAM that they take; None where they are no good."""
        cut = self._if_few(width)
        return cut, None if cut is None else self.form.held_in_strips(cut)


MOST_BITS = 3
"""Log2 of the copies that a window has at most."""

LONG_TILES, LONG_BITS = 6_000, 2
"""Tiles of a unit from which on windows have fewer at most: it takes longer to follow them."""

NOT_MISSED = 1.0005
"""Times as many cycles as without them up to which copies are not missed."""

MOST_TRIED = 40
"""Choices of copies of which it is followed how long they take, before some fit."""

FOLLOWING = 100
"""Elementary steps that it counts for to follow a tile of a unit once."""


class CopySearch:
    """Find copies of the windows of a unit with which it waits less.

    Parameters
    ----------
    budget_bits: RAM that the unit may take.
    """

    def __init__(self, part: TiledPart, bus: Bus, budget_bits: int) -> None:
        self.part = part
        self.bus = bus
        workers = len(part.workers.regions)
        memories = {memory.name: memory for memory in part.windows.memories}
        self._now: dict[str, int] = {}
        self._bits: dict[str, int] = {}
        for transfer in part.region.transfers:
            memory = memories[transfer.window]
            taken = memory.depth * memory.width_bits * memory.read_ports * memory.is_ram
            self._now[transfer.window] = transfer.at.tile_bits
            self._bits[transfer.window] = workers * taken >> transfer.at.tile_bits
        self._left = budget_bits - part.ram_bits + self._taken(self._now)

    def best(self, fewest: int) -> Mapping[str, int] | None:
        """Return log2 of the copies of each window; None where none make it fast enough.

        Parameters
        ----------
        fewest: cycles of which other copies have to save some.
        """
        most = int(TOLERANCE * fewest)
        many = MOST_BITS if self.part.region.tiles < LONG_TILES else LONG_BITS
        chosen = {window: max(bits, many) for window, bits in self._now.items()}
        cycles = self._cycles(chosen, most)
        if cycles > most:
            return None
        fitting = self._fitting(chosen, cycles, most, set())
        return None if fitting is None else self._without_waste(fitting[1], most)

    def _fitting(
        self, chosen: dict[str, int], cycles: int, most: int, seen: set[tuple[int, ...]]
    ) -> tuple[int, dict[str, int]] | None:
        """Return the same with as few copies as the RAM has room for, and its cycles.

        Those go first that are missed least, then others, where that leads to fewer cycles.

        Parameters
        ----------
        seen: copies that have been looked at, of all windows; those that are now are added.
        """
        missing = self._taken(chosen) - self._left
        if missing <= 0:
            return cycles, chosen
        found = [
            (self._cycles(less, most), self._taken(less), less)
            for less in self._fewer(chosen, missing)
            if _is_new(less, seen)
        ]
        best = None
        for cycles, _, less in sorted(found, key=lambda f: f[:2]):
            if cycles > most:
                break
            fitting = self._fitting(less, cycles, most, seen)
            if fitting is not None:
                best, most = fitting, int(TOLERANCE * fitting[0])
        return best

    def _fewer(self, chosen: Mapping[str, int], missing: int) -> Iterator[dict[str, int]]:
        """Yield the same with half as many copies of one window, where that saves enough to matter.

        Parameters
        ----------
        missing: bits of RAM.
        """
        saved = {w: self._bits[w] << bits - 1 for w, bits in chosen.items() if bits > 1}
        enough = min(missing, max(saved.values(), default=0)) / 4
        for window, bits in saved.items():
            if bits >= enough:
                yield {**chosen, window: chosen[window] - 1}

    def _without_waste(self, chosen: dict[str, int], most: int) -> dict[str, int]:
        """Return the same without copies that are not missed, those that take most RAM first."""
        limit = min(most, int(NOT_MISSED * self._cycles(chosen, most)))
        for window in sorted(chosen, key=lambda w: -self._bits[w]):
            while chosen[window] > 1:
                less = {**chosen, window: chosen[window] - 1}
                if self._cycles(less, limit) > limit:
                    break
                chosen = less
        return chosen

    def _taken(self, copies: Mapping[str, int]) -> int:
        return sum(self._bits[window] << bits for window, bits in copies.items())

    def _cycles(self, copies: Mapping[str, int], most: int) -> int:
        """Return the cycles with so many copies; more than `most` where there are more."""
        keep_going(work=FOLLOWING * self.part.region.tiles)

        def with_copies(region: TiledRegion) -> TiledRegion:
            pairs = zip(region.transfers, self.part.region.transfers, strict=True)
            moved = tuple(_in_copies(own, copies[like.window]) for own, like in pairs)
            return replace(region, transfers=moved)

        workers = self.part.workers
        changed = replace(workers, regions=tuple(map(with_copies, workers.regions)))
        return workers_cycles(changed, self.bus, most)


def _in_copies(transfer: Transfer, bits: int) -> Transfer:
    return replace(transfer, at=replace(transfer.at, tile_bits=bits))


def _is_new(copies: Mapping[str, int], seen: set[tuple[int, ...]]) -> bool:
    """Tell whether copies have not been looked at, nor too many others; they are from now on."""
    key = tuple(copies.values())
    if key in seen or len(seen) >= MOST_TRIED:
        return False
    seen.add(key)
    return True
