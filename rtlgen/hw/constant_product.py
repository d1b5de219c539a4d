"""Products with a constant as sums of shifted copies."""

from __future__ import annotations

from functools import reduce
from operator import add

from amaranth.hdl import Value

from rtlgen.ir.signed_digits import signed_digits


def constant_product(value: Value, constant: int) -> Value:
    """Return value * constant, exactly, from one addition or subtraction for each further digit."""
    digits = signed_digits(constant)
    added = [value << place for place, digit in digits if digit > 0]
    subtracted = [value << place for place, digit in digits if digit < 0]
    if not subtracted:
        return reduce(add, added) if added else value & 0
    negative = reduce(add, subtracted)
    return reduce(add, added) - negative if added else -negative
