"""A program in which one value at a time can be changed on its way.

Every operand and result of every statement, a *site*, becomes

    ((value ^ (chosen & flip)) & (~chosen | keep)) + (chosen & add)

where `chosen` is all ones at one site and 0 elsewhere. Which site it is, and `flip`, `keep` and
`add`, are scalar arguments of the program: it is compiled once and run for every change. Without a
chosen site it computes what the program computes. Of a number it is the pattern that is changed: a
step is its last bit, a negative its sign.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    FloatOperation,
    Read,
    ScalarParameter,
    Scatter,
    Select,
    Unary,
    children,
    to_text,
    with_children,
)
from rtlgen.ir.scop import ScalarArgument, Scop, Statement
from rtlgen.ir.types import INT32, INT64, FloatType, IntType, NumberType

Change: TypeAlias = Literal["zero", "step", "negate", "one"]

NO_SITE = -1

# flip, keep, add
_FACTORS: Mapping[Change, tuple[int, int, int]] = {
    "zero": (0, 0, 0),
    "one": (0, 0, 1),
    "step": (0, -1, 1),
    "negate": (-1, -1, 1),
}


def _factors(change: Change, type_: NumberType) -> tuple[int, int, int]:
    if isinstance(type_, FloatType):
        one = type_.bias << type_.fraction_bits
        changes = {"step": (1, -1, 0), "negate": (type_.sign_bit, -1, 0), "one": (0, 0, one)}
        flip, keep, add = changes.get(change, _FACTORS[change])
        return INT64.wrap(flip), keep, add
    return _FACTORS[change]


_OF_INTEGERS: tuple[Change, ...] = ("zero", "step", "negate")
_OF_NUMBERS: tuple[Change, ...] = ("step", "zero", "negate", "one")
"""The next number of a sum's first value, 0, is lost behind it: 1 is not."""
_OF_CONDITIONS: tuple[Change, ...] = ("zero", "one")


@dataclass(frozen=True, slots=True, eq=False)
class Site:
    """A place where a value can be changed.

    Members
    -------
    value: the operand in the program, or all that the statement stores.
    outer: the site of which it is an operand; None for what the statement stores.
    changes: that make sense there.
    """

    number: int
    statement: Statement
    value: Expr
    outer: Site | None
    changes: tuple[Change, ...]

    @property
    def is_result(self) -> bool:
        return self.outer is None

    @property
    def text(self) -> str:
        """The operand, as C has it, without the conversions that C makes of itself."""
        value = self.value
        while isinstance(value, Cast):
            value = value.operand
        return to_text(value, tuple(map(str, self.statement.reads)))


@dataclass(frozen=True, slots=True, eq=False)
class Perturbed:
    """The program with its sites, results first.

    Members
    -------
    scop: the program with scalar arguments more.
    """

    scop: Scop
    sites: tuple[Site, ...]
    _names: tuple[str, str, str, str]

    def arguments(self, site: Site | None = None, change: Change = "zero") -> dict[str, int]:
        """Return the scalar arguments that make a change at a site, or none."""
        number = NO_SITE if site is None else site.number
        factors = _FACTORS[change] if site is None else _factors(change, site.value.type)
        return dict(zip(self._names, (number, *factors), strict=True))


def perturbed(scop: Scop, statements: Iterable[str]) -> Perturbed:
    """Return `scop` with sites in the given statements."""
    taken = {array.name for array in scop.arrays} | {scalar.name for scalar in scop.scalars}
    # No C identifier has a dot.
    names = ("site.number", "site.flip", "site.keep", "site.add")
    assert taken.isdisjoint(names)
    asked = frozenset(statements)
    sites = _Sites(names)
    changed = tuple(sites.in_statement(s) if s.name in asked else s for s in scop.statements)
    place = scop.statements[0].span
    arguments = tuple(ScalarArgument(name, INT64, place) for name in names)
    program = replace(scop, statements=changed, scalars=(*scop.scalars, *arguments))
    found = sorted(sites.found, key=lambda site: (not site.is_result, site.number))
    return Perturbed(program, tuple(found), names)


class _Sites:
    """Puts sites into expressions."""

    def __init__(self, names: tuple[str, str, str, str]) -> None:
        self._names = names
        self.found: list[Site] = []

    def in_statement(self, statement: Statement) -> Statement:
        expr = statement.expr
        if not isinstance(expr, Scatter):
            return replace(statement, expr=self._tapped(expr, statement, None))
        # Where it writes is left alone, as where it reads is.
        result = len(self.found)
        value = self._tapped(expr.value, statement, None)
        condition = self._tapped(expr.condition, statement, self.found[result], True)
        return replace(statement, expr=replace(expr, condition=condition, value=value))

    def _tapped(
        self, expr: Expr, statement: Statement, outer: Site | None, is_condition: bool = False
    ) -> Expr:
        """Return `expr` with sites at itself and at its operands."""
        is_logical = is_condition or _is_logical(expr)
        is_number = isinstance(expr.type, FloatType)
        changes = _OF_CONDITIONS if is_logical else _OF_NUMBERS if is_number else _OF_INTEGERS
        site = Site(len(self.found), statement, expr, outer, changes)
        self.found.append(site)
        inner = self._inside(expr, site)
        type_ = _changed_in(expr.type)
        which, flip, keep, add = self._names
        selected = Binary("eq", ScalarParameter(which, INT64), Constant(site.number, INT64), INT32)
        chosen = Unary("neg", Cast(selected, type_), type_)
        value = inner if type_ == expr.type else Cast(inner, type_)
        value = Binary("xor", value, _masked(chosen, flip, type_), type_)
        kept = Binary("or", Unary("not", chosen, type_), ScalarParameter(keep, type_), type_)
        value = Binary("and", value, kept, type_)
        value = Binary("add", value, _masked(chosen, add, type_), type_)
        return value if type_ == expr.type else Cast(value, expr.type)

    def _inside(self, expr: Expr, site: Site) -> Expr:
        """Return `expr` with sites at its operands."""
        if isinstance(expr, Read):
            # Where it reads is left alone: an element outside of the array would stop the run.
            return expr
        if isinstance(expr, Cast):
            # What is converted is the same value, or the same bits, and has the same site.
            return Cast(self._inside(expr.operand, site), expr.type)
        return with_children(
            expr,
            tuple(
                self._tapped(operand, site.statement, site, isinstance(expr, Select) and place == 0)
                for place, operand in enumerate(children(expr))
            ),
        )


def _changed_in(type_: NumberType) -> IntType:
    """Return the type of the integers in which a value is changed."""
    if isinstance(type_, FloatType) or type_.is_bool:
        return IntType(type_.width_bits, False)
    return type_


def _masked(chosen: Expr, name: str, type_: IntType) -> Expr:
    return Binary("and", chosen, ScalarParameter(name, type_), type_)


def _is_logical(expr: Expr) -> bool:
    """Return whether the value is 0 or 1."""
    match expr:
        case Binary(op=op) | FloatOperation(op=op):
            return op in COMPARISONS
        case Unary(op=op):
            return op == "lnot"
        case Cast(operand=operand):
            return _is_logical(operand)
        case _:
            return expr.type.is_bool
