"""What scalars hold that a loop moves by a constant, and what decides what becomes of them.

a[i] = s; t = c + 1; if (t == n) { c = 0; s++; }       c: t = c + 1, the condition, c = 0

The part that uses a scalar first may do nothing but set it:

for (...) { b[i] = 0; if (k == 5) k = 0; a[k] = x; k++; }        if (k == 5) k = 0;

for (j = 0; j < 8; j++) { a[k] = 0; k += 2; }        k is k0 + 2 * j inside, k0 + 16 behind
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.frontend.syntax.assigned import (
    assigned,
    assigned_by,
    below,
    calls,
    declared,
    mentions,
    setting_of,
)
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT64


@dataclass(frozen=True, slots=True)
class Relevance:
    """What matters for some scalars.

    Members
    -------
    names: the scalars, and everything on which they may depend.
    nodes: the ids of the nodes below which one of those is set or declared.
    pointed_to: names of what is changed by way of a pointer.
    """

    names: frozenset[str]
    nodes: frozenset[int]
    pointed_to: frozenset[str]


def relevance(node: c_ast.Node, names: Iterable[str], is_array: Callable[[str], bool]) -> Relevance:
    """Return what matters in a statement for the scalars that it calls `names`.

    Parameters
    ----------
    is_array: whether a name stands around the statement for elements of which nothing is known.
    """
    inner = declared(node)

    def is_memory(name: str) -> bool:
        return is_array(name) and name not in inner

    relevant = _deciding(node, names, is_memory)
    pointers = {
        name
        for part in below(node)
        if isinstance(part, c_ast.Decl | c_ast.UnaryOp)
        and not (isinstance(part, c_ast.UnaryOp) and part.op != "&")
        for name in assigned_by(part)
    }
    nodes: set[int] = set()
    _note_setting(node, relevant, is_memory, nodes)
    return Relevance(relevant, frozenset(nodes), frozenset(pointers))


def _deciding(
    node: c_ast.Node, names: Iterable[str], is_memory: Callable[[str], bool]
) -> frozenset[str]:
    """Return the names on which the values of `names` depend, and themselves."""
    found, size = set(names), 0
    setting = [(name, part) for part in below(node) for name in _set_by(part, is_memory)]
    setting += [(part.name, part) for part in below(node) if isinstance(part, c_ast.Decl)]
    choosing = [
        (
            frozenset(name for each in below(part) for name in _set_by(each, is_memory)),
            _choosing(part, is_memory),
        )
        for part in below(node)
        if isinstance(part, c_ast.If | c_ast.For)
    ]
    while len(found) > size:
        size = len(found)
        for name, part in setting:
            found |= _valued(part, is_memory) if name in found else set()
        for inside, names_of_choice in choosing:
            found |= names_of_choice if inside & found else frozenset()
    return frozenset(found)


def _set_by(node: c_ast.Node, is_memory: Callable[[str], bool]) -> Iterator[str]:
    """Yield the names of what a node itself may change, and of which something may be known."""
    return (name for name in assigned_by(node) if not is_memory(name))


def _valued(root: c_ast.Node, is_memory: Callable[[str], bool]) -> frozenset[str]:
    """Return the names on which a value depends that may be known: not which element it is of."""
    if isinstance(root, c_ast.ID):
        return frozenset((root.name,))
    parts = [part for _, part in root.children()]
    base = root
    while isinstance(base, c_ast.ArrayRef):
        base = base.name
    if base is not root and isinstance(base, c_ast.ID) and is_memory(base.name):
        parts = [base]
    return frozenset[str]().union(*(_valued(part, is_memory) for part in parts))


def _choosing(node: c_ast.If | c_ast.For, is_memory: Callable[[str], bool]) -> frozenset[str]:
    """Return what decides whether, and how often, the rest of a statement is carried out.

    A loop that sets its iterator first runs as often whatever it was before: what the rest makes of
    it is told by the rest.
    """
    if isinstance(node, c_ast.If):
        return _valued(node.cond, is_memory)
    start, again = node.init, [part for part in (node.cond, node.next) if part is not None]
    asked = frozenset[str]().union(*(_valued(part, is_memory) for part in again))
    if start is None:
        return asked
    iterator, value = setting_of(start) or ("", start)
    return (asked - {iterator}) | _valued(value, is_memory)


def _note_setting(
    node: c_ast.Node, names: frozenset[str], is_memory: Callable[[str], bool], found: set[int]
) -> bool:
    """Note the nodes below which one of `names` is set; return whether this one is."""
    # Every child is visited, whatever another one has said.
    inside = [_note_setting(child, names, is_memory, found) for _, child in node.children()]
    own = any(name in names for name in _set_by(node, is_memory))
    own |= isinstance(node, c_ast.Decl) and node.name in names
    if own or any(inside):
        found.add(id(node))
    return own or any(inside)


def first_use(
    node: c_ast.Node, names: frozenset[str], is_entered: Callable[[c_ast.For], bool]
) -> c_ast.Node | None:
    """Return the first part of a statement that uses a scalar; None if it does more than set it.

    Parameters
    ----------
    names: what the text calls the scalar. is_entered: whether a loop surely has an iteration.
    """
    match node:
        case c_ast.Compound():
            # A function that is called may use a global.
            uses = (i for i in node.block_items or () if mentions(i, names) or calls(i))
            first = next(uses, None)
            return None if first is None else first_use(first, names, is_entered)
        case c_ast.Label():
            return first_use(node.stmt, names, is_entered)
        case c_ast.For():
            header = (part for part in (node.init, node.cond, node.next) if part is not None)
            if any(mentions(part, names) for part in header) or not is_entered(node):
                return None
            return first_use(node.stmt, names, is_entered)
        case c_ast.If() | c_ast.Assignment() | c_ast.UnaryOp():
            only = {name for name, _ in assigned(node)} <= names and not calls(node)
            return node if only else None
    return None


State: TypeAlias = Mapping[str, Affine | None]
"""What scalars hold, by their unique names; None where that is not known."""


def symbol(variable: Variable) -> Affine:
    """Return what a scalar held before."""
    return Affine.variable(symbol_of(variable))


def by_constant(after: Affine | None, variable: Variable) -> int | None:
    """Return by how much a scalar has moved; None if that is no constant."""
    gone = None if after is None else after - symbol(variable)
    return gone.constant if gone is not None and gone.is_constant else None


def symbol_of(variable: Variable) -> str:
    """Return the name of what a scalar held before."""
    return f"{variable.name} before"


def number_in(state: State, variable: Variable) -> int | None:
    """Return the value of a scalar, if it is a number."""
    value = state.get(variable.name)
    return value.constant if value is not None and value.is_constant else None


def trip_count(loop: Loop) -> Affine | None:
    """Return how often a loop runs, if that is affine; below 0 it stands for 0."""
    room = loop.stop - loop.start
    if room.is_constant:
        return Affine((), max(0, -(-room.constant // loop.step)))
    return room * loop.step if abs(loop.step) == 1 else None


def numbers_of(loop: Loop, most: int) -> range:
    """Return the values of an iterator, in order; none if they are not known, or more than some."""
    trips = trip_count(loop)
    if trips is None or not (trips.is_constant and loop.start.is_constant):
        return range(0)
    first, count = loop.start.constant, trips.constant
    return range(first, first + count * loop.step, loop.step) if count <= most else range(0)


def moved_inside(before: Affine | Expr, loop: Loop, move: int) -> Affine | Expr:
    """Return what a scalar is in an iteration of a loop, each of which moves it."""
    gone = (Affine.variable(loop.iterator) - loop.start) * (1 if loop.step > 0 else -1)
    size = abs(loop.step)
    if isinstance(before, Affine) and move % size == 0:
        return before + gone * (move // size)
    by: Expr = IndexValue(gone * (move // size if move % size == 0 else 1), INT64)
    if move % size:
        steps = Binary("div", by, Constant(size, INT64), INT64)
        by = Binary("mul", steps, Constant(move, INT64), INT64)
    return Binary("add", _wide(before), by, INT64)


def moved_behind(
    before: Affine | Expr, loop: Loop, move: int, ranges: Ranges
) -> Affine | Expr | None:
    """Return what a scalar is behind a loop, each iteration of which moves it, if that is known."""
    whole = distance(loop, move, ranges)
    if whole is None:
        return None
    if isinstance(before, Affine):
        return before + whole
    return Binary("add", before, _wide(whole), INT64)


def _wide(value: Affine | Expr) -> Expr:
    if isinstance(value, Affine):
        return IndexValue(value, INT64)
    return value if value.type == INT64 else Cast(value, INT64)


def distance(loop: Loop, move: int, ranges: Ranges) -> Affine | None:
    """Return by how much all iterations of a loop move something, if affine."""
    trips = trip_count(loop)
    return None if trips is None or ranges.minimum(trips) < 0 else trips * move
