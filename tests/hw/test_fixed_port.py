"""The port with one access at a time: what it takes, when it tells that a tile is done."""

from __future__ import annotations

import random
from collections import deque
from dataclasses import dataclass, field
from typing import Any

import pytest
from amaranth.hdl import Module
from amaranth.sim import Simulator

from rtlgen.hw.fixed_port import FixedPort
from rtlgen.hw.offers import ALONE
from rtlgen.ir.memory_side import Bus
from rtlgen.ir.plan import MemorySide, Transfer
from rtlgen.ir.port_timing import port_timing
from rtlgen.ir.transfer_patterns import Item
from rtlgen.output.verilog import component_verilog
from tests.tiling.programs import TRANSPOSED, planned

CYCLES = 400


@dataclass
class User:
    """A mover of random words.

    Members
    -------
    items: what it offers next. tile: the one that this is of. left: words on their way, by tile.
    ended: tiles of which all was taken. done: tiles that the port has told.
    """

    items: deque[Item]
    tile: int = 0
    left: dict[int, int] = field(default_factory=dict)
    ended: set[int] = field(default_factory=set)
    done: int = 0

    def take(self) -> None:
        item = self.items.popleft()
        self.left[self.tile] = self.left.get(self.tile, 0) + item.moves
        if item.last:
            self.ended.add(self.tile)
            self.tile += 1


def random_items(rng: random.Random) -> deque[Item]:
    """Return tiles of up to two words; what ends one moves a word or does not."""
    items: list[Item] = []
    while len(items) < CYCLES:
        items += [Item(0, True, False)] * rng.randrange(3)
        items.append(Item(0, rng.random() < 0.5, True))
    return deque(items)


def parts() -> tuple[MemorySide, tuple[Transfer, ...]]:
    plan = planned(TRANSPOSED, 11, (4, 8)).plan
    assert plan.memory_side is not None
    (region,) = plan.tiled_regions
    return plan.memory_side, region.transfers


@pytest.mark.parametrize("latency_cycles", [1, 2, 8])
def test_a_tile_is_done_with_its_last_word(latency_cycles: int) -> None:
    rng = random.Random(latency_cycles)
    side, transfers = parts()
    stores = [transfer.direction == "store" for transfer in transfers]
    m = Module()
    m.submodules.port = port = FixedPort(side, transfers, [ALONE] * len(transfers))
    timing = port_timing(Bus("fixed", latency_cycles), stores, [0] * len(transfers))
    users = [User(random_items(rng)) for _ in transfers]
    seen = {"absorbed": 0, "finished": 0}

    async def bench(ctx: Any) -> None:
        owner: tuple[int, int] | None = None
        left = 0
        for _ in range(CYCLES):
            offers = [user.items[0] if rng.random() < 0.8 else None for user in users]
            for n, item in enumerate(offers):
                offer = getattr(port, f"offer_{n}")
                ctx.set(offer.valid, item is not None)
                ctx.set(offer.moves, item is not None and item.moves)
                ctx.set(offer.last, item is not None and item.last)
            ctx.set(port.ack, left == 1)
            served = timing.cycle(offers)
            taken = [n for n in range(len(users)) if ctx.get(getattr(port, f"offer_{n}").taken)]
            done = [n for n in range(len(users)) if ctx.get(getattr(port, f"finished_{n}"))]
            assert sorted(served.taken) == taken
            assert sorted(served.finished) == done
            for n in taken:
                item = users[n].items[0]
                seen["absorbed"] += not item.moves and n not in done
                users[n].take()
            if left == 1:
                assert owner is not None
                users[owner[0]].left[owner[1]] -= 1
            for n in done:
                user = users[n]
                assert user.done in user.ended
                assert user.left[user.done] == 0, "its words are moved"
                user.done += 1
                seen["finished"] += 1
            left = max(0, left - 1)
            for n, item in enumerate(offers):
                if n in taken and item is not None and item.moves:
                    owner, left = (n, users[n].tile - item.last), latency_cycles
            await ctx.tick()
        # Nothing is told late: at most what is on its way, of one user, is not.
        assert sum(user.tile - user.done for user in users) <= 1

    simulator = Simulator(m)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    assert seen["finished"] > 20
    assert seen["absorbed"] or latency_cycles == 1


def test_a_port_of_many_workers_is_no_more_than_quadratic_in_them() -> None:
    """A mover asks what all others want; written out in each other, that was their 4th power."""
    side, transfers = parts()

    def length(workers: int) -> int:
        numbers = [number for number in range(workers) for _ in transfers]
        port = FixedPort(side, transfers * workers, numbers)
        return len(component_verilog(port, "port", "port.c"))

    assert length(8) < 5 * length(4)
