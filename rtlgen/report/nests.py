"""The report on loop nests: class, trip counts, flattening, cycles; here and in other tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import LoopNode, Node, Scop, statements_under
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.trips import LoopTrips
from rtlgen.report.aocl import hard_cases
from rtlgen.report.loop_facts import Issue, LoopFacts, loop_facts, span_cycles
from rtlgen.report.nest_class import classify, loop_name, outermost_loops
from rtlgen.report.ug1399 import ug1399_estimate


def nest_report(
    scop: Scop,
    trips: Sequence[LoopTrips],
    plan: KernelPlan,
    dependences: Sequence[Dependence],
    own_iis: Mapping[str, int] | None = None,
) -> list[dict[str, Any]]:
    """Return one JSON-serialisable entry for every outermost loop, in program order.

    Parameters
    ----------
    scop: the program as written. trips: of every loop of it, in program order.
    own_iis: of statements that the plan has in skewed loops, the II in the loops as written.
    """
    facts = loop_facts(scop, trips, plan, own_iis)
    nests = outermost_loops(scop.tree)
    return [_nest(nest, nests, facts, dependences) for nest in nests]


def _nest(
    nest: LoopNode,
    nests: Sequence[LoopNode],
    facts: LoopFacts,
    dependences: Sequence[Dependence],
) -> dict[str, Any]:
    kind, reason = classify(nest)
    estimate = ug1399_estimate(nest, facts)
    return {
        "class": kind,
        "reason": reason,
        "loops": _loops(nest, (), facts),
        "statements": list(statements_under((nest,))),
        "line": nest.loop.span.line,
        "latency_cycles": span_cycles(facts.issued_in(nest)),
        "beside": [
            other.loop.span.line
            for other in nests
            if other is not nest and _overlap(facts.issued_in(nest), facts.issued_in(other))
        ],
        "ug1399": {
            "flattened": list(estimate.flattened),
            "lost_cycles": estimate.lost_cycles,
            "cycles": estimate.cycles,
        },
        "aocl": [case.to_json() for case in hard_cases(nest, facts, dependences)],
    }


def _overlap(left: Sequence[Issue], right: Sequence[Issue]) -> bool:
    """Return whether two nests issue in the same cycles, so that neither's span is its cost."""
    if not left or not right:
        return False
    first = [min(issue.first_cycle for issue in issues) for issues in (left, right)]
    last = [max(issue.last_issue_cycle for issue in issues) for issues in (left, right)]
    return first[0] <= last[1] and first[1] <= last[0]


def _loops(node: LoopNode, outer: tuple[str, ...], facts: LoopFacts) -> list[dict[str, Any]]:
    """Return the entries of a loop in the loops `outer`, and of the loops inside of it."""
    loop, trips = node.loop, facts.trips_of(node)
    path = (*outer, loop_name(loop))
    flattened = ["_".join(names) for names in _leaf_paths(node.body, path) if len(names) > 1]
    kind, reason = classify(node)
    issues = facts.issued_in(node)
    slowest = max(issues, key=lambda issue: issue.stream.ii, default=None)
    entry = {
        "name": loop.iterator,
        "label": loop.label,
        "depth": len(outer),
        "start": str(loop.start),
        "stop": str(loop.stop),
        "step": loop.step,
        "line": loop.span.line,
        "class": kind,
        "reason": reason,
        "trips": {
            "min": trips.least,
            "max": trips.most,
            "average": round(trips.average, 3),
            "total": trips.total,
            "at_most": loop.is_guarded,
        },
        "flattened": bool(flattened),
        "flattened_into": flattened,
        "ii": slowest.stream.ii if slowest else None,
        "ii_reason": slowest.stream.ii_reason if slowest else "never runs",
        "iteration_latency_cycles": max((i.stream.depth_cycles for i in issues), default=0),
        "latency_cycles": span_cycles(issues),
    }
    inner = [entry for child in outermost_loops(node.body) for entry in _loops(child, path, facts)]
    return [entry, *inner]


def _leaf_paths(nodes: tuple[Node, ...], path: tuple[str, ...]) -> list[tuple[str, ...]]:
    """Return the names of the loops around each innermost loop; each path becomes one loop."""
    inner = outermost_loops(nodes)
    if not inner:
        return [path]
    paths = [p for child in inner for p in _leaf_paths(child.body, (*path, loop_name(child.loop)))]
    return list(dict.fromkeys(paths))
