"""Scops for tests: a short way to write one down, and a strategy for random ones."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import get_args

from hypothesis import strategies as st

from rtlgen.ir.affine import Affine, Constraint
from rtlgen.ir.expr import (
    COMPARISONS,
    ArithmeticOp,
    Binary,
    Cast,
    CompareOp,
    Constant,
    Expr,
    IndexValue,
    Read,
    ScalarParameter,
    Select,
    Unary,
    UnaryOp,
    walk,
)
from rtlgen.ir.schedule import Schedule
from rtlgen.ir.scop import (
    Access,
    Array,
    ConditionNode,
    Loop,
    LoopNode,
    Node,
    Role,
    ScalarArgument,
    Scop,
    Statement,
    StatementNode,
    walk_tree,
)
from rtlgen.ir.types import INT32, IntType, NumberType
from rtlgen.source import SourceFile, Span

HERE = Span("test.c", 1, 1)


def array(
    name: str, shape: tuple[int, ...], role: Role = "inout", element: NumberType = INT32
) -> Array:
    """Return an array, a parameter unless it is local."""
    return Array(name, element, shape, role, "local" if role == "local" else "parameter", HERE)


def access(name: str, *subscripts: Affine | str | int) -> Access:
    """Return an access; a string is an iterator."""
    return Access(name, tuple(map(affine, subscripts)), HERE)


def affine(value: Affine | str | int) -> Affine:
    if isinstance(value, Affine):
        return value
    return Affine.variable(value) if isinstance(value, str) else Affine((), value)


def loop(
    iterator: str,
    start: Affine | str | int,
    stop: Affine | str | int,
    step: int = 1,
    scale: int = 1,
) -> Loop:
    return Loop(iterator, affine(start), affine(stop), step, HERE, scale)


def scop(
    arrays: Sequence[Array],
    tree: Sequence[Node],
    bodies: Mapping[str, tuple[Access, tuple[Access, ...], Expr]],
    scalars: Sequence[ScalarArgument] = (),
    returned: str | None = None,
) -> Scop:
    """Return a Scop; `bodies` gives (write, reads, expr) of every statement in the tree."""
    statements = tuple(
        Statement(node.statement, loops, conditions, *bodies[node.statement], HERE, "")
        for node, loops, conditions in _placed(tuple(tree), (), ())
    )
    names = [node.statement for node in walk_tree(tuple(tree)) if isinstance(node, StatementNode)]
    schedule = Schedule(dict.fromkeys(names, ()))
    source = SourceFile("test.c", "\n")
    return Scop(
        "f", tuple(arrays), tuple(scalars), statements, tuple(tree), schedule, source, returned
    )


def _placed(
    nodes: tuple[Node, ...], loops: tuple[Loop, ...], conditions: tuple[Constraint, ...]
) -> list[tuple[StatementNode, tuple[Loop, ...], tuple[Constraint, ...]]]:
    found: list[tuple[StatementNode, tuple[Loop, ...], tuple[Constraint, ...]]] = []
    for node in nodes:
        if isinstance(node, StatementNode):
            found.append((node, loops, conditions))
        elif isinstance(node, LoopNode):
            found += _placed(node.body, (*loops, node.loop), conditions)
        else:
            found += _placed(node.body, loops, (*conditions, *node.conditions))
    return found


TYPES = st.builds(IntType, st.sampled_from([8, 16, 32, 64]), st.booleans())
_SCALARS = (
    ScalarArgument("p", INT32, HERE),
    ScalarArgument("q", IntType(8, False), HERE),
)
_EXTENT = 8


@st.composite
def random_scops(draw: st.DrawFn) -> Scop:
    """Draw a program: triangular, strided, guarded, imperfect nests over every type and operator.

    Subscripts may leave the arrays, divisors may be 0, shift counts may be anything.
    """
    arrays = [
        array("A", (_EXTENT,), "inout", draw(TYPES)),
        array("B", (_EXTENT, 3), "inout", draw(TYPES)),
        array("s", (), "inout", draw(TYPES)),
        array("L", (_EXTENT,), "local", draw(TYPES)),
    ]
    bodies: dict[str, tuple[Access, tuple[Access, ...], Expr]] = {}
    tree = draw(_nodes((), arrays, bodies, depth=0))
    return scop(arrays, tree, bodies, _SCALARS, returned=draw(st.sampled_from([None, "s"])))


@st.composite
def _nodes(
    draw: st.DrawFn,
    iterators: tuple[str, ...],
    arrays: list[Array],
    bodies: dict[str, tuple[Access, tuple[Access, ...], Expr]],
    depth: int,
) -> list[Node]:
    nodes: list[Node] = []
    for _ in range(draw(st.integers(1, 2))):
        kinds = ["statement", "loop", "loop", "condition"] if depth < 3 else ["statement"]
        kind = draw(st.sampled_from(kinds))
        if kind == "statement":
            name = f"S{len(bodies)}"
            bodies[name] = draw(_body(iterators, arrays))
            nodes.append(StatementNode(name))
            continue
        inner = iterators if kind == "condition" else (*iterators, f"i{depth}")
        head = draw(_loop(inner[-1], iterators)) if kind == "loop" else None
        body = tuple(draw(_nodes(inner, arrays, bodies, depth + 1)))
        if head is not None:
            nodes.append(LoopNode(head, body))
        else:
            conditions = draw(st.lists(_affine(iterators), max_size=2))
            nodes.append(ConditionNode(tuple(conditions), body))
    return nodes


@st.composite
def _loop(draw: st.DrawFn, iterator: str, outer: tuple[str, ...]) -> Loop:
    step = draw(st.sampled_from([1, 1, 2, 3, -1, -2]))
    scale = draw(st.sampled_from([1, 1, 2]))
    low, high = draw(st.integers(-1, 2)), draw(st.integers(0, 6))
    start, stop = (low, high) if step > 0 else (high, low)
    edge: Affine | int = start
    triangular: bool = draw(st.booleans())
    if outer and triangular:
        edge = Affine.variable(draw(st.sampled_from(outer)))
    return loop(iterator, edge, stop, step, scale)


@st.composite
def _affine(draw: st.DrawFn, iterators: tuple[str, ...], *, steep: bool = True) -> Affine:
    terms = {}
    varies: bool = draw(st.sampled_from([False, True, True, True]))
    if iterators and varies:
        coefficients = [-2, -1, 1, 2] if steep else [1]
        terms[draw(st.sampled_from(iterators))] = draw(st.sampled_from(coefficients))
    return Affine.of(terms, draw(st.integers(-1, 3) if steep else st.integers(0, 1)))


@st.composite
def _access(draw: st.DrawFn, iterators: tuple[str, ...], arrays: list[Array]) -> Access:
    target = draw(st.sampled_from(arrays))
    subscripts = [draw(_affine(iterators, steep=False)) for _ in target.shape]
    if len(subscripts) == 2:
        subscripts[1] = Affine((), draw(st.integers(0, 2)))
    return Access(target.name, tuple(subscripts), HERE)


@st.composite
def _body(
    draw: st.DrawFn, iterators: tuple[str, ...], arrays: list[Array]
) -> tuple[Access, tuple[Access, ...], Expr]:
    write = draw(_access(iterators, arrays))
    reads = tuple(draw(st.lists(_access(iterators, arrays), max_size=3)))
    elements = {a.name: a.element for a in arrays}
    leaves = [Read(k, elements[read.array]) for k, read in enumerate(reads)]
    stored = elements[write.array]
    assert isinstance(stored, IntType)
    expr = draw(expressions(stored, leaves, iterators))
    return write, reads, expr


def expressions(
    type_: IntType, reads: Sequence[Read], iterators: tuple[str, ...]
) -> st.SearchStrategy[Expr]:
    """Return a strategy for well-typed expressions of `type_`."""
    return _expressions(type_, tuple(reads), iterators, 3)


@st.composite
def _expressions(
    draw: st.DrawFn, type_: IntType, reads: tuple[Read, ...], iterators: tuple[str, ...], depth: int
) -> Expr:
    def operand(operand_type: IntType) -> Expr:
        return draw(_expressions(operand_type, reads, iterators, depth - 1))

    kinds = ["leaf", "unary", "arithmetic", "arithmetic", "compare", "select", "cast"]
    match draw(st.sampled_from(kinds)) if depth else "leaf":
        case "unary":
            op = draw(st.sampled_from(get_args(UnaryOp)))
            if op == "lnot":
                return converted(Unary(op, operand(draw(TYPES)), INT32), type_)
            return Unary(op, operand(type_), type_)
        case "arithmetic":
            arithmetic = draw(st.sampled_from(get_args(ArithmeticOp)))
            right = draw(TYPES) if arithmetic in ("shl", "shr") else type_
            return Binary(arithmetic, operand(type_), operand(right), type_)
        case "compare":
            compare: CompareOp = draw(st.sampled_from(sorted(COMPARISONS)))
            both = draw(TYPES)
            return converted(Binary(compare, operand(both), operand(both), INT32), type_)
        case "select":
            return Select(operand(draw(TYPES)), operand(type_), operand(type_), type_)
        case "cast":
            return Cast(operand(draw(TYPES)), type_)
        case _:
            return draw(_leaf(type_, reads, iterators))


@st.composite
def _leaf(
    draw: st.DrawFn, type_: IntType, reads: tuple[Read, ...], iterators: tuple[str, ...]
) -> Expr:
    match draw(st.sampled_from(["read", "read", "constant", "index", "scalar"])):
        case "read" if reads:
            return converted(draw(st.sampled_from(reads)), type_)
        case "scalar":
            scalar = draw(st.sampled_from(_SCALARS))
            return converted(ScalarParameter(scalar.name, scalar.type), type_)
        case "index":
            return IndexValue(draw(_affine(iterators)), type_)
        case _:
            corners = [type_.minimum, type_.maximum, 0, 1, type_.wrap(-1)]
            anywhere = st.integers(type_.minimum, type_.maximum)
            return Constant(draw(st.one_of(st.sampled_from(corners), anywhere)), type_)


def converted(expr: Expr, type_: IntType) -> Expr:
    """Return `expr`, cast where its type is another."""
    return expr if expr.type == type_ else Cast(expr, type_)


def operators_of(program: Scop) -> set[str]:
    """Return the operators that a program uses, for statistics."""
    nodes = (node for s in program.statements for node in walk(s.expr))
    return {node.op for node in nodes if isinstance(node, Unary | Binary)}
