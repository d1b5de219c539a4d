"""`#pragma rtlgen bound N`: a loop has at most N iterations."""

from __future__ import annotations

import re

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import RegionPragma
from rtlgen.frontend.lowering.nodes import LOOPS
from rtlgen.frontend.syntax.locate import Locator

_BOUND = re.compile(r"rtlgen\s+bound\s*(?:\(\s*(\w+)\s*\)|(\w+))")


def take_bounds(tree: c_ast.FileAST, locator: Locator) -> dict[int, int]:
    """Take the pragmas out of a file; return the bounds by the lines of the loops' places.

    Raises
    ------
    RegionPragma: one stands before no loop, or states no number.
    """
    bounds: dict[int, int] = {}
    pending: list[c_ast.Node] = [tree]
    while pending:
        node = pending.pop()
        pending += [child for _, child in node.children()]
        for name in node.__slots__:
            value = getattr(node, name, None)
            if isinstance(value, list):
                setattr(node, name, _taken(value, bounds, locator))
    return bounds


def _taken(items: list[c_ast.Node], bounds: dict[int, int], locator: Locator) -> list[c_ast.Node]:
    found: list[c_ast.Node] = []
    stated: tuple[int, c_ast.Pragma] | None = None
    for item in items:
        if isinstance(item, c_ast.Pragma) and item.string.split()[:1] == ["rtlgen"]:
            stated = _stated(item, locator), item
            continue
        loop = item
        while isinstance(loop, c_ast.Label):
            loop = loop.stmt
        if stated is not None and not isinstance(loop, LOOPS):
            break
        if stated is not None:
            bounds[loop.coord.line] = stated[0]
            stated = None
        found.append(item)
    if stated is not None:
        raise RegionPragma(
            f"#pragma {stated[1].string} stands before no loop",
            labels=(Label(locator.start(stated[1])),),
            help="put it on the line before `for`, `while` or `do`",
        )
    return found


def _stated(pragma: c_ast.Pragma, locator: Locator) -> int:
    match = _BOUND.fullmatch(pragma.string.strip())
    text = (match[1] or match[2]) if match else ""
    if not text.isdigit() or int(text) < 1:
        raise RegionPragma(
            f"#pragma {pragma.string} states no bound",
            labels=(Label(locator.start(pragma)),),
            help="write the most iterations as a number: #pragma rtlgen bound 100",
        )
    return int(text)
