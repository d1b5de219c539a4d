"""What may be done to a program so that it takes fewer cycles, and the search among it.

The moves that change a program whose arrays are on chip: more memory, other loops, pauses.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property, partial
from typing import ClassVar

from rtlgen.ir.block_rams import block_ram_bits, ram_copies
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, improving, more_effort, spare_effort
from rtlgen.ir.memories import Memory
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.scop import Scop
from rtlgen.ir.tolerance import PORT_TOLERANCE, TOLERANCE, is_worth_search
from rtlgen.memories.banks import derived_cuts
from rtlgen.memories.bounds import fewest_cycles
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import (
    Analysis,
    cut_into_strips,
    expanded,
    in_banks,
    in_skewed_loops,
    with_pauses,
)
from rtlgen.planning.one_form import (
    in_rows,
    plan_form,
    plan_in_loops,
    ram_cost,
    with_few_ports,
)
from rtlgen.planning.planned import Planned, Tried, least_cycles, timing_of
from rtlgen.poly.polynomial import NoClosedForm
from rtlgen.scheduling.errors import BankUnknown, IndexStyleUnsuitable
from rtlgen.scheduling.loop_changes import find_pauses, find_reversals, find_strips
from rtlgen.scheduling.skewing import find_skews
from rtlgen.target import get_target
from rtlgen.transforms.skew import Skew
from rtlgen.transforms.storage import MAX_BITS

UNSUITED = (BankContended, BankUnknown, IndexStyleUnsuitable)
"""Why a form does not suit the options. Of the program as written, users are told."""

TOO_LONG = "the search for a plan of it takes too long"
IN_ANY_ORDER = "{:,} cycles at least, in any order"


class Form:
    """A form of a program, and the plan that follows from it, made when it is asked for.

    Parameters
    ----------
    plan: makes the plan. what: was done to the program, in a few words.
    before: what a move has made it from; None: it is the program as written. move: its name.
    """

    def __init__(
        self,
        analysis: Analysis,
        options: CompileOptions,
        plan: Callable[[], Planned],
        what: str = "as written",
        *,
        before: Form | None = None,
        move: str = "",
    ) -> None:
        self.analysis = analysis
        self.what = what
        self.before = before
        self.move = move
        self._options = options
        self._plan = plan

    @cached_property
    def planned(self) -> Planned:
        """Its plan.

        Raises
        ------
        RtlgenError, NoClosedForm: it has none.
        """
        return self._plan()

    @cached_property
    def built(self) -> Planned:
        """The plan in as few write ports as cost hardly any cycles, which takes another search.

        Where forms are compared by the RAM that they take; by cycles, `planned` does.
        """
        return with_few_ports(self.planned, self._options)

    @property
    def is_planned(self) -> bool:
        return "planned" in self.__dict__

    @property
    def cycles(self) -> int:
        """The cycles of its plan, which is made where it is not there."""
        return predicted_cycles(self.planned.plan)

    @cached_property
    def at_least(self) -> int:
        """Cycles that it takes in any order of its instances, whether it is planned or not."""
        target = get_target(self._options.target)
        timing = self.planned.space.timing if self.is_planned else timing_of(self.analysis, target)
        return max(fewest_cycles(timing.sets), least_cycles(timing, target, self._options))

    @property
    def root(self) -> Form:
        """The form as written, from which moves have made it."""
        return self if self.before is None else self.before.root

    @property
    def origin(self) -> Form:
        """The form that a move has made it from."""
        assert self.before is not None, "a move has made it"
        return self.before

    def changed(
        self, move: str, what: str, analysis: Analysis, plan: Callable[[], Planned] | None = None
    ) -> Form:
        """Return what a move makes of it; see there for the parameters.

        Parameters
        ----------
        plan: None: it is planned as it is, with the options that this form has.
        """
        plan = plan or partial(plan_form, analysis, self._options)
        return Form(analysis, self._options, plan, what, before=self, move=move)

    def made_by(self, move: str) -> Form | None:
        """Return the form that a move has made on the way to this one, or None."""
        if self.move == move or self.before is None:
            return self if self.move == move else None
        return self.before.made_by(move)


class Move(ABC):
    """One way to change a program.

    Members
    -------
    name: what a user reads; where a pass makes the change, that of the pass.
    searching: what it looks for, as a sentence has it about a search that ended too soon.
    nothing: why it proposes nothing, where it does not.
    keeps_values: whether each instance gets its operands from the same ones as before.
    """

    name: ClassVar[str]
    searching: ClassVar[str]
    nothing: ClassVar[str]
    keeps_values: ClassVar[bool] = True

    @abstractmethod
    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        """Yield forms that may take fewer cycles than one, the likeliest first.

        Each of them is planned when the next one is asked for, if it can be.
        """

    def best(self, found: Sequence[Form], options: CompileOptions) -> Form:
        """Return which of several planned proposals is built, if it is worth it."""
        return min(found, key=lambda each: each.cycles)

    def unfit(self, found: Form, options: CompileOptions) -> str:
        """Say why a planned proposal cannot be built whatever it saves; empty: it can."""
        return ""

    def is_vain(self, before: Form) -> bool:
        """Tell whether nothing that it proposes can be worth it, since bounds say so."""
        return self.keeps_values and before.at_least >= TOLERANCE * before.cycles

    def is_worth(self, found: Form, before: Form) -> bool:
        """Tell whether a planned proposal is built instead of what it was made from."""
        return found.cycles < TOLERANCE * before.cycles


def improved(
    form: Form, moves: Sequence[Move], options: CompileOptions
) -> tuple[Form, tuple[Tried, ...]]:
    """Return what moves make of a form, one after another, as far as that saves cycles.

    And what each of them has tried. A change that does not pay by itself may open the way for
    others: where its bound is lower than that of what it was made from, they go on from both.
    """
    if not moves:
        return form, ()
    (move, *others) = moves
    after, said, opened = form, Tried(move.name, "", None, TOO_LONG), None
    with improving(move.searching):
        after, said, opened = _after(form, move, options)
    best, more = improved(after, others, options)
    if opened is not None and opened.at_least < TOLERANCE * best.cycles:
        other, more_of_other = improved(opened, others, options)
        if other.cycles < TOLERANCE * best.cycles:
            return other, (Tried(move.name, opened.what, opened.cycles), *more_of_other)
    return best, (said, *more)


def _after(before: Form, move: Move, options: CompileOptions) -> tuple[Form, Tried, Form | None]:
    """Return what one move makes of a form, or the form itself, and what was tried.

    And what it makes of it where that does not pay, but could in other orders of its instances.
    """
    if move.is_vain(before):
        return before, Tried(move.name, "", None, IN_ANY_ORDER.format(before.at_least)), None
    found: list[Form] = []
    why, what = move.nothing, ""
    proposals = move.proposals(before, options)
    while True:
        each: Form | None = None
        with improving(move.searching), suppress(NoClosedForm):
            each = next(proposals, None)
        if each is None:
            break
        what, why = each.what, TOO_LONG
        if _beats_bound(each, before) and not move.unfit(each, options):
            return each, Tried(move.name, what, each.cycles), None
        if not move.keeps_values and each.at_least >= TOLERANCE * before.cycles:
            why = IN_ANY_ORDER.format(each.at_least)
            continue
        try:
            with improving(move.searching), suppress(NoClosedForm):
                each.cycles  # noqa: B018
                if not (why := move.unfit(each, options)):
                    found.append(each)
        except UNSUITED as error:
            why = error.diagnostic.message
    if not found:
        return before, Tried(move.name, what, None, why), None
    best = move.best(found, options)
    if move.is_worth(best, before):
        return best, Tried(move.name, best.what, best.cycles), None
    why = f"{before.cycles:,} cycles are taken without it"
    said = Tried(move.name, best.what, best.cycles, why)
    freest = min(found, key=lambda each: each.at_least)
    if move.keeps_values or freest.at_least >= TOLERANCE * before.at_least:
        return before, said, None
    return before, said, best if freest.at_least >= TOLERANCE * best.at_least else freest


def _beats_bound(proposed: Form, before: Form) -> bool:
    """Tell whether a proposal takes fewer cycles than a form that need not be planned for it."""
    if before.is_planned or proposed.at_least >= (most := TOLERANCE * before.at_least):
        return False
    with suppress(TooComplex, NoClosedForm, *UNSUITED), spare_effort():
        return proposed.cycles < most
    return False


class Expansion(Move):
    """Give temporaries an element an iteration: nothing waits until another value was used."""

    name: ClassVar[str] = "expand"
    searching: ClassVar[str] = "temporaries that are expanded"
    nothing: ClassVar[str] = "no temporary has values of several iterations in turn"
    keeps_values: ClassVar[bool] = False

    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        for wider in expanded(before.analysis):
            what = (f"{e.array} with {e.elements_after:,} elements" for e in wider.expansions)
            plan = partial(plan_in_loops, wider, options)
            found = before.changed(self.name, ", ".join(what), wider, plan)
            yield found
            if found.is_planned and found.cycles * TOLERANCE <= found.at_least:
                return

    def unfit(self, found: Form, options: CompileOptions) -> str:
        """Say which temporary is kept in a memory that is too large."""
        names = {c.name for e in found.analysis.expansions for c in e.copies}

        def large(planned: Planned) -> Iterator[Memory]:
            for memory in planned.plan.memories:
                is_large = memory.depth * memory.width_bits > MAX_BITS and memory.name in names
                if is_large and ram_copies(planned.plan, memory):
                    yield memory

        # Of some, few rows are kept, which takes long to find out.
        if not any(large(found.planned)):
            return ""
        kept = next(large(in_rows(found.planned, options)), None)
        return "" if kept is None else f"{kept.name} is kept in a memory of {kept.depth:,} elements"


class Strips(Move):
    """Cut loops into strips, where statements wait for sums that take turns."""

    name: ClassVar[str] = "strip"
    searching: ClassVar[str] = "loops in strips"
    nothing: ClassVar[str] = "no statement waits for sums that take turns"

    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        plain = before.planned
        if not is_worth_search(before.cycles, plain.space.floor_iterations):
            return
        sizes = find_strips(plain.analysis.written, plain.space, plain.decision)
        if not sizes:
            return
        what = ", ".join(f"line {span.line} in strips of {n}" for span, n in sizes.items())
        cut = cut_into_strips(plain.analysis, sizes)
        yield before.changed(self.name, what, cut)


class Pauses(Move):
    """Let statements pause after some of their instances, where all wait for the sake of those."""

    name: ClassVar[str] = "pause"
    searching: ClassVar[str] = "pauses"
    nothing: ClassVar[str] = "no statement waits for the sake of a few instances"

    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        plain = before.planned
        pauses = find_pauses(plain.space, plain.decision)
        if not pauses:
            return
        what = ", ".join(f"{p.statement} after {p.instances:,} instances" for p in pauses)
        paused = with_pauses(plain.analysis, pauses)
        yield before.changed(self.name, what, paused)


class Skews(Move):
    """Run units in skewed loops, where they wait for their own results."""

    name: ClassVar[str] = "skew"
    searching: ClassVar[str] = "skewed loops"
    nothing: ClassVar[str] = "no unit waits for its own results, or none would wait less"

    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        paused = before.made_by(Pauses.name)
        # What waits, and why, is asked of the loops without their pauses.
        plain = before.planned if paused is None else paused.origin.planned
        found = find_skews(plain.space, plain.decision, plain.target, before.planned.space)
        for number, skews in enumerate(found):
            overlap = number == 0 and any(skew.overlaps for skew in skews)
            analysis = in_skewed_loops(before.planned.analysis, skews)
            proposed = before.changed(
                self.name,
                "; ".join(map(_form, skews)),
                analysis,
                partial(plan_form, analysis, options, may_overlap=overlap),
            )
            yield proposed
            slots = sum(skew.slots for skew in skews)
            # What others could save is not worth the search for it.
            if overlap and proposed.is_planned and proposed.cycles * TOLERANCE <= slots:
                return

    def best(self, found: Sequence[Form], options: CompileOptions) -> Form:
        shortest = min(each.cycles for each in found)
        near = [each for each in found if each.cycles * PORT_TOLERANCE <= shortest]
        if len(near) == 1 or shortest >= near[0].origin.cycles * TOLERANCE:
            return near[0]
        # Whether values are soon read again, and rows of them will do, depends on the loops.
        return min(near, key=lambda each: (ram_cost(in_rows(each.built, options)), each.cycles))


class Reversals(Move):
    """Run loops backward, where another nest needs first what they compute last."""

    name: ClassVar[str] = "reverse"
    searching: ClassVar[str] = "loops that run backward"
    nothing: ClassVar[str] = "no nest would begin earlier if another one ran backward"

    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        plain = before.planned
        if not is_worth_search(before.cycles, plain.space.floor_iterations):
            return
        reversals = find_reversals(plain.space, plain.decision)
        if not reversals:
            return
        skewed = before.made_by(Skews.name)
        written = plain if skewed is None else skewed.origin.planned
        others = () if plain.analysis.skewed is None else plain.analysis.skewed.skews
        analysis = in_skewed_loops(written.analysis, (*others, *reversals))
        what = "; ".join(map(_form, reversals))
        yield before.changed(self.name, what, analysis)


class Banks(Move):
    """Cut arrays into banks, where accesses of one cycle wait for each other, or take copies."""

    name: ClassVar[str] = "banks"
    searching: ClassVar[str] = "arrays in banks"
    nothing: ClassVar[str] = "no accesses wait for a port of an array, or none tell banks of it"

    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        # Of the loops as written: what subscripts say of banks is plainer there.
        written = before.made_by(Expansion.name) or before.root
        scop = written.analysis.scop
        cuts = derived_cuts(scop, options.partitions)
        banked = in_banks(before.planned.analysis, cuts)
        if any(
            _may_start_earlier(before, scop, array)
            or (banked.scop.array(array).is_register and array in _copied_arrays(before))
            for array in cuts
        ):
            what = f"{', '.join(cuts)} in banks"
            yield before.changed(self.name, what, banked, partial(_with_more, banked, options))

    def is_vain(self, before: Form) -> bool:
        # At the same cycles there may be fewer copies.
        return False

    def is_worth(self, found: Form, before: Form) -> bool:
        if found.cycles < before.cycles * PORT_TOLERANCE:
            return True
        if found.cycles > before.cycles:
            return False
        few, many = (block_ram_bits(form.built.plan) for form in (found, before))
        return few < many


def _with_more(analysis: Analysis, options: CompileOptions) -> Planned:
    """Plan a form with as much effort as the program as written has got."""
    with more_effort():
        return plan_form(analysis, options)


def _may_start_earlier(form: Form, scop: Scop, array: str) -> bool:
    """Tell whether statements may have waited for the write port of an array."""
    writers = [s for s in scop.statements if s.write.array == array]
    return len(writers) > 1 and is_worth_search(form.cycles, form.planned.space.floor_iterations)


def _copied_arrays(form: Form) -> frozenset[str]:
    """Return the arrays of which there are copies, for several loads in one cycle."""
    memories = form.planned.plan.memories
    return frozenset(m.name for m in memories if m.read_ports > 1 and m.kind == "block")


def _form(skew: Skew) -> str:
    """Return what the new loops of the first statement of a unit count."""
    names = skew.unit.statements
    return f"{', '.join(names)} in ({', '.join(map(str, skew.rows[names[0]]))})"


MOVES: tuple[Move, ...] = (Expansion(), Strips(), Pauses(), Skews(), Reversals(), Banks())
"""Those that the search takes, one after another."""
