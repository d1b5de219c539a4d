"""Integer and character constants, with the types C gives them (C11 6.4.4.1, 6.4.4.4)."""

from __future__ import annotations

import re

from rtlgen.ir.types import INT32, INT64, IntType

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
