"""Which pointers move, and what they point into.

int *p = a + 3; p++;              p: a[..], from 3 on
int *q = m[i]; q++;               q: m[i][..]
int *f = &m[0][0]; f += n;        f: m[..][..]: it runs through two dimensions
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import PointerUnsupported
from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import FreshNames, integer, parameters_of
from rtlgen.frontend.lowering.pointer_values import (
    STEP_OPS,
    Index,
    Pattern,
    Target,
    Targets,
    is_null,
    literal,
    way_root,
)
from rtlgen.frontend.lowering.rewriter import Before, Rewriter, refusal
from rtlgen.frontend.lowering.types import PointerTo
from rtlgen.frontend.syntax.locate import Locator

COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))


@dataclass(slots=True, eq=False)
class Pointer:
    """A pointer variable.

    Members
    -------
    sources: what it is set to, with the place; None where that is not known.
    moves: it is set or stepped. is_compared: its value is compared, or subtracted.
    """

    function: str
    symbol: Symbol
    sources: list[tuple[Target | None, c_ast.Node]] = field(default_factory=list)
    moves: bool = False
    is_compared: bool = False


class Scan(Rewriter):
    """Collects the pointers of a file.

    Members
    -------
    pointers: by the identity of their declarations.
    turns_subscripts: an array stands between the brackets: `i[a]`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._targets = Targets(self.names)
        self.pointers: dict[int, Pointer] = {}
        self.turns_subscripts = False

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        made = super().declaration(node)
        if isinstance(node, c_ast.Decl) and not self.names.is_outermost and not node.storage:
            symbol = self._note(node)
            is_set = node.init is not None and not isinstance(node.init, c_ast.InitList)
            if symbol is not None and is_set:
                self._set(symbol, node.init)
        return made

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        made = super().parameters(node)
        for parameter in parameters_of(node):
            self._note(parameter)
        return made

    def _note(self, node: c_ast.Decl) -> Symbol | None:
        """Note a variable that is a pointer."""
        symbol = self.names.lookup(node.name) if node.name else None
        if symbol is None or not isinstance(symbol.type, PointerTo):
            return None
        self.pointers[id(node)] = Pointer(self.function, symbol)
        return symbol

    def _set(self, symbol: Symbol, value: c_ast.Node) -> None:
        while isinstance(value, c_ast.Assignment):
            value = value.rvalue
        values = [value]
        if isinstance(value, c_ast.TernaryOp):
            values = [value.iftrue, value.iffalse]
        values = [each for each in values if not is_null(self.names, each)]
        pointer = self.pointers[id(symbol.node)]
        pointer.sources += [(self._targets.pointed_to(each), each) for each in values]

    def _pointer(self, node: c_ast.Node) -> Pointer | None:
        """Return the pointer variable that an expression is."""
        symbol = self.names.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return None if symbol is None else self.pointers.get(id(symbol.node))

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.Assignment(lvalue=target):
                pointer = self._pointer(target)
                if pointer is not None:
                    pointer.moves = True
                    if node.op == "=":
                        self._set(pointer.symbol, node.rvalue)
            case c_ast.UnaryOp(op=op, expr=target) if op in STEP_OPS:
                pointer = self._pointer(target)
                if pointer is not None:
                    pointer.moves = True
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in COMPARISONS or op == "-":
                sides = [self.names.decayed(side) for side in (left, right)]
                if all(isinstance(side, PointerTo) for side in sides):
                    for side in (left, right):
                        pointer = self._pointer(way_root(self.names, side))
                        if pointer is not None:
                            pointer.is_compared = True
            case c_ast.ArrayRef(name=base, subscript=index):
                is_pointer = isinstance(self.names.decayed(base), PointerTo)
                if not is_pointer and isinstance(self.names.decayed(index), PointerTo):
                    self.turns_subscripts = True
        return self.inside(node, before)


@dataclass(frozen=True, slots=True, eq=False)
class Walker:
    """A pointer that is a position.

    Members
    -------
    base: what it points into. pattern: the way to where it points.
    run: how many dimensions it runs through, counted from the last one.
    leads: the variables, or values, of the subscripts before those.
    at: the variable of its position; a value where it never changes.
    """

    base: Symbol
    pattern: Pattern
    run: int
    leads: tuple[str | int, ...]
    at: str | int
    pointer: Pointer


