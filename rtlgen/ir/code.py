"""A program written out: the loops, tests and assignments that run it in the order of a schedule.

Indices are mathematical integers here; `floord` and `ceild` round as their names say, and `div` and
`mod` stand only where the dividend is not negative or divides exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.ir.affine import Affine, Congruence, Constraint

Comparison: TypeAlias = Literal["lt", "le", "gt", "ge", "eq", "ne"]
IndexOp: TypeAlias = (
    Literal[
        "add", "sub", "mul", "neg", "floord", "ceild", "div", "mod", "min", "max", "and", "or",
        "select",
    ]
    | Comparison
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Number:
    """A constant."""

    value: int


@dataclass(frozen=True, slots=True)
class Variable:
    """What a `For` counts or a `Let` begins."""

    name: str


@dataclass(frozen=True, slots=True)
class Operation:
    """An operation on indices; truth values are 0 and 1, and `select` has the condition first."""

    op: IndexOp
    operands: tuple[Index, ...]

    def __post_init__(self) -> None:
        arity = {"neg": 1, "select": 3}.get(self.op, 2)
        if len(self.operands) != arity:
            raise ValueError(f"{self.op} of {len(self.operands)} operands")


Index: TypeAlias = Number | Variable | Operation


@dataclass(frozen=True, slots=True)
class For:
    """`for (variable = first; condition; variable += step) body`."""

    variable: str
    first: Index
    condition: Index
    step: int
    body: tuple[Code, ...]

    def __post_init__(self) -> None:
        if self.step == 0:
            raise ValueError(f"the loop over {self.variable} does not advance")


@dataclass(frozen=True, slots=True)
class If:
    """`if (condition) then else otherwise`."""

    condition: Index
    then: tuple[Code, ...]
    otherwise: tuple[Code, ...] = ()


@dataclass(frozen=True, slots=True)
class Let:
    """`{ variable = value, ...; body }`: variables with their first values, for `body` alone."""

    variables: tuple[tuple[str, Index], ...]
    body: tuple[Code, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """`variable = value`."""

    variable: str
    value: Index


@dataclass(frozen=True, slots=True)
class Run:
    """The instance of `statement` whose iterators have `values`."""

    statement: str
    values: tuple[Index, ...]


Code: TypeAlias = For | If | Let | Assign | Run


def walk_code(nodes: tuple[Code, ...]) -> Iterator[Code]:
    """Yield every node, a parent before its body."""
    for node in nodes:
        yield node
        match node:
            case For(body=body) | Let(body=body):
                yield from walk_code(body)
            case If(_, then, otherwise):
                yield from walk_code(then)
                yield from walk_code(otherwise)


def variables_of(index: Index) -> frozenset[str]:
    """Return the variables that an index depends on."""
    match index:
        case Variable(name):
            return frozenset((name,))
        case Operation(_, operands):
            return frozenset(name for operand in operands for name in variables_of(operand))
        case Number():
            return frozenset()


def substituted(index: Index, values: Mapping[str, Index]) -> Index:
    """Return an index with other indices in place of variables."""
    match index:
        case Variable(name):
            return values.get(name, index)
        case Operation(op, operands):
            return Operation(op, tuple(substituted(operand, values) for operand in operands))
        case Number():
            return index


def used_variables(nodes: tuple[Code, ...]) -> frozenset[str]:
    """Return the variables that `nodes` read, other than to step themselves."""
    found: set[str] = set()
    for node in walk_code(nodes):
        own = {node.variable} if isinstance(node, Assign) else set()
        for index in _indices(node):
            found |= variables_of(index) - own
    return frozenset(found)


def _indices(node: Code) -> tuple[Index, ...]:
    """Return what a node itself evaluates, its body left out."""
    match node:
        case For(_, first, condition):
            return (first, condition)
        case If(condition):
            return (condition,)
        case Let(variables):
            return tuple(value for _, value in variables)
        case Assign(_, value):
            return (value,)
        case Run(_, values):
            return values


def index_of(affine: Affine) -> Index:
    """Return an affine expression as an index."""
    terms: list[tuple[int, Index]] = [(c, Variable(name)) for name, c in affine.terms]
    if affine.constant or not terms:
        terms.append((1 if affine.constant >= 0 else -1, Number(abs(affine.constant))))
    # A term that is added stands first where there is one: j - i reads better than -i + j.
    terms.sort(key=lambda term: term[0] < 0)
    total: Index | None = None
    for coefficient, factor in terms:
        size = abs(coefficient)
        part = factor if size == 1 else Operation("mul", (Number(size), factor))
        if total is None:
            total = part if coefficient > 0 else Operation("neg", (part,))
        else:
            total = Operation("add" if coefficient > 0 else "sub", (total, part))
    assert total is not None
    return total


def at_least_zero(affine: Affine) -> Operation:
    """Return the condition `affine >= 0`, with negative terms brought to the other side."""
    left = Affine.of({n: c for n, c in affine.terms if c > 0}, max(affine.constant, 0))
    right = Affine.of({n: -c for n, c in affine.terms if c < 0}, max(-affine.constant, 0))
    return Operation("ge", (index_of(left), index_of(right)))


def condition_of(constraint: Constraint) -> Operation:
    """Return a condition on iterators."""
    if isinstance(constraint, Congruence):
        form, modulus = constraint.form, Number(constraint.modulus)
        quotient = Operation("floord", (index_of(form), modulus))
        return Operation("eq", (index_of(form), Operation("mul", (modulus, quotient))))
    return at_least_zero(constraint)


def affine_of(index: Index) -> Affine | None:
    """Return an index as an affine expression of its variables, or None where it is none."""
    match index:
        case Number(value):
            return Affine((), value)
        case Variable(name):
            return Affine.variable(name)
        case Operation(op, operands) if op in ("add", "sub", "mul", "neg"):
            parts = [affine_of(operand) for operand in operands]
            return _combined(op, [part for part in parts if part is not None], len(parts))
        case _:
            return None


def _combined(op: str, parts: list[Affine], wanted: int) -> Affine | None:
    if len(parts) < wanted:
        return None
    if op == "neg":
        return -parts[0]
    left, right = parts
    if op == "add":
        return left + right
    if op == "sub":
        return left - right
    if left.is_constant:
        return right * left.constant
    return left * right.constant if right.is_constant else None


def all_of(conditions: list[Index]) -> Index | None:
    """Return the conjunction of `conditions`, or None where there is none to meet."""
    total: Index | None = None
    for condition in conditions:
        total = condition if total is None else Operation("and", (total, condition))
    return total


def fresh(name: str, taken: frozenset[str]) -> str:
    """Return `name`, with underscores behind it until it is not taken."""
    while name in taken:
        name += "_"
    return name
