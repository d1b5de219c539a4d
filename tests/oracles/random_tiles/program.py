"""Random affine programs, and what is asked of their tiles."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.options import CompileOptions

TYPES = {
    "int8_t": 8, "uint8_t": 8, "int16_t": 16, "uint16_t": 16, "int32_t": 32, "uint32_t": 32,
    "int64_t": 64,
}  # fmt: skip

MARGIN = 2
"""Elements around what loops run over, so that neighbours exist."""


@dataclass(frozen=True, slots=True)
class TiledProgram:
    """A program and its options."""

    seed: int
    text: str
    options: CompileOptions


@dataclass(frozen=True, slots=True)
class _Array:
    name: str
    type: str
    dims: int


def random_tiled_program(seed: int) -> TiledProgram:
    """Return the program of a seed: a few nests over a few arrays, and random options."""
    rng = random.Random(f"tiles {seed}")
    size = rng.randint(3, 11)
    arrays = [
        _Array(f"A{k}", rng.choice(list(TYPES)), rng.choice((1, 2, 2, 2, 3)))
        for k in range(rng.randint(1, 4))
    ]
    extent = size + 2 * MARGIN
    parameters = ", ".join(f"{a.type} {a.name}{f'[{extent}]' * a.dims}" for a in arrays)
    nests = [_nest(rng, arrays, size) for _ in range(rng.choice((1, 1, 1, 2, 3)))]
    lines = [line for nest in nests for line in nest]
    text = "\n".join(
        ["#include <stdint.h>", f"void random_tiles({parameters}) {{", *lines, "}", ""]
    )
    return TiledProgram(seed, text, _options(rng, arrays))


def _options(rng: random.Random, arrays: Sequence[_Array]) -> CompileOptions:
    memory = {"": f"fixed:{rng.choice((1, 2, 3, 8))}"}
    if len(arrays) > 1 and rng.random() < 0.25:
        memory[rng.choice(arrays).name] = "onchip"
    widest = max(TYPES[a.type] for a in arrays)
    bus = rng.choice([bits for bits in (32, 64, 128, 256) if bits >= widest])
    tile = tuple(rng.choice((1, 2, 3, 4, 8)) for _ in range(rng.choice((0, 0, 1, 2, 3))))
    budget = rng.choice((None, None, 1, 4))
    return CompileOptions(memory=memory, bus_bits=bus, tile=tile, max_bram_kib=budget)


def _nest(rng: random.Random, arrays: Sequence[_Array], size: int) -> list[str]:
    """Return the lines of a nest of one to three loops."""
    depth = rng.choice((1, 2, 2, 2, 3))
    names = "ijk"[:depth]
    lines: list[str] = []
    for level, name in enumerate(names):
        low, high = str(MARGIN), str(MARGIN + size)
        outer = names[:level]
        if outer and rng.random() < 0.3:
            bound = rng.choice(outer)
            if rng.random() < 0.5:
                low = bound
            else:
                high = f"{bound} + 1"
        pad = "  " * (level + 1)
        if rng.random() < 0.1:
            lines.append(f"{pad}for (int {name} = {high} - 1; {name} >= {low}; {name}--) {{")
        else:
            lines.append(f"{pad}for (int {name} = {low}; {name} < {high}; {name}++) {{")
        if level == depth - 2 and rng.random() < 0.2:
            lines.append("  " * (level + 2) + _statement(rng, arrays, names[: level + 1]))
    for _ in range(rng.choice((1, 1, 2))):
        lines.append("  " * (depth + 1) + _statement(rng, arrays, names))
    lines += ["  " * (level + 1) + "}" for level in reversed(range(depth))]
    return lines


def _statement(rng: random.Random, arrays: Sequence[_Array], names: str) -> str:
    target = _access(rng, rng.choice(arrays), names)
    terms = [_access(rng, rng.choice(arrays), names) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.2:
        terms.append(rng.choice(names))
    operators = [rng.choice(("+", "-", "*", "^")) for _ in terms[1:]]
    value = terms[0] + "".join(f" {op} {t}" for op, t in zip(operators, terms[1:], strict=True))
    return f"{target} {rng.choice(('=', '=', '+='))} {value};"


def _access(rng: random.Random, array: _Array, names: str) -> str:
    subscripts = []
    for dim in range(array.dims):
        own = names[dim] if dim < len(names) and rng.random() < 0.7 else rng.choice(names)
        offset = rng.choice((0, 0, 0, -1, 1, MARGIN))
        subscripts.append(
            own if offset == 0 else f"{own} {'+' if offset > 0 else '-'} {abs(offset)}"
        )
    if rng.random() < 0.06:
        subscripts[-1] = str(rng.randint(0, MARGIN))
    return array.name + "".join(f"[{s}]" for s in subscripts)
