"""The nodes of a statement's data-flow graph while it grows."""

from __future__ import annotations

from dataclasses import dataclass

from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.types import NumberType
from rtlgen.ir.value_ranges import width_of


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
