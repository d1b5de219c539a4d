"""Leave out dead statements: dead-code elimination by the dataflow of values.

Rewrite
-------
    int t = 0;                                     int t;
    for i<8 { t = a[i]; u = b[i]; c[i] = t; }  ->  for i<8 { t = a[i]; c[i] = t; }

What remains reads and leaves the same values: no live statement reads what a dead one stores. A
store that goes may uncover an older value of its element, but whoever read that would have read the
dead one before, and so kept it alive.
"""

from __future__ import annotations

from dataclasses import replace

from rtlgen.ir.expr import ScalarParameter, walk
from rtlgen.ir.scop import Scop
from rtlgen.ir.sets import ScopSets
from rtlgen.poly.correspondence import renumbered
from rtlgen.poly.dependences import Dataflow, dataflow, same_values
from rtlgen.poly.errors import RewriteUnsound
from rtlgen.poly.liveness import dead_statements
from rtlgen.transforms.normalise import with_statements


def without_dead(scop: Scop, sets: ScopSets, flows: Dataflow) -> Scop:
    """Return a program as parsed without its dead statements, and without those that never run.

    What only they would touch has no memory in the circuit.

    Parameters
    ----------
    sets, flows: of the same program, normalised.

    Raises
    ------
    RewriteUnsound: some value would be another one. TooComplex
    """
    dead = dead_statements(sets.scop, flows)
    if dead and not _is_unseen(dead, sets, flows):
        raise RewriteUnsound("leaving out dead statements changes a value")
    running = {statement.name for statement in sets.scop.statements}
    idle = frozenset(s.name for s in scop.statements) - running
    # Of a program of which nothing is left, those that run are named.
    gone = dead | idle if running - dead else dead
    return prune(scop, gone) if gone else scop


def _is_unseen(dead: frozenset[str], sets: ScopSets, flows: Dataflow) -> bool:
    """Tell whether all others read and leave the same values without some statements."""
    others = frozenset(s.name for s in sets.scop.statements) - dead
    to_others = [flow for flow in flows.flows if flow.sink in others]
    if any(flow.source in dead for flow in to_others):
        return False
    rest = ScopSets(with_statements(sets.scop, others), sets)
    kept = tuple(
        replace(flow, relation=renumbered(flow.relation, sets, rest)) for flow in to_others
    )
    is_left = all(flows.outliving(sets.scop, name).is_empty() for name in dead)
    return is_left and same_values(Dataflow(kept, {}), dataflow(rest))


def prune(scop: Scop, dead: frozenset[str]) -> Scop:
    """Return a program as parsed without some of its statements, and without what these alone use.

    Arrays that nothing touches any more are among the untouched ones.
    """
    rest = with_statements(scop, frozenset(s.name for s in scop.statements) - dead)
    touched = {a.array for s in rest.statements for a in (s.write, *s.reads)} | {scop.returned}
    used = {e.name for s in rest.statements for e in walk(s.expr) if isinstance(e, ScalarParameter)}
    untouched = (
        replace(array, role="local" if array.storage == "local" else "in")
        for array in scop.arrays
        if array.name not in touched
    )
    return replace(
        rest,
        arrays=tuple(array for array in scop.arrays if array.name in touched),
        scalars=tuple(scalar for scalar in scop.scalars if scalar.name in used),
        schedule=scop.schedule,
        untouched=(*scop.untouched, *untouched),
    )
