"""Which nets are ports of a module, and which registers are written together in it.

Registers that are written together: the if, else and case that their values come from.
"""

from __future__ import annotations

from collections.abc import Container, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TypeAlias

from rtlgen.output.verilog_text.netlist import (
    TOP,
    Net,
    Netlist,
    Nets,
    Run,
    cell_of,
    constant_of,
    is_constant,
)
from rtlgen.output.verilog_text.simplify import Simplified


@dataclass(frozen=True, slots=True)
class Crossing:
    """The nets that cross the border of a module."""

    inputs: frozenset[Net]
    outputs: frozenset[Net]


def crossings_of(simplified: Simplified) -> tuple[Crossing, ...]:
    """Return what crosses the border of every module, by number."""
    netlist = simplified.netlist
    above = _above(netlist)
    inputs: list[set[Net]] = [set() for _ in netlist.modules]
    outputs: list[set[Net]] = [set() for _ in netlist.modules]

    def use(nets: Iterable[Net], user: int) -> None:
        for net in nets:
            if is_constant(net):
                continue
            driver = netlist.cells[cell_of(net)].module_idx
            if driver == user:
                continue
            at = user
            while at not in above[driver] and net not in inputs[at]:
                inputs[at].add(net)
                at = above[at][1]
            if at in above[driver]:
                below = driver
                while below != at:
                    outputs[below].add(net)
                    below = above[below][1]

    for number in simplified.live:
        use(simplified.looked_at(number), netlist.cells[number].module_idx)
    for nets in netlist.outputs.values():
        use(nets, TOP)
    return tuple(
        Crossing(frozenset(ins), frozenset(outs)) for ins, outs in zip(inputs, outputs, strict=True)
    )


def _above(netlist: Netlist) -> list[Sequence[int]]:
    """Return for each module itself and those around it, the innermost first."""
    above: list[Sequence[int]] = []
    for number, module in enumerate(netlist.modules):
        # A module comes behind the one around it.
        around = () if module.parent is None else above[module.parent]
        above.append((number, *around))
    return above


def grouped(nets: frozenset[Net], words: Iterable[Nets], starts: Container[Net]) -> Iterator[Nets]:
    """Yield nets as the words that they belong to; what belongs to none as runs of neighbours.

    Parameters
    ----------
    words: the first one that a net is in counts. starts: no run goes on with one of these.
    """
    left = set(nets)
    for word in words:
        kept = _without_top_constants(word)
        if kept and len(set(kept)) == len(kept) and left.issuperset(kept):
            left.difference_update(kept)
            yield kept
    ordered = sorted(left)
    cuts = [n for n, (a, b) in enumerate(pairwise(ordered), 1) if b != a + 1 or b in starts]
    for start, end in pairwise((0, *cuts, len(ordered)) if ordered else ()):
        yield tuple(ordered[start:end])


def _without_top_constants(nets: Nets) -> Nets:
    end = len(nets)
    while end and is_constant(nets[end - 1]):
        end -= 1
    return nets[:end]


@dataclass(frozen=True, slots=True)
class Assign:
    """`register[low +: len(nets)] <= nets`."""

    register: int
    low: int
    nets: Nets


@dataclass(frozen=True, slots=True)
class If:
    """Arms of which the first one is taken whose conditions hold all.

    Members
    -------
    arms: conditions, each a net and the value that it must have, and what is done; none: else.
    """

    arms: tuple[tuple[tuple[tuple[Net, bool], ...], Body], ...]


@dataclass(frozen=True, slots=True)
class Case:
    """The arm whose patterns hold `value`; the one without patterns where none does."""

    value: Nets
    arms: tuple[tuple[tuple[str, ...], Body], ...]


Statement: TypeAlias = Assign | If | Case
Body: TypeAlias = "tuple[Statement, ...]"


@dataclass(frozen=True, slots=True)
class Block:
    """One clocked block.

    Members
    -------
    registers: that it writes. resets: conditions, the strongest first, and the constants that the
        registers then get. body: what is done where none of them holds.
    """

    registers: tuple[int, ...]
    clock: Net
    resets: tuple[tuple[Net, tuple[Assign, ...]], ...]
    body: Body


@dataclass(slots=True)
class _Switch:
    """A switch as one register sees it: what is done in some of its arms."""

    number: int
    arms: dict[int, list[_Item]] = field(default_factory=dict)


_Item: TypeAlias = "Assign | _Switch"
_Key: TypeAlias = tuple[object, ...]


def blocks_of(simplified: Simplified, registers: Iterable[int]) -> tuple[Block, ...]:
    """Return the clocked blocks of a module's registers: one for all that have the same resets."""
    return _Planner(simplified).blocks(registers)


