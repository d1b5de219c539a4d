"""Plans of a few instances, made by hand, in which each part can be moved to where a rule ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.levels import Address
from rtlgen.ir.plan import (
    ALWAYS,
    Condition,
    IndexForm,
    KernelPlan,
    Level,
    LoadOp,
    Memory,
    Predicate,
    Region,
    Stream,
)
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.schedule import FlatDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import Scop
from rtlgen.judges.replay import replay
from rtlgen.options import CompileOptions


@dataclass(frozen=True, slots=True)
class Toy:
    """A plan with what its judge is told of the program."""

    plan: KernelPlan
    scop: Scop
    placed: Schedule

    def verdict(self) -> str | None:
        """Return what the judge finds, without the name of the plan, or None."""
        try:
            assert replay(self.plan, self.scop, self.scop.schedule, self.placed)
        except PlanUnsound as error:
            return error.diagnostic.message.removeprefix("the plan of f is not sound: ")
        return None

    def with_regions(self, *regions: Sequence[Stream]) -> Toy:
        """Return the plan with these streams, each region ending with the last of its stores."""
        whole = tuple(Region.whole(tuple(streams)) for streams in regions)
        return replace(self, plan=replace(self.plan, body=whole))

    def with_memory(self, name: str, **changes: object) -> Toy:
        """Return the plan with a memory changed."""
        memories: tuple[Memory, ...] = tuple(
            replace(m, **changes) if m.name == name else m  # type: ignore[arg-type]
            for m in self.plan.memories
        )
        return replace(self, plan=replace(self.plan, memories=memories))


def toy(text: str, **options: object) -> Toy:
    """Return the plan that the compiler makes."""
    made = compile_program(
        parse_text(text, "program.c"),
        CompileOptions(**options),  # type: ignore[arg-type]
    )
    return Toy(made.plan, made.analysis.scop, made.stages["flatten"].schedule)


def padded(given: Toy, before: int, after: int) -> Toy:
    """Return the plan of one-loop statements with padding around the iterations of each.

    What a stream does, it still does in its real iterations only.
    """
    streams = tuple(_padded(stream, before, after) for stream in given.plan.streams)
    dims = {
        stream.statement: (
            FlatDim((NestLoop("i", stream.levels[0].extent, own.at - before),)),
            ScalarDim(place),
        )
        for place, stream in enumerate(streams)
        for own in given.placed.loops(stream.statement)
    }
    return replace(given, placed=Schedule(dims)).with_regions(streams)


def _padded(stream: Stream, before: int, after: int) -> Stream:
    (level,) = stream.levels
    real = Predicate(
        (
            (
                Condition(IndexForm((1,), -before)),
                Condition(IndexForm((-1,), before + level.extent - 1)),
            ),
        )
    )
    operations = tuple(
        replace(op, address=_moved(op.address, before), needed=real)
        if isinstance(op, LoadOp) and op.address is not None
        else op
        for op in stream.operations
    )
    assert stream.store.address is not None
    store = replace(stream.store, address=_moved(stream.store.address, before), when=real)
    return replace(
        stream,
        levels=(Level(level.extent + before + after, level.name),),
        operations=operations,
        store=store,
    )


def _moved(form: Address, before: int) -> IndexForm:
    assert isinstance(form, IndexForm)
    (step,) = form.coefficients
    return replace(form, constant=form.constant - step * before)


def with_load(stream: Stream, number: int = 0, **changes: object) -> Stream:
    """Return a stream with one of its loads changed."""
    places = [n for n, op in enumerate(stream.operations) if isinstance(op, LoadOp)]
    place = places[number]
    op = replace(stream.operations[place], **changes)  # type: ignore[arg-type]
    return replace(
        stream, operations=(*stream.operations[:place], op, *stream.operations[place + 1 :])
    )


def always_loading(stream: Stream) -> Stream:
    return with_load(stream, needed=ALWAYS)


def always_storing(stream: Stream) -> Stream:
    return replace(stream, store=replace(stream.store, when=ALWAYS))
