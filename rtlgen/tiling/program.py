"""A program with the iterators of C, and parts of it."""

from __future__ import annotations

from dataclasses import dataclass, replace

import islpy as isl

from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.correspondence import (
    correspondence,
    moved_dataflow,
    moved_dependences,
    renumbered,
)
from rtlgen.poly.dependences import Dataflow, Dependence, dataflow, memory_dependences
from rtlgen.transforms.normalise import boxed, normalise, with_statements


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
