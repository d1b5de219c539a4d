"""The expressions of `#if` and `#elif`, evaluated as C does: in 64 bits (C11 6.10.1).

A value is signed or unsigned; names that are no macros are 0. What is not needed, the other side of
`&&`, `||` and `?:`, may divide by 0.
"""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.frontend.text.constants import (
    UINT64,
    character_constant,
    integer_constant,
    wide_character_constant,
)
from rtlgen.ir.types import INT64, IntType

MAX_DEPTH = 100

_LEVELS = (
    ("||",), ("&&",), ("|",), ("^",), ("&",), ("==", "!="), ("<", ">", "<=", ">="),
    ("<<", ">>"), ("+", "-"), ("*", "/", "%"),
)  # fmt: skip
_LEVEL_OF = {operator: level for level, row in enumerate(_LEVELS) for operator in row}
"""How tightly a binary operator binds, from 0."""

_Value = tuple[int, IntType]
_ZERO: _Value = (0, INT64)


def if_value(tokens: Sequence[str]) -> int:
    """Return the value of an expression whose macros are expanded.

    Raises
    ------
    ValueError: it is malformed, or has none; the message says why.
    """
    reader = _Reader(tokens)
    value, _ = reader.conditional(needed=True)
    if reader.next != "":
        raise ValueError(f"unexpected `{reader.next}`")
    return value


class _Reader:
    """Reads by recursive descent, and evaluates as it goes."""

    def __init__(self, tokens: Sequence[str]) -> None:
        self._tokens = tokens
        self._at = 0
        self._depth = 0

    @property
    def next(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _take(self) -> str:
        token = self.next
        self._at += 1
        return token

    def _expect(self, token: str) -> None:
        if self._take() != token:
            raise ValueError(f"`{token}` is missing")

    def conditional(self, needed: bool) -> _Value:
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise ValueError(f"it is nested more than {MAX_DEPTH} levels deep")
        value = self._binary(0, needed)
        if self.next == "?":
            self._take()
            first = self.conditional(needed and value[0] != 0)
            self._expect(":")
            second = self.conditional(needed and value[0] == 0)
            type_ = _common(first, second)
            value = (type_.wrap((first if value[0] else second)[0]), type_)
        self._depth -= 1
        return value

    def _binary(self, level: int, needed: bool) -> _Value:
        """Read operands and the operators between them that bind as tightly as `level`, or more."""
        value = self._unary(needed)
        while _LEVEL_OF.get(self.next, -1) >= level:
            operator = self._take()
            skipped = (operator == "&&" and not value[0]) or (operator == "||" and bool(value[0]))
            right_needed = needed and not skipped
            right = self._binary(_LEVEL_OF[operator] + 1, right_needed)
            value = _applied(operator, value, right, right_needed)
        return value

    def _unary(self, needed: bool) -> _Value:
        operators = []
        while self.next in ("+", "-", "~", "!"):
            operators.append(self._take())
        value, type_ = self._primary(needed)
        for operator in reversed(operators):
            if operator == "!":
                value, type_ = int(not value), INT64
            elif operator != "+":
                value = type_.wrap(-value if operator == "-" else ~value)
        return value, type_

    def _primary(self, needed: bool) -> _Value:
        token = self._take()
        if token == "(":
            value = self.conditional(needed)
            self._expect(")")
            return value
        if token == "":
            raise ValueError("an operand is missing at its end")
        if token[0].isdigit():
            return _number(token)
        if token[0] == "'":
            return character_constant(token), INT64
        prefix, quote, _ = token.partition("'")
        if quote:
            return wide_character_constant(prefix, token.removeprefix(prefix)), INT64
        if token[0].isalpha() or token[0] == "_":
            if self.next == "(":
                raise ValueError(f"the macro `{token}` is not defined")
            return _ZERO
        raise ValueError(f"unexpected `{token}`")


def _number(token: str) -> _Value:
    try:
        value, _ = integer_constant(token)
    except ValueError as error:
        raise ValueError(f"`{token[:40]}`: {error}") from None
    # Types of 32 bits do not exist here: all are (u)intmax_t.
    is_unsigned = "u" in token.lower() or value > INT64.maximum
    return value, UINT64 if is_unsigned else INT64


def _common(left: _Value, right: _Value) -> IntType:
    return INT64 if left[1].signed and right[1].signed else UINT64


def _applied(operator: str, left: _Value, right: _Value, needed: bool) -> _Value:
    if operator in ("&&", "||"):
        both = (bool(left[0]), bool(right[0]))
        return int(all(both) if operator == "&&" else any(both)), INT64
    if operator in ("<<", ">>"):
        return _shifted(left, -right[0] if operator == ">>" else right[0])
    type_ = _common(left, right)
    a, b = type_.wrap(left[0]), type_.wrap(right[0])
    match operator:
        case "==" | "!=" | "<" | ">" | "<=" | ">=":
            return int(_compared(operator, a, b)), INT64
        case "/" | "%" if b == 0:
            if needed:
                raise ValueError("it divides by 0")
            return 0, type_
        case "/" | "%":
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            result = quotient if operator == "/" else a - b * quotient
        case "+":
            result = a + b
        case "-":
            result = a - b
        case "*":
            result = a * b
        case "|":
            result = a | b
        case "^":
            result = a ^ b
        case _:
            result = a & b
    return type_.wrap(result), type_


def _shifted(left: _Value, places: int) -> _Value:
    """Shift to the left, or for negative places to the right, as GCC's preprocessor does."""
    value, type_ = left
    # Beyond the width nothing changes; C leaves the number open, and it may be any.
    places = max(-64, min(64, places))
    return (type_.wrap(value << places) if places >= 0 else value >> -places), type_


def _compared(operator: str, a: int, b: int) -> bool:
    match operator:
        case "==":
            return a == b
        case "!=":
            return a != b
        case "<":
            return a < b
        case ">":
            return a > b
        case "<=":
            return a <= b
        case _:
            return a >= b
