"""What of a program its data shows: would a fault in this value change any result?

The golden model runs the program once for each small change at each site (`perturb`): the value
becomes 0, one more, or its negative, a number also 1, and the next one in place of one more; a
condition always false or always true. A change that leaves every compared element and the return
value as they were is one that no comparison with a circuit can notice on this data, whatever the
circuit does wrong there. Small changes are asked for on purpose: that some enormous one would be
noticed says little about a missing term.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from rtlgen.errors import Diagnostic, Label
from rtlgen.ir.expr import Constant
from rtlgen.ir.scop import Scop
from rtlgen.verify.golden_compiled import COMPILERS, Library, RepeatedProgram, compile_scop
from rtlgen.verify.golden_interpreter import Interpreter
from rtlgen.verify.golden_ranges import run_bounds
from rtlgen.verify.golden_state import (
    GoldenResult,
    SubscriptError,
    memory_image,
    scalar_values,
)
from rtlgen.verify.perturb import Change, Perturbed, Site, perturbed
from rtlgen.verify.values import Elements, Value, is_same, to_words, value_of

COMPILED_VALUES = 40_000_000
"""Values at sites that compiled code computes for all changes together: a second or two."""

INTERPRETED_VALUES = 200_000
SHORT_RUN_VALUES = 20_000
SHOWN_OPERANDS = 3

Inputs = Mapping[str, Elements | Value]
Memory = Mapping[str, Elements]


@dataclass(frozen=True, slots=True)
class Shown:
    """What some data sets show between them.

    Members
    -------
    asked, seen: sites of which some change was tried, and of which some change was noticed.
        Constants are tried, and not counted.
    unseen: sites of which every change was tried on every data set, and none was noticed.
    left_out: sites that the limit of work leaves out.
    """

    asked: tuple[Site, ...]
    seen: tuple[Site, ...]
    unseen: tuple[Site, ...]
    left_out: tuple[Site, ...]

    @property
    def unseen_statements(self) -> tuple[str, ...]:
        return tuple(site.statement.name for site in self.unseen if site.is_result)

    def text(self) -> str:
        """Return how much was shown, for the line that `rtlgen verify` prints."""
        parts = []
        for what, is_result in (("statement", True), ("operand", False)):
            asked = sum(site.is_result == is_result for site in self.asked)
            seen = sum(site.is_result == is_result for site in self.seen)
            if asked:
                plural = "" if asked == 1 else "s"
                parts.append(f"{seen if seen < asked else 'all'} of {asked} {what}{plural}")
        left = f", {len(self.left_out)} not asked for" if self.left_out else ""
        return f"{' and '.join(parts) or 'nothing'} seen{left}".replace("all of ", "all ")

    def diagnostics(self, scop: Scop) -> Iterator[Diagnostic]:
        """Yield the warnings that `rtlgen verify` prints."""
        hidden = frozenset(self.unseen_statements)
        for statement in scop.statements:
            label = Label(statement.span)
            if statement.name in hidden:
                yield Diagnostic(
                    "W0605",
                    f"{statement.name} cannot be seen in any output with this data",
                    (label,),
                    ("whatever the circuit does wrong there would not be noticed",),
                    "give data that shows it: --inputs, --range, --seeds",
                    severity="warning",
                )
                continue
            hiding = [
                site
                for site in self.unseen
                if site.statement.name == statement.name and site.outer not in self.unseen
            ]
            if hiding:
                more = len(hiding) - SHOWN_OPERANDS
                yield Diagnostic(
                    "W0606",
                    f"part of {statement.name} cannot be seen in any output with this data",
                    (label,),
                    (
                        *(f"the operand {site.text}" for site in hiding[:SHOWN_OPERANDS]),
                        *([f"and {more} more"] if more > 0 else []),
                    ),
                    "give data that shows it: --inputs, --range, --seeds",
                    severity="warning",
                )


class Sensitivity:
    """Asks data sets, one after the other, for what those before have not shown.

    Parameters
    ----------
    counts: executed instances of every statement; those that never run are not asked for.
    """

    def __init__(self, scop: Scop, counts: Mapping[str, int]) -> None:
        self._scop = scop
        self._program: Perturbed = perturbed(scop, [s for s, count in counts.items() if count])
        # Of one run; what takes its time is the sites, not the statements.
        self._values = sum(counts[site.statement.name] for site in self._program.sites)
        self._is_compiled = run_bounds(scop).fit_64_bits and any(map(shutil.which, COMPILERS))
        self._library: Library | None = None
        self._left = COMPILED_VALUES if self._is_compiled else INTERPRETED_VALUES
        self._open: dict[Site, list[Change]] = {
            site: list(site.changes) for site in self._program.sites
        }
        self._seen: set[Site] = set()
        self._tried: set[Site] = set()
        self._incomplete: set[Site] = set()

    @property
    def is_complete(self) -> bool:
        """Whether no other data could show more, or no work is left for it."""
        return not any(self._open.values()) or self._left < self._values

    @property
    def hides_something(self) -> bool:
        """Whether some operand or result has not been seen at all."""
        return any(site not in self._seen and _is_counted(site) for site in self._program.sites)

    def ask(self, inputs: Inputs, golden: GoldenResult) -> int:
        """Return how many changes a data set shows that none before it showed.

        Parameters
        ----------
        golden: what the program itself computes from `inputs`.
        """
        found = 0
        run: Callable[[Mapping[str, int]], Memory | None] | None = None
        for site, change in self._changes():
            if self._left < self._values:
                self._incomplete.add(site)
                continue
            self._left -= self._values
            self._tried.add(site)
            run = run or self._runs(inputs)
            if self._is_noticed(run(self._program.arguments(site, change)), golden):
                self._open[site].remove(change)
                self._seen.add(site)
                found += 1
        return found

    def _changes(self) -> Iterator[tuple[Site, Change]]:
        """Yield what is open: first one change of every site that nothing has shown yet."""
        order = sorted(self._open, key=lambda site: site in self._seen)
        left = {site: tuple(self._open[site]) for site in order}
        for turn in range(max(map(len, left.values()), default=0)):
            for site in order:
                if turn < len(left[site]):
                    yield site, left[site][turn]

    def _runs(self, inputs: Inputs) -> Callable[[Mapping[str, int]], Memory | None]:
        """Return what runs the program with a change, by the arguments that make it.

        It returns the memory that is left; None where a subscript leaves its array.
        """
        program, unchanged = self._program.scop, self._program.arguments()
        given = {**inputs, **unchanged}
        memory, scalars = memory_image(program, given), scalar_values(program, given)
        repeated = (
            RepeatedProgram(program, memory, scalars, self._compiled())
            if self._is_compiled
            else None
        )

        def run(arguments: Mapping[str, int]) -> Memory | None:
            changed = {**scalars, **arguments}
            try:
                if repeated is not None:
                    repeated.run(changed)
                    return repeated.memory
                left = {name: image.copy() for name, image in memory.items()}
                Interpreter(program, left, changed).run()
            except SubscriptError:
                return None
            return left

        return run

    def _is_noticed(self, memory: Memory | None, golden: GoldenResult) -> bool:
        if memory is None:
            # A lookup is sent out of its array: the circuit would read something else, too.
            return True
        returned = self._scop.returned
        if returned is not None:
            type_ = self._scop.array(returned).element
            if not is_same(value_of(int(memory[returned]), type_), golden.returned):
                return True
        return any(
            not np.array_equal(to_words(memory[array.name]), to_words(golden.arrays[array.name]))
            for array in self._scop.arrays
            if array.role in ("out", "inout")
        )

    def _compiled(self) -> Library:
        if self._library is None:
            is_short = self._values < SHORT_RUN_VALUES
            self._library = compile_scop(self._program.scop, is_short=is_short)
        return self._library

    def shown(self) -> Shown:
        """Return what the data sets have shown so far."""
        sites = [site for site in self._program.sites if _is_counted(site)]
        unseen = [s for s in sites if s in self._tried and s not in self._seen | self._incomplete]
        asked = [s for s in sites if s in self._seen or s in unseen]
        return Shown(
            tuple(asked),
            tuple(s for s in sites if s in self._seen),
            tuple(unseen),
            tuple(s for s in sites if s not in asked),
        )


def _is_counted(site: Site) -> bool:
    """Return whether a site is told to the user: that of a constant 0 in `x > 0` says little."""
    return site.is_result or not isinstance(site.value, Constant)
