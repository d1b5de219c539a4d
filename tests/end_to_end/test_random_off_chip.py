"""Random C programs with arrays off chip: refused for a stated reason, or exact as Verilog."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, seed, settings
from hypothesis import strategies as st

from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import Scop
from rtlgen.options import EVERY_ARRAY, CompileOptions
from tests.end_to_end.judge import REFUSALS, plan_failures
from tests.end_to_end.programs import programs

pytestmark = pytest.mark.simulation

TILE_REFUSALS = REFUSALS | {"E0202", "E0212", "E0307", "E0308", "E0316"}
"""Codes with which a well-formed program may be refused whose arrays are off chip."""

BATCH = 15
"""Circuits in one model."""


@dataclass(frozen=True, slots=True)
class Case:
    """A program, and what is asked of its tiles."""

    text: str
    word_bits: int
    latency_cycles: int
    tile: tuple[int, ...]
    max_bram_kib: int
    buffer: bool

    def options(self) -> CompileOptions:
        return CompileOptions(
            memory={EVERY_ARRAY: f"fixed:{self.latency_cycles}"},
            bus_bits=self.word_bits,
            tile=self.tile,
            max_bram_kib=self.max_bram_kib,
            buffer=self.buffer,
        )

    def planned(self, name: str) -> tuple[KernelPlan, Scop] | None:
        """Return the plan; None where it is refused for a reason that is allowed."""
        try:
            program = parse_text(self.text, "program.c")
            compilation = compile_program(program, self.options())
        except RtlgenError as error:
            assert error.code in TILE_REFUSALS, f"{error.code}: {error}\n{self}"
            assert error.diagnostic.render(error.sources)
            return None
        assert compilation.replayed
        return replace(compilation.plan, name=name), program.scop


CASES = st.builds(
    Case,
    programs(),
    st.sampled_from([32, 64, 64, 128, 256, 512]),
    st.sampled_from([1, 2, 3, 8, 20]),
    st.lists(st.sampled_from([1, 2, 3, 4, 5, 8, 16]), max_size=3).map(tuple),
    st.sampled_from([1, 4, 126]),
    st.sampled_from([True, True, True, False]),
)


def circuits_judged(wanted: int, number: int, folder: Path) -> Counter[str]:
    """Judge circuits of random cases, the same ones for the same number; count kinds of them."""
    drawn: list[Case] = []

    @seed(20261123 + number)
    @settings(
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        max_examples=2 * wanted + 10,
    )
    @given(CASES)
    def draw(case: Case) -> None:
        drawn.append(case)

    draw()
    seen: Counter[str] = Counter()
    accepted: list[tuple[Case, tuple[KernelPlan, Scop]]] = []
    for case in dict.fromkeys(drawn):
        found = case.planned(f"f{len(accepted)}")
        if found is not None and len(accepted) < wanted:
            accepted.append((case, found))
            seen["circuits"] += 1
            regions = found[0].tiled_regions
            seen["several tiles"] += any(region.tiles > 1 for region in regions)
            seen["stores"] += any(t.direction == "store" for r in regions for t in r.transfers)
            seen["waits"] += any(t.after for r in regions for t in r.transfers)
    for start in range(0, len(accepted), BATCH):
        part = accepted[start : start + BATCH]
        pauses = start // BATCH % 3 == 2
        failures = plan_failures([plan for _, plan in part], folder / str(start), pauses=pauses)
        for (case, _), found_wrong in zip(part, failures, strict=True):
            assert not found_wrong, f"{found_wrong}\n{case.text}\n{case}"
    return seen


def test_circuits_of_random_programs_off_chip_are_exact(tmp_path: Path) -> None:
    seen = circuits_judged(BATCH, 1, tmp_path)
    assert seen["circuits"] == BATCH
    assert seen["several tiles"] >= 3 and seen["stores"] >= 6, seen


@pytest.mark.long
@pytest.mark.parametrize("part", range(6))
def test_circuits_of_many_random_programs_off_chip_are_exact(part: int, tmp_path: Path) -> None:
    seen = circuits_judged(50, 10 + part, tmp_path)
    assert seen["circuits"] >= 45, seen
