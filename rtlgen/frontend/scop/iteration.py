"""`for` loops, with their bodies, to nodes of the loop tree, or written out.

for (n = 16; n > 1; n >>= 1) S          S four times, with n = 16, 8, 4, 2

Behind a loop its variable holds the first value with which it does not go on:

for (i = 2; i < 9; i += 3) S            i is 11
for (j = i; j < n; j++) S               j is the greater of i and n
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import Cases, IteratorRange, Ranges
from rtlgen.frontend.analysis.values import Obstacle, ObstacleKind, Value, exact, literal, opaque
from rtlgen.frontend.errors import (
    IteratorModified,
    IteratorOverflow,
    LoopHeader,
    LoopNeverEnds,
    NonAffineBound,
    ParameterInControl,
    TooManyIterations,
    UnknownIdentifier,
)
from rtlgen.frontend.evolution.moves import Moved, Moves
from rtlgen.frontend.evolution.solver import trip_count
from rtlgen.frontend.lowering.nodes import assign, integer
from rtlgen.frontend.lowering.types import INT, declaration, plain
from rtlgen.frontend.reading.declarations import Declarations, counting_type
from rtlgen.frontend.reading.loops import Header, LoopReader, split_header
from rtlgen.frontend.reading.symbols import ActiveIterator, NamedConstant, Unusable, Variable
from rtlgen.frontend.reading.writes import written
from rtlgen.frontend.scop.branches import ConditionReader
from rtlgen.frontend.scop.cases import Place
from rtlgen.frontend.syntax.assigned import assigned, calls, mentions
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue, Select, to_text
from rtlgen.ir.scop import Access, ConditionNode, Loop, LoopNode, Node
from rtlgen.ir.types import INT32, INT64, IntType, integral
from rtlgen.source import Span

if TYPE_CHECKING:
    from rtlgen.frontend.scop.body import BodyReader

MAX_VALUES = 32
"""Values for each of which the body of a loop may be written out."""

MAX_COPIES = 256
"""Copies of a body in several such loops, one inside of the other."""


@dataclass(frozen=True, slots=True)
class _Stepped:
    """What a header steps, and how.

    Members
    -------
    stored: the variable that is declared before the loop.
    """

    name: str
    type: IntType
    span: Span
    start: c_ast.Node
    next: c_ast.Node
    stored: Variable | None


class ValueLoopReader:
    """Reads loops of which all values of the iterator are known numbers.

    Members
    -------
    too_many: the last loop of which there would be too many copies, inside of others.
    """

    def __init__(
        self, body: BodyReader, declarations: Declarations, locator: Locator, moves: Moves
    ) -> None:
        self._body = body
        self._declarations = declarations
        self._locator = locator
        self._moves = moves
        self._copies = 1
        self.too_many: c_ast.For | None = None

    def read(self, node: c_ast.For, place: Place) -> tuple[Node, ...] | None:
        """Return the bodies of a loop, one for each value; None if it is no such loop."""
        stepped = self._stepped(node)
        found = None if stepped is None else self._values(node, stepped, place)
        copies = self._copies
        if stepped is None or found is None:
            return None
        if copies * len(found) > MAX_COPIES:
            self.too_many = node
            return None
        if len(found) == 1:
            self._body.warn_left_out("W0101", "this loop is never entered", stepped.span)
        nodes: list[Node] = []
        self._copies = copies * len(found)
        for value in found[:-1]:
            with self._fixed(stepped, value):
                nodes += self._body.nested(node.stmt, place)
        self._copies = copies
        variable = stepped.stored
        if variable is not None and self._body.is_used_after(variable):
            reader = self._body.reader(place)
            value_behind = literal(found[-1], variable.element, stepped.span)
            text = f"{variable.name} = {found[-1]}"
            assignment = written(variable, stepped.span, value_behind, reader, text)
            nodes.append(self._body.assign(node, assignment, place, reader))
        return tuple(nodes)

    def _stepped(self, node: c_ast.For) -> _Stepped | None:
        name: str = ""
        start: c_ast.Node | None = None
        stored: Variable | None = None
        match node.init:
            case c_ast.DeclList(decls=[c_ast.Decl(name=name, init=start) as declared]):
                type_ = self._declarations.iterator_type(declared)
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=start):
                stored = self._declarations.scopes.stored(name)
                if stored is None or stored.shape != () or stored.storage != "local":
                    return None
                type_ = counting_type(stored.element, self._locator.start(node))
        match node.next:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=stepped), rvalue=following):
                pass
            case c_ast.Assignment(op=op, lvalue=c_ast.ID(name=stepped) as old, rvalue=by):
                following = c_ast.BinaryOp(op.removesuffix("="), old, by, node.next.coord)
            case c_ast.UnaryOp(op="++" | "--" | "p++" | "p--" as op, expr=c_ast.ID() as old):
                stepped, one = old.name, c_ast.Constant("int", "1", node.next.coord)
                following = c_ast.BinaryOp(op[-1], old, one, node.next.coord)
            case _:
                return None
        if start is None or stepped != name or node.cond is None:
            return None
        if any(target == name for target, _ in assigned(node.stmt)):
            return None
        return _Stepped(name, type_, self._locator.start(node), start, following, stored)

    def _values(self, node: c_ast.For, stepped: _Stepped, place: Place) -> list[int] | None:
        """Return the values of the iterator, the one behind the loop included."""
        value = self._constant(stepped.start, stepped, place)
        reaching = self._body.reaching
        before = reaching.state
        # What the body changes is not known when the header is evaluated again.
        self._moves.of(node.stmt, {}, place.ranges)
        values: list[int] = []
        while value is not None and value not in values and len(values) <= MAX_VALUES:
            values.append(value)
            with self._fixed(stepped, value):
                goes_on = self._body.reader(place).value(node.cond).constant
                value = self._constant(stepped.next, stepped, place) if goes_on else None
            if not goes_on:
                reaching.restore(before)
                return values if goes_on == 0 else None
        reaching.restore(before)
        return None

    def _constant(self, node: c_ast.Node, stepped: _Stepped, place: Place) -> int | None:
        reader = self._body.reader(place)
        return reader.arithmetic.convert(reader.value(node), stepped.type).constant

    @contextmanager
    def _fixed(self, stepped: _Stepped, value: int) -> Iterator[None]:
        """Let the iterator be a number."""
        scopes = self._declarations.scopes
        with scopes.block():
            constant = NamedConstant(stepped.name, value, stepped.type, stepped.span)
            scopes.declare(stepped.name, constant)
            yield


def exit_value(loop: Loop, type_: IntType, ranges: Ranges, span: Span) -> Value:
    """Return the first value with which a loop that has one bound does not go on.

    Parameters
    ----------
    type_: of the iterator; it holds all values up to that one.
    ranges: what is around the loop.
    """
    # What is left to go, whatever the direction.
    way = (loop.stop - loop.start) * (1 if loop.step > 0 else -1)
    if ranges.maximum(way) <= 0:
        return exact(loop.start, type_, span)
    is_entered = ranges.minimum(way) > 0
    trips = trip_count(loop)
    end = None if trips is None else loop.start + trips * loop.step
    if end is not None and (is_entered or ranges.minimum(way) == 0):
        return exact(end, type_, span)
    obstacle = Obstacle(ObstacleKind.NONLINEAR, "where a loop ends", span)
    beyond = exact(end, type_, span).expr if end is not None else _rounded_end(loop, way, type_)
    if not is_entered:
        stop, start = (exact(form, INT64, span).expr for form in (loop.stop, loop.start))
        enters = Binary("gt" if loop.step > 0 else "lt", stop, start, INT32)
        beyond = Select(enters, beyond, exact(loop.start, type_, span).expr, type_)
    return opaque(beyond, obstacle, span)


def _rounded_end(loop: Loop, way: Affine, type_: IntType) -> Expr:
    """Return where a loop of larger steps ends: its start and all steps."""
    size = abs(loop.step)
    steps = Binary("div", _wide(way + (size - 1)), Constant(size, INT64), INT64)
    moved = Binary("mul", steps, Constant(loop.step, INT64), INT64)
    return Cast(Binary("add", _wide(loop.start), moved, INT64), type_)


def _wide(form: Affine) -> Expr:
    return Constant(form.constant, INT64) if form.is_constant else IndexValue(form, INT64)


MAX_ITERATIONS = 1 << 48
"""Iterations of a loop with those around it: 64 bits hold their cycles, nobody waits for more."""


class IterationReader:
    """Reads one `for` after the other.

    Members
    -------
    moves: what is known of the scalars that loops move.
    """

    def __init__(self, body: BodyReader, declarations: Declarations, locator: Locator) -> None:
        self._body = body
        self._declarations = declarations
        self._scopes = declarations.scopes
        self._locator = locator
        self.moves = Moves(declarations, locator, body.reaching)
        self._value_loops = ValueLoopReader(body, declarations, locator, self.moves)

    def read(self, node: c_ast.For, place: Place, label: str | None) -> tuple[Node, ...]:
        """Return the nodes of a loop; none where it does nothing."""
        reaching = self._body.reaching
        before = reaching.state
        try:
            return self._read(node, place, label)
        except (LoopHeader, NonAffineBound) as error:
            for otherwise in (self._in_cases, self._by_count, self._written_out):
                reaching.restore(before)
                if isinstance(error, LoopHeader) and otherwise == self._by_count:
                    continue
                nodes = otherwise(node, place, label)
                if nodes is not None:
                    return nodes
            reaching.restore(before)
            # A bound would leave the loops around it in as many copies as they are.
            if self._value_loops.too_many is not node:
                error.loop = node.coord.line
            raise
        except (ParameterInControl, IteratorOverflow, LoopNeverEnds) as error:
            error.loop = node.coord.line
            raise

    def _written_out(
        self, node: c_ast.For, place: Place, _label: str | None
    ) -> tuple[Node, ...] | None:
        return self._value_loops.read(node, place)

    def _in_cases(
        self, node: c_ast.For, place: Place, label: str | None
    ) -> tuple[Node, ...] | None:
        """Read a loop once for each case in which it has other bounds."""
        before = self._body.reaching.state
        cases = self._cases(node, place)
        self._body.reaching.restore(before)
        if cases is None:
            return None
        return self._body.cases.each(cases, place, lambda inside: self.read(node, inside, label))

    def _cases(self, node: c_ast.For, place: Place) -> Cases | None:
        """Return the cases in which a loop has other bounds."""
        try:
            header = split_header(node, self._locator)
        except LoopHeader:
            return None
        bounds = [self._body.control_reader(place).value(header.start)]
        self._entered(node.stmt, place)
        iterator = frozenset((header.iterator,))
        for condition in (header.condition, *header.limits):
            sides = (condition.left, condition.right) if _is_binary(condition) else (condition,)
            fixed = (side for side in sides if not mentions(side, iterator))
            bounds += [self._body.control_reader(place).value(side) for side in fixed]
        step = self._body.control_reader(place).value(header.step)
        return self._body.cases.of_bounds(bounds, place) or self._body.cases.of_step(step, place)

    def _by_count(
        self, node: c_ast.For, place: Place, label: str | None
    ) -> tuple[Node, ...] | None:
        """Read a loop of larger steps by the number of its steps; None if that is no better.

        for (i = 0; i < j; i += 2) { ...; j--; }        2 * count < j0 - count
        """
        header = split_header(node, self._locator)
        name, at = header.iterator, node.coord
        symbol = self._scopes.lookup(name)
        changed = frozenset(target for target, _ in assigned(node.stmt))
        begins_again = node.init is not None and mentions(header.start, frozenset((name,)))
        if begins_again or not mentions(header.condition, changed):
            return None
        with self._scopes.block():
            if header.declares:
                self._count_with(name, self._declarations.iterator_type(node.init.decls[0]), header)
            elif not isinstance(symbol, Variable):
                return None
            elif not self._body.is_used_after(symbol):
                self._count_with(name, counting_type(symbol.element, header.span), header)
            start = [] if node.init is None else [assign(name, header.start, header.start.coord)]
            count = f"{name}_count"
            while mentions(node, frozenset((count,))):
                count += "_"
            counted = c_ast.For(
                c_ast.DeclList([declaration(count, plain(INT), integer(0, at), at)], at),
                node.cond,
                c_ast.UnaryOp("p++", c_ast.ID(count, at), at),
                c_ast.Compound([node.stmt, node.next], at),
                at,
            )
            try:
                return (*self._body.items(start, place), *self._read(counted, place, label))
            except NonAffineBound:
                return None

    def _count_with(self, name: str, type_: IntType, header: Header) -> None:
        """Declare a variable in the place of an iterator."""
        variable = self._declarations.temporary(name, type_, header.span)
        self._scopes.declare(name, variable)
        self._body.reaching.declare(variable)

    def _read(self, node: c_ast.For, place: Place, label: str | None) -> tuple[Node, ...]:
        header = split_header(node, self._locator)
        type_, name, kept = self._iterator(node, header)
        loop_reader = LoopReader(
            header,
            name,
            type_,
            place.ranges,
            lambda ranges: self._body.control_reader(replace(place, ranges=ranges)),
            self._locator,
        )
        reaching = self._body.reaching
        before_loop = reaching.state
        moved = self._entered(node.stmt, place)
        # All but the start is evaluated again in every iteration.
        step = loop_reader.step()
        in_loop = reaching.state
        reaching.restore(before_loop)
        start = loop_reader.start(step)
        first = self._body.reader(place).value(header.start) if kept is not None else None
        reaching.restore(in_loop)
        counter = ActiveIterator(name, type_, header.span, node.coord.line)
        with self._scopes.iterating(header.iterator, counter):
            asked = [s for s in moved if mentions(header.condition, s.names)]
            # Between which values the iterator lies is not known before the header is read.
            low, high = (Affine((), x) for x in (type_.minimum, type_.maximum))
            around = place.ranges.inside(IteratorRange(name, low, high))
            ahead = self.moves.in_header(asked, node.stmt, name, start, step, around)
            for variable, value in ahead:
                reaching.define(variable, header.span, value)
            counted = loop_reader.read(start, step, label)
            reaching.restore(in_loop)
            self.moves.require_held(ahead, counted, place.ranges)
            if counted.is_empty:
                self._body.warn_left_out("W0101", "this loop is never entered", header.span)
                reaching.restore(before_loop)
                return self._left(node, kept, counted.loop, place)
            guarded = place.guard is not None
            loop = replace(counted.loop, under=place.condition, is_guarded=guarded)
            inside = replace(
                place,
                loops=(*place.loops, loop),
                ranges=counted.inside(place.ranges),
                condition=None,
                iterations=self._iterations(loop, place),
            )
            limits = (*counted.limits, *self._limits(header, loop_reader, inside, step))
            loop = replace(loop, limits=limits)
            inside = replace(inside.under(limits), loops=(*place.loops, loop))
            before: tuple[Node, ...] = ()
            if kept is not None and first is not None and limits:
                before = self._set(node, kept, first, place)
            known = () if counted.starts_late else moved
            body = self._repeated(node, inside, known, kept if limits else None)
            if limits and body:
                body = (ConditionNode(limits, body),)
        nodes = (*before, LoopNode(loop, body)) if body else before
        return nodes if limits else (*nodes, *self._left(node, kept, loop, place))

    def _left(
        self, node: c_ast.For, kept: Variable | None, loop: Loop, place: Place
    ) -> tuple[Node, ...]:
        """Return what gives the variable of a loop with one bound its value behind it."""
        if kept is None:
            return ()
        counting = counting_type(kept.element, loop.span)
        value = exit_value(loop, counting, place.ranges, loop.span)
        return self._set(node, kept, value, place)

    def _set(
        self, node: c_ast.Node, variable: Variable, value: Value, place: Place
    ) -> tuple[Node, ...]:
        reader = self._body.reader(place)
        text = f"{variable.name} = {to_text(value.expr, ())}"
        assignment = written(variable, value.span, value, reader, text)
        return (self._body.assign(node, assignment, place, reader),)

    def _iterations(self, loop: Loop, place: Place) -> int:
        """Return how often the body of a loop runs, at most.

        Raises
        ------
        TooManyIterations: no run would ever finish.
        """
        room = place.ranges.maximum((loop.stop - loop.start) * (1 if loop.step > 0 else -1))
        iterations = place.iterations * -(-room // abs(loop.step))
        if iterations > MAX_ITERATIONS:
            raise TooManyIterations(
                f"the loop has {iterations} iterations",
                labels=(Label(loop.span, "with the loops around it, at most"),),
                notes=(f"up to {MAX_ITERATIONS} are supported: 32 days at 100 MHz",),
                help="give a smaller bound",
            )
        return iterations

    def _limits(
        self, header: Header, loop_reader: LoopReader, inside: Place, step: int
    ) -> tuple[Affine, ...]:
        """Return what holds in the loop besides its bound."""
        reader = ConditionReader(
            lambda given: self._body.reader(inside.under(given)), _never_inside
        )
        limits: list[Affine] = []
        for limit in header.limits:
            ways = reader.alternatives(limit)
            plain = len(ways) == 1 and not ways[0].leaves
            loop_reader.require_limit(limit, ways[0].conditions if plain else None, step)
            limits += [c for c in ways[0].conditions if isinstance(c, Affine)]
        return tuple(limits)

    def _iterator(self, node: c_ast.For, header: Header) -> tuple[IntType, str, Variable | None]:
        """Return the iterator's type, the name to give it, and what keeps its last value."""
        if header.declares:
            type_ = self._declarations.iterator_type(node.init.decls[0])
            return type_, self._scopes.iterator_name(header.iterator), None
        span = self._locator.span(node.init.lvalue if node.init is not None else node.next)
        symbol = self._scopes.lookup(header.iterator)
        match symbol:
            case Variable(element=element, shape=()) if self._body.is_used_after(symbol):
                counting = counting_type(element, span)
                return counting, self._scopes.iterator_name(header.iterator), symbol
            case Variable(name, element, shape=(), storage="local"):
                return counting_type(element, span), name, None
            case ActiveIterator(loop=outer):
                refused = IteratorModified(
                    f"`{header.iterator}` already counts an outer loop",
                    labels=(Label(span, "set again"), Label(symbol.span, "the outer loop")),
                    help="use another variable for the inner loop",
                )
                refused.loop = outer
                raise refused
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

    def _entered(self, body: c_ast.Node, place: Place) -> list[Moved]:
        """Note that iterations of `body` may have been before; return the scalars it may assign."""
        if calls(body):
            for variable in self._declarations.variables:
                if variable.storage == "global" and variable.shape == ():
                    self._body.reaching.may_define(variable, self._locator.start(body))
        return self.moves.of(body, self._body.observed, place.ranges)

    def _repeated(
        self,
        node: c_ast.For,
        place: Place,
        moved: Sequence[Moved],
        counted: Variable | None,
    ) -> tuple[Node, ...]:
        """Read the body of the innermost loop of `place`; an earlier iteration may be before it.

        Parameters
        ----------
        moved: the scalars of which more may be known.
        counted: what every iteration leaves the next value of the iterator in, if something does.
        """
        reaching = self._body.reaching
        loop, ranges = place.loops[-1], place.ranges
        if counted is not None:
            reaching.may_define(counted, loop.span)
        found = self.moves.in_loop(moved, node.stmt, place.loops, ranges)
        entered = reaching.state
        spans = {scalar.variable.name: scalar for scalar in moved}
        for name, law in found.laws.items():
            scalar = spans[name]
            reaching.define_known(scalar.variable, scalar.span, law.inside, ranges)
        outside = self._body.observed
        self._body.observed = {**outside, **found.observed}
        try:
            body = self._body.nested(node.stmt, place)
        finally:
            self._body.observed = outside
        if counted is not None:
            following = Affine.variable(loop.iterator) + loop.step
            body += self._set(
                node, counted, exact(following, integral(counted.element), loop.span), place
            )
        # Behind the loop, too, any number of iterations may have been.
        reaching.restore(entered)
        for name, law in found.laws.items():
            scalar = spans[name]
            if law.behind is not None and not loop.limits:
                reaching.define_known(scalar.variable, scalar.span, law.behind, ranges)
        return body


def _is_binary(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.BinaryOp)


def _never_inside(_reads: Sequence[Access], _ranges: Ranges) -> bool:
    """Keep disjunctions apart: a bound is no guard."""
    return False
