"""One function, or one region of it, to a `Scop`."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Set

from pycparser import c_ast

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend.errors import (
    DuplicateName,
    EmptyRegion,
    FrontendError,
    ReturnUnsupported,
)
from rtlgen.frontend.lowering.calls import changing_functions
from rtlgen.frontend.lowering.capacity import Limits, meet
from rtlgen.frontend.lowering.nodes import changed
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.symbols import NamedConstant, ScalarInput, Variable
from rtlgen.frontend.reading.writes import written
from rtlgen.frontend.scop.body import BodyReader
from rtlgen.frontend.syntax.assigned import (
    Assumption,
    assigned,
    below,
    declared,
    handed_over,
    mentioned,
    mentions,
)
from rtlgen.frontend.syntax.liveness import RegionValues, region_values
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import Region, parameters
from rtlgen.ir.constant_folding import widening_constants
from rtlgen.ir.expr import ScalarParameter, walk
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import Array, Node, Role, ScalarArgument, Scop, Statement
from rtlgen.ir.types import NumberType
from rtlgen.source import SourceFile

_SHOWN = 3
"""Places that a warning shows."""


class Kernel:
    """Assembles the Scop of one region.

    Parameters
    ----------
    fixed: the `-D` values of scalar parameters, and extents.
    known: the values of scalar parameters that are the same in all calls of the file.
    members: variables that are members of structures, which need not all be used.
    limits: the values of scalar parameters with which the program has a meaning.
    expected: those with which no loop leaves its arrays, wherever it is begun.

    Members
    -------
    warnings: what was left out; complete after `read`.
    """

    def __init__(
        self,
        region: Region,
        locator: Locator,
        fixed: Mapping[str, str],
        known: Mapping[str, int],
        members: Set[str] = frozenset(),
        limits: Mapping[str, Limits] | None = None,
        expected: Mapping[str, Limits] | None = None,
    ) -> None:
        self._region = region
        self._members = members
        self._limits = limits or {}
        self._expected = expected or {}
        self._locator = locator
        self._known = {name: value for name, value in known.items() if name not in fixed}
        given = {name: str(value) for name, value in self._known.items()}
        self._declarations = Declarations(locator, {**fixed, **given})
        self._body = BodyReader(region.function.decl.name, self._declarations, locator)
        self._returned: Variable | None = None
        self._unmentioned: frozenset[str] = frozenset()
        self.warnings: list[Diagnostic] = []

    def read(self, tree: c_ast.FileAST, main: SourceFile) -> Scop:
        """Return the Scop.

        Raises
        ------
        FrontendError: the first refusal; its `others` are the rest.
        """
        function = self._region.function
        self._unmentioned = declared(*tree.ext) - mentioned(*tree.ext) - self._members
        hidden = frozenset(parameter.name for parameter in parameters(function))
        # A parameter keeps its C name even when a global has the same one.
        self._declarations.scopes.reserve(hidden)
        self._declarations.note_changes(tree)
        self._body.changing = changing_functions(tree)
        for node in tree.ext:
            self._declarations.file_scope(node)
        with self._declarations.scopes.block():
            self._parameters(function)
            nodes = (*self._copies(function), *self._items(function))
        statements, nodes = self._body.drafts.finish(nodes, self._is_private, self._body.report)
        errors = sorted(self._body.errors, key=lambda error: error.position)
        if errors:
            errors[0].others = tuple(errors[1:])
            raise errors[0]
        if not statements:
            raise EmptyRegion(
                f"`{function.decl.name}` has no statement to build a circuit from",
                labels=(Label(self._locator.name_span(function.decl, function.decl.name)),),
            )
        return self._scop(statements, nodes, main)

    def _parameters(self, function: c_ast.FuncDef) -> None:
        arguments = function.decl.type.args
        listed = arguments.params if arguments is not None else ()
        used = mentioned(*self._region.items, *listed)
        self._warn_of_known(function, [x for x in listed if getattr(x, "name", None) in used])
        for parameter in listed:
            try:
                self._declarations.parameter(parameter)
            except FrontendError as error:
                name = parameter.name if isinstance(parameter, c_ast.Decl) else None
                if name is None or name in used or isinstance(error, DuplicateName):
                    self._body.report(error)
                else:
                    self._warn_unused(name, Label(self._locator.name_span(parameter, name)))

    def _copies(self, function: c_ast.FuncDef) -> tuple[Node, ...]:
        """Give scalar parameters that the region assigns variables of their own."""
        arguments = function.decl.type.args
        return tuple(
            self._copy(parameter, symbol)
            for parameter in (arguments.params if arguments is not None else ())
            if (symbol := self._changed_input(parameter)) is not None
        )

    def _changed_input(self, declared: c_ast.Node) -> ScalarInput | NamedConstant | None:
        """Return what a declaration stands for, if it is a scalar input that is no mere value.

        The region assigns it, or takes its address.
        """
        if not isinstance(declared, c_ast.Decl):
            return None
        is_const = "const" in declared.quals
        set_here = {
            name
            for item in self._region.items
            for name, node in assigned(item)
            if isinstance(changed(node, "&"), c_ast.ID) and (_is_address(node) or not is_const)
        }
        if declared.name not in set_here:
            return None
        symbol = self._declarations.scopes.lookup(declared.name)
        return symbol if isinstance(symbol, ScalarInput | NamedConstant) else None

    def _copy(self, parameter: c_ast.Decl, symbol: ScalarInput | NamedConstant) -> Node:
        place = self._body.place
        reader = self._body.reader(place)
        value = reader.value(c_ast.ID(parameter.name, parameter.coord))
        variable = self._declarations.temporary(parameter.name, symbol.type, symbol.span)
        self._declarations.scopes.declare(parameter.name, variable)
        self._body.reaching.declare(variable)
        self._body.note_used_after(variable)
        text = f"{variable.name} = {parameter.name}"
        assignment = written(variable, symbol.span, value, reader, text)
        return self._body.assign(parameter, assignment, place, reader)

    def _items(self, function: c_ast.FuncDef) -> tuple[Node, ...]:
        """Read the region, with the initialisers before it and the `return` at its end."""
        region = self._region
        outside = [
            item for item in (*region.before, *region.after) if not _is_harmless_outside(item)
        ]
        final = _result(region)
        after = [item for item in region.after if item is not final]
        values = region_values(region.before, region.items, after)
        inside = mentioned(*region.items, *(() if final is None else (final,)), *_decls(region))
        nodes: list[Node] = []
        for item in region.before:
            if isinstance(item, c_ast.Decl) and _is_shared(item, values):
                nodes.extend(self._shared(item, values))
            elif isinstance(item, c_ast.Decl) and (
                item.name in inside or item.name not in mentioned(*outside)
            ):
                nodes.extend(self._body.read([item]))
        if not outside and final is None:
            outside = [item for item in region.after if isinstance(item, c_ast.Return)]
        if outside:
            self._warn_outside(outside, _described(function, values))
        items = [item for item in region.items if item is not final]
        nodes.extend(self._body.read([*_assumed(region.before), *items]))
        return (*nodes, *(() if final is None else self._return(function, final)))

    def _shared(self, node: c_ast.Decl, values: RegionValues) -> tuple[Node, ...]:
        """Declare a local whose value comes into the region, or goes out of it."""
        is_handed_on = node.name in values.handed_on
        if node.name not in values.changed:
            self._declarations.hand_on(node)
            nodes = self._body.read([node])
            symbol = self._declarations.scopes.lookup(node.name)
        else:
            nodes = ()
            is_taken = node.name in values.taken
            symbol = self._declarations.shared(node, is_taken=is_taken, is_handed_on=is_handed_on)
        if isinstance(symbol, Variable) and symbol.shape == ():
            if symbol.storage == "local":
                self._body.reaching.declare(symbol)
            self._body.note_used_after(symbol)
        given = self._changed_input(node)
        return nodes if given is None else (*nodes, self._copy(node, given))

    def _warn_outside(self, outside: Sequence[c_ast.Node], notes: tuple[str, ...]) -> None:
        self.warnings.append(
            Diagnostic(
                "W0103",
                "statements outside of the #pragma scop region are not part of the circuit",
                tuple(Label(self._locator.start(item)) for item in outside[:3]),
                notes,
                severity="warning",
            )
        )

    def _return(self, function: c_ast.FuncDef, node: c_ast.Return) -> tuple[Node, ...]:
        try:
            return self._returned_value(function, node)
        except FrontendError as error:
            self._body.report(error)
            return ()

    def _returned_value(self, function: c_ast.FuncDef, node: c_ast.Return) -> tuple[Node, ...]:
        span = self._locator.start(node)
        type_ = self._declarations.types.read(function.decl.type.type, span).element
        if node.expr is None:
            return ()
        if type_ is None:
            raise ReturnUnsupported(
                "a function of type void returns a value", labels=(Label(span),)
            )
        place = self._body.place
        before: list[Node] = []
        reader = self._body.reader(place, before)
        value = self._body.right_hand_side(node.expr, reader, place, before)
        variable = self._plain_variable(node.expr, type_)
        if variable is not None:
            self._returned = variable
            return ()
        variable = self._declarations.temporary("return_value", type_, span)
        self._returned = variable
        assignment = written(variable, span, value, reader, self._locator.text(node))
        return (*before, self._body.assign(node, assignment, place, reader))

    def _plain_variable(self, node: c_ast.Node, type_: NumberType) -> Variable | None:
        """Return the scalar variable that `node` is, if it is one of the returned type."""
        if not isinstance(node, c_ast.ID):
            return None
        symbol = self._declarations.scopes.lookup(node.name)
        is_plain = isinstance(symbol, Variable) and symbol.shape == () and symbol.element == type_
        if not isinstance(symbol, Variable) or not is_plain or self._body.is_used_after(symbol):
            return None
        return symbol

    def _is_private(self, name: str) -> bool:
        """Return whether nobody sees the variable `name` after the run."""
        variable = next(v for v in self._declarations.variables if v.name == name)
        is_returned = self._returned is not None and self._returned.name == name
        return variable.storage == "local" and not is_returned

    def _scop(
        self, statements: tuple[Statement, ...], nodes: tuple[Node, ...], main: SourceFile
    ) -> Scop:
        self.warnings.extend(self._body.warnings)
        self._warn_of_widening(statements)
        inputs = [scalar for scalar in self._declarations.inputs if _uses(statements, scalar)]
        for scalar in self._declarations.inputs:
            if scalar not in inputs:
                self._warn_unused(scalar.name, Label(scalar.span))
        return Scop(
            name=self._region.function.decl.name,
            arrays=tuple(self._arrays(statements)),
            scalars=tuple(self._argument(scalar) for scalar in inputs),
            statements=statements,
            tree=nodes,
            schedule=Schedule({}),
            source=main,
            returned=self._returned.name if self._returned else None,
            parameters=tuple(self._declarations.parameters),
            untouched=tuple(self._untouched(statements)),
        )

    def _argument(self, scalar: ScalarInput) -> ScalarArgument:
        limits, expected = (
            found.get(scalar.name, (None, None)) for found in (self._limits, self._expected)
        )
        told = None if expected == (None, None) else _within(scalar.type, meet(limits, expected))
        return ScalarArgument(
            scalar.name, scalar.type, scalar.span, _within(scalar.type, limits), told
        )

    def _arrays(self, statements: Sequence[Statement]) -> Iterable[Array]:
        written_names = {statement.write.array for statement in statements}
        read_names = {read.array for statement in statements for read in statement.reads}
        if self._returned is not None:
            read_names.add(self._returned.name)
        declared = self._declarations.variables
        closed = self._declarations.extents.closed(declared)
        for made, variable in zip(declared, closed, strict=True):
            is_read, is_written = variable.name in read_names, variable.name in written_names
            if is_read or is_written:
                if made in self._declarations.loaded:
                    text = f"the initial values of `{variable.name}` are not built in"
                    self._warn(
                        "W0109", text, Label(variable.span, "load them before the first run")
                    )
                yield Array(
                    variable.name,
                    variable.element,
                    variable.shape,
                    _role(variable, is_read, is_written),
                    variable.storage,
                    variable.span,
                    variable.values,
                    told=self._body.told.get(variable.name),
                )
            elif variable.storage == "parameter":
                self._warn_unused(variable.name, Label(variable.span))
            elif variable.name in self._unmentioned:
                self._warn("W0107", f"`{variable.name}` is not used", Label(variable.span))

    def _untouched(self, statements: Sequence[Statement]) -> Iterable[Array]:
        """Yield the array parameters that no statement uses, if it is known how large they are."""
        used = {a.array for statement in statements for a in (statement.write, *statement.reads)}
        for made in self._declarations.variables:
            variable = self._declarations.extents.stated(made)
            if variable is None or variable.storage != "parameter" or variable.name in used:
                continue
            yield Array(
                variable.name,
                variable.element,
                variable.shape,
                "in",
                variable.storage,
                variable.span,
            )

    def _warn_of_widening(self, statements: Sequence[Statement]) -> None:
        """Say where a constant makes operations on floats ones on doubles."""
        found = [(s, texts) for s in statements for texts in widening_constants(s.expr)]
        if not found:
            return
        places = list(dict.fromkeys(statement.span for statement, _ in found))
        more = len(places) - _SHOWN
        given = found[0][1][0]
        named = dict.fromkeys(narrow for _, (_, narrow) in found)
        self.warnings.append(
            Diagnostic(
                "W0117",
                f"the double `{given}` makes this an operation on doubles",
                tuple(Label(span) for span in places[:_SHOWN]),
                (f"and {more} more",) if more > 0 else (),
                help=f"in less precision: {', '.join(f'`{narrow}`' for narrow in named)}",
                severity="warning",
            )
        )

    def _warn_of_known(self, function: c_ast.FuncDef, used: Sequence[c_ast.Node]) -> None:
        """Say which parameters are numbers, since the file calls the function with no other."""
        known = [parameter for parameter in used if parameter.name in self._known]
        if not known:
            return
        labels = (
            Label(self._locator.name_span(x, x.name), f"is {self._known[x.name]}") for x in known
        )
        self.warnings.append(
            Diagnostic(
                "W0119",
                "what all calls in the file give the same number is that number, without a port",
                tuple(labels),
                help=f"for ports, declare `{function.decl.name}` without `static`",
                severity="warning",
            )
        )

    def _warn_unused(self, name: str, label: Label) -> None:
        self._warn("W0102", f"the parameter `{name}` is not used, and gets no port", label)

    def _warn(self, code: str, message: str, label: Label) -> None:
        self.warnings.append(Diagnostic(code, message, (label,), severity="warning"))


def _is_address(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.UnaryOp) and node.op == "&"


def _role(variable: Variable, is_read: bool, is_written: bool) -> Role:
    if variable.storage == "local":
        return "local"
    return "inout" if is_read and is_written else "out" if is_written else "in"


def _uses(statements: Iterable[Statement], scalar: ScalarInput) -> bool:
    return any(
        isinstance(node, ScalarParameter) and node.name == scalar.name
        for statement in statements
        for node in walk(statement.expr)
    )


def _assumed(before: Sequence[c_ast.Node]) -> list[c_ast.Node]:
    """Return the assertions in front of a region that hold where it begins."""
    found: list[c_ast.Node] = []
    changed: set[str] = set()
    for item in reversed(before):
        if isinstance(item, Assumption) and not mentions(item.condition, frozenset(changed)):
            found.insert(0, item)
        elif not isinstance(item, c_ast.Decl):
            changed |= {*(name for name, _ in assigned(item)), *handed_over(item)}
    return found


def _is_shared(node: c_ast.Decl, values: RegionValues) -> bool:
    # What is `static` has a host port anyway.
    return node.name in values.changed | values.handed_on and "static" not in node.storage


def _described(function: c_ast.FuncDef, values: RegionValues) -> tuple[str, ...]:
    """Say which variables of the function are ports on account of what is outside."""
    # That the host gives and reads the arrays among the parameters goes without saying.
    arguments = function.decl.type.args
    scalars = (
        node
        for node in (() if arguments is None else arguments.params)
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.TypeDecl)
    )
    locals_ = (n for n in function.body.block_items or () if isinstance(n, c_ast.Decl))
    known = {node.name for node in (*scalars, *locals_)}
    texts = {
        "the host gives {} the value that it has at the start of the region": values.taken,
        "the host reads {} after the run": values.handed_on,
    }
    return tuple(
        text.format(", ".join(f"`{name}`" for name in sorted(names & known)))
        for text, names in texts.items()
        if names & known
    )


def _within(type_: NumberType, limits: Limits) -> tuple[int, int] | None:
    """Return the values of a type that lie in some limits; None: all of them, or none."""
    least, most = limits
    low = type_.minimum if least is None else max(least, type_.minimum)
    high = type_.maximum if most is None else min(most, type_.maximum)
    return None if (low, high) == (type_.minimum, type_.maximum) or low > high else (low, high)


def _decls(region: Region) -> list[c_ast.Node]:
    """Return the types and initial values of what is declared before the region."""
    found = (item for item in region.before if isinstance(item, c_ast.Decl))
    return [child for item in found for _, child in item.children()]


def _is_harmless_outside(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.Decl | c_ast.Typedef | c_ast.Return | c_ast.EmptyStatement)


def _result(region: Region) -> c_ast.Return | None:
    """Return the last `return`, if the circuit computes its value.

    Behind a marked region it does where the value is that of scalars; what the host can read in
    memory is for the host to look at.
    """
    last = (*region.items, *region.after)[-1:]
    if not last or not isinstance(last[0], c_ast.Return):
        return None
    if any(not _is_harmless_outside(item) for item in region.after):
        return None
    is_inside = not region.after
    return last[0] if is_inside or not any(map(_is_in_memory, below(*last))) else None


def _is_in_memory(node: c_ast.Node) -> bool:
    if isinstance(node, c_ast.UnaryOp):
        return node.op in ("*", "&")
    return isinstance(node, c_ast.ArrayRef | c_ast.StructRef | c_ast.FuncCall)
