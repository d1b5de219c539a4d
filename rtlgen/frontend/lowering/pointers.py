"""Pointers that move become positions in the arrays that they point into.

Rewrite
-------
    int *p = a + 3;                          int p_at = 3;
    *p++ = x;                                a[p_at] = x; p_at++;
    while (p < a + n) s += *p;               while (p_at < n) s += a[p_at];
    int (*r)[8] = m; r++; (*r)[j] = 0;       int r_at = 0; r_at++; m[r_at][j] = 0;
    int *q = m[i]; *++q = x;                 int q_row = i, q_at = 0; q_at++; m[q_row][q_at] = x;
    int *f = &m[0][0]; f += n; *f = x;       int f_at = 0; f_at += n; m[f_at / 8][f_at % 8] = x;
    int *c = x ? a : b + 1;                  int c_at = x ? 0 : 1, c_in = x ? 0 : 1;
    y = *c;                                  y = c_in == 0 ? a[c_at] : b[c_at];
    *c = y;                                  if (c_in == 0) a[c_at] = y; else b[c_at] = y;
    while (c != 0) S                         while (c_in != -1) S

A pointer that stays where it is declared to point is left to who reads its array; a parameter that
moves is the array that it points into at first.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import FrontendError, PointerUnsupported
from rtlgen.frontend.lowering.bits import reinterpreted
from rtlgen.frontend.lowering.desugar import lifted_steps
from rtlgen.frontend.lowering.nodes import (
    COMPARISONS,
    Place,
    alike,
    assign,
    block,
    changed,
    copied,
    has_effect,
    integer,
    joined,
    named,
    reads_memory,
)
from rtlgen.frontend.lowering.order import Aliases
from rtlgen.frontend.lowering.pointer_places import (
    PointerPlaces,
    is_in,
    leads_to,
    unfolded,
    unrolled,
)
from rtlgen.frontend.lowering.pointer_values import (
    STEP_OPS,
    Index,
    Target,
    are_look_alike,
    as_int,
    combined,
    is_null,
    way_root,
)
from rtlgen.frontend.lowering.rewriter import Before, Refused
from rtlgen.frontend.lowering.types import (
    INT,
    LONG,
    ArrayOf,
    PointerTo,
    RecordType,
    cast,
    declaration,
    innermost,
    name_coord,
    number_type,
    plain,
    unqualified,
)
from rtlgen.frontend.lowering.walkers import (
    NOWHERE,
    Pointer,
    Scan,
    Walker,
    Walkers,
)
from rtlgen.frontend.syntax.assigned import below, mentions
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import parameters


def place_pointers(tree: c_ast.FileAST, locator: Locator) -> Refused:
    """Rewrite the pointers of a file that move in place.

    Returns
    -------
    Refused: pointers of which the text does not tell what they point into.
    """
    if not any(isinstance(node, c_ast.PtrDecl | c_ast.ArrayDecl) for node in below(tree)):
        return {}
    scan = Scan(tree, locator)
    scan.file()
    walkers = Walkers(scan, tree, locator)
    placer = _Placer(tree, walkers, locator, scan.pointers)
    if walkers.found or scan.needs_rewriting or placer.has_aliases:
        placer.file()
    for function, error in walkers.refused:
        placer.refuse(function, error)
    return placer.refused


class _Placer(PointerPlaces):
    """Rewrites what is done with the pointers.

    Members
    -------
    has_aliases: some pointers that stay are another name of something.
    """

    def __init__(
        self,
        tree: c_ast.FileAST,
        walkers: Walkers,
        locator: Locator,
        pointers: Mapping[int, Pointer],
    ) -> None:
        super().__init__(tree, walkers, locator)
        self._aliases = Aliases(self.names, pointers, locator)
        self.has_aliases = self._aliases.exist

    def _statement(self, node: c_ast.Node) -> list[c_ast.Node]:
        match node:
            case c_ast.If() | c_ast.While() | c_ast.DoWhile() | c_ast.Switch():
                self._aliases.require_order(node.cond)
            case c_ast.Return():
                self._aliases.require_order(node.expr)
            case c_ast.Decl(init=value):
                self._aliases.require_order(value)
        return super()._statement(node)

    # What pointers with several spots point into.

    def _each_spot(
        self, node: c_ast.Node, walker: Walker, make: Callable[[c_ast.Node], c_ast.Node]
    ) -> c_ast.Node:
        """Return what an expression is wherever a pointer points."""
        found = self._chosen(node, walker, make, c_ast.TernaryOp)
        return self._locator.stand_in(found, node)

    def _chosen(
        self,
        node: c_ast.Node,
        walker: Walker,
        make: Callable[[c_ast.Node], c_ast.Node],
        choice: type[c_ast.TernaryOp] | type[c_ast.If],
    ) -> c_ast.Node:
        """Return a choice among what is made of a node wherever a pointer points."""
        made: list[c_ast.Node] = []
        for spot in walker.spots:
            with self._pointing(walker, spot):
                made.append(make(copied(node)))
        if not made:
            # C gives no meaning to what is done by way of a null pointer.
            return block([], node.coord) if choice is c_ast.If else integer(0, node.coord)
        *others, found = made
        for spot, arm in zip(reversed(walker.spots[:-1]), reversed(others), strict=True):
            found = choice(is_in(walker, spot, node.coord), arm, found, node.coord)
        return found

    def _each_case(
        self, node: c_ast.Node, make: Callable[[c_ast.Node], list[c_ast.Node]]
    ) -> list[c_ast.Node]:
        """Return a statement for each of what is set by way of a pointer, or handed to a call."""
        walker = self._needed(node)
        if walker is None:
            return make(node)

        def made(copy: c_ast.Node) -> c_ast.Node:
            return block(self._each_case(copy, make), node.coord)

        return [self._chosen(node, walker, made, c_ast.If)]

    def _needed(self, node: c_ast.Node | None) -> Walker | None:
        """Return a pointer of which it has to be known into what it points."""
        for part in below(node) if node is not None else ():
            places: list[c_ast.Node] = []
            target = changed(part, "&")
            if target is not None and self._walker(target) is None:
                places.append(target)
            if isinstance(part, c_ast.FuncCall) and part.args is not None:
                given = part.args.exprs
                places += [x for x in given if isinstance(self.names.decayed(x), PointerTo)]
            for place in places:
                walker = self._undecided(place)
                if walker is not None:
                    return walker
        return None

    # Declarations.

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        walker = self._walkers.get(id(node))
        if walker is None:
            steps, after = self._steps(node)
            made = [*self._all(steps), *self._declaration(node), *self._all(after)]
            return made
        self.names.declare(node)
        variables = walker.variables
        if node.init is None:
            return [_declared(name, None, node) for name in variables]
        values = self._values(walker, node.init)
        return [_declared(name, values.get(name), node) for name in variables]

    def _declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        """Declare something else."""
        if isinstance(node, c_ast.Typedef) or self._needed(node.init) is None:
            init = None if isinstance(node, c_ast.Typedef) else node.init
            is_pointer = init is not None and isinstance(self.names.decayed(init), PointerTo)
            if not is_pointer or self._walker(way_root(self.names, init)) is None:
                return super().declaration(node)
            # It stays where a pointer is now that moves on.
            self.names.declare(node)
            node.init = self._address(init)
            return [node]
        if isinstance(node.init, c_ast.InitList):
            raise self._chosen_address(node.init)
        symbol = self.names.declare(node)
        first = assign(node.name, node.init, node.coord)
        self._locator.stand_in(first, node)
        made = declaration(node.name, unqualified(symbol.type), None, node.coord, (), node.storage)
        return [made, *self._each_case(first, super().effect)]

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        super().parameters(node)
        made: list[c_ast.Node] = []
        for parameter in parameters(node):
            walker = self._walkers.get(id(parameter))
            if walker is None:
                continue
            if isinstance(walker.at, str):
                made.append(_declared(walker.at, integer(0, parameter.coord), parameter))
            if walker.which:
                own = next(spot for spot in walker.spots if spot.base.node is parameter)
                number = integer(own.number, parameter.coord)
                made.append(_declared(walker.which, number, parameter))
        return made

    # Statements.

    def _all(self, nodes: Sequence[c_ast.Node]) -> list[c_ast.Node]:
        return [part for node in nodes for part in self.effect(node)]

    def _steps(self, node: c_ast.Node) -> tuple[list[c_ast.Node], list[c_ast.Node]]:
        """Take the steps of pointers out of a statement: those before it, and those behind it."""
        return lifted_steps(node, lambda step: self._walker(step.expr) is not None)

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        self._locator.keep(node)
        self._aliases.require_order(node)
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
        made = self._each_case(node, self._whole)
        return [*self._all(before), *made, *self._all(after)]

    def _whole(self, node: c_ast.Node) -> list[c_ast.Node]:
        """Return a statement without steps of pointers, each of which points into one thing."""
        target = changed(node)
        if target is not None and self._is_place(target):
            return super().effect(self._set_place(node, target) or node)
        return super().effect(node)

    def _is_place(self, node: c_ast.Node) -> bool:
        """Return whether an expression names something by way of a pointer that is rewritten."""
        is_name = isinstance(node, c_ast.ArrayRef | c_ast.StructRef | c_ast.UnaryOp)
        root = self._walker(way_root(self.names, node))
        return is_name and (root is not None or self._targets.is_seen_otherwise(node))

    def _set_place(self, node: c_ast.Node, target: c_ast.Node) -> c_ast.Node | None:
        """Return what sets a number that is seen as another; None if it is seen as what it is."""
        place = self._named(copied(target))
        seen, own = (number_type(self.names.type_of(each)) for each in (target, place))
        if own is None or seen is None or not are_look_alike(own, seen):
            return None
        value = node.rvalue if isinstance(node, c_ast.Assignment) else integer(1, node.coord)
        op = node.op.removeprefix("p")[0] if isinstance(node, c_ast.UnaryOp) else node.op[:-1]
        if op:
            if has_effect(target):
                raise self._as_other(node, "step the counter in a statement of its own")
            value = c_ast.BinaryOp(op, copied(target), value, node.coord)
        value = reinterpreted(cast(plain(seen), value), seen, own)
        return self._locator.stand_in(c_ast.Assignment("=", place, value, node.coord), node)

    def _sets_other(self, node: c_ast.Node) -> bool:
        """Return whether an expression sets a number that is seen as another."""
        target = changed(node)
        if target is None or not self._is_place(target) or self._undecided(target) is not None:
            return False
        return self._set_place(node, target) is not None

    def _as_other(self, node: c_ast.Node, remedy: str) -> FrontendError:
        message = "a number is set that the pointer sees as another type"
        return self._refused(message, node, remedy)

    def listed(self, node: c_ast.Node) -> c_ast.Node | None:
        made = self.effect(node)
        if any(isinstance(part, c_ast.If) for part in made):
            message = "something is set by way of a pointer that may point into several arrays"
            remedy = "set it before the loop, or at the end of its body"
            raise self._refused(message, node, remedy, "in the header of a loop")
        return self.sequence(made, node)

    def result(self, node: c_ast.Return) -> list[c_ast.Node]:
        # A step behind the value comes too late for anybody to see.
        before, _ = self._steps(node)
        return [*self._all(before), *self._each_case(node, super().result)]

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
        made = [
            assign(name, new, node.coord)
            for name, new in self._values(walker, value).items()
            if not (isinstance(new, c_ast.ID) and new.name == name)
        ]
        for place, part in enumerate(made):
            set_before = frozenset(each.lvalue.name for each in made[:place])
            if mentions(part.rvalue, set_before):
                message = "a pointer to a row is set by way of itself"
                raise self._refused(message, value, "use another pointer, or subscripts")
        return made

    def _values(self, walker: Walker, value: c_ast.Node) -> dict[str, c_ast.Node]:
        """Return what becomes of the variables of a pointer that is set.

        Those that do not matter where it points then are left out.
        """
        at = value.coord
        if isinstance(value, c_ast.TernaryOp):
            arms = [self._values(walker, copied(arm)) for arm in (value.iftrue, value.iffalse)]
            condition = self.expression(copied(value.cond), None)
            return _merged(condition, arms[0], arms[1], at)
        if is_null(self.names, value):
            return {walker.which: integer(NOWHERE, at)} if walker.which else {}
        source = self._undecided(value)
        if source is None:
            return self._values_in(walker, value)
        arms = []
        for spot in source.spots:
            with self._pointing(source, spot):
                arms.append(self._values_in(walker, copied(value)))
        *others, found = arms or [{walker.which: integer(NOWHERE, at)}]
        for spot, arm in zip(reversed(source.spots[:-1]), reversed(others), strict=True):
            found = _merged(is_in(source, spot, at), arm, found, at)
        return found

    def _values_in(self, walker: Walker, value: c_ast.Node) -> dict[str, c_ast.Node]:
        """Return the values for a pointer that is set to point into one thing."""
        target = self._target(value)
        spot = next((x for x in walker.spots if target is not None and leads_to(target, x)), None)
        if target is None or spot is None:
            raise self._unknown(value)
        indices = [step for step in target.steps if isinstance(step, Index)]
        values = [part for step in indices for part in unfolded(step)][: len(spot.leads)]
        places: list[str | int] = [*spot.leads]
        if spot.run:
            places.append(walker.at)
            values.append(self._linear(target, spot.run, value))
        if walker.which:
            source = self._walker(way_root(self.names, value))
            places.append(walker.which)
            number = integer(spot.number, value.coord)
            if source is not None and source.which and self._spot(source).number == spot.number:
                # It may also point nowhere, as the other one.
                number = named(source.which, value.coord)
            values.append(number)
        found = zip(places, values, strict=True)
        return {name: new for name, new in found if isinstance(name, str)}

    def _stepped(self, node: c_ast.UnaryOp) -> c_ast.Node:
        walker = self._walker(node.expr)
        assert walker is not None
        self._require_run(walker, node)
        return c_ast.UnaryOp(node.op, self._position(walker, node.expr), node.coord)

    # Expressions.

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        if self._sets_other(node):
            raise self._as_other(node, "set it in a statement of its own")
        match node:
            case c_ast.UnaryOp(op="&", expr=inner) if self._walker(inner) is not None:
                raise self._as_value(node, "its address is taken")
            case c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="*" | "&"):
                if self._is_place(node):
                    return self._looked_up(node)
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
                walker = self._needed(node)
                if walker is not None:
                    return self._each_spot(node, walker, lambda x: self.expression(x, None))
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

    def _are_pointers(self, node: c_ast.BinaryOp) -> bool:
        """Return whether two pointers meet, one of them a position, or a null pointer."""
        if node.op not in COMPARISONS and node.op != "-":
            return False
        sides = (node.left, node.right)
        are_pointers = [isinstance(self.names.decayed(side), PointerTo) for side in sides]
        is_position = any(
            is_pointer and self._walker(way_root(self.names, side)) is not None
            for is_pointer, side in zip(are_pointers, sides, strict=True)
        )
        is_null_asked = any(are_pointers) and any(is_null(self.names, side) for side in sides)
        return is_null_asked or (is_position and (all(are_pointers) or node.op in COMPARISONS))

    def _compared(self, node: c_ast.BinaryOp) -> c_ast.Node:
        """Return the comparison, or the difference, of two positions."""
        for side, other in ((node.left, node.right), (node.right, node.left)):
            if is_null(self.names, side) and node.op in ("==", "!="):
                return self._told_null(other, node)
        ways = [self._ways(side) for side in (node.left, node.right)]
        found: list[tuple[list[c_ast.Node], c_ast.Node]] = []
        met: set[int] = set()
        for left, a in ways[0]:
            for right, b in ways[1]:
                if a.base.node is b.base.node and unrolled(a) == unrolled(b):
                    met |= {id(a), id(b)}
                    run = len(unrolled(a))
                    ends = self._linear(a, run, node), self._linear(b, run, node)
                    conditions = [copied(x) for x in (left, right) if x is not None]
                    found.append((conditions, self._related(node, *ends)))
        if not found and node.op in ("==", "!="):
            return integer(int(node.op == "!="), node.coord)
        apart = [[x.base.name for _, x in side if id(x) not in met] for side in ways]
        if node.op not in ("==", "!=") and any(apart):
            named_ = [
                names or [x.base.name for _, x in side]
                for names, side in zip(apart, ways, strict=True)
            ]
            sides = zip((node.left, node.right), named_, strict=True)
            raise PointerUnsupported(
                "pointers into different arrays are compared",
                labels=tuple(
                    Label(self._locator.span(side), f"into `{names[0]}`") for side, names in sides
                ),
                help="compare pointers into one array: those into different ones have no order",
            )
        if node.op == "==":
            return _any(found, node.coord)
        if node.op == "!=":
            equal = c_ast.BinaryOp("==", node.left, node.right, node.coord)
            is_chosen = any(conditions for conditions, _ in found)
            return (
                c_ast.UnaryOp("!", self._compared(equal), node.coord) if is_chosen else found[0][1]
            )
        # Only pointers into the same thing may be compared.
        *others, (_, made) = found
        for conditions, value in reversed(others):
            if not alike(value, made):
                made = c_ast.TernaryOp(joined(conditions), value, made, node.coord)
        return made

    def _related(self, node: c_ast.BinaryOp, a: c_ast.Node, b: c_ast.Node) -> c_ast.Node:
        if node.op != "-":
            return c_ast.BinaryOp(node.op, a, b, node.coord)
        return cast(plain(LONG), combined("-", a, b), node.coord)

    def _ways(self, node: c_ast.Node) -> list[tuple[c_ast.Node | None, Target]]:
        """Return what a pointer may point to, with the condition that it does."""
        walker = self._undecided(node)
        found: list[tuple[c_ast.Node | None, Target]] = []
        for spot in walker.spots if walker is not None else (None,):
            if walker is None or spot is None:
                target, condition = self._target(node), None
            else:
                condition = is_in(walker, spot, node.coord)
                with self._pointing(walker, spot):
                    target = self._target(copied(node))
            if target is None:
                raise self._unknown(node)
            found.append((condition, target))
        return found

    def _told_null(self, pointer: c_ast.Node, node: c_ast.BinaryOp) -> c_ast.Node:
        """Return whether a pointer points nowhere; who is given an array is given one."""
        walker = self._walker(way_root(self.names, pointer))
        if is_null(self.names, pointer):
            return integer(int(node.op == "=="), node.coord)
        if walker is None or not walker.which:
            type_ = self.names.decayed(pointer)
            inner = None if type_ is None else innermost(type_)
            is_known = isinstance(inner, RecordType) or number_type(inner) is not None
            if self._targets.pointed_to(pointer) is None or not is_known:
                raise self._unknown(pointer)
            return integer(int(node.op == "!="), node.coord)
        which = named(walker.which, node.coord)
        return c_ast.BinaryOp(node.op, which, integer(NOWHERE, node.coord), node.coord)

    def _looked_up(self, node: c_ast.Node) -> c_ast.Node:
        """Return the value of what an expression names, wherever it is."""
        walker = self._undecided(node)
        if walker is None:
            return self._as_seen(self._named(node), node)
        if isinstance(self.names.type_of(node), ArrayOf | PointerTo):
            raise self._chosen_address(node)
        return self._each_spot(node, walker, self._looked_up)

    def _as_seen(self, place: c_ast.Node, node: c_ast.Node) -> c_ast.Node:
        """Return what is read at a place, of the type that the pointer sees there."""
        own, seen = (number_type(self.names.type_of(each)) for each in (place, node))
        if own is None or seen is None or not are_look_alike(own, seen):
            return place
        return self._locator.stand_in(reinterpreted(place, own, seen), node)

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


def _merged(
    condition: c_ast.Node, a: Mapping[str, c_ast.Node], b: Mapping[str, c_ast.Node], at: Place
) -> dict[str, c_ast.Node]:
    """Return values that a condition chooses; what one case does not give does not matter there."""
    found: dict[str, c_ast.Node] = {}
    for name in dict.fromkeys((*a, *b)):
        first, second = a.get(name), b.get(name)
        given = second if first is None else first
        assert given is not None, "one of them has it"
        if first is not None and second is not None:
            is_same = alike(first, second)
        else:
            # What is read in one case only may be nowhere in the other.
            is_same = not reads_memory(given)
        if is_same:
            found[name] = given
            continue
        arms = [integer(0, at) if arm is None else arm for arm in (first, second)]
        found[name] = c_ast.TernaryOp(copied(condition), *arms, at)
    return found


def _any(ways: Sequence[tuple[list[c_ast.Node], c_ast.Node]], at: Place) -> c_ast.Node:
    """Return whether what some conditions ask for holds for one of them."""
    found: c_ast.Node | None = None
    for conditions, value in ways:
        both = joined([*conditions, value])
        assert both is not None, "something is asked"
        found = both if found is None else c_ast.BinaryOp("||", found, both, at)
    assert found is not None, "there is a way"
    return found


def _declared(name: str, value: c_ast.Node | None, node: c_ast.Decl) -> c_ast.Decl:
    return declaration(name, plain(INT), value, name_coord(node))
