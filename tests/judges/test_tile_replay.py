"""The judge of tiles refuses each single thing that is wrong in a plan."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import replace

import numpy as np
import pytest

from rtlgen.ir.operations import is_division
from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    ChooseOp,
    Field,
    FoldedForm,
    ForwardOp,
    IndexForm,
    LoadOp,
    Predicate,
    Region,
    Stream,
    TiledRegion,
    Transfer,
    Wait,
    Workers,
)
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges import tile_replay
from rtlgen.judges.histories import OffChipHistory
from rtlgen.judges.tile_replay import needed_by_host, replay_tiles
from rtlgen.tiling.plan import TiledProgram
from tests.judges.spoilt import changed_op
from tests.tiling import spoilt
from tests.tiling.programs import (
    JACOBI,
    KIB,
    PRODUCT,
    TRANSPOSED,
    is_proven,
    planned,
)
from tests.tiling.spoilt import narrower, on_kept

PARTLY = """
void partly(int A[N + 2], int B[N + 2], int C[N + 2]) {
  for (int i = 1; i < N - 1; i++)
    B[i] = A[i] + B[i - 1] + C[3];
}
"""


THREE_BEFORE = """
void three_before(int a[N]) {
  for (int i = 3; i < N; i++)
    a[i] = a[i - 3] + 1;
}
"""


ONCE = """
void once(int a[N], int b[N]) {
  b[0] = a[3] + 1;
  for (int i = 1; i < N; i++)
    b[i] = a[i] ^ b[i - 1];
}
"""


def transposed() -> TiledProgram:
    return planned(TRANSPOSED, 21, (8, 8))


def waiting() -> TiledProgram:
    """Return a plan whose sums go off chip after each tile; the next tile loads them."""
    return planned(PRODUCT, 8, (4, 4, 4), budget_bits=KIB // 2)


def judged(region: TiledRegion, found: TiledProgram | None = None) -> None:
    found = found or transposed()
    (part,) = found.parts
    workers = Workers((region,))
    plan = replace(found.plan, body=(workers,))
    scop = found.program.scop
    needed = needed_by_host(plan, scop)
    assert replay_tiles(plan, workers, part.judged(scop), needed) is not None


def with_stream(change: Callable[[Stream], Stream]) -> TiledRegion:
    (part,) = transposed().parts
    return spoilt.with_stream(part.region, change)


def with_transfer(
    window: str, change: Callable[[Transfer], Transfer], found: TiledProgram | None = None
) -> TiledRegion:
    (part,) = (found or transposed()).parts
    return spoilt.with_transfer(part.region, window, change)


def test_the_plan_itself_is_sound() -> None:
    (part,) = transposed().parts
    judged(part.region)


@pytest.mark.parametrize("field", [0, 1])
def test_a_fold_one_bit_too_narrow_is_refused(field: int) -> None:
    with pytest.raises(PlanUnsound, match=r"takes a wrong value of a|in the cycle of a store"):
        judged(with_stream(lambda stream: on_kept(stream, lambda a: narrower(a, field))))


@pytest.mark.parametrize(("name", "field"), [("a_kept", 0), ("a_kept", 1), ("a_kept1", 0)])
def test_a_fold_too_narrow_for_one_read_is_refused(name: str, field: int) -> None:
    found = planned(TRANSPOSED, 64, (8, 8), budget_bits=KIB)
    (part,) = found.parts
    judged(part.region, found)
    region = spoilt.with_stream(
        part.region, lambda stream: on_kept(stream, lambda a: narrower(a, field), name)
    )
    with pytest.raises(PlanUnsound, match=r"takes a wrong value of a|in the cycle of a store"):
        judged(region, found)


def in_strips() -> TiledProgram:
    """Return a plan that runs in strips, since its values stay on chip no longer than for one."""
    found = planned(TRANSPOSED, 64, (4, 4), budget_bits=7 * 512)
    assert found.parts[0].tiling.woven == 0
    return found


@pytest.mark.parametrize("field", [0, 1])
def test_a_fold_too_narrow_for_a_strip_is_refused(field: int) -> None:
    found = in_strips()
    (part,) = found.parts
    judged(part.region, found)
    region = spoilt.with_stream(
        part.region, lambda stream: on_kept(stream, lambda a: narrower(a, field))
    )
    with pytest.raises(PlanUnsound, match=r"takes a wrong value of a|in the cycle of a store"):
        judged(region, found)


def test_a_load_that_does_not_wait_for_the_strip_before_is_refused() -> None:
    found = in_strips()
    (waits,) = (t.window for t in found.parts[0].region.transfers if t.after)
    region = with_transfer(waits, lambda t: replace(t, after=()), found)
    with pytest.raises(PlanUnsound):
        judged(region, found)


def moved_by(address: FoldedForm) -> FoldedForm:
    first, *rest = address.fields
    form = IndexForm(first.form.coefficients, first.form.constant + 1)
    return replace(address, fields=(Field(form, first.width_bits), *rest))


@pytest.mark.parametrize("memory", ["a_in", "a_in1"])
def test_a_load_of_the_neighbour_is_refused(memory: str) -> None:
    def change(stream: Stream) -> Stream:
        operations = tuple(
            replace(op, address=moved_by(op.address))
            if isinstance(op, LoadOp) and op.memory == memory and isinstance(op.address, FoldedForm)
            else op
            for op in stream.operations
        )
        return replace(stream, operations=operations)

    with pytest.raises(PlanUnsound, match=r"takes a wrong value of a"):
        judged(with_stream(change))


def test_a_wrong_choice_is_refused() -> None:
    def change(stream: Stream) -> Stream:
        operations = tuple(
            replace(op, when=NEVER) if isinstance(op, ChooseOp) else op for op in stream.operations
        )
        return replace(stream, operations=operations)

    with pytest.raises(PlanUnsound, match=r"takes a wrong value of a"):
        judged(with_stream(change))


@pytest.mark.parametrize("memory", ["a_in", "a_in1"])
def test_a_value_that_is_not_asked_for_is_wrong_and_meets_no_store(memory: str) -> None:
    def change(stream: Stream) -> Stream:
        operations = tuple(
            replace(op, needed=NEVER) if isinstance(op, LoadOp) and op.memory == memory else op
            for op in stream.operations
        )
        return replace(stream, operations=operations)

    with pytest.raises(PlanUnsound, match=r"takes a wrong value of a"):
        judged(with_stream(change))


IN_PAIRS = """
void in_pairs(const int A[N][N], int B[N]) {
  for (int i = 0; i < N; i++)
    for (int k = i; k < N; k += 2)
      B[i] += A[k][i] + (k + 1 < N ? A[k + 1][i] : 0);
}
"""


def in_pairs() -> TiledProgram:
    """Return a plan of which one read is not made in the last row, where there is no element."""
    return planned(IN_PAIRS, 8, (4, 2))


def test_what_a_statement_does_not_read_need_not_be_there() -> None:
    assert is_proven(in_pairs())
    assert needs(in_pairs(), {"A": False, "B": True}) == {
        "A": [row >= column for row in range(8) for column in range(8)],
        "B": [True] * 8,
    }


def test_what_a_statement_reads_in_some_iterations_is_missed_in_these() -> None:
    found = in_pairs()
    (stream,) = found.parts[0].region.kernel.streams
    reads = found.program.scop.statements[0].reads
    (partial,) = (number for number, read in enumerate(reads) if read.is_partial)
    operations = tuple(
        replace(op, needed=NEVER) if isinstance(op, LoadOp) and op.read == partial else op
        for op in stream.operations
    )
    spoilt = replace(stream, operations=operations)
    region = found.parts[0].region
    with pytest.raises(PlanUnsound, match=r"S0 takes a wrong value of A"):
        judged(replace(region, kernel=replace(region.kernel, streams=(spoilt,))), found)


def test_what_only_islands_do_is_refused_in_tiles() -> None:
    """Nothing here proves what a read passes on, or what is kept of a load."""

    def passing(stream: Stream) -> Stream:
        read = next(op.read for op in stream.operations if isinstance(op, LoadOp))
        operations = tuple(
            replace(op, taps=tuple(replace(tap, read=read) for tap in op.taps))
            if isinstance(op, ForwardOp)
            else op
            for op in stream.operations
        )
        return replace(stream, operations=operations)

    def keeping(stream: Stream) -> Stream:
        load = next(n for n, op in enumerate(stream.operations) if isinstance(op, LoadOp))
        return replace(stream, copies=tuple(replace(copy, value=load) for copy in stream.copies))

    (part,) = waiting().parts
    (stream,) = part.region.kernel.streams
    assert any(op.taps for op in stream.operations if isinstance(op, ForwardOp))
    found = waiting()
    with pytest.raises(PlanUnsound, match="passes on what it has loaded"):
        judged(spoilt.with_stream(part.region, passing), found)
    assert transposed().parts[0].region.kernel.streams[0].copies
    with pytest.raises(PlanUnsound, match="keeps what it has loaded"):
        judged(with_stream(keeping))


def test_words_that_are_not_loaded_are_missed() -> None:
    with pytest.raises(PlanUnsound, match=r"takes a wrong value of a"):
        judged(with_transfer("a_in", lambda t: replace(t, when=NEVER)))


def test_words_that_are_loaded_for_another_tile_are_no_help() -> None:
    def late(transfer: Transfer) -> Transfer:
        coefficients = list(transfer.word.coefficients)
        word = IndexForm(tuple(coefficients), transfer.word.constant + 8)
        return replace(transfer, word=word)

    with pytest.raises(PlanUnsound):
        judged(with_transfer("a_in", late))


def test_a_load_that_does_not_wait_for_a_store_is_refused() -> None:
    found = waiting()
    judged(with_transfer("C_in", lambda t: t, found), found)
    (part,) = found.parts
    assert part.region.transfer("C_in").after == (Wait("C_out", 1, 3),)
    with pytest.raises(PlanUnsound, match=r"takes a wrong value of C"):
        judged(with_transfer("C_in", lambda t: replace(t, after=()), found), found)


def test_a_load_that_waits_for_a_store_too_early_is_refused() -> None:
    found = waiting()
    with pytest.raises(PlanUnsound, match=r"takes a wrong value of C"):
        judged(
            with_transfer("C_in", lambda t: replace(t, after=(Wait("C_out", 2, 3),)), found), found
        )


def test_a_strobe_too_wide_is_refused() -> None:
    with pytest.raises(PlanUnsound, match=r"does not end with the last values|behind a row"):
        judged(
            with_transfer("a_out", lambda t: replace(t, strobes=tuple(ALWAYS for _ in t.strobes)))
        )


def test_a_strobe_that_is_missing_is_refused() -> None:
    with pytest.raises(PlanUnsound, match=r"does not end with the last values"):
        judged(with_transfer("a_out", lambda t: replace(t, strobes=(NEVER, *t.strobes[1:]))))


def test_words_outside_of_their_array_are_refused() -> None:
    with pytest.raises(PlanUnsound, match=r"moves words that are not of a"):
        judged(with_transfer("a_out", lambda t: replace(t, when=ALWAYS)))


def test_two_words_in_one_place_are_refused() -> None:
    def change(transfer: Transfer) -> Transfer:
        first, *rest = transfer.at.fields
        nowhere = IndexForm((0,) * len(transfer.levels))
        at = replace(transfer.at, fields=(replace(first, form=nowhere), *rest))
        return replace(transfer, at=at)

    with pytest.raises(PlanUnsound, match=r"two words in one place"):
        judged(with_transfer("a_out", change))


def test_a_store_in_padding_is_refused() -> None:
    def change(stream: Stream) -> Stream:
        return replace(stream, store=replace(stream.store, when=ALWAYS))

    with pytest.raises(PlanUnsound, match=r"in a padding iteration"):
        judged(with_stream(change))


def test_a_load_in_the_cycle_of_a_store_is_refused() -> None:
    found = planned(PRODUCT, 8, (1, 2, 2))
    (part,) = found.parts
    (stream,) = part.region.kernel.streams
    for later, message in (
        (0, None),
        (1, "S0 loads from C_kept in the cycle of a store"),
        (2, "S0 takes a wrong value of C"),
    ):
        copies = tuple(replace(copy, stage=copy.stage + later) for copy in stream.copies)
        kernel = Region.whole((replace(stream, copies=copies),))
        with pytest.raises(PlanUnsound, match=message) if message else nullcontext():
            judged(replace(part.region, kernel=kernel), found)


def test_plans_are_replayed_up_to_a_number_of_iterations(monkeypatch: pytest.MonkeyPatch) -> None:
    found = waiting()
    (part,) = found.parts
    (stream,) = part.region.kernel.streams
    iterations = part.region.tiles * stream.count
    assert iterations == 8 * 8 * 8
    for most, is_replayed in ((iterations, True), (iterations - 1, False)):
        monkeypatch.setattr(tile_replay, "MAX_REPLAYED", most)
        assert (needs(found, {name: False for name in "ABC"}) is not None) == is_replayed


def needs(found: TiledProgram, later: dict[str, bool]) -> dict[str, list[bool]] | None:
    """Return what is needed before the tiles, where some arrays are needed after them."""
    (part,) = found.parts
    scop = found.program.scop
    after = {
        name: np.full(mask.shape, later[name])
        for name, mask in needed_by_host(found.plan, scop).items()
    }
    workers = Workers((part.region,))
    before = replay_tiles(found.plan, workers, part.judged(scop), after)
    return None if before is None else {name: mask.tolist() for name, mask in before.items()}


@pytest.mark.parametrize("is_needed", [False, True])
def test_what_is_needed_before_is_read_before_it_is_written(is_needed: bool) -> None:
    found = planned(PARTLY, 8, (4,))
    before = needs(found, dict.fromkeys("ABC", is_needed))
    assert before == {
        "A": [is_needed or 1 <= i < 7 for i in range(10)],
        "B": [i == 0 or (is_needed and not 1 <= i < 7) for i in range(10)],
        "C": [i == 3 or is_needed for i in range(10)],
    }


def test_what_is_written_beside_the_program_is_refused_though_nobody_needs_it() -> None:
    found = planned(PARTLY, 8, (4,))
    (part,) = found.parts
    scop = found.program.scop
    nothing = {name: np.zeros(10, dtype=np.bool_) for name in "ABC"}
    replay_tiles(found.plan, Workers((part.region,)), part.judged(scop), nothing)
    # B[7] shares its word with B[6], the last one that is written.
    wider = spoilt.with_transfer(
        part.region, "B_out", lambda t: replace(t, strobes=(t.strobes[0], ALWAYS))
    )
    with pytest.raises(PlanUnsound, match="B does not end with the last values of the program"):
        replay_tiles(found.plan, Workers((wider,)), part.judged(scop), nothing)


def test_stores_in_no_order_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    (part,) = transposed().parts
    monkeypatch.setattr(OffChipHistory, "disordered", lambda _: np.array([3]))
    with pytest.raises(PlanUnsound, match="two stores to an element of a are not in order"):
        judged(part.region)


@pytest.mark.parametrize("later", [-1, 0, 1])
def test_a_value_is_forwarded_from_as_many_iterations_before_as_the_program_says(
    later: int,
) -> None:
    found = planned(THREE_BEFORE, 24, (8,))
    (part,) = found.parts

    def moved(stream: Stream) -> Stream:
        operations = tuple(
            replace(
                op,
                taps=tuple(replace(t, delay_cycles=t.delay_cycles + later) for t in op.taps),
            )
            if isinstance(op, ForwardOp)
            else op
            for op in stream.operations
        )
        assert later == 0 or operations != stream.operations
        return replace(stream, operations=operations)

    spoil = pytest.raises(PlanUnsound, match="takes a wrong value of a") if later else nullcontext()
    with spoil:
        judged(spoilt.with_stream(part.region, moved), found)


def test_loops_that_begin_above_0_are_replayed() -> None:
    found = planned(JACOBI, 9)
    assert is_proven(found)
    loops = [
        loop
        for part in found.parts
        for own in part.judged(found.program.scop).loops.values()
        for loop in own
    ]
    assert any(loop.at > 0 and loop.iterator is not None for loop in loops)


def test_a_statement_without_loops_runs_once() -> None:
    found = planned(ONCE, 9, (4,))
    assert [len(part.tiled.scop.statements[0].iterators) for part in found.parts] == [0, 2]
    assert is_proven(found)


def test_streams_run_in_the_tiles_of_their_region() -> None:
    (part,) = transposed().parts
    with pytest.raises(PlanUnsound, match="in other tiles than its region"):
        judged(replace(part.region, tiles=part.region.tiles + 1))


QUOTIENTS = """
void quotients(int A[N][N], int B[N]) {
  for (int i = 1; i < N; i++) {
    for (int j = 0; j < N; j++)
      B[i] += A[i][j] * B[i - 1];
    B[i] = B[i] / A[i][i];
  }
}
"""


@pytest.mark.parametrize(
    ("interval_cycles", "when"), [(15, None), (100, None), (15, NEVER), (15, ALWAYS)]
)
def test_a_division_that_begins_too_soon_or_never_is_refused(
    interval_cycles: int, when: Predicate | None
) -> None:
    """In tiles it begins once in a row of 24, so one circuit has time for 15 digits."""
    found = planned(QUOTIENTS, 24, (4,))
    (part,) = found.parts
    (region,) = part.workers.regions
    (stream,) = [s for s in region.kernel.streams if any(map(is_division, s.operations))]
    (number,) = [n for n, op in enumerate(stream.operations) if is_division(op)]
    op = stream.operations[number]
    assert is_division(op)
    assert op.interval_cycles == 15
    assert not op.when.is_true
    spoilt_op = replace(op, interval_cycles=interval_cycles, when=op.when if when is None else when)
    streams = tuple(
        changed_op(stream, number, spoilt_op) if each is stream else each
        for each in region.kernel.streams
    )
    changed = replace(region, kernel=replace(region.kernel, streams=streams))
    is_sound = (interval_cycles, when) == (15, None)
    message = "divides more often than its divider does"
    with nullcontext() if is_sound else pytest.raises(PlanUnsound, match=message):
        judged(changed, found)
