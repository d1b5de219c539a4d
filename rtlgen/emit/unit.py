"""The program after a pass as a translation unit: compile it with gcc -std=c99 -fwrapv.

The program as parsed, whose order is that of its own loops.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from textwrap import fill
from typing import TypeAlias

from rtlgen.emit.expressions import (
    constant_text,
    division_body,
    division_name,
    divisions,
    expression_text,
    has_conditions,
    needs_math,
    number_function_bodies,
    type_text,
)
from rtlgen.emit.lines import CALLS, INDENT, LineWriter, bare, index_text
from rtlgen.ir.affine import Affine
from rtlgen.ir.code import (
    Code,
    For,
    If,
    Let,
    Operation,
    Run,
    affine_of,
    all_of,
    condition_of,
    fresh,
    index_of,
    walk_code,
)
from rtlgen.ir.expr import Constant, Expr, ScalarParameter, Scatter, map_affine, walk
from rtlgen.ir.schedule import FlatDim, Schedule
from rtlgen.ir.scop import (
    Access,
    Array,
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Parameter,
    Scop,
    Statement,
    StatementNode,
)
from rtlgen.ir.sets import ScopSets
from rtlgen.ir.types import C_FLOAT_NAMES, FloatType, IntType
from rtlgen.poly.scan import scan, scan_flat


def written(scop: Scop, taken: frozenset[str]) -> tuple[Code, ...]:
    """Return the loop tree of `scop`; no variable is called as one of `taken`."""
    return _nodes(scop, scop.tree, {}, taken)


def _nodes(
    scop: Scop, nodes: tuple[Node, ...], names: Mapping[str, Affine], taken: frozenset[str]
) -> tuple[Code, ...]:
    code: list[Code] = []
    for node in nodes:
        match node:
            case LoopNode(loop, body):
                name = fresh(loop.iterator, taken)
                inner = {**names, loop.iterator: Affine.variable(name)}
                code.append(_loop(loop, name, names, _nodes(scop, body, inner, taken | {name})))
            case ConditionNode(conditions, body):
                condition = all_of([condition_of(c.substitute(names)) for c in conditions])
                inside = _nodes(scop, body, names, taken)
                code += inside if condition is None else [If(condition, inside)]
            case StatementNode(statement):
                iterators = scop.statement(statement).iterators
                code.append(Run(statement, tuple(index_of(names[i]) for i in iterators)))
    return tuple(code)


def _loop(loop: Loop, name: str, names: Mapping[str, Affine], body: tuple[Code, ...]) -> For:
    counter = index_of(Affine.variable(name) * loop.scale)
    stop = index_of(loop.stop.substitute(names))
    before = Operation("lt" if loop.step > 0 else "gt", (counter, stop))
    return For(name, index_of(loop.start.substitute(names)), before, loop.step, body)


_LINE = 98
"""Columns of a prototype, with what may stand behind it."""

_TYPES = frozenset(f"{sign}int{width}_t" for sign in ("", "u") for width in (8, 16, 32, 64))

_TYPE_NAMES = "|".join((*_TYPES, *C_FLOAT_NAMES.values()))

_UNWANTED_WARNINGS = (
    "type-limits",
    "tautological-compare",
    "bool-compare",
    "bool-operation",
    "sign-compare",
)


Values: TypeAlias = Mapping[str, Affine]
"""What the iterators of a statement stand for in one of its instances."""


@dataclass(frozen=True, slots=True)
class OwnText:
    """How some statements are written, where that is not their assignment.

    Members
    -------
    declarations: of variables that they use, a line each. lines: by statement, the lines of an
        instance, given its values and what functions are called. taken: names in all of that.
    unmentioned: local arrays that stand nowhere in them.
    """

    declarations: tuple[str, ...] = ()
    lines: Mapping[str, Callable[[Values, Mapping[str, str]], list[str]]] = field(
        default_factory=dict
    )
    taken: frozenset[str] = frozenset()
    unmentioned: frozenset[str] = frozenset()


def c_program(scop: Scop, after: str, own: OwnText | None = None) -> str:
    """Return `scop` in the order of its schedule as a translation unit of C99.

    Parameters
    ----------
    after: what the comment at the top calls the stage of the program.
    own: how some of its statements are written.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    own = own or OwnText()
    names = program_names(scop) | own.taken
    own_functions = (*CALLS, *_division_names(scop), *_number_functions(scop))
    calls = {name: fresh(name, names) for name in own_functions}
    taken = names | frozenset(calls.values())
    return _Unit(scop, after, calls, _code(scop, taken), taken, own).text()


def program_names(scop: Scop) -> frozenset[str]:
    """Return the names that the program itself has in C."""
    stored = (array.name for array in scop.arrays)
    return frozenset((scop.name, *stored, *(p.name for p in scop.parameters))) | _TYPES


def _division_names(scop: Scop) -> list[str]:
    found = {pair for statement in scop.statements for pair in divisions(statement.expr)}
    return sorted(division_name(op, type_) for op, type_ in found)


