"""Forms and conditions of one index unit, each built once and brought to the stages that ask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from amaranth.hdl import Cat, Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.wiring import Member, Out

from rtlgen.hw.elastic import ElasticOdometer, LeadForms, TileForms, TileOdometer
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
from rtlgen.hw.levels import active_form
from rtlgen.hw.pipeline import DelayLines, mark
from rtlgen.hw.predicates import (
    TRUE,
    Atom,
    FormIsZero,
    FormNonNegative,
    Guard,
    LevelAtMost,
    LevelIs,
    Literal,
    simplify,
)
from rtlgen.hw.ragged import Followers, RaggedOdometer
from rtlgen.ir.plan import (
    Address,
    AnyBank,
    FoldedForm,
    InBank,
    IndexForm,
    Level,
    Predicate,
    address_bits,
)
from rtlgen.source import Span


def range_shape(low: int, high: int) -> Shape:
    """Return the narrowest shape that holds low .. high."""
    return Shape.cast(range(low, high + 1)) if high > low or low else Shape(1)


@dataclass(frozen=True, slots=True)
class FormPort:
    """An output that shows a form: its low bits, interpreted as `shape`, in `stage`."""

    name: str
    form: IndexForm
    stage: int
    shape: Shape
    out: Shape
    span: Span | None


@dataclass(frozen=True, slots=True)
class FoldedPort:
    """An output that shows the low bits of several forms side by side, and of the tile's number."""

    name: str
    parts: tuple[FormPort, ...]
    tile_bits: int
    stage: int
    span: Span | None

    @property
    def width_bits(self) -> int:
        width: int = sum(part.shape.width for part in self.parts)
        return width + self.tile_bits


@dataclass(frozen=True, slots=True)
class GuardPort:
    """An output that is one bit: a guard in `stage`, and the valid bit too when `enable`."""

    name: str
    guard: Guard
    stage: int
    enable: bool


@dataclass(frozen=True, slots=True)
class _Asker:
    """The first output that asks for a form: it gives the form's registers name and C line."""

    name: str
    span: Span | None


class ControlPorts:
    """What a control unit shows of its index unit's iterations.

    Parameters
    ----------
    index: the unit, for the active levels alone.
    """

    def __init__(self, index: IndexUnit) -> None:
        self.index = index
        self.forms: list[FormPort] = []
        self.folded: list[FoldedPort] = []
        self.guards: list[GuardPort] = []

    def add_address(
        self,
        name: str,
        address: Address,
        stage: int,
        rows: int,
        levels: Sequence[Level],
        span: Span | None,
    ) -> None:
        """Add an address of a memory with `rows` elements in a bank; of any bank, the place."""
        place = address.place if isinstance(address, AnyBank) else address
        if isinstance(place, FoldedForm):
            parts = tuple(
                _part(f"{name}_field{n}", active_form(field.form, levels), stage, field.width_bits)
                for n, field in enumerate(place.fields)
            )
            self.folded.append(FoldedPort(name, parts, place.tile_bits, stage, span))
            return
        width = address_bits(rows)
        if isinstance(address, AnyBank):
            width = len(address.bank_bits) + len(address.row_bits)
        form = place.row if isinstance(place, InBank) else place
        form, shape = active_form(form, levels), Shape(width)
        self.forms.append(FormPort(name, form, stage, shape, shape, span))

    def add_guard(
        self,
        name: str,
        predicate: Predicate,
        stage: int,
        levels: Sequence[Level],
        *,
        enable: bool,
    ) -> None:
        """Add a predicate on the counters of `levels`."""
        self.guards.append(GuardPort(name, renumbered(predicate, levels), stage, enable))

    def members(self) -> dict[str, Member]:
        """Return the outputs."""
        members = {port.name: Out(port.out) for port in self.forms}
        members |= {port.name: Out(port.width_bits) for port in self.folded}
        return members | {port.name: Out(1) for port in self.guards}

    def build(self, m: Module, component: wiring.Component, begin: Value) -> ControlBuilder:
        """Build the index unit, which `begin` starts, and drive the outputs of `component`."""
        m.submodules.index = self.index
        m.d.comb += self.index.begin.eq(begin)
        tile_bits = max((port.tile_bits for port in self.folded), default=0)
        builder = ControlBuilder(m, self.index, self._requests(), tile_bits)
        for port in self.forms:
            value = builder.form(port.form, port.stage)[: port.shape.width]
            target: Signal = getattr(component, port.name)
            mark(target, port.span)
            m.d.comb += target.eq(value.as_signed() if port.shape.signed else value)
        for folded in self.folded:
            target = mark(getattr(component, folded.name), folded.span)
            parts = [builder.form(p.form, p.stage)[: p.shape.width] for p in folded.parts]
            if folded.tile_bits:
                parts.append(builder.tile(folded.tile_bits, folded.stage))
            m.d.comb += target.eq(Cat(*parts))
        for guarded in self.guards:
            target = getattr(component, guarded.name)
            show = builder.enable if guarded.enable else builder.guard
            m.d.comb += target.eq(show(guarded.guard, guarded.stage))
        return builder

    def _requests(self) -> dict[FormRequest, _Asker]:
        """Return what ports and conditions of several counters ask of the forms, and for whom."""
        ports = [*self.forms, *(part for port in self.folded for part in port.parts)]
        requests = {
            FormRequest(p.form, p.stage, min(p.shape.width, p.out.width)): _Asker(p.name, p.span)
            for p in ports
        }
        for port in self.guards:
            for literal in (literal for parts in port.guard.alternatives for literal in parts):
                if isinstance(literal.atom, FormNonNegative | FormIsZero):
                    form = literal.atom.form
                    width = range_shape(*form.range(self.index.extents)).width
                    requests[FormRequest(form, 0, width)] = _Asker(f"{port.name}_condition", None)
        return requests


