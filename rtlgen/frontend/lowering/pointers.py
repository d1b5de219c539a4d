"""Pointers that move become positions in the arrays that they point into.

Rewrite
-------
    int *p = a + 3;                          int p_at = 3;
    *p++ = x;                                a[p_at] = x; p_at++;
    while (p < a + n) s += *p;               while (p_at < n) s += a[p_at];
    int (*r)[8] = m; r++; (*r)[j] = 0;       int r_at = 0; r_at++; m[r_at][j] = 0;
    int *q = m[i]; *++q = x;                 int q_row = i, q_at = 0; q_at++; m[q_row][q_at] = x;
    int *f = &m[0][0]; f += n; *f = x;       int f_at = 0; f_at += n; m[f_at / 8][f_at % 8] = x;

A pointer that stays where it is declared to point is left to who reads its array; a parameter that
moves is the array that it points into at first.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.desugar import lifted_steps
from rtlgen.frontend.errors import PointerUnsupported
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import FreshNames, Place, assign, copied, integer, named
from rtlgen.frontend.lowering.pointer_values import (
    STEP_OPS,
    Choice,
    Index,
    Pattern,
    Step,
    Target,
    Targets,
    as_int,
    combined,
    is_null,
    literal,
    way_root,
)
from rtlgen.frontend.lowering.rewriter import Before, Refused, Rewriter, parameters_of
from rtlgen.frontend.lowering.types import (
    INT,
    LONG,
    PointerTo,
    cast,
    declaration,
    name_coord,
    plain,
    size_constant,
)
from rtlgen.frontend.writers import below

_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))


def place_pointers(tree: c_ast.FileAST, locator: Locator) -> Refused:
    """Rewrite the pointers of a file that move in place.

    Returns
    -------
    Refused: pointers of which the text does not tell what they point into.
    """
    if not any(isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl) for node in below(tree)):
        return {}
    scan = _Scan()
    scan.file(tree)
    walkers = _Walkers(scan, tree, locator)
    placer = _Placer(walkers, locator)
    if walkers.found or scan.turns_subscripts:
        placer.file(tree)
    for function, error in walkers.refused:
        placer.refuse(function, error)
    return placer.refused


# Which pointers move, and where they point.


@dataclass(slots=True, eq=False)
class _Pointer:
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


class _Scan(Rewriter):
    """Collects the pointers of a file.

    Members
    -------
    pointers: by the identity of their declarations.
    turns_subscripts: an array stands between the brackets: `i[a]`.
    """

    def __init__(self) -> None:
        super().__init__()
        self._targets = Targets(self.names)
        self.pointers: dict[int, _Pointer] = {}
        self.turns_subscripts = False

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        made = super().declaration(node)
        symbol = self.names.lookup(node.name) if node.name else None
        if (
            isinstance(node, c_ast.Decl)
            and symbol is not None
            and isinstance(symbol.type, PointerTo)
            and not symbol.is_shared
            and not node.storage
        ):
            self._note(symbol)
            if node.init is not None and not isinstance(node.init, c_ast.InitList):
                self._set(symbol, node.init)
        return made

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        made = super().parameters(node)
        for parameter in parameters_of(node):
            symbol = self.names.lookup(parameter.name)
            if symbol is not None and isinstance(symbol.type, PointerTo):
                self._note(symbol)
        return made

    def _note(self, symbol: Symbol) -> None:
        self.pointers[id(symbol.node)] = _Pointer(self.function, symbol)

    def _set(self, symbol: Symbol, value: c_ast.Node) -> None:
        while isinstance(value, c_ast.Assignment):
            value = value.rvalue
        values = [value]
        if isinstance(value, c_ast.TernaryOp):
            values = [value.iftrue, value.iffalse]
        values = [each for each in values if not is_null(self.names, each)]
        pointer = self.pointers[id(symbol.node)]
        pointer.sources += [(self._targets.pointed_to(each), each) for each in values]

    def _pointer(self, node: c_ast.Node) -> _Pointer | None:
        """Return the pointer variable that an expression is."""
        symbol = self.names.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return None if symbol is None else self.pointers.get(id(symbol.node))

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.Assignment(lvalue=target, op=op, rvalue=value):
                pointer = self._pointer(target)
                if pointer is not None:
                    pointer.moves = True
                    if op == "=":
                        self._set(pointer.symbol, value)
            case c_ast.UnaryOp(op=op, expr=target) if op in STEP_OPS:
                pointer = self._pointer(target)
                if pointer is not None:
                    pointer.moves = True
            case c_ast.BinaryOp(op=op, left=left, right=right) if op in _COMPARISONS or op == "-":
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


# What stands in place of them.


@dataclass(frozen=True, slots=True, eq=False)
class _Walker:
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
    pointer: _Pointer


class _Walkers:
    """Decides which pointers become positions.

    Members
    -------
    found: those that do, by the identity of their declarations.
    refused: of which it is not known what they point into, by the function.
    """

    def __init__(self, scan: _Scan, tree: c_ast.FileAST, locator: Locator) -> None:
        self._pointers = scan.pointers
        self._locator = locator
        self._targets = Targets(scan.names)
        self._names = scan.names
        self._fresh = FreshNames(tree)
        self.found: dict[int, _Walker] = {}
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

    def _is_flat(self, pointer: _Pointer) -> bool:
        """Return whether a pointer stays at the first element of several rows: `&m[0][0]`."""
        if len(pointer.sources) != 1:
            return False
        target, node = pointer.sources[0]
        is_first = isinstance(node, c_ast.UnaryOp | c_ast.Cast)
        if not is_first or target is None:
            return False
        zeros = _zeros(target)
        return len(zeros) > 1 and literal(zeros[0].value) == 0

    def _resolve(self, key: int, chosen: Sequence[int]) -> _Walker | None:
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
        walker = _Walker(first.base, first.pattern, run, tuple(made), at, pointer)
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
        self, pointer: _Pointer, a: Target, at: c_ast.Node, b: Target, other: c_ast.Node
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

    def _unknown(self, pointer: _Pointer, node: c_ast.Node) -> PointerUnsupported:
        return PointerUnsupported(
            f"it is not known what `{pointer.symbol.name}` points to",
            labels=(Label(self._locator.span(node), "set to this"),),
            help="let it point into an array that is named here, or count in an integer",
        )


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


class _Placer(Rewriter):
    """Rewrites what is done with the pointers."""

    def __init__(self, walkers: _Walkers, locator: Locator) -> None:
        super().__init__()
        self._walkers = walkers.found
        self._locator = locator
        self._targets = Targets(self.names)

    # Declarations.

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        walker = self._walkers.get(id(node))
        if walker is None:
            steps, after = self._steps(node)
            return [*self._all(steps), *super().declaration(node), *self._all(after)]
        self.names.declare(node)
        variables = [name for name in (*walker.leads, walker.at) if isinstance(name, str)]
        if node.init is None:
            return [_declared(name, None, node) for name in variables]
        set_ = self._set(walker, node.init, node)
        values = {part.lvalue.name: part.rvalue for part in set_}
        return [_declared(name, values.get(name), node) for name in variables]

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        super().parameters(node)
        made: list[c_ast.Node] = []
        for parameter in parameters_of(node):
            walker = self._walkers.get(id(parameter))
            if walker is not None and isinstance(walker.at, str):
                made.append(_declared(walker.at, integer(0, parameter.coord), parameter))
        return made

    # Statements.

    def _all(self, nodes: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        return [part for node in nodes for part in self.effect(node)]

    def _steps(self, node: c_ast.Node) -> tuple[list[c_ast.Node], list[c_ast.Node]]:
        """Take the steps of pointers out of a statement: those before it, and those behind it."""
        return lifted_steps(node, lambda step: self._walker(step.expr) is not None)

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        self._locator.keep(node)
        match node:
            case c_ast.ExprList(exprs=parts):
                return self._all(parts)
            case c_ast.Cast(expr=c_ast.ID() as inner) if self._walker(inner) is not None:
                # `(void)p;` says that it is not used.
                return []
            case c_ast.UnaryOp(op=op, expr=target) if op in STEP_OPS:
                if self._walker(target) is not None:
                    return [self._stepped(node)]
            case c_ast.Assignment(op=op, lvalue=target):
                walker = self._walker(target)
                if walker is not None:
                    return self._assigned(walker, node)
        before, after = self._steps(node)
        return [*self._all(before), *super().effect(node), *self._all(after)]

    def result(self, node: c_ast.Return) -> list[c_ast.Node]:
        # A step behind the value comes too late for anybody to see.
        before, _ = self._steps(node)
        return [*self._all(before), *super().result(node)]

    def _assigned(self, walker: _Walker, node: c_ast.Assignment) -> list[c_ast.Node]:
        """Return the assignments of a pointer's position."""
        if node.op == "=":
            made: list[c_ast.Node] = []
            if isinstance(node.rvalue, c_ast.Assignment):
                inner = node.rvalue
                made, node.rvalue = self.effect(inner), inner.lvalue
            before, after = self._steps(node)
            set_ = self._set(walker, node.rvalue, node)
            return [*made, *self._all(before), *set_, *self._all(after)]
        step = as_int(self.names, node.rvalue)
        self._require_run(walker, node)
        return [
            c_ast.Assignment(
                node.op, self._position(walker, node), self.expression(step, None), node.coord
            )
        ]

    def _set(self, walker: _Walker, value: c_ast.Node, node: c_ast.Node) -> list[c_ast.Assignment]:
        """Return the assignments that let a pointer point somewhere."""
        if isinstance(value, c_ast.TernaryOp):
            return self._chosen(walker, value, node)
        if is_null(self.names, value):
            # Before it points somewhere nobody may use it.
            return []
        target = self._target(value)
        if target is None or _unrolled(target) != [*walker.pattern]:
            raise self._unknown(value)
        made: list[c_ast.Assignment] = []
        indices = [step for step in target.steps if isinstance(step, Index)]
        values = [part for step in indices for part in _unfolded(step)][: len(walker.leads)]
        places = [*walker.leads]
        if walker.run:
            places.append(walker.at)
            values.append(self._linear(target, walker.run, value))
        for name, new in zip(places, values, strict=True):
            is_same = isinstance(new, c_ast.ID) and new.name == name
            if isinstance(name, str) and not is_same:
                made.append(assign(name, new, node.coord))
        names = {part.lvalue.name for part in made}
        for place, part in enumerate(made):
            if place and any(
                isinstance(each, c_ast.ID) and each.name in names for each in below(part.rvalue)
            ):
                raise PointerUnsupported(
                    "a pointer to a row is set by way of itself",
                    labels=(Label(self._locator.span(value), "here"),),
                    help="use another pointer, or subscripts",
                )
        return made

    def _chosen(
        self, walker: _Walker, value: c_ast.TernaryOp, node: c_ast.Node
    ) -> list[c_ast.Assignment]:
        arms = [self._set(walker, copied(arm), node) for arm in (value.iftrue, value.iffalse)]
        found = [{part.lvalue.name: part.rvalue for part in arm} for arm in arms]
        made = []
        for name in dict.fromkeys((*found[0], *found[1])):
            ways = [each.get(name, named(name, node.coord)) for each in found]
            condition = self.expression(copied(value.cond), None)
            chosen = c_ast.TernaryOp(condition, *ways, value.coord)
            made.append(assign(name, chosen, node.coord))
        return made

    def _stepped(self, node: c_ast.UnaryOp) -> c_ast.Node:
        walker = self._walker(node.expr)
        assert walker is not None
        self._require_run(walker, node)
        return c_ast.UnaryOp(node.op, self._position(walker, node.expr), node.coord)

    def _position(self, walker: _Walker, node: c_ast.Node) -> c_ast.Node:
        return _variable(walker.at, node.coord)

    def _require_run(self, walker: _Walker, node: c_ast.Node) -> None:
        if not walker.run:
            raise PointerUnsupported(
                f"`{walker.pointer.symbol.name}` points to one variable, and is moved",
                labels=(Label(self._locator.span(node), "moved here"),),
                help="let it point into an array",
            )

    # Expressions.

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.UnaryOp(op="sizeof"):
                return self._size(node)
            case c_ast.UnaryOp(op="&", expr=inner) if self._walker(inner) is not None:
                raise self._as_value(node, "its address is taken")
            case c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="*" | "&"):
                if self._walker(way_root(self.names, node)) is not None:
                    return self._named(node)
                if isinstance(node, c_ast.ArrayRef):
                    self._turn(node)
            case c_ast.BinaryOp() if self._are_pointers(node):
                return self._compared(node)
            case c_ast.BinaryOp(op="+" | "-"):
                if self._walker(way_root(self.names, node)) is not None:
                    return self._address(node)
            case c_ast.Assignment(lvalue=c_ast.ID() as target) if self._walker(target) is not None:
                made = self.effect(node)
                if len(made) == 1:
                    return made[0]
                raise self._as_value(node, "it is set inside an expression")
            case c_ast.UnaryOp(op=op, expr=target) if op in STEP_OPS:
                if self._walker(target) is not None:
                    raise self._as_value(node, "it is stepped, and used as a value")
            case c_ast.FuncCall() if node.args is not None:
                node.args.exprs = [self._argument(part, before) for part in node.args.exprs]
                return node
            case c_ast.ID() if self._walker(node) is not None:
                raise self._as_value(node, "used here")
        return self.inside(node, before)

    def _argument(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        """Return an argument of a call, which may be a pointer."""
        is_pointer = isinstance(self.names.decayed(node), PointerTo)
        if isinstance(node, c_ast.UnaryOp) and self._walker(node.expr) is not None:
            return self.expression(node, before)
        if is_pointer and self._walker(way_root(self.names, node)) is not None:
            return self._address(node)
        return self.expression(node, before)

    def _size(self, node: c_ast.UnaryOp) -> c_ast.Node:
        """Return the size of something that a pointer points to, or of a pointer."""
        names = [part for part in below(node.expr) if isinstance(part, c_ast.ID)]
        if all(self._walker(name) is None for name in names):
            return node
        size = self.names.size(self.names.type_of(node.expr))
        if size is None:
            raise self._as_value(node, "the size of it is not known")
        return size_constant(size, node.coord)

    def _turn(self, node: c_ast.ArrayRef) -> None:
        """Rewrite `i[a]` as `a[i]`."""
        if not isinstance(self.names.decayed(node.name), PointerTo) and isinstance(
            self.names.decayed(node.subscript), PointerTo
        ):
            node.name, node.subscript = node.subscript, node.name

    def _are_pointers(self, node: c_ast.BinaryOp) -> bool:
        """Return whether two pointers meet, one of them a position."""
        sides = (node.left, node.right)
        are_pointers = [isinstance(self.names.decayed(side), PointerTo) for side in sides]
        is_position = any(
            is_pointer and self._walker(way_root(self.names, side)) is not None
            for is_pointer, side in zip(are_pointers, sides, strict=True)
        )
        return is_position and (all(are_pointers) or node.op in _COMPARISONS)

    def _compared(self, node: c_ast.BinaryOp) -> c_ast.Node:
        """Return the comparison, or the difference, of two positions."""
        found = [self._target(side) for side in (node.left, node.right)]
        for target, side in zip(found, (node.left, node.right), strict=True):
            if target is None:
                raise self._unknown(side)
        left, right = found
        assert left is not None and right is not None
        if left.base.node is not right.base.node or _unrolled(left) != _unrolled(right):
            raise PointerUnsupported(
                "pointers into different arrays are compared",
                labels=(Label(self._locator.span(node), "here"),),
                help="compare pointers into one array",
            )
        run = len(_unrolled(left))
        a, b = self._linear(left, run, node), self._linear(right, run, node)
        made = combined("-", a, b) if node.op == "-" else c_ast.BinaryOp(node.op, a, b, node.coord)
        if node.op != "-":
            return made
        return cast(plain(LONG), made, node.coord)

    # Where pointers point.

    def _walker(self, node: c_ast.Node | None) -> _Walker | None:
        symbol = self.names.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return None if symbol is None else self._walkers.get(id(symbol.node))

    def _target(self, node: c_ast.Node, *, is_named: bool = False) -> Target | None:
        """Return what an expression points to, or names, in terms of positions."""
        find = self._targets.named if is_named else self._targets.pointed_to
        found = find(node)
        if found is None:
            return None
        walker = self._walkers.get(id(found.base.node))
        steps = [
            replace(step, value=self.expression(copied(step.value), None))
            if isinstance(step, Index)
            else step
            for step in found.steps
        ]
        if walker is None:
            return Target(found.base, tuple(steps))
        return self._from(walker, steps, way_root(self.names, node), self._step_in(node))

    def _step_in(self, node: c_ast.Node) -> c_ast.UnaryOp | None:
        """Return the step of the pointer that a way begins with: `*p++`."""
        root = way_root(self.names, node)
        for part in below(node):
            if isinstance(part, c_ast.UnaryOp) and part.op in STEP_OPS and part.expr is root:
                return part
        return None

    def _from(
        self,
        walker: _Walker,
        steps: Sequence[Step],
        node: c_ast.Node,
        step: c_ast.UnaryOp | None,
    ) -> Target:
        """Return where a way leads that begins with a pointer."""
        if not self._is_in_sight(walker.base):
            raise PointerUnsupported(
                f"`{walker.base.name}` is another variable here",
                labels=(Label(self._locator.span(node), "this points into the outer one"),),
                help="rename the inner one",
            )
        at: c_ast.Node = self._position(walker, node)
        if step is not None:
            self._require_run(walker, step)
            if walker.run > 1:
                raise self._as_value(step, "it is stepped where rows are counted")
            at = c_ast.UnaryOp(step.op, at, step.coord)
        leads = iter(walker.leads)
        extents = self._targets.extents(walker.base, walker.pattern)
        start = len(walker.pattern) - walker.run
        made: list[Step] = []
        for kind in walker.pattern[:start]:
            if kind == "[]":
                lead = next(leads)
                made.append(Index(_variable(lead, node.coord)))
            else:
                made.append(Choice(kind))
        first, *rest = steps or [Index(integer(0, node.coord))]
        if not walker.run:
            if not isinstance(first, Index) or literal(first.value) != 0:
                self._require_run(walker, node)
            return Target(walker.base, (*made, *rest))
        if not isinstance(first, Index):
            raise self._unknown(node)
        inner = tuple(extent for extent in extents[start + 1 :] if extent is not None)
        if len(inner) != walker.run - 1:
            raise self._unknown(node)
        moved = Index(combined("+", at, first.value), inner)
        return Target(walker.base, (*made, moved, *rest))

    def _is_in_sight(self, symbol: Symbol) -> bool:
        found = self.names.lookup(symbol.name)
        return found is not None and found.node is symbol.node

    def _linear(self, target: Target, run: int, node: c_ast.Node) -> c_ast.Node:
        """Return the number of an element among those of the last `run` dimensions of a way."""
        steps = [each for step in target.steps for each in _singles(step, run)]
        extents = self._targets.extents(target.base, _unrolled(target))
        found: c_ast.Node | None = None
        start = len(extents)
        spans: list[tuple[Index, int]] = []
        while steps and isinstance(steps[-1], Index) and len(extents) - start < run:
            last = steps.pop()
            assert isinstance(last, Index)
            start -= 1 + len(last.inner)
            spans.insert(0, (last, start))
        for step, first in spans:
            if found is not None:
                for extent in extents[first : first + 1 + len(step.inner)]:
                    if extent is None:
                        raise self._unknown(node)
                    found = combined("*", found, copied(extent))
            found = step.value if found is None else combined("+", found, step.value)
        return integer(0, node.coord) if found is None else found

    def _named(self, node: c_ast.Node) -> c_ast.Node:
        """Return what takes the place of `*p`, `p[i]` or `p->x`."""
        if isinstance(node, c_ast.UnaryOp) and node.op == "&":
            return self._address(node)
        target = self._target(node, is_named=True)
        if target is None:
            raise self._unknown(node)
        return self._rebuilt(target, node)

    def _address(self, node: c_ast.Node) -> c_ast.Node:
        """Return a pointer as an address."""
        target = self._target(node)
        if target is None:
            raise self._unknown(node)
        return c_ast.UnaryOp("&", self._rebuilt(target, node), node.coord)

    def _rebuilt(self, target: Target, node: c_ast.Node) -> c_ast.Node:
        """Return the expression that names a target."""
        made: c_ast.Node = c_ast.ID(target.base.name, node.coord)
        for step in target.steps:
            if isinstance(step, Choice):
                member = c_ast.ID(step.name, node.coord)
                made = c_ast.StructRef(made, ".", member, node.coord)
                continue
            for index in _unfolded(step):
                made = c_ast.ArrayRef(made, index, node.coord)
        return self._locator.stand_in(made, node)

    # Refusals.

    def _unknown(self, node: c_ast.Node) -> PointerUnsupported:
        return PointerUnsupported(
            "it is not known what this points to",
            labels=(Label(self._locator.span(node), "here"),),
            help="let it point into an array that is named here, or count in an integer",
        )

    def _as_value(self, node: c_ast.Node, why: str) -> PointerUnsupported:
        return PointerUnsupported(
            "a pointer that moves is used as a value",
            labels=(Label(self._locator.span(node), why),),
            help="use what it points to, or compare it with a pointer into the same array",
        )


def _unfolded(step: Index) -> list[c_ast.Node]:
    """Return the subscripts of all dimensions that one counts through."""
    found: list[c_ast.Node] = []
    left = step.value
    for extent in reversed(step.inner):
        found.insert(0, combined("%", copied(left), copied(extent)))
        left = combined("/", copied(left), copied(extent))
    return [left, *found]


def _singles(step: Step, run: int) -> list[Step]:
    """Return a step for each dimension of one that counts through more than `run` of them."""
    if isinstance(step, Choice) or len(step.inner) < run:
        return [step]
    return [Index(value) for value in _unfolded(step)]


def _unrolled(target: Target) -> list[str]:
    """Return the pattern of a target with a step for each dimension."""
    found: list[str] = []
    for step in target.steps:
        if isinstance(step, Choice):
            found.append(step.name)
        else:
            found += ["[]"] * (1 + len(step.inner))
    return found


def _variable(name: str | int, at: Place) -> c_ast.Node:
    """Return a variable, or the number that takes its place."""
    return integer(name, at) if isinstance(name, int) else named(name, at)


def _declared(name: str, value: c_ast.Node | None, node: c_ast.Decl) -> c_ast.Decl:
    return declaration(name, plain(INT), value, name_coord(node))
