"""Pipelines that are full from reset on.

A pipeline between two levels of a loop nest is fed with a sequence that is known beforehand: the
iterations of the outer level, over and over again. So every value in it comes with its *trace*,
the value for each token of that sequence. The trace gives a register its width and its initial
value: at reset each stage already holds what would be in it had the pipeline been running. Such a
pipeline needs no valid bits, since it is never empty: when its end is taken, all of it moves on.

Traces also simplify: what never changes is a constant, and an operand that never wins a maximum is
not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce

import numpy as np
from amaranth.hdl import Const, Module, Mux, Shape, Signal, Value

from rtlgen.ir.ints import Ints
from rtlgen.ir.operation_costs import reciprocal, signed_digits


@dataclass(frozen=True, eq=False)
class Node:
    """A value that a pipeline computes for every token.

    Members
    -------
    trace: the value for each token, in order; after the last one the sequence starts again.
    operands, compute: what the value is computed from, and how; no operands for a source.
    cycles: 1 if the result is registered, 0 for wiring.
    """

    trace: Ints
    name: str
    operands: tuple[Node, ...] = ()
    compute: Callable[..., Value] | None = None
    cycles: int = 0

    def at(self, token: int) -> int:
        """Return the value for a token, counted through all repetitions of the sequence."""
        return int(self.trace[token % len(self.trace)])

    @cached_property
    def depth(self) -> int:
        """Number of stages from the sources to the value."""
        if self.constant is not None or not self.operands:
            return 0
        return self.cycles + max(operand.depth for operand in self.operands)

    @cached_property
    def constant(self) -> int | None:
        """The value, where it never changes."""
        low, high = self.reach
        return low if low == high else None

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The smallest and the largest value."""
        return int(self.trace.min()), int(self.trace.max())

    @property
    def shape(self) -> Shape:
        low, high = self.reach
        return Shape.cast(range(low, high + 1))


class Pipeline:
    """The registers of one pipeline.

    Parameters
    ----------
    advance: high in a cycle at whose end every stage takes the value of the stage before.
    sources: the signal that shows each source. ahead: the token that they show at reset.
    """

    def __init__(
        self, m: Module, advance: Value, sources: Mapping[Node, Value], ahead: int
    ) -> None:
        self._m = m
        self._advance = advance
        self._sources = sources
        self._ahead = ahead
        self._made: dict[tuple[Node, int], Value] = {}
        self._first: dict[Node, int] = {}

    def at(self, node: Node, depth: int) -> Value:
        """Return the value of `node` for the token that the sources showed `depth` moves ago.

        A value that an earlier stage has is delayed; otherwise it is computed as late as can be,
        since operands that many values share are cheaper to delay than the values are.
        """
        if node.constant is not None:
            return Const(node.constant, node.shape)
        if (node, depth) not in self._made:
            self._made[node, depth] = self._make(node, depth)
        return self._made[node, depth]

    def _make(self, node: Node, depth: int) -> Value:
        if depth == 0 and node in self._sources:
            return self._sources[node]
        if node.compute is None or self._first.setdefault(node, depth) < depth:
            value = self.at(node, depth - 1)
        else:
            before = depth - node.cycles
            value = node.compute(*(self.at(operand, before) for operand in node.operands))
            if node.cycles == 0:
                return value
        initial = node.at(self._ahead - depth)
        register = Signal(node.shape, name=f"{node.name}_{depth}", init=initial)
        with self._m.If(self._advance):
            self._m.d.sync += register.eq(value)
        return register


def fixed(value: int, like: Node) -> Node:
    """Return a node that has `value` for every token of the sequence that `like` has."""
    return Node(np.full(len(like.trace), value, dtype=np.int64), "fixed")


@dataclass(frozen=True, slots=True, eq=False)
class _Term:
    """+ or - node << place."""

    node: Node
    negative: bool
    place: int

    @property
    def trace(self) -> Ints:
        return (self.node.trace << self.place) * (-1 if self.negative else 1)


