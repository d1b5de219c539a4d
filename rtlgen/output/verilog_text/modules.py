"""A module of the netlist as Verilog text."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from typing import Any

from amaranth.hdl import _nir as nir

from rtlgen.manifest.names import Namer
from rtlgen.output.verilog_text.expressions import (
    AND,
    PRIMARY,
    Text,
    concatenation,
    literal,
    not_of,
)
from rtlgen.output.verilog_text.hierarchy import (
    Assign,
    Block,
    Body,
    Case,
    Crossing,
    If,
    Statement,
    blocks_of,
    grouped,
)
from rtlgen.output.verilog_text.layout import (
    assignment,
    broken,
    declarations,
    indented,
    packed,
    part_of,
    range_of,
)
from rtlgen.output.verilog_text.netlist import (
    TOP,
    Net,
    Nets,
    cell_of,
)
from rtlgen.output.verilog_text.scope import (
    Place,
    Scope,
    SignalNames,
    Use,
    escaped,
    identifier,
    in_order,
)
from rtlgen.output.verilog_text.simplify import Simplified


@dataclass(frozen=True, slots=True)
class Port:
    """A port of a module: what it shows inside, and the component's member that it is."""

    name: str
    direction: str
    nets: Nets
    member: str


@dataclass(frozen=True, slots=True)
class ModuleText:
    """A module but for its name and its comments.

    Members
    -------
    ports: in order. registered: the outputs that are registers. body: lines.
    instances: module numbers, in the order of the places `@N@` for their names in the body.
    lines: of the C file that its nets come from.
    """

    ports: tuple[Port, ...]
    registered: frozenset[str]
    body: tuple[str, ...]
    instances: tuple[int, ...]
    lines: tuple[int, ...]


