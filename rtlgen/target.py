"""Targets: what an operation costs in cycles, and how block RAM is cut, on each FPGA family.

The scheduler reads the latencies, so they decide the cycle count of every design; the hardware
builders accept any latency and spread the logic over the cycles they are given.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from typing import Literal, TypeAlias

from rtlgen.errors import RtlgenError

IndexStyleName: TypeAlias = Literal["odometer", "divide", "shift"]

RamStyle: TypeAlias = Literal["block", "distributed"]

PIECE_BITS = 16
"""Width of the pieces that a wide operand is cut into, one for each multiplier block."""

# Wiring, or one level of LUTs that logic synthesis merges into the operation behind it.
_FREE = frozenset(
    ("and", "or", "xor", "not", "select", "cast", "constant", "parameter", "index", "forward")
)
_ONE_CARRY_CHAIN = frozenset(("add", "sub", "neg", "lt", "le", "gt", "ge", "eq", "ne", "lnot"))
_SHIFTS = frozenset(("shl", "shr"))
_DIVISIONS = frozenset(("div", "rem"))


class UnknownTargetError(RtlgenError):
    """The target is not one that rtlgen knows.

    A target fixes how many cycles each operator takes and how arrays are cut into block RAMs.
    `ecp5` is the default; `ice40` and `xilinx` are the others:

        rtlgen build gemm.c -o build/gemm --target ecp5
    """

    code = "E0401"


@dataclass(frozen=True, slots=True)
class BlockRamShape:
    """One configuration of the family's block RAM: `depth` words of `width_bits`."""

    depth: int
    width_bits: int