def linear(
    parts: Sequence[tuple[Node, int]], constant: int, name: str, stages: int | None = None
) -> Node:
    """Return constant + the sum of node * coefficient, one addition or subtraction a stage.

    Parameters
    ----------
    parts: at least one. stages: depth that the sum may have; as many terms are added up in one
        stage as that takes.
    """
    terms = [
        _Term(node, sign < 0, place)
        for node, coefficient in parts
        if node.constant is None
        for place, sign in signed_digits(coefficient)
    ]
    like = parts[0][0]
    constant += sum(node.constant * c for node, c in parts if node.constant is not None)
    if not terms:
        return fixed(constant, like)
    if constant:
        terms.append(_Term(fixed(abs(constant), like), constant < 0, 0))
    width = 2
    while stages is not None and width**stages < len(terms):
        width += 1
    # Huffman's tree is the shallowest; its first sum is small so that all the others are full.
    taken = (len(terms) - 2) % (width - 1) + 2
    while len(terms) > 1:
        terms.sort(key=lambda term: term.node.depth)
        terms = [*terms[taken:], _Term(_added(terms[:taken], name), False, 0)]
        taken = width
    (only,) = terms
    return _added(terms, name) if only.negative else _shifted(only.node, only.place)


def _added(terms: Sequence[_Term], name: str) -> Node:
    def compute(*values: Value) -> Value:
        shifted = [value.shift_left(term.place) for value, term in zip(values, terms, strict=True)]
        signs = [term.negative for term in terms]
        plus = [value for value, negative in zip(shifted, signs, strict=True) if not negative]
        minus = [value for value, negative in zip(shifted, signs, strict=True) if negative]
        first: Value = reduce(lambda a, b: a + b, plus) if plus else Const(0)
        return reduce(lambda a, b: a - b, minus, first)

    total = reduce(lambda a, b: a + b, (term.trace for term in terms))
    return Node(total, name, tuple(term.node for term in terms), compute, 1)


def _shifted(node: Node, place: int) -> Node:
    if place == 0:
        return node
    return Node(node.trace << place, node.name, (node,), lambda value: value.shift_left(place))


def quotient(parts: Sequence[tuple[Node, int]], constant: int, divisor: int, name: str) -> Node:
    """Return floor((constant + the sum of node * coefficient) / divisor).

    A power of two is a shift. Any other divisor is a multiplication by a reciprocal that is exact
    over all values of the trace, which is moved to begin near 0 for that.
    """
    if divisor & (divisor - 1) == 0:
        places = divisor.bit_length() - 1
        dividend = linear(parts, constant, name)
        if places == 0:
            return dividend
        return Node(
            dividend.trace >> places, name, (dividend,), lambda value: value.shift_right(places)
        )
    base = linear(parts, constant, name).reach[0] // divisor
    dividend = linear(parts, constant - base * divisor, f"{name}_dividend")
    by = reciprocal(divisor, dividend.reach[1])
    product = linear([(dividend, by.factor)], 0, f"{name}_product")
    whole = Node(
        product.trace >> by.shift, name, (product,), lambda value: value.shift_right(by.shift)
    )
    return linear([(whole, 1)], base, name)


def largest(nodes: Sequence[Node], name: str) -> Node:
    """Return the maximum of `nodes`, two compared in a stage."""
    return _extreme(nodes, name, np.maximum, lambda a, b: Mux(a > b, a, b))


def smallest(nodes: Sequence[Node], name: str) -> Node:
    """Return the minimum of `nodes`, two compared in a stage."""
    return _extreme(nodes, name, np.minimum, lambda a, b: Mux(a < b, a, b))


def _extreme(
    nodes: Sequence[Node],
    name: str,
    pick: Callable[[Ints, Ints], Ints],
    choose: Callable[[Value, Value], Value],
) -> Node:
    total = reduce(pick, (node.trace for node in nodes))
    kept = list(nodes)
    for node in nodes:
        others = [other.trace for other in kept if other is not node]
        if others and np.array_equal(reduce(pick, others), total):
            kept.remove(node)
    while len(kept) > 1:
        kept.sort(key=lambda node: node.depth)
        a, b = kept[:2]
        kept = [*kept[2:], Node(pick(a.trace, b.trace), name, (a, b), choose, 1)]
    return kept[0]


def is_zero(node: Node, name: str) -> Node:
    """Return 1 where `node` is 0."""
    return Node((node.trace == 0).astype(np.int64), name, (node,), lambda value: value == 0, 1)
