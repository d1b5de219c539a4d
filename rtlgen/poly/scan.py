"""Write out a schedule as loops: by its time vectors, or flattened into one that counts.

Expressions of isl's loop generator, read into the project's own.

Whether an instance is one of a set, as a condition on its iterators.

isl generates the loops (Grosser, Verdoolaege and Cohen, "Polyhedral AST generation is more than
scanning polyhedra", TOPLAS 2015). What it returns is read into the project's own tree, with the
loops named after the iterators that they count.

Write out flattened nests as one counting loop with an odometer for every statement.

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

from collections.abc import Mapping, Sequence
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
    IndexOp,
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
from rtlgen.ir.effort import LOOP_OPERATIONS, keep_going, limited_effort
from rtlgen.ir.schedule import Bound, FlatDim, LoopDim, NestLoop, ScalarDim, Schedule
from rtlgen.ir.scop import Statement
from rtlgen.ir.sets import (
    ScopSets,
    affine_text,
    enum_name,
    for_each,
    integer,
    operations,
    union_map,
)

_OPERATIONS: Mapping[str, IndexOp] = {
    "and": "and",
    "and_then": "and",
    "or": "or",
    "or_else": "or",
    "max": "max",
    "min": "min",
    "minus": "neg",
    "add": "add",
    "sub": "sub",
    "mul": "mul",
    "div": "div",
    "fdiv_q": "floord",
    "pdiv_q": "div",
    "pdiv_r": "mod",
    "zdiv_r": "mod",
    "cond": "select",
    "select": "select",
    "eq": "eq",
    "le": "le",
    "lt": "lt",
    "ge": "ge",
    "gt": "gt",
}
"""What isl's operations are called here."""


def index(expr: isl.AstExpr, names: Mapping[str, Index]) -> Index:
    """Return `expr` with isl's names replaced by `names`."""
    match enum_name(expr.get_type()):
        case "int":
            return Number(integer(expr.get_val()))
        case "id":
            return names[expr.get_id().get_name()]
        case _:
            operands = [index(expr.get_op_arg(k), names) for k in range(expr.get_op_n_arg())]
            return _operation(_OPERATIONS[enum_name(expr.get_op_type())], operands)


def _operation(op: IndexOp, operands: Sequence[Index]) -> Index:
    """Return an operation; isl's minima and maxima have any number of operands."""
    if op in ("min", "max"):
        total = operands[0]
        for operand in operands[1:]:
            total = Operation(op, (total, operand))
        return total
    match op, operands:
        # -floor(-x / d) is how isl rounds up.
        case "neg", [Operation("floord", (Operation("neg", (dividend,)), divisor))]:
            return Operation("ceild", (dividend, divisor))
        case _:
            return Operation(op, tuple(operands))


def membership(sets: ScopSets, statement: Statement, instances: isl.Set) -> Index | None:
    """Return a condition that holds for just those instances of a statement, None for all of them.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    domain = sets.domains[statement.name]
    if domain.is_subset(instances):
        return None
    keep_going(sets.context)
    context = _as_parameters(domain)
    with operations(sets.context, LOOP_OPERATIONS):
        inside = _as_parameters(instances.intersect(domain)).gist(context).coalesce()
        expression = isl.AstBuild.from_context(context).expr_from_set(inside)
    names = {_name(k): Variable(name) for k, name in enumerate(statement.iterators)}
    return index(expression, names)


def _as_parameters(instances: isl.Set) -> isl.Set:
    """Return the values of the iterators as values of parameters: isl's conditions are on these."""
    count = instances.dim(isl.dim_type.set)
    moved = instances.reset_tuple_id().move_dims(isl.dim_type.param, 0, isl.dim_type.set, 0, count)
    for k in range(count):
        moved = moved.set_dim_name(isl.dim_type.param, k, _name(k))
    return moved.params()


def _name(place: int) -> str:
    return f"d{place}"