@dataclass(frozen=True, slots=True)
class Target:
    """One FPGA family.

    Members
    -------
    clock_mhz: the clock that every generated design is meant to reach.
    multiplier_bits: width of the multiplier block's signed operands.
    chain_bits: the widest add or compare that fits into one cycle.
    memory_read_latency_cycles: of a block RAM: one cycle for the RAM, one for a register behind it.
    block_ram_shapes: configurations with one read and one write port, narrow ones first.
    device: the one that a design is to fit; device_block_rams: how many block RAMs it has.
    device_multipliers: multiplier blocks of that device; 0: products are made of logic.
    near_block_rams: beside a memory of more block RAMs than these, words come from far away.
    block_ram_byte_bits: width of a byte lane that a write enable covers, parity bit included;
        0 where the RAM has no lanes and a byte needs a RAM of its own.
    distributed_words: up to which a memory may be made of the logic cells' own memories; 0:
        they have none. distributed_row_words: of one of these, so that no word is to be chosen.
    """

    name: str
    clock_mhz: float
    multiplier_bits: int
    chain_bits: int
    memory_read_latency_cycles: int
    block_ram_shapes: tuple[BlockRamShape, ...]
    device: str
    device_block_rams: int
    device_multipliers: int
    near_block_rams: int
    block_ram_byte_bits: int
    distributed_words: int
    distributed_row_words: int

    @property
    def device_ram_bits(self) -> int:
        """Bits of C elements that the block RAMs of the device hold: whole bytes, no parity."""
        return self.device_block_rams * max(
            shape.depth * (shape.width_bits // (self.block_ram_byte_bits or 8)) * 8
            for shape in self.block_ram_shapes
        )

    def choosing_lanes(self) -> Target:
        """Return the target for memories of words, of which a read chooses an element.

        The choice takes a cycle of its own, between the RAM's register and that of the element.
        """
        return replace(self, memory_read_latency_cycles=self.memory_read_latency_cycles + 1)

    def ram_style(self, words: int, *, is_one_of_many: bool = False) -> RamStyle:
        """Return which RAM a memory of so many words beside an array is made of.

        What is deeper than a cell's memory takes many cells, and a choice among them, where it is
        read. But of banks, and of parts of an array, there are many: each would be a block RAM,
        which takes the same place of the device whatever is in it.
        """
        few = self.distributed_words if is_one_of_many else self.distributed_row_words
        return "distributed" if words <= few else "block"

    def latency_cycles(self, op: str, left_width: int, right_width: int, result_width: int) -> int:
        """Return the cycles from operands to result.

        Parameters
        ----------
        op: the name of an `ArithmeticOp`, or cast, select, forward, index, parameter, constant.
        left_width, right_width, result_width: bits that the operation really reads and keeps. An
            operand that is a constant has width 0: a shift by a constant is wiring, a product
            with one is a chain of additions. Not so a dividend, whose bits are those of the
            quotient.
        """
        if op in _FREE or (op in _SHIFTS and right_width == 0):
            return 0
        if op in _ONE_CARRY_CHAIN or op in _SHIFTS:
            return -(-max(left_width, right_width, result_width) // self.chain_bits)
        if op == "mul":
            return self.multiplier_latency(left_width, right_width, result_width)
        if op in _DIVISIONS:
            return self.divider_latency(left_width)
        raise ValueError(f"no operation is called {op}")

    def float_latency_cycles(self, op: str, precision: int, *, subnormals: bool) -> int:
        """Return the cycles from operands to the result of an operation on floats.

        Parameters
        ----------
        op: a name of `ir.expr.FloatOp`. precision: bits of a significand.
        subnormals: the format has some.
        """
        return float_steps(op, precision, subnormals=subnormals)

    def multiplier_latency(self, width_a: int, width_b: int, width_result: int) -> int:
        """Return the cycles of a product of two operands kept to `width_result` bits.

        One for the multiplier blocks, and one for every two levels of the tree that adds their
        products. On ECP5-6, behind a block RAM and before an accumulator, that holds 130 MHz for
        32 x 32 -> 32 and 125 MHz for 64 x 64 -> 64 bits.
        """
        pieces = [
            1 if min(width, width_result) <= self.multiplier_bits else -(-width // PIECE_BITS)
            for width in (width_a, width_b)
        ]
        if max(pieces) == 1:
            return 1
        levels = 1 + (min(pieces) - 1).bit_length()
        # A sum that is too wide for one cycle leaves no room for a second one.
        return 1 + (levels if width_result > self.chain_bits else -(-levels // 2))

    def divider_latency(self, dividend_bits: int) -> int:
        """Return the cycles of a pipelined divider: two bits of the quotient a cycle."""
        return divider_steps(dividend_bits)

    def index_latency_cycles(self, style: IndexStyleName) -> int:
        """Return the cycles from flat counter to indices that `style` should be given."""
        return 3 if style == "divide" else 0

    def block_rams(self, depth: int, width_bits: int) -> int:
        """Return the number of block RAMs of a memory with one read and one write port.

        Writes are enabled byte by byte, so a lane of the RAM holds one byte of an element.
        """
        return min(self._block_rams(shape, depth, width_bits) for shape in self.block_ram_shapes)

    def _block_rams(self, shape: BlockRamShape, depth: int, width_bits: int) -> int:
        rows = -(-depth // shape.depth)
        lane = self.block_ram_byte_bits
        if lane == 0:
            return rows * (width_bits // 8) * -(-8 // shape.width_bits)
        if shape.width_bits < lane:
            return rows * -(-width_bits // shape.width_bits)
        return rows * -(-width_bits // (shape.width_bits // lane * 8))


NARROW = 32
"""Up to so many bits of a significand a shifter fits into one step: of 53 it holds 110 MHz only."""


def float_product_steps(precision: int) -> int:
    """Return the steps of the product of two significands of so many bits.

    The blocks, and additions of what they make: one for every two levels of them, or for each where
    they are wide.
    """
    pieces = 1 if precision <= PIECE_BITS + 1 else -(-precision // PIECE_BITS)
    levels = 1 + (pieces - 1).bit_length()
    return 1 + (levels if pieces > 2 else 1)


def float_quotient_steps(precision: int) -> int:
    """Return the steps of a quotient of two significands: its first bit, and then two in each."""
    return 1 + -(-(precision + 1) // 2)


def float_root_steps(precision: int) -> list[int]:
    """Return how many bits of a square root are found in each step.

    As the root grows, so does what is subtracted: two in a row have 48 bits at most, which hold
    115 MHz on ECP5.
    """
    steps, bit = [], 0
    while bit <= precision:
        fits = bit < precision and (bit + 3) + (bit + 4) <= 48
        steps.append(1 + fits)
        bit += steps[-1]
    return steps


def float_steps(op: str, precision: int, *, subnormals: bool) -> int:
    """Return the steps of an operation on floats, each of which fits into a cycle.

    Factors, dividends, divisors and radicands without subnormals need not be normalised.

    Parameters
    ----------
    op: a name of `ir.expr.FloatOp`. precision: bits of a significand.
    subnormals: the format has some.
    """
    match op:
        case "add" | "sub":
            return 5 + (precision > NARROW)
        case "mul":
            return float_product_steps(precision) + 2 + (subnormals and precision > NARROW)
        case "fma":
            return float_product_steps(precision) + 7
        case "div":
            return float_quotient_steps(precision) + 3 + subnormals
        case "sqrt":
            return len(float_root_steps(precision)) + 3 + subnormals
        case "lt" | "le" | "eq" | "min" | "max":
            return 1
        case "floor" | "ceil" | "trunc" | "round" | "rint" | "from_int" | "to_int" | "convert":
            return 3
        case _:
            raise ValueError(f"no operation on floats is called {op}")


def divider_steps(dividend_bits: int) -> int:
    """Return how many carry chains follow each other in a divider.

    The magnitudes, two bits of the quotient at a time, and the signs.
    """
    return -(-dividend_bits // 2) + 2


def divider_digits(dividend_bits: int) -> int:
    """Return how many steps of a divider are alike, so that one circuit can do several in turn.

    They are all digits of the quotient but the first one, for which less is needed.
    """
    return max(1, divider_steps(dividend_bits) - 3)


def divider_shares(digits: int, interval_cycles: int) -> list[int]:
    """Return how many of the digits that are alike each circuit of a divider or a root computes.

    They are as few circuits as can be, and share the digits nearly equally.

    Parameters
    ----------
    interval_cycles: from one operation to the next, at least.
    """
    parts = -(-digits // interval_cycles)
    return [digits * (n + 1) // parts - digits * n // parts for n in range(parts)]


def divider_bits(dividend_bits: int, interval_cycles: int) -> int:
    """Return the bits of a divider that take carry chains, those of operands and results included.

    A circuit is as wide as what is left in front of the last of its digits.
    """
    shares = divider_shares(divider_digits(dividend_bits), interval_cycles)
    widths = [2 * last + 2 for last in accumulate(shares)]
    # Of both operands and both results the sign is taken off, or put on, in half as much logic.
    return sum(widths) + 2 * dividend_bits


def _shapes(*pairs: tuple[int, int]) -> tuple[BlockRamShape, ...]:
    return tuple(BlockRamShape(depth, width) for depth, width in pairs)


_TARGETS = {
    target.name: target
    for target in (
        Target(
            name="ecp5",
            clock_mhz=115.0,
            multiplier_bits=18,
            chain_bits=64,
            memory_read_latency_cycles=2,
            # DP16KD, and PDPW16KD for 36 bits (Lattice FPGA-TN-02204, table 2).
            block_ram_shapes=_shapes(
                (16384, 1), (8192, 2), (4096, 4), (2048, 9), (1024, 18), (512, 36)
            ),
            device="ECP5-25k",
            device_block_rams=56,
            device_multipliers=28,
            near_block_rams=4,
            block_ram_byte_bits=9,
            # TRELLIS_DPR16X4: four of them deep.
            distributed_words=64,
            distributed_row_words=16,
        ),
        Target(
            name="ice40",
            clock_mhz=40.0,
            multiplier_bits=16,
            chain_bits=32,
            memory_read_latency_cycles=2,
            # SB_RAM40_4K; its write mask exists in the 256x16 configuration only.
            block_ram_shapes=_shapes((2048, 2), (1024, 4), (512, 8), (256, 16)),
            device="iCE40HX8K",
            device_block_rams=32,
            device_multipliers=0,
            near_block_rams=4,
            block_ram_byte_bits=8,
            distributed_words=0,
            distributed_row_words=0,
        ),
        Target(
            name="xilinx",
            clock_mhz=200.0,
            multiplier_bits=18,
            chain_bits=64,
            memory_read_latency_cycles=2,
            # RAMB18E1 in simple dual port mode (UG473).
            block_ram_shapes=_shapes(
                (16384, 1), (8192, 2), (4096, 4), (2048, 9), (1024, 18), (512, 36)
            ),
            device="XC7A35T",
            device_block_rams=100,
            device_multipliers=90,
            near_block_rams=4,
            block_ram_byte_bits=9,
            # RAM64X1D, and RAM32M for what is less deep (UG474).
            distributed_words=64,
            distributed_row_words=32,
        ),
    )
}


def target_names() -> tuple[str, ...]:
    """Return the names of all targets, the default first."""
    return tuple(_TARGETS)


def get_target(name: str = "ecp5") -> Target:
    """Return the target called `name`.

    Raises
    ------
    UnknownTargetError
    """
    if name not in _TARGETS:
        raise UnknownTargetError(
            f"there is no target {name}", help=f"choose one of {', '.join(_TARGETS)}"
        )
    return _TARGETS[name]
