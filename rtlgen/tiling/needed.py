"""The words that a program cannot do without: what it reads and nobody wrote, and its results."""

from __future__ import annotations

from functools import reduce

import islpy as isl

from rtlgen.ir.plan import MemorySide, OffChip
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.poly.counting import count_points
from rtlgen.tiling.program import Program


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
