"""Write out flattened nests as one counting loop with an odometer for every statement.

Rewrite
-------
    S0: [i<8, j<9] + 0           for (n = 0; n < 98; n++) {
    S1: [i<8, j<9] + 26    ->      if (n < 72) { S0(i, j); if (j < 8) j++; else { i++; j = 0; } }
                                   if (n >= 26) { S1(..); .. }
                                 }

Reference: MF3 (Izawa et al.): the fused loop with shifted guards. The indices step with the
counter, as the circuit's do, instead of being divided out of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import islpy as isl

from rtlgen.ir.affine import Affine
from rtlgen.ir.code import (
    Assign,
    Code,
    For,
    If,
    Index,
    Let,
    Number,
    Operation,
    Run,
    Variable,
    all_of,
    fresh,
    index_of,
    used_variables,
)
from rtlgen.ir.effort import limited_effort
from rtlgen.ir.schedule import Bound, FlatDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import ScopSets, affine_text
from rtlgen.poly.ast_index import index


def scan_flat(sets: ScopSets, schedule: Schedule, taken: frozenset[str]) -> tuple[Code, ...]:
    """Return one counting loop a flattened nest, in the order of `schedule`.

    Parameters
    ----------
    schedule: every statement has one flattened dimension; a constant may stand before it, which
        orders the nests, and one behind it, which orders the statements of an iteration.
    taken: names that no variable may have.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    nests: dict[int, list[tuple[int, str, FlatDim]]] = {}
    for name, dims in schedule.dims.items():
        (place, flat), *_ = [(k, d) for k, d in enumerate(dims) if isinstance(d, FlatDim)]
        before, behind = (_constant(part) for part in (dims[:place], dims[place + 1 :]))
        nests.setdefault(before, []).append((behind, name, flat))
    with limited_effort("its loops, written out"):
        return tuple(_nest(sets, sorted(nests[key]), taken) for key in sorted(nests))


def _constant(dims: Sequence[object]) -> int:
    match dims:
        case ():
            return 0
        case (ScalarDim(value),):
            return value
        case _:
            raise ValueError(f"{dims} beside a flattened dimension")


def _nest(
    sets: ScopSets, members: Sequence[tuple[int, str, FlatDim]], taken: frozenset[str]
) -> Code:
    counter = fresh("n", taken)
    total = max(flat.shift + flat.count for _, _, flat in members)
    variables: list[tuple[str, Index]] = []
    body: list[Code] = []
    for _, name, flat in members:
        odometer = _Odometer(sets, sets.scop.statement(name), flat, taken | {counter})
        work = odometer.work()
        used = used_variables(work)
        variables += [v for v in odometer.variables() if v[0] in used]
        active = all_of(_active(Variable(counter), flat, total))
        body += work if active is None else [If(active, work)]
    below = Operation("lt", (Variable(counter), Number(total)))
    loop = For(counter, Number(0), below, 1, tuple(body))
    return Let(tuple(variables), (loop,)) if variables else loop


def _active(counter: Index, flat: FlatDim, total: int) -> list[Index]:
    """Return the shifted guard: shift <= n < shift + count, as far as it is not certain."""
    end = flat.shift + flat.count
    found: list[Index] = []
    if flat.shift:
        found.append(Operation("ge", (counter, Number(flat.shift))))
    if end < total:
        found.append(Operation("lt", (counter, Number(end))))
    return found


