"""What of a program its data shows: would a fault in this value change any result?

A program in which one value at a time can be changed on its way.

Every operand and result of every statement, a *site*, becomes

    ((value ^ (chosen & flip)) & (~chosen | keep)) + (chosen & add)

where `chosen` is all ones at one site and 0 elsewhere. Which site it is, and `flip`, `keep` and
`add`, are scalar arguments of the program: it is compiled once and run for every change. Without a
chosen site it computes what the program computes. Of a number it is the pattern that is changed: a
step is its last bit, a negative its sign.
"""

from __future__ import annotations

import shutil
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias

import numpy as np

from rtlgen.errors import Diagnostic, Label
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
from rtlgen.verify.golden_compiled import COMPILERS, Library, RepeatedProgram, compile_scop
from rtlgen.verify.golden_interpreter import Interpreter
from rtlgen.verify.golden_ranges import run_bounds
from rtlgen.verify.golden_state import (
    GoldenResult,
    SubscriptError,
    memory_image,
    scalar_values,
)
from rtlgen.verify.values import Elements, Value, is_same, to_words, value_of

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
    # No C identifier has a dot.
    names = ("site.number", "site.flip", "site.keep", "site.add")
    assert scop.variables.isdisjoint(names)
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


COMPILED_VALUES = 40_000_000
"""Values at sites that compiled code computes for all changes together: a second or two."""

INTERPRETED_VALUES = 200_000
SHORT_RUN_VALUES = 20_000
SHOWN_OPERANDS = 3

Inputs = Mapping[str, Elements | Value]
Memory = Mapping[str, Elements]


@dataclass(frozen=True, slots=True)
class Shown:
    """What some data sets show between them.

    Members
    -------
    asked, seen: sites of which some change was tried, and of which some change was noticed.
        Constants are tried, and not counted.
    unseen: sites of which every change was tried on every data set, and none was noticed.
    left_out: sites that the limit of work leaves out.
    """

    asked: tuple[Site, ...]
    seen: tuple[Site, ...]
    unseen: tuple[Site, ...]
    left_out: tuple[Site, ...]

    @property
    def unseen_statements(self) -> tuple[str, ...]:
        return tuple(site.statement.name for site in self.unseen if site.is_result)

    def text(self) -> str:
        """Return how much was shown, for the line that `rtlgen verify` prints."""
        parts = []
        for what, is_result in (("statement", True), ("operand", False)):
            asked = sum(site.is_result == is_result for site in self.asked)
            seen = sum(site.is_result == is_result for site in self.seen)
            if asked:
                plural = "" if asked == 1 else "s"
                parts.append(f"{seen if seen < asked else 'all'} of {asked} {what}{plural}")
        left = f", {len(self.left_out)} not asked for" if self.left_out else ""
        return f"{' and '.join(parts) or 'nothing'} seen{left}".replace("all of ", "all ")

    def diagnostics(self, scop: Scop) -> Iterator[Diagnostic]:
        """Yield the warnings that `rtlgen verify` prints."""
        hidden = frozenset(self.unseen_statements)
        for statement in scop.statements:
            label = Label(statement.span)
            if statement.name in hidden:
                yield Diagnostic(
                    "W0605",
                    f"{statement.name} cannot be seen in any output with this data",
                    (label,),
                    ("whatever the circuit does wrong there would not be noticed",),
                    "give data that shows it: --inputs, --range, --seeds",
                    severity="warning",
                )
                continue
            hiding = [
                site
                for site in self.unseen
                if site.statement.name == statement.name and site.outer not in self.unseen
            ]
            if hiding:
                more = len(hiding) - SHOWN_OPERANDS
                yield Diagnostic(
                    "W0606",
                    f"part of {statement.name} cannot be seen in any output with this data",
                    (label,),
                    (
                        *(f"the operand {site.text}" for site in hiding[:SHOWN_OPERANDS]),
                        *([f"and {more} more"] if more > 0 else []),
                    ),
                    "give data that shows it: --inputs, --range, --seeds",
                    severity="warning",
                )


