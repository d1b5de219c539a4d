"""The data-flow graph of a statement while it grows, and division by constants in it.

Division and remainder by a constant: a multiplication, a shift, and C's rounding to zero.

Rewrite
-------
    x / 9       ->   (x * 954437177 >> 33) - (x >> 31)           954437177 = ceil(2**33 / 9)
    x / -8      ->   0 - (x + (x >> 31 & 7) >> 3)
    x % 9       ->   x - x / 9 * 9                                in the few bits of the result
    u / 24      ->   (u >> 3) * 2863311531 >> 33

The shift rounds down; subtracting the sign (0, or -1 below zero) rounds to zero. The reciprocal is
the smallest that is exact for the values that the dividend can have, so that what is known of them
makes the multiplier smaller. Of the product only those bits are made that the result shows.

Reference
---------
Granlund and Montgomery, Division by invariant integers using multiplication, PLDI 1994; Warren,
Hacker's Delight, chapter 10.
"""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Expr, FloatOp, walk
from rtlgen.ir.operation_costs import reciprocal
from rtlgen.ir.types import NumberType
from rtlgen.ir.value_ranges import Range, width_of
from rtlgen.target import Target


@dataclass(frozen=True, slots=True)
class Node:
    """One operation of the graph, before it meets the index space.

    Members
    -------
    op: `constant`, `parameter`, `index`, `load`, `cast`, `select`, `floating` or an operator of
        ir.expr; a load whose address depends on data has it as its operand. Last of all may be a
        `scatter`: its operands are the value, the number of the element, and whether it is stored.
    value, name, affine, read: of a constant, a parameter, an index value, a load (its read).
    modulus_bits: for shifts, the width of the left operand's C type.
    floating: the operation on floats, and the types of its operands and of its result.
    """

    op: str
    width_bits: int
    signed: bool
    operands: tuple[int, ...] = ()
    value: int = 0
    name: str = ""
    affine: Affine | None = None
    read: int = -1
    modulus_bits: int = 0
    floating: tuple[FloatOp, NumberType, NumberType] | None = None


class Graph:
    """Nodes by number, operands before users; of equal nodes there is one."""

    def __init__(self) -> None:
        self.nodes: list[Node] = []
        self._numbers: dict[Node, int] = {}

    def add(self, node: Node) -> int:
        """Return the number of `node`, an existing one where an equal node is there."""
        if node not in self._numbers:
            self._numbers[node] = len(self.nodes)
            self.nodes.append(node)
        return self._numbers[node]

    def constant(self, value: int) -> int:
        """Return the constant `value`, in as many bits as it needs."""
        width, signed = width_of((value, value))
        return self.add(Node("constant", width, signed, value=value))

    def resized(self, number: int, width: int, signed: bool) -> int:
        """Return the value of a node wrapped to a width and a sign."""
        node = self.nodes[number]
        if (node.width_bits, node.signed) == (width, signed):
            return number
        return self.add(Node("cast", width, signed, (number,)))

    def product(self, operands: tuple[int, int], width: int, signed: bool) -> int:
        """Return a product, which is a shift where a factor is a power of two."""
        for number, other in (operands, operands[::-1]):
            node = self.nodes[number]
            if node.op == "constant" and node.value > 0 and node.value.bit_count() == 1:
                return self._shift("shl", other, node.value.bit_length() - 1, width, signed)
        return self.add(Node("mul", width, signed, operands))

    def shifted_right(self, number: int, count: int, width: int, signed: bool) -> int:
        """Return bits `count` and up of a node; shifted by 0 it is only resized."""
        if count == 0:
            return self.resized(number, width, signed)
        return self._shift("shr", number, count, width, signed)

    def _shift(self, op: str, number: int, count: int, width: int, signed: bool) -> int:
        # Counts are taken modulo a power of two, which must be above this one.
        modulus = 1 << count.bit_length()
        operands = (number, self.constant(count))
        return self.add(Node(op, width, signed, operands, modulus_bits=modulus))


def pairs_divided_twice(expr: Expr) -> frozenset[tuple[Expr, Expr]]:
    """Return the operands of which `expr` uses both the quotient and the remainder."""
    found: dict[str, set[tuple[Expr, Expr]]] = {"div": set(), "rem": set()}
    for node in walk(expr):
        if isinstance(node, Binary) and node.op in found:
            found[node.op].add((node.left, node.right))
    return frozenset(found["div"] & found["rem"])


def typical_latency_cycles(op: str, width_bits: int, target: Target) -> int:
    """Return the cycles of a division by some constant, nothing being known of the dividend."""
    product = target.multiplier_latency(width_bits, width_bits, 2 * width_bits)
    return product + (1 if op == "div" else 2)