class ModuleWriter:
    """Write one module.

    Parameters
    ----------
    cells: of the module. crossing: the nets that go in and out. known: modules that are written.
    parts: the modules in this one.
    source_file: whose lines are named.
    """

    def __init__(
        self,
        simplified: Simplified,
        module: int,
        cells: Sequence[int],
        crossing: Crossing,
        known: Mapping[int, ModuleText],
        source_file: str | None,
        parts: Sequence[int],
    ) -> None:
        self._simplified = simplified
        self._netlist = simplified.netlist
        self._module = module
        self._cells = self._netlist.cells
        self._own = cells
        self._source_file = source_file
        self._known = known
        self._parts = parts
        self._source = self._netlist.modules[module]
        self._crossing = crossing
        self._lines: set[int] = set()
        self._registered: set[str] = set()
        self._taken_outputs: set[str] = set()
        # Writes that some read shows in the same cycle.
        self._shown_writes = {
            write
            for number in cells
            if isinstance(self._cells[number], nir.SyncReadPort)
            for write in self._cells[number].transparent_for
        }
        self._powered: list[tuple[str, int, int]] = []
        signals = SignalNames(self._signals())
        self._ports = tuple(self._in_order_of_members(signals))
        self._outputs: dict[Nets, str] = {}
        for port in self._ports:
            if port.direction == "output":
                self._outputs.setdefault(port.nets, port.name)
        self._scope = Scope(simplified, module, signals, {port.name: port for port in self._ports})

    def write(self) -> ModuleText:
        scope = self._scope
        for port in self._ports:
            if port.direction == "input":
                scope.call(port.nets, port.name)
        kinds: dict[type, list[int]] = {}
        for number in self._own:
            kinds.setdefault(type(self._cells[number]), []).append(number)
        memories = kinds.get(nir.Memory, [])
        for memory in memories:
            scope.call_memory(memory)
        registers = [*declarations(self._declared(kinds.get(nir.FlipFlop, []), "register"))]
        instances = self._instances()
        wires = [*declarations(self._instance_wires(instances))]
        reads = kinds.get(nir.SyncReadPort, [])
        shown = [*declarations(self._declared(reads, "read_data"))]
        blocks = blocks_of(self._simplified, kinds.get(nir.FlipFlop, []))
        ordered, late = in_order(self._simplified, self._own)
        self._note(blocks, instances, kinds, ordered)
        expressions, early = self._expressions(ordered, late)
        # What an expression looks at is declared before it.
        at_once = {self._cells[number].memory for number in kinds.get(nir.AsyncReadPort, [])}
        stores = self._memory(memories, kinds.get(nir.SyncWritePort, []), reads, at_once)
        body = [
            [*registers, *shown],
            *(self._memory_itself(memory) for memory in memories if memory in at_once),
            [*wires, *early],
            expressions,
            [*self._driven_outputs()],
            *([*self._instance(number, name)] for number, name in instances),
            *stores,
            *([*self._block(block)] for block in blocks),
            [*self._power_up()],
        ]
        lines = [line for part in body if part for line in ("", *part)]
        return ModuleText(
            self._ports,
            frozenset(self._registered),
            tuple(indented(lines)),
            tuple(number for number, _ in instances),
            tuple(sorted(self._lines)),
        )

    # Names and ports.

    def _signals(self) -> Iterator[tuple[str, Nets]]:
        """Yield what is known in the module: the component's ports first, then all other signals.

        What has become another one's nets by being simplified comes last.
        """
        netlist, later = self._netlist, []
        known = [
            *((name, s) for name, s in self._source.members.items() if s in netlist.signals),
            *((name, signal) for signal, name in netlist.names[self._module].items()),
        ]
        for name, signal in known:
            nets = self._simplified.nets(netlist.signals[signal])
            if nets == tuple(netlist.signals[signal]):
                yield name, nets
            else:
                later.append((name, nets))
        yield from later

    def _in_order_of_members(self, signals: SignalNames) -> Iterator[Port]:
        """Yield the ports: clock and reset, then as the component has them, then all others."""
        found = [*self._top_ports()] if self._module == TOP else [*self._inner_ports(signals)]
        order = {name: n for n, name in enumerate(("clk", "rst", *self._source.members))}
        yield from sorted(found, key=lambda port: order.get(port.member, len(order)))

    def _top_ports(self) -> Iterator[Port]:
        for name, run in self._netlist.inputs.items():
            if run.width:
                yield Port(escaped(name), "input", run.nets, name)
        for name, nets in self._netlist.outputs.items():
            if nets:
                yield Port(escaped(name), "output", nets, name)

    def _inner_ports(self, signals: SignalNames) -> Iterator[Port]:
        names = Namer()
        words = [
            self._simplified.nets(self._netlist.signals[signal])
            for signal in self._source.members.values()
            if signal in self._netlist.signals
        ]
        starts = {run.nets[0] for run in self._netlist.inputs.values() if run.width}
        crossing = self._crossing
        for direction, nets in (("input", crossing.inputs), ("output", crossing.outputs)):
            for word in grouped(nets, words, starts):
                member = signals.of(word) or f"{direction}_{cell_of(word[0])}"
                yield Port(names.name(identifier(member)), direction, word, member)

    def _take(self, nets: Nets, otherwise: str) -> tuple[str, bool]:
        """Name what drives nets; return the name, and whether it is an output port."""
        port = self._outputs.get(nets)
        if port is None:
            return self._scope.named(nets, otherwise), False
        self._taken_outputs.add(port)
        self._scope.call(nets, port)
        return port, True

    def _src(self, cell: Any) -> str:
        """Return the attribute that says which line of the C program a cell comes from."""
        location = cell.src_loc
        if location is None or location[0] != self._source_file:
            return ""
        self._lines.add(location[1])
        return f'(* src = "{location[0]}:{location[1]}" *) '

    # Registers, wires and expressions.

    def _declared(self, cells: Iterable[int], otherwise: str) -> Iterator[tuple[str, str]]:
        """Yield declarations of registers that are no ports: what they are, and their names."""
        for number in cells:
            cell, run = self._cells[number], self._netlist.run_of(number)
            if not run.width:
                continue
            name, is_port = self._take(run.nets, otherwise)
            initial = getattr(cell, "init", 0)
            self._powered.append((name, initial, run.width))
            src = self._src(cell)
            if is_port:
                self._registered.add(name)
            else:
                yield f"{src}reg {range_of(run.width)}", name

    def _expressions(self, ordered: Sequence[int], late: set[int]) -> tuple[list[str], list[str]]:
        """Return the wires with their expressions, and declarations of those looked at before."""
        scope, lines, early = self._scope, list[str](), list[str]()
        for number in ordered:
            if number in late:
                run = self._netlist.run_of(number)
                name, is_port = self._take(run.nets, scope.operator_name(number))
                if not is_port:
                    early.append(f"wire {range_of(run.width)}{name};")
        for number in ordered:
            cell, run = self._cells[number], self._netlist.run_of(number)
            text = scope.text_of(number)
            if number in late:
                lines += assignment(f"assign {scope.name_of(run.nets)} =", text)
                continue
            if run.nets not in self._outputs and scope.may_inline(number, text):
                scope.inline(number, text)
                continue
            name, is_port = self._take(run.nets, scope.operator_name(number))
            src = self._src(cell)
            head = f"assign {name} =" if is_port else f"{src}wire {range_of(run.width)}{name} ="
            lines += assignment(head, text)
        return lines, early

    def _driven_outputs(self) -> Iterator[str]:
        """Yield the outputs that show what has another name, or is put together."""
        for port in self._ports:
            if port.direction == "output" and port.name not in self._taken_outputs:
                yield from assignment(f"assign {port.name} =", self._scope.value(port.nets))

    # Who looks at what.

    def _note(
        self,
        blocks: Sequence[Block],
        instances: Sequence[tuple[int, str]],
        kinds: Mapping[type, Sequence[int]],
        ordered: Sequence[int],
    ) -> None:
        scope = self._scope
        for port in self._ports:
            if port.direction == "output":
                scope.note([Use(port.nets, Place.ROOT, port.name)])
        for block in blocks:
            for condition, _ in block.resets:
                scope.note([Use((condition,), Place.OPERAND, "reset")])
            scope.note(self._statement_uses(block.body))
        for number, name in instances:
            for port in self._known[number].ports:
                if port.direction == "input":
                    scope.note([Use(port.nets, Place.OPERAND, f"{name}_{port.name}")])
        for number in (*kinds.get(nir.SyncWritePort, ()), *kinds.get(nir.SyncReadPort, ())):
            scope.note(self._port_uses(number))
        scope.note_operators(reversed(ordered))

    def _statement_uses(self, body: Body) -> Iterator[Use]:
        for statement in body:
            match statement:
                case Assign(register, _, nets):
                    name = self._scope.name_of(self._netlist.run_of(register).nets)
                    yield Use(nets, Place.ROOT, f"{name}_next")
                case _:
                    for nets, is_root in _direct_uses(statement):
                        yield Use(nets, Place.ROOT if is_root else Place.OPERAND)
                    for inner in _inner(statement):
                        yield from self._statement_uses(inner)

    def _port_uses(self, number: int) -> Iterator[Use]:
        cell = self._cells[number]
        memory = self._scope.memory(cell.memory)
        if isinstance(cell, nir.SyncWritePort):
            lanes = list(_lanes(cell.en))
            is_plain = len(lanes) == 1 and number not in self._shown_writes
            place = Place.OPERAND if is_plain else Place.NAME
            yield Use(tuple(cell.addr), place, f"{memory}_write_addr")
            for low, width, net in lanes:
                data = tuple(cell.data[low : low + width])
                yield Use(data, place, f"{memory}_write_data")
                yield Use((net,), place, f"{memory}_write_en")
        else:
            place = Place.NAME if cell.transparent_for else Place.OPERAND
            yield Use(tuple(cell.addr), place, f"{memory}_read_addr")
            yield Use((cell.en,), place, f"{memory}_read_en")

    # Instances.

    def _instances(self) -> list[tuple[int, str]]:
        modules = self._netlist.modules
        return [
            (number, self._scope.namer.name(identifier(modules[number].path[-1])))
            for number in self._parts
        ]

    def _instance_wires(self, instances: Sequence[tuple[int, str]]) -> Iterator[tuple[str, str]]:
        for number, instance in instances:
            for port in self._known[number].ports:
                if port.direction == "output":
                    name, is_port = self._take(port.nets, f"{instance}_{port.name}")
                    if not is_port:
                        yield f"wire {range_of(len(port.nets))}", name

    def _instance(self, number: int, name: str) -> Iterator[str]:
        """Yield an instance, with a place for the name of its module."""
        ports = self._known[number].ports
        yield f"@{number}@ {name} ("
        groups = [[*group] for _, group in groupby(ports, lambda port: _bundle(port.name))]
        for n, group in enumerate(groups):
            shown = [f".{port.name}({self._scope.value(port.nets).text})" for port in group]
            if n + 1 < len(groups):
                shown[-1] += ","
            # The ports of one bundle stand beside each other.
            items = [*(f"{each}," for each in shown[:-1]), shown[-1]]
            yield from indented(packed(items, 2))
        yield ");"

    # Memories.

    def _memory(
        self,
        memories: Sequence[int],
        writes: Sequence[int],
        reads: Sequence[int],
        declared: Collection[int],
    ) -> Iterator[list[str]]:
        """Yield memories, but for those that are declared, and their ports."""
        for memory in memories:
            if memory not in declared:
                yield self._memory_itself(memory)
            for write in writes:
                if self._cells[write].memory == memory:
                    yield [*self._write_port(self._cells[write], str(self._scope.memory(memory)))]
        for read in reads:
            yield [*self._read_port(read)]

    def _memory_itself(self, memory: int) -> list[str]:
        """Return the declaration of a memory, with what a table holds."""
        cell = self._cells[memory]
        name = self._scope.memory(memory)
        attributes = ", ".join(
            f'{key} = "{value}"' if isinstance(value, str) else f"{key} = {int(value)}"
            for key, value in cell.attributes.items()
        )
        lines = [f"(* {attributes} *)"] if attributes else []
        lines.append(f"reg {range_of(cell.width)}{name} [0:{cell.depth - 1}];")
        if cell.init and cell.name.startswith("rom_"):
            items = [
                f"{name}[{n}] = {literal(value, cell.width).text};"
                for n, value in enumerate(cell.init)
            ]
            lines += ["initial begin", *indented(packed(items, 2)), "end"]
        return lines

    def _write_port(self, cell: Any, memory: str) -> Iterator[str]:
        scope = self._scope
        place = f"{memory}[{scope.value(tuple(cell.addr)).text}]"
        lines = []
        for low, width, net in _lanes(cell.en):
            data = scope.value(tuple(cell.data[low : low + width])).text
            part = part_of(low, width, len(cell.data))
            condition = "" if net == 1 else f"if ({scope.value((net,)).text}) "
            lines.append(f"{condition}{place}{part} <= {data};")
        yield from self._clocked(cell.clk, lines, alone=len(lines) == 1)

    def _read_port(self, number: int) -> Iterator[str]:
        cell, scope = self._cells[number], self._scope
        run = self._netlist.run_of(number)
        data = scope.name_of(run.nets)
        memory = scope.memory(cell.memory)
        address = scope.value(tuple(cell.addr)).text
        lines = [f"{data} <= {memory}[{address}];"]
        for write in cell.transparent_for:
            port = self._cells[write]
            at = scope.value(tuple(port.addr)).text
            for low, width, net in _lanes(port.en):
                part = part_of(low, width, run.width)
                met = f"{scope.value((net,)).text} & {at} == {address}"
                new = scope.value(tuple(port.data[low : low + width])).text
                lines.append(f"if ({met}) {data}{part} <= {new};")
        if cell.en != 1:
            enabled = f"if ({scope.value((cell.en,)).text})"
            lines = (
                [f"{enabled} {lines[0]}"]
                if len(lines) == 1
                else [f"{enabled} begin", *indented(lines), "end"]
            )
        yield from self._clocked(cell.clk, lines, alone=cell.en != 1 or len(lines) == 1)

    def _clocked(self, clock: Net, lines: Sequence[str], *, alone: bool) -> Iterator[str]:
        """Yield a clocked block of lines, which are one statement or several."""
        head = f"always @(posedge {self._scope.value((clock,)).text})"
        yield head if alone else f"{head} begin"
        yield from indented(lines)
        if not alone:
            yield "end"

    # Statements.

    def _block(self, block: Block) -> Iterator[str]:
        lines = [*self._body(block.body)]
        if block.resets:
            whole = []
            for n, (condition, assigns) in enumerate(block.resets):
                head = f"if ({self._scope.value((condition,)).text}) begin"
                whole.append(f"end else {head}" if n else head)
                whole += indented(packed([*self._body(assigns)], 3))
            if lines:
                whole += ["end else begin", *indented(lines)]
            lines = [*whole, "end"]
        if not lines:
            return
        alone = bool(block.resets) or len(block.body) == 1
        yield from self._clocked(block.clock, lines, alone=alone)

    def _body(self, body: Iterable[Statement]) -> Iterator[str]:
        for statement in body:
            match statement:
                case Assign():
                    yield from self._assign(statement)
                case If(arms):
                    yield from self._if(arms)
                case Case(value, arms):
                    yield from self._case(value, arms)

    def _assign(self, statement: Assign) -> Iterator[str]:
        run = self._netlist.run_of(statement.register)
        name = self._scope.name_of(run.nets)
        part = part_of(statement.low, len(statement.nets), run.width)
        yield from assignment(f"{name}{part} <=", self._scope.value(statement.nets))

    def _if(self, arms: Sequence[tuple[tuple[tuple[Net, bool], ...], Body]]) -> Iterator[str]:
        bodies = [[*self._body(body)] for _, body in arms]
        short = all(
            len(body) == len(lines) == 1 and isinstance(body[0], Assign)
            for (_, body), lines in zip(arms, bodies, strict=True)
        )
        for n, ((conditions, _), lines) in enumerate(zip(arms, bodies, strict=True)):
            texts = [self._literal(net, holds) for net, holds in conditions]
            test = f"if ({texts[0].text})" if len(texts) == 1 else ""
            if len(texts) > 1:
                test = f"if ({' & '.join(text.within(AND) for text in texts)})"
            if short:
                yield " ".join(part for part in ("else" if n else "", test, lines[0]) if part)
                continue
            yield " ".join(part for part in ("end else" if n else "", test, "begin") if part)
            yield from indented(lines)
        if not short:
            yield "end"

    def _literal(self, net: Net, holds: bool) -> Text:
        text = self._scope.value((net,))
        return text if holds else not_of(text)

    def _case(self, value: Nets, arms: Sequence[tuple[tuple[str, ...], Body]]) -> Iterator[str]:
        yield f"case ({self._scope.value(value).text})"
        has_default = False
        for patterns, body in arms:
            has_default |= not patterns
            label = ", ".join(literal(int(pattern, 2), len(pattern)).text for pattern in patterns)
            lines = [*self._body(body)]
            if len(lines) == 1:
                yield f"  {label or 'default'}: {lines[0]}"
            else:
                yield f"  {label or 'default'}: begin"
                yield from indented(lines, 2)
                yield "  end"
        if not has_default:
            yield "  default: ;"
        yield "endcase"

    def _power_up(self) -> Iterator[str]:
        """Yield the values at power-up, which are those after a reset, too."""
        zeros = [(name, width) for name, value, width in self._powered if value == 0]
        others = [each for each in self._powered if each[1] != 0]
        lines = [f"{name} = {literal(value, width).text};" for name, value, width in others]
        if len(zeros) > 1:
            names = concatenation([Text(name, PRIMARY, width) for name, width in zeros])
            lines = [*broken(f"{names.text} = {literal(0, names.width).text};"), *lines]
        else:
            lines += [f"{name} = {literal(0, width).text};" for name, width in zeros]
        if len(lines) == 1:
            yield f"initial {lines[0]}"
        elif lines:
            yield "initial begin"
            yield from indented(lines)
            yield "end"


def _bundle(port: str) -> str:
    """Return what the ports of a bundle have in common: their names but for the last word."""
    return port.rpartition("_")[0]


def _lanes(enables: Iterable[Net]) -> Iterator[tuple[int, int, Net]]:
    """Yield neighbouring bits that are enabled together: the lowest, how many, and by what."""
    low = 0
    for net, group in groupby(enables):
        width = len(list(group))
        if net != 0:
            yield low, width, net
        low += width


def _direct_uses(statement: Statement) -> Iterator[tuple[Nets, bool]]:
    match statement:
        case If(arms=arms):
            for conditions, _ in arms:
                yield from (((net,), False) for net, _ in conditions)
        case Case(value=value):
            yield value, False


def _inner(statement: Statement) -> Iterator[Body]:
    match statement:
        case If(arms=arms):
            yield from (body for _, body in arms)
        case Case(arms=choices):
            yield from (body for _, body in choices)