class Sensitivity:
    """Asks data sets, one after the other, for what those before have not shown.

    Parameters
    ----------
    counts: executed instances of every statement; those that never run are not asked for.
    """

    def __init__(self, scop: Scop, counts: Mapping[str, int]) -> None:
        self._scop = scop
        self._program: Perturbed = perturbed(scop, [s for s, count in counts.items() if count])
        # Of one run; what takes its time is the sites, not the statements.
        self._values = sum(counts[site.statement.name] for site in self._program.sites)
        self._is_compiled = run_bounds(scop).fit_64_bits and any(map(shutil.which, COMPILERS))
        self._library: Library | None = None
        self._left = COMPILED_VALUES if self._is_compiled else INTERPRETED_VALUES
        self._open: dict[Site, list[Change]] = {
            site: list(site.changes) for site in self._program.sites
        }
        self._seen: set[Site] = set()
        self._tried: set[Site] = set()
        self._incomplete: set[Site] = set()

    @property
    def is_complete(self) -> bool:
        """Whether no other data could show more, or no work is left for it."""
        return not any(self._open.values()) or self._left < self._values

    @property
    def hides_something(self) -> bool:
        """Whether some operand or result has not been seen at all."""
        return any(site not in self._seen and _is_counted(site) for site in self._program.sites)

    def ask(self, inputs: Inputs, golden: GoldenResult) -> int:
        """Return how many changes a data set shows that none before it showed.

        Parameters
        ----------
        golden: what the program itself computes from `inputs`.
        """
        found = 0
        run: Callable[[Mapping[str, int]], Memory | None] | None = None
        for site, change in self._changes():
            if self._left < self._values:
                self._incomplete.add(site)
                continue
            self._left -= self._values
            self._tried.add(site)
            run = run or self._runs(inputs)
            if self._is_noticed(run(self._program.arguments(site, change)), golden):
                self._open[site].remove(change)
                self._seen.add(site)
                found += 1
        return found

    def _changes(self) -> Iterator[tuple[Site, Change]]:
        """Yield what is open: first one change of every site that nothing has shown yet."""
        order = sorted(self._open, key=lambda site: site in self._seen)
        left = {site: tuple(self._open[site]) for site in order}
        for turn in range(max(map(len, left.values()), default=0)):
            for site in order:
                if turn < len(left[site]):
                    yield site, left[site][turn]

    def _runs(self, inputs: Inputs) -> Callable[[Mapping[str, int]], Memory | None]:
        """Return what runs the program with a change, by the arguments that make it.

        It returns the memory that is left; None where a subscript leaves its array.
        """
        program, unchanged = self._program.scop, self._program.arguments()
        given = {**inputs, **unchanged}
        memory, scalars = memory_image(program, given), scalar_values(program, given)
        repeated = (
            RepeatedProgram(program, memory, scalars, self._compiled())
            if self._is_compiled
            else None
        )

        def run(arguments: Mapping[str, int]) -> Memory | None:
            changed = {**scalars, **arguments}
            try:
                if repeated is not None:
                    repeated.run(changed)
                    return repeated.memory
                left = {name: image.copy() for name, image in memory.items()}
                Interpreter(program, left, changed).run()
            except SubscriptError:
                return None
            return left

        return run

    def _is_noticed(self, memory: Memory | None, golden: GoldenResult) -> bool:
        if memory is None:
            # A lookup is sent out of its array: the circuit would read something else, too.
            return True
        returned = self._scop.returned
        if returned is not None:
            type_ = self._scop.array(returned).element
            if not is_same(value_of(int(memory[returned]), type_), golden.returned):
                return True
        return any(
            not np.array_equal(to_words(memory[array.name]), to_words(golden.arrays[array.name]))
            for array in self._scop.arrays
            if array.role in ("out", "inout")
        )

    def _compiled(self) -> Library:
        if self._library is None:
            is_short = self._values < SHORT_RUN_VALUES
            self._library = compile_scop(self._program.scop, is_short=is_short)
        return self._library

    def shown(self) -> Shown:
        """Return what the data sets have shown so far."""
        sites = [site for site in self._program.sites if _is_counted(site)]
        unseen = [s for s in sites if s in self._tried and s not in self._seen | self._incomplete]
        asked = [s for s in sites if s in self._seen or s in unseen]
        return Shown(
            tuple(asked),
            tuple(s for s in sites if s in self._seen),
            tuple(unseen),
            tuple(s for s in sites if s not in asked),
        )


def _is_counted(site: Site) -> bool:
    """Return whether a site is told to the user: that of a constant 0 in `x > 0` says little."""
    return site.is_result or not isinstance(site.value, Constant)
