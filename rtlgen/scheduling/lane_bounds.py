"""What the lanes of a loop wait for, and what one lane more would cost: by array and line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rtlgen.ir.plan import KernelPlan, LoadOp
from rtlgen.ir.scop import Scop, Statement
from rtlgen.poly.dependences import Dataflow
from rtlgen.poly.describe import access_text
from rtlgen.transforms.units import Unit


def lane_bounds(
    scop: Scop, units: Sequence[Unit], flows: Dataflow, plan: KernelPlan
) -> tuple[str, ...]:
    """Return a sentence for each recurrence along lanes, and each array that lanes need copies of.

    Parameters
    ----------
    scop: the unrolled program, normalised; units, flows: of it.
    """
    return (*_recurrences(scop, units, flows), *_copies(scop, plan))


def _lanes(scop: Scop) -> dict[tuple[str, int, int], list[str]]:
    """Return the statements that are lanes of one statement of the C program."""
    found: dict[tuple[str, int, int], list[str]] = {}
    for statement in scop.statements:
        found.setdefault(_origin(statement), []).append(statement.name)
    return found


def _origin(statement: Statement) -> tuple[str, int, int]:
    return statement.span.file, statement.span.line, statement.span.column


def _recurrences(scop: Scop, units: Sequence[Unit], flows: Dataflow) -> Iterator[str]:
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
