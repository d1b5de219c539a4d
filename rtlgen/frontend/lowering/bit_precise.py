"""Bit-precise integers (C23 6.2.5), in the next wider types and the bits that count.

Rewrite
-------
    unsigned _BitInt(7) t = x;         unsigned char t = (unsigned)x & 0x7f;
    t = t + a[i];                      t = (unsigned)t + (unsigned)a[i] & 0x7f;      a[i] of 7 bits
    _BitInt(5) s; s = s * 3wb;         s = (int)((unsigned)((int)s * (int)3) << 27) >> 27;

They are not promoted: what is computed of them has as many bits as the wider one of two. What comes
from outside is taken without the bits beyond its type.
"""

from __future__ import annotations

import re
from copy import deepcopy
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.constants import integer_constant
from rtlgen.frontend.errors import UnsupportedType
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.lowering.expression_types import ExpressionTypes
from rtlgen.frontend.writers import STEPS, below
from rtlgen.ir.types import IntType

MAX_BITS = 64
"""Of one: as wide as the widest operator."""

_WRAPPING = frozenset(("+", "-", "*", "/", "<<"))
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_LOGICAL = frozenset(("&&", "||"))
_WORDS = {8: "char", 16: "short", 32: "int", 64: "long"}


@dataclass(frozen=True, slots=True)
class Bits:
    """An integer type. `is_precise`: it is `_BitInt`, which is not promoted."""

    width: int
    signed: bool
    is_precise: bool

    @property
    def container(self) -> IntType:
        """The standard type that holds it."""
        return IntType(max(8, 1 << (self.width - 1).bit_length()), self.signed)

    @property
    def worked(self) -> IntType:
        """The standard type in which it is computed."""
        return IntType(max(32, self.container.width_bits), self.signed)

    def holds(self, other: Bits) -> bool:
        """Return whether every value of another type is one of this type."""
        if other.signed and not self.signed:
            return False
        return other.width + (self.signed and not other.signed) <= self.width


def _common(a: Bits, b: Bits) -> Bits:
    """Return the type of an operation on two types, promoted if they are (C23 6.3.1.1, 6.3.1.8)."""
    a, b = _promoted(a), _promoted(b)
    high = max(a, b, key=lambda bits: (bits.width, not bits.is_precise))
    signed = all(bits.signed for bits in (a, b) if bits.width == high.width)
    return Bits(high.width, signed, high.is_precise)


def _promoted(bits: Bits) -> Bits:
    return bits if bits.is_precise or bits.width >= 32 else Bits(32, True, False)


def standard_integers(tree: c_ast.FileAST, locator: Locator) -> None:
    """Rewrite all bit-precise integers of a file in place.

    Raises
    ------
    UnsupportedType: what is done with one cannot be put in other types.
    """
    if any(_is_precise(node) for node in below(tree)):
        _Rewriter(locator).file(tree)


def _is_precise(node: c_ast.Node) -> bool:
    is_literal = isinstance(node, c_ast.Constant) and "_BitInt" in node.type
    return is_literal or isinstance(node, c_ast.BitIntType)


