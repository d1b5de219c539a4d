"""Kernels do what their plans mean, in exactly the cycles of the cycle model."""

from __future__ import annotations

import random
from collections.abc import Mapping
from dataclasses import replace

import pytest

from rtlgen.hw import forms, region_parts
from rtlgen.hw.levels import groups_of
from rtlgen.ir.crc import absorb
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import ALWAYS, ForwardOp, IndexForm, KernelPlan, LoadOp, Region
from rtlgen.options import INDEX_STYLES, IndexStyle
from tests.hw.kernel_driver import Host, simulate_kernel
from tests.plans.gemm import gemm_plan, is_value
from tests.plans.halves import HALF, halves_plan
from tests.plans.interpreter import interpret
from tests.plans.random_plans import random_plan
from tests.plans.renaming import renamed
from tests.plans.sums import sum_plan

Images = dict[str, list[int]]


def random_images(plan: KernelPlan, rng: random.Random) -> Images:
    """Return elements over the whole range of each memory's type."""
    return {
        memory.name: [
            rng.getrandbits(memory.width_bits) - (memory.signed << (memory.width_bits - 1))
            for _ in range(memory.depth)
        ]
        for memory in plan.memories
    }


def random_scalars(plan: KernelPlan, rng: random.Random) -> dict[str, int]:
    return {
        scalar.name: rng.getrandbits(scalar.width_bits) - (scalar.signed << (scalar.width_bits - 1))
        for scalar in plan.scalars
    }


def visible(plan: KernelPlan, images: Mapping[str, list[int]]) -> Images:
    return {m.name: images[m.name] for m in plan.memories if m.has_host_port}


def checksum(plan: KernelPlan, images: Images) -> int | None:
    """Return what the checksum unit must show, None when there is none."""
    if plan.checksum is None:
        return None
    state = 0
    for name in plan.checksum:
        for element in images[name]:
            state = absorb(state, element, plan.memory(name).width_bits)
    return state


def check_kernel(
    plan: KernelPlan, runs: int = 1, seed: int = 1, meaning: KernelPlan | None = None
) -> None:
    """Run the kernel on random data, `runs` times on what the last run left.

    It must do what `meaning` says, which is the plan itself unless a test sabotages the plan.
    """
    meaning = meaning or plan
    rng = random.Random(seed)
    images = random_images(plan, rng)

    async def script(host: Host) -> None:
        await host.write(images)
        before = images
        for _ in range(runs):
            scalars = random_scalars(plan, rng)
            after = interpret(meaning, before, scalars)
            outcome = await host.run(scalars)
            assert outcome.images == visible(plan, after)
            assert outcome.cycles == predicted_cycles(meaning)
            assert outcome.checksum == checksum(plan, after)
            assert outcome.returned == (after[plan.returned][0] if plan.returned else None)
            before = after

    simulate_kernel(plan, script)


@pytest.mark.parametrize(
    ("size", "style", "latency"),
    [
        (4, "odometer", 0),
        (3, "odometer", 0),
        (5, "odometer", 0),
        (4, "shift", 0),
        (3, "divide", 0),
        (4, "divide", 3),
        (3, "divide", 2),
    ],
)
def test_gemm_is_exact_in_every_index_style(size: int, style: IndexStyle, latency: int) -> None:
    check_kernel(gemm_plan(size, style, latency))


def test_a_kernel_runs_again_at_once_on_what_it_left() -> None:
    check_kernel(gemm_plan(3), runs=3)


