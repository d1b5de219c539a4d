"""Arrays, parts and elements, as expressions name them, and what to write for those refused.

    s = sbox[x & 15];           some element from 0 to 15

What the text of a subscript tells is found here. What the rest of the program tells, and whether
it is enough, is found on the whole program (`poly.lookups`).

a[i]      *(a + i)      (&a[i])[0]         one element
a + 4     &a[4]                            the part of `a` from element 4 on

A subscript is affine in the iterators, or it is looked up: its value is computed while it runs.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.cases import MAX_RESIDUES
from rtlgen.frontend.analysis.ranges import Guard, Ranges
from rtlgen.frontend.analysis.values import ObstacleKind, Value
from rtlgen.frontend.errors import (
    CallArguments,
    CommaOperator,
    FrontendError,
    IndexWraps,
    IteratorModified,
    Jump,
    LoopHeader,
    NonAffineBound,
    ParameterInControl,
    PointerUnsupported,
    SideEffect,
    SubscriptCount,
    SwitchUnsupported,
    UnboundedLoop,
    UnknownIdentifier,
    UnsupportedExpression,
    UnsupportedStatement,
)
from rtlgen.frontend.reading.symbols import (
    Held,
    Index,
    LookedUp,
    Scopes,
    Unusable,
    Variable,
    View,
)
from rtlgen.frontend.syntax.locate import OPEN, CType, Locator
from rtlgen.frontend.text.headers import header_of
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Expr, IndexValue, Unary
from rtlgen.ir.quasi_affine import quasi_affine
from rtlgen.ir.quotients import simplified_parts
from rtlgen.ir.scop import Access, Window
from rtlgen.ir.types import INT64
from rtlgen.ir.value_ranges import Fact, Range, ValueRanges, facts_of, value_range
from rtlgen.source import Span

if TYPE_CHECKING:
    from rtlgen.frontend.reading.expressions import ExpressionReader


def statement_refusal(node: c_ast.Node, locator: Locator) -> FrontendError:
    """Return the error of a statement that is none of the supported ones."""
    start = (Label(locator.start(node)),)
    match node:
        case c_ast.While() | c_ast.DoWhile():
            unbounded = UnboundedLoop(
                "the most iterations of this loop are not known",
                labels=start,
                help="state them on the line before it, `#pragma rtlgen bound 100`, or count them "
                "in its condition: `k < 100 && ...; k++`",
            )
            unbounded.loop = node.coord.line
            return unbounded
        case c_ast.Goto():
            return Jump(
                f"`goto {node.name}` does not lead forward to a statement of a block around it",
                labels=start,
                help="write a loop, or an `if` around the statements",
            )
        case c_ast.Break() | c_ast.Continue():
            word = type(node).__name__.lower()
            return Jump(f"`{word}` stands in no loop", labels=start)
        case c_ast.Return():
            return Jump(
                "`return` leaves the #pragma scop region from the middle",
                labels=start,
                help="assign the value to a variable, and return it at the end",
            )
        case c_ast.Switch():
            return SwitchUnsupported(
                "a label of this `switch` stands inside of a statement or behind a declaration, "
                "or is negative where what is chosen by changes",
                labels=start,
                help="put the cases directly into its braces, declarations into their own, and "
                "what is chosen by into a variable that the cases leave alone",
            )
        case c_ast.ExprList():
            return CommaOperator(
                "the comma operator is not supported",
                labels=(Label(locator.span(node)),),
                help="write one statement for each part",
            )
        case _:
            return UnsupportedStatement(
                "this statement is not supported",
                labels=(Label(locator.span(node), "has no effect, or is not an assignment"),),
            )


def with_bound_stated(error: FrontendError) -> FrontendError:
    """Return a refusal of a loop's header, or of what decides, with what helps in any case."""
    help_, notes = error.diagnostic.help, error.diagnostic.notes
    options = " ".join(f"-D {name}=VALUE" for name in error.deciding)
    is_parameter = isinstance(error, ParameterInControl)
    if len(error.deciding) > 1 and is_parameter:
        notes = (*notes, f"all parameters that decide about loops and subscripts: {options}")
    elif options and not is_parameter:
        notes = (*notes, f"how often it runs depends on what {options} fixes")
    of_header = LoopHeader | NonAffineBound | ParameterInControl | IteratorModified
    if isinstance(error, of_header) and error.loop:
        stated = "state the most iterations on the line before the loop: #pragma rtlgen bound 100"
        help_ = stated if help_ is None else f"{help_}; or {stated}"
    return error.telling(help=help_, notes=notes)


