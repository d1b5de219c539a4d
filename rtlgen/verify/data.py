"""Random inputs, the same on every machine for a seed, and the data on which a circuit is compared.

Random numbers of a floating-point format, of the kinds that `data` has for integers.

    full    any pattern: all exponents are equally likely; in an eighth something changes
    small   1/8 to 8, of both signs, with all digits: every operation rounds, and nothing overflows
    limits  zeros, the ends of the subnormal and of the normal numbers, neighbours of 1, halves of
            its last place, and, one in sixteen, infinities and NaN
    mixed   few exponents, and runs of ones and zeros as digits: sums cancel, and products and sums
            lie halfway between two numbers

Between limits that the user gives, `full` and `small` are spread evenly over the numbers between,
and `mixed` over their patterns, so that every order of magnitude is as likely as another.

Random inputs: the same on every machine for a seed, of several kinds that show different faults.

    full      any value of the type: carries, signs, wrap-around
    small     -8 to 8: products fit, comparisons go both ways, sums come back above and below 0
    limits    the ends of the type, and what is next to them
    mixed     every number of bits is equally likely, so that large and small values meet
    by array  each array and scalar in a kind of its own, which differs from seed to seed

What these are of numbers is said in `number_data`.

The bytes come from SHAKE-128 of the seed and the array's name, not from a library's generator
whose stream may change between versions. In `full`, an eighth of the elements is drawn from the
corners of the type, where carries, signs and wrap-around go wrong.

The data on which a circuit is compared, and what it shows of the program.

Several kinds of random data (`data`), and more where something of the program has not been seen on
them (`sensitivity`): what is cut off on one kind shows on another.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

import numpy as np
import numpy.typing as npt

from rtlgen.errors import Diagnostic
from rtlgen.ir.float_arithmetic import to_fraction
from rtlgen.ir.scop import Scop
from rtlgen.ir.types import FloatType, IntType, NumberType
from rtlgen.verify.golden import run_golden
from rtlgen.verify.golden_ranges import run_bounds
from rtlgen.verify.golden_state import GoldenResult, SubscriptError
from rtlgen.verify.sensitivity import Sensitivity, Shown
from rtlgen.verify.values import (
    Elements,
    Limits,
    Value,
    element_dtype,
    pattern_of,
    stored_dtype,
    to_words,
)

Words = npt.NDArray[np.uint64]
Choices = npt.NDArray[np.uint8]

_SPECIAL_IN_256 = 16
_CORNERS_IN_256 = 32
_LARGEST_EXPONENT, _EXPONENTS = 2, 6
"""Of `small`: from 1/8 to below 8."""


def any_numbers(
    type_: FloatType, choices: Choices, words: Words
) -> Mapping[str, Callable[[], Words]]:
    """Return what makes patterns of a kind, by the kind's name.

    Parameters
    ----------
    choices, words: random ones, of 8 and of 64 bits, for each element.
    """
    sign, low, fraction = _fields(type_, words)
    f, bias = type_.fraction_bits, type_.bias

    def full() -> Words:
        corners = _of(_number_corners(type_), words >> np.uint64(8)) | sign
        return np.where(choices < _CORNERS_IN_256, corners, words & np.uint64(type_.maximum))

    def small() -> Words:
        down = low % np.uint64(_EXPONENTS)
        return sign | (np.uint64(bias + _LARGEST_EXPONENT) - down) << np.uint64(f) | fraction

    def limits() -> Words:
        special = _of([type_.infinity, type_.nan], low)
        plain = _of(_number_corners(type_), low)
        return sign | np.where(choices < _SPECIAL_IN_256, special, plain)

    def mixed() -> Words:
        steps = (0, 0, 0, 1, -1, f // 2, -(f // 2), f + 1)
        exponents = [(bias + step) << f for step in steps if 0 < bias + step < 2 * bias]
        place = choices.astype(np.uint64) % np.uint64(f)
        one, ones = np.uint64(1), np.uint64((1 << f) - 1)
        runs = [
            np.zeros_like(place), one << place, ones >> place, (ones << place) & ones,
            one << place | one, np.broadcast_to(ones, place.shape),
        ]  # fmt: skip
        which = low % np.uint64(len(runs))
        digits: Words = np.choose(which.astype(np.intp), runs)
        return sign | _of(exponents, low >> np.uint64(3)) | digits

    return {"full": full, "small": small, "limits": limits, "mixed": mixed}


def numbers_within(
    type_: FloatType, bounds: tuple[float, float], choices: Choices, words: Words
) -> Mapping[str, Callable[[], Words]]:
    """Return what makes patterns of a kind between two numbers, by the kind's name."""
    first, last = (_key(pattern_of(bound, type_), type_) for bound in bounds)
    low, high = (_float(_pattern(key, type_), type_) for key in (first, last))
    inside = [key for key in _corner_keys(type_) if first <= key <= last]
    corners = sorted({first, last, min(first + 1, last), max(first, last - 1), *inside})
    patterns = [_pattern(key, type_) for key in corners]

    def even() -> Words:
        # 53 bits are as many as a share of 1 has; the ends are numbers, so rounding stays between.
        share = (words >> np.uint64(11)).astype(np.float64) / (1 << 53)
        found = low * (1 - share) + high * share
        return np.where(choices < _CORNERS_IN_256, _of(patterns, choices), _nearest(found, type_))

    def limits() -> Words:
        return _of(patterns, words)

    def mixed() -> Words:
        # Modulo 2**64, as all that is negative here.
        keys = (words % np.uint64(last - first + 1) + np.uint64(first % (1 << 64))).view(np.int64)
        magnitudes = np.abs(keys).astype(np.uint64)
        return np.where(keys < 0, magnitudes | np.uint64(type_.sign_bit), magnitudes)

    return {"full": even, "small": even, "limits": limits, "mixed": mixed}


