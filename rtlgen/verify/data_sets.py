"""The data on which a circuit is compared, and what it shows of the program.

Several kinds of random data (`data`), and more where something of the program has not been seen on
them (`sensitivity`): what is cut off on one kind shows on another.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from rtlgen.errors import Diagnostic
from rtlgen.ir.scop import Scop
from rtlgen.verify.data import KINDS, Recipe, longest_kind, random_inputs
from rtlgen.verify.golden import run_golden
from rtlgen.verify.golden_ranges import run_bounds
from rtlgen.verify.golden_state import GoldenResult
from rtlgen.verify.sensitivity import Sensitivity, Shown
from rtlgen.verify.values import Elements, Limits, Value

FRUITLESS_TRIALS = 2
"""Further data sets that show nothing new, after which no more are tried."""

MORE_TRIALS = 6
"""The same, while some statement or operand has not been seen at all."""

LONG_RUN_INSTANCES = 20_000_000
"""Where one run of the golden model takes a second, one data set has to do."""


@dataclass(frozen=True, slots=True, eq=False)
class DataSet:
    """Inputs, and what the program makes of them.

    Members
    -------
    new: changes to the program that this data shows and none before it (`Sensitivity.ask`).
    """

    name: str
    inputs: Mapping[str, Elements | Value]
    golden: GoldenResult
    new: int


@dataclass(frozen=True, slots=True, eq=False)
class DataSets:
    """Data sets in the order of their runs, and what they show between them.

    Members
    -------
    left_out: how many more there would be, but for a limit.
    """

    sets: tuple[DataSet, ...]
    shown: Shown
    left_out: int = 0

    def first(self, most: int) -> DataSets:
        """Return the `most` that show most, in their order."""
        if len(self.sets) <= most:
            return self
        ranked = sorted(range(len(self.sets)), key=lambda n: (-self.sets[n].new, n))
        kept = tuple(self.sets[n] for n in sorted(ranked[:most]))
        return replace(self, sets=kept, left_out=self.left_out + len(self.sets) - most)

    def diagnostics(self, scop: Scop) -> tuple[Diagnostic, ...]:
        """Return what `rtlgen verify` warns of: undefined behaviour met, and what is not seen."""
        events = {
            (event.kind, event.statement): event
            for data in reversed(self.sets)
            for event in data.golden.events
        }
        found = [event.diagnostic(scop) for _, event in sorted(events.items())]
        return (*found, *self.shown.diagnostics(scop))


def random_data_sets(
    scop: Scop,
    *,
    seed: int = 1,
    seeds: int = 1,
    limits: Mapping[str, Limits] | None = None,
    left_out: Collection[str] = (),
) -> DataSets:
    """Return data sets of every kind for some seeds, and more where these do not show everything.

    Parameters
    ----------
    limits: smallest and largest value of arrays and scalars, by name.
    left_out: names of dead statements, which are not built, and can never be seen.
    """
    bounds = dict(limits or {})
    is_long = run_bounds(scop).instances > LONG_RUN_INSTANCES
    kinds = (longest_kind(scop),) if is_long else KINDS
    wanted = [Recipe(kind, seed + n, bounds) for n in range(seeds) for kind in kinds]
    collected = _Collected(scop, left_out)
    for recipe in wanted:
        collected.add(str(recipe), recipe.inputs(scop))
    fruitless, number = 0, 0
    while len(kinds) > 1 and not collected.is_complete(fruitless):
        recipe = Recipe("by array", 1000 * seed + number, bounds)
        number += 1
        fruitless = (
            0 if collected.add(str(recipe), recipe.inputs(scop), only_new=True) else (fruitless + 1)
        )
    return collected.result()


def given_data_set(
    scop: Scop, name: str, inputs: Mapping[str, Elements | Value], left_out: Collection[str] = ()
) -> DataSets:
    """Return the one data set that the user gives."""
    collected = _Collected(scop, left_out)
    collected.add(name, completed(scop, inputs))
    return collected.result()


def completed(scop: Scop, inputs: Mapping[str, Elements | Value]) -> dict[str, Elements | Value]:
    """Return just what the golden model takes of the inputs of a circuit.

    An array without a port, since no statement that runs touches it, may hold anything; of an array
    that no statement names the model knows nothing.
    """
    return {name: inputs.get(name, value) for name, value in random_inputs(scop, 1).items()}


class _Collected:
    def __init__(self, scop: Scop, left_out: Collection[str]) -> None:
        self._scop = scop
        self._left_out = left_out
        self._sets: list[DataSet] = []
        self._sensitivity: Sensitivity | None = None

    def add(
        self, name: str, inputs: Mapping[str, Elements | Value], *, only_new: bool = False
    ) -> bool:
        """Run the program on a data set and keep it; return whether it shows something new."""
        golden = run_golden(self._scop, inputs)
        if self._sensitivity is None:
            counts = {s: n for s, n in golden.counts.items() if s not in self._left_out}
            self._sensitivity = Sensitivity(self._scop, counts)
        new = self._sensitivity.ask(inputs, golden)
        if new or not only_new:
            self._sets.append(DataSet(name, inputs, golden, new))
        return new > 0

    def is_complete(self, fruitless: int) -> bool:
        assert self._sensitivity is not None
        most = MORE_TRIALS if self._sensitivity.hides_something else FRUITLESS_TRIALS
        return self._sensitivity.is_complete or fruitless >= most

    def result(self) -> DataSets:
        assert self._sensitivity is not None
        return DataSets(tuple(self._sets), self._sensitivity.shown())
