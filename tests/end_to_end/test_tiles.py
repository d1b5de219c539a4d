"""Circuits in tiles: exact in every bit and cycle, whatever the memory off chip does; or caught."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    ChooseOp,
    IndexForm,
    KernelPlan,
    Stream,
    TiledRegion,
    Transfer,
    Workers,
)
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.judges.tile_replay import needed_by_host, replay_tiles
from rtlgen.options import BusKind
from rtlgen.tiling.plan import TiledProgram
from tests.end_to_end.judge import plan_failures
from tests.tiling.programs import (
    BACKWARDS,
    BLUR,
    NINE,
    PIXELS,
    PRODUCT,
    STRIDED,
    TRANSPOSED,
    TRIANGULAR,
    TWO_PRODUCTS,
    planned,
)
from tests.tiling.spoilt import narrower, on_kept, with_stream, with_transfer

pytestmark = pytest.mark.simulation

CASES = (
    (TRANSPOSED, 16, (8, 8), 64, 8),
    (TRANSPOSED, 21, (8, 8), 64, 1),
    (TRANSPOSED, 7, (16, 16), 512, 3),
    (PRODUCT, 11, (4, 3, 5), 32, 2),
    (TRIANGULAR, 9, (4, 4, 4), 64, 5),
    (TWO_PRODUCTS, 6, (4, 4, 4), 128, 1),
    (BLUR, 13, (5, 7), 64, 20),
    (BLUR, 40, (5, 3), 64, 1),
    (STRIDED, 10, (5,), 256, 8),
    (BACKWARDS, 23, (4,), 32, 4),
    (NINE, 7, (2, 4, 2), 64, 5),
    (PIXELS, 9, (2, 4), 64, 3),
    (PIXELS, 7, (4, 4), 32, 1),
    (NINE, 6, (4, 2, 4), 128, 2),
)
"""Program, size, tile, bits of a word, cycles of an access."""


def named(found: TiledProgram, number: int) -> KernelPlan:
    return replace(found.plan, name=f"f{number}")


@pytest.mark.parametrize(
    ("cases", "kind"),
    [
        (CASES[9:10], "axi"),
        pytest.param(CASES, "fixed", marks=pytest.mark.long),
        pytest.param(CASES, "axi", marks=pytest.mark.long),
    ],
)
def test_circuits_in_tiles_are_exact(
    cases: Sequence[tuple[str, int, tuple[int, ...], int, int]],
    kind: BusKind,
    tmp_path: Path,
) -> None:
    found = [
        planned(text, size, tile, kind=kind, word_bits=word_bits, latency_cycles=latency_cycles)
        for text, size, tile, word_bits, latency_cycles in cases
    ]
    plans = [(named(each, number), each.parsed) for number, each in enumerate(found)]
    failures = plan_failures(plans, tmp_path, pauses=(False, True))
    assert failures == [[] for _ in cases]


def transposed() -> TiledProgram:
    return planned(TRANSPOSED, 21, (8, 8))


def on_stream(change: Callable[[Stream], Stream]) -> TiledRegion:
    (part,) = transposed().parts
    return with_stream(part.region, change)


def on_transfer(window: str, change: Callable[[Transfer], Transfer]) -> TiledRegion:
    (part,) = transposed().parts
    return with_transfer(part.region, window, change)


def narrow_fold(stream: Stream) -> Stream:
    """Take a bit of the row from every address of the kept memory."""
    return on_kept(stream, lambda address: narrower(address, 0))


def wrong_choice(stream: Stream) -> Stream:
    operations = tuple(
        replace(op, when=NEVER) if isinstance(op, ChooseOp) else op for op in stream.operations
    )
    return replace(stream, operations=operations)


def of_next_row(transfer: Transfer) -> Transfer:
    word = transfer.word
    return replace(transfer, word=IndexForm(word.coefficients, word.constant + 3))


SPOILT: dict[str, Callable[[], TiledRegion]] = {
    "a fold one bit too narrow": lambda: on_stream(narrow_fold),
    "a wrong choice": lambda: on_stream(wrong_choice),
    "words of another row": lambda: on_transfer("a_in", of_next_row),
    "words that are not loaded": lambda: on_transfer("a_in1", lambda t: replace(t, when=NEVER)),
    "a strobe too wide": lambda: on_transfer(
        "a_out", lambda t: replace(t, strobes=(ALWAYS,) * len(t.strobes))
    ),
    "a strobe that is missing": lambda: on_transfer(
        "a_out", lambda t: replace(t, strobes=(NEVER, *t.strobes[1:]))
    ),
    "a wrong clip": lambda: on_transfer("a_out", lambda t: replace(t, when=ALWAYS)),
}


@pytest.mark.parametrize("fault", SPOILT)
def test_a_spoilt_plan_is_refused(fault: str) -> None:
    found, region = transposed(), SPOILT[fault]()
    (part,) = found.parts
    workers = Workers((region,))
    plan = replace(found.plan, body=(workers,))
    scop = part.program.scop
    needed = needed_by_host(plan, scop)
    with pytest.raises(PlanUnsound):
        replay_tiles(plan, workers, part.judged(scop), needed)


@pytest.mark.long
def test_circuits_of_spoilt_plans_are_caught(tmp_path: Path) -> None:
    found = transposed()
    plans = [
        (replace(found.plan, name=f"f{number}", body=(Workers((region(),)),)), found.parsed)
        for number, region in enumerate(SPOILT.values())
    ]
    failures = plan_failures(plans, tmp_path)
    passed = [fault for fault, wrong in zip(SPOILT, failures, strict=True) if not wrong]
    assert not passed
    outcomes = dict(zip(SPOILT, (wrong[0] for wrong in failures), strict=True))
    assert outcomes["a strobe too wide"] == "memory", "the RAM refuses what is behind a row"
