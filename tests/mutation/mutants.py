"""The single-point mutants of a Python module."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

COMPARISONS: dict[type[ast.cmpop], tuple[type[ast.cmpop], ...]] = {
    ast.Lt: (ast.LtE, ast.GtE),
    ast.LtE: (ast.Lt, ast.Gt),
    ast.Gt: (ast.GtE, ast.LtE),
    ast.GtE: (ast.Gt, ast.Lt),
    ast.Eq: (ast.NotEq,),
    ast.NotEq: (ast.Eq,),
    ast.In: (ast.NotIn,),
    ast.NotIn: (ast.In,),
    ast.Is: (ast.IsNot,),
    ast.IsNot: (ast.Is,),
}
OPERATORS: dict[type[ast.operator], type[ast.operator]] = {
    ast.Add: ast.Sub,
    ast.Sub: ast.Add,
    ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd,
    ast.LShift: ast.RShift,
    ast.RShift: ast.LShift,
}
NAMES = {
    "min": "max",
    "max": "min",
    "minimum": "maximum",
    "maximum": "minimum",
    "any": "all",
    "all": "any",
    "lex_ge_map": "lex_gt_map",
    "lex_le_map": "lex_lt_map",
    "lex_lt_map": "lex_le_map",
}
"""Functions and methods that have an opposite."""

ASSERTING = ("strict", "kind")
"""Arguments that say what always holds, or how fast it shall go, and change no answer."""

TEXTS = {"left": "right", "right": "left"}
"""Options that are given as text."""

SYMBOLS: dict[type[ast.AST], str] = {
    ast.Lt: "<", ast.LtE: "<=", ast.Gt: ">", ast.GtE: ">=", ast.Eq: "==", ast.NotEq: "!=",
    ast.In: "in", ast.NotIn: "not in", ast.Is: "is", ast.IsNot: "is not", ast.Add: "+",
    ast.Sub: "-", ast.BitAnd: "&", ast.BitOr: "|", ast.LShift: "<<", ast.RShift: ">>",
}  # fmt: skip

C_OPERATORS = {
    " < ": (" <= ", " >= "),
    " > ": (" >= ",),
    " >= ": (" > ",),
    " == ": (" != ",),
    " && ": (" || ",),
    " + ": (" - ",),
    " - ": (" + ",),
    " >> ": (" << ",),
    " & ": (" | ",),
    " ^ ": (" | ",),
    "++": ("--",),
}
"""Operators of C in text that a module writes."""

Change = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Mutant:
    """One change at one place.

    Members
    -------
    function: qualified name of the function that holds it, `<module>` outside of all.
    line: the source line, stripped; what: the change. Both together, with `turn` where a line has
        the same change twice, name the mutant however the module grows around it.
    number: its place among all mutants of the module. first, last: lines of its statement.
    """

    module: str
    function: str
    line: str
    what: str
    turn: int
    number: int
    first: int
    last: int

    @property
    def key(self) -> tuple[str, str, str, str, int]:
        """What names the mutant in the list of equivalents."""
        return self.module, self.function, self.line, self.what, self.turn

    def __str__(self) -> str:
        turn = f" (number {self.turn})" if self.turn > 1 else ""
        return f"{self.module}:{self.first} {self.function}: {self.line}\n    {self.what}{turn}"


def mutants_of(path: Path, module: str, *, writes_c: bool = False) -> list[Mutant]:
    """Return every mutant of a module; `writes_c`: its texts are C, and mutated too."""
    source = path.read_text(encoding="utf-8")
    lines = source.splitlines()
    found: list[Mutant] = []
    seen: Counter[tuple[str, str, str]] = Counter()
    for number, point in enumerate(_points(ast.parse(source), writes_c)):
        line = lines[point.line - 1].strip()
        seen[point.function, line, point.what] += 1
        turn = seen[point.function, line, point.what]
        first, last = point.statement
        found.append(Mutant(module, point.function, line, point.what, turn, number, first, last))
    return found


def mutated(source: str, number: int, *, writes_c: bool = False) -> ast.Module:
    """Return the tree of `source` with one of its mutants applied.

    Raises
    ------
    IndexError: there is no such mutant.
    """
    tree = ast.parse(source)
    list(_points(tree, writes_c))[number].apply()
    return ast.fix_missing_locations(tree)


@dataclass(frozen=True, slots=True)
class _Point:
    function: str
    line: int
    statement: tuple[int, int]
    what: str
    apply: Change


def _points(tree: ast.Module, writes_c: bool) -> Iterator[_Point]:
    """Yield the mutants in the order of the text; `apply` changes the tree in place."""
    yield from _Walk(writes_c).visit(tree, "", (1, 1))


@dataclass(frozen=True, slots=True)
class _Walk:
    writes_c: bool

    def visit(self, node: ast.AST, function: str, statement: tuple[int, int]) -> Iterator[_Point]:
        if isinstance(node, ast.stmt):
            statement = _lines_of(node)
        line = getattr(node, "lineno", statement[0])
        where = function or "<module>"
        for what, apply in self._changes(node):
            yield _Point(where, line, statement, what, apply)
        inner = function
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            prefix = f"{function}." if function else ""
            inner = prefix + node.name
        for name, value in ast.iter_fields(node):
            # Annotations are never evaluated; what decorators say of a class is no decision.
            if name in ("annotation", "returns", "type_params", "pattern", "decorator_list"):
                continue
            within = inner if name == "body" else function
            if isinstance(node, ast.Raise):
                continue  # What an error says is judged by the tests of diagnostics.
            if isinstance(node, ast.keyword) and node.arg in ASSERTING:
                continue
            if isinstance(node, ast.Assign) and _is_limit(node):
                continue  # How much work a judge may do is not what it says.
            if _is_docstring(node, name, value):
                value = value[1:]
            for child in value if isinstance(value, list) else [value]:
                if isinstance(child, ast.AST):
                    yield from self.visit(child, within, statement)

    def _changes(self, node: ast.AST) -> Iterator[tuple[str, Change]]:
        match node:
            case ast.Compare(ops=ops):
                for k, op in enumerate(ops):
                    for other in COMPARISONS[type(op)]:
                        yield _becomes(SYMBOLS[type(op)], SYMBOLS[other]), _set(ops, k, other())
            case ast.BinOp(op=op) | ast.AugAssign(op=op) if type(op) in OPERATORS:
                opposite = OPERATORS[type(op)]
                yield (
                    _becomes(SYMBOLS[type(op)], SYMBOLS[opposite]),
                    _assign(node, "op", opposite()),
                )
            case ast.BoolOp(op=op):
                is_and = isinstance(op, ast.And)
                other_op = ast.Or() if is_and else ast.And()
                words = ("and", "or") if is_and else ("or", "and")
                yield _becomes(*words), _assign(node, "op", other_op)
            case ast.UnaryOp(op=ast.Not() | ast.Invert(), operand=operand):
                symbol = "not" if isinstance(node.op, ast.Not) else "~"
                # Twice the same is the operand itself, and needs no other node.
                twice = ast.UnaryOp(type(node.op)(), operand)
                yield f"{symbol} is left out", _assign(node, "operand", twice)
            case ast.Constant(value=bool() as value):
                yield _becomes(str(value), str(not value)), _assign(node, "value", not value)
            case ast.Constant(value=int() as value):
                for new in (value + 1, value - 1):
                    yield _becomes(str(value), str(new)), _assign(node, "value", new)
            case ast.Constant(value=str() as value) if value in TEXTS:
                yield _becomes(value, TEXTS[value]), _assign(node, "value", TEXTS[value])
            case ast.Constant(value=str() as value) if self.writes_c:
                yield from _c_changes(node, value)
            case ast.Name(id=name) if name in NAMES and isinstance(node.ctx, ast.Load):
                yield _becomes(name, NAMES[name]), _assign(node, "id", NAMES[name])
            case ast.Attribute(attr=name) if name in NAMES:
                yield _becomes(name, NAMES[name]), _assign(node, "attr", NAMES[name])
            case ast.If(test=test) | ast.IfExp(test=test):
                never = ast.BoolOp(ast.And(), [ast.Constant(False), test])
                yield "the test never holds", _assign(node, "test", never)
            case ast.Expr(value=ast.Call()):
                yield "the call is left out", _skip(node)


def _lines_of(node: ast.stmt) -> tuple[int, int]:
    """Return the lines of a statement, without those of the statements inside of it."""
    last = node.end_lineno or node.lineno
    body = getattr(node, "body", None) or getattr(node, "cases", None)
    if isinstance(body, list) and body:
        first_inside = getattr(body[0], "lineno", None) or body[0].pattern.lineno
        last = max(node.lineno, first_inside - 1)
    return node.lineno, last


def _is_limit(node: ast.Assign) -> bool:
    return any(
        isinstance(x, ast.Name) and x.id.lstrip("_").startswith("MAX_") for x in node.targets
    )


def _is_docstring(node: ast.AST, name: str, value: object) -> bool:
    return (
        name == "body"
        and isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef)
        and ast.get_docstring(node) is not None
        and isinstance(value, list)
    )


def _c_changes(node: ast.Constant, text: str) -> Iterator[tuple[str, Change]]:
    for symbol, others in C_OPERATORS.items():
        for match in re.finditer(re.escape(symbol), text):
            for other in others:
                new = text[: match.start()] + other + text[match.end() :]
                context = text[max(0, match.start() - 12) : match.end() + 12].strip()
                what = f"{_becomes(symbol.strip(), other.strip())} in {context!r}"
                yield what, _assign(node, "value", new)


def _becomes(old: str, new: str) -> str:
    return f"{old} becomes {new}"


def _assign(node: ast.AST, name: str, value: object) -> Change:
    return lambda: setattr(node, name, value)


def _set(items: list[ast.cmpop], place: int, value: ast.cmpop) -> Change:
    return lambda: items.__setitem__(place, value)


def _skip(node: ast.Expr) -> Change:
    """Return a change that evaluates the statement never, but still compiles it."""
    never = ast.BoolOp(ast.And(), [ast.Constant(False), node.value])
    return _assign(node, "value", never)