def factor_help(reason: str) -> str | None:
    """Return what to do about an obstacle, if a product is what it is."""
    if reason.startswith(("a product", "a shift by")):
        return f"give one of the factors no more than {MAX_RESIDUES} values"
    return None


def unknown_name(name: str, span: Span) -> UnknownIdentifier:
    """Return the error of a name that nothing declares."""
    header = header_of(name)
    return UnknownIdentifier(
        f"`{name}` is not declared",
        labels=(Label(span),),
        help=f"if it is a size, give it with -D {name}=VALUE"
        if header is None
        else f"include the header that declares it: #include <{header}>",
    )


def expression_refusal(
    node: c_ast.Node, span: Span
) -> SideEffect | CommaOperator | UnsupportedExpression:
    """Return the error of an expression that is no value."""
    label = (Label(span),)
    match node:
        case c_ast.Assignment():
            return SideEffect(
                "an assignment inside an expression",
                labels=label,
                help="make it a statement of its own",
            )
        case c_ast.ExprList():
            return CommaOperator("the comma operator is not supported", labels=label)
        case c_ast.UnaryOp(op="&" as op):
            return UnsupportedExpression(
                f"the operator `{op}` is not supported",
                labels=label,
                notes=("there are no pointers",),
            )
        case c_ast.TernaryOp():
            return UnsupportedExpression(
                "a choice of two places is not supported",
                labels=label,
                help="choose it in a statement of its own: `int *p = c ? a : b;`",
            )
        case _:
            return UnsupportedExpression("this expression is not supported", labels=label)


def window(
    index: LookedUp,
    extent: int,
    ranges: Ranges,
    told: Callable[[Expr], Range | None],
    *,
    is_conditional: bool,
) -> Window:
    """Return the part of a dimension of `extent` elements that a subscript may lie in.

    Parameters
    ----------
    told: returns what assertions say of a value.

    Raises
    ------
    IndexWraps: it comes round, and leaves the array.
    """
    expr, iterators = index.value.expr, ranges.boxes()
    low, high = value_range(expr, iterators)
    stated = told(expr)
    if stated is not None:
        low, high = max(low, stated[0]), min(high, stated[1])
    last = high if extent == OPEN else extent - 1
    obstacle = index.value.obstacle
    assert obstacle is not None, "what is looked up is not affine"
    is_inside = low >= 0 and high <= last
    if not is_inside and not is_conditional and obstacle.kind is ObstacleKind.WRAPS:
        raise IndexWraps(
            f"the subscript `{index.text}` wraps round",
            labels=(Label(obstacle.span, obstacle.reason),),
            help="use a signed iterator",
        )
    first = min(max(low, 0), max(last, 0))
    known = quasi_affine(expr, iterators)
    return Window(first, max(first, min(high, last)), known, told=stated)


def stays_inside(access: Access, shape: Sequence[int], ranges: Ranges) -> bool:
    """Return whether an access cannot leave its array; where data decides, it is not known yet."""
    is_known = all(isinstance(s, Affine) or s.known is not None for s in access.subscripts)
    return is_known and _is_inside(access, shape, ranges, None)


def guard_keeps_inside(access: Access, shape: Sequence[int], guard: Guard, ranges: Ranges) -> bool:
    """Return whether it is seen that a guard holds only where an access is inside of its array."""
    return _is_inside(access, shape, ranges, guard)


def _is_inside(access: Access, shape: Sequence[int], ranges: Ranges, guard: Guard | None) -> bool:
    """Return whether what iterators tell of an access is inside, where a guard holds."""
    boxes = ranges.boxes() if access.is_lookup else {}
    values = ValueRanges(boxes)
    facts: tuple[Fact, ...] = ()
    if guard is not None and access.is_lookup:
        facts = facts_of(simplified_parts(guard.expr, boxes), True)
    for subscript, extent in zip(access.subscripts, shape, strict=True):
        if isinstance(subscript, Affine):
            low, high = ranges.minimum(subscript), ranges.maximum(subscript)
        elif subscript.known is not None:
            known = subscript.known if guard is None else simplified_parts(subscript.known, boxes)
            low, high = values.range(known, facts)
        else:
            continue
        if low < 0 or (extent != OPEN and high >= extent):
            return False
    return True


_START = Affine()


