"""Constants with the types that C gives them (C11 6.4.4), and the expressions of `#if`.

The expressions of `#if` and `#elif`, evaluated as C does: in 64 bits (C11 6.10.1).

A value is signed or unsigned; names that are no macros are 0. What is not needed, the other side of
`&&`, `||` and `?:`, may divide by 0.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from fractions import Fraction

from rtlgen.ir.float_arithmetic import from_fraction
from rtlgen.ir.types import BFLOAT16, FLOAT16, FLOAT32, FLOAT64, INT32, INT64, FloatType, IntType

UINT32 = IntType(32, False)
UINT64 = IntType(64, False)

WIDE_CHARACTERS = {
    "L": INT32, "u8": IntType(8, False), "u": IntType(16, False), "U": UINT32,
}  # fmt: skip
"""The types of characters with a prefix: wchar_t, char8_t, char16_t, char32_t."""

_INTEGER = re.compile(
    r"(?:0[xX](?P<hex>[0-9a-fA-F]+)|0[bB](?P<bin>[01]+)|(?P<oct>0[0-7]*)|(?P<dec>[1-9][0-9]*))"
    r"(?P<suffix>[uU]?(?:ll|LL|[lL])?|(?:ll|LL|[lL])[uU])"
)
_ESCAPES = {
    "n": 10, "t": 9, "r": 13, "a": 7, "b": 8, "f": 12, "v": 11, "\\": 92, "'": 39, '"': 34, "?": 63,
}  # fmt: skip

CHARACTER = re.compile(r"\\(?:x[0-9a-fA-F]+|[0-7]{1,3}|.)|[^\\]", re.DOTALL)
"""One of those between the quotes of a string."""

# Longer ones cannot fit in any type; Python refuses to convert very long ones at all.
_MAX_DIGITS = 100


def integer_constant(text: str) -> tuple[int, IntType]:
    """Return the value and type of an integer constant.

    Raises
    ------
    ValueError: it is malformed or too large; the message says which.
    """
    # Separators stand between two digits (C23 6.4.4.1).
    match = _INTEGER.fullmatch(re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text))
    if match is None:
        raise ValueError("it is no integer constant of C")
    digits, base = next(
        (match[group], base)
        for group, base in (("hex", 16), ("bin", 2), ("oct", 8), ("dec", 10))
        if match[group]
    )
    if len(digits) > _MAX_DIGITS:
        raise ValueError("it is larger than any 64-bit type")
    value = int(digits, base)
    suffix = match["suffix"].lower()
    for type_ in (INT32, UINT32, INT64, UINT64):
        if "l" in suffix and type_.width_bits < 64:
            continue
        if "u" in suffix and type_.signed:
            continue
        if "u" not in suffix and base == 10 and not type_.signed:
            continue
        if value <= type_.maximum:
            return value, type_
    raise ValueError("it is larger than any 64-bit type")


def character_constant(text: str) -> int:
    """Return the value of a character constant, an int.

    Raises
    ------
    ValueError: it is not one character of 8 bits.
    """
    return IntType(8, True).wrap(_character(text, 8))


def wide_character_constant(prefix: str, text: str) -> int:
    """Return the value of a character constant with a prefix: `L'a'`.

    Raises
    ------
    ValueError: it is not one character of its type.
    """
    type_ = WIDE_CHARACTERS[prefix]
    return type_.wrap(_character(text, type_.width_bits))


def _character(text: str, width_bits: int) -> int:
    """Return the number of the one character between quotes, not negative."""
    body = text[1:-1] if len(text) > 2 and text[0] == text[-1] == "'" else ""
    most, value = (1 << width_bits) - 1, -1
    if len(body) == 1 and body != "\\":
        # As one byte, what is not ASCII is several characters.
        most, value = most if width_bits > 8 else 127, ord(body)
    elif len(body) == 2 and body[0] == "\\" and body[1] in _ESCAPES:
        value = _ESCAPES[body[1]]
    elif re.fullmatch(r"\\[0-7]{1,3}", body):
        value = int(body[1:], 8)
    elif re.fullmatch(r"\\x[0-9a-fA-F]{1,8}", body):
        value = int(body[2:], 16)
    if not 0 <= value <= most:
        raise ValueError("it is not one plain character")
    return value


_SUFFIXES = {
    "": FLOAT64, "f": FLOAT32, "f16": FLOAT16, "bf16": BFLOAT16, "f32": FLOAT32, "f64": FLOAT64,
}  # fmt: skip
"""Those of C23's interchange types, and gcc's for `__bf16`, among them."""

_DECIMAL = re.compile(r"(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?")
_HEXADECIMAL = re.compile(r"0[xX]([0-9a-fA-F]*)\.?([0-9a-fA-F]*)[pP]([+-]?\d+)")
_SUFFIX = re.compile(r"(?:[fF](?:16|32|64)?|[bB][fF]16|[lL])$")

_MAX_EXPONENT = 10_000
"""Beyond it every number is infinite, or 0, in every type; a power of ten may take very long."""


def float_constant(text: str) -> tuple[int, FloatType]:
    """Return the pattern of the number that is nearest to a constant, and its type.

    Raises
    ------
    ValueError: it is malformed, or of a type that is not supported; the message says which.
    """
    text = re.sub(r"(?<=[0-9a-fA-F])'(?=[0-9a-fA-F])", "", text)
    is_hexadecimal = text[:2] in ("0x", "0X")
    # An `f` in front of the exponent of a hexadecimal number is a digit.
    behind = re.search(r"[pP].*", text) if is_hexadecimal else re.search(r".*", text)
    suffix = _SUFFIX.search(behind[0]) if behind is not None else None
    named = suffix[0].lower() if suffix is not None else ""
    if named == "l":
        raise ValueError("`long double` is not supported")
    digits = text[: len(text) - len(named)]
    match = (_HEXADECIMAL if is_hexadecimal else _DECIMAL).fullmatch(digits)
    if match is None or not match[1] + match[2]:
        raise ValueError("it is no floating constant of C")
    type_ = _SUFFIXES[named]
    base, unit = (16, 2) if is_hexadecimal else (10, 10)
    exponent = int(match[3] or 0) - len(match[2]) * (4 if is_hexadecimal else 1)
    number = int(match[1] + match[2], base)
    if number == 0 or exponent + len(match[1] + match[2]) * 4 < -_MAX_EXPONENT:
        return 0, type_
    if exponent > _MAX_EXPONENT:
        return type_.infinity, type_
    return from_fraction(number * Fraction(unit) ** exponent, type_), type_


_ASKING = frozenset(("&&", "||", "==", "!=", "<", ">", "<=", ">="))
"""Operators whose result is 0 or 1."""


def result_of(operator: str, a: int, b: int) -> int:
    """Return what a binary operator makes of two numbers, before a type wraps it.

    A divisor is not 0, and numbers are shifted by 0 or more.
    """
    match operator:
        case "+":
            return a + b
        case "-":
            return a - b
        case "*":
            return a * b
        case "/" | "%":
            # Towards zero.
            quotient = abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
            return quotient if operator == "/" else a - b * quotient
        case "&":
            return a & b
        case "|":
            return a | b
        case "^":
            return a ^ b
        case "<<":
            return a << b
        case ">>":
            return a >> b
        case "&&" | "||":
            return int(bool(a and b) if operator == "&&" else bool(a or b))
    holds = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b, "!=": a != b}
    return int(holds[operator])


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
    if operator in ("<<", ">>"):
        return _shifted(left, -right[0] if operator == ">>" else right[0])
    type_ = _common(left, right)
    a, b = type_.wrap(left[0]), type_.wrap(right[0])
    if operator in ("/", "%") and b == 0:
        if needed:
            raise ValueError("it divides by 0")
        return 0, type_
    value = result_of(operator, a, b)
    return (value, INT64) if operator in _ASKING else (type_.wrap(value), type_)


def _shifted(left: _Value, places: int) -> _Value:
    """Shift to the left, or for negative places to the right, as GCC's preprocessor does."""
    value, type_ = left
    # Beyond the width nothing changes; C leaves the number open, and it may be any.
    places = max(-64, min(64, places))
    return (type_.wrap(value << places) if places >= 0 else value >> -places), type_
