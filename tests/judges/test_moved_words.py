"""What is said of words that are moved is what their loops say, one word at a time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from rtlgen.ir.iterations import address_values, predicate_mask
from rtlgen.ir.plan import ALWAYS, NEVER, IndexForm, KernelPlan, LoadOp, Transfer, Workers
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges.histories import UNKNOWN
from rtlgen.judges.moved_words import MovedWords
from rtlgen.judges.tile_clocks import issued_everywhere
from tests.tiling.programs import TRANSPOSED, planned

Change = Callable[[Transfer], Transfer]


def moved(window: str, change: Change = lambda transfer: transfer) -> tuple[KernelPlan, MovedWords]:
    found = planned(TRANSPOSED, 21, (8, 8))
    (workers,) = found.plan.body
    assert isinstance(workers, Workers)
    (region,) = workers.regions
    transfer = change(region.transfer(window))
    return found.plan, MovedWords(found.plan, 0, len(region.levels), transfer)


def shifted(words: int) -> Change:
    def change(transfer: Transfer) -> Transfer:
        form = transfer.word
        return replace(transfer, word=IndexForm(form.coefficients, form.constant + words))

    return change


@pytest.mark.parametrize("window", ["a_in", "a_in1", "a_out"])
def test_words_stay_in_their_array(window: str) -> None:
    plan, words = moved(window)
    assert plan.memory_side is not None
    (array,) = plan.memory_side.arrays
    before = int(words.words.min()) - array.base_words
    behind = array.base_words + array.words(plan.memory_side.word_bits) - 1 - int(words.words.max())
    for shift, is_inside in (
        (0, True), (-before, True), (behind, True), (-before - 1, False), (behind + 1, False),
    ):  # fmt: skip
        _, spoilt = moved(window, shifted(shift))
        if is_inside:
            spoilt.check_places()
        else:
            with pytest.raises(PlanUnsound, match=f"{window} moves words that are not of a"):
                spoilt.check_places()


@pytest.mark.parametrize("window", ["a_in", "a_in1", "a_out"])
def test_a_word_is_found_in_its_place_of_its_tile_alone(window: str) -> None:
    _, words = moved(window)
    pairs = zip(words.tiles.tolist(), words.places.tolist(), strict=True)
    where = {pair: number for number, pair in enumerate(pairs)}
    places = 1 << words.transfer.at.width_bits
    asked = [(tile, place) for tile in range(int(words.tiles.max()) + 2) for place in range(places)]
    found = words._find(*np.array(asked, dtype=np.int64).T).tolist()
    assert [max(number, -1) for number in found] == [where.get(ask, -1) for ask in asked]


def test_where_nothing_is_moved_nothing_is_found() -> None:
    _, words = moved("a_in", lambda transfer: replace(transfer, when=NEVER))
    words.check_places()
    assert (words._find(np.arange(5), np.arange(5)) < 0).all()


def test_a_program_without_tile_loops_has_one_tile() -> None:
    plan, words = moved("a_in")
    whole = MovedWords(plan, 0, 0, words.transfer)
    assert len(whole.tiles) == len(words.tiles) and not whole.tiles.any()


def test_a_load_is_right_where_its_word_is_in_its_place() -> None:
    found = planned(TRANSPOSED, 21, (8, 8))
    (part,) = found.parts
    workers = Workers((part.region,))
    (member,) = issued_everywhere(workers, part.judged(found.program.scop))
    for window in ("a_in", "a_in1"):
        (op,) = (
            op
            for op in member.stream.operations
            if isinstance(op, LoadOp) and op.memory == window and op.address is not None
        )
        assert op.address is not None
        addresses = address_values(op.address, member.counters, member.tiles)
        needed = predicate_mask(op.needed, member.counters) & member.real
        for words, is_right in ((0, True), (1, False), (-1, False)):
            _, right = moved(window, shifted(words))[1].shown(member, op, addresses, needed)
            assert len(right) == needed.sum() > 0
            assert (right == is_right).all()


def test_a_strobe_of_one_byte_behind_a_row_is_refused() -> None:
    """A row has 21 bytes in three words of eight."""
    _, right = moved("a_out")
    assert len(right.written([])[0])

    def wider(transfer: Transfer) -> Transfer:
        strobes = list(transfer.strobes)
        strobes[21 % 8] = ALWAYS
        return replace(transfer, strobes=tuple(strobes))

    _, spoilt = moved("a_out", wider)
    with pytest.raises(PlanUnsound, match="a_out stores behind a row of a"):
        spoilt.written([])


WIDE = """
#include <stdint.h>
void wide(int16_t a[N][2 * N + 1]) {
  for (int i = 0; i < N; i++)
    for (int j = 0; j < 2 * N + 1; j++)
      a[i][j] += 3;
}
"""


def test_elements_of_an_array_that_is_no_square_are_stored_where_they_are() -> None:
    found = planned(WIDE, 5, (2, 4))
    (part,) = found.parts
    transfer = part.region.transfer("a_out")
    words = MovedWords(found.plan, 0, len(part.region.levels), transfer)
    elements, _, tokens = words.written([])
    assert sorted(elements.tolist()) == list(range(5 * 11))
    # Nobody has stored to the window.
    assert set(tokens.tolist()) == {UNKNOWN}
