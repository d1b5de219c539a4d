"""Which statements share loops: strongly connected components and where to cut between them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import groupby

import rustworkx

from rtlgen.poly.edges import Edge
from rtlgen.poly.strong_components import strong_components

Group = tuple[str, ...]


def connected(statements: Sequence[str], edges: Sequence[Edge]) -> list[Group]:
    """Return the groups of statements that edges connect, in the order of their first members."""
    place = {name: k for k, name in enumerate(statements)}
    graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
    graph.add_nodes_from(list(statements))
    graph.add_edges_from_no_data(sorted({(place[e.source], place[e.sink]) for e in edges}))
    parts = sorted(sorted(part) for part in rustworkx.weakly_connected_components(graph))
    return [tuple(statements[k] for k in part) for part in parts]


def components(statements: Sequence[str], edges: Sequence[Edge]) -> list[Group]:
    """Return the strongly connected components, sources first, else in the given order."""
    return strong_components(statements, [(e.source, e.sink) for e in edges])


def cut_by_depth(groups: Sequence[Group], depths: Mapping[str, int]) -> list[Group]:
    """Return neighbouring groups of the same depth as one."""
    return [
        tuple(name for group in same for name in group)
        for _, same in groupby(groups, lambda group: max(depths[name] for name in group))
    ]


def cut_after_longest(groups: Sequence[Group], possible: Callable[[Group], bool]) -> list[Group]:
    """Cut once: after the longest run of leading groups that may share a hyperplane."""
    for count in range(len(groups) - 1, 0, -1):
        leading = tuple(name for group in groups[:count] for name in group)
        if count == 1 or possible(leading):
            rest = tuple(name for group in groups[count:] for name in group)
            return [leading, rest]
    return list(groups)
