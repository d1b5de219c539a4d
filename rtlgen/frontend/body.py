"""The statements of a function's body to the loop tree."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend.conditions import Conjunction, read_condition
from rtlgen.frontend.declarations import Declarations
from rtlgen.frontend.errors import (
    FrontendError,
    IteratorModified,
    IteratorOutsideLoop,
    LoopHeader,
    UnknownIdentifier,
)
from rtlgen.frontend.expressions import ExpressionReader
from rtlgen.frontend.locate import Locator
from rtlgen.frontend.loops import Header, LoopReader, split_header
from rtlgen.frontend.names import StatementNames
from rtlgen.frontend.ranges import Ranges
from rtlgen.frontend.refusals import statement_refusal
from rtlgen.frontend.symbols import ActiveIterator, Unusable, Variable
from rtlgen.frontend.writes import ASSIGNMENT_OPS, Assignment, read_assignment, written
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, Statement, StatementNode
from rtlgen.ir.types import IntType
from rtlgen.source import Span

MAX_REPORTED = 20


@dataclass(frozen=True, slots=True)
class Place:
    """What is around a statement: loops (outermost first), conditions, and their ranges."""

    loops: tuple[Loop, ...] = ()
    conditions: tuple[Affine, ...] = ()
    ranges: Ranges = field(default_factory=Ranges)

    def under(self, conditions: Conjunction) -> Place:
        """Return the place inside an `if`."""
        return replace(
            self,
            conditions=(*self.conditions, *conditions),
            ranges=self.ranges.under(conditions),
        )


class BodyReader:
    """Reads the body of the kernel.

    Members
    -------
    statements: in program order.
    errors: refusals so far; the reader goes on with the next statement.
    warnings: what was left out.
    """

    def __init__(self, declarations: Declarations, locator: Locator) -> None:
        self._declarations = declarations
        self._scopes = declarations.scopes
        self._locator = locator
        self.statements: list[Statement] = []
        self.errors: list[FrontendError] = []
        self.warnings: list[Diagnostic] = []
        self._names = StatementNames()
        self._data_uses: dict[str, Span] = {}
        self._iterator_uses: dict[str, Span] = {}
        self._counters: frozenset[int] = frozenset()

    def read(self, items: Iterable[c_ast.Node], counters: frozenset[int]) -> tuple[Node, ...]:
        """Read the statements of the outermost block.

        Parameters
        ----------
        counters: ids of the declarations of variables that some loop header sets; their constant
            initialisers are dead.
        """
        self._counters = counters
        return self._items(items, Place())

    def report(self, error: FrontendError) -> None:
        """Note a refusal, once."""
        known = any(error.diagnostic == other.diagnostic for other in self.errors)
        if len(self.errors) < MAX_REPORTED and not known:
            self.errors.append(error)

    def assign(
        self,
        node: c_ast.Node,
        assignment: Assignment,
        place: Place,
        reader: ExpressionReader,
        label: str | None = None,
    ) -> Node:
        """Append the statement that an assignment, read from `node`, is."""
        span = assignment.write.span
        self.note_use(assignment.variable, span)
        name = self._names.give(node, label, span)
        self.statements.append(
            Statement(
                name=name,
                loops=place.loops,
                conditions=place.conditions,
                write=assignment.write,
                reads=tuple(reader.reads),
                expr=assignment.value.expr,
                span=span,
                text=assignment.text,
            )
        )
        return StatementNode(name)

    def reader(self, place: Place) -> ExpressionReader:
        """Return a reader of the expressions of one statement."""
        return self._declarations.reader(place.ranges, self.note_use)

    def note_use(self, variable: Variable, span: Span) -> None:
        """Note that a variable is used as data; it may not be a loop's iterator, too."""
        self._data_uses.setdefault(variable.name, span)
        if variable.name in self._iterator_uses:
            raise _mixed_use(variable.name, span, self._iterator_uses[variable.name])

    def _items(self, items: Iterable[c_ast.Node], place: Place) -> tuple[Node, ...]:
        nodes: list[Node] = []
        for item in items:
            try:
                nodes.extend(self._item(item, place, None))
            except FrontendError as error:
                self.report(error)
        return tuple(nodes)

    def _item(self, node: c_ast.Node, place: Place, label: str | None) -> tuple[Node, ...]:
        match node:
            case c_ast.Label():
                return self._item(node.stmt, place, node.name)
            case c_ast.Compound():
                with self._scopes.block():
                    return self._items(node.block_items or (), place)
            case c_ast.For():
                return self._loop(node, place, label)
            case c_ast.If():
                return self._if(node, place)
            case c_ast.Assignment() if node.op in ASSIGNMENT_OPS:
                return self._assignment(node, place, label)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--"):
                return self._assignment(node, place, label)
            case c_ast.Decl():
                return self._declaration(node, place)
            case c_ast.DeclList():
                return self._items(node.decls, place)
            case c_ast.Typedef():
                self._declarations.enumeration(node)
                self._declarations.types.define(node)
                return ()
            case c_ast.EmptyStatement():
                return ()
            case _:
                raise statement_refusal(node, self._locator)

    def _assignment(self, node: c_ast.Node, place: Place, label: str | None) -> tuple[Node, ...]:
        reader = self.reader(place)
        assignment = read_assignment(node, reader, self._scopes, self._locator)
        return (self.assign(node, assignment, place, reader, label),)

    def _declaration(self, node: c_ast.Decl, place: Place) -> tuple[Node, ...]:
        variable = self._declarations.local(node)
        if variable is None:
            return ()
        reader = self.reader(place)
        value = reader.value(node.init)
        if id(node) in self._counters and value.constant is not None:
            return ()
        assignment = written(variable, variable.span, value, reader, self._initialiser_text(node))
        return (self.assign(node, assignment, place, reader),)

    def _initialiser_text(self, node: c_ast.Decl) -> str:
        return f"{node.name} = {self._locator.text(node.init)}"

    # Loops.

    def _loop(self, node: c_ast.For, place: Place, label: str | None) -> tuple[Node, ...]:
        header = split_header(node, self._locator)
        type_, c_name = self._iterator(node, header)
        name = self._scopes.iterator_name(c_name) if header.declares else c_name
        loop_reader = LoopReader(
            header,
            name,
            type_,
            place.ranges,
            lambda ranges: self.reader(replace(place, ranges=ranges)),
            self._locator,
        )
        start, step = loop_reader.start(), loop_reader.step()
        with self._scopes.iterating(header.iterator, ActiveIterator(name, type_, header.span)):
            counted = loop_reader.read(start, step, label)
            if counted.is_empty:
                self._warn("W0101", "this loop is never entered", header.span)
                return ()
            inside = replace(
                place, loops=(*place.loops, counted.loop), ranges=place.ranges.inside(counted.body)
            )
            body = self._nested(node.stmt, inside)
        return (LoopNode(counted.loop, body),) if body else ()

    def _iterator(self, node: c_ast.For, header: Header) -> tuple[IntType, str]:
        """Return the iterator's type and the name to give it."""
        if header.declares:
            return self._declarations.iterator_type(node.init.decls[0]), header.iterator
        span = self._locator.span(node.init.lvalue)
        symbol = self._scopes.lookup(header.iterator)
        match symbol:
            case Variable(name, element, shape=(), storage="local"):
                self._iterator_uses.setdefault(name, span)
                if name in self._data_uses:
                    raise _mixed_use(name, self._data_uses[name], span)
                return element, name
            case ActiveIterator():
                raise IteratorModified(
                    f"`{header.iterator}` already counts an outer loop",
                    labels=(Label(span, "set again"), Label(symbol.span, "the outer loop")),
                    help="use another variable for the inner loop",
                )
            case Unusable(error):
                raise error
            case None:
                raise UnknownIdentifier(
                    f"`{header.iterator}` is not declared",
                    labels=(Label(span),),
                    help=f"declare it: for (int {header.iterator} = ...",
                )
            case _:
                raise LoopHeader(
                    f"`{header.iterator}` cannot count a loop",
                    labels=(Label(span, "is no local scalar"),),
                    help=f"declare the iterator: for (int {header.iterator} = ...",
                )

    def _nested(self, node: c_ast.Node, place: Place) -> tuple[Node, ...]:
        """Read the body of a loop or `if`, which is a scope of its own."""
        if isinstance(node, c_ast.Compound):
            return self._item(node, place, None)
        with self._scopes.block():
            return self._items((node,), place)

    # Conditions.

    def _if(self, node: c_ast.If, place: Place) -> tuple[Node, ...]:
        span = self._locator.span(node.cond)
        nodes: list[Node] = []
        for branch, negated in ((node.iftrue, False), (node.iffalse, True)):
            if branch is None:
                continue
            cases = read_condition(node.cond, self.reader(place), self._locator, negated)
            if not cases:
                what = "the `else` of this condition is" if negated else "this condition is"
                self._warn("W0106", f"{what} never true", span)
            for case in cases:
                body = self._nested(branch, place.under(case))
                if body:
                    nodes.extend([ConditionNode(case, body)] if case else body)
        return tuple(nodes)

    def _warn(self, code: str, message: str, span: Span) -> None:
        warning = Diagnostic(code, message, (Label(span, "left out"),), severity="warning")
        if warning not in self.warnings:
            self.warnings.append(warning)


def _mixed_use(name: str, data: Span, iterator: Span) -> IteratorOutsideLoop:
    return IteratorOutsideLoop(
        f"`{name}` counts a loop and is used outside of it",
        labels=(Label(data, "used here"), Label(iterator, "counts a loop here")),
        help="use another variable here",
    )
