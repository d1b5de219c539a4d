"""What scalars hold, as numbers or by what they held before."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TypeAlias

from rtlgen.frontend.symbols import Variable
from rtlgen.ir.affine import Affine

State: TypeAlias = Mapping[str, Affine | None]
"""What scalars hold, by their unique names; None where that is not known."""


def symbol(variable: Variable) -> Affine:
    """Return what a scalar held before."""
    return Affine.variable(symbol_of(variable))


def by_constant(after: Affine | None, variable: Variable) -> int | None:
    """Return by how much a scalar has moved; None if that is no constant."""
    gone = None if after is None else after - symbol(variable)
    return gone.constant if gone is not None and gone.is_constant else None


def symbol_of(variable: Variable) -> str:
    """Return the name of what a scalar held before."""
    return f"{variable.name} before"


def number_in(state: State, variable: Variable) -> int | None:
    """Return the value of a scalar, if it is a number."""
    value = state.get(variable.name)
    return value.constant if value is not None and value.is_constant else None
