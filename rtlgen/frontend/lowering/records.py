"""Structures and unions become one variable for each of their members.

Rewrite
-------
    struct P { int x, y[2]; } p[8];            int p_x[8], p_y[8][2];
    p[i].x = q->y[1];                          p_x[i] = (*q_y)[1];
    p[i] = p[j];                               p_x[i] = p_x[j]; p_y[i][0..1] = p_y[j][0..1];
    move(&p[i], s);                            move(&p_x[i], &p_y[i], s_x, s_y);
    struct P f(int n) { ... return r; }        void f(int *f_x, int (*f_y)[2], int n) { ... }
    t = f(3);                                  f(&t_x, &t_y, 3);

Of what C evaluates once, such as a subscript with a call in it, the value is kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, replace

from pycparser import c_ast

from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import changed, copied, integer, is_void, named, variable_of
from rtlgen.frontend.lowering.pointer_members import GivenPointers
from rtlgen.frontend.lowering.record_parts import is_record, is_whole, leaf_type
from rtlgen.frontend.lowering.record_values import RecordValues
from rtlgen.frontend.lowering.rewriter import Refused
from rtlgen.frontend.lowering.types import (
    PointerTo,
    RecordType,
    Returning,
    declaration,
    element_of,
    type_name,
    unqualified,
)
from rtlgen.frontend.reading.types import SUFFIX
from rtlgen.frontend.syntax.assigned import STEPS, below
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import BLOCK_CALLS
from rtlgen.ir.records import Record, RecordMember


@dataclass(frozen=True, slots=True)
class Records:
    """The structures that a caller of the program sees.

    Members
    -------
    parameters: of each function. shared: everything that outlives its calls.
    members: the names of all variables that are members.
    refused: what is refused, by the function in which it stands.
    """

    parameters: Mapping[str, Sequence[Record]]
    shared: Sequence[Record]
    members: Set[str]
    refused: Refused

    def of(self, function: str) -> tuple[Record, ...]:
        """Return those that a function is called with, or may leave something in."""
        return (*self.parameters.get(function, ()), *self.shared)

    def extents(self, function: str, fixed: Mapping[str, str]) -> dict[str, str]:
        """Return the extents that options give to structures, as those of their members."""
        return {
            f"{member.array}{SUFFIX}": fixed[f"{record.name}{SUFFIX}"]
            for record in self.parameters.get(function, ())
            for member in record.members
            if not member.is_pointed_to
            if f"{record.name}{SUFFIX}" in fixed
        }


def split_records(
    tree: c_ast.FileAST,
    locator: Locator,
    kernel: str,
    pointers: Mapping[tuple[str, str], GivenPointers],
) -> Records:
    """Rewrite the structures and unions of a file in place.

    What has no meaning for members one by one is refused.

    Parameters
    ----------
    kernel: the function that is read: what is no number is left out where it does not use it.
    pointers: that were in the structures that functions are given.
    """
    splitter = _Splitter(tree, locator, kernel, pointers)
    if any(isinstance(node, c_ast.Struct | c_ast.Union) for node in below(tree)):
        splitter.file()
    return Records(splitter.parameters_of, splitter.shared, splitter.member_names, splitter.refused)


class _Splitter(RecordValues):
    """Rewrites declarations, functions and statements."""

    def __init__(
        self,
        tree: c_ast.FileAST,
        locator: Locator,
        kernel: str,
        pointers: Mapping[tuple[str, str], GivenPointers],
    ) -> None:
        super().__init__(tree, locator, kernel)
        self._given = pointers
        self._result: Symbol | None = None
        self.parameters_of: dict[str, list[Record]] = {}

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        symbol = self.names.declare(node)
        has_layout = self._layouts.exists(symbol.type, node)
        if isinstance(node, c_ast.Typedef):
            return [] if has_layout else [node]
        if isinstance(symbol.type, Returning):
            self._prototype(node, symbol.type)
            return [node]
        if has_layout:
            return self._split(node, symbol)
        before: list[c_ast.Node] = []
        self._extents(node.type)
        if node.init is not None:
            node.init = self.expression(node.init, None if symbol.is_shared else before)
        return [*before, node]

    def _extents(self, type_: c_ast.Node) -> None:
        """Rewrite the sizes of arrays, which may be those of structures."""
        while isinstance(type_, c_ast.ArrayDecl | c_ast.PtrDecl):
            if isinstance(type_, c_ast.ArrayDecl) and type_.dim is not None:
                type_.dim = self.expression(type_.dim, None)
            type_ = type_.type

    def _split(self, node: c_ast.Decl, symbol: Symbol) -> list[c_ast.Node]:
        """Return the declarations of the members of a variable."""
        if node.name is None:
            return []
        layout, init = self._layout(symbol.type, node), node.init
        is_kept = symbol.is_shared or "static" in node.storage
        if isinstance(init, c_ast.InitList):
            return self._initialised(symbol, init, is_kept)
        if is_kept and not isinstance(symbol.type, PointerTo):
            self.shared.append(self._record(symbol, is_parameter=False))
        if init is None:
            return [self._declared(symbol, leaf) for leaf in layout.leaves]
        if isinstance(symbol.type, PointerTo):
            before: list[c_ast.Node] = []
            init = self._once(init, before, keeps_reads=True)
            made = [
                self._declared(symbol, leaf, self._rebuilt(init, leaf.path, before))
                for leaf in layout.leaves
            ]
            return [*before, *made]
        # Its members are declared, and then set.
        declared = [self._declared(symbol, leaf, is_set=True) for leaf in layout.leaves]
        return [*declared, *self._copy(named(node.name, node.coord), init, node)]

    def _prototype(self, node: c_ast.Decl, type_: Returning) -> None:
        """Rewrite what a function that is only declared takes."""
        if any(map(is_record, (*type_.parameters, type_.result))):
            with self.names.block():
                self._take(node)
                result = type_.result
                if isinstance(result, RecordType) and self._layouts.exists(result, node):
                    self._hand_back(node, result)

    def _take(self, node: c_ast.Decl) -> list[Symbol]:
        """Declare the parameters of a function, and rewrite them; return the structures."""
        found: list[Symbol] = []
        listed: list[c_ast.Node] = []
        arguments = node.type.args
        for parameter in arguments.params if arguments is not None else ():
            if not isinstance(parameter, c_ast.Decl) or not parameter.name:
                listed += self._nameless(parameter)
                continue
            symbol = self.names.declare(parameter, is_parameter=True)
            if not self._layouts.exists(symbol.type, parameter):
                self._extents(parameter.type)
                listed.append(parameter)
                continue
            found.append(symbol)
            type_ = self.names.read(parameter.type)
            leaves = self._layout(type_, parameter).leaves
            listed += [self._declared(symbol, leaf, type_=type_) for leaf in leaves]
        if arguments is not None:
            arguments.params = listed
        return found

    def _nameless(self, parameter: c_ast.Node) -> list[c_ast.Node]:
        """Return what stands in place of a parameter without a name."""
        if not isinstance(parameter, c_ast.Typename):
            return [parameter]
        type_ = self.names.read(parameter)
        if not self._layouts.exists(type_, parameter):
            return [parameter]
        leaves = self._layout(type_, parameter).leaves
        return [type_name(leaf_type(type_, leaf), parameter.coord) for leaf in leaves]

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        result = self.names.read(node.decl.type.type)
        taken = self._take(node.decl)
        self.parameters_of[node.decl.name] = [
            self._with_pointers(self._record(symbol, is_parameter=True), node.decl.name)
            for symbol in taken
        ]
        self._result = None
        if isinstance(result, RecordType) and self._layouts.exists(result, node):
            self._result = self._hand_back(node.decl, result)
            returned = self._record(self._result, is_parameter=True)
            self.parameters_of[node.decl.name].append(replace(returned, is_result=True))
        # What is handed over by address is only read, and needs no copy.
        given = [
            symbol
            for symbol in taken
            if isinstance(symbol.type, RecordType) and not self._is_address(node, symbol)
        ]
        if not given or _is_quiet(node):
            return []
        return [part for symbol in given for part in self._own_arrays(symbol)]

    def _is_address(self, function: c_ast.FuncDef, symbol: Symbol) -> bool:
        given = self._given.get((function.decl.name, symbol.name))
        return given is not None and given.is_by_value

    def _with_pointers(self, record: Record, function: str) -> Record:
        """Describe what the pointers in a structure point to, too."""
        given = self._given.get((function, record.name))
        if given is None:
            return record
        start = "[0]" * record.rank
        arrays = [RecordMember(x, start + way, is_pointed_to=True) for x, way in given.arrays]
        members = (*record.members, *arrays)
        return replace(record, members=members, is_address=given.is_by_value)

    def _hand_back(self, node: c_ast.Decl, result: RecordType) -> Symbol:
        """Let a function put what it returns into a variable of its caller."""
        at, function = node.coord, node.type
        pointer = PointerTo(RecordType(result.record))
        name = self.fresh("result")
        symbol = self.names.bind(Symbol(name, pointer, function, is_parameter=True))
        made = [self._declared(symbol, leaf) for leaf in self._layout(pointer, node).leaves]
        if function.args is None:
            function.args = c_ast.ParamList([], at)
        others = [
            p
            for p in function.args.params
            if not (isinstance(p, c_ast.Typename) and is_void(p.type))
        ]
        function.args.params = [*made, *others]
        void = c_ast.IdentifierType(["void"], at)
        function.type = c_ast.TypeDecl(node.name, [], None, void, at)
        return symbol

    def _own_arrays(self, symbol: Symbol) -> list[c_ast.Node]:
        """Copy the arrays of a structure that a function is given by value, and may change."""
        made: list[c_ast.Node] = []
        at = symbol.node.coord
        for leaf in self._layout(symbol.type, symbol.node).leaves:
            if leaf.extents:
                given = self._leaf_name(symbol, leaf.path)
                name = self.fresh(f"{given}_own")
                type_ = unqualified(leaf_type(symbol.type, leaf))
                made.append(declaration(name, type_, None, at))
                ends = named(name, at), named(given, at)
                made.append(self._loops(*ends, leaf.extents, symbol.node, lambda value: value))
                self._leaf_names[id(symbol.node), leaf.path] = name
        return made

    def result(self, node: c_ast.Return) -> list[c_ast.Node]:
        if self._result is None or node.expr is None:
            return super().result(node)
        self._locator.keep(node)
        target = c_ast.UnaryOp("*", named(self._result.name, node.coord), node.coord)
        return [*self._copy(target, node.expr, node), c_ast.Return(None, node.coord)]

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        self._locator.keep(node)
        match node:
            case c_ast.ExprList(exprs=parts):
                return [made for part in parts for made in self.effect(part)]
            case c_ast.Assignment(op="=") if is_whole(self.names.type_of(node.lvalue)):
                return self._copy(node.lvalue, node.rvalue, node)
            case c_ast.Cast(expr=inner) if is_record(self.names.decayed(inner)):
                # `(void)p;` says that it is not used.
                return []
            case c_ast.FuncCall() if is_whole(self.names.type_of(node)):
                before: list[c_ast.Node] = []
                self._kept(node, before)
                return before
            case c_ast.FuncCall(name=c_ast.ID(name=name)) if name in BLOCK_CALLS:
                return self._block_call(node)
            case c_ast.Assignment(lvalue=target) if self._is_part(target):
                before = []
                made = self._assigned(node, before)
                return [*before, made]
            case c_ast.UnaryOp(op=op, expr=inner) if op in STEPS and self._is_part(inner):
                before = []
                made = self._stepped(node, before)
                return [*before, made]
        return super().effect(node)

    def listed(self, node: c_ast.Node) -> c_ast.Node | None:
        made = self.effect(node)
        if any(isinstance(part, c_ast.Decl | c_ast.For | c_ast.If) for part in made):
            raise self._refused(
                "a structure is set in the header of a loop",
                node,
                "set it before the loop, or at the end of its body",
            )
        return self.sequence(made, node)

    def _block_call(self, node: c_ast.FuncCall) -> list[c_ast.Node]:
        """Rewrite `memcpy` and its like on structures."""
        arguments = list(node.args.exprs) if node.args is not None else []
        whole = element_of(self.names.decayed(arguments[0])) if len(arguments) == 3 else None
        if not isinstance(whole, RecordType):
            return super().effect(node)
        size = self.names.size(whole)
        count = self._count_of(arguments[2], whole)
        source = arguments[1]
        is_set = node.name.name == "memset"
        other = None if is_set else element_of(self.names.decayed(source))
        fits = isinstance(other, RecordType) and other.record is whole.record
        if size is None or count is None or not (fits or self.names.constant(source) == 0):
            raise self._refused(
                f"`{node.name.name}` of something else than whole structures",
                node,
                "assign the structures, or their members",
            )
        made: list[c_ast.Node] = []
        target = self._once(arguments[0], made, keeps_reads=True)
        source = source if is_set else self._once(source, made, keeps_reads=True)
        for leaf in self._layout(whole, node).leaves:
            bytes_each = self.names.size(leaf_type(RecordType(whole.record), leaf))
            scale = integer(bytes_each or 0, node.coord)
            total = c_ast.BinaryOp("*", copied(count), scale, node.coord)
            first = self._rebuilt(target, leaf.path, made)
            second = copied(source) if is_set else self._rebuilt(source, leaf.path, made)
            listed = c_ast.ExprList([first, second, total], node.coord)
            made.append(c_ast.FuncCall(copied(node.name), listed, node.coord))
        return made

    def _count_of(self, node: c_ast.Node, whole: RecordType) -> c_ast.Node | None:
        """Return how many structures so many bytes are."""
        size, known = self.names.size(whole), self.names.constant(node)
        if size and known is not None and known % size == 0:
            return integer(known // size, node.coord)
        if isinstance(node, c_ast.BinaryOp) and node.op == "*":
            for count, each in ((node.left, node.right), (node.right, node.left)):
                if size and self.names.constant(each) == size:
                    return count
        return None


def _is_quiet(node: c_ast.FuncDef) -> bool:
    """Return whether a function surely changes nothing but scalars and arrays of its own."""
    own = {
        part.name
        for part in below(node.body)
        if isinstance(part, c_ast.Decl)
        and not part.storage
        and isinstance(part.type, c_ast.TypeDecl | c_ast.ArrayDecl)
    }
    for part in below(node.body):
        if isinstance(part, c_ast.FuncCall):
            return False
        target = changed(part, "&")
        if target is not None and variable_of(target) not in own:
            return False
    return True
