"""Calls: the function's text takes the place of the call.

A function that only computes becomes an expression (`pure_functions`). Of any other one, the
statements are read where the call stands, with its parameters as variables of their own.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.values import Value, literal
from rtlgen.frontend.errors import (
    CallArguments,
    CallUnsupported,
    FloatingPoint,
    FrontendError,
    Recursion,
    ReturnUnsupported,
    SideEffect,
    TooDeep,
)
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.reading.symbols import Function, ScalarInput, Symbol
from rtlgen.frontend.scop.cases import Keeper, Place
from rtlgen.frontend.scop.functions import (
    NotAnExpression,
    PureCall,
    block_loops,
    float_call,
    is_float_function,
)
from rtlgen.frontend.syntax.assigned import assigned, called_by
from rtlgen.frontend.syntax.locate import CType, Locator
from rtlgen.frontend.syntax.region import (
    ABSOLUTE,
    BLOCK_CALLS,
    ROUNDING,
    TELLING,
    is_pure,
    parameters,
)
from rtlgen.ir.expr import walk
from rtlgen.ir.scop import Node
from rtlgen.ir.types import NumberType
from rtlgen.source import Span

if TYPE_CHECKING:
    from rtlgen.frontend.scop.body import BodyReader

MAX_OPERATIONS = 20_000
"""Operations that all calls of a program together may become."""


class CallReader:
    """Reads one call after the other.

    Members
    -------
    active: the calls inside of which the reader is, outermost first.
    """

    def __init__(
        self, kernel: str, body: BodyReader, declarations: Declarations, locator: Locator
    ) -> None:
        self._kernel = kernel
        self._body = body
        self._declarations = declarations
        self._scopes = declarations.scopes
        self._locator = locator
        self._keeper = Keeper(body, declarations, locator)
        self.active: list[tuple[str, Span]] = []
        self._carried_out = 0
        self._nodes = 0
        self._pure_ones: dict[int, bool] = {}

    def value(
        self,
        node: c_ast.FuncCall,
        reader: ExpressionReader,
        place: Place,
        before: list[Node] | None,
    ) -> Value:
        """Return the value of a call inside an expression.

        Parameters
        ----------
        reader: of the statement that holds the call.
        before: where to put statements that run before it; None if none can.
        """
        function = self._function(node)
        if function.definition is None:
            return self._builtin(node, function, reader)
        value = self._as_expression(node, function, function.definition, reader, before)
        if value is not None:
            return value
        if self._carried_out:
            # Its arguments are expressions of the calling statement: so has to be what it does.
            raise NotAnExpression
        if before is None:
            raise self._refused(
                node, f"`{function.name}` has statements", "a call here must be one expression"
            )
        known = {variable.name for variable in self._declarations.variables}
        first = len(before)
        value = self._statements(node, function.definition, reader, place, before)
        self._require_hidden(node, before[first:], known, reader)
        self._require_order(node, before[:first], before[first:])
        return self._returned(node, function.definition, reader, value)

    def _as_expression(
        self,
        node: c_ast.FuncCall,
        function: Function,
        definition: c_ast.FuncDef,
        reader: ExpressionReader,
        before: list[Node] | None,
    ) -> Value | None:
        """Return the expression that takes the place of a call; None if it does more."""
        result = self._result_type(definition)
        if result is None:
            raise self._refused(node, f"`{function.name}` returns nothing", "its value is used")
        if not self._is_pure(definition):
            return None
        reads, statements = len(reader.reads), len(before or ())
        value = self._pure(node, definition, reader, result)
        if value is not None:
            return self._counted(value, node)
        # Its arguments are read again.
        del reader.reads[reads:]
        if before is not None:
            del before[statements:]
        return None

    def statement(self, node: c_ast.FuncCall, place: Place) -> tuple[Node, ...]:
        """Return the statements of a call that is a statement."""
        name = called_by(node)
        known = self._scopes.lookup(name)
        if name in TELLING and not (isinstance(known, Function) and known.definition):
            raise SideEffect(
                f"`{name}` is left out, but an argument of it changes something",
                labels=(Label(self._locator.span(node), "a side effect in here"),),
                help="make the change a statement of its own",
            )
        if name in BLOCK_CALLS and not (isinstance(known, Function) and known.definition):
            return self._body.items([block_loops(name, node, self._body.reader(place))], place)
        function = self._function(node)
        if function.definition is None:
            raise self._outside(node, function.name)
        before: list[Node] = []
        reader = self._body.reader(place, before)
        self._statements(node, function.definition, reader, place, before)
        return tuple(before)

    def whole_value(
        self, node: c_ast.FuncCall, reader: ExpressionReader, place: Place, before: list[Node]
    ) -> Value:
        """Return the value of a call that is all of a right-hand side.

        Such a function may write arrays and globals: nothing else is evaluated beside it.

        Parameters
        ----------
        before: where to put the statements of the call; `reader` puts some there, too.
        """
        function = self._function(node)
        if function.definition is None:
            return self._builtin(node, function, reader)
        if self._is_pure(function.definition):
            # One that calls others may do more than it seems.
            known = self._as_expression(node, function, function.definition, reader, before)
            if known is not None:
                return known
            if self._carried_out:
                raise NotAnExpression
        value = self._statements(node, function.definition, reader, place, before)
        return self._returned(node, function.definition, reader, value)

    def _counted(self, value: Value, node: c_ast.FuncCall) -> Value:
        """Return the value of an expression that takes the place of a call.

        Raises
        ------
        TooDeep: all of them together are too large.
        """
        if not self._carried_out:
            self._nodes += sum(1 for _ in walk(value.expr))
        if self._nodes > MAX_OPERATIONS:
            raise TooDeep(
                f"calls become more than {MAX_OPERATIONS} operations",
                labels=(Label(self._locator.span(node), "with this one"),),
                help="keep results in variables, and use these again",
            )
        return value

    def _returned(
        self,
        node: c_ast.FuncCall,
        function: c_ast.FuncDef,
        reader: ExpressionReader,
        value: Value | None,
    ) -> Value:
        result = self._result_type(function)
        if value is None or result is None:
            raise ReturnUnsupported(
                f"`{function.decl.name}` does not end with the `return` of a value",
                labels=(Label(self._locator.span(node), "its value is used"),),
            )
        return reader.arithmetic.convert(value, result)

    # The function.

    def _function(self, node: c_ast.FuncCall) -> Function:
        name = called_by(node)
        symbol = self._scopes.lookup(name)
        if isinstance(symbol, Function):
            return symbol
        if symbol is None and (name in ABSOLUTE or is_float_function(name)):
            return Function(name, self._locator.span(node), None)
        if not name or symbol is not None:
            raise self._refused(node, "only functions can be called", "no function")
        raise self._missing(node, name)

    def _outside(self, node: c_ast.FuncCall, name: str) -> FrontendError:
        """Return the refusal of a call that is a statement, and may change what is computed."""
        if name in ROUNDING:
            return FloatingPoint(
                "the rounding of floating-point operations is changed",
                labels=(Label(self._locator.span(node), f"`{name}` is called"),),
                notes=("a circuit rounds to nearest, ties to even, and has no exceptions",),
                help="leave out the call",
            )
        refused = CallUnsupported(
            f"the function `{name}` is not defined here",
            labels=(Label(self._locator.span(node), "may change what is computed"),),
            help="define the function in this file, or leave out the call",
        )
        refused.missing = name
        return refused

    def _missing(self, node: c_ast.FuncCall, name: str) -> CallUnsupported:
        message = f"the function `{name}` is not defined here"
        refused = self._refused(node, message, "its text is needed")
        refused.missing = name
        return refused

    def _refused(self, node: c_ast.FuncCall, message: str, label: str) -> CallUnsupported:
        return CallUnsupported(
            message,
            labels=(Label(self._locator.span(node), label),),
            help="define the function in this file, or write its text in place of the call",
        )

    def _result_type(self, function: c_ast.FuncDef) -> NumberType | None:
        span = self._locator.start(function.decl)
        return self._declarations.types.read(function.decl.type.type, span).element

    def _builtin(self, node: c_ast.FuncCall, function: Function, reader: ExpressionReader) -> Value:
        arguments = self._arguments(node)
        span = self._locator.span(node)
        known = float_call(function.name, arguments, reader, span)
        if known is not None:
            return known
        type_ = ABSOLUTE.get(function.name)
        if type_ is None or len(arguments) != 1:
            raise self._missing(node, function.name)
        arithmetic = reader.arithmetic
        value = arithmetic.convert(reader.value(arguments[0]), type_)
        zero = literal(0, type_, span)
        return arithmetic.select(
            arithmetic.binary("lt", value, zero, span),
            arithmetic.unary("neg", value, span),
            value,
            span,
        )

    def _arguments(self, node: c_ast.FuncCall) -> list[c_ast.Node]:
        return list(node.args.exprs) if node.args is not None else []

    @contextmanager
    def _inside(self, node: c_ast.FuncCall, name: str) -> Iterator[None]:
        """Enter a function, and tell of the call in what is refused inside of it."""
        span = self._locator.span(node)
        names = [self._kernel, *(active for active, _ in self.active)]
        if name in names:
            cycle = [*names[names.index(name) :], name]
            raise Recursion(
                f"`{name}` calls itself",
                labels=(Label(span, "called again"),),
                notes=(f"the calls go round: {' -> '.join(cycle)}",),
                help="write the recursion as loops",
            )
        self.active.append((name, span))
        try:
            with self._scopes.function():
                yield
        except FrontendError as error:
            called = Label(span, f"`{name}` is called here")
            raise error.telling(labels=(*error.diagnostic.labels, called)) from None
        finally:
            self.active.pop()

    # A function that only computes.

    def _is_pure(self, function: c_ast.FuncDef) -> bool:
        if id(function) not in self._pure_ones:
            self._pure_ones[id(function)] = is_pure(function)
        return self._pure_ones[id(function)]

    def _pure(
        self,
        node: c_ast.FuncCall,
        function: c_ast.FuncDef,
        reader: ExpressionReader,
        result: NumberType,
    ) -> Value | None:
        bound = self._bound(node, function)
        values = [None if type_.shape else reader.value(argument) for _, type_, argument in bound]
        views = [
            reader.elements.view(argument, parameter.name, type_) if value is None else None
            for (parameter, type_, argument), value in zip(bound, values, strict=True)
        ]
        call = PureCall(reader, self._scopes, self._declarations.types)
        with self._inside(node, function.decl.name):
            for (parameter, type_, _), value, view in zip(bound, values, views, strict=True):
                span = self._locator.span(parameter)
                if view is not None:
                    self._scopes.declare(parameter.name, view)
                elif type_.element is not None:
                    call.bind(parameter.name, type_.element, value, span)
            self._carried_out += 1
            try:
                return call.run(list(function.body.block_items or ()), result)
            except NotAnExpression:
                return None
            finally:
                self._carried_out -= 1

    def _bound(
        self, node: c_ast.FuncCall, function: c_ast.FuncDef
    ) -> list[tuple[c_ast.Decl, CType, c_ast.Node]]:
        """Return every parameter with its type and its argument."""
        declared, arguments = parameters(function), self._arguments(node)
        if len(declared) != len(arguments):
            raise CallArguments(
                f"`{function.decl.name}` takes {len(declared)}, not {len(arguments)}, arguments",
                labels=(Label(self._locator.span(node)),),
            )
        types = [self._declarations.parameter_type(parameter) for parameter in declared]
        return list(zip(declared, types, arguments, strict=True))

    # Any other function.

    def _statements(
        self,
        node: c_ast.FuncCall,
        function: c_ast.FuncDef,
        reader: ExpressionReader,
        place: Place,
        before: list[Node],
    ) -> Value | None:
        """Append the statements of a call; return what it returns, as read by `reader`.

        What is returned may call functions, whose statements `reader` appends behind these.
        """
        changed = {name for name, _ in assigned(function.body)}
        start = len(before)
        symbols: list[tuple[c_ast.Decl, Symbol]] = []
        for parameter, type_, argument in self._bound(node, function):
            outer = self._scopes.lookup(argument.name) if isinstance(argument, c_ast.ID) else None
            if (
                isinstance(outer, ScalarInput)
                and outer.type == type_.element
                and parameter.name not in changed
            ):
                symbols.append((parameter, outer))
            else:
                symbol, nodes = self._argument(argument, parameter.name, type_, place)
                self._require_order(argument, before[start:], nodes)
                before.extend(nodes)
                symbols.append((parameter, symbol))
        items = list(function.body.block_items or ())
        final = items.pop() if items and isinstance(items[-1], c_ast.Return) else None
        with self._inside(node, function.decl.name):
            for parameter, symbol in symbols:
                self._scopes.declare(parameter.name, symbol)
            made, behind = self._body.block(items, place)
            before.extend(made)
            if final is None or final.expr is None:
                return None
            with reader.believing(self._body.told_at(behind)):
                return reader.value(final.expr)

    def _argument(
        self, node: c_ast.Node, name: str, type_: CType, place: Place
    ) -> tuple[Symbol, list[Node]]:
        """Return what a parameter is, and the statements that make it so."""
        if type_.shape:
            return self._keeper.view(node, name, type_, place)
        assert type_.element is not None
        return self._keeper.value(node, name, type_.element, place)

    def _require_hidden(
        self, node: c_ast.FuncCall, nodes: Sequence[Node], known: set[str], reader: ExpressionReader
    ) -> None:
        """Refuse a function inside an expression that writes what others can see.

        What a function keeps for itself from call to call nobody sees, but the call has to happen.
        """
        for name in self._body.written_by(nodes):
            is_kept = self._is_kept(name) and not reader.is_conditional
            if self._scopes.sees(name) or (not is_kept and (name in known or self._is_kept(name))):
                raise self._side_effect(node, f"writes `{name}`")

    def _require_order(
        self, node: c_ast.Node, before: Sequence[Node], nodes: Sequence[Node]
    ) -> None:
        """Refuse two calls in one expression of which each changes what the other one uses."""
        for name in self._body.written_by(before) & self._body.written_by(nodes):
            if self._is_kept(name):
                raise self._side_effect(node, f"writes `{name}`, as another call does")

    def _is_kept(self, name: str) -> bool:
        """Return whether a variable keeps its value from call to call."""
        return self._declarations.stored_as(name).storage == "global"

    def _side_effect(self, node: c_ast.Node, label: str) -> SideEffect:
        refused = SideEffect(
            "a function that is called inside an expression has a side effect",
            labels=(Label(self._locator.span(node), label),),
            help="make the call a statement, or the whole right-hand side",
        )
        refused.call = node.coord.line
        return refused
