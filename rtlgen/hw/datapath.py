"""The pipelined operations of one stream."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from amaranth.hdl import Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.float.build import build_floating
from rtlgen.hw.operators import OPERANDS, build_arithmetic, build_select
from rtlgen.hw.pipeline import DelayLines, mark
from rtlgen.hw.sites import Sites, sites_of
from rtlgen.ir.functional_units import FunctionalUnit, choosing_stage, is_logic
from rtlgen.ir.plan import (
    ArithmeticOp,
    CastOp,
    ChooseOp,
    ConstantOp,
    FloatingOp,
    ForwardOp,
    IndexOp,
    LoadOp,
    Operation,
    ParameterOp,
    SelectOp,
    Stream,
    address_bits,
)


class Datapath(wiring.Component):
    """Compute the value that a statement stores.

    Parameters
    ----------
    scalars: shapes of the scalar arguments. store_shape: of an element of the stored memory.
    tap_delays: for which delays other streams (or this one) want the stored value.
    kept: operations whose value is wanted besides, and the stage.
    rows: of the memories, in a bank. units: that operations share, by number.

    Members
    -------
    loadN_MEMORY: In, the element that load N read, in its result stage.
    loadN_MEMORY_addr: Out, the element that it asks for in its stage; of lookups.
    indexN: In, the index value N in its stage.
    tapN_K: In(1), whether tap K of forward N is taken; tapN_K_value: In, what it brings.
    chooseN: In(1), whether choice N takes its first operand.
    beginN: In(1), that operation N begins, where it does so in some cycles only.
    leftN, rightN, addendN: Out, the operands of operation N, as many as it has, in the stage in
        which its unit chooses them; resultN: In, what the unit makes of them, in its result stage;
        where it shares one.
    scalar_NAME: In, stable while the kernel runs.
    stored_D: Out, the value presented to the store D cycles ago; stored_0 is always there.
    stored_addr, stored_en: Out, of a scatter, with stored_0: the element, and whether it is stored.
    store_en: In(1), in the same cycle, whether there is an instance at all; where its lookups are
        to find what is on its way to the memory.
    keptN_S: Out, what operation N had in its result stage, in stage S.
    """

    def __init__(
        self,
        stream: Stream,
        scalars: Mapping[str, Shape],
        store_shape: Shape,
        tap_delays: frozenset[int],
        kept: frozenset[tuple[int, int]],
        rows: Mapping[str, int],
        units: Mapping[int, FunctionalUnit],
    ) -> None:
        self._stream = stream
        self._units = units
        self._sites: Sites = sites_of(stream)
        self._tap_delays = sorted(tap_delays | {0})
        self._kept = sorted(kept)
        self._matched: dict[str, tuple[Signal, Signal]] = {}
        self._site_names = {load.number: load.name for load in self._sites.loads}
        self._site_names |= {index.number: index.name for index in self._sites.indices}
        members = {}
        for load in self._sites.loads:
            members[load.name] = In(_shape(load.op))
            if load.op.address is None:
                members[f"{load.name}_addr"] = Out(address_bits(rows[load.op.memory]))
        for index in self._sites.indices:
            members[index.name] = In(_shape(index.op))
        for tap in self._sites.taps:
            members[tap.name] = In(1)
            members[f"{tap.name}_value"] = In(_shape(tap.op))
        members |= {choice.name: In(1) for choice in self._sites.choices}
        for begin in self._sites.begins:
            if begin.op.unit is None:
                members[begin.name] = In(1)
                continue
            for side, operand in zip(OPERANDS, begin.op.operands, strict=False):
                members[f"{side}{begin.number}"] = Out(_shape(stream.operations[operand]))
            members[f"result{begin.number}"] = In(_shape(begin.op))
        for name in self._sites.parameters:
            members[f"scalar_{name}"] = In(scalars[name])
        for delay in self._tap_delays:
            members[f"stored_{delay}"] = Out(store_shape)
        if stream.store.address is None:
            members["stored_addr"] = Out(address_bits(rows[stream.store.memory]))
            members["stored_en"] = Out(1)
        if self._sites.matches:
            members["store_en"] = In(1)
        for number, stage in self._kept:
            members[kept_name(number, stage)] = Out(_shape(stream.operations[number]))
        super().__init__(Signature(members))

    def elaborate(self, platform: object) -> Module:
        m = Module()
        delays = DelayLines(m)
        results: dict[int, Value] = {}

        def read(number: int, stage: int) -> Value:
            value, op = results[number], self._stream.operations[number]
            if not isinstance(value, Signal) or self._is_stable(number):
                return value
            if stage < op.result_stage and isinstance(op, CastOp):
                return _shown(m, read(op.operands[0], stage), _shape(op), f"early_{number}")
            if stage < op.result_stage:
                assert is_logic(op), "operands are there when they are chosen"
                operands = [read(operand, stage) for operand in op.operands]
                name = f"{op.op}_{number}_early"
                return build_arithmetic(m, replace(op, latency_cycles=0), operands, name)
            return delays.at(value, stage - op.result_stage)

        for number in self._sites.live:
            op = self._stream.operations[number]
            stage = choosing_stage(op, self._units)
            operands = [read(operand, stage) for operand in op.operands]
            results[number] = self._build(m, number, op, operands)
        stored = Signal(self.stored_0.shape(), name="stored")
        mark(stored, self._stream.store.span)
        m.d.comb += stored.eq(read(self._stream.store.value, self._stream.store.stage))
        for delay in self._tap_delays:
            shown: Signal = mark(getattr(self, f"stored_{delay}"), self._stream.store.span)
            m.d.comb += shown.eq(delays.at(stored, delay))
        store = self._stream.store
        for port, operand in (("stored_addr", store.at), ("stored_en", store.enable)):
            if operand is not None:
                found: Signal = mark(getattr(self, port), store.span)
                m.d.comb += found.eq(read(operand, store.stage))
        self._match(m, delays, stored, read)
        for number, stage in self._kept:
            kept: Signal = getattr(self, kept_name(number, stage))
            m.d.comb += mark(kept, self._stream.operations[number].span).eq(read(number, stage))
        return m

    def _match(
        self, m: Module, delays: DelayLines, stored: Signal, read: Callable[[int, int], Value]
    ) -> None:
        """Let lookups find what is on its way to the memory, by comparing places.

        Parameters
        ----------
        read: returns what an operation had in its result stage, in a stage.
        """
        store = self._stream.store
        if not self._sites.matches or store.at is None or store.enable is None:
            return
        taken = Signal(name="stored_taken")
        m.d.comb += taken.eq(self.store_en & read(store.enable, store.stage))
        bits = len(self.stored_addr)
        for site in self._sites.matches:
            delay = site.tap.delay_cycles
            load = self._stream.operations[site.op.operands[0]]
            wanted = read(load.operands[0], site.op.stage)
            there = read(store.at, store.stage + delay)
            is_found, value = self._matched[site.name]
            m.d.comb += [
                is_found.eq(delays.at(taken, delay) & (_low(wanted, bits) == _low(there, bits))),
                value.eq(delays.at(stored, delay)),
            ]

    def _is_stable(self, number: int) -> bool:
        return isinstance(self._stream.operations[number], ConstantOp | ParameterOp)

    def _build(self, m: Module, number: int, op: Operation, operands: list[Value]) -> Value:
        """Return the result of `op` in its result stage, `operands` being in its stage."""
        shape = _shape(op)
        match op:
            case ConstantOp(value=value):
                return Const(value, shape)
            case ParameterOp(name=name):
                return _shown(m, getattr(self, f"scalar_{name}"), shape, f"{name}_{number}")
            case LoadOp() | IndexOp():
                source: Signal = getattr(self, self._site_names[number])
                if operands:
                    address: Signal = getattr(self, f"{self._site_names[number]}_addr")
                    m.d.comb += mark(address, op.span).eq(operands[0])
                return mark(source, op.span)
            case ForwardOp():
                return mark(self._forward(m, number, shape, operands[0]), op.span)
            case CastOp():
                return mark(_shown(m, operands[0], shape, f"cast_{number}"), op.span)
            case ChooseOp():
                first: Signal = getattr(self, f"choose{number}")
                chosen = Mux(first, operands[0], operands[1])
                return mark(_shown(m, chosen, shape, f"chosen_{number}"), op.span)
            case SelectOp():
                return build_select(m, op, operands, f"select_{number}")
            case ArithmeticOp(unit=int()) | FloatingOp(unit=int()):
                for side, operand in zip(OPERANDS, operands, strict=False):
                    shown: Signal = mark(getattr(self, f"{side}{number}"), op.span)
                    m.d.comb += shown.eq(operand)
                return mark(getattr(self, f"result{number}"), op.span)
            case ArithmeticOp() | FloatingOp():
                begin = getattr(self, f"begin{number}") if op.interval_cycles > 1 else None
                name = f"{op.op}_{number}"
                if isinstance(op, FloatingOp):
                    return build_floating(m, op, operands, name, begin)
                return build_arithmetic(m, op, operands, name, begin)

    def _forward(self, m: Module, number: int, shape: Shape, loaded: Value) -> Signal:
        result = Signal(shape, name=f"forward_{number}")
        m.d.comb += result.eq(loaded)
        for tap in (tap for tap in self._sites.taps if tap.number == number):
            brought: Signal = mark(getattr(self, f"{tap.name}_value"), tap.op.span)
            with m.If(getattr(self, tap.name)):
                m.d.comb += result.eq(brought)
        own = [site for site in self._sites.matches if site.number == number]
        for site in sorted(own, key=lambda site: -site.tap.delay_cycles):
            is_found = Signal(name=f"{site.name}_found")
            value = Signal(self.stored_0.shape(), name=f"{site.name}_stored")
            self._matched[site.name] = is_found, value
            with m.If(is_found):
                m.d.comb += result.eq(value)
        return result


def _low(value: Value, bits: int) -> Value:
    """Return so many low bits of a value, as a number."""
    return value.as_unsigned()[:bits] if len(value) > bits else value.as_unsigned()


def kept_name(number: int, stage: int) -> str:
    """Return the name of the port that shows in a stage what an operation had."""
    return f"kept{number}_{stage}"


def _shape(op: Operation) -> Shape:
    return Shape(op.width_bits, op.signed)


def _shown(m: Module, value: Value, shape: Shape, name: str) -> Signal:
    """Return `value` wrapped to `shape`."""
    result = Signal(shape, name=name)
    m.d.comb += result.eq(value)
    return result