def _number_functions(scop: Scop) -> dict[str, tuple[str, ...]]:
    return number_function_bodies([*(s.expr for s in scop.statements), *_table_values(scop)])


def _table_values(scop: Scop) -> list[Constant]:
    tables = (array for array in scop.arrays if array.is_table)
    return [Constant(value, array.element) for array in tables for value in array.values]


def _has_numbers(scop: Scop) -> bool:
    stored = [array.element for array in scop.arrays] + [scalar.type for scalar in scop.scalars]
    return any(isinstance(type_, FloatType) for type_ in stored)


def _code(scop: Scop, taken: frozenset[str]) -> tuple[Code, ...]:
    if not scop.schedule.dims:
        return written(scop, taken)
    sets = ScopSets(scop)
    scanned = scan_flat if _is_flat(scop.schedule) else scan
    return scanned(sets, scop.schedule, taken)


def _is_flat(schedule: Schedule) -> bool:
    return any(isinstance(dim, FlatDim) for dims in schedule.dims.values() for dim in dims)


@dataclass(frozen=True, slots=True)
class _Unit:
    """One translation unit.

    Members
    -------
    calls: what each function that C does not have is called; code: the function's body.
    taken: names that a local variable must not hide. own: how some statements are written.
    """

    scop: Scop
    after: str
    calls: dict[str, str]
    code: tuple[Code, ...]
    taken: frozenset[str]
    own: OwnText

    def text(self) -> str:
        definition = "\n".join(self._definition())
        parts = [
            self._head(),
            "\n".join(self._includes()),
            *self._pragmas(),
            *self._functions(definition),
            *self._globals(),
            f"{self._signature()};",
            definition,
        ]
        return "\n\n".join(parts) + "\n"

    def _head(self) -> str:
        has_numbers = _has_numbers(self.scop)
        lines = [
            f"{self.scop.name} after {self.after}, from {self.scop.source.path}",
            "Signed arithmetic wraps: compile with -fwrapv.",
            *(["No product is fused with a sum: -ffp-contract=off."] if has_numbers else []),
            "",
        ]
        for statement in self.scop.statements:
            lines.append(f"{statement.name}, line {statement.span.line}: {statement.text}")
        if self.scop.schedule.dims:
            lines += ["", "schedule", *str(self.scop.schedule).splitlines()]
        return "\n".join(["/*", *(f" * {_comment(line)}".rstrip() for line in lines), " */"])

    def _includes(self) -> Iterator[str]:
        exprs = [*(s.expr for s in self.scop.statements), *_table_values(self.scop)]
        if needs_math(exprs):
            yield "#include <math.h>"
        yield "#include <stdint.h>"

    def _pragmas(self) -> Iterator[str]:
        if self.own.lines or any(has_conditions(s.expr) for s in self.scop.statements):
            comment = "/* A condition of the program may have one outcome only. */"
            pragmas = (f'#pragma GCC diagnostic ignored "-W{name}"' for name in _UNWANTED_WARNINGS)
            yield "\n".join([comment, *pragmas])

    def _functions(self, definition: str) -> Iterator[str]:
        shown = [name for name in CALLS if re.search(rf"\b{self.calls[name]}\(", definition)]
        if shown:
            yield "\n".join(_function("int64_t", self.calls[n], CALLS[n]) for n in shown)
        needed = {pair for s in self.scop.statements for pair in divisions(s.expr)}
        if needed:
            yield "\n".join(
                _function(
                    type_text(type_),
                    self.calls[division_name(op, type_)],
                    division_body(op, type_),
                )
                for op, type_ in sorted(needed)
            )

        for name, (head, *lines) in _number_functions(self.scop).items():
            body = (f"{INDENT}{line}" for line in lines)
            head = head.replace("NAME", self.calls[name])
            yield "\n".join([f"static inline {head}", "{", *body, "}"])

    def _globals(self) -> Iterator[str]:
        stored = [
            a
            for a in self.scop.arrays
            if a.storage != "parameter" and a.role != "local" and not a.is_table
        ]
        if stored:
            yield "\n".join(f"{_declared(array)};" for array in stored)

    def _signature(self) -> str:
        returned = self.scop.returned
        result = "void" if returned is None else type_text(self.scop.array(returned).element)
        parameters = ", ".join(map(self._parameter, self.scop.parameters)) or "void"
        text = f"{result} {self.scop.name}({parameters})"
        inside = " " * (text.index("(") + 1)
        # Types and names stay together: no line breaks after a type.
        kept = re.sub(rf"\b({_TYPE_NAMES}) ", "\\1\0", text)
        return fill(kept, _LINE, subsequent_indent=inside, break_long_words=False).replace(
            "\0", " "
        )

    def _parameter(self, parameter: Parameter) -> str:
        for array in self.scop.arrays:
            if array.storage == "parameter" and array.name == parameter.name:
                return _declared(array)
        star = "*" if parameter.is_array else ""
        return f"{type_text(parameter.type)} {star}{parameter.name}"

    def _definition(self) -> Iterator[str]:
        yield f"{self._signature()} {{"
        for array in self.scop.arrays:
            if array.is_table:
                table = f"static const {_declared(array)} = {_values(array, self.calls)};"
                inside = INDENT * 2
                yield fill(table, _LINE, initial_indent=INDENT, subsequent_indent=inside)
            elif array.role == "local" and array.name not in self.own.unmentioned:
                yield f"{INDENT}{_declared(array)} = {'{0}' if array.shape else '0'};"
        yield from (f"{INDENT}{line}" for line in self.own.declarations)
        for name in self._unread():
            yield f"{INDENT}(void){name};"
        yield from LineWriter(self.calls, self._instance).lines(self.code, 1)
        if self.scop.returned is not None:
            yield f"{INDENT}return {self.scop.returned};"
        yield "}"

    def _unread(self) -> list[str]:
        """Return the parameters and local variables that a compiler would call unused."""
        statements = self.scop.statements
        touched = {s.write.array for s in statements}
        read = {access.array for s in statements for access in s.reads}
        nodes = (node for s in statements for node in walk(s.expr))
        used = touched | read | {n.name for n in nodes if isinstance(n, ScalarParameter)}
        there = [a for a in self.scop.arrays if a.name not in self.own.unmentioned]
        local = [a.name for a in there if a.role == "local"]
        return [
            *(p.name for p in self.scop.parameters if p.name not in used),
            *(name for name in local if name not in read | {self.scop.returned}),
        ]

    def _instance(self, run: Run) -> list[str]:
        statement = self.scop.statement(run.statement)
        values: dict[str, Affine] = {}
        bound: dict[str, str] = {}
        for iterator, index in zip(statement.iterators, run.values, strict=True):
            affine = affine_of(index)
            if affine is None:
                name = fresh(iterator, self.taken | _variables(self.code))
                bound[name] = f"const int64_t {name} = {index_text(index, self.calls)};"
                affine = Affine.variable(name)
            values[iterator] = affine
        written = self._written(statement, values)
        used = set(re.findall(r"\w+", "\n".join(written)))
        lines = [*(text for name, text in bound.items() if name in used), *written]
        if statement.name in self.own.lines and len(lines) == len(written):
            return lines
        return ["{", *(f"{INDENT}{text}" for text in lines), "}"] if len(lines) > 1 else lines

    def _written(self, statement: Statement, values: dict[str, Affine]) -> list[str]:
        """Return the lines of an instance."""
        if statement.name in self.own.lines:
            return self.own.lines[statement.name](values, self.calls)
        return [f"{self._assignment(statement, values)} {place_text(statement)}"]

    def _assignment(self, statement: Statement, values: dict[str, Affine]) -> str:
        def element(read: int, computed: Sequence[str]) -> str:
            return access_text(statement.reads[read], values, computed)

        def text(part: Expr) -> str:
            return expression_text(map_affine(part, values), element, self.calls)

        expr = statement.expr
        if not isinstance(expr, Scatter):
            return f"{access_text(statement.write, values, ())} = {bare(text(expr))};"
        written = access_text(statement.write, values, [text(part) for part in expr.at])
        always = isinstance(expr.condition, Constant) and expr.condition.value
        guard = "" if always else f"if {text(expr.condition)} "
        return f"{guard}{written} = {bare(text(expr.value))};"


