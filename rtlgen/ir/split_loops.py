"""Loops whose iterator is divided to say what is written: one for the quotient, one for the rest.

Rewrite
-------
    for (i = 0; i < 24; i++)            for (q = 0; q < 3; q++)
      a[i / 8] += x[i % 8];      ->       for (r = 0; r < 8; r++)
                                            a[q] += x[r];

What is written has affine subscripts then. The iterations stay the same, in the same order: the
rest loop runs only where its value is one of the iterator's. Where a multiple is divided (a[5 * i /
3]) the rest decides in no affine way: the statement is written once for each of its few values.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from math import gcd, lcm

from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Constant,
    Expr,
    IndexValue,
    Read,
    Scatter,
    Select,
    children,
    map_affine,
    walk,
    with_children,
)
from rtlgen.ir.quotients import Division, division_in, simplified
from rtlgen.ir.scop import (
    Access,
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Scop,
    Statement,
    StatementNode,
    Subscript,
    Window,
    statements_under,
)
from rtlgen.ir.types import INT32
from rtlgen.ir.value_ranges import Range

MAX_COPIES = 16
"""Values of an iterator for each of which a statement may be written out."""


@dataclass(frozen=True, slots=True)
class Split:
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

    def around(self, body: tuple[Node, ...]) -> LoopNode:
        """Return the new loops around a body."""
        for loop, held in zip(reversed(self.loops), (self.inner, self.outer), strict=False):
            conditions = held if len(self.loops) > 1 else ()
            body = (LoopNode(loop, (ConditionNode(conditions, body),) if conditions else body),)
        (node,) = body
        assert isinstance(node, LoopNode), "there is a loop to replace one by"
        return node


def counted(loop: Loop) -> Split:
    """Return a loop that counts the iterations of one of larger steps."""
    values = {loop.iterator: loop.start + Affine.variable(loop.iterator) * loop.step}
    return Split((loop.counted().limited(values),), values, (), ())


def offset_of(division: Division, iterator: str) -> Affine:
    """Return what to add to an iterator so that its quotient is that of the division."""
    coefficient = division.dividend.coefficient(iterator)
    rest = division.dividend - Affine.variable(iterator) * coefficient
    if abs(coefficient) != 1:
        return Affine()
    return rest if coefficient > 0 else -rest + (division.divisor - 1)


def few_values(loop: Loop, period: int) -> Sequence[int]:
    """Return all values of an iterator, if they are constant and no more than a period."""
    if not (loop.start.is_constant and loop.stop.is_constant and loop.step == loop.scale == 1):
        return ()
    values = range(loop.start.constant, loop.stop.constant)
    return values if len(values) <= min(period, MAX_COPIES) else ()


def split_in_two(
    loop: Loop,
    divisor: int,
    offset: Affine,
    boxes: Mapping[str, Range],
    new_name: Callable[[str], str],
) -> Split:
    """Return two loops for one that counts up by 1, with value == divisor * q + r - offset."""
    name = loop.iterator
    outer_name, inner_name = new_name(f"{name}_div{divisor}"), new_name(f"{name}_mod{divisor}")
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
    return Split((quotients, rest), change, tuple(outer), tuple(inner))


def boxes_of(loops: Sequence[Loop]) -> dict[str, Range]:
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


MAX_TURNS = 4
"""Values of a rest for each of which a statement is written out, so that its reads are affine."""

MAX_SPLITS = 8
"""Loops split for each statement before a subscript is taken to have no affine form."""

Tree = tuple[Node, ...]


def split_loops(scop: Scop) -> Scop:
    """Return the same program, its written subscripts affine, or computed where none can be."""
    program = _Program({s.name: _with_affine(s) for s in scop.statements}, scop.tree, _names(scop))
    program.count_steps()
    for _ in range(MAX_SPLITS * len(scop.statements)):
        for name, statement in program.statements.items():
            division = _written_division(statement)
            if division is not None:
                program.split(name, division)
                break
        else:
            break
    program.write_out_turns()
    program.keep_inside(scop)
    found = tuple(_computed(program.statements[name]) for name in statements_under(program.tree))
    read = {read.array for statement in found for read in statement.reads}
    # What computes where it writes reads the other elements.
    arrays = tuple(
        replace(array, role="inout") if array.role == "out" and array.name in read else array
        for array in scop.arrays
    )
    return replace(scop, arrays=arrays, statements=found, tree=program.tree)


MAX_STRIDE = 64
"""The longest rest loop that a stride is cut into: longer ones leave most of their iterations."""


def split_strides(scop: Scop) -> Scop:
    """Return the same program with two loops for one in which statements run in turns.

    Rewrite
    -------
        for t<16 { S0; if (t % 2 == 1) S1; }  ->  for q<8 for r<2 { S0; if (r == 1) S1; }

    Statements keep their loops in common, and run where they do alone. What more than one iterator
    decides stays a stride.
    """
    statements = {s.name: s for s in scop.statements}
    program = _Program(statements, scop.tree, _names(scop))
    for name in statements:
        while (stride := _stride(program.statements, name)) is not None:
            program.split(name, stride)
    program.tree = _without_strides(program.tree, ())
    found = tuple(
        replace(own, conditions=_held_at(own.conditions, own.loops))
        for own in (program.statements[name] for name in statements_under(program.tree))
    )
    return replace(scop, statements=found, tree=program.tree)


def _stride(statements: Mapping[str, Statement], name: str) -> Division | None:
    """Return what divides an iterator that alone decides whether statements run, if any does."""
    for loop in statements[name].loops:
        periods = [
            c.modulus // gcd(c.modulus, c.form.coefficient(loop.iterator))
            for other in statements.values()
            for c in (other.conditions if loop in other.loops else ())
            if isinstance(c, Congruence) and c.form.variables == {loop.iterator}
        ]
        first, last = boxes_of(statements[name].loops)[loop.iterator]
        period = lcm(*periods)
        if 1 < period <= min(MAX_STRIDE, (last - first) // abs(loop.step)):
            return Division(Affine.variable(loop.iterator), period)
    return None


def _without_strides(nodes: Tree, loops: tuple[Loop, ...]) -> Tree:
    found: list[Node] = []
    for node in nodes:
        match node:
            case LoopNode(loop, body):
                found.append(LoopNode(loop, _without_strides(body, (*loops, loop))))
            case ConditionNode(conditions, body):
                inside = _without_strides(body, loops)
                found.append(ConditionNode(_held_at(conditions, loops), inside))
            case StatementNode():
                found.append(node)
    return tuple(found)


def _held_at(conditions: Sequence[Constraint], loops: Sequence[Loop]) -> tuple[Constraint, ...]:
    """Return conditions with the one value of a rest in place of a stride that asks for it."""
    boxes = boxes_of(loops)
    found: list[Constraint] = []
    for condition in conditions:
        held: tuple[Constraint, ...] = (condition,)
        if isinstance(condition, Congruence):
            known = condition.reduced()
            names = tuple(known.form.variables)
            if len(names) == 1 and boxes[names[0]][1] - boxes[names[0]][0] < known.modulus:
                (name,), (first, last) = names, boxes[names[0]]
                values = [v for v in range(first, last + 1) if known.holds({name: v})]
                at = Affine.variable(name) - values[0] if values else Affine((), -1)
                held = (at, -at) if len(values) < 2 else held
        found += held
    return tuple(found)


def _names(scop: Scop) -> set[str]:
    """Return the names that no new iterator may have."""
    found = {array.name for array in (*scop.arrays, *scop.untouched)}
    found |= {scalar.name for scalar in scop.scalars}
    found |= {parameter.name for parameter in scop.parameters}
    return found.union(*(statement.iterators for statement in scop.statements))


@dataclass
class _Program:
    """Statements and the tree that they stand in, while loops are replaced.

    Members
    -------
    taken: names that no new iterator may have.
    """

    statements: dict[str, Statement]
    tree: Tree
    taken: set[str]

    def count_steps(self) -> None:
        """Count the iterations of loops of larger steps where that makes a subscript affine."""
        for name in list(self.statements):
            while (loop := _divided_steps(self.statements[name])) is not None:
                self._put(loop, name, counted(loop))

    def _put(self, loop: Loop, name: str, new: Split) -> None:
        """Put other loops in the place of the loop around a statement."""
        self.tree = self._rewritten(self.tree, loop, name, new, {}, ())
        # What is affine now stays so, whatever is split later.
        self.statements = {n: _with_affine(s) for n, s in self.statements.items()}

    def split(self, name: str, division: Division) -> None:
        """Split the innermost loop of a statement on which `division` depends."""
        statement = self.statements[name]
        loops = [x for x in statement.loops if x.iterator in division.dividend.variables]
        loop = loops[-1]
        if loop.step != 1:
            new = counted(loop)
        else:
            coefficient = division.dividend.coefficient(loop.iterator)
            period = division.divisor // gcd(division.divisor, coefficient)
            values_of = few_values(loop, period) if abs(coefficient) != 1 else ()
            if values_of:
                self._write_out(name, loop, values_of)
                return
            offset = offset_of(division, loop.iterator)
            new = split_in_two(loop, period, offset, boxes_of(statement.loops), self._fresh)
        self._put(loop, name, new)

    def _write_out(self, name: str, loop: Loop, values: Sequence[int]) -> None:
        """Put a copy of a statement for each value of a loop's iterator in its place."""
        statement = self.statements.pop(name)
        copies: list[Node] = []
        for k, value in enumerate(values):
            at = Affine.variable(loop.iterator) - value
            copy = statement.rewritten({loop.iterator: Affine((), value)}, statement.loops)
            held = (at, -at)
            copy_name = self._copy_name(name, k)
            conditions = (*held, *copy.conditions)
            self.statements[copy_name] = _with_affine(
                replace(copy, name=copy_name, conditions=conditions, origin=statement.origin)
            )
            copies.append(ConditionNode(held, (StatementNode(copy_name),)))
        self.tree = _replaced(self.tree, name, tuple(copies))

    def keep_inside(self, scop: Scop) -> None:
        """Let statements that are guarded run only where what they write is in its array."""
        for name, statement in self.statements.items():
            write = statement.write
            if write.is_lookup or not write.is_conditional:
                continue
            boxes = boxes_of(statement.loops)
            inside = write.bounds(scop.array(write.array).shape)
            held = tuple(bound for bound in inside if bound.range(boxes)[0] < 0)
            self.statements[name] = replace(
                statement,
                write=replace(write, is_conditional=False),
                conditions=(*statement.conditions, *held),
            )
            node = ConditionNode(held, (StatementNode(name),))
            self.tree = _replaced(self.tree, name, (node,) if held else node.body)

    def write_out_turns(self) -> None:
        """Write statements out that read, in turns, what is written in turns.

        u[t % 3] = f(u[(t + 2) % 3])     t = 3 * q + r:     u[0] = f(u[2]); u[1] = f(u[0]); ...
        """
        changed = {statement.write.array for statement in self.statements.values()}
        for name, statement in list(self.statements.items()):
            loop = _turning(statement, changed)
            if loop is not None:
                self._write_out(name, loop, range(loop.stop.constant))

    def _fresh(self, name: str) -> str:
        """Return the name of a new iterator, made from the given one."""
        found, number = name, 0
        while found in self.taken:
            number += 1
            found = f"{name}_{number}"
        self.taken.add(found)
        return found

    def _copy_name(self, name: str, number: int) -> str:
        """Return the name of a copy of a statement; the first one keeps its name."""
        while number and f"{name}_{number}" in self.statements:
            number += 1
        return f"{name}_{number}" if number else name

    def _rewritten(
        self,
        nodes: Tree,
        old: Loop,
        inside: str,
        new: Split,
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


def _divided_steps(statement: Statement) -> Loop | None:
    """Return a loop of larger steps that keeps a known subscript from being affine."""
    boxes = boxes_of(statement.loops)
    for access in (statement.write, *statement.reads):
        for window in access.windows:
            if window.known is None:
                continue
            division = division_in(simplified(window.known, boxes))
            for loop in statement.loops if division is not None else ():
                new = counted(loop)
                loops = tuple(new.loops[0] if x == loop else x for x in statement.loops)
                known = map_affine(window.known, dict(new.values))
                if loop.step != 1 and isinstance(simplified(known, boxes_of(loops)), IndexValue):
                    return loop
    return None


def _turning(statement: Statement, changed: Collection[str]) -> Loop | None:
    """Return a short loop that decides which part of a changed array a statement reads."""
    boxes = boxes_of(statement.loops)
    for read in statement.reads if not statement.write.is_lookup else ():
        for window in read.windows if read.array in changed else ():
            if window.known is None:
                continue
            for loop in statement.loops:
                if loop.start != Affine() or loop.step != 1 or loop.scale != 1:
                    continue
                values = range(loop.stop.constant if loop.stop.is_constant else 0)
                if 2 < len(values) <= MAX_TURNS and all(
                    isinstance(simplified(_at(window.known, loop, value), boxes), IndexValue)
                    for value in values
                ):
                    return loop
    return None


def _at(expr: Expr, loop: Loop, value: int) -> Expr:
    return map_affine(expr, {loop.iterator: Affine((), value)})


def _replaced(nodes: Tree, name: str, by: Tree) -> Tree:
    """Return nodes with others in the place of a statement."""
    found: list[Node] = []
    for node in nodes:
        if isinstance(node, StatementNode):
            found.extend(by if node.statement == name else (node,))
        else:
            found.append(replace(node, body=_replaced(node.body, name, by)))
    return tuple(found)


def _written_division(statement: Statement) -> Division | None:
    """Return a division that keeps a written subscript from being affine."""
    if not statement.write.is_lookup or statement.is_scatter:
        return None
    boxes = boxes_of(statement.loops)
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
    boxes = boxes_of(statement.loops)
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
        left = value
        if window.known is not None:
            found = simplified(window.known, boxes)
            # What the conditions in a value tell can be read only as long as they stay.
            left = value if _holds_condition(value) and not isinstance(found, IndexValue) else found
        if not isinstance(left, IndexValue) or window.known is None:
            at.append(left)
    return replace(rewritten, at=tuple(at))


def _holds_condition(expr: Expr) -> bool:
    return any(
        isinstance(part, Select) or (isinstance(part, Binary) and part.op in COMPARISONS)
        for part in walk(expr)
    )


def _computed(statement: Statement) -> Statement:
    """Return a statement that computes where it writes, if no loop could be split for that."""
    if statement.is_scatter or not statement.write.is_lookup:
        return statement
    at = tuple(map(_known, statement.write.windows))
    old = Read(len(statement.reads), statement.expr.type, at)
    expr = Scatter(Constant(1, INT32), statement.expr, old)
    return replace(statement, expr=expr, reads=(*statement.reads, statement.write))
