"""What of the circuit's text was left out, or read in another way than it is written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pycparser import c_ast

from rtlgen.errors import Diagnostic, Label
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.frontend.syntax.region import ASSERTING, Region, called

_SHOWN = 3
"""Places that one warning names."""


class PassedOver:
    """Warnings about the region, and about the functions that it calls.

    Parameters
    ----------
    tree: the file, its statements one effect each.
    """

    def __init__(self, region: Region, tree: c_ast.FileAST, locator: Locator) -> None:
        self._region = region
        self._locator = locator
        self._entered = called(region, tree)

    def calls(
        self, left_out: Mapping[str, Sequence[c_ast.FuncCall]], why: str
    ) -> Iterator[Diagnostic]:
        """Yield a warning for each function whose calls are left out.

        Parameters
        ----------
        left_out: the calls, by the function in which they stand.
        """
        found: dict[str, list[c_ast.Node]] = {}
        for function, calls in left_out.items():
            for call in calls:
                if self._is_read(function, call) or self._is_asserted(function, call):
                    found.setdefault(call.name.name, []).append(call)
        for name, calls in found.items():
            text = f"`{name}` is left out: {why}"
            if name in ASSERTING:
                text = f"`{name}` is believed: the circuit does not check it"
            yield _warning("W0111", text, self._labels(calls))

    def volatile(self, dropped: Mapping[c_ast.Node, Sequence[c_ast.Node]]) -> Iterator[Diagnostic]:
        """Yield a warning about variables that are read as if they were not `volatile`.

        Parameters
        ----------
        dropped: by the declaration or definition of the file in which they stand.
        """
        found: list[c_ast.Node] = []
        for outer, nodes in dropped.items():
            name = outer.decl.name if isinstance(outer, c_ast.FuncDef) else None
            found += [x for x in nodes if name is None or self._is_read(name, x)]
        found = [node for node in found if not self._locator.is_above(node)]
        found.sort(key=lambda node: int(node.coord.line))
        if found:
            text = "`volatile` is left out: nobody else is at work while the circuit runs"
            yield _warning("W0116", text, self._labels(found))

    def bounds(self, full: Sequence[tuple[c_ast.Node, str]]) -> Iterator[Diagnostic]:
        """Yield a warning about loops that run on when the program has left them.

        Parameters
        ----------
        full: places of the loops, and up to where they run.
        """
        if not full:
            return
        places = {node.coord.line: (node, bound) for node, bound in full}
        found = sorted(places.values(), key=lambda x: int(x[0].coord.line))
        labels = [Label(self._locator.start(node), f"runs {bound}") for node, bound in found]
        yield _warning("W0115", "a loop that may end earlier takes the cycles of its bound", labels)

    def _is_asserted(self, function: str, call: c_ast.FuncCall) -> bool:
        """Return whether a call asserts something of the values that come into the region."""
        is_kernel = function == self._region.function.decl.name
        return is_kernel and call.name.name in ASSERTING and self._region.follows(call)

    def _is_read(self, function: str, node: c_ast.Node) -> bool:
        if function == self._region.function.decl.name:
            return self._region.holds(node)
        return function in self._entered

    def _labels(self, nodes: Sequence[c_ast.Node]) -> list[Label]:
        return [Label(self._locator.span(node)) for node in nodes]


def _warning(code: str, message: str, labels: Sequence[Label]) -> Diagnostic:
    """Return a warning that shows the first few places."""
    more = len(labels) - _SHOWN
    notes = (f"and {more} more",) if more > 0 else ()
    return Diagnostic(code, message, tuple(labels[:_SHOWN]), notes, severity="warning")
