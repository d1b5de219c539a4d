"""Which function is the kernel, and which part of it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import (
    AmbiguousFunction,
    CSyntaxError,
    NoFunction,
    RegionPragma,
    UnknownFunction,
)
from rtlgen.frontend.syntax.assigned import below
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.source import Span


@dataclass(frozen=True, slots=True)
class Region:
    """The kernel's function, cut at its pragmas.

    Members
    -------
    before, after: what stands outside of the region; empty without pragmas.
    items: the declarations and statements of the region.
    """

    function: c_ast.FuncDef
    before: tuple[c_ast.Node, ...]
    items: tuple[c_ast.Node, ...]
    after: tuple[c_ast.Node, ...]

    def holds(self, node: c_ast.Node) -> bool:
        """Return whether a node of the function stands in the region."""
        marks = self._marks()
        return not marks or marks[0] < node.coord.line < marks[-1]

    def follows(self, node: c_ast.Node) -> bool:
        """Return whether the region stands behind a node of the function."""
        marks = self._marks()
        return bool(marks) and bool(node.coord.line < marks[0])

    def _marks(self) -> list[int]:
        items = self.function.body.block_items or ()
        return [item.coord.line for item in items if isinstance(item, c_ast.Pragma)]


def select_region(tree: c_ast.FileAST, function: str | None, locator: Locator) -> Region:
    """Return the region of the chosen function that is compiled.

    Raises
    ------
    FrontendError: there is no such function, or its pragmas mark no region.
    """
    chosen = select_function(tree, function, locator)
    items = tuple(chosen.body.block_items or ())
    marks = [(k, item) for k, item in enumerate(items) if isinstance(item, c_ast.Pragma)]
    _check_marks(chosen, marks, locator)
    if not marks:
        return Region(chosen, (), items, ())
    start, end = marks[0][0], marks[1][0]
    return Region(chosen, items[:start], items[start + 1 : end], items[end + 1 :])


def select_function(tree: c_ast.FileAST, function: str | None, locator: Locator) -> c_ast.FuncDef:
    """Return the function that is compiled.

    It is that which `--function` names, the only one, the marked one, or the only one
    that no other one calls, unused `static` ones left out; `main` counts only where it is alone.

    Raises
    ------
    FrontendError: there is no such one.
    """
    definitions = {
        node.decl.name: node
        for node in tree.ext
        if isinstance(node, c_ast.FuncDef) and not locator.is_above(node.decl)
    }
    for node in definitions.values():
        if not isinstance(node.decl.type, c_ast.FuncDecl):
            raise CSyntaxError(
                f"syntax error: `{node.decl.name}` has a body but no parameters",
                labels=(Label(locator.name_span(node.decl, node.decl.name)),),
            )
    return _choose(definitions, function, locator)


def called(region: Region, tree: c_ast.FileAST) -> frozenset[str]:
    """Return the functions that the region calls, and those that they call."""
    bodies = {node.decl.name: node.body for node in tree.ext if isinstance(node, c_ast.FuncDef)}
    found: set[str] = set()
    pending = list(region.items)
    while pending:
        for node in below(pending.pop()):
            name = str(node.name.name) if _is_call(node) else ""
            if name in bodies and name not in found:
                found.add(name)
                pending.append(bodies[name])
    return frozenset(found)


def _is_call(node: c_ast.Node) -> bool:
    return isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)


def _choose(
    definitions: dict[str, c_ast.FuncDef], function: str | None, locator: Locator
) -> c_ast.FuncDef:
    candidates = ", ".join(definitions)
    if function is not None:
        if function not in definitions:
            raise UnknownFunction(
                f"the file defines no function `{function}`",
                notes=(f"it defines: {candidates}",) if definitions else (),
            )
        return definitions[function]
    if not definitions:
        raise NoFunction("the file defines no function")
    if len(definitions) > 1 and "main" in definitions and not any(_pragmas(definitions["main"])):
        # What stands beside a kernel in its file is its test bench.
        definitions = {name: node for name, node in definitions.items() if name != "main"}
    if len(definitions) == 1:
        return next(iter(definitions.values()))
    uncalled = _not_called(definitions)
    # A helper that nobody needs is no kernel either.
    shared = [node for node in uncalled if "static" not in node.decl.storage]
    uncalled = shared if len(shared) == 1 else uncalled
    if len(uncalled) == 1 and not any(list(_pragmas(d.body)) for d in definitions.values()):
        return uncalled[0]
    marked = [node for node in definitions.values() if any(_pragmas(node.body))]
    if len(marked) == 1:
        return marked[0]
    raise AmbiguousFunction(
        "the file defines several functions",
        labels=tuple(
            Label(locator.name_span(node.decl, name)) for name, node in definitions.items()
        ),
        help=f"choose one with --function: {candidates}",
    )


def _not_called(definitions: dict[str, c_ast.FuncDef]) -> list[c_ast.FuncDef]:
    """Return the functions that no other one of the file calls."""
    called = {
        node.name.name
        for function in definitions.values()
        for node in below(function.body)
        if isinstance(node, c_ast.FuncCall) and isinstance(node.name, c_ast.ID)
    }
    return [function for name, function in definitions.items() if name not in called]


def _pragmas(root: c_ast.Node) -> Iterator[c_ast.Pragma]:
    """Yield the pragmas below `root`; the preprocessor has kept only scop and endscop."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, c_ast.Pragma):
            yield node
        stack.extend(child for _, child in reversed(node.children()))


def _check_marks(
    function: c_ast.FuncDef, marks: list[tuple[int, c_ast.Pragma]], locator: Locator
) -> None:
    outermost = [mark for _, mark in marks]
    for pragma in _pragmas(function.body):
        if not any(pragma is mark for mark in outermost):
            raise RegionPragma(
                f"#pragma {pragma.string} stands inside a block",
                labels=(Label(_place(pragma, locator)),),
                help="put it between statements of the function's outermost block",
            )
    names = [mark.string for mark in outermost]
    if names not in ([], ["scop", "endscop"]):
        raise RegionPragma(
            "the function has no single region",
            labels=tuple(Label(_place(mark, locator)) for mark in outermost),
            help="write #pragma scop once, and #pragma endscop once after it",
        )


def _place(pragma: c_ast.Pragma, locator: Locator) -> Span:
    return locator.start(pragma)
