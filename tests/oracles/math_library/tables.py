"""The tables of the C texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from decimal import Context, Decimal, localcontext
from pathlib import Path

import rtlgen.frontend.text
from tests.oracles.math_library.functions import (
    atan,
    cbrt,
    erf,
    exp,
    expm1,
    log,
    pi,
    sin,
    sinh,
    tanh,
)
from tests.oracles.math_library.polynomials import in_units, in_units_one_by_one, polynomial

FOLDER = Path(rtlgen.frontend.text.__file__).parent / "math_library"

DIGITS = 50

Tables = Mapping[str, Sequence[int]]


def _masked(value: int, bits: int) -> int:
    return value & (1 << bits) - 1


def expf() -> Tables:
    """Return e^(i/512) for 0 <= i/512 <= ln 2 and a bit more, and the steps in between."""
    e = [in_units(exp(Decimal(i) / 512), 57) for i in range(364)]
    steps = [Decimal(j) / 2**18 for j in range(512)]
    return {
        "rtlgen_expf_e": e + [0] * (512 - len(e)),
        "rtlgen_expf_t": [in_units(exp(z) - 1 - z, 51) for z in steps],
    }


def exp_of_doubles() -> Tables:
    """Return the tables of `expf`, in more bits."""
    e = [in_units(exp(Decimal(i) / 512), 61) for i in range(366)]
    steps = [Decimal(j) / 2**18 for j in range(512)]
    return {
        "rtlgen_exp_e": e + [0] * (512 - len(e)),
        "rtlgen_exp_t": [in_units(exp(z) - 1 - z, 62) for z in steps],
    }


def logf() -> Tables:
    """Return the polynomials of |log m|: above 1 from the left end of a part, below from the right.

    Those beside 1 are the first terms of the series of log(1 + h): so log x = h - h^2/2 + ... has
    the right sign behind h - h^2/2 where that is half-way between two floats.
    """
    units, widths = (57, 60, 69, 60, 55), (57, 51, 50, 32, 17)
    rows = []
    for i in range(512):
        if i == 0:
            row = [Decimal(0)] + [Decimal(2) ** (-9 * n) / n for n in range(1, 5)]
        elif i == 511:
            row = [Decimal(0)] + [Decimal(2) ** (-10 * n) / n for n in range(1, 5)]
        elif i < 256:
            row = polynomial(lambda h, m=1 + Decimal(i) / 512: log(m + h / 512), 4)  # type: ignore[misc]
            row = [-c if n in (2, 4) else c for n, c in enumerate(row)]
        else:
            row = polynomial(lambda h, m=Decimal(i + 513) / 1024: -log(m - h / 1024), 4)  # type: ignore[misc]
        # Coefficients of the first part are 1 larger than the largest number of so many bits.
        rows.append(
            [
                min(in_units(c, unit), (1 << width) - 1)
                for c, unit, width in zip(row, units, widths, strict=True)
            ]
        )
    c0, c1, c2, c3, c4 = zip(*rows, strict=True)
    return {
        "rtlgen_logf_c0": c0,
        "rtlgen_logf_c1": [a | _masked(b, 13) << 51 for a, b in zip(c1, c4, strict=True)],
        "rtlgen_logf_c2": [a | b >> 13 << 50 for a, b in zip(c2, c4, strict=True)],
        "rtlgen_logf_c3": c3,
    }


def log2f() -> Tables:
    """Return the polynomials of |log2 m| in parts as in `logf`; beside 1, the error is relative."""
    return _logarithms("log2f", log(Decimal(2)), (56, 59, 68, 60, 54))


def log10f() -> Tables:
    """Return those of |log10 m|, all smaller by a bit."""
    return _logarithms("log10f", log(Decimal(10)), (57, 60, 69, 61, 55))


def _logarithms(name: str, unit: Decimal, units: Sequence[int]) -> Tables:
    rows = []
    for i in range(512):
        first, length = (1 + Decimal(i) / 512, 512) if i < 256 else (Decimal(i + 513) / 1024, -1024)

        def size(h: Decimal, first: Decimal = first, length: int = length) -> Decimal:
            return abs(log(first + h / length)) / unit

        lowest = 1 if i in (0, 511) else 0
        signs = (1, 1, -1, 1, -1) if i < 256 else (1, 1, 1, 1, 1)
        rows.append(in_units_one_by_one(size, units, lowest, signs))
    c0, c1, c2, c3, c4 = zip(*rows, strict=True)
    return {
        f"rtlgen_{name}_c0": c0,
        f"rtlgen_{name}_c1": [a | _masked(b, 13) << 51 for a, b in zip(c1, c4, strict=True)],
        f"rtlgen_{name}_c2": [a | b >> 13 << 50 for a, b in zip(c2, c4, strict=True)],
        f"rtlgen_{name}_c3": c3,
    }


def powf() -> Tables:
    """Return the polynomials of |log m| / |m - 1|, parts as in `logf`."""
    rows = []
    for i in range(512):
        first, length = (Decimal(i) / 512, 512) if i < 256 else (Decimal(511 - i) / 1024, 1024)

        def quotient(h: Decimal, first: Decimal = first, length: int = length) -> Decimal:
            w = first + h / length
            return (log(1 + w) if length == 512 else -log(1 - w)) / w

        c0, c1, c2, c3, c4 = in_units_one_by_one(quotient, (58, 60, 60, 60, 55))
        rows.append((c0, -c1, c2, -c3, c4) if i < 256 else (c0, c1, c2, c3, c4))
    c0s, c1s, c2s, c3s, c4s = zip(*rows, strict=True)
    return {
        "rtlgen_powf_c0": [a | (b & 31) << 59 for a, b in zip(c0s, c4s, strict=True)],
        "rtlgen_powf_c1": [a | b >> 5 << 50 for a, b in zip(c1s, c4s, strict=True)],
        "rtlgen_powf_c2": c2s,
        "rtlgen_powf_c3": c3s,
    }


def log_of_doubles() -> Tables:
    """Return c, near 4096/m in the middle of each part of 1 <= m < 2, and -ln(c/4096)."""
    return _reciprocals("ln", Decimal(1))


def pow_of_doubles() -> Tables:
    """Return c and -log2(c/4096) as of `log_of_doubles`."""
    return _reciprocals("pow", log(Decimal(2)))


def powers_of_2() -> Tables:
    """Return 2^(i/512), and how much more than 1 the steps in between are."""
    e = [in_units(exp(log(Decimal(2)) * i / 512), 61) for i in range(512)]
    steps = [log(Decimal(2)) * j / 2**18 for j in range(512)]
    return {
        "rtlgen_exp2_e": e,
        "rtlgen_exp2_t": [in_units(exp(z) - 1, 62) for z in steps],
    }


def _reciprocals(name: str, unit: Decimal) -> Tables:
    """Return c and -log(c/4096) in multiples of `unit`; beside 1 and 2, c is 4096 and 2048."""
    c = [4096, *(in_units(1024 / Decimal(1025 + 2 * i), 12) for i in range(1, 511)), 2048]
    logs = [in_units(-log(Decimal(at) / 4096) / unit, 78) for at in c]
    return {
        f"rtlgen_{name}_c": [_masked(a, 46) | b << 46 for a, b in zip(logs, c, strict=True)],
        f"rtlgen_{name}_m": [a >> 46 for a in logs],
    }


def tanhf() -> Tables:
    """Return the polynomials of tanh(x), below 1 of tanh(x)/2^e, for 64 parts of each binade."""
    units = (55, 57, 57, 53, 53, 54, 54)
    rows = []
    for exponent in range(-12, 4):
        for i in range(64):
            start = Decimal(2) ** exponent * (1 + Decimal(i) / 64)
            length = Decimal(2) ** (exponent - 6)
            scale = Decimal(2) ** -min(exponent, 0)
            row = polynomial(lambda h, a=start, d=length, s=scale: s * tanh(a + d * h), 6)  # type: ignore[misc]
            rows.append([in_units(c, unit) for c, unit in zip(row, units, strict=True)])
    c0, c1, c2, c3, c4, c5, c6 = zip(*rows, strict=True)
    return {
        "rtlgen_tanhf_c0": [a | _masked(b, 8) << 56 for a, b in zip(c0, c5, strict=True)],
        "rtlgen_tanhf_c1": [a | _masked(b, 13) << 51 for a, b in zip(c1, c6, strict=True)],
        "rtlgen_tanhf_c2": [
            a << 19 | _masked(b, 23) >> 8 << 4 | _masked(c, 17) >> 13
            for a, b, c in zip(c2, c5, c6, strict=True)
        ],
        "rtlgen_tanhf_c3": [a << 29 | _masked(b, 29) for a, b in zip(c3, c4, strict=True)],
    }


def sinf() -> Tables:
    """Return the polynomials of sin(x)/2^(e+4) below 1/16."""
    rows = []
    for exponent in range(-12, -4):
        for i in range(16):
            scale = Decimal(2) ** exponent
            rows.append(
                _row(lambda h, s=scale, i=i: sin(s * (1 + (i + h) / 16)) / s / 16)  # type: ignore[misc]
            )
    return _packed("sinf", rows)


def sines_of_floats() -> Tables:
    """Return the polynomials of a quarter turn, and the bits of 2/pi."""
    return _angle("sinef") | _packed("sinef", _quarter())


def _quarter() -> list[list[int]]:
    """Return the polynomials of the sine; the relative error of the first one is small."""
    return [
        _row(lambda h, i=i: sin(pi() / 2 * (i + h) / 512), 1 if i == 0 else 0)  # type: ignore[misc]
        for i in range(512)
    ]


def _row(function: Callable[[Decimal], Decimal], lowest: int = 0) -> list[int]:
    c0, c1, c2, c3, c4 = in_units_one_by_one(function, (60, 59, 60, 60, 54), lowest)
    return [c0, c1, -c2, -c3, c4]


def _packed(name: str, rows: Sequence[Sequence[int]]) -> dict[str, Sequence[int]]:
    c0, c1, c2, c3, c4 = zip(*rows, strict=True)
    return {
        f"rtlgen_{name}_c0": [a | (b & 15) << 60 for a, b in zip(c0, c4, strict=True)],
        f"rtlgen_{name}_c1": [a | b >> 4 << 51 for a, b in zip(c1, c4, strict=True)],
        f"rtlgen_{name}_c2": [a << 20 | _masked(b, 20) for a, b in zip(c2, c3, strict=True)],
        f"rtlgen_{name}_c3": [b >> 20 for b in c3],
    }


def _angle(name: str) -> dict[str, Sequence[int]]:
    """Return 2/pi 2^(e-150) modulo 4 for the exponents of x from 2^-13 on, in units of 2^-83."""
    with localcontext(Context(prec=100)):
        turns = [2 / pi() * Decimal(2) ** (e - 150) if e >= 114 else 0 for e in range(256)]
        rows = [_masked(in_units(Decimal(turn), 83), 85) for turn in turns]
    return {
        f"rtlgen_{name}_angle": [row >> 21 for row in rows],
        f"rtlgen_{name}_angle_low": [_masked(row, 21) for row in rows],
    }


def sines_of_doubles() -> Tables:
    """Return the polynomials of a quarter turn in 512 parts, and the bits of 2/pi.

    c0 is scaled as the angle is that makes a number from 1/2 to 1 of it; the others are not.
    """
    rows = []
    for i in range(512):
        units = (63 + 9 - i.bit_length(), 72, 72, 72, 71, 65)
        rows.append(
            in_units_one_by_one(
                lambda h, i=i: sin(pi() / 2 * (i + h) / 512),  # type: ignore[misc]
                units, lowest=1 if i == 0 else 0, signs=(1, 1, -1, -1, 1, 1),
            )
        )  # fmt: skip
    c0, c1, c2, c3, c4, c5 = zip(*rows, strict=True)
    with localcontext(Context(prec=440)):
        # What x takes part in: of exponents below 2^-27, nothing.
        turns = [2 / pi() * Decimal(2) ** (16 * e - 1075) if e >= 62 else 0 for e in range(128)]
        bits = [_masked(in_units(Decimal(turn), 190), 192) for turn in turns]
    return {
        "rtlgen_sine_turns2": [row >> 128 for row in bits],
        "rtlgen_sine_turns1": [_masked(row >> 64, 64) for row in bits],
        "rtlgen_sine_turns0": [_masked(row, 64) for row in bits],
        "rtlgen_sine_c0": c0,
        "rtlgen_sine_c1": c1,
        "rtlgen_sine_c2": [a | _masked(b, 9) << 55 for a, b in zip(c2, c5, strict=True)],
        "rtlgen_sine_c3": [a | _masked(b, 19) << 45 for a, b in zip(c3, c4, strict=True)],
        "rtlgen_sine_c4": [a >> 19 | b >> 9 << 15 for a, b in zip(c4, c5, strict=True)],
    }


def atanf() -> Tables:
    """Return the polynomials of atan(x), below 1 of atan(x)/2^e, for each binade in 4 to 32 parts.

    The last row is atan(x)/x below 2^-6, of 2^6 x.
    """
    units = (58, 58, 58, 58, 58, 58, 58, 51)
    # Where the function bends, parts are smaller; how many bits choose one.
    bits = [2, 2, 2, 2, 3, 4, *[5] * 7, *[4] * 8, *[3] * 7, *[2] * 4]
    rows: list[list[int]] = []
    parts = []
    for exponent, count in enumerate(bits, -6):
        parts.append(len(rows) | count << 9)
        scale = Decimal(2) ** -min(exponent, 0)
        length = Decimal(2) ** (exponent - count)
        for i in range(1 << count):
            rows.append(
                in_units_one_by_one(
                    lambda h, i=i, n=count, d=length, s=scale: s * atan(d * (2**n + i + h)),  # type: ignore[misc]
                    units,
                )
            )
    small = in_units_one_by_one(lambda h: atan(h / 64) / (h / 64), units[1:])
    rows += [[0] * 8] * (511 - len(rows))
    rows.append([0, *small])
    c0, c1, c2, c3, c4, c5, c6, c7 = zip(*rows, strict=True)
    return {
        "rtlgen_atanf_parts": parts,
        "rtlgen_atanf_c0": c0,
        "rtlgen_atanf_c1": c1,
        "rtlgen_atanf_c2": [a << 14 | _masked(b, 14) for a, b in zip(c2, c6, strict=True)],
        "rtlgen_atanf_c3": [a << 18 | _masked(b, 18) for a, b in zip(c3, c7, strict=True)],
        "rtlgen_atanf_c4": c4,
        "rtlgen_atanf_c5": [a << 20 | _masked(b >> 14, 20) for a, b in zip(c5, c6, strict=True)],
    }


def tanh_of_doubles() -> Tables:
    """Return the polynomials of tanh(x), below 1 of tanh(x)/2^e, from 2^-6 to 2^5."""
    rows = _binades(tanh, range(-6, 5), lambda e: -min(e, 0))
    return _packed_binades("tanh", _with_a_small_row(rows, lambda x: tanh(x) / x))


def erf_of_doubles() -> Tables:
    """Return the polynomials of erf(x), below 1/2 of erf(x)/2^(e + 1), from 2^-6 to 2^3.

    From 2 on there are 64 parts of a binade.
    """
    rows = _binades(erf, range(-6, 1), lambda e: -min(e + 1, 0))
    rows += _binades(erf, range(1, 3), lambda _: 0, 64)
    return _packed_binades("erf", _with_a_small_row(rows, lambda x: erf(x) / x / 2))


def cbrt_of_doubles() -> Tables:
    """Return the polynomials of half the cube root from 1 to 8."""
    rows = _binades(cbrt, range(3), lambda _: -1)
    return _packed_binades("cbrt", rows + [[0] * 8] * (128 - len(rows)))


def sinh_of_doubles() -> Tables:
    """Return the polynomials of sinh(x)/2^(e + 1) from 2^-6 to 2."""
    rows = _binades(sinh, range(-6, 1), lambda e: -e - 1)
    return _packed_binades("sinh", _with_a_small_row(rows, lambda x: sinh(x) / x / 2, 256))


def expm1_of_doubles() -> Tables:
    """Return the polynomials of (e^x - 1)/2^(e + 1) and of (1 - e^-x)/2^e from 2^-10 to 1.

    From 2^-4 on there are 32 parts of a binade, below 8.
    """
    rows = []
    for sign in (1, -1):

        def size(x: Decimal, sign: int = sign) -> Decimal:
            return abs(expm1(sign * x))

        def up(exponent: int, sign: int = sign) -> int:
            return -exponent - (sign > 0)

        def quotient(x: Decimal, sign: int = sign) -> Decimal:
            return size(x, sign) / x / (2 if sign > 0 else 1)

        half = _binades(size, range(-10, -4), up, 8) + _binades(size, range(-4, 0), up)
        rows += _with_a_small_row(half, quotient, 256, 10)
    return _packed_binades("expm1", rows)


_OF_BINADES = (63, 63, 63, 63, 63, 63, 63, 54)


def _binades(
    function: Callable[[Decimal], Decimal],
    exponents: range,
    up: Callable[[int], int],
    parts: int = 32,
) -> list[list[int]]:
    """Return polynomials of function(x) 2^up(exponent) in so many parts of each binade."""
    rows = []
    for exponent in exponents:
        scale = Decimal(2) ** up(exponent)
        length = Decimal(2) ** exponent / parts
        for i in range(parts):
            rows.append(
                in_units_one_by_one(
                    lambda h, i=i, d=length, s=scale: s * function(d * (parts + i + h)),  # type: ignore[misc]
                    _OF_BINADES,
                )
            )
    return rows


def _with_a_small_row(
    rows: Sequence[list[int]],
    quotient: Callable[[Decimal], Decimal],
    count: int = 512,
    below: int = 6,
) -> list[list[int]]:
    """Return so many rows, of which the last one is f(x)/x of x = 2^-below h."""
    small = in_units_one_by_one(lambda h: quotient(h / 2**below), _OF_BINADES[1:])
    return [*rows, *[[0] * 8] * (count - 1 - len(rows)), [0, min(small[0], 1 << 63), *small[1:]]]


def _packed_binades(name: str, rows: Sequence[Sequence[int]]) -> Tables:
    """Return the words that `_binades.c` takes apart."""
    c0, c1, c2, c3, c4, c5, c6, c7 = zip(*rows, strict=True)
    return {
        f"rtlgen_{name}_c0": c0,
        f"rtlgen_{name}_c1": c1,
        f"rtlgen_{name}_c2": c2,
        f"rtlgen_{name}_c3": [a << 13 | _masked(b, 13) for a, b in zip(c3, c6, strict=True)],
        f"rtlgen_{name}_c4": [a << 21 | _masked(b, 18) << 3 for a, b in zip(c4, c7, strict=True)],
        f"rtlgen_{name}_c5": [
            a << 26 | _masked(b >> 13, 19) << 7 for a, b in zip(c5, c6, strict=True)
        ],
    }


TABLES: Mapping[str, Callable[[], Tables]] = {
    "_expf": expf, "logf": logf, "powf": powf, "tanhf": tanhf, "_sinf": sinf,
    "_sinef": sines_of_floats, "_exp": exp_of_doubles, "_ln": log_of_doubles, "pow": pow_of_doubles,
    "_exp2": powers_of_2, "log2f": log2f, "log10f": log10f, "_atanf": atanf,
    "_sine": sines_of_doubles, "tanh": tanh_of_doubles, "_erf": erf_of_doubles,
    "_cbrt": cbrt_of_doubles, "_sinh": sinh_of_doubles, "_expm1": expm1_of_doubles,
}  # fmt: skip
"""Of the texts that have any."""


def tables_of(name: str) -> Tables:
    """Return the tables of a function by their names in its C text."""
    with localcontext(Context(prec=DIGITS)):
        return TABLES[name]()


def with_tables(text: str, tables: Tables) -> str:
    """Return a C text with the initial values of its arrays replaced."""
    for name, values in tables.items():
        head = re.compile(rf"(static const \w+ {name}\[{len(values)}\] = )\{{[^}}]*\}};")
        if len(head.findall(text)) != 1:
            raise ValueError(f"the text has no array {name} of {len(values)} elements")
        body = _lines(values)
        text = head.sub(rf"\g<1>{{\n{body}\n}};", text)
    return text


def _lines(values: Sequence[int]) -> str:
    lines = ["   "]
    for value in values:
        # The magnitude alone would be unsigned.
        item = f" {hex(value)}{'l' if value < -0x7FFFFFFF else ''},"
        if len(lines[-1]) + len(item) > 100:
            lines.append("   ")
        lines[-1] += item
    return "\n".join(lines)
