"""The judges that are mutated, the tests nearest to each, and the mutants that change nothing."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from pathlib import Path

from tests.mutation.mutants import Mutant, mutants_of

ROOT = Path(__file__).parents[2]
JUDGES = Path(__file__).with_name("judges.toml")
EQUIVALENTS = Path(__file__).with_name("equivalents.toml")


@dataclass(frozen=True, slots=True)
class Judge:
    """A module of the package, its path and those of its tests counted from the checkout."""

    module: str
    tests: tuple[str, ...]
    writes_c: bool = False

    @property
    def path(self) -> Path:
        return ROOT / self.module

    @property
    def name(self) -> str:
        """The name that imports it."""
        return self.module.removesuffix(".py").replace("/", ".")

    def mutants(self) -> list[Mutant]:
        """Return its mutants."""
        return mutants_of(self.path, self.module, writes_c=self.writes_c)


def judges() -> list[Judge]:
    """Return all judges."""
    entries = tomllib.loads(JUDGES.read_text(encoding="utf-8"))["judge"]
    return [Judge(e["module"], tuple(e["tests"]), e.get("writes_c", False)) for e in entries]


def equivalents() -> dict[tuple[str, str, str, str, int], str]:
    """Return the reason why each mutant of the list changes nothing, by its key."""
    entries = tomllib.loads(EQUIVALENTS.read_text(encoding="utf-8"))["equivalent"]
    found: dict[tuple[str, str, str, str, int], str] = {}
    for entry in entries:
        for change in entry["changes"]:
            what, _, turn = change.partition(" #")
            key = (entry["module"], entry["function"], entry["line"], what, int(turn or 1))
            if key in found:
                raise ValueError(f"{key} is listed twice")
            if not entry["reason"].strip():
                raise ValueError(f"{key} has no reason")
            found[key] = entry["reason"]
    return found
