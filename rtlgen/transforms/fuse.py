"""From perfect nests to one fused loop: distribute, permute, pad, flatten, fuse.

Distribute a program into perfect nests, as far as its dependences allow.

Rewrite
-------
    for i { S0; for j S1; }     S0: (0, i, 0)       ->   for i S0;          S0: (0, i)
                                S1: (0, i, 1, j, 0)      for i for j S1;    S1: (1, i, j)

Reference: Allen and Kennedy, TOPLAS 9(4), 1987. Statements of one strongly connected component stay
together, in the loops that they share.

Interchange the loops of a perfect nest.

Rewrite
-------
    for i for j S   ->   permute(S, ("j", "i"))   ->   for j for i S

Pad a nest: insert loops that repeat nothing, or lengthen loops by empty iterations.

Rewrite
-------
    for i<8 S   ->   for i<8 for p<8 if (p == 7) S

Flatten each nest into one counter.

Rewrite
-------
    for i<8 for j<9 for k<11 S   ->   for n<792: S with n = 99*i + 11*j + k

Reference: MFF (Ishikawa et al., VLD2017-97). The rank is kept as the loops it is made of, so that
the hardware can count them directly instead of dividing n again.

Fuse flattened nests into one shifted, guarded loop.

Rewrite
-------
    for n<792 S0(n);  for n<864 S1(n);   ->   for n<890: if (n < 792) S0(n);
                                                         if (26 <= n) S1(n - 26);

Reference: MF3 (Izawa et al.). Statement s runs for shift_s <= n < shift_s + count_s; within one
iteration statements stand in program order.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from rtlgen.ir.schedule import Dim, FlatDim, LoopDim, NestLoop, ScalarDim
from rtlgen.ir.scop import Scop
from rtlgen.transforms.units import Unit


def distribute(scop: Scop, units: Sequence[Unit]) -> Scop:
    """Return `scop` with one nest a unit, run in the order of `units`."""
    dims: dict[str, tuple[Dim, ...]] = {}
    for number, unit in enumerate(units):
        for name in unit.statements:
            own = scop.schedule.dims[name]
            if len(unit.statements) == 1:
                # Alone in its loops, a statement may count them in any way.
                own = tuple(LoopDim(dim.loop) for dim in own if isinstance(dim, LoopDim))
            dims[name] = (ScalarDim(number), *own)
    schedule = scop.schedule
    for statement in scop.statements:
        schedule = schedule.replaced(statement.name, dims[statement.name])
    return scop.with_schedule(schedule)


def permute(scop: Scop, statement: str, order: Sequence[str]) -> Scop:
    """Return `scop` with the loops of a statement's nest in `order`, outermost first.

    Raises
    ------
    ValueError: `order` does not name every iterator of the nest once.
    """
    dims = scop.schedule.dims[statement]
    loops = {dim.loop.iterator: dim for dim in dims if isinstance(dim, LoopDim)}
    if sorted(order) != sorted(name for name in loops if name is not None):
        raise ValueError(f"{statement} has the loops {sorted(map(str, loops))}, not {list(order)}")
    replacement = iter([loops[name] for name in order])
    changed: list[Dim] = [next(replacement) if isinstance(dim, LoopDim) else dim for dim in dims]
    return scop.with_schedule(scop.schedule.replaced(statement, tuple(changed)))


def pad(scop: Scop, statement: str, loops: Sequence[NestLoop]) -> Scop:
    """Return `scop` with the loops of a statement's nest replaced by the padded `loops`.

    Raises
    ------
    ValueError: `loops` lacks or reorders an iterator of the nest, or cuts its range.
    """
    dims = scop.schedule.dims[statement]
    before = scop.schedule.loops(statement)
    after = [loop for loop in loops if loop.iterator is not None]
    kept = len(before) == len(after) and all(
        old.iterator == new.iterator
        and new.at <= old.at
        and old.at + old.extent <= new.at + new.extent
        for old, new in zip(before, after, strict=True)
    )
    if not kept:
        raise ValueError(f"{list(map(str, loops))} does not pad the nest of {statement}")
    prefix: list[Dim] = []
    for dim in dims:
        if isinstance(dim, LoopDim):
            break
        prefix.append(dim)
    padded = (*prefix, *(LoopDim(loop) for loop in loops))
    return scop.with_schedule(scop.schedule.replaced(statement, padded))


def flatten(scop: Scop, nest: int, flats: Mapping[str, FlatDim]) -> Scop:
    """Return `scop` with the statements of nest number `nest` on one flat counter.

    Parameters
    ----------
    flats: the flattened loops of every statement of the nest, and its shift within the nest, which
        is 0 for a nest of one statement.
    """
    schedule = scop.schedule
    for place, (name, flat) in enumerate(flats.items()):
        schedule = schedule.replaced(name, (ScalarDim(nest), flat, ScalarDim(place)))
    return scop.with_schedule(schedule)


def fuse(
    scop: Scop, shifts: Mapping[str, int], regions: Sequence[Sequence[str]] | None = None
) -> Scop:
    """Return `scop` with all statements in one loop, each shifted as given.

    Parameters
    ----------
    regions: the statements of each loop, where there are several, one after another.

    Raises
    ------
    ValueError: a statement has not been flattened.
    """
    schedule = scop.schedule
    several = regions is not None and len(regions) > 1
    home = {name: n for n, names in enumerate(regions or ()) for name in names}
    for place, statement in enumerate(scop.statements):
        flat = schedule.dims[statement.name][1]
        if not isinstance(flat, FlatDim):
            raise ValueError(f"{statement.name} is not flattened")
        fused: tuple[Dim, ...] = (
            replace(flat, shift=shifts[statement.name]),
            ScalarDim(place),
        )
        if several:
            fused = (ScalarDim(home[statement.name]), *fused)
        schedule = schedule.replaced(statement.name, fused)
    return scop.with_schedule(schedule)


def fused_iterations(scop: Scop) -> int:
    """Return max(shift + count) of a fused program."""
    flats = (scop.schedule.dims[s.name][0] for s in scop.statements)
    return max(flat.shift + flat.count for flat in flats if isinstance(flat, FlatDim))
