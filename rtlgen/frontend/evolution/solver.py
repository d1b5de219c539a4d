"""What the scalars that a loop carries are at the start of its iterations, and behind it.

    k += 3                                k0 + 3 * i
    if (++x == 5) { x = 0; y++; }         x is i % 5, y is i / 5
    if (i % 4 == 3) k++                   i / 4
    t = a; a = b; b = t                   in turn

The body, read once (`trace`), says what one iteration makes of them. Where it moves a scalar by a
constant, whatever the others are, that is its law. The others are run from their first numbers, and
laws are fitted to what comes out (`turn.law_in`). A run of all iterations is a proof. Where a loop
is run from other numbers each time that it is come to, or is too long, the law is proven by
induction: from each state that the laws allow, one iteration has to lead to the next one.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from math import lcm
from typing import Any, TypeAlias

from rtlgen.frontend.analysis.ranges import Ranges
from rtlgen.frontend.analysis.turn import MAX_VALUES, Observation, Seen, Turn, law_in, value_in
from rtlgen.frontend.evolution.program import (
    Evaluation,
    Place,
    Value,
    as_form,
    as_value,
    by_constant,
    deciding,
    names_used,
)
from rtlgen.frontend.evolution.trace import Trace
from rtlgen.frontend.reading.symbols import Variable
from rtlgen.ir.affine import Affine
from rtlgen.ir.expr import Binary, Cast, Constant, Expr, IndexValue
from rtlgen.ir.quasi_affine import quasi_affine
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import INT64
from rtlgen.ir.value_ranges import value_range

MAX_ITERATIONS = 4096
"""Iterations that are run, and states from which one is, to find or to prove a law."""

Known: TypeAlias = Affine | Turn | Expr
"""What a scalar is, as a function of the iterators."""


@dataclass(frozen=True, slots=True)
class Law:
    """What a scalar is at the start of every iteration of a loop, and behind the loop.

    Members
    -------
    form: what it is inside as an affine function, if it is one.
    """

    inside: Known
    behind: Known | None
    form: Affine | None = None


@dataclass(slots=True)
class LoopSolver:
    """Finds the laws of the scalars that a loop carries.

    Members
    -------
    loops: the one that carries them, and those around it, outermost first. ranges: inside of it.
    scalars: by unique name. before: what is known of them before the loop.
    found: their laws, by unique name.
    """

    trace: Trace
    loops: Sequence[Loop]
    ranges: Ranges
    scalars: Mapping[str, Variable]
    before: Mapping[str, Known]
    found: dict[str, Law] = field(default_factory=dict)
    _evaluation: Evaluation = field(init=False)
    _seen: dict[Place, dict[int, Value]] = field(default_factory=dict)
    _proven: dict[str, dict[Place, list[tuple[int, Value]]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._evaluation = Evaluation(self.trace.types, self.ranges)

    @property
    def loop(self) -> Loop:
        """The loop that carries the scalars."""
        return self.loops[-1]

    def solve(self) -> dict[str, Law]:
        """Return the laws of all scalars that have one, by unique name."""
        self._find_moved()
        if len(self.found) < len(self.before):
            self._find_by_running()
            self._find_moved()
        return self.found

    def _pending(self) -> list[str]:
        return [name for name in self.before if name not in self.found]

    # Moved by constants, or set again.

    def _find_moved(self) -> None:
        """Find scalars that every iteration moves by a constant, or sets to what iterators say."""
        while True:
            size = len(self.found)
            self._evaluation.run(self.trace.block, self._given({}))
            after = {name: self._after(name) for name in self._pending()}
            for name, value in after.items():
                law = self._moved(name, value) or self._set_again(name, value)
                if law is not None:
                    self.found[name] = law
            if len(self.found) == size:
                return

    def _given(self, at: Mapping[str, Affine]) -> dict[str, Value]:
        """Return what is given to a run: the affine laws that are known, and the iterators."""
        given: dict[str, Value] = {name: as_value(value) for name, value in at.items()}
        for name, law in self.found.items():
            if law.form is not None:
                given[self.trace.first[name]] = as_value(law.form.substitute(at))
        return given

    def _after(self, name: str) -> Value:
        return self._evaluation.value(self.trace.after[name])

    def _moved(self, name: str, after: Value) -> Law | None:
        before, move = self.before[name], by_constant(after, self.trace.first[name])
        if move is None:
            return None
        if isinstance(before, Turn):
            return Law(before, before) if move == 0 else None
        variable = self.scalars[name]
        inside = fitting(variable, _moved_inside(before, self.loop, move), self.ranges)
        if inside is None:
            return None
        whole = distance(self.loop, move, self.ranges)
        behind: Known | None = None
        if whole is not None and isinstance(before, Affine):
            behind = before + whole
        elif whole is not None:
            behind = Binary("add", _wide(before), _wide(whole), INT64)
        form = inside if isinstance(inside, Affine) else None
        return Law(inside, fitting(variable, behind, self.ranges), form)

    def _set_again(self, name: str, after: Value) -> Law | None:
        """Return the law of a scalar that every iteration leaves as its iterator says.

        k = 0; for (...) { a[k] = 0; k += 8; ...; k = i + 1; }       k is i
        """
        before, boxes = self.before[name], self.ranges.boxes()
        form = Affine((), after) if isinstance(after, int) else after
        if form is None or any(each not in boxes for each in form.variables):
            # It depends on what this scalar, or another one, was before.
            return None
        iterator = self.loop.iterator
        left = form.substitute({iterator: Affine.variable(iterator) - self.loop.step})
        if left.substitute({iterator: self.loop.start}) != before:
            return None
        return self._law(name, left)

    def _law(self, name: str, inside: Affine | Turn) -> Law | None:
        """Return the law of a scalar, and what is behind the loop, if its type holds it."""
        variable = self.scalars[name]
        fits = fitting(variable, inside, self.ranges)
        if fits is None:
            return None
        form = inside if isinstance(inside, Affine) else inside.affine(self.ranges)
        whole = distance(self.loop, self.loop.step, self.ranges)
        if whole is None:
            return Law(fits, None, form)
        end = {self.loop.iterator: self.loop.start + whole}
        behind: Affine | Turn
        if isinstance(inside, Affine):
            behind = inside.substitute(end)
        else:
            behind = replace(
                inside, low=inside.low.substitute(end), form=inside.form.substitute(end)
            )
        return Law(fits, fitting(variable, behind, self.ranges), form)

    # Run.

    def _find_by_running(self) -> None:
        """Find laws of what the iterations do to numbers."""
        asks = self._asks()
        trips = trip_count(self.loop)
        most = MAX_ITERATIONS + 1 if trips is None else self.ranges.maximum(trips)
        # What goes on as the loop would if it were longer tells more of the law.
        number = min(most if asks else max(most, MAX_VALUES), MAX_ITERATIONS)
        first = {n: v for n, v in self.before.items() if isinstance(v, Affine)}
        runs = self._run(
            first, number if self.loop.start.is_constant or not asks else 0, {}, self.found
        )
        candidates: dict[str, Turn] = {}
        for name in self._pending():
            seen = runs.get(name, {})
            if not seen:
                continue
            added = _varying(first[name])
            law = self._fitted(name, seen, most, added)
            if law is None:
                continue
            turn = law.over(self.loop)
            if turn.modulus is not None and added != Affine():
                continue
            turn = replace(turn, low=turn.low + added)
            if len(seen) < most:
                candidates[name] = turn
                continue
            self._accept(name, turn)
            end = seen.get(most)
            if name in self.found and (end is None or value_in(law, most) != end):
                # The law is one of the iterations, and not of what is behind them.
                is_known = end is not None and trips is not None and trips.is_constant
                behind = added + end if is_known and end is not None else None
                self.found[name] = replace(self.found[name], behind=behind)
        if self._pending() and not asks:
            candidates |= self._continued()
        self._prove(candidates)

    def _asks(self, names: Collection[str] | None = None) -> bool:
        """Return whether an iteration makes of the scalars what its number says.

        Parameters
        ----------
        names: on which it depends what it makes of them, if not of all that it leaves.
        """
        used = deciding_all(self.trace) if names is None else frozenset(names)
        affine = [
            self.trace.first[name]
            for name, law in self.found.items()
            if law.form is not None and law.form.coefficient(self.loop.iterator)
        ]
        return not used.isdisjoint([self.loop.iterator, *affine])

    def _fitted(self, name: str, seen: Seen, most: int, added: Affine) -> Turn | None:
        """Return the law of the values in all iterations, or in as many as the loop has.

        Parameters
        ----------
        added: what iterators around add to the values.
        """
        within = {k: value for k, value in seen.items() if k < most}
        law = law_in(seen) or (law_in(within) if within else None)
        if law is not None or len(seen) < 3:
            return law
        later = law_in({k: value for k, value in seen.items() if k})
        if later is None:
            return None
        first, other = (as_value(added + value) for value in (seen[0], value_in(later, 0)))
        return later if self._begins_alike(name, first, other) else None

    def _begins_alike(self, name: str, one: Value, other: Value) -> bool:
        """Return whether two first values of a scalar make no difference to the body.

        k = 0; for (...) { if (k == 5) k = 0; ...; k++; }       5 in place of 0

        What tells them apart only sets the scalar, and makes the same of both.
        """
        evaluation, trace = self._evaluation, self.trace
        found = []
        for value in (one, other):
            evaluation.noted = {}
            given = self._given({})
            given |= {trace.first[n]: None for n in self.scalars if n not in self.found}
            evaluation.run(trace.block, {**given, trace.first[name]: value})
            found.append((evaluation.values(), evaluation.noted, self._after(name)))
        values, seen, after = zip(*found, strict=True)
        if after[0] != after[1] or after[0] is None:
            return False
        told = [
            trace.setting.get(place[0], frozenset())
            for place, value in seen[0].items()
            if place[1] == name and (value is None or value != seen[1].get(place))
        ]
        other_names = {each for each, value in values[0].items() if value != values[1].get(each)}
        only_set = all(names == {name} for names in told)
        return only_set and other_names.isdisjoint(trace.used_inside)

    def _accept(self, name: str, turn: Turn) -> None:
        law = self._law(name, turn)
        if law is not None:
            self.found[name] = law

    def _run(
        self,
        first: Mapping[str, Affine],
        number: int,
        outside: Mapping[str, Affine],
        known: Collection[str],
        names: Collection[str] | None = None,
    ) -> dict[str, Seen]:
        """Return the values of scalars, less what iterators around add, by iteration.

        What is behind the last one is one more.

        Parameters
        ----------
        first: what scalars are before. number: of iterations. outside: values of other iterators.
        known: scalars that are not run, since their law is affine.
        names: on which it depends what is seen, if that is more than what scalars become.
        """
        trace, evaluation, loop = self.trace, self._evaluation, self.loop
        state: dict[str, Value] = {
            name: as_value(first[name].substitute(outside)) if name in first else None
            for name in self.scalars
            if name not in known
        }
        added = {name: _varying(first[name].substitute(outside)) for name in first}
        seen: dict[str, Seen] = {name: {} for name in state if name in first}
        self._seen = {}
        start = loop.start.substitute(outside)
        states: dict[tuple[Value, ...], int] = {}
        is_alone = not self._asks(names)
        for k in range(number + 1):
            for name in list(seen):
                value = state[name]
                left = None if value is None else as_form(value) - added[name]
                if left is None or not left.is_constant:
                    del seen[name]
                else:
                    seen[name][k] = left.constant
            if not seen:
                self._seen = {}
            period = k - states.setdefault(tuple(state.values()), k) if is_alone else 0
            if period:
                # It goes on as it has from there.
                every: list[dict[int, Any]] = [*seen.values(), *self._seen.values()]
                for values in every:
                    for j in range(k, number + 1):
                        if j - period in values:
                            values[j] = values[j - period]
            if not seen or k == number or period:
                break
            given = self._given({**outside, loop.iterator: start + k * loop.step})
            given |= {trace.first[name]: value for name, value in state.items()}
            evaluation.noted = {}
            evaluation.run(trace.block, given)
            for place, noted in evaluation.noted.items():
                self._seen.setdefault(place, {})[k] = noted
            state = {name: self._after(name) for name in state}
        return seen

    # Proven by induction.

    def _continued(self) -> dict[str, Turn]:
        """Return laws that go on from what scalars were before, as one run of the loop has it."""
        outside: dict[str, Affine] = {}
        for loop in self.loops[:-1]:
            outside[loop.iterator] = loop.start.substitute(outside)
        numbers = {
            name: Affine((), number)
            for name, value in self.before.items()
            if (number := _number_at(value, outside)) is not None
        }
        found: dict[str, Turn] = {}
        for name, seen in self._run(numbers, 2 * MAX_VALUES, outside, self.found).items():
            law = law_in(seen)
            before = self.before[name]
            if law is None or not isinstance(before, Affine | Turn):
                continue
            turn = _going_on(before, law, outside, self.ranges)
            if turn is not None:
                ahead = law.over(self.loop)
                gone = ahead.form - ahead.form.substitute({self.loop.iterator: self.loop.start})
                fine = turn.finer(lcm(turn.scale, ahead.scale) // turn.scale)
                found[name] = fine.moved(gone * (fine.scale // ahead.scale))
        return found

    def _prove(self, candidates: Mapping[str, Turn]) -> None:
        """Accept those laws of which each follows from itself and the others."""
        left = dict(candidates)
        known = {n: law.inside for n, law in self.found.items() if isinstance(law.inside, Turn)}
        while left:
            false = [name for name in left if not self._is_proven(name, {**known, **left})]
            if not false:
                break
            for name in false:
                del left[name]
        for name, turn in left.items():
            self._accept(name, turn)

    def _is_proven(self, name: str, laws: Mapping[str, Turn]) -> bool:
        """Return whether one iteration leads from each state that laws allow to the next one."""
        trace = self.trace
        by_symbol = {symbol: each for each, symbol in trace.first.items()}
        needed = {by_symbol[s] for s in deciding(trace.block, trace.after[name]) if s in by_symbol}
        names = sorted({name} | {each for each in needed if each in laws})
        states = self._states([laws[each] for each in names])
        own, law = names.index(name), laws[name]
        places = self._proven[name] = {}
        step = law.form.coefficient(self.loop.iterator) * self.loop.step
        for state in states or ():
            given = self._given({})
            given |= {trace.first[n]: None for n in self.scalars if n not in self.found}
            given |= {trace.first[n]: None for n in laws}
            for each, at in zip(names, state, strict=True):
                if laws[each].modulus is not None:
                    given[trace.first[each]] = laws[each].at(at)
            if law.modulus is None:
                del given[trace.first[name]]
            self._evaluation.noted = {}
            self._evaluation.run(trace.block, given)
            for place, noted in self._evaluation.noted.items():
                if place[1] == name:
                    places.setdefault(place, []).append((state[own], noted))
            after = self._after(name)
            if law.modulus is not None:
                if after != law.at(state[own] + step):
                    return False
                continue
            if by_constant(after, trace.first[name]) != law.move(state[own], step):
                return False
        return bool(states)

    def _states(self, laws: Sequence[Turn]) -> set[tuple[int, ...]] | None:
        """Return where the forms of laws may be together, each modulo its period."""
        periods = [law.period or law.scale for law in laws]
        forms = [law.form for law in laws]
        moves: list[tuple[int, ...]] = []
        for loop in reversed(self.loops):
            moves.append(
                tuple(
                    f.coefficient(loop.iterator) * loop.step % p
                    for f, p in zip(forms, periods, strict=True)
                )
            )
            forms = [f.substitute({loop.iterator: loop.start}) for f in forms]
        if any(not form.is_constant for form in forms):
            return None
        first = tuple(f.constant % p for f, p in zip(forms, periods, strict=True))
        found, pending = {first}, [first]
        while pending:
            state = pending.pop()
            for move in moves:
                after = tuple((a + b) % p for a, b, p in zip(state, move, periods, strict=True))
                if after not in found:
                    found.add(after)
                    pending.append(after)
            if len(found) > MAX_ITERATIONS:
                return None
        return found

    # Where the body reads them.

    def observed(self) -> dict[Place, Observation]:
        """Return what scalars are at places of the body, where they have a law there."""
        found: dict[Place, Observation] = {}
        for name, places in self._proven.items():
            law = self.found[name].inside if name in self.found else None
            for place, states in places.items() if isinstance(law, Turn) else ():
                seen = self._shifted(law, name, states) if isinstance(law, Turn) else None
                if seen is not None and place[0] not in self.trace.overlooked:
                    found[place] = Observation(self.loop.iterator, seen, {})
        trips = trip_count(self.loop)
        is_run = trips is not None and trips.is_constant and self.loop.start.is_constant
        if is_run and trips is not None and 0 < trips.constant <= MAX_ITERATIONS:
            found |= self._seen_running(trips.constant)
        return found

    def _shifted(self, law: Turn, name: str, states: Sequence[tuple[int, Value]]) -> Turn | None:
        """Return the law of a scalar at a place where it is as it will be, or has been, later.

        Parameters
        ----------
        states: values there, by where the form of its law is.
        """

        def is_so(by: int) -> bool:
            if law.modulus is not None:
                return all(value == law.at(at + by) for at, value in states)
            symbol = self.trace.first[name]
            return all(by_constant(value, symbol) == law.move(at, by) for at, value in states)

        step = law.form.coefficient(self.loop.iterator) * self.loop.step
        size = law.period or law.scale
        shifts = (by for by in (0, step, *range(1, size), *range(-size, 0)) if is_so(by))
        by = next(shifts, None)
        return None if by is None else law.moved(Affine((), by))

    def _seen_running(self, number: int) -> dict[Place, Observation]:
        """Return what scalars are at places in all iterations of a loop."""
        affine = [n for n, law in self.found.items() if law.form is not None]
        first = {n: v for n, v in self.before.items() if isinstance(v, Affine) and n not in affine}
        self._run(first, number, {}, affine, set(names_used(self.trace.block)))
        found: dict[Place, Observation] = {}
        for place, values in self._seen.items():
            forms = {k: as_form(v) for k, v in values.items() if k < number and v is not None}
            added = {_varying(form) for form in forms.values()}
            is_known = len(forms) == sum(k < number for k in values) and len(added) == 1
            if place[0] in self.trace.overlooked or not is_known:
                continue
            numbers = {k: form.constant for k, form in forms.items()}
            law, more = law_in(numbers), added.pop()
            if more != Affine() and (law is None or law.modulus is not None):
                continue
            if law is not None:
                law = law.over(self.loop)
                law = replace(law, low=law.low + more)
            start = self.loop.start.constant
            at = {start + k * self.loop.step: value for k, value in numbers.items()}
            found[place] = Observation(self.loop.iterator, law, at)
        return found


def deciding_all(trace: Trace) -> frozenset[str]:
    """Return the names on which it depends what an iteration makes of scalars."""
    return frozenset[str]().union(*(deciding(trace.block, end) for end in trace.after.values()))


def _going_on(
    before: Affine | Turn, law: Turn, outside: Mapping[str, Affine], ranges: Ranges
) -> Turn | None:
    """Return what is known before a loop as a law that goes on like one which was fitted to a run.

    Parameters
    ----------
    law: of the run, in which other iterators are as `outside` has them.
    """
    first = law.form.constant
    if isinstance(before, Affine):
        more = before - before.substitute(outside)
        if law.modulus is None:
            return replace(law, low=law.low + more, form=Affine((), first))
        start = law.low.constant
        is_inside = start <= ranges.minimum(before) <= ranges.maximum(before) < start + law.modulus
        is_one = more == Affine() or (law.scale == 1 and is_inside)
        return replace(law, form=more + first) if is_one else None
    if before.scale == 1 and law.scale == 1 and law.modulus == before.modulus:
        # Whatever it begins with counts, as long as all values are in one range.
        low, high = before.range(ranges)
        start, modulus = law.low.constant, law.modulus or 0
        if before.pace != 1 or law.pace != 1 or not start <= low <= high < start + modulus:
            return None
        return replace(before, low=law.low, form=before.form + (before.low - law.low))
    if (before.modulus, before.pace) != (law.modulus, law.pace):
        return None
    common = lcm(before.scale, law.scale)
    fine = before.finer(common // before.scale)
    ahead = first * (common // law.scale) - fine.form.substitute(outside).constant
    if law.modulus is not None:
        ahead %= fine.period
    if not 0 <= ahead < common // before.scale or law.low != before.low.substitute(outside):
        return None
    return fine.moved(Affine((), ahead))


def _number_at(value: Known, outside: Mapping[str, Affine]) -> int | None:
    """Return what a scalar is where other iterators are numbers."""
    if isinstance(value, Affine):
        found = value.substitute(outside)
    elif isinstance(value, Turn):
        steps = value.form.substitute(outside)
        if not steps.is_constant:
            return None
        low = value.low.substitute(outside)
        found = low - low.constant + replace(value, low=low).at(steps.constant)
    else:
        return None
    return found.constant if found.is_constant else None


def _varying(form: Affine) -> Affine:
    """Return a form without its constant."""
    return form - form.constant


def trip_count(loop: Loop) -> Affine | None:
    """Return how often a loop runs, if that is affine; below 0 it stands for 0."""
    room = loop.stop - loop.start
    if room.is_constant:
        return Affine((), max(0, -(-room.constant // loop.step)))
    return room * loop.step if abs(loop.step) == 1 else None


def distance(loop: Loop, move: int, ranges: Ranges) -> Affine | None:
    """Return by how much all iterations of a loop move something, if affine."""
    trips = trip_count(loop)
    return None if trips is None or ranges.minimum(trips) < 0 else trips * move


def _moved_inside(before: Affine | Expr, loop: Loop, move: int) -> Affine | Expr:
    """Return what a scalar is in an iteration of a loop, each of which moves it."""
    gone = (Affine.variable(loop.iterator) - loop.start) * (1 if loop.step > 0 else -1)
    size = abs(loop.step)
    if isinstance(before, Affine) and move % size == 0:
        return before + gone * (move // size)
    by: Expr = IndexValue(gone * (move // size if move % size == 0 else 1), INT64)
    if move % size:
        steps = Binary("div", by, Constant(size, INT64), INT64)
        by = Binary("mul", steps, Constant(move, INT64), INT64)
    return Binary("add", _wide(before), by, INT64)


def _wide(value: Affine | Expr) -> Expr:
    if isinstance(value, Affine):
        return IndexValue(value, INT64)
    return value if value.type == INT64 else Cast(value, INT64)


def fitting(variable: Variable, value: Known | None, ranges: Ranges) -> Known | None:
    """Return the value of a scalar that was moved, if its type holds it."""
    type_ = variable.element
    if isinstance(value, Affine):
        low, high = ranges.minimum(value), ranges.maximum(value)
    elif isinstance(value, Turn):
        low, high = value.range(ranges)
    elif value is not None and quasi_affine(value, ranges.boxes()) is not None:
        low, high = value_range(value, ranges.boxes())
        value = Cast(value, type_)
    else:
        return None
    return value if type_.minimum <= low and high <= type_.maximum else None
