"""What operations take: products in blocks, factors in signed digits, reciprocals, digit by digit.

Constant factors in signed digits: which products are cheaper as additions.

Operations that find their results digit by digit, and how many circuits that takes.

Where one may begin in every cycle, each digit has a circuit of its own. Where the next one begins
some cycles later, one circuit computes as many digits in turn, in the same time.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Protocol

from rtlgen.ir.functional_units import functional_units
from rtlgen.ir.operations import ArithmeticOp, ConstantOp, FloatingOp, Operation, UnitOp
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.types import FloatType, power_of_two
from rtlgen.target import (
    PIECE_BITS,
    Target,
    divider_bits,
    divider_digits,
    divider_shares,
    divider_steps,
    float_quotient_steps,
    float_root_steps,
    float_steps,
)

MAXIMAL_DIGITS = 3
"""A constant factor of up to this many signed digits is cheaper as additions."""


def signed_digits(constant: int) -> tuple[tuple[int, int], ...]:
    """Return (place, +1 or -1) for each digit of `constant` in non-adjacent form.

    No form with digits -1, 0, 1 has fewer of them that are not 0 (Reitwiesner, 1960).
    """
    digits = []
    place = 0
    while constant:
        if constant & 1:
            digit = 2 - (constant & 3)
            digits.append((place, digit))
            constant -= digit
        constant >>= 1
        place += 1
    return tuple(digits)


def is_sum(constant: int) -> bool:
    """Tell whether a product with `constant` is built from additions, not from multipliers."""
    return len(signed_digits(constant)) <= MAXIMAL_DIGITS


@dataclass(frozen=True, slots=True)
class Reciprocal:
    """x // divisor == (x * factor) >> shift for every x up to the given maximum."""

    factor: int
    shift: int


