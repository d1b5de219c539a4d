"""Where control may go from a statement, other than to the next one."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TypeAlias

from pycparser import c_ast

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
