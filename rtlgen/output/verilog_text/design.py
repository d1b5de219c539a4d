"""A component as Verilog: all its modules, from the top down."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from amaranth.lib import wiring

from rtlgen.hw.names import Namer
from rtlgen.output.verilog_text.hierarchy import crossings_of
from rtlgen.output.verilog_text.layout import (
    SOURCE,
    heading,
    indented,
    port_comment,
    port_table,
)
from rtlgen.output.verilog_text.modules import ModuleText, ModuleWriter
from rtlgen.output.verilog_text.netlist import TOP, ModuleSource, netlist_of
from rtlgen.output.verilog_text.scope import identifier
from rtlgen.output.verilog_text.simplify import simplify

_UNQUOTABLE = re.compile(r'["\\]|\*\)')
"""In a file name, it would end a string, or in Verilator's eyes an attribute."""
_PLACE = re.compile(r"(?<=^  )@(\d+)@(?= )")


def verilog_of(component: wiring.Component, top: str, source_file: str) -> str:
    """Return the Verilog of a component, as a module called `top`.

    Parameters
    ----------
    source_file: the C file whose lines are named.
    """
    netlist = netlist_of(component, top)
    simplified = simplify(netlist)
    crossings = crossings_of(simplified)
    own: list[list[int]] = [[] for _ in netlist.modules]
    for number in sorted(simplified.live):
        own[netlist.cells[number].module_idx].append(number)
    quotable = None if _UNQUOTABLE.search(source_file) else source_file
    written: dict[int, ModuleText] = {}
    parts: list[list[int]] = [[] for _ in netlist.modules]
    # A module stands behind the one around it, and needs the ports of those in it.
    for module in reversed(range(len(netlist.modules))):
        crossing = crossings[module]
        if module == TOP or crossing.inputs or crossing.outputs:
            inner = parts[module][::-1]
            writer = ModuleWriter(
                simplified, module, own[module], crossing, written, quotable, inner
            )
            written[module] = writer.write()
            parent = netlist.modules[module].parent
            if parent is not None:
                parts[parent].append(module)
    return "\n".join(_Namer(netlist.modules, written, top, source_file).lines())


class _Namer:
    """Name the modules, those alike once, and put their texts together."""

    def __init__(
        self,
        sources: Sequence[ModuleSource],
        written: Mapping[int, ModuleText],
        top: str,
        source_file: str,
    ) -> None:
        self._sources = sources
        self._written = written
        self._file = source_file.rsplit("/", 1)[-1]
        self._alike: dict[int, list[int]] = {}
        keys: dict[int, int] = {}
        numbers: dict[object, int] = {}
        for number in sorted(written, reverse=True):
            text = written[number]
            inner = tuple(keys[each] for each in text.instances)
            body = tuple(_PLACE.sub("", SOURCE.sub("", line)) for line in text.body)
            shape = tuple((p.name, p.direction, len(p.nets)) for p in text.ports)
            form = (shape, text.registered, body, inner, self._about(number))
            key = keys[number] = numbers.setdefault(form, len(numbers))
            self._alike.setdefault(key, []).append(number)
        namer = Namer()
        self._names: dict[int, str] = {TOP: namer.name(top)}
        for number in sorted(written):
            if number not in self._names:
                same = self._alike[keys[number]]
                name = namer.name(self._wanted(number, top, shared=len(same) > 1))
                self._names |= dict.fromkeys(same, name)

    def _about(self, number: int) -> str:
        component = self._sources[number].component
        return "" if component is None else type(component).__name__

    def _wanted(self, number: int, top: str, *, shared: bool) -> str:
        source = self._sources[number]
        if shared and source.component is not None:
            kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", type(source.component).__name__).lower()
            return f"{top}_{kind.lstrip('_')}"
        return "_".join((top, *map(identifier, source.path[1:])))

    def lines(self) -> Iterator[str]:
        alike: dict[str, list[int]] = {}
        for number in sorted(self._written):
            alike.setdefault(self._names[number], []).append(number)
        for name, numbers in alike.items():
            yield from self._module(numbers, name)
            yield ""

    def _module(self, numbers: Sequence[int], name: str) -> Iterator[str]:
        """Yield a module, with the lines of C of all the places that it is used in."""
        source, text = self._sources[numbers[0]], self._written[numbers[0]]
        lines = sorted({line for number in numbers for line in self._written[number].lines})
        shared = len({self._written[number].body for number in numbers}) > 1
        if source.component is not None:
            yield from (f"// {line}" for line in heading(source.component))
        if lines:
            yield f"// From {self._file}, {_spelled(lines)}."
        yield f"module {name} ("
        yield from indented(self._ports(source, text))
        yield ");"
        for line in text.body:
            # Of several lines of C, none is the one.
            shown = SOURCE.sub("", line) if shared else line
            yield _PLACE.sub(lambda match: self._names[int(match[1])], shown)
        yield "endmodule"

    def _ports(self, source: ModuleSource, text: ModuleText) -> Iterator[str]:
        rows = []
        for port in text.ports:
            kind = f"{port.direction} {'reg' if port.name in text.registered else 'wire'}"
            comment = CLOCK_COMMENTS.get(port.name, "") if source.parent is None else ""
            if not comment and source.component is not None:
                comment = port_comment(source.component, port.member)
            rows.append((kind, len(port.nets), port.name, comment))
        yield from port_table(rows)


CLOCK_COMMENTS = {"clk": "every register uses its rising edge", "rst": "synchronous, active high"}


def _spelled(lines: Sequence[int]) -> str:
    """Return line numbers as text, neighbours as a range."""
    ranges: list[list[int]] = []
    for line in lines:
        if ranges and line == ranges[-1][1] + 1:
            ranges[-1][1] = line
        else:
            ranges.append([line, line])
    shown = ", ".join(str(a) if a == b else f"{a} to {b}" for a, b in ranges)
    return f"line {shown}" if len(lines) == 1 else f"lines {shown}"
