"""C declarations: element types, shapes, extents of pointer parameters, initial values.

    void f(int *a) { for (int i = 0; i < 8; i++) a[2 * i] = 0; }      15 elements

A pointer does not tell. The option `-D a_EXTENT=64` does; without it, the array ends with the last
element that the function can touch, which its subscripts tell.

    const int w[2][3] = {1, 2, 3, [1][2] = 9};

is a table of constants: 1, 2, 3, 0, 0, 9. Where it is read with constant subscripts, the value
takes its place. An array that is not constant is filled where it is declared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.values import ObstacleKind
from rtlgen.frontend.errors import (
    AggregateUnsupported,
    ArraySize,
    BadDefinition,
    FloatingPoint,
    FrontendError,
    InitialiserUnsupported,
    ParameterInControl,
    PointerUnsupported,
    UnsupportedDeclaration,
    UnsupportedType,
)
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.frontend.syntax.braces import Braces, Parts, is_string
from rtlgen.frontend.syntax.locate import (
    MAX_ELEMENTS,
    OPEN,
    CType,
    Locator,
    arithmetic_type,
)
from rtlgen.frontend.text.constants import (
    CHARACTER,
    character_constant,
    float_constant,
    integer_constant,
)
from rtlgen.frontend.text.tokens import words
from rtlgen.ir.float_arithmetic import evaluate
from rtlgen.ir.scop import Access, Window
from rtlgen.ir.types import INT64, FloatType, NumberType
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
            case c_ast.FuncDecl():
                raise PointerUnsupported(
                    "a circuit is handed no functions",
                    labels=(Label(span, "a function"),),
                    help="call it by its name, or one of several as a number says",
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
                return CType(self._number(list(inner.names), span), (), is_const)
            case c_ast.Struct() | c_ast.Union():
                kind = "structures" if isinstance(inner, c_ast.Struct) else "unions"
                raise AggregateUnsupported(
                    f"{kind} are not supported",
                    labels=(Label(span),),
                    help="use one array for each member",
                )
            case c_ast.Enum(name=tag):
                raise UnsupportedType(
                    f"the enumeration `{tag}` is not declared", labels=(Label(span),)
                )
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


SUFFIX = "_EXTENT"


def extent_options(text: str, defines: Mapping[str, str]) -> dict[str, str]:
    """Return those of `defines` that give the extent of something that `text` mentions.

    One that `text` mentions itself is a macro of the program's.
    """
    known = words(text)
    return {
        name: value
        for name, value in defines.items()
        if name not in known and name.endswith(SUFFIX) and name.removesuffix(SUFFIX) in known
    }


class Extents:
    """Finds the extents that no text tells."""

    def __init__(self) -> None:
        self._ends: dict[str, int] = {}

    def note(self, variable: Variable, access: Access, ranges: Ranges) -> None:
        """Note which elements are touched inside `ranges`."""
        if variable.shape and variable.shape[0] == OPEN:
            first = access.subscripts[0]
            end = 1 + (first.high if isinstance(first, Window) else ranges.maximum(first))
            self._ends[variable.name] = max(end, self._ends.get(variable.name, 1))

    def stated(self, variable: Variable) -> Variable | None:
        """Return the variable if the program states its extent."""
        return None if variable.shape[:1] == (OPEN,) else variable

    def closed(self, variables: Sequence[Variable]) -> list[Variable]:
        """Return variables with their extents.

        Raises
        ------
        ArraySize: some would be larger than any memory.
        """
        found = [self._closed(variable) for variable in variables]
        large = [variable for variable in found if prod(variable.shape) > MAX_ELEMENTS]
        if large:
            sizes = [f"`{v.name}` would have {prod(v.shape):,} elements" for v in large]
            options = " ".join(f"-D {v.name}{SUFFIX}=VALUE" for v in large)
            raise ArraySize(
                ", ".join(sizes),
                labels=[Label(v.span, "points to an array of unknown extent") for v in large],
                help=f"give {'its extent' if len(large) == 1 else 'their extents'}: {options}",
            )
        return found

    def _closed(self, variable: Variable) -> Variable:
        if variable.shape[:1] != (OPEN,):
            return variable
        return replace(variable, shape=(self._ends.get(variable.name, 1), *variable.shape[1:]))


MAX_SET = 1 << 16
"""Elements of the largest table: more than the block RAM of a device holds is a mistake."""


@dataclass(frozen=True, slots=True)
class InitialValues:
    """What the elements of an array are set to, in the order in which they are stored.

    Members
    -------
    constants: of all elements; 0 for one that is computed.
    computed: the expressions of those that are no constants, by their number.
    """

    constants: tuple[int, ...]
    computed: Mapping[int, c_ast.Node]


def initial_values(
    node: c_ast.Node,
    shape: Sequence[int],
    element: NumberType,
    reader: ExpressionReader,
    span: Span,
    *,
    may_be_computed: bool = False,
) -> InitialValues:
    """Return what all elements of an array, or a scalar, are set to.

    Parameters
    ----------
    may_be_computed: where it is declared, they are assigned; else they have to be constants.

    Raises
    ------
    InitialiserUnsupported: one is no constant, or they do not fit the array.
    """
    if not shape:
        return InitialValues((_constant(node, element, reader),), {})
    count = prod(shape)
    if count > MAX_SET:
        raise _refused(span, f"the array has {count} elements, at most {MAX_SET} are set")
    constants = [0] * count
    computed: dict[int, c_ast.Node] = {}
    for at, value in _set_to(node, shape, element, reader, span).items():
        try:
            constants[at] = value if isinstance(value, int) else _constant(value, element, reader)
        except FrontendError:
            if not may_be_computed or isinstance(value, int):
                raise
            # Where it is assigned, it is read again, and refused if it has to be.
            computed[at] = value
    return InitialValues(tuple(constants), computed)


def _set_to(
    node: c_ast.Node,
    shape: Sequence[int],
    element: NumberType,
    reader: ExpressionReader,
    span: Span,
) -> dict[int, c_ast.Node | int]:
    """Return what elements are set to, by their number: expressions, and characters of texts."""
    values = _in_braces(node, shape, reader, span)
    found: dict[int, c_ast.Node | int] = {}
    given = {(): values} if isinstance(values, c_ast.Constant) else values.values
    for way, value in given.items():
        at = sum(int(step) * prod(shape[k + 1 :]) for k, step in enumerate(way))
        if len(way) == len(shape):
            found[at] = value
        else:
            found |= dict(enumerate(_characters(value, shape[-1], element, span), at))
    return found


def _in_braces(
    node: c_ast.Node, shape: Sequence[int], reader: ExpressionReader, span: Span
) -> _Values | c_ast.Constant:
    """Return the values of an array, or the text in it."""
    values = node.exprs if isinstance(node, c_ast.InitList) else [node]
    if len(shape) == 1 and len(values or ()) == 1 and is_string(values[0]):
        return values[0]
    if not isinstance(node, c_ast.InitList):
        raise _refused(span, "its values stand in no braces")
    return _Values(node, shape, reader, span)


class _Values(Braces):
    """The values of an array of numbers."""

    too_many = "more values than places"
    unfit = "braces or names that do not follow the dimensions"

    def __init__(
        self, node: c_ast.InitList, shape: Sequence[int], reader: ExpressionReader, span: Span
    ) -> None:
        self._reader = reader
        self._span = span
        parts = None
        for extent in reversed(shape):
            parts = Parts(parts, extent)
        super().__init__(parts, node)

    def place(self, expr: c_ast.Node, extent: int | None) -> int:
        number = _constant(expr, INT64, self._reader)
        if number < 0 or (extent is not None and number >= extent):
            raise _refused(self._reader.span(expr), f"there is no element {number}")
        return number

    def refused(self, message: str, node: c_ast.Node) -> InitialiserUnsupported:
        return _refused(self._span, message)


def _characters(node: c_ast.Node, extent: int, element: NumberType, span: Span) -> list[int]:
    """Return the elements of a text; the last one may have no place (C11 6.7.9, 14)."""
    literal: str = node.value
    characters = CHARACTER.findall(literal[1:-1]) if literal.startswith('"') else None
    count = len(characters or ())
    if characters is None or element.width_bits != 8 or count > extent:
        raise _refused(span, "a string that does not fit")
    try:
        numbers = [element.wrap(character_constant(f"'{c}'")) for c in characters]
    except ValueError as error:
        raise _refused(span, str(error)) from error
    return [*numbers, *[0] * (extent - count)]


def _constant(node: c_ast.Node, element: NumberType, reader: ExpressionReader) -> int:
    value = reader.arithmetic.convert(reader.value(node), element)
    if value.stored_constant is None:
        raise _refused(value.span, "this is no constant")
    return value.stored_constant


def _refused(span: Span, why: str) -> InitialiserUnsupported:
    return InitialiserUnsupported(
        "this initial value of an array is not supported",
        labels=(Label(span, why),),
        help="give constants in braces, or fill the array in a loop",
    )
