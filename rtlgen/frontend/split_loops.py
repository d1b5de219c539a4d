"""Loops whose iterator is divided to say what is written: one for the quotient, one for the rest.

Rewrite
-------
    for (i = 0; i < 24; i++)            for (q = 0; q < 3; q++)
      a[i / 8] += x[i % 8];      ->       for (r = 0; r < 8; r++)
                                            a[q] += x[r];

What is written has affine subscripts then. The iterations stay the same, in the same order: the
rest loop runs only where its value is one of the iterator's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from rtlgen.errors import Label
from rtlgen.frontend.errors import NonAffineSubscript
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Expr, IndexValue, Read, children, with_children
from rtlgen.ir.quotients import Division, division_in, simplified
from rtlgen.ir.scop import (
    Access,
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Statement,
    StatementNode,
    Subscript,
    Window,
    statements_under,
)
from rtlgen.ir.value_ranges import Range

MAX_SPLITS = 8
"""Loops split for each statement before a subscript is taken to have no affine form."""

Tree = tuple[Node, ...]


def split_loops(
    statements: Sequence[Statement], tree: Tree, claim: Callable[[str], str]
) -> tuple[tuple[Statement, ...], Tree]:
    """Return the same program, its written subscripts affine.

    Parameters
    ----------
    claim: returns a name for a new iterator, made from the given one.

    Raises
    ------
    NonAffineSubscript: no loop can be split for one of them.
    """
    program = _Program({s.name: _with_affine(s) for s in statements}, tree, claim)
    for _ in range(MAX_SPLITS * len(statements)):
        for name, statement in program.statements.items():
            division = _written_division(statement)
            if division is not None:
                program.split(name, division)
                break
        else:
            break
    found = tuple(program.statements.values())
    for statement in found:
        if statement.write.is_lookup:
            raise _refusal(statement)
    return found, program.tree


@dataclass
class _Program:
    statements: dict[str, Statement]
    tree: Tree
    claim: Callable[[str], str]

    def split(self, name: str, division: Division) -> None:
        """Split the innermost loop of a statement on which `division` depends."""
        statement = self.statements[name]
        loops = [x for x in statement.loops if x.iterator in division.dividend.variables]
        loop = loops[-1]
        if loop.step != 1:
            values = {loop.iterator: loop.start + Affine.variable(loop.iterator) * loop.step}
            new = _Split((loop.counted().limited(values),), values, (), ())
        elif abs(division.dividend.coefficient(loop.iterator)) != 1:
            raise _refusal(statement)
        else:
            new = _split(loop, division, _boxes(statement.loops), self.claim)
        self.tree = self._rewritten(self.tree, loop, name, new, {}, ())
        # What is affine now stays so, whatever is split later.
        self.statements = {n: _with_affine(s) for n, s in self.statements.items()}

    def _rewritten(
        self,
        nodes: Tree,
        old: Loop,
        inside: str,
        new: _Split,
        values: Mapping[str, Affine],
        loops: tuple[Loop, ...],
    ) -> Tree:
        """Return nodes with the loop `old` around the statement `inside` replaced by `new`.

        Parameters
        ----------
        values: what stands for its iterator, once inside of it. loops: around the nodes.
        """
        found: list[Node] = []
        for node in nodes:
            match node:
                case LoopNode(loop, body):
                    if loop == old and not values and inside in statements_under(body):
                        within = (*loops, *new.loops)
                        rewritten = self._rewritten(body, old, inside, new, new.values, within)
                        found.append(new.around(rewritten))
                        continue
                    changed = loop.substitute(values).limited(values)
                    within = (*loops, changed)
                    rewritten = self._rewritten(body, old, inside, new, values, within)
                    found.append(LoopNode(changed, rewritten))
                case ConditionNode(conditions, body):
                    held = tuple(c.substitute(values) for c in conditions)
                    rewritten = self._rewritten(body, old, inside, new, values, loops)
                    found.append(ConditionNode(held, rewritten))
                case StatementNode(name):
                    if values:
                        changed_statement = self.statements[name].rewritten(values, loops)
                        conditions = (*new.outer, *new.inner, *changed_statement.conditions)
                        # The new loops are those of the program from here on.
                        self.statements[name] = replace(
                            changed_statement, conditions=conditions, origin=()
                        )
                    found.append(node)
        return tuple(found)


@dataclass(frozen=True, slots=True)
class _Split:
    """What a loop is replaced by.

    Members
    -------
    loops: in its place. values: of its iterator. outer, inner: forms that are >= 0 in the body of
        the first of the loops, and of the second one.
    """

    loops: tuple[Loop, ...]
    values: Mapping[str, Affine]
    outer: tuple[Affine, ...]
    inner: tuple[Affine, ...]

    def around(self, body: Tree) -> LoopNode:
        """Return the new loops around a body."""
        for loop, held in zip(reversed(self.loops), (self.inner, self.outer), strict=False):
            conditions = held if len(self.loops) > 1 else ()
            body = (LoopNode(loop, (ConditionNode(conditions, body),) if conditions else body),)
        (node,) = body
        assert isinstance(node, LoopNode), "there is a loop to replace one by"
        return node


def _split(
    loop: Loop, division: Division, boxes: Mapping[str, Range], claim: Callable[[str], str]
) -> _Split:
    """Return two loops for one that counts up by 1, with value == divisor * q + r - offset."""
    name, divisor = loop.iterator, division.divisor
    coefficient = division.dividend.coefficient(name)
    offset = division.dividend - Affine.variable(name) * coefficient
    if coefficient < 0:
        offset = -offset + (divisor - 1)
    outer_name, inner_name = claim(f"{name}_div{divisor}"), claim(f"{name}_mod{divisor}")
    tile = Affine.variable(outer_name) * divisor - offset
    value = tile + Affine.variable(inner_name)
    first, end = loop.start + offset, loop.stop + offset * loop.scale
    outer: list[Affine] = []
    inner: list[Affine] = []
    start = Affine((), first.range(dict(boxes))[0] // divisor)
    if not first.is_constant:
        outer.append(tile + (divisor - 1) - loop.start)
    if not first.is_constant or first.constant % divisor:
        inner.append(value - loop.start)
    scale = loop.scale * divisor
    stop, stop_scale = end, scale
    if end.is_constant:
        stop, stop_scale = Affine((), max(0, -(-end.constant // scale))), 1
    if not end.is_constant or end.constant % scale:
        inner.append(loop.stop - value * loop.scale - 1)
    change = {name: value}
    quotients = replace(
        loop, iterator=outer_name, start=start, stop=stop, scale=stop_scale, limits=tuple(outer)
    )
    rest = Loop(
        inner_name,
        Affine(),
        Affine((), divisor),
        1,
        loop.span,
        limits=(*inner, *loop.limited(change).limits),
        is_guarded=loop.is_guarded,
    )
    return _Split((quotients, rest), change, tuple(outer), tuple(inner))


def _boxes(loops: Sequence[Loop]) -> dict[str, Range]:
    """Return a range of every iterator that holds all its values."""
    boxes: dict[str, Range] = {}
    for loop in loops:
        starts, stops = loop.start.range(boxes), loop.stop.range(boxes)
        if loop.step > 0:
            low, high = starts[0], -(-stops[1] // loop.scale) - 1
        else:
            low, high = stops[0] // loop.scale + 1, starts[1]
        boxes[loop.iterator] = (low, max(low, high))
    return boxes


def _written_division(statement: Statement) -> Division | None:
    """Return a division that keeps a written subscript from being affine."""
    if not statement.write.is_lookup:
        return None
    boxes = _boxes(statement.loops)
    for window in statement.write.windows:
        division = division_in(simplified(_known(window), boxes))
        if division is not None:
            return division
    return None


def _known(window: Window) -> Expr:
    assert window.known is not None, "what depends on data is not written"
    return window.known


def _with_affine(statement: Statement) -> Statement:
    """Return a statement with affine subscripts in place of known ones, where they are."""
    boxes = _boxes(statement.loops)
    write = _access(statement.write, boxes)
    reads = tuple(_access(read, boxes) for read in statement.reads)
    expr = _rewritten_reads(statement.expr, statement.reads, boxes)
    return replace(statement, write=write, reads=reads, expr=expr)


def _access(access: Access, boxes: Mapping[str, Range]) -> Access:
    return replace(access, subscripts=tuple(_subscript(s, boxes) for s in access.subscripts))


def _subscript(subscript: Subscript, boxes: Mapping[str, Range]) -> Subscript:
    if isinstance(subscript, Affine) or subscript.known is None:
        return subscript
    value = simplified(subscript.known, boxes)
    return value.affine if isinstance(value, IndexValue) else replace(subscript, known=value)


def _rewritten_reads(expr: Expr, reads: Sequence[Access], boxes: Mapping[str, Range]) -> Expr:
    """Return an expression whose reads compute only the subscripts that are left to compute."""
    rewritten = with_children(
        expr, tuple(_rewritten_reads(part, reads, boxes) for part in children(expr))
    )
    if not isinstance(rewritten, Read) or not rewritten.at:
        return rewritten
    at: list[Expr] = []
    for window, value in zip(reads[rewritten.index].windows, rewritten.at, strict=True):
        left = value if window.known is None else simplified(window.known, boxes)
        if not isinstance(left, IndexValue) or window.known is None:
            at.append(left)
    return replace(rewritten, at=tuple(at))


def _refusal(statement: Statement) -> NonAffineSubscript:
    return NonAffineSubscript(
        "a subscript of what is written is not affine",
        labels=(Label(statement.write.span, "no loop can be split to make it so"),),
        help="loop over what it counts, and compute the old iterator from that",
    )
