"""Declarations of globals, parameters and local variables to symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.constants import integer_constant
from rtlgen.frontend.errors import (
    BadDefinition,
    CallUnsupported,
    DuplicateName,
    FrontendError,
    InitialiserUnsupported,
    UnsupportedDeclaration,
    UnsupportedType,
)
from rtlgen.frontend.expressions import ExpressionReader, Surroundings
from rtlgen.frontend.extents import Extents
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.reaching import Definition, Definitions
from rtlgen.frontend.symbols import (
    Function,
    NamedConstant,
    ScalarInput,
    Scopes,
    Unusable,
    Variable,
)
from rtlgen.frontend.tables import initial_values
from rtlgen.frontend.type_reader import TypeReader
from rtlgen.frontend.types import OPEN, CType
from rtlgen.frontend.values import Value
from rtlgen.ir.scop import Access, Parameter, Storage
from rtlgen.ir.types import INT32, IntType
from rtlgen.source import Span

_INLINE = ("inline",)


class Declarations:
    """What has been declared so far.

    Members
    -------
    scopes: the names in sight.
    variables: everything stored, in order of declaration.
    inputs: the scalar parameters that have no `-D` value, in order.
    parameters: all of them, in order.
    initial: values of all elements of arrays that have initial values and may change, by name.
    extents: of arrays that pointers point to.

    Parameters
    ----------
    fixed: the `-D` values of scalar parameters, and extents.
    """

    def __init__(self, locator: Locator, fixed: Mapping[str, str]) -> None:
        self._fixed = fixed
        self.extents = Extents(fixed)
        self._locator = locator
        self.scopes = Scopes()
        self.types = TypeReader(locator, self.constant_reader)
        self.variables: list[Variable] = []
        self.inputs: list[ScalarInput] = []
        self.parameters: list[Parameter] = []
        self.initial: dict[str, tuple[int, ...]] = {}

    def reader(
        self, ranges: Ranges, surroundings: Surroundings, *, is_guarded: bool = False
    ) -> ExpressionReader:
        """Return a reader of expressions at a place inside `ranges`."""
        return ExpressionReader(
            self._locator,
            self.scopes,
            ranges,
            self.types.integer,
            surroundings,
            is_guarded=is_guarded,
        )

    def constant_reader(self) -> ExpressionReader:
        """Return a reader of expressions that stand outside of the program's flow."""
        return self.reader(Ranges(), Unnoticed(_from_outside))

    def file_scope(self, node: c_ast.Node) -> None:
        """Declare a global; what is not supported is refused only when it is used."""
        match node:
            case c_ast.Typedef():
                self.enumeration(node)
                self.types.define(node)
            case c_ast.FuncDef():
                self._function(node.decl, node)
            case c_ast.Decl(type=c_ast.FuncDecl()):
                self._function(node)
            case c_ast.Decl():
                self._guarded(node, "global")

    def outside_region(self, node: c_ast.Decl, is_used_outside: bool) -> None:
        """Declare a local that stands before the region; refused only when it is used."""
        self._guarded(node, "local", is_used_outside)

    def _guarded(self, node: c_ast.Decl, storage: Storage, is_used_outside: bool = False) -> None:
        try:
            self.enumeration(node)
            if node.name is not None:
                self._stored(node, storage, is_used_outside)
        except FrontendError as error:
            if node.name is not None:
                self.scopes.declare(node.name, Unusable(error))

    def parameter(self, node: c_ast.Node) -> None:
        """Declare a parameter.

        Raises
        ------
        FrontendError: its type is not supported, or its `-D` value does not fit.
        """
        span = self._locator.span(node)
        if isinstance(node, c_ast.Typename) and self.types.read(node, span).element is None:
            return
        if not isinstance(node, c_ast.Decl) or node.name is None:
            raise UnsupportedDeclaration("this parameter has no name", labels=(Label(span),))
        span = self._locator.name_span(node, node.name)
        if self.scopes.is_declared_here(node.name):
            raise DuplicateName(f"two parameters are called `{node.name}`", labels=(Label(span),))
        try:
            self._parameter(node, span)
        except FrontendError as error:
            self.scopes.declare(node.name, Unusable(error))
            raise

    def _parameter(self, node: c_ast.Decl, span: Span) -> None:
        type_ = self.parameter_type(node)
        assert type_.element is not None
        self.parameters.append(Parameter(node.name, type_.element, bool(type_.shape)))
        if type_.shape:
            self._new_variable(node.name, type_, "parameter", span)
        elif node.name in self._fixed:
            value = _fixed_value(node.name, self._fixed[node.name], type_.element, span)
            self.scopes.declare(node.name, NamedConstant(node.name, value, type_.element, span))
        else:
            self.scopes.claim(node.name, is_parameter=True)
            scalar = ScalarInput(node.name, type_.element, span)
            self.inputs.append(scalar)
            self.scopes.declare(node.name, scalar)

    def parameter_type(self, node: c_ast.Decl) -> CType:
        """Return the type of a parameter; the first extent of an array may be open."""
        return self._element_type(node, is_parameter=True)

    def local(self, node: c_ast.Decl) -> Variable | None:
        """Declare a local variable; return it when its initialiser has still to be carried out.

        Raises
        ------
        FrontendError: it is not supported.
        """
        self.enumeration(node)
        if node.name is None:
            return None
        if isinstance(node.type, c_ast.FuncDecl):
            self._function(node)
            return None
        if self.scopes.is_declared_here(node.name):
            raise DuplicateName(
                f"`{node.name}` is declared twice in this block",
                labels=(Label(self._locator.name_span(node, node.name)),),
            )
        try:
            return self._stored(node, "local", False)
        except FrontendError as error:
            self.scopes.declare(node.name, Unusable(error))
            raise

    def iterator_type(self, node: c_ast.Decl) -> IntType:
        """Return the type of an iterator that a loop header declares."""
        type_ = self._element_type(node)
        assert type_.element is not None
        if type_.shape:
            raise UnsupportedDeclaration(
                "an array cannot count a loop", labels=(Label(self._locator.span(node)),)
            )
        return type_.element

    def temporary(self, c_name: str, element: IntType, span: Span) -> Variable:
        """Return a new local scalar that the text does not declare."""
        return self._new_variable(c_name, CType(element, (), False), "local", span, declare=False)

    def table(self, variable: Variable, values: tuple[int, ...]) -> str:
        """Return the name of a new table of constants, of the type of `variable`."""
        type_ = CType(variable.element, variable.shape, True)
        name = f"{variable.name}_initial"
        made = self._new_variable(name, type_, "local", variable.span, declare=False, values=values)
        return made.name

    def enumeration(self, node: c_ast.Decl | c_ast.Typedef) -> None:
        """Declare the constants of the enumeration that a declaration spells out, if any."""
        inner = node.type
        while isinstance(inner, c_ast.TypeDecl | c_ast.ArrayDecl | c_ast.PtrDecl):
            inner = inner.type
        if not isinstance(inner, c_ast.Enum) or inner.values is None:
            return
        following, values = 0, []
        for constant in inner.values.enumerators:
            if not isinstance(constant, c_ast.Enumerator):
                continue
            span = self._locator.name_span(constant, constant.name)
            if constant.value is not None:
                value = self.constant_reader().value(constant.value)
                if value.constant is None:
                    raise UnsupportedDeclaration(
                        f"the value of `{constant.name}` is not a constant", labels=(Label(span),)
                    )
                following = value.constant
            self.scopes.declare(constant.name, NamedConstant(constant.name, following, INT32, span))
            values.append(following)
            following += 1
        self.types.define_enumeration(inner.name, values)

    def _stored(self, node: c_ast.Decl, storage: Storage, outlives: bool) -> Variable | None:
        """Declare a variable or constant; return a variable that has a scalar initialiser."""
        span = self._locator.name_span(node, node.name)
        type_ = self._element_type(node)
        assert type_.element is not None
        if node.init is not None and not type_.shape and type_.is_const:
            value = self.constant_reader().value(node.init)
            if value.constant is not None:
                wrapped = type_.element.wrap(value.constant)
                constant = NamedConstant(node.name, wrapped, type_.element, span)
                self.scopes.declare(node.name, constant)
                return None
        if node.init is not None and type_.shape and (type_.is_const or storage == "local"):
            return self._table(node, type_, span)
        if storage == "local" and ("static" in node.storage or "extern" in node.storage):
            raise _static(node, span)
        if node.init is not None and storage == "global":
            raise InitialiserUnsupported(
                "initial values of global variables are not supported",
                labels=(Label(span, f"`{node.name}` is initialised"),),
                help="make it const",
            )
        if isinstance(node.init, c_ast.InitList):
            raise InitialiserUnsupported(
                "a scalar is initialised by a list",
                labels=(Label(span),),
                help="leave out the braces",
            )
        variable = self._new_variable(node.name, type_, storage, span, outlives=outlives)
        return variable if node.init is not None else None

    def _table(self, node: c_ast.Decl, type_: CType, span: Span) -> Variable | None:
        """Declare an array with initial values; return it when it is filled where it stands."""
        assert type_.element is not None
        if "static" in node.storage and not type_.is_const:
            raise _static(node, span)
        values = initial_values(node.init, type_.shape, type_.element, self.constant_reader(), span)
        known = values if type_.is_const else ()
        variable = self._new_variable(node.name, type_, "local", span, values=known)
        if not type_.is_const:
            self.initial[variable.name] = values
        return None if type_.is_const else variable

    def _element_type(self, node: c_ast.Decl, is_parameter: bool = False) -> CType:
        span = self._locator.name_span(node, node.name)
        if node.bitsize is not None or node.align or "_Thread_local" in node.storage:
            raise UnsupportedDeclaration(
                "this kind of declaration is not supported", labels=(Label(span),)
            )
        is_counted = isinstance(node.type, c_ast.ArrayDecl) and isinstance(
            node.init, c_ast.InitList
        )
        type_ = self.types.read(node, span, is_parameter or is_counted)
        if is_counted and type_.shape[0] == OPEN:
            type_ = replace(type_, shape=(len(node.init.exprs or ()), *type_.shape[1:]))
        if type_.element is None:
            raise UnsupportedType(f"`{node.name}` has type void", labels=(Label(span),))
        return type_

    def _new_variable(
        self,
        c_name: str,
        type_: CType,
        storage: Storage,
        span: Span,
        *,
        outlives: bool = False,
        declare: bool = True,
        values: tuple[int, ...] = (),
    ) -> Variable:
        assert type_.element is not None
        name = self.scopes.claim(c_name, is_parameter=storage == "parameter")
        variable = Variable(
            name, type_.element, type_.shape, storage, type_.is_const, span, outlives, values
        )
        self.variables.append(variable)
        if declare:
            self.scopes.declare(c_name, variable)
        return variable

    def _function(self, node: c_ast.Decl, definition: c_ast.FuncDef | None = None) -> None:
        known = self.scopes.lookup(node.name)
        if definition is None and isinstance(known, Function):
            definition = known.definition
        span = self._locator.name_span(node, node.name)
        self.scopes.declare(node.name, Function(node.name, span, definition))


