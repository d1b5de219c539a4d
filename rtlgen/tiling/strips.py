"""A unit in strips of tiles, as broad as the RAM allows.

Of the values, those that are read in the strip that writes them all stay on chip. They take the
more RAM the broader it is, and the broader it is, the fewer words are moved.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

from rtlgen.ir.effort import keep_going
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
