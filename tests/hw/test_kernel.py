"""Kernels do what their plans mean, in exactly the cycles of the cycle model."""

from __future__ import annotations

import random
from collections.abc import Mapping

import pytest

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import IndexStyle, KernelPlan
from tests.hw.kernel_driver import Host, simulate_kernel
from tests.plans.gemm import gemm_plan
from tests.plans.interpreter import interpret

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


def check_kernel(plan: KernelPlan, runs: int = 1, seed: int = 1) -> None:
    """Run the kernel on random data, `runs` times on what the last run left."""
    rng = random.Random(seed)
    images = random_images(plan, rng)

    async def script(host: Host) -> None:
        await host.write(images)
        before = images
        for _ in range(runs):
            scalars = random_scalars(plan, rng)
            after = interpret(plan, before, scalars)
            outcome = await host.run(scalars)
            assert outcome.images == visible(plan, after)
            assert outcome.cycles == predicted_cycles(plan)
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
