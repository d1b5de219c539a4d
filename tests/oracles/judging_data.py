"""The data on which judges run a program, and what is stored of it: integers, and patterns."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from rtlgen.ir.scop import Scop
from rtlgen.ir.types import FloatType
from rtlgen.verify.data import Kind, Recipe
from rtlgen.verify.golden_state import GoldenResult
from rtlgen.verify.values import Elements, Value, pattern_of, stored_dtype

_KINDS: tuple[Kind, ...] = ("small", "mixed", "full", "limits")
"""Of data with numbers, by seeds: most of them leave no infinities behind."""


def judging_inputs(scop: Scop, seed: int) -> dict[str, Elements | Value]:
    """Return the inputs of a seed: integers of all values, numbers of a kind that the seed says."""
    inputs = Recipe("full", seed).inputs(scop)
    numbers = Recipe(_KINDS[seed % len(_KINDS)], seed).inputs(scop)
    types = {array.name: array.element for array in scop.arrays}
    types |= {scalar.name: scalar.type for scalar in scop.scalars}
    return {
        name: numbers[name] if isinstance(types[name], FloatType) else value
        for name, value in inputs.items()
    }


def stored_of(scop: Scop, values: Mapping[str, Elements | Value]) -> dict[str, list[int]]:
    """Return what is stored of each array, and of each scalar argument."""
    types = {array.name: array.element for array in scop.arrays}
    types |= {scalar.name: scalar.type for scalar in scop.scalars}
    return {
        name: value.ravel().view(stored_dtype(types[name])).tolist()
        if isinstance(value, np.ndarray)
        else [pattern_of(value, types[name])]
        for name, value in values.items()
    }


def returned_word(scop: Scop, golden: GoldenResult) -> int | None:
    """Return what is stored of the program's result."""
    if scop.returned is None:
        return None
    return pattern_of(golden.returned, scop.array(scop.returned).element)
