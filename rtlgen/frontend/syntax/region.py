"""Functions, and which of them, or which part of one, is the kernel.

Functions: what the definition of one says by itself, and those of C's library that are known.

Which function is the kernel, and which part of it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import cast

from pycparser import c_ast

from rtlgen.errors import Label
from rtlgen.frontend.errors import (
    AmbiguousFunction,
    CSyntaxError,
    NoFunction,
    RegionPragma,
    UnknownFunction,
)
from rtlgen.frontend.syntax.assigned import STEPS, below, called_by, declared, functions, mentioned
from rtlgen.frontend.syntax.locate import Locator
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.types import FLOAT16, FLOAT32, FLOAT64, INT32, INT64, FloatType, IntType, NumberType
from rtlgen.source import Span

TELLING = frozenset(
    (
        "assert", "fflush", "fprintf", "fputc", "fputs", "perror", "printf", "putc", "putchar",
        "puts", "vfprintf", "vprintf", "__builtin_assume", "__builtin_prefetch",
        "__builtin_printf", "__builtin_unreachable",
    )
)  # fmt: skip
"""Functions that only tell something to whoever runs the program, or to its compiler."""

ASSERTING = frozenset(("assert", "__builtin_assume"))
"""Those that say what is so."""

BLOCK_CALLS = frozenset(("memset", "memcpy", "memmove"))
"""Functions that set a block of memory."""

ROUNDING = frozenset(
    ("fesetround", "fesetenv", "feupdateenv", "feholdexcept", "feenableexcept", "fesetmode")
)
"""Functions of <fenv.h> that change how operations are rounded, or what they stop at."""

ABSOLUTE = {"abs": INT32, "labs": INT64, "llabs": INT64}
"""Functions that return the magnitude of a number, and the types of it."""

_OPERATIONS: dict[str, tuple[FloatOp, int]] = {
    "sqrt": ("sqrt", 1), "fabs": ("abs", 1), "floor": ("floor", 1), "ceil": ("ceil", 1),
    "trunc": ("trunc", 1), "round": ("round", 1), "rint": ("rint", 1), "nearbyint": ("rint", 1),
    "roundeven": ("rint", 1), "fmin": ("min", 2), "fmax": ("max", 2), "fma": ("fma", 3),
    "copysign": ("copysign", 2),
}  # fmt: skip
_SUFFIXES = {"": FLOAT64, "f": FLOAT32, "f16": FLOAT16, "f32": FLOAT32, "f64": FLOAT64}

FLOAT_OPERATIONS: dict[str, tuple[FloatOp, int, FloatType]] = {
    f"{prefix}{name}{suffix}": (*operation, type_)
    for name, operation in _OPERATIONS.items()
    for suffix, type_ in _SUFFIXES.items()
    for prefix in ("", "__builtin_")
}
"""Functions of <math.h> that are one operation: what it is, of how many operands, in which type."""

ROUNDED_TO_INTEGERS: dict[str, tuple[FloatOp, IntType, FloatType]] = {
    f"{prefix}{size}{name}{suffix}": (op, INT64, type_)
    for name, op in cast("dict[str, FloatOp]", {"round": "round", "rint": "rint"}).items()
    for size in ("l", "ll")
    for suffix, type_ in (("", FLOAT64), ("f", FLOAT32))
    for prefix in ("", "__builtin_")
}
"""Functions that round to an integer and convert the result."""

BIT_PATTERNS: dict[str, tuple[NumberType, NumberType]] = {
    "__float_as_uint": (FLOAT32, IntType(32, False)),
    "__uint_as_float": (IntType(32, False), FLOAT32),
    "__double_as_ulong": (FLOAT64, IntType(64, False)),
    "__ulong_as_double": (IntType(64, False), FLOAT64),
    "__half_as_ushort": (FLOAT16, IntType(16, False)),
    "__ushort_as_half": (IntType(16, False), FLOAT16),
}
"""What lowering writes for the bits of a number as another type: from which, and to which."""

CLASSIFICATIONS = frozenset(
    f"{prefix}{name}{suffix}"
    for name in ("isnan", "isinf", "isfinite", "isnormal", "signbit")
    for prefix, suffix in (("", ""), ("", "f"), ("__", ""), ("__", "f"), ("__builtin_", ""))
)
"""Macros that tell what a number is, of any floating-point type."""

ORDERED_COMPARISONS: dict[str, str] = {
    f"{prefix}{name}": op
    for name, op in {
        "isgreater": "gt", "isgreaterequal": "ge", "isless": "lt", "islessequal": "le",
    }.items()
    for prefix in ("", "__builtin_")
}  # fmt: skip
"""Macros that compare as the operators do, but for flags that no circuit has."""


def is_pure(function: c_ast.FuncDef) -> bool:
    """Return whether a function assigns its own scalars only, and has neither loops nor calls.

    All names in it must be different, so that blocks need no scopes of their own.
    """
    declared = [p.name for p in parameters(function)]
    for node in below(function.body):
        match node:
            case c_ast.Decl(type=c_ast.TypeDecl()) if not node.storage and node.name:
                declared.append(node.name)
            case c_ast.Decl() | c_ast.For() | c_ast.While() | c_ast.DoWhile() | c_ast.Switch():
                return False
            case c_ast.Goto() | c_ast.Label() | c_ast.Pragma() | c_ast.Typedef():
                return False
    targets = [
        node.lvalue if isinstance(node, c_ast.Assignment) else node.expr
        for node in below(function.body)
        if isinstance(node, c_ast.Assignment)
        or (isinstance(node, c_ast.UnaryOp) and node.op in (*STEPS, "&"))
    ]
    return len(set(declared)) == len(declared) and all(
        isinstance(target, c_ast.ID) and target.name in declared for target in targets
    )


def parameters(function: c_ast.FuncDef) -> tuple[c_ast.Decl, ...]:
    """Return the parameters that have a name."""
    type_ = function.decl.type
    arguments = type_.args if isinstance(type_, c_ast.FuncDecl) else None
    listed = arguments.params if arguments is not None else ()
    return tuple(node for node in listed if isinstance(node, c_ast.Decl) and node.name)


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
        name: node for name, node in functions(tree).items() if not locator.is_above(node.decl)
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
    known = functions(tree)
    found: set[str] = set()
    pending = list(region.items)
    while pending:
        for node in below(pending.pop()):
            name = called_by(node)
            if name in known and name not in found:
                found.add(name)
                pending.append(known[name].body)
    return frozenset(found)


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
    """Return the functions that no other one of the file calls, or hands over to be called."""
    used: set[str] = set()
    for function in definitions.values():
        used |= mentioned(function.body) - declared(function.decl.type, function.body)
    return [function for name, function in definitions.items() if name not in used]


def _pragmas(root: c_ast.Node) -> Iterator[c_ast.Pragma]:
    """Yield the pragmas below `root` that mark a region: others are those of loops."""
    stack = [root]
    while stack:
        node = stack.pop()
        if isinstance(node, c_ast.Pragma) and node.string in ("scop", "endscop"):
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