def _part(name: str, form: IndexForm, stage: int, width_bits: int) -> FormPort:
    return FormPort(name, form, stage, Shape(width_bits), Shape(width_bits), None)


def renumbered(predicate: Predicate, levels: Sequence[Level]) -> Guard:
    """Return a predicate on `levels` as a guard on those of them that are active."""
    guard = simplify(predicate, tuple(level.extent for level in levels))
    active = [n for n, level in enumerate(levels) if level.extent > 1]

    def moved(atom: Atom) -> Atom:
        if isinstance(atom, LevelIs | LevelAtMost):
            return type(atom)(active.index(atom.level), atom.value)
        return type(atom)(active_form(atom.form, levels))

    return Guard(
        tuple(
            tuple(Literal(moved(literal.atom), literal.holds) for literal in parts)
            for parts in guard.alternatives
        )
    )


class ControlBuilder:
    """Build each form, atom and enable once, in stage 0 or where it is followed, and delay it.

    Parameters
    ----------
    tile_bits: how many low bits of a tile's number are asked for at most.
    """

    def __init__(
        self,
        m: Module,
        index: IndexUnit,
        requests: Mapping[FormRequest, _Asker],
        tile_bits: int,
    ) -> None:
        self._m = m
        self._index = index
        self._delays = DelayLines(m)
        self._valid = _copy(m, index.valid, "valid")
        self._step = _copy(m, index.step, "step")
        self._atoms: dict[Atom, Signal] = {}
        self._guards: dict[Guard, Signal] = {}
        self._enables: dict[Guard, Signal] = {}
        self._forms: dict[tuple[IndexForm, int], Signal] = {}
        self._tile: Signal | None = None
        self._tile_bits = tile_bits
        askers = {request.form: asker for request, asker in reversed(list(requests.items()))}
        self._followers: Followers | None = None
        self._leads: LeadForms | TileForms | None = None
        values = realise(requests, index.extents)
        if isinstance(index, RaggedOdometer):
            self._followers = Followers(m, index.nest, self._issued, self._step_in)
        elif isinstance(index, ElasticOdometer):
            self._leads = LeadForms(m, index, self._valid)
            values = realise_ahead(requests)
        elif isinstance(index, TileOdometer):
            self._leads = TileForms(m, index, self._valid, self._step)
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

    def delayed(self, signal: Signal, stage: int) -> Signal:
        """Return a signal that belongs to the issued iteration in `stage`."""
        return self._delays.at(signal, stage)

    def tile(self, width_bits: int, stage: int) -> Value:
        """Return the low bits of the number of the tile, counted through all runs."""
        if self._tile is None:
            self._tile = Signal(self._tile_bits, name="tile")
            with self._m.If(self._valid & self._index.pauses):
                self._m.d.sync += self._tile.eq(self._tile + 1)
        return self._delays.at(self._tile, stage)[:width_bits]

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
            case FormNonNegative(form):
                return ~self._forms[form, 0][-1]
            case FormIsZero(form):
                return self._forms[form, 0] == 0

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
                assert self._leads is not None, "such an odometer runs ahead"
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
