"""The judge of the C texts: every result is the function's value, rounded once."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from tests.oracles.math_library.functions import correctly_rounded

REFERENCES = {name: name.removesuffix("f") for name in ("expf", "logf", "tanhf", "sinf", "cosf")}

Range = tuple[int, int, int]
"""First input, end and step, of bits of floats."""

ALL: Range = (0, 1 << 32, 1)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was compared.

    Members
    -------
    compared: how many inputs. near: of these, how many needed more digits than a double has.
    wrong: inputs and results that are not correctly rounded, as bits.
    """

    compared: int
    near: int
    wrong: tuple[tuple[int, int], ...]


def compiled(name: str, text: Path, folder: Path) -> Path:
    """Compile the comparison of one function's C text, and return the program."""
    program = folder / name
    subprocess.run(
        [
            "gcc", "-O2", "-fwrapv", "-o", program, Path(__file__).with_name("judge.c"),
            f'-DTEXT="{text}"', f"-DNAME=rtlgen_{name}", f"-DREFERENCE={REFERENCES[name]}", "-lm",
        ],
        check=True,
    )  # fmt: skip
    return program


def judged(name: str, program: Path, ranges: Sequence[Range]) -> Judgement:
    """Run the comparison on ranges of inputs."""
    arguments = [str(number) for inputs in ranges for number in inputs]
    told = subprocess.run([program, *arguments], check=True, capture_output=True, text=True)
    compared, near = 0, 0
    wrong: list[tuple[int, int]] = []
    for line in told.stdout.splitlines():
        word, *numbers = line.split()
        if word == "compared":
            compared = int(numbers[0])
            continue
        bits, result = (int(number, 16) for number in numbers)
        near += word == "near"
        if word == "wrong" or correctly_rounded(name, bits) != result:
            wrong.append((bits, result))
    return Judgement(compared, near, tuple(wrong))
