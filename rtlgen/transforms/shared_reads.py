"""Read an element of a stream once for all that use it.

Rewrite
-------
    if (x[i] > 0) out[n++] = x[i];    ->    x_word = x[i];
                                            if (x_word > 0) out[n++] = x_word;

Statements of one iteration that read the same element of a stream would take it from there several
times, and it is there once. What stands before the first of them takes it for all.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from rtlgen.ir.expr import Read
from rtlgen.ir.memories import numbered_name
from rtlgen.ir.scop import (
    Access,
    Array,
    Node,
    Scop,
    Statement,
    StatementNode,
)


def with_shared_reads(scop: Scop) -> Scop:
    """Return a program as parsed in which statements share what they read of streams.

    Statements share a read if they are in the same loops, under the same conditions, and if one of
    them makes it whatever the data is.
    """
    for array in scop.arrays:
        if array.is_stream and array.role == "in":
            for readers, access in _shared(scop, array.name):
                scop = _with_word(scop, array, readers, access)
    return scop


def _shared(scop: Scop, array: str) -> list[tuple[list[str], Access]]:
    """Return the accesses that several statements make, with these, in program order."""
    groups: list[tuple[list[Statement], Access]] = []
    for statement, access in _reads(scop, array):
        for others, known in groups:
            if known.subscripts == access.subscripts and _are_together(others[0], statement):
                if others[-1] is not statement:
                    others.append(statement)
                break
        else:
            groups.append(([statement], access))
    return [
        ([statement.name for statement in readers], access)
        for readers, access in groups
        if len(readers) > 1 and any(_is_sure(each, access) for each in readers)
    ]


def _reads(scop: Scop, array: str) -> Iterator[tuple[Statement, Access]]:
    for statement in scop.statements:
        for access in statement.reads:
            if access.array == array and not access.is_lookup:
                yield statement, access


def _are_together(one: Statement, other: Statement) -> bool:
    return (one.loops, one.conditions) == (other.loops, other.conditions)


def _is_same(access: Access, other: Access) -> bool:
    return (access.array, access.subscripts) == (other.array, other.subscripts)


def _is_sure(statement: Statement, access: Access) -> bool:
    """Tell whether a statement reads an element whatever the data is."""
    return any(_is_same(read, access) and not read.is_partial for read in statement.reads)


def _with_word(scop: Scop, array: Array, readers: Sequence[str], access: Access) -> Scop:
    """Return the program with a statement that reads an element for some others."""
    taken = {a.name for a in (*scop.arrays, *scop.untouched)} | {s.name for s in scop.statements}
    name = numbered_name(f"{array.name}_word", taken)
    word = Array(name, array.element, (), "local", "local", array.span)
    first = scop.statement(readers[0])
    taking = Statement(
        name,
        first.loops,
        first.conditions,
        Access(name, (), access.span),
        (replace(access, is_conditional=False, where=()),),
        Read(0, array.element),
        access.span,
        f"{name} = {access}",
        first.origin,
    )
    statements: list[Statement] = []
    for statement in scop.statements:
        if statement.name == first.name:
            statements.append(taking)
        if statement.name in readers:
            reads = tuple(
                Access(name, (), read.span) if _is_same(read, access) else read
                for read in statement.reads
            )
            statement = replace(statement, reads=reads)
        statements.append(statement)
    return replace(
        scop,
        arrays=(*scop.arrays, word),
        statements=tuple(statements),
        tree=_with_statement(scop.tree, name, first.name),
    )


def _with_statement(nodes: tuple[Node, ...], name: str, before: str) -> tuple[Node, ...]:
    """Return nodes with a statement before another one."""
    found: list[Node] = []
    for node in nodes:
        if not isinstance(node, StatementNode):
            found.append(replace(node, body=_with_statement(node.body, name, before)))
            continue
        if node.statement == before:
            found.append(StatementNode(name))
        found.append(node)
    return tuple(found)
