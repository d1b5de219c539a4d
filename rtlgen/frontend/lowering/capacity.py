"""The most iterations of a loop whose end is a parameter or data, and guards for the others.

Rewrite
-------
    assert(n <= 64);
    for (i = 0; i < n; i++) S          for (i = 0; i < 64; i++) if (i < n) S

    for (i = 0; i < n; i++)            the same: beyond the 1,024 elements of y
        y[i] = x[i];                   C gives it no meaning

What bounds a number: an `assert` or an early `return` on it, its type, a comparison with a constant
that sets it, and the arrays that every iteration reads or writes at its iterator.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.lowering.jumps import RETURN, Outcome, outcome
from rtlgen.frontend.lowering.nodes import (
    LOOPS,
    Less,
    alike,
    changed,
    has_effect,
    integer,
    items_of,
    number,
    parts_of,
    step_of,
)
from rtlgen.frontend.lowering.pointer_values import combined
from rtlgen.frontend.lowering.types import INT, LONG
from rtlgen.frontend.lowering.variables import Variables
from rtlgen.frontend.syntax.assigned import assigned, assigned_by, below, calls, setting_of
from rtlgen.frontend.syntax.region import ASSERTING

Limits = tuple[int | None, int | None]
"""The least and the greatest value; None where nothing says so."""

_Range: TypeAlias = "tuple[str, tuple[int, int]]"
"""The parameter at which a loop ends, and the limits of the type in which it is compared."""

_ANY: Limits = (None, None)
_MOST_ADDED = 1 << 24
_MIRRORED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "==": "=="}


class Capacity:
    """What is known of the numbers and arrays of a function.

    Parameters
    ----------
    tree: the file, for the extents of arrays that it declares.

    Members
    -------
    required: the values of parameters with which the function has a meaning.
    expected: those with which loops stay inside of arrays, should they begin, or not end before.
    given: the first values of parameters that options fix.
    """

    def __init__(
        self,
        function: c_ast.FuncDef,
        tree: c_ast.FileAST,
        variables: Variables,
        fixed: Mapping[str, str],
    ) -> None:
        self._variables = variables
        self._set = _set_in(function)
        self._steps = _steps_in(function)
        self._asked: set[str] = set()
        self._seen = self._seen_everywhere = _seen_through(function)
        arguments = function.decl.type.args
        parameters = arguments.params if arguments is not None else ()
        self._parameters = frozenset(x.name for x in parameters if isinstance(x, c_ast.Decl))
        self._stated: dict[str, Limits] = {}
        # Statements of the outermost block: behind which a fact holds, and in which a value stands.
        self._stated_at: dict[str, int] = {}
        self._places: dict[int, int] = {}
        self._at: int | None = None
        # What the loops around ask for, the nodes that each is asked before; whether it counts.
        self._around: list[tuple[str, Limits, frozenset[int]]] = []
        self._is_inside = False
        self._there: c_ast.Node | None = None
        self.required: dict[str, Limits] = {}
        self.expected: dict[str, Limits] = {}
        self.given: dict[str, int] = {}
        self._extents: dict[str, tuple[int | None, ...]] = {}
        items = function.body.block_items or ()
        self._places = {id(x): place for place, item in enumerate(items) for x in below(item)}
        self._fix(fixed)
        self._note_facts(items)
        self._size(parameters)
        for nodes in (tree.ext, parameters, below(function.body)):
            for name, extents in _extents(nodes):
                is_other = self._extents.get(name, extents) != extents
                self._extents[name] = () if is_other else extents

    def _fix(self, fixed: Mapping[str, str]) -> None:
        """Note what options say of parameters, and of those that nothing sets for good."""
        for name, text in fixed.items():
            is_number = re.fullmatch(r"-?[0-9]{1,9}", text.strip())
            if is_number and self._variables.is_scalar(name):
                value = int(text)
                low, high = self._variables.limits(name)
                if name in self._parameters and low <= value <= high:
                    self.given[name] = value
                    if not self._set.get(name):
                        self._stated[name] = value, value

    def _size(self, parameters: Iterable[c_ast.Node]) -> None:
        """Give parameters like `int y[n]` as many elements as n may be.

        For C it is a pointer, whatever stands there; the size of a row is another matter.
        """
        for node in parameters:
            if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.ArrayDecl):
                dim = node.type.dim
                most = self.limits(dim)[1] if dim is not None and number(dim) is None else None
                if most is not None and most >= 1:
                    node.type.dim = integer(most, dim.coord)

    def _note_facts(self, items: Sequence[c_ast.Node]) -> None:
        """Note what holds before the first loop of the outermost block."""
        passed: set[str] = set()
        changed: set[str] = set()
        for place, (item, set_later) in enumerate(zip(items, _set_behind(items), strict=True)):
            if any(isinstance(part, LOOPS) for part in below(item)):
                break
            if isinstance(item, c_ast.Label):
                passed.discard(item.name)
            if not passed:
                self._note_clamp(item, place, set_later)
            for condition in () if passed else _held_behind(item, self._variables):
                self._state(condition, place, set_later)
                if isinstance(item, c_ast.FuncCall):
                    self._demand(condition, changed)
            changed |= {name for name, _ in assigned(item)}
            # A `goto` may lead behind what follows, up to its label.
            passed |= {label for kind, label in outcome(item).targets if kind == "goto"}

    def _note_clamp(self, item: c_ast.Node, place: int, set_later: frozenset[str]) -> None:
        """Note what `if (n > 64) n = 64;` leaves of a number that nothing sets behind it."""
        match item:
            case c_ast.If(cond=c_ast.BinaryOp(op=">" | ">=" as op) as asked, iffalse=None):
                only = items_of(item.iftrue)
            case _:
                return
        match only:
            case [c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value)]:
                most, end = number(value), number(asked.right)
                is_asked = isinstance(asked.left, c_ast.ID) and asked.left.name == name
                if most is None or end is None or not is_asked or name in set_later:
                    return
                if not self._variables.is_scalar(name):
                    return
                if end < 0 and self._variables.may_be_unsigned(asked):
                    return
                low, _ = self._stated.get(name, _ANY)
                self._stated[name] = low, max(most, end - (op == ">="))
                self._stated_at[name] = place

    @contextmanager
    def inside_of(self, loop: c_ast.For) -> Iterator[None]:
        """Believe what a loop asks for before each iteration, of what its body leaves alone."""
        changed = {name for name, _ in assigned(loop.stmt)}
        nodes = frozenset(map(id, below(loop.stmt)))
        known = len(self._around)
        for condition in () if loop.cond is None else parts_of(loop.cond, "&&"):
            for name, limits in self._limited(condition):
                if name not in changed:
                    self._around.append((name, limits, nodes))
        try:
            yield
        finally:
            del self._around[known:]

    def limits_inside(self, node: c_ast.Node) -> Limits:
        """Return between which values an expression lies where the loops around have asked."""
        before, self._is_inside = self._is_inside, True
        found = self.limits(node)
        self._is_inside = before
        return found

    def told_by(self, items: Sequence[c_ast.Node]) -> dict[str, Limits]:
        """Return what some statements, one after the other, leave known of scalars."""
        found: dict[str, Limits] = {}
        for item in items:
            gone = {name for name, _ in assigned(item)}
            found = {name: limits for name, limits in found.items() if name not in gone}
            for condition in _held_behind(item, self._variables):
                for name, limits in self._limited(condition):
                    found[name] = meet(limits, found.get(name, _ANY))
        return found

    def _state(self, condition: c_ast.Node, place: int, set_later: frozenset[str]) -> None:
        """Note what a condition says that holds from here on."""
        for name, limits in self._limited(condition):
            if name not in set_later:
                self._stated[name] = meet(limits, self._stated.get(name, _ANY))
                # What nothing sets has been that number before, too.
                self._stated_at[name] = place if self._set.get(name) else -1

    def _demand(self, condition: c_ast.Node, changed: set[str]) -> None:
        """Note what an assertion says of parameters that are what the function was given."""
        for name, limits in self._limited(condition):
            if name in self._parameters and name not in changed:
                self.required[name] = meet(limits, self.required.get(name, _ANY))

    def _limited(self, condition: c_ast.Node) -> Iterator[tuple[str, Limits]]:
        """Yield each scalar that a condition compares with a number, and its limits."""
        if not isinstance(condition, c_ast.BinaryOp) or condition.op not in _MIRRORED:
            return
        for side, other, op in (
            (condition.left, condition.right, condition.op),
            (condition.right, condition.left, _MIRRORED[condition.op]),
        ):
            value = number(other)
            if value is None or not isinstance(side, c_ast.ID):
                continue
            if not self._variables.is_scalar(side.name):
                continue
            if self._variables.may_be_unsigned(condition):
                # Below 0 a number is a large one.
                is_signed = self._variables.limits(side.name)[0] < 0
                if value < 0 or (is_signed and op in (">", ">=")):
                    continue
            high = value - (op == "<") if op in ("<", "<=", "==") else None
            low = value + (op == ">") if op in (">", ">=", "==") else None
            yield side.name, (low, high)

    def require(self, limit: c_ast.Node, stop: int, *, is_sure: bool) -> None:
        """Note that a loop which a parameter bounds leaves its arrays beyond a number.

        Parameters
        ----------
        is_sure: the parameter has no meaning beyond; else the loop need not come that far.
        """
        match limit:
            case c_ast.BinaryOp(op="+" | "-" as op, left=c_ast.ID() as left, right=right):
                offset = number(right)
                if offset is not None:
                    self.require(
                        left, stop - offset if op == "+" else stop + offset, is_sure=is_sure
                    )
            case c_ast.ID(name=name) if name in self._parameters and not self._set.get(name):
                most = self.limits(limit)[1]
                if most is None or most > stop:
                    found = self.required if is_sure else self.expected
                    found[name] = meet(found.get(name, _ANY), (None, stop))

    # Numbers.

    def limits(self, node: c_ast.Node | None) -> Limits:
        """Return between which values an expression lies."""
        value = number(node)
        if value is not None:
            return value, value
        match node:
            case c_ast.ID(name=name):
                return self._of_name(name)
            case c_ast.BinaryOp(op=op, left=left, right=right):
                found = self._of_operator(op, self.limits(left), self.limits(right))
                return _ANY if self._may_wrap(node, found) else found
            case c_ast.TernaryOp():
                return self._of_choice(node)
            case c_ast.UnaryOp(op="-"):
                negative = _negative(self.limits(node.expr))
                may_wrap = not isinstance(node, Less) and self._may_wrap(node, negative)
                return _ANY if may_wrap else negative
            case c_ast.UnaryOp(op="+"):
                return self.limits(node.expr)
            case c_ast.Cast(expr=inner):
                found, held = self.limits(inner), self._variables.limits_of(node)
                most = meet(found, self._variables.limits_of(inner) or _ANY)
                return found if held is not None and meet(most, held) == most else _ANY
            case c_ast.UnaryOp(op="*") | c_ast.ArrayRef() | c_ast.StructRef():
                # The type of an element says no more than that, where a loop may be bounded better.
                held = self._variables.limits_of(node)
                return (0, None) if held is not None and held[0] == 0 else _ANY
        return _ANY

    def _may_wrap(self, node: c_ast.Node, found: Limits) -> bool:
        """Return whether a result may come round: below 0 as an unsigned number, or at the top."""
        low, high = found
        if high is not None and high >= 1 << 31:
            return True
        return (low is None or low < 0) and self._variables.may_be_unsigned(node)

    def _of_name(self, name: str) -> Limits:
        low, high = self._stated.get(name, _ANY)
        if self._at is not None and self._stated_at.get(name, -1) >= self._at:
            low, high = _ANY
        for asked, limits, nodes in self._around if self._is_inside else ():
            if asked == name and (self._there is None or id(self._there) in nodes):
                low, high = meet((low, high), limits)
        if self._variables.is_scalar(name) and name not in self._asked:
            self._asked.add(name)
            low, high = meet((low, high), self._by_assignments(name))
            self._asked.discard(name)
        if self._variables.is_scalar(name) and self._variables.width_bits(name) <= 16:
            least, most = self._variables.limits(name)
            if (low or 0) < least or (high or 0) > most:
                # It comes round when it is set.
                return least, most
            low, high = meet((low, high), (least, most))
        elif self._variables.is_scalar(name) and self._variables.limits(name)[0] == 0:
            low = max(0, low or 0)
        return low, high

    def _by_assignments(self, name: str) -> Limits:
        """Return the limits that follow from all that a scalar is set to, and its steps."""
        steps = [self._limits_there(by) for by in self._steps.get(name, ())]
        values = self._set.get(name, [])
        plain = [value for value in values if value is not None and not _steps_itself(name, value)]
        if len(values) - len(plain) > len(steps) or (not values and name not in self._parameters):
            return _ANY
        found = [self._limits_there(x) for x in plain if not _is_part_of(name, x)]
        if len(found) < len(plain):
            # What is divided, or shifted, comes nearer to 0, or to -1.
            low, _ = _hull(found)
            found.append((0 if low is not None and low >= 0 else -1, 0))
        if name in self._parameters:
            found.append(_ANY)
        least_of_type = self._variables.limits(name)[0]
        # A narrow number comes round, and so does an unsigned one below 0.
        is_wide = not steps or self._variables.width_bits(name) >= 32
        is_up = is_wide and all(low is not None and low >= 0 for low, _ in steps)
        is_down = is_wide and all(high is not None and high <= 0 for _, high in steps)
        is_down = is_down and (not steps or least_of_type < 0)
        least, most = _hull(found)
        return (least if is_up else None), (most if is_down else None)

    def _limits_there(self, value: c_ast.Node) -> Limits:
        """Return the limits of an expression where it stands."""
        around, self._at = self._at, self._places.get(id(value), 0)
        before, self._there = self._there, value
        found = self.limits(value)
        self._at, self._there = around, before
        return found

    def _of_operator(self, op: str, left: Limits, right: Limits) -> Limits:
        match op:
            case "+" | "-":
                right = _negative(right) if op == "-" else right
                return _sum(left[0], right[0]), _sum(left[1], right[1])
        divisor = right[0] if right[0] == right[1] else None
        if op == "&" and divisor is not None and divisor >= 0:
            return 0, divisor
        if op == "%" and divisor is not None and divisor > 0:
            return (0 if left[0] is not None and left[0] >= 0 else 1 - divisor), divisor - 1
        if None in left or None in right or left[0] < 0 or right[0] < 0:  # type: ignore[operator]
            return _ANY
        low, high = left
        least, most = right
        assert low is not None and high is not None and least is not None and most is not None
        match op:
            case "*":
                return low * least, high * most
            case "/" if least > 0:
                return low // most, high // least
            case "%" if least > 0:
                return 0, min(high, most - 1)
            case ">>" if most < 64:
                return low >> most, high >> least
        return _ANY

    def _of_choice(self, node: c_ast.TernaryOp) -> Limits:
        """Return the limits of `a < b ? a : b`, or of any other choice."""
        arms = self.limits(node.iftrue), self.limits(node.iffalse)
        (least, most), (low, high) = _hull(arms), meet(*arms)
        condition = node.cond
        if self._is_ordered_as_numbers(condition):
            sides = [condition.left, condition.right]
            if condition.op in (">", ">="):
                sides.reverse()
            first, second = node.iftrue, node.iffalse
            if alike(first, sides[0]) and alike(second, sides[1]) and high is not None:
                most = high
            if alike(first, sides[1]) and alike(second, sides[0]) and low is not None:
                least = low
        return least, most

    def _is_ordered_as_numbers(self, condition: c_ast.Node) -> bool:
        """Return whether a comparison is one of the numbers that both sides have limits of."""
        match condition:
            case c_ast.BinaryOp(op="<" | "<=" | ">" | ">=", left=left, right=right):
                lows = [self.limits(side)[0] for side in (left, right)]
                is_above_0 = all(low is not None and low >= 0 for low in lows)
                return is_above_0 or not self._variables.may_be_unsigned(condition)
        return False

    # Arrays.

    def inside(self, body: c_ast.Node, iterator: str) -> Limits:
        """Return the values of an iterator for which an iteration has a meaning, or no effect.

        Every statement of it comes with an access of which a subscript is the iterator and a
        constant.
        """
        self._seen = {**self._seen_everywhere, **_seen_through(body)}
        return self._covered(items_of(body), iterator, {}) or _ANY

    def accessed(self, items: Sequence[c_ast.Node], counter: str) -> Limits:
        """Return the values of a counter for which what is surely done in turn has a meaning."""
        self._seen = {**self._seen_everywhere, **_seen_through(*items)}
        found = list(self._surely(items, counter, {}))
        return meet(*found) if found else _ANY

    def _covered(
        self, items: Sequence[c_ast.Node], iterator: str, around: Mapping[_Range, int]
    ) -> Limits | None:
        """Return the values for which statements have a meaning; None if they may have any.

        Parameters
        ----------
        around: where the loops around that count up to a parameter begin.
        """
        surely = list(self._surely(items, iterator, around))
        if surely:
            return meet(*surely)
        parts: list[Limits] = []
        declared = [x for x in items if isinstance(x, c_ast.Decl) and not x.storage]
        own = frozenset(x.name for x in declared if x.name)
        for item in items:
            if item in declared and _is_asked(item.init):
                continue
            if _only_sets(item, own):
                continue
            inner: list[Sequence[c_ast.Node]]
            match item:
                case c_ast.Compound():
                    inner = [items_of(item)]
                case c_ast.For() if self._starts_alone(item) and _is_asked(item.cond):
                    inner = [items_of(item.stmt)]
                case c_ast.While() if _is_asked(item.cond):
                    inner = [items_of(item.stmt)]
                case c_ast.If() if _is_asked(item.cond):
                    inner = [items_of(x) for x in (item.iftrue, item.iffalse) if x is not None]
                case _:
                    return None
            for one in inner:
                found = self._covered(one, iterator, self._inside_of(item, around))
                if found is None or outcome(item).targets:
                    return None
                parts.append(found)
        return _hull(parts) if parts else None

    def _surely(
        self, items: Sequence[c_ast.Node], iterator: str, around: Mapping[_Range, int]
    ) -> Iterator[Limits]:
        """Yield what each subscript asks for that statements surely evaluate."""
        for item in items:
            yield from self._accesses(item, iterator)
            counted = self._counted(item)
            if counted is not None and counted[1] <= around.get(counted[0], counted[1] - 1):
                # The loop around begins there or later, and has come here: this one begins, too.
                inside = self._inside_of(item, around)
                yield from self._surely(items_of(item.stmt), iterator, inside)
            if not outcome(item).goes_on or outcome(item).targets:
                break

    def _inside_of(self, item: c_ast.Node, around: Mapping[_Range, int]) -> Mapping[_Range, int]:
        """Return where the loops begin that are around the body of a statement."""
        counted = self._counted(item)
        if counted is None:
            return around
        range_, first = counted
        return {**around, range_: max(first, around.get(range_, first))}

    def _counted(self, item: c_ast.Node) -> tuple[_Range, int] | None:
        """Return the end of `for (i = 0; i < n; i++)`, n never changed, and its first number."""
        match item:
            case c_ast.For(
                cond=c_ast.BinaryOp(op="<", left=c_ast.ID(name=name), right=c_ast.ID(name=end))
            ):
                step = step_of(item.next)
            case _:
                return None
        started, value = setting_of(item.init) or (None, None)
        first = number(value)
        is_up = step is not None and step[0] == name and (number(step[1]) or 0) > 0
        is_kept = end in self._parameters and not self._set.get(end)
        is_alone = name not in {changed for changed, _ in assigned(item.stmt)}
        if started != name or first is None or not (is_up and is_kept and is_alone):
            return None
        if not (self._variables.is_scalar(name) and self._variables.is_scalar(end)):
            return None
        return (end, self._variables.limits(name)), first

    def _starts_alone(self, loop: c_ast.For) -> bool:
        """Return whether nothing is left of how a loop starts, should it have no iteration."""
        init = loop.init
        if isinstance(init, c_ast.DeclList):
            return all(not x.storage and _is_asked(x.init) for x in init.decls)
        names = {name for name, _ in assigned(init)} if init is not None else set()
        return (
            bool(names)
            and not calls(init)
            and not any(self._variables.is_used_outside(name, loop) for name in names)
        )

    def _way(self, node: c_ast.Node) -> tuple[c_ast.Node, list[c_ast.Node]]:
        """Return the array of an element, and the subscripts, through pointers that stay."""
        subscripts: list[c_ast.Node] = []
        while True:
            match node:
                case c_ast.ArrayRef(name=inner, subscript=subscript):
                    subscripts.insert(0, subscript)
                    node = inner
                case c_ast.UnaryOp(op="*", expr=inner):
                    subscripts.insert(0, integer(0, node.coord))
                    node = inner
                case c_ast.ID(name=name) if subscripts and name in self._seen:
                    node = self._seen[name]
                case c_ast.UnaryOp(op="&", expr=c_ast.ArrayRef(name=inner, subscript=first)) | (
                    c_ast.BinaryOp(op="+", left=inner, right=first)
                ) if subscripts:
                    subscripts[0] = combined("+", first, subscripts[0])
                    node = inner
                case _:
                    return node, subscripts

    def _offset(self, subscript: c_ast.Node, iterator: str) -> Limits | None:
        """Return between which numbers lies what a subscript adds to the iterator."""
        match subscript:
            case c_ast.ID(name=name):
                if name == iterator:
                    return 0, 0
                return self._offset(self._seen[name], iterator) if name in self._seen else None
            case c_ast.Cast(expr=inner):
                held = self._variables.limits_of(subscript)
                return self._offset(inner, iterator) if held and held[1] >= INT.limits[1] else None
            case c_ast.BinaryOp(op="+" | "-" as op, left=left, right=right):
                sides = ((left, right), (right, left)) if op == "+" else ((left, right),)
                held = self._variables.limits_of(subscript)
                for side, other in sides:
                    first, second = self._offset(side, iterator), self.limits(other)
                    if first is None or second == _ANY:
                        continue
                    found = self._of_operator(op, first, second)
                    # A sum that comes round would be another element.
                    is_near = all(x is not None and abs(x) < _MOST_ADDED for x in found)
                    return found if is_near or (held and held[0] <= LONG.limits[0]) else None
        return None

    def _accesses(self, item: c_ast.Node, iterator: str) -> Iterator[Limits]:
        """Yield what each subscript asks for that a statement surely evaluates."""
        for node in _evaluated(item):
            is_pointed_to = isinstance(node, c_ast.UnaryOp) and node.op == "*"
            if not (is_pointed_to or isinstance(node, c_ast.ArrayRef)):
                continue
            base, subscripts = self._way(node)
            extents = self._extents.get(base.name) if isinstance(base, c_ast.ID) else None
            for subscript, extent in zip(subscripts, extents or (), strict=False):
                offset = self._offset(subscript, iterator)
                if offset is not None:
                    low, high = _negative(offset)
                    yield low, None if extent is None or high is None else extent - 1 + high


def _evaluated(node: c_ast.Node) -> Iterator[c_ast.Node]:
    """Yield the expressions that are surely evaluated when a statement is carried out."""
    match node:
        case c_ast.If():
            yield from _evaluated(node.cond)
        case c_ast.TernaryOp():
            yield from _evaluated(node.cond)
        case c_ast.BinaryOp(op="&&" | "||"):
            yield from _evaluated(node.left)
        case c_ast.UnaryOp(op="sizeof" | "&"):
            return
        case c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.Switch():
            return
        case c_ast.Compound() | c_ast.Label() | c_ast.FuncCall():
            return
        case _:
            yield node
            for _, child in node.children():
                yield from _evaluated(child)


def _held_behind(item: c_ast.Node, variables: Variables) -> Iterator[c_ast.Node]:
    """Yield the conditions that hold behind a statement of the outermost block."""
    match item:
        case c_ast.FuncCall(name=c_ast.ID(name=name), args=arguments) if name in ASSERTING:
            if arguments is not None and len(arguments.exprs) == 1:
                yield from parts_of(arguments.exprs[0], "&&")
        case c_ast.If(iffalse=None) if outcome(item.iftrue) == Outcome(False, frozenset((RETURN,))):
            yield from map(variables.opposite, parts_of(item.cond, "||"))


def _set_in(function: c_ast.FuncDef) -> dict[str, list[c_ast.Node | None]]:
    """Return what the variables of a function are set to; None where that is not a plain value."""
    found: dict[str, list[c_ast.Node | None]] = {}
    for node in below(function.body):
        match node:
            case c_ast.Assignment(op="=", lvalue=c_ast.ID(name=name), rvalue=value):
                found.setdefault(name, []).append(value)
            case c_ast.Decl(name=str(name), init=value) if value is not None:
                found.setdefault(name, []).append(value)
            case c_ast.Assignment(op="/=" | ">>=" as op, lvalue=c_ast.ID(name=name) as old):
                value = c_ast.BinaryOp(op.removesuffix("="), old, node.rvalue, node.coord)
                found.setdefault(name, []).append(value)
            case c_ast.Assignment() | c_ast.UnaryOp():
                for name in assigned_by(node):
                    found.setdefault(name, []).append(None)
    return found


def _steps_in(function: c_ast.FuncDef) -> dict[str, list[c_ast.Node]]:
    """Return by what the variables of a function are stepped."""
    found: dict[str, list[c_ast.Node]] = {}
    for node in below(function.body):
        stepped = step_of(node)
        if stepped is not None:
            found.setdefault(stepped[0], []).append(stepped[1])
    return found


def _seen_through(*roots: c_ast.Node) -> dict[str, c_ast.Node]:
    """Return what variables are set to where they are declared, and nowhere else."""
    found: dict[str, c_ast.Node] = {}
    again: set[str] = set()
    for node in below(*roots):
        match node:
            case c_ast.Decl(name=str(name)):
                again |= {name} & found.keys()
                if node.init is not None:
                    found[name] = node.init
        target = changed(node, "&")
        if isinstance(target, c_ast.ID):
            again.add(target.name)
    return {name: value for name, value in found.items() if name not in again}


def _extents(nodes: Iterable[c_ast.Node]) -> Iterator[tuple[str, tuple[int | None, ...]]]:
    for node in nodes:
        if not isinstance(node, c_ast.Decl):
            continue
        extents: list[int | None] = []
        type_ = node.type
        if isinstance(type_, c_ast.PtrDecl) and node.init is None:
            # One that is handed over: what it points to is the first of an unknown number.
            extents, type_ = [None], type_.type
        while isinstance(type_, c_ast.ArrayDecl):
            extents.append(number(type_.dim) if type_.dim is not None else None)
            type_ = type_.type
        if extents:
            yield node.name, tuple(extents)


def _steps_itself(name: str, value: c_ast.Node) -> bool:
    """Return whether `name = value` is a step."""
    return step_of(c_ast.Assignment("=", c_ast.ID(name), value)) is not None


def _is_part_of(name: str, value: c_ast.Node) -> bool:
    """Return whether a value is a variable itself, divided by a number or shifted right."""
    match value:
        case c_ast.BinaryOp(op="/" | ">>" as op, left=c_ast.ID(name=same), right=by):
            amount = number(by)
            return bool(same == name and amount is not None and (1 if op == "/" else 0) <= amount)
    return False


def _is_asked(condition: c_ast.Node | None) -> bool:
    """Return whether a condition only asks."""
    return condition is None or not has_effect(condition)


def _only_sets(item: c_ast.Node, names: frozenset[str]) -> bool:
    """Return whether a statement changes only what dies with the iteration."""
    if isinstance(item, c_ast.EmptyStatement):
        return True
    if calls(item) or outcome(item).targets:
        return False
    changed = {name for name, _ in assigned(item)}
    return bool(changed) and changed <= names and isinstance(item, c_ast.Assignment | c_ast.UnaryOp)


def _set_behind(items: Sequence[c_ast.Node]) -> list[frozenset[str]]:
    """Return for each statement what those behind it may set."""
    found: list[frozenset[str]] = []
    later = frozenset[str]()
    for item in reversed(items):
        found.insert(0, later)
        later |= {name for name, _ in assigned(item)}
    return found


def meet(*found: Limits) -> Limits:
    """Return the limits of what lies between all of some limits."""
    lows = [low for low, _ in found if low is not None]
    highs = [high for _, high in found if high is not None]
    return max(lows, default=None), min(highs, default=None)


def _hull(found: Sequence[Limits]) -> Limits:
    """Return the limits of what lies between one of some limits."""
    lows = [low for low, _ in found if low is not None]
    highs = [high for _, high in found if high is not None]
    low = min(lows, default=None) if len(lows) == len(found) else None
    return low, max(highs, default=None) if len(highs) == len(found) else None


def _negative(limits: Limits) -> Limits:
    low, high = limits
    return None if high is None else -high, None if low is None else -low


def _sum(a: int | None, b: int | None) -> int | None:
    return None if a is None or b is None else a + b
