"""The most iterations of a loop, found by running its scalars in all ways that data may decide.

    int lo = 0, hi = 63;
    while (lo <= hi) {                                    at most 7: whatever a[mid] is,
      int mid = lo + (hi - lo) / 2;                       less than half of what was between
      if (a[mid] < key) lo = mid + 1; else hi = mid - 1;  lo and hi is left
    }

Loops inside are run in the same way, until no state is new.

A state is what the scalars are that decide how the loop goes on, numbers or unknown. A condition
on anything else forks the run. The most iterations are the longest way through the states; there
is no bound where a way comes back to a state. That is model checking with explicit states.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product

from pycparser import c_ast

from rtlgen.frontend.lowering.capacity import Limits
from rtlgen.frontend.lowering.iterations import Loop, Part, asks_first, way_out
from rtlgen.frontend.lowering.jumps import outcome, target_of
from rtlgen.frontend.lowering.nodes import integer, items_of, moved_by, named
from rtlgen.frontend.lowering.variables import Variables
from rtlgen.frontend.syntax.assigned import STEPS, assigned, below, mentioned

MAX_STATES = 10_000
"""States that are looked at, at most: two seconds."""

MAX_FIRST = 4_096
"""First states, at most."""


@dataclass(frozen=True, slots=True)
class _State:
    """What is known at one place of one way.

    Members
    -------
    values: of the scalars that matter; None where they are not known.
    goes: `on`, to the next statement; `again`, to the end of the iteration; `off`, to behind the
        innermost loop; or `out` of all of them.
    """

    values: tuple[int | None, ...]
    goes: str = "on"


class _TooMany(Exception):
    """The run has too many states, or does what is not followed."""


def most_iterations(
    parts: Sequence[Part],
    starts: Mapping[str, Limits],
    variables: Variables,
    most: int | None = None,
) -> int | None:
    """Return the most iterations of a loop; None if there is no bound, or none that is found.

    Parameters
    ----------
    starts: between which values scalars lie before the loop.
    most: a bound that is known; what is no less than that is not looked for.
    """
    try:
        return _Run(parts, variables).longest(starts, most)
    except _TooMany:
        return None


class _Run:
    def __init__(self, parts: Sequence[Part], variables: Variables) -> None:
        self._parts = parts
        self._variables = variables
        nodes = [part.node for part in parts]
        inside = [x for node in nodes for x in below(node)]
        if any(isinstance(x, c_ast.Label) for x in inside):
            raise _TooMany
        # What is declared further inside may be another variable of that name.
        self._own = {x.name for x in nodes if isinstance(x, c_ast.Decl) and x.name}
        declared = [x.name for x in inside if isinstance(x, c_ast.Decl) and x.name]
        self._hidden = {
            x
            for x in declared
            if declared.count(x) > 1 or not (x in self._own or variables.is_single(x))
        }
        names = self._deciding() - self._hidden
        self._names = {name: place for place, name in enumerate(sorted(names))}
        self._asks_first = asks_first(parts)
        self._inner_states = 0
        self._evaluator = variables.evaluator()
        self._unknown = dict.fromkeys(self._hidden)

    def _deciding(self) -> set[str]:
        """Return the scalars on which it may depend how the loop goes on."""
        found: set[str] = set()
        for place, part in enumerate(self._parts):
            way = way_out(part, place, self._variables)
            for condition in () if way is None else way.conditions:
                found |= mentioned(condition)
        while True:
            more: set[str] = set()
            for part in self._parts:
                for x in below(part.node):
                    match x:
                        case c_ast.Assignment(lvalue=c_ast.ID(name=name), rvalue=value):
                            more |= mentioned(value) if name in found else set()
                        case c_ast.Decl(name=name, init=value) if value is not None:
                            more |= mentioned(value) if name in found else set()
                        case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                            is_moving = any(name in found for name, _ in assigned(x.stmt))
                            more |= mentioned(x.cond) if is_moving else set()
            if more <= found:
                return {name for name in found if self._variables.is_scalar(name)}
            found |= more

    def longest(self, starts: Mapping[str, Limits], most: int | None) -> int | None:
        """Return the most iterations; None if a way may come back to where it was."""
        states, seen, count = self._first(starts), set[_State](), 0
        looked_at = 0
        while states:
            looked_at += len(states)
            if looked_at > MAX_STATES:
                raise _TooMany
            seen |= states
            if count >= len(seen) or count == most:
                return None
            is_one, states = self._iteration(states)
            if not is_one:
                return max(count, 1)
            count += 1
        return count or None

    def _first(self, starts: Mapping[str, Limits]) -> set[_State]:
        """Return what the scalars may be before the loop."""
        ranges: list[Iterable[int | None]] = []
        number_of_states = 1
        for name in self._names:
            low, high = (None, None) if name in self._own else starts.get(name, (None, None))
            if low is None or high is None:
                ranges.append((None,))
                continue
            number_of_states *= high - low + 1
            if number_of_states > MAX_FIRST:
                raise _TooMany
            ranges.append(self._variables.wrapped(name, x) for x in range(low, high + 1))
        return {_State(values) for values in product(*ranges)}

    def _iteration(self, states: set[_State]) -> tuple[bool, set[_State]]:
        """Return whether an iteration of some states does something, and the states behind it."""
        is_one = False
        skipped: set[_State] = set()
        for part in self._parts:
            if part.kind == "closing" and skipped:
                states, skipped = states | {replace(s, goes="on") for s in skipped}, set()
            if part.kind.endswith("test"):
                states = {s for s in states if self._value(part.node, s.values) != 0}
                for name, by in part.after:
                    states = {self._stepped(s, name, by) for s in states}
                is_one |= not self._asks_first
                continue
            is_one |= bool(states)
            found = self._statement(part.node, states)
            skipped |= {s for s in found if s.goes == "again"}
            states = {s for s in found if s.goes == "on"}
        is_one |= bool(states)
        states |= {replace(s, goes="on") for s in skipped}
        forgotten = [place for name, place in self._names.items() if name in self._own]
        return is_one, {_with(s, dict.fromkeys(forgotten)) for s in states}

    def _statements(self, items: Sequence[c_ast.Node], states: set[_State]) -> set[_State]:
        gone: set[_State] = set()
        for item in items:
            found = self._statement(item, states)
            gone |= {s for s in found if s.goes != "on"}
            states = {s for s in found if s.goes == "on"}
        return gone | states

    def _statement(self, node: c_ast.Node, states: set[_State]) -> set[_State]:
        """Return the states behind a statement."""
        if len(states) > MAX_STATES:
            raise _TooMany
        match node:
            case c_ast.Compound():
                return self._statements(items_of(node), states)
            case c_ast.DeclList(decls=parts):
                return self._statements(parts, states)
            case c_ast.If():
                _require_plain(node.cond)
                asked = [(s, self._value(node.cond, s.values)) for s in states]
                taken = {s for s, value in asked if value != 0}
                others = {s for s, value in asked if value is None or value == 0}
                first = self._statements(items_of(node.iftrue), taken)
                return first | self._statements(items_of(node.iffalse), others)
            case c_ast.For() | c_ast.While() | c_ast.DoWhile():
                return self._inner(node, states)
            case c_ast.Continue():
                return {replace(s, goes="again") for s in states}
            case c_ast.Break():
                return {replace(s, goes="off") for s in states}
            case c_ast.EmptyStatement() | c_ast.FuncCall():
                return states
        if target_of(node) is not None:
            return {replace(s, goes="out") for s in states}
        if outcome(node).targets or isinstance(node, c_ast.Label):
            raise _TooMany
        return {self._changed(node, s) for s in states}

    def _inner(self, node: Loop, states: set[_State]) -> set[_State]:
        """Return the states behind a loop inside of the one that is run, followed or not."""
        try:
            return self._loop(node, states)
        except _TooMany:
            # What leads out of it is out of the loop around it, too.
            return {self._changed(node, s) for s in states}

    def _loop(self, node: Loop, states: set[_State]) -> set[_State]:
        init, step = (node.init, node.next) if isinstance(node, c_ast.For) else (None, None)
        if node.cond is not None:
            _require_plain(node.cond)
        states = self._statements(_parts(init), states)
        found: set[_State] = set()
        run: set[_State] = set()
        is_asked = not isinstance(node, c_ast.DoWhile)
        while True:
            if is_asked and node.cond is not None:
                asked = [(s, self._value(node.cond, s.values)) for s in states]
                found |= {s for s, value in asked if value is None or value == 0}
                states = {s for s, value in asked if value != 0}
            states -= run
            if not states:
                break
            run |= states
            self._inner_states += len(states)
            if self._inner_states > MAX_STATES:
                raise _TooMany
            behind = self._statements(items_of(node.stmt), states)
            found |= {replace(s, goes="on") for s in behind if s.goes == "off"}
            found |= {s for s in behind if s.goes == "out"}
            states = {replace(s, goes="on") for s in behind if s.goes in ("on", "again")}
            states = self._statements(_parts(step), states)
            is_asked = True
        own = {x.name for x in below(node) if isinstance(x, c_ast.Decl)} & self._names.keys()
        return {_with(s, {self._names[name]: None for name in own}) for s in found}

    def _stepped(self, state: _State, name: str, by: c_ast.Node) -> _State:
        """Return the state behind a step of a test."""
        return self._set(state, name, moved_by(named(name, by.coord), by, by.coord))

    def _changed(self, node: c_ast.Node, state: _State) -> _State:
        """Return the state behind a statement without control, or one that is not followed."""
        match node:
            case c_ast.UnaryOp(op=op, expr=c_ast.ID(name=name) as old) if op in STEPS:
                one = integer(1, node.coord)
                return self._set(state, name, c_ast.BinaryOp(op[-1], old, one, node.coord))
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                return self._set(state, name, value)
            case c_ast.Assignment(op=op, lvalue=c_ast.ID(name=name) as old, rvalue=value):
                made = c_ast.BinaryOp(op.removesuffix("="), old, value, node.coord)
                return self._set(state, name, made)
            case c_ast.Decl(name=str(name), init=value):
                return self._set(state, name, value)
        changed = {name for name, _ in assigned(node)} & self._names.keys()
        return _with(state, {self._names[name]: None for name in changed})

    def _set(self, state: _State, name: str, value: c_ast.Node | None) -> _State:
        if value is not None:
            _require_plain(value)
        if name not in self._names:
            return state
        new = None if value is None else self._value(value, state.values)
        wrapped = None if new is None else self._variables.wrapped(name, new)
        return _with(state, {self._names[name]: wrapped})

    def _value(self, node: c_ast.Node, values: tuple[int | None, ...]) -> int | None:
        """Return the value of an expression; None where it is not known."""
        return self._evaluator.value(
            node, {**self._unknown, **dict(zip(self._names, values, strict=True))}
        )


def _parts(node: c_ast.Node | None) -> list[c_ast.Node]:
    """Return what a part of a header does."""
    if node is None:
        return []
    return list(node.exprs) if isinstance(node, c_ast.ExprList) else [node]


def _require_plain(node: c_ast.Node) -> None:
    """Require that an expression changes nothing."""
    if any(True for _ in assigned(node)):
        raise _TooMany


def _with(state: _State, values: Mapping[int, int | None]) -> _State:
    changed = (values.get(place, old) for place, old in enumerate(state.values))
    return replace(state, values=tuple(changed)) if values else state
