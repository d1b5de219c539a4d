"""Subscripts inside their arrays: proven by isl, or refuted with the iteration that leaves."""

from __future__ import annotations

from rtlgen.errors import Label
from rtlgen.ir.effort import keep_going, limited_effort
from rtlgen.ir.scop import Access, Statement
from rtlgen.ir.sets import ScopSets, sample_pair
from rtlgen.poly.errors import OutOfBounds
from rtlgen.poly.made_reads import MadeReads


def require_in_bounds(sets: ScopSets) -> None:
    """Raise for the first access, in program order, that some instance takes out of its array.

    A read that a choice between values makes is judged where it is made, as far as iterators decide
    that. An access under a condition on data may leave its array where the condition does not hold;
    it is refused when it always does. Subscripts that depend on data are judged in `poly.lookups`.

    Raises
    ------
    OutOfBounds: with the lexicographically first such instance and the element it would touch.
    """
    with limited_effort("its subscripts"):
        for statement in sets.scop.statements:
            for number, access in enumerate(statement.reads):
                _check(sets, statement, access, number)
            _check(sets, statement, statement.write, None)


def _check(sets: ScopSets, statement: Statement, access: Access, read: int | None) -> None:
    keep_going(sets.context)
    array = sets.scop.array(access.array)
    touched = sets.touched(statement, access)
    outside = touched.subtract_range(sets.element_set(array))
    if outside.is_empty():
        return
    if access.is_conditional and read is not None:
        made = MadeReads(sets, statement).where(read)
        touched = touched.intersect_domain(made.perhaps)
        outside = outside.intersect_domain(made.perhaps)
        surely = outside.intersect_domain(made.surely)
        if not surely.is_empty():
            outside = touched = surely
    if outside.is_empty() or (access.is_conditional and not touched.is_equal(outside)):
        return
    instance, element = sample_pair(outside)
    shown = "".join(f"[{index}]" for index in element)
    size = "".join(f"[{extent}]" for extent in array.shape)
    verb = "written" if read is None else "read"
    raise OutOfBounds(
        f"{access.array}{shown} is outside of {access.array}{size}",
        labels=(
            Label(access.span, f"{verb} by {statement.instance_text(instance)}"),
            Label(array.span, "declared here"),
        ),
        notes=_iteration(statement, instance),
        help="correct the loop bounds, the subscript, or the size of the array",
    )


def _iteration(statement: Statement, instance: tuple[int, ...]) -> tuple[str, ...]:
    """Return a note with the values of the iterators, if there are any."""
    values = zip(statement.iterators, instance, strict=True)
    text = ", ".join(f"{name} = {value}" for name, value in values)
    return (f"first in the iteration {text}",) if text else ()
