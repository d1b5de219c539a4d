"""One module as it is being written: what its nets are called, and how values are spelled.

Names in a module: after the signals that carry a value, else after what it is made of.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any

from amaranth.hdl import _nir as nir

from rtlgen.hw.names import SYSTEMVERILOG_KEYWORDS, VERILOG_KEYWORDS, Namer
from rtlgen.output.verilog_text.expressions import PRIMARY, Text, concatenation, expression, literal
from rtlgen.output.verilog_text.layout import part_of
from rtlgen.output.verilog_text.netlist import (
    Constant,
    Net,
    Nets,
    Repeated,
    Run,
    behind_drivers,
    bit_of,
    cell_of,
    is_constant,
    pieces,
)
from rtlgen.output.verilog_text.simplify import Simplified, is_combinational

_NO_LETTER = re.compile(r"\W+|__+")
_MOST_LETTERS = 28
"""Of a name made of the names of operands: two of them, as long as most are, and a word between."""

_BETWEEN = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "&": "and",
    "|": "or",
    "^": "xor",
    "==": "is",
    "!=": "is_not",
    "<<": "shifted_by",
    ">>": "shifted_by",
    "<": "below",
    ">": "above",
    "<=": "at_most",
    ">=": "at_least",
}
_BEFORE = {"~": "not", "-": "minus", "r|": "any", "b": "any", "r&": "all", "r^": "parity"}
_NOUNS = {
    "+": "sum",
    "-": "difference",
    "*": "product",
    "m": "choice",
    "<<": "shifted",
    ">>": "shifted",
    "==": "match",
    "!=": "mismatch",
    "&": "masked",
    "|": "joined",
    "^": "parity",
    "~": "inverted",
    "r|": "any",
    "b": "any",
    "r&": "all",
    "r^": "parity",
}


def identifier(name: str) -> str:
    """Return a plain Verilog identifier that spells `name`, where that is possible."""
    plain = _NO_LETTER.sub("_", name).strip("_") or "x"
    if plain[0].isdigit():
        plain = f"n{plain}"
    if plain in VERILOG_KEYWORDS or plain in SYSTEMVERILOG_KEYWORDS:
        return f"{plain}_signal"
    return plain


def escaped(name: str) -> str:
    """Return the name of a port of the top, whose spelling is not this module's to choose."""
    taken = VERILOG_KEYWORDS | SYSTEMVERILOG_KEYWORDS
    return f"\\{name} " if name in taken or not name.isidentifier() else name


class SignalNames:
    """The signals that are known in a module, by their nets.

    Parameters
    ----------
    signals: names and nets, those first whose names are better.
    """

    def __init__(self, signals: Iterable[tuple[str, Nets]]) -> None:
        self._exact: dict[Nets, str] = {}
        self._from: dict[Net, list[tuple[str, Nets]]] = {}
        self._bits: dict[Net, tuple[str, int]] = {}
        for name, nets in signals:
            if not nets:
                continue
            self._exact.setdefault(nets, name)
            self._from.setdefault(nets[0], []).append((name, nets))
            for bit, net in enumerate(nets):
                self._bits.setdefault(net, (name, bit))

    def of(self, nets: Nets) -> str | None:
        """Return the name of what shows some nets; None if nothing does."""
        if not nets:
            return None
        if nets in self._exact:
            return self._exact[nets]
        for name, longer in self._from.get(nets[0], ()):
            # The upper bits are constants, or nobody looks at them.
            rest = longer[len(nets) :]
            own = range(nets[0], nets[0] + len(longer))
            if longer[: len(nets)] == nets and all(is_constant(n) or n in own for n in rest):
                return name
        if nets[0] in self._bits:
            name, bit = self._bits[nets[0]]
            top = bit + len(nets) - 1
            return f"{name}_{bit}" if len(nets) == 1 else f"{name}_{top}_{bit}"
        return None


def operator_name(operator: str, operands: Iterable[str | None], feeds: str | None) -> str:
    """Return a name for an operator without one: what it is made of, or what it is made for.

    Parameters
    ----------
    operands: their names; None for what has none. feeds: what looks at it first.
    """
    symbol = operator.lstrip("us")
    made = list(_spelled(symbol, list(operands)))
    name = "_".join(made)
    if made and len(name) <= _MOST_LETTERS:
        return name
    noun = _NOUNS.get(symbol, "result")
    return f"{feeds}_{noun}" if feeds else noun


def _spelled(symbol: str, operands: list[str | None]) -> Iterator[str]:
    known = [name for name in operands if name is not None]
    if len(known) < len(operands) or symbol == "m":
        return
    if len(known) == 1 and symbol in _BEFORE:
        yield from (_BEFORE[symbol], known[0])
    elif len(known) > 1 and symbol in _BETWEEN:
        yield from (known[0], _BETWEEN[symbol], known[1])


