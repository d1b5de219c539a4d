"""The instances of every statement, and which iteration of a nest is the last one of them."""

from __future__ import annotations

from rtlgen.ir.ints import Ints
from rtlgen.ir.sets import ScopSets, domain_text
from rtlgen.poly.closed_extrema import extrema
from rtlgen.poly.counting import count_points
from rtlgen.poly.extrema import PairExtrema, set_extrema
from rtlgen.poly.instances import statement_points
from rtlgen.transforms.candidates import Placement


class Instances:
    """Answers for all statements of a normalised program, each prepared when it is first asked."""

    def __init__(self, sets: ScopSets) -> None:
        self._sets = sets
        self._counts: dict[str, int] = {}
        self._points: dict[str, Ints] = {}
        self._extrema: dict[str, PairExtrema] = {}

    def count(self, name: str) -> int:
        """Return how many instances a statement has."""
        if name not in self._counts:
            self._counts[name] = count_points(self._sets.domains[name])
        return self._counts[name]

    def points(self, name: str) -> Ints:
        """Return the (n, iterators) instances of a statement."""
        statement = self._sets.scop.statement(name)
        # The lanes of a loop have the same instances, and there may be millions.
        domain = domain_text(statement)
        if domain not in self._points:
            self._points[domain] = statement_points(self._sets.scop, statement)
        return self._points[domain]

    def last_rank(self, name: str, placed: Placement) -> int:
        """Return the rank of the last instance in a nest: what follows is padding."""
        if placed.closed is not None:
            return extrema(placed.closed.function, self._sets.domains[name])[1]
        if placed.rank is None:
            return int(placed.ranks(self.points(name)).max())
        coefficients, constant = placed.rank
        return self._extrema_of(name).maximum(coefficients, constant)

    def _extrema_of(self, name: str) -> PairExtrema:
        if name not in self._extrema:
            self._extrema[name] = set_extrema(self._sets.domains[name])
        return self._extrema[name]
