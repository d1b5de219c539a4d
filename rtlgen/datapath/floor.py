"""How few cycles datapaths could take, if nothing but the data and their places were waited for.

The program is walked in its own order. An instance of a statement can be issued once the values
that it reads are there, each handed on in the very cycle in which it is ready for its store; its
*head* is the first such cycle. Its *tail* are the cycles from its issue to the end of the last
instance that depends on it. The longest head and tail together are the chain of latencies.

A stream issues one instance a cycle. Among unit jobs with heads and tails on one machine, issuing
the ready one with the longest tail is optimal, so what that order takes is a bound too, and one
that no other order of the instances, nest or shift could beat.

The floor of a program counts the order of accesses to one element, too: a store comes behind the
reads of what was there, and behind the store before it. The limit of a plan does not, since more
memory would dissolve that. Elements that depend on data, or that may lie outside of their array,
are left out of both.

Reference
---------
Jackson, Scheduling a production line to minimize maximum tardiness, 1955: the rule. Carlier, The
one-machine sequencing problem, 1982: heads and tails.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from itertools import chain
from operator import itemgetter
from typing import TypeAlias

from rtlgen.datapath.build import Datapath
from rtlgen.datapath.lags import Timing
from rtlgen.ir.affine import constraint_holds
from rtlgen.ir.operations import ForwardOp, LoadOp
from rtlgen.ir.plan import KernelPlan, Stream
from rtlgen.ir.scop import Access, ConditionNode, LoopNode, Node, Scop, Statement
from rtlgen.ir.sets import ScopSets

Iterators: TypeAlias = Mapping[str, int]
Element: TypeAlias = tuple[str, tuple[int, ...]]

MAX_ITERATIONS = 20_000
"""Iterations of loops up to which a search asks for the floor of a program: a tenth of a second."""


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
class Stages:
    """When values enter and leave a pipeline, in cycles from the issue of an instance.

    Members
    -------
    uses: by read, in which its value enters. result: in which the value of the instance is there.
    depth_cycles: up to its end.
    frees: by read, in which the value of another instance may be stored in the same place at the
        earliest. None: stores wait for nobody.
    """

    uses: Mapping[int, int]
    result: int
    depth_cycles: int
    frees: Mapping[int, int] | None = None

    @classmethod
    def of_stream(cls, stream: Stream) -> Stages:
        uses: dict[int, int] = {}
        for op in stream.operations:
            if isinstance(op, LoadOp | ForwardOp):
                uses[op.read] = max(uses.get(op.read, 0), op.result_stage)
        return cls(uses, stream.store.stage, stream.depth_cycles)

    @classmethod
    def of_datapath(cls, scop: Scop, statement: Statement, datapath: Datapath) -> Stages:
        uses = {read: datapath.use_stage(read) for read in datapath.node_of_read}
        # A store to a block RAM never meets a read of the element, one to a register may.
        waits = {r: not scop.array(statement.reads[r].array).is_register for r in uses}
        frees = {read: datapath.address_stage(read) + waits[read] for read in uses}
        return cls(uses, datapath.result_stage, datapath.result_stage + 1, frees)


@dataclass(frozen=True, slots=True)
class ValueFlow:
    """An instance: its statement, and the instances behind which it comes.

    Members
    -------
    needs: those whose values it reads, each by which read.
    follows: those that have read what was in the place of its value before, each by which read, and
        the one whose value that was: None for its read.
    """

    statement: str
    needs: tuple[tuple[int, int], ...]
    follows: tuple[tuple[int, int | None], ...] = ()


def limit_of_plan(scop: Scop, plan: KernelPlan) -> DataflowLimit:
    """Return the limit of a plan's datapaths.

    Parameters
    ----------
    scop: the program whose statements the streams are, in program order.
    """
    streams = {stream.statement: Stages.of_stream(stream) for stream in plan.streams}
    return dataflow_limit(list(value_flows(scop, frozenset(streams))), streams)


def floor_cycles(timing: Timing, names: Sequence[str] | None = None) -> int:
    """Return the cycles that statements take at least, from the first issue to the last end.

    0: nobody has counted, since loops have too many iterations.

    Parameters
    ----------
    names: statements that are looked at by themselves; None: the whole program.
    """
    flows = timing.sets.once(_flows)
    if flows is None:
        return 0
    chosen = frozenset(timing.datapaths if names is None else names)
    stages = {
        name: Stages.of_datapath(timing.scop, timing.scop.statement(name), timing.datapaths[name])
        for name in chosen
    }
    return dataflow_limit(_among(flows, chosen), stages).both


_Numbered: TypeAlias = Mapping[str, Sequence[tuple[int, ValueFlow]]]
"""The instances of each statement, with their places in the program."""


def _flows(sets: ScopSets) -> _Numbered | None:
    """Return the instances of a program; None: its loops have too many iterations."""
    found: dict[str, list[tuple[int, ValueFlow]]] = {}
    try:
        flows = value_flows(sets.scop, frozenset(sets.domains), MAX_ITERATIONS)
        for number, flow in enumerate(flows):
            found.setdefault(flow.statement, []).append((number, flow))
    except _TooLong:
        return None
    return found


def _among(flows: _Numbered, names: Collection[str]) -> list[ValueFlow]:
    """Return the instances of some statements in program order, with what flows between these."""
    chosen = sorted(chain.from_iterable(flows[n] for n in names), key=itemgetter(0))
    places = {number: place for place, (number, _) in enumerate(chosen)}
    return [
        ValueFlow(
            flow.statement,
            tuple((places[n], read) for n, read in flow.needs if n in places),
            tuple((places[n], read) for n, read in flow.follows if n in places),
        )
        for _, flow in chosen
    ]


def dataflow_limit(flows: Sequence[ValueFlow], stages: Mapping[str, Stages]) -> DataflowLimit:
    """Return the limit of pipelines through which values flow.

    Parameters
    ----------
    flows: of all instances, in program order. stages: by statement.
    """
    lags = [_lags(flow, flows, stages) for flow in flows]
    heads = _heads(lags)
    tails = _tails(lags, [stages[flow.statement].depth_cycles for flow in flows])
    jobs: dict[str, list[tuple[int, int]]] = {}
    for flow, head, tail in zip(flows, heads, tails, strict=True):
        jobs.setdefault(flow.statement, []).append((head, tail))
    return DataflowLimit(
        instances=max(len(of) - 1 + stages[name].depth_cycles for name, of in jobs.items()),
        chain=max(head + tail for head, tail in zip(heads, tails, strict=True)),
        both=max(map(one_a_cycle, jobs.values())),
    )


def _lags(
    flow: ValueFlow, flows: Sequence[ValueFlow], stages: Mapping[str, Stages]
) -> list[tuple[int, int]]:
    """Return behind which instances one comes, and how many cycles after their issue at least."""
    own = stages[flow.statement]
    found = [
        (producer, stages[flows[producer].statement].result - own.uses[read])
        for producer, read in flow.needs
        if read in own.uses
    ]
    for other, read in flow.follows:
        before = stages[flows[other].statement]
        if before.frees is None:
            continue
        if read is None:
            found.append((other, before.result + 1 - own.result))
        elif read in before.frees:
            found.append((other, before.frees[read] - own.result))
    return found


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


Lags: TypeAlias = Sequence[Sequence[tuple[int, int]]]
"""Of each instance, those whose values it waits for, and how many cycles after their issue."""


def _heads(lags: Lags) -> list[int]:
    heads: list[int] = []
    for needs in lags:
        # A value that is needed late would do for an instance issued before the kernel starts.
        heads.append(max((0, *(heads[n] + lag for n, lag in needs))))
    return heads


def _tails(lags: Lags, depths: Sequence[int]) -> list[int]:
    tails = list(depths)
    for place in range(len(lags) - 1, -1, -1):
        for producer, lag in lags[place]:
            tails[producer] = max(tails[producer], tails[place] + lag)
    return tails


def value_flows(
    scop: Scop, statements: frozenset[str], most: int | None = None
) -> Iterator[ValueFlow]:
    """Yield the instances of some statements in program order, with the values that flow to them.

    What others write flows to nobody here.

    Parameters
    ----------
    most: iterations of loops; None: any number.

    Raises
    ------
    _TooLong
    """
    number = 0
    written: dict[Element, int] = {}
    readers: dict[Element, list[tuple[int, int | None]]] = {}
    arrays: dict[str, list[Element]] = {}
    stored = {statement.write.array for statement in scop.statements}
    for statement, at in _Walk(scop, most).instances(scop.tree, {}):
        element = _element(statement.write, at)
        is_one = statement.name in statements
        if is_one:
            accesses = ((_element(access, at), read) for read, access in enumerate(statement.reads))
            found = [(each, read) for each, read in accesses if each is not None]
            needs = tuple((written[each], read) for each, read in found if each in written)
            follows = () if element is None else tuple(readers.pop(element, ()))
            yield ValueFlow(statement.name, needs, follows)
            for each, read in found:
                # What it reads itself it replaces anyhow.
                if each != element and each[0] in stored:
                    readers.setdefault(each, []).append((number, read))
        if element is None:
            # One element of all, nobody knows which: none has a value that is known to be needed.
            for other in arrays.pop(statement.write.array, ()):
                written.pop(other, None)
        elif is_one:
            written[element] = number
            readers[element] = [(number, None)]
            arrays.setdefault(element[0], []).append(element)
        else:
            written.pop(element, None)
        number += is_one


def _element(access: Access, at: Iterators) -> Element | None:
    """Return the element that is accessed, or None where there is none or it is not known."""
    if access.is_lookup or access.is_conditional:
        return None
    if any(form.evaluate(at) < 0 for form in access.where):
        return None
    return access.array, tuple(subscript.evaluate(at) for subscript in access.affine)


class _TooLong(Exception):
    """More iterations are walked through than somebody wants to wait for."""


@dataclass(slots=True)
class _Walk:
    """A program, walked in its order.

    Members
    -------
    left: iterations of loops, with a statement in them or none, that are walked through; None: all.
    """

    scop: Scop
    left: int | None = None

    def instances(
        self, nodes: Sequence[Node], at: dict[str, int]
    ) -> Iterator[tuple[Statement, Iterators]]:
        """Yield every instance, with its iterators, in program order.

        Raises
        ------
        _TooLong
        """
        for node in nodes:
            if isinstance(node, LoopNode):
                loop = node.loop
                for value in loop.values(at):
                    self._count()
                    at[loop.iterator] = value
                    yield from self.instances(node.body, at)
                at.pop(loop.iterator, None)
            elif isinstance(node, ConditionNode):
                if all(constraint_holds(condition, at) for condition in node.conditions):
                    yield from self.instances(node.body, at)
            else:
                yield self.scop.statement(node.statement), at

    def _count(self) -> None:
        if self.left is not None:
            self.left -= 1
            if self.left < 0:
                raise _TooLong
