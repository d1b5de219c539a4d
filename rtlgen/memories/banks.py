"""Banks: as asked for, as unrolled accesses ask for them, and which accesses meet in one.

Cut arrays into banks, as somebody asked for.

Rewrite
-------
    int A[8][16], in one memory   ->   A in 4 banks by its second subscript modulo 4
                                       (--partition A=cyclic:2:4)

No access, loop or dependence changes: what the banks allow is found by whoever plans the cycles.

Derive the banks that the accesses of a program ask for, as those of code unrolled by hand do.

    a[8*i] .. a[8*i + 7]   in one nest: each access stays in one of 8 banks, its own
    h[0] .. h[15]          all accesses are of one element each: every element is a register

What two accesses in loops that are alike touch in one cycle differs by a constant there. So a
dimension is worth a cut where their subscripts leave several remainders, the same in every
iteration.
Whether the cut is worth its memory is for whoever plans the program to say.

Accesses that meet in a bank: two elements of it that are wanted in one cycle.

The plan resolves them, with copies of the bank for loads and versions of it for stores. Who asked
for a partition so that an array needs neither is told what meets.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import gcd, prod

import numpy as np

from rtlgen.errors import Label, RtlgenError
from rtlgen.ir.affine import Affine
from rtlgen.ir.bank_map import MOST_BANKS, Cut, CutKind
from rtlgen.ir.ints import Ints
from rtlgen.ir.issued_instances import IssuedInstances, issued_instances
from rtlgen.ir.iterations import element_numbers, predicate_mask
from rtlgen.ir.plan import KernelPlan, LoadOp, Memory
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import Access, Array, Scop, Statement, loop_paths
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
    return frozenset(access.array for access in _computed(scop))


def _computed(scop: Scop) -> Iterator[Access]:
    """Yield the accesses that compute their element: a scatter does, of whatever it is told."""
    for statement in scop.statements:
        if statement.is_scatter or statement.write.is_lookup:
            yield statement.write
        yield from (read for read in statement.reads if read.is_lookup)


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
        access = next(access for access in _computed(scop) if access.array == name)
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


@dataclass(frozen=True, slots=True)
class _Use:
    """The subscripts of an access, and the loops around it: alike ones can run in step."""

    subscripts: tuple[Affine, ...]
    nest: tuple[tuple[Affine, Affine, int], ...]


def derived_cuts(scop: Scop, decided: Iterable[str]) -> dict[str, tuple[Cut, ...]]:
    """Return cuts that let accesses of a normalised program meet, by array.

    Parameters
    ----------
    decided: arrays of which somebody has said how they are cut.
    """
    left_out = {*decided, *looked_up_arrays(scop)}
    found = {}
    for array in scop.arrays:
        is_whole = array.is_table or array.is_stream or array.is_external or array.depth == 1
        if array.name in left_out or is_whole:
            continue
        cuts = _derived_cuts(array, _uses(scop, array.name))
        if cuts:
            found[array.name] = cuts
    return found


def other_partition(scop: Scop, array: str) -> str | None:
    """Return the options that cut an array as its accesses ask for, or None where it is so cut."""
    others = (other.name for other in scop.arrays if other.name != array)
    cuts = derived_cuts(scop, others).get(array, ())
    if not cuts or cuts == scop.array(array).cuts:
        return None
    return " ".join(f"--partition {array}={cut}" for cut in cuts)


def _uses(scop: Scop, array: str) -> list[_Use]:
    return [
        _Use(access.affine, tuple((loop.start, loop.stop, loop.scale) for loop in statement.loops))
        for statement in scop.statements
        for access in (statement.write, *statement.reads)
        if access.array == array
    ]


def _derived_cuts(array: Array, uses: Sequence[_Use]) -> tuple[Cut, ...]:
    subscripts = [subscript for use in uses for subscript in use.subscripts]
    if all(subscript.is_constant for subscript in subscripts):
        is_small = array.depth <= MOST_BANKS and len({use.subscripts for use in uses}) > 1
        cuts = (Cut(dim, "cyclic", extent) for dim, extent in enumerate(array.shape) if extent > 1)
        return tuple(cuts) if is_small else ()
    counts = {dim: _count(uses, dim, extent) for dim, extent in enumerate(array.shape)}
    cut = {dim: count for dim, count in counts.items() if count > 1}
    if prod(cut.values()) > MOST_BANKS:
        # The dimension that tells most accesses apart.
        best = max(cut, key=lambda dim: (_told_apart(uses, dim, cut[dim]), -dim))
        cut = {best: cut[best]}
    return tuple(Cut(dim, "cyclic", count) for dim, count in cut.items())


def _count(uses: Sequence[_Use], dim: int, extent: int) -> int:
    """Return into how many parts a dimension is worth to be cut."""
    steps = {_step(use.subscripts[dim]) for use in uses}
    most = min(extent, MOST_BANKS)
    candidates = [
        count
        for count in range(2, most + 1)
        if all(step % count == 0 for step in steps)
        or (count & (count - 1) == 0 and any(step % count == 0 for step in steps))
    ]
    apart = {count: _told_apart(uses, dim, count) for count in candidates}
    best = max(candidates, key=lambda count: (apart[count], -count), default=1)
    return best if apart.get(best, 0) > 1 else 1


def _step(subscript: Affine) -> int:
    """Return the number of which the distances of a subscript's values are multiples; 0: none."""
    return gcd(*(coefficient for _, coefficient in subscript.terms))


