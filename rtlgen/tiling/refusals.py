"""Why a unit cannot run in tiles that were tried, and how much RAM would do."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from rtlgen.errors import RtlgenError
from rtlgen.ir.effort import TooComplex, limited_effort
from rtlgen.ir.scop import Scop
from rtlgen.ir.transfer_patterns import MOST_TILES
from rtlgen.poly.errors import IllegalSchedule
from rtlgen.scheduling.errors import NoLanes, RaggedDomain, WindowsTooLarge
from rtlgen.tiling.cut import CutPart

MOST_UNFITTING = 6
"""Tiles of which it is asked how little RAM would do, where none fit."""


class Refusals:
    """Why tiles of a unit were refused: the first reason, or the least RAM that was missing.

    Parameters
    ----------
    scop: its statements. budget_bits: the RAM that there is.
    """

    def __init__(self, scop: Scop, budget_bits: int) -> None:
        self.scop = scop
        self.budget_bits = budget_bits
        self._first: RtlgenError | None = None
        self._unfitting: list[tuple[int, CutPart]] = []

    def add(self, error: RtlgenError) -> None:
        """Note an error; of several, the first one counts.

        That some order of the tiles is illegal says less than why a legal one cannot be built.
        """
        if self._first is None or (_is_illegal(self._first) and not _is_illegal(error)):
            self._first = error

    def rather(self, error: RtlgenError) -> None:
        """Note an error that says more than those before it."""
        self._first = error

    def too_many(self, count: str) -> None:
        """Note that tiles are too many to be followed.

        Parameters
        ----------
        count: how many there are of what.
        """
        names = ", ".join(s.name for s in self.scop.statements)
        self.add(
            TooComplex(
                f"{names} would run in {count}",
                notes=(f"their cycles are predicted up to {MOST_TILES:,}",),
                help="choose larger tiles: --tile",
            )
        )

    def too_large(self, bits: int, cut: CutPart) -> None:
        """Note that tiles take more RAM than there is."""
        self._unfitting.append((bits, cut))

    def why(self, least_bits: Callable[[CutPart], int]) -> RtlgenError | None:
        """Return why no tiles do; that RAM is missing says more than anything else.

        What did not fit was narrowed down to the RAM that there is. That may take more than what
        keeps more on chip, and so moves less through windows.

        Parameters
        ----------
        least_bits: returns the bits of RAM that a unit in tiles takes at least.
        """
        if not self._unfitting:
            return self._first
        smallest = sorted(self._unfitting, key=lambda pair: pair[0])[:MOST_UNFITTING]
        least = smallest[0][0]
        for _, cut in smallest:
            with suppress(RaggedDomain, TooComplex, NoLanes), limited_effort():
                least = min(least, least_bits(cut))
        return WindowsTooLarge.of([self.scop.statements[0]], [least], self.budget_bits)


def _is_illegal(error: RtlgenError) -> bool:
    return isinstance(error, IllegalSchedule)
