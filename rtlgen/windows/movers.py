"""Movers: the words that every tile loads or stores, in pieces of simple shapes.

Words in simple shapes, around those that are needed: a comparison a side of each piece.

What tiles read from off chip is often in several places, such as the first sweep of a stencil and
the borders of all others. One shape around all of it would be nearly everything.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial, reduce
from itertools import combinations
from typing import TypeAlias

import islpy as isl

from rtlgen.errors import Label
from rtlgen.ir.plan import Condition, Direction, Predicate, Transfer, Wait
from rtlgen.ir.schedule import NestLoop
from rtlgen.ir.scop import Access
from rtlgen.ir.sets import ScopSets, attempt, for_each
from rtlgen.memories.footprints import Footprint, User, folded_form
from rtlgen.memories.predicates import counter_box, index_form, predicate_within
from rtlgen.poly.counting import count_points
from rtlgen.scheduling.errors import RaggedDomain
from rtlgen.scheduling.stream_builder import level_of

PIECE_OPERATIONS = 50_000
"""isl operations that it may take to tell the words of a piece, or to join two."""

MOST_PIECES = 16
"""Pieces of a set of words that are joined two by two; of more, all are at once."""


class Pieces:
    """Words in pieces without holes, of which two by two are joined to one around both.

    Parameters
    ----------
    words: [tile, word], as `there` and `box`, which have all words and all counters.
    most: conditions that may tell them. will_do: whether some words can be moved.
    """

    def __init__(
        self,
        words: isl.Set,
        there: isl.Set,
        box: isl.Set,
        most: int,
        will_do: Callable[[isl.Set], bool],
    ) -> None:
        self.there, self.box, self.most, self.will_do = there, box, most, will_do
        self.context = words.get_ctx()
        basics = for_each(words.foreach_basic_set)
        # A hole that a quotient makes is filled.
        self.pieces = [basic.remove_divs() for basic in basics]
        if len(basics) > MOST_PIECES:
            self.pieces = [_common(words)]
        self.told = list(map(self._told, self.pieces))
        self.around = {
            pair: self._around(*pair) for pair in combinations(range(len(self.pieces)), 2)
        }

    def joined(self) -> Iterator[Predicate]:
        """Yield predicates for the words in fewer and fewer pieces.

        Those are joined first that have the most in common.
        """
        left = list(range(len(self.pieces)))
        while True:
            found = self._of([self.told[k] for k in left])
            if found is not None and self._will_do([self.pieces[k] for k in left]):
                yield found
            pairs = ((pair, self.around[pair]) for pair in combinations(left, 2))
            choices = [(pair, around) for pair, around in pairs if around is not None]
            if not choices:
                return
            pair, around = min(choices, key=lambda choice: _looseness(choice[1]))
            left = [k for k in left if k not in pair]
            new = len(self.pieces)
            self.pieces.append(around)
            self.told.append(self._told(around))
            self.around.update({(k, new): self._around(k, new) for k in left})
            left.append(new)

    def _of(self, told: Sequence[Predicate | None]) -> Predicate | None:
        """Return the predicate that one of some holds, if it can be built."""
        alternatives: list[tuple[Condition, ...]] = []
        for when in told:
            if when is None:
                return None
            alternatives += when.alternatives
        few = sum(map(len, alternatives)) <= self.most
        return Predicate(tuple(alternatives)) if few else None

    def _told(self, piece: isl.BasicSet) -> Predicate | None:
        words = isl.Set.from_basic_set(piece)
        return attempt(
            self.context,
            PIECE_OPERATIONS,
            lambda: predicate_within(self.there.intersect(words), self.box, self.most),
        )

    def _around(self, first: int, second: int) -> isl.BasicSet | None:
        both = self.pieces[first].union(self.pieces[second])
        return attempt(self.context, PIECE_OPERATIONS, lambda: _common(both))

    def _will_do(self, pieces: Sequence[isl.BasicSet]) -> bool:
        words = reduce(isl.Set.union, map(isl.Set.from_basic_set, pieces)).intersect(self.there)
        found = attempt(self.context, PIECE_OPERATIONS, lambda: self.will_do(words))
        return found is True


def _common(words: isl.Set) -> isl.BasicSet:
    """Return the constraints that all words keep to, of those that some have."""
    return words.simple_hull().remove_divs()


def _looseness(piece: isl.BasicSet) -> tuple[int, int]:
    """Return how little ties a piece down: few equations, then few constraints."""
    constraints = for_each(piece.foreach_constraint)
    equations = sum(1 for constraint in constraints if constraint.is_equality())
    return -equations, -len(constraints)


FOLD_OPERATIONS = 300_000
"""isl operations that it may take to know whether the words of a tile have places."""

MOVER_CONDITIONS = 64
"""Conditions that may tell which words move: a word less saves cycles in every run."""


Accesses: TypeAlias = tuple[tuple[str, Access], ...]
"""Of which statements, and where to."""


@dataclass(frozen=True, slots=True, eq=False)
class Moved:
    """What the tiles touch of an array through accesses that step alike.

    Members
    -------
    users: the accesses, and the instances of each for which a word is moved.
    name: of these accesses; "" where their instances depend on the order of the tiles.
    """

    sets: ScopSets
    footprint: Footprint
    users: tuple[tuple[User, isl.Set], ...]
    name: str = ""

    def words(self, lane: int | None = None) -> isl.Set:
        """Return [tile, word] of the words that are touched, in one lane or in any."""
        return reduce(isl.Set.union, [self.by(user, lane) for user in self.users]).coalesce()

    def by(self, user: tuple[User, isl.Set], lane: int | None = None) -> isl.Set:
        """Return the same for one of the users."""
        return self.footprint.words_touched(self.sets, *user, lane)

    def everywhere(self) -> Moved:
        """Return the same for all instances of the statements."""
        users = tuple((user, self.sets.domains[user.statement.name]) for user, _ in self.users)
        return Moved(self.sets, self.footprint, users)

    def folded(self, least: Sequence[int], touched: isl.Set) -> Moved:
        """Return the same in a window that is as small as keeps its words apart.

        Parameters
        ----------
        least: bits of every dimension that it has to have. touched: [tile, word] of all words that
            somebody writes to the window.
        """
        loops = self.footprint.loops()
        words, found = _from_first(touched, loops), self
        for dim in reversed(range(len(least))):
            while found.footprint.widths[dim] > least[dim]:
                fewer = list(found.footprint.widths)
                fewer[dim] -= 1
                narrow = replace(self, footprint=replace(self.footprint, folds=tuple(fewer)))
                are_apart = partial(_have_places, words, narrow)
                if not attempt(self.sets.context, FOLD_OPERATIONS, are_apart):
                    break
                found = narrow
        return found

    @property
    def accesses(self) -> Accesses:
        """What it is moved for."""
        return tuple((user.statement.name, user.access) for user, _ in self.users)

    def unfolded(self) -> Moved:
        """Return the same in a window in which all words around have places of their own."""
        return replace(self, footprint=replace(self.footprint, folds=None))

    def window_words(self, copies_bits: int) -> int:
        """Return the words of a window for it."""
        fields = self.footprint.word_fields()
        return 1 << sum(bits for _, bits in fields) + copies_bits


class WordCounts:
    """How many words tiles of certain sizes move: mostly the same in whatever order they run."""

    def __init__(self) -> None:
        self._known: dict[str, int] = {}

    def of(self, moved: Moved) -> int:
        """Return how many words all tiles together move, of those that are needed."""
        if not moved.name:
            return count_points(moved.words())
        if moved.name not in self._known:
            self._known[moved.name] = count_points(moved.words())
        return self._known[moved.name]


def load_words(moved: Moved, window: str, copies_bits: int, after: Sequence[Wait]) -> Transfer:
    """Return what fills a window.

    Parameters
    ----------
    after: the stores that it waits for.

    Raises
    ------
    RaggedDomain: it takes too many conditions to tell which words are moved.
    """
    loops = moved.footprint.loops()
    box = counter_box(moved.sets, loops)
    when = next(_telling(moved, loops, box), None)
    if when is None:
        raise _untold(moved)
    transfer = _transfer("load", moved, window, copies_bits, when)
    return replace(transfer, after=tuple(after))


def _telling(moved: Moved, loops: Sequence[NestLoop], box: isl.Set) -> Iterator[Predicate]:
    """Yield predicates for the words that a load needs, or for more and more around them.

    A word too many does no harm, as long as it is there, and has a place of its own in the window.
    """
    needed = _from_first(moved.words(), loops)
    exact = predicate_within(needed, box, MOVER_CONDITIONS)
    if exact is not None:
        yield exact
    there = _from_first(moved.footprint.words_there(moved.sets), loops)
    are_apart = partial(_have_places, moved=moved)
    yield from Pieces(needed, there, box, MOVER_CONDITIONS, are_apart).joined()
    parts = [_hull(_from_first(moved.by(user), loops)) for user in moved.users]
    apart = reduce(isl.Set.union, parts).intersect(there).coalesce()
    for words in (apart, there):
        when = predicate_within(words, box, MOVER_CONDITIONS)
        if when is not None and _have_places(words, moved):
            yield when


def _have_places(words: isl.Set, moved: Moved) -> bool:
    """Tell whether no two words of a tile share a place of the window, as it is folded.

    Parameters
    ----------
    words: [tile, word], every loop counted from its first iteration.
    """
    footprint, space = moved.footprint, words.get_space()
    loops = footprint.loops()
    local = isl.LocalSpace.from_space(space)
    places = [
        isl.Aff.var_on_domain(local, isl.dim_type.set, k) for k in range(len(footprint.tile_loops))
    ]
    for field in folded_form(footprint.word_fields(), 0, loops).fields:
        form = isl.Aff.zero_on_domain(local).set_constant_val(field.form.constant)
        for k, coefficient in enumerate(field.form.coefficients):
            form = form.set_coefficient_val(isl.dim_type.in_, k, coefficient)
        places.append(form.mod_val(1 << field.width_bits))
    place = reduce(isl.Map.flat_range_product, [isl.Map.from_aff(aff) for aff in places])
    return place.intersect_domain(words).is_injective()


def _hull(words: isl.Set) -> isl.Set:
    """Return the set between the constraints that some words already have.

    isl's convex hull takes long, and may crash where it is not let finish.
    """
    return isl.Set.from_basic_set(words.simple_hull())


def store_words(moved: Moved, window: str, copies_bits: int) -> Transfer:
    """Return what drains a window.

    Raises
    ------
    RaggedDomain: it takes too many conditions to tell which elements are stored.
    """
    loops = moved.footprint.loops()
    box = counter_box(moved.sets, loops)
    found = _from_first(moved.words(), loops)
    when = predicate_within(found, box, MOVER_CONDITIONS)
    if when is None:
        raise _untold(moved)
    strobes = []
    for lane in range(moved.footprint.lanes):
        strobe = predicate_within(
            _from_first(moved.words(lane), loops), box.intersect(found), MOVER_CONDITIONS
        )
        if strobe is None:
            raise _untold(moved, lane)
        strobes.append(strobe)
    transfer = _transfer("store", moved, window, copies_bits, when)
    return replace(transfer, strobes=tuple(strobes))


def _transfer(
    direction: Direction, moved: Moved, window: str, copies_bits: int, when: Predicate
) -> Transfer:
    """Return the transfer of the words for which a predicate holds."""
    footprint = moved.footprint
    loops = footprint.loops()
    return Transfer(
        direction=direction,
        window=window,
        array=footprint.array.name,
        levels=tuple(level_of(loop, loops) for loop in loops),
        word=index_form(footprint.word(), loops),
        at=folded_form(footprint.word_fields(), copies_bits, loops),
        when=when,
    )


def _untold(moved: Moved, lane: int | None = None) -> RaggedDomain:
    """Return the error for words, or elements of words, that comparisons cannot tell.

    Parameters
    ----------
    lane: of the elements in their words; None for whole words.
    """
    footprint = moved.footprint
    array = moved.sets.scop.array(footprint.array.name)
    which = f"the words of {array.name} that a tile moves"
    if lane is not None:
        which = f"the words of {array.name} whose element {lane} of {footprint.lanes} a tile stores"
    spans = [user.access.span for user, _ in moved.users]
    return RaggedDomain(
        f"{which} have no simple description",
        labels=(Label(spans[0], "does not step by whole words"),),
        notes=(f"to tell them takes a quotient, or more than {MOVER_CONDITIONS} comparisons",),
        help=f"give other tiles, or none, or say --memory {array.name}=onchip",
    )


def _from_first(words: isl.Set, loops: Sequence[NestLoop]) -> isl.Set:
    """Return [tile, word] with every loop counted from its first iteration."""
    space = words.get_space()
    shift = isl.MultiAff.identity_on_domain_space(space)
    for place, loop in enumerate(loops):
        first = isl.Val(loop.first, words.get_ctx())
        shift = shift.set_aff(place, shift.get_aff(place).add_constant_val(first))
    return words.preimage_multi_aff(shift)