def taken_by(ports: Mapping[str, object]) -> Namer:
    """Return a namer that gives out no name of a port."""
    return Namer(ports)


LONGEST_INLINE = 64
"""Characters of an expression that may stand in another one: with a name, a line is full."""


class Place(Enum):
    """Where a value is looked at: as a whole right-hand side, in an expression, or by its name."""

    ROOT = "root"
    OPERAND = "operand"
    ELSE = "else"
    NAME = "name"


@dataclass(frozen=True, slots=True)
class Use:
    """Somebody who looks at a value.

    Members
    -------
    feeds: what the value is for, as a part of a name.
    """

    nets: Nets
    place: Place
    feeds: str | None = None


@dataclass(frozen=True, slots=True)
class _Segment:
    """Outputs of a cell, `width` from `low` on, as bits of a name that has `of`, from `at` on."""

    low: int
    width: int
    name: str
    at: int
    of: int


@dataclass(frozen=True, slots=True)
class _Slice:
    """Bits `first` to `last` of a name that has `of`."""

    name: str
    of: int
    first: int
    last: int

    def goes_on(self, above: _Slice) -> bool:
        return (self.name, self.last + 1) == (above.name, above.first)

    def text(self) -> Text:
        width = self.last - self.first + 1
        return Text(f"{self.name}{part_of(self.first, width, self.of)}", PRIMARY, width)


@dataclass(slots=True)
class _Seen:
    """How a cell of the module is looked at."""

    uses: int = 0
    whole: bool = True
    place: Place = Place.OPERAND
    feeds: str | None = None


