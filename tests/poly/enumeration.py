"""The meaning of a program by plain enumeration: what the polyhedral half is compared with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from rtlgen.ir.affine import Affine, constraint_holds
from rtlgen.ir.scop import Access, ConditionNode, LoopNode, Node, Scop, StatementNode

Point = tuple[int, ...]
Pair = tuple[Point, Point]
PairKey = tuple[str, str, int | None, int | None]


@dataclass(frozen=True, slots=True)
class Instance:
    """One execution of a statement."""

    statement: str
    point: Point


def instances(scop: Scop) -> list[Instance]:
    """Return every instance of every statement in program order."""
    return list(_walk(scop, scop.tree, {}))


def _walk(scop: Scop, nodes: tuple[Node, ...], values: dict[str, int]) -> Iterator[Instance]:
    for node in nodes:
        match node:
            case LoopNode(loop, body):
                value = loop.start.evaluate(values)
                while True:
                    stop = loop.stop.evaluate(values)
                    before = loop.scale * value < stop
                    if not (before if loop.step > 0 else loop.scale * value > stop):
                        break
                    yield from _walk(scop, body, {**values, loop.iterator: value})
                    value += loop.step
            case ConditionNode(conditions, body):
                if all(constraint_holds(c, values) for c in conditions):
                    yield from _walk(scop, body, values)
            case StatementNode(name):
                iterators = scop.statement(name).iterators
                yield Instance(name, tuple(values[i] for i in iterators))


def element(scop: Scop, instance: Instance, access: Access) -> tuple[str, Point]:
    """Return the element that an instance touches through `access`."""
    iterators = scop.statement(instance.statement).iterators
    values = dict(zip(iterators, instance.point, strict=True))
    point = []
    for subscript in access.subscripts:
        assert isinstance(subscript, Affine)
        point.append(subscript.evaluate(values))
    return access.array, tuple(point)


def memory_pairs(scop: Scop) -> dict[PairKey, set[Pair]]:
    """Return all pairs of instances that touch one element, one of them writing, in order."""
    found: dict[PairKey, set[Pair]] = {}
    touched: dict[tuple[str, Point], list[tuple[Instance, int | None]]] = {}
    for sink in instances(scop):
        statement = scop.statement(sink.statement)
        accesses = [(None, statement.write), *enumerate(statement.reads)]
        for sink_read, access in accesses:
            for source, source_read in touched.get(element(scop, sink, access), ()):
                if source_read is None or sink_read is None:
                    key = (source.statement, sink.statement, source_read, sink_read)
                    found.setdefault(key, set()).add((source.point, sink.point))
        for read, access in accesses:
            touched.setdefault(element(scop, sink, access), []).append((sink, read))
    return found


def value_pairs(scop: Scop) -> dict[tuple[str, str, int], set[Pair]]:
    """Return for every (writer, reader, read) the pairs between which a value flows."""
    found: dict[tuple[str, str, int], set[Pair]] = {}
    last: dict[tuple[str, Point], Instance] = {}
    for sink in instances(scop):
        statement = scop.statement(sink.statement)
        for number, access in enumerate(statement.reads):
            source = last.get(element(scop, sink, access))
            if source is not None:
                key = (source.statement, sink.statement, number)
                found.setdefault(key, set()).add((source.point, sink.point))
        last[element(scop, sink, statement.write)] = sink
    return found


def last_writes(scop: Scop) -> set[Instance]:
    """Return the instances whose value is in the memory at the end."""
    last = {
        element(scop, instance, scop.statement(instance.statement).write): instance
        for instance in instances(scop)
    }
    return set(last.values())


def next_writes(scop: Scop) -> dict[str, set[tuple[str, Pair]]]:
    """Return for every statement the instances that are the next to write what its own touch."""
    found: dict[str, set[tuple[str, Pair]]] = {}
    following: dict[tuple[str, Point], Instance] = {}
    for source in reversed(instances(scop)):
        statement = scop.statement(source.statement)
        for access in (statement.write, *statement.reads):
            sink = following.get(element(scop, source, access))
            if sink is not None:
                pair = sink.statement, (source.point, sink.point)
                found.setdefault(source.statement, set()).add(pair)
        following[element(scop, source, statement.write)] = source
    return found