class Walkers:
    """Decides which pointers become positions.

    Members
    -------
    found: those that do, by the identity of their declarations.
    refused: of which it is not known what they point into, by the function.
    """

    def __init__(self, scan: Scan, tree: c_ast.FileAST, locator: Locator) -> None:
        self._pointers = scan.pointers
        self._locator = locator
        self._targets = Targets(scan.names)
        self._names = scan.names
        self._fresh = FreshNames(tree)
        self.found: dict[int, Walker] = {}
        self.refused: list[tuple[str, PointerUnsupported]] = []
        chosen = self._chosen()
        for key in chosen:
            try:
                self._resolve(key, chosen)
            except PointerUnsupported as error:
                self.refused.append((self._pointers[key].function, error))

    def _chosen(self) -> list[int]:
        """Return the pointers that move, that are compared, and those that they are set to."""
        chosen = {
            key
            for key, pointer in self._pointers.items()
            if pointer.moves
            or (not pointer.symbol.is_parameter and (pointer.is_compared or self._is_flat(pointer)))
        }
        pending = list(chosen)
        while pending:
            for target, _ in self._pointers[pending.pop()].sources:
                key = None if target is None else id(target.base.node)
                source = None if key is None else self._pointers.get(key)
                if source is not None and key not in chosen and not source.symbol.is_parameter:
                    assert key is not None
                    chosen.add(key)
                    pending.append(key)
        return [key for key in self._pointers if key in chosen]

    def _is_flat(self, pointer: Pointer) -> bool:
        """Return whether a pointer stays at the first element of several rows: `&m[0][0]`."""
        if len(pointer.sources) != 1:
            return False
        target, node = pointer.sources[0]
        is_first = isinstance(node, c_ast.UnaryOp | c_ast.Cast)
        if not is_first or target is None:
            return False
        zeros = _zeros(target)
        return len(zeros) > 1 and literal(zeros[0].value) == 0

    def _resolve(self, key: int, chosen: Sequence[int]) -> Walker | None:
        """Return the walker that a pointer becomes; None where it is never set."""
        if key in self.found:
            return self.found[key]
        pointer = self._pointers[key]
        targets = list(self._ends(key, set(chosen), set()))
        if not targets:
            return None
        first = targets[0][0]
        for target, node in targets[1:]:
            if target.base.node is not first.base.node or target.pattern != first.pattern:
                raise self._several(pointer, first, targets[0][1], target, node)
        indices = [[s for s in target.steps if isinstance(s, Index)] for target, _ in targets]
        if first.pattern[-1:] != ("[]",):
            leads = [[each.value for each in row] for row in indices]
            run = 0
        else:
            run = min(len(_zeros(target)) for target, _ in targets)
            leads = [[each.value for each in row[: len(row) - run]] for row in indices]
        name = pointer.symbol.name
        made: list[str | int] = []
        for column in zip(*leads, strict=True):
            values = {literal(value) for value in column}
            value = values.pop() if len(values) == 1 else None
            made.append(self._fresh.fresh(f"{name}_row") if value is None else value)
        at: str | int = self._fresh.fresh(f"{name}_at") if run else 0
        if not pointer.moves and len(pointer.sources) == 1 and run:
            source = pointer.sources[0][0]
            assert source is not None
            place = literal(indices[0][-1].value)
            if id(source.base.node) not in chosen and place is not None:
                at = place
        walker = Walker(first.base, first.pattern, run, tuple(made), at, pointer)
        self.found[key] = walker
        return walker

    def _ends(
        self, key: int, chosen: set[int], seen: set[int]
    ) -> Iterator[tuple[Target, c_ast.Node]]:
        """Yield what a pointer may point to, by way of others."""
        if key in seen:
            return
        seen.add(key)
        pointer = self._pointers[key]
        if pointer.symbol.is_parameter:
            node = pointer.symbol.node
            yield Target(pointer.symbol, (Index(integer(0, node.coord)),)), node
        for target, node in pointer.sources:
            if target is None:
                raise self._unknown(pointer, node)
            other = id(target.base.node)
            if other not in chosen:
                yield target, node
                continue
            # The way goes on from where the other pointer is.
            for end, _ in self._ends(other, chosen, seen):
                first = target.steps[0]
                last = end.steps[-1]
                if isinstance(first, Index) and isinstance(last, Index):
                    # How far the other one has moved is not known here.
                    sum_ = Index(_unknown_number(node) if len(target.steps) > 1 else last.value)
                    yield Target(end.base, (*end.steps[:-1], sum_, *target.steps[1:])), node
                elif len(target.steps) > 1 or not isinstance(first, Index):
                    yield Target(end.base, (*end.steps, *target.steps[1:])), node
                else:
                    yield end, node

    def _several(
        self, pointer: Pointer, a: Target, at: c_ast.Node, b: Target, other: c_ast.Node
    ) -> PointerUnsupported:
        names = f"`{a.base.name}`", f"`{b.base.name}`"
        where = "into different arrays" if a.base.node is not b.base.node else "to different things"
        return PointerUnsupported(
            f"the pointer `{pointer.symbol.name}` may point {where}",
            labels=(
                Label(self._locator.span(other), f"into {names[1]}"),
                Label(self._locator.span(at), f"into {names[0]}"),
            ),
            help="use a pointer for each of them, or put both into one array",
        )

    def _unknown(self, pointer: Pointer, node: c_ast.Node) -> PointerUnsupported:
        message = f"it is not known what `{pointer.symbol.name}` points to"
        remedy = "let it point into an array that is named here, or count in an integer"
        return refusal(PointerUnsupported, message, self._locator, node, remedy, "set to this")


def _zeros(target: Target) -> list[Index]:
    """Return the subscripts at the end of a way that a pointer may run through.

    It runs through rows if it starts with the first one of them.
    """
    found: list[Index] = []
    for step in reversed(target.steps):
        if not isinstance(step, Index) or (found and literal(step.value) != 0):
            break
        found.append(step)
    return found


def _unknown_number(node: c_ast.Node) -> c_ast.Node:
    return c_ast.ID("", node.coord)
