"""Functions: what the definition of one says by itself, and those of C's library that are known."""

from __future__ import annotations

from typing import cast

from pycparser import c_ast

from rtlgen.frontend.syntax.assigned import STEPS, below
from rtlgen.ir.expr import FloatOp
from rtlgen.ir.types import FLOAT16, FLOAT32, FLOAT64, INT32, INT64, FloatType, IntType, NumberType

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
    arguments = function.decl.type.args
    listed = arguments.params if arguments is not None else ()
    return tuple(node for node in listed if isinstance(node, c_ast.Decl) and node.name is not None)
