"""Random programs with loops that step by several, sums, stencils and nests that share arrays.

They are written for lanes and banks: bodies unrolled by hand, arrays cut in every way, extents that
are no power of two, and accesses that stay in a bank beside others that do not.
"""

from __future__ import annotations

import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import product

from rtlgen.options import CompileOptions, PartitionWish

TYPES = ("int", "short", "unsigned char", "unsigned")


@dataclass(frozen=True, slots=True)
class LaneProgram:
    """A C function called f<seed>, and options to compile it with."""

    seed: int
    text: str
    options: CompileOptions


@dataclass(frozen=True, slots=True)
class _Array:
    name: str
    shape: tuple[int, ...]
    type: str


def random_lane_program(seed: int) -> LaneProgram:
    """Return the program of a seed."""
    rng = random.Random(f"lanes {seed}")
    arrays = [_random_array(rng, name) for name in "abc"[: rng.randint(2, 3)]]
    nests = rng.randint(1, 2)
    lines = [line for number in range(nests) for line in _nest(rng, arrays, number)]
    # Drawn apart, so that one more kind of nest leaves the other programs as they are.
    apart = random.Random(f"substitution {seed}")
    is_triangular = apart.random() < 0.25
    if is_triangular:
        lines += _substitution(apart, arrays, nests)
        nests += 1
    parameters = ", ".join(
        f"{array.type} {array.name}" + "".join(f"[{extent}]" for extent in array.shape)
        for array in arrays
    )
    text = "\n".join([f"void f{seed}({parameters}) {{", *lines, "}", ""])
    options = CompileOptions(
        checksum=rng.random() < 0.2,
        index_style=rng.choice(("odometer", "odometer", "odometer", "divide")),
        write_ports=rng.choice(("auto", "auto", "one")),
        unroll={
            name: rng.choice((2, 2, 3, 4, None))
            for name in ("i0", "j0", "i1", "j1", "i2", "j2")
            if f" {name} " in "".join(lines) and rng.random() < 0.4
        },
        partitions={
            array.name: wishes
            for array in arrays
            if f"{array.name}[" in "".join(lines)
            and (wishes := _wishes(rng, array))
            # What every iteration of a triangle reads meets in any banks.
            and not is_triangular
        },
        pipeline=_pipelined(rng, nests),
        max_dsp=rng.choice((1, 4, 12)) if rng.random() < 0.1 else None,
    )
    return LaneProgram(seed, text, options)


def _pipelined(rng: random.Random, nests: int) -> tuple[str, ...]:
    """Return the loops all below which are unrolled, in one program of five."""
    if rng.random() < 0.8:
        return ()
    return (rng.choice(("0", "1", *(f"i{number}" for number in range(nests)))),)


def _random_array(rng: random.Random, name: str) -> _Array:
    shape = tuple(rng.randint(5, 16) for _ in range(rng.choice((1, 1, 2))))
    return _Array(name, shape, rng.choice(TYPES))


def _wishes(rng: random.Random, array: _Array) -> tuple[PartitionWish, ...]:
    """Return how an array is cut; half of them are not."""
    if rng.random() < 0.5:
        return ()
    if rng.random() < 0.1:
        return (PartitionWish("complete", 0),) if len(array.shape) == 1 else ()
    dims = rng.sample(range(len(array.shape)), rng.randint(1, len(array.shape)))
    return tuple(_wish(rng, dim, array.shape[dim]) for dim in sorted(dims))


def _wish(rng: random.Random, dim: int, extent: int) -> PartitionWish:
    if rng.random() < 0.1:
        return PartitionWish("complete", dim + 1)
    if rng.random() < 0.3:
        fitting = [
            (count, size)
            for size, count in product((2, 3, 4, 8), (2, 3, 4))
            if (count - 1) * size < extent <= count * size
        ]
        if fitting:
            return PartitionWish("block", dim + 1, rng.choice(fitting)[0])
    return PartitionWish("cyclic", dim + 1, rng.choice((2, 2, 2, 4, 4, 4, 3)))


