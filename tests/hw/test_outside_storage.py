"""A core whose arrays stand outside, with RAMs of somebody else's: it asks for what is said."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest
from amaranth.sim import Simulator

import rtlgen
from rtlgen.hw.kernel import Kernel
from rtlgen.ir.memories import Memory
from rtlgen.ir.plan import PlanError
from rtlgen.verify.golden import run_golden
from rtlgen.verify.values import to_words

PRODUCT = """
void product(const int a[4][5], const int b[5][4], int c[4][4]) {
  for (int i = 0; i < 4; i++)
    for (int j = 0; j < 4; j++)
      for (int k = 0; k < 5; k++) c[i][j] += a[i][k] * b[k][j];
}
"""
HISTOGRAM = """
void count(const unsigned char of[20], unsigned short bins[7]) {
  for (int n = 0; n < 20; n++) bins[of[n] % 7] += 1;
}
"""


def edge(ctx: Any, kernel: Kernel, images: dict[str, list[int]], rng: random.Random) -> list[Any]:
    """Do what RAMs do at a clock edge; return what they show then, by the pins.

    What is read in the cycle in which it is written is anything.
    """
    shown = []
    for array, rams in kernel.names.rams.items():
        image, written = images[array], None
        if rams.write is not None and ctx.get(getattr(kernel, rams.write.en)):
            assert not ctx.get(kernel.idle), "written in idle"
            written = ctx.get(getattr(kernel, rams.write.addr))
        for read in rams.reads:
            if ctx.get(getattr(kernel, read.en)):
                element = ctx.get(getattr(kernel, read.addr))
                is_there = element < len(image) and element != written
                data = getattr(kernel, read.data)
                shown.append((data, image[element] if is_there else rng.getrandbits(len(data))))
        if written is not None:
            assert rams.write is not None
            image[written] = ctx.get(getattr(kernel, rams.write.data))
    return shown


@pytest.mark.parametrize(
    ("source", "options"),
    [(PRODUCT, {}), (PRODUCT, {"unroll": {"k": 5}}), (HISTOGRAM, {})],
)
def test_a_core_with_other_rams_is_exact(source: str, options: dict[str, Any]) -> None:
    design = rtlgen.compile(source=source, interface="external", **options)
    kernel, scop = Kernel(design.plan), design.compilation.analysis.program.scop
    rng, data = random.Random(5), np.random.default_rng(5)
    given = {
        array.name: data.integers(0, 100, array.shape).astype(str(array.element))
        for array in scop.arrays
    }
    expected = run_golden(scop, given).arrays
    images = {name: to_words(values).tolist() for name, values in given.items()}

    async def bench(ctx: Any) -> None:
        for cycle in range(-3, design.manifest.predicted_cycles + 9):
            ctx.set(kernel.start, cycle == 0)
            assert ctx.get(kernel.done) == (cycle == design.manifest.predicted_cycles)
            shown = edge(ctx, kernel, images, rng)
            await ctx.tick()
            for pin, word in shown:
                ctx.set(pin, word)

    simulator = Simulator(kernel)
    simulator.add_clock(1e-6)
    simulator.add_testbench(bench)
    simulator.run()
    for name, values in expected.items():
        assert images[name] == to_words(np.asarray(values)).tolist(), name


def test_what_is_in_several_banks_or_copies_is_in_no_ram_of_others() -> None:
    given: dict[str, Any] = {
        "name": "a", "width_bits": 16, "signed": True, "shape": (6,), "role": "inout",
        "storage": "parameter", "kind": "block", "read_ports": 1, "read_latency_cycles": 2,
        "collision_free": True, "is_external": True,
    }  # fmt: skip
    assert not Memory(**given).has_host_port
    changes = ({"is_double": True}, {"write_ports": 2}, {"storage": "local"}, {"kind": "register"})
    for change in changes:
        with pytest.raises(PlanError):
            Memory(**{**given, **change})
