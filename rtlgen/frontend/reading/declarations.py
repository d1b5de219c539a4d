"""Declarations of globals, parameters and local variables to symbols."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.errors import (
    DuplicateName,
    FrontendError,
    InitialiserUnsupported,
    UnboundedLoop,
    UnsupportedDeclaration,
    UnsupportedType,
)
from rtlgen.frontend.reading.expressions import (
    ExpressionReader,
    Surroundings,
)
from rtlgen.frontend.reading.symbols import (
    Function,
    NamedConstant,
    ScalarInput,
    Scopes,
    Symbol,
    Unusable,
    Variable,
)
from rtlgen.frontend.reading.types import (
    Extents,
    InitialValues,
    TypeReader,
    fixed_value,
    initial_values,
)
from rtlgen.frontend.syntax.assigned import (
    assigned,
    below,
    calls,
    counters_used_elsewhere,
    functions,
    handed_over,
)
from rtlgen.frontend.syntax.locate import CType, Locator
from rtlgen.ir.scop import Parameter, Storage
from rtlgen.ir.types import IntType, NumberType
from rtlgen.source import Span


class Declarations:
    """What has been declared so far.

    Members
    -------
    scopes: the names in sight.
    variables: everything stored, in order of declaration.
    inputs: the scalar parameters that have no `-D` value, in order.
    parameters: all of them, in order.
    initial: of arrays that are set where they are declared, by name.
    extents: of arrays that pointers point to.
    loaded: what has other initial values than 0 that the circuit does not give it.
    positions: names of scalars of which some subscript of the file may be made.

    Parameters
    ----------
    fixed: the `-D` values of scalar parameters, and extents.
    """

    def __init__(self, locator: Locator, fixed: Mapping[str, str]) -> None:
        self._fixed = fixed
        self.extents = Extents()
        self._locator = locator
        self.scopes = Scopes()
        self.types = TypeReader(locator, self.constant_reader)
        self.variables: list[Variable] = []
        self.inputs: list[ScalarInput] = []
        self.parameters: list[Parameter] = []
        self.initial: dict[str, InitialValues] = {}
        self.loaded: list[Variable] = []
        self._assigned: frozenset[str] = frozenset()
        self._handed_over: frozenset[str] = frozenset()
        self._statics: dict[int, Variable] = {}
        self._handed_on: set[int] = set()
        self._subscripts: frozenset[str] = frozenset()
        self._used_outside: set[int] = set()
        self.positions: set[str] = set()
        self._ranges = Ranges()

    def reader(
        self, ranges: Ranges, surroundings: Surroundings, *, is_guarded: bool = False
    ) -> ExpressionReader:
        """Return a reader of expressions at a place inside `ranges`."""
        return ExpressionReader(
            self._locator,
            self.scopes,
            ranges,
            self.types.number,
            surroundings,
            is_guarded=is_guarded,
        )

    def note_changes(self, tree: c_ast.FileAST) -> None:
        """Note what some function of the file may change: the rest keeps its initial values."""
        self._assigned = frozenset(name for name, _ in assigned(tree))
        self._handed_over = frozenset(handed_over(tree))
        places = [node.subscript for node in below(tree) if isinstance(node, c_ast.ArrayRef)]
        named = (part for place in places for part in below(place) if isinstance(part, c_ast.ID))
        self._subscripts = frozenset(part.name for part in named)
        for function in functions(tree).values():
            self._used_outside |= counters_used_elsewhere(function.body)

    def is_used_outside(self, node: c_ast.Decl) -> bool:
        """Return whether a variable that counts loops is used elsewhere, too."""
        return id(node) in self._used_outside

    def constant_reader(self) -> ExpressionReader:
        """Return a reader of what may have to be a constant, where a declaration stands."""
        return self.reader(self._ranges, Surroundings())

    def file_scope(self, node: c_ast.Node) -> None:
        """Declare a global; what is not supported is refused only when it is used."""
        match node:
            case c_ast.FuncDef():
                self._function(node.decl, node)
            case c_ast.Decl(type=c_ast.FuncDecl()):
                self._function(node)
            case c_ast.StaticAssert():
                self.require_static(node)
            case c_ast.Decl():
                self._guarded(node, "global")

    def hand_on(self, node: c_ast.Decl) -> None:
        """Note that code behind the region uses a local that is going to be declared."""
        self._handed_on.add(id(node))

    def require_static(self, node: c_ast.StaticAssert) -> None:
        """Check a static assertion, as far as the types in it are known here.

        Raises
        ------
        UnsupportedDeclaration: it does not hold.
        """
        try:
            value = self.constant_reader().value(node.cond)
        except FrontendError:
            return
        if value.constant == 0:
            raise UnsupportedDeclaration(
                "a static assertion does not hold", labels=(Label(value.span, "is 0"),)
            )

    def shared(self, node: c_ast.Decl, *, is_taken: bool, is_handed_on: bool) -> Symbol | None:
        """Declare a local that code before the region has set; it is refused only when it is used.

        Parameters
        ----------
        is_taken: the region may use that value. is_handed_on: code behind it uses the new one.
        """
        try:
            span = self._locator.name_span(node, node.name)
            type_ = self._element_type(node)
            assert type_.element is not None
            if type_.shape or is_handed_on:
                self._new_variable(node.name, type_, "global", span)
            elif is_taken:
                self.parameters.append(Parameter(node.name, type_.element, False))
                self._scalar_input(node.name, type_.element, span)
            else:
                self._new_variable(node.name, type_, "local", span)
        except FrontendError as error:
            self.scopes.declare(node.name, Unusable(error))
        return self.scopes.lookup(node.name)

    def _guarded(self, node: c_ast.Decl, storage: Storage) -> None:
        if node.name is None:
            return
        try:
            self._stored(node, storage)
        except FrontendError as error:
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
        given = "" if type_.shape else self._fixed.get(node.name, "")
        self.parameters.append(Parameter(node.name, type_.element, bool(type_.shape), given))
        if type_.shape:
            self._new_variable(node.name, type_, "parameter", span)
        else:
            self._scalar_input(node.name, type_.element, span)

    def _scalar_input(self, name: str, element: NumberType, span: Span) -> None:
        """Declare what the caller gives, unless `-D` does."""
        if name in self._fixed:
            value = fixed_value(name, self._fixed[name], element, span)
            self.scopes.declare(name, NamedConstant(name, value, element, span))
            return
        self.scopes.claim(name, is_parameter=True)
        scalar = ScalarInput(name, element, span)
        self.inputs.append(scalar)
        self.scopes.declare(name, scalar)

    def parameter_type(self, node: c_ast.Decl) -> CType:
        """Return the type of a parameter; the first extent of an array may be open."""
        return self._element_type(node, is_parameter=True)

    def local(self, node: c_ast.Decl, ranges: Ranges) -> Variable | None:
        """Declare a local variable; return it when its initialiser has still to be carried out.

        Parameters
        ----------
        ranges: the loops and conditions around the declaration.

        Raises
        ------
        FrontendError: it is not supported.
        """
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
        self._ranges = ranges
        try:
            return self._stored(node, "local")
        except FrontendError as error:
            self.scopes.declare(node.name, Unusable(error))
            raise
        finally:
            self._ranges = Ranges()

    def scalar_type(self, node: c_ast.Decl) -> NumberType:
        """Return the type of a scalar."""
        type_ = self._element_type(node)
        assert type_.element is not None
        if type_.shape:
            raise UnsupportedDeclaration(
                "an array cannot count a loop", labels=(Label(self._locator.span(node)),)
            )
        return type_.element

    def iterator_type(self, node: c_ast.Decl) -> IntType:
        """Return the type of an iterator that a loop header declares."""
        return counting_type(self.scalar_type(node), self._locator.span(node))

    def temporary(
        self, c_name: str, element: NumberType, span: Span, *, is_position: bool = False
    ) -> Variable:
        """Return a new local scalar that the text does not declare.

        Parameters
        ----------
        is_position: subscripts are made of it.
        """
        type_ = CType(element, (), False)
        made = self._new_variable(c_name, type_, "local", span, declare=False)
        if is_position:
            self.positions.add(made.name)
        return made

    def table(self, variable: Variable, values: tuple[int, ...]) -> str:
        """Return the name of a new table of constants, of the type of `variable`."""
        type_ = CType(variable.element, variable.shape, True)
        name = f"{variable.name}_initial"
        made = self._new_variable(name, type_, "local", variable.span, declare=False, values=values)
        return made.name

    def _stored(self, node: c_ast.Decl, storage: Storage) -> Variable | None:
        """Declare a variable or constant; return a variable that has a scalar initialiser."""
        span = self._locator.name_span(node, node.name)
        type_ = self._element_type(node)
        element = type_.element
        assert element is not None
        if isinstance(node.init, c_ast.InitList) and not type_.shape:
            node.init = _only_value(node, span)
        if node.init is not None and self._keeps_its_values(node, type_, storage):
            type_ = replace(type_, is_const=True)
        # A local one may call functions: it is set where it stands.
        is_set = storage == "local" and "static" not in node.storage and calls(node.init)
        if node.init is not None and not type_.shape and type_.is_const and not is_set:
            value = self.constant_reader().value(node.init)
            value = self.constant_reader().arithmetic.convert(value, element)
            if value.stored_constant is not None:
                constant = NamedConstant(node.name, value.stored_constant, element, span)
                self.scopes.declare(node.name, constant)
                return None
        if storage == "local" and "extern" in node.storage:
            raise _extern(span)
        is_state = storage == "global" or "static" in node.storage
        if node.init is not None and type_.shape and (type_.is_const or not is_state):
            return self._table(node, type_, span, is_state=is_state)
        if is_state:
            self._state(node, type_, span)
            return None
        variable = self._new_variable(node.name, type_, self._seen_as(node), span)
        return variable if node.init is not None else None

    def _seen_as(self, node: c_ast.Decl) -> Storage:
        """Return how a local is stored: what is used behind the region, the host can read."""
        return "global" if id(node) in self._handed_on else "local"

    def _keeps_its_values(self, node: c_ast.Decl, type_: CType, storage: Storage) -> bool:
        """Return whether something outlives the run, and no function changes it."""
        changed = self._assigned | (self._handed_over if type_.shape else frozenset())
        outlives = storage == "global" or "static" in node.storage
        return outlives and node.name not in changed

    def stored_as(self, name: str) -> Variable:
        """Return the variable with a unique name."""
        return next(variable for variable in self.variables if variable.name == name)

    def never_changes(self, variable: Variable) -> bool:
        """Return whether no statement of the file can write an array."""
        if variable.is_const or variable.values:
            return True
        changed = self._assigned | self._handed_over
        return variable.storage == "parameter" and variable.name not in changed

    def _state(self, node: c_ast.Decl, type_: CType, span: Span) -> None:
        """Declare what keeps its content from run to run: its first content is loaded."""
        if id(node) in self._statics:
            # The function is called again, and has the same variable.
            self.scopes.declare(node.name, self._statics[id(node)])
            return
        values: tuple[int, ...] = ()
        if node.init is not None:
            assert type_.element is not None
            reader = self.constant_reader()
            given = initial_values(node.init, type_.shape, type_.element, reader, span)
            values = given.constants
        variable = self._new_variable(node.name, type_, "global", span)
        self._statics[id(node)] = variable
        if any(values):
            self.loaded.append(variable)

    def _table(
        self, node: c_ast.Decl, type_: CType, span: Span, *, is_state: bool
    ) -> Variable | None:
        """Declare an array with initial values; return it when it is filled where it stands."""
        assert type_.element is not None
        reader = self.constant_reader()
        values = initial_values(
            node.init, type_.shape, type_.element, reader, span, may_be_computed=not is_state
        )
        if type_.is_const and not values.computed:
            self._new_variable(node.name, type_, "local", span, values=values.constants)
            return None
        # Its elements are assigned, whether or not the text may assign them, too.
        changing = replace(type_, is_const=False)
        variable = self._new_variable(node.name, changing, self._seen_as(node), span)
        self.initial[variable.name] = values
        return variable

    def _element_type(self, node: c_ast.Decl, is_parameter: bool = False) -> CType:
        span = self._locator.name_span(node, node.name)
        if node.bitsize is not None or node.align or "_Thread_local" in node.storage:
            raise UnsupportedDeclaration(
                "this kind of declaration is not supported", labels=(Label(span),)
            )
        type_ = self.types.read(node, span, is_parameter)
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
        declare: bool = True,
        values: tuple[int, ...] = (),
    ) -> Variable:
        assert type_.element is not None
        name = self.scopes.claim(c_name, is_parameter=storage == "parameter")
        variable = Variable(name, type_.element, type_.shape, storage, type_.is_const, span, values)
        self.variables.append(variable)
        if variable.shape == () and c_name in self._subscripts:
            self.positions.add(name)
        if declare:
            self.scopes.declare(c_name, variable)
        return variable

    def _function(self, node: c_ast.Decl, definition: c_ast.FuncDef | None = None) -> None:
        known = self.scopes.lookup(node.name)
        if definition is None and isinstance(known, Function):
            definition = known.definition
        span = self._locator.name_span(node, node.name)
        self.scopes.declare(node.name, Function(node.name, span, definition))


def counting_type(type_: NumberType, span: Span) -> IntType:
    """Return the type of what counts a loop.

    Raises
    ------
    UnboundedLoop: it is a floating-point type.
    """
    if isinstance(type_, IntType):
        return type_
    raise UnboundedLoop(
        "a floating-point variable counts the loop",
        labels=(Label(span, f"is {type_}"),),
        notes=("its steps are rounded, so that their number is not known",),
        help="count in an integer, or state the most iterations: #pragma rtlgen bound N",
    )


def _only_value(node: c_ast.Decl, span: Span) -> c_ast.Node:
    """Return what braces around the value of a scalar hold; empty ones mean 0."""
    match node.init.exprs:
        case None | []:
            return c_ast.Constant("int", "0", node.init.coord or node.coord)
        case [c_ast.Node() as value] if not isinstance(
            value, c_ast.InitList | c_ast.NamedInitializer
        ):
            return value
    raise InitialiserUnsupported(
        "a scalar is initialised by a list",
        labels=(Label(span),),
        help="leave out the braces",
    )


def _extern(span: Span) -> UnsupportedDeclaration:
    return UnsupportedDeclaration(
        "`extern` variables inside functions are not supported",
        labels=(Label(span),),
        help="make it a global variable, or a parameter",
    )
