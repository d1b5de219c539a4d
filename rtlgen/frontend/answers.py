"""Scalars that hold the answer to a question about data, asked again where it matters.

    ok = j >= 0 && j < N;        if (ok) s += a[j];        // as if (j >= 0 && j < N)

What is asked tells where `a[j]` may lie; the variable alone would not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import Protocol

from rtlgen.frontend.guards import Guard, renumbered
from rtlgen.frontend.reaching import Answer, Definitions
from rtlgen.frontend.symbols import Variable
from rtlgen.ir.conditions import Fact, facts_of, is_truth
from rtlgen.ir.expr import Expr, Read, walk
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
    """Return the question that a value answers, if it is one."""
    if not is_truth(expr):
        return None
    read_from = [variables.stored_as(read.array) for read in reads]
    asked_of = tuple((v, definitions(v)) for v in read_from if v.shape == ())
    is_repeatable = all(v.shape == () or variables.never_changes(v) for v in read_from)
    return Answer(Guard(expr, tuple(reads)), asked_of, is_repeatable)


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
    answer = _answer(reaching, definitions)
    if answer is None or not answer.is_repeatable:
        return None
    return answer.guard if any(read.array in about for read in answer.guard.reads) else None


def _answer(reaching: Definitions, definitions: Callable[[Variable], Definitions]) -> Answer | None:
    """Return the answer that a scalar holds, if the scalars that were asked of are the same."""
    answers = {definition.answer for definition in reaching}
    answer = answers.pop() if len(answers) == 1 else None
    if answer is None or not all(_is_same(definitions(v), then) for v, then in answer.asked_of):
        return None
    return answer


def _is_same(now: Definitions, then: Definitions) -> bool:
    return now == then and all(a.serial == b.serial for a, b in zip(now, then, strict=True))


def told_by(
    guard: Guard,
    about: Set[str],
    variables: Variables,
    definitions: Callable[[Variable], Definitions],
) -> Iterator[Guard]:
    """Yield conditions on scalars that hold where a guard does, which the guard does not show.

    condition = i < 16 && a[i] > b[j];        where `condition` holds, i < 16

    Parameters
    ----------
    about: names of scalars, one of which each of them concerns.
    """
    pending, seen = [(guard, True)], set[str]()
    while pending:
        known, holds = pending.pop()
        for fact in facts_of(known.expr, holds):
            # Of `x != 0` it is known, too, that `x` is not 0; but `x` is no answer to be joined.
            if known is not guard and (is_truth(fact.expr) or not fact.holds):
                shown = _part(known, fact)
                names = {read.array for read in shown.reads}
                if names & about and all(not variables.stored_as(n).shape for n in names):
                    yield shown
            if not isinstance(fact.expr, Read):
                continue
            name = known.reads[fact.expr.index].array
            variable = variables.stored_as(name)
            answer = _answer(definitions(variable), definitions) if variable.shape == () else None
            if answer is not None and name not in seen:
                seen.add(name)
                pending.append((answer.guard, fact.holds))


def _part(guard: Guard, fact: Fact) -> Guard:
    """Return one of the facts of a guard as a guard of its own."""
    numbers = dict.fromkeys(node.index for node in walk(fact.expr) if isinstance(node, Read))
    places = {number: place for place, number in enumerate(numbers)}
    part = Guard(renumbered(fact.expr, places), tuple(guard.reads[number] for number in numbers))
    return part if fact.holds else part.negated()
