"""Numbers, arrays and pointers of a random program, and expressions and conditions of them.

Every expression has a meaning in C as `gcc -fwrapv` takes it: what it divides by is above 0, what
it shifts by is below the width, and no variable is changed and used between two sequence points. A
subscript is a counter that stays inside of the array, a number, or masked.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from random import Random
from typing import Any


@dataclass(frozen=True, slots=True)
class Type:
    """A type of integers, and the names that it has."""

    names: tuple[str, ...]
    width_bits: int
    is_signed: bool

    @property
    def low(self) -> int:
        return -(1 << (self.width_bits - 1)) if self.is_signed else 0

    @property
    def high(self) -> int:
        return self.low + (1 << self.width_bits) - 1

    def wrapped(self, value: int) -> int:
        """Return what a variable holds that is set to a number."""
        return self.low + (value - self.low) % (1 << self.width_bits)

    @property
    def is_compared_unsigned(self) -> bool:
        """Return whether it stays unsigned next to an int: narrow types are promoted."""
        return not self.is_signed and self.width_bits >= 32


TYPES = (
    Type(("signed char", "int8_t"), 8, True),
    Type(("unsigned char", "uint8_t"), 8, False),
    Type(("short", "int16_t"), 16, True),
    Type(("unsigned short", "uint16_t"), 16, False),
    Type(("int", "int32_t"), 32, True),
    Type(("unsigned", "uint32_t"), 32, False),
    Type(("long long", "int64_t", "long"), 64, True),
    Type(("unsigned long long", "uint64_t", "size_t"), 64, False),
)
INT, UNSIGNED = TYPES[4], TYPES[5]
BYTES, NARROW = TYPES[:2], TYPES[:4]


@dataclass(frozen=True, slots=True)
class Number:
    """A variable, or an expression, and between which values it lies."""

    text: str
    type: Type
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Array:
    """Elements that a subscript chooses from.

    Members
    -------
    member: what stands behind the subscript, in an array of structures.
    """

    name: str
    type: Type
    extent: int
    is_writable: bool = True
    member: str = ""

    def at(self, subscript: str) -> str:
        return f"{self.name}[{subscript}]{self.member}"


@dataclass(slots=True)
class Scope:
    """What may be used at a place of a program.

    Members
    -------
    scalars: may be set to anything. numbers: are only read; a loop may be bounded by them.
    counters: of the loops around. pointers: to an element that may be read, by their names.
    places: what else can be set, such as a member of a structure.
    """

    scalars: list[Number] = field(default_factory=list)
    numbers: list[Number] = field(default_factory=list)
    counters: list[Number] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    pointers: list[tuple[str, Type]] = field(default_factory=list)
    written_pointers: list[str] = field(default_factory=list)
    places: list[str] = field(default_factory=list)

    @contextmanager
    def inner(self) -> Iterator[None]:
        """Forget, behind the block, what is added in it."""
        lists: list[list[Any]] = [
            self.scalars, self.numbers, self.counters, self.arrays, self.pointers,
            self.written_pointers, self.places,
        ]  # fmt: skip
        sizes = [len(each) for each in lists]
        yield
        for each, size in zip(lists, sizes, strict=True):
            del each[size:]


def flip(random: Random, probability: float) -> bool:
    """Return True as often as is asked for."""
    return random.random() < probability


class Values:
    """Makes expressions of what is in scope.

    Parameters
    ----------
    has_floats: whether some of it is computed in floating point.
    """

    def __init__(self, random: Random, scope: Scope, *, has_floats: bool) -> None:
        self._random = random
        self._scope = scope
        self._has_floats = has_floats

    def pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def type_name(self, type_: Type) -> str:
        return self._random.choice(type_.names)

    def constant(self) -> str:
        """Return a number, at an end of a type now and then, and of any type."""
        random = self._random
        if flip(random, 0.8):
            return str(random.randint(-3, 12))
        value = random.choice([127, 128, 255, 256, 1000, 12345, 32767, 65535, 2147483647])
        return f"{value}{self.pick('', '', 'u', 'L', 'ULL')}"

    def subscript(self, array: Array, *, is_written: bool) -> str:
        """Return a subscript that lies inside of an array."""
        random, extent = self._random, array.extent
        inside = [c for c in self._scope.counters if c.low >= 0 and c.high < extent]
        if inside and flip(random, 0.65):
            counter = random.choice(inside)
            forms = [counter.text] * 4
            if counter.high + 1 < extent:
                forms.append(f"{counter.text} + 1")
            if counter.low > 0:
                forms.append(f"{counter.text} - 1")
            forms.append(f"{extent - 1} - {counter.text}")
            return random.choice(forms)
        shifted = [c for c in self._scope.counters if c.low < 0 and c.high - c.low < extent]
        if shifted and flip(random, 0.5):
            counter = random.choice(shifted)
            return f"{counter.text} + {-counter.low}"
        if is_written:
            if self._scope.counters and not extent & (extent - 1) and flip(random, 0.15):
                return f"{random.choice(self._scope.counters).text} & {extent - 1}"
            return str(random.randrange(extent))
        chosen = random.choice([*self._scope.scalars, *self._scope.numbers, *self._scope.counters])
        if not extent & (extent - 1):
            return f"{chosen.text} & {extent - 1}"
        return f"(unsigned){chosen.text} % {extent}"

    def read(self, but: str = "") -> str:
        """Return an element, or what a pointer leads to."""
        scope, random = self._scope, self._random
        if scope.pointers and flip(random, 0.35):
            name, _ = random.choice(scope.pointers)
            return f"*{name}"
        array = random.choice(scope.arrays)
        for _ in range(9):
            subscript = self.subscript(array, is_written=False)
            if not but or but not in subscript.replace("(", " ").split():
                return array.at(subscript)
        return array.at("0")

    def leaf(self, but: str = "") -> str:
        """Return a variable, a number or an element, but not a variable of that name."""
        scope, random = self._scope, self._random
        kind = random.random()
        if kind < 0.25:
            return self.constant()
        if kind < 0.5:
            return self.read(but)
        names = [x.text for x in (*scope.scalars, *scope.scalars, *scope.numbers, *scope.counters)]
        names += scope.places
        return random.choice([x for x in names if x != but] or ["3"])

    def value(self, depth: int = 2, but: str = "") -> str:
        """Return an expression of any type."""
        random = self._random
        if depth == 0 or flip(random, 0.35):
            return self.leaf(but)
        left = self.value(depth - 1, but)
        if self._has_floats and flip(random, 0.2):
            return self._by_way_of_numbers(left, but)
        match random.randrange(16):
            case 0:
                return f"({left} {self.pick('/', '%')} {random.randint(2, 9)})"
            case 1:
                divisor = f"(({self.leaf(but)} & 7) + 1)"
                return f"({left} {self.pick('/', '%')} {divisor})"
            case 2:
                return f"({left} >> {random.randint(1, 5)})"
            case 3:
                return f"(({left} & 63) << {random.randint(1, 4)})"
            case 4:
                return f"({left} & {random.choice([1, 3, 7, 15, 255])})"
            case 5:
                return f"({self.condition(1, but)} ? {left} : {self.leaf(but)})"
            case 6:
                return f"({self.type_name(random.choice(TYPES))}){left}"
            case 7:
                return f"{self.pick('-', '~', '!')}({left})"
            case _:
                return f"({left} {self.pick('+', '-', '*', '&', '^', '|')} {self.leaf(but)})"

    def _by_way_of_numbers(self, left: str, but: str) -> str:
        """Return an integer that is computed in floating point, of most data one that it holds."""
        factor = self.pick("0.75f", "1.5f", "0.1", "-2.5f", "1e-2f")
        return self.pick(
            f"(int)(({left} & 1023) * {factor})",
            f"(int)fminf(fmaxf({left} / {factor}, -500.0f), {self.constant()})",
            f"((float)({left}) < {self.leaf(but)} * {factor})",
            f"(short)sqrtf(({left} & 255) + 0.5f)",
        )

    def condition(self, depth: int = 2, but: str = "") -> str:
        """Return a question that changes nothing."""
        random = self._random
        relation = self.pick("<", ">", "==", "!=", "<=", ">=", "!=", "<")
        if self._has_floats and flip(random, 0.2):
            return f"{self.leaf(but)} * 0.5f {relation} {self.leaf(but)} + 0.25"
        match random.randrange(12 if depth else 8):
            case 0:
                return f"({self.leaf(but)} & {random.choice([1, 2, 3, 6])})"
            case 1:
                mask = random.choice([1, 3, 7])
                return f"({self.leaf(but)} & {mask}) {relation} ({self.leaf(but)} & {mask})"
            case 2:
                return f"({self.leaf(but)} >> {random.randint(1, 6)}) {relation} {self.constant()}"
            case 3:
                return f"{self.leaf(but)} / {random.randint(2, 9)} {relation} {self.leaf(but)}"
            case 8:
                return f"({self.condition(depth - 1, but)} && {self.condition(depth - 1, but)})"
            case 9:
                return f"({self.condition(depth - 1, but)} || {self.condition(depth - 1, but)})"
            case 10:
                return f"!({self.condition(depth - 1, but)})"
            case 11:
                return self.leaf(but)
            case _:
                return f"{self.value(1, but)} {relation} {self.leaf(but)}"

    def rare(self) -> str:
        """Return a question to which the answer is mostly no."""
        scope = self._scope
        chosen = self._random.choice([*scope.scalars, *scope.numbers]).text
        return self.pick(f"{chosen} == 12345", f"{chosen} > 100", f"({chosen} & 63) == 9")

    def step(self) -> str:
        """Return a question that steps a scalar."""
        name = self._random.choice(self._scope.scalars).text
        relation = self.pick("!=", "<", "!=", ">=", "<=")
        return self.pick(
            f"{name}++ {relation} {self.constant()}",
            f"--{name} {relation} {self.constant()}",
            f"{name}++ < 100",
            f"{name}-- > -100",
        )

    def effect(self) -> str:
        """Return a question that changes a scalar."""
        if flip(self._random, 0.5):
            return self.step()
        name = self._random.choice(self._scope.scalars).text
        relation = self.pick("!=", "<", "!=", ">=", "<=")
        return self.pick(
            f"({name} = {self.read(name)}) {relation} {self.constant()}",
            f"({name} = {self.read(name)}) != 12345",
            f"({name} ^= {self.leaf(name)}) {relation} {self.constant()}",
            f"({name} += {self.leaf(name)}) {relation} {self.constant()}",
        )

    def plain(self) -> str:
        """Return a statement that sets something."""
        scope, random = self._scope, self._random
        kind = random.random()
        writable = [array for array in scope.arrays if array.is_writable]
        if scope.written_pointers and kind < 0.2:
            target = f"*{random.choice(scope.written_pointers)}"
        elif kind < 0.45 and writable:
            array = random.choice(writable)
            target = array.at(self.subscript(array, is_written=True))
        elif kind < 0.55 and scope.places:
            target = random.choice(scope.places)
        else:
            target = random.choice(scope.scalars).text
        if flip(random, 0.1):
            place = f"({target})" if target.startswith("*") else target
            return self.pick(f"{place}++;", f"--{target};")
        operator = self.pick("=", "=", "+=", "-=", "^=", "+=", "*=", "|=", "&=")
        return f"{target} {operator} {self.value()};"
