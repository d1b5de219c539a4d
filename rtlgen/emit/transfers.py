"""A program in tiles as C that copies words between arrays off chip and windows, tile by tile.

Words of arrays off chip as C: how one is copied to or from a window, where, and when.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Protocol

from rtlgen.emit.expressions import expression_text, type_text
from rtlgen.emit.lines import INDENT, bare, index_text
from rtlgen.emit.unit import OwnText, Values, access_text, c_program, place_text, program_names
from rtlgen.ir.affine import Affine, affine_sum
from rtlgen.ir.code import Index, Operation, all_of, at_least_zero, fresh, index_of, substituted
from rtlgen.ir.expr import Constant, map_affine
from rtlgen.ir.plan import IndexForm, MemorySide, Predicate, TiledRegion, Transfer
from rtlgen.ir.schedule import Bound, Dim, LoopDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import Access, Array, Loop, Scop, Statement, StatementNode
from rtlgen.memories.footprints import Fields, Footprint, User
from rtlgen.poly.dependences import Flow
from rtlgen.poly.scan import membership
from rtlgen.transforms.tile_nests import TiledScop
from rtlgen.windows.places import Place, Windows
from rtlgen.windows.tile_kernel import TileKernel

NEVER_TEXT = "0"
"""A condition that never holds."""


@dataclass(frozen=True, slots=True)
class Words:
    """An array off chip and its window, as C has them.

    Members
    -------
    flat: text of the array as a pointer to its first element. extent: elements of a row.
    """

    flat: str
    window: str
    lanes: int
    extent: int
    row_words: int

    @property
    def is_padded(self) -> bool:
        return self.row_words * self.lanes > self.extent

    def column(self, lane: str) -> str:
        return f"word % {self.row_words} * {self.lanes} + {lane}"

    def off_chip(self, lane: str) -> str:
        if self.is_padded:
            row = f"word / {self.row_words} * {self.extent}"
            return f"{self.flat}[{row} + {self.column(lane)}]"
        return f"{self.flat}[word * {self.lanes} + {lane}]"

    def on_chip(self, lane: str) -> str:
        return f"{self.window}[at * {self.lanes} + {lane}]"


def copied_lanes(words: Words, is_load: bool, strobes: Sequence[str | None]) -> list[str]:
    """Return the lines that copy the elements of a word: all of them, or those with a strobe."""
    if is_load or not any(strobes):
        inside = f" && {words.column('lane')} < {words.extent}" if words.is_padded else ""
        sides = words.on_chip("lane"), words.off_chip("lane")
        to, source = sides if is_load else reversed(sides)
        loop = f"for (int64_t lane = 0; lane < {words.lanes}{inside}; lane++)"
        return [f"{loop} {{", f"{INDENT}{to} = {source};", "}"]
    return [
        line
        for lane, strobe in enumerate(strobes)
        if strobe != NEVER_TEXT
        for line in only_if(strobe, [f"{words.off_chip(str(lane))} = {words.on_chip(str(lane))};"])
    ]


def only_if(condition: str | None, lines: list[str]) -> list[str]:
    """Return lines that run where a condition holds; None: always."""
    if condition is None:
        return lines
    if len(lines) == 1:
        return [f"if ({condition}) {{", INDENT + lines[0], "}"]
    return [f"if ({condition}) {{", *lines[1:-1], "}"]


def predicate_text(
    predicate: Predicate, form: Callable[[IndexForm], Affine], calls: Mapping[str, str]
) -> str | None:
    """Return a predicate on counters as C; None where it always holds."""
    if predicate.is_true:
        return None
    total: Index | None = None
    for conditions in predicate.alternatives:
        parts: list[Index] = [_condition(form(c.form), c.equal) for c in conditions]
        every = all_of(parts)
        assert every is not None, "a conjunction of nothing always holds"
        total = every if total is None else Operation("or", (total, every))
    return NEVER_TEXT if total is None else index_text(total, calls)


def _condition(form: Affine, is_equality: bool) -> Operation:
    found = at_least_zero(form)
    return Operation("eq", found.operands) if is_equality else found


def condition_text(condition: Index, values: Values, calls: Mapping[str, str]) -> str:
    """Return a condition on iterators as C, with values of these."""
    return index_text(
        substituted(condition, {name: index_of(form) for name, form in values.items()}), calls
    )


def folded_text(fields: Sequence[tuple[Affine, int]], tile_bits: int, tile: str) -> str:
    """Return a folded address as C: the low bits of every form, one above the other."""
    parts, shift = [], 0
    for form, width in [*fields, *([(Affine.variable(tile), tile_bits)] if tile_bits else [])]:
        text = str(form)
        low = f"({text if text.isidentifier() else f'({text})'} & {(1 << width) - 1})"
        parts.append(f"({low} << {shift})" if shift else low)
        shift += width
    return bare(" | ".join(parts)) if parts else "0"


def of_counters(form: IndexForm, names: Sequence[str], firsts: Sequence[int]) -> Affine:
    """Return a form of 0-based counters as one of the loops that begin at `firsts`, others at 0."""
    starts = [*firsts, *[0] * (len(names) - len(firsts))]
    parts = [
        (Affine.variable(name) - first) * c
        for name, first, c in zip(names, starts, form.coefficients, strict=True)
    ]
    return affine_sum(parts) + form.constant


class UnitInTiles(Protocol):
    """What is known of a unit that is planned in tiles."""

    @property
    def tiled(self) -> TiledScop: ...
    @property
    def kernel(self) -> TileKernel: ...
    @property
    def windows(self) -> Windows: ...
    @property
    def region(self) -> TiledRegion: ...
    @property
    def space(self) -> int | None: ...


def transfer_program(scop: Scop, units: Sequence[UnitInTiles], side: MemorySide) -> str:
    """Return a program in tiles with the copies that it makes, as a translation unit of C99.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    names = _Names(program_names(scop))
    parts = [_Unit(number, unit, side, names) for number, unit in enumerate(units)]
    pieces = [piece for part in parts for piece in part.pieces()]
    copied = Scop(
        name=scop.name,
        arrays=scop.arrays,
        scalars=scop.scalars,
        statements=tuple(piece.statement for piece in pieces),
        tree=tuple(StatementNode(piece.statement.name) for piece in pieces),
        schedule=Schedule({piece.statement.name: piece.dims for piece in pieces}),
        source=scop.source,
        returned=scop.returned,
        parameters=scop.parameters,
        untouched=scop.untouched,
    )
    own = OwnText(
        tuple(line for part in parts for line in part.declarations()),
        {piece.statement.name: piece.lines for piece in pieces},
        names.taken,
        _never_moved(scop, units, side),
    )
    return c_program(copied, "transfer", own)


