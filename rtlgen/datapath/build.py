"""From a statement's expression to a pipelined data-flow graph with exact widths.

Widths: a node carries as many bits as its value range needs, and no more than its users look at.
Addition, multiplication, bitwise operations and left shifts are exact modulo any power of two, so
their operands are narrowed with them; C's wrap-around is thereby kept bit for bit.

Stages: every node is placed as late as its users allow (ALAP), with the statement's result as
early as its longest path permits. The operands of a tree then arrive just in time, and a read's
distance to the result, on which recurrences depend, is the smallest possible. Values that are to
settle are there a cycle before their users need them, and wait in a register.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import reduce
from itertools import permutations
from types import MappingProxyType

from rtlgen.datapath.graph import ConstantDivision, Graph, Node, pairs_divided_twice
from rtlgen.datapath.sums import equal_reads, reassociated, with_reads
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import (
    COMPARISONS,
    SIGN_OPS,
    Binary,
    Cast,
    Constant,
    Expr,
    FloatOp,
    FloatOperation,
    IndexValue,
    Read,
    ScalarParameter,
    Scatter,
    Select,
    Unary,
    within,
)
from rtlgen.ir.operation_costs import is_sum
from rtlgen.ir.plan import LOGIC_TABLE_WORDS, address_bits
from rtlgen.ir.scop import Access, Array, Scop, Statement, Subscript, Window
from rtlgen.ir.types import INT32, INT64, FloatType, NumberType
from rtlgen.ir.value_ranges import Range, ValueRanges, is_truth, width_of
from rtlgen.target import Target

UNLIMITED_BITS = 64
"""No C value has more bits, so a demand of this many asks for the whole value."""

FAR = 1_000
"""Iterations after which a value is old: those of other iterations of the loops around, or of loops
that only its own statement is in."""

MAX_CHAINED_LOGIC = 2
"""Combinational operators in a row before a register is put behind one."""


@dataclass(frozen=True, slots=True)
class Datapath:
    """A scheduled graph.

    Members
    -------
    nodes: operands before users; the result is node `result`.
    starts, latencies: stage in which each node consumes its operands, and cycles to its result; a
        load starts when its address is presented.
    result_stage: stage in which the value can be stored.
    node_of_read: for each read of the statement the load node that serves it; equal accesses share
        one. A read whose value does not matter has none.
    held: loads whose word is there a cycle before forwarded values may take its place.
    settled: for how many cycles the value of a node is there before it is used, if for any.
    """

    nodes: tuple[Node, ...]
    starts: tuple[int, ...]
    latencies: tuple[int, ...]
    result: int
    result_stage: int
    node_of_read: Mapping[int, int]
    held: frozenset[int] = frozenset()
    settled: Mapping[int, int] = field(default_factory=dict)

    def with_waits(self, held: Collection[int] = (), settled: Collection[int] = ()) -> Datapath:
        """Return the graph with more loads held and more values settled, a cycle longer at most.

        What settles is used last of the factors of a product, where that saves the cycle.
        """
        cycles = Counter(self.settled) + Counter(settled)
        waits = self.held | frozenset(held), cycles
        every = (self.nodes, *_with_later_factor(self.nodes, frozenset(settled)))
        found = [
            _schedule(nodes, self.latencies, self.result, self.node_of_read, *waits)
            for nodes in every
        ]
        return min(found, key=lambda datapath: datapath.result_stage)

    def use_stage(self, read: int) -> int:
        """Return the stage in which the value of a read enters the datapath."""
        node = self.node_of_read[read]
        return self.starts[node] + self.latencies[node] + (node in self.held)

    def address_stage(self, read: int) -> int:
        """Return the stage in which the address of a read is presented."""
        return self.starts[self.node_of_read[read]]


def _with_later_factor(nodes: tuple[Node, ...], late: frozenset[int]) -> Iterator[tuple[Node, ...]]:
    """Yield the nodes with a late factor of a product exchanged for one that is used after it.

    Rewrite
    -------
        %4 = mul %2, %3; %5 = mul %1, %4        ->        %4 = mul %2, %1; %5 = mul %3, %4
    """
    users = Counter(operand for node in nodes for operand in node.operands)
    for number, node in enumerate(nodes):
        for inner, other in permutations(node.operands) if node.op == "mul" else ():
            product = nodes[inner]
            # The low bits of a product of three are the same in every order.
            is_chain = product.op == "mul" and product.width_bits == node.width_bits
            is_square = len(set(product.operands)) == 1
            if not is_chain or is_square or users[inner] > 1 or other > inner:
                continue
            for factor in late.intersection(product.operands):
                if _form(nodes[factor]) == _form(nodes[other]):
                    changed = list(nodes)
                    changed[inner] = _with_operand(product, factor, other)
                    changed[number] = _with_operand(node, other, factor)
                    yield tuple(changed)


def _form(node: Node) -> tuple[int, bool, bool]:
    """Return what decides how many cycles and multipliers a product with a factor takes."""
    return node.width_bits, node.signed, node.op == "constant"


def _with_operand(node: Node, old: int, new: int) -> Node:
    operands = tuple(new if operand == old else operand for operand in node.operands)
    return replace(node, operands=operands)


def build_datapath(
    scop: Scop,
    statement: Statement,
    box: Mapping[str, Range],
    target: Target,
    late: Mapping[int, int] | None = None,
) -> Datapath:
    """Return the pipelined graph of `statement`.

    Parameters
    ----------
    box: inclusive range of every iterator of the statement.
    late: see `reassociated`.
    """

    def read_latency(read: int) -> int:
        return read_latency_cycles(scop.array(statement.reads[read].array), target)

    equal = equal_reads(statement)
    lateness = dict[int, int]()
    for read, age in (late or {}).items():
        lateness[equal[read]] = min(age, lateness.get(equal[read], age))
    expr = reassociated(with_reads(statement.expr, equal), lateness, read_latency, target)
    builder = _Builder(scop, statement, box, pairs_divided_twice(expr))
    result = builder.root(expr, scop.array(statement.write.array).element.width_bits)
    nodes, numbers = _live_nodes(builder.graph.nodes, result)
    served = builder.node_of_read | {
        read: builder.node_of_read[first]
        for read, first in equal.items()
        if first in builder.node_of_read
    }
    node_of_read = {read: numbers[node] for read, node in served.items() if node in numbers}
    latencies = _latencies(nodes, scop, statement, target)
    return _schedule(nodes, latencies, numbers[result], node_of_read)


def read_latency_cycles(array: Array, target: Target) -> int:
    """Return the cycles from the address of an element of `array` to its value.

    Flip-flops, the first word of a stream, and small tables, which are logic, show it in the same
    cycle.
    """
    is_logic = array.is_table and array.depth <= LOGIC_TABLE_WORDS
    is_shown = is_logic or array.is_register or array.is_stream
    return 0 if is_shown else target.memory_read_latency_cycles


def flat_address(access: Access, at: Sequence[Expr], strides: Sequence[int]) -> Expr:
    """Return the row-major number of the element of a lookup, as an expression.

    Parameters
    ----------
    at: the values of the subscripts that depend on data.
    """
    affine, looked_up = Affine(), iter(at)
    parts: list[Expr] = []
    for subscript, stride in zip(access.subscripts, strides, strict=True):
        if isinstance(subscript, Affine):
            affine = affine + subscript * stride
            continue
        value: Expr = Cast(next(looked_up), INT64)
        if stride != 1:
            value = Binary("mul", value, Constant(stride, INT64), INT64)
        parts.append(value)
    if affine != Affine() or not parts:
        parts.append(IndexValue(affine, INT64))
    return reduce(lambda a, b: Binary("add", a, b, INT64), parts)


class _Builder:
    def __init__(
        self,
        scop: Scop,
        statement: Statement,
        box: Mapping[str, Range],
        divided_twice: frozenset[tuple[Expr, Expr]],
    ) -> None:
        self.scop = scop
        self.statement = statement
        self._ranges = ValueRanges(box)
        self.graph = Graph()
        self.node_of_read: dict[int, int] = {}
        self._divided_twice = divided_twice
        self._loads: dict[tuple[str, tuple[Subscript, ...], tuple[int, ...]], int] = {}

    def root(self, expr: Expr, demand: int) -> int:
        """Return the node of what a statement stores.

        That of a scatter has three operands: the value, the row-major number of the element, and
        whether it is stored at all. What it leaves alone is not loaded.
        """
        if not isinstance(expr, Scatter):
            return self.build(expr, demand)
        array = self.scop.array(self.statement.write.array)
        number = flat_address(self.statement.write, expr.at, array.strides)
        operands = (
            self.build(expr.value, demand),
            self.build(number, address_bits(array.depth)),
            self.build(self._stores(expr), 1),
        )
        return self.graph.add(Node("scatter", demand, False, operands))

    def _stores(self, expr: Scatter) -> Expr:
        """Return whether a scatter stores, as 0 or 1: never outside of its array."""
        asked = _truth(expr.condition)
        shape = self.scop.array(self.statement.write.array).shape
        pairs = zip(self.statement.write.subscripts, shape, strict=True)
        windows = [(s, extent) for s, extent in pairs if isinstance(s, Window)]
        for part, (window, extent) in zip(expr.at, windows, strict=True):
            if window.unproven is not None:
                least, most = max(window.unproven[0], 0), min(window.unproven[1], extent - 1)
                asked = Binary("and", asked, within(part, least, most), INT32)
        return asked

    def build(self, expr: Expr, demand: int) -> int:
        """Return a node whose low `demand` bits are those of `expr`.

        Where the value needs no more than `demand` bits, the node has exactly its value.
        """
        values = self._ranges.range(expr)
        if values[0] == values[1]:
            return self.graph.constant(values[0])
        width, signed = width_of(values)
        if demand < width:
            width, signed = demand, False
        match expr:
            case IndexValue(affine):
                return self.graph.add(Node("index", width, signed, affine=affine))
            case ScalarParameter(name, type_):
                node = self.graph.add(Node("parameter", type_.width_bits, type_.signed, name=name))
                return self.graph.resized(node, width, signed)
            case Read():
                return self.graph.resized(self.load(expr), width, signed)
            case Cast(operand):
                return self.graph.resized(self.build(operand, width), width, signed)
            case Unary(op, operand):
                if op == "lnot":
                    return self.graph.add(
                        Node("lnot", 1, False, (self.build(operand, UNLIMITED_BITS),))
                    )
                return self.graph.add(Node(op, width, signed, (self.build(operand, width),)))
            case Scatter():
                raise ValueError("a scatter is no value of one element")
            case Select(condition, a, b):
                chosen = self.build(condition, UNLIMITED_BITS)
                arms = (self.build(a, width), self.build(b, width))
                return self.graph.add(Node("select", width, signed, (chosen, *arms)))
            case Binary():
                return self.binary(expr, width, signed)
            case FloatOperation():
                return self.graph.resized(self._floating(expr), width, signed)
            case Constant(value):
                return self.graph.constant(value)

    def load(self, read: Read) -> int:
        access = self.statement.reads[read.index]
        array = self.scop.array(access.array)
        address: tuple[int, ...] = ()
        if access.is_lookup:
            bits = address_bits(array.depth)
            address = (self.build(flat_address(access, read.at, array.strides), bits),)
        key = (access.array, access.subscripts, address)
        if key not in self._loads:
            width, signed = array.element.width_bits, array.element.signed
            self._loads[key] = self.graph.add(Node("load", width, signed, address, read=read.index))
        self.node_of_read[read.index] = self._loads[key]
        return self._loads[key]

    def binary(self, expr: Binary, width: int, signed: bool) -> int:
        op = expr.op
        modulus = 0
        if op in ("div", "rem"):
            return self._division(expr, width, signed)
        if op in COMPARISONS:
            demands = (UNLIMITED_BITS, UNLIMITED_BITS)
        elif op == "shr":
            modulus = expr.type.width_bits
            demands = (self._shift_demand(expr.right, width, modulus), UNLIMITED_BITS)
        elif op == "shl":
            modulus = expr.type.width_bits
            demands = (width, UNLIMITED_BITS)
        else:
            demands = (width, width)
        operands = (self.build(expr.left, demands[0]), self.build(expr.right, demands[1]))
        if op == "mul":
            return self.graph.product(operands, width, signed)
        return self.graph.add(Node(op, width, signed, operands, modulus_bits=modulus))

    def _floating(self, expr: FloatOperation) -> int:
        """Return a node with the whole result of a float operation.

        What only looks at signs is wiring, as it is for integers.
        """
        operands = tuple(self.build(operand, UNLIMITED_BITS) for operand in expr.operands)
        type_ = expr.type
        width, graph = type_.width_bits, self.graph
        if not isinstance(type_, FloatType) or expr.op not in SIGN_OPS:
            floating = (expr.op, *expr.formats)
            return graph.add(Node("floating", width, type_.signed, operands, floating=floating))
        sign, magnitude = graph.constant(type_.sign_bit), graph.constant(type_.sign_bit - 1)
        if expr.op == "neg":
            return graph.add(Node("xor", width, False, (operands[0], sign)))
        unsigned = graph.add(Node("and", width, False, (operands[0], magnitude)))
        if expr.op == "abs":
            return unsigned
        other = graph.add(Node("and", width, False, (operands[1], sign)))
        return graph.add(Node("or", width, False, (unsigned, other)))

    def _division(self, expr: Binary, width: int, signed: bool) -> int:
        dividend = self.build(expr.left, UNLIMITED_BITS)
        least, most = self._ranges.range(expr.right)
        if least != most or least == 0:
            divisor = self.build(expr.right, UNLIMITED_BITS)
            return self.graph.add(Node(expr.op, width, signed, (dividend, divisor)))
        values = self._ranges.range(expr.left)
        whole = (expr.left, expr.right) in self._divided_twice
        division = ConstantDivision(self.graph, dividend, values, least, whole)
        if expr.op == "div":
            return division.quotient(width, signed)
        return division.remainder(width, signed)

    def _shift_demand(self, count: Expr, width: int, modulus: int) -> int:
        low, high = self._ranges.range(count)
        return min(UNLIMITED_BITS, width + low) if low == high < modulus else UNLIMITED_BITS


def _truth(condition: Expr) -> Expr:
    """Return a condition as 0 or 1."""
    if is_truth(condition):
        return condition
    return Binary("ne", condition, Constant(0, condition.type), INT32)


def _live_nodes(nodes: list[Node], result: int) -> tuple[tuple[Node, ...], dict[int, int]]:
    """Return the nodes that the result depends on, and the new number of each of them."""
    live = {result}
    for number in range(len(nodes) - 1, -1, -1):
        if number in live:
            live.update(nodes[number].operands)
    numbers = {old: new for new, old in enumerate(sorted(live))}
    kept = (nodes[old] for old in sorted(live))
    return tuple(
        replace(node, operands=tuple(numbers[operand] for operand in node.operands))
        for node in kept
    ), numbers


def _latencies(
    nodes: tuple[Node, ...], scop: Scop, statement: Statement, target: Target
) -> tuple[int, ...]:
    latencies: list[int] = []
    chained: list[int] = []
    for node in nodes:
        if node.op == "load":
            array = scop.array(statement.reads[node.read].array)
            latency = read_latency_cycles(array, target)
        else:
            latency = _operator_latency(node, nodes, target)
        depth = 0
        if latency == 0 and node.operands:
            depth = max(chained[operand] for operand in node.operands)
            depth += 0 if _is_wiring(node, nodes) else 1
            if depth > MAX_CHAINED_LOGIC and node.op != "load":
                latency, depth = 1, 0
        latencies.append(latency)
        chained.append(depth)
    return tuple(latencies)


def _operator_latency(node: Node, nodes: tuple[Node, ...], target: Target) -> int:
    if not node.operands or node.op in ("cast", "scatter"):
        return 0
    if node.floating is not None:
        return float_latency_cycles(*node.floating, target)
    operands = [nodes[operand] for operand in node.operands]
    # A constant operand costs nothing, unless it is a dividend, or a factor that takes multipliers;
    # a select's condition is one wire, its arms are what is wide.
    widths = [0 if _is_free(node, other) else other.width_bits for other in operands]
    wide = widths[1:] if node.op == "select" else widths
    return target.latency_cycles(node.op, wide[0], wide[-1], node.width_bits)


def float_latency_cycles(op: FloatOp, of: NumberType, to: NumberType, target: Target) -> int:
    """Return the cycles from operands to the result of a float operation."""
    format_ = of if isinstance(of, FloatType) else to
    assert isinstance(format_, FloatType)
    precision = format_.fraction_bits + 1
    return target.float_latency_cycles(op, precision, subnormals=format_.subnormals)


def _is_wiring(node: Node, nodes: tuple[Node, ...]) -> bool:
    """Tell whether an operation takes no logic, or none but inverters in front of other logic."""
    constants = [nodes[operand].op == "constant" for operand in node.operands]
    if node.op in ("shl", "shr"):
        return constants[1]
    if node.op in ("cast", "not", "scatter"):
        return True
    return node.op in ("and", "or", "xor") and any(constants)


def _is_free(node: Node, operand: Node) -> bool:
    """Tell whether an operand is a constant that makes the operation wiring, or one with less."""
    if operand.op != "constant" or node.op in ("div", "rem"):
        return False
    return node.op != "mul" or is_sum(operand.value)


def _schedule(
    nodes: tuple[Node, ...],
    latencies: tuple[int, ...],
    result: int,
    node_of_read: Mapping[int, int],
    held: frozenset[int] = frozenset(),
    settled: Mapping[int, int] = MappingProxyType({}),
) -> Datapath:
    spans = tuple(latency + (n in held) + settled.get(n, 0) for n, latency in enumerate(latencies))
    ready: list[int] = []
    for node, span in zip(nodes, spans, strict=True):
        ready.append(max((ready[operand] for operand in node.operands), default=0) + span)
    last = ready[result]
    needed = [last] * len(nodes)
    for number in range(len(nodes) - 1, -1, -1):
        start = needed[number] - spans[number]
        for operand in nodes[number].operands:
            needed[operand] = min(needed[operand], start)
    starts = tuple(n - span for n, span in zip(needed, spans, strict=True))
    return Datapath(nodes, starts, latencies, result, last, dict(node_of_read), held, settled)
