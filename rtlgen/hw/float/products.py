"""Products of two floats."""

from __future__ import annotations

from dataclasses import dataclass

from amaranth.hdl import Cat, Mux, Value, unsigned

from rtlgen.hw.float.parts import (
    fields,
    groups,
    limited_shift,
    outcome,
    round_and_pack,
    shifted,
)
from rtlgen.hw.multiplier import Multiplier
from rtlgen.hw.pipeline import Kept, Steps
from rtlgen.ir.operation_costs import significand_piece_bits
from rtlgen.ir.types import FloatType
from rtlgen.target import NARROW, float_product_steps


@dataclass(frozen=True, slots=True, eq=False)
class Product:
    """The exact product of two floats.

    Members
    -------
    significand: of twice as many bits; there in the last of `float_product_steps`. Without
        subnormals it is anything where the product is 0.
    room: exponent of its second bit from above, as it is stored, less 1; signed.
    lesser: factors, the zeros above whose first ones are those above that of the product; none
        where there are no subnormals.
    """

    significand: Value
    sign: Kept
    room: Kept
    lesser: tuple[Kept, ...]
    is_zero: Kept
    is_infinite: Kept
    is_nan: Kept


def exact_product(steps: Steps, left: Value, right: Value, type_: FloatType) -> Product:
    """Return the product of two floats, the significand of which is there some steps later."""
    a, b = fields(steps, left, type_, "left"), fields(steps, right, type_, "right")
    precision = type_.fraction_bits + 1
    shape = unsigned(precision)
    cycles = steps.cycles_of(float_product_steps(precision) - 1)
    unit = Multiplier(
        shape,
        shape,
        2 * precision,
        cycles,
        piece_bits=significand_piece_bits(precision),
        ends_in_register=False,
    )
    steps.m.submodules.multiplier = unit
    steps.m.d.comb += [unit.left.eq(a.factor), unit.right.eq(b.factor)]
    factors = [a.significand, b.significand] if type_.subnormals else []
    if type_.subnormals and type_.bias > 2:
        # A product of two subnormal numbers is less than any: its zeros do not matter.
        factors = [Mux(a.leading, b.significand, a.significand)]
    is_special = a.is_special | b.is_special
    is_nan = a.is_nan | b.is_nan | (is_special & (a.is_zero | b.is_zero))
    return Product(
        significand=unit.result,
        sign=steps.keep(a.sign ^ b.sign, "sign"),
        room=steps.keep(_room(a.exponent + b.exponent), "room"),
        lesser=tuple(steps.keep(factor, "lesser") for factor in factors),
        is_zero=steps.keep(a.is_zero | b.is_zero, "is_zero"),
        is_infinite=steps.keep(is_special & ~is_nan, "is_infinite"),
        is_nan=steps.keep(is_nan, "is_nan"),
    )


def _room(exponents: Value) -> Value:
    """Return a sum of two exponents less the bias and 1, which is a power of two."""
    low, (carried, topmost) = exponents[:-2], exponents[-2:]
    return Cat(low, ~carried, ~(carried ^ topmost), ~(carried | topmost)).as_signed()


def multiply(steps: Steps, left: Value, right: Value, type_: FloatType) -> Value:
    """Return left * right."""
    precision = type_.fraction_bits + 1
    product = exact_product(steps, left, right, type_)
    begun = [groups(steps, factor.now) for factor in product.lesser]
    steps.end()
    zeros = None
    if begun:
        counts = [each.leading_zeros(steps) for each in begun]
        zeros = steps.keep(counts[0] if len(counts) == 1 else counts[0] + counts[1], "zeros")
    # The product takes its time, but that of a narrow format is there in the second step.
    waits = float_product_steps(precision) - 2
    steps.end(min(waits, 1))
    shift = limited_shift(
        steps,
        product.room.now,
        None if zeros is None else zeros.now,
        type_,
        can_underflow=True,
    )
    result = outcome(
        steps,
        sign=product.sign.now,
        is_zero=product.is_zero.now,
        is_special=product.is_infinite.now | product.is_nan.now,
        is_nan=product.is_nan.now,
    )
    steps.end(max(waits, 1) - 1)
    value = shifted(
        steps,
        product.significand,
        shift,
        precision,
        begins_early=True,
        slowly=type_.subnormals and precision > NARROW,
    )
    steps.end()
    packed = round_and_pack(steps, value, shift.base, result, type_)
    return steps.finish(packed, "result")
