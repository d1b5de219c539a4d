"""Quotients, remainders and masks of affine functions, where the loops and conditions around tell.

i % 8               is i - 8          where 8 <= i < 16
i & 3               is 1              where i is one more than a multiple of 4
i / 4               is 2              where 8 <= i < 12
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rtlgen.frontend.ranges import Ranges
from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.expr import Binary, Constant, Expr, IndexValue, walk

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
    match node:
        case Binary("rem" | "div" as op, IndexValue(form), Constant(by)) if by:
            low, high = ranges.minimum(form), ranges.maximum(form)
            if node.type.signed and low < 0:
                # Towards zero: it is done on the magnitude.
                if high > 0:
                    return None
                found = _part(op, -form, abs(by), ranges)
                sign = -1 if op == "rem" or by > 0 else 1
            else:
                found = _part(op, form, abs(by), ranges)
                sign = -1 if op == "div" and by < 0 else 1
            return None if found is None else found * sign
        case Binary("shr", IndexValue(form), Constant(by)):
            return _part("div", form, 1 << by, ranges)
        case Binary(op, IndexValue(form), Constant(by)) | Binary(
            op, Constant(by), IndexValue(form)
        ) if op in _MASKS:
            return _masked(node, form, by, ranges)
    return None


def _masked(node: Binary, form: Affine, mask: int, ranges: Ranges) -> Affine | None:
    few = _low_bits(mask, node)
    modulus = 1 << few.bit_length()
    rest = _part("rem", form, modulus, ranges)
    if few & (few + 1) and (rest is None or not rest.is_constant):
        # The bits below the lowest one of the mask do not matter.
        unit = few & -few
        quotient = _part("div", form, unit, ranges)
        rest = None if quotient is None else quotient * unit
    if rest is None:
        return None
    kept = Affine((), rest.constant & few) if rest.is_constant else rest
    if few != mask:
        kept = form - kept
    if node.op == "and":
        return kept
    return form + mask - kept * (1 if node.op == "or" else 2)


def _part(op: str, form: Affine, modulus: int, ranges: Ranges) -> Affine | None:
    """Return the quotient, rounded down, or the rest."""
    low, high = ranges.minimum(form), ranges.maximum(form)
    if low // modulus == high // modulus and not is_held(form, ranges):
        quotient = low // modulus
        return form - quotient * modulus if op == "rem" else Affine((), quotient)
    if op == "rem":
        for sign in (1, -1):
            residue = ranges.residue(Congruence(form * sign, modulus))
            if residue is not None:
                return Affine((), residue * sign % modulus)
    return None


def is_held(form: Affine, ranges: Ranges) -> bool:
    """Return whether a form is about an iterator held at one value, as to read a condition once."""
    return any(form.coefficient(r.name) and r.low == r.high for r in ranges.iterators)
