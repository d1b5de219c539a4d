"""Inputs and outputs of a circuit as NumPy arrays of the exact C types, and as NPZ files."""

from __future__ import annotations

import hashlib
import io
import math
import struct
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from rtlgen.ir.float_arithmetic import to_fraction
from rtlgen.ir.types import FloatType, IntType, type_named
from rtlgen.manifest.contents import ArrayEntry, Manifest, ReturnEntry, ScalarEntry
from rtlgen.system.files import write_file
from rtlgen.verify.errors import (
    InputFileError,
    InputTypeError,
    MissingInputError,
    UnknownInputError,
)
from rtlgen.verify.golden_state import require_meaning
from rtlgen.verify.values import (
    Elements,
    Limits,
    Value,
    element_dtype,
    is_scalar,
    pattern_of,
    value_of,
)

Inputs: TypeAlias = Mapping[str, Elements | Value | float]

RETURN_NAME = "return"
"""Under this name a file of outputs holds the function's result; no C variable can have it."""


Entry: TypeAlias = ArrayEntry | ScalarEntry | ReturnEntry


def dtype_of(entry: Entry) -> np.dtype[Any]:
    """Return the NumPy type of an element, or of a scalar."""
    return element_dtype(type_named(entry.type))


def check_inputs(inputs: Inputs, manifest: Manifest) -> dict[str, Elements | Value]:
    """Return `inputs` complete and of the exact types: arrays as declared, scalars as values.

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
    checked: dict[str, Elements | Value] = {}
    for array in manifest.data_arrays:
        if array.name in inputs:
            checked[array.name] = _check_array(inputs[array.name], array)
        elif array.role == "out":
            checked[array.name] = np.zeros(array.shape, dtype_of(array))
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
        if scalar.name not in inputs:
            raise MissingInputError(
                f"scalar {scalar.name} is missing from the inputs", help=_wanted(scalar)
            )
        value = _check_scalar(inputs[scalar.name], scalar)
        require_meaning(scalar.name, value, scalar.limits)
        checked[scalar.name] = value
    return checked


def _check_array(value: Any, entry: ArrayEntry) -> Elements:
    if entry.shape == () and _is_plain(value):
        # A variable of the program that keeps its value is given as a number, as a parameter is.
        return np.array(_converted(value, f"variable {entry.name}", entry), dtype_of(entry))
    array = np.asarray(value)
    _check_array_form(array.dtype, array.shape, entry)
    dtype = dtype_of(entry)
    return (
        array.view(dtype)
        if _holds_bfloat16(array.dtype, entry)
        else array.astype(dtype, copy=False)
    )


def _check_array_form(found: np.dtype[Any], shape: tuple[int, ...], entry: ArrayEntry) -> None:
    dtype = dtype_of(entry)
    # In which order the bytes of a number lie is the file's or the machine's matter, not C's.
    is_right = found.newbyteorder("=") == dtype or _holds_bfloat16(found, entry)
    if not is_right or shape != entry.shape:
        raise InputTypeError(
            f"array {entry.name} is {found.name} of shape {shape}, "
            f"not {dtype.name} of shape {entry.shape}",
            help=f"give {_declared(entry)}",
        )


def _holds_bfloat16(found: np.dtype[Any], entry: ArrayEntry) -> bool:
    """Tell whether something is patterns of bfloat16, or what NumPy's files hold in their place."""
    return entry.type == "bfloat16" and found in (np.dtype("u2"), np.dtype("V2"))


def _check_scalar(value: Any, entry: ScalarEntry) -> Value:
    if not _is_plain(value):
        array = np.asarray(value)
        _check_scalar_form(array.dtype, array.shape, entry)
        value = array[()]
    return _converted(value, f"scalar {entry.name}", entry)


def _is_plain(value: Any) -> bool:
    """Tell whether a value is Python's, and so of no type of C: NumPy's float64 is a float, too."""
    return isinstance(value, int | float) and not isinstance(value, np.generic)


