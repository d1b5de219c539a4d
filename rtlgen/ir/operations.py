"""What a stream computes in every iteration: its pipelined operations, and its store."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, TypeGuard

from rtlgen.ir.expr import BinaryOp, FloatOp, UnaryOp
from rtlgen.ir.levels import ALWAYS, Address, IndexForm, Predicate
from rtlgen.ir.types import NumberType
from rtlgen.source import Span


@dataclass(frozen=True, slots=True, kw_only=True)
class OperationBase:
    """What every operation has; `operands` are indices into `Stream.operations`."""

    width_bits: int
    signed: bool
    stage: int
    latency_cycles: int = 0
    operands: tuple[int, ...] = ()
    span: Span | None = None

    @property
    def result_stage(self) -> int:
        return self.stage + self.latency_cycles


@dataclass(frozen=True, slots=True, kw_only=True)
class ConstantOp(OperationBase):
    """The constant `value`, in every stage."""

    value: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ParameterOp(OperationBase):
    """The scalar argument `name`, in every stage: it is captured at start."""

    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class IndexOp(OperationBase):
    """The value of `form`, wrapped to the width, valid in `stage`."""

    form: IndexForm


@dataclass(frozen=True, slots=True, kw_only=True)
class LoadOp(OperationBase):
    """Read element `address` of a memory through read port `port`.

    Where `address` is None the load is a *lookup*: its only operand is the row-major number of the
    element, of which the memory takes the low bits. A number past the last element gives any
    value: the program does not use it.

    `needed` holds where the value is used: elsewhere the load may return anything, and the port
    may serve another load. The needed loads that use a port of a bank in one cycle are of one
    element. `versions[n]` holds where the value is in version n + 1; where none of them does, it is
    in version 0. `read` is the number of the access in the C statement.
    """

    memory: str
    port: int
    address: Address | None
    needed: Predicate
    versions: tuple[Predicate, ...] = ()
    read: int = 0


@dataclass(frozen=True, slots=True)
class Tap:
    """A value taken from a store on its way instead of from the memory.

    In the cycle of the consuming stage it is the value that `stream` (index in the region) was
    presenting to its store `delay_cycles` cycles ago (0: presents in this same cycle). With `read`
    it is what that read of the stream's statement had brought from memories so many cycles ago.

    With `is_matched` it is taken only where the stream, which is that of the read, a lookup, stored
    to the element that is looked up.
    """

    stream: int
    delay_cycles: int
    when: Predicate
    read: int | None = None
    is_matched: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ForwardOp(OperationBase):
    """The operand (a load), except where a tap's `when` holds: there that tap's value.

    The predicates of the taps are disjoint, but for those that are matched: of these, the one with
    the shortest delay is taken. Combinational, of the element's type. `read` is the
    number of the access in the C statement.
    """

    taps: tuple[Tap, ...]
    read: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class ChooseOp(OperationBase):
    """operands (a, b): a in the iterations where `when` holds, else b. Combinational."""

    when: Predicate


@dataclass(frozen=True, slots=True, kw_only=True)
class ComputedBase(OperationBase):
    """What operations have that may be computed by a functional unit.

    The result means something in the iterations where `when` holds, and these are `interval_cycles`
    apart at least: what finds digits in turn needs no more area than that leaves.

    Members
    -------
    unit: number of the functional unit that it shares with other operations, no two of which begin
        in the same cycle; None where it has one of its own. See `ir.functional_units`.
    """

    interval_cycles: int = 1
    when: Predicate = ALWAYS
    unit: int | None = None

    @property
    def is_announced(self) -> bool:
        """Whether the control has to say when it begins."""
        return self.interval_cycles > 1 or self.unit is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class ArithmeticOp(ComputedBase):
    """The exact integer result of `op` on the operands' values, wrapped to (width, signed).

    `shl` and `shr` take the count modulo `modulus_bits`, the width of the C type of the left
    operand. `lnot`, `not`, `neg` have one operand, the others two.
    """

    op: UnaryOp | BinaryOp
    modulus_bits: int = 0


def is_division(op: OperationBase) -> TypeGuard[ArithmeticOp]:
    """Tell whether an operation divides by a value that is no constant."""
    return isinstance(op, ArithmeticOp) and op.op in ("div", "rem")


@dataclass(frozen=True, slots=True, kw_only=True)
class CastOp(OperationBase):
    """The operand's value wrapped to (width, signed): sign- or zero-extended by its own type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SelectOp(OperationBase):
    """operands (c, a, b): a where c is not 0, else b."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FloatingOp(ComputedBase):
    """`ir.expr.FloatOperation` on the patterns of its operands, which are no wider than `of`.

    Members
    -------
    of: type of the operands. to: type of the result.
    """

    op: FloatOp
    of: NumberType
    to: NumberType


UnitOp: TypeAlias = ArithmeticOp | FloatingOp
"""What may have a functional unit."""


def is_shareable(op: OperationBase) -> TypeGuard[UnitOp]:
    """Tell whether an operation may have a functional unit.

    It is a multiplier or a divider, or adds or multiplies floats, or finds digits of one.
    """
    if isinstance(op, FloatingOp):
        return op.op in ("add", "sub", "mul", "fma") or is_by_digits(op)
    return is_division(op) or (isinstance(op, ArithmeticOp) and op.op == "mul")


def is_by_digits(op: OperationBase) -> TypeGuard[UnitOp]:
    """Tell whether an operation finds its result digit by digit, see `ir.operation_costs`."""
    return is_division(op) or (isinstance(op, FloatingOp) and op.op in ("div", "sqrt"))


Operation: TypeAlias = (
    ConstantOp
    | ParameterOp
    | IndexOp
    | LoadOp
    | ForwardOp
    | ChooseOp
    | ArithmeticOp
    | FloatingOp
    | CastOp
    | SelectOp
)


@dataclass(frozen=True, slots=True)
class Store:
    """Write operation `value` to element `address` of a memory in `stage`, where `when` holds.

    The value is read in `stage` and truncated to the memory's width. Stores of all streams through
    one write port of a bank never coincide, which the planner proves.

    Where `address` is None the store is a *scatter*: operation `at` is the row-major number of the
    element, of which the memory takes the low bits, and operation `enable`, of one bit, whether
    there is a store at all.
    """

    memory: str
    address: Address | None
    stage: int
    value: int
    when: Predicate
    span: Span | None = None
    port: int = 0
    at: int | None = None
    enable: int | None = None

    def __post_init__(self) -> None:
        if (self.address is None) is (self.at is None) or (self.at is None) is not (
            self.enable is None
        ):
            raise ValueError(f"a store to {self.memory} has no address, or two")

    @property
    def operands(self) -> tuple[int, ...]:
        """The operations that it needs."""
        found = (self.value, self.at, self.enable)
        return tuple(number for number in found if number is not None)
