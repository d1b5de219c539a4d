"""Small KernelPlans for tests, written down by hand, and a strategy for random ones."""

from __future__ import annotations

from hypothesis import strategies as st

from rtlgen.ir.plan import (
    ALWAYS,
    ArithmeticOp,
    CastOp,
    Condition,
    ConstantOp,
    ForwardOp,
    IndexForm,
    IndexOp,
    KernelPlan,
    Level,
    LoadOp,
    Memory,
    ParameterOp,
    Predicate,
    Region,
    Scalar,
    SelectOp,
    Store,
    Stream,
    Tap,
)
from rtlgen.source import Span

_N = 4


def chained_sums() -> KernelPlan:
    """Return a plan of two streams for

    for i<4 for j<4  b[i] += A[i][j] * alpha        S0
    for i<4          c[i] = i < 2 ? b[i] : 7        S1, a stream with a padded inner loop

    where S0's accumulator is taken from its own store one iteration ago, except at j = 0, and S1
    takes b from S0's store.
    """
    return KernelPlan(
        name="sums",
        source_file="sums.c",
        scalars=(Scalar("alpha", 16, True),),
        memories=(
            _memory("A", (_N, _N), "in", read_ports=1),
            _memory("b", (_N,), "inout", read_ports=2),
            _memory("c", (_N,), "out", read_ports=1),
        ),
        body=(Region.whole((_accumulate(), _select())),),
        index_style="odometer",
        index_latency_cycles=0,
        checksum=("b", "c"),
        returned=None,
        fused_iterations=16,
        floor_iterations=16,
    )


def _memory(name: str, shape: tuple[int, ...], role: str, read_ports: int) -> Memory:
    return Memory(
        name=name,
        width_bits=32,
        signed=True,
        shape=shape,
        role=role,  # type: ignore[arg-type]
        storage="parameter",
        kind="block",
        read_ports=read_ports,
        read_latency_cycles=2,
        collision_free=True,
    )


def _accumulate() -> Stream:
    first_j = Predicate(((Condition(IndexForm((0, 1)), equal=True),),))
    later_j = Predicate(((Condition(IndexForm((0, 1), -1)),),))
    span = Span("sums.c", 6, 5, 4)
    return Stream(
        statement="S0",
        text="b[i] += A[i][j] * alpha",
        span=span,
        levels=(Level(_N, "i"), Level(_N, "j")),
        instances=_N * _N,
        shift=0,
        offset_cycles=0,
        ii=1,
        ii_reason="no dependence needs more",
        operations=(
            LoadOp(
                width_bits=32, signed=True, stage=0, latency_cycles=2, memory="A", port=0,
                address=IndexForm((_N, 1)), needed=ALWAYS, span=Span("sums.c", 6, 13, 7),
            ),
            ParameterOp(width_bits=16, signed=True, stage=0, name="alpha"),
            CastOp(width_bits=32, signed=True, stage=0, operands=(1,)),
            ArithmeticOp(
                width_bits=32, signed=True, stage=2, latency_cycles=3, operands=(0, 2), op="mul"
            ),
            LoadOp(
                width_bits=32, signed=True, stage=3, latency_cycles=2, memory="b", port=0,
                address=IndexForm((1, 0)), needed=first_j,
            ),
            ForwardOp(
                width_bits=32, signed=True, stage=5, operands=(4,), taps=(Tap(0, 0, later_j),)
            ),
            ArithmeticOp(
                width_bits=32, signed=True, stage=5, latency_cycles=1, operands=(5, 3), op="add"
            ),
        ),
        store=Store("b", IndexForm((1, 0)), 6, 6, ALWAYS, span),
    )  # fmt: skip


