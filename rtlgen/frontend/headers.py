"""What the standard headers provide: integer typedefs and limits; the rest is ignored."""

from __future__ import annotations

from collections.abc import Mapping

_EXACT = {
    "int8_t": "signed char",
    "uint8_t": "unsigned char",
    "int16_t": "short",
    "uint16_t": "unsigned short",
    "int32_t": "int",
    "uint32_t": "unsigned int",
    "int64_t": "long",
    "uint64_t": "unsigned long",
    "intptr_t": "long",
    "uintptr_t": "unsigned long",
    "intmax_t": "long",
    "uintmax_t": "unsigned long",
}
_LEAST = {
    name.replace("int", "int_least", 1): type_
    for name, type_ in _EXACT.items()
    if name[-3].isdigit()
}
_SIZES = {"size_t": "unsigned long", "ptrdiff_t": "long", "ssize_t": "long"}

_STDINT_LIMITS = {
    **{f"INT{w}_MAX": f"{(1 << (w - 1)) - 1}{'L' if w == 64 else ''}" for w in (8, 16, 32, 64)},
    **{
        f"INT{w}_MIN": f"(-{(1 << (w - 1)) - 1}{'L' if w == 64 else ''} - 1)"
        for w in (8, 16, 32, 64)
    },
    **{
        f"UINT{w}_MAX": f"{(1 << w) - 1}{'UL' if w == 64 else 'U' if w == 32 else ''}"
        for w in (8, 16, 32, 64)
    },
    "SIZE_MAX": "18446744073709551615UL",
    "INT8_C(c)": "c",
    "INT16_C(c)": "c",
    "INT32_C(c)": "c",
    "INT64_C(c)": "c ## L",
    "UINT8_C(c)": "c",
    "UINT16_C(c)": "c",
    "UINT32_C(c)": "c ## U",
    "UINT64_C(c)": "c ## UL",
}
_LIMITS = {
    "CHAR_BIT": "8",
    "SCHAR_MIN": "(-128)",
    "SCHAR_MAX": "127",
    "UCHAR_MAX": "255",
    "CHAR_MIN": "(-128)",
    "CHAR_MAX": "127",
    "SHRT_MIN": "(-32768)",
    "SHRT_MAX": "32767",
    "USHRT_MAX": "65535",
    "INT_MIN": "(-2147483647 - 1)",
    "INT_MAX": "2147483647",
    "UINT_MAX": "4294967295U",
    "LONG_MIN": "(-9223372036854775807L - 1)",
    "LONG_MAX": "9223372036854775807L",
    "ULONG_MAX": "18446744073709551615UL",
    "LLONG_MIN": "(-9223372036854775807L - 1)",
    "LLONG_MAX": "9223372036854775807L",
    "ULLONG_MAX": "18446744073709551615UL",
}

MACROS: Mapping[str, Mapping[str, str]] = {
    "stdint.h": _STDINT_LIMITS,
    "inttypes.h": _STDINT_LIMITS,
    "limits.h": _LIMITS,
    "stdbool.h": {"bool": "_Bool", "true": "1", "false": "0"},
    "stddef.h": {},
    "stdio.h": {},
    "stdlib.h": {},
    "string.h": {},
    "math.h": {},
    "assert.h": {},
    "time.h": {},
}
"""The macros of each accepted header, by its name."""

TYPEDEFS: Mapping[str, str] = {**_EXACT, **_LEAST, **_SIZES}
"""The integer typedefs, which are always there, as C text of the type."""


def typedef_line() -> str:
    """Return the declarations of all typedefs as one line of C."""
    return " ".join(f"typedef {type_} {name};" for name, type_ in TYPEDEFS.items())
