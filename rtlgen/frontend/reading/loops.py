"""Headers of `for` loops to `Loop`s, with proof that C's loop does the same.

The parts of `for` headers: iterator, start, condition, step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.analysis.cases import MAX_RESIDUES, divisions_in, is_by_iterators
from rtlgen.frontend.analysis.quotients import Extreme, Quotient, extremes
from rtlgen.frontend.analysis.ranges import Conjunction, IteratorRange, Ranges
from rtlgen.frontend.analysis.values import ObstacleKind, Value
from rtlgen.frontend.errors import (
    FrontendError,
    IteratorOverflow,
    LoopHeader,
    LoopNeverEnds,
    NonAffineBound,
    ParameterInControl,
)
from rtlgen.frontend.reading.elements import factor_help
from rtlgen.frontend.reading.expressions import ExpressionReader
from rtlgen.frontend.syntax.assigned import (
    below,
    conjuncts,
    mentions,
    setting_of,
    stepped,
    stepped_by,
)
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import IntType
from rtlgen.source import Span

_COMPARISONS = ("<", "<=", ">", ">=", "!=")


@dataclass(frozen=True, slots=True)
class Header:
    """The parts of a `for` header, before they are understood.

    Members
    -------
    declares: the header declares its iterator.
    limits: further conditions, joined to `condition` by `&&`.
    step: read from the third part; not 0.
    """

    iterator: str
    declares: bool
    start: c_ast.Node
    condition: c_ast.BinaryOp
    limits: tuple[c_ast.Node, ...]
    step: c_ast.Node
    step_sign: int
    span: Span


def split_header(node: c_ast.For, locator: Locator) -> Header:
    """Return the parts of a header of the supported form.

    Raises
    ------
    LoopHeader: it is of another form.
    """
    span = locator.start(node)
    setting = setting_of(node.init)
    if node.init is None and (stepped := stepped_by(node.next)):
        # It goes on from the value that was there before.
        setting = stepped, c_ast.ID(stepped, node.next.coord)
    if setting is None:
        raise _header(node.init, span, locator, "set one iterator: `int i = 0`")
    name, start = setting
    declares = isinstance(node.init, c_ast.DeclList)
    conditions = list(conjuncts(node.cond))
    bounds = [part for part in conditions if _compares(part, name)]
    bounds = bounds or [part for part in conditions[:1] if _is_comparison(part)]
    if not bounds:
        raise _header(node.cond, span, locator, "compare the iterator with one bound: `i < N`")
    limits = tuple(part for part in conditions if part is not bounds[0])
    step, sign = _step(node.next, name, span, locator)
    return Header(name, declares, start, bounds[0], limits, step, sign, span)


def _compares(node: c_ast.Node, name: str) -> bool:
    """Return whether `node` is a comparison with the iterator in it."""
    return _is_comparison(node) and any(
        isinstance(part, c_ast.ID) and part.name == name for part in below(node)
    )


def _is_comparison(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.BinaryOp) and node.op in _COMPARISONS


def _header(part: c_ast.Node | None, span: Span, locator: Locator, help_: str) -> LoopHeader:
    if part is None:
        return LoopHeader("a part of the loop header is missing", labels=(Label(span),), help=help_)
    return LoopHeader(
        "this loop header is not supported", labels=(Label(locator.span(part)),), help=help_
    )


def _step(
    node: c_ast.Node | None, name: str, span: Span, locator: Locator
) -> tuple[c_ast.Node, int]:
    """Return the expression of the step and the sign to give it."""
    found = stepped(node)
    if found is not None and found[0] == name and not mentions(found[1], frozenset((name,))):
        return found[1:]
    raise _header(node, span, locator, f"step the iterator by a constant: `{name}++`")


_FLIPPED = {"<": ">", "<=": ">=", ">": "<", ">=": "<=", "!=": "!="}


@dataclass(frozen=True, slots=True)
class CountedLoop:
    """A loop, the range of its iterator in the body, and whether it is ever entered.

    Members
    -------
    limits: what holds in the body besides the bounds of the loop.
    starts_late: some of them hold only after a few iterations.
    """

    loop: Loop
    body: IteratorRange
    is_empty: bool
    limits: tuple[Affine, ...] = ()
    starts_late: bool = False

    def inside(self, ranges: Ranges) -> Ranges:
        """Return the ranges in its body."""
        loop, inside = self.loop, ranges.inside(self.body)
        if abs(loop.step) == 1:
            return inside
        stride = Congruence(Affine.variable(loop.iterator) - loop.start, abs(loop.step))
        return inside.under((stride,))


class LoopReader:
    """Reads one loop.

    Parameters
    ----------
    ranges: what is around the loop.
    reader: returns an expression reader for a place with given ranges; the iterator is in scope
        under its C name when the condition is read.
    """

    def __init__(
        self,
        header: Header,
        iterator: str,
        type_: IntType,
        ranges: Ranges,
        reader: Callable[[Ranges], ExpressionReader],
        locator: Locator,
    ) -> None:
        self._header = header
        self._iterator = iterator
        self._type = type_
        self._ranges = ranges
        self._reader = reader
        self._locator = locator
        self._other_starts: tuple[Affine, ...] = ()
        self._other_stops: tuple[Affine, ...] = ()

    def start(self, step: int) -> Affine:
        """Return the first value, or one before it. The iterator is not yet in scope."""
        reader = self._reader(self._ranges)
        value = reader.arithmetic.convert(reader.value(self._header.start), self._type)
        if value.affine is not None:
            return value.affine
        extreme: Extreme = "greatest" if step > 0 else "least"
        parts = extremes(value.expr, extreme, self._ranges)
        if parts is None or abs(step) != 1:
            raise _bound_refusal(value, self._locator.text(self._header.start))
        first, others = self._first_bound(parts, outermost=max if step > 0 else min)
        here = Affine.variable(self._iterator)
        self._other_starts = tuple(
            other.least_above(here) if step > 0 else other.least_below(here) for other in others
        )
        return first

    def _first_bound(
        self, parts: Sequence[Quotient], outermost: Callable[[Iterable[int]], int]
    ) -> tuple[Affine, tuple[Quotient, ...]]:
        """Return an affine bound and what else bounds; no quotient bounds a loop by itself."""
        for part in parts:
            if part.divisor == 1:
                return part.form, tuple(other for other in parts if other != part)
        end = 0 if outermost is max else 1
        return Affine((), outermost(part.range(self._ranges)[end] for part in parts)), tuple(parts)

    def step(self) -> int:
        """Return the step."""
        reader = self._reader(self._ranges)
        value = reader.value(self._header.step)
        step = reader.arithmetic.number(value)
        if step is None:
            raise LoopHeader(
                "the step of the loop is not a constant",
                labels=(Label(value.span, value.obstacle.reason if value.obstacle else ""),),
            )
        if step == 0:
            raise LoopNeverEnds("the step of the loop is 0", labels=(Label(value.span),))
        return step * self._header.step_sign

    def read(self, start: Affine, step: int, label: str | None) -> CountedLoop:
        """Return the loop. The iterator is in scope."""
        stop = self._stop(start, step)
        # From here on `distance` counts what is left to go, whatever the direction.
        distance = (stop - start) * (1 if step > 0 else -1)
        is_empty = self._ranges.maximum(distance) <= 0
        if not is_empty:
            self._check_end(start, self._exit(start, stop, step))
        loop = Loop(self._iterator, start, stop, step, self._header.span, label=label)
        last = self._last(start, stop, step)
        low, high = (start, last) if step > 0 else (last, start)
        return CountedLoop(
            loop,
            IteratorRange(self._iterator, low, high),
            is_empty,
            (*self._other_starts, *self._other_stops),
            bool(self._other_starts),
        )

    def require_limit(self, limit: c_ast.Node, conditions: Conjunction | None, step: int) -> None:
        """Check that a further condition, once it does not hold, holds no more.

        Then the iterations are those for which all of them hold.

        Raises
        ------
        NonAffineBound: it is not affine, or holds again later.
        """
        if conditions is None or any(self._holds_again(c, step) for c in conditions):
            raise NonAffineBound(
                f"the condition `{self._locator.text(limit)}` is no bound of the loop",
                labels=(Label(self._locator.span(limit), "not affine, or in the wrong direction"),),
                help="join comparisons of the iterator with affine bounds, all in one direction",
            )

    def _holds_again(self, condition: Constraint, step: int) -> bool:
        if isinstance(condition, Congruence):
            return True
        return condition.coefficient(self._iterator) * step > 0

    def _stop(self, start: Affine, step: int) -> Affine:
        """Return the exclusive bound in the direction of `step`.

        The condition is read as if the iterator stayed at its start; `_check_end` reads it again
        with the whole range, so that no wrap in between goes unnoticed.
        """
        node = self._header.condition
        here = self._ranges.inside(IteratorRange(self._iterator, start, start))
        left, right = self._sides(here)
        difference = left - right
        op = node.op
        factor = difference.coefficient(self._iterator)
        if factor < 0:
            difference, factor, op = -difference, -factor, _FLIPPED[op]
        if factor == 0:
            raise LoopHeader(
                f"the condition does not depend on `{self._header.iterator}`",
                labels=(Label(self._locator.span(node)),),
            )
        # The condition is now: factor * iterator op bound.
        bound = Affine.variable(self._iterator) * factor - difference
        if factor > 1 and not bound.is_constant:
            raise NonAffineBound(
                "the bound is a quotient of iterators",
                labels=(Label(self._locator.span(node), f"{factor} * {self._header.iterator}"),),
                help="compare the iterator itself with an affine bound",
            )
        return self._exclusive(op, bound, factor, start, step)

    def _exclusive(self, op: str, bound: Affine, factor: int, start: Affine, step: int) -> Affine:
        below = Affine((), bound.constant // factor) if factor > 1 else bound
        above = Affine((), -(-bound.constant // factor)) if factor > 1 else bound
        span = self._locator.span(self._header.condition)
        if op == "!=":
            self._check_reached(bound, factor, start, step, span)
            return below
        stop = {"<": above, "<=": below + 1, ">": below, ">=": above - 1}[op]
        upward = op in ("<", "<=")
        if upward == (step > 0):
            return stop
        # It steps away from its bound: fine only if it is never entered.
        distance = (stop - start) if upward else (start - stop)
        if self._ranges.maximum(distance) <= 0:
            return start
        raise LoopNeverEnds(
            f"the loop steps by {step}, away from its bound",
            labels=(Label(span, f"`{self._header.iterator}` goes {'up' if step > 0 else 'down'}"),),
            help="turn the comparison or the step round",
        )

    def _check_reached(
        self, bound: Affine, factor: int, start: Affine, step: int, span: Span
    ) -> None:
        distance = bound - start * factor
        stride = factor * step
        steps = [distance.constant, *(c for _, c in distance.terms)]
        behind = self._ranges.minimum(distance * (1 if step > 0 else -1)) < 0
        if behind or any(c % stride for c in steps):
            reason = "starts beyond it" if behind else f"is jumped over by steps of {step}"
            raise LoopNeverEnds(
                "the loop may miss the value that ends it",
                labels=(Label(span, f"the value {reason}"),),
                help=self._remedy(distance, step),
            )

    def _remedy(self, distance: Affine, step: int) -> str:
        """Return a comparison for which the loop has the iterations that were meant."""
        if self._ranges.maximum(distance * (1 if step > 0 else -1)) <= 0:
            return "turn the step round, or let the loop start before its end"
        return f"compare with `{'<' if step > 0 else '>'}`"

    def _sides(self, ranges: Ranges) -> tuple[Affine, Affine]:
        """Return both sides of the condition, in the type in which C compares them."""
        node = self._header.condition
        reader = self._reader(ranges)
        left, right = reader.value(node.left), reader.value(node.right)
        below, above = reader.arithmetic.compared(left, right)
        if node.op in (">", ">="):
            below, above = above, below
        least = self._bounds(above, "least", ranges)
        greatest = self._bounds(below, "greatest", ranges)
        # One bound makes the loop; the others hold in its body.
        low, other_lows = self._first_bound(greatest, outermost=max)
        high, other_highs = self._first_bound(least, outermost=min)
        strict = int(node.op in ("<", ">"))
        self._other_stops = (
            *(other.least_above(high - strict) for other in other_lows),
            *(other.least_below(low + strict) for other in other_highs),
        )
        sides = (low, high)
        return sides if node.op not in (">", ">=") else (sides[1], sides[0])

    def _bounds(self, value: Value, extreme: Extreme, ranges: Ranges) -> tuple[Quotient, ...]:
        """Return quotients, of which a side of the condition is the extreme."""
        if value.affine is not None:
            return (Quotient(value.affine),)
        parts = None
        if self._header.condition.op != "!=":
            parts = extremes(value.expr, extreme, ranges)
        if parts is None or any(part.form.coefficient(self._iterator) for part in parts):
            node = self._header.condition
            side = node.left if value.span == self._locator.span(node.left) else node.right
            raise _bound_refusal(value, self._locator.text(side))
        return parts

    def _exit(self, start: Affine, stop: Affine, step: int) -> Affine:
        """Return the value with which the loop ends, or one just beyond it."""
        if start.is_constant and stop.is_constant:
            trips = max(0, -(-(stop.constant - start.constant) // step))
            return start + trips * step
        return stop + (step - 1 if step > 0 else step + 1)

    def _last(self, start: Affine, stop: Affine, step: int) -> Affine:
        """Return the last value in the body, or one just beyond it."""
        if start.is_constant and stop.is_constant:
            return self._exit(start, stop, step) - step
        return stop - (1 if step > 0 else -1)

    def _check_end(self, start: Affine, end: Affine) -> None:
        """Check that neither the iterator nor the condition wraps up to the last test."""
        low = min(self._ranges.minimum(start), self._ranges.minimum(end))
        high = max(self._ranges.maximum(start), self._ranges.maximum(end))
        name = self._header.iterator
        span = self._locator.span(self._header.condition)
        if low < self._type.minimum or high > self._type.maximum:
            value = low if low < self._type.minimum else high
            raise IteratorOverflow(
                f"`{name}` cannot reach the end of the loop",
                labels=(Label(span, f"ends when `{name}` is {value}"),),
                notes=(
                    f"`{name}` is {self._type}, where {value} wraps to {self._type.wrap(value)}",
                ),
                help="use a signed or wider type for the iterator",
            )
        whole = IteratorRange(self._iterator, Affine((), low), Affine((), high))
        try:
            self._sides(self._ranges.inside(whole))
        except NonAffineBound as error:
            if not self._wraps(self._ranges.inside(whole)):
                raise
            raise IteratorOverflow(
                "the condition of the loop wraps round",
                labels=error.diagnostic.labels,
                help="use signed types on both sides of the comparison",
            ) from error

    def _wraps(self, ranges: Ranges) -> bool:
        """Return whether it is for wrapping that a side of the condition is not affine."""
        node, reader = self._header.condition, self._reader(ranges)
        left, right = reader.value(node.left), reader.value(node.right)
        obstacles = (side.obstacle for side in reader.arithmetic.compared(left, right))
        return any(o is not None and o.kind is ObstacleKind.WRAPS for o in obstacles)


def _bound_refusal(value: Value, text: str) -> FrontendError:
    obstacle = value.obstacle
    if obstacle is None:
        raise ValueError("an affine value needs no refusal")
    label = Label(obstacle.span, obstacle.reason)
    if obstacle.kind is ObstacleKind.ARGUMENT:
        return ParameterInControl(
            f"the loop bound `{text}` depends on a scalar parameter",
            labels=(label,),
            help=f"{obstacle.fix}, or say what it may be: assert({obstacle.parameter} <= 64)",
        )
    help_ = factor_help(obstacle.reason)
    help_ = help_ or "use constants plus constant multiples of outer iterators"
    if obstacle.kind is ObstacleKind.DATA:
        help_ = "bound it by a number, too: `i < n && i < 100`"
    notes: tuple[str, ...] = ()
    by = max((division.modulus for division in divisions_in(value.expr)), default=0)
    if by > MAX_RESIDUES and is_by_iterators(value.expr):
        notes = (
            f"there would be a loop for each of {by} remainders or for each quotient, and "
            f"{MAX_RESIDUES} loops are the most",
        )
        help_ = (
            f"write a loop over the quotient by {by} around one over the remainder, and compute "
            "the iterator from them"
        )
    what = f"the loop bound `{text}` is not affine"
    if text in ("while", "do"):
        what = f"what bounds this `{text}` is not affine"
        help_ = "count its iterations in its condition: `k < 100 && ...; k++`"
    return NonAffineBound(
        what,
        labels=(label, *obstacle.others),
        notes=notes,
        help=help_,
    )
