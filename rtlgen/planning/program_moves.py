"""The moves that change a program whose arrays are on chip: more memory, other loops, pauses."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import ClassVar

from rtlgen.ir.effort import more_effort
from rtlgen.ir.ram_copies import block_ram_bits
from rtlgen.ir.scop import Scop
from rtlgen.ir.tolerance import PORT_TOLERANCE, TOLERANCE, is_worth_search
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import (
    Analysis,
    cut_into_strips,
    expanded,
    in_banks,
    in_skewed_loops,
    with_pauses,
)
from rtlgen.planning.moves import Form, Move
from rtlgen.planning.one_form import plan_form, plan_in_loops
from rtlgen.planning.planned import Planned
from rtlgen.planning.rows import in_rows, ram_cost
from rtlgen.scheduling.pausing import find_pauses
from rtlgen.scheduling.reversing import find_reversals
from rtlgen.scheduling.skewing import find_skews
from rtlgen.scheduling.stripping import find_strips
from rtlgen.transforms.derive_banks import derived_cuts
from rtlgen.transforms.skew import Skew


class Expansion(Move):
    """Give temporaries an element an iteration: nothing waits until another value was used."""

    name: ClassVar[str] = "expand"
    searching: ClassVar[str] = "temporaries that are expanded"
    nothing: ClassVar[str] = "no temporary has values of several iterations in turn"
    keeps_values: ClassVar[bool] = False

    def proposals(self, before: Form, options: CompileOptions) -> Iterator[Form]:
        wider = expanded(before.analysis)
        if wider is None:
            return
        yield before.changed(
            self.name,
            ", ".join(f"{e.array} with {e.elements_after:,} elements" for e in wider.expansions),
            wider,
            partial(plan_in_loops, wider, options),
        )


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
        yield before.changed(self.name, what, cut, partial(plan_form, cut, options))


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
        yield before.changed(self.name, what, paused, partial(plan_form, paused, options))


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
        return min(near, key=lambda each: (ram_cost(in_rows(each.planned, options)), each.cycles))


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
        yield before.changed(self.name, what, analysis, partial(plan_form, analysis, options))


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
        few, many = (block_ram_bits(form.planned.plan) for form in (found, before))
        return found.cycles <= before.cycles and few < many


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
