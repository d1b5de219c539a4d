"""Random stencils, whose values are beside their arrays wherever they may be: exact, every one."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pytest

from rtlgen.ir.plan import ForwardOp, KernelPlan
from rtlgen.memories import read_buffers, row_buffers
from rtlgen.options import CompileOptions
from tests.end_to_end.judge import Compiled, assert_plan_exact, batch_failures, compiled

OFFSETS = (-2, -1, -1, 0, 0, 0, 1, 1, 2)


def stencil(seed: int) -> str:
    """Return sweeps over one or two arrays of one, two or three dimensions."""
    draw = random.Random(seed)
    dims = draw.choice((1, 2, 2, 2, 3))
    shape = [draw.randint(5, {1: 40, 2: 12, 3: 7}[dims]) for _ in range(dims)]
    element = draw.choice(("int8_t", "short", "int", "uint16_t"))
    arrays = draw.sample("abc", draw.randint(1, 3))
    names = "ijk"[:dims]
    box = "".join(f"[{extent}]" for extent in shape)
    lines = ["#include <stdint.h>"]
    lines.append(f"void f{seed}({', '.join(f'{element} {a}{box}' for a in arrays)}) {{")
    if draw.random() < 0.6:
        lines.append(f"for (int t = 0; t < {draw.randint(2, 3)}; t++) {{")
    else:
        lines.append("{")
    for _ in range(draw.randint(1, 3)):
        margins = [draw.choice((0, 1, 2)) for _ in names]
        for name, extent, margin in zip(names, shape, margins, strict=True):
            lines.append(f"for (int {name} = {margin}; {name} < {extent - margin}; {name}++)")

        def at(array: str, reach: list[int]) -> str:
            offsets = [max(-m, min(m, draw.choice(OFFSETS))) for m in reach]
            return array + "".join(f"[{n} + {o}]" for n, o in zip(names, offsets, strict=True))

        terms = [at(draw.choice(arrays), margins) for _ in range(draw.randint(2, 6))]
        target = at(draw.choice(arrays), [0] * dims)
        lines.append(f"{target} = {' + 3 * '.join(terms)};")
    return "\n".join([*lines, "} }"]).replace(" + 0]", "]")


@pytest.fixture
def everything_beside(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let values be beside their arrays whatever that takes."""
    monkeypatch.setattr("rtlgen.planning.one_form._has_copies", lambda *_: True)
    monkeypatch.setattr("rtlgen.planning.one_form._is_smaller", lambda *_: True)
    monkeypatch.setattr(row_buffers, "LEAST_ROOM", 2)
    for module in (read_buffers, read_buffers, row_buffers):
        monkeypatch.setattr(module, "SHARE_ALIVE", 1)


def _means(plan: KernelPlan) -> set[str]:
    """Return the ways in which values are beside the arrays of a plan."""
    found = {"parts" for memory in plan.memories if memory.part is not None}
    for stream in plan.streams:
        found |= {"loaded rows" for store in stream.copies if stream.keeps_loaded(store)}
        found |= {"rows" for store in stream.stores if "_rows" in store.memory}
        taps = [t for op in stream.operations if isinstance(op, ForwardOp) for t in op.taps]
        found |= {"passed" for tap in taps if tap.read is not None}
    return found


QUICK = (0, 1, 2, 3, 6, 8, 10, 11, 13, 15)
"""Seeds of stencils that are soon planned."""


def _judge(seeds: Sequence[int], folder: Path, simulated: int) -> Counter[str]:
    """Compile stencils and run their plans, and some in hardware; return how values travel."""
    means: Counter[str] = Counter()
    circuits: list[Compiled] = []
    for seed in seeds:
        text = stencil(seed)
        in_lanes = seed % 5 == 4 and " t = 0" in text
        found = compiled(text, CompileOptions(unroll={"t": 2} if in_lanes else {}))
        if found is None:
            means["refused"] += 1
            continue
        assert_plan_exact(found, seed)
        ways = _means(found.plan)
        means.update(ways)
        if ways and len(circuits) < simulated:
            circuits.append(found)
    for found, failures in zip(circuits, batch_failures(circuits, folder), strict=True):
        assert not failures, found.program.source.text
    return means


@pytest.mark.simulation
@pytest.mark.usefixtures("everything_beside")
def test_a_few_random_stencils_are_exact(tmp_path: Path) -> None:
    assert _judge(QUICK[:2], tmp_path, 1)


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.usefixtures("everything_beside")
def test_random_stencils_are_exact(tmp_path: Path) -> None:
    means = _judge(QUICK, tmp_path, 4)
    assert min(means[way] for way in ("parts", "loaded rows", "rows", "passed")) >= 1, means


@pytest.mark.usefixtures("everything_beside")
def test_what_is_loaded_in_vain_is_not_passed_on() -> None:
    # Where the circuit cannot tell which instances have their value from a tap, all of them load.
    found = compiled(stencil(375))
    assert found is not None
    assert_plan_exact(found)


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.usefixtures("everything_beside")
@pytest.mark.parametrize("first", range(100, 500, 100))
def test_many_random_stencils_are_exact(first: int, tmp_path: Path) -> None:
    means = _judge(range(first, first + 100), tmp_path, 30)
    assert min(means[way] for way in ("parts", "loaded rows", "rows", "passed")) >= 12, means
