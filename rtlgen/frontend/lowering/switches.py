"""`switch` to `if`.

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

from dataclasses import dataclass, field

from pycparser import c_ast

from rtlgen.frontend.lowering.jumps import outcome_of
from rtlgen.frontend.lowering.nodes import (
    FreshNames,
    block,
    copied,
    has_effect,
    named,
    number,
    reads_memory,
)
from rtlgen.frontend.lowering.types import LONG, declaration, plain
from rtlgen.frontend.syntax.assigned import assigned, calls, mentions


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
        if any((number(value) or 0) < 0 for case in cases for value in case.values):
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
        same = c_ast.BinaryOp("==", copied(selector), value, value.coord)
        found = same if found is None else c_ast.BinaryOp("||", found, same, value.coord)
    return found


def _is_stable(selector: c_ast.Node, body: c_ast.Node) -> bool:
    """Return whether an expression stays the same in a `switch`."""
    changed = frozenset(name for name, _ in assigned(body))
    if calls(body) or (reads_memory(selector) and changed):
        return False
    return not mentions(selector, changed)
