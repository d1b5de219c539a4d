"""C declarations: element types and array shapes, and the values that `-D` gives to scalars."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.values import ObstacleKind
from rtlgen.frontend.errors import (
    AggregateUnsupported,
    ArraySize,
    BadDefinition,
    FloatingPoint,
    FrontendError,
    ParameterInControl,
    PointerUnsupported,
    UnsupportedDeclaration,
    UnsupportedType,
)
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.types import MAX_ELEMENTS, OPEN, CType, arithmetic_type, float_type
from rtlgen.frontend.text.constants import integer_constant
from rtlgen.frontend.text.float_constants import float_constant
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.types import FloatType, IntType, NumberType
from rtlgen.source import Span


class TypeReader:
    """Reads types out of declarations.

    Parameters
    ----------
    constants: returns a fresh reader of constant expressions in the current scope.
    """

    def __init__(self, locator: Locator, constants: Callable[[], ExpressionReader]) -> None:
        self._locator = locator
        self._constants = constants
        self._typedefs: dict[str, CType | FrontendError] = {}
        self._enumerations: dict[str | None, IntType] = {}

    def define(self, node: c_ast.Typedef) -> None:
        """Remember a typedef; one of an unsupported type is refused when it is used."""
        try:
            self._typedefs[node.name] = self.read(node.type, self._locator.span(node))
        except FrontendError as error:
            self._typedefs[node.name] = error

    def define_enumeration(
        self, tag: str | None, values: Iterable[int], given: IntType | None = None
    ) -> None:
        """Remember the type of an enumeration, which gcc chooses by its constants.

        Parameters
        ----------
        tag: its name; one without a name is the one that is being declared.
        given: the type that the program asks for.
        """
        chosen = IntType(32, any(value < 0 for value in values))
        self._enumerations[tag] = chosen if given is None else given

    def integer(self, node: c_ast.Typename, span: Span) -> IntType:
        """Return the type that an enumeration is stored in."""
        type_ = self.number(node, span)
        if not isinstance(type_, IntType):
            raise UnsupportedType("it is no integer type", labels=(Label(span, f"is {type_}"),))
        return type_

    def number(self, node: c_ast.Typename, span: Span) -> NumberType:
        """Return the type that a cast converts to."""
        type_ = self.read(node, span)
        if type_.element is None or type_.shape:
            raise UnsupportedType("a cast to this type is not supported", labels=(Label(span),))
        return type_.element

    def read(self, node: c_ast.Node, span: Span, is_parameter: bool = False) -> CType:
        """Return the type that a declarator or type name spells.

        Raises
        ------
        FrontendError: the type is not supported; `span` is the place of the declaration.
        """
        match node:
            case c_ast.Decl() | c_ast.Typename():
                return self.read(node.type, span, is_parameter)
            case c_ast.PtrDecl() if is_parameter:
                return self._pointed_to(node, span)
            case c_ast.ArrayDecl(dim=None) if is_parameter:
                return self._pointed_to(node, span)
            case c_ast.ArrayDecl():
                inner = self.read(node.type, span)
                shape = (self._extent(node, span), *inner.shape)
                if prod(shape) > MAX_ELEMENTS:
                    raise ArraySize(
                        "the array is too large",
                        labels=(Label(span, f"{prod(shape):,} elements"),),
                        notes=(f"at most {MAX_ELEMENTS:,} fit into any memory on a chip",),
                    )
                return CType(inner.element, shape, inner.is_const)
            case c_ast.TypeDecl():
                return self._specified(node, span)
            case c_ast.PtrDecl():
                raise PointerUnsupported(
                    "pointers are not supported",
                    labels=(Label(span, "a pointer"),),
                    help="declare an array with its sizes, such as `int a[64]`",
                )
            case _:
                raise UnsupportedDeclaration(
                    "this kind of declaration is not supported", labels=(Label(span),)
                )

    def _pointed_to(self, node: c_ast.PtrDecl | c_ast.ArrayDecl, span: Span) -> CType:
        """Return the array that a parameter points into."""
        inner = self.read(node.type, span)
        if inner.element is None:
            raise PointerUnsupported(
                "pointers to void are not supported",
                labels=(Label(span, "a pointer"),),
                help="give it the type of the elements, such as `int *`",
            )
        return CType(inner.element, (OPEN, *inner.shape), inner.is_const)

    def _specified(self, node: c_ast.TypeDecl, span: Span) -> CType:
        is_const = "const" in node.quals
        if "_Atomic" in node.quals:
            raise UnsupportedDeclaration(
                "atomic variables are not supported", labels=(Label(span),)
            )
        inner = node.type
        match inner:
            case c_ast.IdentifierType():
                names = list(inner.names)
                # The parser knows the newer ones by typedefs.
                if len(names) == 1 and names[0] in self._typedefs and not float_type(names):
                    alias = self._typedefs[names[0]]
                    if isinstance(alias, FrontendError):
                        raise alias
                    return CType(alias.element, alias.shape, alias.is_const or is_const)
                return CType(self._number(names, span), (), is_const)
            case c_ast.Struct() | c_ast.Union():
                kind = "structures" if isinstance(inner, c_ast.Struct) else "unions"
                raise AggregateUnsupported(
                    f"{kind} are not supported",
                    labels=(Label(span),),
                    help="use one array for each member",
                )
            case c_ast.Enum(name=tag):
                if tag not in self._enumerations:
                    raise UnsupportedType(
                        f"the enumeration `{tag}` is not declared", labels=(Label(span),)
                    )
                return CType(self._enumerations[tag], (), is_const)
            case _:
                raise UnsupportedType("this type is not supported", labels=(Label(span),))

    def _number(self, names: list[str], span: Span) -> NumberType | None:
        words = sorted(names)
        if words == ["void"]:
            return None
        type_ = arithmetic_type(names)
        if type_ is None and any(word in ("float", "double", "_Complex") for word in words):
            raise FloatingPoint(
                f"the type `{' '.join(names)}` is not supported",
                labels=(Label(span, "is computed in no circuit"),),
                help="use `float` or `double`"
                + (", one for each part" if "_Complex" in words else ""),
            )
        if type_ is None:
            raise UnsupportedType(
                f"the type `{' '.join(names)}` is not supported",
                labels=(Label(span),),
                help="use an integer type of 8 to 64 bits, `float` or `double`",
            )
        return type_

    def _extent(self, node: c_ast.ArrayDecl, span: Span) -> int:
        if node.dim is None:
            raise PointerUnsupported(
                "the size of the array is not known",
                labels=(Label(span, "no size between the brackets"),),
                help="give every dimension a constant size",
            )
        value = self._constants().value(node.dim)
        if value.obstacle is not None and value.obstacle.kind is ObstacleKind.ARGUMENT:
            raise ParameterInControl(
                "the size of the array depends on a scalar parameter",
                labels=(Label(value.obstacle.span, value.obstacle.reason),),
                help=value.obstacle.fix,
            )
        if value.constant is None:
            raise ArraySize(
                "the size of the array is not a constant", labels=(Label(value.span, "here"),)
            )
        if value.constant < 1:
            raise ArraySize(
                f"the array has a size of {value.constant}",
                labels=(Label(value.span, "must be at least 1"),),
            )
        return value.constant


def fixed_value(name: str, text: str, type_: NumberType, span: Span) -> int:
    """Return the value that `-D` gives to a parameter; of a float its pattern."""
    negative = text.strip().startswith("-")
    digits = text.strip().removeprefix("-").strip()
    try:
        if isinstance(type_, FloatType):
            return _fixed_pattern(digits, type_) ^ (type_.sign_bit if negative else 0)
        value, _ = integer_constant(digits)
    except ValueError as error:
        raise BadDefinition(
            f"-D {name}={text} gives the parameter `{name}` no value",
            labels=(Label(span, str(error)),),
            help=f"write -D {name}=VALUE with a constant of its type",
        ) from error
    value = -value if negative else value
    if not type_.minimum <= value <= type_.maximum:
        raise BadDefinition(
            f"-D {name}={text} does not fit the parameter `{name}`",
            labels=(Label(span, f"is {type_}, {type_.minimum} to {type_.maximum}"),),
        )
    return value


def _fixed_pattern(digits: str, type_: FloatType) -> int:
    """Return the number that a constant is in a type.

    Raises
    ------
    ValueError: it is no constant.
    """
    try:
        value, given = integer_constant(digits)
    except ValueError:
        pattern, own = float_constant(digits)
        return pattern if own == type_ else evaluate("convert", [pattern], own, type_)
    return evaluate("from_int", [value], given, type_)