def _fields(type_: FloatType, words: Words) -> tuple[Words, Words, Words]:
    """Return signs in their place, bits to choose by, and digits."""
    negative = (words >> np.uint64(63)) * np.uint64(type_.sign_bit)
    # The digits are the low bits of a word, and no format has more than 52 of them.
    return (
        negative,
        words >> np.uint64(53) & np.uint64(1023),
        words & np.uint64((1 << type_.fraction_bits) - 1),
    )


def _of(patterns: Sequence[int], choices: npt.NDArray[np.unsignedinteger]) -> Words:
    table = np.array(patterns, np.uint64)
    found: Words = table[(choices % np.array(len(patterns), choices.dtype)).astype(np.intp)]
    return found


def _number_corners(type_: FloatType) -> list[int]:
    """Return the positive finite numbers at which something changes."""
    f, one = type_.fraction_bits, type_.bias << type_.fraction_bits
    # The last place of 1, and half of it; the numbers from which on the last place is 1, and 2.
    powers = [type_.bias + step for step in (-f - 1, -f, f, f + 1)]
    around = [e << f for e in powers if 0 < e < 2 * type_.bias]
    subnormal = [0, 1, 2, (1 << f) - 1]
    normal = [1 << f, (1 << f) + 1, one - 1, one, one + 1, one | 1 << (f - 1), one + (1 << f)]
    return [*subnormal, *normal, *around, *(p + 1 for p in around), type_.infinity - 1]


def _corner_keys(type_: FloatType) -> list[int]:
    corners = _number_corners(type_)
    return [*corners, *(-corner for corner in corners)]


def _nearest(values: npt.NDArray[np.float64], type_: FloatType) -> Words:
    """Return the patterns of the numbers that are nearest to some values."""
    dtype = element_dtype(type_)
    if dtype.kind == "f":
        return to_words(values.astype(dtype)).astype(np.uint64)
    return np.array([pattern_of(float(value), type_) for value in values], np.uint64)


def _key(pattern: int, type_: FloatType) -> int:
    """Return an integer that is ordered as the numbers are; both zeros are 0."""
    magnitude = pattern & ~type_.sign_bit
    return -magnitude if pattern & type_.sign_bit else magnitude


def _pattern(key: int, type_: FloatType) -> int:
    return key if key >= 0 else type_.sign_bit | -key


def _float(pattern: int, type_: FloatType) -> float:
    return float(to_fraction(pattern, type_))


Kind: TypeAlias = Literal["full", "small", "limits", "mixed", "by array"]

KINDS: tuple[Kind, ...] = ("full", "small", "limits", "mixed")
"""Of the data sets that a seed stands for."""


_SMALL = 8
_WORD = 1 << 64
_Words: TypeAlias = npt.NDArray[np.uint64]


