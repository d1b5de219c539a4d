"""AES decryption gives the plain texts of FIPS-197, from the golden model and from the circuit."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from rtlgen.frontend import parse_file
from rtlgen.verify.golden import run_golden
from tests.cli.conftest import rtlgen as run_rtlgen
from tests.simulators import SIMULATORS

SOURCE = Path(__file__).parents[2] / "examples" / "aes" / "aes.c"
BLOCKS = 4

Bytes = NDArray[np.uint8]

VECTORS = {
    "appendix B": (
        "2b7e151628aed2a6abf7158809cf4f3c",
        "3925841d02dc09fbdc118597196a0b32",
        "3243f6a8885a308d313198a2e0370734",
    ),
    "appendix C.1": (
        "000102030405060708090a0b0c0d0e0f",
        "69c4e0d86a7b0430d8cdb78070b4c55a",
        "00112233445566778899aabbccddeeff",
    ),
}
"""Key, cipher text and plain text."""

each_vector = pytest.mark.parametrize("vector", VECTORS)


def given(vector: str) -> tuple[dict[str, Bytes], Bytes]:
    """Return the inputs, the vector among other blocks, and its plain text."""
    key, cipher, plain = (np.frombuffer(bytes.fromhex(t), np.uint8) for t in VECTORS[vector])
    blocks = np.arange(BLOCKS * 16, dtype=np.uint8).reshape(BLOCKS, 16)
    blocks[2] = cipher
    return {"key": key, "input": blocks, "output": np.zeros_like(blocks)}, plain


@each_vector
def test_the_program_decrypts_the_vectors_of_the_standard(vector: str) -> None:
    inputs, plain = given(vector)
    after = run_golden(parse_file(SOURCE).scop, inputs).arrays["output"]
    assert after[2].tolist() == plain.tolist()  # type: ignore[index]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aes") / "aes"
    assert run_rtlgen("build", SOURCE, "-o", folder).status == 0
    return folder


@pytest.mark.simulation
@pytest.mark.parametrize("simulator", SIMULATORS)
@each_vector
def test_the_circuit_decrypts_the_vectors_of_the_standard(
    built: Path, tmp_path: Path, vector: str, simulator: str
) -> None:
    inputs, plain = given(vector)
    np.savez(tmp_path / "in.npz", **inputs)  # type: ignore[arg-type]
    outcome = run_rtlgen(
        "run", built, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
        "--simulator", simulator,
    )  # fmt: skip
    assert outcome.status == 0
    with np.load(tmp_path / "out.npz") as out:
        assert out["output"][2].tolist() == plain.tolist()
