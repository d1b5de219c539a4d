"""The loops in which a unit may be cut into tiles, and the words that it cannot do without.

A program with the iterators of C, and parts of it.

The words that a program cannot do without: what it reads and nobody wrote, and its results.

The loops in which a unit may be cut into tiles: those of the C program, PLUTO's, or wavefronts.

Statements share the loops that are cut. In C they often share fewer than they have, and time loops
cannot be cut without skewing what is inside of them; PLUTO's loops are made for tiles. Where an
iteration waits for the one before in the innermost loop, a tile in wavefronts of these does not
wait: what depends on an iteration is as many iterations later as the tile is wide.

Several units may be cut together, in the loops of C: each of their tiles then does a tile of every
unit, of some of them one that is so many tiles behind.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import reduce

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import improving, limited_effort
from rtlgen.ir.plan import MemorySide, OffChip
from rtlgen.ir.scop import Access, Node, Scop, Statement, loop_paths
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.options import LoopOptions
from rtlgen.poly.correspondence import (
    correspondence,
    moved_dataflow,
    moved_dependences,
    renumbered,
)
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Dataflow, Dependence, dataflow, memory_dependences
from rtlgen.poly.errors import IllegalSchedule, NoHyperplane
from rtlgen.scheduling.decide import Decision
from rtlgen.transforms.loop_schedule import Scheduled, schedule_loops
from rtlgen.transforms.normalise import boxed, normalise, restricted, with_statements
from rtlgen.transforms.reschedule import delayed, reschedule, side_by_side
from rtlgen.windows.kept_memories import FoldKey


@dataclass(frozen=True, slots=True, eq=False)
class Program:
    """A program whose loops count as in C, and what depends on what in it."""

    sets: ScopSets
    dependences: tuple[Dependence, ...]
    flows: Dataflow

    @property
    def scop(self) -> Scop:
        return self.sets.scop


def as_written(scop: Scop, kept: frozenset[str] = frozenset()) -> Program:
    """Return a parsed program with the iterators of the C program.

    Parameters
    ----------
    kept: strided statements that are to run in all iterations, see `transforms.normalise`; all
        others count those in which they run.
    """
    names = frozenset(statement.name for statement in scop.statements)
    sets = ScopSets(normalise(scop, names, kept))
    return Program(sets, memory_dependences(sets), dataflow(sets))


def in_other_loops(program: Program, scop: Scop) -> Program:
    """Return a program whose instances got other iterators, with what is between them.

    Raises
    ------
    RewriteUnsound: an instance was lost, doubled, or touches other elements.
    """
    sets = ScopSets(scop, program.sets)
    moved = correspondence(program.sets, sets)
    return Program(
        sets,
        moved_dependences(program.dependences, sets, moved),
        moved_dataflow(program.flows, moved),
    )


def part_of(program: Program, names: frozenset[str]) -> Program:
    """Return some statements of a program, and what is between them alone."""
    sets = ScopSets(statements_of(program.scop, names), program.sets)

    def renamed(relation: isl.Map) -> isl.Map:
        return renumbered(relation, program.sets, sets)

    return Program(
        sets,
        tuple(
            replace(d, relation=renamed(d.relation))
            for d in program.dependences
            if {d.source, d.sink} <= names
        ),
        Dataflow(
            tuple(
                replace(f, relation=renamed(f.relation))
                for f in program.flows.flows
                if {f.source, f.sink} <= names
            ),
            {
                n: _outliving(program, n, names).set_tuple_name(sets.statement_tuple(n))
                for n in names
            },
        ),
    )


def statements_of(scop: Scop, names: frozenset[str]) -> Scop:
    """Return a program of some of its statements alone."""
    return boxed(with_statements(scop, names))


def _outliving(program: Program, name: str, names: frozenset[str]) -> isl.Set:
    """Return the instances whose value is needed after the statements of these names."""
    alive = program.flows.outliving(program.scop, name)
    for flow in program.flows.flows:
        if flow.source == name and flow.sink not in names:
            alive = alive.union(flow.relation.domain())
    return alive.coalesce()


def words_needed(program: Program, side: MemorySide) -> int:
    """Return how many words have to be loaded or stored, each one once, whatever the order is.

    Raises
    ------
    TooComplex: they take too long to be counted.
    """
    return sum(_needed_of(program, array, side.word_bits) for array in side.arrays)


def _needed_of(program: Program, array: OffChip, word_bits: int) -> int:
    lanes = word_bits // array.width_bits
    sets, flows = program.sets, program.flows
    read, written = [], []
    for statement in program.scop.statements:
        for number, access in enumerate(statement.reads):
            if access.array == array.name:
                unfed = flows.unfed(sets, statement.name, number)
                read.append(_words(sets, statement, access, unfed, lanes))
        if statement.write.array == array.name:
            left = flows.outliving(program.scop, statement.name)
            written.append(_words(sets, statement, statement.write, left, lanes))
    groups = (group for group in (read, written) if group)
    return sum(count_points(reduce(isl.Set.union, group).coalesce()) for group in groups)


def _words(
    sets: ScopSets, statement: Statement, access: Access, instances: isl.Set, lanes: int
) -> isl.Set:
    """Return [row, word in the row] of what some instances touch."""
    names = statement.iterators
    *rows, last = (affine_text(form, names) for form in access.affine)
    image = ",".join([*rows, f"floor(({last})/{lanes})"])
    dims = ",".join(f"d{k}" for k in range(len(names)))
    tuple_name = sets.statement_tuple(statement.name)
    return instances.apply(sets.read_map(f"{{ {tuple_name}[{dims}] -> [{image}] }}")).coalesce()


@dataclass(frozen=True, slots=True)
class BrokenPair:
    """Iterations of all loops of which some tiles ran the second one first.

    Members
    -------
    first, second: the units that they are of. source, sink: with no unit delayed.
    """

    first: int
    second: int
    source: tuple[int, ...]
    sink: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class UnitLoops:
    """A unit in loops that may be cut.

    Members
    -------
    program: in the iterators of these loops. depth: how many outermost loops its statements share.
    written: in those of C.
    before: by statement, the iterators that it has in the C program, by those of these loops.
    are_written: whether they are the loops of the C program. instances: of every statement.
    units: the statements of each unit, where there are several.
    decisions: for the tiles that were planned, see `tiling.part`.
    folds: that were found for them, see `windows.kept_memories`.
    later: the same loops with units delayed, by how far, see `delayed`.
    fronts: what `in_wavefronts` found.
    broken: pairs of different units that tiles had in the wrong order by now.
    """

    program: Program
    depth: int
    written: Scop
    before: Mapping[str, tuple[Affine, ...]]
    are_written: bool
    instances: Mapping[str, int]
    units: tuple[tuple[str, ...], ...] = ()
    decisions: dict[tuple[object, ...], Decision] = field(default_factory=dict)
    folds: dict[FoldKey, tuple[int, ...]] = field(default_factory=dict)
    later: dict[tuple[int, tuple[int, ...]], UnitLoops] = field(default_factory=dict)
    fronts: list[UnitLoops | None] = field(default_factory=list)
    broken: list[BrokenPair] = field(default_factory=list)

    @property
    def iterators(self) -> tuple[str, ...]:
        """What the loops that are cut are called: as in the statement that has the most of C."""
        deepest = max(self.before, key=lambda name: len(self.before[name]))
        return self.program.scop.statement(deepest).iterators[: self.depth]

    @property
    def moved(self) -> tuple[tuple[str, ...], ...]:
        """The statements that are delayed together: those of each unit."""
        return self.units or (tuple(s.name for s in self.program.scop.statements),)

    def unit_of(self, statement: str) -> int:
        """Return the number of the unit that a statement is of."""
        return next((n for n, names in enumerate(self.units) if statement in names), 0)

    @property
    def apart(self) -> Iterator[UnitLoops]:
        """The same loops for each unit by itself, as if there were no others."""
        if not self.units:
            yield self
        for names in self.units:
            yield UnitLoops(
                part_of(self.program, frozenset(names)),
                self.depth,
                statements_of(self.written, frozenset(names)),
                {name: self.before[name] for name in names},
                self.are_written,
                {name: self.instances[name] for name in names},
            )

    def delayed(self, level: int, iterations: tuple[int, ...]) -> UnitLoops:
        """Return the loops with each of `moved` so many iterations later in the loop of a level."""
        key = level, iterations
        if key not in self.later:
            by = {
                name: delay
                for names, delay in zip(self.moved, iterations, strict=True)
                for name in names
            }
            program = in_other_loops(self.program, delayed(self.program.scop, level, by))
            self.later[key] = replace(
                self,
                program=program,
                before=_before_delay(self, level, by),
                decisions={},
                folds={},
                later={},
            )
        return self.later[key]


def _before_delay(
    loops: UnitLoops, level: int, iterations: Mapping[str, int]
) -> Mapping[str, tuple[Affine, ...]]:
    found = {}
    for name, forms in loops.before.items():
        iterator = loops.program.scop.statement(name).iterators[level]
        values = {iterator: Affine.variable(iterator) - iterations[name]}
        found[name] = tuple(form.substitute(values) for form in forms)
    return found


def joined_loops(whole: Program, units: Sequence[tuple[str, ...]]) -> UnitLoops | None:
    """Return the loops of C in which units may be cut together; None where they share none.

    A unit of one statement gets loops where others have more: it runs in their first iteration, or
    in their last one where it takes what these compute.
    """
    part = part_of(whole, frozenset(name for names in units for name in names))
    scop = part.scop
    depths = [shared_loops(restricted(scop.tree, frozenset(names))) for names in units]
    fixed = [depth for names, depth in zip(units, depths, strict=True) if len(names) > 1]
    depth = min(fixed, default=max(depths))
    if depth == 0 or not all(scop.statement(name).loops for names in units for name in names):
        return None
    pads = {
        name: _pads(part, name, depth)
        for (name, *others) in units
        if not others and len(scop.statement(name).loops) < depth
    }
    program = in_other_loops(part, side_by_side(scop, units, pads))
    own = _own_iterators(scop)
    return UnitLoops(program, depth, scop, own, False, _instances(part), tuple(units))


def _pads(part: Program, name: str, depth: int) -> tuple[int, ...]:
    """Return in which iteration of each loop that it lacks a statement runs."""
    scop = part.scop
    boxes = {s.name: list(scop.schedule.box(s.name).values()) for s in scop.statements}
    taken = {d.source for d in part.dependences if d.sink == name}
    found = []
    for level in range(len(boxes[name]), depth):
        deeper = {other: box[level] for other, box in boxes.items() if len(box) > level}
        before = [last for other, (_, last) in deeper.items() if other in taken]
        first = min(first for first, _ in deeper.values())
        found.append(max(before, default=first))
    return tuple(found)


def loops_of(part: Program) -> Iterator[UnitLoops]:
    """Yield the loops of a unit that may be cut into tiles; those of C come first."""
    scop = part.scop
    instances = _instances(part)
    own = _own_iterators(scop)
    written = UnitLoops(part, shared_loops(scop.tree), scop, own, True, instances)
    yield written
    if any(statement.loops for statement in scop.statements):
        found = _from_pluto(written, LoopOptions("pluto"))
        if found is not None:
            yield found


def in_wavefronts(written: UnitLoops) -> UnitLoops | None:
    """Return the loops of a unit whose innermost one is parallel in an iteration of the others.

    None where PLUTO finds none that are shared as far as those of C.
    """
    if not written.are_written or written.depth < 2:
        return None
    if not written.fronts:
        found = _from_pluto(written, LoopOptions("pluto", inner_wavefront=True))
        written.fronts.append(found)
    return written.fronts[0]


def _own_iterators(scop: Scop) -> dict[str, tuple[Affine, ...]]:
    """Return the iterators of each statement as functions of themselves."""
    return {s.name: tuple(map(Affine.variable, s.iterators)) for s in scop.statements}


def _instances(part: Program) -> dict[str, int]:
    return {name: count_points(domain) for name, domain in part.sets.domains.items()}


def _from_pluto(written: UnitLoops, options: LoopOptions) -> UnitLoops | None:
    """Return loops that PLUTO finds for a unit, where as many of them are shared as of C's."""
    part, found = written.program, None
    # Loops nobody asked for are only tried.
    with (
        suppress(NoHyperplane, IllegalSchedule),
        improving("tiles in other loops than those of C"),
        limited_effort(),
    ):
        found = schedule_loops(part.sets, part.dependences, part.flows, options)
    if found is None:
        return None
    program = Program(found.sets, found.dependences, found.flows)
    depth = shared_loops(program.scop.tree)
    if depth < written.depth:
        return None
    return UnitLoops(program, depth, part.scop, _before(part, found), False, written.instances)


def _before(part: Program, found: Scheduled) -> Mapping[str, tuple[Affine, ...]]:
    """Return the iterators of C by those of the new loops."""
    # What a statement knows of its origin is rewritten with everything else.
    statements = tuple(
        replace(statement, origin=tuple(map(Affine.variable, statement.iterators)))
        for statement in part.scop.statements
    )
    marked = ScopSets(replace(part.scop, statements=statements), part.sets)
    after = reschedule(marked, found.final)
    return {statement.name: statement.origin for statement in after.statements}


def shared_loops(tree: tuple[Node, ...]) -> int:
    """Return how many outermost loops the statements of a tree share."""
    paths = list(loop_paths(tree).values())
    return sum(len(set(numbers)) == 1 for numbers in zip(*paths, strict=False))
