"""Operands as TestFloat draws them: classes of exponents, all pairs of them, and runs of bits."""

from __future__ import annotations

import numpy as np

from rtlgen.ir.types import FloatType


def exponents(type_: FloatType) -> list[int]:
    """Return the exponents at which something changes, as they are stored."""
    top = (1 << type_.exponent_bits) - 1
    bias, fraction = type_.bias, type_.fraction_bits
    near = [0, 1, 2, bias - fraction - 1, bias - 1, bias, bias + 1, bias + fraction, top - 1, top]
    return sorted({e for e in near if 0 <= e <= top})


def _fractions(type_: FloatType, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return fractions: any, or a run of ones in zeros, or of zeros in ones."""
    bits = type_.fraction_bits
    low, high = np.sort(rng.integers(0, bits + 1, (2, count)).astype(np.uint64), axis=0)
    one = np.uint64(1)
    run = (one << high) - (one << low)
    whole = np.uint64((1 << bits) - 1)
    drawn = rng.integers(0, 1 << bits, count, dtype=np.uint64)
    return np.choose(rng.integers(0, 4, count), [run, whole ^ run, drawn, drawn & ~run])


def drawn(type_: FloatType, count: int, rng: np.random.Generator) -> np.ndarray:
    """Return samples of three patterns, a row each."""
    classes = np.array([*exponents(type_), -1])
    number = np.arange(count)
    chosen = [classes[number // len(classes) ** n % len(classes)] for n in range(3)]
    columns: list[np.ndarray] = []
    for n, stored in enumerate(chosen):
        anything = rng.integers(0, 1 << type_.exponent_bits, count)
        if n == 1:
            # Products at the least exponent, quotients too, and sums of numbers that are near.
            off = rng.integers(-type_.fraction_bits - 3, 4, count)
            first = (columns[0] >> np.uint64(type_.fraction_bits)).astype(np.int64)
            first &= (1 << type_.exponent_bits) - 1
            least = [type_.bias - first + off, first + type_.bias + off, first + off]
            anything = np.where(
                rng.integers(0, 4, count) == 0, anything, np.choose(number % 3, least)
            )
        stored = np.where(stored < 0, anything, stored)
        stored = np.clip(stored, 0, (1 << type_.exponent_bits) - 1).astype(np.uint64)
        signs = rng.integers(0, 2, count, dtype=np.uint64)
        pattern = signs << np.uint64(type_.exponent_bits)
        pattern = (pattern | stored) << np.uint64(type_.fraction_bits)
        columns.append(pattern | _fractions(type_, count, rng))
    samples = np.stack(columns, axis=1)
    # Differences of numbers that are nearly equal.
    close = number % 8 == 7
    near = samples[:, 0] ^ np.uint64(type_.sign_bit) ^ rng.integers(0, 4, count, dtype=np.uint64)
    samples[close, 1] = near[close]
    return samples
