"""Random programs have dead code written into them, of every kind and still with a meaning."""

from __future__ import annotations

import re
from collections import Counter

import pytest

from rtlgen.frontend import parse_text
from rtlgen.planning.analysis import examine, live_program
from tests.oracles.dead_code import with_dead_code
from tests.oracles.random_lanes.program import random_lane_program

SEEDS = range(24)


@pytest.mark.long
def test_a_seed_is_a_program_with_dead_statements() -> None:
    seen: Counter[str] = Counter()
    for seed in SEEDS:
        plain = random_lane_program(seed).text
        text = with_dead_code(seed, plain)
        assert text == with_dead_code(seed, plain)
        seen.update(re.findall(r"\b([tuwse])\d+\b", text))
        program = parse_text(text)
        live = live_program(examine(program))
        seen["dead"] += len(live.scop.statements) < len(program.scop.statements)
        before = {s.name for s in live_program(examine(parse_text(plain))).scop.statements}
        assert len(live.scop.statements) >= len(before)
    assert all(seen[kind] for kind in "tuwse") and seen["dead"] >= len(SEEDS) // 3, seen
