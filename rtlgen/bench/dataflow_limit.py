"""How few cycles the datapaths of a plan could take, if nothing but the data were waited for.

The program is walked in its own order. An instance of a statement can be issued once the values
that it reads are there, each handed on in the very cycle in which it is ready for its store; its
*head* is the first such cycle. Its *tail* are the cycles from its issue to the end of the last
instance that depends on it. The longest head and tail together are the chain of latencies.

A stream issues one instance a cycle. Among unit jobs with heads and tails on one machine, issuing
the ready one with the longest tail is optimal, so what that order takes is a bound too, and one
that no other order of the instances, nest or shift could beat.

Order among stores, and between reads and later stores, is left out: more memory would dissolve it.
So are reads of elements that depend on data, or that may lie outside of their array.

Reference
---------
Jackson, Scheduling a production line to minimize maximum tardiness, 1955: the rule. Carlier, The
one-machine sequencing problem, 1982: heads and tails.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from typing import TypeAlias

from rtlgen.ir.affine import constraint_holds
from rtlgen.ir.operations import ForwardOp, LoadOp
from rtlgen.ir.plan import KernelPlan, Stream
from rtlgen.ir.scop import Access, ConditionNode, LoopNode, Node, Scop, Statement

Iterators: TypeAlias = Mapping[str, int]
Element: TypeAlias = tuple[str, tuple[int, ...]]


@dataclass(frozen=True, slots=True)
class DataflowLimit:
    """What a program takes at least, in cycles.

    Members
    -------
    instances: of the statement with the most, one a cycle, up to the end of the last.
    chain: of the longest chain of dependent instances.
    both: of the statement whose instances, one a cycle, each between its head and its tail, take
        longest. No smaller than the other two.
    """

    instances: int
    chain: int
    both: int


@dataclass(frozen=True, slots=True)
class _Instance:
    """An instance: its statement, and the instances whose values it reads, each with its lag."""

    statement: str
    needs: tuple[tuple[int, int], ...]


def dataflow_limit(scop: Scop, plan: KernelPlan) -> DataflowLimit:
    """Return the limit of a plan's datapaths.

    Parameters
    ----------
    scop: the program whose statements the streams are, in program order.
    """
    streams = {stream.statement: stream for stream in plan.streams}
    instances = list(_instances(scop, streams))
    heads = _heads(instances)
    tails = _tails(instances, {name: stream.depth_cycles for name, stream in streams.items()})
    jobs: dict[str, list[tuple[int, int]]] = {}
    for instance, head, tail in zip(instances, heads, tails, strict=True):
        jobs.setdefault(instance.statement, []).append((head, tail))
    return DataflowLimit(
        instances=max(len(of) - 1 + streams[name].depth_cycles for name, of in jobs.items()),
        chain=max(head + tail for head, tail in zip(heads, tails, strict=True)),
        both=max(map(one_a_cycle, jobs.values())),
    )


def one_a_cycle(jobs: Sequence[tuple[int, int]]) -> int:
    """Return the fewest cycles to the last end of jobs of which one a cycle is issued.

    Parameters
    ----------
    jobs: head and tail of each: the first cycle in which it may be issued, and the cycles from
        there to its end.
    """
    waiting = sorted(jobs)
    ready: list[int] = []
    end = cycle = place = 0
    while place < len(waiting) or ready:
        if not ready:
            cycle = max(cycle, waiting[place][0])
        while place < len(waiting) and waiting[place][0] <= cycle:
            heappush(ready, -waiting[place][1])
            place += 1
        end = max(end, cycle - heappop(ready))
        cycle += 1
    return end


def _heads(instances: Sequence[_Instance]) -> list[int]:
    heads: list[int] = []
    for instance in instances:
        # A value that is needed late would do for an instance issued before the kernel starts.
        heads.append(max((0, *(heads[n] + lag for n, lag in instance.needs))))
    return heads


def _tails(instances: Sequence[_Instance], depths: Mapping[str, int]) -> list[int]:
    tails = [depths[instance.statement] for instance in instances]
    for place in range(len(instances) - 1, -1, -1):
        for producer, lag in instances[place].needs:
            tails[producer] = max(tails[producer], tails[place] + lag)
    return tails


def _instances(scop: Scop, streams: Mapping[str, Stream]) -> Iterator[_Instance]:
    """Yield the instances that have a stream, in program order."""
    uses = {name: _uses(stream) for name, stream in streams.items()}
    number = 0
    written: dict[Element, tuple[int, int]] = {}
    for statement, at in _executed(scop, scop.tree, {}):
        stream = streams.get(statement.name)
        if stream is None:
            continue
        needs = []
        for read, stage in uses[statement.name].items():
            element = _element(statement.reads[read], at)
            if element in written:
                producer, ready = written[element]
                needs.append((producer, ready - stage))
        yield _Instance(statement.name, tuple(needs))
        element = _element(statement.write, at)
        assert element is not None, "where a statement writes is known"
        written[element] = number, stream.store.stage
        number += 1


def _uses(stream: Stream) -> dict[int, int]:
    """Return the stage in which the value of each read enters the datapath."""
    found: dict[int, int] = {}
    for op in stream.operations:
        if isinstance(op, LoadOp | ForwardOp):
            found[op.read] = max(found.get(op.read, 0), op.result_stage)
    return found


def _element(access: Access, at: Iterators) -> Element | None:
    """Return the element that is accessed, or None where there is none or it is not known."""
    if access.is_lookup or access.is_conditional:
        return None
    if any(form.evaluate(at) < 0 for form in access.where):
        return None
    return access.array, tuple(subscript.evaluate(at) for subscript in access.affine)


def _executed(
    scop: Scop, nodes: Sequence[Node], at: dict[str, int]
) -> Iterator[tuple[Statement, Iterators]]:
    """Yield every instance, with its iterators, in program order."""
    for node in nodes:
        if isinstance(node, LoopNode):
            loop = node.loop
            for value in loop.values(at):
                at[loop.iterator] = value
                yield from _executed(scop, node.body, at)
            at.pop(loop.iterator, None)
        elif isinstance(node, ConditionNode):
            if all(constraint_holds(condition, at) for condition in node.conditions):
                yield from _executed(scop, node.body, at)
        else:
            yield scop.statement(node.statement), at
