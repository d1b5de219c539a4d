"""Members of structures, as expressions name them.

    p[i].at.x         p_at_x[i]
    q->v[k]           (*q_v)[k]
    &p[i], of one member after the other
                      &p_at_x[i], ...

The variable of the member takes the place of the structure, and the names of members go.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TypeGuard

from pycparser import c_ast

from rtlgen.frontend.errors import AggregateUnsupported, FrontendError
from rtlgen.frontend.lowering.layouts import (
    Entry,
    Layout,
    Layouts,
    Leaf,
    Path,
    as_read,
    as_stored,
    is_converted,
    members_used,
)
from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import (
    COMPARISONS,
    copied,
    has_effect,
    integer,
    reads_memory,
)
from rtlgen.frontend.lowering.pointer_values import pointer_side
from rtlgen.frontend.lowering.rewriter import Before, Rewriter
from rtlgen.frontend.lowering.types import (
    LONG,
    ArrayOf,
    RecordType,
    Type,
    element_of,
    innermost,
    number_type,
    plain,
    rewrapped,
    unqualified,
)
from rtlgen.frontend.reading.elements import unknown_name
from rtlgen.frontend.syntax.assigned import STEPS, functions
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import ASSERTING, TELLING


class RecordParts(Rewriter, ABC):
    """Rewrites expressions.

    Members
    -------
    member_names: of all variables that are members.
    """

    refusing = AggregateUnsupported

    def __init__(self, tree: c_ast.FileAST, locator: Locator, kernel: str) -> None:
        super().__init__(tree, locator)
        self._layouts = Layouts(self.names, locator, members_used(tree, kernel))
        self._leaf_names: dict[tuple[object, Path], str] = {}
        self._telling = TELLING - functions(tree).keys()
        self.member_names: set[str] = set()

    @abstractmethod
    def _kept(self, node: c_ast.Node, before: Before) -> c_ast.ID:
        """Put a structure that has no name into a variable."""

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.ID(name=name):
                symbol = self.names.lookup(name)
                if symbol is not None and self._layouts.exists(symbol.type, node):
                    raise self._as_value(node)
                return node
            case c_ast.StructRef() | c_ast.ArrayRef() | c_ast.UnaryOp(op="*"):
                if self._is_part(node):
                    return self._member(node, before)
            case c_ast.UnaryOp(op="&", expr=inner) if self._is_part(inner):
                if is_record(self.names.type_of(inner)):
                    raise self._as_value(node)
                place, entry = self._place(inner, (), before)
                if is_converted(entry):
                    raise self._refused(
                        "a pointer to a member of a union or to a bit-field",
                        node,
                        "copy the member into a variable, and back",
                    )
                return c_ast.UnaryOp("&", place, node.coord)
            case c_ast.UnaryOp(op=op, expr=inner) if op in STEPS and self._is_part(inner):
                _, entry = self._place(inner, (), before)
                if is_converted(entry):
                    raise self._refused(
                        "a bit-field, or a member of a union, is stepped inside an expression",
                        node,
                        "make it a statement of its own",
                    )
                return self._stepped(node, before)
            case c_ast.Assignment(lvalue=target) if self._is_part(target):
                made = self._assigned(node, before)
                _, entry = self._place(target, (), before)
                # What the assignment is worth is the value of the member.
                return made if entry.seen is None else as_read(entry, made)
            case c_ast.BinaryOp(op=op) if op in (*COMPARISONS, "-") and (
                is_record(self.names.decayed(node.left))
                or is_record(self.names.decayed(node.right))
            ):
                raise self._refused(
                    "addresses of structures are compared", node, "compare subscripts instead"
                )
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in self._telling:
                return self.inside(node, None) if name in ASSERTING else node
            case c_ast.FuncCall():
                if is_whole(self.names.type_of(node)):
                    raise self._as_value(node)
                return self._call(node, [], before)
            case c_ast.Cast(to_type=to) if is_record(self.names.read(to)):
                raise self._refused(
                    "a conversion to a structure, or to a pointer to one", node, "leave it out"
                )
            case c_ast.CompoundLiteral(type=to) if is_record(self.names.read(to)):
                raise self._as_value(node)
        return self.inside(node, before)

    def _is_part(self, node: c_ast.Node) -> bool:
        """Return whether an expression names a structure, or a part of one."""
        return is_record(self.names.type_of(self._root(node)))

    def _member(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        """Return the value of a member, or a member that is an array."""
        type_ = self.names.type_of(node)
        if is_record(type_):
            raise self._as_value(node)
        place, entry = self._place(node, (), before)
        if not is_converted(entry):
            return place
        if isinstance(type_, ArrayOf):
            raise self._refused(
                "an array in a union is used whole", node, "use its elements one by one"
            )
        return as_read(entry, place)

    def _assigned(self, node: c_ast.Assignment, before: Before) -> c_ast.Node:
        """Rewrite an assignment to a member."""
        if is_whole(self.names.type_of(node.lvalue)):
            raise self._refused(
                "a structure is set inside an expression", node, "make it a statement of its own"
            )
        place, entry = self._place(node.lvalue, (), before)
        value = self.expression(node.rvalue, before)
        if not is_converted(entry):
            return c_ast.Assignment(node.op, place, value, node.coord)
        if node.op != "=":
            self._require_steady(node.lvalue)
            old = as_read(entry, copied(place))
            value = c_ast.BinaryOp(node.op[:-1], old, value, node.coord)
        return c_ast.Assignment("=", place, as_stored(entry, value), node.coord)

    def _stepped(self, node: c_ast.UnaryOp, before: Before) -> c_ast.Node:
        """Rewrite a step of a member."""
        place, entry = self._place(node.expr, (), before)
        if not is_converted(entry):
            return c_ast.UnaryOp(node.op, place, node.coord)
        one = integer(1, node.coord)
        return self._assigned(
            c_ast.Assignment(f"{node.op[-1]}=", node.expr, one, node.coord), before
        )

    def _require_steady(self, node: c_ast.Node) -> None:
        if has_effect(node):
            raise self._refused(
                "a member is changed by way of something that changes, too",
                node,
                "make the other change a statement of its own",
            )

    def _call(
        self, node: c_ast.FuncCall, first: list[c_ast.Node], before: Before
    ) -> c_ast.FuncCall:
        """Rewrite the arguments of a call, behind those for what it returns."""
        taken = self.names.taken(node)
        listed = list(first)
        for place, argument in enumerate(node.args.exprs if node.args is not None else ()):
            as_ = taken[place] if place < len(taken) else None
            if as_ is None or not is_record(as_):
                listed.append(self.expression(argument, before))
                continue
            given = self._once(argument, before, keeps_reads=True)
            for leaf in self._layout(as_, argument).leaves:
                if isinstance(as_, RecordType) and not leaf.extents:
                    listed.append(self._leaf_value(given, leaf.path, before))
                else:
                    listed.append(self._rebuilt(given, leaf.path, before))
        node.args = c_ast.ExprList(listed, node.coord)
        return node

    def _called(self, node: c_ast.FuncCall, target: c_ast.Node) -> list[c_ast.Node]:
        """Return a call that puts what it returns into a variable."""
        before: list[c_ast.Node] = []
        leaves = self._layout(self.names.type_of(target), node).leaves
        address = c_ast.UnaryOp("&", target, target.coord)
        first = [self._rebuilt(address, leaf.path, before) for leaf in leaves]
        call = self._call(node, first, before)
        return [*before, call]

    def _root(self, node: c_ast.Node) -> c_ast.Node:
        return self._way(node)[0]

    def _way(self, node: c_ast.Node) -> tuple[c_ast.Node, Path]:
        """Return what an expression begins with, and the members that it names from there."""
        match node:
            case c_ast.StructRef(name=inner, field=member):
                root, path = self._way(inner)
                return root, (*path, member.name)
            case c_ast.ArrayRef(name=inner) | c_ast.UnaryOp(op="*" | "&", expr=inner):
                return self._way(inner)
            case c_ast.BinaryOp(op="+" | "-", left=left):
                return self._way(pointer_side(self.names, node) or left)
            case c_ast.Cast(expr=inner, to_type=to) if is_record(self.names.read(to)):
                return self._way(inner)
        return node, ()

    def _place(self, node: c_ast.Node, tail: Path, before: Before) -> tuple[c_ast.Node, Entry]:
        """Return the variable that stores a member of what `node` names."""
        root, path = self._way(node)
        entry = self._entry(root, (*path, *tail), node)
        return self._rebuilt(node, tail, before), entry

    def _entry(self, root: c_ast.Node, path: Path, node: c_ast.Node) -> Entry:
        layout = self._layout(self.names.type_of(root), node)
        entry = layout.entries.get(path)
        if entry is not None:
            return entry
        if not path:
            raise self._as_value(node)
        for end in range(len(path) - 1, 0, -1):
            if path[:end] in layout.entries:
                raise self._refused(
                    f"the member `{path[end - 1]}` is a pointer to a structure",
                    node,
                    "keep the structures in an array, and the subscript in the member",
                )
        raise self._refused(f"there is no member `{'.'.join(path)}`", node, "declare it")

    def _rebuilt(self, node: c_ast.Node, tail: Path, before: Before) -> c_ast.Node:
        """Return an expression with the variable of one member in place of its structure."""
        root, path = self._way(node)
        if not isinstance(root, c_ast.ID):
            root = self._kept(root, before)
        entry = self._entry(root, (*path, *tail), node)
        symbol = self.names.lookup(root.name)
        assert symbol is not None, "it has a type"
        leaf = c_ast.ID(self._leaf_name(symbol, entry.leaf.path), root.coord)
        return self._locator.stand_in(self._with(node, leaf, before), node)

    def _with(self, node: c_ast.Node, leaf: c_ast.ID, before: Before) -> c_ast.Node:
        at = node.coord
        match node:
            case c_ast.StructRef(name=inner, type=kind):
                made = self._with(inner, leaf, before)
                return made if kind == "." else _pointed_to(made, at)
            case c_ast.UnaryOp(op="*", expr=inner):
                return _pointed_to(self._with(inner, leaf, before), at)
            case c_ast.UnaryOp(op="&", expr=inner):
                return c_ast.UnaryOp("&", self._with(inner, leaf, before), at)
            case c_ast.ArrayRef(name=inner, subscript=index):
                made = self._with(inner, leaf, before)
                return c_ast.ArrayRef(made, self.expression(copied(index), before), at)
            case c_ast.BinaryOp(op=op, left=left, right=right):
                if pointer_side(self.names, node) is right:
                    left, right = right, left
                made = self._with(left, leaf, before)
                return c_ast.BinaryOp(op, made, self.expression(copied(right), before), at)
            case c_ast.Cast(expr=inner):
                return self._with(inner, leaf, before)
        return leaf

    def _leaf_value(self, node: c_ast.Node, tail: Path, before: Before) -> c_ast.Node:
        """Return the value of a member of a structure that `_once` has gone over."""
        if isinstance(node, c_ast.TernaryOp):
            arms = [self._leaf_value(arm, tail, before) for arm in (node.iftrue, node.iffalse)]
            return c_ast.TernaryOp(self.expression(copied(node.cond), before), *arms, node.coord)
        place, entry = self._place(node, tail, before)
        return as_read(entry, place)

    def _once(self, node: c_ast.Node, before: Before, *, keeps_reads: bool = False) -> c_ast.Node:
        """Return a structure, or its address, as an expression that may stand several times.

        Parameters
        ----------
        keeps_reads: nothing is set between the places where it stands.
        """
        match node:
            case c_ast.ID():
                return node
            case c_ast.StructRef(name=inner):
                made = self._once(inner, before, keeps_reads=keeps_reads)
                return c_ast.StructRef(made, node.type, node.field, node.coord)
            case c_ast.ArrayRef(name=inner, subscript=index):
                made = self._once(inner, before, keeps_reads=keeps_reads)
                return c_ast.ArrayRef(made, self._steady(index, before, keeps_reads), node.coord)
            case c_ast.UnaryOp(op="*" | "&", expr=inner):
                made = self._once(inner, before, keeps_reads=keeps_reads)
                return c_ast.UnaryOp(node.op, made, node.coord)
            case c_ast.BinaryOp(op="+" | "-", left=left, right=right):
                if pointer_side(self.names, node) is right:
                    left, right = right, left
                made = self._once(left, before, keeps_reads=keeps_reads)
                step = self._steady(right, before, keeps_reads)
                return c_ast.BinaryOp(node.op, made, step, node.coord)
            case c_ast.Cast(expr=inner):
                type_ = element_of(self.names.decayed(inner))
                to = element_of(self.names.read(node.to_type))
                if isinstance(type_, RecordType) and is_whole(to) and type_.record is to.record:
                    return self._once(inner, before, keeps_reads=keeps_reads)
            case c_ast.TernaryOp() if is_whole(self.names.type_of(node)):
                layout = self._layout(self.names.type_of(node), node)
                if any(leaf.extents for leaf in layout.leaves):
                    return self._kept(node, before)
                arms = [
                    self._once(arm, None, keeps_reads=True) for arm in (node.iftrue, node.iffalse)
                ]
                condition = self._steady(node.cond, before, keeps_reads)
                return c_ast.TernaryOp(condition, *arms, node.coord)
            case c_ast.FuncCall() | c_ast.CompoundLiteral() | c_ast.Assignment():
                if is_record(self.names.type_of(node)):
                    return self._kept(node, before)
        raise self._no_structure(node)

    def _steady(self, node: c_ast.Node, before: Before, keeps_reads: bool) -> c_ast.Node:
        """Return a number that stays the same; what may change is kept in a variable."""
        if not has_effect(node) and (keeps_reads or not reads_memory(node)):
            return node
        if before is None:
            raise self._in_condition(node)
        type_ = self.names.type_of(node)
        if type_ is None or number_type(type_) is None:
            type_ = plain(LONG)
        value = self.expression(copied(node), before)
        return self.kept("at", unqualified(type_), value, node.coord, before)

    def _layout(self, type_: Type | None, node: c_ast.Node) -> Layout:
        inner = None if type_ is None else innermost(type_)
        if not isinstance(inner, RecordType):
            raise self._no_structure(node)
        return self._layouts.of(inner.record, node)

    def _leaf_name(self, symbol: Symbol, path: Path) -> str:
        """Return the name of a member of a variable; it is the same one in all functions."""
        owner: object = symbol.name
        if symbol.is_shared:
            owner = symbol.name, "shared"
        elif isinstance(symbol.node, c_ast.Decl) and "static" in symbol.node.storage:
            owner = id(symbol.node)
        key = owner, path
        if (id(symbol.node), path) in self._leaf_names:
            return self._leaf_names[id(symbol.node), path]
        if key not in self._leaf_names:
            self._leaf_names[key] = self.fresh("_".join((symbol.name, *path)))
            self.member_names.add(self._leaf_names[key])
        return self._leaf_names[key]

    def _in_condition(self, node: c_ast.Node) -> FrontendError:
        return self._refused(
            "this may be evaluated again, or not at all",
            node,
            "compute it in a statement of its own",
        )

    def _no_structure(self, node: c_ast.Node) -> FrontendError:
        root = self._root(node)
        if isinstance(root, c_ast.ID) and self.names.lookup(root.name) is None:
            return unknown_name(root.name, self._locator.span(root))
        return self._refused(
            "this is no structure whose members are known",
            node,
            "name the variable or the element of an array, or give its address",
        )

    def _as_value(self, node: c_ast.Node) -> FrontendError:
        return self._refused(
            "a structure, or a pointer to one, is used as a value",
            node,
            "use its members",
        )


def is_record(type_: Type | None) -> bool:
    """Return whether something is, consists of, or points to structures."""
    return type_ is not None and isinstance(innermost(type_), RecordType)


def is_whole(type_: Type | None) -> TypeGuard[RecordType]:
    """Return whether something is one structure."""
    return isinstance(type_, RecordType)


def _pointed_to(node: c_ast.Node, at: object) -> c_ast.Node:
    """Return what a pointer points to."""
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        return node.expr
    return c_ast.UnaryOp("*", node, at)


def leaf_type(type_: Type, leaf: Leaf) -> Type:
    """Return the type of the variable of one member."""
    inner = leaf.type
    for extent in reversed(leaf.extents):
        inner = ArrayOf(inner, extent)
    return rewrapped(type_, inner)