@dataclass(frozen=True, slots=True, eq=False)
class _Odometer:
    """The counters of one statement."""

    sets: ScopSets
    statement: Statement
    flat: FlatDim
    taken: frozenset[str]

    @property
    def names(self) -> tuple[str, ...]:
        """The variable of every loop, pads included."""
        names: list[str] = []
        for loop in self.flat.loops:
            wished = f"{self.statement.name}_{loop.counter or 'pad'}"
            names.append(fresh(wished, self.taken | frozenset(names)))
        return tuple(names)

    def variables(self) -> list[tuple[str, Index]]:
        """Return the variables with the values of the first iteration."""
        values: dict[str, int] = {}
        found: list[tuple[str, Index]] = []
        for name, loop in zip(self.names, self.flat.loops, strict=True):
            lowers = [-(-b.form.evaluate(values) // b.divisor) for b in loop.lowers]
            first = max([_box(loop)[0], *lowers])
            if loop.counter is not None:
                values[loop.counter] = first
            found.append((name, Number(first)))
        return found

    def work(self) -> tuple[Code, ...]:
        """Return what is done in an iteration: the instance, and the step to the next one."""
        kept = used_variables((*self._instance(), *self._step(frozenset(self.names))))
        return (*self._instance(), *self._step(kept))

    def _step(self, kept: frozenset[str]) -> tuple[Code, ...]:
        """Return the step of the innermost loop that has one more, with the resets inside it."""
        code: tuple[Code, ...] = ()
        for level, loop in enumerate(self.flat.loops):
            name = self.names[level]
            one = Assign(name, Operation("add", (Variable(name), Number(1))))
            advance = (*((one,) if name in kept else ()), *self._resets(level + 1))
            if not code:
                # Where the outermost loop ends, the whole nest does: nobody asks for more.
                code = advance if _varies(loop) else ()
            elif _varies(loop):
                more = Operation("lt", (Variable(name), self._last(loop)))
                code = (If(more, advance, code),)
        return code

    def _resets(self, level: int) -> list[Code]:
        return [
            Assign(name, self._first(loop))
            for name, loop in zip(self.names[level:], self.flat.loops[level:], strict=True)
            if _varies(loop)
        ]

    def _first(self, loop: NestLoop) -> Index:
        """Return where a loop begins: its box bounds it too, where that is not plain."""
        low = _box(loop)[0]
        bounds = [self._quotient("ceild", bound) for bound in loop.lowers]
        if all(b.form.range(self._boxes)[0] <= (low - 1) * b.divisor for b in loop.lowers):
            bounds.append(Number(low))
        return reduce(lambda a, b: Operation("max", (a, b)), bounds)

    def _last(self, loop: NestLoop) -> Index:
        """Return where a loop ends, likewise."""
        high = _box(loop)[1]
        bounds = [self._quotient("floord", bound) for bound in loop.uppers]
        if all(b.form.range(self._boxes)[1] >= (high + 1) * b.divisor for b in loop.uppers):
            bounds.append(Number(high))
        last = reduce(lambda a, b: Operation("min", (a, b)), bounds)
        if loop.is_box or loop.at_least < 2:
            return last
        least = Operation("add", (self._first(loop), Number(loop.at_least - 1)))
        return Operation("max", (last, least))

    @property
    def _boxes(self) -> dict[str, tuple[int, int]]:
        return {x.counter: _box(x) for x in self.flat.loops if x.counter is not None}

    def _quotient(self, rounding: Literal["ceild", "floord"], bound: Bound) -> Index:
        dividend = index_of(bound.form.substitute(self._values()))
        if bound.divisor == 1:
            return dividend
        return Operation(rounding, (dividend, Number(bound.divisor)))

    def _values(self) -> dict[str, Affine]:
        """Return the value of every iterator: its variable, or the only one that it has."""
        return {
            loop.counter: Affine.variable(name) if _varies(loop) else Affine((), loop.at)
            for name, loop in zip(self.names, self.flat.loops, strict=True)
            if loop.counter is not None
        }

    def _instance(self) -> tuple[Code, ...]:
        """Return the run of the statement, guarded where not every iteration is an instance."""
        values = self._values()
        run = Run(
            self.statement.name,
            tuple(index_of(values[iterator]) for iterator in self.statement.iterators),
        )
        guards: list[Index] = [
            Operation("eq", (Variable(name), self._place(loop)))
            for name, loop in zip(self.names, self.flat.loops, strict=True)
            if loop.iterator is None and _varies(loop)
        ]
        condition = self._in_domain()
        if condition != Number(1):
            guards.append(condition)
        guard = all_of(guards)
        return (run,) if guard is None else (If(guard, (run,)),)

    def _place(self, loop: NestLoop) -> Index:
        """Return the iteration in which an instance runs."""
        values = self._values()
        places = [index_of(value.substitute(values)) for value in loop.place]
        return reduce(lambda a, b: Operation("max", (a, b)), places)

    def _in_domain(self) -> Index:
        """Return the condition that an iteration of the nest is an instance; 1 where all are."""
        names = self.statement.iterators
        context = _as_parameters(self._iterations())
        domain = _as_parameters(self.sets.domains[self.statement.name])
        build = isl.AstBuild.from_context(context)
        values = self._values()
        indices = {f"d{k}": index_of(values[name]) for k, name in enumerate(names)}
        return index(build.expr_from_set(domain.coalesce()), indices)

    def _iterations(self) -> isl.Set:
        """Return the iterations of the nest, over the iterators of the statement."""
        names = self.statement.iterators
        constraints = []
        for loop in self.flat.loops:
            if loop.iterator is None:
                continue
            own = f"d{names.index(loop.iterator)}"
            low, high = _box(loop)
            constraints.append(f"{low} <= {own}")
            for bound in self._within(loop.lowers):
                constraints.append(f"{bound.divisor}*{own} >= {affine_text(bound.form, names)}")
            if loop.at_least:
                # The iterations that make up the number may lie behind every bound.
                continue
            constraints.append(f"{own} <= {high}")
            for bound in self._within(loop.uppers):
                constraints.append(f"{bound.divisor}*{own} <= {affine_text(bound.form, names)}")
        dims = ",".join(f"d{k}" for k in range(len(names)))
        tuple_name = self.sets.statement_tuple(self.statement.name)
        where = " and ".join(constraints) or "true"
        return self.sets.read_set(f"{{ {tuple_name}[{dims}] : {where} }}")

    def _within(self, bounds: Sequence[Bound]) -> list[Bound]:
        """Return the bounds that the statement's own iterators give, not its pads."""
        known = set(self.statement.iterators)
        return [bound for bound in bounds if bound.form.variables <= known]


def _varies(loop: NestLoop) -> bool:
    """Return whether a loop has more than one value."""
    return loop.extent > 1 or loop.at_least > 0


def _box(loop: NestLoop) -> tuple[int, int]:
    """Return the smallest and largest value of a loop's variable; that of a pad counts trips."""
    return loop.first, loop.first + loop.extent - 1


def _as_parameters(instances: isl.Set) -> isl.Set:
    """Return a parameter set: what isl can make a condition of."""
    dims = instances.dim(isl.dim_type.set)
    moved = instances.move_dims(isl.dim_type.param, 0, isl.dim_type.set, 0, dims)
    for k in range(dims):
        moved = moved.set_dim_name(isl.dim_type.param, k, f"d{k}")
    return moved.params()
