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

from dataclasses import replace

from pycparser import c_ast

from rtlgen.frontend.errors import FrontendError, UnsupportedType
from rtlgen.frontend.lowering.names import precise_constant
from rtlgen.frontend.lowering.nodes import copied, has_effect, integer, number
from rtlgen.frontend.lowering.rewriter import Before, Rewriter, refusal
from rtlgen.frontend.lowering.types import (
    INT,
    SIZE,
    ArrayOf,
    Number,
    Returning,
    Type,
    cast,
    common_number,
    number_type,
    plain,
)
from rtlgen.frontend.syntax.assigned import STEPS, below
from rtlgen.frontend.syntax.locate import Locator

_WRAPPING = frozenset(("+", "-", "*", "/", "<<"))
_COMPARISONS = frozenset(("<", "<=", ">", ">=", "==", "!="))
_LOGICAL = frozenset(("&&", "||"))


def standard_integers(tree: c_ast.FileAST, locator: Locator) -> None:
    """Rewrite all bit-precise integers of a file in place.

    Raises
    ------
    UnsupportedType: what is done with one cannot be put in other types.
    """
    declared = [node for node in below(tree) if isinstance(node, c_ast.BitIntType)]
    for node in declared:
        _require_width(node, locator)
    if declared or any(isinstance(x, c_ast.Constant) and "_BitInt" in x.type for x in below(tree)):
        _Widener(locator).file(tree)
    for node in below(tree):
        if isinstance(node, c_ast.TypeDecl) and isinstance(node.type, c_ast.BitIntType):
            bits = Number(number(node.type.width) or 0, node.type.signedness != "unsigned")
            node.type = c_ast.IdentifierType(list(_container(bits).words), node.type.coord)


def _require_width(node: c_ast.BitIntType, locator: Locator) -> None:
    least = 1 if node.signedness == "unsigned" else 2
    bits = number(node.width) if isinstance(node.width, c_ast.Constant) else None
    if bits is None or not least <= bits <= SIZE.bits:
        message = "the width of this bit-precise integer is not supported"
        remedy = f"write a number from {least} to {SIZE.bits}"
        raise refusal(UnsupportedType, message, locator, node, remedy, "")


def _container(bits: Number) -> Number:
    """Return the standard type that holds an integer."""
    return Number(8 * bits.bytes, bits.is_signed)


def _worked(bits: Number) -> Number:
    """Return the standard type in which an integer is computed."""
    return Number(max(INT.bits, 8 * bits.bytes), bits.is_signed)


def _holds(bits: Number, other: Number) -> bool:
    """Return whether every value of another type is one of a type."""
    low, high = bits.limits
    return low <= other.limits[0] and other.limits[1] <= high


