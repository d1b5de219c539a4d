"""What options would make a design faster: each planned, or with a bound of its cycles.

The floor of a plan is that of the program in the lanes asked for. More lanes of a loop may take far
fewer cycles, and it is good to know what these cost. The most promising options are planned in
full, one after another. That may take a few times as many elementary steps as the plan itself, and
some seconds at most; of what does not fit into these, only a bound is known: a statement of which
so many iterations run side by side issues once for all of them, and no more than once in a cycle.
Of tiles nothing is planned: their own advice says what they wait for.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from math import prod

from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import ParsedProgram
from rtlgen.ir.block_rams import block_rams
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TURN_WORK, TooComplex, counted_effort, limited_effort, noting_limits
from rtlgen.ir.operation_costs import blocks_of, blocks_on
from rtlgen.ir.operations import LoadOp
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.plan_error import PlanUnsound
from rtlgen.ir.scop import Loop, Statement
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.streams import Stream
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import Compilation
from rtlgen.poly.counting import count_points
from rtlgen.scheduling.idle_slots import waiting_sums
from rtlgen.source import Span
from rtlgen.transforms.lanes import MOST_LANES, trips_of

MOST_OFFERS = 3
"""Lines that a reader of a plan is shown."""

LANES = (2, 4, 8)
"""Of one loop. More are twice as many of these, and easily asked for then."""

OWN_STEPS = 6
"""Times the steps of the plan itself that others may take: lanes are several statements each."""


@dataclass(frozen=True, slots=True)
class Offer:
    """What some options would give.

    Members
    -------
    options: as the command line has them.
    cycles: predicted, where `is_planned`; else they are no fewer than these.
    dsp, block_rams: of the plan; None where there is none.
    """

    options: str
    cycles: int
    is_planned: bool
    dsp: int | None = None
    block_rams: int | None = None

    def to_json(self) -> dict[str, object]:
        key = "predicted_cycles" if self.is_planned else "cycles_at_least"
        figures = {"dsp": self.dsp, "block_rams": self.block_rams}
        return {"options": self.options, key: self.cycles, **figures}


@dataclass(frozen=True, slots=True)
class Offers:
    """Members: found: the fastest first. left_out: how many others nobody has planned."""

    found: tuple[Offer, ...]
    left_out: int

    def to_json(self) -> dict[str, object]:
        """Return them as members of a report."""
        return {
            "faster": [offer.to_json() for offer in self.found],
            "faster_left_out": self.left_out,
        }


@dataclass(frozen=True, slots=True)
class _Wish:
    """Options that may be worth asking for.

    Members
    -------
    text: what the command line has to say more. at_least: cycles that it takes in any case.
    dsp: multiplier blocks, as many times those of each statement as there are copies of it.
    """

    text: str
    options: CompileOptions
    at_least: int
    dsp: int


def faster(compilation: Compilation, options: CompileOptions) -> Offers:
    """Return what would take fewer cycles than a design, within its device.

    Parameters
    ----------
    options: with which the program was compiled.
    """
    target, cycles = compilation.target, predicted_cycles(compilation.plan)
    program = compilation.analysis.program
    # Lanes that the compiler chooses itself are those that the limit allows.
    if options.max_dsp is not None or options.fuse != "mf3":
        return Offers((), 0)
    try:
        with limited_effort():
            wishes = [
                wish
                for wish in _Wishes(compilation, options).all()
                if wish.at_least < cycles * TOLERANCE
                and (not target.device_multipliers or wish.dsp <= target.device_multipliers)
            ]
    except TooComplex:
        return Offers((), 0)
    if compilation.plan.memory_side is not None:
        # Tiles wait for words as well: no bound says for how many, and how long they take is found
        # by running their clocks, which counts no steps.
        return Offers((), len(wishes))
    wishes.sort(key=lambda wish: (wish.at_least, wish.dsp))
    # More lanes take more steps than the program as it is: where that took many, none would end.
    left = min(OWN_STEPS * compilation.steps, TURN_WORK) if compilation.steps <= TURN_WORK else 0
    found: list[Offer] = []
    unknown: list[_Wish] = []
    for wish in wishes:
        if any(o.cycles * TOLERANCE <= wish.at_least and (o.dsp or 0) <= wish.dsp for o in found):
            continue
        if left <= 0 or len(found) == MOST_OFFERS:
            unknown.append(wish)
            continue
        with noting_limits(), counted_effort(left) as tally:
            offer = _planned(program, wish)
        left -= tally.steps
        if tally.is_over:
            unknown.append(wish)
        elif offer is not None and offer.cycles < cycles * TOLERANCE:
            fits = not target.device_multipliers or (offer.dsp or 0) <= target.device_multipliers
            if fits and (offer.block_rams or 0) <= target.device_block_rams:
                found.append(offer)
    found += _reordered(compilation, options, cycles)
    fewest = min((offer.cycles for offer in found), default=cycles)
    shown = [w for w in unknown if w.at_least < fewest * TOLERANCE][: MOST_OFFERS - len(found)]
    found += [Offer(wish.text, wish.at_least, is_planned=False) for wish in shown]
    return Offers(
        tuple(sorted(found, key=lambda offer: (not offer.is_planned, offer.cycles))),
        len(unknown) - len(shown),
    )


def _reordered(compilation: Compilation, options: CompileOptions, cycles: int) -> Iterator[Offer]:
    """Yield the offer of sums in another order than the program's, where one waits for its adder.

    It is another program: nothing of it is planned.
    """
    plan, scop = compilation.plan, compilation.analysis.program.scop
    if options.floats.reassociate is not None or not waiting_sums(plan, scop):
        return
    slots = [stream.ii * stream.instances for region in plan.regions for stream in region.streams]
    once = [stream.instances for region in plan.regions for stream in region.streams]
    at_least = max(max(once), cycles - max(slots) + max(once))
    if at_least < cycles * TOLERANCE:
        text = "--float reassociate (partial sums, rounded otherwise)"
        yield Offer(text, at_least, is_planned=False)


def _planned(program: ParsedProgram, wish: _Wish) -> Offer | None:
    """Return what some options give, or None where they are refused, or it would take too long."""
    try:
        found = compile_program(program, wish.options)
    except PlanUnsound:
        # A judge has found a bug of this compiler, which is never passed over.
        raise
    except RtlgenError:
        return None
    plan, target = found.plan, found.target
    return Offer(
        wish.text,
        predicted_cycles(plan),
        is_planned=True,
        dsp=blocks_on(plan, target),
        block_rams=block_rams(plan, target),
    )


class _Wishes:
    """The options that may be asked for beside those of a design.

    Members
    -------
    instances: of every statement. blocks: multiplier blocks by where a statement stands.
    """

    def __init__(self, compilation: Compilation, options: CompileOptions) -> None:
        self.options = options
        self.scop = compilation.analysis.program.scop
        domains = ScopSets(self.scop).domains
        self.instances = {name: count_points(domain) for name, domain in domains.items()}
        self.blocks = _blocks(compilation.plan)

    def all(self) -> Iterator[_Wish]:
        """Yield them, those of inner loops first."""
        # What runs side by side in an inner loop is the least to plan.
        every = [(depth, x) for st in self.scop.statements for depth, x in enumerate(st.loops)]
        every.sort(key=lambda at: -at[0])
        loops: dict[str, Loop] = {}
        for _, loop in every:
            loops.setdefault(loop.label or loop.iterator, loop)
        around = (x for st in self.scop.statements for x in st.loops[:-1])
        outer = dict.fromkeys(loop.label or loop.iterator for loop in around)
        asked = self.options.unroll
        if self.options.pipeline:
            return
        for name, loop in loops.items():
            trips = trips_of(loop)
            lanes = {min(lanes, trips or lanes) for lanes in LANES}
            for count in sorted(lanes):
                now = asked.get(name, 1)
                if now is None or count <= now:
                    continue
                more = {**asked, name: count}
                wider = replace(self.options, unroll=more)
                yield from self._in_lanes(f"--unroll {name}={count}", wider, more)
        if asked:
            return
        for name in outer:
            whole: dict[str, int | None] = {}
            for statement in self.scop.statements:
                names = [x.label or x.iterator for x in statement.loops]
                if name in names:
                    whole |= dict.fromkeys(names[names.index(name) + 1 :])
            wider = replace(self.options, pipeline=(name,))
            yield from self._in_lanes(f"--pipeline {name}", wider, whole)

    def _in_lanes(
        self, text: str, wider: CompileOptions, lanes: Mapping[str, int | None]
    ) -> Iterator[_Wish]:
        """Yield a wish for lanes, where a loop of these can have them."""
        copies = [self._copies(statement, lanes) for statement in self.scop.statements]
        if None not in copies and max(filter(None, copies), default=0) <= MOST_LANES:
            yield self._wish(text, wider, lanes)

    def _wish(self, text: str, options: CompileOptions, lanes: Mapping[str, int | None]) -> _Wish:
        # Over a stream, one element comes or goes in a cycle.
        at_least = max((a.depth for a in self.scop.arrays if a.is_stream), default=0)
        blocks = 0
        for statement in self.scop.statements:
            if statement.span not in self.blocks:
                # It never runs, or nobody needs what it computes.
                continue
            copies = self._copies(statement, lanes) or 1
            instances = self.instances.get(statement.name, 0)
            at_least = max(at_least, -(-instances // (copies * options.threads)))
            blocks += copies * self.blocks[statement.span]
        return _Wish(text, options, at_least, blocks)

    def _copies(self, statement: Statement, lanes: Mapping[str, int | None]) -> int | None:
        """Return how many copies of a statement there are; None where a loop has no such lanes."""
        factors: list[int] = []
        for loop in statement.loops:
            name = next((n for n in (loop.label, loop.iterator) if n in lanes), None)
            if name is None:
                continue
            factor = lanes[name]
            if factor is None:
                factor = trips_of(loop)
            if factor is None:
                return None
            factors.append(factor)
        return prod(factors)


def _blocks(plan: KernelPlan) -> dict[Span, int]:
    """Return the multiplier blocks of one copy of each statement, by where it stands.

    A factor out of a table is a constant where all that chooses it is unrolled, and most constants
    take no multiplier.
    """
    found: dict[Span, int] = {}
    for stream in plan.streams:
        taken = sum(
            blocks_of(op, stream.operations)
            for op in stream.operations
            if not any(_is_of_table(plan, stream, operand) for operand in op.operands)
        )
        found[stream.span] = max(found.get(stream.span, 0), taken)
    return found


def _is_of_table(plan: KernelPlan, stream: Stream, number: int) -> bool:
    op = stream.operations[number]
    return isinstance(op, LoadOp) and plan.memory(op.memory).kind == "rom"
