"""How far a statement must start after another one: two independent computations of one number.

`exact_shift` takes the integer maximum over the dependence relation. `binary_search_shift` is the
method of MF3 (Izawa et al.): try a shift, look for a violated pair, halve the interval. They must
agree, and the tests compare them on every dependence of every example.
"""

from __future__ import annotations

from rtlgen.ir.schedule import FlatDim
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.dependences import Dependence
from rtlgen.poly.extrema import pair_extrema


def exact_shift(
    sets: ScopSets, dependence: Dependence, source: FlatDim, sink: FlatDim, together: bool
) -> int:
    """Return the smallest legal shift_sink - shift_source for one dependence.

    Parameters
    ----------
    together: source and sink may share an iteration (the source stands first in the text).
    """
    coefficients: list[int] = []
    for name, dim, sign in ((dependence.source, source, 1), (dependence.sink, sink, -1)):
        iterators = sets.scop.statement(name).iterators
        coefficients += [sign * dim.rank.coefficient(iterator) for iterator in iterators]
    constant = source.rank.constant - sink.rank.constant
    largest = pair_extrema(dependence.relation).maximum(coefficients, constant)
    return largest if together else largest + 1


def binary_search_shift(
    sets: ScopSets, dependence: Dependence, source: FlatDim, sink: FlatDim, together: bool
) -> int:
    """Return the same number as `exact_shift`, by MF3's binary search over legality."""

    def legal(shift: int) -> bool:
        before = sets.time_map(sets.scop.statement(dependence.source), [source.rank])
        after = sets.time_map(sets.scop.statement(dependence.sink), [sink.rank + shift])
        wrong = before.lex_gt_map(after) if together else before.lex_ge_map(after)
        disjoint: bool = dependence.relation.intersect(wrong).is_empty()
        return disjoint

    # Every rank lies in 0 .. count - 1, so these bounds are illegal and legal for certain.
    low, high = -sink.count - 1, source.count + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if legal(middle) else (middle, high)
    return high
