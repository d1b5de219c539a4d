"""Inputs are taken by their C names, of the exact C types, or refused with the reason."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import rtlgen
from rtlgen.ir.types import type_named
from rtlgen.manifest.contents import ArrayEntry, Port, ReturnEntry
from rtlgen.verify.errors import (
    InputFileError,
    InputTypeError,
    MissingInputError,
    UnknownInputError,
)
from rtlgen.verify.inputs import (
    check_inputs,
    from_words,
    load_inputs,
    save_outputs,
)
from rtlgen.verify.values import to_words, value_of
from sim.designs import random_inputs, scale_add_manifest

MANIFEST = scale_add_manifest()


def test_an_array_that_is_only_written_may_be_left_out() -> None:
    inputs = random_inputs(1)
    del inputs["C"]
    checked = check_inputs(inputs, MANIFEST)
    np.testing.assert_array_equal(checked["C"], np.zeros((4, 4), np.int32), strict=True)


@pytest.mark.parametrize(
    ("name", "message"),
    [("A", "array A is missing from the inputs"), ("k", "scalar k is missing from the inputs")],
)
def test_what_the_program_reads_must_be_given(name: str, message: str) -> None:
    inputs = random_inputs(1)
    del inputs[name]
    with pytest.raises(MissingInputError, match=message):
        check_inputs(inputs, MANIFEST)


def test_an_unknown_name_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownInputError) as caught:
        check_inputs({**random_inputs(1), "a": 1}, MANIFEST)
    assert caught.value.diagnostic.message == "scale_add has no array or scalar a"
    assert caught.value.diagnostic.help == "it has A, B, C, k"


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("A", np.zeros((4, 4)), "array A is float64 of shape (4, 4), not int32 of shape (4, 4)"),
        ("A", np.zeros(16, np.int32), "array A is int32 of shape (16,), not int32 of shape (4, 4)"),
        ("B", np.zeros(16, np.uint8), "array B is uint8 of shape (16,), not int8 of shape (16,)"),
        ("k", 1 << 15, "scalar k is 32768, out of the range of its C type"),
        ("k", np.zeros(2, np.int16), "scalar k is int16 of shape (2,), not one integer"),
        ("k", np.float64(1), "scalar k is float64 of shape (), not one integer"),
    ],
)
def test_another_type_or_shape_is_refused(name: str, value: np.ndarray | int, message: str) -> None:
    with pytest.raises(InputTypeError) as caught:
        check_inputs({**random_inputs(1), name: value}, MANIFEST)
    assert caught.value.diagnostic.message == message


def test_inputs_survive_the_way_through_a_file(tmp_path: Path) -> None:
    inputs = random_inputs(2)
    np.savez(tmp_path / "in.npz", allow_pickle=False, **inputs)
    loaded = load_inputs(tmp_path / "in.npz", MANIFEST)
    assert loaded.keys() == inputs.keys()
    for name, value in inputs.items():
        np.testing.assert_array_equal(loaded[name], value)


@pytest.mark.parametrize("content", [None, b"", b"PK\x03\x04 cut short", b"text"])
def test_a_file_that_is_no_archive_is_refused(tmp_path: Path, content: bytes | None) -> None:
    path = tmp_path / "in.npz"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputFileError, match=f"cannot read {path}"):
        load_inputs(path, MANIFEST)


def test_a_single_array_is_not_an_archive(tmp_path: Path) -> None:
    np.save(tmp_path / "in.npy", np.zeros(3))
    with pytest.raises(InputFileError, match="holds one array, not an archive"):
        load_inputs(tmp_path / "in.npy", MANIFEST)


def test_pickled_objects_are_not_loaded(tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", A=np.array([object()], dtype=object))
    with pytest.raises(InputTypeError, match="array A is object"):
        load_inputs(tmp_path / "in.npz", MANIFEST)


def test_the_order_of_bytes_does_not_matter() -> None:
    given = random_inputs(1)
    other_order = {name: np.asarray(value) for name, value in given.items()}
    other_order = {name: a.astype(a.dtype.newbyteorder(">")) for name, a in other_order.items()}
    checked = check_inputs(other_order, MANIFEST)
    for name, value in check_inputs(given, MANIFEST).items():
        np.testing.assert_array_equal(checked[name], value, strict=True)


@pytest.mark.parametrize("name", ["A", "k"])
def test_an_array_that_claims_to_be_huge_is_refused_by_its_header(
    tmp_path: Path, name: str
) -> None:
    header = io.BytesIO()
    description = {"descr": "<i4", "fortran_order": False, "shape": (1 << 40,)}
    np.lib.format.write_array_header_1_0(header, description)
    with zipfile.ZipFile(tmp_path / "in.npz", "w") as archive:
        archive.writestr(f"{name}.npy", header.getvalue())
    with pytest.raises(InputTypeError, match=f"{name} is int32 of shape \\(1099511627776,\\)"):
        load_inputs(tmp_path / "in.npz", MANIFEST)


def test_a_member_that_unpacks_to_too_much_is_refused(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "in.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("A.npy", b"\0" * 1_000_000)
    with pytest.raises(InputFileError, match=r"A\.npy holds 1,000,000 bytes, at most"):
        load_inputs(tmp_path / "in.npz", MANIFEST)


@pytest.mark.parametrize(
    ("returned", "type_"),
    [(None, "i4"), (-1, "i2"), (-(2**63), "i8"), (2**64 - 1, "u8"), (200, "u1")],
)
def test_outputs_hold_arrays_and_the_return_value_in_its_c_type(
    tmp_path: Path, returned: int | None, type_: str
) -> None:
    c = np.arange(16, dtype=np.int32).reshape(4, 4)
    width = 8 * int(type_[1])
    manifest = replace(
        MANIFEST,
        ports=(*MANIFEST.ports, Port("result", "out", width)),
        returned=ReturnEntry("result", width, type_[0] == "i"),
    )
    save_outputs(tmp_path / "out.npz", {"C": c}, returned, manifest)
    with np.load(tmp_path / "out.npz") as archive:
        np.testing.assert_array_equal(archive["C"], c, strict=True)
        assert ("return" in archive) == (returned is not None)
        if returned is not None:
            expected = np.array(returned, dtype=type_)
            np.testing.assert_array_equal(archive["return"], expected, strict=True)


UNTOUCHED = replace(
    MANIFEST, arrays=(*MANIFEST.arrays, ArrayEntry("spare", 8, False, (2, 3), "in", None))
)


def test_an_array_that_the_circuit_has_no_use_for_may_be_given_or_left_out(tmp_path: Path) -> None:
    spare = np.arange(6, dtype=np.uint8).reshape(2, 3)
    assert "spare" not in check_inputs(random_inputs(1), UNTOUCHED)
    np.savez(tmp_path / "in.npz", allow_pickle=False, **random_inputs(1), spare=spare)
    np.testing.assert_array_equal(load_inputs(tmp_path / "in.npz", UNTOUCHED)["spare"], spare)
    with pytest.raises(InputTypeError, match="array spare is uint8 of shape \\(6,\\)"):
        check_inputs({**random_inputs(1), "spare": spare.ravel()}, UNTOUCHED)


def test_outputs_that_cannot_be_written_are_reported(tmp_path: Path) -> None:
    with pytest.raises(InputFileError, match="cannot write"):
        save_outputs(tmp_path / "absent" / "out.npz", {}, None, MANIFEST)


@pytest.mark.parametrize("bits", [8, 16, 32, 64])
@pytest.mark.parametrize("signed", [False, True])
def test_words_are_the_bit_patterns_of_elements(bits: int, signed: bool) -> None:
    entry = ArrayEntry("A", bits, signed, (2, 2), "in", None)
    low = -(1 << (bits - 1)) if signed else 0
    values = [low, low + (1 << bits) - 1, 0, 1]
    array = np.array(values, dtype=f"{'i' if signed else 'u'}{bits // 8}").reshape(2, 2)
    words = to_words(array.T.copy().T)
    assert [int(word) for word in words] == [value % (1 << bits) for value in values]
    np.testing.assert_array_equal(from_words(words, entry), array, strict=True)
    returned = ReturnEntry("r", bits, signed)
    assert value_of(int(words[0]), type_named(returned.type)) == low


def test_a_variable_that_keeps_its_value_is_given_as_a_python_integer() -> None:
    design = rtlgen.compile(
        source="static short acc;\n"
        "int f(int g, short x[4]) { for (int i = 0; i < 4; i++) acc += g * x[i]; return acc; }"
    )
    given: dict[str, np.ndarray | int] = {"g": 3, "x": np.ones(4, np.int16)}
    checked = check_inputs({**given, "acc": -5}, design.manifest)
    assert int(checked["acc"]) == -5
    assert np.asarray(checked["acc"]).dtype.name == "int16"
    for name, value in (("acc", 1 << 15), ("g", 1 << 70)):
        with pytest.raises(InputTypeError, match=f"{name} is {value}, out of the range"):
            check_inputs({**given, "acc": 0, name: value}, design.manifest)


@pytest.mark.parametrize(("n", "is_taken"), [(-5, True), (8, True), (9, False)])
def test_a_value_beyond_its_bound_is_refused(n: int, is_taken: bool) -> None:
    design = rtlgen.compile(
        source="void twice(int n, int A[8]) { for (int i = 0; i < n; i++) A[i] = 2 * A[i]; }"
    )
    given: dict[str, int | np.ndarray] = {"n": n, "A": np.zeros(8, np.int32)}
    if is_taken:
        assert check_inputs(given, design.manifest)["n"] == n
        return
    with pytest.raises(InputTypeError, match="scalar n is 9, and the program has no meaning"):
        check_inputs(given, design.manifest)