def _nest(rng: random.Random, arrays: Sequence[_Array], number: int) -> Iterator[str]:
    """Yield the lines of a nest of one or two loops, and of the statements in it."""
    target = rng.choice(arrays)
    depth = 2 if len(target.shape) == 2 or rng.random() < 0.3 else 1
    names = [f"{'ij'[k]}{number}" for k in range(depth)]
    steps = [rng.choice((1, 1, 2, 3, 4)) if k == depth - 1 else 1 for k in range(depth)]
    # Every subscript is a loop's variable and a constant below 4 that fits.
    room = min(min(array.shape) for array in arrays)
    most = max(1, min(room, *target.shape) - rng.randint(1, 4))
    indent = "  "
    for k, (name, step) in enumerate(zip(names, steps, strict=True)):
        first = rng.choice((0, 0, 1)) if most > 1 else 0
        last = names[k - 1] + " + 1" if k and rng.random() < 0.2 else str(most)
        yield f"{indent}for (int {name} = {first}; {name} < {last}; {name} += {step}) {{"
        indent += "  "
    reach = room - most
    if rng.random() < 0.25:
        yield f"{indent}{_sum(rng, arrays, names, reach)}"
    else:
        for lane in range(rng.choice((1, 1, 2, 3, 4))):
            yield f"{indent}{_assignment(rng, arrays, target, names, lane, reach)}"
    for _ in names:
        indent = indent[2:]
        yield f"{indent}}}"


def _substitution(rng: random.Random, arrays: Sequence[_Array], number: int) -> Iterator[str]:
    """Yield a nest that updates each element with those before it, as in a triangular system."""
    updated, factors = rng.sample(arrays, 2)
    i, j = f"i{number}", f"j{number}"
    extent = min(*updated.shape, *factors.shape)
    first = rng.randint(0, 2)
    column = f"[{rng.randrange(extent)}]" * (len(updated.shape) - 1)
    factor = factors.name + "".join(f"[{name}]" for name in (i, j)[-len(factors.shape) :])
    op = rng.choice("+-+-^*")
    yield f"  for (int {i} = {first}; {i} < {extent}; {i}++) {{"
    yield f"    for (int {j} = {rng.randint(0, first)}; {j} < {i}; {j}++)"
    yield f"      {updated.name}[{i}]{column} {op}= {factor} * {updated.name}[{j}]{column};"
    if rng.random() < 0.5:
        yield f"    {updated.name}[{i}]{column} *= {rng.randint(2, 9)};"
    yield "  }"


def _assignment(
    rng: random.Random,
    arrays: Sequence[_Array],
    target: _Array,
    names: Sequence[str],
    lane: int,
    reach: int,
) -> str:
    written = _element(rng, target, names, min(lane, reach))
    value = " ".join(
        f"{rng.choice('+-*^')} {_element(rng, rng.choice(arrays), names, rng.randint(0, reach))}"
        for _ in range(rng.randint(1, 2))
    )
    if rng.random() < 0.5:
        return f"{written} += {rng.randint(1, 9)} {value};"
    return f"{written} = {rng.randint(1, 9)} {value};"


def _sum(rng: random.Random, arrays: Sequence[_Array], names: Sequence[str], reach: int) -> str:
    """Return a statement that the iterations of the innermost loop update one element with."""
    target, *others = rng.sample(arrays, len(arrays))
    place = names[0] if len(names) > 1 else str(rng.randint(0, 3))
    written = target.name + f"[{place}]" * len(target.shape)
    terms = [_element(rng, rng.choice(others), names, rng.randint(0, reach)) for _ in range(2)]
    return f"{written} {rng.choice(('+', '+', '-', '*', '^', '|', '&'))}= {' * '.join(terms)};"


def _element(rng: random.Random, array: _Array, names: Sequence[str], offset: int) -> str:
    """Return an element; the last dimension follows the innermost loop."""
    chosen = [names[-1]] if len(array.shape) == 1 else [names[0], names[-1]]
    if rng.random() < 0.1:
        chosen.reverse()
    *outer, inner = chosen
    subscripts = [*outer, f"{inner} + {offset}" if offset else inner]
    return array.name + "".join(f"[{subscript}]" for subscript in subscripts)
