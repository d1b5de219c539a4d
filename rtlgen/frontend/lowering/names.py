"""What names mean at a place of the tree: the types of variables, and of expressions.

C's scopes are kept, with tags and typedefs; what the reader of statements decides later, such as
which parameters are fixed, is not known here.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.constants import character_constant, integer_constant
from rtlgen.frontend.lowering.types import (
    ArrayOf,
    Keyword,
    Member,
    Plain,
    PointerTo,
    Record,
    RecordType,
    Returning,
    Type,
    element_of,
    qualified,
)
from rtlgen.frontend.writers import below

_BYTES = {("char",): 1, ("short",): 2, (): 4, ("long",): 8, ("long", "long"): 8}
_OTHER_BYTES = {("float",): 4, ("double",): 8, ("_Bool",): 1, ("double", "long"): 16}
_POINTER_BYTES = 8
_INT = Plain(("int",))
_SIZE = Plain(("unsigned", "long"))
_DIFFERENCE = Plain(("long",))
_COMPARISONS = frozenset(("==", "!=", "<", "<=", ">", ">=", "&&", "||"))


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """What a name is declared as.

    Members
    -------
    node: its declaration. value: of an enumeration constant, or of a constant scalar.
    is_type: it is a typedef. is_parameter, is_shared: of a function; outside of all functions.
    """

    name: str
    type: Type
    node: c_ast.Node
    value: int | None = None
    is_type: bool = False
    is_parameter: bool = False
    is_shared: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """What arithmetic needs to know of an integer type."""

    bytes: int
    is_signed: bool


class Names:
    """The names in sight."""

    def __init__(self) -> None:
        self._scopes: list[dict[str, Symbol]] = [{}]
        self._tags: list[dict[str, Record]] = [{}]
        self._defined: dict[int, tuple[c_ast.Node, Record]] = {}

    @contextmanager
    def block(self) -> Iterator[None]:
        """Open a scope."""
        self._scopes.append({})
        self._tags.append({})
        try:
            yield
        finally:
            self._scopes.pop()
            self._tags.pop()

    @property
    def is_outermost(self) -> bool:
        """Whether no scope is open but the file's."""
        return len(self._scopes) == 1

    def lookup(self, name: str) -> Symbol | None:
        """Return what a name stands for here."""
        for scope in reversed(self._scopes):
            if name in scope:
                return scope[name]
        return None

    def declare(self, node: c_ast.Decl | c_ast.Typedef, *, is_parameter: bool = False) -> Symbol:
        """Bind the name that a declaration introduces; return what it stands for."""
        type_ = self.read(node.type)
        if is_parameter:
            type_ = _as_parameter(type_)
        value = None
        is_type = isinstance(node, c_ast.Typedef)
        if is_type and isinstance(type_, RecordType) and not type_.record.spelled:
            type_.record.spelled = node.name
        if isinstance(type_, Plain) and "const" in type_.quals and not is_type and node.init:
            value = self.constant(node.init)
        symbol = Symbol(
            node.name or "",
            type_,
            node,
            value,
            is_type,
            is_parameter,
            is_shared=self.is_outermost,
        )
        if node.name:
            self._scopes[-1][node.name] = symbol
        return symbol

    def bind(self, symbol: Symbol) -> Symbol:
        """Bind a name that no declaration of the text introduces."""
        self._scopes[-1][symbol.name] = symbol
        return symbol

    # Types.

    def read(self, node: c_ast.Node) -> Type:
        """Return the type that a declaration, a declarator or a type name spells."""
        match node:
            case c_ast.Decl(type=inner) | c_ast.Typename(type=inner):
                return self.read(inner)
            case c_ast.PtrDecl(type=inner, quals=quals):
                return PointerTo(self.read(inner), tuple(quals or ()))
            case c_ast.ArrayDecl(type=inner, dim=extent):
                return ArrayOf(self.read(inner), extent)
            case c_ast.FuncDecl(type=inner, args=arguments):
                listed = arguments.params if arguments is not None else ()
                taken = [self.read(p) for p in listed if isinstance(p, c_ast.Decl | c_ast.Typename)]
                return Returning(self.read(inner), tuple(map(_as_parameter, taken)))
            case c_ast.TypeDecl(type=inner, quals=quals):
                return qualified(self.read(inner), tuple(quals or ()))
            case c_ast.IdentifierType(names=names):
                symbol = self.lookup(names[0]) if len(names) == 1 else None
                if symbol is None or not symbol.is_type:
                    return Plain(tuple(names))
                return Plain(tuple(names)) if isinstance(symbol.type, Plain) else symbol.type
            case c_ast.Struct() | c_ast.Union():
                return RecordType(self._record(node))
            case c_ast.Enum():
                return self._enumeration(node)
        return Plain(())

    def _record(self, node: c_ast.Struct | c_ast.Union) -> Record:
        known = self._defined.get(id(node))
        if known is not None:
            return known[1]
        keyword: Keyword = "struct" if isinstance(node, c_ast.Struct) else "union"
        spelled = f"{keyword} {node.name}" if node.name else ""
        found = None
        if node.name:
            scopes = self._tags if node.decls is None else self._tags[-1:]
            found = next((tags[node.name] for tags in reversed(scopes) if node.name in tags), None)
        record = found or Record(keyword, spelled)
        if node.name and found is None:
            self._tags[-1][node.name] = record
        if node.decls is not None:
            self._defined[id(node)] = node, record
            record.members = tuple(
                Member(each.name, self.read(each.type), each.bitsize, each)
                for each in node.decls
                if isinstance(each, c_ast.Decl)
            )
        return record

    def _enumeration(self, node: c_ast.Enum) -> Plain:
        """Declare the constants of an enumeration; its type is gcc's choice."""
        following: int | None = 0
        is_signed = False
        for item in node.values.enumerators if node.values is not None else ():
            if item.value is not None:
                following = self.constant(item.value)
            self._scopes[-1][item.name] = Symbol(item.name, _INT, item, following)
            is_signed |= following is None or following < 0
            following = None if following is None else following + 1
        numbers = ("int",) if is_signed else ("unsigned", "int")
        if node.name is None:
            return Plain(numbers)
        spelled = f"enum {node.name}"
        if node.values is not None:
            self._scopes[-1][spelled] = Symbol(spelled, Plain(numbers), node, is_type=True)
        return Plain((spelled,))

    def number(self, type_: Type | None) -> Number | None:
        """Return what is known of a type of integers."""
        if not isinstance(type_, Plain):
            return None
        words = sorted(type_.names)
        if len(words) == 1:
            symbol = self.lookup(words[0])
            if symbol is not None and symbol.is_type:
                return self.number(symbol.type)
        if words == ["_Bool"]:
            return Number(1, False)
        size = tuple(word for word in words if word not in ("signed", "unsigned", "int"))
        return Number(_BYTES[size], "unsigned" not in words) if size in _BYTES else None

    def is_floating(self, type_: Type | None) -> bool:
        """Return whether a type is one of floating-point numbers."""
        if not isinstance(type_, Plain):
            return False
        symbol = self.lookup(type_.names[0]) if len(type_.names) == 1 else None
        if symbol is not None and symbol.is_type:
            return self.is_floating(symbol.type)
        return bool({"float", "double"} & set(type_.names))

    def size(self, type_: Type | None) -> int | None:
        """Return the bytes of something of a type, if they are known."""
        layout = self._layout(type_)
        return None if layout is None else layout[0]

    def _layout(self, type_: Type | None) -> tuple[int, int] | None:
        """Return size and alignment, as the ABI of 64-bit machines has them."""
        match type_:
            case Plain(names=names):
                symbol = self.lookup(names[0]) if len(names) == 1 else None
                if symbol is not None and symbol.is_type:
                    return self._layout(symbol.type)
                number = self.number(type_)
                size = _OTHER_BYTES.get(tuple(sorted(names)), number.bytes if number else 0)
                return (size, size) if size else None
            case PointerTo():
                return _POINTER_BYTES, _POINTER_BYTES
            case ArrayOf(of=of, extent=extent):
                inner, count = self._layout(of), self.constant(extent)
                return None if inner is None or count is None else (inner[0] * count, inner[1])
            case RecordType(record=record):
                return self._record_layout(record)
        return None

    def _record_layout(self, record: Record) -> tuple[int, int] | None:
        end = most = 0
        aligned = 1
        for member in record.members or ():
            layout = self._layout(member.type)
            if layout is None or member.bits is not None:
                return None
            size, alignment = layout
            start = -(-end // alignment) * alignment if record.keyword == "struct" else 0
            end, aligned = start + size, max(aligned, alignment)
            most = max(most, end)
        return (-(-most // aligned) * aligned, aligned) if record.members else None

    # Expressions.

    def type_of(self, node: c_ast.Node | None) -> Type | None:
        """Return the type of an expression; None where it is not known."""
        match node:
            case c_ast.ID(name=name):
                symbol = self.lookup(name)
                return None if symbol is None or symbol.is_type else symbol.type
            case c_ast.Constant():
                return self._type_of_constant(node)
            case c_ast.ArrayRef(name=base, subscript=index):
                return element_of(self.type_of(base)) or element_of(self.type_of(index))
            case c_ast.StructRef():
                found = self.member(node)
                return None if found is None else found.type
            case c_ast.UnaryOp():
                return self._type_of_unary(node)
            case c_ast.BinaryOp():
                return self._type_of_binary(node)
            case c_ast.TernaryOp(iftrue=first, iffalse=second):
                types = self.decayed(first), self.decayed(second)
                if isinstance(types[0], Plain) and isinstance(types[1], Plain):
                    return self._common(types[0], types[1])
                return types[0] if not isinstance(types[0], Plain) else types[1]
            case c_ast.Assignment(lvalue=target):
                return self.type_of(target)
            case c_ast.Cast(to_type=to):
                return self.read(to)
            case c_ast.CompoundLiteral(type=type_):
                return self.read(type_)
            case c_ast.FuncCall(name=c_ast.ID(name=name)):
                symbol = self.lookup(name)
                type_ = None if symbol is None else symbol.type
                return type_.result if isinstance(type_, Returning) else None
            case c_ast.ExprList(exprs=[*_, last]):
                return self.type_of(last)
        return None

    def decayed(self, node: c_ast.Node | None) -> Type | None:
        """Return the type of an expression as a value: arrays are pointers to their elements."""
        type_ = self.type_of(node)
        return PointerTo(type_.of) if isinstance(type_, ArrayOf) else type_

    def member(self, node: c_ast.StructRef) -> Member | None:
        """Return the member that `a.b` or `a->b` names."""
        type_ = self.type_of(node.name)
        if node.type == "->":
            type_ = element_of(type_)
        return self.member_of(type_, node.field.name)

    def member_of(self, type_: Type | None, name: str) -> Member | None:
        """Return the member of that name of a structure."""
        return find_member(type_.record, name) if isinstance(type_, RecordType) else None

    def _type_of_constant(self, node: c_ast.Constant) -> Type | None:
        if node.type == "char":
            return _INT
        try:
            _, type_ = integer_constant(node.value)
        except ValueError:
            return None
        words = ("int",) if type_.width_bits == 32 else ("long",)
        return Plain(words if type_.signed else ("unsigned", *words))

    def _type_of_unary(self, node: c_ast.UnaryOp) -> Type | None:
        match node.op:
            case "*":
                return element_of(self.type_of(node.expr))
            case "&":
                inner = self.type_of(node.expr)
                return None if inner is None else PointerTo(inner)
            case "sizeof" | "_Alignof":
                return _SIZE
            case "!":
                return _INT
            case "++" | "--" | "p++" | "p--":
                return self.type_of(node.expr)
        inner = self.type_of(node.expr)
        return self._common(inner, _INT) if isinstance(inner, Plain) else None

    def _type_of_binary(self, node: c_ast.BinaryOp) -> Type | None:
        if node.op in _COMPARISONS:
            return _INT
        left, right = self.decayed(node.left), self.decayed(node.right)
        if node.op in ("<<", ">>"):
            return self._common(left, _INT) if isinstance(left, Plain) else None
        if isinstance(left, PointerTo):
            return _DIFFERENCE if isinstance(right, PointerTo) else left
        if isinstance(right, PointerTo):
            return right
        return self._common(left, right)

    def _common(self, a: Type | None, b: Type | None) -> Type | None:
        """Return the type of a result (C11 6.3.1.8)."""
        if self.is_floating(a) or self.is_floating(b):
            return Plain(("double",))
        numbers = [self.number(type_) for type_ in (a, b)]
        known = [n if n.bytes >= 4 else Number(4, True) for n in numbers if n is not None]
        if len(known) < 2:
            return None
        size = max(n.bytes for n in known)
        words = ("int",) if size == 4 else ("long",)
        is_signed = all(n.is_signed for n in known if n.bytes == size)
        return Plain(words if is_signed else ("unsigned", *words))

    def constant(self, node: c_ast.Node | None) -> int | None:
        """Return the value of a constant expression; None where it is not surely known."""
        match node:
            case c_ast.Constant(type="char", value=text):
                try:
                    return character_constant(text)
                except ValueError:
                    return None
            case c_ast.Constant(value=text):
                try:
                    return integer_constant(text)[0]
                except ValueError:
                    return None
            case c_ast.ID(name=name):
                symbol = self.lookup(name)
                return None if symbol is None else symbol.value
            case c_ast.UnaryOp(op="sizeof", expr=inner):
                is_type = isinstance(inner, c_ast.Typename)
                return self.size(self.read(inner) if is_type else self.type_of(inner))
            case c_ast.UnaryOp(op=op, expr=inner):
                value = self.constant(inner)
                return None if value is None else _unary(op, value)
            case c_ast.BinaryOp(op=op, left=left, right=right):
                a, b = self.constant(left), self.constant(right)
                return None if a is None or b is None else _binary(op, a, b)
            case c_ast.TernaryOp(cond=condition, iftrue=first, iffalse=second):
                chosen = self.constant(condition)
                return None if chosen is None else self.constant(first if chosen else second)
            case c_ast.Cast(to_type=to, expr=inner):
                value, number = self.constant(inner), self.number(self.read(to))
                if value is None or number is None:
                    return None
                low = -(1 << (8 * number.bytes - 1)) if number.is_signed else 0
                return value if low <= value < low + (1 << (8 * number.bytes)) else None
        return None


def _as_parameter(type_: Type) -> Type:
    return PointerTo(type_.of) if isinstance(type_, ArrayOf) else type_


def _unary(op: str, a: int) -> int | None:
    return {"-": -a, "+": a, "~": ~a, "!": int(not a)}.get(op)


_MOST = 1 << 31


def _binary(op: str, a: int, b: int) -> int | None:
    """Return a result that fits an int, where nothing wraps."""
    value = None
    match op:
        case "+" | "-" | "*" | "&" | "|" | "^":
            value = {"+": a + b, "-": a - b, "*": a * b, "&": a & b, "|": a | b, "^": a ^ b}[op]
        case "/" | "%" if a >= 0 and b > 0:
            value = a // b if op == "/" else a % b
        case "<<" | ">>" if a >= 0 and 0 <= b < 31:
            value = a << b if op == "<<" else a >> b
        case "<" | "<=" | ">" | ">=" | "==" | "!=":
            holds = {"<": a < b, "<=": a <= b, ">": a > b, ">=": a >= b, "==": a == b}
            value = int(holds.get(op, a != b))
        case "&&" | "||":
            value = int(bool(a and b) if op == "&&" else bool(a or b))
    return value if value is not None and -_MOST <= value < _MOST else None


def find_member(record: Record, name: str) -> Member | None:
    """Return the member of that name, of a nameless member's too."""
    for member in record.members or ():
        if member.name == name:
            return member
        if member.name is None and isinstance(member.type, RecordType):
            found = find_member(member.type.record, name)
            if found is not None:
                return found
    return None


class FreshNames:
    """Names that stand nowhere in a file."""

    def __init__(self, tree: c_ast.FileAST) -> None:
        self._taken = {
            name
            for node in below(tree)
            for name in (getattr(node, "name", None), getattr(node, "declname", None))
            if isinstance(name, str)
        }

    def fresh(self, wanted: str) -> str:
        """Return a name like the wanted one, and keep it."""
        name, number = wanted, 0
        while name in self._taken:
            number += 1
            name = f"{wanted}_{number}"
        self._taken.add(name)
        return name
