"""What one iteration of a loop does, in order: questions, statements, steps.

while (i < n && (c = a[i++]) != 0) S        i < n?   c = a[i];   c != 0?   i++;   S
while (c = a[i], c != 0) S                  c = a[i];   c != 0?   S
while ((i < n) & (s > 0)) S                 i < n?   s > 0?   S
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from pycparser import c_ast

from rtlgen.frontend.lowering.jumps import CONTINUE, outcome
from rtlgen.frontend.lowering.nodes import (
    ORDERED,
    Place,
    block,
    integer,
    items_of,
    looped,
    named,
    number,
    parts_of,
    reads_memory,
    reads_memory_itself,
    replaced,
    step_of,
    with_parts,
)
from rtlgen.frontend.lowering.variables import Variables
from rtlgen.frontend.syntax.assigned import STEPS, below, calls, conjuncts, mentions

Loop: TypeAlias = "c_ast.For | c_ast.While | c_ast.DoWhile"


@dataclass(frozen=True, slots=True)
class Part:
    """Something that an iteration does.

    Members
    -------
    kind: `test`: the loop goes on where `node` is not 0; `closing`: a `continue` leads to it.
    after: the steps that a test does, whatever it finds.
    """

    kind: Literal["item", "test", "closing", "last test"]
    node: c_ast.Node
    after: tuple[tuple[str, c_ast.Node], ...] = ()

    @property
    def steps(self) -> tuple[tuple[str, c_ast.Node], ...]:
        """All that it steps."""
        return self.after if self.step is None else (self.step, *self.after)

    @property
    def step(self) -> tuple[str, c_ast.Node] | None:
        return None if self.kind.endswith("test") else step_of(self.node)


@dataclass(frozen=True, slots=True)
class WayOut:
    """A way out of the loop at the top of its body.

    Members
    -------
    conditions: all hold where the loop goes on. place: of the part.
    is_only_left: nothing is done on the way out.
    """

    place: int
    conditions: tuple[c_ast.Node, ...]
    is_only_left: bool


def condition_of(node: Loop) -> c_ast.Node | None:
    """Return the condition of a loop, unless it always holds."""
    value = number(node.cond)
    return None if node.cond is None or (value is not None and value != 0) else node.cond


Moved: TypeAlias = Callable[[str, Sequence[c_ast.Node], Place], c_ast.Node | None]
"""Returns the value that a variable has after some steps; None if it is no integer."""


def parts_of_iteration(node: Loop, moved: Moved) -> list[Part] | None:
    """Return what an iteration does, in order; None if its condition does something in between."""
    is_late = isinstance(node, c_ast.DoWhile)
    tests = _tests(condition_of(node), is_late)
    if tests is None:
        return None
    items = [part for item in _stepping_last(looped(node)) for part in _item(item, moved)]
    if is_late:
        return [*items, *tests]
    closing: list[c_ast.Node] = []
    if isinstance(node, c_ast.For) and node.next is not None:
        closing = list(node.next.exprs) if isinstance(node.next, c_ast.ExprList) else [node.next]
    return [*tests, *items, *(Part("closing", step) for step in closing)]


def _item(item: c_ast.Node, moved: Moved) -> list[Part]:
    """Return a statement of the body; `if (++k == n) break;` steps first, then asks."""
    asked = _test(item.cond, False) if isinstance(item, c_ast.If) else None
    if asked is None or len(asked) + len(asked[-1].after) < 2:
        return [Part("item", item)]
    steps = asked[-1].after
    behind = [c_ast.Assignment("+=", named(name, by.coord), by, by.coord) for name, by in steps]
    # `if (k++ == n)` asks for what the step has made of `k`, taken back, as its type has it.
    old = {name: moved(name, [c_ast.UnaryOp("-", by, by.coord)], by.coord) for name, by in steps}
    known = {name: value for name, value in old.items() if value is not None}
    if len(known) < len(old):
        return [Part("item", item)]
    made = c_ast.If(replaced(asked[-1].node, known), item.iftrue, item.iffalse, item.coord)
    return [*asked[:-1], *(Part("item", x) for x in behind), Part("item", made)]


def _stepping_last(items: list[c_ast.Node]) -> list[c_ast.Node]:
    """Return statements that go on at their end: a step that all ways there end with stands last.

    if (c) { A; i++; continue; } B; i++;          if (c) { A } else { B } i++;
    """
    for place, item in enumerate(items):
        if not isinstance(item, c_ast.If) or CONTINUE not in outcome(item).targets:
            continue
        first, second = items_of(item.iftrue), items_of(item.iffalse)
        behind = items[place + 1 :]
        if first and isinstance(first[-1], c_ast.Continue) and not outcome(item.iftrue).goes_on:
            arms = [first[:-1], [*([item.iffalse] if item.iffalse else []), *behind]]
        elif second and isinstance(second[-1], c_ast.Continue):
            arms = [[item.iftrue, *behind], second[:-1]]
        else:
            return items
        arms = [_stepping_last(arm) for arm in arms]
        steps = [step_of(arm[-1]) if arm else None for arm in arms]
        if steps[0] is None or steps[1] is None:
            return items
        if steps[0][0] != steps[1][0] or number(steps[0][1]) != number(steps[1][1]):
            return items
        if number(steps[0][1]) is None:
            return items
        made = c_ast.If(
            item.cond, block(arms[0][:-1], item.coord), block(arms[1][:-1], item.coord), item.coord
        )
        return [*items[:place], made, arms[0][-1]]
    return items


def _tests(condition: c_ast.Node | None, is_late: bool) -> list[Part] | None:
    """Return the questions of a condition, and what it does in between."""
    found: list[Part] = []
    for part in conjuncts(condition):
        if isinstance(part, c_ast.ExprList):
            *before, last = part.exprs
            found += [Part("closing" if is_late else "item", x) for x in before]
            more = _tests(last, is_late)
        else:
            more = _test(part, is_late)
        if more is None:
            return None
        found += more
    return found


def _test(condition: c_ast.Node, is_late: bool) -> list[Part] | None:
    """Return a condition with what it changes taken out of it; None where C leaves that open."""
    steps = [x for x in below(condition) if isinstance(x, c_ast.UnaryOp) and x.op in STEPS]
    changes = [x for x in below(condition) if isinstance(x, c_ast.Assignment)]
    kind: Literal["test", "last test"] = "last test" if is_late else "test"
    if not steps and not changes:
        return [Part(kind, condition)]
    conditional = any(
        isinstance(x, c_ast.TernaryOp) or (isinstance(x, c_ast.BinaryOp) and x.op in ("||", "&&"))
        for x in below(condition)
    )
    several = len(steps) + len(changes) > 1
    if conditional or len(changes) > 1 or (several and calls(condition)):
        return None
    uses = [x.name for x in below(condition) if isinstance(x, c_ast.ID)]
    if any(not isinstance(x.expr, c_ast.ID) or uses.count(x.expr.name) > 1 for x in steps):
        return None
    if any(not _is_alone(x, condition, uses) for x in changes):
        return None
    # What a step leaves is seen by nothing else in the condition: it is done before, or behind it.
    before = [x for x in steps if not x.op.startswith("p")]
    after = [x for x in steps if x.op.startswith("p")]
    values = {id(x): x.expr for x in steps}
    for x in changes:
        values[id(x)] = with_parts(x.lvalue, values)
    done = [
        *before,
        *(
            c_ast.Assignment(
                x.op, with_parts(x.lvalue, values), with_parts(x.rvalue, values), x.coord
            )
            for x in changes
        ),
    ]
    stepped = ((x.expr.name, integer(1 if "+" in x.op else -1, x.coord)) for x in after)
    return [
        *(Part("closing" if is_late else "item", x) for x in done),
        Part(kind, with_parts(condition, values), tuple(stepped)),
    ]


def _is_alone(change: c_ast.Assignment, condition: c_ast.Node, uses: Sequence[str]) -> bool:
    """Return whether nothing else in a condition sees what an assignment in it changes."""
    if isinstance(change.lvalue, c_ast.ID):
        name = change.lvalue.name
        inside = [x for x in below(change) if isinstance(x, c_ast.ID) and x.name == name]
        return uses.count(name) == len(inside)
    reading = sum(reads_memory_itself(x) for x in below(condition))
    return reading == sum(reads_memory_itself(x) for x in below(change))


def asks_first(parts: Sequence[Part]) -> bool:
    """Return whether all questions stand before all else, and only ask."""
    tests = [part for part in parts if part.kind.endswith("test")]
    return list(parts[: len(tests)]) == tests and not any(part.after for part in tests)


def way_out(part: Part, place: int, variables: Variables) -> WayOut | None:
    """Return the way out of the loop that a part is."""
    if part.kind.endswith("test"):
        return WayOut(place, (part.node,), True)
    node = part.node
    if not isinstance(node, c_ast.If) or node.iffalse is not None:
        return None
    inside = items_of(node.iftrue)
    ends = outcome(node.iftrue)
    if ends.goes_on or CONTINUE in ends.targets:
        return None
    conditions = tuple(variables.opposite(c) for c in parts_of(node.cond, "||"))
    return WayOut(place, conditions, len(inside) == 1 and isinstance(inside[0], c_ast.Break))


def ways_out(parts: Sequence[Part], variables: Variables) -> Iterator[WayOut]:
    """Yield the ways out that every iteration comes by."""
    is_skipped = False
    for place, part in enumerate(parts):
        is_skipped |= CONTINUE in outcome(part.node).targets
        way = None if is_skipped and part.kind == "item" else way_out(part, place, variables)
        if way is not None:
            yield way


def as_comparison(condition: c_ast.Node) -> c_ast.Node:
    """Return a condition as a comparison."""
    if isinstance(condition, c_ast.BinaryOp) and condition.op in (*ORDERED, "!=", "=="):
        return condition
    return c_ast.BinaryOp("!=", condition, integer(0, condition.coord), condition.coord)


def compared_counter(condition: c_ast.Node, counters: Mapping[str, object]) -> str | None:
    """Return the counter that a condition compares with a bound, or with another one."""
    compared = as_comparison(condition)
    if compared.op == "==" or reads_memory(condition) or calls(condition):
        return None
    for side in (compared.left, compared.right):
        used = [x.name for x in below(side) if isinstance(x, c_ast.ID) and x.name in counters]
        plain = all(
            isinstance(
                x,
                c_ast.ID
                | c_ast.Constant
                | c_ast.Cast
                | c_ast.Typename
                | c_ast.TypeDecl
                | c_ast.IdentifierType,
            )
            or (isinstance(x, c_ast.BinaryOp) and x.op in ("+", "-", "*"))
            for x in below(side)
        )
        if len(used) == 1 and plain:
            return str(used[0])
    return None


def bounded_counter(condition: c_ast.Node, counters: Mapping[str, object]) -> str | None:
    """Return the counter that a comparison has on one side, whatever stands on the other one."""
    sides = condition.left, condition.right
    for side, other in (sides, sides[::-1]):
        parts = [x for x in below(side) if isinstance(x, c_ast.ID)]
        is_offset = all(
            isinstance(x, c_ast.ID | c_ast.Constant | c_ast.BinaryOp) for x in below(side)
        )
        if len(parts) == 1 and is_offset and parts[0].name in counters:
            name = str(parts[0].name)
            return None if calls(other) or mentions(other, frozenset((name,))) else name
    return None


def is_ordered(condition: c_ast.Node) -> bool:
    return isinstance(condition, c_ast.BinaryOp) and condition.op in ORDERED


def not_zero_in(condition: c_ast.Node, unsigned: Callable[[str], bool]) -> Iterator[str]:
    """Yield the variable that is other than 0 where a condition holds.

    Parameters
    ----------
    unsigned: whether a variable is, in all that it is compared with.
    """
    match condition:
        case c_ast.ID(name=name):
            yield name
        case c_ast.BinaryOp(op="!=", left=c_ast.ID(name=name), right=end) if number(end) == 0:
            yield name
        case c_ast.BinaryOp(op=">", left=c_ast.ID(name=name), right=end) if (
            number(end) or 0
        ) >= 0 and number(end) is not None:
            yield name
        case c_ast.BinaryOp(op=">=", left=c_ast.ID(name=name), right=end) if (number(end) or 0) > 0:
            yield name
        case c_ast.BinaryOp(op=">", left=c_ast.ID(name=name)) if unsigned(name):
            yield name


def emptied_by(
    node: c_ast.Node, is_integer: Callable[[c_ast.Node], bool]
) -> tuple[str, Callable[[int], int], bool] | None:
    """Return the variable that a statement shifts, divides, or takes the last bit of.

    With it comes what this makes of the greatest value, and so no less than of any other one: of
    what is shifted left, how many of its first bits are left. Last, whether bits are put in there,
    so that it ends as one number, which is not 0.

    Parameters
    ----------
    is_integer: whether a conversion makes an integer.
    """
    is_filled = False
    match node:
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
            while isinstance(value, c_ast.Cast) and is_integer(value):
                value = value.expr
            match value:
                case c_ast.BinaryOp(
                    op="|" | "+", left=c_ast.BinaryOp(op="<<") as shifted, right=put
                ) if number(put) is not None:
                    value, is_filled = shifted, True
            if not isinstance(value, c_ast.BinaryOp) or getattr(value.left, "name", "") != name:
                return None
            op, by = value.op, value.right
        case c_ast.Assignment(op=op, lvalue=c_ast.ID(name=name), rvalue=by):
            op = op.removesuffix("=")
        case _:
            return None
    amount = number(by)
    match op, by:
        case "&", c_ast.BinaryOp(op="-", left=c_ast.ID(name=same), right=one) if (
            same == name and number(one) == 1
        ):
            # One bit less is set, at least: no more than all but the highest one.
            return str(name), lambda most: most >> 1, False
        case ">>" | "<<", _ if amount is not None and 0 < amount < 64:
            return str(name), lambda most: most >> amount, is_filled
        case "/", _ if amount is not None and abs(amount) > 1:
            return str(name), lambda most: most // abs(amount), is_filled
    return None


def offsets_before(
    parts: Sequence[Part], place: int, counters: Mapping[str, list[c_ast.Node]]
) -> dict[str, list[c_ast.Node]]:
    """Return the steps of counters that an iteration does before one of its parts."""
    offsets: dict[str, list[c_ast.Node]] = {}
    for part in parts[:place]:
        for name, by in part.steps:
            if name in counters:
                offsets.setdefault(name, []).append(by)
    return offsets


def end_of(
    condition: c_ast.Node, iterator: str, is_up: bool
) -> tuple[int, c_ast.Node, bool] | None:
    """Return what ends a loop: what is added to the iterator, the bound, whether it is out."""
    assert isinstance(condition, c_ast.BinaryOp), "it is a comparison"
    left, right, op = condition.left, condition.right, condition.op
    if mentions(right, frozenset((iterator,))):
        left, right, op = right, left, {"<": ">", "<=": ">=", ">": "<", ">=": "<="}[op]
    if (op in ("<", "<=")) != is_up or mentions(right, frozenset((iterator,))):
        return None
    match left:
        case c_ast.ID():
            offset: int | None = 0
        case c_ast.BinaryOp(op="+" | "-" as sign, left=c_ast.ID(), right=by):
            offset = number(by)
            offset = None if offset is None else offset if sign == "+" else -offset
        case _:
            offset = None
    return None if offset is None else (offset, right, op in ("<", ">"))


def split_init(
    init: c_ast.Node | None, iterator: str | None
) -> tuple[list[c_ast.Node], c_ast.Node | None]:
    """Return what stands before a loop, and what the header begins with."""
    match init:
        case None:
            return [], None
        case c_ast.DeclList(decls=[c_ast.Decl(name=name)]) if name == iterator:
            return [], init
        case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name)) if name == iterator:
            return [], init
        case c_ast.DeclList(decls=parts) | c_ast.ExprList(exprs=parts):
            return list(parts), None
    return [init], None
