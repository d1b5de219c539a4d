"""The words of all tiles, counted where loops are alike, are those that are found one by one."""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest

from rtlgen.ir.iterations import Inside, iterations_of, predicate_mask
from rtlgen.ir.levels import Condition, FoldedForm, IndexForm, Level, LevelBound, Predicate
from rtlgen.ir.plan_error import PlanError
from rtlgen.ir.tiled import Transfer
from rtlgen.ir.transfer_patterns import words_in_tiles


def _form(rng: random.Random, depth: int, count: int, constant: int = 12) -> IndexForm:
    outer = [rng.choice((0, 0, 1, 1, 2, -1)) for _ in range(depth)]
    return IndexForm((*outer, *(0,) * (count - depth)), rng.randrange(-constant, constant + 1))


def _levels(rng: random.Random, depth: int, count: int) -> tuple[Level, ...]:
    levels = []
    for place in range(depth):
        lowers, uppers = (
            tuple(
                LevelBound(_form(rng, place, count), rng.choice((1, 1, 2, 3)))
                for _ in range(rng.randrange(0, 3))
            )
            for _ in range(2)
        )
        extent = rng.randrange(1, 12)
        if lowers and rng.random() < 0.5:
            # A skewed loop, which begins later and later, and has as many iterations each time.
            form, length = lowers[0].form, rng.randrange(0, 5)
            lowers, extent = lowers[:1], 40
            uppers = (replace(lowers[0], form=replace(form, constant=form.constant + length)),)
        levels.append(Level(extent, f"t{place}", lowers, uppers))
    return (*levels, *(Level(rng.randrange(1, 5), f"w{k}") for k in range(count - depth)))


def _transfer(rng: random.Random) -> tuple[Transfer, int]:
    depth, inside = rng.randrange(0, 4), rng.randrange(0, 3)
    count = depth + inside
    alternatives = tuple(
        tuple(
            Condition(_form(rng, count, count), rng.random() < 0.2)
            for _ in range(rng.randrange(0, 4))
        )
        for _ in range(rng.randrange(1, 3))
    )
    nothing = IndexForm((0,) * count)
    levels = _levels(rng, depth, count)
    where = Predicate(alternatives)
    return Transfer("load", "w", "a", levels, nothing, FoldedForm((), 1), where), depth


def _is_valid(transfer: Transfer, depth: int) -> bool:
    """Tell whether no level is empty, counts below 0, or goes beyond its extent."""
    levels = transfer.levels[:depth]
    try:
        counters = iterations_of(levels)
    except PlanError:
        return False
    return bool(np.all(counters < [level.extent for level in levels]))


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("seed", range(200))
def test_words_of_alike_iterations_are_counted_for_all(seed: int) -> None:
    rng = random.Random(seed)
    while not _is_valid(*(case := _transfer(rng))):
        pass
    transfer, depth = case
    every = predicate_mask(transfer.when, iterations_of(transfer.levels))
    assert words_in_tiles(transfer, depth) == int(every.sum())


def _with_equality(rng: random.Random) -> tuple[Transfer, int]:
    """Return a transfer in which an equality and other conditions hold of the same counters."""
    transfer, depth = _transfer(rng)
    count = len(transfer.levels)
    conditions = [Condition(_form(rng, count, count), n == 0) for n in range(3)]
    rng.shuffle(conditions)
    return replace(transfer, when=Predicate((tuple(conditions),))), depth


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("seed", range(200))
def test_conditions_that_hold_with_an_equality(seed: int) -> None:
    rng = random.Random(seed)
    while True:
        transfer, depth = _with_equality(rng)
        if depth and _is_valid(transfer, depth):
            every = predicate_mask(transfer.when, iterations_of(transfer.levels))
            if every.any():
                break
    assert words_in_tiles(transfer, depth) == int(every.sum())


def test_what_an_equality_leaves_no_doubt_of_is_not_counted_row_by_row() -> None:
    # In the alternative, i = j + 2, so that i - j <= 3 leaves out nothing wherever the row is.
    forms = (IndexForm((1, -1), -2), IndexForm((-1, 1), 3))
    levels = (Level(5000, "i"), Level(5000, "j"))
    outer = np.arange(2, 5000).reshape(-1, 1)
    where = Predicate((tuple(Condition(f, n == 0) for n, f in enumerate(forms)),))
    told = [len(np.unique(v)) for v in Inside.of(outer, levels[1:]).telling_predicate(where)]
    assert max(told[1:]) == 1


def test_what_inner_counters_make_up_for_in_one_step_is_alike() -> None:
    # 64 (2 w - 1) + i is 0 or more from w = 1 on, but for the last i from w = 0 on.
    levels = (Level(100, "i"), Level(3, "w"))
    outer = np.arange(100).reshape(-1, 1)
    for equal, kinds in ((False, 2), (True, 2)):
        where = Predicate(((Condition(IndexForm((1, 128), -64), equal),),))
        (told,) = Inside.of(outer, levels[1:]).telling_predicate(where)
        assert len(np.unique(told)) == kinds
    # As many as there are without a counter that makes up for anything.
    (told,) = Inside.of(outer, levels[1:]).telling_predicate(
        Predicate(((Condition(IndexForm((1, 1), -64)),),))
    )
    assert len(np.unique(told)) == 4
