"""Skew loops of permutable bands into wavefronts: the outermost ones, or the two innermost.

Rewrite
-------
    for t1 for t2  S(t1, t2)     ->   for t1  for t2  S(t1 - t2, t2)

t1 becomes the sum of the band's loops. A dependence that crosses any of them crosses t1, so the
other loops are parallel: the tiles of one wavefront can run side by side.
Reference: Lamport, "The parallel execution of DO loops", CACM 1974.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rtlgen.poly.schedule_tree import Band, Leaf, Node, Row
from rtlgen.poly.schedule_tree import Sequence as InSequence


def inner_wavefront(tree: Node) -> Node:
    """Return the schedule with the two innermost loops of every permutable band skewed.

    Inside one iteration of all others the last loop is parallel then, and a dependence that crosses
    it alone before is carried by the loop around it: over as many iterations as the last loop has.
    A band whose last loop is parallel already stays as it is; `tree` is marked.
    """
    match tree:
        case Leaf():
            return tree
        case InSequence(children):
            return InSequence(tuple(inner_wavefront(child) for child in children))
        case Band(rows, permutable, child):
            child = inner_wavefront(child)
            if len(rows) < 2 or not permutable or rows[-1].mark == "parallel":
                return replace(tree, child=child)
            return Band((*rows[:-2], _front(rows[-2:]), rows[-1]), permutable, child)


def wavefront(tree: Node) -> Node:
    """Return the schedule with every outermost permutable band skewed.

    A band that has a parallel loop already stays as it is; `tree` is marked.
    """
    match tree:
        case Leaf():
            return tree
        case InSequence(children):
            return InSequence(tuple(wavefront(child) for child in children))
        case Band(rows, permutable, child):
            if len(rows) < 2 or not permutable:
                return replace(tree, child=wavefront(child))
            if any(row.mark == "parallel" for row in rows):
                return tree
            return Band((_front(rows), *rows[1:]), False, child)


def _front(rows: Sequence[Row]) -> Row:
    """Return the loop that counts the wavefronts of some loops: their sum."""
    return Row(tuple(part for row in rows for part in row.parts))
