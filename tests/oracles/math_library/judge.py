"""The judge of the C texts: every result is the function's value, rounded once."""

from __future__ import annotations

import ctypes
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from rtlgen.verify.c_oracle import REINTERPRETATIONS
from tests.oracles.gcc_oracle import FLAGS
from tests.oracles.math_library.functions import (
    DIGITS,
    FUNCTIONS,
    correctly_rounded,
    double_value,
    units_off,
)
from tests.oracles.math_library.tables import FOLDER

OF_ONE_OPERAND = (
    "expf", "exp2f", "expm1f", "logf", "log2f", "log10f", "log1pf", "sinhf", "coshf", "tanhf",
    "sinf", "cosf", "tanf", "atanf", "erff", "cbrtf",
)  # fmt: skip

Patterns = NDArray[np.uint32]

Range = tuple[int, int, int]
"""First input, end and step, of bits of floats."""

ALL: Range = (0, 1 << 32, 1)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What was compared.

    Members
    -------
    compared: how many inputs. near: of different ones, how many needed more digits than a double
        has.
    wrong: inputs, each with its result, that is not correctly rounded, as bits.
    """

    compared: int
    near: int
    wrong: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Distance:
    """How far results are off.

    Members
    -------
    finite: how many results were finite and not 0. most: units in the last place.
    wrong: operands, each with its result, that is NaN, infinite or 0 and should not be, or is not
        and should; as bits.
    """

    finite: int
    most: Decimal
    wrong: tuple[tuple[int, ...], ...]


def compiled(name: str, text: Path, folder: Path) -> Path:
    """Compile the comparison of one function's C text, and return the program."""
    program = folder / name
    judge = "judge_powf.c" if name == "powf" else "judge.c"
    (folder / "reinterpretations.h").write_text(REINTERPRETATIONS)
    subprocess.run(
        [
            "gcc", "-O2", "-fwrapv", "-ffp-contract=off",
            "-include", folder / "reinterpretations.h", "-o", program,
            Path(__file__).with_name(judge), "-iquote", FOLDER, f'-DTEXT="{text}"',
            f"-DNAME=rtlgen_{name}", f"-DREFERENCE={name.removesuffix('f')}", "-lm",
        ],
        check=True,
    )  # fmt: skip
    return program


def judged(name: str, program: Path, ranges: Sequence[Range]) -> Judgement:
    """Run the comparison of a function of one operand on ranges of inputs."""
    return _judged(name, program, [number for inputs in ranges for number in inputs])


def judged_pairs(name: str, program: Path, pairs: int, seed: int = 88172645463325252) -> Judgement:
    """Run the comparison of a function of two operands on so many pairs."""
    return _judged(name, program, (pairs, seed))


def judged_doubles(
    name: str, text: Path, folder: Path, count: int, seed: int = 88172645463325252
) -> Distance:
    """Measure a function of one double, or of two, on so many operands."""
    program = folder / name
    operands = 2 if name == "pow" else 1
    subprocess.run(
        [
            "gcc", "-O2", "-fwrapv", "-o", program, Path(__file__).with_name("judge_doubles.c"),
            "-iquote", FOLDER, f'-DTEXT="{text}"', f"-DNAME=rtlgen_{name}", f"-DREFERENCE={name}l",
            *(["-DPAIRS"] if operands == 2 else []), "-lm",
        ],
        check=True,
    )  # fmt: skip
    command = [str(program), str(count), str(seed)]
    told = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    lines = [line.split() for line in told.splitlines()]
    found = [(word, tuple(int(bits, 16) for bits in rest)) for word, *rest in lines[:-1]]
    farthest = [bits for word, bits in found if word == "off"][-1]
    with localcontext(Context(prec=DIGITS)):
        value = FUNCTIONS[name](*(double_value(bits) for bits in farthest[:operands]))
        most = units_off(value, farthest[-1])
    return Distance(int(lines[-1][1]), most, tuple(bits for word, bits in found if word == "wrong"))


def results_of_doubles(name: str, text: Path, folder: Path, *operands: Sequence[int]) -> list[int]:
    """Return what the C text of a function of doubles gives, all as bits.

    Parameters
    ----------
    operands: for each operand of the function its values, one by one.
    """
    names = "xy"[: len(operands)]
    given = ", ".join(f"uint64_t {operand}" for operand in names)
    source = folder / f"{name}_called.c"
    source.write_text(
        f'#include "{text}"\n'
        f"uint64_t called({given}) {{ return rtlgen_{name}({', '.join(names)}); }}\n"
    )
    library = folder / f"{name}.so"
    subprocess.run(["gcc", "-O2", "-fwrapv", "-shared", "-fPIC", "-o", library, source], check=True)
    called = ctypes.CDLL(str(library)).called
    called.argtypes, called.restype = [ctypes.c_uint64] * len(operands), ctypes.c_uint64
    return [called(*bits) for bits in zip(*operands, strict=True)]


def results_of_floats(name: str, text: Path, folder: Path, *operands: Patterns) -> Patterns:
    """Return what the C text of a function of floats gives, all as bits, one array an operand."""
    names = "xy"[: len(operands)]
    given = ", ".join(f"const uint32_t *{operand}" for operand in names)
    values = ", ".join(f"{operand}[i]" for operand in names)
    source = folder / f"{name}_called.c"
    source.write_text(
        f'{REINTERPRETATIONS}#include "{text}"\n'
        f"void called(uint64_t n, uint32_t *z, {given})\n"
        f"{{ for (uint64_t i = 0; i < n; i++) z[i] = rtlgen_{name}({values}); }}\n"
    )
    library = folder / f"{name}.so"
    subprocess.run(["gcc", *FLAGS, "-shared", "-fPIC", "-o", library, source, "-lm"], check=True)
    called = ctypes.CDLL(str(library)).called
    results = np.empty(len(operands[0]), np.uint32)
    pointers = [ctypes.c_void_p(array.ctypes.data) for array in (results, *operands)]
    called(ctypes.c_uint64(len(results)), *pointers)
    return results


def _judged(name: str, program: Path, arguments: Sequence[int]) -> Judgement:
    command = [str(program), *map(str, arguments)]
    told = subprocess.run(command, check=True, capture_output=True, text=True)
    compared = 0
    near: set[tuple[int, ...]] = set()
    wrong: set[tuple[int, ...]] = set()
    for line in told.stdout.splitlines():
        word, *numbers = line.split()
        if word == "compared":
            compared = int(numbers[0])
            continue
        found = tuple(int(number, 16) for number in numbers)
        if word == "wrong":
            wrong.add(found)
        elif found not in near:
            near.add(found)
            if correctly_rounded(name, *found[:-1]) != found[-1]:
                wrong.add(found)
    return Judgement(compared, len(near), tuple(sorted(wrong)))
