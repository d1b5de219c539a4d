"""The netlist of a component, as Amaranth makes it, and what its modules are about.

A *net* is a bit: 0 and 1 are the constants, any other number holds the cell that drives it and the
number of the bit in that cell's output. The netlist is flat; modules are how it is written down.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from amaranth.hdl import Fragment, Value
from amaranth.hdl import _nir as nir
from amaranth.hdl._ir import PortDirection, build_netlist
from amaranth.lib import wiring
from amaranth.lib.wiring import In

Net: TypeAlias = int
Nets: TypeAlias = tuple[Net, ...]

_CELL_SHIFT = 16
_BIT_MASK = (1 << _CELL_SHIFT) - 1
TOP = 0
"""The number of the top module, and of the cell whose outputs are its input ports."""


def net_of(cell: int, bit: int) -> Net:
    """Return an output bit of a cell."""
    return cell << _CELL_SHIFT | bit


def cell_of(net: Net) -> int:
    """Return the cell that drives a net, no constant."""
    return net >> _CELL_SHIFT


def bit_of(net: Net) -> int:
    """Return the number of a net among the outputs of its cell."""
    return net & _BIT_MASK


def is_constant(net: Net) -> bool:
    return net < 2


def constant_nets(value: int, width: int) -> Nets:
    return tuple(value >> bit & 1 for bit in range(width))


def constant_of(nets: Nets) -> int | None:
    """Return the number that constant nets make, None if some net is none."""
    if any(net > 1 for net in nets):
        return None
    return sum(net << bit for bit, net in enumerate(nets))


@dataclass(frozen=True, slots=True)
class Run:
    """Neighbouring outputs of one cell: `width` of them from bit `low` on."""

    cell: int
    low: int
    width: int

    @property
    def nets(self) -> Nets:
        first = net_of(self.cell, self.low)
        return tuple(range(first, first + self.width))


@dataclass(frozen=True, slots=True)
class Constant:
    """Constant bits: `width` of them."""

    value: int
    width: int


@dataclass(frozen=True, slots=True)
class Repeated:
    """One net, `width` times."""

    net: Net
    width: int


def pieces(nets: Nets) -> Iterator[Run | Constant | Repeated]:
    """Yield what a value is put together from, the lowest bits first."""
    at = 0
    while at < len(nets):
        first, end = nets[at], at + 1
        if is_constant(first):
            while end < len(nets) and is_constant(nets[end]):
                end += 1
            value = sum(net << bit for bit, net in enumerate(nets[at:end]))
            yield Constant(value, end - at)
        elif end < len(nets) and nets[end] == first:
            while end < len(nets) and nets[end] == first:
                end += 1
            yield Repeated(first, end - at)
        else:
            while end < len(nets) and nets[end] == first + end - at:
                # The last bit of a run may be the first of a repetition, which begins behind it.
                end += 1
            yield Run(cell_of(first), bit_of(first), end - at)
        at = end


@dataclass(frozen=True, slots=True, eq=False)
class ModuleSource:
    """Where a module of the netlist comes from.

    Members
    -------
    path: names of the instances from the top on. parent: number of the module around it.
    component: whose circuit it is; None where it is of no component.
    members: names of the component's ports, with their signals.
    """

    path: tuple[str, ...]
    parent: int | None
    component: wiring.Component | None
    members: Mapping[str, Any]


@dataclass(frozen=True, slots=True, eq=False)
class Netlist:
    """A flat netlist and its modules.

    Members
    -------
    cells: by number, Amaranth's. signals: the nets of each signal; of its own types.
    modules: by number. names: of each module, its signals with their names.
    outputs: the ports of the top. inputs: the same, as runs of cell 0.
    """

    cells: list[Any]
    signals: Any
    modules: tuple[ModuleSource, ...]
    names: tuple[Any, ...]
    inputs: Mapping[str, Run]
    outputs: dict[str, Nets]

    def output_width(self, cell: int) -> int:
        """Return how many outputs a cell has."""
        return width_of(self.cells[cell])

    def run_of(self, cell: int) -> Run:
        return Run(cell, 0, self.output_width(cell))

    def add(self, cell: Any, width: int) -> Nets:
        """Add a cell, and return its outputs."""
        self.cells.append(cell)
        return Run(len(self.cells) - 1, 0, width).nets


def width_of(cell: Any) -> int:
    """Return how many outputs a cell has that is none of the ports."""
    match cell:
        case nir.Operator() | nir.Part() | nir.AsyncReadPort() | nir.SyncReadPort():
            return int(cell.width)
        case nir.FlipFlop():
            return len(cell.data)
        case nir.AssignmentList():
            return len(cell.default)
        case nir.PriorityMatch():
            return len(cell.inputs)
        case nir.Matches():
            return 1
        case _:
            return 0


def netlist_of(component: wiring.Component, top: str) -> Netlist:
    """Return the netlist of a component."""
    ports = {
        "__".join(map(str, path)): (
            Value.cast(value),
            PortDirection.Input if member.flow == In else PortDirection.Output,
        )
        for path, member, value in component.signature.flatten(component)
    }
    design = Fragment.get(component, None).prepare(ports=ports, hierarchy=(top,))
    made = build_netlist(design)
    sources = {info.name: fragment for fragment, info in design.fragments.items()}
    modules = tuple(_source(module, sources[module.name]) for module in made.modules)
    inputs = {name: Run(TOP, start, width) for name, (start, width) in made.top.ports_i.items()}
    return Netlist(
        made.cells,
        made.signals,
        modules,
        tuple(module.signal_names for module in made.modules),
        inputs,
        {name: tuple(nets) for name, nets in made.top.ports_o.items()},
    )


def _source(module: Any, fragment: Any) -> ModuleSource:
    origins: Iterable[object] = fragment.origins or ()
    component = next((each for each in origins if isinstance(each, wiring.Component)), None)
    members = {}
    if component is not None:
        for path, _, value in component.signature.flatten(component):
            members["__".join(map(str, path))] = Value.cast(value)
    return ModuleSource(tuple(module.name), module.parent, component, members)


def behind_drivers(
    roots: Iterable[int], drivers: Callable[[int], Iterator[int]]
) -> tuple[list[int], set[int]]:
    """Return cells, each behind those that drive it; and those that cannot be.

    The latter depend on themselves through different bits.
    """
    done, open_, late = set[int](), set[int](), set[int]()
    ordered: list[int] = []
    for root in roots:
        if root in done:
            continue
        stack = [(root, drivers(root))]
        open_.add(root)
        while stack:
            number, inputs = stack[-1]
            for driver in inputs:
                if driver in open_:
                    late.add(driver)
                elif driver not in done:
                    open_.add(driver)
                    stack.append((driver, drivers(driver)))
                    break
            else:
                stack.pop()
                open_.discard(number)
                done.add(number)
                ordered.append(number)
    return ordered, late