def scan(sets: ScopSets, schedule: Schedule, taken: frozenset[str]) -> tuple[Code, ...]:
    """Return the loops that run the statements of `sets` in the order of `schedule`.

    Parameters
    ----------
    schedule: without flattened dimensions.
    taken: names that no loop may have.

    Raises
    ------
    TooComplex: isl's operation limit was met.
    """
    with limited_effort("its loops, written out"):
        times = list(sets.schedule_maps(schedule).values())
        union = union_map(times)
        build = isl.AstBuild.from_context(sets.read_set("{ : }"))
        depth = times[0].dim(isl.dim_type.out)
        counters = isl.IdList.alloc(sets.context, depth)
        for level in range(depth):
            counters = counters.add(isl.Id.read_from_str(sets.context, f"c{level}"))
        keep_going(sets.context)
        with operations(sets.context, LOOP_OPERATIONS):
            node = build.set_iterators(counters).node_from_schedule_map(union)
        return _Reader(sets, schedule, taken).nodes(node, {})


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """Reads isl's tree. Names map isl's counters, `c<level>`, to the variables of the result."""

    sets: ScopSets
    schedule: Schedule
    taken: frozenset[str]

    def nodes(self, node: isl.AstNode, names: Mapping[str, Variable]) -> tuple[Code, ...]:
        match enum_name(node.get_type()):
            case "block":
                children = for_each(node.block_get_children().foreach)
                return tuple(code for child in children for code in self.nodes(child, names))
            case "for":
                return self._loop(node, names)
            case "if":
                otherwise = node.if_get_else_node() if node.if_has_else_node() else None
                return (
                    If(
                        index(node.if_get_cond(), names),
                        self.nodes(node.if_get_then_node(), names),
                        () if otherwise is None else self.nodes(otherwise, names),
                    ),
                )
            case _:
                return (self._run(node.user_get_expr(), names),)

    def _loop(self, node: isl.AstNode, names: Mapping[str, Variable]) -> tuple[Code, ...]:
        counter = node.for_get_iterator().get_id().get_name()
        outer = frozenset(variable.name for variable in names.values())
        name = self._name(counter, node.for_get_body(), outer)
        inner = {**names, counter: Variable(name)}
        first = index(node.for_get_init(), names)
        body = self.nodes(node.for_get_body(), inner)
        if node.for_is_degenerate():
            return (Let(((name, first),), body),) if name in used_variables(body) else body
        condition = index(node.for_get_cond(), inner)
        step = integer(node.for_get_inc().get_val())
        return (For(name, first, condition, step, body),)

    def _name(self, counter: str, body: isl.AstNode, outer: frozenset[str]) -> str:
        """Name a loop after the iterator that all statements in it count there, if they agree."""
        level = int(counter[1:])
        wished = {self._iterator(name, level) for name in self._statements(body)}
        name = wished.pop() if len(wished) == 1 else None
        return fresh(name or counter, self.taken | outer)

    def _iterator(self, statement: str, level: int) -> str | None:
        dims = self.schedule.dims[statement]
        dim = dims[level] if level < len(dims) else None
        return dim.loop.iterator if isinstance(dim, LoopDim) else None

    def _statements(self, node: isl.AstNode) -> frozenset[str]:
        found: set[str] = set()

        def visit(inner: isl.AstNode) -> bool:
            if enum_name(inner.get_type()) == "user":
                called = inner.user_get_expr().get_op_arg(0).get_id().get_name()
                found.add(self.sets.statement_of(called).name)
            return True

        node.foreach_descendant_top_down(visit)
        return frozenset(found)

    def _run(self, call: isl.AstExpr, names: Mapping[str, Variable]) -> Run:
        statement = self.sets.statement_of(call.get_op_arg(0).get_id().get_name())
        count = call.get_op_n_arg()
        values = tuple(index(call.get_op_arg(k), names) for k in range(1, count))
        return Run(statement.name, values)


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
