"""Inputs and outputs of a circuit as NumPy arrays of the exact C types, and as NPZ files."""

from __future__ import annotations

import hashlib
import io
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import TypeAlias

import numpy as np

from rtlgen.manifest.contents import ArrayEntry, Manifest, ScalarEntry
from rtlgen.system.files import write_file
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

    An array that the program only writes may be left out; it becomes zeros. One that it does not
    touch may be left out, too.

    Raises
    ------
    MissingInputError, UnknownInputError, InputTypeError
    """
    names = [array.name for array in (*manifest.data_arrays, *manifest.untouched_arrays)]
    names += [scalar.name for scalar in manifest.scalars]
    if unknown := [name for name in inputs if name not in names]:
        raise UnknownInputError(
            f"{manifest.name} has no array or scalar {', '.join(unknown)}",
            help=f"it has {', '.join(names) or 'none'}",
        )
    checked: dict[str, np.ndarray | int] = {}
    for array in manifest.data_arrays:
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
    for array in manifest.untouched_arrays:
        if array.name in inputs:
            checked[array.name] = _check_array(inputs[array.name], array)
    for scalar in manifest.scalars:
        low, high = _range(scalar.width, scalar.signed)
        if scalar.name not in inputs:
            raise MissingInputError(
                f"scalar {scalar.name} is missing from the inputs",
                help=f"give an integer from {low} to {high}",
            )
        checked[scalar.name] = _check_scalar(inputs[scalar.name], scalar)
    return checked


def _check_array(value: np.ndarray | int, entry: ArrayEntry) -> np.ndarray:
    if isinstance(value, int) and entry.shape == ():
        # A variable of the program that keeps its value is given as a number, as a parameter is.
        low, high = _range(entry.element_bits, entry.signed)
        _require_in_range(value, f"variable {entry.name}", low, high)
        return np.array(value, dtype_of(entry.element_bits, entry.signed))
    array = np.asarray(value)
    _check_array_form(array.dtype, array.shape, entry)
    return array.astype(dtype_of(entry.element_bits, entry.signed), copy=False)


def _check_array_form(found: np.dtype, shape: tuple[int, ...], entry: ArrayEntry) -> None:
    dtype = dtype_of(entry.element_bits, entry.signed)
    # In which order the bytes of a number lie is the file's or the machine's matter, not C's.
    if found.newbyteorder("=") != dtype or shape != entry.shape:
        raise InputTypeError(
            f"array {entry.name} is {found.name} of shape {shape}, "
            f"not {dtype.name} of shape {entry.shape}",
            help=f"give {_declared(entry)}",
        )


def _check_scalar(value: np.ndarray | int, entry: ScalarEntry) -> int:
    if not isinstance(value, int):
        array = np.asarray(value)
        _check_scalar_form(array.dtype, array.shape, entry)
        value = int(array)
    _require_in_range(value, f"scalar {entry.name}", *_range(entry.width, entry.signed))
    return int(value)


def _require_in_range(value: int, what: str, low: int, high: int) -> None:
    if not low <= value <= high:
        raise InputTypeError(
            f"{what} is {value}, out of the range of its C type",
            help=f"give an integer from {low} to {high}",
        )


def _check_scalar_form(found: np.dtype, shape: tuple[int, ...], entry: ScalarEntry) -> None:
    if shape != () or found.kind not in "iu":
        raise InputTypeError(
            f"scalar {entry.name} is {found.name} of shape {shape}, not one integer"
        )


def check_ranges(
    ranges: Mapping[str, tuple[int, int]], manifest: Manifest
) -> dict[str, tuple[int, int]]:
    """Return the limits of random data, each inside of its C type.

    Raises
    ------
    UnknownInputError, InputTypeError
    """
    types = {a.name: (a.element_bits, a.signed) for a in manifest.data_arrays}
    types |= {s.name: (s.width, s.signed) for s in manifest.scalars}
    for name, (low, high) in ranges.items():
        if name not in types:
            raise UnknownInputError(
                f"{manifest.name} has no array or scalar {name}",
                help=f"it has {', '.join(types) or 'none'}",
            )
        width, signed = types[name]
        least, most = _range(width, signed)
        if not least <= low <= high <= most:
            raise InputTypeError(
                f"{low}..{high} is no range of values of {name}",
                help=f"give two numbers from {least} to {most}, the smaller one first",
            )
    return dict(ranges)


def _declared(entry: ArrayEntry) -> str:
    dtype = dtype_of(entry.element_bits, entry.signed)
    return f"a NumPy array of {dtype.name} with shape {entry.shape}"


def _range(width: int, signed: bool) -> tuple[int, int]:
    low = -(1 << (width - 1)) if signed else 0
    return low, low + (1 << width) - 1


def load_inputs(path: Path, manifest: Manifest) -> dict[str, np.ndarray | int]:
    """Read an NPZ file and return its content as `check_inputs` does.

    Raises
    ------
    InputFileError, MissingInputError, UnknownInputError, InputTypeError
    """
    entries: dict[str, ArrayEntry | ScalarEntry] = {a.name: a for a in manifest.data_arrays}
    entries |= {array.name: array for array in manifest.untouched_arrays}
    entries |= {scalar.name: scalar for scalar in manifest.scalars}
    try:
        with path.open("rb") as file:
            if file.read(len(np.lib.format.MAGIC_PREFIX)) == np.lib.format.MAGIC_PREFIX:
                raise InputFileError(
                    f"{path} holds one array, not an archive of them", help=_MAKE_NPZ
                )
        with zipfile.ZipFile(path) as archive:
            members = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
            # Whatever has no place in the circuit is refused by its name, and not read.
            content: dict[str, np.ndarray | int] = dict.fromkeys(members, 0)
            for name in members.keys() & entries.keys():
                content[name] = _read_member(archive, members[name], entries[name])
    except _UNREADABLE as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputFileError(f"cannot read {path}: {reason}", help=_MAKE_NPZ) from None
    return check_inputs(content, manifest)


def digest_of(path: str | None) -> str | None:
    """Return the SHA-256 of a file of inputs; None for no file, or one that cannot be read."""
    try:
        return hashlib.sha256(Path(path).read_bytes()).hexdigest() if path else None
    except OSError:
        return None  # Whoever reads it says why.


def _read_member(
    archive: zipfile.ZipFile, member: zipfile.ZipInfo, entry: ArrayEntry | ScalarEntry
) -> np.ndarray:
    """Return one array, after looking at its header: it may claim to be of any size."""
    most = MAX_HEADER_BYTES + (entry.depth * 8 if isinstance(entry, ArrayEntry) else 8)
    if member.file_size > most:
        raise ValueError(f"{member.filename} holds {member.file_size:,} bytes, at most {most:,}")
    with archive.open(member) as file:
        version = np.lib.format.read_magic(file)
        header = _HEADERS.get(version)
        if header is None:
            raise ValueError(f"{member.filename} is of NumPy's format {version}")
        shape, _, dtype = header(file)
    if isinstance(entry, ArrayEntry):
        _check_array_form(dtype, shape, entry)
    else:
        _check_scalar_form(dtype, shape, entry)
    with archive.open(member) as file:
        array: np.ndarray = np.lib.format.read_array(file, allow_pickle=False)
    return array


MAX_HEADER_BYTES = 1 << 16
"""NumPy writes some hundred."""

_HEADERS = {
    (1, 0): np.lib.format.read_array_header_1_0,
    (2, 0): np.lib.format.read_array_header_2_0,
}

# What zipfile and NumPy raise on damaged, encrypted or oddly compressed archives.
_UNREADABLE = (
    OSError, ValueError, EOFError, KeyError, RuntimeError, NotImplementedError, struct.error,
    zipfile.BadZipFile, zlib.error,
)  # fmt: skip
_MAKE_NPZ = "write it with numpy.savez(path, A=a, B=b, ...)"


def save_outputs(
    path: Path, arrays: Mapping[str, np.ndarray], returned: int | None, manifest: Manifest
) -> None:
    """Write every array, and the return value as `return`, into an NPZ file, in their C types.

    Raises
    ------
    InputFileError: the file cannot be written.
    """
    content = dict(arrays)
    if returned is not None and manifest.returned is not None:
        type_ = dtype_of(manifest.returned.width, manifest.returned.signed)
        content[RETURN_NAME] = np.array(returned, dtype=type_)
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **content)
    try:
        write_file(path, archive.getvalue())
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
