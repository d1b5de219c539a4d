"""What scalars are wherever a loop's body reads them, found by running the loop.

    for (n = r = c = 0; n < 64; n++, c++) {
      if (c == 8) { c = 0; r++; }
      y[r][c] = x[n];                            c is 0, 1, .. 7, 0, 1, ..: n % 8;  r is n / 8
    }

At the start of an iteration `c` is 0 once, and then 1 to 8 in turn: no law that is worth having.
Where it is read it has one. So what is fitted is not what the loop carries, but the values at each
place: any scalar that begins with a number and follows from numbers is known there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from math import gcd
from typing import TypeAlias

from pycparser import c_ast

from rtlgen.frontend.analysis.turn import Observation, Turn
from rtlgen.frontend.evolution.carries import MAX_POSITIONS
from rtlgen.frontend.evolution.effects import Effects, Run
from rtlgen.frontend.evolution.induction import trip_count
from rtlgen.frontend.syntax.assigned import below
from rtlgen.ir.affine import Affine
from rtlgen.ir.scop import Loop
from rtlgen.ir.types import IntType

Seen: TypeAlias = dict[int, int]
"""The values of a scalar at one place of the text, by the number of the iteration."""


@dataclass(slots=True)
class _Watch(Run):
    """Runs one iteration after the other, and notes all reads of scalars.

    Members
    -------
    seen: by the identity of the name that is read; None: it may have several values.
    iteration: the number of the present one.
    """

    seen: dict[int, Seen | None] = field(default_factory=dict)
    iteration: int = 0

    def carry_out(self, node: c_ast.Node | None) -> None:
        """Change the state as a statement does, and note what it reads."""
        match node:
            case None:
                return
            case c_ast.Compound() | c_ast.DeclList() | c_ast.Label():
                pass
            case c_ast.If():
                # What stands under it is read only where the condition holds.
                self._note(node.cond)
            case c_ast.For() if self.effects.concerns(node):
                # Inside, each iteration of its own has other values.
                self._overlook(node)
            case _:
                self._note(node)
                if not self.effects.concerns(node):
                    return
        self._try(node)

    def _forget(self, node: c_ast.Node) -> None:
        Run._forget(self, node)
        self._overlook(node)

    def _overlook(self, node: c_ast.Node) -> None:
        self.seen |= {id(name): None for name in _names(node)}

    def _note(self, node: c_ast.Node) -> None:
        for name in _names(node):
            if not self.effects.asks_for(name.name):
                continue
            variable = self.effects.declarations.scopes.stored(name.name)
            value = None if variable is None else self.state.get(variable.name)
            known = self.seen.setdefault(id(name), {})
            if value is None or not value.is_constant or known is None:
                self.seen[id(name)] = None
            else:
                known[self.iteration] = value.constant


def _names(node: c_ast.Node) -> Iterator[c_ast.ID]:
    return (part for part in below(node) if isinstance(part, c_ast.ID))


def observed(
    body: c_ast.Node,
    effects: Effects,
    loop: Loop,
    iterator: str,
    type_: IntType,
    before: Mapping[str, Affine | None],
) -> dict[int, Observation]:
    """Return what scalars are, by the identity of the name with which the body reads them.

    Parameters
    ----------
    effects: of the body. iterator, type_: of the loop, as the text has them.
    before: numbers that scalars hold before the loop, by their unique names.
    """
    trips = trip_count(loop)
    if trips is None or not (trips.is_constant and loop.start.is_constant):
        return {}
    if not 0 < trips.constant <= MAX_POSITIONS:
        return {}
    watch = _Watch(effects, effects.ranges, effects.followed(before))
    first = loop.start.constant
    for watch.iteration in range(trips.constant):
        value = first + watch.iteration * loop.step
        effects.run_iteration(iterator, type_, value, watch)
    # A form counts iterations; of larger steps of the iterator, it counts parts of them.
    gone = (Affine.variable(loop.iterator) - loop.start) * (1 if loop.step > 0 else -1)
    found: dict[int, Observation] = {}
    for name, values in watch.seen.items():
        if values:
            law = _law(values)
            law = None if law is None else law.finer(abs(loop.step)).moved(gone)
            at = {first + k * loop.step: value for k, value in values.items()}
            found[name] = Observation(loop.iterator, law, at)
    return found


def _law(seen: Seen) -> Turn | None:
    """Return the values of a scalar as a form of the number of the iteration; None if it is none.

    They are a staircase, or go round by equal steps; the first of those that fit is taken.
    """
    low, high = min(seen.values()), max(seen.values())
    gap = gcd(*(value - low for value in seen.values()))
    if gap == 0:
        return Turn(Affine((), low), None, Affine(), frozenset(), pace=0)
    first, last = min(seen), max(seen)
    rises = [(seen[k] - low) // gap for k in (first, last)]
    widths = {_longest_run(seen)}
    if rises[0] != rises[1]:
        mean = (last - first) // abs(rises[1] - rises[0])
        widths |= {mean, mean + 1}
    for width in sorted(widths - {0}):
        for start, pace in ((low, gap), (high, -gap)):
            at = _staircase({k: (value - start) // pace for k, value in seen.items()}, width)
            if at is not None:
                return Turn(Affine((), start), None, Affine((), at), frozenset(), width, pace)
    return _rotation({k: (value - low) // gap for k, value in seen.items()}, low, gap)


def _staircase(steps: Seen, width: int) -> int | None:
    """Return what to add to a number of steps of a width, so that the quotient is the height."""
    least = max(width * height - k for k, height in steps.items())
    most = min(width * height + width - 1 - k for k, height in steps.items())
    return least if least <= most else None


def _rotation(steps: Seen, low: int, gap: int) -> Turn | None:
    width, number = _longest_run(steps), max(steps.values()) + 1
    if number > len(steps):
        # What goes round has been everywhere.
        return None
    turns = {(b - a) % number for (i, a), (j, b) in pairwise(sorted(steps.items())) if j == i + 1}
    for pace in sorted(turns - {0}):
        for at in range(width * number):
            if all(pace * ((k + at) // width) % number == h for k, h in steps.items()):
                values = frozenset(low + gap * height for height in steps.values())
                form = Affine((), at)
                return Turn(Affine((), low), number * gap, form, values, width, pace * gap)
    return None


def _longest_run(seen: Seen) -> int:
    """Return in how many iterations on end a scalar has one value, at most."""
    longest = run = 1
    for (i, a), (j, b) in pairwise(sorted(seen.items())):
        run = run + 1 if (j, b) == (i + 1, a) else 1
        longest = max(longest, run)
    return longest
