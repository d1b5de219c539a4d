"""Names of statements: S0, S1, ... in the order of the text, or their labels."""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import DuplicateName
from rtlgen.source import Span


class StatementNames:
    """Gives each statement of the text its name, once.

    A statement that is repeated, for each case of a condition, gets S3, S3_1, S3_2, ...
    """

    def __init__(self) -> None:
        self._copies: dict[int, list[str]] = {}
        self._taken: dict[str, Span] = {}

    def give(self, node: c_ast.Node, label: str | None, span: Span) -> str:
        """Return the name of the next copy of the statement that `node` is.

        Raises
        ------
        DuplicateName: a label is the name of another statement.
        """
        copies = self._copies.setdefault(id(node), [])
        first = label or f"S{len(self._copies) - 1}"
        name = f"{copies[0]}_{len(copies)}" if copies else first
        if name in self._taken:
            raise DuplicateName(
                f"two statements are called {name}",
                labels=(Label(span), Label(self._taken[name], "the other one")),
                help="rename the label",
            )
        copies.append(name)
        self._taken[name] = span
        return name
