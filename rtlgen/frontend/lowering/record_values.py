"""Structures as values: what they are initialised with, and assigned whole.

    p[i] = q[j];                 p_x[i] = q_x[j]; p_y[i] = q_y[j];
    t = (struct P){a, b};        t_x = a; t_y = b;

Where the order could matter, the values are kept in variables first.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from pycparser import c_ast

from rtlgen.frontend.lowering.initialisers import Initialiser
from rtlgen.frontend.lowering.layouts import (
    Entry,
    Layout,
    Leaf,
    as_stored,
    limits,
)
from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import copied, has_effect, integer, named, reads_memory
from rtlgen.frontend.lowering.record_parts import RecordParts, leaf_type
from rtlgen.frontend.lowering.rewriter import Before, gathered
from rtlgen.frontend.lowering.types import (
    INT,
    PointerTo,
    RecordType,
    Type,
    counting,
    declaration,
    innermost,
    name_coord,
    placed,
    plain,
    ranks,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import below, called_by
from rtlgen.frontend.syntax.braces import Way
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.records import Record, RecordMember


class RecordValues(RecordParts):
    """Rewrites assignments and initial values of structures."""

    def __init__(self, tree: c_ast.FileAST, locator: Locator, kernel: str) -> None:
        super().__init__(tree, locator, kernel)
        self._counters: dict[int, str] = {}
        self.shared: list[Record] = []

    def _declared(
        self,
        symbol: Symbol,
        leaf: Leaf,
        init: c_ast.Node | None = None,
        *,
        type_: Type | None = None,
        is_set: bool = False,
    ) -> c_ast.Decl:
        """Return the declaration of one member.

        Parameters
        ----------
        type_: of the variable, as it is declared.
        is_set: statements behind it set it, so that it is not constant.
        """
        node, name = symbol.node, self._leaf_name(symbol, leaf.path)
        whole = leaf_type(type_ or symbol.type, leaf)
        if not isinstance(node, c_ast.Decl):
            return declaration(name, whole, init, name_coord(node))
        if is_set:
            return declaration(name, unqualified(whole), init, name_coord(node), (), node.storage)
        return declaration(name, whole, init, name_coord(node), node.quals, node.storage)

    def _initialised(self, symbol: Symbol, init: c_ast.InitList, is_kept: bool) -> list[c_ast.Node]:
        """Return the declarations of members that have values in braces."""
        values = self._values_in(init, symbol.type)
        if is_kept:
            self.shared.append(self._record(symbol, is_parameter=False))
        before: list[c_ast.Node] = []
        made = [
            self._declared(symbol, leaf, self._values(values, symbol, leaf, init, before))
            for leaf in self._layout(symbol.type, symbol.node).leaves
        ]
        if is_kept and before:
            raise self._refused("an initial value is computed", symbol.node, "give constants")
        return [*before, *made]

    def _values_in(self, init: c_ast.InitList, type_: Type) -> Initialiser:
        """Return what braces hold, that of members of unions by the ways to where they are."""
        values = Initialiser(self.names, self._locator, type_, init)
        layout, outer = self._layout(type_, init), ranks(type_)
        for way, value in list(values.values.items()):
            path = tuple(step for step in way if isinstance(step, str))
            entry = layout.entries.get(path)
            if entry is None or entry.seen is None:
                other = entry is None and any(
                    known[: len(path)] == path and each.seen is not None
                    for known, each in layout.entries.items()
                )
                if other and path:
                    raise self._refused(
                        "a member of a union is set whole", value, "set its members one by one"
                    )
                continue
            places = [step for step in way if isinstance(step, int)]
            leaf = entry.leaf
            if len(places) != outer + len(leaf.extents):
                raise self._refused(
                    "an array in a union is set whole", value, "set its elements one by one"
                )
            moved: list[int | str] = [*places[:outer]]
            del places[:outer], values.values[way]
            for name, rank in zip(leaf.path, leaf.ranks, strict=True):
                moved += [name, *places[:rank]]
                del places[:rank]
            values.values[tuple(moved)] = as_stored(entry, value)
        return values

    def _values(
        self,
        values: Initialiser,
        symbol: Symbol,
        leaf: Leaf,
        init: c_ast.InitList,
        before: list[c_ast.Node],
    ) -> c_ast.Node | None:
        """Return the initial value of a member, given the values of the whole."""
        at = symbol.node.coord
        steps: list[str | None] = [None] * ranks(symbol.type)
        for name, rank in zip(leaf.path, leaf.ranks, strict=True):
            steps += [name, *[None] * rank]
        zero = None
        if not isinstance(leaf.type, PointerTo):
            zero = self._locator.stand_in(integer(0, at), init)

        def built(way: Way, left: Sequence[str | None]) -> c_ast.Node | None:
            known = values.around(way)
            if not left:
                return zero if known is None else self._value_in(known, way, leaf, before)
            if left[0] is not None:
                return built((*way, left[0]), left[1:])
            if known is not None and isinstance(known[1], c_ast.Constant):
                return known[1]
            if known is not None:
                raise self._refused(
                    "an array is set to a part of another structure",
                    known[1],
                    "set its members one by one",
                )
            inside = values.below(way)
            count = 1 + max((k[0] for k in inside if isinstance(k[0], int)), default=0)
            elements = [built((*way, k), left[1:]) for k in range(count)]
            return c_ast.InitList(elements, at)

        return built((), steps)

    def _value_in(
        self, known: tuple[Way, c_ast.Node], way: Way, leaf: Leaf, before: list[c_ast.Node]
    ) -> c_ast.Node:
        """Return the value of a number, or of the one in a structure that is given whole."""
        start, value = known
        names = tuple(step for step in way[len(start) :] if isinstance(step, str))
        if not names:
            return as_stored(Entry(leaf), self.expression(copied(value), before))
        return self._leaf_value(self._once(value, before), names, before)

    def _record(self, symbol: Symbol, *, is_parameter: bool) -> Record:
        """Describe a variable to the caller of the program."""
        inner, rank = innermost(symbol.type), ranks(symbol.type)
        assert isinstance(inner, RecordType)
        members = tuple(
            RecordMember(
                self._leaf_name(symbol, leaf.path), "[{}]" * rank + leaf.accessor, limits(leaf)
            )
            for leaf in self._layout(inner, symbol.node).leaves
        )
        return Record(symbol.name, inner.record.spelled, is_parameter, rank, members)

    def _copy(self, target: c_ast.Node, value: c_ast.Node, node: c_ast.Node) -> list[c_ast.Node]:
        """Return the statements that set all members of a structure."""
        made: list[c_ast.Node] = []
        match value:
            case c_ast.Assignment(op="=", lvalue=inner, rvalue=first):
                inner = self._once(inner, made)
                return [*made, *self._copy(inner, first, node), *self._copy(target, inner, node)]
            case c_ast.ExprList(exprs=[*others, last]):
                made = [part for other in others for part in self.effect(other)]
                return [*made, *self._copy(target, last, node)]
            case c_ast.TernaryOp(cond=condition, iftrue=first, iffalse=second) if (
                self._needs_statements(value)
            ):
                chosen = self.expression(condition, made)
                arms = [
                    gathered(self._copy(copied(target), arm, node), node) for arm in (first, second)
                ]
                return [*made, c_ast.If(chosen, *arms, node.coord)]
            case c_ast.FuncCall() if self._is_variable(target):
                return [*made, *self._called(value, target)]
        target = self._once(target, made)
        layout = self._layout(self.names.type_of(target), target)
        sources: Callable[[Leaf], c_ast.Node]
        if isinstance(value, c_ast.CompoundLiteral) and self._is_direct(target, value, layout):
            values = self._values_in(value.init, self.names.read(value.type))
            symbol = Symbol("", self.names.read(value.type), value)

            def sources(leaf: Leaf) -> c_ast.Node:
                found = self._values(values, symbol, leaf, value.init, made)
                if found is None:
                    raise self._refused("a pointer is left open", value, "give it its value")
                return found
        else:
            value = self._once(value, made)

            def sources(leaf: Leaf) -> c_ast.Node:
                return self._leaf_value(value, leaf.path, made)

        for leaf in layout.leaves:
            place, entry = self._place(target, leaf.path, made)

            def stored(part: c_ast.Node, entry: Entry = entry) -> c_ast.Node:
                return part if entry.seen is None else as_stored(entry, part)

            made.append(self._loops(place, sources(leaf), leaf.extents, node, stored))
        return made

    def _needs_statements(self, value: c_ast.TernaryOp) -> bool:
        """Return whether the choice between two structures is more than one between numbers."""
        if any(isinstance(part, c_ast.FuncCall | c_ast.CompoundLiteral) for part in below(value)):
            return True
        leaves = self._layout(self.names.type_of(value), value).leaves
        return any(leaf.extents for leaf in leaves)

    def _is_direct(self, target: c_ast.Node, value: c_ast.CompoundLiteral, layout: Layout) -> bool:
        """Return whether the members may be set one after the other to the values in braces."""
        if any(leaf.extents for leaf in layout.leaves):
            return False
        root = self._root(target)
        if not isinstance(root, c_ast.ID) or isinstance(self.names.type_of(root), PointerTo):
            return not reads_memory(value.init) and not has_effect(value.init)
        return not any(
            (isinstance(part, c_ast.ID) and part.name == root.name)
            or isinstance(part, c_ast.FuncCall)
            or _reads_through_pointer(part)
            for part in below(value.init)
        )

    def _is_variable(self, target: c_ast.Node) -> bool:
        """Return whether a function may put what it returns straight into a structure.

        It does that last of all, so that it may see the structure before.
        """
        symbol = self.names.lookup(target.name) if isinstance(target, c_ast.ID) else None
        return symbol is not None and isinstance(symbol.type, RecordType)

    def _loops(
        self,
        target: c_ast.Node,
        value: c_ast.Node,
        extents: Sequence[c_ast.Node | None],
        node: c_ast.Node,
        stored: Callable[[c_ast.Node], c_ast.Node],
    ) -> c_ast.Node:
        """Return what sets a number, or all elements of an array."""
        at = node.coord
        if not extents:
            made = c_ast.Assignment("=", target, stored(value), at)
            return self._locator.stand_in(made, node)
        name = self._counter(len(extents))
        inner = self._loops(
            c_ast.ArrayRef(target, named(name, at), at),
            c_ast.ArrayRef(value, named(name, at), at),
            extents[1:],
            node,
            stored,
        )
        end = placed(extents[0], at)
        if end is None:
            raise self._refused(
                "a structure with an array of unknown size is set whole",
                node,
                "set its members one by one",
            )
        return counting(name, end, inner, at)

    def _counter(self, depth: int) -> str:
        """Return the name of what counts the loops over an array of so many dimensions."""
        if depth not in self._counters:
            self._counters[depth] = self.fresh("k")
        return self._counters[depth]

    def _kept(self, node: c_ast.Node, before: Before) -> c_ast.ID:
        """Put a structure that has no name into a variable."""
        if before is None:
            raise self._in_condition(node)
        type_, at = self.names.type_of(node), node.coord
        if type_ is None or isinstance(type_, PointerTo):
            raise self._refused(
                "it is not known what this points to", node, "name the variable itself"
            )
        called = called_by(node) or "given"
        name = self.fresh(f"{called}_value")
        symbol = self.names.bind(Symbol(name, type_, declaration(name, plain(INT), None, at)))
        target = named(name, at)
        if isinstance(node, c_ast.CompoundLiteral):
            before += self._initialised(symbol, node.init, is_kept=False)
            return target
        before += [self._declared(symbol, leaf) for leaf in self._layout(type_, node).leaves]
        if isinstance(node, c_ast.FuncCall):
            before += self._called(node, target)
        else:
            before += self._copy(target, node, node)
        return target


def _reads_through_pointer(node: c_ast.Node) -> bool:
    return (isinstance(node, c_ast.UnaryOp) and node.op == "*") or (
        isinstance(node, c_ast.StructRef) and node.type == "->"
    )
