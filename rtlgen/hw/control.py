"""Control of streams that share their loops: when they issue, addresses, indices and enables."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import In, Out, Signature

from rtlgen.hw.elastic import ElasticOdometer
from rtlgen.hw.forms import (
    Ahead,
    Delayed,
    Fixed,
    Follower,
    FormRequest,
    FormValue,
    Slices,
    realise,
    realise_ahead,
)
from rtlgen.hw.index_units import IndexUnit, all_of
from rtlgen.hw.lead_forms import LeadForms
from rtlgen.hw.levels import active_form
from rtlgen.hw.pipeline import DelayLines
from rtlgen.hw.predicates import (
    TRUE,
    Atom,
    FormIsZero,
    FormNonNegative,
    Guard,
    LevelAtMost,
    LevelIs,
    Literal,
    form_range,
    simplify,
)
from rtlgen.hw.ragged import Followers, RaggedOdometer
from rtlgen.hw.sites import Sites, sites_of
from rtlgen.hw.source_lines import mark
from rtlgen.ir.plan import Address, IndexForm, Predicate, Stream
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class ControlledStream:
    """A stream of the group.

    Members
    -------
    name: prefix of its ports. delay_cycles: how much later than the group it issues.
    exclusive: numbers of the loads that are the only users of their memory port.
    """

    name: str
    stream: Stream
    delay_cycles: int
    exclusive: frozenset[int]


def range_shape(low: int, high: int) -> Shape:
    """Return the narrowest shape that holds low .. high."""
    return Shape.cast(range(low, high + 1)) if high > low or low else Shape(1)


@dataclass(frozen=True, slots=True)
class _FormPort:
    """An output that shows a form: its low bits, interpreted as `shape`, in `stage`."""

    name: str
    form: IndexForm
    stage: int
    shape: Shape
    out: Shape
    span: Span | None


@dataclass(frozen=True, slots=True)
class _Asker:
    """The first output that asks for a form: it gives the form's registers name and C line."""

    name: str
    span: Span | None


@dataclass(frozen=True, slots=True)
class _GuardPort:
    """An output that is one bit: a guard in `stage`, and the valid bit too when `enable`."""

    name: str
    guard: Guard
    stage: int
    enable: bool


class StreamControl(wiring.Component):
    """Issue the iterations of a group of streams, and say at every stage what they need.

    Parameters
    ----------
    index: the index unit, for the active levels that all the streams have in common.
    depths: of the memories, in elements.

    Members
    -------
    begin: In(1), as the index unit takes it.
    and for every stream called S, in the cycle of the stage that uses it:
    S_loadN_MEMORY_addr, S_loadN_MEMORY_en: of operation N; `en` stays high where reading is
        harmless and nobody else wants the port. The datapath has the address of a lookup.
    S_loadN_MEMORY_bankK: whether its element comes from bank K, in the cycle in which it arrives;
        where it may come from several banks.
    S_indexN: the value of index operation N.
    S_tapN_K: whether tap K of forward operation N is taken.
    S_store_addr, S_store_en: of the store.
    """

    def __init__(
        self,
        streams: tuple[ControlledStream, ...],
        index: IndexUnit,
        depths: Mapping[str, int],
    ) -> None:
        self._index = index
        self._forms: list[_FormPort] = []
        self._guards: list[_GuardPort] = []
        for member in streams:
            self._add_stream(member, depths)
        members = {"begin": In(1)}
        members |= {port.name: Out(port.out) for port in self._forms}
        members |= {port.name: Out(1) for port in self._guards}
        super().__init__(Signature(members))

    def _add_stream(self, member: ControlledStream, depths: Mapping[str, int]) -> None:
        stream, delay = member.stream, member.delay_cycles
        sites: Sites = sites_of(stream)
        for load in sites.loads:
            prefix, stage = f"{member.name}_{load.name}", load.op.stage + delay
            harmless = load.number in member.exclusive
            if load.op.address is not None:
                address, depth = _form(load.op.address), depths[load.op.memory]
                self._add_address(f"{prefix}_addr", address, stage, depth, stream, load.op.span)
                low, high = form_range(active_form(address, stream), self._index.extents)
                harmless &= low >= 0 and high < depth
            guard = TRUE if harmless else self._simplify(load.op.needed, stream)
            self._guards.append(_GuardPort(f"{prefix}_en", guard, stage, enable=not harmless))
            for bank in load.chosen_banks:
                guard = self._simplify(load.op.banks[bank - 1], stream)
                arrival = load.op.result_stage + delay
                self._guards.append(_GuardPort(f"{prefix}_bank{bank}", guard, arrival, False))
        for index in sites.indices:
            form = active_form(index.op.form, stream)
            shape = range_shape(*form_range(form, self._index.extents))
            out = Shape(index.op.width_bits, index.op.signed)
            name, stage = f"{member.name}_{index.name}", index.op.stage + delay
            self._forms.append(_FormPort(name, form, stage, shape, out, index.op.span))
        for tap in sites.taps:
            guard = self._simplify(tap.tap.when, stream)
            name, stage = f"{member.name}_{tap.name}", tap.op.stage + delay
            self._guards.append(_GuardPort(name, guard, stage, enable=False))
        store, stage = stream.store, stream.store.stage + delay
        depth = depths[store.memory]
        name = f"{member.name}_store"
        self._add_address(f"{name}_addr", _form(store.address), stage, depth, stream, store.span)
        guard = self._simplify(store.when, stream)
        self._guards.append(_GuardPort(f"{name}_en", guard, stage, enable=True))

    def _add_address(
        self,
        name: str,
        form: IndexForm,
        stage: int,
        depth: int,
        stream: Stream,
        span: Span | None,
    ) -> None:
        shape = Shape(max(1, (depth - 1).bit_length()))
        self._forms.append(_FormPort(name, active_form(form, stream), stage, shape, shape, span))

    def _simplify(self, predicate: Predicate, stream: Stream) -> Guard:
        extents = tuple(level.extent for level in stream.levels)
        guard = simplify(predicate, extents)
        return _renumber(guard, stream)

    def elaborate(self, platform: object) -> Module:
        m = Module()
        m.submodules.index = self._index
        m.d.comb += self._index.begin.eq(self.begin)
        builder = _ControlBuilder(m, self._index, self._requests())
        for port in self._forms:
            value = builder.form(port.form, port.stage)[: port.shape.width]
            target: Signal = getattr(self, port.name)
            mark(target, port.span)
            m.d.comb += target.eq(value.as_signed() if port.shape.signed else value)
        for guarded in self._guards:
            target = getattr(self, guarded.name)
            show = builder.enable if guarded.enable else builder.guard
            m.d.comb += target.eq(show(guarded.guard, guarded.stage))
        return m

    def _requests(self) -> dict[FormRequest, _Asker]:
        """Return what ports and conditions of several counters ask of the forms, and for whom."""
        requests = {
            FormRequest(p.form, p.stage, min(p.shape.width, p.out.width)): _Asker(p.name, p.span)
            for p in self._forms
        }
        for port in self._guards:
            for literal in (literal for parts in port.guard.alternatives for literal in parts):
                if isinstance(literal.atom, FormNonNegative | FormIsZero):
                    form = IndexForm(literal.atom.coefficients, literal.atom.constant)
                    width = range_shape(*form_range(form, self._index.extents)).width
                    requests[FormRequest(form, 0, width)] = _Asker(f"{port.name}_condition", None)
        return requests


