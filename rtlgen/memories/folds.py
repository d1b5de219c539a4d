"""Folds: how few words hold the values that tiles leave for later ones.

Each dimension of an array is folded by itself, to its low bits. A fold is right if no store goes to
the place of a value that is still to be read:

    p writes, q reads what p wrote, p' writes to the place of p:   never  p < p' <= q

in the order of tiles, and inside of a tile of cycles. That is a question whether a set is empty,
for all sizes at once; a pair of it is the witness.

Reference: De Greef, Catthoor, De Man, "Memory size reduction through storage order optimization",
1997; Darte, Schreiber, Villard, "Lattice-based memory allocation", IEEE TC 2005.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Protocol, TypeAlias

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, affine_text, point_values
from rtlgen.memories.footprints import Fields
from rtlgen.poly.dependences import Flow


@dataclass(frozen=True, slots=True, eq=False)
class Kept:
    """Values of one statement that stay on chip until they are read.

    Members
    -------
    flows: to the reads that take them from there, restricted to these instances.
    written: the instances that write them. store_cycle: the cycle of the store in its tile.
    read_cycles: of each flow, the cycle in its tile in which the address is presented.
    """

    statement: Statement
    written: isl.Set
    store_cycle: Affine
    flows: tuple[Flow, ...]
    read_cycles: tuple[Affine, ...]


def folded_places(
    sets: ScopSets, statement: Statement, access: Access, bits: Sequence[int]
) -> isl.Map:
    """Return {instance -> subscripts, each modulo a power of two}."""
    names = statement.iterators
    images = [
        f"({affine_text(subscript, names)}) mod {1 << width}" if width else "0"
        for subscript, width in zip(access.affine, bits, strict=True)
    ]
    dims = ",".join(f"d{k}" for k in range(len(names)))
    tuple_name = sets.statement_tuple(statement.name)
    return sets.read_map(f"{{ {tuple_name}[{dims}] -> [{','.join(images)}] }}")


def sharing_places(
    sets: ScopSets, statement: Statement, written: isl.Set, bits: Sequence[int]
) -> isl.Map:
    """Return {instance -> instance} of a statement whose values go to one place.

    Parameters
    ----------
    written: those that write values.
    """
    write = statement.write
    names = statement.iterators
    shape = sets.scop.array(write.array).shape
    where = []
    for subscript, width, extent in zip(write.affine, bits, shape, strict=True):
        difference = f"({affine_text(subscript, names)}) - ({of_second(subscript, names)})"
        # A condition without a quotient, where there is one.
        if 1 << width >= extent:
            where.append(f"{difference} = 0")
        elif width:
            where.append(f"({difference}) mod {1 << width} = 0")
    pairs = instance_pairs(sets, statement, statement, where)
    return pairs.intersect_domain(written).intersect_range(written)


def instance_pairs(
    sets: ScopSets, first: Statement, second: Statement, where: Sequence[str]
) -> isl.Map:
    """Return {first -> second} under conditions on their iterators, d0, d1 .. and e0, e1 .."""
    dims = [
        f"{sets.statement_tuple(each.name)}"
        f"[{','.join(f'{letter}{k}' for k in range(len(each.iterators)))}]"
        for each, letter in ((first, "d"), (second, "e"))
    ]
    return sets.read_map(f"{{ {dims[0]} -> {dims[1]} : {' and '.join(where) or 'true'} }}")


def of_second(form: Affine, names: Sequence[str]) -> str:
    """Return a form of the second instance of a pair."""
    return " + ".join(
        [*(f"{c}*e{names.index(name)}" for name, c in form.terms), str(form.constant)]
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Between:
    """A way in which a value is lost: by one read, where p' follows p in one loop, and q p' in one.

    To ask about them one by one takes less than about all at once, and one that is there ends it.

    Members
    -------
    writers: {q -> p}. order: {p -> p'}. until: {q -> p'}, as far as p' is not behind q, or is so in
        a tile that may overlap that of q.
    """

    writers: isl.Map
    order: isl.Map
    until: isl.Map

    def early(self, later: isl.Map) -> isl.Map:
        """Return {q -> p'} where p' takes the place of p too early.

        Parameters
        ----------
        later: {p -> p'} of values in one place, in that order.
        """
        return self.writers.apply_range(later).intersect(self.until)

    def stores(self, pair: isl.Map) -> tuple[isl.Set, isl.Set]:
        """Return p and p' of a pair that is too early."""
        return self.writers.intersect_domain(pair.domain()).range(), pair.range()


@dataclass(frozen=True, slots=True, eq=False)
class _Around:
    """The same by any read, where q is in a later iteration of a loop than p and p' are both.

    Members
    -------
    written: the p of such reads. order: {p -> p'}, in one iteration of that loop.
    """

    written: isl.Set
    order: isl.Map

    def early(self, later: isl.Map) -> isl.Map:
        """Return {p -> p'} where p' takes the place of p too early."""
        return later.intersect_domain(self.written)

    def stores(self, pair: isl.Map) -> tuple[isl.Set, isl.Set]:
        """Return p and p' of a pair that is too early."""
        return pair.domain(), pair.range()


class Losing(Protocol):
    """Knows which folds lose values: others take their place too early."""

    def apart(self, bits: Sequence[int]) -> tuple[int, ...] | None:
        """Return how far two values are apart, by subscript, of which one is lost; None for none.

        Parameters
        ----------
        bits: of every subscript.
        """


class Collisions:
    """Values that are lost in folds that one worker fills and reads.

    Parameters
    ----------
    depth: how many outermost loops are over tiles.
    soon: gives {q -> p'} in tiles that may overlap, for the statement of q and that of p'; None
        where no two tiles do.
    """

    def __init__(
        self,
        sets: ScopSets,
        kept: Kept,
        depth: int,
        soon: Callable[[Statement, Statement], isl.Map] | None = None,
    ) -> None:
        self.sets = sets
        self.kept = kept
        self.depth = depth
        self.whole = kept
        if kept.written.n_basic_set() > 1:
            # One piece is quick to ask about, and what keeps all values around keeps these, too.
            around = isl.Set.from_basic_set(kept.written.simple_hull())
            self.whole = replace(kept, written=around)
        statement = kept.statement
        stored = statement, time_in_tiles(statement, depth, kept.store_cycle)
        orders = [earlier(sets, stored, stored, level) for level in range(depth + 1)]
        self.ways: list[_Between | _Around] = []
        written: dict[int, isl.Set] = {}
        for flow, cycle in zip(kept.flows, kept.read_cycles, strict=True):
            sink = sets.scop.statement(flow.sink)
            read = sink, time_in_tiles(sink, depth, cycle)
            after = [earlier(sets, stored, read, level) for level in range(depth + 2)]
            writers = flow.relation.reverse()
            if soon is not None:
                every = instance_pairs(sets, statement, statement, [])
                self.ways.append(_Between(writers, every, soon(sink, statement)))
            for level, until in enumerate(after):
                # p and q differ first where p and p' do, or p' and q: few flows do at all levels.
                across = flow.relation.intersect(until)
                if across.is_empty():
                    continue
                own = across.domain()
                written[level] = own.union(written[level]) if level in written else own
                if level <= depth:
                    self.ways += [
                        _Between(writers, orders[level], later.reverse()) for later in after[level:]
                    ]
        self.ways += [
            _Around(own.coalesce(), order)
            for level, own in written.items()
            for order in orders[level + 1 :]
        ]

    def apart(self, bits: Sequence[int]) -> tuple[int, ...] | None:
        """See `Losing`."""
        found = self._lost(self.whole, bits)
        if found is None or self.whole is self.kept:
            return found and found[0]
        difference, *stored = found
        if all(instance.is_subset(self.kept.written) for instance in stored):
            return difference
        found = self._lost(self.kept, bits)
        return found and found[0]

    def _lost(
        self, kept: Kept, bits: Sequence[int]
    ) -> tuple[tuple[int, ...], isl.Set, isl.Set] | None:
        """Return the same, and the instances that write the two values."""
        sharing = sharing_places(self.sets, kept.statement, kept.written, bits)
        later: dict[int, isl.Map] = {}
        for place, way in enumerate(self.ways):
            keep_going(self.sets.context)
            if id(way.order) not in later:
                later[id(way.order)] = sharing.intersect(way.order)
            early = way.early(later[id(way.order)])
            if not early.is_empty():
                # Where a value is lost in one way, it is in most folds.
                self.ways.insert(0, self.ways.pop(place))
                return self._pair(way, early)
        return None

    def _pair(
        self, way: _Between | _Around, early: isl.Map
    ) -> tuple[tuple[int, ...], isl.Set, isl.Set]:
        first, second = way.stores(sample_of(early))
        return values_apart(self.kept.statement, first, second), first, second


Timed: TypeAlias = tuple[Statement, Sequence[Affine]]
"""A statement, and when its instances make an access: tile, and cycle in it."""


def time_in_tiles(statement: Statement, depth: int, cycle: Affine) -> list[Affine]:
    """Return when the instances of a statement make an access in a cycle of their tile."""
    return [*(Affine.variable(name) for name in statement.iterators[:depth]), cycle]


def earlier(sets: ScopSets, first: Timed, second: Timed, level: int) -> isl.Map:
    """Return {first -> second}, in domains or not, whose times differ first at a level.

    There, the first is earlier. Below the last level, they are at one time.
    """
    (one, before), (other, after) = first, second
    differences = [
        f"({affine_text(a, one.iterators)}) - ({of_second(b, other.iterators)})"
        for a, b in zip(before, after, strict=True)
    ]
    where = [f"{difference} = 0" for difference in differences[:level]]
    where += [f"{difference} <= -1" for difference in differences[level : level + 1]]
    return instance_pairs(sets, one, other, where)


def sample_of(pairs: isl.Map) -> isl.Map:
    """Return one of some pairs."""
    return isl.Set.from_point(pairs.wrap().sample_point()).unwrap()


def values_apart(statement: Statement, first: isl.Set, second: isl.Set) -> tuple[int, ...]:
    """Return how far the elements are apart that two instances write, by subscript."""
    first_at, second_at = (
        dict(zip(statement.iterators, point_values(instance.sample_point()), strict=True))
        for instance in (first, second)
    )
    return tuple(
        form.evaluate(second_at) - form.evaluate(first_at) for form in statement.write.affine
    )


@dataclass(frozen=True, slots=True)
class Fold:
    """Bits of every subscript that a fold takes at least, and whether they are enough."""

    bits: tuple[int, ...]
    is_enough: bool


def smallest_fold(
    collisions: Losing,
    shape: Sequence[int],
    guess: Sequence[int] = (),
    most_bits: int | None = None,
) -> Fold:
    """Return for each dimension how many low bits of the subscript tell the values apart.

    The last dimension is folded first: neighbours in a row stay neighbours. A fold that loses a
    value tells two values that must have places of their own. No fold with fewer bits than those
    ask for will do, so that the first one that keeps all values is the smallest: it takes one
    proof, and that values are lost is found out much faster.

    Parameters
    ----------
    collisions: of the values. shape: of their array.
    guess: bits to begin the search with, which do not change what it finds.
    most_bits: of all dimensions together; once it is known to take more, the search ends.
    """
    most = [(extent - 1).bit_length() for extent in shape]
    apart: list[tuple[int, ...]] = []

    def loses(bits: Sequence[int]) -> bool:
        found = collisions.apart(bits)
        if found is not None:
            apart.append(found)
        return found is not None

    def is_too_large() -> bool:
        return most_bits is not None and sum(_fewest_for(apart, most)) > most_bits

    likely = [min(pair) for pair in zip(guess, most, strict=True)] if guess else []
    for place in reversed(range(len(likely))):
        fewer = [*most[:place], likely[place] - 1, *likely[place + 1 :]]
        # Where fewer bits do, the guess says nothing of the other dimensions.
        if likely[place] and not _any_share(apart, fewer, most) and not loses(fewer):
            break
    while not is_too_large() and (bits := _fewest_for(apart, most)) != most and loses(bits):
        pass
    return Fold(tuple(_fewest_for(apart, most)), not is_too_large())


def fewest_bits(
    shape: Sequence[int], clashes: Callable[[Sequence[int]], Sequence[tuple[int, ...]]]
) -> tuple[int, ...]:
    """Return for each dimension how many low bits of the subscript tell values apart.

    Parameters
    ----------
    clashes: how far values are apart that are in one place of a fold and must not be; none: it
        keeps them all.
    """
    most = [(extent - 1).bit_length() for extent in shape]
    apart: list[tuple[int, ...]] = []
    while (bits := _fewest_for(apart, most)) != most and (found := clashes(bits)):
        apart += found
    return tuple(bits)


def _fewest_for(apart: Sequence[tuple[int, ...]], most: Sequence[int]) -> list[int]:
    """Return the fewest bits that tell some values apart, the last dimension's the fewest."""
    bits = list(most)
    for place in reversed(range(len(bits))):
        bits[place] = 0
        while bits[place] < most[place] and _any_share(apart, bits, most):
            bits[place] += 1
    return bits


def _any_share(apart: Sequence[tuple[int, ...]], bits: Sequence[int], most: Sequence[int]) -> bool:
    """Tell whether values that are so far apart have one place, in any of some pairs."""
    return any(
        all(
            d == 0 if width >= full else d % (1 << width) == 0
            for d, width, full in zip(difference, bits, most, strict=True)
        )
        for difference in apart
    )


def fields_of(access: Access, bits: Sequence[int]) -> Fields:
    """Return the place of an element: the last subscript lowest; at least one bit of it."""
    fields = [(form, width) for form, width in zip(access.affine, bits, strict=True) if width]
    return tuple(reversed(fields)) or ((access.affine[-1], 1),)
