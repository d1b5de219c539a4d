"""The statements of a function's body to the loop tree."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace

from pycparser import c_ast

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend.analysis.ranges import Conjunction, Guard, Ranges, is_total
from rtlgen.frontend.analysis.turn import Observation
from rtlgen.frontend.analysis.values import ObstacleKind, Value
from rtlgen.frontend.errors import (
    AggregateUnsupported,
    FloatingPoint,
    FrontendError,
    PointerUnsupported,
)
from rtlgen.frontend.reading.declarations import Declarations
from rtlgen.frontend.reading.elements import (
    guard_keeps_inside,
    statement_refusal,
    stays_inside,
)
from rtlgen.frontend.reading.expressions import ExpressionReader, Surroundings, Unnoticed
from rtlgen.frontend.reading.reaching import (
    Definitions,
    Origin,
    Reaching,
    assumptions,
    dear_by_iterators,
    known_by_iterators,
    limits_told,
    origin_of,
    set_to,
    still_so,
    told_by,
)
from rtlgen.frontend.reading.symbols import Unusable, Variable
from rtlgen.frontend.reading.types import Extents
from rtlgen.frontend.reading.writes import ASSIGNMENT_OPS, Assignment, read_assignment, written
from rtlgen.frontend.scop.branches import BranchReader
from rtlgen.frontend.scop.calls import CallReader
from rtlgen.frontend.scop.cases import CaseReader, Keeper, Place
from rtlgen.frontend.scop.drafts import Drafts, Filler, number_of, parts
from rtlgen.frontend.scop.iteration import IterationReader
from rtlgen.frontend.syntax.assigned import STEPS, Assumption
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Constant, Expr, Read, Scatter, Select
from rtlgen.ir.scop import Access, ConditionNode, Node, Statement
from rtlgen.ir.types import INT32, IntType
from rtlgen.ir.value_ranges import Range, is_truth
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Site(Surroundings):
    """What the expressions of a statement depend on.

    Members
    -------
    before: takes the statements that have to run before it; None if there can be none.
    """

    body: BodyReader
    calls: CallReader
    extents: Extents
    place: Place
    before: list[Node] | None

    def definitions(self, variable: Variable) -> Definitions:
        """Return the assignments of a scalar that may reach here."""
        return self.body.reaching.of(variable)

    def observed(self, node: c_ast.Node, variable: Variable) -> Observation | None:
        """Return what a scalar is wherever a name is read, if running the loop around it tells."""
        return self.body.observed.get((id(node), variable.name))

    def origin(self, read: Access) -> Origin | None:
        """Return what a scalar that is read was set to."""
        return self.body.origin(read)

    def told(self) -> Iterator[Guard]:
        """Yield what assertions say that still holds."""
        return self.body.told_at(self.place)

    def assume(self, condition: Guard) -> None:
        """Note that the program asserts a condition here."""
        self.body.assume(condition)

    def note_access(self, variable: Variable, access: Access, ranges: Ranges) -> None:
        """Note which elements are touched."""
        self.extents.note(variable, access, ranges)

    def call(self, node: c_ast.FuncCall, reader: ExpressionReader) -> Value:
        """Return the value of a call."""
        return self.calls.value(node, reader, self.place, self.before)


MAX_REPORTED = 20


class BodyReader:
    """Reads the body of the kernel, which is called `function`.

    Members
    -------
    drafts: the statements so far.
    reaching: what may have been assigned before the place that is being read.
    errors: refusals so far; the reader goes on with the next statement.
    warnings: what was left out.
    cases: reads what depends on choices by iterators.
    observed: what scalars are where the loops around read them, by the names that are read.
    told: limits that assertions give elements of arrays, by name.
    place: behind what has been read of the outermost block.
    """

    def __init__(self, function: str, declarations: Declarations, locator: Locator) -> None:
        self._declarations = declarations
        self._scopes = declarations.scopes
        self._locator = locator
        self.drafts = Drafts()
        self.reaching = Reaching()
        self.place = Place()
        self.observed: Mapping[tuple[int, str], Observation] = {}
        self.errors: list[FrontendError] = []
        self._refused: set[tuple[str, str, tuple[Label, ...]]] = set()
        self.warnings: list[Diagnostic] = []
        self.told: dict[str, Range] = {}
        # Functions that change more than their own variables.
        self.changing: Set[str] = frozenset()
        self.cases = CaseReader(self, declarations)
        self._keeper = Keeper(self, declarations, locator)
        self._calls = CallReader(function, self, declarations, locator)
        self._branches = BranchReader(self, declarations, locator)
        self._loops = IterationReader(self, declarations, locator)
        self._used_after: set[str] = set()

    def read(self, items: Iterable[c_ast.Node]) -> tuple[Node, ...]:
        """Read the statements of the outermost block."""
        nodes, self.place = self.block(items, self.place)
        return nodes

    def report(self, error: FrontendError) -> None:
        """Note a refusal, with the calls inside of which it was first found."""
        told = error.diagnostic
        what = (told.code, told.message, told.labels[:1])
        if len(self.errors) < MAX_REPORTED and what not in self._refused:
            self._refused.add(what)
            called = [Label(span, f"`{name}` is called here") for name, span in self._calls.active]
            found = error.telling(labels=(*told.labels, *reversed(called)))
            if self._calls.active:
                found.inside = self._calls.active[-1][0]
            self.errors.append(found)

    def assign(
        self,
        node: c_ast.Node,
        assignment: Assignment,
        place: Place,
        reader: ExpressionReader,
        label: str | None = None,
    ) -> Node:
        """Append the statement that an assignment, read from `node`, is."""
        variable, span = assignment.variable, assignment.write.span
        write, inside = self._inside(assignment, place)
        place = place.under(inside)
        expr = self._guarded(assignment, place, reader)
        is_known = variable.shape == () and self._define(node, assignment, place, reader.reads)
        statement = Statement(
            name="",
            loops=place.loops,
            conditions=place.conditions,
            write=write,
            reads=tuple(reader.reads),
            expr=expr,
            span=span,
            text=assignment.text,
        )
        made = self.drafts.add(node, label, statement, is_known)
        return ConditionNode(inside, (made,)) if inside else made

    def _define(
        self, node: c_ast.Node, assignment: Assignment, place: Place, reads: Sequence[Access]
    ) -> bool:
        """Note what a scalar is set to; return whether it may stand wherever the scalar does."""
        variable, value = assignment.variable, assignment.value
        span, origin = assignment.write.span, None
        known: Affine | Expr | None = value.affine
        is_dear = False
        if value.affine is None:
            if self.keep_law(node, variable, place, span):
                return True
            given = value.expr, reads, self._declarations, self.reaching.of
            known = known_by_iterators(value.expr, place.ranges)
            is_dear = known is None
            known = known or dear_by_iterators(*given)
            origin = origin_of(*given)
        is_answer = origin is not None and origin.is_repeatable and is_truth(origin.expr)
        obstacle = value.obstacle
        if obstacle is not None and obstacle.kind is not ObstacleKind.NONLINEAR:
            obstacle = None
        is_dear = is_dear and known is not None
        self.reaching.define(
            variable, span, known, is_dear=is_dear, origin=origin, obstacle=obstacle
        )
        return is_answer or (known is not None and not is_dear)

    def keep_law(self, node: c_ast.Node, variable: Variable, place: Place, span: Span) -> bool:
        """Note what a statement leaves in a scalar, if the loop around it has told."""
        observation = self.observed.get((id(node), variable.name))
        law = None if observation is None else observation.known(place.ranges)
        if law is not None:
            self.reaching.define_known(variable, span, law, place.ranges)
        return law is not None

    def _inside(self, assignment: Assignment, place: Place) -> tuple[Access, Conjunction]:
        """Return what keeps a guarded assignment inside of its array, if that is known already.

        Where it would leave it, C has no meaning for the guard to hold there: nothing is written.
        """
        write, shape = assignment.write, assignment.variable.shape
        if place.guard is None or stays_inside(write, shape, place.ranges):
            return write, ()
        if not guard_keeps_inside(write, shape, place.guard, place.ranges):
            self.warn_left_out(
                "W0108", "this is only written where it stays inside of its array", write.span
            )
        wanted = write.bounds(shape)
        missing = tuple(bound for bound in wanted if place.ranges.minimum(bound) < 0)
        return replace(write, is_conditional=write.is_lookup), missing

    def _guarded(self, assignment: Assignment, place: Place, reader: ExpressionReader) -> Expr:
        """Return what an assignment leaves in its place, whether its guard holds or not."""
        expr, variable = assignment.value.expr, assignment.variable
        if assignment.at:
            return self._scattered(assignment, place, reader)
        if place.guard is None:
            return expr
        if not self.reaching.has_no_value(variable):
            old = reader.read(variable, assignment.write).expr
        elif (
            is_total(expr)
            and not reader.may_leave
            and not self._may_be_unset(reader.reads)
            and not self._is_kept_inside(assignment, place.guard, reader)
        ):
            # C leaves the value open where the guard does not hold: it may be the new one.
            return expr
        else:
            old = Constant(0, variable.element)
        return Select(self._asked(assignment, place.guard, reader), expr, old, variable.element)

    def _is_kept_inside(
        self, assignment: Assignment, guard: Guard, reader: ExpressionReader
    ) -> bool:
        """Return whether a guard says more of where an element is than the value of that does."""
        variable = assignment.variable
        if variable.name not in self._declarations.positions:
            return False
        is_whole = isinstance(variable.element, IntType)
        return is_whole and reader.limits(assignment.value.expr, [guard]) is not None

    def _may_be_unset(self, reads: Sequence[Access]) -> bool:
        """Return whether some element that is read may have no value where a guard fails."""
        return any(
            variable.storage == "local" and variable.shape != () and not variable.values
            for variable in map(self._declarations.stored_as, (read.array for read in reads))
        )

    def _scattered(self, assignment: Assignment, place: Place, reader: ExpressionReader) -> Expr:
        """Return what an assignment does to an array where data decides which element it is of."""
        variable, condition = assignment.variable, Constant(1, INT32)
        asked = condition if place.guard is None else self._asked(assignment, place.guard, reader)
        old = reader.read(variable, assignment.write, assignment.at).expr
        # The same element is written as is read.
        reader.reads[-1] = replace(reader.reads[-1], subscripts=assignment.write.subscripts)
        assert isinstance(old, Read)
        return Scatter(asked, assignment.value.expr, old)

    def _asked(self, assignment: Assignment, guard: Guard, reader: ExpressionReader) -> Expr:
        """Return the guard of an assignment, and what it tells of where that reads and writes."""
        variable = assignment.variable
        positions = {variable.name, *(read.array for read in reader.reads)}
        positions &= self._declarations.positions
        if positions:
            # A variable that holds an answer does not say where these may lie.
            told = told_by(guard, positions, self._declarations, self.reaching.of)
            for shown in told:
                guard = guard.then(shown)
        return reader.adopt(guard)

    def reader(self, place: Place, before: list[Node] | None = None) -> ExpressionReader:
        """Return a reader of the expressions of one statement.

        Parameters
        ----------
        before: takes the statements that have to run before it; None if there can be none.
        """
        site = Site(self, self._calls, self._declarations.extents, place, before)
        return self._declarations.reader(place.ranges, site, is_guarded=place.guard is not None)

    def control_reader(self, place: Place) -> ExpressionReader:
        """Return a reader of when a loop runs, or where an element is."""
        reader = self.reader(place)
        reader.is_control = True
        return reader

    def written_by(self, nodes: Sequence[Node]) -> frozenset[str]:
        """Return what statements write."""
        return self.drafts.written_by(nodes)

    def note_used_after(self, variable: Variable) -> None:
        """Note that a variable may be used outside of the loops that it counts."""
        self._used_after.add(variable.name)

    def is_used_after(self, variable: Variable) -> bool:
        """Return whether a variable that counts a loop is used outside of it, too."""
        return variable.name in self._used_after

    def items(self, items: Iterable[c_ast.Node], place: Place) -> tuple[Node, ...]:
        """Read statements, and go on behind one that is refused."""
        return self.block(items, place)[0]

    def block(self, items: Iterable[c_ast.Node], place: Place) -> tuple[tuple[Node, ...], Place]:
        """Read statements; return what is known behind them, too."""
        nodes: list[Node] = []
        for item in items:
            if isinstance(item, Assumption):
                place = replace(place, told=(*place.told, *self._assumed(item, place)))
                continue
            try:
                nodes.extend(self._item(item, place, None))
            except FrontendError as error:
                self.report(error)
        return tuple(nodes), place

    def origin(self, read: Access) -> Origin | None:
        """Return what a scalar that is read was set to, as far as that is the same value still."""
        variable = self._declarations.stored_as(read.array)
        of = self.reaching.of
        return set_to(of(variable), of) if variable.shape == () else None

    def _assumed(self, node: Assumption, place: Place) -> Sequence[Origin]:
        """Return what an assertion says, if it can be read."""
        reader = self._declarations.reader(place.ranges, Unnoticed(self.reaching.of))
        condition = reader.asserted(node.condition)
        return () if condition is None else self.assume(condition)

    def told_at(self, place: Place) -> Iterator[Guard]:
        """Yield what assertions say that still holds at a place."""
        return still_so(place.told, self.reaching.of)

    def assume(self, condition: Guard) -> Sequence[Origin]:
        """Note what an assertion says; return its parts."""
        origin = origin_of(condition.expr, condition.reads, self._declarations, self.reaching.of)
        parts = () if origin is None else tuple(assumptions(origin))
        for part in parts:
            for name, (low, high) in limits_told(part, self.origin, self._declarations):
                known = self.told.get(name, (low, high))
                low, high = max(low, known[0]), min(high, known[1])
                if low <= high:
                    self.told[name] = low, high
        return parts

    def _item(self, node: c_ast.Node, place: Place, label: str | None) -> tuple[Node, ...]:
        match node:
            case c_ast.Label():
                return self._item(node.stmt, place, node.name)
            case c_ast.Compound():
                with self._scopes.block():
                    return self.items(node.block_items or (), place)
            case c_ast.For():
                return self._loops.read(node, place, label)
            case c_ast.If():
                return self._branches.read(node, place, label)
            case c_ast.Assignment() if node.op in ASSIGNMENT_OPS:
                return self._assignment(node, node.lvalue, place, label)
            case c_ast.UnaryOp() if node.op in STEPS:
                return self._assignment(node, node.expr, place, label)
            case c_ast.FuncCall():
                return self._calls.statement(node, place)
            case c_ast.Decl():
                return self._declaration(node, place)
            case c_ast.StaticAssert():
                self._declarations.require_static(node)
                return ()
            case c_ast.EmptyStatement() | c_ast.Pragma() | c_ast.Typedef():
                # The region of a function that is called marks nothing, and types have no names.
                return ()
            case _:
                raise statement_refusal(node, self._locator)

    def _assignment(
        self, node: c_ast.Node, target: c_ast.Node, place: Place, label: str | None
    ) -> tuple[Node, ...]:
        cases = self.cases.of_target(target, place)
        if cases is not None:
            return self.cases.each(
                cases, place, lambda inside: self._assignment(node, target, inside, label)
            )
        before: list[Node] = []
        reader = self.reader(place, before)
        known = None
        if isinstance(node, c_ast.Assignment) and _is_set_to_call(node):
            known = self.right_hand_side(node.rvalue, reader, place, before)
        assignment = read_assignment(node, reader, self._scopes, self._locator, known)
        return (*before, self.assign(node, assignment, place, reader, label))

    def right_hand_side(
        self, node: c_ast.Node, reader: ExpressionReader, place: Place, before: list[Node]
    ) -> Value:
        """Return the value of an expression; if it is a call, that may have side effects."""
        if not isinstance(node, c_ast.FuncCall):
            return reader.value(node)
        return self._calls.whole_value(node, reader, place, before)

    def _declaration(self, node: c_ast.Decl, place: Place) -> tuple[Node, ...]:
        if isinstance(node.type, c_ast.PtrDecl) and node.init is not None:
            return self._pointer(node, place)
        try:
            variable = self._declarations.local(node, place.ranges)
        except (AggregateUnsupported, FloatingPoint, PointerUnsupported):
            if node.init is not None:
                raise
            # It is refused where it is used, if it is.
            return ()
        stored = self._scopes.stored(node.name) if node.name is not None else None
        if stored is not None and stored.shape == () and stored.storage == "local":
            self.reaching.declare(stored)
            if self._declarations.is_used_outside(node):
                self.note_used_after(stored)
        if variable is None:
            return ()
        if variable.shape:
            return self._filled(node, variable, place)
        before: list[Node] = []
        reader = self.reader(place, before)
        value = self.right_hand_side(node.init, reader, place, before)
        assignment = written(variable, variable.span, value, reader, self._initialiser_text(node))
        return (*before, self.assign(node, assignment, place, reader))

    def _filled(self, node: c_ast.Decl, variable: Variable, place: Place) -> tuple[Node, ...]:
        """Give an array that is declared its initial values, anew each time."""
        computed = self._declarations.initial[variable.name].computed
        filler = Filler(node, variable, self._declarations, self.drafts)
        nodes: list[Node] = []
        for part in parts(variable.shape, computed):
            position = (*part.fixed, part.first)
            value = computed.get(number_of(variable.shape, position))
            if value is None or len(position) < len(variable.shape):
                # Nobody sees them where the declaration is not reached.
                nodes.extend(filler.constants(part, replace(place, guard=None)))
            else:
                nodes.extend(self._element(value, variable, position, place))
        return tuple(nodes)

    def _element(
        self, node: c_ast.Node, variable: Variable, position: Sequence[int], place: Place
    ) -> tuple[Node, ...]:
        """Give one element of an array that is declared its initial value."""
        subscripts = tuple(Affine((), index) for index in position)
        write = Access(variable.name, subscripts, self._locator.span(node))
        before: list[Node] = []
        reader = self.reader(place, before)
        value = self.right_hand_side(node, reader, place, before)
        converted = reader.arithmetic.convert(value, variable.element)
        name = variable.name + "".join(f"[{index}]" for index in position)
        text = f"{name} = {self._locator.text(node)}"
        assignment = Assignment(variable, write, converted, text)
        return (*before, self.assign(node, assignment, place, reader))

    def _pointer(self, node: c_ast.Decl, place: Place) -> tuple[Node, ...]:
        """Declare a pointer, which stays where it points to: whoever moves it is refused."""
        try:
            type_ = self._declarations.parameter_type(node)
            view, nodes = self._keeper.view(node.init, node.name, type_, place)
        except FrontendError as error:
            self._scopes.declare(node.name, Unusable(error))
            raise
        self._scopes.declare(node.name, view)
        return tuple(nodes)

    def _initialiser_text(self, node: c_ast.Decl) -> str:
        return f"{node.name} = {self._locator.text(node.init)}"

    def nested(self, node: c_ast.Node, place: Place) -> tuple[Node, ...]:
        """Read the body of a loop or `if`, which is a scope of its own."""
        if isinstance(node, c_ast.Compound):
            return self._item(node, place, None)
        with self._scopes.block():
            return self.items((node,), place)

    def warn_left_out(self, code: str, message: str, span: Span) -> None:
        """Warn, once, that something is left out."""
        warning = Diagnostic(code, message, (Label(span, "left out"),), severity="warning")
        if warning not in self.warnings:
            self.warnings.append(warning)


def _is_set_to_call(node: c_ast.Assignment) -> bool:
    return node.op == "=" and isinstance(node.rvalue, c_ast.FuncCall)
