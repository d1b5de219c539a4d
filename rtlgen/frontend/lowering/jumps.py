"""Where control may go from a statement other than to the next one; `switch` to `if`.

Rewrite
-------
    switch (x) {                          if (x == 1) { A }
    case 1: A; break;                     else if (x == 2 || x == 3) { B }
    case 2: case 3: B; break;             else { D }
    default: D;
    }

    switch (x) {                          if (x == 1 || x == 2) {
    case 1: A;                                if (x == 1) { A }
    case 2: B; break;                         B
    }                                     }

What is chosen by is asked for several times, so it is kept where that may change what it is. A
`break` that stands elsewhere than at the end of a case stays, for `exits` to lower.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import (
    FreshNames,
    block,
    copied,
    has_effect,
    items_of,
    named,
    number,
    reads_memory,
)
from rtlgen.frontend.lowering.types import LONG, declaration, plain
from rtlgen.frontend.syntax.assigned import assigned, below, calls, mentions
from rtlgen.frontend.syntax.braces import range_of

Target: TypeAlias = tuple[str, str]
"""`("break", "")`, `("continue", "")`, `("return", "")`, or `("goto", label)`."""

BREAK: Target = ("break", "")
CONTINUE: Target = ("continue", "")
RETURN: Target = ("return", "")


ENDING = ("abort", "exit", "_Exit", "quick_exit", "__builtin_trap", "__builtin_abort")
"""Functions that end the program: nothing that follows has an effect."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What may happen at the end of a statement.

    Members
    -------
    goes_on: the next statement may follow.
    targets: where it may jump to, outside of itself.
    """

    goes_on: bool
    targets: frozenset[Target] = frozenset()


_GOES_ON = Outcome(True)


def target_of(node: c_ast.Node) -> Target | None:
    """Return where a jump goes; None for what is no jump."""
    match node:
        case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in ENDING:
            return RETURN
        case c_ast.Break():
            return BREAK
        case c_ast.Continue():
            return CONTINUE
        case c_ast.Return():
            return RETURN
        case c_ast.Goto(name=label):
            return ("goto", label)
    return None


def outcome(node: c_ast.Node | None) -> Outcome:
    """Return what may happen at the end of a statement."""
    if node is None:
        return _GOES_ON
    target = target_of(node)
    if target is not None:
        return Outcome(False, frozenset((target,)))
    match node:
        case c_ast.Compound():
            return outcome_of(node.block_items or ())
        case c_ast.If():
            first, second = outcome(node.iftrue), outcome(node.iffalse)
            return Outcome(first.goes_on or second.goes_on, first.targets | second.targets)
        case c_ast.For() | c_ast.While() | c_ast.DoWhile():
            return Outcome(True, outcome(node.stmt).targets - {BREAK, CONTINUE})
        case c_ast.Switch():
            return Outcome(True, outcome(node.stmt).targets - {BREAK})
        case c_ast.Label():
            return outcome(node.stmt)
        case c_ast.Case() | c_ast.Default():
            return outcome_of(node.stmts or ())
    return _GOES_ON


def outcome_of(items: Iterable[c_ast.Node]) -> Outcome:
    """Return what may happen at the end of statements, one after the other."""
    targets: frozenset[Target] = frozenset()
    goes_on = True
    for item in items:
        goes_on = goes_on or isinstance(item, c_ast.Label | c_ast.Case | c_ast.Default)
        found = outcome(item)
        targets |= found.targets
        goes_on = goes_on and found.goes_on
    labels = {("goto", item.name) for item in items if isinstance(item, c_ast.Label)}
    return Outcome(goes_on, targets - labels)


# What is left.


@dataclass(slots=True)
class Flag:
    """A variable that is 1 once control has left something.

    Members
    -------
    sets: the assignments that set it. is_asked: something depends on it.
    """

    name: str
    sets: list[c_ast.Node] = field(default_factory=list)
    is_asked: bool = False


@dataclass(slots=True)
class Construct:
    """What control can leave: a function, a loop, a `switch`, or what stands before a label.

    Members
    -------
    around: the next outer one.
    left: set where control leaves it before its end; in a loop, for good.
    skipped: of a loop: set where control leaves one iteration.
    """

    kind: str
    around: Construct | None
    left: Flag
    skipped: Flag
    label: str = ""

    def outwards(self) -> Iterator[Construct]:
        """Yield it, and all that is around it."""
        construct: Construct | None = self
        while construct is not None:
            yield construct
            construct = construct.around

    def is_ended_by(self, target: Target) -> bool:
        """Return whether a jump goes to its end, or to the end of an iteration of it."""
        match target:
            case ("break", _):
                return self.kind in ("loop", "switch", "once")
            case ("continue", _):
                return self.kind in ("loop", "once")
            case ("return", _):
                return self.kind == "function"
        return self.kind == "label" and self.label == target[1]

    def flag(self, target: Target) -> Flag:
        """Return the flag that a jump to its end sets."""
        return self.skipped if target == CONTINUE and self.kind == "loop" else self.left


def returns_early(items: Sequence[c_ast.Node]) -> bool:
    """Return whether some `return` is not the last statement."""
    final = items[-1] if items and isinstance(items[-1], c_ast.Return) else None
    return any(target_of(part) == RETURN and part is not final for x in items for part in below(x))


def unreached(items: Sequence[c_ast.Node], visible: frozenset[str]) -> Iterator[Target]:
    """Yield the labels that some `goto` does not reach by leaving blocks: they are refused later.

    Parameters
    ----------
    visible: labels behind the statements, in blocks around them.
    """
    for place, item in enumerate(items):
        behind = {x.name for x in items[place + 1 :] if isinstance(x, c_ast.Label)}
        inside = visible | behind
        if isinstance(item, c_ast.Goto) and item.name not in inside:
            yield ("goto", item.name)
        for name, child in item.children():
            if "[" not in name:
                yield from unreached(items_of(child), inside)
        if isinstance(item, c_ast.Switch | c_ast.Case | c_ast.Default | c_ast.Compound):
            yield from unreached(_inner(item), inside)


def _inner(node: c_ast.Node) -> list[c_ast.Node]:
    """Return the statements that stand directly in a block, or behind a label of a `switch`."""
    if isinstance(node, c_ast.Switch):
        return items_of(node.stmt)
    found = node.block_items if isinstance(node, c_ast.Compound) else node.stmts
    return list(found or ())


@dataclass(slots=True)
class _Case:
    """What stands behind some labels, up to the next ones."""

    values: list[c_ast.Node] = field(default_factory=list)
    is_default: bool = False
    items: list[c_ast.Node] = field(default_factory=list)

    @property
    def goes_on(self) -> bool:
        """Whether the next case follows where this one ends."""
        return outcome_of(self.items).goes_on


def chosen_by_if(node: c_ast.Switch, names: FreshNames) -> list[c_ast.Node] | None:
    """Return what stands in the place of a `switch`; None if a label stands inside of a statement.

    Its `break`s at the ends of cases are gone; any other one is one out of what is returned.
    """
    cases = _cases(node)
    if cases is None:
        return None
    groups: list[list[_Case]] = []
    for case in cases:
        if groups and groups[-1][-1].goes_on:
            groups[-1].append(case)
        else:
            groups.append([case])
    before: list[c_ast.Node] = []
    selector = node.cond
    asked_later = any(case.items for group in groups for case in group[:-1])
    if has_effect(selector) or (asked_later and not _is_stable(selector, node.stmt)):
        ends = (end for case in cases for value in case.values for end in range_of(value))
        if any((number(end) or 0) < 0 for end in ends):
            # Of an unsigned selector it would be another number in a wider one.
            return None
        kept = names.fresh("selector")
        before = [declaration(kept, plain(LONG), selector, node.coord)]
        selector = named(kept, node.coord)
    chain: c_ast.Node | None = None
    # What `default` stands for is known from the others: it is asked last.
    ordered = sorted(groups, key=lambda group: any(case.is_default for case in group))
    for group in reversed(ordered):
        body = block(_group(group, cases, selector, node), node.coord)
        if any(case.is_default for case in group):
            chain = body
            continue
        condition = _is_one_of([value for case in group for value in case.values], selector)
        chain = c_ast.If(condition, body, chain, node.coord)
    return [*before, *([] if chain is None else [chain])]


def _cases(node: c_ast.Switch) -> list[_Case] | None:
    """Return the cases in order; what stands before the first one is never reached."""
    found: list[_Case] = []
    items = node.stmt.block_items or () if isinstance(node.stmt, c_ast.Compound) else (node.stmt,)
    for item in items:
        inside = item
        while isinstance(inside, c_ast.Case | c_ast.Default):
            if not found or found[-1].items:
                found.append(_Case())
            if isinstance(inside, c_ast.Case):
                found[-1].values.append(inside.expr)
            else:
                found[-1].is_default = True
            parts = list(inside.stmts or ())
            if len(parts) == 1 and isinstance(parts[0], c_ast.Case | c_ast.Default):
                inside = parts[0]
                continue
            found[-1].items += parts
            break
        else:
            if isinstance(item, c_ast.Decl) or not found:
                # A declaration between cases is seen by all of them.
                return None
            found[-1].items.append(item)
    for case in found:
        if any(
            isinstance(part, c_ast.Case | c_ast.Default) for x in case.items for part in _own(x)
        ):
            return None
        if any(isinstance(item, c_ast.Decl) for item in case.items) and case.goes_on:
            return None
    return found


def _own(node: c_ast.Node) -> list[c_ast.Node]:
    """Return the nodes below one that belong to no `switch` inside of it."""
    if isinstance(node, c_ast.Switch):
        return []
    return [node, *(part for _, child in node.children() for part in _own(child))]


def _group(
    group: list[_Case], cases: list[_Case], selector: c_ast.Node, node: c_ast.Switch
) -> list[c_ast.Node]:
    """Return cases of which each goes on with the next one."""
    found: list[c_ast.Node] = []
    for place, case in enumerate(group):
        items = case.items
        if items and isinstance(items[-1], c_ast.Break):
            items = items[:-1]
        entered = group[: place + 1]
        if place == len(group) - 1 or not items:
            found += items
            continue
        if any(one.is_default for one in entered):
            others = [v for c in cases if c not in entered for v in c.values]
            condition = _is_one_of(others, selector)
            condition = None if condition is None else c_ast.UnaryOp("!", condition, node.coord)
        else:
            condition = _is_one_of([v for one in entered for v in one.values], selector)
        if condition is None:
            found += items
        else:
            found.append(c_ast.If(condition, block(items, node.coord), None, node.coord))
    return found


def _is_one_of(values: list[c_ast.Node], selector: c_ast.Node) -> c_ast.Node | None:
    found: c_ast.Node | None = None
    for value in values:
        low, high = range_of(value)
        same = c_ast.BinaryOp("==", copied(selector), value, value.coord)
        if low is not high:
            ends = [
                c_ast.BinaryOp(op, copied(selector), end, end.coord)
                for op, end in ((">=", low), ("<=", high))
            ]
            same = c_ast.BinaryOp("&&", *ends, value.coord)
        found = same if found is None else c_ast.BinaryOp("||", found, same, value.coord)
    return found


def _is_stable(selector: c_ast.Node, body: c_ast.Node) -> bool:
    """Return whether an expression stays the same in a `switch`."""
    changed = frozenset(name for name, _ in assigned(body))
    if calls(body) or (reads_memory(selector) and changed):
        return False
    return not mentions(selector, changed)
