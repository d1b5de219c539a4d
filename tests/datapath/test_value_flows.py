"""What flows between the instances of a program is what a walk through it, one by one, finds."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import pytest

from rtlgen.datapath.value_flows import TooManyIterations, value_flows
from rtlgen.ir.affine import constraint_holds
from rtlgen.ir.scop import Access, ConditionNode, LoopNode, Node, Scop, Statement
from tests.poly.sources import analysed

KERNELS = Path(__file__).parents[1] / "end_to_end" / "kernels"

Flow = tuple[int, int, int | None, bool]
Element = tuple[str, tuple[int, ...]]

BACKWARD = """void f(int a[12], int b[12][12]) {
  for (int i = 11; i > 1; i -= 3) {
    a[i] = a[i - 2] + 1;
    for (int j = i; j < 12; j += 2) {
      if ((i + j) % 3 == 0) b[i][j] = a[j] * 2;
      a[j - 1] += b[j][i];
    }
  }
}
"""
LOOKUPS = """void f(int a[8], const int x[8], int y[8]) {
  for (int i = 0; i < 8; i++) {
    a[i] = x[i] + 1;
    if (x[i] > 3) a[x[i] & 7] = i;
    y[i] = a[7 - i];
  }
}
"""


def instances(
    scop: Scop, nodes: Sequence[Node], at: Mapping[str, int]
) -> Iterator[tuple[Statement, Mapping[str, int]]]:
    """Yield every instance in program order."""
    for node in nodes:
        if isinstance(node, LoopNode):
            for value in node.loop.values(at):
                yield from instances(scop, node.body, {**at, node.loop.iterator: value})
        elif isinstance(node, ConditionNode):
            if all(constraint_holds(condition, at) for condition in node.conditions):
                yield from instances(scop, node.body, at)
        else:
            yield scop.statement(node.statement), at


def element(access: Access, at: Mapping[str, int]) -> Element | None:
    if access.is_lookup or access.is_conditional:
        return None
    if any(form.evaluate(at) < 0 for form in access.where):
        return None
    return access.array, tuple(subscript.evaluate(at) for subscript in access.affine)


def walked(scop: Scop) -> set[Flow]:
    """Return all flows of a program, an instance after another."""
    found: set[Flow] = set()
    stored = {statement.write.array for statement in scop.statements}
    written: dict[Element, int] = {}
    users: dict[Element, list[tuple[int, int | None]]] = {}
    for number, (statement, at) in enumerate(instances(scop, scop.tree, {})):
        own = element(statement.write, at)
        reads = [(element(access, at), read) for read, access in enumerate(statement.reads)]
        for each, read in reads:
            if each in written:
                found.add((written[each], number, read, True))
            if each is not None and each != own and each[0] in stored:
                users.setdefault(each, []).append((number, read))
        if own is None:
            written = {e: n for e, n in written.items() if e[0] != statement.write.array}
            continue
        found |= {(user, number, read, False) for user, read in users.get(own, ()) if user < number}
        written[own], users[own] = number, [(number, None)]
    return found


def flows_of(scop: Scop) -> set[Flow]:
    flows = value_flows(scop)
    columns = (flows.sources.tolist(), flows.sinks.tolist(), flows.kinds.tolist())
    triples = list(zip(*columns, strict=True))
    names = {number: name for name, of in flows.numbers.items() for number in of.tolist()}
    kinds = flows.kind_list
    assert sorted(names) == list(range(flows.count))
    assert all((names[s], names[t]) == (kinds[k].source, kinds[k].sink) for s, t, k in triples)
    assert flows.sinks.tolist() == sorted(flows.sinks.tolist())
    return {(s, t, kinds[k].read, kinds[k].is_value) for s, t, k in triples}


@pytest.mark.parametrize("text", [BACKWARD, LOOKUPS], ids=["backward", "lookups"])
def test_flows_are_those_of_a_walk(text: str) -> None:
    scop = analysed(text).scop
    assert flows_of(scop) == walked(scop) != set()


@pytest.mark.sample("gramschmidt", "trisolv", "seidel_2d")
@pytest.mark.parametrize("name", sorted(path.stem for path in KERNELS.glob("*.c")))
def test_flows_of_kernels_are_those_of_a_walk(name: str) -> None:
    scop = analysed((KERNELS / f"{name}.c").read_text()).scop
    assert flows_of(scop) == walked(scop)


def test_a_walk_ends_before_it_is_too_long() -> None:
    text = "void f(int a[8]) { for (int i = 0; i < 99; i++) for (int j = 0; j < 8; j++) a[j]++; }"
    scop = analysed(text).scop
    assert value_flows(scop, 99 * 9).count == 99 * 8
    with pytest.raises(TooManyIterations):
        value_flows(scop, 99 * 9 - 1)
