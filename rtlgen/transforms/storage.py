"""Arrays in other shapes: a memory for every iteration that fills one anew, short rows end to end.

Give temporaries a memory of their own for every iteration that fills them anew.

Rewrite
-------
    int t;                                   int t_0[8], t_1[6];
    for i<8 { t = a[i]; b[i] = t * t; }  ->  for i<8 { t_0[i] = a[i]; b[i] = t_0[i] * t_0[i]; }
    for j<6 { t = c[j]; d[j] = t; }          for j<6 { t_1[j] = c[j]; d[j] = t_1[j]; }

A value that is written and read in one iteration of a loop has nothing to do with the other
iterations, but as long as they share its storage they must take turns. Expansion removes these
anti and output dependences, at the price of memory; values that never meet are renamed.

Reference: Feautrier, "Array expansion", ICS 1988; Lefebvre and Feautrier, "Storage management in
parallel programs", PDP 1997, for expansion by some of the loops only; MF3 (section 3) for why a
fusion may need it.

Short rows laid out one behind the other: the last two dimensions of an array as one.

A row off chip begins on a word, so a kernel of 3 x 3 bytes takes three words of eight, and as much
RAM on chip. As one row of nine bytes it takes two. Where a row takes at most half a word, no box of
rows takes more words than before: there is a word for each row before, and two rows share one after
that at least.

    w[c][d][p][q] of [32][32][3][3] bytes    ->    w[c][d][3 * p + q] of [32][32][9]

Elements stay in the order of C. Where subscripts depend on data, an array stays as it is, and so do
longer rows: these are cut into tiles and lanes, which begin on words as long as rows do.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import reduce
from math import prod

import islpy as isl
import rustworkx

from rtlgen.ir.affine import Affine
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import Access, Array, Scop, Statement, loop_paths
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.dependences import Dataflow, Flow
from rtlgen.transforms.normalise import guarded, restricted

MAX_BITS = 1 << 19
"""Bits of one expanded temporary that a memory on chip may hold; iterations take turns beyond.