def _form(address: Address) -> IndexForm:
    assert isinstance(address, IndexForm), "an island without tiles has no windows"
    return address


def _renumber(guard: Guard, stream: Stream) -> Guard:
    """Return `guard` with the levels numbered as the active ones are."""
    active = [n for n, level in enumerate(stream.levels) if level.extent > 1]

    def moved(atom: Atom) -> Atom:
        if isinstance(atom, LevelIs | LevelAtMost):
            return type(atom)(active.index(atom.level), atom.value)
        kept = tuple(atom.coefficients[level] for level in active)
        return type(atom)(kept, atom.constant)

    return Guard(
        tuple(
            tuple(Literal(moved(literal.atom), literal.holds) for literal in parts)
            for parts in guard.alternatives
        )
    )


class _ControlBuilder:
    """Build each form, atom and enable once, in stage 0 or where it is followed, and delay it."""

    def __init__(self, m: Module, index: IndexUnit, requests: Mapping[FormRequest, _Asker]) -> None:
        self._m = m
        self._index = index
        self._delays = DelayLines(m)
        self._valid = _copy(m, index.valid, "valid")
        self._step = _copy(m, index.step, "step")
        self._atoms: dict[Atom, Signal] = {}
        self._guards: dict[Guard, Signal] = {}
        self._enables: dict[Guard, Signal] = {}
        self._forms: dict[tuple[IndexForm, int], Signal] = {}
        askers = {request.form: asker for request, asker in reversed(list(requests.items()))}
        self._followers: Followers | None = None
        self._leads: LeadForms | None = None
        values = realise(requests, index.extents)
        if isinstance(index, RaggedOdometer):
            self._followers = Followers(m, index.nest, self._issued, self._step_in)
        elif isinstance(index, ElasticOdometer):
            self._leads = LeadForms(m, index, self._valid)
            values = realise_ahead(requests)
        for value in values:
            self._build_form(value, askers[value.form])

    def form(self, form: IndexForm, stage: int) -> Signal:
        """Return a requested form in `stage`."""
        return self._forms[form, stage]

    def guard(self, guard: Guard, stage: int) -> Value:
        """Return whether `guard` holds for the iteration in `stage`."""
        if guard.is_true:
            return Const(1)
        if guard.is_false:
            return Const(0)
        if len(guard.alternatives) == 1 and len(guard.alternatives[0]) == 1:
            (literal,) = guard.alternatives[0]
            atom = self._delays.at(self._atom(literal.atom), stage)
            return atom if literal.holds else ~atom
        return self._delays.at(self._guard(guard), stage)

    def enable(self, guard: Guard, stage: int) -> Value:
        """Return whether there is an iteration in `stage` for which `guard` holds."""
        if guard.is_false:
            return Const(0)
        if guard.is_true:
            return self._delays.at(self._valid, stage, reset=True)
        if guard not in self._enables:
            signal = Signal(name=f"enable_{len(self._enables)}")
            self._m.d.comb += signal.eq(self._valid & self.guard(guard, 0))
            self._enables[guard] = signal
        return self._delays.at(self._enables[guard], stage, reset=True)

    def _guard(self, guard: Guard) -> Signal:
        if guard not in self._guards:
            signal = Signal(name=f"guard_{len(self._guards)}")
            alternatives = [
                all_of([self._literal(literal) for literal in parts])
                for parts in guard.alternatives
            ]
            self._m.d.comb += signal.eq(Cat(*alternatives).any())
            self._guards[guard] = signal
        return self._guards[guard]

    def _literal(self, literal: Literal) -> Value:
        atom = self._atom(literal.atom)
        return atom if literal.holds else ~atom

    def _atom(self, atom: Atom) -> Signal:
        if atom not in self._atoms:
            signal = Signal(name=f"condition_{len(self._atoms)}")
            self._m.d.comb += signal.eq(self._atom_value(atom))
            self._atoms[atom] = signal
        return self._atoms[atom]

    def _atom_value(self, atom: Atom) -> Value:
        match atom:
            case LevelIs(level, value) if self._is_last(level, value):
                return self._index.lasts[level]
            case LevelIs(level, value):
                return self._index.counters[level] == value
            case LevelAtMost(level, value):
                return self._index.counters[level] <= value
            case FormNonNegative(coefficients, constant):
                return ~self._forms[IndexForm(coefficients, constant), 0][-1]
            case FormIsZero(coefficients, constant):
                return self._forms[IndexForm(coefficients, constant), 0] == 0

    def _is_last(self, level: int, value: int) -> bool:
        """Return whether a counter has `value` just where its level ends."""
        return self._index.is_box_level(level) and value == self._index.extents[level] - 1

    def _issued(self, stage: int) -> Value:
        return self.enable(TRUE, stage)

    def _step_in(self, stage: int) -> Value:
        return self._delays.at(self._step, stage)

    def _build_form(self, value: FormValue, asker: _Asker) -> None:
        name = f"{asker.name}_s{value.stage}"
        match value.how:
            case Fixed(constant):
                signal = Signal(value.width_bits, name=name)
                self._m.d.comb += signal.eq(constant)
            case Slices(lows):
                signal = Signal(value.width_bits, name=name)
                parts = zip(lows, self._index.counters, strict=True)
                terms = [counter << low for low, counter in parts if low is not None]
                total: Value = Const(value.form.constant)
                for term in terms:
                    total = total | term
                self._m.d.comb += signal.eq(total)
            case Delayed(source_stage):
                source = self._forms[value.form, source_stage]
                signal = self._delays.at(source, value.stage - source_stage)
            case Ahead():
                assert self._leads is not None, "an elastic odometer runs ahead"
                signal = self._leads.at(value.form, value.width_bits, name)
            case Follower() if self._followers is not None:
                signal = self._followers.at(value.form, value.width_bits, value.stage, name)
            case Follower() as follower:
                signal = Signal(value.width_bits, name=name, init=follower.initial)
                self._follow(signal, follower, value.stage)
        self._forms[value.form, value.stage] = mark(signal, asker.span)

    def _follow(self, signal: Signal, follower: Follower, stage: int) -> None:
        """Let `signal` add the constant of each iteration's step."""
        advance = follower.advance
        if advance is not None:
            # The step ends `advance` levels or more exactly when the inner ones are at their last.
            inner = range(len(self._index.extents) - advance, len(self._index.extents))
            ends = tuple(
                Literal(LevelIs(level, self._index.extents[level] - 1), True) for level in inner
            )
            with self._m.If(self.enable(Guard((ends,)), stage)):
                self._m.d.sync += signal.eq(signal + follower.deltas[-1])
            return
        step = self._delays.at(self._step, stage)
        delta: Value = Const(follower.deltas[-1], len(signal))
        for code, amount in enumerate(follower.deltas[:-1]):
            delta = Mux(step == code, Const(amount, len(signal)), delta)
        with self._m.If(self.enable(TRUE, stage)):
            self._m.d.sync += signal.eq(signal + delta)


def _copy(m: Module, source: Signal, name: str) -> Signal:
    """Return a signal of this module that shows a signal of another one."""
    copy = Signal(source.shape(), name=name)
    m.d.comb += copy.eq(source)
    return copy
