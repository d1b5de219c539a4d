"""Constants have the values and types of C11 6.4.4."""

from __future__ import annotations

import pytest

from rtlgen.frontend.text.constants import character_constant, integer_constant


@pytest.mark.parametrize(
    ("text", "value", "type_"),
    [
        ("0", 0, "int32"),
        ("2147483647", 2147483647, "int32"),
        ("2147483648", 2147483648, "int64"),
        ("0x7fffffff", 2147483647, "int32"),
        ("0x80000000", 2147483648, "uint32"),
        ("0xFFFFFFFFF", 0xFFFFFFFFF, "int64"),
        ("0x8000000000000000", 1 << 63, "uint64"),
        ("037777777777", 0xFFFFFFFF, "uint32"),
        ("1u", 1, "uint32"),
        ("4294967296U", 1 << 32, "uint64"),
        ("1L", 1, "int64"),
        ("1ll", 1, "int64"),
        ("1uLL", 1, "uint64"),
        ("1lu", 1, "uint64"),
        ("18446744073709551615ul", (1 << 64) - 1, "uint64"),
    ],
)
def test_integer_constants(text: str, value: int, type_: str) -> None:
    got, got_type = integer_constant(text)
    assert (got, str(got_type)) == (value, type_)


@pytest.mark.parametrize(
    "text", ["9223372036854775808", "08", "1lL", "0x", "1uu", "1.0", "1" * 200]
)
def test_what_is_no_integer_constant_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="it is"):
        integer_constant(text)


@pytest.mark.parametrize(
    ("text", "value"),
    [("'a'", 97), (r"'\n'", 10), (r"'\0'", 0), (r"'\101'", 65), (r"'\xff'", -1), (r"'\''", 39)],
)
def test_character_constants(text: str, value: int) -> None:
    assert character_constant(text) == value


@pytest.mark.parametrize("text", ["'ab'", "''", "'é'", r"'\q'", r"'\777'", "'"])
def test_what_is_no_character_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="not one plain character"):
        character_constant(text)