@dataclass(frozen=True, slots=True)
class Recipe:
    """How the inputs of one run are made.

    Members
    -------
    limits: smallest and largest value of an array or scalar, by name, where it is not its type's.
    """

    kind: Kind
    seed: int
    limits: Mapping[str, Limits] = field(default_factory=dict)

    def __str__(self) -> str:
        return f"{self.kind}, seed {self.seed}"

    def inputs(self, scop: Scop) -> dict[str, Elements | Value]:
        """Return contents for every array that is not local, and a value for every scalar.

        Arrays that are only written get contents too: an element that the program never writes
        must still be there after the run.
        """
        limited = replace(self, limits={**bit_field_limits(scop), **self.limits})
        inputs: dict[str, Elements | Value] = {}
        for array in scop.arrays:
            if array.role != "local":
                inputs[array.name] = limited._elements(
                    array.element, array.shape, array.name, array.told
                )
        for scalar in scop.scalars:
            given = scalar.limits if scalar.told is None else scalar.told
            limits = None if given is None else self._meaningful(given)
            value = limited._elements(scalar.type, (), scalar.name, limits)
            inputs[scalar.name] = int(value) if isinstance(scalar.type, IntType) else value[()]
        return inputs

    def _meaningful(self, limits: tuple[int, int]) -> Limits:
        """Return limits in which most values of a bound let a loop run; its type's end is rare."""
        low, high = limits
        return (low if self.kind == "limits" else min(max(low, -_SMALL), high)), high

    def _elements(
        self, element: NumberType, shape: tuple[int, ...], name: str, limits: Limits | None = None
    ) -> Elements:
        kind = self.kind
        if kind == "by array":
            digest = hashlib.shake_128(f"rtlgen kind {self.seed} {name}".encode()).digest(1)
            kind = KINDS[digest[0] % len(KINDS)]
        limits = self.limits.get(name, limits)
        if limits is None and kind == "full" and isinstance(element, IntType):
            return random_elements(element, shape, self.seed, name)
        count = int(np.prod(shape, dtype=np.int64))
        stream = _Stream(f"rtlgen {self.kind} {self.seed} {name} {element} {shape}", count)
        if isinstance(element, FloatType):
            words = stream.numbers(element, kind, limits)
        else:
            low, high = limits or (element.minimum, element.maximum)
            words = _MAKERS[kind](stream, int(low), int(high))
        unsigned = words.astype(f"u{element.width_bits // 8}")
        result: Elements = unsigned.view(element_dtype(element)).reshape(shape)
        return result


def longest_kind(scop: Scop) -> Kind:
    """Return the kind of the only data set that there is where one run takes long.

    Numbers of any size leave infinities and NaN where there are many operations.
    """
    types = [array.element for array in scop.arrays] + [scalar.type for scalar in scop.scalars]
    return "small" if any(isinstance(type_, FloatType) for type_ in types) else "full"


def bit_field_limits(scop: Scop) -> dict[str, Limits]:
    """Return the smallest and largest values that bit-fields hold, by the names of their arrays."""
    members = (member for record in scop.records for member in record.members)
    return {member.array: member.limits for member in members if member.limits is not None}


def random_inputs(scop: Scop, seed: int) -> dict[str, Elements | Value]:
    """Return inputs over the full range of every type."""
    return Recipe("full", seed).inputs(scop)


def random_elements(element: IntType, shape: tuple[int, ...], seed: int, name: str) -> Elements:
    """Return an array of `shape` that depends on all four arguments and on nothing else."""
    count = int(np.prod(shape, dtype=np.int64))
    width_bytes = element.width_bits // 8
    key = f"rtlgen {seed} {name} {element} {shape}".encode()
    stream = hashlib.shake_128(key).digest(count * (width_bytes + 2))
    choice, corner, value = np.split(np.frombuffer(stream, dtype=np.uint8), [count, 2 * count])
    dtype = stored_dtype(element)
    # The stream is little-endian by definition, whatever the machine is.
    values = value.view(dtype.newbyteorder("<")).astype(dtype)
    corners = _corners(element.minimum, element.maximum)
    if element.is_bool:
        values = values & 1
    drawn = np.array(corners, dtype=dtype)[corner % len(corners)]
    result: Elements = np.where(choice < _CORNERS_IN_256, drawn, values).reshape(shape)
    return result


