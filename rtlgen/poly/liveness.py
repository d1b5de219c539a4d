"""Live statements: those whose values can be seen after the run, or decide one that can.

A value is seen where it outlives the run outside of local variables, or is returned. Whatever
statement gives it its operands, by the dataflow of values, is live with it. All other statements
are dead, also those that read nothing but each other.
"""

from __future__ import annotations

from rtlgen.ir.scop import Scop
from rtlgen.poly.dependences import Dataflow


def dead_statements(scop: Scop, flows: Dataflow) -> frozenset[str]:
    """Return the names of the dead statements of a normalised program.

    Parameters
    ----------
    flows: its dataflow.
    """
    sources: dict[str, set[str]] = {}
    for flow in flows.flows:
        sources.setdefault(flow.sink, set()).add(flow.source)
    names = [statement.name for statement in scop.statements]
    live = {name for name in names if not flows.outliving(scop, name).is_empty()}
    todo = list(live)
    while todo:
        found = sources.get(todo.pop(), set()) - live
        live |= found
        todo += found
    return frozenset(names) - live