def _static(node: c_ast.Decl, span: Span) -> UnsupportedDeclaration:
    return UnsupportedDeclaration(
        f"`{node.storage[0]}` variables inside functions are not supported",
        labels=(Label(span),),
        help="make it a global variable, or a parameter",
    )


class Unnoticed:
    """The surroundings of expressions that are read without a trace, and call nothing.

    Parameters
    ----------
    definitions: returns the assignments of a scalar that may reach.
    """

    def __init__(self, definitions: Callable[[Variable], Definitions]) -> None:
        self._definitions = definitions

    def note_use(self, variable: Variable, span: Span) -> None:
        """Take no notice."""

    def definitions(self, variable: Variable) -> Definitions:
        """Return the assignments of a scalar that may reach."""
        return self._definitions(variable)

    def note_access(self, variable: Variable, access: Access, ranges: Ranges) -> None:
        """Take no notice."""

    def call(self, node: c_ast.FuncCall, reader: ExpressionReader) -> Value:
        """Refuse it."""
        raise CallUnsupported(
            "a constant expression calls a function", labels=(Label(reader.span(node)),)
        )


def _from_outside(variable: Variable) -> Definitions:
    """Return the value that nothing is known of."""
    return (Definition(variable.span, None),)


def _fixed_value(name: str, text: str, type_: IntType, span: Span) -> int:
    """Return the value that `-D` gives to a parameter."""
    negative = text.strip().startswith("-")
    try:
        value, _ = integer_constant(text.strip().removeprefix("-").strip())
    except ValueError as error:
        raise BadDefinition(
            f"-D {name}={text} gives the parameter `{name}` no value",
            labels=(Label(span, str(error)),),
            help=f"write -D {name}=VALUE with an integer constant",
        ) from error
    value = -value if negative else value
    if not type_.minimum <= value <= type_.maximum:
        raise BadDefinition(
            f"-D {name}={text} does not fit the parameter `{name}`",
            labels=(Label(span, f"is {type_}, {type_.minimum} to {type_.maximum}"),),
        )
    return value
