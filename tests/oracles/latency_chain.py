"""The longest chain of operator latencies along the values of a program.

No circuit with these operators is faster, whatever its loops and its memories: each instance waits
for the values that it reads, which take their way straight from the result that they are to the
operator that wants them. Which instance made a value is found by walking the program; of the plan
only the latencies of the operators are used, not the stages in which it has them.
"""

from __future__ import annotations

from rtlgen.ir.affine import Affine
from rtlgen.ir.plan import ForwardOp, KernelPlan, LoadOp, Stream
from rtlgen.ir.scop import Scop
from tests.poly.enumeration import Instance, Point, element, instances


def latency_chain(scop: Scop, plan: KernelPlan) -> int:
    """Return the cycles from the first issue to after the last store, if nothing else takes time.

    Parameters
    ----------
    scop: the program as written. plan: of the same program.
    """
    lags = {stream.statement: _lags(stream) for stream in plan.streams}
    depths = {stream.statement: _depth(stream) for stream in plan.streams}
    stored: dict[tuple[str, Point], int] = {}
    for instance in instances(scop):
        # What a circuit does not run, its values known or never read, keeps nobody waiting.
        if instance.statement not in depths:
            continue
        ready = depths[instance.statement]
        for read, lag in lags[instance.statement].items():
            ready = max(ready, _there(scop, instance, read, stored) + lag)
        stored[element(scop, instance, scop.statement(instance.statement).write)] = ready
    return max(stored.values(), default=-1) + 1


def statement_steps(scop: Scop) -> int:
    """Return the number of instances: the cycles of one statement after another."""
    return len(instances(scop))


def _depth(stream: Stream) -> int:
    """Return the cycles from the first address to the result, if no value waits for another."""
    ready: list[int] = []
    for op in stream.operations:
        ready.append(max((ready[n] for n in op.operands), default=0) + op.latency_cycles)
    return ready[stream.store.value]


def _lags(stream: Stream) -> dict[int, int]:
    """Return the cycles from where the value of each read is used to where the result is stored.

    The value of a read comes in behind the load, and behind the choice of a forwarded one.
    """
    after = {stream.store.value: 0}
    lags: dict[int, int] = {}
    for number in reversed(range(len(stream.operations))):
        if number not in after:
            continue
        op = stream.operations[number]
        if isinstance(op, LoadOp | ForwardOp):
            lags.setdefault(op.read, after[number])
        for operand in op.operands:
            after[operand] = max(after[number] + op.latency_cycles, after.get(operand, 0))
    return lags


def _there(scop: Scop, instance: Instance, read: int, stored: dict[tuple[str, Point], int]) -> int:
    """Return when the value of a read is there, after the start; 0 where the program is given it.

    What a lookup reads is not known, so that it waits for nothing.
    """
    access = scop.statement(instance.statement).reads[read]
    if not all(isinstance(subscript, Affine) for subscript in access.subscripts):
        return 0
    return stored.get(element(scop, instance, access), 0)
