"""When each statement instance runs: one vector of dimensions a statement.

Kelly's form: constants order statements, loops order iterations. All the transforms speak
in it, from program order `(0, i, 0, j, 1)` over a distributed nest `(2, i, j)` to the fused form
`(9*i + j + 26, 1)`, so that one legality checker judges them all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import prod
from typing import TypeAlias

from rtlgen.ir.affine import Affine, affine_sum


@dataclass(frozen=True, slots=True)
class Bound:
    """form / divisor, rounded inwards: up where it is a lower bound, down where an upper one."""

    form: Affine
    divisor: int = 1

    def __post_init__(self) -> None:
        if self.divisor < 1:
            raise ValueError(f"a bound divided by {self.divisor}")

    @property
    def is_constant(self) -> bool:
        return self.form.is_constant

    def __str__(self) -> str:
        if self.divisor == 1:
            return str(self.form)
        dividend = (
            f"({self.form})" if len(self.form.terms) + bool(self.form.constant) > 1 else self.form
        )
        return f"{dividend}/{self.divisor}"


Place: TypeAlias = tuple[Affine, ...]
"""A function of iterators that need not be affine: the largest of these."""


def only(place: Place) -> Affine:
    """Return the function where it is affine."""
    (value,) = place
    return value


@dataclass(frozen=True, slots=True)
class NestLoop:
    """One loop of a statement's nest in its scheduled order.

    Members
    -------
    iterator: the statement's iterator that it counts, or None for a pad loop, which repeats
        nothing: the instance runs in one of its iterations.
    extent: number of iterations of the enumerated box; the real domain may be smaller.
    at: the smallest value; of a pad loop that is not pinned, the iteration that is real.
    lowers, uppers: bounds that depend on outer iterators: the loop runs from the largest of
        `lowers` to the smallest of `uppers`, both inclusive; () for where the box begins or ends.
    at_least: the loop runs at least so many iterations, whatever its bounds; 0: at least one is
        known to be there.
    pad: the name of a pinned pad loop, by which the bounds of inner loops refer to it.
    pinned: of a pinned pad loop, the real iteration: the largest of these functions of the
        statement's iterators.
    """

    iterator: str | None
    extent: int
    at: int = 0
    lowers: tuple[Bound, ...] = ()
    uppers: tuple[Bound, ...] = ()
    at_least: int = 0
    pad: str | None = None
    pinned: Place = ()

    def __post_init__(self) -> None:
        if self.extent < 1 or self.at_least > self.extent:
            raise ValueError(f"a loop of {self.extent} iterations, at least {self.at_least}")
        if (self.pad is None) == bool(self.pinned) or (self.pad and self.iterator):
            raise ValueError(f"pad loop {self.pad} of {self.iterator} pinned to {self.pinned}")
        is_plain_pad = self.iterator is None and not self.pinned
        if is_plain_pad and not 0 <= self.at < self.extent:
            raise ValueError(f"pad loop of {self.extent} has no iteration {self.at}")

    @property
    def is_box(self) -> bool:
        """Whether the loop runs over its whole extent, whatever the outer iterators are."""
        return not self.lowers and not self.uppers

    @property
    def counter(self) -> str | None:
        """What the bounds of inner loops call it; None: they cannot refer to it."""
        return self.iterator or self.pad

    @property
    def first(self) -> int:
        """The smallest value of its box."""
        return 0 if self.counter is None else self.at

    @property
    def place(self) -> Place:
        """The iteration in which an instance runs: the largest of these."""
        if self.iterator is not None:
            return (Affine.variable(self.iterator),)
        return self.pinned or (Affine((), self.at),)

    @property
    def position(self) -> Place:
        """Where in the box an instance runs, from 0."""
        return tuple(value - self.first for value in self.place)

    def __str__(self) -> str:
        if self.counter is None:
            return f"pad@{self.at}<{self.extent}"
        name = self.iterator or f"pad {self.pad}@({bounds_text('max', map(str, self.pinned))})"
        if self.is_box:
            return f"{name}<{self.at + self.extent}"
        low = bounds_text("max", map(str, self.lowers)) or str(self.at)
        high = bounds_text("min", map(str, self.uppers)) or str(self.at + self.extent - 1)
        more = f" at least {self.at_least}" if self.at_least else ""
        return f"{name}={low}..{high}{more}"


def bounds_text(choice: str, bounds: Iterable[str]) -> str:
    """Return one bound as it is, several as `choice(a, b)`, none as nothing."""
    shown = list(bounds)
    return f"{choice}({', '.join(shown)})" if len(shown) > 1 else "".join(shown)


@dataclass(frozen=True, slots=True)
class ScalarDim:
    """A constant: the place among statements or nests."""

    value: int

    @property
    def time(self) -> Affine:
        return Affine((), self.value)

    def __str__(self) -> str:
        return str(self.value)


@dataclass(frozen=True, slots=True)
class LoopDim:
    """One loop, as a dimension of its own.

    Its time is the iterator's value, not its position in the box of one statement: statements of
    one loop may begin in different iterations of it.

    Members
    -------
    value: the time where it is not the iterator itself.
    """

    loop: NestLoop
    value: Affine | None = None

    @property
    def place(self) -> Place:
        """The time, of a pinned pad loop the largest of some functions."""
        return self.loop.place if self.value is None else (self.value,)

    @property
    def time(self) -> Affine:
        return only(self.place)

    def __str__(self) -> str:
        return str(self.loop) if self.value is None else f"{self.value} for {self.loop}"


@dataclass(frozen=True, slots=True)
class FlatDim:
    """A nest flattened to one counter: an iteration's rank in `loops`, plus `shift`.

    `iterations` is the number of iterations of a nest that is no box, None for one that is.
    """

    loops: tuple[NestLoop, ...]
    shift: int = 0
    iterations: int | None = None

    def __post_init__(self) -> None:
        if self.is_box != (self.iterations is None):
            raise ValueError(f"{self.iterations} iterations do not fit {self}")

    @property
    def is_box(self) -> bool:
        """Whether no bound depends on an outer loop."""
        return all(loop.is_box for loop in self.loops)

    @property
    def is_affine(self) -> bool:
        """Whether the rank is an affine function: of a box, every instance at affine places."""
        return all(loop.is_box and len(loop.place) == 1 for loop in self.loops)

    @property
    def rank(self) -> Affine:
        """Position in the flattened nest, 0 for its first iteration, where that is affine."""
        if not self.is_affine:
            raise ValueError(f"the rank in {self} is not affine")
        parts, weight = [], 1
        for loop in reversed(self.loops):
            parts.append(only(loop.position) * weight)
            weight *= loop.extent
        return affine_sum(parts)

    @property
    def count(self) -> int:
        """Number of iterations of the flattened nest, padding included."""
        if self.iterations is not None:
            return self.iterations
        return prod(loop.extent for loop in self.loops)

    @property
    def time(self) -> Affine:
        return self.rank + self.shift

    def __str__(self) -> str:
        nest = "[" + ", ".join(map(str, self.loops)) + "]"
        return f"{nest} + {self.shift}" if self.shift else nest


Dim: TypeAlias = ScalarDim | LoopDim | FlatDim


@dataclass(frozen=True, slots=True)
class Schedule:
    """The dimensions of every statement, outermost first. Shorter vectors are padded with 0."""

    dims: Mapping[str, tuple[Dim, ...]]

    def time(self, statement: str) -> tuple[Affine, ...]:
        """Return the time vector of `statement`'s instances, as long as the longest one."""
        length = max(map(len, self.dims.values()), default=0)
        own = tuple(dim.time for dim in self.dims[statement])
        return own + (Affine(),) * (length - len(own))

    def places(self, statement: str) -> tuple[Place, ...]:
        """Return the same where a loop's time need not be affine."""
        length = max(map(len, self.dims.values()), default=0)
        own = tuple(
            dim.place if isinstance(dim, LoopDim) else (dim.time,) for dim in self.dims[statement]
        )
        return own + ((Affine(),),) * (length - len(own))

    def loops(self, statement: str) -> tuple[NestLoop, ...]:
        """Return the loops of `statement`, outermost first, flattened or not."""
        loops: list[NestLoop] = []
        for dim in self.dims[statement]:
            if isinstance(dim, LoopDim):
                loops.append(dim.loop)
            elif isinstance(dim, FlatDim):
                loops.extend(dim.loops)
        return tuple(loops)

    def box(self, statement: str) -> dict[str, tuple[int, int]]:
        """Return the first and the last value of every iterator of `statement`."""
        return {
            loop.iterator: (loop.at, loop.at + loop.extent - 1)
            for loop in self.loops(statement)
            if loop.iterator is not None
        }

    def replaced(self, statement: str, dims: tuple[Dim, ...]) -> Schedule:
        """Return the schedule with the dimensions of one statement replaced."""
        return Schedule({**self.dims, statement: dims})

    def __str__(self) -> str:
        return "\n".join(
            f"{name}: ({', '.join(map(str, dims))})" for name, dims in self.dims.items()
        )