def reciprocal(divisor: int, maximum: int) -> Reciprocal:
    """Return the smallest reciprocal that divides 0 .. `maximum` exactly.

    With factor = ceil(2**shift / divisor) = (2**shift + error) / divisor, the quotient of
    x = q * divisor + r comes out as q + (r + x * error / 2**shift) / divisor, which is below q + 1
    for every r < divisor exactly when x * error < 2**shift.

    The same factor divides negative numbers: for -maximum <= x < 0 the shifted product, which
    rounds down, is one less than the quotient rounded towards zero. With n = -x it is
    -ceil((n + n * error / 2**shift) / divisor), and with an error above 0, which every divisor
    but a power of two has, that number lies above n / divisor and not above (n + 1) / divisor.

    Reference
    ---------
    Granlund and Montgomery, Division by invariant integers using multiplication, PLDI 1994.
    """
    shift = 0
    while True:
        factor = -(-(1 << shift) // divisor)
        if maximum * (factor * divisor - (1 << shift)) < 1 << shift:
            return Reciprocal(factor, shift)
        shift += 1


def digits_alike(op: UnitOp, operations: Sequence[Operation]) -> list[int]:
    """Return how many digits are alike, so that a circuit can do several, in each group of them.

    Parameters
    ----------
    op: see `is_by_digits`. operations: of its stream.
    """
    if not isinstance(op, FloatingOp):
        return [divider_digits(_dividend_bits(op, operations))]
    if op.op == "div":
        return [float_quotient_steps(_precision(op)) - 1]
    # Of a root, a step finds two bits or one.
    return [len(list(group)) for _, group in groupby(float_root_steps(_precision(op)))]


def all_digits(op: UnitOp, operations: Sequence[Operation]) -> int:
    """Return how many digits there are: of a quotient, the first one has a circuit of its own."""
    return sum(digits_alike(op, operations)) + (op.op != "sqrt")


def digit_circuits(op: UnitOp, operations: Sequence[Operation], interval_cycles: int) -> int:
    """Return how many circuits compute the digits of an operation that begins so often."""
    shares = (divider_shares(n, interval_cycles) for n in digits_alike(op, operations))
    return sum(map(len, shares)) + (op.op != "sqrt")


def cycles_of_digits(op: UnitOp, operations: Sequence[Operation]) -> int:
    """Return the latency with which each digit has a cycle of its own, which turns take."""
    if isinstance(op, FloatingOp):
        assert isinstance(op.of, FloatType)
        return float_steps(op.op, _precision(op), subnormals=op.of.subnormals)
    return divider_steps(_dividend_bits(op, operations))


def carry_bits(op: UnitOp, operations: Sequence[Operation], interval_cycles: int) -> int:
    """Return the bits that take carry chains if an operation begins so often.

    What normalises operands of floats, and rounds their results, is as large as some three rows of
    its digits: of a quotient of `float` 600 look-up tables and 180 for each row.
    """
    if not isinstance(op, FloatingOp):
        return divider_bits(_dividend_bits(op, operations), interval_cycles)
    return (digit_circuits(op, operations, interval_cycles) + 3) * _precision(op)


def _dividend_bits(op: UnitOp, operations: Sequence[Operation]) -> int:
    return operations[op.operands[0]].width_bits


def _precision(op: FloatingOp) -> int:
    assert isinstance(op.of, FloatType)
    return op.of.fraction_bits + 1


BLOCK_BITS = 18
"""Width of the operands of a multiplier block, both signed or both unsigned."""


class Width(Protocol):
    """How wide an operand is."""

    @property
    def width(self) -> int: ...

    @property
    def signed(self) -> bool: ...


@dataclass(frozen=True, slots=True)
class Bits:
    """So many bits, of a number with a sign or without."""

    width: int
    signed: bool


@dataclass(frozen=True, slots=True)
class Piece:
    """Bits `low` and up of an operand; only the topmost piece of a signed operand is signed."""

    low: int
    shape: Bits


@dataclass(frozen=True, slots=True)
class PartialProduct:
    """The product of two pieces, its weight, and how many of its bits reach the result."""

    left: Piece
    right: Piece
    width_bits: int

    @property
    def low(self) -> int:
        return self.left.low + self.right.low

    @property
    def high(self) -> int:
        return self.low + self.width_bits


def split(shape: Width, width_result: int, piece_bits: int = PIECE_BITS) -> tuple[Piece, ...]:
    """Cut an operand into pieces of which each fits a multiplier block.

    Modulo 2**width_result the bits above the result do not matter, so an operand that is at least
    as wide as the result is taken as unsigned.
    """
    if shape.width >= width_result:
        shape = Bits(width_result, False)
    if shape.width <= BLOCK_BITS - (not shape.signed):
        return (Piece(0, Bits(shape.width, shape.signed)),)
    pieces = []
    for low in range(0, shape.width, piece_bits):
        width = min(piece_bits, shape.width - low)
        top = low + width == shape.width
        pieces.append(Piece(low, Bits(width, shape.signed and top)))
    return tuple(pieces)


def partial_products(
    left: Width, right: Width, width_result: int, piece_bits: int = PIECE_BITS
) -> tuple[PartialProduct, ...]:
    """Return the products whose weighted sum is left * right modulo 2**width_result."""
    found = []
    for a in split(left, width_result, piece_bits):
        for b in split(right, width_result, piece_bits):
            room = width_result - a.low - b.low
            if room > 0:
                # A product with a signed factor is sign-extended to the top of the result.
                is_signed = a.shape.signed or b.shape.signed
                width = room if is_signed else min(room, a.shape.width + b.shape.width)
                found.append(PartialProduct(a, b, width))
    return tuple(found)


def significand_piece_bits(precision: int) -> int:
    """Return the bits of the pieces that a significand is cut into: so wide that few overlap.

    Significands have no sign: 17 bits fit the blocks of all targets, also those whose operands
    always have one. All bits of a block are used where that saves pieces: 53 bits are three pieces
    instead of four.
    """
    fewer = -(-precision // BLOCK_BITS) < -(-precision // (BLOCK_BITS - 1))
    return BLOCK_BITS if fewer else BLOCK_BITS - 1


def rows(products: Sequence[PartialProduct]) -> tuple[tuple[PartialProduct, ...], ...]:
    """Group products into rows of disjoint bits: a row is a concatenation, not an addition."""
    grouped: list[list[PartialProduct]] = []
    for product in sorted(products, key=lambda p: (p.low, p.left.low)):
        for row in grouped:
            if row[-1].high <= product.low:
                row.append(product)
                break
        else:
            grouped.append([product])
    return tuple(tuple(row) for row in grouped)


def multiplier_blocks(plan: KernelPlan) -> int:
    """Return how many multiplier blocks the datapaths of a plan take."""
    streams = plan.streams
    alone = sum(
        blocks_of(op, stream.operations)
        for stream in streams
        for op in stream.operations
        if not (isinstance(op, UnitOp) and op.unit is not None)
    )
    shared = sum(
        blocks_of(unit.op, streams[unit.users[0].stream].operations)
        for unit in functional_units(plan.regions)
    )
    return alone + shared


def blocks_on(plan: KernelPlan, target: Target) -> int:
    """Return how many of them a plan takes on a target, which may have none."""
    return multiplier_blocks(plan) if target.device_multipliers else 0


def blocks_of(op: Operation, operations: Sequence[Operation]) -> int:
    """Return how many multiplier blocks one of the operations of a stream takes."""
    operands = [operations[operand] for operand in op.operands]
    if isinstance(op, FloatingOp):
        factors = operands[:2]
        return _significand_blocks(op, factors) if op.op in ("mul", "fma") else 0
    if not isinstance(op, ArithmeticOp) or op.op != "mul":
        return 0
    left, right = operands
    # These are built from additions.
    if any(isinstance(x, ConstantOp) and is_sum(x.value) for x in (left, right)):
        return 0
    one, other = (Bits(x.width_bits, x.signed) for x in (left, right))
    return len(partial_products(one, other, op.width_bits))


def _significand_blocks(op: FloatingOp, factors: Sequence[Operation]) -> int:
    """Return how many blocks multiply the significands of two floats."""
    assert isinstance(op.of, FloatType)
    powers = [x for x in factors if isinstance(x, ConstantOp) and power_of_two(x.value, op.of)]
    if powers and op.op == "mul":
        return 0
    precision = op.of.fraction_bits + 1
    whole = Bits(precision, False)
    return len(partial_products(whole, whole, 2 * precision, significand_piece_bits(precision)))
