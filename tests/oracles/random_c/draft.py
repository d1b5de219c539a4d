"""What has been written of a program so far, and what stands in scope where the next line goes."""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TypeVar

T = TypeVar("T")

FLOAT_TYPES = ("float", "float", "float", "double", "double")
"""Of scalars; elements may be of half the width, too."""

ELEMENT_TYPES = (*FLOAT_TYPES, "_Float16")


def is_float(type_: str) -> bool:
    return type_ in ELEMENT_TYPES


FEATURES = (
    "branches", "calls", "casts", "chosen bounds", "compound", "counters", "data subscripts",
    "down", "guards", "initialised", "masks", "merged", "quotients", "rows", "steps", "tables",
    "temporaries", "triangular", "two variables",
)  # fmt: skip
"""What a program has much of, little of, or none."""


@dataclass(frozen=True, slots=True)
class Index:
    """An expression of iterators whose value lies between two bounds, both inclusive.

    Members
    -------
    is_signed: whether parts of it may be negative without wrapping round.
    """

    text: str
    low: int
    high: int
    is_signed: bool = True

    @property
    def is_atom(self) -> bool:
        return self.text.isalnum()

    @property
    def operand(self) -> str:
        return self.text if self.is_atom else f"({self.text})"


@dataclass(frozen=True, slots=True)
class Block:
    """An array, or a row of one, that may be read and perhaps written."""

    name: str
    type: str
    shape: tuple[int, ...]
    is_written: bool = True


@dataclass(frozen=True, slots=True)
class Helper:
    """A function that the program may call.

    Members
    -------
    takes: the shape of an array that it gets first, and its type; None where it gets none.
    scalars: how many scalars it gets.
    """

    name: str
    returns: bool
    scalars: int
    takes: tuple[str, tuple[int, ...]] | None = None


@dataclass(slots=True)
class Scope:
    """What may be named.

    Members
    -------
    values: integers that may be read; variables: those that may be written, too.
    numbers: variables in floating point.
    """

    indices: list[Index] = field(default_factory=list)
    blocks: list[Block] = field(default_factory=list)
    values: list[str] = field(default_factory=list)
    variables: list[str] = field(default_factory=list)
    numbers: list[str] = field(default_factory=list)

    @property
    def integer_blocks(self) -> list[Block]:
        return [block for block in self.blocks if not is_float(block.type)]

    @property
    def float_blocks(self) -> list[Block]:
        return [block for block in self.blocks if is_float(block.type)]

    def copy(self) -> Scope:
        return Scope(
            list(self.indices),
            list(self.blocks),
            list(self.values),
            list(self.variables),
            list(self.numbers),
        )


@dataclass(slots=True)
class Draft:
    """A program that is being written.

    Members
    -------
    rates: how likely a feature is, where it fits.
    size: what the macro N stands for.
    left: how many statements may still be written.
    has_floats: whether about half of its data are in floating point: every other program has them.
    has_scatters: whether data may choose what is written: in half of the programs.
    """

    rng: random.Random
    rates: dict[str, float]
    size: int
    scope: Scope = field(default_factory=Scope)
    lines: list[str] = field(default_factory=list)
    helpers: list[Helper] = field(default_factory=list)
    number_helpers: list[Helper] = field(default_factory=list)
    depth: int = 0
    left: int = 0
    has_floats: bool = False
    has_scatters: bool = False
    _names: int = 0

    @classmethod
    def from_seed(cls, seed: int) -> Draft:
        rng = random.Random(seed)
        rates = {feature: rng.choice((0.0, 0.1, 0.3, 0.6)) for feature in FEATURES}
        size = rng.randint(4, 9)
        return cls(rng, rates, size, has_floats=seed % 2 == 1, has_scatters=seed % 4 > 1)

    def wants(self, feature: str) -> bool:
        return self.rng.random() < self.rates[feature]

    def chance(self, likelihood: float) -> bool:
        return self.rng.random() < likelihood

    def pick(self, options: Sequence[T]) -> T:
        return self.rng.choice(options)

    def is_number(self) -> bool:
        """Choose whether something is in floating point."""
        return self.has_floats and self.chance(0.6)

    def between(self, low: int, high: int) -> int:
        return self.rng.randint(low, high)

    def number(self, value: int) -> str:
        """Return a number as text, perhaps by way of the macro."""
        if value == self.size and self.chance(0.5):
            return "N"
        return "(N - 1)" if value == self.size - 1 and self.chance(0.3) else str(value)

    def name(self, stem: str) -> str:
        self._names += 1
        return f"{stem}{self._names}"

    def add(self, line: str) -> None:
        self.lines.append("  " * self.depth + line)

    @contextmanager
    def block(self, head: str, tail: str = "}") -> Iterator[None]:
        """Write what is written inside of it behind `head {`, in a scope of its own."""
        outer = self.scope
        self.add(f"{head} {{" if head else "{")
        self.scope, self.depth = outer.copy(), self.depth + 1
        yield
        self.scope, self.depth = outer, self.depth - 1
        self.add(tail)
