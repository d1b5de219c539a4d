"""What ports cost: cycles that stores take at least, and what the lanes of a loop wait for.

What the write ports of an array ask for: a store a port and cycle, whatever the order is.

What the lanes of a loop wait for, and what one lane more would cost: by array and line.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from rtlgen.ir.effort import advising
from rtlgen.ir.plan import KernelPlan, LoadOp, Stream, banks_named
from rtlgen.ir.scop import Scop, Statement
from rtlgen.ir.sets import ScopSets
from rtlgen.memories.banks import other_partition
from rtlgen.memories.forwarding import Routing
from rtlgen.memories.ports import MAX_BANK_WRITE_PORTS, MAX_WRITE_PORTS
from rtlgen.poly.counting import count_points
from rtlgen.poly.dependences import Dataflow, access_text
from rtlgen.transforms.units import Unit

SHOWN_STATEMENTS = 4
"""Statements that are named; of more, the first ones and the last."""


@dataclass(frozen=True, slots=True)
class StoreBound:
    """A write port through which more is stored than the longest statement has instances.

    Members
    -------
    memory, write_ports: the array, and all the ports that a bank of it has.
    bank: of the port; None where the array has but one.
    other: options that cut the array as its accesses ask for, where it is not.
    statements, lines: who stores through this one, and where they stand.
    stores: how often.
    """

    memory: str
    write_ports: int
    statements: tuple[str, ...]
    lines: tuple[int, ...]
    stores: int
    bank: int | None = None
    other: str | None = None

    def text(self) -> str:
        """Return what this means, and what more ports would cost."""
        names = list(self.statements)
        if len(names) > SHOWN_STATEMENTS:
            names[SHOWN_STATEMENTS - 1 : -1] = [".."]
        where = f"line{'s' if len(self.lines) > 1 else ''} {', '.join(map(str, self.lines))}"
        port = "its one write port" if self.write_ports == 1 else "one of its write ports"
        what = "the whole array"
        if self.bank is not None:
            port = f"{'the' if self.write_ports == 1 else 'a'} write port of its bank {self.bank}"
            what = "every bank"
        most = MAX_WRITE_PORTS if self.bank is None else MAX_BANK_WRITE_PORTS
        banks = "" if self.other is None else f",\n  and {self.other} fits its subscripts"
        return (
            f"{self.memory}: {' '.join(names)} ({where}) store {self.stores:,} times "
            f"through {port}, in as many cycles;\n  each port more is a copy of {what}, "
            f"{most} are the most{banks}"
        )


def fewest_cycles(sets: ScopSets) -> int:
    """Return cycles that a program takes in all nests, with any ports: one for each instance.

    A statement begins one in a cycle. Stores of one element are in different cycles, too, and some
    element has as many as there are of each.
    """
    scop = sets.scop
    counts = {s.name: count_points(sets.domains[s.name]) for s in scop.statements}
    stores: dict[str, int] = {}
    for statement in scop.statements:
        array = statement.write.array
        stores[array] = stores.get(array, 0) + counts[statement.name]
    of_one = (-(-count // scop.array(name).depth) for name, count in stores.items())
    return max(*counts.values(), *of_one)


def store_bounds(plan: KernelPlan, scop: Scop, routing: Routing) -> list[StoreBound]:
    """Return the write ports that keep the plan from being as short as its longest statement.

    Parameters
    ----------
    scop: the program that it is the plan of.
    """
    users: dict[tuple[str, int, int], list[Stream]] = {}
    for stream in plan.streams:
        store = stream.store
        banks = (0,) if store.address is None else banks_named(store.address)
        # How often one goes to each of several banks is not counted: the bound is true without it.
        if plan.memory(store.memory).kind == "block" and len(banks) == 1:
            users.setdefault((store.memory, store.port, banks[0]), []).append(stream)
    found = []
    for (memory, _, bank), streams in users.items():
        # Not every instance stores, but counting those that do takes time.
        if sum(stream.instances for stream in streams) <= plan.floor_iterations:
            continue
        stores = 0
        # A reason that takes too long to find is left out: the plan is as good without it.
        with advising():
            stores = _stores(streams, routing)
        if stores > plan.floor_iterations:
            names = tuple(stream.statement for stream in streams)
            places = tuple(sorted({scop.statement(name).span.line for name in names}))
            ports = plan.memory(memory).write_ports
            of_bank = bank if plan.memory(memory).cuts else None
            other = other_partition(scop, memory) if plan.memory(memory).cuts else None
            found.append(StoreBound(memory, ports, names, places, stores, of_bank, other))
    return found


def _stores(streams: Sequence[Stream], routing: Routing) -> int:
    return sum(count_points(routing.stored[stream.statement]) for stream in streams)


def lane_bounds(
    scop: Scop, units: Sequence[Unit], flows: Dataflow, plan: KernelPlan
) -> tuple[str, ...]:
    """Return a sentence for each recurrence along lanes, and each array that lanes need copies of.

    Parameters
    ----------
    scop: the unrolled program, normalised; units, flows: of it.
    """
    return (*recurrences(scop, units, flows), *_copies(scop, plan))


def _lanes(scop: Scop) -> dict[tuple[str, int, int], list[str]]:
    """Return the statements that are lanes of one statement of the C program."""
    found: dict[tuple[str, int, int], list[str]] = {}
    for statement in scop.statements:
        found.setdefault(_origin(statement), []).append(statement.name)
    return found


def _origin(statement: Statement) -> tuple[str, int, int]:
    return statement.span.file, statement.span.line, statement.span.column


def recurrences(scop: Scop, units: Sequence[Unit], flows: Dataflow) -> Iterator[str]:
    """Yield a sentence for each recurrence along lanes; see `lane_bounds`."""
    lanes = _lanes(scop)
    told = set[tuple[tuple[str, int, int], int]]()
    for flow in flows.flows:
        sink = scop.statement(flow.sink)
        origin = _origin(sink)
        is_between = flow.source != flow.sink and flow.source in lanes[origin]
        if not is_between or (origin, flow.sink_read) in told:
            continue
        if any({flow.source, flow.sink} <= set(unit.statements) for unit in units):
            told.add((origin, flow.sink_read))
            read = sink.reads[flow.sink_read]
            yield (
                f"the lanes of line {sink.span.line} take turns: {access_text(scop, read)} in one "
                "is what another one has just computed,\n  so more lanes save no cycles"
            )


def _copies(scop: Scop, plan: KernelPlan) -> Iterator[str]:
    for memory in plan.memories:
        if memory.read_ports < 2 or memory.kind != "block":
            continue
        lines = sorted(
            {
                scop.statement(stream.statement).reads[op.read].span.line
                for stream in plan.streams
                for op in stream.operations
                if isinstance(op, LoadOp) and op.memory == memory.name
            }
        )
        where = f"line{'s' if len(lines) > 1 else ''} {', '.join(map(str, lines))}"
        if memory.part is not None:
            name, what = memory.part.array, "a part of it"
        else:
            name, what = memory.name, "each bank" if memory.cuts else "it"
        yield (
            f"{name}: {memory.read_ports} elements of {what} are read in one cycle "
            f"({where}), from as many copies"
        )
