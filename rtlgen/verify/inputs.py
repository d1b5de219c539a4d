"""Inputs and outputs of a circuit as NumPy arrays of the exact C types, and as NPZ files."""

from __future__ import annotations

import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rtlgen.manifest import ArrayEntry, Manifest, ScalarEntry
from rtlgen.verify.errors import (
    InputFileError,
    InputTypeError,
    MissingInputError,
    UnknownInputError,
)

Inputs: TypeAlias = Mapping[str, np.ndarray | int]

RETURN_NAME = "return"
"""Under this name a file of outputs holds the function's result; no C variable can have it."""


def dtype_of(bits: int, signed: bool) -> np.dtype:
    """Return the NumPy type of a C integer type."""
    return np.dtype(f"{'i' if signed else 'u'}{bits // 8}")


def check_inputs(inputs: Inputs, manifest: Manifest) -> dict[str, np.ndarray | int]:
    """Return `inputs` complete and of the exact types: arrays as declared, scalars as int.

    An array that the program only writes may be left out; it becomes zeros.

    Raises
    ------
    MissingInputError, UnknownInputError, InputTypeError
    """
    names = [array.name for array in manifest.host_arrays]
    names += [scalar.name for scalar in manifest.scalars]
    if unknown := [name for name in inputs if name not in names]:
        raise UnknownInputError(
            f"{manifest.name} has no array or scalar {', '.join(unknown)}",
            help=f"it has {', '.join(names) or 'none'}",
        )
    checked: dict[str, np.ndarray | int] = {}
    for array in manifest.host_arrays:
        if array.name in inputs:
            checked[array.name] = _check_array(inputs[array.name], array)
        elif array.role == "out":
            checked[array.name] = np.zeros(array.shape, dtype_of(array.element_bits, array.signed))
        else:
            raise MissingInputError(
                f"array {array.name} is missing from the inputs",
                notes=[f"{manifest.name} reads it"],
                help=f"give {_declared(array)}",
            )
    for scalar in manifest.scalars:
        if scalar.name not in inputs:
            raise MissingInputError(
                f"scalar {scalar.name} is missing from the inputs",
                help=f"give an integer from {_range(scalar)[0]} to {_range(scalar)[1]}",
            )
        checked[scalar.name] = _check_scalar(inputs[scalar.name], scalar)
    return checked


def _check_array(value: np.ndarray | int, entry: ArrayEntry) -> np.ndarray:
    array = np.asarray(value)
    dtype = dtype_of(entry.element_bits, entry.signed)
    if array.dtype == dtype and array.shape == entry.shape:
        return array
    raise InputTypeError(
        f"array {entry.name} is {array.dtype.name} of shape {array.shape}, "
        f"not {dtype.name} of shape {entry.shape}",
        help=f"give {_declared(entry)}",
    )


def _check_scalar(value: np.ndarray | int, entry: ScalarEntry) -> int:
    array = np.asarray(value)
    if array.shape != () or array.dtype.kind not in "iu":
        raise InputTypeError(
            f"scalar {entry.name} is {array.dtype.name} of shape {array.shape}, not one integer"
        )
    low, high = _range(entry)
    number = int(array)
    if not low <= number <= high:
        raise InputTypeError(
            f"scalar {entry.name} is {number}, out of the range of its C type",
            help=f"give an integer from {low} to {high}",
        )
    return number


def _declared(entry: ArrayEntry) -> str:
    dtype = dtype_of(entry.element_bits, entry.signed)
    return f"a NumPy array of {dtype.name} with shape {entry.shape}"


def _range(entry: ScalarEntry) -> tuple[int, int]:
    low = -(1 << (entry.width - 1)) if entry.signed else 0
    return low, low + (1 << entry.width) - 1


def load_inputs(path: Path, manifest: Manifest) -> dict[str, np.ndarray | int]:
    """Read an NPZ file and return its content as `check_inputs` does.

    Raises
    ------
    InputFileError, MissingInputError, UnknownInputError, InputTypeError
    """
    try:
        loaded = np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError, zipfile.BadZipFile) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputFileError(f"cannot read {path}: {reason}", help=_MAKE_NPZ) from None
    if not isinstance(loaded, np.lib.npyio.NpzFile):
        raise InputFileError(f"{path} holds one array, not an archive of them", help=_MAKE_NPZ)
    with loaded:
        try:
            content = {name: loaded[name] for name in loaded.files}
        except (ValueError, EOFError, zipfile.BadZipFile) as error:
            raise InputFileError(f"cannot read {path}: {error}", help=_MAKE_NPZ) from None
    return check_inputs(content, manifest)


_MAKE_NPZ = "write it with numpy.savez(path, A=a, B=b, ...)"


def save_outputs(path: Path, arrays: Mapping[str, np.ndarray], returned: int | None) -> None:
    """Write every array, and the return value as `return`, into an NPZ file.

    Raises
    ------
    InputFileError: the file cannot be written.
    """
    content = dict(arrays)
    if returned is not None:
        # A C integer of any type fits one of the two.
        content[RETURN_NAME] = np.array(returned, dtype=np.int64 if returned < 2**63 else np.uint64)
    try:
        with path.open("wb") as file:
            np.savez(file, allow_pickle=False, **content)
    except OSError as error:
        raise InputFileError(f"cannot write {path}: {error.strerror or error}") from None


def to_words(array: np.ndarray) -> np.ndarray:
    """Return the bit patterns of `array`, flat in row-major order."""
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}").reshape(-1)


def from_words(words: np.ndarray, entry: ArrayEntry) -> np.ndarray:
    """Return the array whose bit patterns are `words`."""
    dtype = dtype_of(entry.element_bits, entry.signed)
    return words.view(dtype).reshape(entry.shape)


def signed_value(word: int, bits: int, signed: bool) -> int:
    """Return the value of a bit pattern."""
    return word - (1 << bits) if signed and word >> (bits - 1) else word
