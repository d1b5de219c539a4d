"""Random affine programs, and what is asked of their tiles."""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtlgen.options import POLICIES, BusKind, CompileOptions

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

    def declaration(self, extent: int) -> str:
        return f"{self.type} {self.name}{f'[{extent}]' * self.dims}"


def shared_by_threads(program: TiledProgram) -> TiledProgram:
    """Return a program whose tiles are shared by several threads, in one way or another."""
    rng = random.Random(f"threads {program.seed}")
    options = replace(
        program.options,
        threads=rng.choice((2, 2, 3, 4, 5, 8)),
        strategy=rng.choice(POLICIES),
        barrier=rng.random() < 0.3,
    )
    return replace(program, options=options)


def in_lanes(program: TiledProgram) -> TiledProgram:
    """Return a program one of whose loops runs in lanes inside of tiles."""
    rng = random.Random(f"lanes {program.seed}")
    loops = [name for name in "ijk" if f"for (int {name} = " in program.text]
    count = rng.choice((2, 2, 3, 4, 4, 5, 8))
    tile = tuple(count * rng.choice((1, 1, 2, 3)) for _ in program.options.tile)
    options = replace(program.options, unroll={rng.choice(loops): count}, tile=tile)
    return replace(program, options=options)


def random_tiled_program(seed: int, kind: BusKind = "fixed") -> TiledProgram:
    """Return the program of a seed: a few nests over a few arrays, and random options.

    Some have an array of their own, a result, or a scalar argument.
    """
    rng = random.Random(f"tiles {seed}")
    size = rng.randint(3, 11)
    extent = size + 2 * MARGIN
    arrays = [
        _Array(f"A{k}", rng.choice(list(TYPES)), rng.choice((1, 2, 2, 2, 3)))
        for k in range(rng.randint(1, 4))
    ]
    parameters = ", ".join(a.declaration(extent) for a in arrays)
    lines: list[str] = []
    if rng.random() < 0.2:
        own = _Array("T", rng.choice(list(TYPES)), rng.choice((1, 2)))
        lines += [f"  {own.declaration(extent)};", *_filled(rng, own, arrays, extent)]
        arrays.append(own)
    sums = rng.random() < 0.2
    lines += ["  int sum = p;"] if sums else []
    for _ in range(rng.choice((1, 1, 1, 2, 3))):
        lines += _nest(rng, arrays, size, ("sum",) if sums else ())
    lines += ["  return sum;"] if sums else []
    head = f"{'int' if sums else 'void'} random_tiles({parameters}, int p) {{"
    used = [array for array in arrays if any(f"{array.name}[" in line for line in lines)]
    text = "\n".join(["#include <stdint.h>", head, *lines, "}", ""])
    depth = sum(f"for (int {name} = " in text for name in "ijk")
    return TiledProgram(seed, text, _options(rng, used, depth, kind))


def _options(
    rng: random.Random, arrays: Sequence[_Array], depth: int, kind: BusKind
) -> CompileOptions:
    """Return options for a program whose deepest nest has so many loops."""
    memory = {"": f"{kind}:{rng.choice((1, 2, 3, 8, 20))}"}
    if len(arrays) > 1 and rng.random() < 0.25:
        memory[rng.choice(arrays).name] = "onchip"
    widest = max(TYPES[a.type] for a in arrays)
    bus = rng.choice([bits for bits in (32, 64, 128, 256, 512) if bits >= widest])
    tile = tuple(rng.choice((1, 2, 3, 4, 5, 8, 16)) for _ in range(rng.choice((0, 0, 1, 2, 3))))
    budget = rng.choice((None, None, 1, 4))
    buffer = rng.random() < 0.8
    return CompileOptions(
        memory=memory, bus_bits=bus, tile=tile[:depth], max_bram_kib=budget, buffer=buffer
    )


def _filled(rng: random.Random, own: _Array, arrays: Sequence[_Array], extent: int) -> list[str]:
    """Return the lines that give every element of an array of the program's own a value."""
    names = "ij"[: own.dims]
    heads = [f"for (int {n} = 0; {n} < {extent}; {n}++)" for n in names]
    other = rng.choice(arrays)
    value = other.name + "".join(f"[{rng.choice(names)}]" for _ in range(other.dims))
    place = own.name + "".join(f"[{n}]" for n in names)
    return [f"  {' '.join(heads)}", f"    {place} = {value};"]


def _nest(
    rng: random.Random, arrays: Sequence[_Array], size: int, scalars: tuple[str, ...]
) -> list[str]:
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
        step = rng.choice((*[1] * 18, 2, 3))
        head = f"{name} = {low}; {name} < {high}; {name} += {step}"
        if rng.random() < 0.1:
            head = f"{name} = {high} - 1; {name} >= {low}; {name} -= {step}"
        lines.append(f"{pad}for (int {head}) {{")
        if level == depth - 2 and rng.random() < 0.2:
            inside = _statement(rng, arrays, names[: level + 1], scalars)
            lines.append("  " * (level + 2) + inside)
    for _ in range(rng.choice((1, 1, 2))):
        lines.append("  " * (depth + 1) + _statement(rng, arrays, names, scalars))
    lines += ["  " * (level + 1) + "}" for level in reversed(range(depth))]
    return lines


def _statement(
    rng: random.Random, arrays: Sequence[_Array], names: str, scalars: tuple[str, ...]
) -> str:
    target = _access(rng, rng.choice(arrays), names)
    if scalars and rng.random() < 0.3:
        target = rng.choice(scalars)
    terms = [_access(rng, rng.choice(arrays), names) for _ in range(rng.randint(1, 3))]
    if rng.random() < 0.2:
        terms.append(rng.choice((*names, "p")))
    operators = [rng.choice(("+", "-", "*", "^")) for _ in terms[1:]]
    value = terms[0] + "".join(f" {op} {t}" for op, t in zip(operators, terms[1:], strict=True))
    if rng.random() < 0.1:
        value = f"({value}) {rng.choice(('/ 3', '% 5', '>> 2'))}"
    guard = f"if ({_condition(rng, arrays, names)}) " if rng.random() < 0.15 else ""
    return f"{guard}{target} {rng.choice(('=', '=', '+='))} {value};"


def _condition(rng: random.Random, arrays: Sequence[_Array], names: str) -> str:
    """Return a condition on iterators, or on data."""
    if rng.random() < 0.5:
        return f"{_access(rng, rng.choice(arrays), names)} > {rng.randint(-9, 9)}"
    left, right = rng.choice(names), rng.choice((*names, str(MARGIN + 3)))
    return f"{left} {rng.choice(('<', '!=', '>='))} {right}"


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
