"""What iterators decide: conditions, choices, quotients and remainders, taken apart into cases.

i != j                       i < j   or   i > j
i % 3 == 1                   a congruence, which a loop can step by
i % 8                        is i - 8          where 8 <= i < 16
i / 4                        is 2              where 8 <= i < 12
a[i < 4 ? i : i + 2] = x;    where i < 4:  a[i] = x;      where i >= 4:  a[i + 2] = x;
j < i % 2                    where i is even:  j < 0;     where i is odd:  j < 1

Cases exclude one another; each is a conjunction of affine conditions and congruences.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from rtlgen.frontend.analysis.quotients import NEGATED, Quotient, compared, quotient_of
from rtlgen.frontend.analysis.ranges import Cases, Ranges
from rtlgen.frontend.analysis.truth_tables import SYMBOLS, told_by_values
from rtlgen.frontend.text.constants import result_of
from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    IndexValue,
    Read,
    ScalarParameter,
    Select,
    Unary,
    children,
    walk,
    with_children,
)
from rtlgen.ir.value_ranges import is_truth

MAX_CASES = 8


def cases_of(expr: Expr, negated: bool, ranges: Ranges, strides: bool) -> Cases | None:
    """Return the cases in which a value is not 0 (or is, if `negated`); None if it is not affine.

    Parameters
    ----------
    strides: take comparisons of remainders as affine conditions, too, and what the values of one
        affine function tell.
    """
    cases = _cases_as_written(expr, negated, ranges, strides)
    if cases is None and strides:
        cases = told_by_values(expr, negated, ranges)
    return cases


def _cases_as_written(expr: Expr, negated: bool, ranges: Ranges, strides: bool) -> Cases | None:
    match expr:
        case Unary("lnot", operand):
            return cases_of(operand, not negated, ranges, strides)
        case Binary("ne" | "eq" as op, left, Constant(0)) if is_truth(left):
            return cases_of(left, negated != (op == "eq"), ranges, strides)
        case Binary(op, left, right) if op in COMPARISONS:
            return _compared(NEGATED[op] if negated else op, left, right, ranges, strides)
        case Binary("and" | "or" as op, left, right) if is_truth(left) and is_truth(right):
            return _joined((op == "and") != negated, left, right, negated, ranges, strides)
        case Select(condition, if_true, if_false):
            arms = []
            for arm, otherwise in ((if_true, False), (if_false, True)):
                chosen = cases_of(condition, otherwise, ranges, strides)
                arms.append(both(chosen, cases_of(arm, negated, ranges, strides), ranges))
            return None if None in arms else tuple(case for arm in arms for case in arm or ())
        case Cast(operand) if is_truth(operand):
            return cases_of(operand, negated, ranges, strides)
        case _:
            zero = Constant(0, expr.type)
            return _compared("eq" if negated else "ne", expr, zero, ranges, strides)


def _compared(op: str, left: Expr, right: Expr, ranges: Ranges, strides: bool) -> Cases | None:
    a, b = _affine(left), _affine(right)
    if strides:
        sides = quotient_of(left, ranges), quotient_of(right, ranges)
    else:
        sides = (None if a is None else Quotient(a)), (None if b is None else Quotient(b))
    if sides[0] is not None and sides[1] is not None:
        cases = compared(op, sides[0], sides[1])
        if cases is not None:
            return possible(cases, ranges)
    return None


def _joined(
    is_both: bool, left: Expr, right: Expr, negated: bool, ranges: Ranges, strides: bool
) -> Cases | None:
    first = cases_of(left, negated, ranges, strides)
    second = cases_of(right, negated, ranges, strides)
    if is_both:
        return both(first, second, ranges)
    return either(first, cases_of(left, not negated, ranges, strides), second, ranges)


def both(left: Cases | None, right: Cases | None, ranges: Ranges) -> Cases | None:
    """Return where two conditions hold."""
    if left is None or right is None:
        return None
    return possible(tuple((*a, *b) for a in left for b in right), ranges)


def either(
    left: Cases | None, otherwise: Cases | None, right: Cases | None, ranges: Ranges
) -> Cases | None:
    """Return where one of two conditions holds; `otherwise` is where `left` does not."""
    rest = both(otherwise, right, ranges)
    return None if left is None or rest is None else (*left, *rest)


def possible(cases: Cases, ranges: Ranges) -> Cases:
    """Leave out cases that cannot hold, and conditions that hold anyway."""
    kept = []
    for case in cases:
        inside = ranges.under(case)
        if any(inside.maximum(c) < 0 for c in case if isinstance(c, Affine)):
            continue
        residues = {c: ranges.residue(c) for c in case if isinstance(c, Congruence)}
        if any(residues.values()):
            continue
        needed = [
            c
            for c in case
            if (residues[c] is None if isinstance(c, Congruence) else ranges.minimum(c) < 0)
        ]
        kept.append(tuple(dict.fromkeys(needed)))
    return tuple(kept)


def _affine(expr: Expr) -> Affine | None:
    match expr:
        case Constant(value):
            return Affine((), value)
        case IndexValue(affine):
            return affine
    return None


_MASKS = ("and", "or", "xor")


@dataclass(frozen=True, slots=True)
class Division:
    """An operation that divides `form` by `modulus`, and uses the quotient or the rest.

    Members
    -------
    towards_zero: the quotient is rounded so, not down.
    uses_rest: it is enough to know the rest.
    piece: over how many values from a multiple of it on the result is affine.
    """

    form: Affine
    modulus: int
    towards_zero: bool
    uses_rest: bool
    piece: int

    def signs(self, ranges: Ranges) -> tuple[tuple[Constraint, ...], ...]:
        """Return the two cases in which the form has one sign; none where it always has."""
        if not self.towards_zero or not ranges.minimum(self.form) < 0 < ranges.maximum(self.form):
            return ()
        return (self.form,), (-self.form - 1,)

    def cases(self, ranges: Ranges, most: int) -> tuple[tuple[Constraint, ...], ...]:
        """Return cases, `most` at most, in each of which it is affine; none where that is no use.

        One of them always holds, and no two at a time.
        """
        if self.signs(ranges):
            return self.signs(ranges)
        low, high = ranges.minimum(self.form), ranges.maximum(self.form)
        form = self.form
        if self.towards_zero and low < 0:
            form, low, high = -form, -high, -low
        first, last = low // self.piece, high // self.piece
        if self.uses_rest and self.modulus <= min(last - first + 1, most):
            return tuple((Congruence(form - r, self.modulus),) for r in range(self.modulus))
        if 1 < last - first + 1 <= most:
            pieces = (form - self.piece * q for q in range(first, last + 1))
            return tuple((piece, -piece + (self.piece - 1)) for piece in pieces)
        return ()


def divisions_in(expr: Expr) -> Iterator[Division]:
    """Yield the divisions of affine functions in an expression, those that use the rest first."""
    found = [d for node in walk(expr) if (d := _division(node)) is not None]
    yield from sorted(found, key=lambda division: not division.uses_rest)


def _division(node: Expr) -> Division | None:
    match node:
        case Binary("rem" | "div" as op, IndexValue(form), Constant(by)) if by:
            return Division(form, abs(by), node.type.signed, op == "rem", abs(by))
        case Binary("shr", IndexValue(form), Constant(by)):
            return Division(form, 1 << by, False, False, 1 << by)
        case Binary(op, IndexValue(form), Constant(by)) | Binary(
            op, Constant(by), IndexValue(form)
        ) if op in _MASKS:
            few = _low_bits(by, node)
            modulus = 1 << few.bit_length()
            return Division(
                form, modulus, False, True, modulus if few & (few + 1) == 0 else few & -few
            )
    return None


def _low_bits(mask: int, node: Binary) -> int:
    """Return the mask, or what it leaves out, whichever has fewer bits."""
    rest = ~mask if node.type.signed else node.type.maximum ^ mask
    return mask if mask >= 0 and (rest < 0 or mask <= rest) else rest


def divided(node: Binary, ranges: Ranges) -> Affine | None:
    """Return the affine function that a division of one gives, if `ranges` tell."""
    division = _division(node)
    if division is None or division.signs(ranges):
        return None
    form, piece, size = division.form, division.piece, division.modulus
    low, high = ranges.minimum(form), ranges.maximum(form)
    sign = -1 if division.towards_zero and low < 0 else 1
    first, last = sorted((sign * low, sign * high))
    if first // piece == last // piece and not is_held(form, ranges):
        at, by = first - first % piece, 1
    else:
        rest = ranges.residue(Congruence(form * sign, size))
        if rest is None:
            return None
        at = first + (rest - first) % size
        by = size if at + size <= node.type.maximum else -size
    # It is the function that goes through two of these values, if one does.
    other = node.right if isinstance(node.right, Constant) else node.left
    assert isinstance(other, Constant), "one side is a number"
    begin, end = (result_of(SYMBOLS[node.op], sign * x, other.value) for x in (at, at + by))
    rise, uneven = divmod(end - begin, sign * by)
    return None if uneven else form * rise + (begin - rise * sign * at)


def is_held(form: Affine, ranges: Ranges) -> bool:
    """Return whether a form is about an iterator held at one value, as to read a condition once."""
    return any(form.coefficient(r.name) and r.low == r.high for r in ranges.iterators)


MAX_RESIDUES = 16
"""Cases that a quotient or remainder of iterators is taken apart into."""


def is_by_iterators(expr: Expr) -> bool:
    """Return whether a value depends on nothing but the iterators."""
    return not any(isinstance(node, Read | ScalarParameter) for node in walk(expr))


def choice_in(expr: Expr, ranges: Ranges) -> Cases | None:
    """Return where each choice in a value is made in one way, if there is one to be made.

    The cases exclude one another, and one of them always holds.
    """
    for node in walk(expr):
        if not isinstance(node, Select):
            continue
        chosen = cases_of(node.condition, False, ranges, strides=True)
        other = cases_of(node.condition, True, ranges, strides=True)
        if chosen and other is None:
            other = _other_residues(chosen)
        if chosen and other and len(chosen) + len(other) <= MAX_CASES:
            return (*chosen, *other)
    return None


def division_in(expr: Expr, ranges: Ranges) -> Cases | None:
    """Return where a quotient or remainder in a value is affine, if a few cases tell.

    The cases exclude one another, and one of them always holds.
    """
    for division in divisions_in(expr):
        cases = possible(division.cases(ranges, MAX_RESIDUES), ranges)
        if len(cases) > 1:
            return cases
    return None


def truncation_in(expr: Expr, ranges: Ranges) -> Cases | None:
    """Return where the dividend of a quotient or remainder has one sign, if it may have either.

    C rounds towards zero: in each of the two cases that is one way.
    """
    for division in divisions_in(expr):
        cases = possible(division.signs(ranges), ranges)
        if len(cases) > 1:
            return cases
    return None


def product_in(expr: Expr, ranges: Ranges) -> Cases | None:
    """Return where a factor or divisor in a value is a number, if it is one of a few.

    a[i * j] = x;       where i = 0:  a[0] = x;     where i = 1:  a[j] = x;     ...
    """
    for node in walk(expr):
        match node:
            case Binary("mul", IndexValue(left), IndexValue(right)):
                forms = [left, right]
            case Binary("div" | "rem" | "shl" | "shr", _, IndexValue(right)):
                forms = [right]
            case _:
                continue
        few = [cases for form in forms if (cases := values_of(form, ranges)) is not None]
        if few:
            return possible(min(few, key=len), ranges)
    return None


def values_of(form: Affine, ranges: Ranges) -> Cases | None:
    """Return the cases in which a form has each of its values; None for one, or many of them."""
    low = ranges.minimum(form)
    # The length of a list of all may be no number that Python counts with.
    last = min(ranges.maximum(form), low + MAX_RESIDUES)
    return each_value(form, range(low, last + 1))


def each_value(form: Affine, values: Collection[int]) -> Cases | None:
    """Return the cases in which a form has each of some values; None for one, or many of them."""
    if not 1 < len(values) <= MAX_RESIDUES:
        return None
    return tuple((form - value, -form + value) for value in values)


def _other_residues(cases: Cases) -> Cases | None:
    """Return where a remainder is another one, if that is what the cases are about."""
    match cases:
        case ((Congruence(form, modulus),),) if modulus <= MAX_CASES:
            return tuple((Congruence(form - rest, modulus),) for rest in range(1, modulus))
    return None


def is_decided(condition: Expr, ranges: Ranges) -> bool | None:
    """Return whether a condition always holds, or never; None where it may do either."""
    cases = cases_of(condition, False, ranges, strides=True)
    if cases in ((), ((),)):
        return cases != ()
    return True if cases_of(condition, True, ranges, strides=True) == () else None


def settled(expr: Expr, ranges: Ranges) -> Expr:
    """Return a value without the choices that are made already."""
    if isinstance(expr, Select):
        decided = is_decided(expr.condition, ranges)
        if decided is not None:
            return settled(expr.if_true if decided else expr.if_false, ranges)
    return with_children(expr, tuple(settled(part, ranges) for part in children(expr)))