def _converted(value: Any, what: str, entry: ArrayEntry | ScalarEntry) -> Value:
    """Return a value as C has it: a number as the nearest one of its type."""
    type_ = type_named(entry.type)
    if isinstance(type_, IntType):
        if isinstance(value, float):
            raise InputTypeError(f"{what} is {value}, not an integer", help=_wanted(entry))
        value = int(value)
        is_held = type_.minimum <= value <= type_.maximum
    else:
        pattern = pattern_of(value, type_)
        # C converts to the nearest number, if there is one: infinity is none.
        is_finite = pattern & ~type_.sign_bit != type_.infinity
        is_held = is_finite or not isinstance(value, int | float) or math.isinf(value)
    if not is_held:
        raise InputTypeError(
            f"{what} is {value}, out of the range of its C type", help=_wanted(entry)
        )
    return value_of(pattern_of(value, type_), type_)


def _check_scalar_form(found: np.dtype[Any], shape: tuple[int, ...], entry: ScalarEntry) -> None:
    type_ = type_named(entry.type)
    is_float = isinstance(type_, FloatType)
    if shape != () or not is_scalar(found, type_):
        raise InputTypeError(
            f"scalar {entry.name} is {found.name} of shape {shape}, not one "
            f"{'number' if is_float else 'integer'}"
        )


def check_ranges(ranges: Mapping[str, Limits], manifest: Manifest) -> dict[str, Limits]:
    """Return the limits of random data, each inside of its C type.

    Raises
    ------
    UnknownInputError, InputTypeError
    """
    entries: dict[str, ArrayEntry | ScalarEntry] = {a.name: a for a in manifest.data_arrays}
    entries |= {scalar.name: scalar for scalar in manifest.scalars}
    for name, (low, high) in ranges.items():
        if name not in entries:
            raise UnknownInputError(
                f"{manifest.name} has no array or scalar {name}",
                help=f"it has {', '.join(entries) or 'none'}",
            )
        least, most = _range(entries[name])
        is_whole = isinstance(low, int) and isinstance(high, int)
        if not least <= low <= high <= most or not (is_whole or isinstance(least, float)):
            raise InputTypeError(
                f"{low}..{high} is no range of values of {name}",
                help=f"give two numbers from {least} to {most}, the smaller one first",
            )
    return dict(ranges)


def _declared(entry: ArrayEntry) -> str:
    return f"a NumPy array of {dtype_of(entry).name} with shape {entry.shape}"


def _wanted(entry: ArrayEntry | ScalarEntry) -> str:
    low, high = _range(entry)
    return f"give {'a number' if isinstance(low, float) else 'an integer'} from {low} to {high}"


def _range(entry: ArrayEntry | ScalarEntry) -> Limits:
    """Return the least and the greatest finite value of the type."""
    type_ = type_named(entry.type)
    if isinstance(type_, IntType):
        return type_.minimum, type_.maximum
    most = float(to_fraction(type_.infinity - 1, type_))
    return -most, most


def load_inputs(path: Path, manifest: Manifest) -> dict[str, Elements | Value]:
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
            content: dict[str, Elements | Value] = dict.fromkeys(members, 0)
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
    path: Path, arrays: Mapping[str, Elements], returned: Value | None, manifest: Manifest
) -> None:
    """Write every array, and the return value as `return`, into an NPZ file, in their C types.

    Raises
    ------
    InputFileError: the file cannot be written.
    """
    content = dict(arrays)
    if returned is not None and manifest.returned is not None:
        content[RETURN_NAME] = np.array(returned, dtype=dtype_of(manifest.returned))
    archive = io.BytesIO()
    np.savez(archive, allow_pickle=False, **content)
    try:
        write_file(path, archive.getvalue())
    except OSError as error:
        raise InputFileError(f"cannot write {path}: {error.strerror or error}") from None


def scalar_word(value: Any, entry: ScalarEntry) -> int:
    """Return the bit pattern of a scalar argument."""
    return pattern_of(value, type_named(entry.type)) & ((1 << entry.width) - 1)


def from_words(words: np.ndarray, entry: ArrayEntry) -> Elements:
    """Return the array whose bit patterns are `words`."""
    return words.view(dtype_of(entry)).reshape(entry.shape)
