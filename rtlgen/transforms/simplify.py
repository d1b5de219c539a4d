"""What need not be computed: statements that nobody reads, and values that are constants.

Leave out dead statements: dead-code elimination by the dataflow of values.

Rewrite
-------
    int t = 0;                                     int t;
    for i<8 { t = a[i]; u = b[i]; c[i] = t; }  ->  for i<8 { t = a[i]; c[i] = t; }

What remains reads and leaves the same values: no live statement reads what a dead one stores. A
store that goes may uncover an older value of its element, but whoever read that would have read the
dead one before, and so kept it alive.

Fold constants: what has one value wherever a statement runs is that number.

Rewrite
-------
    const int g[3] = {-1, 0, 1};
    s = 0;
    s = s + x[i] * g[0];                s = -x[i];
    s = s + x[i + 1] * g[1];      ->
    s = s + x[i + 2] * g[2];            s = s + x[i + 2];
    y[i] = s;                           y[i] = s;

A value is known where all elements of a table that a read may touch are alike, and where all
statements that a read may get its value from store that value. A statement that stores what is
there already is left out, and so is one whose value nobody needs any more (`transforms.simplify`).

Loops that are unrolled leave such values, but so may the program as written. No instance moves.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rtlgen.ir.affine import Affine
from rtlgen.ir.constant_folding import folded, unconverted
from rtlgen.ir.expr import (
    Constant,
    Expr,
    Read,
    ScalarParameter,
    Scatter,
    Select,
    children,
    walk,
    with_children,
)
from rtlgen.ir.scop import Access, Array, Scop, Statement, Subscript, Window
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.value_ranges import Range, ValueRanges
from rtlgen.poly.correspondence import renumbered
from rtlgen.poly.dependences import Dataflow, dataflow, same_values
from rtlgen.poly.errors import RewriteUnsound
from rtlgen.poly.liveness import dead_statements
from rtlgen.poly.lookups import bounded_lookups
from rtlgen.poly.value_flow import ValueFlow
from rtlgen.transforms.normalise import normalise, with_statements


def without_dead(scop: Scop, sets: ScopSets, flows: Dataflow) -> Scop:
    """Return a program as parsed without its dead statements, and without those that never run.

    What only they would touch has no memory in the circuit.

    Parameters
    ----------
    sets, flows: of the same program, normalised.

    Raises
    ------
    RewriteUnsound: some value would be another one. TooComplex
    """
    dead = dead_statements(sets.scop, flows)
    if dead and not _is_unseen(dead, sets, flows):
        raise RewriteUnsound("leaving out dead statements changes a value")
    running = {statement.name for statement in sets.scop.statements}
    idle = frozenset(s.name for s in scop.statements) - running
    # Of a program of which nothing is left, those that run are named.
    gone = dead | idle if running - dead else dead
    return prune(scop, gone) if gone else scop


def _is_unseen(dead: frozenset[str], sets: ScopSets, flows: Dataflow) -> bool:
    """Tell whether all others read and leave the same values without some statements."""
    others = frozenset(s.name for s in sets.scop.statements) - dead
    to_others = [flow for flow in flows.flows if flow.sink in others]
    if any(flow.source in dead for flow in to_others):
        return False
    rest = ScopSets(with_statements(sets.scop, others), sets)
    kept = tuple(
        replace(flow, relation=renumbered(flow.relation, sets, rest)) for flow in to_others
    )
    is_left = all(flows.outliving(sets.scop, name).is_empty() for name in dead)
    return is_left and same_values(Dataflow(kept, {}), dataflow(rest))


def prune(scop: Scop, dead: frozenset[str]) -> Scop:
    """Return a program as parsed without some of its statements, and without what these alone use.

    Arrays that nothing touches any more are among the untouched ones.
    """
    rest = with_statements(scop, frozenset(s.name for s in scop.statements) - dead)
    touched = {a.array for s in rest.statements for a in (s.write, *s.reads)} | {scop.returned}
    used = {e.name for s in rest.statements for e in walk(s.expr) if isinstance(e, ScalarParameter)}
    untouched = (
        replace(array, role="local" if array.storage == "local" else "in")
        for array in scop.arrays
        if array.name not in touched
    )
    return replace(
        rest,
        arrays=tuple(array for array in scop.arrays if array.name in touched),
        scalars=tuple(scalar for scalar in scop.scalars if scalar.name in used),
        schedule=scop.schedule,
        untouched=(*scop.untouched, *untouched),
    )


def folded_program(scop: Scop) -> Scop:
    """Return a program of the same results, its constants folded and without dead statements.

    Raises
    ------
    LookupOutOfRange, TooComplex
    """
    tabled = constant_arrays(scop)
    sets = _sets_of(tabled, None)
    return folded_and_live(tabled, sets, dataflow(sets))


def folded_and_live(scop: Scop, sets: ScopSets, flows: Dataflow) -> Scop:
    """Return the program as of `fold_constants`, without the statements that are dead then.

    Raises
    ------
    RewriteUnsound, LookupOutOfRange, TooComplex
    """
    folded = fold_constants(scop, sets, flows)
    if folded is not scop:
        sets = _sets_of(folded, sets)
        flows = dataflow(sets)
    return without_dead(folded, sets, flows)


def _sets_of(scop: Scop, beside: ScopSets | None) -> ScopSets:
    sets = ScopSets(normalise(scop), beside)
    return ScopSets(bounded_lookups(sets), sets)


def fold_constants(scop: Scop, sets: ScopSets, flows: Dataflow) -> Scop:
    """Return a program of the same results with its constants folded, or `scop` itself.

    Parameters
    ----------
    scop: as written, or unrolled. sets: of the same, normalised; flows: its dataflow.
    """
    values, declared = ValueFlow(sets, flows), ScopSets(scop)
    found: list[Statement] = []
    gone = {statement.name for statement in scop.statements}
    for running in sets.scop.statements:
        statement = scop.statement(running.name)
        box = declared.bounding_box(statement)
        assert box is not None, "it runs"

        def read_range(read: Read, running: Statement = running) -> Range:
            return values.read_range(running, read)

        iterators = dict(zip(statement.iterators, box, strict=True))
        shape = scop.array(statement.write.array).shape
        folding = _Folding(statement, shape, iterators, ValueRanges(iterators, read_range))
        found.append(folding.statement())
        if not folding.is_idle:
            gone.remove(statement.name)
    changed = {statement.name: statement for statement in found}
    statements = tuple(changed.get(s.name, s) for s in scop.statements)
    # Of a program that does nothing, all that it does is left.
    if statements == scop.statements or len(gone) == len(scop.statements):
        return scop
    return prune(replace(scop, statements=statements), frozenset(gone))


@dataclass(slots=True)
class _Folding:
    """One statement without its constants.

    Members
    -------
    is_idle: whether it stores what is there already.

    Parameters
    ----------
    shape: of the array that it writes.
    """

    _old: Statement
    _shape: Sequence[int]
    _box: Mapping[str, Range]
    _ranges: ValueRanges
    is_idle: bool = False
    _reads: list[Access] = field(default_factory=list)
    _numbers: dict[tuple[int, tuple[Expr, ...]], int] = field(default_factory=dict)

    def statement(self) -> Statement:
        expr = folded(self._old.expr, self._ranges)
        if isinstance(expr, Scatter) and self._is_told(expr):
            self._old = self._stored(expr)
            expr = folded(self._old.expr, self._ranges)
        self.is_idle = self._stores_what_is_there(expr)
        expr = self._with_reads(expr)
        write = self._old.write
        if isinstance(expr, Scatter):
            # A subscript that is a number now is one of what is written, too.
            write = replace(write, subscripts=self._reads[expr.old.index].subscripts)
        return replace(self._old, expr=expr, write=write, reads=tuple(self._reads))

    def _is_told(self, expr: Scatter) -> bool:
        """Return whether a scatter is always to one element, which there is."""
        if any(isinstance(part, Read) and part.index == expr.old.index for part in _used(expr)):
            return False
        access = self._access(self._old.reads[expr.old.index], expr.at)
        return all(
            isinstance(at, Affine) and at.is_constant and 0 <= at.constant < extent
            for at, extent in zip(access.subscripts, self._shape, strict=True)
        )

    def _stored(self, expr: Scatter) -> Statement:
        """Return the statement of a scatter to one element as any other one is that stores."""
        number, reads = expr.old.index, list(self._old.reads)
        reads[number] = replace(self._access(reads[number], expr.at), is_conditional=False)
        return replace(
            self._old,
            write=replace(self._old.write, subscripts=reads[number].subscripts),
            reads=tuple(reads),
            expr=Select(expr.condition, expr.value, Read(number, expr.type), expr.type),
        )

    def _stores_what_is_there(self, expr: Expr) -> bool:
        source = unconverted(expr, self._ranges)
        if not isinstance(source, Read):
            return False
        access = self._old.reads[source.index]
        return access.serves(self._old.write) and not access.is_partial

    def _with_reads(self, expr: Expr) -> Expr:
        """Return an expression with the reads that it has left, each by its new number."""
        parts = tuple(map(self._with_reads, children(expr)))
        if not isinstance(expr, Read):
            return with_children(expr, parts)
        key = expr.index, parts
        if key not in self._numbers:
            self._numbers[key] = len(self._reads)
            self._reads.append(self._access(self._old.reads[expr.index], parts))
        number = self._numbers[key]
        left = tuple(part for part in parts if _as_subscript(part) is None)
        return Read(number, expr.type, left)

    def _access(self, access: Access, at: Sequence[Expr]) -> Access:
        """Return an access without subscripts that are computed though they are known.

        Parameters
        ----------
        at: the values of those that are computed.
        """
        parts = iter(at)
        subscripts: list[Subscript] = []
        for subscript in access.subscripts:
            known = _as_subscript(next(parts)) if isinstance(subscript, Window) else None
            subscripts.append(subscript if known is None else known)
        where = tuple(form for form in access.where if form.range(self._box)[0] < 0)
        return replace(access, subscripts=tuple(subscripts), where=where)


def _used(expr: Scatter) -> Iterator[Expr]:
    """Yield all parts of the condition and the value of a scatter."""
    for part in (expr.condition, expr.value):
        yield from walk(part)


def _as_subscript(value: Expr) -> Affine | None:
    """Return a computed subscript that has become a number."""
    return Affine((), value.value) if isinstance(value, Constant) else None


def constant_arrays(scop: Scop) -> Scop:
    """Return a program in which arrays that only ever hold the elements of a table are tables.

    Rewrite
    -------
        int h[3] = {1, 2, 1};          ->    const int h[3] = {1, 2, 1};
        for (k = 0; k < 3; k++)              for (k = 0; k < 3; k++)
          s += h[k] * x[k];                    s += h[k] * x[k];

    That is a local array each of whose elements gets that of the table in the same place, or no
    value at all.
    """
    tables = {a.name: table for a in scop.arrays if (table := _copied_table(scop, a)) is not None}
    copying = frozenset(s.name for s in scop.statements if s.write.array in tables)
    if not tables or len(copying) == len(scop.statements):
        return scop
    arrays = (
        replace(a, values=tables[a.name].values, cuts=()) if a.name in tables else a
        for a in scop.arrays
    )
    return prune(replace(scop, arrays=tuple(arrays)), copying)


def _copied_table(scop: Scop, array: Array) -> Array | None:
    """Return the table whose elements an array holds, if it never holds anything else."""
    if array.storage != "local" or array.is_table or array.name == scop.returned:
        return None
    tables = set[str | None]()
    for statement in scop.statements:
        if statement.write.array == array.name:
            tables.add(_read_in_place(statement))
    name = tables.pop() if len(tables) == 1 else None
    if name is None:
        return None
    table = scop.array(name)
    is_alike = table.shape == array.shape and table.element == array.element
    return table if table.is_table and is_alike else None


def _read_in_place(statement: Statement) -> str | None:
    """Return the array of which a statement stores the element in the place that it writes."""
    if not isinstance(statement.expr, Read):
        return None
    access = statement.reads[statement.expr.index]
    is_same = access.subscripts == statement.write.subscripts and not access.is_lookup
    return access.array if is_same and not access.is_partial else None