def _select() -> Stream:
    last = Predicate(((Condition(IndexForm((0, 1), -3), equal=True),),))
    small = Predicate(((Condition(IndexForm((-1, 0), 1)), Condition(IndexForm((0, 1), -3))),))
    return Stream(
        statement="S1",
        text="c[i] = i < 2 ? b[i] : 7",
        span=Span("sums.c", 8, 5, 4),
        levels=(Level(_N, "i"), Level(_N)),
        instances=_N,
        shift=0,
        offset_cycles=6,
        ii=1,
        ii_reason="no dependence needs more",
        operations=(
            IndexOp(width_bits=32, signed=True, stage=0, form=IndexForm((1, 0))),
            ConstantOp(width_bits=32, signed=True, stage=0, value=2),
            ArithmeticOp(width_bits=32, signed=True, stage=0, operands=(0, 1), op="lt"),
            LoadOp(
                width_bits=32, signed=True, stage=0, latency_cycles=2, memory="b", port=1,
                address=IndexForm((1, 0)), needed=small,
            ),
            ForwardOp(
                width_bits=32, signed=True, stage=2, operands=(3,), taps=(Tap(0, 2, small),)
            ),
            ConstantOp(width_bits=32, signed=True, stage=0, value=7),
            SelectOp(
                width_bits=32, signed=True, stage=2, latency_cycles=1, operands=(2, 4, 5)
            ),
        ),
        store=Store("c", IndexForm((1, 0)), 3, 6, last),
    )  # fmt: skip


_FORMS = st.builds(
    IndexForm, st.tuples(st.integers(-9, 9), st.integers(-9, 9)), st.integers(-99, 99)
)
_CONDITIONS = st.builds(Condition, _FORMS, st.booleans())
_PREDICATES = st.builds(
    Predicate, st.lists(st.lists(_CONDITIONS, max_size=2).map(tuple), max_size=2).map(tuple)
)
_SPANS = st.one_of(
    st.none(), st.builds(Span, st.sampled_from(["a.c", "ä b.c"]), st.integers(1, 9), st.just(1))
)


@st.composite
def random_plans(draw: st.DrawFn) -> KernelPlan:
    """Draw a plan of any form; it need not make sense as a circuit."""
    streams = draw(st.lists(_streams(), min_size=1, max_size=2))
    return KernelPlan(
        name=draw(st.sampled_from(["k", "kernel_2"])),
        source_file="a.c",
        scalars=(Scalar("n", draw(st.sampled_from([8, 64])), draw(st.booleans())),),
        memories=(_memory("A", (draw(st.integers(1, 5)), 3), "inout", 2),),
        body=tuple(Region.whole((stream,)) for stream in streams),
        index_style=draw(st.sampled_from(["odometer", "divide", "shift"])),
        index_latency_cycles=draw(st.integers(0, 9)),
        checksum=draw(st.sampled_from([None, (), ("A",)])),
        returned=draw(st.sampled_from([None, "A"])),
        fused_iterations=draw(st.integers(1, 10**12)),
        floor_iterations=draw(st.integers(1, 10**12)),
    )


@st.composite
def _streams(draw: st.DrawFn) -> Stream:
    signed, span = draw(st.booleans()), draw(_SPANS)
    operations = (
        ConstantOp(width_bits=8, signed=signed, stage=0, value=draw(st.integers(-128, 255))),
        LoadOp(
            width_bits=32, signed=signed, stage=1, latency_cycles=2, memory="A",
            port=draw(st.integers(0, 1)), address=draw(_FORMS), needed=draw(_PREDICATES), span=span,
        ),
        ForwardOp(
            width_bits=32, signed=signed, stage=3, operands=(1,),
            taps=tuple(
                Tap(0, delay, draw(_PREDICATES)) for delay in range(draw(st.integers(0, 2)))
            ),
        ),
        ArithmeticOp(
            width_bits=32, signed=signed, stage=3, latency_cycles=1, operands=(2, 0),
            op=draw(st.sampled_from(["add", "shl", "lt"])), modulus_bits=draw(st.integers(0, 64)),
        ),
    )  # fmt: skip
    return Stream(
        statement=draw(st.sampled_from(["S0", "update"])),
        text=draw(st.text(max_size=9)),
        span=Span("a.c", draw(st.integers(1, 99)), 3),
        levels=tuple(
            Level(draw(st.integers(1, 9)), draw(st.sampled_from([None, "i"]))) for _ in range(2)
        ),
        instances=draw(st.integers(0, 81)),
        shift=draw(st.integers(0, 99)),
        offset_cycles=draw(st.integers(0, 99)),
        ii=draw(st.integers(1, 3)),
        ii_reason="",
        operations=operations,
        store=Store("A", draw(_FORMS), 4 + draw(st.integers(0, 2)), 3, draw(_PREDICATES), span),
    )
