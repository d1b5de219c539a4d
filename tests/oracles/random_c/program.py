"""Whole programs: a seed in, a C text out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from tests.oracles.random_c.draft import ELEMENT_TYPES, FLOAT_TYPES, Block, Draft, Scope
from tests.oracles.random_c.functions import number_helper, value_helper, void_helper
from tests.oracles.random_c.statements import body
from tests.oracles.random_c.values import NUMBERS, TYPES

STATEMENTS = (1, 1, 2, 2, 2, 3, 3, 4, 6)
PREAMBLE = """#include <stdint.h>
#include <stdbool.h>
#include <stddef.h>
#include <math.h>
#define MIN(a, b) ((a) < (b) ? (a) : (b))
#define MAX(a, b) ((a) > (b) ? (a) : (b))
"""


@dataclass(frozen=True, slots=True)
class Program:
    """A C text, the function in it that becomes a circuit, and the macros that it needs."""

    seed: int
    text: str
    function: str
    defines: Mapping[str, str]


def random_program(seed: int) -> Program:
    """Return the program of a seed."""
    draft = Draft.from_seed(seed)
    name = f"k{seed}"
    if draft.rates["calls"]:
        for number in range(draft.between(1, 3)):
            write = value_helper if draft.chance(0.6) else void_helper
            write = number_helper if draft.is_number() else write
            write(draft, f"{name}_h{number}")
    draft.scope = Scope()
    parameters = _outer_names(draft, name)
    draft.left = draft.pick(STATEMENTS)
    returned = _function(draft, name, parameters)
    is_given = draft.chance(0.5)
    macro = "" if is_given else f"#define N {draft.size}\n"
    text = PREAMBLE + macro + "\n".join(draft.lines) + "\n"
    assert returned or "return" not in draft.lines[-2], text
    return Program(seed, text, name, {"N": str(draft.size)} if is_given else {})


def _outer_names(draft: Draft, name: str) -> list[str]:
    """Declare tables and globals; return the parameters of the function."""
    wanted = {(h.takes[0], h.takes[1]) for h in draft.helpers if h.takes is not None}
    if draft.wants("tables"):
        _table(draft, f"{name}_T")
    parameters = []
    for letter in "abc"[: draft.between(1, 3)]:
        block = _block(draft, f"{name}_{letter}", wanted)
        draft.scope.blocks.append(block)
        if draft.chance(0.3):
            draft.add(f"{_declared(draft, block)};")
        else:
            parameters.append(_declared(draft, block))
    if draft.chance(0.3):
        block = _block(draft, f"{name}_e", set())
        block = Block(block.name, block.type, block.shape, is_written=False)
        draft.scope.blocks.append(block)
        parameters.append(f"const {_declared(draft, block)}")
    if draft.chance(0.3):
        draft.add(f"{_scalar(draft, f'{name}_v', is_written=True)};")
    for letter in "pq"[: draft.between(0, 2)]:
        parameters.append(_scalar(draft, f"{name}_{letter}", is_written=False))
    draft.rng.shuffle(parameters)
    return parameters


def _scalar(draft: Draft, name: str, *, is_written: bool) -> str:
    """Return the declaration of a scalar, which may be named from now on."""
    if draft.is_number():
        draft.scope.numbers.append(name)
        return f"{draft.pick(FLOAT_TYPES)} {name}"
    draft.scope.values.append(name)
    draft.scope.variables += [name] if is_written else []
    return f"{draft.pick(TYPES)} {name}"


def _block(draft: Draft, name: str, wanted: set[tuple[str, tuple[int, ...]]]) -> Block:
    """Return an array, perhaps one that a helper can be given, or rows of it."""
    if wanted and draft.chance(0.6):
        type_, shape = draft.pick(sorted(wanted))
        outer = (draft.between(3, 7),) if len(shape) == 1 and draft.chance(0.4) else ()
        return Block(name, type_, (*outer, *shape))
    dims = draft.pick((1, 1, 1, 2, 2, 2, 3))
    extents = (draft.size, draft.between(3, 9), draft.between(3, 5))
    shape = tuple(draft.pick(extents) for _ in range(dims))
    type_ = draft.pick(ELEMENT_TYPES if draft.is_number() else TYPES)
    return Block(name, type_, shape if dims < 3 else tuple(min(e, 4) for e in shape))


def _declared(draft: Draft, block: Block) -> str:
    extents = "".join(f"[{draft.number(extent)}]" for extent in block.shape)
    return f"{block.type} {block.name}{extents}"


def _table(draft: Draft, name: str) -> None:
    count = draft.pick((3, 4, 8, 16))
    if draft.is_number():
        type_ = draft.pick(FLOAT_TYPES)
        listed = ", ".join(draft.pick(NUMBERS) for _ in range(count - 1))
        draft.add(f"static const {type_} {name}[{count}] = {{{listed}}};")
        draft.scope.blocks.append(Block(name, type_, (count,), is_written=False))
        return
    numbers = [draft.pick((0, 1, 5, -3, -9, 77, -2147483648, 1 << 40)) for _ in range(count - 1)]
    type_ = draft.pick(("int", "long", "unsigned char", "short", "int16_t", "uint32_t"))
    listed = ", ".join(map(str, numbers))
    draft.add(f"static const {type_} {name}[{count}] = {{{listed}}};")
    draft.scope.blocks.append(Block(name, type_, (count,), is_written=False))


def _function(draft: Draft, name: str, parameters: list[str]) -> bool:
    """Write the function; return whether it returns something."""
    result = draft.pick(("int", "long", "unsigned", "int64_t", "uint8_t", "short"))
    result = draft.pick(FLOAT_TYPES) if draft.is_number() else result
    returned = draft.chance(0.6)
    head = f"{result if returned else 'void'} {name}({', '.join(parameters) or 'void'})"
    with draft.block(head):
        _locals(draft, name, returned)
        written = draft.scope.variables[:]
        written += draft.scope.numbers if "float" in result or "double" in result else []
        while draft.left > 0:
            body(draft, 0, 1)
        if returned:
            draft.add(f"return {draft.pick(written)};")
    return returned


def _locals(draft: Draft, name: str, returned: bool) -> None:
    count = draft.between(1 if returned else 0, 2)
    for number in range(count):
        scalar = f"s{number}_"
        if number and draft.is_number():
            draft.add(f"{draft.pick(FLOAT_TYPES)} {scalar} = {draft.pick(('0', '1.5f', '-0.25'))};")
            draft.scope.numbers.append(scalar)
            continue
        draft.add(f"{draft.pick(TYPES)} {scalar} = {draft.pick((0, 1, 2, 9, -1, 255))};")
        draft.scope.values.append(scalar)
        draft.scope.variables.append(scalar)
    if draft.wants("initialised"):
        block = _block(draft, "l_", set())
        first = (
            "{1, 2}"
            if len(block.shape) == 1
            else "{" * len(block.shape) + "1" + "}" * len(block.shape)
        )
        draft.add(f"{_declared(draft, block)} = {first};")
        draft.scope.blocks.append(block)
