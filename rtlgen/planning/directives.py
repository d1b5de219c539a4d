"""What options and pragmas together ask of loops and arrays: an option comes before a pragma.

A pragma is text of somebody who may have had another tool in mind: one that cannot be followed is
named by a warning, and the program is built without it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from rtlgen.errors import Diagnostic
from rtlgen.frontend import (
    HlsPragma,
    ParsedProgram,
    PartitionPragma,
    PipelinePragma,
    UnrollPragma,
    not_followed,
)
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, note_limit
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.scop import Loop, LoopNode, Scop, statements_under, walk_tree
from rtlgen.memories.banks import PartitionUnsuitable, UnknownPartition, partition
from rtlgen.options import CompileOptions, PartitionWish
from rtlgen.scheduling.errors import BankUnknown
from rtlgen.source import Span
from rtlgen.transforms.lanes import LaneWishes, NotUnrollable, loop_names, place_of, unroll

NO_LOOP = "no loop of it is built"
"""Why a pragma is not followed whose loop the program has no more."""


@dataclass(frozen=True, slots=True)
class Directives:
    """What is asked of loops and arrays, and can be done.

    Members
    -------
    partitions: how arrays are cut into banks, by name. pragmas: those that are followed.
    warnings: about the others.
    """

    lanes: LaneWishes
    partitions: Mapping[str, tuple[PartitionWish, ...]]
    pragmas: tuple[HlsPragma, ...] = ()
    warnings: tuple[Diagnostic, ...] = ()


def directives(program: ParsedProgram, options: CompileOptions) -> Directives:
    """Return what options and pragmas ask for.

    Raises
    ------
    UnknownLoop, NotUnrollable: about the options.
    """
    collected = _Collected(program.scop, options)
    for pragma in program.pragmas:
        why = collected.refusal(pragma)
        if why is None:
            collected.followed.append(pragma)
        else:
            collected.warnings.append(not_followed(pragma.text, pragma.span, why))
    return Directives(
        collected.lanes,
        collected.partitions,
        tuple(collected.followed),
        tuple(collected.warnings),
    )


def without_dead_loops(options: CompileOptions, written: Scop, live: Scop) -> CompileOptions:
    """Return options that ask nothing of loops whose statements are all dead, and note these.

    Parameters
    ----------
    written, live: the program with and without its dead statements.
    """
    gone = loop_names(written) - loop_names(live)
    for flag, names in (("--unroll", options.unroll), ("--pipeline", options.pipeline)):
        for name in gone.intersection(names):
            note_limit(f"{flag} {name}: nothing in this loop is ever seen, and it is left out")
    return replace(
        options,
        unroll={name: lanes for name, lanes in options.unroll.items() if name not in gone},
        pipeline=tuple(name for name in options.pipeline if name not in gone),
    )


def to_blame(
    error: TooComplex | BankContended | BankUnknown, followed: Sequence[HlsPragma]
) -> tuple[HlsPragma, ...]:
    """Return those of the pragmas that were followed without which there may be a plan.

    Of banks that cannot be those are the pragmas which ask for them, and otherwise those for lanes,
    which make the program larger, before all others.
    """
    lanes = tuple(pragma for pragma in followed if not isinstance(pragma, PartitionPragma))
    if isinstance(error, TooComplex):
        return lanes or tuple(followed)
    banks = tuple(
        pragma
        for pragma in followed
        if isinstance(pragma, PartitionPragma) and pragma.array == error.array
    )
    return banks or lanes


def without_pragmas(
    program: ParsedProgram, pragmas: Collection[HlsPragma], why: str
) -> ParsedProgram:
    """Return the program with warnings in place of some of its pragmas."""
    warnings = (not_followed(pragma.text, pragma.span, why) for pragma in pragmas)
    return replace(
        program,
        pragmas=tuple(pragma for pragma in program.pragmas if pragma not in pragmas),
        warnings=(*program.warnings, *warnings),
    )


def interval_warnings(
    pragmas: Iterable[HlsPragma], unrolled: Scop, plan: KernelPlan
) -> tuple[Diagnostic, ...]:
    """Return warnings about loops whose iterations begin in other intervals than was asked for.

    Parameters
    ----------
    pragmas: those that are followed. unrolled: the program that the plan is for, in lanes.
    """
    found = []
    for pragma in pragmas:
        if isinstance(pragma, PipelinePragma) and pragma.interval_cycles is not None:
            why = _other_interval(pragma, pragma.interval_cycles, unrolled, plan)
            if why is not None:
                found.append(not_followed(pragma.text, pragma.span, why))
    return tuple(found)


def _other_interval(
    pragma: PipelinePragma, asked: int, unrolled: Scop, plan: KernelPlan
) -> str | None:
    """Return in which interval a loop or the function begins again, if not in the one asked for."""
    if pragma.loop is None:
        cycles = predicted_cycles(plan)
        return None if cycles == asked else f"a run may begin every {cycles:,} cycles"
    names = {
        name
        for node in walk_tree(unrolled.tree)
        if isinstance(node, LoopNode) and _is_at(node.loop, pragma.loop)
        for name in statements_under(node.body)
    }
    streams = [stream for stream in plan.streams if stream.statement in names]
    slowest = max(streams, key=lambda stream: stream.ii, default=None)
    if slowest is None or slowest.ii == asked:
        return None
    if slowest.ii == 1:
        return "an iteration begins in every cycle"
    return f"an iteration begins every {slowest.ii:,} cycles: {slowest.ii_reason}"


@dataclass(slots=True)
class _Collected:
    """What is followed so far, of the options and the pragmas before this one."""

    scop: Scop
    options: CompileOptions
    lanes: LaneWishes = field(init=False)
    unrolled: Scop = field(init=False)
    partitions: dict[str, tuple[PartitionWish, ...]] = field(init=False)
    followed: list[HlsPragma] = field(default_factory=list)
    warnings: list[Diagnostic] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.lanes = LaneWishes(self.options.unroll, self.options.pipeline)
        self.unrolled = unroll(self.scop, self.lanes)
        self.partitions = dict(self.options.partitions)

    def refusal(self, pragma: HlsPragma) -> str | None:
        """Follow a pragma, or return why it is not."""
        match pragma:
            case UnrollPragma():
                return self._unroll(pragma)
            case PipelinePragma():
                return self._pipeline(pragma)
            case PartitionPragma():
                return self._partition(pragma)

    def _unroll(self, pragma: UnrollPragma) -> str | None:
        loops = loops_at(self.scop, pragma.loop)
        if not loops:
            return NO_LOOP
        named = [loop for loop in loops if self.lanes.is_named(loop)]
        if named:
            return f"--unroll {named[0].label or named[0].iterator} is followed instead"
        before = self.unrolled
        marked = {**self.lanes.marked, place_of(pragma.loop): pragma.lanes}
        why = self._with_lanes(replace(self.lanes, marked=marked))
        is_overruled = self.options.pipeline and pragma.lanes not in (None, 1)
        if why is None and is_overruled and self.unrolled == before:
            return f"--pipeline {self.options.pipeline[0]} is followed instead"
        return why

    def _pipeline(self, pragma: PipelinePragma) -> str | None:
        if self.options.pipeline:
            return f"--pipeline {self.options.pipeline[0]} is followed instead"
        if pragma.loop is None and pragma.function != self.scop.name:
            return f"calls of {pragma.function} are part of the loops around them"
        if pragma.loop is not None and not loops_at(self.scop, pragma.loop):
            return NO_LOOP
        place = None if pragma.loop is None else place_of(pragma.loop)
        return self._with_lanes(replace(self.lanes, pipelined=self.lanes.pipelined | {place}))

    def _with_lanes(self, lanes: LaneWishes) -> str | None:
        """Ask for these lanes, or return why they cannot be."""
        try:
            unrolled = unroll(self.scop, lanes)
        except NotUnrollable as error:
            return error.diagnostic.message
        self.lanes, self.unrolled = lanes, unrolled
        return None

    def _partition(self, pragma: PartitionPragma) -> str | None:
        name = pragma.array
        if name in self.options.partitions:
            return f"--partition {name}={self.options.partitions[name][0]} is followed instead"
        if pragma.function != self.scop.name:
            return f"it is about an array of {pragma.function}"
        wish = PartitionWish(pragma.kind, pragma.dim, pragma.count)
        wishes = (*self.partitions.get(name, ()), wish)
        try:
            partition(self.scop, {name: wishes})
        except (UnknownPartition, PartitionUnsuitable) as error:
            return ": ".join(_what(error.diagnostic))
        self.partitions[name] = wishes
        return None


def _what(diagnostic: Diagnostic) -> Sequence[str]:
    """Return the message of a diagnostic, and what is said of its first place."""
    return [diagnostic.message, *(label.text for label in diagnostic.labels[:1] if label.text)]


def _is_at(loop: Loop, span: Span) -> bool:
    return place_of(loop.span) == place_of(span)


def loops_at(scop: Scop, span: Span) -> list[Loop]:
    """Return the loops that begin at a place of the C text: more than one where it is called."""
    nodes = walk_tree(scop.tree)
    return [n.loop for n in nodes if isinstance(n, LoopNode) and _is_at(n.loop, span)]