@dataclass(slots=True)
class Scope:
    """The nets of one module.

    Parameters
    ----------
    signals: known in it, the best names first. ports: names that are taken.
    """

    simplified: Simplified
    module: int
    signals: SignalNames
    ports: Mapping[str, object]
    namer: Namer = field(init=False)
    _segments: dict[int, list[_Segment]] = field(default_factory=dict)
    _names: dict[Nets, str] = field(default_factory=dict)
    _memories: dict[int, str] = field(default_factory=dict)
    _inlined: dict[int, Text] = field(default_factory=dict)
    _seen: dict[int, _Seen] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.namer = taken_by(self.ports)

    def is_local(self, cell: int) -> bool:
        return bool(self.simplified.netlist.cells[cell].module_idx == self.module)

    def call(self, nets: Nets, name: str) -> None:
        """Let nets have a name in this module."""
        self._names.setdefault(nets, name)
        at = 0
        for piece in pieces(nets):
            if isinstance(piece, Run):
                segment = _Segment(piece.low, piece.width, name, at, len(nets))
                self._segments.setdefault(piece.cell, []).append(segment)
            at += piece.width

    def named(self, nets: Nets, otherwise: str) -> str:
        """Give nets the best name there is."""
        name = self.namer.name(identifier(self.signals.of(nets) or otherwise))
        self.call(nets, name)
        return name

    def name_of(self, nets: Nets) -> str | None:
        """Return what just these nets are called."""
        return self._names.get(nets)

    def call_memory(self, number: int) -> str:
        """Name a memory."""
        cell = self.simplified.netlist.cells[number]
        self._memories[number] = self.namer.name(identifier(cell.name))
        return self._memories[number]

    def memory(self, number: int) -> str:
        return self._memories[number]

    def value(self, nets: Nets) -> Text:
        """Return the text of a value, `rooted` where the value is an inlined operator that is."""
        if nets in self._names:
            return Text(self._names[nets], PRIMARY, len(nets))
        parts: list[Text | _Slice] = []
        for piece in pieces(nets):
            for part in self._spelled(piece):
                last = parts[-1] if parts else None
                if isinstance(part, _Slice) and isinstance(last, _Slice) and last.goes_on(part):
                    parts[-1] = replace(last, last=part.last)
                else:
                    parts.append(part)
        texts = [part.text() if isinstance(part, _Slice) else part for part in parts]
        return texts[0] if len(texts) == 1 else concatenation(texts[::-1])

    def _spelled(self, piece: Run | Constant | Repeated) -> Iterator[Text | _Slice]:
        match piece:
            case Constant(value, width):
                yield literal(value, width)
            case Repeated(net, width):
                bit = self.value((net,))
                yield Text(f"{{{width}{{{bit.text}}}}}", PRIMARY, width, terms=bit.terms)
            case Run(cell, low, width):
                if cell in self._inlined:
                    text = self._inlined[cell]
                    assert (low, width) == (0, text.width), f"a part of inlined cell {cell}"
                    yield text
                else:
                    yield from self._slices(cell, low, low + width)

    def _slices(self, cell: int, low: int, end: int) -> Iterator[_Slice]:
        """Yield the parts of names that hold outputs of a cell, the lowest first."""
        at = low
        for segment in sorted(self._segments.get(cell, ()), key=lambda each: each.low):
            if segment.low <= at < min(segment.low + segment.width, end):
                stop = min(end, segment.low + segment.width)
                first = at - segment.low + segment.at
                yield _Slice(segment.name, segment.of, first, first + stop - at - 1)
                at = stop
        assert at == end, f"outputs {at} to {end} of cell {cell} have no name in a module"

    def note(self, uses: Iterable[Use]) -> None:
        """Take note of who looks at what: a value that has one user may stand in its expression."""
        for use in uses:
            for piece in pieces(use.nets):
                run = piece
                if isinstance(piece, Repeated):
                    run = Run(cell_of(piece.net), bit_of(piece.net), 1)
                if not isinstance(run, Run) or not self.is_local(run.cell):
                    continue
                seen = self._seen.setdefault(run.cell, _Seen())
                seen.uses += 1
                seen.feeds = seen.feeds or use.feeds
                whole = run == self.simplified.netlist.run_of(run.cell)
                seen.whole &= whole and isinstance(piece, Run)
                alone = len(use.nets) == run.width
                seen.place = use.place if alone else Place.OPERAND
                seen.whole &= use.place is not Place.NAME

    def note_operators(self, cells: Iterable[int]) -> None:
        """Take note of what operators look at, those first that others depend on last."""
        for number in cells:
            cell = self.simplified.netlist.cells[number]
            seen = self._seen.setdefault(number, _Seen())
            run = self.simplified.netlist.run_of(number)
            feeds = self.signals.of(run.nets) or seen.feeds
            for position, nets in enumerate(inputs_of(cell)):
                is_else = getattr(cell, "operator", "") == "m" and position == 2
                # A choice under conditions is read from the top down.
                place = Place.ELSE if is_else else Place.OPERAND
                self.note([Use(nets, place, feeds)])

    def feeds(self, cell: int) -> str | None:
        return self._seen[cell].feeds if cell in self._seen else None

    def text_of(self, number: int) -> Text:
        """Return the expression of a cell."""
        cell = self.simplified.netlist.cells[number]
        if isinstance(cell, nir.AsyncReadPort):
            memory = self.memory(cell.memory)
            index = self.value(cell.addr).text
            return Text(f"{memory}[{index}]", PRIMARY, cell.width, terms=1)
        width = self.simplified.netlist.output_width(number)
        return expression(cell.operator, cell.inputs, width, self.value)

    def may_inline(self, number: int, text: Text) -> bool:
        """Whether the expression of a cell stands in that of its only user."""
        seen = self._seen.get(number)
        if seen is None or seen.uses != 1 or not seen.whole:
            return False
        if text.rooted:
            return seen.place is Place.ROOT
        if len(text.text) <= LONGEST_INLINE:
            return True
        return seen.place is Place.ROOT or bool(seen.place is Place.ELSE and text.arms)

    def inline(self, number: int, text: Text) -> None:
        self._inlined[number] = text

    def operator_name(self, number: int) -> str:
        """Return a name for what no signal shows."""
        cell = self.simplified.netlist.cells[number]
        if isinstance(cell, nir.AsyncReadPort):
            return f"{self.memory(cell.memory)}_read"
        operands = [self._plain(nets) for nets in cell.inputs]
        return operator_name(cell.operator, operands, self.feeds(number))

    def _plain(self, nets: Nets) -> str | None:
        """Return the name of a value, or its number; None where it has none."""
        parts = list(pieces(nets))
        while len(parts) > 1 and isinstance(parts[-1], Constant) and parts[-1].value == 0:
            parts.pop()
        match parts:
            case [Constant(value, _)]:
                return str(value)
            case [Run() as run]:
                return self.name_of(run.nets)
            case _:
                return None


def inputs_of(cell: Any) -> Iterator[Nets]:
    """Yield the operands of a combinational cell."""
    if isinstance(cell, nir.AsyncReadPort):
        yield tuple(cell.addr)
    else:
        yield from cell.inputs


def in_order(simplified: Simplified, cells: Iterable[int]) -> tuple[list[int], set[int]]:
    """Return the combinational cells in the order of `netlist.behind_drivers`."""
    all_cells = simplified.netlist.cells
    ours = [number for number in cells if is_combinational(all_cells[number])]
    members = set(ours)

    def drivers(number: int) -> Iterator[int]:
        nets: Iterator[Net] = (net for each in inputs_of(all_cells[number]) for net in each)
        last = -1
        for net in nets:
            if not is_constant(net) and (driver := cell_of(net)) != last and driver in members:
                last = driver
                yield driver

    return behind_drivers(ours, drivers)
