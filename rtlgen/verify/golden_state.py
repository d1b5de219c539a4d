"""What both engines of the golden model share: the memory, events, and what stops a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, get_args

import numpy as np

from rtlgen.errors import Diagnostic, Label, RtlgenError
from rtlgen.ir.scop import Access, Array, Scop, Statement, Subscript, Window
from rtlgen.ir.types import FloatType, NumberType
from rtlgen.verify.errors import InputTypeError, MissingInputError, UnknownInputError
from rtlgen.verify.values import Elements, Value, element_dtype, is_scalar, pattern_of, stored_dtype

EventKind: TypeAlias = Literal[
    "division by zero", "division overflow", "shift count", "uninitialised read", "float conversion"
]
EVENT_KINDS: tuple[EventKind, ...] = get_args(EventKind)

_WARNINGS: Mapping[EventKind, tuple[str, str, str]] = {
    "division by zero": (
        "W0601",
        "a divisor is 0",
        "C leaves this undefined; the circuit gives the quotient -1 (all ones) and the dividend "
        "as remainder",
    ),
    "division overflow": (
        "W0602",
        "the smallest value is divided by -1",
        "the quotient does not fit its type; it wraps to the dividend, with remainder 0",
    ),
    "shift count": (
        "W0603",
        "a shift count is negative or not below the width",
        "C leaves this undefined; the circuit takes the count modulo the width",
    ),
    "uninitialised read": (
        "W0604",
        "a local variable is read before it is written",
        "C leaves its value open; the golden model reads 0, the circuit may read anything",
    ),
    "float conversion": (
        "W0607",
        "a number is converted to an integer type that does not hold it",
        "C leaves this undefined; the circuit gives the nearest value of the type, and 0 for a NaN",
    ),
}


def keeps_element(read: Access, statement: Statement) -> bool:
    """Return whether a statement that stores what it reads so leaves the element as it is.

    if (c) a[i] = x;        a[i] = c ? x : a[i];        In C, nothing is read where c is 0.
    """
    write = statement.write
    return read.array == write.array and read.subscripts == write.subscripts


@dataclass(frozen=True, slots=True)
class GoldenEvent:
    """Something that C leaves undefined and that this run met, with the result defined here.

    Members
    -------
    count: how often the statement met it.
    first: the iterators of the first instance that did, outermost first.
    """

    kind: EventKind
    statement: str
    count: int
    first: tuple[int, ...]

    def diagnostic(self, scop: Scop) -> Diagnostic:
        """Return the warning that `rtlgen verify` prints."""
        code, message, why = _WARNINGS[self.kind]
        statement = scop.statement(self.statement)
        times = "once" if self.count == 1 else f"{self.count} times"
        return Diagnostic(
            code,
            message,
            (Label(statement.span, f"{times}, first in {statement.instance_text(self.first)}"),),
            (why,),
            severity="warning",
        )


@dataclass(frozen=True, slots=True)
class GoldenResult:
    """What the program left behind.

    Members
    -------
    arrays: every array that is not local, scalars as arrays of shape ().
    returned: the function's value, or None. A number is a scalar of NumPy, as elements are.
    counts: executed instances of every statement.
    events: in order of statements, then kinds.
    """

    arrays: dict[str, Elements]
    returned: Value | None
    counts: dict[str, int]
    events: tuple[GoldenEvent, ...]


class SubscriptError(RtlgenError):
    """An array is accessed outside its declared shape.

    C gives such an access no meaning, so no circuit can be equal to it. The golden model, which
    runs the program as written, stops at the first one and names the instance: for

        int a[8];
        for (int i = 0; i < 8; i++)
          a[i] = a[i + 1];

    the read a[8] of S0(7). Correct the loop's bounds, or declare the array one longer.
    """

    code = "E0620"
    exit_code = 1


def leaves_told(value: int, subscript: Subscript) -> bool:
    """Tell whether a subscript is not between the bounds that the program asserts."""
    if not isinstance(subscript, Window) or subscript.told is None:
        return False
    return not subscript.told[0] <= value <= subscript.told[1]


def out_of_bounds(
    scop: Scop,
    statement_name: str,
    access: Access,
    element: Sequence[int],
    iterators: Mapping[str, int],
) -> SubscriptError:
    """Return the error for `access` to `element` of the instance with these iterators."""
    statement = scop.statement(statement_name)
    array = scop.array(access.array)
    subscripts = "".join(f"[{value}]" for value in element)
    shape = "".join(f"[{extent}]" for extent in array.shape)
    verb = "written" if access is statement.write else "read"
    point = tuple(iterators[name] for name in statement.iterators)
    is_inside = all(0 <= v < extent for v, extent in zip(element, array.shape, strict=True))
    asserted = "give data with which it holds: --inputs, --range; or correct the assertion"
    if is_inside:
        return SubscriptError(
            f"{access.array}{subscripts} is not where an assertion before says that it is",
            labels=[Label(access.span, f"{verb} by {statement.instance_text(point)}")],
            help=asserted,
        )
    if any(window.told is not None for window in access.windows):
        return SubscriptError(
            f"{access.array}{subscripts} is outside {access.array}{shape}, where an assertion "
            "before says that it is not",
            labels=[Label(access.span, f"{verb} by {statement.instance_text(point)}")],
            help=asserted,
        )
    return SubscriptError(
        f"{access.array}{subscripts} is outside {access.array}{shape}",
        labels=[Label(access.span, f"{verb} by {statement.instance_text(point)}")],
        help="keep the value of the subscript inside the array"
        if access.is_lookup
        else "correct the bounds of the loops, or the shape of the array",
    )


def memory_image(scop: Scop, inputs: Mapping[str, Elements | Value]) -> dict[str, Elements]:
    """Return a fresh, contiguous array for each array of the program, locals as zeros.

    Numbers are held as their patterns.

    Raises
    ------
    MissingInputError, UnknownInputError, InputTypeError
    """
    known = {a.name for a in scop.arrays if a.role != "local"} | {s.name for s in scop.scalars}
    unknown = sorted(set(inputs) - known)
    if unknown:
        raise UnknownInputError(
            f"{scop.name} has no array or scalar {', '.join(unknown)}",
            help=f"it has {', '.join(sorted(known)) or 'none'}",
        )
    return {array.name: _initial(array, inputs.get(array.name)) for array in scop.arrays}


def contents_of(memory: Elements, type_: NumberType) -> Elements:
    """Return an array of a memory image as users have it."""
    return memory.view(element_dtype(type_))


def scalar_values(scop: Scop, inputs: Mapping[str, Elements | Value]) -> dict[str, int]:
    """Return the value of each scalar argument; of a number, its pattern.

    Raises
    ------
    MissingInputError, InputTypeError
    """
    values = {}
    for scalar in scop.scalars:
        if scalar.name not in inputs:
            raise MissingInputError(
                f"scalar {scalar.name} is missing from the inputs", labels=[Label(scalar.span)]
            )
        values[scalar.name] = _scalar(scalar.name, scalar.type, inputs[scalar.name])
        require_meaning(scalar.name, values[scalar.name], scalar.limits, [Label(scalar.span)])
    return values


def require_meaning(
    name: str, value: Value, limits: tuple[int, int] | None, labels: Sequence[Label] = ()
) -> None:
    """Require that a scalar is between its limits, where it has some.

    Raises
    ------
    InputTypeError
    """
    if limits is None:
        return
    (low, high), number = limits, int(value)
    if not low <= number <= high:
        raise InputTypeError(
            f"scalar {name} is {number}, and the program has no meaning beyond "
            f"{low if number < low else high}",
            labels=labels,
            notes=["an assertion would fail, or a loop would leave its arrays"],
        )


def _initial(array: Array, given: Elements | Value | None) -> Elements:
    stored = stored_dtype(array.element)
    if array.is_table:
        return np.array(array.values, stored).reshape(array.shape)
    if given is None:
        if array.role in ("in", "inout"):
            raise MissingInputError(
                f"array {array.name} is missing from the inputs", labels=[Label(array.span)]
            )
        return np.zeros(array.shape, stored)
    if not array.shape:
        return np.array(_scalar(array.name, array.element, given), stored)
    found, dtype = np.asarray(given), element_dtype(array.element)
    if found.dtype != dtype or found.shape != array.shape:
        raise InputTypeError(
            f"array {array.name} is {found.dtype.name} of shape {found.shape}, "
            f"not {dtype.name} of shape {array.shape}",
            labels=[Label(array.span)],
        )
    return np.array(found, dtype=dtype, order="C", copy=True).view(stored)


def _scalar(name: str, type_: NumberType, given: Any) -> int:
    found = np.asarray(given)
    if found.shape != () or not is_scalar(found.dtype, type_):
        kind = "number" if isinstance(type_, FloatType) else "integer"
        raise InputTypeError(
            f"scalar {name} is {found.dtype.name} of shape {found.shape}, not one {kind}"
        )
    value = pattern_of(found[()], type_)
    if not type_.minimum <= value <= type_.maximum:
        raise InputTypeError(
            f"scalar {name} is {value}, out of the range of {type_}",
            help=f"give an integer from {type_.minimum} to {type_.maximum}",
        )
    return value
