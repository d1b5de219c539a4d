"""Nests that no minimal trip count helps are given up before any is tried."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from rtlgen.poly.instances import Pairs, statement_points
from rtlgen.transforms.common_nest import padded_nest
from rtlgen.transforms.padding import Effort
from rtlgen.transforms.period import Grouping
from rtlgen.transforms.precedence import Precedence
from rtlgen.transforms.sink import common_nests
from tests.transforms.test_sink import LU, analysed, members_of

ENOUGH = 1_000_000_000


def padded(backward: Sequence[str]) -> tuple[Grouping | None, int, int]:
    """Return what the first nest of an LU becomes, what that cost, and the dependent pairs.

    Parameters
    ----------
    backward: statements of which a later instance must run before an earlier one.
    """
    analysis = analysed(LU, 6)
    members, precedences = members_of(analysis)
    nest = next(iter(common_nests(members, analysis.sets, precedences)))
    changed = [reversed_(p) if p.source == p.sink in backward else p for p in precedences]
    points = {s.name: statement_points(analysis.scop, s) for s in analysis.scop.statements}
    effort = Effort(ENOUGH)
    found = padded_nest(members, nest, points, changed, changed, {}, None, effort)
    pairs = sum(len(p.related.sources) for p in changed if isinstance(p.related, Pairs))
    return found, ENOUGH - effort.left, pairs


def reversed_(precedence: Precedence) -> Precedence:
    assert isinstance(precedence.related, Pairs)
    related = Pairs(precedence.related.sinks, precedence.related.sources)
    return replace(precedence, related=related)


def test_a_nest_in_which_an_instance_comes_too_late_costs_one_look() -> None:
    found, _, pairs = padded(())
    assert found is not None and pairs > 0
    for statement in ("S0", "S2"):
        found, cost, pairs = padded((statement,))
        assert found is None
        assert cost == pairs
