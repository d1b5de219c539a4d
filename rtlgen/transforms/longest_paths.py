"""Longest paths in a graph whose edges stay and whose lengths change: the shifts of statements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rtlgen.ir.ints import Ints


@dataclass(frozen=True, slots=True, eq=False)
class LongestPaths:
    """The edges of a graph, those into one node next to each other.

    All edges are looked at in one step, as often as there are nodes at most: the longest-path form
    of Bellman and Ford's algorithm.

    Members
    -------
    order: of the edges. sources: (edges,) nodes, in that order. sinks: nodes that have edges, each
        once; starts: where the edges into each begin.
    """

    order: Ints
    sources: Ints
    sinks: Ints
    starts: Ints

    @staticmethod
    def along(edges: Sequence[tuple[int, int]]) -> LongestPaths:
        """Return the graph of edges from a node to a node."""
        sources, sinks = np.array(edges, dtype=np.int64).reshape(-1, 2).T
        order = np.argsort(sinks, kind="stable")
        ordered = sinks[order]
        starts = np.flatnonzero(np.diff(ordered, prepend=-1))
        return LongestPaths(order, sources[order], ordered[starts], starts)

    def lengths(self, distances: Ints, begin: Ints) -> Ints | None:
        """Return the length of the longest path to every node; None: some cycle is longer than 0.

        Parameters
        ----------
        distances: (edges,) lengths, in the order in which the edges were given.
        begin: (nodes,) lengths with which paths begin at each of them.
        """
        found = begin.copy()
        if not len(self.order):
            return found
        ordered = distances[self.order]
        for _ in range(len(begin) + 1):
            before = found[self.sinks]
            reached = np.maximum.reduceat(found[self.sources] + ordered, self.starts)
            if (reached <= before).all():
                return found
            found[self.sinks] = np.maximum(before, reached)
        return None
