"""Circuits in tiles behind an AXI4 port: exact, whatever a memory does that keeps to AXI4."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import write_manifest
from rtlgen.output.verilog import generate, manifest_of
from rtlgen.sim.axi_behaviour import AxiBehaviour, BurstError
from rtlgen.verify.cosim import SimulationResult, simulate_all
from rtlgen.verify.data import random_inputs
from rtlgen.verify.equivalence import known_to
from rtlgen.verify.errors import MemoryAnswerError
from rtlgen.verify.golden import run_golden
from rtlgen.verify.inputs import Inputs
from rtlgen.windows.workers import ONE_WORKER, WorkerRequest
from tests.simulators import needs_icarus
from tests.tiling.programs import BLUR, PRODUCT, TRANSPOSED, TWO_PRODUCTS, planned

pytestmark = pytest.mark.simulation

LONG = pytest.mark.long
CASES = [
    pytest.param(TRANSPOSED, 11, (4, 8), 32, id="transposed"),
    pytest.param(TWO_PRODUCTS, 6, (4, 4, 4), 64, id="two products", marks=LONG),
    pytest.param(TRANSPOSED, 24, (4, 8), 64, id="transposed, larger", marks=LONG),
    pytest.param(PRODUCT, 12, (4, 4, 4), 128, id="product", marks=LONG),
    pytest.param(BLUR, 20, (4, 8), 512, id="blur", marks=LONG),
]


@dataclass(frozen=True, slots=True, eq=False)
class Built:
    """A build directory, inputs, and what each must leave."""

    folder: Path
    manifest: Manifest
    inputs: list[Inputs]
    expected: list[dict[str, np.ndarray]]

    def run(self, axi: AxiBehaviour) -> tuple[SimulationResult, ...]:
        """Run twice on every data set, and compare what is left."""
        results = simulate_all(
            self.folder,
            self.manifest,
            self.inputs,
            runs=2,
            axi=axi,
            timeout_cycles=60 * self.manifest.predicted_cycles + 20_000,
        )
        for result, expected in zip(results, self.expected, strict=True):
            for name, array in expected.items():
                np.testing.assert_array_equal(result.arrays[name], array, err_msg=f"{name} {axi}")
        return results


def build(
    folder: Path,
    text: str,
    size: int,
    tile: tuple[int, ...],
    word_bits: int,
    workers: WorkerRequest = ONE_WORKER,
) -> Built:
    found = planned(
        text, size, tile, kind="axi", latency_cycles=9, word_bits=word_bits, workers=workers
    )
    scop, verilog = found.parsed, generate(found.plan)
    manifest = manifest_of(
        found.plan,
        verilog,
        file="design.v",
        source=scop.source,
        version="0",
        options={},
        arrays=scop.arrays,
    )
    (folder / "design.v").write_text(verilog.text, encoding="utf-8")
    write_manifest(folder, manifest)
    data = [random_inputs(scop, seed) for seed in (1, 2)]
    names = {array.name for array in manifest.data_arrays}
    golden = [run_golden(scop, each).arrays for each in data]
    return Built(
        folder,
        manifest,
        [known_to(manifest, each) for each in data],
        [{name: array for name, array in each.items() if name in names} for each in golden],
    )


BEHAVIOURS = [
    *(AxiBehaviour(pauses=seed) for seed in range(1, 13)),
    *(AxiBehaviour(dram=seed, outstanding=seed % 4) for seed in range(1, 5)),
    *(AxiBehaviour(dram=seed, pauses=seed + 3, outstanding=seed % 4) for seed in range(1, 5)),
]
ERRORS = [
    *(AxiBehaviour(pauses=3 * n % 8, errors=(BurstError("read", n),)) for n in range(6)),
    *(AxiBehaviour(pauses=5 * n % 8, errors=(BurstError("write", n, "decerr"),)) for n in range(4)),
]


@pytest.mark.long
@pytest.mark.parametrize(("text", "size", "tile", "word_bits"), CASES)
def test_any_memory_behind_an_axi_port_will_do(
    tmp_path: Path, text: str, size: int, tile: tuple[int, ...], word_bits: int
) -> None:
    built = build(tmp_path, text, size, tile, word_bits)
    for result in built.run(AxiBehaviour()):
        assert result.cycles == built.manifest.predicted_cycles
    for behaviour in BEHAVIOURS:
        built.run(behaviour)
    for behaviour in ERRORS:
        with pytest.raises(MemoryAnswerError, match="with an error in run 1 of 4") as caught:
            built.run(behaviour)
        # The next start is a new beginning.
        first, rest = caught.value.diagnostic.notes
        (error,) = behaviour.errors
        kind = "word" if error.direction == "read" else "burst"
        assert f"{error.response.upper()} to the {error.direction} of the {kind} at 0x" in first
        assert rest == "runs without an error: 3"


@pytest.mark.long
@needs_icarus
def test_no_output_of_an_axi_port_is_unknown(tmp_path: Path) -> None:
    built = build(tmp_path, TRANSPOSED, 7, (4, 4), 32)
    (result,) = simulate_all(tmp_path, built.manifest, built.inputs[:1], simulator="icarus")
    assert result.cycles == built.manifest.predicted_cycles
    np.testing.assert_array_equal(result.arrays["a"], built.expected[0]["a"])
