"""What a C declaration says of the type of something."""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.ir.types import IntType

MAX_ELEMENTS = 1 << 26
"""Of one array: ten times what the largest FPGAs hold, and what a compiler can hold as well."""

MAX_ELEMENTS = 1 << 26
"""Of one array: more than the largest FPGAs hold."""

OPEN = 0
"""The extent of the first dimension of a parameter that does not state it."""


@dataclass(frozen=True, slots=True)
class CType:
    """An integer type, or an array of it. `element` None is `void`.

    The first extent of a parameter is `OPEN` where it is a pointer.
    """

    element: IntType | None
    shape: tuple[int, ...]
    is_const: bool