class _Stream:
    """A choice of 8 bits and a word of 64 for each element. Values are modulo 2**64 on the way."""

    def __init__(self, key: str, count: int) -> None:
        stream = hashlib.shake_128(key.encode()).digest(9 * count)
        self.choices: npt.NDArray[np.uint8] = np.frombuffer(stream, np.uint8, count)
        self.words: _Words = np.frombuffer(stream, "<u8", count, count).astype(np.uint64)

    def within(self, low: int, high: int) -> _Words:
        """Return a number from `low` to `high` for each element."""
        span = high - low + 1
        words = self.words if span == _WORD else self.words % np.uint64(span)
        return words + np.uint64(low % _WORD)

    def numbers(self, type_: FloatType, kind: str, limits: Limits | None) -> _Words:
        """Return the pattern of a number for each element."""
        if limits is None:
            return any_numbers(type_, self.choices, self.words)[kind]()
        return numbers_within(type_, limits, self.choices, self.words)[kind]()

    def among(self, values: Collection[int]) -> _Words:
        """Return one of `values` for each element."""
        table = np.array([value % _WORD for value in sorted(values)], np.uint64)
        drawn: _Words = table[self.choices % len(table)]
        return drawn


def _full(stream: _Stream, low: int, high: int) -> _Words:
    corners = stream.among(_corners(low, high))
    return np.where(stream.choices < _CORNERS_IN_256, corners, stream.within(low, high))


def _small(stream: _Stream, low: int, high: int) -> _Words:
    nearest = min(max(0, low), high)
    return stream.within(max(low, nearest - _SMALL), min(high, nearest + _SMALL))


def _limits(stream: _Stream, low: int, high: int) -> _Words:
    return stream.among({min(low + 1, high), max(high - 1, low), *_corners(low, high)})


def _mixed(stream: _Stream, low: int, high: int) -> _Words:
    nearest = min(max(0, low), high)
    above, below = np.uint64(high - nearest), np.uint64(nearest - low)
    widths = (stream.choices >> 1) % (int(max(above, below)).bit_length() + 1)
    masks = np.array([(1 << width) - 1 for width in range(65)], np.uint64)
    distances = stream.words & masks[widths]
    # What one side does not have is on the other.
    goes_down = np.where(stream.choices & 1 == 1, distances <= below, distances > above)
    distances = np.minimum(distances, np.where(goes_down, below, above))
    start = np.uint64(nearest % _WORD)
    found: _Words = np.where(goes_down, start - distances, start + distances)
    return found


_MAKERS: Mapping[Kind, Callable[[_Stream, int, int], _Words]] = {
    "full": _full,
    "small": _small,
    "limits": _limits,
    "mixed": _mixed,
}


def _corners(low: int, high: int) -> list[int]:
    """Return the values at which something changes, distinct."""
    return sorted({low, high, *(value for value in (-1, 0, 1) if low <= value <= high)})


FRUITLESS_TRIALS = 2
"""Further data sets that show nothing new, after which no more are tried."""

MORE_TRIALS = 6
"""The same, while some statement or operand has not been seen at all."""

LONG_RUN_INSTANCES = 20_000_000
"""Where one run of the golden model takes a second, one data set has to do."""


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """Inputs, and what the program makes of them.

    Members
    -------
    new: changes to the program that this data shows and none before it (`Sensitivity.ask`).
    """

    name: str
    inputs: Mapping[str, Elements | Value]
    golden: GoldenResult
    new: int


@dataclass(frozen=True, slots=True, eq=False)
class DataSets:
    """Data sets in the order of their runs, and what they show between them.

    Members
    -------
    left_out: how many more there would be, but for a limit.
    unfit: of each data set with which the program leaves an array, why. C gives that no meaning.
    """

    sets: tuple[DataSet, ...]
    shown: Shown
    left_out: int = 0
    unfit: tuple[SubscriptError, ...] = ()

    def first(self, most: int) -> DataSets:
        """Return the `most` that show most, in their order."""
        if len(self.sets) <= most:
            return self
        ranked = sorted(range(len(self.sets)), key=lambda n: (-self.sets[n].new, n))
        kept = tuple(self.sets[n] for n in sorted(ranked[:most]))
        return replace(self, sets=kept, left_out=self.left_out + len(self.sets) - most)

    def diagnostics(self, scop: Scop) -> tuple[Diagnostic, ...]:
        """Return what `rtlgen verify` warns of: undefined behaviour met, and what is not seen."""
        events = {
            (event.kind, event.statement): event
            for data in reversed(self.sets)
            for event in data.golden.events
        }
        found = [event.diagnostic(scop) for _, event in sorted(events.items())]
        for first in self.unfit[:1]:
            known, count = first.diagnostic, len(self.unfit)
            what = "a data set is" if count == 1 else f"{count} data sets are"
            message = f"{what} left out: {known.message}"
            warning = Diagnostic("W0608", message, known.labels, help=_FIT, severity="warning")
            found.append(warning)
        return (*found, *self.shown.diagnostics(scop))


