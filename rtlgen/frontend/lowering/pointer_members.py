"""Pointers in structures become variables of their own.

Rewrite
-------
    struct M { int rows, *data; };             struct M { int rows; };
    struct M a = {3, x}; a.data = y;           struct M a = {.rows = 3}; int *a_data = x; ..
                                               a_data = y;
    s += m->data[i];                           s += m_data[i];
    b = a;                                     b = a; b_data = a_data;
    sum(&a);                                   sum(&a, a_data);
    int sum(const struct M *m)                 int sum(const struct M *m, int *m_data)
    int kernel(const struct M *m)              int kernel(const struct M m, int *m_data)

What the host hands to a kernel by way of a pointer to a structure is one structure, whether or not
there are pointers in it, so its numbers are parameters where the kernel only reads them, and what
its pointers point to are arrays. Who holds a copy of a pointer would not see that the structure is
set to another one, so that is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.errors import FrontendError, PointerUnsupported
from rtlgen.frontend.lowering.initialisers import Initialiser
from rtlgen.frontend.lowering.names import Symbol
from rtlgen.frontend.lowering.nodes import assign, changed, copied, named
from rtlgen.frontend.lowering.pointer_values import is_null
from rtlgen.frontend.lowering.rewriter import Before, Refused, Rewriter
from rtlgen.frontend.lowering.types import (
    ArrayOf,
    Plain,
    PointerTo,
    Record,
    RecordType,
    Returning,
    Type,
    as_value,
    declaration,
    type_name,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator

Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class GivenPointers:
    """The pointers in a structure that a function is given.

    Members
    -------
    arrays: the names of what they point to, and how C names the pointers in the structure.
    is_by_value: the structure itself is given where C gives its address.
    """

    arrays: tuple[tuple[str, str], ...]
    is_by_value: bool


@dataclass(frozen=True, slots=True)
class PointerMembers:
    """What became of the pointers in structures.

    Members
    -------
    given: to each function, by its name and the name of the parameter.
    """

    given: Mapping[tuple[str, str], GivenPointers]
    refused: Refused


def part_pointers(tree: c_ast.FileAST, locator: Locator, kernel: str) -> PointerMembers:
    """Rewrite the structures of a file that hold pointers to numbers in place.

    Parameters
    ----------
    kernel: the name of the function that the host calls.
    """
    parter = _Parter(tree, locator, kernel)
    if any(isinstance(node, c_ast.Struct) for node in below(tree)):
        parter.file()
        parter.drop()
    return PointerMembers(parter.given, parter.refused)


class _Parter(Rewriter):
    """Walks a file, and gives each such pointer a name.

    Members
    -------
    given: of each function, by the name of the parameter.
    """

    refusing = PointerUnsupported

    def __init__(self, tree: c_ast.FileAST, locator: Locator, kernel: str) -> None:
        super().__init__(tree, locator)
        self._kernel = kernel
        self._known: dict[int, tuple[Record, dict[Path, Type]]] = {}
        self._pointers: dict[tuple[int, Path], str] = {}
        self._named: dict[str, list[str]] = {}
        self._owners: dict[str, set[str]] = {}
        self._holders: list[Symbol] = []
        self._by_value: set[int] = set()
        self.given: dict[tuple[str, str], GivenPointers] = {}

    def drop(self) -> None:
        """Take the pointers out of the structures."""
        for record, paths in self._known.values():
            own = {path[0] for path in paths if len(path) == 1}
            node = record.node
            if isinstance(node, c_ast.Struct) and own:
                node.decls = [each for each in node.decls or () if each.name not in own]

    # Types.

    def _paths(self, type_: Type | None) -> dict[Path, Type]:
        """Return the pointers in a structure, or in what a pointer points to."""
        inner = type_.to if isinstance(type_, PointerTo) else type_
        if not isinstance(inner, RecordType) or inner.record.keyword != "struct":
            return {}
        record = inner.record
        if id(record) in self._known:
            return self._known[id(record)][1]
        if record.members is None:
            # It may be defined further down.
            return {}
        # One that points to itself has none.
        self._known[id(record)] = record, {}
        found: dict[Path, Type] = {}
        for member in record.members:
            own = () if member.name is None else (member.name,)
            if isinstance(member.type, PointerTo) and own and self._is_flat(member.type.to):
                found[own] = unqualified(member.type)
            for path, inside in self._paths_of_member(member.type).items():
                found[own + path] = inside
        self._known[id(record)] = record, found
        return found

    def _paths_of_member(self, type_: Type) -> dict[Path, Type]:
        return self._paths(type_) if isinstance(type_, RecordType) else {}

    def _is_record(self, type_: Type) -> bool:
        """Return whether something is a structure whose size is known."""
        if not isinstance(type_, RecordType) or type_.record.keyword != "struct":
            return False
        return self.names.size(type_) is not None

    def _is_flat(self, type_: Type) -> bool:
        """Return whether something is made of numbers."""
        while isinstance(type_, ArrayOf):
            type_ = type_.of
        if isinstance(type_, RecordType):
            members = type_.record.members or ()
            return bool(members) and all(self._is_flat(member.type) for member in members)
        return isinstance(type_, Plain) and type_.number is not None

    # Declarations.

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        symbol = self.names.declare(node)
        if isinstance(node, c_ast.Typedef):
            self._paths(symbol.type)
            return [node]
        if isinstance(symbol.type, Returning):
            self._prototype(node)
            return [node]
        paths = self._paths(symbol.type)
        if not paths or node.name is None:
            if node.init is None:
                return [node]
            before: list[c_ast.Node] = []
            node.init = self.expression(node.init, None if symbol.is_shared else before)
            return [*before, node]
        if isinstance(symbol.type, PointerTo):
            self._holders.append(symbol)
        values = {} if node.init is None else self._split_init(node, symbol)
        made = [
            declaration(
                self._name(symbol, path), type_, values.get(path), node.coord, (), node.storage
            )
            for path, type_ in paths.items()
        ]
        return [node, *made]

    def _split_init(self, node: c_ast.Decl, symbol: Symbol) -> dict[Path, c_ast.Node]:
        """Take the pointers out of an initial value."""
        init = node.init
        if isinstance(init, c_ast.CompoundLiteral) and isinstance(symbol.type, RecordType):
            init = init.init
        if not isinstance(init, c_ast.InitList):
            values = self._copied(init, symbol.type)
            node.init = self.expression(init, None)
            return values
        node.init, values = self._pulled(init, symbol.type)
        return values

    def _pulled(
        self, init: c_ast.InitList, type_: Type
    ) -> tuple[c_ast.InitList, dict[Path, c_ast.Node]]:
        """Return the values of numbers, and those of pointers."""
        values = Initialiser(self.names, self._locator, type_, init).values
        pointers: dict[Path, c_ast.Node] = {}
        for path in self._paths(type_):
            if path in values:
                pointers[path] = self.expression(values.pop(path), None)
                continue
            for end in range(1, len(path)):
                if path[:end] in values:
                    pointers[path] = self._pointer_of(values[path[:end]], path[end:])
        listed: list[c_ast.Node] = []
        for way, value in values.items():
            at = value.coord
            ids = [c_ast.ID(x, at) if isinstance(x, str) else _number(x, at) for x in way]
            listed.append(c_ast.NamedInitializer(ids, self.expression(value, None), at))
        return c_ast.InitList(listed, init.coord), pointers

    def _name(self, symbol: Symbol, path: Path) -> str:
        """Return the variable that a pointer in a structure becomes."""
        key = id(symbol.node), path
        if key not in self._pointers:
            plain = "_".join((symbol.name, *path))
            owner = "" if symbol.is_shared else self.function
            # One name serves variables of several functions.
            name = next((x for x in self._named.get(plain, ()) if self._may_take(x, owner)), None)
            if name is None:
                name = self.fresh(plain)
                self._named.setdefault(plain, []).append(name)
            self._owners.setdefault(name, set()).add(owner)
            self._pointers[key] = name
        return self._pointers[key]

    def _may_take(self, name: str, owner: str) -> bool:
        """Return whether a function may have a variable of a name that others have."""
        return bool(owner) and not self._owners[name] & {owner, ""}

    # Functions.

    def _prototype(self, node: c_ast.Decl) -> None:
        arguments = node.type.args
        if arguments is None:
            return
        listed: list[c_ast.Node] = []
        for parameter in arguments.params:
            listed.append(parameter)
            if isinstance(parameter, c_ast.Decl | c_ast.Typename):
                type_ = as_value(self.names.read(parameter))
                listed += [type_name(each, parameter.coord) for each in self._paths(type_).values()]
        arguments.params = listed

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        arguments = node.decl.type.args
        self._holders = []
        listed: list[c_ast.Node] = []
        for parameter in arguments.params if arguments is not None else ():
            listed.append(parameter)
            if not isinstance(parameter, c_ast.Decl) or not parameter.name:
                continue
            symbol = self.names.declare(parameter, is_parameter=True)
            paths = self._paths(symbol.type)
            if self._is_only_read(node, symbol):
                parameter.type = parameter.type.type
                symbol = self.names.declare(parameter, is_parameter=True)
                self._by_value.add(id(parameter))
            elif not paths:
                continue
            elif isinstance(symbol.type, PointerTo):
                self._holders.append(symbol)
            listed += [
                declaration(self._name(symbol, path), type_, None, parameter.coord)
                for path, type_ in paths.items()
            ]
            arrays = [(self._name(symbol, path), "." + ".".join(path)) for path in paths]
            is_by_value = id(parameter) in self._by_value
            self.given[node.decl.name, parameter.name] = GivenPointers(tuple(arrays), is_by_value)
        if arguments is not None:
            arguments.params = listed
        return []

    def _is_only_read(self, node: c_ast.FuncDef, symbol: Symbol) -> bool:
        """Return whether the host's structure may be handed over by value."""
        is_pointer = isinstance(symbol.node, c_ast.Decl) and isinstance(
            symbol.node.type, c_ast.PtrDecl
        )
        is_pointer &= isinstance(symbol.type, PointerTo) and self._is_record(symbol.type.to)
        if node.decl.name != self._kernel or not is_pointer:
            return False
        if self._hands_out_elements(node.body, symbol):
            return False
        allowed = 0
        for part in below(node.body):
            target = changed(part, "&")
            if target is not None and self._begins_with(target, symbol.name):
                return False
            match part:
                case c_ast.StructRef(name=c_ast.ID(name=name), type="->") if name == symbol.name:
                    allowed += 1
                case c_ast.UnaryOp(op="*" | "!", expr=c_ast.ID(name=name)) if name == symbol.name:
                    allowed += 1
                case c_ast.BinaryOp(op="==" | "!=", left=a, right=b):
                    names = [getattr(x, "name", None) for x in (a, b)]
                    is_asked = is_null(self.names, a) or is_null(self.names, b)
                    allowed += is_asked and symbol.name in names
                case c_ast.FuncCall(args=c_ast.ExprList(exprs=given)):
                    allowed += sum(
                        getattr(argument, "name", None) == symbol.name and _is_constant(as_)
                        for argument, as_ in zip(given, self.names.taken(part), strict=False)
                    )
        uses = sum(isinstance(x, c_ast.ID) and x.name == symbol.name for x in below(node.body))
        return bool(uses == allowed)

    def _hands_out_elements(self, body: c_ast.Node, symbol: Symbol) -> bool:
        """Return whether an array in a structure that may change is more than part of a name."""
        if _is_constant(symbol.type):
            return False
        started = {id(part.name) for part in below(body) if isinstance(part, c_ast.ArrayRef)}
        return any(
            isinstance(part, c_ast.StructRef | c_ast.ArrayRef)
            and id(part) not in started
            and self._begins_with(part, symbol.name)
            and isinstance(self.names.type_of(part), ArrayOf)
            for part in below(body)
        )

    def _begins_with(self, node: c_ast.Node, name: str) -> bool:
        """Return whether something is a part of a structure, not of what this points to."""
        match node:
            case c_ast.ID():
                return bool(node.name == name)
            case c_ast.StructRef(name=inner) | c_ast.ArrayRef(name=inner):
                is_pointer = isinstance(self.names.type_of(inner), PointerTo)
                is_member = is_pointer and not isinstance(inner, c_ast.ID)
                return not is_member and self._begins_with(inner, name)
            case c_ast.UnaryOp(op="*" | "&", expr=inner) | c_ast.Cast(expr=inner):
                is_member = isinstance(inner, c_ast.StructRef) and node.op == "*"
                return not is_member and self._begins_with(inner, name)
        return False

    # Statements.

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        if isinstance(node, c_ast.Assignment):
            type_ = self.names.type_of(node.lvalue)
            paths = self._paths(type_)
            if paths:
                return self._whole(node, type_, paths)
        return super().effect(node)

    def _whole(
        self, node: c_ast.Assignment, type_: Type | None, paths: Mapping[Path, Type]
    ) -> list[c_ast.Node]:
        """Return the assignments of a structure, or of a pointer to one, and of its pointers."""
        self._locator.keep(node)
        if node.op != "=":
            raise self._one_structure(node)
        if isinstance(type_, RecordType):
            self._require_own(node.lvalue)
        value = node.rvalue
        if isinstance(value, c_ast.CompoundLiteral):
            value.init, found = self._pulled(value.init, self.names.read(value.type))
        else:
            found = self._copied(value, type_)
            value = self.expression(value, None)
        targets = {path: self._pointer_of(node.lvalue, path) for path in paths}
        node.lvalue, node.rvalue = self.expression(node.lvalue, None), value
        made: list[c_ast.Node] = [node]
        for path, target in targets.items():
            if path in found and isinstance(target, c_ast.ID):
                made.append(assign(target.name, found[path], node.coord))
        return made

    def _copied(self, value: c_ast.Node, type_: Type | None) -> dict[Path, c_ast.Node]:
        """Return the pointers of a structure that is assigned, or that a pointer is set to."""
        if isinstance(type_, PointerTo) and is_null(self.names, value):
            return {}
        return {path: self._pointer_of(value, path) for path in self._paths(type_)}

    def result(self, node: c_ast.Return) -> list[c_ast.Node]:
        if node.expr is not None and self._paths(self.names.type_of(node.expr)):
            message = "a structure with pointers is returned"
            raise self._refused(message, node, "let the caller hand over the arrays")
        return super().result(node)

    # Expressions.

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        match node:
            case c_ast.StructRef():
                found = self._pointer(node)
                if found is not None:
                    return found
                if self._is_by_value(node.name) and node.type == "->":
                    return c_ast.StructRef(node.name, ".", node.field, node.coord)
            case c_ast.UnaryOp(op="*", expr=inner) if self._is_by_value(inner):
                return inner
            case c_ast.ID() if self._is_by_value(node):
                return c_ast.UnaryOp("&", node, node.coord)
            case c_ast.FuncCall():
                return self._call(node, before)
            case c_ast.Assignment() if self._paths(self.names.type_of(node.lvalue)):
                message = "a structure with pointers is set inside an expression"
                raise self._refused(message, node, "make it a statement of its own")
        target = changed(node)
        if target is not None:
            if self._paths(self.names.type_of(target)):
                raise self._one_structure(node)
            if isinstance(target, c_ast.StructRef) and self._pointer(target) is not None:
                self._require_own(target)
        return self.inside(node, before)

    def _call(self, node: c_ast.FuncCall, before: Before) -> c_ast.Node:
        taken = self.names.taken(node)
        if self._paths(self.names.type_of(node)):
            message = "a function returns a structure with pointers"
            raise self._refused(message, node, "let the caller hand over the arrays")
        listed: list[c_ast.Node] = []
        for place, argument in enumerate(node.args.exprs if node.args is not None else ()):
            as_ = taken[place] if place < len(taken) else None
            more = [self._pointer_of(argument, path) for path in self._paths(as_)]
            listed += [self.expression(argument, before), *more]
        if node.args is not None:
            node.args.exprs = listed
        return node

    # Pointers.

    def _is_by_value(self, node: c_ast.Node) -> bool:
        symbol = self.names.lookup(node.name) if isinstance(node, c_ast.ID) else None
        return symbol is not None and id(symbol.node) in self._by_value

    def _pointer(self, node: c_ast.StructRef) -> c_ast.Node | None:
        """Return the variable in place of a member; None if it is another one."""
        path: Path = (node.field.name,)
        # One that is given by value now was a pointer in the text.
        if path not in self._paths(self.names.decayed(node.name)):
            return None
        return self._pointer_of(node.name, path)

    def _pointer_of(self, node: c_ast.Node, path: Path) -> c_ast.Node:
        """Return a pointer in a structure that an expression names, or points to."""
        if isinstance(node, c_ast.TernaryOp):
            arms = [self._pointer_of(arm, path) for arm in (node.iftrue, node.iffalse)]
            return c_ast.TernaryOp(self.expression(copied(node.cond), None), *arms, node.coord)
        place = self._place(node)
        symbol = None if place is None else place[0]
        whole = None if place is None else (*place[1], *path)
        if symbol is None or whole is None or whole not in self._paths(symbol.type):
            raise self._one_structure(node)
        return self._locator.stand_in(named(self._name(symbol, whole), node.coord), node)

    def _place(self, node: c_ast.Node) -> tuple[Symbol, Path] | None:
        """Return the variable that a structure is, or is in, and the way there."""
        match node:
            case c_ast.ID(name=name):
                symbol = self.names.lookup(name)
                return None if symbol is None or symbol.is_type else (symbol, ())
            case c_ast.StructRef(name=inner, field=member):
                found = self._place(inner)
                return None if found is None else (found[0], (*found[1], member.name))
            case c_ast.UnaryOp(op="*" | "&", expr=inner) | c_ast.Cast(expr=inner):
                return self._place(inner)
            case c_ast.ArrayRef(name=inner, subscript=index):
                return self._place(inner) if self.names.constant(index) == 0 else None
        return None

    def _require_own(self, node: c_ast.Node) -> None:
        """Refuse to set a pointer of which somebody may hold a copy."""
        place = self._place(node)
        symbol = None if place is None else place[0]
        is_seen = symbol is not None and not (symbol.is_own or symbol.is_parameter)
        if symbol is None or is_seen or isinstance(symbol.type, PointerTo):
            message = "a pointer in a structure is set where others may hold a copy of it"
            remedy = "set it where the structure is declared, and move a pointer of its own"
            raise self._refused(message, node, remedy)
        for holder in self._in_sight():
            if not holder.is_parameter:
                message = f"a pointer in a structure is set, and `{holder.name}` may point to that"
                raise self._refused(message, node, "let it point there behind this")

    def _in_sight(self) -> Iterator[Symbol]:
        for symbol in self._holders:
            found = self.names.lookup(symbol.name)
            if found is not None and found.node is symbol.node:
                yield symbol

    def _one_structure(self, node: c_ast.Node) -> FrontendError:
        message = "a structure with pointers is no variable of its own"
        remedy = "put what the pointers of all structures point to into one array, by rows"
        return self._refused(message, node, remedy)


def _is_constant(type_: Type) -> bool:
    """Return whether a parameter points to something that is not changed there."""
    return isinstance(type_, PointerTo) and "const" in getattr(type_.to, "quals", ())


def _number(value: int, at: object) -> c_ast.Constant:
    return c_ast.Constant("int", str(value), at)
