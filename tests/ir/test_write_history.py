"""A history of writes answers as a list of them does, one question at a time."""

from __future__ import annotations

import random

import numpy as np

from rtlgen.ir.issued_instances import tokens_at
from rtlgen.ir.write_history import INITIAL, WriteHistory, history_of
from rtlgen.judges.replay import STALE

Write = tuple[int, int, int]
"""Element, time and token."""


def listed(writes: list[Write]) -> WriteHistory:
    table = np.array(writes, dtype=np.int64).reshape(-1, 3)
    return WriteHistory(table[:, 0], table[:, 1], table[:, 2])


def last_before(writes: list[Write], element: int, time: float) -> int:
    earlier = [(at, token) for written, at, token in writes if written == element and at < time]
    return max(earlier)[1] if earlier else INITIAL


def random_writes(draw: random.Random) -> list[Write]:
    """Return writes of a few elements, no two of an element at one time."""
    elements, times = draw.randint(1, 4), draw.randint(1, 6)
    places = [(e, t) for e in range(elements) for t in range(times)]
    chosen = draw.sample(places, draw.randint(0, len(places)))
    return [(element, time, token) for token, (element, time) in enumerate(chosen)]


def test_it_answers_as_the_list_of_writes() -> None:
    draw = random.Random(1)
    for _ in range(200):
        writes = random_writes(draw)
        history = listed(writes)
        latest = max((time for _, time, _ in writes), default=0)
        asked = [(e, t) for e in range(6) for t in range(latest + 5)]
        elements, times = np.array(asked, dtype=np.int64).T
        expected = [last_before(writes, element, time) for element, time in asked]
        assert history.before(elements, times).tolist() == expected
        each = np.arange(6, dtype=np.int64)
        assert history.last(each).tolist() == [last_before(writes, e, np.inf) for e in range(6)]
        written = {(element, time) for element, time, _ in writes}
        for element, time in asked:
            one = np.array([element]), np.array([time])
            assert history.meets(*one) == ((element, time) in written)
        assert history.elements.tolist() == sorted({element for element, _, _ in writes})
        assert len(history) == len(writes)


def test_writes_known_in_parts_are_all_there() -> None:
    columns = [np.array([2, 0]), np.array([5])], [np.array([1, 3]), np.array([2])]
    history = history_of(*columns, [np.array([7, 8]), np.array([9])])
    assert history.last(np.arange(7)).tolist() == [8, INITIAL, 7, INITIAL, INITIAL, 9, INITIAL]
    assert len(history) == 3
    assert len(history_of([], [], [])) == 0


def test_the_token_of_a_cycle_is_the_one_presented_in_it() -> None:
    presented, tokens = np.array([2, 4, 5, 9]), np.array([0, 1, 2, 3])
    found = tokens_at(presented, tokens, np.arange(12)).tolist()
    at = dict(zip(presented.tolist(), tokens.tolist(), strict=True))
    assert [at.get(cycle) for cycle in range(12)] == [t if t >= 0 else None for t in found]
    assert INITIAL not in found


def test_what_is_no_instance_looks_like_none() -> None:
    """Instances count from 0, and a memory that was never written matches no stale one."""
    assert INITIAL < 0 and STALE < 0 and INITIAL != STALE