@dataclass(frozen=True, slots=True)
class Part:
    """What is left of an array when its first dimensions have subscripts.

    Members
    -------
    name: as the text calls it.
    offset: what the next subscript is counted from.
    is_pointed_to: it is reached through a pointer.
    is_whole: it is the address of the whole variable, so that one subscript more names nothing.
    """

    name: str
    variable: Variable
    subscripts: tuple[Index, ...] = ()
    offset: Index = _START
    is_pointed_to: bool = False
    is_whole: bool = False

    def element(self, subscript: Index) -> Part:
        """Return what one more subscript names."""
        place = plus(self.offset, subscript)
        if self.is_whole and (place == Affine() or self.variable.shape == ()):
            return replace(self, offset=Affine(), is_whole=False, is_pointed_to=False)
        return replace(self, subscripts=(*self.subscripts, place), offset=Affine(), is_whole=False)

    def moved(self, step: Index) -> Part:
        """Return the part that begins `step` further on."""
        return replace(self, offset=plus(self.offset, step))

    def address(self) -> Part:
        """Return the part that begins with this element."""
        if not self.subscripts:
            return replace(self, is_whole=not self.is_pointed_to)
        return replace(self, subscripts=self.subscripts[:-1], offset=self.subscripts[-1])


def plus(a: Index, b: Index) -> Index:
    """Return the sum of two subscripts, as exact as pointers are."""
    if isinstance(a, Affine) and isinstance(b, Affine):
        return a + b
    if b == Affine():
        return a
    if a == Affine():
        return b
    known = b if isinstance(b, LookedUp) else a
    assert isinstance(known, LookedUp)
    return _computed(Binary("add", _wide(a), _wide(b), INT64), known)


def negated(place: Index) -> Index:
    """Return a subscript with the other sign."""
    if isinstance(place, Affine):
        return -place
    return _computed(Unary("neg", _wide(place), INT64), place)


def _wide(place: Index) -> Expr:
    if isinstance(place, Affine):
        return IndexValue(place, INT64)
    return Cast(place.value.expr, INT64)


def _computed(expr: Expr, of: LookedUp) -> LookedUp:
    return LookedUp(Value(expr, None, of.value.obstacle, of.value.span), of.text)


@dataclass(frozen=True, slots=True)
class Element:
    """One element of a variable, as the text names it."""

    variable: Variable
    subscripts: tuple[Index, ...]
    span: Span


@dataclass(frozen=True, slots=True)
class Written:
    """The element that is assigned.

    Members
    -------
    at: where data decides which one it is, the values of the subscripts that are no affine ones.
    """

    variable: Variable
    access: Access
    at: tuple[Expr, ...] = ()


