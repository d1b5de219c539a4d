"""The flow of the values of a small program, from a list of its instances.

isl finds last writes by maxima over relations, and with a few subscripts like (x + 2 * y) % 5 that
takes more operations than the whole program has instances. Those are listed then, each access
between its neighbours at the same element, and told to isl in runs.

    t[5 * (y % 5) + x % 5], read at (0, 0), (0, 1), .. (0, 4)  ->  one run: { [0, x] : 0 <= x < 5 }
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import islpy as isl
import numpy as np

from rtlgen.ir.affine import Affine
from rtlgen.ir.effort import keep_going
from rtlgen.ir.ints import Ints
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.poly.counting import count_points
from rtlgen.poly.instances import (
    MANY_INSTANCES,
    Pairs,
    dependent_pairs,
    enumerated_size,
    statement_points,
    touched_elements,
)

MOST_RUNS = 256
"""Runs of one relation. isl compares each with every other one: those in a third of a second."""


@dataclass(frozen=True, slots=True, eq=False)
class ListedFlows:
    """Where values come from, and which outlive the program.

    Members
    -------
    flows: by source, sink and read of the sink: {writing instance -> reading instance}.
    live_out: by statement, the instances that may write an element that is not written again.
    """

    flows: Mapping[tuple[str, str, int], isl.Map]
    live_out: Mapping[str, isl.Set]


def listed_flows(sets: ScopSets) -> ListedFlows | None:
    """Return the flow of the values of a normalised program, scheduled in program order.

    None: it has too many instances, or too many runs.
    """
    scop = sets.scop
    counts = {name: count_points(domain) for name, domain in sets.domains.items()}
    size = enumerated_size(scop, counts)
    if size > MANY_INSTANCES:
        return None
    keep_going(sets.context, work=size)
    flows: dict[tuple[str, str, int], isl.Map] = {}
    written_again: dict[str, list[Ints]] = {s.name: [] for s in scop.statements}
    for (source, sink, source_read, sink_read), pairs in dependent_pairs(scop).items():
        if scop.array(scop.statement(source).write.array).is_stream and source_read is None:
            # The one writes behind the other, not over it.
            continue
        if source_read is None and sink_read is None:
            written_again[source].append(pairs.sources)
        elif source_read is None and sink_read is not None:
            relation = _relation(sets, scop.statement(source), scop.statement(sink), pairs)
            if relation is None:
                return None
            flows[source, sink, sink_read] = relation
    live_out: dict[str, isl.Set] = {}
    for statement in scop.statements:
        points = statement_points(scop, statement)
        # A pair is of one element; a scatter may write several.
        again = Counter(row.tobytes() for rows in written_again[statement.name] for row in rows)
        touched = (touched_elements(scop, statement, statement.write, points) >= 0).sum(axis=1)
        written = np.array([again[row.tobytes()] for row in points], dtype=np.int64)
        left = points[written < touched]
        # What a relation to themselves leads to.
        alive = _relation(sets, statement, statement, Pairs(left, left))
        if alive is None:
            return None
        live_out[statement.name] = alive.range()
    return ListedFlows(flows, live_out)


def _relation(sets: ScopSets, source: Statement, sink: Statement, pairs: Pairs) -> isl.Map | None:
    """Return {source instance -> sink instance} of some pairs, None where these are many runs."""
    names = sets.statement_tuple(source.name), sets.statement_tuple(sink.name)
    rows = np.unique(np.concatenate([pairs.sinks, pairs.sources], axis=1), axis=0)
    runs = _runs(rows, pairs.sinks.shape[1])
    if len(runs) > MOST_RUNS:
        return None
    spans = [(rows[first], rows[min(first + 1, end - 1)], end - first) for first, end in runs]
    found = [_run_text(names, pairs.sinks.shape[1], *span) for span in spans]
    if not found:
        every = (sets.domains[statement.name].get_space() for statement in (source, sink))
        return isl.Map.from_domain_and_range(*map(isl.Set.empty, every))
    return sets.read_map("{ " + "; ".join(found) + " }").reverse().coalesce()


def _runs(rows: Ints, own: int) -> list[tuple[int, int]]:
    """Return the first row of each run, and the one behind its last.

    From row to row of a run the last iterator of the sink counts up, and those of the source move
    by the same.

    Parameters
    ----------
    rows: (pairs, iterators of the sink, then of the source), sorted. own: how many the sink has.
    """
    count = len(rows)
    if own == 0:
        return [(n, n + 1) for n in range(count)]
    steps = np.diff(rows, axis=0)
    near = (steps[:, : own - 1] == 0).all(axis=1) & (steps[:, own - 1] == 1)
    runs: list[tuple[int, int]] = []
    first = 0
    while first < count:
        end = first + 1
        while end < count and near[end - 1] and (steps[end - 1] == steps[first]).all():
            end += 1
        runs.append((first, end))
        first = end
    return runs


def _run_text(names: tuple[str, str], own: int, first: Ints, second: Ints, length: int) -> str:
    """Return one run in isl's words, from the sink to the source.

    Parameters
    ----------
    own: iterators of the sink. first, second: two rows of the run, see `_runs`; the same if alone.
    """
    begin, step = first.tolist(), (second - first).tolist()
    if length == 1:
        ends = [", ".join(map(str, part)) for part in (begin[own:], begin[:own])]
        return f"{names[1]}[{ends[1]}] -> {names[0]}[{ends[0]}]"
    # The last iterator of the sink, d0, is where it was, and so much further.
    at = begin[own - 1]
    source = ", ".join(
        affine_text(Affine.of({"d0": by}, value - by * at), ("d0",))
        for value, by in zip(begin[own:], step[own:], strict=True)
    )
    sink = ", ".join([*map(str, begin[: own - 1]), "d0"])
    return f"{names[1]}[{sink}] -> {names[0]}[{source}] : {at} <= d0 < {at + length}"