def cut_short(plan: KernelPlan) -> KernelPlan:
    """Return a plan of one region that ends long before its iterations do."""
    (region,) = plan.regions
    cut = replace(region, length_cycles=region.length_cycles // 8)
    return replace(plan, body=(cut,))


@pytest.mark.parametrize("style", INDEX_STYLES)
def test_a_region_that_ends_before_its_streams_leaves_nothing_behind(style: IndexStyle) -> None:
    check_kernel(cut_short(gemm_plan(8, style)), runs=3)


def test_streams_that_go_on_after_the_end_of_their_region_are_caught(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(region_parts, "ResetInserter", lambda end: lambda control: control)
    with pytest.raises(AssertionError):
        check_kernel(cut_short(gemm_plan(8)), runs=2)


def test_a_checksum_covers_the_arrays_in_the_order_given() -> None:
    check_kernel(gemm_plan(3, checksum=("C", "B")), runs=2)


@pytest.mark.parametrize("checksum", [None, ("a", "b")])
def test_stores_to_two_banks_meet_and_every_element_is_found_at_home(
    checksum: tuple[str, ...] | None,
) -> None:
    check_kernel(halves_plan(checksum), runs=3)


def test_an_element_with_the_wrong_home_is_caught() -> None:
    plan = halves_plan()
    a, b = plan.memories
    homes = (0,) * (HALF - 1) + (1,) * (HALF + 1)
    with pytest.raises(AssertionError):
        check_kernel(replace(plan, memories=(replace(a, homes=homes), b)), meaning=plan)


def test_a_load_from_the_wrong_bank_is_caught() -> None:
    plan = halves_plan()
    (region,) = plan.regions
    reader = region.streams[2]
    first, *others = reader.operations
    assert isinstance(first, LoadOp)
    operations = (replace(first, versions=(ALWAYS,)), *others)
    streams = (*region.streams[:2], replace(reader, operations=operations))
    with pytest.raises(AssertionError):
        check_kernel(replace(plan, body=(Region.whole(streams),)), runs=2, meaning=plan)


def test_streams_with_equal_loops_share_one_control() -> None:
    near = gemm_plan(4).regions[0]
    assert [group.members for group in groups_of(near)] == [(0, 1)]
    scale, accumulate = near.streams
    far = Region.whole((scale, replace(accumulate, offset_cycles=41)))
    assert [group.members for group in groups_of(far)] == [(0,), (1,)]
    check_kernel(replace(gemm_plan(4), body=(far,)))


@pytest.mark.parametrize("by_checksum", [False, True])
@pytest.mark.parametrize("later", [0, 1])
def test_the_result_is_there_with_done(by_checksum: bool, later: int) -> None:
    check_kernel(sum_plan(later, ("x", "a") if by_checksum else None), runs=2)


def test_a_kernel_without_statements_is_done_at_once() -> None:
    plan = replace(gemm_plan(3), body=())

    async def script(host: Host) -> None:
        kernel, ctx = host.kernel, host.ctx
        assert not ctx.get(kernel.done)
        ctx.set(kernel.start, 1)
        await ctx.delay(0)
        assert ctx.get(kernel.done) and ctx.get(kernel.idle)
        assert predicted_cycles(plan) == 0

    simulate_kernel(plan, script)


def test_start_is_ignored_while_the_kernel_runs_and_so_is_the_host() -> None:
    plan = gemm_plan(3)
    rng = random.Random(5)
    images, scalars = random_images(plan, rng), random_scalars(plan, rng)

    async def script(host: Host) -> None:
        await host.write(images)
        host.meddle = True
        outcome = await host.run(scalars)
        assert outcome.cycles == predicted_cycles(plan)
        assert outcome.images == interpret(plan, images, scalars)

    simulate_kernel(plan, script)


@pytest.mark.sample(
    without=(
        "plan7-2",
        "plan8-9",
        "plan9-2",
        "plan10-9",
    )
)
@pytest.mark.parametrize(
    ("plan", "after_cycles"),
    [
        *((gemm_plan(3), cycles) for cycles in (0, 1, 2, 5, 9, 14, 30)),
        *((random_plan(seed), cycles) for seed in (5, 13) for cycles in (2, 9)),
    ],
)
def test_a_run_after_a_reset_in_mid_run_is_like_the_first(
    plan: KernelPlan, after_cycles: int
) -> None:
    rng = random.Random(after_cycles)
    images, scalars = random_images(plan, rng), random_scalars(plan, rng)
    # What the broken run has written is written again, or is never read.
    after = interpret(plan, images, scalars)

    async def script(host: Host) -> None:
        await host.write(images)
        await host.break_off(scalars, after_cycles)
        await host.write(images)
        outcome = await host.run(scalars)
        assert outcome.cycles == predicted_cycles(plan)
        assert outcome.images == visible(plan, after)

    simulate_kernel(plan, script)


def test_c_names_that_are_taken_give_way() -> None:
    """An array called start, one whose host port would be another's scalar, and a keyword."""
    plan = gemm_plan(3)
    new = {"A": "start", "B": "wire", "alpha": "C_addr", "beta": "elaborate"}
    check_kernel(renamed(plan, new))


@pytest.mark.sample("2", "5", "6", "7")
@pytest.mark.parametrize(
    "seed", [pytest.param(seed, marks=pytest.mark.long if seed > 9 else ()) for seed in range(24)]
)
def test_random_plans_do_what_they_mean(seed: int) -> None:
    check_kernel(random_plan(seed), runs=2, seed=seed)


@pytest.mark.sample("2")
@pytest.mark.parametrize("seed", range(3))
def test_random_plans_do_what_they_mean_when_indices_are_divided(seed: int) -> None:
    check_kernel(random_plan(seed, "divide", seed % 4), seed=seed)


def test_a_wrong_address_step_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    right = forms.follower

    def wrong(form: IndexForm, width: int, extents: tuple[int, ...]) -> forms.Follower:
        good = right(form, width, extents)
        return replace(good, deltas=(*good.deltas[:-1], good.deltas[-1] ^ 1))

    check_kernel(gemm_plan(4))
    monkeypatch.setattr(forms, "follower", wrong)
    with pytest.raises(AssertionError):
        check_kernel(gemm_plan(4), runs=2)


def test_a_dropped_forwarding_path_is_caught() -> None:
    plan = gemm_plan(4)
    scale, accumulate = plan.regions[0].streams
    taken = tuple(
        replace(op, taps=()) if isinstance(op, ForwardOp) else op for op in accumulate.operations
    )
    broken = replace(plan, body=(Region.whole((scale, replace(accumulate, operations=taken))),))
    with pytest.raises(AssertionError):
        check_kernel(broken, meaning=plan)


def test_a_shift_that_is_one_too_small_is_caught() -> None:
    plan = gemm_plan(4)
    scale, accumulate = plan.regions[0].streams
    late = replace(accumulate, offset_cycles=accumulate.offset_cycles - 1)
    with pytest.raises(AssertionError):
        check_kernel(replace(plan, body=(Region.whole((scale, late)),)), meaning=plan)


def test_a_swapped_guard_bound_is_caught() -> None:
    plan = gemm_plan(4)
    scale, accumulate = plan.regions[0].streams
    store = replace(accumulate.store, when=is_value(2, 2))
    wrong = replace(accumulate, store=store)
    with pytest.raises(AssertionError):
        check_kernel(replace(plan, body=(Region.whole((scale, wrong)),)), meaning=plan)