def _function(type_: str, name: str, value: str) -> str:
    head = f"static inline {type_} {name}({type_} a, {type_} b)"
    return f"{head} {{ return {value}; }}"


def _declared(array: Array) -> str:
    extents = "".join(f"[{extent}]" for extent in array.shape)
    return f"{type_text(array.element)} {array.name}{extents}"


def _values(array: Array, calls: Mapping[str, str]) -> str:
    """Return the values of a table, in braces for each of its dimensions."""
    type_ = array.element
    is_short = isinstance(type_, IntType) and type_.width_bits < 64
    parts = [str(v) if is_short else constant_text(v, type_, calls) for v in array.values]
    for extent in reversed(array.shape):
        rows = range(0, len(parts), extent)
        parts = [f"{{{', '.join(parts[row : row + extent])}}}" for row in rows]
    return parts[0]


def access_text(access: Access, values: Values, computed: Sequence[str]) -> str:
    """Return the text of an element; `computed` are the subscripts that are no affine functions."""
    others = iter(computed)
    shown = (
        str(subscript.substitute(values)) if isinstance(subscript, Affine) else next(others)
        for subscript in access.subscripts
    )
    return access.array + "".join(f"[{subscript}]" for subscript in shown)


def place_text(statement: Statement) -> str:
    """Return a comment that says where a statement comes from."""
    return f"/* {statement.name}, line {statement.span.line} */"


def _variables(code: Sequence[Code]) -> frozenset[str]:
    """Return every variable that `code` begins."""
    found: set[str] = set()
    for node in walk_code(tuple(code)):
        if isinstance(node, For):
            found.add(node.variable)
        elif isinstance(node, Let):
            found |= {name for name, _ in node.variables}
    return frozenset(found)


def _comment(text: str) -> str:
    """Return text that neither ends nor opens a comment."""
    return " ".join(text.split()).replace("*/", "* /").replace("/*", "/ *")
