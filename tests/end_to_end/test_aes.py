"""AES decryption gives what FIPS-197 says, from the golden model and from the circuits."""

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

LAST_ROUND_KEY = {
    "appendix B": "d014f9a8c9ee2589e13f0cc8b6630ca6",
    "appendix C.1": "13111d7fe3944a17f307a78b4d2b30c5",
}
"""The last 16 bytes of the expanded key (appendix A.1, and round 10 of appendix C.1)."""

each_vector = pytest.mark.parametrize("vector", VECTORS)


def given(vector: str) -> tuple[dict[str, Bytes], Bytes]:
    """Return the inputs, the vector among other blocks, and its plain text."""
    _, cipher, plain = (np.frombuffer(bytes.fromhex(t), np.uint8) for t in VECTORS[vector])
    blocks = np.arange(BLOCKS * 16, dtype=np.uint8).reshape(BLOCKS, 16)
    blocks[2] = cipher
    return {"w": expanded_key(vector), "input": blocks, "output": np.zeros_like(blocks)}, plain


def key_inputs(vector: str) -> dict[str, Bytes]:
    key = np.frombuffer(bytes.fromhex(VECTORS[vector][0]), np.uint8)
    return {"key": key, "w": np.zeros(16 * 11, dtype=np.uint8)}


def expanded_key(vector: str) -> Bytes:
    scop = parse_file(SOURCE, function="expand_key").scop
    return run_golden(scop, key_inputs(vector)).arrays["w"]


@each_vector
def test_the_expanded_key_ends_with_the_last_round_key_of_the_standard(vector: str) -> None:
    w = expanded_key(vector)
    assert bytes(w[:16]) == bytes.fromhex(VECTORS[vector][0])
    assert bytes(w[-16:]) == bytes.fromhex(LAST_ROUND_KEY[vector])


@each_vector
def test_the_program_decrypts_the_vectors_of_the_standard(vector: str) -> None:
    inputs, plain = given(vector)
    after = run_golden(parse_file(SOURCE).scop, inputs).arrays["output"]
    assert after[2].tolist() == plain.tolist()


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("aes")
    for name in ("aes", "expand_key"):
        status = run_rtlgen("build", SOURCE, "--function", name, "-o", folder / name).status
        assert status == 0
    return folder


@pytest.mark.long
@pytest.mark.simulation
@pytest.mark.parametrize("simulator", SIMULATORS)
@each_vector
def test_the_circuits_expand_keys_and_decrypt_as_the_standard_says(
    built: Path, tmp_path: Path, vector: str, simulator: str
) -> None:
    def run(name: str, inputs: dict[str, Bytes], output: str) -> Bytes:
        np.savez(tmp_path / "in.npz", **inputs)  # type: ignore[arg-type]
        outcome = run_rtlgen(
            "run", built / name, "--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz",
            "--simulator", simulator,
        )  # fmt: skip
        assert outcome.status == 0
        with np.load(tmp_path / "out.npz") as out:
            result: Bytes = out[output]
        return result

    inputs, plain = given(vector)
    w = run("expand_key", key_inputs(vector), "w")
    assert bytes(w[-16:]) == bytes.fromhex(LAST_ROUND_KEY[vector])
    assert run("aes", {**inputs, "w": w}, "output")[2].tolist() == plain.tolist()