class _Widener(Rewriter):
    """Rewrites expressions; the types of declarations are those of the program until the end."""

    def __init__(self, locator: Locator) -> None:
        super().__init__()
        self._locator = locator
        self._result: Type | None = None

    def refuse(self, function: str, error: FrontendError) -> None:
        """Raise what is refused, whoever calls the function."""
        raise error

    def _refused(self, node: c_ast.Node, message: str, fix: str) -> UnsupportedType:
        return refusal(UnsupportedType, message, self._locator, node, fix, "")

    # Statements.

    def parameters(self, node: c_ast.FuncDef) -> list[c_ast.Node]:
        self._result = self.names.read(node.decl.type.type)
        return super().parameters(node)

    def declaration(self, node: c_ast.Decl | c_ast.Typedef) -> list[c_ast.Node]:
        type_ = self.names.declare(node).type
        if isinstance(node, c_ast.Decl) and node.init is not None:
            node.init = self._initial(node.init, type_)
        return [node]

    def result(self, node: c_ast.Return) -> list[c_ast.Node]:
        if node.expr is not None:
            node.expr = self._as(node.expr, number_type(self._result))
        return [node]

    def effect(self, node: c_ast.Node) -> list[c_ast.Node]:
        match node:
            case c_ast.ExprList(exprs=parts):
                node.exprs = [made for part in parts for made in self.effect(part)]
                return [node]
            case c_ast.UnaryOp(op=op, expr=target) if op in STEPS and self._is_precise(target):
                op, one = "+=" if "+" in node.op else "-=", integer(1, node.coord)
                return [self._assigned(c_ast.Assignment(op, target, one, node.coord))]
        return super().effect(node)

    def _initial(self, node: c_ast.Node, type_: Type) -> c_ast.Node:
        """Rewrite an initial value, or those in braces."""
        while isinstance(type_, ArrayOf):
            type_ = type_.of
        match node:
            case c_ast.InitList():
                node.exprs = [self._initial(each, type_) for each in node.exprs or ()]
                return node
            case c_ast.NamedInitializer():
                node.expr = self._initial(node.expr, type_)
                return node
        return self._as(node, number_type(type_))

    # Expressions.

    def _integer(self, node: c_ast.Node) -> Number | None:
        """Return the type of an expression, if that is one of integers."""
        found = self.names.number(node)
        return None if found is None or found.is_floating else found

    def _is_precise(self, *nodes: c_ast.Node) -> bool:
        """Return whether all are integers, and one of them is bit-precise."""
        found = [self._integer(node) for node in nodes]
        return None not in found and any(x is not None and x.is_precise for x in found)

    def expression(self, node: c_ast.Node, before: Before) -> c_ast.Node:
        """Return what stands in place of an expression: its value, in a standard type."""
        match node:
            case c_ast.Constant() if "_BitInt" in node.type:
                return self._literal(node)
            case c_ast.UnaryOp(op="sizeof"):
                return node
            case c_ast.UnaryOp(op="&"):
                node.expr = self._place(node.expr)
                return node
            case c_ast.UnaryOp(op=op, expr=inner) if op in STEPS:
                if self._is_precise(inner):
                    raise self._refused(
                        node,
                        "a bit-precise integer is stepped inside an expression",
                        "make the step a statement of its own",
                    )
                node.expr = self._place(inner)
                return node
            case c_ast.UnaryOp(op="+" | "-" | "~", expr=inner) if self._is_precise(inner):
                bits = self._integer(inner)
                assert bits is not None, "it is precise"
                node.expr = self._cast(self.expression(inner, before), _worked(bits), node)
                return node if node.op == "+" else _narrow(node, bits, node)
            case c_ast.BinaryOp(left=left, right=right) if node.op not in _LOGICAL:
                if self._is_precise(left, right):
                    return self._operation(node)
            case c_ast.TernaryOp(iftrue=first, iffalse=second) if self._is_precise(first, second):
                common = self.names.common(first, second)
                node.cond = self.expression(node.cond, before)
                node.iftrue = self._converted(first, common, node)
                node.iffalse = self._converted(second, common, node)
                return node
            case c_ast.Cast(to_type=to):
                bits = number_type(self.names.read(to))
                if bits is not None and bits.is_precise:
                    return self._as(node.expr, bits)
            case c_ast.Assignment():
                return self._assigned(node)
            case c_ast.FuncCall():
                return self._call(node)
            case c_ast.CompoundLiteral():
                node.init = self._initial(node.init, self.names.read(node.type))
                return node
            case c_ast.ID() | c_ast.ArrayRef() | c_ast.StructRef() | c_ast.UnaryOp(op="*"):
                bits = self._integer(node)
                made = self._place(node)
                # The bits beyond its type are nobody's.
                is_precise = bits is not None and bits.is_precise
                return _narrow(made, bits, node) if bits is not None and is_precise else made
        return self.inside(node, before)

    def _place(self, node: c_ast.Node) -> c_ast.Node:
        """Rewrite what stands inside of something that is named."""
        match node:
            case c_ast.ArrayRef():
                node.name, index = self._place(node.name), node.subscript
                node.subscript = self.expression(index, None)
            case c_ast.StructRef():
                node.name = self._place(node.name)
            case c_ast.UnaryOp(op="*"):
                node.expr = self.expression(node.expr, None)
            case c_ast.ID():
                pass
            case _:
                return self.expression(node, None)
        return node

    def _assigned(self, node: c_ast.Assignment) -> c_ast.Node:
        target, value = node.lvalue, node.rvalue
        bits = self._integer(target)
        if node.op != "=" and self._is_precise(target, value):
            if has_effect(target):
                raise self._refused(node.lvalue, "this is evaluated twice", "write the steps apart")
            op = node.op.removesuffix("=")
            value = c_ast.BinaryOp(op, copied(target), value, node.coord)
            made = self._as(value, bits)
            return c_ast.Assignment("=", self._place(target), made, node.coord)
        node.rvalue = self._as(value, bits)
        node.lvalue = self._place(target)
        return node

    def _call(self, node: c_ast.FuncCall) -> c_ast.Node:
        function = self.names.type_of(node.name)
        taken = function.parameters if isinstance(function, Returning) else ()
        for place, each in enumerate(node.args.exprs if node.args is not None else ()):
            bits = number_type(taken[place]) if place < len(taken) else None
            node.args.exprs[place] = self._as(each, bits)
        return node

    def _literal(self, node: c_ast.Constant) -> c_ast.Node:
        try:
            value, bits = precise_constant(node.value)
        except ValueError as error:
            raise self._refused(node, str(error), "write a smaller one") from error
        suffix = ("" if bits.bytes <= INT.bytes else "L") + ("" if bits.is_signed else "U")
        return c_ast.Constant("int", f"{value}{suffix}", node.coord)

    def _operation(self, node: c_ast.BinaryOp) -> c_ast.Node:
        """Rewrite an operation on integers of which one is bit-precise."""
        left, right = self._integer(node.left), self._integer(node.right)
        assert left is not None and right is not None, "they are integers"
        if node.op in ("<<", ">>"):
            bits = left.promoted
            shift = self._cast(self.expression(node.right, None), _worked(right.promoted), node)
        else:
            bits = common_number(left, right)
            shift = self._converted(node.right, bits, node)
        node.left, node.right = self._converted(node.left, bits, node), shift
        return _narrow(node, bits, node) if bits.is_precise and node.op in _WRAPPING else node

    # Conversions.

    def _as(self, node: c_ast.Node, bits: Number | None) -> c_ast.Node:
        """Return an expression, converted to a type where that is a bit-precise one."""
        if bits is None or not bits.is_precise:
            return self.expression(node, None)
        return self._converted(node, bits, node)

    def _converted(self, node: c_ast.Node, bits: Number | None, at: c_ast.Node) -> c_ast.Node:
        """Return a value of another type as a standard one, its bits those of `bits`."""
        given = self._integer(node)
        if given is None or bits is None:
            raise self._refused(
                at, "this is made a bit-precise integer, and its type is not known", "cast it"
            )
        value = self.expression(node, None)
        if not bits.is_precise or _holds(bits, given):
            return self._cast(value, _worked(bits) if bits.is_precise else bits, at)
        return _narrow(value, bits, at)

    def _cast(self, value: c_ast.Node, bits: Number, at: c_ast.Node) -> c_ast.Cast:
        return cast(plain(bits), value, at.coord)


def _narrow(value: c_ast.Node, bits: Number, at: c_ast.Node) -> c_ast.Node:
    """Return the bits of a value that count, in the type in which it is computed."""
    place, work = at.coord, _worked(bits)
    unsigned = plain(replace(work, is_signed=False))
    if bits.bits == work.bits:
        return cast(plain(work), value, place)
    if not bits.is_signed:
        suffix = "U" if work.bits == INT.bits else "UL"
        mask = c_ast.Constant("int", f"{hex(bits.limits[1])}{suffix}", place)
        return c_ast.BinaryOp("&", cast(unsigned, value, place), mask, place)
    beyond = integer(work.bits - bits.bits, place)
    shifted = c_ast.BinaryOp("<<", cast(unsigned, value, place), beyond, place)
    return c_ast.BinaryOp(">>", cast(plain(work), shifted, place), beyond, place)
