"""Circuits behind an AXI4 port against cocotbext-axi's RAM, which pauses by chance."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from rtlgen.sim.cocotb_runner import run_tests
from rtlgen.sim.memory_image import image_of, owners, words_of
from rtlgen.verify.inputs import from_words, to_words
from tests.end_to_end.test_axi import build
from tests.simulators import needs_icarus
from tests.tiling.programs import BLUR, TRANSPOSED, TWO_PRODUCTS

pytestmark = [pytest.mark.simulation, needs_icarus]

SEEDS = (0, 1, 2, 3)


@pytest.mark.parametrize(
    ("text", "size", "tile", "word_bits"),
    [
        pytest.param(TRANSPOSED, 9, (4, 4), 32, id="transposed"),
        pytest.param(BLUR, 11, (4, 5), 128, id="blur"),
        pytest.param(TWO_PRODUCTS, 4, (3, 3, 3), 64, id="two products", marks=pytest.mark.long),
    ],
)
def test_a_ram_that_pauses_on_every_channel_will_do(
    tmp_path: Path, text: str, size: int, tile: tuple[int, ...], word_bits: int
) -> None:
    built = build(tmp_path, text, size, tile, word_bits)
    manifest, memory = built.manifest, built.manifest.memory
    assert memory is not None
    given = [
        image_of(manifest, {name: to_words(np.asarray(array)) for name, array in each.items()})
        for each in built.inputs
    ]
    np.save(tmp_path / "given.npy", np.array(given))
    environment = {"FOLDER": str(tmp_path), "SEEDS": ",".join(map(str, SEEDS))}
    run_tests(
        [tmp_path / "design.v"],
        manifest.top,
        ["hw_tests.bench_axi"],
        "icarus",
        tmp_path / "build",
        environment=environment,
    )
    left, cycles = np.load(tmp_path / "left.npy"), np.load(tmp_path / "cycles.npy")
    assert len(left) == len(SEEDS) * len(given)
    for number, image in enumerate(left):
        for name, expected in built.expected[number % len(given)].items():
            found = from_words(words_of(image, memory.array(name)), manifest.array(name))
            np.testing.assert_array_equal(found, expected, err_msg=f"{name}, run {number}")
        # Between arrays nothing has changed.
        rest = owners(manifest) == 0
        np.testing.assert_array_equal(image[rest], given[number % len(given)][rest])
    assert len(set(cycles.tolist())) > len(SEEDS)