def _never_moved(scop: Scop, units: Sequence[UnitInTiles], side: MemorySide) -> frozenset[str]:
    """Return the local arrays off chip all of whose values stay on it from tile to tile."""
    off_chip = {array.name for array in side.arrays}
    moved = {transfer.array for unit in units for transfer in unit.region.transfers}
    local = {array.name for array in scop.arrays if array.role == "local"}
    return frozenset(local & off_chip - moved)


class _Names:
    """Names in C for what the plan has beside the program."""

    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = taken
        self._given: dict[str, str] = {}

    def of(self, wanted: str) -> str:
        """Return the name of something, the same every time."""
        if wanted not in self._given:
            self._given[wanted] = fresh(wanted, self.taken)
            self.taken |= {self._given[wanted]}
        return self._given[wanted]


Lines = Callable[[Values, Mapping[str, str]], list[str]]


@dataclass(frozen=True, slots=True)
class _Piece:
    """Something that a tile does, as a statement with a text of its own."""

    statement: Statement
    dims: tuple[Dim, ...]
    lines: Lines


LOAD, COMPUTE, HAND_OVER, STORE, NEXT = range(5)
"""What a tile does, one after another."""


class _Unit:
    def __init__(self, number: int, unit: UnitInTiles, side: MemorySide, names: _Names) -> None:
        self.number = number
        self.unit = unit
        self.side = side
        self.names = names
        self.scop = unit.tiled.scop
        self.sets = unit.kernel.sets
        self.off_chip = {array.name: array for array in side.arrays}
        self.tile = names.of(f"tile{number}")
        read = {source.memory for key in unit.windows.sources for source in self._sources(*key)}
        self.memories = {
            memory.name: memory
            for memory in unit.windows.memories
            # A register takes what is stored nowhere.
            if memory.kind == "drained" or (memory.name in read and memory.kind != "register")
        }
        self.kept_now = {
            statement.name: self._footprint(statement)
            for statement in self.scop.statements
            if statement.write.array in self.off_chip
        }

    def _footprint(self, statement: Statement) -> Footprint:
        """Return where in an array of its own a statement leaves the values of a tile."""
        box = self.scop.schedule.box(statement.name)
        tile = self.unit.tiled.tile_iterators
        inner = {name: ends for name, ends in box.items() if name not in tile}
        array = self.off_chip[statement.write.array]
        loops = self.unit.kernel.tile_loops
        return Footprint.of(array, 1, loops, [User(statement, statement.write, inner)])

    def declarations(self) -> Iterator[str]:
        """Yield the declarations of all that is on chip."""
        yield f"int64_t {self.tile} = 0;"
        for memory in self.memories.values():
            type_ = self._held_array(memory.name).element
            size = memory.depth
            if memory.name in self.unit.windows.peers:
                size = 2 * self._handed_array(memory.name).depth
            yield f"static {type_text(type_)} {self.names.of(memory.name)}[{size}];"
        for name, footprint in self.kept_now.items():
            element = self.scop.array(footprint.array.name).element
            bits = sum(width for _, width in self._now_fields(name))
            yield f"static {type_text(element)} {self._now(name)}[{1 << bits}];"

    def _now(self, name: str) -> str:
        return self.names.of(f"{name}_now")

    def _now_fields(self, name: str) -> Fields:
        """Return the place of what a statement writes among the values that it leaves."""
        return self.kept_now[name].element_fields(self.scop.statement(name).write)

    def pieces(self) -> Iterator[_Piece]:
        """Yield what a tile does."""
        for transfer in self.unit.region.transfers:
            if transfer.direction == "load":
                yield self._copying(transfer)
        for statement in self.scop.statements:
            yield _Piece(statement, self._dims(statement, COMPUTE), self._computing(statement))
        for statement in self.scop.statements:
            for target in self.unit.windows.targets[statement.name]:
                if target.memory in self.memories:
                    yield self._handing_over(statement, target)
        for transfer in self.unit.region.transfers:
            if transfer.direction == "store":
                yield self._copying(transfer)
        yield self._counting()

    # Times.

    def _dims(self, statement: Statement, phase: int) -> tuple[Dim, ...]:
        """Return when a statement of the program runs: in its tile, in the order of its loops."""
        depth = self.unit.kernel.depth
        before = self.scop.schedule.dims[statement.name]
        return (
            ScalarDim(self.number),
            *before[: 2 * depth],
            ScalarDim(phase),
            *before[2 * depth :],
        )

    def _in_every_tile(
        self,
        name: str,
        text: str,
        time: tuple[int, int],
        inner: Sequence[NestLoop],
        lines: Lines,
    ) -> _Piece:
        """Return a piece that runs in every tile and in all iterations of some further loops."""
        loops = (*self.unit.kernel.tile_loops, *inner)
        dims: list[Dim] = [ScalarDim(self.number)]
        for loop in self.unit.kernel.tile_loops:
            dims += [ScalarDim(0), LoopDim(loop)]
        dims += [*map(ScalarDim, time), *map(LoopDim, inner)]
        first = self.scop.statements[0]
        array = self.scop.array(first.write.array)
        statement = Statement(
            name=name,
            loops=tuple(_boxed(loop, first) for loop in loops),
            conditions=tuple(form for loop in loops for form in _inside(loop)),
            write=Access(array.name, (Affine(),) * len(array.shape), first.write.span),
            reads=(),
            expr=Constant(0, array.element),
            span=first.span,
            text=text,
        )
        return _Piece(statement, tuple(dims), lines)

    def _counting(self) -> _Piece:
        name = f"tile of {self.scop.statements[0].name}"
        return self._in_every_tile(
            name, "counts the tiles", (NEXT, 0), (), lambda *_: [f"{self.tile}++;"]
        )

    # Copies.

    def _copying(self, transfer: Transfer) -> _Piece:
        depth = self.unit.kernel.depth
        inner = [self._word_loop(transfer, place) for place in range(depth, len(transfer.levels))]
        loops = (*self.unit.kernel.tile_loops, *inner)
        window, array = self.names.of(transfer.window), transfer.array
        is_load = transfer.direction == "load"
        source, to = (array, window) if is_load else (window, array)
        return self._in_every_tile(
            f"{transfer.direction} {transfer.window}",
            f"copies words of {source} to {to}",
            (LOAD if is_load else STORE, self.unit.region.transfers.index(transfer)),
            inner,
            lambda *given: self._words(transfer, loops, *given),
        )

    def _word_loop(self, transfer: Transfer, place: int) -> NestLoop:
        level = transfer.levels[place]
        outer = [loop.iterator or "" for loop in self.unit.kernel.tile_loops]
        names = [*outer, *(f"w{k}" for k in range(len(transfer.levels) - len(outer)))]
        firsts = [loop.first for loop in self.unit.kernel.tile_loops]
        return NestLoop(
            names[place],
            level.extent,
            0,
            tuple(Bound(of_counters(b.form, names, firsts), b.divisor) for b in level.lowers),
            tuple(Bound(of_counters(b.form, names, firsts), b.divisor) for b in level.uppers),
        )

    def _words(
        self,
        transfer: Transfer,
        loops: Sequence[NestLoop],
        values: Values,
        calls: Mapping[str, str],
    ) -> list[str]:
        """Return the lines that copy a word."""
        names = [loop.iterator or "" for loop in loops]
        firsts = [loop.first for loop in loops]

        def form(index: IndexForm) -> Affine:
            return of_counters(index, names, firsts).substitute(values)

        def condition(predicate: Predicate) -> str | None:
            return predicate_text(predicate, form, calls)

        array = self.off_chip[transfer.array]
        at = folded_text(
            [(form(field.form), field.width_bits) for field in transfer.at.fields],
            transfer.at.tile_bits,
            self.tile,
        )
        strobes = [condition(strobe) for strobe in transfer.strobes]
        word = form(transfer.word) - array.base_words
        body = [
            f"const int64_t at = {at}, word = {word};",
            *copied_lanes(self._words_of(transfer), transfer.direction == "load", strobes),
        ]
        return only_if(condition(transfer.when), ["{", *(INDENT + line for line in body), "}"])

    def _words_of(self, transfer: Transfer) -> Words:
        array = self.off_chip[transfer.array]
        element = self.scop.array(array.name).element
        return Words(
            f"(({type_text(element)} *){array.name})",
            self.names.of(transfer.window),
            self.memories[transfer.window].lanes,
            array.shape[-1],
            array.row_words(self.side.word_bits),
        )

    # Statements.

    def _computing(self, statement: Statement) -> Lines:
        """Return the text of a statement whose operands come from on chip."""

        def lines(values: Values, calls: Mapping[str, str]) -> list[str]:
            def element(read: int, computed: Sequence[str]) -> str:
                access = statement.reads[read]
                if access.array not in self.off_chip:
                    return access_text(access, values, computed)
                return self._found(statement, read, values, calls)

            value = expression_text(map_affine(statement.expr, dict(values)), element, calls)
            if statement.write.array in self.off_chip:
                left = self._now_text(statement.name, statement.write, values)
            else:
                left = access_text(statement.write, values, ())
            return [f"{left} = {bare(value)}; {place_text(statement)}"]

        return lines

    def _found(
        self, statement: Statement, read: int, values: Values, calls: Mapping[str, str]
    ) -> str:
        """Return the text of an operand: what its own tile has computed, or a memory holds."""
        access = statement.reads[read]
        options = [
            (flow.relation.range(), self._now_text(flow.source, access, values))
            for flow in self._flows_in_tile(statement.name, read)
        ]
        for source in self._sources(statement.name, read):
            options.append((source.instances, self._element_text(source, access, values, -1)))
        *others, (_, text) = options
        for instances, other in reversed(others):
            inside = membership(self.sets, statement, instances)
            if inside is None:
                text = other
            else:
                text = f"({condition_text(inside, values, calls)} ? {other} : {text})"
        return text

    def _flows_in_tile(self, name: str, read: int) -> list[Flow]:
        flows = self.unit.kernel.timing.dataflow.flows
        return [flow for flow in flows if (flow.sink, flow.sink_read) == (name, read)]

    def _sources(self, name: str, read: int) -> list[Place]:
        """Return the memories in which a read finds what its own tile has not computed."""
        left = self.sets.domains[name]
        for flow in self._flows_in_tile(name, read):
            left = left.subtract(flow.relation.range())
        found = self.unit.windows.sources[name, read]
        return [source for source in found if not source.instances.is_disjoint(left)]

    def _now_text(self, name: str, access: Access, values: Values) -> str:
        fields = self.kept_now[name].element_fields(access)
        at = folded_text([(form.substitute(values), width) for form, width in fields], 0, "")
        return f"{self._now(name)}[{at}]"

    def _element_text(self, at: Place, access: Access, values: Values, rows: int) -> str:
        """Return the text of an element of a memory on chip.

        Parameters
        ----------
        access: which element of the array that is. rows: of a peer's memory, whose it is, counted
            from the row at hand.
        """
        assert isinstance(at.place, tuple), "what is off chip is not looked up"
        place = [(form.substitute(values), width) for form, width in at.place]
        text = folded_text(place, at.tile_bits, self.tile)
        if at.memory in self.unit.windows.peers:
            text = self._in_turn(access, values, rows)
        return f"{self.names.of(at.memory)}[{text}]"

    def _in_turn(self, access: Access, values: Values, rows: int) -> str:
        """Return where an element is that a row hands over, counted from the row at hand."""
        assert self.unit.space is not None, "workers share rows"
        row = Affine.variable(self.unit.kernel.tile_loops[self.unit.space].iterator or "")
        turn = row.substitute(values) + rows
        element = self.scop.element_number(access).substitute(values)
        return f"{element} + {self.scop.array(access.array).depth} * (({turn}) & 1)"

    def _held_array(self, memory: str) -> Array:
        """Return the array of which a memory holds elements."""
        for transfer in self.unit.region.transfers:
            if transfer.window == memory:
                return self.scop.array(transfer.array)
        return self._handed_array(memory)

    def _handed_array(self, memory: str) -> Array:
        """Return the array whose elements are handed over by way of a memory."""
        targets = self.unit.windows.targets
        name = next(n for n, own in targets.items() if any(t.memory == memory for t in own))
        return self.scop.array(self.scop.statement(name).write.array)

    def _handing_over(self, statement: Statement, target: Place) -> _Piece:
        """Return the copy of what a statement has computed to a memory that others read."""
        inside = membership(self.sets, statement, target.instances)

        def lines(values: Values, calls: Mapping[str, str]) -> list[str]:
            now = self._now_text(statement.name, statement.write, values)
            condition = None if inside is None else condition_text(inside, values, calls)
            there = self._element_text(target, statement.write, values, 0)
            return only_if(condition, [f"{there} = {now};"])

        text = f"copies what it computed to {self.names.of(target.memory)}"
        copied = replace(statement, name=f"{statement.name} to {target.memory}", text=text)
        return _Piece(copied, self._dims(statement, HAND_OVER), lines)


def _boxed(loop: NestLoop, first: Statement) -> Loop:
    return Loop(
        loop.iterator or "",
        Affine((), loop.first),
        Affine((), loop.first + loop.extent),
        1,
        first.span,
    )


def _inside(loop: NestLoop) -> Iterator[Affine]:
    """Yield what is at least 0 within the bounds of a loop."""
    value = Affine.variable(loop.iterator or "")
    yield from (value * bound.divisor - bound.form for bound in loop.lowers)
    yield from (bound.form - value * bound.divisor for bound in loop.uppers)
