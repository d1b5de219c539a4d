"""Random programs with tables of constants that loops in lanes, or the text, read at numbers.

Their elements are what folding looks for: 0, 1, -1, powers of two, the ends of the types, and
values that are larger than the elements which the results go to.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtlgen.options import CompileOptions

ELEMENTS = ("signed char", "unsigned char", "short", "int", "int", "unsigned", "long long")
_BITS = {"signed char": 8, "unsigned char": 8, "short": 16, "int": 32, "unsigned": 32}
_COMMON = (0, 0, 0, 1, 1, -1, -1, 2, -2, 4, 8, -16, 64, 3, 5, -7, 100)
_LARGE = (127, 128, 255, 256, -32768, 32767, 65535, 2147483647, -2147483648, 4294967295, 1 << 40)

FORMS = (
    "{s} += {x} * {t};",
    "{s} += {x} * {t};",
    "{s} -= {t} * {x};",
    "int p{k} = {x}; {s} += p{k} * {t}; {r} += p{k} * {o};",
    "int q{k} = {t}; {s} += {x} * q{k};",
    "{s} += {t} ? {x} : {r};",
    "{s} = {t} > 0 ? {s} + {x} : {s} - {x};",
    "{s} += ({x} & {t}) | {o};",
    "{s} ^= {x} << ({t} & 7);",
    "{s} += {x} >> ({t} & 3);",
    "if ({t} != 0) {s} += {x} / ({t} | 1);",
    "{s} = {s} * {t} + {x};",
    "{s} += (signed char)({x} + {t});",
    "{s} += ({x} < {t}) - ({x} == {o});",
)
"""Statements of a lane: on element x, tables' elements t and o, and the sums s and r."""


@dataclass(frozen=True, slots=True)
class TableProgram:
    """A C function called f<seed>, and options to compile it with."""

    seed: int
    text: str
    options: CompileOptions


def random_table_program(seed: int, *, off_chip: bool = False) -> TableProgram:
    """Return the program of a seed; with its arrays off chip one loop of it has lanes at most."""
    rng = random.Random(f"tables {seed}")
    taps, rows = rng.randint(2, 4), rng.randint(6, 12)
    is_square = rng.random() < 0.3
    shape = (taps, taps) if is_square else (taps,)
    names = ("t", "o")
    types = [rng.choice(ELEMENTS) for _ in names]
    tables = [_table(rng, *each, shape) for each in zip(names, types, strict=True)]
    is_local = rng.random() < 0.4
    element, result = rng.choice(ELEMENTS[:6]), rng.choice(ELEMENTS[:6])
    lines = list(_body(rng, rows, taps, is_square=is_square))
    form = rng.choice(("unroll", "unroll", "pipeline", "pragma", "none"))
    lanes = "jk"[: 1 + is_square]
    if off_chip:
        form, lanes = rng.choice(("unroll", "unroll", "none")), lanes[-1]
    if form == "pragma":
        lines = [_marked(line) for line in lines]
    options = CompileOptions(
        unroll=dict.fromkeys(lanes) if form == "unroll" else {},
        pipeline=("i",) if form == "pipeline" else (),
        memory={"": "axi"} if off_chip else {},
    )
    width = rows + taps if not is_square else rows * taps + taps
    text = "\n".join(
        [
            *([] if is_local else [f"static const {table}" for table in tables]),
            f"void f{seed}(const {element} x[{width}], {result} y[{rows}], int n) {{",
            *([f"  {table}" for table in tables] if is_local else []),
            *lines,
            "}",
            "",
        ]
    )
    return TableProgram(seed, text, options)


def _table(rng: random.Random, name: str, type_: str, shape: Sequence[int]) -> str:
    values: tuple[int, ...] = _COMMON if rng.random() < 0.7 else (*_COMMON, *_LARGE)
    if rng.random() < 0.2:
        values = (rng.choice(values),)
    drawn = ", ".join(_literal(rng.choice(values), type_) for _ in range(shape[0] ** len(shape)))
    extents = "".join(f"[{extent}]" for extent in shape)
    return f"{type_} {name}{extents} = {{{drawn}}};"


def _literal(value: int, type_: str) -> str:
    """Return a value of a type: what is too large for it wraps, as in C."""
    if value == -2147483648:
        return f"({type_})(-2147483647 - 1)"
    bits = _BITS.get(type_, 64)
    is_fitting = -(1 << (bits - 1)) <= value < 1 << (bits - 1)
    return str(value) if is_fitting else f"({type_}){value}LL"


def _body(rng: random.Random, rows: int, taps: int, *, is_square: bool) -> Iterator[str]:
    """Yield the lines of a filter over all rows."""
    at = "[j][k]" if is_square else "[j]"
    sums = ("s", "r")
    x = "x[i * {0} + k + j]".replace("{0}", str(taps)) if is_square else "x[i + j]"
    yield f"  for (int i = 0; i < {rows}; i++) {{"
    yield f"    int s = {rng.choice((0, 0, 1, 'n'))}, r = {rng.choice((0, 1))};"
    yield f"    for (int j = 0; j < {taps}; j++) {{"
    if is_square:
        yield f"      for (int k = 0; k < {taps}; k++) {{"
    for number in range(rng.randint(1, 2)):
        one, other = sums if rng.random() < 0.7 else sums[::-1]
        names = {"s": one, "r": other, "x": x, "t": f"t{at}", "o": f"o{at}", "k": number}
        yield "      " + rng.choice(FORMS).format(**names)
    if is_square:
        yield "      }"
    yield "    }"
    extra = rng.choice(("", "", " + t[0]" + "[1]" * is_square, " * o[1]" + "[0]" * is_square))
    yield f"    y[i] = s + r{extra};"
    yield "  }"


def _marked(line: str) -> str:
    """Return a line with a pragma behind a loop's head that is to be unrolled."""
    is_inner = "(int j" in line or "(int k" in line
    return f"{line}\n#pragma HLS UNROLL" if is_inner else line
