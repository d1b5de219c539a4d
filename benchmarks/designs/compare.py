"""Compare measured designs with those of the file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import exp, log
from typing import Literal, TypeAlias

from benchmarks.designs.figures import Figures

Mode: TypeAlias = Literal["identical", "no-worse"]
MODES: tuple[Mode, ...] = ("identical", "no-worse")
Verdict: TypeAlias = Literal["better", "equal", "changed", "worse", "added", "removed"]

TOLERANCE = 1.02
"""Times the block RAMs, or the multiplier blocks, that a design may come to take; or one more.

The blocks of a design are few: one more or less is a matter of how a memory is split, and no
reason to keep an old design. Cycles have no tolerance: they are what the compiler is for.
"""

FAILURES: Mapping[Mode, frozenset[Verdict]] = {
    "identical": frozenset({"better", "changed", "worse", "added", "removed"}),
    # A file that does not show what the list says is none to compare with.
    "no-worse": frozenset({"worse", "added", "removed"}),
}


def verdict(before: Figures | None, after: Figures | None) -> Verdict:
    """Return what has become of a design.

    Parameters
    ----------
    before: of the file; None: the row is not in it. after: None: the row is no longer in the list.

    Returns
    -------
    changed: in what is not judged: the plan, the circuit, the effort, or blocks within the
        tolerance at the same cycles.
    """
    if before is None:
        return "added"
    if after is None:
        return "removed"
    if before == after:
        return "equal"
    if before.refused is not None or after.refused is not None:
        if after.refused is None:
            return "better"
        return "worse" if before.refused is None else "changed"
    (cycles, *blocks), (more_cycles, *more_blocks) = before.costs(), after.costs()
    pairs = zip(blocks, more_blocks, strict=True)
    if more_cycles > cycles or any(more > max(old * TOLERANCE, old + 1) for old, more in pairs):
        return "worse"
    if more_cycles < cycles or (more_blocks != blocks and sum(more_blocks) < sum(blocks)):
        return "better"
    return "changed"


@dataclass(frozen=True, slots=True)
class Comparison:
    """What has become of some rows.

    Members
    -------
    before: of the file. after: as measured.
    """

    before: Mapping[str, Figures]
    after: Mapping[str, Figures]

    def verdicts(self) -> dict[str, Verdict]:
        """Return what has become of each row."""
        rows = sorted({*self.before, *self.after})
        return {row: verdict(self.before.get(row), self.after.get(row)) for row in rows}

    def passes(self, mode: Mode) -> bool:
        """Tell whether the rows are as the mode asks."""
        return not FAILURES[mode] & {*self.verdicts().values()}

    def text(self, mode: Mode) -> str:
        """Return the rows that differ in what the mode judges, and the summary."""
        verdicts = self.verdicts()
        lines = []
        for row, found in verdicts.items():
            if found in FAILURES[mode] or found == "better":
                lines += [f"{found}: {row}", *self._changes(row)]
        counted = {name: list(verdicts.values()).count(name) for name in _COUNTED}
        counts = ", ".join(f"{count} {name}" for name, count in counted.items() if count)
        return "\n".join([*lines, f"{len(verdicts)} designs: {counts}", *self._means()])

    def _changes(self, row: str) -> list[str]:
        """Return before and after of a row, a figure a line."""
        before, after = self.before.get(row), self.after.get(row)
        if before is None or after is None:
            return ["  only one of the file and the list has it: make designs MODE=write"]
        pairs = zip(_FIGURES, before.cells(), after.cells(), strict=True)
        return [f"  {name} {old} -> {new}" for name, old, new in pairs if old != new]

    def _means(self) -> list[str]:
        """Return the geometric means over the designs that were built then and are built now."""
        pairs = [
            (self.before[row], self.after[row])
            for row in sorted(self.before.keys() & self.after.keys())
            if self.before[row].refused is None and self.after[row].refused is None
        ]
        if not pairs:
            return []
        cycles = [_mean([pair[side].costs()[0] for pair in pairs]) for side in (0, 1)]
        steps = [_mean([pair[side].steps for pair in pairs]) for side in (0, 1)]
        return [
            f"geometric mean of {name}: {old:,.2f} -> {new:,.2f} ({new / old:.4f})"
            for name, (old, new) in (("cycles", cycles), ("elementary steps", steps))
        ]


_FIGURES = ("cycles", "block RAMs", "DSP", "elementary steps", "plan", "Verilog")
_COUNTED: tuple[Verdict, ...] = ("better", "equal", "changed", "worse", "added", "removed")


def _mean(values: list[int]) -> float:
    return exp(sum(log(max(value, 1)) for value in values) / len(values))
