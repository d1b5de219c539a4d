"""Scalars that hold the answer to a question about data, asked again where it matters.

    ok = j >= 0 && j < N;        if (ok) s += a[j];        // as if (j >= 0 && j < N)

What is asked tells where `a[j]` may lie; the variable alone would not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from rtlgen.frontend.guards import Guard
from rtlgen.frontend.reaching import Answer, Definitions
from rtlgen.frontend.symbols import Variable
from rtlgen.ir.conditions import is_truth
from rtlgen.ir.expr import Expr
from rtlgen.ir.scop import Access


class Variables(Protocol):
    """What is known of all variables."""

    def stored_as(self, name: str) -> Variable:
        """Return the variable with a unique name."""

    def never_changes(self, variable: Variable) -> bool:
        """Return whether no statement can write an array."""


def answer_in(
    expr: Expr,
    reads: Sequence[Access],
    variables: Variables,
    definitions: Callable[[Variable], Definitions],
) -> Answer | None:
    """Return the question that a value answers, if it can be asked again."""
    if not is_truth(expr):
        return None
    asked_of = []
    for variable in (variables.stored_as(read.array) for read in reads):
        if variable.shape == ():
            asked_of.append((variable, definitions(variable)))
        elif not variables.never_changes(variable):
            return None
    return Answer(Guard(expr, tuple(reads)), tuple(asked_of))


def question(
    reaching: Definitions,
    about: frozenset[str],
    definitions: Callable[[Variable], Definitions],
) -> Guard | None:
    """Return the question to ask in place of reading a scalar.

    Parameters
    ----------
    reaching: the assignments of the scalar.
    about: the variables that the question has to concern.
    definitions: returns the assignments of a scalar that reach here.
    """
    answers = {definition.answer for definition in reaching}
    answer = answers.pop() if len(answers) == 1 else None
    if answer is None or all(read.array not in about for read in answer.guard.reads):
        return None
    unchanged = all(definitions(variable) == then for variable, then in answer.asked_of)
    return answer.guard if unchanged else None
