"""Random inputs: the full range of every type, the same on every machine for a seed.

The bytes come from SHAKE-128 of the seed and the array's name, not from a library's generator
whose stream may change between versions. An eighth of the elements is drawn from the corners of
the type, where carries, signs and wrap-around go wrong.
"""

from __future__ import annotations

import hashlib

import numpy as np

from rtlgen.ir.scop import Scop
from rtlgen.ir.types import IntType
from rtlgen.verify.golden_state import Elements, element_dtype

_CORNERS_IN_256 = 32


def random_inputs(scop: Scop, seed: int) -> dict[str, Elements | int]:
    """Return contents for every array that is not local, and a value for every scalar.

    Arrays that are only written get contents too: an element that the program never writes must
    still be there after the run.
    """
    inputs: dict[str, Elements | int] = {}
    for array in scop.arrays:
        if array.role != "local":
            inputs[array.name] = random_elements(array.element, array.shape, seed, array.name)
    for scalar in scop.scalars:
        inputs[scalar.name] = int(random_elements(scalar.type, (), seed, scalar.name))
    return inputs


def random_elements(element: IntType, shape: tuple[int, ...], seed: int, name: str) -> Elements:
    """Return an array of `shape` that depends on all four arguments and on nothing else."""
    count = int(np.prod(shape, dtype=np.int64))
    width_bytes = element.width_bits // 8
    key = f"rtlgen {seed} {name} {element} {shape}".encode()
    stream = hashlib.shake_128(key).digest(count * (width_bytes + 2))
    choice, corner, value = np.split(np.frombuffer(stream, dtype=np.uint8), [count, 2 * count])
    dtype = element_dtype(element)
    # The stream is little-endian by definition, whatever the machine is.
    values = value.view(dtype.newbyteorder("<")).astype(dtype)
    corners = _corners(element)
    if element.is_bool:
        values = values & 1
    drawn = np.array(corners, dtype=dtype)[corner % len(corners)]
    result: Elements = np.where(choice < _CORNERS_IN_256, drawn, values).reshape(shape)
    return result


def _corners(element: IntType) -> list[int]:
    """Return the values at which something changes, distinct."""
    return sorted({element.minimum, element.maximum, 0, 1, element.wrap(-1)})
