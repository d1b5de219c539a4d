"""Let arrays stand in RAMs of the user's beside the core, as somebody asked for.

Rewrite
-------
    int A[64], in a memory of the core   ->   A, in a RAM beside it (--memory A=external)

No access and no loop changes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.scop import Array, Scop
from rtlgen.options.choices import EVERY_ARRAY, EXTERNAL, Interface, Top
from rtlgen.transforms.streams import stays_within


class NotExternal(RtlgenError):
    """`--memory A=external` or `--interface external` asks for something that has no RAM outside.

    An array that stands beside the core is one that the program shares with others: a parameter, or
    a global, of two elements or more. A local array is nobody else's, a table of constants has
    nothing to be written, and a single element is a register. A block of `--top axi` shows arrays
    in windows of its registers, and has no ports for a RAM: what it shares with other parts of a
    design is behind its bus.

        rtlgen build gemm.c --memory A=external -o build/gemm
    """

    code = "E0326"


def in_external(scop: Scop, places: Mapping[str, str], interface: Interface, top: Top) -> Scop:
    """Return the program with arrays beside the core.

    Parameters
    ----------
    places: of arrays by their names, see `CompileOptions.memory`. interface: of those that have
        none. top: what the module is.

    Raises
    ------
    NotExternal
    """
    every = places.get(EVERY_ARRAY, EXTERNAL if interface == "external" else None)
    arrays = []
    for array in scop.arrays:
        place = places.get(array.name)
        if place == EXTERNAL:
            _require(array)
        elif place is None and not stays_within(array):
            place = every
        arrays.append(replace(array, is_external=True) if place == EXTERNAL else array)
    for array in scop.untouched:
        if places.get(array.name) == EXTERNAL:
            raise _refusal(array, "neither read nor written")
    if top == "axi" and any(array.is_external for array in arrays):
        raise NotExternal(
            "a block with --top axi has no ports for RAMs beside it",
            help="build the core (--top core), or keep arrays in it or off chip (--memory axi)",
        )
    return replace(scop, arrays=tuple(arrays))


def _require(array: Array) -> None:
    if array.is_table:
        raise _refusal(array, "a constant table")
    if array.storage == "local":
        raise _refusal(array, "a local array, which nobody outside sees")
    if array.depth == 1:
        raise _refusal(array, "a single element" if array.shape else "a scalar variable")


def _refusal(array: Array, what: str) -> NotExternal:
    return NotExternal(
        f"{array.name} is in no RAM beside the core: it is {what}",
        labels=(Label(array.span),),
        help=f"leave out --memory {array.name}={EXTERNAL}",
    )