_FIT = "give data that C has a meaning for: --inputs IN.npz, or --range NAME=LOW..HIGH"


def random_data_sets(
    scop: Scop,
    *,
    seed: int = 1,
    seeds: int = 1,
    limits: Mapping[str, Limits] | None = None,
    left_out: Collection[str] = (),
) -> DataSets:
    """Return data sets of every kind for some seeds, and more where these do not show everything.

    Parameters
    ----------
    limits: smallest and largest value of arrays and scalars, by name.
    left_out: names of dead statements, which are not built, and can never be seen.

    Raises
    ------
    SubscriptError: whatever is drawn, the program leaves an array.
    """
    bounds = dict(limits or {})
    is_long = run_bounds(scop).instances > LONG_RUN_INSTANCES
    kinds = (longest_kind(scop),) if is_long else KINDS
    wanted = [Recipe(kind, seed + n, bounds) for n in range(seeds) for kind in kinds]
    collected = _Collected(scop, left_out)
    for recipe in wanted:
        collected.try_(str(recipe), recipe.inputs(scop))
    fruitless, number = 0, 0
    while len(kinds) > 1 and not collected.is_complete(fruitless):
        recipe = Recipe("by array", 1000 * seed + number, bounds)
        number += 1
        is_new = collected.try_(str(recipe), recipe.inputs(scop), only_new=True)
        fruitless = 0 if is_new else fruitless + 1
    return collected.result()


def given_data_set(
    scop: Scop, name: str, inputs: Mapping[str, Elements | Value], left_out: Collection[str] = ()
) -> DataSets:
    """Return the one data set that the user gives."""
    collected = _Collected(scop, left_out)
    collected.add(name, completed(scop, inputs))
    return collected.result()


def completed(scop: Scop, inputs: Mapping[str, Elements | Value]) -> dict[str, Elements | Value]:
    """Return just what the golden model takes of the inputs of a circuit.

    An array without a port, since no statement that runs touches it, may hold anything; of an array
    that no statement names the model knows nothing.
    """
    return {name: inputs.get(name, value) for name, value in random_inputs(scop, 1).items()}


class _Collected:
    def __init__(self, scop: Scop, left_out: Collection[str]) -> None:
        self._scop = scop
        self._left_out = left_out
        self._sets: list[DataSet] = []
        self._sensitivity: Sensitivity | None = None
        self._unfit: list[SubscriptError] = []

    def try_(
        self, name: str, inputs: Mapping[str, Elements | Value], *, only_new: bool = False
    ) -> bool:
        """Do as `add`, but leave out a data set with which the program leaves an array."""
        try:
            return self.add(name, inputs, only_new=only_new)
        except SubscriptError as error:
            self._unfit.append(error)
            return False

    def add(
        self, name: str, inputs: Mapping[str, Elements | Value], *, only_new: bool = False
    ) -> bool:
        """Run the program on a data set and keep it; return whether it shows something new."""
        golden = run_golden(self._scop, inputs)
        if self._sensitivity is None:
            counts = {s: n for s, n in golden.counts.items() if s not in self._left_out}
            self._sensitivity = Sensitivity(self._scop, counts)
        new = self._sensitivity.ask(inputs, golden)
        if new or not only_new:
            self._sets.append(DataSet(name, inputs, golden, new))
        return new > 0

    def is_complete(self, fruitless: int) -> bool:
        if self._sensitivity is None:
            return fruitless >= FRUITLESS_TRIALS
        most = MORE_TRIALS if self._sensitivity.hides_something else FRUITLESS_TRIALS
        return self._sensitivity.is_complete or fruitless >= most

    def result(self) -> DataSets:
        if self._sensitivity is None:
            raise self._unfit[0].telling(help=_FIT)
        return DataSets(tuple(self._sets), self._sensitivity.shown(), unfit=tuple(self._unfit))
