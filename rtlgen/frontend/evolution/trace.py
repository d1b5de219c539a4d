"""The body of a loop, read once, as a program of what it makes of scalars.

What is not followed (an element of an array, what a function returns, what pointers change) is not
known. A statement that cannot be read is refused when it is read in its turn: here, nothing is
known of what it may assign.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.ranges import IteratorRange, Ranges
from rtlgen.frontend.analysis.values import Value
from rtlgen.frontend.errors import FrontendError, UnsupportedDeclaration
from rtlgen.frontend.evolution.program import (
    UNKNOWN,
    Block,
    Carried,
    Choose,
    Instruction,
    Let,
    Note,
    Repeat,
    names_used,
)
from rtlgen.frontend.reading.declarations import Declarations, counting_type
from rtlgen.frontend.reading.expressions import ExpressionReader, Unnoticed
from rtlgen.frontend.reading.loops import Header, LoopReader, split_header
from rtlgen.frontend.reading.reaching import Definition, Definitions
from rtlgen.frontend.reading.symbols import ActiveIterator, Unusable, Variable
from rtlgen.frontend.reading.writes import read_assignment
from rtlgen.frontend.syntax.assigned import assigned, assigned_by, below, calls, declared, mentioned
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Read, walk
from rtlgen.ir.scop import Access, Loop
from rtlgen.ir.types import INT32, IntType

_NOTHING = Affine.variable(UNKNOWN)


@dataclass(frozen=True, slots=True)
class Trace:
    """What one iteration makes of scalars.

    Members
    -------
    first, after: by the unique name of a scalar, what it is called before and behind it.
    types: of all names that it gives.
    overlooked: identities of names that are read in inner loops, or in what cannot be read.
    setting: what the statements set in which names are read, by their identities.
    used_inside: what inner loops use, and what cannot be read.
    """

    block: Block
    first: dict[str, str]
    after: dict[str, Affine]
    types: dict[str, IntType]
    overlooked: frozenset[int]
    setting: Mapping[int, frozenset[str]]
    used_inside: frozenset[str]


class Tracer:
    """Reads statements.

    Parameters
    ----------
    node: the body. ranges: around it.
    definitions: returns what may have set a scalar that the body does not set.
    """

    def __init__(
        self,
        node: c_ast.Node,
        ranges: Ranges,
        definitions: Callable[[Variable], Definitions],
        declarations: Declarations,
        locator: Locator,
    ) -> None:
        self._node = node
        self._ranges = ranges
        self._definitions = definitions
        self._declarations = declarations
        self._scopes = declarations.scopes
        self._locator = locator
        self._calls = calls(node)
        self._pointed_to = frozenset(
            name
            for part in below(node)
            if isinstance(part, c_ast.Decl) or (isinstance(part, c_ast.UnaryOp) and part.op == "&")
            for name in assigned_by(part)
        )
        self._types: dict[str, IntType] = {}
        self._state: dict[str, Affine] = {}
        self._block: list[Instruction] = []
        self._overlooked: set[int] = set()
        self._setting: dict[int, frozenset[str]] = {}
        self._used_inside: set[str] = set()
        self._depth = 0

    def trace(self, scalars: Sequence[Variable]) -> Trace:
        """Return the program of the body.

        Parameters
        ----------
        scalars: what is followed from before.
        """
        first = {v.name: self._begin(v) for v in scalars if isinstance(v.element, IntType)}
        self._carry_out(self._node)
        after = {name: self._state[name] for name in first}
        return Trace(
            tuple(self._block),
            first,
            after,
            self._types,
            frozenset(self._overlooked),
            self._setting,
            frozenset(self._used_inside),
        )

    def _begin(self, variable: Variable) -> str:
        """Let a scalar be a symbol, if all that changes it is seen; return its name."""
        assert isinstance(variable.element, IntType)
        name = self._new(variable.name, variable.element)
        is_seen = self._is_followed(variable.name, variable)
        self._state[variable.name] = Affine.variable(name) if is_seen else _NOTHING
        return name

    def _new(self, name: str, type_: IntType) -> str:
        made = f"{name} {len(self._types)}"
        self._types[made] = type_
        return made

    def _is_followed(self, name: str, variable: Variable) -> bool:
        hidden = {v.name for v in map(self._scopes.stored, self._pointed_to) if v is not None}
        if variable.name in hidden or name in self._pointed_to:
            return False
        return not (self._calls and variable.storage == "global")

    def _reader(self, inside: Ranges | None = None) -> ExpressionReader:
        """Return a reader of expressions that leaves no trace.

        Parameters
        ----------
        inside: the ranges, if they are others than what the state gives.
        """

        def definitions(variable: Variable) -> Definitions:
            if variable.name in self._state:
                value = self._state[variable.name]
                return (Definition(variable.span, None if value == _NOTHING else value),)
            if self._calls and variable.storage == "global":
                return (Definition(variable.span, None),)
            return self._definitions(variable)

        if inside is not None:
            return self._declarations.reader(inside, Unnoticed(definitions))
        named = {name for value in self._state.values() for name in value.variables}
        wide = tuple(
            IteratorRange(name, Affine((), type_.minimum), Affine((), type_.maximum))
            for name, type_ in self._types.items()
            if name in named
        )
        ranges = replace(self._ranges, iterators=(*wide, *self._ranges.iterators))
        return self._declarations.reader(ranges, Unnoticed(definitions))

    def _let(self, name: str, value: Value, reads: Sequence[Access]) -> Let:
        """Return what gives a new name to a value."""
        assert isinstance(value.type, IntType)
        made = self._new(name, value.type)
        used = {node.index for node in walk(value.expr) if isinstance(node, Read)}
        tables = tuple(
            self._table(read) if k in used else (None, ()) for k, read in enumerate(reads)
        )
        return Let(made, value.expr, tables if used else ())

    def _table(self, read: Access) -> tuple[Affine | None, tuple[int, ...]]:
        """Return the number of the element that is read of a table, and the values in that."""
        if not read.subscripts or read.is_lookup:
            return None, ()
        variable = self._declarations.stored_as(read.array)
        place = Affine()
        for subscript, extent in zip(read.affine, variable.shape, strict=True):
            place = place * extent + subscript
        return place, variable.values

    def _named(self, name: str, value: Value, reads: Sequence[Access]) -> Affine:
        """Return a value as a number, or by a name."""
        if value.constant is not None:
            return Affine((), value.constant)
        if not isinstance(value.type, IntType):
            return _NOTHING
        made = self._let(name, value, reads)
        self._block.append(made)
        return Affine.variable(made.name)

    # Statements.

    def _carry_out(self, node: c_ast.Node | None) -> None:
        try:
            self._statement(node)
        except FrontendError:
            assert node is not None
            self._forget(node)

    def _statement(self, node: c_ast.Node | None) -> None:
        match node:
            case None | c_ast.EmptyStatement() | c_ast.Pragma():
                pass
            case c_ast.Compound():
                with self._scopes.block():
                    for item in node.block_items or ():
                        self._carry_out(item)
            case c_ast.Label():
                self._carry_out(node.stmt)
            case c_ast.Decl():
                self._note(node, node)
                self._declare(node)
            case c_ast.If():
                self._branch(node)
            case c_ast.For():
                self._loop(node)
            case c_ast.Assignment() | c_ast.UnaryOp():
                self._note(node, node)
                self._assign(node)
            case _:
                self._note(node, node)
                self._forget(node)

    def _note(self, node: c_ast.Node, statement: c_ast.Node) -> None:
        """Note the scalars that a part of a statement reads."""
        sets = frozenset(self._unique(name) for name, _ in assigned(statement))
        for part in below(node):
            if not isinstance(part, c_ast.ID):
                continue
            if not calls(statement):
                self._setting[id(part)] = sets
            variable = self._scopes.stored(part.name)
            value = None if variable is None else self._state.get(variable.name)
            if value is not None and self._depth:
                self._used_inside |= value.variables
            if self._depth or variable is None or value is None:
                self._overlooked.add(id(part))
            else:
                self._block.append(Note((id(part), variable.name), value))

    def _unique(self, name: str) -> str:
        variable = self._scopes.stored(name)
        return name if variable is None else variable.name

    def _assign(self, node: c_ast.Node) -> None:
        names = {name for name, _ in assigned(node)}
        if not any(self._is_scalar(name) for name in names):
            return
        reader = self._reader()
        assignment = read_assignment(node, reader, self._scopes, self._locator)
        variable = assignment.variable
        if variable.shape != ():
            return
        found = _NOTHING
        if all(self._is_followed(name, variable) for name in names):
            found = self._named(variable.name, assignment.value, reader.reads)
        self._state[variable.name] = found
        self._note_behind(node, variable.name)

    def _note_behind(self, node: c_ast.Node, name: str) -> None:
        """Note what a statement leaves in a scalar."""
        if not self._depth:
            self._block.append(Note((id(node), name), self._state[name]))

    def _is_scalar(self, name: str) -> bool:
        variable = self._scopes.stored(name)
        return variable is not None and variable.shape == ()

    def _declare(self, node: c_ast.Decl) -> None:
        """Declare a scalar of a block; what else is declared is not followed."""
        span = self._locator.start(node)
        refusal = UnsupportedDeclaration(f"`{node.name}` is no scalar", labels=(Label(span),))
        self._scopes.declare(node.name, Unusable(refusal))
        if not isinstance(node.type, c_ast.TypeDecl) or node.storage:
            return
        type_ = self._declarations.scalar_type(node)
        found = _NOTHING
        if node.init is not None:
            reader = self._reader()
            value = reader.arithmetic.convert(reader.value(node.init), type_)
            found = self._named(node.name, value, reader.reads)
        variable = Variable(f"{node.name} {span}", type_, (), "local", False, span)
        self._scopes.declare(node.name, variable)
        self._state[variable.name] = found if self._is_followed(node.name, variable) else _NOTHING

    def _forget(self, node: c_ast.Node) -> None:
        """Note that nothing is known of what a statement may assign, or read."""
        named = (self._scopes.stored(name) for name in mentioned(node))
        for variable in named:
            if variable is not None and variable.name in self._state:
                self._used_inside |= self._state[variable.name].variables
        for name in {name for name, _ in assigned(node)} | declared(node):
            variable = self._scopes.stored(name)
            if variable is not None:
                self._state[variable.name] = _NOTHING
        self._overlooked |= {id(part) for part in below(node) if isinstance(part, c_ast.ID)}

    def _branch(self, node: c_ast.If) -> None:
        self._note(node.cond, node)
        reader = self._reader()
        truth = reader.arithmetic.truth(reader.value(node.cond))
        if truth.constant is not None:
            self._arm(node.iftrue if truth.constant else node.iffalse)
            return
        condition = self._let("condition", truth, reader.reads)
        around, before = self._block, self._state
        blocks: list[Block] = []
        ways: list[dict[str, Affine]] = []
        for arm in (node.iftrue, node.iffalse):
            self._block, self._state = [], dict(before)
            self._arm(arm)
            blocks.append(tuple(self._block))
            ways.append(self._state)
        self._block, self._state = around, dict(before)
        chosen = []
        for name, old in before.items():
            first, second = (way.get(name, old) for way in ways)
            if first == second:
                self._state[name] = first
                continue
            types = [self._types[v] for way in (first, second) for v in way.variables - {UNKNOWN}]
            made = self._new(name, types[0] if types else INT32)
            chosen.append((made, first, second))
            self._state[name] = Affine.variable(made)
        self._block.append(Choose(condition, (blocks[0], blocks[1]), tuple(chosen)))
        for name, value in self._state.items():
            if value != before[name]:
                self._note_behind(node, name)

    def _arm(self, node: c_ast.Node | None) -> None:
        with self._scopes.block():
            self._carry_out(node)

    # Inner loops.

    def _loop(self, node: c_ast.For) -> None:
        header = split_header(node, self._locator)
        stored = self._scopes.stored(header.iterator)
        if header.declares:
            type_ = self._declarations.iterator_type(node.init.decls[0])
        elif stored is None:
            self._forget(node)
            return
        else:
            type_ = counting_type(stored.element, header.span)
        moved = self._moved_in(node.stmt)
        loop = self._header(header, type_, moved)
        if loop is None:
            self._forget(node)
            return
        if not self._depth:
            places = (((id(node.stmt), v.name), self._state[v.name]) for v in moved)
            self._block += [Note(*each) for each in places]
        outside, before = self._block, dict(self._state)
        self._block = []
        self._depth += 1
        counter = self._new(header.iterator, type_)
        with self._scopes.block():
            span = header.span
            variable = Variable(f"{header.iterator} {span}", type_, (), "local", False, span)
            self._scopes.declare(header.iterator, variable)
            self._state[variable.name] = Affine.variable(counter)
            inside = {v.name: self._begin(v) for v in moved}
            self._carry_out(node.stmt)
        self._depth -= 1
        after, self._state = self._state, before
        self._overlooked |= {id(part) for part in below(node) if isinstance(part, c_ast.ID)}
        carried = tuple(
            Carried(inside[v.name], before[v.name], after[v.name], self._last(v)) for v in moved
        )
        body, self._block = tuple(self._block), outside
        own = {counter, *(scalar.name for scalar in carried), *_defined(body)}
        ends = {name for scalar in carried for name in scalar.next.variables}
        uses = (set(names_used(body)) | ends) - own - {UNKNOWN}
        self._used_inside |= {*loop.start.variables, *loop.stop.variables, *uses}
        self._used_inside |= {name for scalar in carried for name in scalar.first.variables}
        end = self._new(header.iterator, type_)
        around = (loop.start, loop.stop, loop.step)
        self._block.append(Repeat(counter, *around, end, carried, body, tuple(sorted(uses))))
        for scalar, v in zip(carried, moved, strict=True):
            self._state[v.name] = Affine.variable(scalar.last)
        if not header.declares and stored is not None:
            self._state[stored.name] = Affine.variable(end)

    def _last(self, variable: Variable) -> str:
        assert isinstance(variable.element, IntType)
        return self._new(variable.name, variable.element)

    def _moved_in(self, node: c_ast.Node) -> list[Variable]:
        """Return the scalars of the state that may change below a node."""
        found = {name: self._scopes.stored(name) for name, _ in assigned(node)}
        scalars = (v for v in found.values() if v is not None and v.name in self._state)
        # What a float becomes is no affine function of what it was.
        return list({v.name: v for v in scalars if isinstance(v.element, IntType)}.values())

    def _header(self, header: Header, type_: IntType, moved: Sequence[Variable]) -> Loop | None:
        """Return an inner loop, if one bound makes it."""
        before = self._state
        # All but the start is evaluated again in every iteration.
        again = {**before, **dict.fromkeys((v.name for v in moved), _NOTHING)}
        ranges = self._reader().arithmetic.ranges
        loop_reader = LoopReader(
            header, header.iterator, type_, ranges, self._reader, self._locator
        )
        try:
            self._state = again
            step = loop_reader.step()
            self._state = before
            start = loop_reader.start(step)
            self._state = again
            counter = ActiveIterator(header.iterator, type_, header.span)
            with self._scopes.iterating(header.iterator, counter):
                counted = loop_reader.read(start, step, None)
        finally:
            self._state = before
        return None if counted.limits or header.limits else counted.loop


def _defined(block: Block) -> Iterator[str]:
    """Yield the names that a block gives."""
    for each in block:
        match each:
            case Let(name):
                yield name
            case Choose(condition, blocks, chosen):
                yield condition.name
                for inner in blocks:
                    yield from _defined(inner)
                yield from (name for name, _, _ in chosen)
            case Repeat():
                yield from (each.end, *(scalar.last for scalar in each.carried))