def _told_apart(uses: Sequence[_Use], dim: int, count: int) -> int:
    """Return how many banks the accesses in alike loops that stay in a bank are in, at most."""
    banks: dict[tuple[tuple[Affine, Affine, int], ...], set[int]] = {}
    for use in uses:
        subscript = use.subscripts[dim]
        if _step(subscript) % count == 0:
            banks.setdefault(use.nest, set()).add(subscript.constant % count)
    return max(map(len, banks.values()), default=0)


@dataclass(frozen=True, slots=True)
class Request:
    """An instance that wants an element.

    Members
    -------
    statement, point: the instance. access: its access. element: the row-major number.
    is_load: whether it reads, or else writes.
    """

    statement: Statement
    point: tuple[int, ...]
    access: Access
    element: int
    is_load: bool


@dataclass(frozen=True, slots=True)
class Contention:
    """Two requests to one bank in one cycle, counted from the start of the run."""

    memory: str
    bank: int
    cycle: int
    requests: tuple[Request, Request]


def require_free(
    plan: KernelPlan,
    scop: Scop,
    program: Schedule,
    placed: Schedule,
    names: Iterable[str],
    written: Scop,
) -> None:
    """Raise BankContended where lanes of one nest meet in a bank that somebody has asked for.

    That is in arrays which are written: of what is only read there may be copies, which stay alike.
    So there may of banks in which different nests meet, since these need not run side by side.

    Parameters
    ----------
    names: the arrays that are asked for in banks.
    scop, program, placed: see `judges.replay`.
    written: the program whose nests count: loops that are chosen for a unit are for it alone.
    """
    stored = {statement.write.array for statement in scop.statements}
    suspects = [
        memory
        for memory in plan.memories
        if memory.name in names
        and memory.name in stored
        and (memory.write_ports > 1 or memory.read_ports > 1)
        and memory.kind == "block"
    ]
    if not suspects:
        return
    regions = issued_instances(plan, scop, program, placed)
    paths, nests = loop_paths(written.tree), dict[tuple[int, ...], list[IssuedInstances]]()
    for member in (member for region in regions for member in region):
        nests.setdefault(tuple(paths[member.statement.name]), []).append(member)
    for memory, members, is_load in product(suspects, nests.values(), (False, True)):
        found = contention(memory, members, is_load=is_load)
        if found is not None:
            raise _refusal(scop, memory, found)


def contention(
    memory: Memory, members: Sequence[IssuedInstances], *, is_load: bool
) -> Contention | None:
    """Return the first two loads, or stores, of a memory that want one bank in one cycle."""
    requests = list(_requests(memory, members, is_load))
    if not requests:
        return None
    cycles = np.concatenate([each.cycles for each in requests])
    elements = np.concatenate([each.elements for each in requests])
    users = np.concatenate([np.full(len(r.cycles), n) for n, r in enumerate(requests)])
    rows = np.concatenate([np.arange(len(each.cycles)) for each in requests])
    banks, _ = memory.bank_map.of_elements(elements)
    order = np.lexsort((elements, banks, cycles))
    keys = np.stack([cycles, banks], axis=1)[order]
    meets = (keys[1:] == keys[:-1]).all(axis=1) & (elements[order][1:] != elements[order][:-1])
    if not meets.any():
        return None
    first = int(np.flatnonzero(meets)[0])
    pair = [requests[int(users[n])].request(int(rows[n])) for n in order[first : first + 2]]
    return Contention(
        memory.name, int(banks[order[first]]), int(cycles[order[first]]), (pair[0], pair[1])
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Requests:
    """All needed instances of one access, with the cycle and the element of each."""

    member: IssuedInstances
    access: Access
    cycles: Ints
    elements: Ints
    points: Ints
    is_load: bool

    def request(self, row: int) -> Request:
        point = tuple(self.points[row].tolist())
        element = int(self.elements[row])
        return Request(self.member.statement, point, self.access, element, self.is_load)


def _requests(
    memory: Memory, members: Sequence[IssuedInstances], is_load: bool
) -> Iterator[_Requests]:
    for member in members:
        stream = member.stream
        if not is_load:
            store = stream.store
            if store.memory == memory.name and store.address is not None:
                mask = predicate_mask(store.when, member.counters)
                elements = element_numbers(memory, store.address, member.counters)[mask]
                cycles = member.cycles[mask] + store.stage
                write = member.statement.write
                yield _Requests(member, write, cycles, elements, member.points[mask], False)
            continue
        for op in stream.operations:
            if isinstance(op, LoadOp) and op.memory == memory.name and op.address is not None:
                mask = predicate_mask(op.needed, member.counters)
                elements = element_numbers(memory, op.address, member.counters)[mask]
                cycles = member.cycles[mask] + op.stage
                read = member.statement.reads[op.read]
                yield _Requests(member, read, cycles, elements, member.points[mask], True)


def _refusal(scop: Scop, memory: Memory, found: Contention) -> BankContended:
    first, second = found.requests
    what = "read" if first.is_load else "written"
    many = memory.read_ports if first.is_load else memory.write_ports
    other = other_partition(scop, found.memory) or f"cut {found.memory} in another way"
    refusal = BankContended(
        f"{_element(scop, first)} and {_element(scop, second)} are {what} in one cycle, and both "
        f"are in bank {found.bank}",
        labels=[
            Label(
                request.access.span,
                f"{what} by {request.statement.instance_text(request.point)}, cycle {found.cycle}",
            )
            for request in found.requests
        ],
        help=f"{other}, or leave out --partition: there are then as many copies as are needed, "
        f"here {many}",
    )
    refusal.array = found.memory
    return refusal


def _element(scop: Scop, request: Request) -> str:
    index = np.unravel_index(request.element, scop.array(request.access.array).shape)
    return request.access.array + "".join(f"[{int(k)}]" for k in index)
