"""Multipliers: of products that fit a block each, and with constants as sums of shifted copies."""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from operator import add

from amaranth.hdl import Cat, Const, Module, Shape, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtlgen.hw.pipeline import Stages
from rtlgen.ir.operation_costs import PartialProduct, Piece, partial_products, rows, signed_digits
from rtlgen.source import Span
from rtlgen.target import PIECE_BITS


def constant_product(value: Value, constant: int) -> Value:
    """Return value * constant, exactly, from one addition or subtraction for each further digit."""
    digits = signed_digits(constant)
    added = [value << place for place, digit in digits if digit > 0]
    subtracted = [value << place for place, digit in digits if digit < 0]
    if not subtracted:
        return reduce(add, added) if added else value & 0
    negative = reduce(add, subtracted)
    return reduce(add, added) - negative if added else -negative


class Multiplier(wiring.Component):
    """Multiply, to as many bits as the result has.

    The block's product is registered at once, since a block that drives an adder is the slowest
    path there is; the rows of products are added in a binary tree over the remaining cycles. Those
    that begin highest come first: their sum has few bits, and what is below them needs no adder. A
    sum that may overflow its bits is no operand that synthesis would add to two others at once,
    which takes twice the logic.

    Parameters
    ----------
    piece_bits: that an operand is cut into which does not fit a block.
    ends_in_register: whether the last sum has one, else what follows shares its cycle.

    Members
    -------
    left, right: In, a factor. result: Out, the product, `latency_cycles` cycles later.

    Timing
    ------
    Latency `latency_cycles`, one product a cycle; latency 0 is combinational.
    """

    def __init__(
        self,
        left: Shape,
        right: Shape,
        width_result: int,
        latency_cycles: int,
        span: Span | None = None,
        piece_bits: int = PIECE_BITS,
        *,
        ends_in_register: bool = True,
    ) -> None:
        self._piece_bits = piece_bits
        self._ends_in_register = ends_in_register
        self.latency_cycles = latency_cycles
        self.span = span
        super().__init__(
            {"left": In(left), "right": In(right), "result": Out(unsigned(width_result))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(self.result)
        stages = Stages(m, self.latency_cycles, self.span)
        shapes = self.left.shape(), self.right.shape()
        products = partial_products(*shapes, width, self._piece_bits)
        registered = stages.cut(
            [
                (_piece(self.left, p.left) * _piece(self.right, p.right))[: p.width_bits]
                for p in products
            ],
            [f"product_{p.left.low}_{p.right.low}" for p in products],
        )
        values = dict(zip(products, registered, strict=True))
        terms = [(row[0].low, _concatenate(row, values)) for row in rows(products)]
        terms.sort(key=lambda term: -term[0])
        for level in reversed(range((len(terms) - 1).bit_length())):
            pairs = zip(terms[::2], terms[1::2], strict=False)
            sums = [_sum(high, low, width) for high, low in pairs]
            sums += terms[len(sums) * 2 :]
            # The last levels get a register each; the first ones share what cycle there is.
            if stages.cycles_left + (not self._ends_in_register) > level:
                names = [f"sum_{level}_{n}" for n in range(len(sums))]
                cut = stages.cut([value[: width - low] for low, value in sums], names)
                sums = [(low, value) for (low, _), value in zip(sums, cut, strict=True)]
            terms = sums
        ((low, total),) = terms
        product = Cat(Const(0, low), total)[:width]
        m.d.comb += self.result.eq(stages.delay_to_end(product, "product"))
        return m


def _piece(operand: Value, piece: Piece) -> Value:
    bits = operand[piece.low : piece.low + piece.shape.width]
    return bits.as_signed() if piece.shape.signed else bits


def _sum(high: tuple[int, Value], low: tuple[int, Value], width: int) -> tuple[int, Value]:
    """Return the sum of two values with so many zeros below each, the lower one's fewer."""
    (above, a), (below, b) = high, low
    return below, (b + Cat(Const(0, above - below), a))[: width - below]


def _concatenate(row: Sequence[PartialProduct], values: dict[PartialProduct, Value]) -> Value:
    """Return the products of a row, from where the first of them begins."""
    parts: list[Value] = []
    at = row[0].low
    for product in row:
        value = values[product]
        # Only a product with a signed factor is narrower than its place: extend its sign.
        parts += [Const(0, product.low - at), value]
        parts += [value[-1]] * (product.width_bits - len(value))
        at = product.high
    return Cat(*parts)
