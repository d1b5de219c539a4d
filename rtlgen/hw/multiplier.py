"""Pipelined multipliers made of products that each fit one multiplier block."""

from __future__ import annotations

from collections.abc import Sequence

from amaranth.hdl import Cat, Const, Module, Shape, Value, unsigned
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out

from rtlgen.hw.pipeline import Stages
from rtlgen.ir.partial_products import PartialProduct, Piece, partial_products, rows
from rtlgen.source import Span


class Multiplier(wiring.Component):
    """left * right, modulo 2**width_result.

    The block's product is registered at once, since a block that drives an adder is the slowest
    path there is; the rows of products are added in a binary tree over the remaining cycles.

    Members
    -------
    left, right: In. result: Out, unsigned(width_result).

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
    ) -> None:
        self.latency_cycles = latency_cycles
        self.span = span
        super().__init__(
            {"left": In(left), "right": In(right), "result": Out(unsigned(width_result))}
        )

    def elaborate(self, platform: object) -> Module:
        m = Module()
        width = len(self.result)
        stages = Stages(m, self.latency_cycles, self.span)
        products = partial_products(self.left.shape(), self.right.shape(), width)
        registered = stages.cut(
            [
                (_piece(self.left, p.left) * _piece(self.right, p.right))[: p.width_bits]
                for p in products
            ],
            [f"product_{p.left.low}_{p.right.low}" for p in products],
        )
        values = dict(zip(products, registered, strict=True))
        terms = [_concatenate(row, values) for row in rows(products)]
        for level in reversed(range((len(terms) - 1).bit_length())):
            sums = [a + b for a, b in zip(terms[::2], terms[1::2], strict=False)]
            sums += terms[len(sums) * 2 :]
            # The last levels get a register each; the first ones share what cycle there is.
            if stages.cycles_left > level:
                names = [f"sum_{level}_{n}" for n in range(len(sums))]
                terms = stages.cut([value[:width] for value in sums], names)
            else:
                terms = sums
        m.d.comb += self.result.eq(stages.delay_to_end(terms[0][:width], "product"))
        return m


def _piece(operand: Value, piece: Piece) -> Value:
    bits = operand[piece.low : piece.low + piece.shape.width]
    return bits.as_signed() if piece.shape.signed else bits


def _concatenate(row: Sequence[PartialProduct], values: dict[PartialProduct, Value]) -> Value:
    parts: list[Value] = []
    at = 0
    for product in row:
        value = values[product]
        # Only a product with a signed factor is narrower than its place: extend its sign.
        parts += [Const(0, product.low - at), value]
        parts += [value[-1]] * (product.width_bits - len(value))
        at = product.high
    return Cat(*parts)
