"""Arrays, parts of arrays and elements, as expressions with pointers name them.

a[i]      *(a + i)      (&a[i])[0]         one element
a + 4     &a[4]                            the part of `a` from element 4 on
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from rtlgen.frontend.symbols import Variable
from rtlgen.ir.affine import Affine

_START = Affine()


@dataclass(frozen=True, slots=True)
class Part:
    """What is left of an array when its first dimensions have subscripts.

    Members
    -------
    name: as the text calls it.
    offset: what the next subscript is counted from.
    is_pointed_to: it is reached through a pointer.
    is_address: it is the address of an element.
    """

    name: str
    variable: Variable
    subscripts: tuple[Affine, ...] = ()
    offset: Affine = _START
    is_pointed_to: bool = False
    is_address: bool = False

    def element(self, subscript: Affine) -> Part:
        """Return what one more subscript names."""
        if self.is_address and self.variable.shape == ():
            return replace(self, is_address=False)
        subscripts = (*self.subscripts, self.offset + subscript)
        return replace(self, subscripts=subscripts, offset=Affine(), is_address=False)

    def moved(self, step: Affine) -> Part:
        """Return the part that begins `step` further on."""
        return replace(self, offset=self.offset + step)

    def address(self) -> Part:
        """Return the part that begins with this element."""
        if not self.subscripts:
            return replace(self, is_address=True)
        return replace(
            self, subscripts=self.subscripts[:-1], offset=self.subscripts[-1], is_address=True
        )
