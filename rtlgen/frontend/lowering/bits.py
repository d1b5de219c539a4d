"""Bit-precise integers (C23 6.2.5), and numbers and integers of one size as each other's bits.

Rewrite
-------
    k = *(int *)&x;                     k = (int)__float_as_uint(x);
    *(unsigned *)&y = k;                y = __uint_as_float(k);
    memcpy(&u, &a[i], sizeof u);        u = __float_as_uint(a[i]);

Through a pointer, C leaves it undefined (C11 6.5, 7); what is meant is what `memcpy` and unions do.

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
from rtlgen.frontend.lowering.rewriter import Before, PartRewriter, Rewriter, refusal
from rtlgen.frontend.lowering.types import (
    INT,
    SIZE,
    ArrayOf,
    Number,
    PointerTo,
    Type,
    cast,
    common_number,
    element_of,
    number_type,
    plain,
)
from rtlgen.frontend.syntax.assigned import STEPS, below
from rtlgen.frontend.syntax.locate import Locator

_TO_BITS = {32: "__float_as_uint", 64: "__double_as_ulong", 16: "__half_as_ushort"}
_OF_BITS = {32: "__uint_as_float", 64: "__ulong_as_double", 16: "__ushort_as_half"}


def are_alike(a: Number | None, b: Number | None) -> bool:
    """Return whether numbers of two types have the same bits in them, and one of them is a float.

    There are no patterns of `__bf16`, which no function of C's library takes apart.
    """
    if a is None or b is None or a.is_bool or b.is_bool or a.is_short or b.is_short:
        return False
    is_one = a.is_floating != b.is_floating
    return is_one and a.bits == b.bits == a.bytes * 8 and a.bits in _TO_BITS


def reinterpreted(value: c_ast.Node, of: Number, to: Number) -> c_ast.Node:
    """Return the number of type `to` whose bits are those of a value of type `of`."""
    at = value.coord
    if of.is_floating == to.is_floating:
        return cast(plain(to), value)
    # The functions take and return unsigned integers.
    name = (_TO_BITS if of.is_floating else _OF_BITS)[of.bits]
    given = value if of.is_floating else cast(plain(replace(of, is_signed=False)), value)
    call = c_ast.FuncCall(c_ast.ID(name, at), c_ast.ExprList([given], at), at)
    return cast(plain(to), call)


def take_patterns(tree: c_ast.FileAST) -> None:
    """Rewrite a file in place."""
    _Patterns().visit(tree)


class _Patterns(PartRewriter):
    def visit(self, node: c_ast.Node) -> None:
        if isinstance(node, c_ast.Assignment) and self._seen_as(node.lvalue) is not None:
            self.visit(node.rvalue)
            self._assignment(node)
        else:
            super().visit(node)

    def rewritten(self, part: c_ast.Node) -> c_ast.Node:
        match part:
            case c_ast.UnaryOp(op="*"):
                seen = self._seen_as(part)
                if seen is not None:
                    place, own, other = seen
                    return reinterpreted(place, own, other)
            case c_ast.FuncCall(name=c_ast.ID(name="memcpy" | "memmove"), args=arguments):
                return self._copied(part, arguments.exprs if arguments is not None else [])
        return part

    def _seen_as(self, node: c_ast.Node) -> tuple[c_ast.Node, Number, Number] | None:
        """Return the place that is looked at as another type, its type, and that type."""
        match node:
            case c_ast.UnaryOp(op="*", expr=c_ast.Cast(to_type=to, expr=pointer)):
                place = _pointed_to(pointer)
                other = number_type(element_of(self.names.read(to)))
                own = None if place is None else number_type(self.names.type_of(place))
                if place is not None and own is not None and other is not None:
                    return (place, own, other) if are_alike(own, other) else None
        return None

    def _assignment(self, node: c_ast.Assignment) -> None:
        """Let a place be set that is seen as another type."""
        seen = self._seen_as(node.lvalue)
        assert seen is not None
        place, own, other = seen
        value = node.rvalue
        if node.op != "=":
            if has_effect(place):
                return
            old = reinterpreted(copied(place), own, other)
            value = c_ast.BinaryOp(node.op.removesuffix("="), old, value, node.coord)
        node.lvalue, node.op = place, "="
        node.rvalue = reinterpreted(cast(plain(other), value), other, own)

    def _copied(self, call: c_ast.FuncCall, arguments: list[c_ast.Node]) -> c_ast.Node:
        """Return a copy of one number's bytes into another one as an assignment."""
        if len(arguments) != 3:
            return call
        places = [self._place(argument) for argument in arguments[:2]]
        numbers = [number_type(self.names.type_of(place)) for place in places]
        to, of = places
        target, source = numbers
        if to is None or of is None or target is None or source is None:
            return call
        if not are_alike(target, source) or self.names.constant(arguments[2]) != target.bytes:
            return call
        return c_ast.Assignment("=", to, reinterpreted(of, source, target), call.coord)

    def _place(self, argument: c_ast.Node) -> c_ast.Node | None:
        """Return the number that a pointer points to."""
        place = _pointed_to(argument)
        if place is not None:
            return place
        pointed: Type | None = self.names.decayed(argument)
        if isinstance(pointed, PointerTo) and number_type(pointed.to) is not None:
            return c_ast.UnaryOp("*", argument, argument.coord)
        return None


def _pointed_to(node: c_ast.Node) -> c_ast.Node | None:
    """Return what `&` is taken of, whatever the pointer is converted to."""
    while isinstance(node, c_ast.Cast):
        node = node.expr
    if isinstance(node, c_ast.UnaryOp) and node.op == "&":
        place: c_ast.Node = node.expr
        return place
    return None


_WRAPPING = frozenset(("+", "-", "*", "/", "<<"))
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
        _Widener(tree, locator).file()
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

    refusing = UnsupportedType

    def __init__(self, tree: c_ast.FileAST, locator: Locator) -> None:
        super().__init__(tree, locator)
        self._result: Type | None = None

    def refuse(self, function: str, error: FrontendError) -> None:
        """Raise what is refused, whoever calls the function."""
        raise error

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
            case c_ast.UnaryOp(op="&"):
                node.expr = self._place(node.expr)
                return node
            case c_ast.UnaryOp(op=op, expr=inner) if op in STEPS:
                if self._is_precise(inner):
                    raise self._refused(
                        "a bit-precise integer is stepped inside an expression",
                        node,
                        "make the step a statement of its own",
                        "",
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
                raise self._refused(
                    "this is evaluated twice", node.lvalue, "write the steps apart", ""
                )
            op = node.op.removesuffix("=")
            value = c_ast.BinaryOp(op, copied(target), value, node.coord)
            made = self._as(value, bits)
            return c_ast.Assignment("=", self._place(target), made, node.coord)
        node.rvalue = self._as(value, bits)
        node.lvalue = self._place(target)
        return node

    def _call(self, node: c_ast.FuncCall) -> c_ast.Node:
        taken = self.names.taken(node)
        for place, each in enumerate(node.args.exprs if node.args is not None else ()):
            bits = number_type(taken[place]) if place < len(taken) else None
            node.args.exprs[place] = self._as(each, bits)
        return node

    def _literal(self, node: c_ast.Constant) -> c_ast.Node:
        try:
            value, bits = precise_constant(node.value)
        except ValueError as error:
            raise self._refused(str(error), node, "write a smaller one", "") from error
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
            message = "this is made a bit-precise integer, and its type is not known"
            raise self._refused(message, at, "cast it", "")
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
