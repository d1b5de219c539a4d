"""What C says of the order in which the parts of an expression are done.

Whether anything in an expression can tell when a part of it is done:

    x = c ? a[i++] : b[j];        nothing: the part goes before the statement
    x = i + (c ? a[i++] : 0);     C leaves open what i is on the left
    *p = next(&s) + t;            next cannot change t, nor where p points
    r->word << 8 | byte(r)        nor r->word, where only other members are set

A part is what is done in one case only, behind a comma, or in a call. What stands beside it may use
what it changes, or change what it uses.

Variables that an expression changes under one name, and uses or changes under another one:

    int *p = &x;
    *p = x++;                  C says nothing of what x is then
    a[i] = *p + x++;           nor of what is added
    x++ && *p;                 here it does: what is left of && is done first

One name alone is seen by who takes steps out of expressions. Here pointers are looked through that
always point to one place.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import SideEffect
from rtlgen.frontend.lowering.names import Names
from rtlgen.frontend.lowering.nodes import changed, number, reads_memory_itself, variable_of
from rtlgen.frontend.lowering.pointer_values import Choice, Index, Target, Targets, combined
from rtlgen.frontend.lowering.types import ArrayOf, PointerTo, Returning
from rtlgen.frontend.lowering.walkers import Pointer
from rtlgen.frontend.syntax.assigned import STEPS, below, called_by, functions, mentioned
from rtlgen.frontend.syntax.locate import Locator


class Order:
    """Knows what expressions change, by the names in sight.

    Parameters
    ----------
    changing: functions that change what outlives their calls.
    """

    def __init__(self, names: Names, tree: c_ast.FileAST, changing: frozenset[str]) -> None:
        self._names = names
        self._changing = changing
        self._bodies = {name: x.body for name, x in functions(tree).items()}
        self._quiet = self._bodies.keys() - changing
        self._members: dict[str, frozenset[str] | None] = {}
        # Members of a union without a name are one variable under several.
        unions = (x for x in below(tree) if isinstance(x, c_ast.Union))
        self._overlaid = {each.name for x in unions for each in x.decls or ()}

    def has_effect(self, node: c_ast.Node) -> bool:
        """Return whether something is changed at or below a node."""
        return any(changed(x) is not None or self.is_changing_call(x) for x in below(node))

    def is_changing_call(self, node: c_ast.Node) -> bool:
        """Return whether a node calls a function that changes something."""
        return called_by(node) in self._changing

    def is_seen(self, part: c_ast.Node, root: c_ast.Node) -> bool:
        """Return whether what stands beside a part of an expression may tell when it is done."""
        inside = {id(x) for x in below(part)}
        beside = [x for x in below(root) if id(x) not in inside]
        # What is set is so behind its value.
        stored = root.lvalue if isinstance(root, c_ast.Assignment) and root.op == "=" else None
        while isinstance(stored, c_ast.ArrayRef | c_ast.ID):
            beside = [x for x in beside if x is not stored]
            stored = stored.name if isinstance(stored, c_ast.ArrayRef) else None
        if isinstance(part, c_ast.FuncCall):
            given = root.args if isinstance(root, c_ast.FuncCall) else None
            # An address is the same at any time, and a function is called behind its arguments.
            apart = {id(root), *_addressed(given.exprs if given is not None else ())}
            return self._is_call_seen(part, [x for x in beside if id(x) not in apart])
        calls = [x for x in beside if isinstance(x, c_ast.FuncCall)]
        if calls and self.has_effect(part):
            return True
        # A function is called when its arguments are known.
        if any(self.is_changing_call(x) and not any(y is part for y in below(x)) for x in calls):
            return True
        if any(map(self.is_changing_call, below(part))):
            names = mentioned(part)
            return any(map(reads_memory_itself, beside)) or any(
                isinstance(x, c_ast.ID) and (x.name in names or self._is_shared(x)) for x in beside
            )
        mine = {variable_of(x) for y in below(part) if (x := changed(y)) is not None}
        theirs = {variable_of(x) for y in beside if (x := changed(y)) is not None and y is not root}
        if None in mine or None in theirs:
            return any(map(reads_memory_itself, beside)) or bool(theirs)
        own = variable_of(root.lvalue) if isinstance(root, c_ast.Assignment) else None
        used = {own, *(x.name for x in beside if isinstance(x, c_ast.ID))}
        return bool(mine & used) or bool(theirs & mentioned(part))

    def _is_call_seen(self, call: c_ast.FuncCall, beside: Sequence[c_ast.Node]) -> bool:
        """Return whether something beside a call may tell when it happens."""
        inside = (x for x in below(call) if x is not call)
        if any(self._may_change(x) for x in (*inside, *beside)):
            return True
        if called_by(call) in self._quiet:
            return False
        handed = set(self._handed(call))
        set_ = self._members_set(called_by(call))
        fields: dict[int, set[str]] = {}
        for node in beside:
            if isinstance(node, c_ast.StructRef):
                fields.setdefault(id(_base(node)), set()).add(node.field.name)
        for node in beside:
            if isinstance(node, c_ast.ID):
                is_other = self._are_apart(fields.get(id(node)), set_)
                if self._may_be_shared(node) or (node.name in handed and not is_other):
                    return True
        return False

    def _are_apart(self, part: set[str] | None, set_: frozenset[str] | None) -> bool:
        """Return whether a way to a member leads by none of those that are set."""
        if part is None or set_ is None or not part.isdisjoint(set_):
            return False
        return part.isdisjoint(self._overlaid) or set_.isdisjoint(self._overlaid)

    def _members_set(self, name: str) -> frozenset[str] | None:
        """Return the names of the members that a function sets; None if it may set anything."""
        if name not in self._members:
            # One that calls itself is refused anyway.
            self._members[name] = None
            found: set[str] = set()
            for node in below(self._bodies[name]) if name in self._bodies else ():
                target = changed(node, "&")
                parts = None if target is None else _fields(target)
                if parts is None and isinstance(node, c_ast.FuncCall):
                    parts = self._members_set(called_by(node))
                    if parts is None:
                        return None
                if not parts and target is not None and not isinstance(target, c_ast.ID):
                    return None
                found |= parts or set()
            self._members[name] = frozenset(found) if name in self._bodies else None
        return self._members[name]

    def _may_change(self, node: c_ast.Node) -> bool:
        is_call = isinstance(node, c_ast.FuncCall)
        return called_by(node) not in self._quiet if is_call else changed(node) is not None

    def _handed(self, call: c_ast.FuncCall) -> Iterator[str]:
        """Yield the names of what a function may change by way of its arguments."""
        for node in below(call):
            match node:
                case c_ast.UnaryOp(op="&", expr=c_ast.ID(name=name)):
                    yield name
                case c_ast.ID() if isinstance(self._names.type_of(node), ArrayOf | PointerTo):
                    yield node.name

    def _may_be_shared(self, node: c_ast.ID) -> bool:
        """Return whether a function that is called may see a variable by another name."""
        symbol = self._names.lookup(node.name)
        if symbol is None or isinstance(symbol.type, Returning):
            return False
        is_pointer = isinstance(symbol.type, PointerTo) and not symbol.is_parameter
        return is_pointer or (symbol.is_shared and symbol.value is None)

    def _is_shared(self, node: c_ast.ID) -> bool:
        symbol = self._names.lookup(node.name)
        return symbol is not None and symbol.is_shared


def _addressed(nodes: Sequence[c_ast.Node]) -> Iterator[int]:
    """Yield the identities of the names of which some expressions are the addresses."""
    for node in nodes:
        match node:
            case c_ast.UnaryOp(op="&", expr=c_ast.ID() as name):
                yield id(name)


def _base(node: c_ast.Node) -> c_ast.Node:
    """Return what the way to a member begins with."""
    while isinstance(node, c_ast.StructRef | c_ast.ArrayRef):
        node = node.name
    return node


def _fields(node: c_ast.Node) -> frozenset[str]:
    """Return the names of the members on a way."""
    found: set[str] = set()
    while isinstance(node, c_ast.StructRef | c_ast.ArrayRef):
        if isinstance(node, c_ast.StructRef):
            found.add(node.field.name)
        node = node.name
    return frozenset(found)


@dataclass(frozen=True, slots=True, eq=False)
class _Access:
    """A use of a variable, or of a part of one.

    Members
    -------
    place: what it is. name: with which it begins.
    is_change: it is changed. is_settled: that is done before the value is known.
    """

    place: tuple[object, ...]
    name: str
    node: c_ast.Node
    is_change: bool = False
    is_settled: bool = False


class Aliases:
    """Finds what an expression does to one variable under two names.

    Members
    -------
    exist: there are pointers that are another name of something.
    """

    def __init__(self, names: Names, pointers: Mapping[int, Pointer], locator: Locator) -> None:
        self._names = names
        self._targets = Targets(names)
        self._locator = locator
        self._fixed = _fixed(pointers)
        self.exist = bool(self._fixed)

    def require_order(self, node: c_ast.Node | None) -> None:
        """Refuse an expression that C gives no meaning.

        Raises
        ------
        SideEffect
        """
        if node is not None and self._fixed and any(changed(x) is not None for x in below(node)):
            self._accesses(node)

    def _accesses(self, node: c_ast.Node) -> list[_Access]:
        """Return what an expression uses, in no order that C gives."""
        match node:
            case c_ast.BinaryOp(op="&&" | "||", left=first, right=second):
                return [*map(_settled, self._accesses(first)), *self._accesses(second)]
            case c_ast.TernaryOp(cond=first, iftrue=second, iffalse=third):
                arms = [*self._accesses(second), *self._accesses(third)]
                return [*map(_settled, self._accesses(first)), *arms]
            case c_ast.ExprList(exprs=[*others, last]):
                before = [_settled(x) for part in others for x in self._accesses(part)]
                return [*before, *self._accesses(last)]
            case c_ast.UnaryOp(op="sizeof"):
                return []
            case c_ast.FuncCall(args=c_ast.ExprList(exprs=given)):
                return [_settled(x) for x in self._together([self._accesses(x) for x in given])]
        target = changed(node)
        if target is not None:
            return self._changing(node, target)
        own = self._own(node, node)
        return self._together([own, *(self._accesses(part) for part in self._parts(node))])

    def _changing(self, node: c_ast.Node, target: c_ast.Node) -> list[_Access]:
        """Return the accesses of an assignment, or of a step."""
        parts = [self._accesses(part) for part in self._parts(target)]
        if isinstance(node, c_ast.Assignment):
            parts.append(self._accesses(node.rvalue))
        found = self._together(parts)
        own = [replace(x, is_change=True) for x in self._own(target, node)]
        for access in own:
            # What is read is read before it is set.
            self._require_apart(access, [x for x in found if x.is_change and not x.is_settled])
        return [*found, *own]

    def _own(self, node: c_ast.Node, shown: c_ast.Node) -> list[_Access]:
        """Return the access that an expression itself is."""
        if not isinstance(node, c_ast.ID | c_ast.ArrayRef | c_ast.StructRef | c_ast.UnaryOp):
            return []
        if isinstance(node, c_ast.UnaryOp) and node.op != "*":
            return []
        target = self._targets.named(node)
        name = "" if target is None else target.base.name
        while target is not None and id(target.base.node) in self._fixed:
            target = _through(self._fixed[id(target.base.node)], target)
        if target is None:
            return []
        steps = [
            step.name if isinstance(step, Choice) else number(step.value) for step in target.steps
        ]
        # A variable in a subscript may have been another number when the pointer was set.
        return [] if None in steps else [_Access((id(target.base.node), *steps), name, shown)]

    def _parts(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        """Yield the values that an access, or an operation, depends on."""
        match node:
            case c_ast.ArrayRef(name=base, subscript=index):
                yield from self._parts(base)
                yield index
            case c_ast.StructRef(name=inner) | c_ast.UnaryOp(op="*" | "&", expr=inner):
                yield from self._parts(inner)
            case c_ast.UnaryOp(op=op, expr=inner) if op in STEPS:
                yield from self._parts(inner)
            case c_ast.ID() | c_ast.Constant() | c_ast.Typename():
                return
            case _:
                yield from (part for _, part in node.children())

    def _together(self, parts: Sequence[list[_Access]]) -> list[_Access]:
        """Return the accesses of operands that C evaluates in any order."""
        found: list[_Access] = []
        for part in parts:
            for access in part:
                others = found if access.is_change else [x for x in found if x.is_change]
                self._require_apart(access, others)
            found += part
        return found

    def _require_apart(self, access: _Access, others: Sequence[_Access]) -> None:
        for other in others:
            if other.place == access.place and other.name != access.name:
                first, second = sorted((access, other), key=lambda x: not x.is_change)
                raise SideEffect(
                    f"`{first.name}` and `{second.name}` name one variable, which changes here",
                    labels=(
                        Label(self._locator.span(first.node), "changed here"),
                        Label(self._locator.span(second.node), "in C, before or behind this"),
                    ),
                    help="make the change a statement of its own",
                )


def _fixed(pointers: Mapping[int, Pointer]) -> dict[int, Target | None]:
    """Return what pointers point to that always point there."""
    return {
        key: pointer.sources[0][0]
        for key, pointer in pointers.items()
        if not pointer.moves and len(pointer.sources) == 1 and not pointer.symbol.is_parameter
    }


def _settled(access: _Access) -> _Access:
    return replace(access, is_settled=True)


def _through(source: Target | None, target: Target) -> Target | None:
    """Return a part of what a pointer points to, given what that is."""
    if source is None or not target.steps:
        return None
    first, *rest = target.steps
    last = source.steps[-1] if source.steps else None
    if not isinstance(first, Index):
        return None
    if isinstance(last, Index):
        moved = replace(last, value=combined("+", last.value, first.value))
        return Target(source.base, (*source.steps[:-1], moved, *rest))
    return Target(source.base, (*source.steps, *rest)) if number(first.value) == 0 else None
