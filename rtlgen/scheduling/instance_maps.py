"""Say of every stream of a plan which instances of the C program its iterations are."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from rtlgen.ir.affine import Affine, Congruence
from rtlgen.ir.instance_map import InstanceMap, Multiple, Pad
from rtlgen.ir.judged_part import JudgedPart
from rtlgen.ir.plan import IndexForm, KernelPlan, Stream, Workers
from rtlgen.ir.schedule import NestLoop, Schedule
from rtlgen.ir.scop import Scop, Statement


def instance_maps(
    plan: KernelPlan, scop: Scop, placed: Schedule, in_c: Scop
) -> tuple[InstanceMap, ...]:
    """Return the maps of the streams of a plan without tiles, in order.

    Parameters
    ----------
    scop, placed: as for `replay`. in_c: the program as it is written.
    """
    found = []
    for stream in plan.streams:
        statement = scop.statement(stream.statement)
        counters = [_counter(level, stream) for level in range(len(stream.levels))]
        over = _Nest(placed.loops(stream.statement), counters, len(stream.levels))
        origin = statement.origin or tuple(map(Affine.variable, statement.iterators))
        found.append(_map(statement, origin, over, in_c))
    return tuple(found)


def tiled_instance_maps(workers: Workers, part: JudgedPart, in_c: Scop) -> tuple[InstanceMap, ...]:
    """Return the maps of the streams of workers, in order; parameters as for `replay_tiles`."""
    found = []
    for number, region in enumerate(workers.regions):
        for stream in region.kernel.streams:
            levels, depth = len(stream.levels), len(region.levels)
            counters = [form.padded(levels) for form in part.counters[number]]
            counters += [_counter(level, stream) for level in range(depth, levels)]
            if part.lanes > 1:
                counters.append(IndexForm((0,) * levels, stream.lane))
            statement = part.tiled.statement(stream.statement)
            over = _Nest(part.loops[stream.statement], counters, levels)
            found.append(_map(statement, _origin_in_tiles(statement, part), over, in_c))
    return tuple(found)


def _counter(level: int, stream: Stream) -> IndexForm:
    return IndexForm(tuple(int(n == level) for n in range(len(stream.levels))))


def _origin_in_tiles(statement: Statement, part: JudgedPart) -> tuple[Affine, ...]:
    """Return the iterators of C as functions of those of the statement in tiles."""
    written = part.written.statement(statement.name)
    before = dict(zip(written.iterators, part.before[statement.name], strict=True))
    origin = written.origin or tuple(map(Affine.variable, written.iterators))
    return tuple(value.substitute(before) for value in origin)


class _Nest:
    """The loops of a statement over the counters of a stream.

    Parameters
    ----------
    counters: of every loop, as a function of the stream's, of which there are `levels`.
    """

    def __init__(
        self, loops: Sequence[NestLoop], counters: Sequence[IndexForm], levels: int
    ) -> None:
        self._counted = tuple(zip(loops, counters, strict=True))
        self._levels = levels

    def form(self, affine: Affine) -> IndexForm:
        """Return a function of the iterators as one of the counters."""
        coefficients, constant = [0] * self._levels, affine.constant
        for loop, counter in self._counted:
            factor = 0 if loop.iterator is None else affine.coefficient(loop.iterator)
            for level, coefficient in enumerate(counter.coefficients):
                coefficients[level] += factor * coefficient
            constant += factor * (counter.constant + loop.at)
        return IndexForm(tuple(coefficients), constant)

    def pads(self) -> Iterable[Pad]:
        for loop, counter in self._counted:
            if loop.iterator is None:
                yield Pad(counter, tuple(map(self.form, loop.position)))


def _map(statement: Statement, origin: Sequence[Affine], over: _Nest, in_c: Scop) -> InstanceMap:
    bounds = []
    for loop in statement.loops:
        counter = Affine.variable(loop.iterator)
        bounds += [counter - loop.start, loop.stop - counter * loop.scale - 1]
    conditions = statement.conditions
    bounds += [form for form in conditions if isinstance(form, Affine)]
    written = _as_written(statement, in_c)
    return InstanceMap(
        statement.name if written is None else written.name,
        _names(origin, written),
        tuple(map(over.form, origin)),
        pads=tuple(over.pads()),
        at_least_zero=tuple(map(over.form, bounds)),
        multiples=tuple(
            Multiple(over.form(c.form), c.modulus) for c in conditions if isinstance(c, Congruence)
        ),
    )


def _as_written(statement: Statement, in_c: Scop) -> Statement | None:
    """Return the statement of C that something is, or is a lane of; None where none is alike."""
    known: Mapping[str, Statement] = {s.name: s for s in in_c.statements}
    if statement.name in known:
        return known[statement.name]
    alike = [s for s in in_c.statements if (s.span, s.text) == (statement.span, statement.text)]
    return alike[0] if len(alike) == 1 else None


def _names(origin: Sequence[Affine], written: Statement | None) -> tuple[str, ...]:
    if written is not None and len(written.iterators) == len(origin):
        return written.iterators
    return tuple(f"x{number}" for number in range(len(origin)))
