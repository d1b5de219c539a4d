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

from collections.abc import Sequence
from dataclasses import replace

from pycparser import c_ast

from rtlgen.frontend.errors import PointerUnsupported
from rtlgen.frontend.lowering.desugar import lifted_steps
from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import (
    Place,
    assign,
    copied,
    integer,
    named,
    parameters_of,
)
from rtlgen.frontend.lowering.pointer_values import (
    COMPARISONS,
    STEP_OPS,
    Choice,
    Index,
    Scan,
    Step,
    Target,
    Targets,
    Walker,
    Walkers,
    as_int,
    combined,
    is_null,
    literal,
    way_root,
)
from rtlgen.frontend.lowering.rewriter import Before, Refused, Rewriter, refusal
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
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator


def place_pointers(tree: c_ast.FileAST, locator: Locator) -> Refused:
    """Rewrite the pointers of a file that move in place.

    Returns
    -------
    Refused: pointers of which the text does not tell what they point into.
    """
    if not any(isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl) for node in below(tree)):
        return {}
    scan = Scan()
    scan.file(tree)
    walkers = Walkers(scan, tree, locator)
    placer = _Placer(walkers, locator)
    if walkers.found or scan.turns_subscripts:
        placer.file(tree)
    for function, error in walkers.refused:
        placer.refuse(function, error)
    return placer.refused


class _Placer(Rewriter):
    """Rewrites what is done with the pointers."""

    def __init__(self, walkers: Walkers, locator: Locator) -> None:
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

    def _assigned(self, walker: Walker, node: c_ast.Assignment) -> list[c_ast.Node]:
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

    def _set(self, walker: Walker, value: c_ast.Node, node: c_ast.Node) -> list[c_ast.Assignment]:
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
                message = "a pointer to a row is set by way of itself"
                raise self._refused(message, value, "use another pointer, or subscripts")
        return made

    def _chosen(
        self, walker: Walker, value: c_ast.TernaryOp, node: c_ast.Node
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

    def _position(self, walker: Walker, node: c_ast.Node) -> c_ast.Node:
        return _variable(walker.at, node.coord)

    def _require_run(self, walker: Walker, node: c_ast.Node) -> None:
        if not walker.run:
            message = f"`{walker.pointer.symbol.name}` points to one variable, and is moved"
            raise self._refused(message, node, "let it point into an array", "moved here")

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
        return is_position and (all(are_pointers) or node.op in COMPARISONS)

    def _compared(self, node: c_ast.BinaryOp) -> c_ast.Node:
        """Return the comparison, or the difference, of two positions."""
        found = [self._target(side) for side in (node.left, node.right)]
        for target, side in zip(found, (node.left, node.right), strict=True):
            if target is None:
                raise self._unknown(side)
        left, right = found
        assert left is not None and right is not None
        if left.base.node is not right.base.node or _unrolled(left) != _unrolled(right):
            message = "pointers into different arrays are compared"
            raise self._refused(message, node, "compare pointers into one array")
        run = len(_unrolled(left))
        a, b = self._linear(left, run, node), self._linear(right, run, node)
        made = combined("-", a, b) if node.op == "-" else c_ast.BinaryOp(node.op, a, b, node.coord)
        if node.op != "-":
            return made
        return cast(plain(LONG), made, node.coord)

    # Where pointers point.

    def _walker(self, node: c_ast.Node | None) -> Walker | None:
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
        walker: Walker,
        steps: Sequence[Step],
        node: c_ast.Node,
        step: c_ast.UnaryOp | None,
    ) -> Target:
        """Return where a way leads that begins with a pointer."""
        if not self._is_in_sight(walker.base):
            message = f"`{walker.base.name}` is another variable here"
            why = "this points into the outer one"
            raise self._refused(message, node, "rename the inner one", why)
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
        remedy = "let it point into an array that is named here, or count in an integer"
        return self._refused("it is not known what this points to", node, remedy)

    def _as_value(self, node: c_ast.Node, why: str) -> PointerUnsupported:
        remedy = "use what it points to, or compare it with a pointer into the same array"
        return self._refused("a pointer that moves is used as a value", node, remedy, why)

    def _refused(
        self, message: str, node: c_ast.Node, remedy: str, why: str = "here"
    ) -> PointerUnsupported:
        return refusal(PointerUnsupported, message, self._locator, node, remedy, why)


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