class ElementReader:
    """Reads lvalues, and arguments that are arrays, of what a reader of expressions reads."""

    def __init__(self, reader: ExpressionReader, locator: Locator, scopes: Scopes) -> None:
        self._reader = reader
        self._locator = locator
        self._scopes = scopes

    def written(self, node: c_ast.Node) -> Written | None:
        """Return the element that is assigned, if iterators tell which one it is."""
        element = self.element(node)
        pairs = list(zip(element.subscripts, element.variable.shape, strict=True))
        known = [i if isinstance(i, Affine) else self._known(i, extent) for i, extent in pairs]
        subscripts = tuple(place for place in known if place is not None)
        return self._written(element, subscripts) if len(subscripts) == len(known) else None

    def computed(self, node: c_ast.Node, *, is_conditional: bool) -> Written:
        """Return the element that is assigned, which data decides.

        Parameters
        ----------
        is_conditional: it is assigned only where a condition on data holds.

        Raises
        ------
        IndexWraps: a subscript comes round, and leaves the array.
        """
        element, reader = self.element(node), self._reader
        ranges = reader.arithmetic.ranges
        pairs = zip(element.subscripts, element.variable.shape, strict=True)
        subscripts = tuple(
            i
            if isinstance(i, Affine)
            else window(i, extent, ranges, reader.told, is_conditional=is_conditional)
            for i, extent in pairs
        )
        at = tuple(i.value.expr for i in element.subscripts if isinstance(i, LookedUp))
        return self._written(element, subscripts, at)

    def _written(
        self, element: Element, subscripts: tuple[Affine | Window, ...], at: tuple[Expr, ...] = ()
    ) -> Written:
        """Return what is assigned, and note the access."""
        access = Access(element.variable.name, subscripts, element.span)
        self._reader.note_access(element.variable, access)
        return Written(element.variable, access, at)

    def _known(self, index: LookedUp, extent: int) -> Window | None:
        """Return a subscript that quotients and remainders of iterators make up."""
        iterators, obstacle = self._reader.arithmetic.ranges.boxes(), index.value.obstacle
        known = quasi_affine(index.value.expr, iterators)
        if known is None:
            return None
        low, high = value_range(known, iterators)
        is_inside = low >= 0 and extent != OPEN and high < extent
        if obstacle is not None and obstacle.kind is ObstacleKind.WRAPS and not is_inside:
            # Nobody means to leave an array by wrapping round.
            return None
        return Window(low, high, known)

    def element(self, node: c_ast.Node) -> Element:
        """Return the element that an expression names."""
        part = self.part(node)
        shape, span = part.variable.shape, self._locator.span(node)
        if part.is_whole or (part.is_pointed_to and not part.subscripts):
            raise PointerUnsupported(
                f"the pointer `{part.name}` is used as a value",
                labels=(Label(span, "a pointer"),),
                help=f"write `*{part.name}` or `{part.name}[0]`",
            )
        if len(part.subscripts) != len(shape) or part.offset != Affine():
            raise SubscriptCount(
                f"`{part.name}` has {_count(len(shape), 'dimension')}, not {len(part.subscripts)}",
                labels=(Label(span, f"{_count(len(part.subscripts), 'subscript')} here"),),
                notes=(f"`{part.name}` is declared at {part.variable.span}",),
            )
        return Element(part.variable, part.subscripts, span)

    def view(self, node: c_ast.Node, parameter: str, type_: CType) -> View:
        """Return what an array parameter of that type is when `node` is its argument."""
        part = self.part(node)
        variable = part.variable
        left = variable.shape[len(part.subscripts) :]
        if part.is_whole:
            left = (1, *left)
        if (
            variable.element != type_.element
            or len(left) != len(type_.shape)
            or left[1:] != type_.shape[1:]
        ):
            raise CallArguments(
                f"the argument does not fit the parameter `{parameter}`",
                labels=(Label(self._locator.span(node), "another type, or other extents"),),
                notes=(f"`{part.name}` is declared at {variable.span}",),
                help="give both the same element type, and the same extents behind the first",
            )
        is_const = variable.is_const or type_.is_const
        return View(
            parameter, variable, part.subscripts, part.offset, is_const, is_whole=part.is_whole
        )

    def part(self, node: c_ast.Node) -> Part:
        """Return the array, the part of one, or the element that an expression names."""
        match node:
            case c_ast.ID():
                return self._whole(node)
            case c_ast.ArrayRef():
                return self.part(node.name).element(self._subscript(node.subscript))
            case c_ast.UnaryOp(op="*"):
                return self.part(node.expr).element(Affine())
            case c_ast.UnaryOp(op="&"):
                return self.part(node.expr).address()
            case c_ast.BinaryOp(op="+" | "-" as op):
                step = self._subscript(node.right)
                return self.part(node.left).moved(step if op == "+" else negated(step))
            case _:
                raise expression_refusal(node, self._locator.span(node))

    def _whole(self, node: c_ast.ID) -> Part:
        span = self._locator.span(node)
        match self._scopes.lookup(node.name):
            case Variable() as variable:
                return Part(node.name, variable)
            case View(_, variable, fixed, offset, is_whole=is_whole):
                return Part(
                    node.name,
                    variable,
                    tuple(self._place(index, node.name, span) for index in fixed),
                    self._place(offset, node.name, span),
                    is_pointed_to=True,
                    is_whole=is_whole,
                )
            case None:
                raise unknown_name(node.name, span)
            case Unusable(error):
                raise error
            case _:
                raise SubscriptCount(
                    f"`{node.name}` is not an array", labels=(Label(span, "has subscripts"),)
                )

    def _place(self, index: Index | Held, name: str, span: Span) -> Index:
        """Return a subscript of the place that the pointer `name` points to."""
        if not isinstance(index, Held):
            return index
        access = Access(index.variable.name, (), span)
        return _index(self._reader.current(index.variable, access), name)

    def _subscript(self, node: c_ast.Node) -> Index:
        return _index(self._reader.value(node), self._locator.text(node))


def _index(value: Value, text: str) -> Index:
    return LookedUp(value, text) if value.affine is None else value.affine


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
