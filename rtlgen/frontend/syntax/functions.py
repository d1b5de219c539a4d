"""Functions: what the definition of one says by itself, and those of C's library that are known."""

from __future__ import annotations

from pycparser import c_ast

from rtlgen.frontend.syntax.assigned import STEPS, below
from rtlgen.ir.types import INT32, INT64

TELLING = frozenset(
    (
        "assert", "fflush", "fprintf", "fputc", "fputs", "perror", "printf", "putc", "putchar",
        "puts", "vfprintf", "vprintf", "__builtin_assume", "__builtin_prefetch",
        "__builtin_printf", "__builtin_unreachable",
    )
)  # fmt: skip
"""Functions that only tell something to whoever runs the program, or to its compiler."""

BLOCK_CALLS = frozenset(("memset", "memcpy", "memmove"))
"""Functions that set a block of memory."""

ABSOLUTE = {"abs": INT32, "labs": INT64, "llabs": INT64}
"""Functions that return the magnitude of a number, and the types of it."""


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
    arguments = function.decl.type.args
    listed = arguments.params if arguments is not None else ()
    return tuple(node for node in listed if isinstance(node, c_ast.Decl) and node.name is not None)
