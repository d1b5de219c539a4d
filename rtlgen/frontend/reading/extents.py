"""How large the arrays are that pointer parameters point to.

    void f(int *a) { for (int i = 0; i < 8; i++) a[2 * i] = 0; }      15 elements

A pointer does not tell. The option `-D a_EXTENT=64` does; without it, the array ends with the last
element that the function can touch, which its subscripts tell.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from math import prod

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.errors import ArraySize, BadDefinition
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.frontend.syntax.types import MAX_ELEMENTS, OPEN
from rtlgen.frontend.text.tokens import words
from rtlgen.ir.scop import Access, Window

SUFFIX = "_EXTENT"


def extent_options(text: str, defines: Mapping[str, str]) -> dict[str, str]:
    """Return those of `defines` that give the extent of something that `text` mentions.

    One that `text` mentions itself is a macro of the program's.
    """
    known = words(text)
    return {
        name: value
        for name, value in defines.items()
        if name not in known and name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in known
    }


class Extents:
    """Finds the extents.

    Parameters
    ----------
    fixed: the `-D` options, by name.
    """

    def __init__(self, fixed: Mapping[str, str]) -> None:
        self._fixed = fixed
        self._ends: dict[str, int] = {}

    def note(self, variable: Variable, access: Access, ranges: Ranges) -> None:
        """Note which elements are touched inside `ranges`."""
        if variable.shape and variable.shape[0] == OPEN:
            first = access.subscripts[0]
            end = 1 + (first.high if isinstance(first, Window) else ranges.maximum(first))
            self._ends[variable.name] = max(end, self._ends.get(variable.name, 1))

    def stated(self, variable: Variable) -> Variable | None:
        """Return the variable if the program or an option states its extent."""
        is_stated = variable.shape[:1] != (OPEN,) or f"{variable.name}{SUFFIX}" in self._fixed
        return self.closed(variable) if is_stated else None

    def closed(self, variable: Variable) -> Variable:
        """Return the variable with its extent.

        Raises
        ------
        ArraySize: it would be larger than any memory.
        BadDefinition: the option is no positive number.
        """
        if variable.shape[:1] != (OPEN,):
            return variable
        option = f"{variable.name}{SUFFIX}"
        label = Label(variable.span, "points to an array of unknown extent")
        if option in self._fixed:
            text = self._fixed[option].strip()
            if not re.fullmatch(r"[1-9][0-9]{0,8}", text):
                raise BadDefinition(
                    f"-D {option}={text} is no extent",
                    labels=(label,),
                    help=f"write -D {option}=VALUE with a positive number",
                )
            extent = int(text)
        else:
            extent = self._ends.get(variable.name, 1)
        shape = (extent, *variable.shape[1:])
        if prod(shape) > MAX_ELEMENTS:
            raise ArraySize(
                f"`{variable.name}` would have {prod(shape):,} elements",
                labels=(label,),
                help=f"give its extent: -D {option}=VALUE",
            )
        return replace(variable, shape=shape)
