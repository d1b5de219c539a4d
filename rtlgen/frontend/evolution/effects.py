"""What statements make of scalars, found by carrying them out.

    x++; if (x == 5) { x = 0; y++; }       x = 3, y = y before   ->   x = 4, y = y before
                                           x = 4, y = y before   ->   x = 0, y = y before + 1

A scalar has a number there, or is a symbol: what it was before the statement.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import IteratorRange, Ranges
from rtlgen.frontend.analysis.values import Value
from rtlgen.frontend.errors import FrontendError, UnsupportedDeclaration
from rtlgen.frontend.evolution.induction import (
    State,
    by_constant,
    first_use,
    number_in,
    relevance,
    symbol,
    symbol_of,
    trip_count,
)
from rtlgen.frontend.reading.declarations import Declarations, counting_type
from rtlgen.frontend.reading.expressions import ExpressionReader, Unnoticed
from rtlgen.frontend.reading.loops import Header, LoopReader, split_header
from rtlgen.frontend.reading.reaching import Definition, Definitions
from rtlgen.frontend.reading.symbols import ActiveIterator, Unusable, Variable
from rtlgen.frontend.reading.writes import read_assignment
from rtlgen.frontend.syntax.assigned import assigned, calls, declared
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import IntType, NumberType
from rtlgen.source import Span

MAX_STEPS = 20_000
"""Statements carried out to find out what one statement does."""

MAX_TO_REST = 64
"""Iterations of a loop of too many, after which it changes nothing any more."""


class Effects:
    """Carries a statement out, for one state of the scalars after the other.

    Parameters
    ----------
    node: the statement. names: what it calls the scalars in question.
    ranges: around it.
    definitions: returns what may have set a scalar that a state leaves out.

    Members
    -------
    declarations, locator, ranges: of what is around the statement.
    """

    def __init__(
        self,
        node: c_ast.Node,
        names: Iterable[str],
        ranges: Ranges,
        definitions: Callable[[Variable], Definitions],
        declarations: Declarations,
        locator: Locator,
    ) -> None:
        self.declarations = declarations
        self.locator = locator
        self._node = node
        self._names = frozenset(names)
        self._relevance = relevance(node, self._names, self._is_memory)
        self.ranges = ranges
        self._definitions = definitions
        self._calls = calls(node)
        self._steps = 0
        self._types: dict[str, NumberType] = {}
        self._known: dict[tuple[int, frozenset[tuple[str, Affine | None]]], State] = {}

    def after(self, state: State, symbols: Iterable[Variable] = ()) -> State:
        """Return what is known behind the statement.

        Parameters
        ----------
        symbols: scalars that stand for themselves.
        """
        return self.once(self._node, self.ranges, state, symbols)

    def begins_alike(self, variable: Variable, one: int, other: int) -> bool:
        """Return whether two values of a scalar make no difference to the statement.

        The part of it that uses the scalar first only sets it, and makes the same of both.
        """
        first = first_use(self._node, self._names, self._is_entered)
        if first is None:
            return False
        made = {
            number_in(
                self.once(first, self.ranges, {variable.name: Affine((), value)}, ()), variable
            )
            for value in (one, other)
        }
        return len(made) == 1 and None not in made

    def _is_entered(self, node: c_ast.For) -> bool:
        """Return whether an inner loop surely has an iteration."""
        try:
            return Run(self, self.ranges, {}).is_entered(node)
        except FrontendError:
            return False

    def in_iteration(
        self, iterator: str, type_: IntType, value: int, state: State, variable: Variable
    ) -> State:
        """Return what is known behind the statement in one iteration of the loop around it.

        Parameters
        ----------
        iterator: what the text calls its iterator. variable: stands for itself.
        """
        with self._counting(iterator, type_) as counter:
            return self.after({**state, counter: Affine((), value)}, [variable])

    def run_iteration(self, iterator: str, type_: IntType, value: int, run: Run) -> None:
        """Let `run` carry out one iteration of the loop around the statement.

        Parameters
        ----------
        iterator: what the text calls its iterator.
        """
        with self._counting(iterator, type_) as counter:
            run.state[counter] = Affine((), value)
            run.carry_out(self._node)

    def followed(self, state: State) -> dict[str, Affine | None]:
        """Return what is known of scalars, but for those that change in a way that is not seen."""
        stored = self.declarations.stored_as
        hidden = {variable.name for variable in self._pointed_to()}
        if self._calls:
            hidden |= {name for name in state if stored(name).storage == "global"}
        return {name: None if name in hidden else value for name, value in state.items()}

    def _pointed_to(self) -> Iterator[Variable]:
        """Yield the variables that are changed by way of pointers."""
        for name in self._relevance.pointed_to:
            variable = self.declarations.scopes.stored(name)
            if variable is not None:
                yield variable

    @contextmanager
    def _counting(self, iterator: str, type_: IntType) -> Iterator[str]:
        """Let an iterator be a scalar of the state; yield its unique name."""
        span = self.locator.start(self._node)
        counter = Variable(f"{iterator} in turn", type_, (), "local", False, span)
        with self.declarations.scopes.block():
            self.declarations.scopes.declare(iterator, counter)
            yield counter.name

    def once(
        self, node: c_ast.Node, ranges: Ranges, state: State, symbols: Iterable[Variable]
    ) -> State:
        """Return what is known behind a part of the statement."""
        own = {variable.name: symbol(variable) for variable in symbols}
        self._types |= {symbol_of(variable): variable.element for variable in symbols}
        wide = [
            IteratorRange(
                symbol_of(v), Affine((), v.element.minimum), Affine((), v.element.maximum)
            )
            for v in symbols
        ]
        inside = replace(ranges, iterators=(*wide, *ranges.iterators))
        # What is known by a symbol of a larger part is not known by the one of this part.
        names = frozenset(symbol_of(variable) for variable in symbols)
        other = {n: None if v is not None and v.variables & names else v for n, v in state.items()}
        return self.repeated(node, inside, {**other, **own})

    def repeated(self, node: c_ast.Node, ranges: Ranges, state: State) -> State:
        """Return what is known behind one more run of a part of the statement.

        It is found once for each state: each of several loops inside of each other asks for its
        body with symbols and with values.
        """
        key = (id(node), frozenset(state.items()))
        if key not in self._known:
            self._known[key] = self._run(node, ranges, state)
        return self._known[key]

    def _run(self, node: c_ast.Node, ranges: Ranges, state: State) -> State:
        hidden = dict.fromkeys((variable.name for variable in self._pointed_to()), None)
        run = Run(self, ranges, {**state, **hidden})
        run.carry_out(node)
        return run.state

    def value(self, value: Value, type_: NumberType) -> Affine | None:
        """Return what a scalar of a type holds that is set to a value."""
        if value.affine is not None or value.modular is None:
            return value.affine
        # What is computed in the type of a symbol may as well wrap as the symbol does.
        widths = {
            self._types[name].width_bits for name in value.modular.variables & self._types.keys()
        }
        return value.modular if widths == {type_.width_bits} else None

    def _is_memory(self, name: str) -> bool:
        """Return whether a name is one of an array of which nothing is known."""
        variable = self.declarations.scopes.stored(name)
        return variable is not None and variable.shape != () and not variable.values

    def concerns(self, node: c_ast.Node) -> bool:
        """Return whether something that matters may change below `node`."""
        return id(node) in self._relevance.nodes

    def asks_for(self, name: str) -> bool:
        """Return whether the value of what has a name matters."""
        return name in self._relevance.names

    def is_followed(self, name: str, variable: Variable) -> bool:
        """Return whether all that changes a scalar is seen."""
        hidden = name in self._relevance.pointed_to
        return not hidden and not (self._calls and variable.storage == "global")

    def moved_in(self, node: c_ast.Node) -> list[Variable]:
        """Return the scalars around `node` that matter and may change below it."""
        names = {name for name, _ in assigned(node) if name in self._relevance.names}
        found = {name: self.declarations.scopes.stored(name) for name in sorted(names)}
        scalars = (v for v in found.values() if v is not None and not v.shape)
        # What a float becomes is no affine function of what it was.
        return list({v.name: v for v in scalars if isinstance(v.element, IntType)}.values())

    def cycle(self, state: State, most: int) -> list[State] | None:
        """Return the states before each run of the statement until they begin again.

        Parameters
        ----------
        state: at first; numbers. most: states to try.
        """
        names = [variable.name for variable in self.moved_in(self._node)]
        states: list[State] = []
        while len(states) <= most:
            known = {name: state.get(name) for name in names}
            if any(value is None or not value.is_constant for value in known.values()):
                return None
            if states and known == {name: states[0].get(name) for name in names}:
                return states
            states.append(state)
            state = self.after(state)
        return None

    def has_steps(self, number: int) -> bool:
        """Return whether so many steps may still be carried out."""
        return self._steps + number <= MAX_STEPS

    def may_go_on(self) -> bool:
        """Count one step; return whether it may be carried out."""
        self._steps += 1
        return self._steps <= MAX_STEPS

    def reader(self, ranges: Ranges, state: State) -> ExpressionReader:
        """Return a reader of expressions that leaves no trace."""

        def definitions(variable: Variable) -> Definitions:
            if variable.name in state:
                return (Definition(variable.span, state[variable.name]),)
            if self._calls and variable.storage == "global":
                return (Definition(variable.span, None),)
            return self._definitions(variable)

        return self.declarations.reader(ranges, Unnoticed(definitions))


@dataclass(slots=True)
class Run:
    """One run of a statement."""

    effects: Effects
    ranges: Ranges
    state: dict[str, Affine | None]

    def carry_out(self, node: c_ast.Node | None) -> None:
        """Change the state as a statement does."""
        if node is not None and self.effects.concerns(node):
            self._try(node)

    def _try(self, node: c_ast.Node) -> None:
        if not self.effects.may_go_on():
            self._forget(node)
            return
        try:
            self._carry_out(node)
        except FrontendError:
            # It is refused when it is read in its turn.
            self._forget(node)

    def _carry_out(self, node: c_ast.Node) -> None:
        match node:
            case c_ast.Compound():
                with self.effects.declarations.scopes.block():
                    for item in node.block_items or ():
                        self.carry_out(item)
            case c_ast.Label():
                self.carry_out(node.stmt)
            case c_ast.Decl():
                self._declare(node)
            case c_ast.If():
                self._branch(node)
            case c_ast.For():
                self._loop(node)
            case c_ast.Assignment() | c_ast.UnaryOp():
                self._assign(node)
            case _:
                self._forget(node)

    def _reader(self) -> ExpressionReader:
        return self.effects.reader(self.ranges, self.state)

    def _assign(self, node: c_ast.Node) -> None:
        scopes, locator = self.effects.declarations.scopes, self.effects.locator
        assignment = read_assignment(node, self._reader(), scopes, locator)
        variable, value = assignment.variable, assignment.value
        if variable.shape != ():
            return
        names = {name for name, _ in assigned(node)}
        is_seen = all(self.effects.is_followed(name, variable) for name in names)
        found = self.effects.value(value, variable.element)
        self.state[variable.name] = found if is_seen else None

    def _declare(self, node: c_ast.Decl) -> None:
        """Declare a scalar of a block; what else is declared is not followed."""
        declarations, span = self.effects.declarations, self.effects.locator.start(node)
        refusal = UnsupportedDeclaration(f"`{node.name}` is no scalar", labels=(Label(span),))
        declarations.scopes.declare(node.name, Unusable(refusal))
        if not isinstance(node.type, c_ast.TypeDecl) or node.storage:
            return
        type_ = declarations.scalar_type(node)
        value = None
        if node.init is not None:
            reader = self._reader()
            converted = reader.arithmetic.convert(reader.value(node.init), type_)
            value = self.effects.value(converted, type_)
        self._keep(node.name, type_, span, value)

    def _keep(self, name: str, type_: NumberType, span: Span, value: Affine | None) -> Variable:
        """Declare a variable of this run."""
        variable = Variable(f"{name} {span}", type_, (), "local", False, span)
        self.effects.declarations.scopes.declare(name, variable)
        self.state[variable.name] = value if self.effects.is_followed(name, variable) else None
        return variable

    def _branch(self, node: c_ast.If) -> None:
        reader = self._reader()
        condition = reader.arithmetic.truth(reader.value(node.cond)).constant
        if condition is not None:
            self._arm(node.iftrue if condition else node.iffalse)
            return
        before = dict(self.state)
        self._arm(node.iftrue)
        after, self.state = self.state, before
        self._arm(node.iffalse)
        self.state = {
            name: self.state.get(name) if self.state.get(name) == after.get(name) else None
            for name in self.state.keys() | after.keys()
        }

    def _arm(self, node: c_ast.Node | None) -> None:
        with self.effects.declarations.scopes.block():
            self.carry_out(node)

    def _forget(self, node: c_ast.Node) -> None:
        """Note that nothing is known of what a statement may assign."""
        for name in {name for name, _ in assigned(node)} | declared(node):
            variable = self.effects.declarations.scopes.stored(name)
            if variable is not None:
                self.state[variable.name] = None

    def _loop(self, node: c_ast.For) -> None:
        header = split_header(node, self.effects.locator)
        stored = self.effects.declarations.scopes.stored(header.iterator)
        moved = self.effects.moved_in(node.stmt)
        type_ = self._counting_type(node, header)
        loop = None if type_ is None else self.header(header, type_, moved)
        trips = None if loop is None else trip_count(loop)
        if type_ is None or loop is None or trips is None or self.ranges.minimum(trips) < 0:
            self._forget(node)
            return
        with self.effects.declarations.scopes.block():
            counter = self._keep(header.iterator, type_, header.span, None)
            if not self._move(node.stmt, moved, trips):
                self._repeat(node.stmt, header.iterator, counter, loop, trips)
        del self.state[counter.name]
        if not header.declares and stored is not None:
            self.state[stored.name] = loop.start + trips * loop.step

    def _counting_type(self, node: c_ast.For, header: Header) -> IntType | None:
        """Return the type of the iterator of an inner loop; None if it is no variable."""
        declarations = self.effects.declarations
        if header.declares:
            return declarations.iterator_type(node.init.decls[0])
        stored = declarations.scopes.stored(header.iterator)
        return None if stored is None else counting_type(stored.element, header.span)

    def is_entered(self, node: c_ast.For) -> bool:
        """Return whether an inner loop has an iteration, each time that it is come to."""
        header = split_header(node, self.effects.locator)
        type_ = self._counting_type(node, header)
        moved = self.effects.moved_in(node.stmt)
        loop = None if type_ is None else self.header(header, type_, moved)
        trips = None if loop is None else trip_count(loop)
        return trips is not None and self.ranges.minimum(trips) > 0

    def header(self, header: Header, type_: IntType, moved: Sequence[Variable]) -> Loop | None:
        """Return an inner loop, if one bound makes it."""
        # All but the start is evaluated again in every iteration.
        again: State = {**self.state, **dict.fromkeys((v.name for v in moved), None)}
        state = again
        reader = LoopReader(
            header,
            header.iterator,
            type_,
            self.ranges,
            lambda ranges: self.effects.reader(ranges, state),
            self.effects.locator,
        )
        step = reader.step()
        state = self.state
        start = reader.start(step)
        state = again
        counter = ActiveIterator(header.iterator, type_, header.span)
        with self.effects.declarations.scopes.iterating(header.iterator, counter):
            counted = reader.read(start, step, None)
        return None if counted.limits or header.limits else counted.loop

    def _move(self, body: c_ast.Node, moved: Sequence[Variable], trips: Affine) -> bool:
        """Move each scalar as often as a loop runs, if its body moves all by constants."""
        unknown = dict.fromkeys((v.name for v in moved), None)
        once = self.effects.once(body, self.ranges, {**self.state, **unknown}, moved)
        steps = [by_constant(once.get(v.name), v) for v in moved]
        known = [step for step in steps if step is not None]
        if len(known) < len(steps):
            return False
        for variable, step in zip(moved, known, strict=True):
            before = self.state.get(variable.name)
            self.state[variable.name] = None if before is None else before + trips * step
        return True

    def _repeat(
        self, body: c_ast.Node, iterator: str, counter: Variable, loop: Loop, trips: Affine
    ) -> None:
        """Carry the body of a loop out as often as it runs."""
        turns_alike = not self.effects.asks_for(iterator)
        if not trips.is_constant:
            self._forget(body)
            return
        most = trips.constant
        if not self.effects.has_steps(most):
            # It cannot be carried out to its end: it may come to rest.
            most = MAX_TO_REST if turns_alike else 0
        for k in range(most):
            if not self.effects.may_go_on():
                break
            if not turns_alike:
                self.state[counter.name] = loop.start + k * loop.step
            before = self.state
            self.state = dict(self.effects.repeated(body, self.ranges, before))
            if turns_alike and self.state == before:
                return
        else:
            if most == trips.constant:
                return
        self._forget(body)