class _Rewriter:
    """Follows the declarations of a file, in order."""

    def __init__(self, locator: Locator) -> None:
        self._locator = locator
        self._types = ExpressionTypes()
        self._result: c_ast.Node | None = None
        self._outside: list[set[str]] = [set()]

    def file(self, tree: c_ast.FileAST) -> None:
        """Rewrite expressions, then the types that they needed."""
        for node in tree.ext:
            self._statement(node)
        for node in list(below(tree)):
            if isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.BitIntType):
                container = self._bits(node.type).container
                node.type = c_ast.IdentifierType(_words(container), node.type.coord)

    def _refused(self, node: c_ast.Node, message: str, fix: str) -> UnsupportedType:
        return UnsupportedType(message, labels=(Label(self._locator.span(node)),), help=fix)

    # Types.

    def _bits(self, node: c_ast.BitIntType) -> Bits:
        signed = node.signedness != "unsigned"
        width = node.width
        value = None
        if isinstance(width, c_ast.Constant) and width.type == "int":
            value = integer_constant(width.value)[0]
        if value is None or not 1 + signed <= value <= MAX_BITS:
            raise self._refused(
                node,
                "the width of this bit-precise integer is not supported",
                f"write a number from {1 + signed} to {MAX_BITS}",
            )
        return Bits(value, signed, True)

    def _of_type(self, type_: c_ast.Node | None) -> Bits | None:
        """Return the integer type that a declarator is."""
        if type_ is None:
            return None
        resolved = self._types.resolved(type_)
        if isinstance(resolved, c_ast.TypeDecl) and isinstance(resolved.type, c_ast.BitIntType):
            return self._bits(resolved.type)
        number = self._types.number_of(resolved)
        return (
            Bits(number.width_bits, number.signed, False) if isinstance(number, IntType) else None
        )

    # Statements.

    def _statement(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.FuncDef():
                self._function(node)
            case c_ast.Compound() | c_ast.For():
                with self._types.block():
                    self._parts(node)
            case c_ast.Decl() | c_ast.Typedef():
                self._declaration(node)
            case c_ast.Return(expr=value) if value is not None:
                node.expr = self._as(value, self._of_type(self._result))
            case _:
                self._parts(node)

    def _parts(self, node: c_ast.Node) -> None:
        """Rewrite what is in a statement."""
        for field in node.__slots__:
            value = getattr(node, field, None)
            if isinstance(value, list):
                value[:] = [self._part(each) for each in value]
            elif isinstance(value, c_ast.Node):
                setattr(node, field, self._part(value))

    def _part(self, node: object) -> object:
        match node:
            case c_ast.ExprList():
                node.exprs = [self._part(each) for each in node.exprs]
            case c_ast.UnaryOp(op=op) if op in STEPS:
                return self._step(node)
            case c_ast.Assignment():
                return self._assigned(node)
            case (
                c_ast.BinaryOp()
                | c_ast.UnaryOp()
                | c_ast.TernaryOp()
                | c_ast.FuncCall()
                | c_ast.Cast()
                | c_ast.ID()
                | c_ast.ArrayRef()
                | c_ast.StructRef()
                | c_ast.Constant()
            ):
                return self._value(node)[0]
            case c_ast.Node():
                self._statement(node)
        return node

    def _function(self, node: c_ast.FuncDef) -> None:
        self._types.declare(node.decl.name, node.decl.type)
        self._result = node.decl.type.type
        with self._types.block():
            arguments = node.decl.type.args
            for parameter in arguments.params if arguments is not None else ():
                if isinstance(parameter, c_ast.Decl) and parameter.name is not None:
                    self._types.declare_parameter(parameter.name, parameter.type)
            self._statement(node.body)

    def _declaration(self, node: c_ast.Decl | c_ast.Typedef) -> None:
        for part in below(node.type):
            if isinstance(part, c_ast.Struct | c_ast.Union):
                self._types.declare_members(part)
            if isinstance(part, c_ast.Enumerator):
                self._types.enumeration_constant(part.name)
        if isinstance(node, c_ast.Typedef):
            self._types.declare_type(node.name, node.type)
            return
        if node.name is not None:
            self._types.declare(node.name, node.type)
        if node.init is not None:
            inner = node.type
            while isinstance(inner, c_ast.ArrayDecl):
                inner = inner.type
            node.init = self._initial(node.init, self._of_type(inner))

    def _initial(self, node: c_ast.Node, bits: Bits | None) -> c_ast.Node:
        match node:
            case c_ast.InitList():
                node.exprs = [self._initial(each, bits) for each in node.exprs or ()]
                return node
            case c_ast.NamedInitializer():
                node.expr = self._initial(node.expr, bits)
                return node
        return self._as(node, bits)

    def _assigned(self, node: c_ast.Assignment) -> c_ast.Node:
        target = self._of_type(self._types.of(node.lvalue))
        if node.op != "=" and target is not None:
            value, given = self._value(deepcopy(node.rvalue))
            if not target.is_precise and (given is None or not given.is_precise):
                node.lvalue, node.rvalue = self._place(node.lvalue), value
                return node
            self._require_simple(node.lvalue)
            op = node.op.removesuffix("=")
            combined = c_ast.BinaryOp(op, deepcopy(node.lvalue), node.rvalue, node.coord)
            result = self._as(combined, target)
            return c_ast.Assignment("=", self._place(node.lvalue), result, node.coord)
        node.rvalue = self._as(node.rvalue, target)
        node.lvalue = self._place(node.lvalue)
        return node

    def _step(self, node: c_ast.UnaryOp) -> c_ast.Node:
        """Rewrite a step that is a statement."""
        target = self._of_type(self._types.of(node.expr))
        if target is None or not target.is_precise:
            node.expr = self._place(node.expr)
            return node
        one = c_ast.Constant("int", "1", node.coord)
        op = "+=" if "+" in node.op else "-="
        return self._assigned(c_ast.Assignment(op, node.expr, one, node.coord))

    def _require_simple(self, node: c_ast.Node) -> None:
        for part in below(node):
            is_step = isinstance(part, c_ast.UnaryOp) and part.op in STEPS
            if is_step or isinstance(part, c_ast.Assignment | c_ast.FuncCall):
                raise self._refused(node, "this is evaluated twice", "write the steps apart")

    def _place(self, node: c_ast.Node) -> c_ast.Node:
        """Rewrite what stands inside of something that is assigned."""
        match node:
            case c_ast.ArrayRef():
                node.name, node.subscript = self._place(node.name), self._value(node.subscript)[0]
            case c_ast.StructRef():
                node.name = self._place(node.name)
            case c_ast.UnaryOp(op="*"):
                node.expr = self._value(node.expr)[0]
            case c_ast.ID():
                pass
            case _:
                return self._value(node)[0]
        return node

    # Values.

    def _as(self, node: c_ast.Node, bits: Bits | None) -> c_ast.Node:
        """Return an expression, converted to a type where that is a bit-precise one."""
        value, given = self._value(node)
        if bits is None or not bits.is_precise:
            return value
        return self._converted(value, given, bits, node)

    def _converted(
        self, value: c_ast.Node, given: Bits | None, bits: Bits, node: c_ast.Node
    ) -> c_ast.Node:
        """Return a value of another type as a standard one, its bits those of `bits`."""
        if given is None:
            raise self._refused(
                node, "this is made a bit-precise integer, and its type is not known", "cast it"
            )
        if not bits.is_precise or bits.holds(given):
            return _cast(value, bits.worked if bits.is_precise else _standard(bits), node)
        return _narrow(value, bits, node)

    def _value(self, node: c_ast.Node) -> tuple[c_ast.Node, Bits | None]:
        """Return what stands in place of an expression, and its type if that is an integer."""
        match node:
            case c_ast.Constant() if "_BitInt" in node.type:
                return self._literal(node)
            case c_ast.UnaryOp(op=op) if op in STEPS or op in ("*", "&", "sizeof", "!"):
                return self._other(node)
            case c_ast.UnaryOp():
                return self._unary(node)
            case c_ast.BinaryOp():
                return self._binary(node)
            case c_ast.TernaryOp():
                node.cond = self._value(node.cond)[0]
                (first, a), (second, b) = self._value(node.iftrue), self._value(node.iffalse)
                if a is not None and b is not None and (a.is_precise or b.is_precise):
                    common = _common(a, b)
                    node.iftrue = self._converted(first, a, common, node)
                    node.iffalse = self._converted(second, b, common, node)
                    return node, common
                node.iftrue, node.iffalse = first, second
                return node, None if a is None or b is None else _common(a, b)
            case c_ast.Cast(to_type=c_ast.Typename(type=type_)):
                bits = self._of_type(type_)
                if bits is not None and bits.is_precise:
                    return self._as(node.expr, bits), bits
                node.expr = self._value(node.expr)[0]
                return node, bits
            case c_ast.CompoundLiteral(type=c_ast.Typename(type=type_)):
                while isinstance(type_, c_ast.ArrayDecl):
                    type_ = type_.type
                node.init = self._initial(node.init, self._of_type(type_))
                return self._other(node)
            case c_ast.Assignment():
                bits = self._of_type(self._types.of(node.lvalue))
                return self._assigned(node), bits
        return self._other(node)

    def _other(self, node: c_ast.Node) -> tuple[c_ast.Node, Bits | None]:
        """Return an expression that is no arithmetic."""
        bits = self._of_type(self._types.of(node))
        match node:
            case c_ast.UnaryOp(op=op) if op in STEPS:
                if bits is not None and bits.is_precise:
                    raise self._refused(
                        node,
                        "a bit-precise integer is stepped inside an expression",
                        "make the step a statement of its own",
                    )
            case c_ast.UnaryOp(op="sizeof"):
                return node, bits
            case c_ast.UnaryOp(op="&"):
                node.expr = self._place(node.expr)
            case c_ast.UnaryOp():
                node.expr = self._value(node.expr)[0]
            case c_ast.ArrayRef() | c_ast.StructRef():
                node = self._place(node)
            case c_ast.FuncCall() if node.args is not None:
                self._arguments(node)
            case c_ast.ExprList():
                node.exprs = [self._value(each)[0] for each in node.exprs]
        if bits is not None and bits.is_precise and not isinstance(node, c_ast.FuncCall):
            # The bits beyond its type are nobody's.
            return _narrow(node, bits, node), bits
        return node, bits

    def _arguments(self, node: c_ast.FuncCall) -> None:
        function = self._types.of(node.name)
        listed = function.args if isinstance(function, c_ast.FuncDecl) else None
        types = [getattr(each, "type", None) for each in listed.params] if listed else []
        node.args.exprs = [
            self._as(each, self._of_type(types[k]) if k < len(types) else None)
            for k, each in enumerate(node.args.exprs)
        ]

    def _literal(self, node: c_ast.Constant) -> tuple[c_ast.Node, Bits]:
        digits = re.sub(r"(?i)u?wbu?$", "", node.value)
        try:
            value = integer_constant(f"{digits}ULL")[0]
        except ValueError as error:
            raise self._refused(node, str(error), "write a smaller one") from error
        signed = "unsigned" not in node.type
        width = max(1, value.bit_length()) + signed
        if width > MAX_BITS:
            raise self._refused(node, "it is larger than any 64-bit type", "write a smaller one")
        bits = Bits(width, signed, True)
        text = str(value) + {32: "", 64: "L"}[bits.worked.width_bits] + ("" if signed else "U")
        return c_ast.Constant("int", text, node.coord), bits

    def _unary(self, node: c_ast.UnaryOp) -> tuple[c_ast.Node, Bits | None]:
        value, given = self._value(node.expr)
        if given is None or not given.is_precise:
            node.expr = value
            return node, None if given is None else _promoted(given)
        node.expr = _cast(value, given.worked, node)
        return (node if node.op == "+" else _narrow(node, given, node)), given

    def _binary(self, node: c_ast.BinaryOp) -> tuple[c_ast.Node, Bits | None]:
        (left, a), (right, b) = self._value(node.left), self._value(node.right)
        node.left, node.right = left, right
        boolean = Bits(32, True, False)
        if node.op in _LOGICAL:
            return node, boolean
        if a is None or b is None or not (a.is_precise or b.is_precise):
            if a is None or b is None:
                return node, boolean if node.op in _COMPARISONS else None
            if node.op in ("<<", ">>"):
                return node, _promoted(a)
            return node, boolean if node.op in _COMPARISONS else _common(a, b)
        if node.op in ("<<", ">>"):
            bits = _promoted(a)
            node.left = self._converted(left, a, bits, node)
            node.right = _cast(right, _promoted(b).worked, node)
        else:
            bits = _common(a, b)
            node.left = self._converted(left, a, bits, node)
            node.right = self._converted(right, b, bits, node)
        if node.op in _COMPARISONS:
            return node, boolean
        if bits.is_precise and node.op in _WRAPPING:
            return _narrow(node, bits, node), bits
        return node, bits


def _standard(bits: Bits) -> IntType:
    return IntType(bits.width, bits.signed)


def _words(type_: IntType) -> list[str]:
    return ["signed" if type_.signed else "unsigned", _WORDS[type_.width_bits]]


def _cast(value: c_ast.Node, type_: IntType, at: c_ast.Node) -> c_ast.Cast:
    name = c_ast.TypeDecl(None, [], None, c_ast.IdentifierType(_words(type_), at.coord), at.coord)
    return c_ast.Cast(c_ast.Typename(None, [], None, name, at.coord), value, at.coord)


def _narrow(value: c_ast.Node, bits: Bits, at: c_ast.Node) -> c_ast.Node:
    """Return the bits of a value that count, in the type in which it is computed."""
    work = bits.worked
    unsigned = IntType(work.width_bits, False)
    if bits.width == work.width_bits:
        return _cast(value, work, at)
    if not bits.signed:
        mask = c_ast.Constant("int", f"{hex((1 << bits.width) - 1)}UL", at.coord)
        if work.width_bits == 32:
            mask.value = mask.value.removesuffix("L")
        return c_ast.BinaryOp("&", _cast(value, unsigned, at), mask, at.coord)
    beyond = c_ast.Constant("int", str(work.width_bits - bits.width), at.coord)
    shifted = c_ast.BinaryOp("<<", _cast(value, unsigned, at), beyond, at.coord)
    return c_ast.BinaryOp(">>", _cast(shifted, work, at), beyond, at.coord)
