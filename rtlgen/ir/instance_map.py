"""From the counters of a stream to instances of the C program, as its reader names them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from rtlgen.ir.ints import Ints
from rtlgen.ir.iterations import Bools, form_values
from rtlgen.ir.levels import IndexForm


@dataclass(frozen=True, slots=True)
class Pad:
    """A pad loop: an instance runs where its counter is the largest of its places."""

    counter: IndexForm
    places: tuple[IndexForm, ...]


@dataclass(frozen=True, slots=True)
class Multiple:
    """Iterations in which a form is a multiple of a number."""

    form: IndexForm
    modulus: int


@dataclass(frozen=True, slots=True)
class InstanceMap:
    """What the iterations of a stream are in the C program. All forms are of its counters.

    Members
    -------
    statement: its name in the C program. iterators: of C, outermost first, and values: theirs.
    pads, at_least_zero, multiples: an iteration that fulfils all of them is an instance, and any
        other is padding.
    """

    statement: str
    iterators: tuple[str, ...]
    values: tuple[IndexForm, ...]
    pads: tuple[Pad, ...] = ()
    at_least_zero: tuple[IndexForm, ...] = ()
    multiples: tuple[Multiple, ...] = ()

    def __post_init__(self) -> None:
        if len(self.iterators) != len(self.values):
            raise ValueError(f"{self.statement}: {self.iterators} have {len(self.values)} values")

    def real(self, counters: Ints) -> Bools:
        """Tell of (n, levels) iterations which are instances."""
        found = np.ones(len(counters), dtype=np.bool_)
        for pad in self.pads:
            places = [form_values(place, counters) for place in pad.places]
            found &= form_values(pad.counter, counters) == np.max(places, axis=0)
        for form in self.at_least_zero:
            found &= form_values(form, counters) >= 0
        for multiple in self.multiples:
            found &= form_values(multiple.form, counters) % multiple.modulus == 0
        return found

    def points(self, counters: Ints) -> Ints:
        """Return the (n, iterators) values of C's iterators in (n, levels) iterations."""
        columns = [form_values(value, counters) for value in self.values]
        return np.stack(columns, axis=1) if columns else np.zeros((len(counters), 0), np.int64)

    def text(self, point: Sequence[int]) -> str:
        """Return an instance as `S1(i=3, j=4, k=2)`."""
        named = zip(self.iterators, point, strict=True)
        return f"{self.statement}({', '.join(f'{name}={value}' for name, value in named)})"


@dataclass(frozen=True, slots=True)
class IssuePoint:
    """Where a stream issues.

    Members
    -------
    datapath, control: the modules of the stream, and of what it shares with others.
    begin_to_issue: cycles from that in which `begin_signal` of the control is high to the first
        issue.
    valid_to_issue: those from `valid` of its index unit to the issue of the same iteration, and so
        from its counters.
    counted: the levels that counter_0, counter_1, .. of the index unit are the counters of.
    """

    datapath: str
    control: str
    begin_to_issue: int
    valid_to_issue: int
    counted: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class IssuedStream:
    """What a reader of waves has to know of a stream, beside the plan."""

    instances: InstanceMap
    point: IssuePoint
