"""What may be done to a program so that it takes fewer cycles, and the search among it.

A move proposes forms of a program. It knows the program and the target, and nothing of other moves.
The search takes one move after another. It plans in full what a move proposes, unless a bound says
that it cannot be worth it, and goes on with that if it takes fewer cycles by more than a tolerance.
What it looks at is noted, for whoever asks why a program is built as it is.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import cached_property
from typing import ClassVar

from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.effort import TooComplex, improving, spare_effort
from rtlgen.ir.plan_error import BankContended
from rtlgen.ir.tolerance import TOLERANCE
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis
from rtlgen.planning.planned import Planned, Tried
from rtlgen.planning.timing import least_cycles, timing_of
from rtlgen.poly.piecewise import NoClosedForm
from rtlgen.scheduling.errors import BankUnknown, IndexStyleUnsuitable
from rtlgen.scheduling.store_bounds import fewest_cycles
from rtlgen.target import get_target

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
        self, move: str, what: str, analysis: Analysis, plan: Callable[[], Planned]
    ) -> Form:
        """Return what a move makes of it; see there for the parameters."""
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

    And what each of them has tried.
    """
    tried = []
    for move in moves:
        form, said = _after(form, move, options)
        tried.append(said)
    return form, tuple(tried)


def _after(before: Form, move: Move, options: CompileOptions) -> tuple[Form, Tried]:
    """Return what one move makes of a form, or the form itself."""
    if move.is_vain(before):
        return before, Tried(move.name, "", None, IN_ANY_ORDER.format(before.at_least))
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
        if _beats_bound(each, before):
            return each, Tried(move.name, what, each.cycles)
        if not move.keeps_values and each.at_least >= TOLERANCE * before.cycles:
            why = IN_ANY_ORDER.format(each.at_least)
            continue
        try:
            with improving(move.searching), suppress(NoClosedForm):
                each.cycles  # noqa: B018
                found.append(each)
        except UNSUITED as error:
            why = error.diagnostic.message
    if not found:
        return before, Tried(move.name, what, None, why)
    best = move.best(found, options)
    if move.is_worth(best, before):
        return best, Tried(move.name, best.what, best.cycles)
    why = f"{before.cycles:,} cycles are taken without it"
    return before, Tried(move.name, best.what, best.cycles, why)


def _beats_bound(proposed: Form, before: Form) -> bool:
    """Tell whether a proposal takes fewer cycles than a form that need not be planned for it."""
    if before.is_planned or proposed.at_least >= (most := TOLERANCE * before.at_least):
        return False
    with suppress(TooComplex, NoClosedForm, *UNSUITED), spare_effort():
        return proposed.cycles < most
    return False
