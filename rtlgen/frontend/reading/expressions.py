"""Expressions that are read without a trace: constants, and values that are only looked at."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from math import prod

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.cases import is_by_iterators
from rtlgen.frontend.analysis.ranges import Guard, Ranges, renumbered, with_own_reads
from rtlgen.frontend.analysis.truth_tables import BINARY_OPS
from rtlgen.frontend.analysis.turn import Observation, Turn
from rtlgen.frontend.analysis.values import (
    Arithmetic,
    Obstacle,
    ObstacleKind,
    Value,
    exact,
    literal,
    opaque,
)
from rtlgen.frontend.errors import (
    BadConstant,
    CallUnsupported,
    FloatingPoint,
    FrontendError,
    PointerUnsupported,
    SideEffect,
    UnsupportedExpression,
)
from rtlgen.frontend.reading.elements import (
    Element,
    ElementReader,
    Written,
    expression_refusal,
    stays_inside,
    unknown_name,
    window,
)
from rtlgen.frontend.reading.reaching import (
    Definition,
    Definitions,
    Origin,
    known_value,
    known_value_at,
    question,
    written_out,
)
from rtlgen.frontend.reading.symbols import (
    ActiveIterator,
    Function,
    LookedUp,
    NamedConstant,
    ScalarInput,
    Scopes,
    Slot,
    Unusable,
    Variable,
    View,
)
from rtlgen.frontend.syntax.assigned import STEPS, below
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.text.constants import (
    WIDE_CHARACTERS,
    character_constant,
    float_constant,
    integer_constant,
    wide_character_constant,
)
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Expr, Read, ScalarParameter, UnaryOp
from rtlgen.ir.scop import Access
from rtlgen.ir.types import INT32, FloatType, IntType, NumberType, integral
from rtlgen.ir.value_ranges import Range, ValueRanges, facts_of
from rtlgen.source import Span

_UNARY_OPS: dict[str, UnaryOp] = {"-": "neg", "~": "not", "!": "lnot"}


class Surroundings:
    """What an expression depends on besides the names in it and the loops around it.

    Here it is one that nothing is known of: it is read without a trace, and calls nothing.
    """

    def definitions(self, variable: Variable) -> Definitions:
        """Return the assignments of a scalar that may reach the expression."""
        return (Definition(variable.span, None),)

    def observed(self, node: c_ast.Node, variable: Variable) -> Observation | None:
        """Return what a scalar is wherever a name is read, if running the loop around it tells."""
        return None

    def origin(self, read: Access) -> Origin | None:
        """Return what a scalar that is read was set to, as far as that is the same value still."""
        return None

    def told(self) -> Iterator[Guard]:
        """Yield conditions that hold here, since the program says so."""
        return iter(())

    def assume(self, condition: Guard) -> None:
        """Note that the program asserts a condition here."""

    def note_access(self, variable: Variable, access: Access, ranges: Ranges) -> None:
        """Note which elements are touched inside `ranges`."""

    def call(self, node: c_ast.FuncCall, reader: ExpressionReader) -> Value:
        """Return the value of a call."""
        raise CallUnsupported(
            "a constant expression calls a function", labels=(Label(reader.span(node)),)
        )


class Unnoticed(Surroundings):
    """The surroundings of expressions that are read without a trace.

    Parameters
    ----------
    definitions: returns the assignments of a scalar that may reach.
    """

    def __init__(self, definitions: Callable[[Variable], Definitions]) -> None:
        self._definitions = definitions

    def definitions(self, variable: Variable) -> Definitions:
        """Return the assignments of a scalar that may reach."""
        return self._definitions(variable)


class ExpressionReader:
    """Reads the expressions of one statement, and collects what they read from memory.

    Parameters
    ----------
    ranges: the loops and conditions around the statement.
    cast_type: reads the type of a cast.
    is_guarded: the program evaluates them only where a condition on data holds.

    Members
    -------
    reads: the accesses so far, one for each textual read.
    elements: reads what names arrays and elements.
    is_control: whether it reads when a loop runs or where an element is, for which no hardware is
        needed: scalars are what iterators decide, whatever that takes to compute, and what running
        the loops around tells.
    """

    def __init__(
        self,
        locator: Locator,
        scopes: Scopes,
        ranges: Ranges,
        cast_type: Callable[[c_ast.Typename, Span], NumberType],
        surroundings: Surroundings,
        *,
        is_guarded: bool = False,
    ) -> None:
        self._locator = locator
        self._scopes = scopes
        self._cast_type = cast_type
        self._surroundings = surroundings
        self.arithmetic = Arithmetic(ranges)
        self.elements = ElementReader(self, locator, scopes)
        self.reads: list[Access] = []
        self.may_leave = False
        self.is_control = False
        self._outside = self._conditions = int(is_guarded)
        self._in_question: frozenset[str] = frozenset()
        self._believed: tuple[Guard, ...] = ()

    def value(self, node: c_ast.Node) -> Value:
        """Return the value of an expression.

        Raises
        ------
        FrontendError: it is not supported.
        """
        span = self._locator.span(node)
        match node:
            case c_ast.Constant():
                return self._constant(node, span)
            case c_ast.ID():
                return self._name(node, span)
            case c_ast.ArrayRef():
                return self._element(self.elements.element(node))
            case c_ast.UnaryOp():
                return self._unary(node, span)
            case c_ast.BinaryOp():
                return self._binary(node, span)
            case c_ast.TernaryOp():
                condition = self.condition(node.cond, (node.iftrue, node.iffalse))
                with self.conditionally(condition):
                    if_true = self.value(node.iftrue)
                with self.conditionally(condition, is_met=False):
                    if_false = self.value(node.iffalse)
                return self.arithmetic.select(condition, if_true, if_false, span)
            case c_ast.Cast():
                return self.arithmetic.convert(
                    self.value(node.expr), self._cast_type(node.to_type, span)
                )
            case c_ast.FuncCall():
                return self._surroundings.call(node, self)
            case _:
                raise expression_refusal(node, span)

    def span(self, node: c_ast.Node) -> Span:
        """Return the place of `node`."""
        return self._locator.span(node)

    @contextmanager
    def conditionally(
        self, condition: Value | None = None, *, is_met: bool = True
    ) -> Iterator[None]:
        """Read what the program evaluates only where a condition on data holds, or does not."""
        self._conditions += 1
        outer = self.arithmetic
        if condition is not None and condition.constant is not None:
            is_reached = outer.is_reached and (condition.constant != 0) == is_met
            self.arithmetic = replace(outer, is_reached=is_reached)
        try:
            yield
        finally:
            self.arithmetic = outer
            self._conditions -= 1

    @property
    def is_conditional(self) -> bool:
        """Whether what is read depends on a condition inside of the statement."""
        return self._conditions > self._outside

    def condition(self, node: c_ast.Node, under: Iterable[c_ast.Node]) -> Value:
        """Return the value of a condition, on which it depends whether `under` is evaluated.

        Where a variable holds the answer to a question about what is used there, it is asked
        again: it tells what that may be.
        """
        outer = self._in_question
        self._in_question = frozenset(
            variable.name
            for root in under
            for part in below(root)
            if isinstance(part, c_ast.ID)
            and (variable := self._scopes.stored(part.name)) is not None
        )
        try:
            return self.value(node)
        finally:
            self._in_question = outer

    def read(self, variable: Variable, access: Access, at: tuple[Expr, ...] = ()) -> Value:
        """Return the value of an element, as one more read.

        Parameters
        ----------
        at: the values of the subscripts that depend on data.
        """
        at = at or tuple(w.known for w in access.windows if w.known is not None)
        if self._conditions and not stays_inside(access, variable.shape, self.arithmetic.ranges):
            access = replace(access, is_conditional=True)
            self.may_leave = True
        self.reads.append(access)
        obstacle = self._unknown_value(variable, access.span)
        return opaque(Read(len(self.reads) - 1, variable.element, at), obstacle, access.span)

    def _element(self, element: Element) -> Value:
        """Return the value of an element that an expression names."""
        variable = element.variable
        ranges = self.arithmetic.ranges
        looked_up = [index for index in element.subscripts if isinstance(index, LookedUp)]
        subscripts = tuple(
            index
            if isinstance(index, Affine)
            else window(index, extent, ranges, self.told, is_conditional=self._conditions > 0)
            for index, extent in zip(element.subscripts, variable.shape, strict=True)
        )
        at = tuple(index.value.expr for index in looked_up)
        access = Access(variable.name, subscripts, element.span)
        self.note_access(variable, access)
        return self.read(variable, access, at) if at else self.current(variable, access)

    def note_access(self, variable: Variable, access: Access) -> None:
        """Note which elements are touched here."""
        self._surroundings.note_access(variable, access, self.arithmetic.ranges)

    def written(self, node: c_ast.Node) -> Written:
        """Return the element that is assigned: as iterators tell it, or else computed.

        Raises
        ------
        IndexWraps: a subscript comes round, and leaves the array.
        """
        first = len(self.reads)
        before, self.is_control = self.is_control, True
        known = self.elements.written(node)
        self.is_control = before
        if known is not None:
            return known
        # What was read in vain is not read.
        del self.reads[first:]
        return self.elements.computed(node, is_conditional=self._conditions > 0)

    def adopt(self, guard: Guard) -> Expr:
        """Return the condition of a guard, its reads made reads of this statement."""
        first = len(self.reads)
        self.reads.extend(guard.reads)
        return renumbered(guard.expr, range(first, len(self.reads)))

    def told(self, expr: Expr) -> Range | None:
        """Return between which values an expression lies as assertions have it, if they do."""
        return self.limits(expr, [*self._surroundings.told(), *self._believed])

    @contextmanager
    def believing(self, conditions: Iterable[Guard]) -> Iterator[None]:
        """Read expressions where conditions hold, too."""
        outer = self._believed
        self._believed = (*outer, *conditions)
        try:
            yield
        finally:
            self._believed = outer

    def asserted(self, node: c_ast.Node) -> Guard | None:
        """Return what an assertion says where an expression is carried out, if it can be read."""
        first = len(self.reads)
        try:
            truth = self.arithmetic.truth(self.value(node))
            condition = Guard(*with_own_reads(truth.expr, self.reads))
        except FrontendError:
            return None
        finally:
            # It is no part of what the statement computes.
            del self.reads[first:]
        self._surroundings.assume(condition)
        return condition

    def limits(self, expr: Expr, guards: Sequence[Guard]) -> Range | None:
        """Return between which values an expression lies where guards hold, if that tells more."""
        if not guards:
            return None
        ranges = ValueRanges(self.arithmetic.ranges.boxes())
        own = found = ranges.range(expr)
        for is_out in (False, True):
            # A fact on a scalar is one on what it was set to, and the other way round.
            parts = [(expr, tuple(self.reads)), *((guard.expr, guard.reads) for guard in guards)]
            if is_out:
                parts = [written_out(*part, self._surroundings.origin) for part in parts]
            first: dict[object, int] = {}
            same: list[Expr] = []
            for part, reads in parts:
                # What is read twice is the same both times.
                numbers = [first.setdefault((r.array, r.subscripts), len(first)) for r in reads]
                same.append(renumbered(part, numbers))
            facts = tuple(fact for part in same[1:] for fact in facts_of(part, True))
            own = _meet(own, ranges.range(same[0]))
            found = _meet(found, ranges.range(same[0], facts))
        return None if found == own else found

    def current(self, variable: Variable, access: Access) -> Value:
        """Return the value of an element: what a scalar was set to, where that is known."""
        if variable.shape == ():
            definitions = self._surroundings.definitions(variable)
            known, is_dear = known_value(definitions)
            if isinstance(known, Affine):
                return exact(known, integral(variable.element), access.span)
            if known is not None:
                decided = known_value_at(known, self.arithmetic.ranges, access.span)
                if not is_dear or decided.affine is not None or self.is_control:
                    return decided
            asked = question(definitions, self._in_question, self._surroundings.definitions)
            if asked is not None:
                obstacle = Obstacle(ObstacleKind.DATA, "depends on data", access.span)
                return opaque(self.adopt(asked), obstacle, access.span)
        value = _table_value(variable, access)
        if value is not None:
            return literal(value, variable.element, access.span)
        return self.read(variable, access)

    def _unknown_value(self, variable: Variable, span: Span) -> Obstacle:
        """Return why the value of a variable is no function of the iterators."""
        definitions = () if variable.shape else self._surroundings.definitions(variable)
        origin = definitions[0].obstacle if len(definitions) == 1 else None
        if origin is not None:
            places = (Label(origin.span, origin.reason), *origin.others)
            return Obstacle(ObstacleKind.NONLINEAR, "is set in no affine way", span, "", places)
        if len(definitions) < 2:
            return Obstacle(ObstacleKind.DATA, "depends on data", span)
        places = tuple(Label(d.span, f"may set `{variable.name}`") for d in definitions[:3])
        return Obstacle(ObstacleKind.DATA, "may have been set in several places", span, "", places)

    def _constant(self, node: c_ast.Constant, span: Span) -> Value:
        text: str = node.value
        if node.type in ("float", "double", "long double"):
            return self._float_constant(text, span)
        if node.type == "nullptr_t":
            raise _null_pointer(span)
        if node.type == "string":
            raise UnsupportedExpression("strings are not supported", labels=(Label(span),))
        try:
            if text.startswith("'"):
                return literal(character_constant(text), INT32, span)
            prefix = text.partition("'")[0]
            if prefix in WIDE_CHARACTERS:
                wide = wide_character_constant(prefix, text.removeprefix(prefix))
                return literal(wide, WIDE_CHARACTERS[prefix], span)
            value, type_ = integer_constant(text)
        except ValueError as error:
            raise BadConstant("bad constant", labels=(Label(span, str(error)),)) from error
        return literal(value, type_, span)

    def _float_constant(self, text: str, span: Span) -> Value:
        try:
            return literal(*float_constant(text), span)
        except ValueError as error:
            raise FloatingPoint("bad constant", labels=(Label(span, str(error)),)) from error

    def _name(self, node: c_ast.ID, span: Span) -> Value:
        symbol = self._scopes.lookup(node.name)
        match symbol:
            case None:
                raise unknown_name(node.name, span)
            case Unusable(error):
                raise error
            case ActiveIterator(name, type_):
                if all(around.name != name for around in self.arithmetic.ranges.iterators):
                    # Nothing is known of it here: neither its ends nor that it varies.
                    raise UnsupportedExpression(
                        f"`{node.name}` is no constant", labels=(Label(span),)
                    )
                return exact(Affine.variable(name), type_, span)
            case NamedConstant(_, value, type_):
                return literal(value, type_, span)
            case ScalarInput(name, type_):
                reason = f"`{name}` is a scalar parameter"
                obstacle = Obstacle(ObstacleKind.ARGUMENT, reason, span, name)
                return opaque(ScalarParameter(name, type_), obstacle, span)
            case Variable():
                read = self._element(self.elements.element(node))
                type_ = symbol.element
                if read.affine is not None or isinstance(type_, FloatType):
                    return read
                if not self.is_control and not is_by_iterators(read.expr):
                    return read
                return self._observed(node, symbol, type_, span) or read
            case View():
                return self._element(self.elements.element(node))
            case Slot(_, type_, _, known):
                # What was never set is 0, as it is for the golden model.
                return literal(0, type_, span) if known is None else replace(known, span=span)
            case Function():
                raise UnsupportedExpression(
                    f"the function `{node.name}` is used as a value", labels=(Label(span),)
                )

    def _observed(
        self, node: c_ast.ID, variable: Variable, type_: IntType, span: Span
    ) -> Value | None:
        """Return the value of a scalar that running a loop has told, if it has."""
        ranges, observation = self.arithmetic.ranges, self._surroundings.observed(node, variable)
        known = None if observation is None else observation.known(ranges)
        if isinstance(known, Turn):
            return known_value_at(known.expr(type_, ranges), ranges, span)
        return None if known is None else exact(known, type_, span)

    def _unary(self, node: c_ast.UnaryOp, span: Span) -> Value:
        if node.op in STEPS:
            raise SideEffect(
                f"`{node.op.strip('p')}` inside an expression",
                labels=(Label(span, "changes a variable"),),
                help="make it a statement of its own",
            )
        if node.op == "sizeof":
            return literal(self._size_bytes(node.expr, span), IntType(64, False), span)
        if node.op == "*":
            return self._element(self.elements.element(node))
        if node.op == "+":
            return self.arithmetic.promoted(self.value(node.expr))
        if node.op in _UNARY_OPS:
            return self.arithmetic.unary(_UNARY_OPS[node.op], self.value(node.expr), span)
        raise expression_refusal(node, span)

    def _size_bytes(self, node: c_ast.Node, span: Span) -> int:
        """Return the size of a type, an array or a value; nothing is evaluated."""
        is_element = isinstance(node, c_ast.UnaryOp) and node.op == "*"
        if not is_element and not isinstance(node, c_ast.ID | c_ast.ArrayRef):
            raise UnsupportedExpression(
                "`sizeof` of an expression is not supported",
                labels=(Label(span),),
                help="give it a type, or a variable",
            )
        part = self.elements.part(node)
        if not part.subscripts and (part.is_pointed_to or part.variable.storage == "parameter"):
            raise UnsupportedExpression(
                f"`sizeof` of the parameter `{part.name}` is the size of a pointer",
                labels=(Label(span),),
                help="write the number of elements",
            )
        left = part.variable.shape[len(part.subscripts) :]
        return prod(left) * part.variable.element.width_bits // 8

    def _binary(self, node: c_ast.BinaryOp, span: Span) -> Value:
        for side in (node.left, node.right):
            if isinstance(side, c_ast.Constant) and side.type == "nullptr_t":
                raise _null_pointer(self._locator.span(side))
        if node.op not in ("&&", "||"):
            left, right = self.value(node.left), self.value(node.right)
            return self.arithmetic.binary(BINARY_OPS[node.op], left, right, span)
        left = self.condition(node.left, (node.right,))
        known = len(self.reads)
        with self.conditionally(left, is_met=node.op == "&&"):
            right = self.value(node.right)
        if not any(read.is_conditional for read in self.reads[known:]):
            return self.arithmetic.logical("and" if node.op == "&&" else "or", left, right, span)
        truth = self.arithmetic.truth
        if node.op == "&&":
            return self.arithmetic.select(truth(left), truth(right), literal(0, INT32, span), span)
        return self.arithmetic.select(truth(left), literal(1, INT32, span), truth(right), span)


def _meet(a: Range, b: Range) -> Range:
    """Return where two ranges overlap; the first one where they do not, which no run meets."""
    low, high = max(a[0], b[0]), min(a[1], b[1])
    return (low, high) if low <= high else a


def _table_value(variable: Variable, access: Access) -> int | None:
    """Return the value of an element of a constant array, if it is known which one."""
    if access.is_lookup:
        return None
    place = 0
    for subscript, extent in zip(access.affine, variable.shape, strict=True):
        if not subscript.is_constant or not 0 <= subscript.constant < extent:
            return None
        place = place * extent + subscript.constant
    return variable.values[place] if variable.values else None


def _null_pointer(span: Span) -> PointerUnsupported:
    return PointerUnsupported(
        "null pointers are not supported",
        labels=(Label(span, "points to nothing"),),
        help="an array of the kernel is always there: leave out the test",
    )
