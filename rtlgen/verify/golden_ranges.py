"""How long a run of a Scop will take, and whether 64-bit arithmetic can hold its iterators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.expr import IndexValue, walk
from rtlgen.ir.scop import ConditionNode, Loop, LoopNode, Node, Scop, Statement

Range = tuple[int, int]

_MAGNITUDE_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True)
class RunBounds:
    """Upper bounds, from interval arithmetic.

    Members
    -------
    instances: statement instances of the whole run.
    magnitude: absolute value of any iterator, bound, subscript or index value on the way.
    """

    instances: int
    magnitude: int

    @property
    def fit_64_bits(self) -> bool:
        """Whether an int64_t holds all of them, and their sums on the way."""
        return self.magnitude < _MAGNITUDE_LIMIT


def run_bounds(scop: Scop) -> RunBounds:
    """Return bounds for a run of `scop`; triangular nests are taken as their boxes."""
    return _nodes(scop, scop.tree, {})


def _nodes(scop: Scop, nodes: Sequence[Node], ranges: Mapping[str, Range]) -> RunBounds:
    instances = magnitude = 0
    for node in nodes:
        if isinstance(node, LoopNode):
            found = _loop(scop, node, ranges)
        elif isinstance(node, ConditionNode):
            inner = _nodes(scop, node.body, ranges)
            found = RunBounds(
                inner.instances, max(inner.magnitude, _largest(_forms(node.conditions), ranges))
            )
        else:
            found = RunBounds(1, _largest(_affines(scop.statement(node.statement)), ranges))
        instances += found.instances
        magnitude = max(magnitude, found.magnitude)
    return RunBounds(instances, magnitude)


def _loop(scop: Scop, node: LoopNode, ranges: Mapping[str, Range]) -> RunBounds:
    loop = node.loop
    low, high, trips = _iterations(loop, ranges)
    # The value that fails the test is computed too, and compared after scaling.
    own = (max(abs(low), abs(high)) + abs(loop.step)) * loop.scale
    own = max(own, _largest((loop.start, loop.stop), ranges))
    if not trips:
        return RunBounds(0, own)
    inner = _nodes(scop, node.body, {**ranges, loop.iterator: (low, high)})
    return RunBounds(trips * inner.instances, max(own, inner.magnitude))


def _iterations(loop: Loop, ranges: Mapping[str, Range]) -> tuple[int, int, int]:
    """Return the smallest and largest value of the iterator, and the number of values at most."""
    start_low, start_high = loop.start.range(ranges)
    stop_low, stop_high = loop.stop.range(ranges)
    if loop.step > 0:
        low, high = start_low, -(-stop_high // loop.scale) - 1
    else:
        low, high = stop_low // loop.scale + 1, start_high
    if high < low:
        return start_low, start_high, 0
    return low, high, (high - low) // abs(loop.step) + 1


def _forms(conditions: Sequence[Constraint]) -> list[Affine]:
    return [c.form if isinstance(c, Congruence) else c for c in conditions]


def _affines(statement: Statement) -> list[Affine]:
    found = [node.affine for node in walk(statement.expr) if isinstance(node, IndexValue)]
    for access in (statement.write, *statement.reads):
        found.extend(s for s in access.subscripts if isinstance(s, Affine))
    return found


def _largest(affines: Sequence[Affine], ranges: Mapping[str, Range]) -> int:
    """Return a bound for the absolute value of every partial sum of `affines`."""
    return max(
        (
            abs(affine.constant)
            + sum(abs(c) * max(map(abs, ranges[name])) for name, c in affine.terms)
            for affine in affines
        ),
        default=0,
    )
