"""The judges that are mutated, the tests nearest to each, and the mutants that change nothing."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
JUDGES = Path(__file__).with_name("judges.toml")
EQUIVALENTS = Path(__file__).with_name("equivalents.toml")


Rule = tuple[str, str, str, int]
"""Function, line, change, and which of them where the line has the same change several times."""


@dataclass(frozen=True, slots=True)
class Judge:
    """A module of the package, its path and those of its tests counted from the checkout.

    Members
    -------
    rules: the only mutants that are tried, of a module that decides rather than judges: one for
        each rule that must not be left out. None: every mutant.
    """

    module: str
    tests: tuple[str, ...]
    writes_c: bool = False
    rules: tuple[Rule, ...] | None = None

    @property
    def path(self) -> Path:
        return ROOT / self.module

    @property
    def name(self) -> str:
        """The name that imports it."""
        return self.module.removesuffix(".py").replace("/", ".")

    def mutants(self) -> list[Mutant]:
        """Return its mutants.

        Raises
        ------
        LookupError: a rule is no longer there.
        """
        found = mutants_of(self.path, self.module, writes_c=self.writes_c)
        if self.rules is None:
            return found
        by_rule = {mutant.key[1:]: mutant for mutant in found}
        if missing := [rule for rule in self.rules if rule not in by_rule]:
            raise LookupError(f"{self.module}: there is no {missing[0]}")
        return [by_rule[rule] for rule in self.rules]


def judges() -> list[Judge]:
    """Return all judges."""
    entries = tomllib.loads(JUDGES.read_text(encoding="utf-8"))["judge"]
    return [
        Judge(e["module"], tuple(e["tests"]), e.get("writes_c", False), _rules(e.get("rules")))
        for e in entries
    ]


def _rules(listed: list[list[str]] | None) -> tuple[Rule, ...] | None:
    if listed is None:
        return None
    return tuple((function, line, *_turned(change)) for function, line, change in listed)


def _turned(change: str) -> tuple[str, int]:
    """Return a change, and which of several in its line it is: `0 becomes 1 #2`."""
    what, _, turn = change.partition(" #")
    return what, int(turn or 1)


def equivalents() -> dict[tuple[str, str, str, str, int], str]:
    """Return the reason why each mutant of the list changes nothing, by its key."""
    entries = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8"))["equivalent"]
    found: dict[tuple[str, str, str, str, int], str] = {}
    for entry in entries:
        for change in entry["changes"]:
            key = (entry["module"], entry["function"], entry["line"], *_turned(change))
            if key in found:
                raise ValueError(f"{key} is listed twice")
            if not entry["reason"].strip():
                raise ValueError(f"{key} has no reason")
            found[key] = entry["reason"]
    return found
