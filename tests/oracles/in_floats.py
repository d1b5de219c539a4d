"""Programs on integers as programs in floating point: other types, and their operators."""

from __future__ import annotations

import random
import re

FLOAT_TYPES = ("float", "float", "float", "double", "_Float16")

_INTEGERS = r"(?:unsigned char|unsigned|short|int|u?int\d+_t)"
_OPERATORS = {"^": "*", "|": "+", "&": "-"}


def in_floats(seed: int, text: str) -> str:
    """Return a program whose arrays, sum and result hold numbers.

    It has no operator of integers in its subscripts, bounds and conditions.
    """
    rng = random.Random(f"floats {seed}")
    text = re.sub(
        rf"\b{_INTEGERS} (?=[A-Za-z]\w*\[)", lambda _: f"{rng.choice(FLOAT_TYPES)} ", text
    )
    text = re.sub(rf"\b{_INTEGERS} (?=sum\b|\w+\()", "float ", text)
    text = re.sub(r"([\^|&])(?==| )", lambda match: _OPERATORS[match[1]], text)
    return text.replace("% 5", "* 0.1f").replace(">> 2", "/ 3.5")
