"""Loops of any header to `for` loops of one counter.

Rewrite
-------
    while (i < n) { S; i++; }             for (; i < n; i++) { S }
    while (i--) S                         for (; i != 0; i--) { S with i - 1 } i--;
    do { S; i++; } while (i < 8);         for (; i < 8; i++) { S }      where i is 0 before it
    for (;;) { if (i == n) break; S; }    for (; i != n; ..) { S }

A *counter* is a local integer that the body steps by the same amount in every iteration, and
changes in no other way. Its steps are moved to the end of the body, what follows them there being
written with the value they would have left; then it is the same function of the number of the
iteration whatever becomes of the rest of the body.

What else its condition asks for is a way out of it. Where no condition is on a counter, a loop has
the bound that is stated, `#pragma rtlgen bound N`, or that follows (`trip_bounds`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from pycparser import c_ast

from rtlgen.frontend.lowering.capacity import Capacity, Limits
from rtlgen.frontend.lowering.iterations import (
    Loop,
    Part,
    WayOut,
    as_comparison,
    asks_first,
    bounded_counter,
    compared_counter,
    end_of,
    is_ordered,
    offsets_before,
    parts_of_iteration,
    split_init,
    way_out,
)
from rtlgen.frontend.lowering.jumps import BREAK, CONTINUE, outcome, target_of
from rtlgen.frontend.lowering.nodes import (
    FreshNames,
    Less,
    Place,
    assign,
    block,
    copied,
    has_effect,
    integer,
    items_of,
    joined,
    map_children,
    moved_by,
    named,
    number,
    reads_memory,
    replaced,
    step_of,
)
from rtlgen.frontend.lowering.trip_bounds import TripBounds
from rtlgen.frontend.lowering.types import INT, cast, declaration, plain
from rtlgen.frontend.lowering.variables import Variables
from rtlgen.frontend.syntax.assigned import assigned, below, calls, mentioned, mentions, setting_of


@dataclass(slots=True)
class Counted:
    """The parts of a loop that counts.

    Members
    -------
    before: what stands before it. init, condition, next: the header.
    items: the body. closing: what ends each iteration, behind a `continue` too.
    steps: of counters: they go on when the loop is left.
    kept: counters that are used behind it, and what keeps their values where it is left.
    behind: what the last test of the condition does, when the loop is not left.
    """

    place: Place
    before: list[c_ast.Node]
    init: c_ast.Node | None
    condition: c_ast.Node
    next: c_ast.Node | None
    items: list[c_ast.Node]
    closing: list[c_ast.Node]
    steps: list[c_ast.Node]
    kept: dict[str, str] = field(default_factory=dict)
    behind: list[c_ast.Node] = field(default_factory=list)


class LoopLowering:
    """Finds the counters of one loop after the other, and bounds."""

    def __init__(self, variables: Variables, names: FreshNames, capacity: Capacity) -> None:
        self._variables = variables
        self._names = names
        self._capacity = capacity
        self._bounds = TripBounds(variables, capacity)

    def guarded(
        self, node: Loop, moves_start: bool, *, is_begun: bool
    ) -> c_ast.For | Counted | None:
        """Return a loop that runs up to the most iterations; None if these are not known.

        Parameters
        ----------
        moves_start: where it starts is data, too.
        is_begun: the function begins it whatever its data are, if the loops around begin.

        Returns
        -------
        For: its conditions are asked in each iteration by itself. Counted: they are ways out.
        """
        parts = parts_of_iteration(node, self._moved_if_any) or []
        if not asks_first(parts):
            # The last question does something, and would not be asked.
            return None
        counters = self._counters(parts)
        asked = [part.node for part in parts if part.kind == "test" and is_ordered(part.node)]
        names = (x for c in asked if (x := bounded_counter(c, counters)) is not None)
        iterator = next(names, None)
        if iterator is None:
            return None
        init = node.init if isinstance(node, c_ast.For) else None
        by = [number(x) for x in counters[iterator]]
        if len(by) != 1 or not by[0]:
            return None
        step, at = by[0], node.coord
        bounded = [c for c in asked if bounded_counter(c, counters) == iterator]
        found = [(c, end_of(c, iterator, step > 0)) for c in bounded]
        # A condition that is no end of the iterator may hold again.
        conditions = [c for c, end in found if end is not None]
        ends = [end for _, end in found if end is not None]
        inside = self._capacity.inside(node.stmt, iterator)
        bounds = [e for c, e in found if e is not None and self._is_bound(c, e[1])]
        stop = _outermost(bounds, inside, self._capacity, step > 0)
        # Below 0 an unsigned iterator is compared with a number of another size.
        is_unsigned = self._variables.limits(iterator)[0] == 0
        if not ends or stop is None or (is_unsigned and stop < 0):
            return None
        before, first = split_init(init, iterator)
        _, start = setting_of(first) or (None, None)
        # Below 0 an iterator would be a large number where it is compared as an unsigned one.
        low = self._capacity.limits(named(iterator, at))[0]
        least = stop + 1 if step < 0 else -1 if low is None else low
        guards = list(conditions)
        if moves_start:
            value = None if start is None else self._capacity.limits(start)
            if value is None or start is None or abs(step) != 1:
                return None
            known = value[0] if step > 0 else value[1]
            own = inside[0] if step > 0 else inside[1]
            limits = [x for x in (known, own) if x is not None]
            if not limits:
                return None
            begin = max(limits) if step > 0 else min(limits)
            least = begin if step > 0 else least
            first = _starting(first, integer(begin, at))
            op = ">=" if step > 0 else "<="
            guards.insert(0, c_ast.BinaryOp(op, named(iterator, at), start, at))
        header = c_ast.BinaryOp(
            "<" if step > 0 else ">", named(iterator, at), integer(stop, at), at
        )
        changed = frozenset(name for name, _ in assigned(node.stmt))
        tests = [part for part in parts if part.kind.endswith("test")]
        is_kept = self._is_kept(node, iterator)
        ways = outcome(node.stmt).targets - {CONTINUE}
        # Below 0 what is compared would be a large number, and the condition might hold again.
        lowest = least + min(0, *(offset for offset, _, _ in ends))
        question = joined(guards)
        assert question is not None, "the condition has a bound"
        if (
            len(tests) == len(conditions)
            and not ways
            and not is_kept
            and not self._may_change(question, changed, self._variables.is_calling(node.stmt))
            and (lowest >= 0 or not self._variables.may_be_unsigned(question))
            and isinstance(node, c_ast.For)
            and node.next is not None
            and step_of(node.next) is not None
        ):
            if step > 0 and inside[1] is not None:
                surely = self._capacity.accessed(items_of(node.stmt), iterator)[1]
                is_sure = is_begun and len(ends) == 1 and surely is not None
                last = surely if is_sure and surely is not None else inside[1]
                beyond = _next_behind(last, None if start is None else number(start), step)
                for offset, limit, strict in ends:
                    most = beyond + offset - (0 if strict else 1)
                    self._capacity.require(limit, most, is_sure=is_sure)
            body = block([c_ast.If(question, node.stmt, None, at)], at)
            loop = c_ast.For(first, header, node.next, body, at)
            return loop if not before else None
        if moves_start:
            return None
        kept = self._kept(node, counters)
        items, closing, _ = self._normalised(parts, counters, kept, None, ())
        steps = {k: self._stepping(k, by, at) for k, by in counters.items()}
        others = [x for k, x in steps.items() if k != iterator]
        return Counted(at, before, first, header, steps[iterator], items, closing, others, kept)

    def _is_bound(self, condition: c_ast.Node, limit: c_ast.Node) -> bool:
        """Return whether a limit is the number that it is, and not a large one, as compared."""
        low, _ = self._capacity.limits(limit)
        return (low is not None and low >= 0) or not self._variables.may_be_unsigned(condition)

    def counted(
        self,
        node: Loop,
        before: Sequence[c_ast.Node],
        bound: int | None,
        *,
        is_forced: bool = False,
    ) -> Counted | None:
        """Return a loop by its counter; None if no bound is known.

        Parameters
        ----------
        before: the statements before it. bound: that is stated for it.
        is_forced: a header that asks for a counter cannot be read.
        """
        parts = parts_of_iteration(node, self._moved_if_any)
        if parts is None:
            return None
        counters = self._counters(parts)
        init = node.init if isinstance(node, c_ast.For) else None
        found = None
        if bound is None and not is_forced:
            found = self._by_condition(node, parts, counters)
        if found is not None:
            return found
        if bound is None:
            starts = self._bounds.starts(init, before)
            decided = self._bounds.trips(parts, counters, starts)
            if decided is not None:
                return self._by_trips(node, parts, counters, *decided)
            bound = self._bounds.emptied(parts)
            if bound is None:
                bound = self._bounds.ranked(parts, starts)
            if bound is None:
                most = self._bounds.accessed(parts, counters, starts)
                bound = self._bounds.forked(parts, init, before, most)
        elif not asks_first(parts):
            # What the last question does is done, too.
            bound += 1
        if bound is not None:
            return self._by_trips(node, parts, counters, bound, None)
        if isinstance(node, c_ast.DoWhile) and not outcome(node.stmt).targets:
            # The first iteration is made before the condition is asked for the first time.
            again = c_ast.While(node.cond, node.stmt, node.coord)
            rest = self.counted(again, (), None)
            if rest is not None:
                return replace(rest, before=[copied(node.stmt), *rest.before])
        return None

    def _may_change(self, question: c_ast.Node, changed: frozenset[str], is_calling: bool) -> bool:
        """Return whether a body may change what a question asks for.

        Two names may stand for one array, and a function that is called sees what is shared.
        """
        names = mentioned(question)
        is_shared = any(not self._variables.is_number(name) for name in names)
        writes_memory = any(not self._variables.is_number(name) for name in changed)
        by_another_name = reads_memory(question) and writes_memory
        return bool(names & changed) or by_another_name or (is_calling and is_shared)

    # Counters.

    def _counters(self, parts: Sequence[Part]) -> dict[str, list[c_ast.Node]]:
        """Return the amounts by which each counter is stepped in an iteration."""
        steps: dict[str, list[c_ast.Node]] = {}
        refused: set[str] = set()
        is_skipped = False
        for part in parts:
            stepped = part.step
            if stepped is not None:
                name, by = stepped
                steps.setdefault(name, []).append(by)
                refused |= {name} if is_skipped and part.kind == "item" else set()
                refused |= {target for target, _ in assigned(by)}
                continue
            for name, by in part.after:
                steps.setdefault(name, []).append(by)
            refused |= {target for target, _ in assigned(part.node)}
            refused |= {x.name for x in below(part.node) if isinstance(x, c_ast.Decl) and x.name}
            is_skipped |= CONTINUE in outcome(part.node).targets
        changed = frozenset((*steps, *refused))
        return {
            name: amounts
            for name, amounts in steps.items()
            if name not in refused
            and self._variables.is_scalar(name)
            and not any(mentions(by, changed) or reads_memory(by) or calls(by) for by in amounts)
        }

    def _moved(self, name: str, offset: Sequence[c_ast.Node], at: Place) -> c_ast.Node:
        """Return what a counter is after some of its steps."""
        amounts = [number(by) for by in offset]
        value: c_ast.Node = named(name, at)
        known = [amount for amount in amounts if amount is not None]
        if len(known) == len(amounts):
            total = sum(known)
            if total == 0:
                return value
            op = "+" if total > 0 else "-"
            value = c_ast.BinaryOp(op, value, integer(abs(total), at), at)
        else:
            for by in offset:
                value = moved_by(value, by, at)
        type_ = self._variables.type(name)
        if type_.number == INT and len(known) == len(amounts):
            return value
        return cast(type_, value, at)

    def _moved_if_any(
        self, name: str, offset: Sequence[c_ast.Node], at: Place
    ) -> c_ast.Node | None:
        return self._moved(name, offset, at) if self._variables.is_scalar(name) else None

    def _normalised(
        self,
        parts: Sequence[Part],
        counters: Mapping[str, list[c_ast.Node]],
        kept: Mapping[str, str],
        header: WayOut | None,
        rest: Sequence[c_ast.Node],
    ) -> tuple[list[c_ast.Node], list[c_ast.Node], dict[str, list[c_ast.Node]]]:
        """Return the body, what closes it, and how far the counters are at the header's test.

        Parameters
        ----------
        header: the way out that the header takes the place of. rest: what else it asks for.
        """
        offsets: dict[str, list[c_ast.Node]] = {}
        at_test: dict[str, list[c_ast.Node]] = {}
        items: list[c_ast.Node] = []
        closing: list[c_ast.Node] = []
        nodes = (x for part in parts for x in below(part.node))
        labels = frozenset(x.name for x in nodes if isinstance(x, c_ast.Label))
        for place, part in enumerate(parts):
            at = part.node.coord
            stepped = part.step
            if stepped is not None and stepped[0] in counters:
                offsets.setdefault(stepped[0], []).append(stepped[1])
                continue
            after: dict[str, list[c_ast.Node]] = {k: list(v) for k, v in offsets.items()}
            done: list[c_ast.Node] = []
            for name, by in part.after:
                if name in counters:
                    after.setdefault(name, []).append(by)
                else:
                    done.append(self._stepping(name, [by], at))
            is_header = header is not None and header.place == place
            if part.kind.endswith("test") or is_header:
                asked = joined(rest) if is_header else part.node
                if is_header:
                    at_test = {k: list(v) for k, v in after.items()}
                made = []
                if asked is not None:
                    saved = [
                        assign(k, self._moved(v, after.get(v, []), at), at) for v, k in kept.items()
                    ]
                    leave = block([*saved, *map(copied, done), c_ast.Break(at)], at)
                    question = replaced(asked, self._values(offsets, at))
                    made = [c_ast.If(self._variables.opposite(question), leave, None, at), *done]
            else:
                saving = _saving(part.node, kept, labels)
                made = [replaced(saving, self._values(offsets, at))]
            (items if part.kind in ("item", "test") else closing).extend(made)
            offsets = after
        return items, closing, at_test

    def _values(self, offsets: Mapping[str, list[c_ast.Node]], at: Place) -> dict[str, c_ast.Node]:
        return {name: self._moved(name, by, at) for name, by in offsets.items() if by}

    def _kept(self, node: Loop, counters: Mapping[str, list[c_ast.Node]]) -> dict[str, str]:
        """Return what keeps each counter that is used behind the loop, where it is left."""
        used = [name for name in counters if self._is_kept(node, name)]
        return {name: self._names.fresh(f"{name}_left") for name in used}

    def _is_kept(self, node: Loop, name: str) -> bool:
        init = node.init if isinstance(node, c_ast.For) else None
        own = {part.name for part in init.decls} if isinstance(init, c_ast.DeclList) else set()
        return name not in own and self._variables.is_used_outside(name, node)

    # Headers.

    def _by_condition(
        self, node: Loop, parts: Sequence[Part], counters: Mapping[str, list[c_ast.Node]]
    ) -> Counted | None:
        """Return a loop whose first question is about a counter."""
        found = self._first_exit(node, parts, counters)
        if found is None:
            return None
        by_order = sorted(found.conditions, key=is_ordered, reverse=True)
        names = (compared_counter(c, counters) for c in by_order)
        iterator = next(name for name in names if name is not None)
        asked = [c for c in found.conditions if compared_counter(c, counters) == iterator]
        ordered = [c for c in asked if is_ordered(c)]
        bounds = ordered or asked[:1]
        rest = [c for c in found.conditions if c not in bounds]
        placed = [(c, found.place) for c in bounds]
        more: list[Part] = []
        for place, part in enumerate(parts[found.place + 1 :] if ordered else (), found.place + 1):
            if part.kind != "test" or part.after or has_effect(part.node):
                break
            if is_ordered(part.node) and compared_counter(part.node, counters) == iterator:
                more.append(part)
                placed.append((part.node, place))
        kept = self._kept(node, counters)
        left = [part for part in parts if part not in more]
        items, closing, at_test = self._normalised(left, counters, kept, found, rest)
        at = node.coord
        # What is asked behind a step, as in `while (k++ < 9 && k != n)`, is asked of what it left.
        condition = joined(
            [
                replaced(as_comparison(c), self._values(offsets_before(parts, place, counters), at))
                for c, place in placed
            ]
        )
        assert condition is not None, "some bound was found"
        init = node.init if isinstance(node, c_ast.For) else None
        before, first = split_init(init, iterator)
        steps = {k: self._stepping(k, by, at) for k, by in counters.items()}
        behind = self._behind(kept, at_test, at)
        own = node.next if isinstance(node, c_ast.For) else None
        stepped = None if own is None else step_of(own)
        is_own = stepped is not None and stepped[0] == iterator and len(counters[iterator]) == 1
        return Counted(
            at, before, first, condition, own if is_own else steps[iterator], items, closing,
            [step for name, step in steps.items() if name != iterator], kept, behind,
        )  # fmt: skip

    def _first_exit(
        self, node: Loop, parts: Sequence[Part], counters: Mapping[str, list[c_ast.Node]]
    ) -> WayOut | None:
        """Return the way out that a counter decides, if only steps and questions stand before it.

        Of several, a comparison that tells which values are before the end is taken.
        """
        found: list[WayOut] = []
        is_asked = False
        for place, part in enumerate(parts):
            if is_asked and any(self._is_kept(node, name) for name, _ in part.steps):
                # The last time, it is stepped only if what is asked before still holds.
                break
            if part.step is not None and part.step[0] in counters:
                continue
            way = way_out(part, place, self._variables)
            if way is None or not way.is_only_left or any(x not in counters for x, _ in part.after):
                break
            if any(compared_counter(c, counters) is not None for c in way.conditions):
                found.append(way)
            # What is asked first may read out of an array behind the bound, but not before it.
            if part.kind != "test" or part.after or has_effect(part.node):
                break
            is_asked = True
        ordered = (
            way
            for way in found
            if any(is_ordered(c) and compared_counter(c, counters) for c in way.conditions)
        )
        return next(ordered, found[0] if found else None)

    def _stepping(self, name: str, by: Sequence[c_ast.Node], at: Place) -> c_ast.Node:
        """Return the statement that does all steps of a counter."""
        amounts = [number(x) for x in by]
        known = [amount for amount in amounts if amount is not None]
        if len(known) < len(amounts):
            if len(by) == 1 and isinstance(by[0], Less):
                return c_ast.Assignment("-=", named(name, at), copied(by[0].expr), at)
            # Their sum is one of numbers of the type of what is stepped.
            total: c_ast.Node = cast(self._variables.type(name), integer(0, at), at)
            for each in by:
                total = moved_by(total, each, at)
            total = total if len(by) > 1 else copied(by[0])
            return c_ast.Assignment("+=", named(name, at), total, at)
        amount = sum(known)
        if abs(amount) == 1:
            return c_ast.UnaryOp("p++" if amount > 0 else "p--", named(name, at), at)
        return c_ast.Assignment(
            "+=" if amount >= 0 else "-=", named(name, at), integer(abs(amount), at), at
        )

    def _by_trips(
        self,
        node: Loop,
        parts: Sequence[Part],
        counters: Mapping[str, list[c_ast.Node]],
        bound: int,
        decided: WayOut | None,
    ) -> Counted:
        """Return a loop that counts its iterations, up to a bound.

        Parameters
        ----------
        decided: the way out that leads out of it just then, and no earlier.
        """
        at = node.coord
        kept = self._kept(node, counters)
        header: WayOut | None = None
        if decided is not None and decided.is_only_left and len(decided.conditions) == 1:
            if decided.place == len(parts) - 1 and parts[-1].kind == "last test":
                parts = parts[:-1]
            elif decided == self._first_exit(node, parts, counters):
                # The iteration that only asks is none.
                header, bound = decided, bound - 1
        items, closing, at_test = self._normalised(parts, counters, kept, header, ())
        init = node.init if isinstance(node, c_ast.For) else None
        before, _ = split_init(init, None)
        trip = self._names.fresh("trip")
        return Counted(
            at,
            before,
            c_ast.DeclList([declaration(trip, plain(INT), integer(0, at), at)], at),
            c_ast.BinaryOp("<", named(trip, at), integer(bound, at), at),
            c_ast.UnaryOp("p++", named(trip, at), at),
            items,
            closing,
            [self._stepping(name, by, at) for name, by in counters.items()],
            kept,
            self._behind(kept, at_test, at),
        )

    def _behind(
        self, kept: Mapping[str, str], at_test: Mapping[str, list[c_ast.Node]], at: Place
    ) -> list[c_ast.Node]:
        """Return what the last question has done to the counters, where it ends the loop."""
        return [
            assign(name, self._moved(name, at_test[name], at), at)
            for name in kept
            if at_test.get(name)
        ]


def _outermost(
    ends: Sequence[tuple[int, c_ast.Node, bool]],
    inside: Limits,
    capacity: Capacity,
    is_up: bool,
) -> int | None:
    """Return the value with which a loop ends at the latest."""
    found: list[int] = []
    for offset, limit, strict in ends:
        low, high = capacity.limits(limit)
        end = high if is_up else low
        if end is not None:
            found.append(end - offset + (0 if strict else 1 if is_up else -1))
    own = inside[1] if is_up else inside[0]
    if own is not None:
        found.append(own + 1 if is_up else own - 1)
    return (min(found) if is_up else max(found)) if found else None


def _next_behind(last: int, start: int | None, step: int) -> int:
    """Return the first value of an iterator behind a number, or no less where its start is open."""
    return last + step if start is None else start + max(0, (last - start) // step + 1) * step


def _starting(init: c_ast.Node | None, value: c_ast.Node) -> c_ast.Node:
    """Return the first part of a header with another value."""
    match init:
        case c_ast.DeclList(decls=[declared]):
            made = copied(declared)
            made.init = value
            return c_ast.DeclList([made], init.coord)
        case c_ast.Assignment():
            return c_ast.Assignment("=", init.lvalue, value, init.coord)
    raise AssertionError("a header that begins with nothing")


def _saving(
    node: c_ast.Node, kept: Mapping[str, str], labels: frozenset[str], depth: int = 0
) -> c_ast.Node:
    """Return a statement that keeps counters wherever it leaves the loop around it.

    Parameters
    ----------
    labels: inside of the loop.
    depth: 1 inside of another loop, or of a `switch`, whose `break` is its own.
    """
    if not kept:
        return node
    target = target_of(node)
    if target is not None:
        if target == CONTINUE or (target == BREAK and depth) or target[1] in labels:
            return node
        saved = [assign(k, named(v, node.coord), node.coord) for v, k in kept.items()]
        return block([*saved, node], node.coord)
    if not outcome(node).targets:
        return node
    inner = depth or int(isinstance(node, c_ast.For | c_ast.While | c_ast.DoWhile | c_ast.Switch))
    map_children(node, lambda child: _saving(child, kept, labels, inner))
    return node
