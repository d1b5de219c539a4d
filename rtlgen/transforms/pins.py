"""The iterations of a common nest in which a statement that lacks some of its loops may run.

Such a statement is pinned to values near the ends of the loops that others have: just before the
first, in it, in the last, or just behind it. A loop that is empty in some outer iterations has no
last one there, unless it is made to run at least once: its last iteration is then the larger one of
its bounds.

Rewrite
-------
    for i<8 { t = 0;                        ->   S0 in iteration 0 of k
      for k<i  t += a[i][k];                     S1 in iteration k
      b[i] = t; }                                S2 in iteration max(i - 1, 0)
                                                 k runs max(i, 1) times
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Bound, NestLoop, Place, only
from rtlgen.transforms.period import Member
from rtlgen.transforms.ragged import ragged_loops

Values = tuple[Place, ...]
"""The common dimensions in one statement, as functions of its iterators."""

Bounds = tuple[tuple[Place, ...], ...]
"""For each common dimension, values near its ends, functions of the dimensions outside of it."""


def dimensions(depth: int) -> tuple[str, ...]:
    """Return the names of the common dimensions."""
    return tuple(f"c{number}" for number in range(depth))


class PlacedLoops:
    """The loops of members with the bounds that they have where some image places them."""

    def __init__(self, domains: Mapping[str, isl.Set]) -> None:
        self._domains = domains
        self._known: dict[tuple[str, tuple[int, ...]], tuple[NestLoop, ...]] = {}

    def of(self, member: Member, image: tuple[int, ...]) -> tuple[NestLoop, ...]:
        """Return the loops of a member in the order of their dimensions."""
        order = tuple(sorted(range(len(image)), key=image.__getitem__))
        key = member.name, order
        if key not in self._known:
            boxes = [member.loops[n] for n in order]
            self._known[key] = ragged_loops(self._domains[member.name], member.iterators, boxes)
        return self._known[key]


def written_bounds(
    members: Sequence[Member],
    images: Sequence[tuple[int, ...]],
    placed: PlacedLoops,
    depth: int,
) -> Bounds:
    """Return the values near the ends of the loops, where `images` places them.

    Parameters
    ----------
    images: for every member, the common dimension of each of its loops.
    """
    ends: list[dict[Place, None]] = [{} for _ in range(depth)]
    boxes = _boxes(members, images, depth)
    dims = dimensions(depth)
    for member, image in zip(members, images, strict=True):
        renamed = {
            name: Affine.variable(dims[dim])
            for name, dim in zip(member.iterators, image, strict=True)
        }
        for dim, loop in zip(sorted(image), placed.of(member, image), strict=True):
            lowers = _whole(loop.lowers) or [Affine((), loop.at)]
            uppers = _whole(loop.uppers) or [Affine((), loop.at + loop.extent - 1)]
            near: list[Place] = [(end + step,) for end in lowers for step in (-1, 0)]
            near += [(end + step,) for end in uppers for step in (0, 1)]
            near += _last_of_short(lowers, uppers, renamed, boxes)
            for place in near:
                ends[dim][_substituted(place, renamed)] = None
    return tuple(tuple(found) for found in ends)


def _boxes(
    members: Sequence[Member], images: Sequence[tuple[int, ...]], depth: int
) -> dict[str, tuple[int, int]]:
    """Return the smallest and the largest value of every dimension that is somebody's loop."""
    found: dict[str, tuple[int, int]] = {}
    names = dimensions(depth)
    for member, image in zip(members, images, strict=True):
        for dim, loop in zip(image, member.loops, strict=True):
            low, high = found.get(names[dim], (loop.at, loop.at))
            found[names[dim]] = min(low, loop.at), max(high, loop.at + loop.extent - 1)
    return found


def _last_of_short(
    lowers: Sequence[Affine],
    uppers: Sequence[Affine],
    renamed: Mapping[str, Affine],
    boxes: Mapping[str, tuple[int, int]],
) -> list[Place]:
    """Return the last iteration of a loop that runs once where it would be empty, if it may be."""
    if len(lowers) != 1 or len(uppers) != 1:
        return []
    trips = (uppers[0] - lowers[0]).substitute(renamed)
    return [(uppers[0], lowers[0])] if trips.range(dict(boxes))[0] < 0 else []


def _substituted(place: Place, values: Mapping[str, Affine]) -> Place:
    return tuple(form.substitute(values) for form in place)


def _whole(bounds: Sequence[Bound]) -> list[Affine]:
    """Return the bounds that do not round."""
    return [bound.form for bound in bounds if bound.divisor == 1]


def pinned_values(
    member: Member, image: tuple[int, ...], bounds: Bounds, depth: int
) -> list[Values]:
    """Return the values of the common dimensions in a statement, for every choice of its pins."""
    found: list[Values] = [()]
    for dim in range(depth):
        grown: dict[Values, None] = {}
        for values in found:
            if dim in image:
                grown[*values, (Affine.variable(member.iterators[image.index(dim)]),)] = None
                continue
            known = {
                name: only(place)
                for name, place in zip(dimensions(depth), values, strict=False)
                if len(place) == 1
            }
            for end in bounds[dim]:
                place = _substituted(end, known)
                if all(form.variables <= set(member.iterators) for form in place):
                    grown[*values, place] = None
        found = list(grown)
    return found
