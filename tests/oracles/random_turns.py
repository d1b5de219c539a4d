"""Random loops over time whose statements run in turns: every so many iterations, or by a flag.

In each iteration some sweeps over a row run, under conditions that a remainder, a square or a flag
decides. Statements that share no iteration may still share a cycle of dependences, so that their
loops have strides of their own.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

from rtlgen.options import CompileOptions

ARRAYS = "abc"


@dataclass(frozen=True, slots=True)
class TurnsProgram:
    """A program and the options it is compiled with."""

    text: str
    options: CompileOptions


def random_turns_program(seed: int) -> TurnsProgram:
    """Return the program of a seed: every subscript is inside of its array."""
    rng = random.Random(seed)
    trips, step, length = rng.randrange(3, 10), rng.choice((1, 1, 1, 2, 3)), rng.randrange(3, 8)
    first = rng.randrange(3)
    has_flag = rng.random() < 0.4
    body = [_sweep(rng, length, has_flag) for _ in range(rng.randrange(2, 6))]
    if has_flag:
        body.append("flag = !flag;")
    parameters = ", ".join(f"int {array}[{length}]" for array in ARRAYS)
    text = (
        f"void f({parameters})\n{{\n    int flag = {rng.randrange(2)};\n"
        f"    for (int t = {first}; t < {first + trips * step}; t += {step}) {{\n"
        + "".join(f"        {line}\n" for line in body)
        + "    }\n}\n"
    )
    return TurnsProgram(text, _options(rng))


def _options(rng: random.Random) -> CompileOptions:
    plain = CompileOptions()
    lanes = [CompileOptions(unroll={iterator: 2}) for iterator in "it"]
    return rng.choice(
        (plain, plain, *lanes, CompileOptions(write_ports="auto"), CompileOptions(expand="always"))
    )


def _sweep(rng: random.Random, length: int, has_flag: bool) -> str:
    """Return a sweep over a row, in some iterations, perhaps with another one in the others."""
    loop = _loop(rng, length, f"if ({_condition(rng, 'i')}) " if rng.random() < 0.3 else "")
    if rng.random() < 0.25:
        return loop
    condition = "flag" if has_flag and rng.random() < 0.6 else _condition(rng, "t")
    if condition != "flag" and rng.random() < 0.2:
        condition += f" && {_condition(rng, 't')}"
    other = ""
    if rng.random() < 0.4:
        written, read = rng.choice(ARRAYS), rng.choice(ARRAYS)
        other = (
            f" else for (int i = 0; i < {length}; i++) {written}[i] ^= {read}[{length - 1} - i];"
        )
    return f"if ({condition}) {loop}{other}"


def _loop(rng: random.Random, length: int, guard: str) -> str:
    written, read, other = (rng.choice(ARRAYS) for _ in range(3))
    mask = (1 << (length.bit_length() - 1)) - 1
    place = rng.choice(("i", "i", f"{length - 1} - i", f"(i + 1) % {length}", "i / 2"))
    body = rng.choice(
        (
            f"{written}[i] = {read}[{place}] + {other}[i] * 3 + t;",
            f"{written}[i] += {read}[{place}];",
            f"{written}[{read}[i] & {mask}]++;",
            f"{written}[i] = {written}[i > 0 ? i - 1 : 0] + {read}[i];",
        )
    )
    # Braces: an `else` behind the loop belongs to the condition around it.
    return f"{{ for (int i = 0; i < {length}; i++) {guard}{body} }}"


def _condition(rng: random.Random, iterator: str) -> str:
    modulus = rng.choice((2, 2, 2, 3, 4, 6))
    rest = rng.randrange(modulus)
    mask = modulus - 1 if modulus in (2, 4) else 1
    return rng.choice(
        (
            f"{iterator} % {modulus} == {rest}",
            f"({iterator} & {mask}) == {rest & mask}",
            f"{iterator} / 2 % 2 == {rest % 2}",
            f"{iterator} % {modulus} < {max(1, rest)}",
            f"{iterator} % {modulus} != {rest}",
            f"{iterator} * {iterator} < {rng.randrange(30)}",
            f"({iterator} + {rest}) % {modulus} == 1",
        )
    )
