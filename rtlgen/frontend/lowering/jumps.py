"""Where control may go from a statement, other than to the next one, and what it leaves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import items_of
from rtlgen.frontend.syntax.assigned import below

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
