"""Cut arrays into banks, as somebody asked for.

Rewrite
-------
    int A[8][16], in one memory   ->   A in 4 banks by its second subscript modulo 4
                                       (--partition A=cyclic:2:4)

No access, loop or dependence changes: what the banks allow is found by whoever plans the cycles.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import prod

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.bank_map import MOST_BANKS, Cut, CutKind
from rtlgen.ir.scop import Array, Scop
from rtlgen.options import PartitionWish


class UnknownPartition(RtlgenError):
    """`--partition` names an array or a dimension that the function does not have, or use.

    Arrays are called as in C. Dimensions count from 1, the outermost; `complete:0` is for all of
    them. Scalars have none, and constant tables and arrays off chip have no banks:

        rtlgen plan gemm.c --partition A=cyclic:2:8 --partition B=complete:1
    """

    code = "E0310"


class PartitionUnsuitable(RtlgenError):
    """An array cannot be cut into banks the way that was asked for.

    There are at most as many parts as the dimension has values, and 64 banks in all; a dimension is
    cut in one way. An element that is looked up at a place computed from data, or by a division,
    has no bank that is known in time. The message says which of these it is.
    """

    code = "E0311"


def partition(scop: Scop, wishes: Mapping[str, Sequence[PartitionWish]]) -> Scop:
    """Return the program with arrays cut as was wished, each by its name.

    Raises
    ------
    UnknownPartition, PartitionUnsuitable
    """
    cuts = {name: _cuts(scop, name, asked) for name, asked in wishes.items()}
    return with_cuts(scop, cuts)


def with_cuts(scop: Scop, cuts: Mapping[str, tuple[Cut, ...]]) -> Scop:
    """Return the program with arrays cut into banks."""
    return replace(
        scop,
        arrays=tuple(replace(a, cuts=cuts[a.name]) if a.name in cuts else a for a in scop.arrays),
    )


def looked_up_arrays(scop: Scop) -> frozenset[str]:
    """Return the arrays of which some access computes the element that it is to."""
    return frozenset(
        access.array
        for statement in scop.statements
        for access in (statement.write, *statement.reads)
        if access.is_lookup
    )


def _cuts(scop: Scop, name: str, wishes: Iterable[PartitionWish]) -> tuple[Cut, ...]:
    array = next((array for array in scop.arrays if array.name == name), None)
    usable = [
        a for a in scop.arrays if a.shape and not (a.is_table or a.is_stream or a.is_external)
    ]
    if name in (untouched.name for untouched in scop.untouched):
        raise UnknownPartition(
            f"no statement touches {name}", help=f"leave out --partition {name}=.."
        )
    if array is None or array not in usable:
        names = ", ".join(a.name for a in usable) or "none"
        what = f"there is no array {name}" if array is None else f"{name} has no banks"
        raise UnknownPartition(
            what,
            labels=() if array is None else (Label(array.span, _unusable(array)),),
            help=f"the arrays that may have several are {names}",
        )
    if name in looked_up_arrays(scop):
        access = next(
            access
            for statement in scop.statements
            for access in (statement.write, *statement.reads)
            if access.array == name and access.is_lookup
        )
        raise PartitionUnsuitable(
            f"{name} cannot be cut into banks",
            labels=(Label(access.span, "which element this is to is computed"),),
            help=f"leave out --partition {name}=..",
        )
    found = [cut for wish in wishes for cut in _cuts_of(array, wish)]
    for cut in found:
        if sum(other.dim == cut.dim for other in found) > 1:
            raise _unsuitable(array, f"dimension {cut.dim + 1} is cut twice", "cut it in one way")
    banks = prod(cut.count for cut in found)
    if banks > MOST_BANKS:
        raise _unsuitable(array, f"that is {banks:,} banks", f"{MOST_BANKS} are the most")
    return tuple(sorted((cut for cut in found if cut.count > 1), key=lambda cut: cut.dim))


def _cuts_of(array: Array, wish: PartitionWish) -> list[Cut]:
    dims = range(len(array.shape)) if wish.dim == 0 else [wish.dim - 1]
    if wish.dim > len(array.shape):
        count = len(array.shape)
        raise UnknownPartition(
            f"{array.name} has no dimension {wish.dim}",
            labels=(Label(array.span, f"{count} dimension{'s' if count > 1 else ''}"),),
            help=f"dimensions count from 1, the outermost, to {count}",
        )
    kind: CutKind = "block" if wish.kind == "block" else "cyclic"
    found = []
    for dim in dims:
        extent = array.shape[dim]
        count = extent if wish.count is None else wish.count
        cut = Cut(dim, kind, count)
        # As many parts as have elements: 5 blocks of 8 values are 4 of two.
        filled = count if kind == "cyclic" else -(-extent // cut.part_extent(extent))
        if count > extent or filled < count:
            raise _unsuitable(
                array,
                f"dimension {dim + 1} has {extent} values, too few for {count} parts",
                f"ask for {min(extent, filled)}",
            )
        found.append(cut)
    return found


def _unusable(array: Array) -> str:
    if array.is_stream:
        return "a stream"
    if array.is_external:
        return "in one RAM beside the core"
    return "a constant table" if array.is_table else "a scalar variable"


def _unsuitable(array: Array, why: str, what_to_do: str) -> PartitionUnsuitable:
    return PartitionUnsuitable(
        f"{array.name} cannot be cut into banks so",
        labels=(Label(array.span, why),),
        help=what_to_do,
    )
