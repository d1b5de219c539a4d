"""C[i][j] = beta * C[i][j] + sum over k of alpha * A[i][k] * B[k][j], by hand."""

from __future__ import annotations

from rtlgen.ir.expr import BinaryOp
from rtlgen.ir.plan import (
    ArithmeticOp,
    Condition,
    ForwardOp,
    IndexForm,
    KernelPlan,
    Level,
    LoadOp,
    Memory,
    ParameterOp,
    Predicate,
    Region,
    Scalar,
    Store,
    Stream,
    Tap,
)
from rtlgen.ir.scop import Role
from rtlgen.options import IndexStyle
from rtlgen.source import Span

FILE = "gemm.c"
MULTIPLY_CYCLES = 2


def at_least(level: int, value: int, levels: int = 3) -> Predicate:
    """Return "the counter of `level` is at least `value`"."""
    return Predicate(((Condition(_unit(level, 1, -value, levels)),),))


def is_value(level: int, value: int, levels: int = 3) -> Predicate:
    """Return "the counter of `level` is `value`"."""
    return Predicate(((Condition(_unit(level, 1, -value, levels), equal=True),),))


def _unit(level: int, factor: int, constant: int, levels: int) -> IndexForm:
    return IndexForm(tuple(factor if n == level else 0 for n in range(levels)), constant)


def memory(name: str, size: int, role: Role, width_bits: int = 32) -> Memory:
    return Memory(
        name=name,
        width_bits=width_bits,
        signed=True,
        shape=(size, size),
        role=role,
        storage="parameter",
        kind="block",
        read_ports=1,
        read_latency_cycles=2,
        collision_free=True,
    )


def scale_stream(size: int) -> Stream:
    """Return S0, C[i][j] *= beta, in the first of `size` pad iterations."""
    levels = (Level(size, "i"), Level(size, "j"), Level(size))
    address = IndexForm((size, 1, 0))
    first = is_value(2, 0)
    span = Span(FILE, 6, 7, 15)
    return Stream(
        statement="S0",
        text="C[i][j] *= beta;",
        span=span,
        levels=levels,
        instances=size * size,
        shift=0,
        offset_cycles=0,
        ii=1,
        ii_reason="nothing stands in the way",
        operations=(
            LoadOp(
                width_bits=32,
                signed=True,
                stage=0,
                latency_cycles=2,
                memory="C",
                port=0,
                address=address,
                needed=first,
                span=span,
            ),
            ParameterOp(width_bits=32, signed=True, stage=0, name="beta"),
            ArithmeticOp(
                width_bits=32,
                signed=True,
                stage=2,
                latency_cycles=MULTIPLY_CYCLES,
                op="mul",
                operands=(0, 1),
                span=span,
            ),
        ),
        store=Store("C", address, 2 + MULTIPLY_CYCLES, 2, first, span),
    )


def free_offset(size: int) -> int:
    """Return the smallest offset of S1 that keeps the two streams off each other's ports of C.

    S0 loads C every `size` cycles from 0 on and stores it from 2 + MULTIPLY_CYCLES on; S1 loads it
    2 * MULTIPLY_CYCLES after its offset, and stores it 2 * MULTIPLY_CYCLES + size + 2 after.
    """
    loads, stores = 2 * MULTIPLY_CYCLES, 2 * MULTIPLY_CYCLES + 2
    return next(
        offset
        for offset in range(1, 2 * size + 2)
        if (offset + loads) % size and (offset + stores - 2 - MULTIPLY_CYCLES) % size
    )


def accumulate_stream(size: int, offset_cycles: int) -> Stream:
    """Return S1, C[i][j] += alpha * A[i][k] * B[k][j], with C[i][j] in a register along k."""
    levels = (Level(size, "i"), Level(size, "j"), Level(size, "k"))
    span = Span(FILE, 10, 9, 31)
    product = 2 + MULTIPLY_CYCLES
    total = product + MULTIPLY_CYCLES
    address = IndexForm((size, 1, 0))

    def load(name: str, form: IndexForm, stage: int, needed: Predicate) -> LoadOp:
        return LoadOp(
            width_bits=32,
            signed=True,
            stage=stage,
            latency_cycles=2,
            memory=name,
            port=0,
            address=form,
            needed=needed,
            span=span,
        )

    def arithmetic(op: BinaryOp, stage: int, latency: int, *operands: int) -> ArithmeticOp:
        return ArithmeticOp(
            width_bits=32,
            signed=True,
            stage=stage,
            latency_cycles=latency,
            op=op,
            operands=operands,
            span=span,
        )

    always = Predicate(((),))
    return Stream(
        statement="S1",
        text="C[i][j] += alpha * A[i][k] * B[k][j];",
        span=span,
        levels=levels,
        instances=size**3,
        shift=0,
        offset_cycles=offset_cycles,
        ii=1,
        ii_reason="nothing stands in the way",
        operations=(
            load("A", IndexForm((size, 0, 1)), 0, always),
            ParameterOp(width_bits=32, signed=True, stage=0, name="alpha"),
            arithmetic("mul", 2, MULTIPLY_CYCLES, 1, 0),
            load("B", IndexForm((0, 1, size)), product - 2, always),
            arithmetic("mul", product, MULTIPLY_CYCLES, 2, 3),
            load("C", address, total - 2, is_value(2, 0)),
            ForwardOp(
                width_bits=32,
                signed=True,
                stage=total,
                operands=(5,),
                taps=(Tap(1, 0, at_least(2, 1)),),
                span=span,
            ),
            arithmetic("add", total, 1, 6, 4),
        ),
        store=Store("C", address, total + 1, 7, is_value(2, size - 1), span),
    )


def gemm_plan(
    size: int = 8,
    index_style: IndexStyle = "odometer",
    index_latency_cycles: int = 0,
    checksum: tuple[str, ...] | None = None,
) -> KernelPlan:
    """Return the plan of gemm on size x size matrices of int."""
    return KernelPlan(
        name="gemm",
        source_file=FILE,
        scalars=(Scalar("alpha", 32, True), Scalar("beta", 32, True)),
        memories=(memory("C", size, "inout"), memory("A", size, "in"), memory("B", size, "in")),
        body=(Region.whole((scale_stream(size), accumulate_stream(size, free_offset(size)))),),
        index_style=index_style,
        index_latency_cycles=index_latency_cycles,
        checksum=checksum,
        returned=None,
        fused_iterations=size**3,
        floor_iterations=size**3,
    )
