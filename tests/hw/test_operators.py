"""A unit that operations share computes the one that begins, after its latency."""

from __future__ import annotations

import random
from typing import Any

import pytest
from amaranth.hdl import signed
from amaranth.sim import Simulator

from rtlgen.hw.operators import SharedUnit
from rtlgen.ir.functional_units import FunctionalUnit, User
from rtlgen.ir.plan import ArithmeticOp
from rtlgen.target import divider_steps
from tests.plans.interpreter import arithmetic, wrap


@pytest.mark.parametrize("is_registered", [False, True])
@pytest.mark.parametrize("users", [2, 3, 5])
@pytest.mark.parametrize(
    ("name", "latency", "interval"),
    [("mul", 2, 1), ("div", divider_steps(16), 1), ("rem", divider_steps(16), 4)],
)
def test_whoever_begins_is_served(
    name: str, latency: int, interval: int, users: int, is_registered: bool
) -> None:
    """Operands of users that do not begin are garbage, and so are those of cycles without any."""
    op = ArithmeticOp(
        width_bits=16,
        signed=True,
        stage=3,
        latency_cycles=latency,
        operands=(0, 1),
        op=name,  # type: ignore[arg-type]
        interval_cycles=interval,
        unit=0,
    )
    shape = signed(16)
    sharing = tuple(User(n, 2, op, n) for n in range(users))
    unit = SharedUnit(FunctionalUnit(0, sharing, is_registered), [shape, shape])
    rng = random.Random(users)
    begun: dict[int, tuple[int, int, int]] = {}
    cycle = 0
    for _ in range(60):
        operands = rng.randint(-(1 << 15), (1 << 15) - 1), rng.choice([1, -1]) * rng.randint(1, 300)
        begun[cycle] = (rng.randrange(users), *operands)
        cycle += interval + rng.choice([0, 0, 1, 5])
    total = latency + is_registered
    seen = []

    async def bench(ctx: Any) -> None:
        for now in range(cycle + total):
            user, left, right = begun.get(now, (-1, 0, 0))
            for n in range(users):
                given = (left, right) if n == user else (rng.randint(-9, 9), rng.randint(-9, 9))
                ctx.set(getattr(unit, f"begin{n}"), n == user)
                ctx.set(getattr(unit, f"left{n}"), given[0])
                ctx.set(getattr(unit, f"right{n}"), given[1])
            await ctx.delay(0)
            if now - total in begun:
                seen.append(ctx.get(unit.result))
            await ctx.tick()

    simulator = Simulator(unit)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen == [
        wrap(arithmetic(op, [left, right]), 16, True) for _, left, right in begun.values()
    ]
