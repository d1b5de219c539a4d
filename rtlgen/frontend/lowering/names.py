"""What names mean at a place of the tree, and of what type expressions of them are.

C's scopes are kept, with tags, typedefs and enumerations; types follow the rules of C (C11 6.3 and
6.5, C23 for `_BitInt`). What the reader of statements decides later, such as which parameters are
fixed, is not known here.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.frontend.lowering.nodes import COMPARISONS, integer, opposite
from rtlgen.frontend.lowering.types import (
    INT,
    LONG,
    SIGNED_CHAR,
    SIZE,
    ArrayOf,
    Keyword,
    Member,
    Number,
    Plain,
    PointerTo,
    Record,
    RecordType,
    Returning,
    Type,
    as_value,
    common_number,
    element_of,
    find_member,
    number_of,
    number_type,
    plain,
    qualified,
    unqualified,
)
from rtlgen.frontend.syntax.assigned import STEPS, below, called_by
from rtlgen.frontend.syntax.locate import float_type
from rtlgen.frontend.syntax.region import parameters
from rtlgen.frontend.text.constants import (
    CHARACTER,
    WIDE_CHARACTERS,
    character_constant,
    integer_constant,
    result_of,
)

POINTER_BYTES = 8
_ANEW = frozenset(("auto",))


@dataclass(frozen=True, slots=True, eq=False)
class Symbol:
    """What a name is declared as.

    Members
    -------
    node: its declaration. value: of a constant scalar.
    is_type: it is a typedef. is_parameter, is_shared: of a function; outside of all functions.
    """

    name: str
    type: Type
    node: c_ast.Node
    value: int | None = None
    is_type: bool = False
    is_parameter: bool = False
    is_shared: bool = False

    @property
    def is_own(self) -> bool:
        """Whether it is a variable that each call of its function has anew."""
        is_variable = isinstance(self.node, c_ast.Decl) and not self.is_type
        return is_variable and not self.is_shared and set(self.node.storage) <= _ANEW


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
        return next((scope[name] for scope in reversed(self._scopes) if name in scope), None)

    def declare(self, node: c_ast.Decl | c_ast.Typedef, *, is_parameter: bool = False) -> Symbol:
        """Bind the name that a declaration introduces; return what it stands for."""
        type_ = self.read(node.type)
        if is_parameter:
            type_ = as_value(type_)
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

    def walk(self, node: c_ast.Node) -> Iterator[c_ast.Node]:
        """Yield what stands below a node, in order; names stand for what they do at its place."""
        match node:
            case c_ast.Compound() | c_ast.For():
                with self.block():
                    for _, child in node.children():
                        yield from self.walk(child)
            case c_ast.FuncDef():
                self.declare(node.decl)
                yield node.decl
                with self.block():
                    for parameter in parameters(node):
                        self.declare(parameter, is_parameter=True)
                        yield parameter
                    yield from self.walk(node.body)
            case c_ast.Decl() | c_ast.Typedef():
                self.declare(node)
                yield node
                if isinstance(node, c_ast.Decl) and node.init is not None:
                    yield from self.walk(node.init)
            case c_ast.Typename():
                self.read(node)
            case _:
                yield node
                # The name of a member is none.
                is_part = isinstance(node, c_ast.StructRef)
                for _, child in (("", node.name),) if is_part else node.children():
                    yield from self.walk(child)

    def used(self, node: c_ast.Node) -> Iterator[Symbol]:
        """Yield what all names below a node stand for, each at its place."""
        for part in self.walk(node):
            if isinstance(part, c_ast.ID | c_ast.Decl | c_ast.Typedef) and part.name is not None:
                symbol = self.lookup(part.name)
                if symbol is not None:
                    yield symbol

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
                return Returning(self.read(inner), tuple(map(as_value, taken)))
            case c_ast.TypeDecl(type=inner, quals=quals):
                return qualified(self.read(inner), tuple(quals or ()))
            case c_ast.IdentifierType(names=names):
                symbol = self.lookup(names[0]) if len(names) == 1 else None
                if float_type(names) is not None:
                    return Plain(tuple(names), number=number_of(names))
                if symbol is None or not symbol.is_type:
                    return Plain(tuple(names), number=number_of(names))
                if isinstance(symbol.type, Plain):
                    # A number keeps the name that the program gives its type.
                    return Plain(tuple(names), (), symbol.type.number)
                return symbol.type
            case c_ast.BitIntType(signedness=sign, width=width):
                bits = self.constant(width) if isinstance(width, c_ast.Constant) else None
                number = Number(bits, sign != "unsigned", is_precise=True) if bits else None
                return Plain(("_BitInt",)) if number is None else plain(number)
            case c_ast.TypeOf(expr=c_ast.Typename() as inner):
                return self.read(inner)
            case c_ast.TypeOf(expr=inner):
                return self.type_of(inner) or Plain(())
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
        record = found or Record(keyword, spelled, node)
        if node.name and found is None:
            self._tags[-1][node.name] = record
        if node.decls is not None:
            self._defined[id(node)] = node, record
            # What it was named by before only says that there is one.
            record.node = node
            record.members = tuple(
                Member(each.name, self.read(each.type), each.bitsize, each)
                for each in node.decls
                if isinstance(each, c_ast.Decl)
            )
        return record

    def _enumeration(self, node: c_ast.Enum) -> Plain:
        """Return the type of an enumeration whose constants are known: gcc's choice, or given."""
        number: Number | None = None
        if node.values is not None:
            symbols = (self.lookup(each.name) for each in node.values.enumerators)
            values = [None if symbol is None else symbol.value for symbol in symbols]
            number = Number(32, any(value is None or value < 0 for value in values))
        if node.underlying_type is not None:
            number = number_type(self.read(node.underlying_type))
        spelled = f"enum {node.name}"
        known = self.lookup(spelled) if node.values is None else None
        number = number if known is None else number_type(known.type)
        type_ = Plain(()) if number is None else plain(number)
        if node.name is not None and node.values is not None:
            self._scopes[-1][spelled] = Symbol(spelled, type_, node, is_type=True)
        return type_

    def size(self, type_: Type | None) -> int | None:
        """Return the bytes of something of a type, if they are known."""
        layout = self._layout(type_)
        return None if layout is None else layout[0]

    def _layout(self, type_: Type | None) -> tuple[int, int] | None:
        """Return size and alignment, as the ABI of 64-bit machines has them."""
        match type_:
            case Plain(number=number):
                return None if number is None else (number.bytes, number.bytes)
            case PointerTo():
                return POINTER_BYTES, POINTER_BYTES
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
            layout, width = self._layout(member.type), self.constant(member.bits)
            if layout is None or (member.bits is not None and width is None):
                return None
            size, alignment = layout
            unit = 8 * alignment
            start = end if record.keyword == "struct" else 0
            # A bit-field lies in one unit of its type; one of no width ends a unit.
            if not width or start % unit + width > unit:
                start = -(-start // unit) * unit
            end = start + (8 * size if width is None else width)
            most = max(most, end)
            if width is None or member.name is not None:
                aligned = max(aligned, alignment)
        return (-(-most // (8 * aligned)) * aligned, aligned) if record.members else None

    # Expressions.

    def type_of(self, node: c_ast.Node | None) -> Type | None:
        """Return the type of an expression; None where it is not known."""
        match node:
            case c_ast.ID(name=name):
                symbol = self.lookup(name)
                return None if symbol is None or symbol.is_type else symbol.type
            case c_ast.Constant():
                return _type_of_constant(node)
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
                    return _plain(self.common(first, second))
                return types[0] if not isinstance(types[0], Plain) else types[1]
            case c_ast.Assignment(lvalue=target):
                return self.type_of(target)
            case c_ast.Cast(to_type=to):
                return self.read(to)
            case c_ast.CompoundLiteral(type=type_):
                return self.read(type_)
            case c_ast.FuncCall(name=called):
                type_ = self.type_of(called)
                return type_.result if isinstance(type_, Returning) else None
            case c_ast.ExprList(exprs=[*_, last]):
                return self.decayed(last)
        return None

    def taken(self, call: c_ast.FuncCall) -> tuple[Type, ...]:
        """Return the types of what a function takes that is called by its name."""
        symbol = self.lookup(called_by(call))
        type_ = None if symbol is None else symbol.type
        return type_.parameters if isinstance(type_, Returning) else ()

    def decayed(self, node: c_ast.Node | None) -> Type | None:
        """Return the type of an expression as a value: arrays are pointers to their elements."""
        type_ = self.type_of(node)
        return None if type_ is None else as_value(type_)

    def value_type(self, node: c_ast.Node) -> Type | None:
        """Return the type of what an expression has for a value: no array, no qualifiers."""
        type_ = self.decayed(node)
        return None if type_ is None else unqualified(type_)

    def number(self, node: c_ast.Node) -> Number | None:
        """Return the type of an expression that is a number; None if it is none, or not known."""
        return number_type(self.type_of(node))

    def promoted(self, node: c_ast.Node) -> Number | None:
        """Return the type that a number has in an operation (C11 6.3.1.1)."""
        return self._promoted(node, self.number(node))

    def _promoted(self, node: c_ast.Node, number: Number | None) -> Number | None:
        """Return the same where the type is known: found twice at each level, it is 2**n times."""
        member = self.member(node) if isinstance(node, c_ast.StructRef) else None
        if number is not None and member is not None and member.bits is not None:
            bits = self.constant(member.bits)
            is_narrow = bits is not None and bits + (not number.is_signed) <= INT.bits
            return INT if is_narrow else number
        return None if number is None else number.promoted

    def member(self, node: c_ast.StructRef) -> Member | None:
        """Return the member that `a.b` or `a->b` names."""
        type_ = self.type_of(node.name)
        if node.type == "->":
            type_ = element_of(type_)
        return self.member_of(type_, node.field.name)

    def member_of(self, type_: Type | None, name: str) -> Member | None:
        """Return the member of that name of a structure."""
        return find_member(type_.record, name) if isinstance(type_, RecordType) else None

    def _type_of_unary(self, node: c_ast.UnaryOp) -> Type | None:
        match node.op:
            case "*":
                return element_of(self.type_of(node.expr))
            case "&":
                inner = self.type_of(node.expr)
                return None if inner is None else PointerTo(inner)
            case "sizeof" | "_Alignof":
                return plain(SIZE)
            case "!":
                return plain(INT)
            case op if op in STEPS:
                return self.type_of(node.expr)
        return _plain(self.promoted(node.expr))

    def _type_of_binary(self, node: c_ast.BinaryOp) -> Type | None:
        if node.op in (*COMPARISONS, "&&", "||"):
            return plain(INT)
        if node.op in ("<<", ">>"):
            return _plain(self.promoted(node.left))
        left, right = self.decayed(node.left), self.decayed(node.right)
        if isinstance(left, PointerTo):
            return plain(LONG) if isinstance(right, PointerTo) else left
        if isinstance(right, PointerTo):
            return right
        a = self._promoted(node.left, number_type(left))
        b = self._promoted(node.right, number_type(right))
        return None if a is None or b is None else _plain(common_number(a, b))

    def common(self, first: c_ast.Node, second: c_ast.Node) -> Number | None:
        """Return the type to which both sides of an operation are converted (C11 6.3.1.8)."""
        a, b = self.promoted(first), self.promoted(second)
        return None if a is None or b is None else common_number(a, b)

    def opposite(self, condition: c_ast.Node) -> c_ast.Node:
        """Return a condition that holds where this one does not."""
        return opposite(condition, may_be_nan=self.compares_floats(condition))

    def compares_floats(self, condition: c_ast.Node) -> bool:
        """Return whether a condition may be a comparison of floats."""
        if not isinstance(condition, c_ast.BinaryOp):
            return False
        common = self.common(condition.left, condition.right)
        if common is not None:
            return common.is_floating
        parts = [(part, self.number(part)) for part in below(condition)]
        return any(isinstance(x, c_ast.FuncCall) if n is None else n.is_floating for x, n in parts)

    def constant(self, node: c_ast.Node | None) -> int | None:
        """Return the value of a constant expression; None where it is not surely known."""
        return Evaluator(self).value(node, {})


class Evaluator:
    """Computes integer expressions as C does, given what variables are.

    The types of expressions are kept: none of them may change meanwhile.
    """

    def __init__(self, names: Names) -> None:
        self._names = names
        self._types: dict[int, tuple[c_ast.Node, Number | None]] = {}

    def value(self, node: c_ast.Node | None, values: Mapping[str, int | None]) -> int | None:
        """Return the value of an expression; None where it is not known, or C gives it none.

        Parameters
        ----------
        values: of variables; any other one has the value that it is declared to keep.
        """
        names = self._names
        match node:
            case c_ast.Constant(type=type_, value=text):
                try:
                    is_character = type_ == "char"
                    return character_constant(text) if is_character else integer_constant(text)[0]
                except ValueError:
                    return None
            case c_ast.ID(name=name) if name in values:
                return values[name]
            case c_ast.ID(name=name):
                symbol = names.lookup(name)
                return None if symbol is None else symbol.value
            case c_ast.UnaryOp(op="sizeof", expr=inner):
                is_type = isinstance(inner, c_ast.Typename)
                return names.size(names.read(inner) if is_type else names.type_of(inner))
            case c_ast.BinaryOp(op="&&" | "||" as op, left=left, right=right):
                sides = (self.value(side, values) for side in (left, right))
                truths = [None if side is None else side != 0 for side in sides]
                decisive = op == "||"
                if decisive in truths:
                    return int(decisive)
                return None if None in truths else int(not decisive)
            case c_ast.UnaryOp(op="!" | "-" | "+" | "~", expr=inner):
                return self._computed(node, [self.value(inner, values)])
            case c_ast.BinaryOp(left=left, right=right):
                return self._computed(node, [self.value(left, values), self.value(right, values)])
            case c_ast.TernaryOp(cond=condition, iftrue=first, iffalse=second):
                chosen = self.value(condition, values)
                return (
                    None if chosen is None else self._as(node, first if chosen else second, values)
                )
            case c_ast.Cast(expr=inner):
                return self._as(node, inner, values)
        return None

    def _as(
        self, node: c_ast.Node, part: c_ast.Node, values: Mapping[str, int | None]
    ) -> int | None:
        """Return the value of a part of an expression, converted to the type of the whole."""
        found, number = self.value(part, values), self._type(node)
        if found is None or number is None or number.is_floating:
            return None
        return number.wrapped(found)

    def _computed(
        self, node: c_ast.UnaryOp | c_ast.BinaryOp, parts: Sequence[int | None]
    ) -> int | None:
        """Return what an operator makes of numbers, in the type in which it computes."""
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            return None
        number = self._type(node)
        if number is None or number.is_floating:
            return None
        op, first = node.op, number.wrapped(known[0])
        if len(known) == 1:
            value = {"!": int(first == 0), "-": -first, "+": first, "~": ~first}[op]
        elif op in ("<<", ">>"):
            if not 0 <= known[1] < number.bits or (op == "<<" and first < 0):
                return None
            value = result_of(op, first, known[1])
        elif op in "/%" and number.wrapped(known[1]) == 0:
            return None
        else:
            value = result_of(op, first, number.wrapped(known[1]))
        low, high = number.limits
        if low <= value <= high:
            return value
        return None if number.is_signed else number.wrapped(value)

    def _type(self, node: c_ast.Node) -> Number | None:
        """Return the type in which an expression is computed."""
        if id(node) not in self._types:
            names = self._names
            match node:
                case c_ast.UnaryOp(expr=shifted) | c_ast.BinaryOp(op="<<" | ">>", left=shifted):
                    found = names.promoted(shifted)
                case c_ast.BinaryOp():
                    found = names.common(node.left, node.right)
                case _:
                    found = names.number(node)
            self._types[id(node)] = node, found
        return self._types[id(node)][1]


def _plain(number: Number | None) -> Plain | None:
    return None if number is None else plain(number)


def precise_constant(text: str) -> tuple[int, Number]:
    """Return value and type of a constant of a bit-precise type, such as `3wb` (C23 6.4.4.1).

    Raises
    ------
    ValueError: it is malformed or too large; the message says which.
    """
    value, _ = integer_constant(re.sub(r"(?i)u?wbu?$", "", text) + "ULL")
    is_signed = "u" not in text.lower()
    bits = max(1, value.bit_length()) + is_signed
    if bits > SIZE.bits:
        raise ValueError("it is larger than any 64-bit type")
    return value, Number(bits, is_signed, is_precise=True)


def _type_of_constant(node: c_ast.Constant) -> Type | None:
    text: str = node.value
    prefix, quote, _ = text.partition("'")
    if node.type == "string":
        if text[0] != '"':
            return None
        count = integer(len(CHARACTER.findall(text[1:-1])) + 1, node.coord)
        return ArrayOf(Plain(("char",), (), SIGNED_CHAR), count)
    if node.type in ("float", "double", "long double"):
        return _plain(number_of(node.type.split()))
    if quote and not (prefix and prefix[0].isdigit()):
        wide = WIDE_CHARACTERS.get(prefix) if prefix else None
        return plain(Number(wide.width_bits, wide.signed) if wide is not None else INT)
    try:
        if "_BitInt" in node.type:
            return plain(precise_constant(text)[1])
        _, type_ = integer_constant(text)
    except ValueError:
        return None
    return plain(Number(type_.width_bits, type_.signed))