@dataclass(frozen=True, slots=True)
class ConstantDivision:
    """One dividend and a divisor that is a constant and not 0.

    Members
    -------
    dividend: its node, which has its exact value; values: the range of that.
    whole: whether all bits of the quotient are made, for another use, whoever asks for fewer.
    """

    graph: Graph
    dividend: int
    values: Range
    divisor: int
    whole: bool

    @property
    def magnitude(self) -> int:
        """The divisor without its sign."""
        return abs(self.divisor)

    def quotient(self, width: int, signed: bool) -> int:
        """Return a node with the low `width` bits of dividend / divisor."""
        low, correction = self._rounded_down(width)
        if self.graph.nodes[correction].value or self.graph.nodes[correction].op != "constant":
            terms = (low, correction) if self.divisor > 0 else (correction, low)
            return self.graph.add(Node("sub", width, signed, terms))
        if self.divisor < 0:
            return self.graph.add(Node("neg", width, signed, (low,)))
        return self.graph.resized(low, width, signed)

    def remainder(self, width: int, signed: bool) -> int:
        """Return a node with the low `width` bits of dividend % divisor."""
        graph = self.graph
        dividend = graph.resized(self.dividend, width, signed=False)
        multiple = self.magnitude % (1 << width)
        if multiple == 0:
            return graph.resized(dividend, width, signed)
        low, correction = self._rounded_down(width - _trailing_zeros(multiple))
        # x - (low - correction) * magnitude, of which low comes last.
        dividend = self._without(dividend, correction, multiple, width)
        product = graph.product((low, graph.constant(multiple)), width, signed=False)
        return graph.add(Node("sub", width, signed, (dividend, product)))

    def _without(self, dividend: int, correction: int, multiple: int, width: int) -> int:
        """Return `dividend`, less `multiple` where the correction is -1."""
        known = self.graph.nodes[correction]
        if known.op == "constant":
            if known.value == 0:
                return dividend
            chosen = self.graph.constant(multiple)
        else:
            chosen = self._where(correction, multiple)
        return self.graph.add(Node("sub", width, False, (dividend, chosen)))

    def _rounded_down(self, width: int) -> tuple[int, int]:
        """Return (low, correction): low - correction is the low `width` bits of x / magnitude."""
        if self.whole:
            low, high = self.values
            width = max(width, width_of((-(-low // self.magnitude), high // self.magnitude))[0])
        if self.magnitude.bit_count() == 1:
            return self._shifted(width), self.graph.constant(0)
        return self._multiplied(width), self._sign()

    def _shifted(self, width: int) -> int:
        """Return x / magnitude, rounded to zero, of a magnitude that is a power of two."""
        count = self.magnitude.bit_length() - 1
        low, high = self.values
        if low >= 0 or count == 0:
            return self.graph.shifted_right(self.dividend, count, width, low < 0)
        mask = self.magnitude - 1
        bias = self.graph.constant(mask) if high < 0 else self._where(self._sign(), mask)
        # From where the bias is added to where the dividend is largest without it.
        bits = min(count + width, width_of((min(low + mask, 0), max(high, mask)))[0])
        biased = self.graph.add(Node("add", bits, low + mask < 0, (self.dividend, bias)))
        return self.graph.shifted_right(biased, count, width, low + mask < 0)

    def _multiplied(self, width: int) -> int:
        """Return x / magnitude rounded down, or one less than rounded to zero."""
        low, high = self.values
        dividend, magnitude = self.dividend, self.magnitude
        if low >= 0:
            # x / 12 == (x >> 2) / 3, with fewer bits.
            count = _trailing_zeros(magnitude)
            bits = max(1, (high >> count).bit_length())
            dividend = self.graph.shifted_right(dividend, count, bits, signed=False)
            magnitude, high = magnitude >> count, high >> count
        by = reciprocal(magnitude, max(abs(low), abs(high)))
        factors = (dividend, self.graph.constant(by.factor))
        product = self.graph.product(factors, by.shift + width, low < 0)
        return self.graph.shifted_right(product, by.shift, width, low < 0)

    def _sign(self) -> int:
        """Return a node that is -1 where the dividend is negative, else 0."""
        low, high = self.values
        if low >= 0 or high < 0:
            return self.graph.constant(0 if low >= 0 else -1)
        top = self.graph.nodes[self.dividend].width_bits - 1
        return self.graph.shifted_right(self.dividend, top, 1, signed=True)

    def _where(self, sign: int, mask: int) -> int:
        """Return `mask` where `sign` is -1, else 0."""
        operands = (sign, self.graph.constant(mask))
        return self.graph.add(Node("and", mask.bit_length(), False, operands))


def _trailing_zeros(value: int) -> int:
    return (value & -value).bit_length() - 1
