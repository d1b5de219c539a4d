"""Strongly connected components of statements, in an order in which nothing points back."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import rustworkx


def strong_components(
    names: Sequence[str], edges: Iterable[tuple[str, str]]
) -> list[tuple[str, ...]]:
    """Return the components of a graph, sources first, else in the order of `names`.

    The members of each are in that order, too.
    """
    place = {name: k for k, name in enumerate(names)}
    graph: rustworkx.PyDiGraph[str, None] = rustworkx.PyDiGraph()
    graph.add_nodes_from(list(names))
    graph.add_edges_from_no_data(sorted({(place[a], place[b]) for a, b in edges if a != b}))
    members = [sorted(part) for part in rustworkx.strongly_connected_components(graph)]
    home = {k: number for number, part in enumerate(members) for k in part}
    condensed: rustworkx.PyDiGraph[list[int], None] = rustworkx.PyDiGraph()
    condensed.add_nodes_from(members)
    condensed.add_edges_from_no_data(
        sorted({(home[a], home[b]) for a, b in graph.edge_list() if home[a] != home[b]})
    )
    order = rustworkx.lexicographical_topological_sort(condensed, key=lambda part: f"{part[0]:09d}")
    return [tuple(names[k] for k in part) for part in order]
