"""Bring a netlist into the form that is written down: operators, registers, memories.

What drives combinational signals in Amaranth, lists of assignments under conditions, becomes
multiplexers; those of registers stay what they are, since they are written as statements. Constants
are folded, what is there twice in a module is merged, what nobody looks at goes, and sums lose the
upper bits that have no reader. Each of these is linear in the size of the netlist.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from amaranth.hdl import _nir as nir

from rtlgen.output.verilog_text.folding import BITWISE, LOW_TO_HIGH, Rewritten, fold
from rtlgen.output.verilog_text.netlist import (
    TOP,
    Net,
    Netlist,
    Nets,
    Run,
    behind_drivers,
    bit_of,
    cell_of,
    constant_nets,
    is_constant,
    net_of,
)

_COMBINATIONAL = (
    nir.Operator,
    nir.Part,
    nir.Matches,
    nir.PriorityMatch,
    nir.AssignmentList,
    nir.AsyncReadPort,
)


class UnknownCellError(Exception):
    """A cell that no circuit of this project has, and that has no form in Verilog here."""


def simplify(netlist: Netlist) -> Simplified:
    """Simplify a netlist in place."""
    return Simplified(netlist)


class Simplified:
    """A netlist that has been simplified.

    Members
    -------
    netlist: with the cells that are left; those that are not live hold anything.
    live: numbers of the cells that are written down.
    statements: of the registers whose next value is a list of assignments.
    """

    def __init__(self, netlist: Netlist) -> None:
        self.netlist = netlist
        self._replaced: dict[Net, Net] = {}
        self._made: dict[tuple[object, ...], Nets] = {}
        self.statements = dict(self._statement_lists())
        lists = set(self.statements.values())
        self._is_list = lists
        self.live: dict[int, int] = {}
        numbers = self._in_order()
        known = -1
        while len(self._replaced) != known:
            # A sum that has lost its upper bits may be a constant, or the same as another one.
            known = len(self._replaced)
            self._made.clear()
            for number in numbers:
                self._visit(number)
            self._resolve_rest()
            self._find_live()
            for number in self.live:
                self._narrow(number)
            numbers = [number for number in self._in_order() if number in self.live]

    def resolved(self, net: Net) -> Net:
        """Return the net that stands for another one."""
        found = net
        while found in self._replaced:
            found = self._replaced[found]
        while net != found:
            self._replaced[net], net = found, self._replaced[net]
        return found

    def nets(self, nets: Iterable[Net]) -> Nets:
        return tuple(self.resolved(int(net)) for net in nets)

    def _statement_lists(self) -> Iterator[tuple[int, int]]:
        """Yield registers, and the lists of assignments that are their next values and no more."""
        cells = self.netlist.cells
        users: dict[int, int] = {}
        for cell in cells:
            for driver in {cell_of(net) for net in cell.input_nets() if not is_constant(net)}:
                users[driver] = users.get(driver, 0) + 1
        shown = {cell_of(n) for nets in self.netlist.signals.values() for n in nets if n > 1}
        for number, cell in enumerate(cells):
            if isinstance(cell, nir.FlipFlop) and cell.data and not is_constant(cell.data[0]):
                driver = cell_of(cell.data[0])
                made = cells[driver]
                if (
                    isinstance(made, nir.AssignmentList)
                    and tuple(cell.data) == Run(driver, 0, len(made.default)).nets
                    and users[driver] == 1
                    and driver not in shown
                    and made.module_idx == cell.module_idx
                ):
                    yield number, driver

    def _in_order(self) -> list[int]:
        """Return the combinational cells, each behind those that it looks at."""
        cells = self.netlist.cells
        ours = [n for n, cell in enumerate(cells) if isinstance(cell, _COMBINATIONAL)]
        members = set(ours)

        def drivers(number: int) -> Iterator[int]:
            for net in sorted(cells[number].input_nets()):
                if not is_constant(net) and cell_of(net) in members:
                    yield cell_of(net)

        # Of those that depend on each other through different bits, any may come first.
        return behind_drivers(ours, drivers)[0]

    def _visit(self, number: int) -> None:
        cell = self.netlist.cells[number]
        match cell:
            case nir.Operator():
                inputs = tuple(self.nets(nets) for nets in cell.inputs)
                self._become(number, self._operator(cell, cell.operator, inputs, number))
            case nir.Part():
                self._become(number, self._part(cell))
            case nir.Matches():
                self._become(number, (self._matches(cell),))
            case nir.AssignmentList() if number not in self._is_list:
                self._become(number, self._multiplexers(cell))

    def _become(self, number: int, nets: Nets) -> None:
        for bit, net in enumerate(nets):
            if net != net_of(number, bit):
                self._replaced[net_of(number, bit)] = net

    def _operator(
        self, origin: Any, operator: str, inputs: tuple[Nets, ...], number: int | None = None
    ) -> Nets:
        """Return the outputs of an operator, of cell `number` if it has to be one."""
        if operator.endswith(("//", "%")):
            raise UnknownCellError(f"the operator {operator}")
        inner = self._below_not(operator, inputs) or self._implication(origin, operator, inputs)
        if inner is not None:
            return inner
        folded = fold(operator, inputs)
        if isinstance(folded, Rewritten):
            made = self._operator(origin, folded.operator, folded.inputs)
            bits = list(folded.bits) or [0]
            for place, net in zip(folded.places, made, strict=True):
                bits[place] = net
            return tuple(bits)
        if folded is not None:
            return folded
        key = (origin.module_idx, operator, inputs)
        if key not in self._made:
            width = 1 if operator in _ONE_BIT else len(inputs[operator == "m"])
            if number is None:
                values = [_value(nets) for nets in inputs]
                cell = nir.Operator(
                    origin.module_idx, operator=operator, inputs=values, src_loc=origin.src_loc
                )
                self._made[key] = self.netlist.add(cell, width)
            else:
                self.netlist.cells[number].inputs = inputs
                self._made[key] = Run(number, 0, width).nets
        return self._made[key]

    def _below_not(self, operator: str, inputs: tuple[Nets, ...]) -> Nets | None:
        """Return what is negated twice."""
        if operator != "~" or any(map(is_constant, inputs[0])):
            return None
        found = []
        for net in inputs[0]:
            cell = self.netlist.cells[cell_of(net)]
            if not isinstance(cell, nir.Operator) or cell.operator != "~":
                return None
            found.append(self.resolved(cell.inputs[0][bit_of(net)]))
        return tuple(found)

    def _implication(self, origin: Any, operator: str, inputs: tuple[Nets, ...]) -> Nets | None:
        """Return a choice of one bit that is made of a negated condition and one operator."""
        if operator != "m" or len(inputs[1]) != 1 or is_constant(inputs[0][0]):
            return None
        choice, (yes,), (no,) = inputs
        if (yes, no) in ((0, 1), (1, 0)) or (yes != 0 and no != 1):
            return None
        negated = self._operator(origin, "~", (choice,))
        return self._operator(origin, "|" if no == 1 else "&", (negated, (yes if no == 1 else no,)))

    def _part(self, cell: Any) -> Nets:
        """Return bits of a value from a place on: what a shift brings down."""
        value, offset = self.nets(cell.value), self.nets(cell.offset)
        fill = value[-1] if cell.value_signed and value else 0
        value += (fill,) * (cell.width - len(value))
        amount = offset
        if cell.stride != 1:
            width = len(offset) + cell.stride.bit_length()
            factors = offset + (0,) * (width - len(offset)), constant_nets(cell.stride, width)
            amount = self._operator(cell, "*", factors)
        operator = "s>>" if cell.value_signed else "u>>"
        return self._operator(cell, operator, (value, amount))[: cell.width]

    def _matches(self, cell: Any) -> Net:
        """Return whether a value is as one of some patterns."""
        value = self.nets(cell.value)
        found: Net = 0
        for pattern in cell.patterns:
            cared = [
                (net, int(bit))
                for net, bit in zip(value, reversed(pattern), strict=True)
                if bit != "-"
            ]
            if not cared:
                return 1
            nets, bits = zip(*cared, strict=True)
            (equal,) = self._operator(cell, "==", (nets, bits))
            (found,) = self._operator(cell, "|", ((found,), (equal,)))
        return found

    def _multiplexers(self, cell: Any) -> Nets:
        """Return what a list of assignments makes, the last one that applies before all others."""
        assignments, at = cell.assignments, 0

        def follow(condition: Net, value: Nets) -> Nets:
            """Make the assignments that stand under a condition."""
            nonlocal at
            while at < len(assignments):
                each = assignments[at]
                if each.cond == condition:
                    end = each.start + len(each.value)
                    value = value[: each.start] + self.nets(each.value) + value[end:]
                    at += 1
                    continue
                switch = self.switch_below(each.cond, condition)
                if switch is None:
                    return value
                inputs = self.netlist.cells[switch].inputs
                arms = [follow(net_of(switch, bit), value) for bit in range(len(inputs))]
                for net, arm in reversed(list(zip(inputs, arms, strict=True))):
                    choice = (self.resolved(net),)
                    value = self._operator(cell, "m", (choice, arm, value))
            return value

        return follow(1, self.nets(cell.default))

    def switch_below(self, condition: Net, outer: Net) -> int | None:
        """Return the switch just below `outer` that `condition` stands in; None if it does not."""
        for switch, _ in self.around(condition):
            if self.netlist.cells[switch].en == outer:
                return switch
        return None

    def around(self, condition: Net) -> Iterator[tuple[int, int]]:
        """Yield the switches that a condition stands in, and in which arm, the innermost first."""
        while not is_constant(condition):
            switch = cell_of(condition)
            yield switch, bit_of(condition)
            condition = self.netlist.cells[switch].en

    def _resolve_rest(self) -> None:
        """Let registers, memories and ports look at the nets that are left."""
        for number, cell in enumerate(self.netlist.cells):
            match cell:
                case nir.Operator():
                    cell.inputs = tuple(self.nets(nets) for nets in cell.inputs)
                case nir.FlipFlop():
                    if number not in self.statements:
                        cell.data = self.nets(cell.data)
                    cell.clk = self.resolved(cell.clk)
                    if cell.arst != 0 or cell.clk_edge != "pos":
                        raise UnknownCellError("a register with another clock or reset")
                case nir.AssignmentList():
                    cell.default = self.nets(cell.default)
                    for assignment in cell.assignments:
                        assignment.value = self.nets(assignment.value)
                case nir.SyncWritePort():
                    cell.addr, cell.data = self.nets(cell.addr), self.nets(cell.data)
                    cell.en, cell.clk = self.nets(cell.en), self.resolved(cell.clk)
                case nir.SyncReadPort():
                    cell.addr, cell.en = self.nets(cell.addr), self.resolved(cell.en)
                    cell.clk = self.resolved(cell.clk)
                case nir.AsyncReadPort():
                    cell.addr = self.nets(cell.addr)
                case nir.Top() | nir.Part() | nir.Matches() | nir.PriorityMatch() | nir.Memory():
                    pass
                case _:
                    raise UnknownCellError(f"a cell of the kind {type(cell).__name__}")
        for name, nets in self.netlist.outputs.items():
            self.netlist.outputs[name] = self.nets(nets)

    def case_value(self, switch: int) -> Nets | None:
        """Return the value whose patterns a switch tells apart, where it has two and more.

        None where the arms have to be looked at in order, or some of them is known to be taken.
        """
        cells = self.netlist.cells
        inputs = cells[switch].inputs
        tested = inputs[:-1] if is_constant(inputs[-1]) else inputs
        if len(tested) < 2 or any(map(is_constant, tested)):
            return None
        tests = [cells[cell_of(net)] for net in tested]
        patterns = [pattern for test in tests for pattern in test.patterns]
        values = {self.nets(test.value) for test in tests}
        if len(values) > 1 or len(set(patterns)) < len(patterns) or "-" in "".join(patterns):
            return None
        (value,) = values
        return value if len(value) > 1 and not any(map(is_constant, value)) else None

    def tested_by(self, switch: int, bit: int) -> Iterator[Net]:
        """Yield what arm `bit` of a switch looks at."""
        value = self.case_value(switch)
        if value is not None:
            yield from value
            return
        for net in self.netlist.cells[switch].inputs[: bit + 1]:
            yield self.resolved(net)

    def looked_at(self, number: int) -> Iterable[Net]:
        """Return the nets that a live cell depends on."""
        cell = self.netlist.cells[number]
        match cell:
            case nir.Operator():
                return [net for nets in cell.inputs for net in nets]
            case nir.FlipFlop() if number in self.statements:
                return self._stated(cell, self.statements[number], slice(0, len(cell.data)))
            case nir.FlipFlop():
                return (*cell.data, cell.clk)
            case _:
                found: Iterable[Net] = cell.input_nets()
                return found

    def _find_live(self) -> None:
        """Fill `live`: of each cell that somebody looks at, its outputs that are looked at."""
        self.live.clear()
        writes: dict[int, list[int]] = {}
        for number, cell in enumerate(self.netlist.cells):
            if isinstance(cell, nir.SyncWritePort):
                writes.setdefault(cell.memory, []).append(number)
        work: list[Net] = [net for nets in self.netlist.outputs.values() for net in nets]
        while work:
            net = work.pop()
            if is_constant(net) or cell_of(net) == TOP:
                continue
            number, bit = cell_of(net), 1 << bit_of(net)
            seen = self.live.get(number, 0)
            if seen & bit:
                continue
            self.live[number] = seen | bit
            cell = self.netlist.cells[number]
            work += self._inputs_of(number, cell, bit_of(net), seen)
            if (
                isinstance(cell, nir.SyncReadPort | nir.AsyncReadPort)
                and cell.memory not in self.live
            ):
                self.live[cell.memory] = 0
                for port in writes.get(cell.memory, ()):
                    self.live[port] = 0
                    write = self.netlist.cells[port]
                    work += [*write.addr, *write.data, *write.en, write.clk]

    def _inputs_of(self, number: int, cell: Any, bit: int, seen: int) -> Iterable[Net]:
        """Return what output `bit` of a cell depends on, where others have been `seen`."""
        # What is written down begins at bit 0: an output needs the lower ones, too.
        new = slice(seen.bit_length(), bit + 1)
        match cell:
            case nir.Operator(operator="m"):
                choice, yes, no = cell.inputs
                return (*choice, *yes[new], *no[new])
            case nir.Operator(operator="<<"):
                value, amount = cell.inputs
                return (*amount, *value[new])
            case nir.Operator(operator=operator) if operator in BITWISE | LOW_TO_HIGH:
                return [net for nets in cell.inputs for net in nets[new]]
            case nir.FlipFlop() if number in self.statements:
                return self._stated(cell, self.statements[number], new)
            case nir.FlipFlop():
                return (*cell.data[new], cell.clk)
            case _:
                return () if seen else self.looked_at(number)

    def _stated(self, register: Any, number: int, new: slice) -> Iterator[Net]:
        """Yield what bits of a register depend on whose next value is a list of assignments."""
        made = self.netlist.cells[number]
        yield from (register.clk, *made.default[new])
        for each in made.assignments:
            if each.start < new.stop:
                yield from each.value[max(0, new.start - each.start) : new.stop - each.start]
                for switch, bit in self.around(each.cond):
                    yield from self.tested_by(switch, bit)

    def _narrow(self, number: int) -> None:
        """Cut the upper outputs off that nobody looks at."""
        cell, width = self.netlist.cells[number], self.live[number].bit_length()
        match cell:
            case nir.Operator(operator="m"):
                choice, yes, no = cell.inputs
                cell.inputs = (choice, yes[:width], no[:width])
            case nir.Operator(operator="<<"):
                cell.inputs = (cell.inputs[0][:width], cell.inputs[1])
            case nir.Operator(operator=op) if op in BITWISE | LOW_TO_HIGH:
                cell.inputs = tuple(nets[:width] for nets in cell.inputs)
            case nir.FlipFlop() if width < len(cell.data):
                cell.init &= (1 << width) - 1
                cell.data = tuple(cell.data)[:width]
                if number in self.statements:
                    made = self.netlist.cells[self.statements[number]]
                    made.default = made.default[:width]
                    made.assignments = tuple(
                        nir.Assignment(
                            cond=each.cond,
                            start=each.start,
                            value=_value(each.value[: width - each.start]),
                            src_loc=each.src_loc,
                        )
                        for each in made.assignments
                        if each.start < width
                    )


_ONE_BIT = frozenset(
    ("b", "r|", "r&", "r^", "==", "!=", "u<", "s<", "u>", "s>", "u<=", "s<=", "u>=", "s>=")
)


def _value(nets: Nets) -> Any:
    return nir.Value(nir.Net(net) for net in nets)


def is_combinational(cell: Any) -> bool:
    """Whether a cell is written as an expression."""
    return isinstance(cell, nir.Operator | nir.AsyncReadPort)
