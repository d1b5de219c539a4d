"""Two copies of an array on chip: the host has one while a run has the other."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.scop import Array, Scop


class NotDoubled(RtlgenError):
    """`--double-buffer` names an array of which two copies are of no use, or that there is not.

    Of the two copies, the host fills or reads one while a run has the other: so the host has to
    reach the array, and there has to be one. Local arrays and constant tables are the circuit's
    own; a scalar variable is one word, which is written in a cycle; what is off chip may be
    anywhere in memory, so that the bases of the next run name another buffer.

        rtlgen build gemm.c --double-buffer A --double-buffer B --double-buffer C -o build/gemm
    """

    code = "E0320"


def double_buffered(scop: Scop, names: Collection[str], elsewhere: Collection[str] = ()) -> Scop:
    """Return the program with two copies of some arrays, each by its name.

    Parameters
    ----------
    elsewhere: arrays that are not to be on chip.

    Raises
    ------
    NotDoubled
    """
    for name in names:
        _require(scop, name, elsewhere)
    arrays = tuple(replace(a, is_double=True) if a.name in names else a for a in scop.arrays)
    return replace(scop, arrays=arrays) if names else scop


def _require(scop: Scop, name: str, elsewhere: Collection[str]) -> None:
    usable = ", ".join(a.name for a in _usable(scop.arrays) if a.name not in elsewhere) or "none"
    array = next((array for array in scop.arrays if array.name == name), None)
    why = ""
    if array is None:
        is_unused = any(array.name == name for array in scop.untouched)
        what = f"no statement touches {name}" if is_unused else f"there is no array {name}"
    elif array not in _usable([array]):
        what, why = f"the host does not fill or read {name}", _what_it_is(array)
    elif name in elsewhere:
        what, why = f"{name} has no copies on chip", "this is to be off chip, or a stream"
    else:
        return
    raise NotDoubled(
        what,
        labels=(Label(array.span, why),) if array is not None else (),
        help=f"the arrays that may have two copies are {usable}",
    )


def _usable(arrays: Iterable[Array]) -> list[Array]:
    return [
        a for a in arrays if a.shape and a.storage != "local" and not (a.is_stream or a.is_external)
    ]


def _what_it_is(array: Array) -> str:
    if array.is_table:
        return "its elements are constants"
    if array.is_stream:
        return "this is a stream"
    if array.is_external:
        return "this is beside the core"
    return "this is local" if array.shape else "this is a scalar variable"
