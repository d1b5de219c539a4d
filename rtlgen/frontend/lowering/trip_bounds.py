"""The most iterations of a loop: said by a pragma, or found where its header does not say them.

`#pragma rtlgen bound N`: a loop has at most N iterations.

The most iterations of a loop, where its header does not say them.

int k = 0; do { S } while (++k < 9);                  9: the counter is carried out
while (x != 0) x >>= 2;                               as many as shifts empty a word
while (!(x & bit)) bit >>= 1;                         the same: nothing changes any more
while (r <= 1 << 23) r <<= 8;                         the same
while (i < 8 && j >= 0) if (c) j--; else i++;         16: each one is nearer to an end
while (l < h) { m = (l + h) / 2; ... }                by `forked_run`
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import RegionPragma
from rtlgen.frontend.lowering.capacity import Capacity, meet
from rtlgen.frontend.lowering.forked_run import most_iterations
from rtlgen.frontend.lowering.iterations import (
    Part,
    WayOut,
    as_comparison,
    asks_first,
    bounded_counter,
    compared_counter,
    emptied_by,
    end_of,
    is_ordered,
    not_zero_in,
    offsets_before,
    split_init,
    ways_out,
)
from rtlgen.frontend.lowering.jumps import CONTINUE, outcome, target_of
from rtlgen.frontend.lowering.nodes import (
    LOOPS,
    items_of,
    named,
    number,
    reads_memory,
    step_of,
)
from rtlgen.frontend.lowering.types import INT
from rtlgen.frontend.lowering.variables import Variables
from rtlgen.frontend.syntax.assigned import (
    assigned,
    assigned_by,
    below,
    mentioned,
    mentions,
    setting_of,
)
from rtlgen.frontend.syntax.locate import Locator

_BOUND = re.compile(r"rtlgen\s+bound\s*(?:\(\s*(\w+)\s*\)|(\w+))")


def take_bounds(tree: c_ast.FileAST, locator: Locator) -> dict[int, int]:
    """Take the pragmas out of a file; return the bounds by the lines of the loops' places.

    Raises
    ------
    RegionPragma: one stands before no loop, or states no number.
    """
    bounds: dict[int, int] = {}
    for node in below(tree):
        for name in node.__slots__:
            value = getattr(node, name, None)
            if isinstance(value, list):
                setattr(node, name, _taken(value, bounds, locator))
    return bounds


def _taken(items: list[c_ast.Node], bounds: dict[int, int], locator: Locator) -> list[c_ast.Node]:
    found: list[c_ast.Node] = []
    stated: tuple[int, c_ast.Pragma] | None = None
    for item in items:
        if isinstance(item, c_ast.Pragma) and item.string.split()[:1] == ["rtlgen"]:
            stated = _stated(item, locator), item
            continue
        loop = item
        while isinstance(loop, c_ast.Label):
            loop = loop.stmt
        if stated is not None and not isinstance(loop, LOOPS):
            break
        if stated is not None:
            bounds[loop.coord.line] = stated[0]
            stated = None
        found.append(item)
    if stated is not None:
        raise RegionPragma(
            f"#pragma {stated[1].string} stands before no loop",
            labels=(Label(locator.start(stated[1])),),
            help="put it on the line before `for`, `while` or `do`",
        )
    return found


def _stated(pragma: c_ast.Pragma, locator: Locator) -> int:
    match = _BOUND.fullmatch(pragma.string.strip())
    text = (match[1] or match[2]) if match else ""
    if not text.isdigit() or int(text) < 1:
        raise RegionPragma(
            f"#pragma {pragma.string} states no bound",
            labels=(Label(locator.start(pragma)),),
            help="write the most iterations as a number: #pragma rtlgen bound 100",
        )
    return int(text)


MAX_BOUND = 1 << 31
"""What counts iterations is an int."""

MAX_TRIPS = 1 << 16
"""Iterations that are carried out, at most, to find out how many there are: all of 16 bits."""


class TripBounds:
    """Finds the most iterations of one loop after the other."""

    def __init__(self, variables: Variables, capacity: Capacity) -> None:
        self._variables = variables
        self._capacity = capacity

    def starts(self, init: c_ast.Node | None, before: Sequence[c_ast.Node]) -> dict[str, int]:
        """Return the variables that are known numbers before a loop."""
        limits = ((k, self._capacity.limits(v)) for k, v in start_values(init, before).items())
        return {name: low for name, (low, high) in limits if low is not None and low == high}

    def trips(
        self,
        parts: Sequence[Part],
        counters: Mapping[str, list[c_ast.Node]],
        starts: Mapping[str, int],
    ) -> tuple[int, WayOut] | None:
        """Return the most iterations, where a counter with known values decides it, and where."""
        bounds: list[tuple[int, WayOut]] = []
        for way in ways_out(parts, self._variables):
            for condition in way.conditions:
                name = compared_counter(condition, counters)
                if name is None or name not in starts:
                    continue
                amounts = [number(by) for by in counters[name]]
                offset = [
                    number(x) for x in offsets_before(parts, way.place, counters).get(name, [])
                ]
                trips = self._run(condition, name, starts[name], amounts, offset)
                bounds += [] if trips is None else [(trips, way)]
        return min(bounds, key=lambda bound: bound[0], default=None)

    def _run(
        self,
        condition: c_ast.Node,
        name: str,
        start: int,
        amounts: Sequence[int | None],
        offset: Sequence[int | None],
    ) -> int | None:
        """Return the number of the iteration, from 1, in which a condition is not met."""
        known = [x for x in (*amounts, *offset) if x is not None]
        if len(known) < len(amounts) + len(offset):
            return None
        by = sum(x for x in amounts if x is not None)
        ahead = sum(x for x in offset if x is not None)
        evaluator, scalars = self._variables.evaluator(), self._variables
        value = scalars.wrapped(name, scalars.wrapped(name, start) + ahead)
        for trip in range(1, MAX_TRIPS):
            goes_on = evaluator.value(condition, {name: value})
            if not goes_on:
                return trip if goes_on == 0 else None
            value = scalars.wrapped(name, value + by)
        return None

    def emptied(self, parts: Sequence[Part]) -> int | None:
        """Return the most iterations of a loop that goes on while bits are left in a word.

        while (!(x & mask)) mask >>= 1;      with no mask left, nothing changes any more
        """
        deciding = dict(self._deciding(parts))
        asked = dict(deciding)
        for way in ways_out(parts, self._variables):
            for condition in way.conditions:
                asked |= {name: way.place for name in not_zero_in(condition, self._is_unsigned)}
        is_skipped = False
        for place, part in enumerate(parts):
            is_skipped |= CONTINUE in outcome(part.node).targets
            is_done = part.kind == "closing" or (part.kind == "item" and not is_skipped)
            emptied = emptied_by(part.node, self._is_integer) if is_done else None
            if emptied is not None and emptied[0] in (deciding if emptied[2] else asked):
                name, less, _ = emptied
                others = [n for p in parts if p is not part for n, _ in assigned(p.node)]
                if self._variables.is_scalar(name) and name not in others:
                    # What only asks is no iteration, if nothing is done before it.
                    before = parts[: asked[name] + 1]
                    only_asks = all(x.kind.endswith("test") and not x.after for x in before)
                    is_last = asked[name] > place or only_asks
                    return self._emptyings(name, less) + (0 if is_last else 1)
        return None

    def _is_integer(self, node: c_ast.Node) -> bool:
        return self._variables.limits_of(node) is not None

    def _deciding(self, parts: Sequence[Part]) -> Iterator[tuple[str, int]]:
        """Yield the variable that alone decides when a loop ends, and where it is asked first.

        Once this does not change any more, the loop has ended or never does, which has no meaning.
        """
        ways = tuple(ways_out(parts, self._variables))
        places = {way.place for way in ways}
        nodes = [part.node for part in parts]
        if any(outcome(x).targets for k, x in enumerate(nodes) if k not in places) or any(
            self._variables.is_calling(x) for x in nodes
        ):
            return
        changed = {name for node in nodes for name, _ in assigned(node)}
        for part in parts:
            changed.update(name for name, _ in part.steps)
        conditions = [condition for way in ways for condition in way.conditions]
        names = {x.name for c in conditions for x in below(c) if isinstance(x, c_ast.ID)} & changed
        if len(names) == 1 and not any(map(reads_memory, conditions)):
            yield names.pop(), min(places)

    def _emptyings(self, name: str, less: Callable[[int], int]) -> int:
        """Return how often a variable is made less until it is 0."""
        most, count = max(map(abs, self._variables.limits(name))), 0
        while most:
            most, count = less(most), count + 1
        return count

    def _is_unsigned(self, name: str) -> bool:
        """Return whether a variable is compared as an unsigned number."""
        is_scalar = self._variables.is_scalar(name)
        return (
            is_scalar
            and self._variables.limits(name)[0] == 0
            and self._variables.width_bits(name) >= 32
        )

    def ranked(self, parts: Sequence[Part], starts: Mapping[str, int]) -> int | None:
        """Return the most iterations where each one brings counters nearer to their ends.

        while (i < 8 && j >= 0) { if (m[i][j] > key) j--; else i++; }       8 + 8

        The sum of the ways that are left is a ranking function: Podelski and Rybalchenko, "A
        complete method for the synthesis of linear ranking functions", VMCAI 2004.
        """
        ways: dict[str, int] = {}
        for part in parts:
            if not part.kind.endswith("test"):
                continue
            condition = self._above_0(part.node, parts)
            if not is_ordered(condition):
                continue
            for name in mentioned(condition):
                way = self._way(condition, name, parts, starts)
                if way is not None:
                    ways[name] = min(way, ways.get(name, way))
        nodes = [part.node for part in parts]
        after = sum(self._nearer(name, by, ways) for part in parts for name, by in part.after)
        through, again = self._progress(nodes, ways)
        # Where every way leads out, none of them comes nearer.
        least = min((x + after for x in (through, again) if x is not None), default=0)
        if not ways or least < 1:
            return None
        # The last question may change something, or be asked behind the first iteration.
        bound = -(-sum(ways.values()) // least) + (0 if asks_first(parts) else 1)
        return bound if bound < MAX_BOUND else None

    def accessed(
        self,
        parts: Sequence[Part],
        counters: Mapping[str, Sequence[c_ast.Node]],
        starts: Mapping[str, int],
    ) -> int | None:
        """Return the most iterations where each one accesses another element of an array.

        while (text[n] != 0) n++;       as many as text has elements: C gives no more a meaning

        One more is an access outside of the array, at which the golden model stops.
        """
        bounds: list[int] = []
        ways_out = (x for x in parts if x.kind.endswith("test") or outcome(x.node).targets)
        if not any(reads_memory(part.node) for part in ways_out):
            # Who ends it is the program, which has not said when.
            return None
        for name, amounts in counters.items():
            steps = [number(by) or 0 for by in amounts]
            step = sum(steps)
            if not step or any(by * step <= 0 for by in steps):
                continue
            low, high = self._capacity.accessed([part.node for part in parts], name)
            if low is None or high is None:
                continue
            if name in starts:
                low, high = (
                    (max(low, starts[name]), high) if step > 0 else (low, min(high, starts[name]))
                )
            bounds.append(max(0, (high - low) // abs(step) + 1))
        bound = min(bounds, default=MAX_BOUND) + 1
        return bound if bound < MAX_BOUND else None

    def forked(
        self,
        parts: Sequence[Part],
        init: c_ast.Node | None,
        before: Sequence[c_ast.Node],
        most: int | None,
    ) -> int | None:
        """Return the most iterations where running the scalars in all ways comes to an end.

        Parameters
        ----------
        init: of the header. before: the statements before the loop.
        most: what else bounds it.
        """
        values = start_values(init, before)
        names = frozenset[str]().union(*(mentioned(part.node) for part in parts))
        told = {k: v for k, v in self._capacity.told_by(before).items() if k not in values}
        starts = {
            name: meet(
                self._capacity.limits(values.get(name, named(name, None))),
                told.get(name, (None, None)),
            )
            for name in sorted(names)
            if self._variables.is_scalar(name)
        }
        return most_iterations(parts, starts, self._variables, most) or most

    def _above_0(self, condition: c_ast.Node, parts: Sequence[Part]) -> c_ast.Node:
        """Return `n > 0` for `n` and `n != 0`, where n is never below 0 and steps down by 1."""
        asked = as_comparison(condition)
        if asked.op != "!=" or number(asked.right) != 0 or not isinstance(asked.left, c_ast.ID):
            return condition
        name = asked.left.name
        if not self._variables.is_scalar(name) or self._variables.limits(name)[0] < 0:
            return condition
        steps = [x for part in parts for x in part.steps if x[0] == name]
        if [number(by) for _, by in steps] != [-1]:
            return condition
        return c_ast.BinaryOp(">", asked.left, asked.right, asked.coord)

    def _way(
        self, condition: c_ast.Node, name: str, parts: Sequence[Part], starts: Mapping[str, int]
    ) -> int | None:
        """Return how far a variable is from where a condition holds no longer, at most."""
        if not self._variables.is_scalar(name) or bounded_counter(condition, {name: None}) is None:
            return None
        moves = [x for part in parts for x in below(part.node) if name in set(assigned_by(x))]
        steps = [stepped for x in moves if (stepped := step_of(x)) is not None]
        if len(moves) > len(steps):
            return None
        steps += [x for part in parts for x in part.after if x[0] == name]
        if not steps:
            return None
        amounts = [self._capacity.limits_inside(by) for _, by in steps]
        is_up = all(low is not None and low >= 0 for low, _ in amounts)
        is_down = all(high is not None and high <= 0 for _, high in amounts)
        if is_up == is_down:
            return None
        end = end_of(condition, name, is_up)
        if end is None:
            return None
        offset, limit, strict = end
        low, high = self._capacity.limits_inside(named(name, condition.coord))
        start = low if is_up else high
        if name in starts:
            start = self._variables.wrapped(name, starts[name])
        stop = self._capacity.limits(limit)[1 if is_up else 0]
        least, most = self._variables.limits(name)
        # What overflows has no meaning in C, and what is narrower or unsigned comes round.
        may_wrap = least == 0 or self._variables.width_bits(name) < INT.bits
        is_unsigned = self._variables.may_be_unsigned(condition)
        sign, farthest = 1 if is_up else -1, self._farthest(parts, name)
        if start is None or stop is None or (farthest is None and (may_wrap or is_unsigned)):
            return None
        # Where it is when the condition holds no longer, it has not come round: neither from where
        # it held last nor, if it is asked behind a step, from the start.
        asked = [start]
        if farthest is not None:
            asked.append(stop - offset + sign * (farthest - (1 if strict else 0)))
            asked += [] if asks_first(parts) else [start + sign * farthest]
        if not all(least <= x <= most for x in asked):
            return None
        if is_unsigned:
            # Neither does what is asked of it, `k - 3 > 2`.
            lowest = self._capacity.limits(limit)[0]
            is_negative = any(x < 0 or not 0 <= x + offset <= most for x in asked)
            if lowest is None or lowest < 0 or is_negative:
                return None
        return max(0, (stop - offset - start) * sign + (0 if strict else 1))

    def _farthest(self, parts: Sequence[Part], name: str) -> int | None:
        """Return how far one iteration moves a variable at most, or None."""
        moved = self._moved([part.node for part in parts], name)
        after = [self._longest(by) for part in parts for x, by in part.after if x == name]
        if moved is None or None in after:
            return None
        return moved + sum(x for x in after if x is not None)

    def _moved(self, items: Sequence[c_ast.Node], name: str) -> int | None:
        """Return how far a way through statements moves a variable at most, or None."""
        total = 0
        for item in items:
            stepped = step_of(item)
            if stepped is not None and stepped[0] == name:
                longest = self._longest(stepped[1])
            elif isinstance(item, c_ast.Compound):
                longest = self._moved(items_of(item), name)
            elif isinstance(item, c_ast.If) and name not in _set_in(item.cond):
                ways = [self._moved(items_of(arm), name) for arm in (item.iftrue, item.iffalse)]
                longest = None if None in ways else max(x for x in ways if x is not None)
            else:
                # A loop takes steps nobody has counted.
                longest = None if name in _set_in(item) else 0
            if longest is None:
                return None
            total += longest
        return total

    def _longest(self, by: c_ast.Node) -> int | None:
        """Return how long a step is at most, up or down."""
        low, high = self._capacity.limits_inside(by)
        return None if low is None or high is None else max(-low, high)

    def _nearer(self, name: str, by: c_ast.Node, ways: Mapping[str, int]) -> int:
        """Return by how much a step brings a variable nearer to its end, at least."""
        if name not in ways:
            return 0
        low, high = self._capacity.limits_inside(by)
        return max(low or 0, -(high or 0)) if (low or 0) >= 0 else -(high or 0)

    def _progress(
        self, items: Sequence[c_ast.Node], ways: Mapping[str, int]
    ) -> tuple[int | None, int | None]:
        """Return the least progress of a way through statements, and of one to a `continue`.

        None stands for a way that there is none of.
        """
        done, again = 0, list[int]()
        for item in items:
            stepped = step_of(item)
            if stepped is not None:
                done += self._nearer(*stepped, ways)
                continue
            if isinstance(item, c_ast.Continue):
                return None, min([*again, done])
            if target_of(item) is not None:
                return None, min(again, default=None)
            arms: list[list[c_ast.Node]] = []
            if isinstance(item, c_ast.Compound):
                arms = [items_of(item)]
            elif isinstance(item, c_ast.If):
                arms = [items_of(item.iftrue), items_of(item.iffalse)]
            if not arms:
                continue
            found = [self._progress(arm, ways) for arm in arms]
            again += [done + x for _, x in found if x is not None]
            through = [x for x, _ in found if x is not None]
            if not through:
                return None, min(again, default=None)
            done += min(through)
        return done, min(again, default=None)


def _set_in(node: c_ast.Node) -> set[str]:
    """Return what a statement or a condition sets."""
    return {name for name, _ in assigned(node)}


def start_values(init: c_ast.Node | None, before: Sequence[c_ast.Node]) -> dict[str, c_ast.Node]:
    """Return what variables are set to before a loop, of what has not changed since."""
    found: dict[str, c_ast.Node] = {}
    parts = split_init(init, None)[0]
    for node in (*before, *parts):
        changed = frozenset(name for name, _ in assigned(node))
        declared = frozenset((node.name,)) if isinstance(node, c_ast.Decl) and node.name else None
        gone = changed | (declared or frozenset())
        found = {k: v for k, v in found.items() if k not in gone and not mentions(v, gone)}
        name, value = setting_of(node) or ("", None)
        if value is not None and not mentions(value, frozenset((name,))):
            found[name] = value
    return found
