"""Assertions, once nothing is rewritten any more."""

from __future__ import annotations

from pycparser import c_ast


class Assumption(c_ast.EmptyStatement):  # type: ignore[misc]
    """`assert(condition)`: nothing is done, and what follows may believe it.

    The condition is no part of what the program computes, and is not met by a walk over the tree.
    """

    __slots__ = ("condition",)

    def __init__(self, condition: c_ast.Node, coord: object) -> None:
        super().__init__(coord)
        self.condition = condition