More elements may be named, where their values go on through registers or in few rows.
"""

UNLIMITED = 1 << 40
"""Bits of one expanded temporary whose memory holds few of them, or that needs none."""

Place = tuple[str, int | None]
"""A statement, and one of its reads or None for its write."""


@dataclass(frozen=True, slots=True)
class ExpandedProgram:
    """A program with its temporaries expanded.

    Members
    -------
    expansions: none where it is as it was. is_limited: whether iterations of some loop still take
        turns, since one temporary would have more elements than it may.
    """

    scop: Scop
    expansions: tuple[Expansion, ...]
    is_limited: bool


@dataclass(frozen=True, slots=True)
class Expansion:
    """What became of one temporary: the arrays that now hold its values."""

    array: str
    elements: int
    copies: tuple[Array, ...]

    @property
    def elements_after(self) -> int:
        return sum(copy.depth for copy in self.copies)


def expand(
    written: Scop,
    sets: ScopSets,
    flows: Dataflow,
    most_bits: int = MAX_BITS,
    kept: Collection[str] = (),
    dense: Collection[str] = (),
) -> ExpandedProgram:
    """Return `written` with its temporaries expanded and renamed as far as they can be.

    Parameters
    ----------
    written: the program as parsed. sets, flows: of the same program, normalised.
    most_bits: that one temporary may have then. kept: names of those that stay as they are.
    dense: strided statements that will run in all iterations, and touch elements of these, too.
    """
    written = _running(written, frozenset(s.name for s in sets.scop.statements))
    declared = ScopSets(written)
    statements = tuple(guarded(s) if s.name in dense else s for s in written.statements)
    running = ScopSets(replace(written, statements=statements)) if dense else declared
    flows_of: dict[str, list[Flow]] = {}
    for flow in flows.flows:
        flows_of.setdefault(_reads(sets.scop, flow), []).append(flow)
    taken = {name for s in written.statements for name in s.iterators} | written.variables
    expansions: list[Expansion] = []
    targets: dict[Place, _Copy] = {}
    is_limited = False
    for array in written.arrays:
        if array.name not in kept and _is_temporary(array, written, sets.scop):
            own = flows_of.get(array.name, [])
            groups = _groups(array.name, sets.scop, own)
            if not _is_fed(groups, sets, flows):
                continue
            copies = [
                _expanded(named, group, declared, running, sets, own, most_bits)
                for named, group in zip(_named(array, len(groups), taken), groups, strict=True)
            ]
            is_limited = is_limited or any(copy.is_limited for copy in copies)
            if any(copy.array != array for copy in copies):
                copied = tuple(copy.array for copy in copies)
                expansions.append(Expansion(array.name, array.depth, copied))
                targets |= {place: copy for copy in copies for place in copy.places}
    if not expansions:
        return ExpandedProgram(written, (), is_limited)
    gone = {expansion.array for expansion in expansions}
    arrays = [array for array in written.arrays if array.name not in gone]
    arrays += [copy for expansion in expansions for copy in expansion.copies]
    statements = tuple(_moved(statement, targets) for statement in written.statements)
    scop = replace(written, arrays=tuple(arrays), statements=statements)
    return ExpandedProgram(scop, tuple(expansions), is_limited)


def _running(written: Scop, names: frozenset[str]) -> Scop:
    """Return the program without its statements that never run: no value says where they go."""
    if len(names) == len(written.statements):
        return written
    return replace(
        written,
        statements=tuple(s for s in written.statements if s.name in names),
        tree=restricted(written.tree, names),
        schedule=Schedule({n: dims for n, dims in written.schedule.dims.items() if n in names}),
    )


@dataclass(frozen=True, slots=True)
class _Copy:
    """One expanded array: the accesses that now go to it, and the iterators that select in it.

    Members
    -------
    is_limited: whether loops are left out for the sake of its size.
    """

    array: Array
    places: tuple[Place, ...]
    iterators: tuple[str, ...]
    lows: tuple[int, ...]
    is_limited: bool

    def access(self, access: Access) -> Access:
        selected = (
            Affine.variable(name) - low for name, low in zip(self.iterators, self.lows, strict=True)
        )
        return replace(access, array=self.array.name, subscripts=(*selected, *access.subscripts))


def _is_temporary(array: Array, written: Scop, scop: Scop) -> bool:
    """Tell whether nobody sees an array from outside, and its elements are plainly selected."""
    accesses = [
        access for s in scop.statements for access in (s.write, *s.reads)
        if access.array == array.name
    ]  # fmt: skip
    return (
        array.storage == "local"
        and not array.is_table
        and array.name != written.returned
        and bool(accesses)
        and all(isinstance(s, Affine) for access in accesses for s in access.subscripts)
    )


def _is_fed(groups: Sequence[Sequence[Place]], sets: ScopSets, flows: Dataflow) -> bool:
    """Tell whether no read of an array may be undefined."""
    reads = [(name, read) for group in groups for name, read in group if read is not None]
    return all(flows.unfed(sets, name, read).is_empty() for name, read in reads)


def _named(array: Array, count: int, taken: set[str]) -> list[Array]:
    """Return as many arrays as one falls into, with names of their own."""
    if count == 1:
        return [array]
    names = [_fresh(f"{array.name}_{number}", taken) for number in range(count)]
    return [replace(array, name=name) for name in names]


def _reads(scop: Scop, flow: Flow) -> str:
    return scop.statement(flow.sink).reads[flow.sink_read].array


def _fresh(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    taken.add(name)
    return name


def _groups(array: str, scop: Scop, flows: Sequence[Flow]) -> list[tuple[Place, ...]]:
    """Return the accesses between which values of `array` flow, in program order."""
    places: list[Place] = []
    for statement in scop.statements:
        places += [(statement.name, n) for n, a in enumerate(statement.reads) if a.array == array]
        if statement.write.array == array:
            places.append((statement.name, None))
    graph: rustworkx.PyGraph[Place, None] = rustworkx.PyGraph()
    graph.add_nodes_from(places)
    number = {place: n for n, place in enumerate(places)}
    graph.add_edges_from_no_data(
        [(number[f.source, None], number[f.sink, f.sink_read]) for f in flows]
    )
    components = sorted(sorted(c) for c in rustworkx.connected_components(graph))
    return [tuple(places[n] for n in component) for component in components]


def _expanded(
    array: Array,
    group: Sequence[Place],
    declared: ScopSets,
    running: ScopSets,
    sets: ScopSets,
    flows: Sequence[Flow],
    most_bits: int,
) -> _Copy:
    """Add a dimension for each outermost loop that carries no value of the group.

    Where these are too many elements, the iterations of the outermost ones take turns: a value is
    written and read in the same iteration of all of these loops, so any of them may be left out.

    Parameters
    ----------
    declared: of the program as parsed; running: of the same in all iterations in which it will run;
    sets: of the same, normalised.
    """
    names = sorted({name for name, _ in group})
    places = set(group)
    inside = [f for f in flows if (f.source, None) in places]
    paths = loop_paths(sets.scop.tree)
    depth = 0
    while inside and all(len(paths[name]) > depth for name in names):
        number = paths[names[0]][depth]
        if any(paths[name][depth] != number for name in names):
            break
        if any(_carried(sets, flow, depth) for flow in inside):
            break
        depth += 1
    levels = _sharing_levels(group, declared, depth)
    boxes = _boxes(running, names)
    lows = [min(boxes[name][k][0] for name in names) for k in levels]
    highs = [max(boxes[name][k][1] for name in names) for k in levels]
    extents = tuple(high - low + 1 for low, high in zip(lows, highs, strict=True))
    bits = array.depth * array.element.width_bits
    is_limited = bits * prod(extents) > most_bits and bool(extents)
    while extents and bits * prod(extents) > most_bits:
        levels, lows, extents = levels[1:], lows[1:], extents[1:]
    cuts = tuple(replace(cut, dim=cut.dim + len(extents)) for cut in array.cuts)
    wide = replace(array, shape=(*extents, *array.shape), cuts=cuts)
    iterators = declared.scop.statement(names[0]).iterators
    selecting = tuple(iterators[k] for k in levels)
    return _Copy(wide, tuple(group), selecting, tuple(lows), is_limited)


def _sharing_levels(group: Sequence[Place], declared: ScopSets, depth: int) -> list[int]:
    """Return the loops, of the `depth` outermost ones, whose iterations share elements.

    A loop whose iteration follows from the element and the other loops tells nothing apart.
    """
    users_of = reduce(isl.Map.union, [_users_of(declared, place, depth) for place in group])
    sharing = users_of.reverse().apply_range(users_of)
    levels = list(range(depth))
    for k in reversed(range(depth)):
        others = [n for n in levels if n != k]
        if _same(sharing, others).is_subset(_same(sharing, [k])):
            levels = others
    return levels


def _users_of(declared: ScopSets, place: Place, depth: int) -> isl.Map:
    """Return {element -> iteration of the `depth` outermost loops that touches it}."""
    name, read = place
    statement = declared.scop.statement(name)
    access = statement.write if read is None else statement.reads[read]
    outer = [Affine.variable(iterator) for iterator in statement.iterators[:depth]]
    iteration = declared.time_map(statement, outer)
    return declared.access_map(statement, access).reverse().apply_range(iteration)


def _same(pairs: isl.Map, levels: Sequence[int]) -> isl.Map:
    """Return the pairs of iterations that agree in the given loops."""
    for k in levels:
        pairs = pairs.equate(isl.dim_type.in_, k, isl.dim_type.out, k)
    return pairs


def _boxes(sets: ScopSets, names: Sequence[str]) -> Mapping[str, tuple[tuple[int, int], ...]]:
    """Return the smallest and largest value of the C iterators of statements."""
    found = {}
    for name in names:
        box = sets.bounding_box(sets.scop.statement(name))
        assert box is not None, "the statement has instances"
        found[name] = box
    return found


def _carried(sets: ScopSets, flow: Flow, depth: int) -> bool:
    """Tell whether some value outlives an iteration, as C counts them, of the loop at `depth`."""
    ends = [sets.scop.statement(name) for name in (flow.source, flow.sink)]
    counts = [s.origin[depth] if s.origin else Affine.variable(s.iterators[depth]) for s in ends]
    relation, place = flow.relation, depth
    if counts[0] != counts[1] or ends[0].iterators[: depth + 1] != ends[1].iterators[: depth + 1]:
        # A loop that steps over iterations for one of them counts others.
        source, sink = (sets.time_map(s, [c]) for s, c in zip(ends, counts, strict=True))
        relation, place = relation.apply_domain(source).apply_range(sink), 0
    here, there = (isl.dim_type.in_, place), (isl.dim_type.out, place)
    # Piece by piece: a difference of relations with many pieces is expensive.
    return not (
        relation.order_lt(*here, *there).is_empty() and relation.order_gt(*here, *there).is_empty()
    )


def _moved(statement: Statement, targets: Mapping[Place, _Copy]) -> Statement:
    def moved(access: Access, read: int | None) -> Access:
        copy = targets.get((statement.name, read))
        return access if copy is None else copy.access(access)

    return replace(
        statement,
        write=moved(statement.write, None),
        reads=tuple(moved(access, n) for n, access in enumerate(statement.reads)),
    )


MOST_ELEMENTS = 7
"""Of a row that is short: a pixel, a row of a filter; their loops are whole in tiles and lanes."""


def collapse_short_rows(scop: Scop, row_bits: int, kept: Collection[str]) -> Scop:
    """Return a program whose arrays have no short rows, where that can be.

    Parameters
    ----------
    row_bits: of a short row, at most. kept: arrays that stay as they are.
    """
    looked_up = {
        access.array
        for statement in scop.statements
        for access in (statement.write, *statement.reads)
        if access.is_lookup
    }
    found = {
        array.name: _collapsed(array, row_bits)
        for array in scop.arrays
        if array.name not in looked_up and array.name not in kept and not array.is_table
    }
    shapes = {name: shape for name, shape in found.items() if shape != scop.array(name).shape}
    if not shapes:
        return scop
    return replace(
        scop,
        arrays=tuple(replace(a, shape=shapes.get(a.name, a.shape)) for a in scop.arrays),
        statements=tuple(_with_shapes(s, scop, shapes) for s in scop.statements),
    )


def _collapsed(array: Array, row_bits: int) -> tuple[int, ...]:
    """Return the extents of an array without short rows."""
    shape = array.shape
    most = min(MOST_ELEMENTS, row_bits // array.element.width_bits)
    while len(shape) > 1 and shape[-1] <= most:
        *outer, rows, elements = shape
        shape = (*outer, rows * elements)
    return shape


def _with_shapes(
    statement: Statement, scop: Scop, shapes: Mapping[str, tuple[int, ...]]
) -> Statement:
    """Return a statement that touches the same elements in arrays of other extents."""

    def moved(access: Access) -> Access:
        if access.array not in shapes:
            return access
        extents, dims = scop.array(access.array).shape, len(shapes[access.array])
        *outer, last = access.affine[:dims]
        for subscript, extent in zip(access.affine[dims:], extents[dims:], strict=True):
            last = last * extent + subscript
        return replace(access, subscripts=(*outer, last))

    return replace(
        statement,
        write=moved(statement.write),
        reads=tuple(moved(read) for read in statement.reads),
    )