class _Planner:
    def __init__(self, simplified: Simplified) -> None:
        self._simplified = simplified
        self._cells = simplified.netlist.cells

    def blocks(self, registers: Iterable[int]) -> tuple[Block, ...]:
        groups: dict[_Key, list[tuple[int, list[_Item], list[Assign]]]] = {}
        for register in registers:
            items = self._items(register)
            conditions, values = self._resets(register, items)
            key = (self._cells[register].clk, *conditions)
            groups.setdefault(key, []).append((register, items, values))
        return tuple(self._block(key, members) for key, members in groups.items())

    def _block(self, key: _Key, members: list[tuple[int, list[_Item], list[Assign]]]) -> Block:
        clock, *conditions = key
        resets = [
            (condition, tuple(values[n] for _, _, values in members))
            for n, condition in enumerate(conditions)
        ]
        body = self._body([items for _, items, _ in members])
        numbers = tuple(register for register, _, _ in members)
        return Block(numbers, clock, tuple(resets), body)  # type: ignore[arg-type]

    def _items(self, register: int) -> list[_Item]:
        """Return what is done to a register, in order."""
        cell = self._cells[register]
        own = Run(register, 0, len(cell.data)).nets
        if register not in self._simplified.statements:
            return [] if tuple(cell.data) == own else [Assign(register, 0, tuple(cell.data))]
        made = self._cells[self._simplified.statements[register]]
        items: list[_Item] = []
        if made.default != own:
            items.append(Assign(register, 0, made.default))
        for each in made.assignments:
            if len(each.value):
                self._place(items, each.cond).append(
                    Assign(register, each.start, tuple(each.value))
                )
        return items

    def _place(self, items: list[_Item], condition: Net) -> list[_Item]:
        """Return where what stands under a condition belongs."""
        for switch, bit in reversed([*self._simplified.around(condition)]):
            last = items[-1] if items else None
            if not isinstance(last, _Switch) or last.number != switch:
                last = _Switch(switch)
                items.append(last)
            items = last.arms.setdefault(bit, [])
        return items

    def _resets(self, register: int, items: list[_Item]) -> tuple[list[Net], list[Assign]]:
        """Take what overrides all else with a constant off the end, the strongest first."""
        width = len(self._cells[register].data)
        conditions, values = [], []
        while items and isinstance(last := items[-1], _Switch):
            inputs = self._cells[last.number].inputs
            (arm,) = last.arms.values() if len(last.arms) == 1 else (None,)
            if len(inputs) != 1 or arm is None or len(arm) != 1:
                break
            (only,) = arm
            if (
                not isinstance(only, Assign)
                or len(only.nets) != width
                or constant_of(only.nets) is None
            ):
                break
            conditions.append(self._simplified.resolved(inputs[0]))
            values.append(only)
            items.pop()
        return conditions, values

    def _body(self, members: Sequence[Sequence[_Item]]) -> Body:
        """Return what is done to registers, those together that stand under the same switches."""
        groups: dict[tuple[_Key, ...], list[Sequence[_Item]]] = {}
        for items in members:
            key = tuple(self._key(item.number) for item in items if isinstance(item, _Switch))
            groups.setdefault(key, []).append(items)
        statements: list[Statement] = []
        for key, group in groups.items():
            parts = [_split(items) for items in group]
            for place in range(len(key) + 1):
                statements += [each for assigns, _ in parts for each in assigns[place]]
                if place < len(key):
                    switches = [found[place] for _, found in parts]
                    statements += self._switch(switches)
        return tuple(statements)

    def _key(self, switch: int) -> _Key:
        """Return what two switches that do the same have in common."""
        simplified, cell = self._simplified, self._cells[switch]
        value = simplified.case_value(switch)
        if value is not None:
            tests = (n for n in cell.inputs if not is_constant(n))
            return (value, tuple(self._cells[cell_of(n)].patterns for n in tests), len(cell.inputs))
        return simplified.nets(cell.inputs)

    def _switch(self, switches: Sequence[_Switch]) -> Iterator[Statement]:
        bits = sorted({bit for switch in switches for bit in switch.arms})
        bodies = {bit: self._body([s.arms[bit] for s in switches if bit in s.arms]) for bit in bits}
        number = switches[0].number
        inputs = self._cells[number].inputs
        value = self._simplified.case_value(number)
        if value is not None:
            yield Case(
                value,
                tuple(
                    (
                        ()
                        if is_constant(inputs[bit])
                        else self._cells[cell_of(inputs[bit])].patterns,
                        body,
                    )
                    for bit, body in bodies.items()
                ),
            )
            return
        yield from self._if(inputs, bodies)

    def _if(self, inputs: Sequence[Net], bodies: dict[int, Body]) -> Iterator[Statement]:
        arms = []
        excluded: tuple[tuple[Net, bool], ...] = ()
        for bit in range(max(bodies) + 1):
            condition = self._simplified.resolved(inputs[bit])
            body = bodies.get(bit, ())
            if condition == 0:
                continue
            if not body and condition == 1:
                break
            if not body:
                excluded += ((condition, False),)
                continue
            holds = () if condition == 1 else ((condition, True),)
            arms.append(((*excluded, *holds), body))
            if condition == 1:
                break
        if arms and not arms[0][0]:
            yield from arms[0][1]
        elif arms:
            yield If(tuple(arms))


def _split(items: Sequence[_Item]) -> tuple[list[list[Assign]], list[_Switch]]:
    """Return the assignments before, between and behind the switches, and these."""
    assigns: list[list[Assign]] = [[]]
    switches = []
    for item in items:
        if isinstance(item, Assign):
            assigns[-1].append(item)
        else:
            switches.append(item)
            assigns.append([])
    return assigns, switches
