"""Let arrays come in, or go out, over streams, as somebody asked for.

Rewrite
-------
    const int x[64], in a memory   ->   x, whose elements come one after another
                                        (--memory x=stream)

No access and no loop changes. Dependences keep the accesses in their order from then on.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.scop import Array, Scop
from rtlgen.options.choices import EVERY_ARRAY, STREAM


class NoStream(RtlgenError):
    """`--memory` asks for a stream of something that is none.

    A stream brings the elements of an array that the function reads and never writes, or takes
    those of one that it writes and never reads: a parameter, or a global. What is read and written
    needs two arrays in the C program: one to read, and one to write. An element that is written
    under a condition on data keeps its old value elsewhere, so that is read, too: write
    `y[i] = c ? a : b;`. The checksum unit reads results where they are kept: a stream is not.
    """

    code = "E0325"


def in_streams(scop: Scop, places: Mapping[str, str], checksum: bool = False) -> Scop:
    """Return the program with streams in place of arrays.

    Parameters
    ----------
    places: of arrays by their names, see `CompileOptions.memory`; only those of streams matter.
    checksum: whether a unit reads the results after the run.

    Raises
    ------
    NoStream
    """
    every = places.get(EVERY_ARRAY) == STREAM
    arrays = []
    for array in scop.arrays:
        place = places.get(array.name)
        obstacle = _obstacle(array)
        if place == STREAM and obstacle is not None:
            raise _refusal(array, *obstacle)
        if place is None and every and not stays_within(array):
            if obstacle is not None:
                raise _refusal(array, *obstacle)
            place = STREAM
        if place == STREAM and checksum and array.role == "out":
            raise _refusal(array, "gone when --checksum would read it", "leave out --checksum")
        arrays.append(replace(array, is_stream=True) if place == STREAM else array)
    for array in scop.untouched:
        if places.get(array.name) == STREAM:
            raise _refusal(array, "neither read nor written", "leave it out")
    return replace(scop, arrays=tuple(arrays))


def stays_within(array: Array) -> bool:
    """Tell whether an array is of the circuit where nobody has named it, and all are to be
    elsewhere.
    """
    return array.storage == "local" or array.is_table or array.depth == 1


def _obstacle(array: Array) -> tuple[str, str] | None:
    """Return why an array cannot be a stream, and what to do."""
    name = array.name
    if array.is_table:
        return "a constant table", f"leave out --memory {name}={STREAM}"
    if array.storage == "local":
        return "a local array, which nobody outside sees", f"leave out --memory {name}={STREAM}"
    if array.depth == 1:
        what = "a single element" if array.shape else "a scalar variable"
        return what, f"leave out --memory {name}={STREAM}"
    if array.role not in ("in", "out"):
        return (
            "read and written",
            "give the function one array to read and another one to write, or say "
            f"--memory {name}=onchip",
        )
    return None


def _refusal(array: Array, what: str, remedy: str) -> NoStream:
    return NoStream(
        f"{array.name} is no stream: it is {what}", labels=(Label(array.span),), help=remedy
    )
