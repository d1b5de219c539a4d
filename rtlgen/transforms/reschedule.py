"""Give a program other loops: a schedule's, by an integer inverse that gives C's iterators.

Solve t = M v for integer v: the inverse of a change of iterators, strides included.

Column operations bring M to echelon form, M U = H with U unimodular. Then v = U y, and the y follow
one after another from the rows in which H has its pivots: y_k = (t_p - H_p,<k . y) / H_p,k. Where a
pivot is 1, y_k is an integer combination of the t. Where it is larger, only some t are met (a
stride), and y_k stays a variable of its own.

Reference: Schrijver, "Theory of linear and integer programming", section 4.1 (Hermite normal form).

Turn a statement's iterators into functions of the loops of a schedule.

Give a program the loops of a schedule: new iterators for the same instances.

Rewrite
-------
    for i for j  a[i][j] = ...         ->   for t1 for t2  a[t2][t1 - t2] = ...
    rows (i + j), (i)

Every statement's iterators become affine functions of the new ones; its domain becomes conditions
on them. A tiled row counts the tiles. Where the rows reach only some integers (a stride), the
missing iterator stays as an innermost loop that runs once.

Bring nests that follow each other into the same loops, to cut them into common tiles.

Each statement gets as many loops as the deepest one: what has fewer runs in one iteration of those
that it lacks. A whole nest may be delayed in a loop, so that its iterations stand beside later ones
of the nests before it.

Rewrite
-------
    for i<N  S0(i)                              for i<N  for k in {0}      S0(i)
    for i<N  for k<N  S1(i, k)           ->     for i<N  for k<N           S1(i, k)
    for i<N  for k<N  S2(i, k)                  for i in 8..N+7  for k<N   S2(i - 8, k)

Reference: the pads and shifts of MF3 (section 3), here of loops that are cut afterwards.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd

from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.scop import (
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Scop,
    Statement,
    StatementNode,
)
from rtlgen.ir.sets import ScopSets, affine_text, integer
from rtlgen.poly import schedule_tree
from rtlgen.poly.edges import coordinates
from rtlgen.poly.schedule_tree import Band, Leaf, Part, Row
from rtlgen.source import Span
from rtlgen.transforms.normalise import boxed, program_order, restricted

Matrix = tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class Echelon:
    """M U = H.

    Members
    -------
    unimodular: U. echelon: H. pivots: the row in which column k of H begins, increasing with k.
    """

    unimodular: Matrix
    echelon: Matrix
    pivots: tuple[int, ...]


def column_echelon(rows: Sequence[Sequence[int]], columns: int) -> Echelon:
    """Return the echelon form of a matrix of full column rank, its pivots positive.

    Raises
    ------
    ValueError: the columns are linearly dependent.
    """
    # The identity below M goes through the same column operations and becomes U.
    work = [list(row) for row in rows]
    work += [[int(i == j) for j in range(columns)] for i in range(columns)]
    pivots: list[int] = []
    for number in range(len(rows)):
        first = len(pivots)
        if first == columns:
            break
        if _gather(work, number, first):
            pivots.append(number)
    if len(pivots) < columns:
        raise ValueError(f"the columns of {list(rows)} are dependent")
    fixed = tuple(map(tuple, work))
    return Echelon(fixed[len(rows) :], fixed[: len(rows)], tuple(pivots))


def _gather(work: list[list[int]], row: int, first: int) -> bool:
    """Bring the entries of a row from column `first` on into that column; False: all are 0."""
    entries = work[row]
    while True:
        present = [c for c in range(first, len(entries)) if entries[c]]
        if not present:
            return False
        smallest = min(present, key=lambda c: abs(entries[c]))
        if len(present) == 1:
            break
        for column in present:
            if column != smallest:
                _subtract(work, column, smallest, entries[column] // entries[smallest])
    sign = -1 if entries[smallest] < 0 else 1
    for line in work:
        moved = sign * line[smallest]
        line[smallest] = line[first]
        line[first] = moved
    return True


def _subtract(work: list[list[int]], column: int, other: int, factor: int) -> None:
    for line in work:
        line[column] -= factor * line[other]


@dataclass(frozen=True, slots=True)
class Change:
    """A statement in the times of its rows.

    Members
    -------
    times: one name a row, outermost first. own: further iterators, with one value each for given
        times: where the rows reach only some integers.
    values: of the old iterators, in terms of `times` and `own`.
    conditions: forms over the same that are >= 0 for the instances and for nothing else.
    """

    times: tuple[str, ...]
    own: tuple[str, ...]
    values: Mapping[str, Affine]
    conditions: tuple[Affine, ...]

    @property
    def names(self) -> tuple[str, ...]:
        return (*self.times, *self.own)


def change_iterators(statement: Statement, rows: Sequence[Row], prefix: str) -> Change:
    """Return a normalised statement in the loops `rows`; new iterators are called prefix1, ...

    Raises
    ------
    ValueError: the rows give two instances the same time.
    """
    tiles = _tiles(statement, rows)
    variables = [*statement.iterators, *(tile.variable for tile in tiles)]
    forms = [_row_form(statement, row, tiles) for row in rows]
    matrix = [[form.coefficient(v) for v in variables] for form in forms]
    times = tuple(f"{prefix}{k + 1}" for k in range(len(rows)))
    # A row that reaches every integer is solved for before one that reaches only some of them.
    solvable = sorted(range(len(rows)), key=lambda n: gcd(*matrix[n]) != 1)
    echelon = column_echelon([matrix[n] for n in solvable], len(variables))
    solved = _solve(echelon, [forms[n] for n in solvable], [times[n] for n in solvable], prefix)
    values = {
        variable: affine_sum(
            value * factor for value, factor in zip(solved, row, strict=True) if factor
        )
        for variable, row in zip(variables, echelon.unimodular, strict=True)
    }
    conditions = [c.substitute(values) for c in (*statement.bounds, *_tile_bounds(tiles))]
    for form, time in zip(forms, times, strict=True):
        rest = Affine.variable(time) - form.substitute(values)
        conditions += [rest, -rest]
    used = {name for value in values.values() for name in value.variables}
    own = tuple(name for name in _own_names(echelon, times, prefix) if name in used)
    needed = tuple(dict.fromkeys(c for c in conditions if not c.is_constant))
    return Change(times, own, {name: values[name] for name in statement.iterators}, needed)


@dataclass(frozen=True, slots=True)
class _Tile:
    """The number of a tile as a variable: size * variable <= form < size * (variable + 1)."""

    variable: str
    form: Affine
    size: int


def _tiles(statement: Statement, rows: Sequence[Row]) -> list[_Tile]:
    found: dict[tuple[Affine, int], _Tile] = {}
    for row in rows:
        for part in row.parts:
            key = (_normalised(statement, part), part.size)
            if part.size > 1 and key not in found:
                # No C identifier has a space in it.
                found[key] = _Tile(f"tile {len(found)}", *key)
    return list(found.values())


def _normalised(statement: Statement, part: Part) -> Affine:
    """Return the form of a part over the normalised iterators."""
    counted = dict(zip(statement.iterators, coordinates(statement), strict=True))
    return part.forms[statement.name].substitute(counted)


def _row_form(statement: Statement, row: Row, tiles: Sequence[_Tile]) -> Affine:
    variables = {(tile.form, tile.size): tile.variable for tile in tiles}
    parts = []
    for part in row.parts:
        form = _normalised(statement, part)
        parts.append(form if part.size == 1 else Affine.variable(variables[form, part.size]))
    return affine_sum(parts)


def _tile_bounds(tiles: Sequence[_Tile]) -> list[Affine]:
    found = []
    for tile in tiles:
        offset = tile.form - Affine.variable(tile.variable) * tile.size
        found += [offset, -offset + (tile.size - 1)]
    return found


def _own_names(echelon: Echelon, times: Sequence[str], prefix: str) -> list[str]:
    first = len(times) + 1
    return [f"{prefix}{first + k}" for k in range(len(echelon.pivots))]


def _solve(
    echelon: Echelon, forms: Sequence[Affine], times: Sequence[str], prefix: str
) -> list[Affine]:
    """Return the y of `integer_inverse`: integer forms of the times, or iterators of their own."""
    solved: list[Affine] = []
    own = _own_names(echelon, times, prefix)
    for k, pivot in enumerate(echelon.pivots):
        row = echelon.echelon[pivot]
        if row[k] == 1:
            outer = affine_sum(y * c for y, c in zip(solved, row, strict=False) if c)
            time = Affine.variable(times[pivot]) - forms[pivot].constant
            solved.append(time - outer)
        else:
            solved.append(Affine.variable(own[k]))
    return solved


Range = tuple[int, int]


def reschedule(sets: ScopSets, tree: schedule_tree.Node) -> Scop:
    """Return the normalised program of `sets` in the loops of `tree`."""
    nodes, statements = rescheduled(sets, tree)
    return boxed(
        replace(sets.scop, statements=statements, tree=nodes, schedule=program_order(nodes))
    )


def rescheduled(
    sets: ScopSets, tree: schedule_tree.Node
) -> tuple[tuple[Node, ...], tuple[Statement, ...]]:
    """Return the loops that `tree` gives its statements, and these in their new iterators.

    The rest of the program may have statements that are not in `tree`.
    """
    rescheduler = _Rescheduler(sets, tree)
    nodes = rescheduler.nodes(tree, ())
    return nodes, tuple(rescheduler.statements)


@dataclass(frozen=True, slots=True)
class _Counter:
    """A new loop. Its iterator is 0 at the time `low`, which is negative or 0."""

    loop: Loop
    low: int

    @property
    def time(self) -> Affine:
        return Affine.variable(self.loop.iterator) + self.low


class _Rescheduler:
    def __init__(self, sets: ScopSets, tree: schedule_tree.Node) -> None:
        self.sets = sets
        prefix = name_prefix(sets.scop)
        self.changes = {
            name: change_iterators(
                sets.scop.statement(name), schedule_tree.loop_rows(tree, name), prefix
            )
            for name in schedule_tree.statements_of(tree)
        }
        self.ranges = {name: self._ranges(change) for name, change in self.changes.items()}
        self.statements: list[Statement] = []

    def _ranges(self, change: Change) -> dict[str, Range]:
        """Return the smallest and largest value of every new iterator."""
        conditions = [f"{affine_text(c, change.names)} >= 0" for c in change.conditions]
        dims = ",".join(f"d{k}" for k in range(len(change.names)))
        domain = self.sets.read_set(f"{{ [{dims}] : {' and '.join(conditions) or 'true'} }}")
        return {
            name: (integer(domain.dim_min_val(k)), integer(domain.dim_max_val(k)))
            for k, name in enumerate(change.names)
        }

    def nodes(self, node: schedule_tree.Node, outer: tuple[_Counter, ...]) -> tuple[Node, ...]:
        """Return the tree of `node`, which stands in the loops `outer`."""
        match node:
            case Leaf(name):
                return (self._leaf(self.sets.scop.statement(name), outer),)
            case schedule_tree.Sequence(children):
                return tuple(n for child in children for n in self.nodes(child, outer))
            case Band(child=child):
                counters = self._counters(node, len(outer))
                return _nested(counters, self.nodes(child, (*outer, *counters)))

    def _counters(self, band: Band, depth: int) -> tuple[_Counter, ...]:
        names = schedule_tree.statements_of(band)
        span = _loop_span(self.sets.scop.statement(names[0]))
        found = []
        for place in range(depth, depth + len(band.rows)):
            iterator = self.changes[names[0]].times[place]
            ranges = [self.ranges[name][iterator] for name in names]
            found.append(_counter(iterator, ranges, span))
        return tuple(found)

    def _leaf(self, statement: Statement, outer: tuple[_Counter, ...]) -> Node:
        change, ranges = self.changes[statement.name], self.ranges[statement.name]
        own = tuple(_counter(name, [ranges[name]], statement.span) for name in change.own)
        times = {counter.loop.iterator: counter.time for counter in (*outer, *own)}
        values = {name: value.substitute(times) for name, value in change.values.items()}
        conditions = tuple(c.substitute(times) for c in change.conditions)
        loops = tuple(counter.loop for counter in (*outer, *own))
        self.statements.append(replace(statement.rewritten(values, loops), conditions=conditions))
        body: tuple[Node, ...] = (StatementNode(statement.name),)
        if conditions:
            body = (ConditionNode(conditions, body),)
        (node,) = _nested(own, body)
        return node


def name_prefix(scop: Scop) -> str:
    """Return the beginning of iterator names that are no names of the program."""
    prefix = "t"
    while any(name.startswith(prefix) and name[len(prefix) :].isdigit() for name in scop.variables):
        prefix += "t"
    return prefix


def new_iterators(scop: Scop, count: int, stem: str = "") -> tuple[str, ...]:
    """Return names of so many loops that are no names of the program, with a stem in them."""
    taken = {name for statement in scop.statements for name in statement.iterators}
    prefix = name_prefix(scop) + stem
    while any(f"{prefix}{k}" in taken for k in range(count)):
        prefix += "t"
    return tuple(f"{prefix}{k}" for k in range(count))


def _loop_span(statement: Statement) -> Span:
    return statement.loops[0].span if statement.loops else statement.span


def _counter(iterator: str, ranges: Sequence[Range], span: Span) -> _Counter:
    """Return a loop that covers all `ranges`. It begins at 0: normalised loops do."""
    low = min(0, *(first for first, _ in ranges))
    last = max(last for _, last in ranges)
    return _Counter(Loop(iterator, Affine(), Affine((), last - low + 1), 1, span), low)


def _nested(counters: Sequence[_Counter], body: tuple[Node, ...]) -> tuple[Node, ...]:
    for counter in reversed(counters):
        body = (LoopNode(counter.loop, body),)
    return body


Values = Mapping[str, Affine]
"""What iterators stand for."""


def side_by_side(
    scop: Scop, nests: Sequence[Sequence[str]], pads: Mapping[str, Sequence[int]]
) -> Scop:
    """Return a normalised program with its statements in nests, one after another, and padded.

    Parameters
    ----------
    nests: the statements of each; together those of the program.
    pads: by statement, in which iteration of each of the loops that it lacks it runs, outermost
        first.
    """
    names = new_iterators(scop, max((len(each) for each in pads.values()), default=0), "pad")

    def loops_of(statement: Statement) -> list[Loop]:
        places = pads.get(statement.name, ())
        return [
            Loop(name, Affine((), place), Affine((), place + 1), 1, statement.span)
            for name, place in zip(names, places, strict=False)
        ]

    def padded(nodes: tuple[Node, ...]) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            if isinstance(node, StatementNode):
                inner: Node = node
                for loop in reversed(loops_of(scop.statement(node.statement))):
                    inner = LoopNode(loop, (inner,))
                found.append(inner)
            else:
                found.append(replace(node, body=padded(node.body)))
        return tuple(found)

    tree = tuple(
        node for names in nests for node in padded(restricted(scop.tree, frozenset(names)))
    )
    every = [scop.statement(name) for names in nests for name in names]
    statements = tuple(
        statement.rewritten({}, (*statement.loops, *loops_of(statement))) for statement in every
    )
    return _rebuilt(scop, statements, tree)


def delayed(scop: Scop, level: int, iterations: Mapping[str, int]) -> Scop:
    """Return a program in which statements run so many iterations later in one of their loops.

    Parameters
    ----------
    level: of that loop; 0: the outermost. iterations: by statement; statements that share the loop
        are delayed alike.
    """

    def moved(nodes: tuple[Node, ...], depth: int, by: int, values: Values) -> tuple[Node, ...]:
        found: list[Node] = []
        for node in nodes:
            match node:
                case LoopNode(loop, body):
                    inner = values
                    if depth == level:
                        inner = {loop.iterator: Affine.variable(loop.iterator) - by}
                    new = _moved(loop, by if depth == level else 0, inner)
                    found.append(LoopNode(new, moved(body, depth + 1, by, inner)))
                case ConditionNode(conditions, body):
                    there = tuple(c.substitute(values) for c in conditions)
                    found.append(ConditionNode(there, moved(body, depth, by, values)))
                case StatementNode():
                    found.append(node)
        return tuple(found)

    tree = tuple(
        new for node in scop.tree for new in moved((node,), 0, iterations[_first_of(node)], {})
    )
    statements = tuple(
        _delayed(statement, level, iterations[statement.name]) for statement in scop.statements
    )
    return _rebuilt(scop, statements, tree)


def _delayed(statement: Statement, level: int, by: int) -> Statement:
    iterator = statement.iterators[level]
    values = {iterator: Affine.variable(iterator) - by}
    loops = tuple(
        loop if k < level else _moved(loop, by if k == level else 0, values)
        for k, loop in enumerate(statement.loops)
    )
    return statement.rewritten(values, loops)


def _moved(loop: Loop, by: int, values: Values) -> Loop:
    """Return a loop that counts from `by` iterations further on, with `values` in its bounds."""
    new = loop.substitute(values)
    limits = tuple(limit.substitute(values) for limit in loop.limits)
    return replace(new, start=new.start + by, stop=new.stop + by * loop.scale, limits=limits)


def _first_of(node: Node) -> str:
    while not isinstance(node, StatementNode):
        node = node.body[0]
    return node.statement


def _rebuilt(scop: Scop, statements: tuple[Statement, ...], tree: tuple[Node, ...]) -> Scop:
    return boxed(replace(scop, statements=statements, tree=tree, schedule=program_order(tree)))
