"""Where each rule of the judge of plans begins and ends: a step too far is told in its own words.

The plans are of a few instances, and right; each test moves one part of one to the last place that
is still right, and one further.
"""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from rtlgen.ir.bank_map import Cut
from rtlgen.ir.issued_instances import issued_instances
from rtlgen.ir.operations import Operation
from rtlgen.ir.plan import (
    ALWAYS,
    NEVER,
    Condition,
    ForwardOp,
    IndexForm,
    LoadOp,
    Predicate,
    Region,
    Stream,
    Tap,
)
from rtlgen.judges import replay as replay_module
from rtlgen.judges.replay import UNKNOWN
from rtlgen.judges.replay import _Judge as Judge
from tests.judges.toy_plans import (
    Toy,
    always_loading,
    always_storing,
    padded,
    toy,
    with_load,
)


def judge_of(given: Toy) -> Judge:
    regions = issued_instances(given.plan, given.scop, given.scop.schedule, given.placed)
    return Judge(given.plan, given.scop, [member for members in regions for member in members])


def loop(body: str) -> str:
    return f"for (int i = 0; i < 4; i++) {body};"


COPY = f"void f(int a[4], int b[4]) {{ {loop('b[i] = a[i]')} }}"
INSIDE = "void f(int a[4], int b[4]) { for (int i = 1; i < 3; i++) b[i] = a[i]; }"
READERS = f"void f(int a[8], int b[4], int c[4]) {{ {loop('b[i] = a[i]')} {loop('c[i] = a[i]')} }}"
WRITERS = f"void f(int a[4], int b[8]) {{ {loop('b[i] = a[i]')} {loop('b[i + 4] = a[i]')} }}"
CHAIN = (
    f"void f(int a[4], int b[4], int c[4]) {{ {loop('b[i] = a[i]')} {loop('c[i] = b[3 - i]')} }}"
)
ANTI = f"void f(int a[4], int b[4], int c[4]) {{ {loop('b[i] = a[i]')} {loop('a[i] = c[i]')} }}"
LOCAL = (
    "void f(int a[4], int x[4], int b[4]) { int m[4];"
    f" {loop('m[i] = a[i]')} {loop('b[i] = m[x[i] & 3]')} }}"
)
REGISTER = (
    "void f(int a[4], int s[1], int b[4], int c[4]) {"
    f" {loop('b[i] = a[i] + s[0]')} {loop('c[i] = a[i] ^ s[0]')} }}"
)
EDGE = (
    "void f(int a[4], int b[4]) {"
    f" {loop('b[i] = i > 0 ? a[i - 1] : 7')} {loop('a[i] = 3 * b[i]')} }}"
)
LOOKED_UP_EDGE = (
    "void f(int m[4][4], int x[4], int b[4]) {"
    f" {loop('b[i] = i > 0 ? m[x[i] & 3][i - 1] : 7')} {loop('m[i][3] = b[i]')} }}"
)
WINDOW = (
    "void f(int m[8], int x[4], int b[4]) {"
    f" {loop('b[i] = m[x[i] & 3]')} {loop('m[4 + i] = x[i]')} }}"
)


AT_FIRST = Predicate(((Condition(IndexForm((-1,), 0)),),))


def streams(given: Toy) -> list[Stream]:
    return list(given.plan.streams)


def at(stream: Stream, offset_cycles: int) -> Stream:
    return replace(stream, offset_cycles=offset_cycles)


def delayed(stream: Stream, stages: int) -> Stream:
    """Return a stream that does everything so many cycles after its issue."""
    operations: tuple[Operation, ...] = tuple(
        replace(op, stage=op.stage + stages) for op in stream.operations
    )
    store = replace(stream.store, stage=stream.store.stage + stages)
    return replace(stream, operations=operations, store=store)


def stored_at(stream: Stream, address: IndexForm) -> Stream:
    return replace(stream, store=replace(stream.store, address=address))


def through_port_0(stream: Stream) -> Stream:
    return with_load(replace(stream, store=replace(stream.store, port=0)), port=0)


@pytest.mark.parametrize(
    "text",
    [COPY, INSIDE, READERS, WRITERS, CHAIN, ANTI, LOCAL, REGISTER, EDGE, LOOKED_UP_EDGE, WINDOW],
)
def test_what_the_compiler_makes_passes(text: str) -> None:
    assert toy(text).verdict() is None


def test_padding_may_do_nothing() -> None:
    for before, after in ((1, 0), (0, 1), (2, 3)):
        given = padded(toy(COPY), before, after)
        assert given.verdict() is None
        (stream,) = streams(given)
        loading = given.with_regions([always_loading(stream)])
        assert loading.verdict() == "S0 addresses no element of a"
        storing = given.with_regions([always_storing(stream)])
        assert storing.verdict() == "S0 stores to b in a padding iteration"


def test_padding_may_load_what_is_there() -> None:
    given = padded(toy(INSIDE), 1, 1)
    (stream,) = streams(given)
    assert given.with_regions([always_loading(stream)]).verdict() is None


def test_padding_that_is_never_issued_may_do_anything() -> None:
    given = padded(toy(COPY), 0, 1)
    (stream,) = streams(given)
    # Issues in cycles 0, 3, 6 and 9, the padding in 12; the last store is in cycle 11.
    slow = always_storing(replace(stream, ii=3))
    for length, verdict in ((12, None), (13, "S0 stores to b in a padding iteration")):
        region = Region((slow,), length)
        cut = replace(given, plan=replace(given.plan, body=(region,)))
        assert cut.verdict() == verdict


def test_a_read_port_serves_one_load_a_cycle() -> None:
    given = toy(READERS)
    first, second = map(through_port_0, streams(given))
    conflict = "two loads use read port 0 of a in one cycle"
    assert given.with_regions([first, at(second, 4)]).verdict() is None
    assert given.with_regions([first, at(second, 3)]).verdict() == conflict
    # The iteration of padding in cycle 4 has the port where it loads, and leaves it where not.
    given = padded(given, 0, 1)
    first, second = map(through_port_0, streams(given))
    assert given.with_regions([first, at(second, 4)]).verdict() is None
    assert given.with_regions([always_loading(first), at(second, 4)]).verdict() == conflict
    assert given.with_regions([always_loading(first), at(second, 5)]).verdict() is None


def test_what_padding_loads_after_its_region_is_never_loaded() -> None:
    given = padded(toy(READERS), 0, 3)
    first, second = map(through_port_0, streams(given))
    # Loads in cycles 1 to 7, stores in 3 to 6; the region ends before cycle 7.
    first = always_loading(delayed(first, 1))
    assert all(not isinstance(op, LoadOp) or op.stage == 1 for op in first.operations)
    regions = Region((first,), 7), Region.whole((at(second, 0),))
    assert replace(given, plan=replace(given.plan, body=regions)).verdict() is None
    regions = Region((first,), 8), regions[1]
    assert replace(given, plan=replace(given.plan, body=regions)).verdict() is None


def test_a_register_has_any_number_of_readers() -> None:
    given = toy(REGISTER)
    first, second = streams(given)
    places = [
        n for n, op in enumerate(second.operations) if isinstance(op, LoadOp) and op.memory == "s"
    ]
    op = second.operations[places[0]]
    assert isinstance(op, LoadOp)
    shared = tuple(
        replace(op, port=0) if n == places[0] else other
        for n, other in enumerate(second.operations)
    )
    same_port = given.with_regions([first, replace(second, operations=shared)])
    assert same_port.verdict() is None


def test_a_write_port_serves_one_store_a_cycle() -> None:
    given = toy(WRITERS)
    first, second = (replace(s, store=replace(s.store, port=0)) for s in streams(given))
    given = given.with_memory("b", homes=())
    assert given.with_regions([first, at(second, 4)]).verdict() is None
    assert (
        given.with_regions([first, at(second, 3)]).verdict()
        == "two stores through a write port of b in one cycle"
    )


def test_a_store_stays_in_its_array() -> None:
    given = toy(COPY)
    (stream,) = streams(given)
    for address in (IndexForm((1,), -1), IndexForm((1,), 1), IndexForm((-1,), 0)):
        assert given.with_regions([stored_at(stream, address)]).verdict() == "a store leaves b"
    elsewhere = stored_at(stream, IndexForm((-1,), 3))
    assert (
        given.with_regions([elsewhere]).verdict()
        == "b does not end with the last writes of the program"
    )


def test_a_load_is_of_the_element_and_array_that_the_program_reads() -> None:
    given = toy(COPY)
    (stream,) = streams(given)
    for change, verdict in (
        ({"address": IndexForm((0,), 0)}, "S0 addresses the wrong element of a"),
        ({"needed": NEVER}, "S0 uses a without asking for it"),
        ({"memory": "b"}, "S0 reads b in place of a"),
    ):
        assert given.with_regions([with_load(stream, **change)]).verdict() == verdict


def test_no_element_is_loaded_in_the_cycle_of_its_store() -> None:
    given = toy(ANTI)
    first, second = streams(given)
    stores_after = second.store.stage
    assert given.with_regions([at(first, stores_after - 1), at(second, 0)]).verdict() is None
    assert (
        given.with_regions([at(first, stores_after), at(second, 0)]).verdict()
        == "S0 loads an element of a in the cycle of its store"
    )
    assert (
        given.with_regions([at(first, stores_after + 1), at(second, 0)]).verdict()
        == "S0 loads a wrong value of a"
    )


def test_a_store_to_any_bank_spoils_what_is_loaded_in_its_cycle() -> None:
    given = toy(ANTI).with_memory("a", write_ports=2)
    first, second = streams(given)
    first = with_load(first, versions=(NEVER,))
    for offset, verdict in (
        (second.store.stage - 1, None),
        (second.store.stage, "S0 loads an element of a in the cycle of its store"),
    ):
        assert given.with_regions([at(first, offset), at(second, 0)]).verdict() == verdict


def test_a_register_may_be_read_in_the_cycle_of_its_store() -> None:
    given = toy(
        f"void f(int a[4], int s[1], int b[4]) {{ {loop('b[i] = a[i] + s[0]')} s[0] = 5; }}"
    )
    first, second = streams(given)
    (stage,) = [op.stage for op in first.operations if isinstance(op, LoadOp) and op.memory == "s"]
    last_read = first.offset_cycles + 3 + stage
    same = last_read - second.store.stage
    assert given.with_regions([first, at(second, same)]).verdict() is None
    early = given.with_regions([first, at(second, same - 1)])
    assert early.verdict() == "S0 loads a wrong value of s"


def test_a_value_is_there_in_the_cycle_after_its_store_and_not_before() -> None:
    given = toy(CHAIN)
    first, second = streams(given)
    # b[3], which is read first, is stored last: in cycle 5.
    assert given.with_regions([first, at(second, 6)]).verdict() is None
    assert given.with_regions([first, at(second, 5)]).verdict() == "S1 loads a wrong value of b"


def test_a_region_begins_when_the_one_before_has_ended() -> None:
    given = toy(CHAIN)
    first, second = streams(given)
    assert given.with_regions([first], [at(second, 0)]).verdict() is None
    assert given.with_regions([second], [first]).verdict() == "S1 loads a wrong value of b"
    early = Region((first,), 5), Region.whole((at(second, 0),))
    cut = replace(given, plan=replace(given.plan, body=early))
    with pytest.raises(AssertionError, match="cut off"):
        assert cut.verdict() is None, cut.verdict()


def test_a_stream_issues_the_instances_of_its_statement() -> None:
    given = toy(COPY)
    (stream,) = streams(given)
    more = replace(stream, instances=5)
    assert (given.with_regions([more]).verdict() or "").endswith("S0 runs 4 of 5 instances")
    fewer = replace(stream, levels=(replace(stream.levels[0], extent=3),))
    assert (given.with_regions([fewer]).verdict() or "").endswith("S0 runs 3 of 4 instances")


def test_a_port_of_a_bank_is_asked_for_one_element_a_cycle() -> None:
    """Two loads of one cycle are of one element, or of two banks where both are known."""
    memory = replace(
        toy(COPY).plan.memory("a"), shape=(6,), cuts=(Cut(0, "cyclic", 3),), write_ports=1
    )
    judge = judge_of(toy(COPY))
    draw, verdicts = random.Random(8), Counter[tuple[bool, bool]]()
    for _ in range(400):
        uses = [
            (draw.randrange(3), draw.choice([*range(6), *(UNKNOWN - n for n in range(2))]))
            for _ in range(draw.randint(1, 4))
        ]
        contested = any(
            first != second
            and first[0] == second[0]
            and (min(first[1], second[1]) < 0 or first[1] % 3 == second[1] % 3)
            for first in uses
            for second in uses
        )
        parts = [np.array(part, dtype=np.int64).T for part in (uses[:2], uses[2:]) if part]
        assert judge._is_port_contested(memory, parts) == contested, uses
        verdicts[contested, min(element for _, element in uses) < 0] += 1
    assert len(verdicts) == 4 and min(verdicts.values()) >= 10, verdicts


def test_what_is_looked_up_is_no_element_that_is_known_nor_that_of_another_load() -> None:
    given = toy(LOCAL)
    judge = judge_of(given)
    (member,) = (m for m in judge.members if m.stream.statement == "S1")
    (op,) = (op for op in member.stream.operations if isinstance(op, LoadOp) and op.memory == "m")
    needed = np.ones(len(member.tokens), dtype=np.bool_)
    for _ in range(30):
        judge._use_port(member, op, needed, None)
    numbers = [set(elements.tolist()) for _, elements in judge.port_uses[op.memory, op.port]]
    assert all(len(each) == 1 and max(each) < 0 for each in numbers)
    assert len(set.union(*numbers)) == len(numbers) == 30


def test_a_load_is_from_one_bank() -> None:
    given = toy(CHAIN).with_memory("b", write_ports=3)
    first, second = streams(given)
    for versions, verdict in (
        ((NEVER, NEVER), None),
        ((ALWAYS, NEVER), "S1 loads a wrong value of b"),
        ((ALWAYS, ALWAYS), "S1 takes b from two versions at once"),
        ((AT_FIRST, ALWAYS), "S1 takes b from two versions at once"),
    ):
        assert (
            given.with_regions([first, with_load(second, versions=versions)]).verdict() == verdict
        )
    # Where the value is not used it does not matter.
    (own,) = [s for s in streams(toy(EDGE)) if any(isinstance(op, LoadOp) for op in s.operations)]
    edge = toy(EDGE).with_memory("a", write_ports=3)
    others = [s for s in streams(edge) if s.statement != own.statement]
    nowhere = [with_load(own, versions=(NEVER, NEVER)), *others]
    assert edge.with_regions(nowhere).verdict() is None


def test_what_is_looked_up_in_a_local_array_must_have_been_stored() -> None:
    given = toy(LOCAL)
    first, second = streams(given)
    silent = replace(first, store=replace(first.store, when=NEVER))
    assert given.with_regions([silent, second]).verdict() == "S1 may look up a wrong value of m"
    early = at(first, second.offset_cycles + 1)
    assert given.with_regions([early, second]).verdict() == "S1 may look up a wrong value of m"


def test_nothing_is_looked_up_in_the_cycle_of_its_store() -> None:
    given = toy(
        "void f(int m[4], int x[4], int b[4]) {"
        f" {loop('b[i] = m[x[i] & 3]')} {loop('m[i] = x[i]')} }}"
    )
    first, second = streams(given)
    (stage,) = [op.stage for op in first.operations if isinstance(op, LoadOp) and op.memory == "m"]
    last_look = first.offset_cycles + 3 + stage
    close = last_look + 1 - second.store.stage
    assert given.with_regions([first, at(second, close)]).verdict() is None
    assert (
        given.with_regions([first, at(second, close - 1)]).verdict()
        == "S0 may look up an element of m in the cycle of its store"
    )
    assert (
        given.with_regions([first, at(second, close - 2)]).verdict()
        == "S0 may look up a wrong value of m"
    )


def with_taps(stream: Stream, *taps: Tap) -> Stream:
    (place,) = [n for n, op in enumerate(stream.operations) if isinstance(op, ForwardOp)]
    op = stream.operations[place]
    assert isinstance(op, ForwardOp)
    changed = replace(op, taps=taps)
    return replace(
        stream, operations=(*stream.operations[:place], changed, *stream.operations[place + 1 :])
    )


def taps_of(stream: Stream) -> tuple[Tap, ...]:
    (op,) = [op for op in stream.operations if isinstance(op, ForwardOp)]
    return op.taps


def test_what_is_forwarded_is_one_value_and_matters_inside_of_the_array_only() -> None:
    given = toy(f"void f(int a[4]) {{ {loop('a[i] = i > 0 ? a[i - 1] + 1 : 7')} }}")
    (stream,) = streams(given)
    (tap,) = taps_of(stream)
    always = replace(tap, when=ALWAYS)
    for taps, verdict in (
        ((tap,), None),
        # Where i is 0 nothing was stored before, and nothing is read.
        ((always,), None),
        ((always, replace(tap, when=NEVER)), None),
        ((always, replace(tap, when=AT_FIRST)), "S0 takes two values of a at once"),
        ((tap, always), "S0 takes two values of a at once"),
        ((replace(always, delay_cycles=2),), "S0 forwards a wrong value of a from S0"),
    ):
        assert given.with_regions([with_taps(stream, *taps)]).verdict() == verdict


@pytest.mark.parametrize("text", [COPY, LOCAL])
def test_a_plan_is_replayed_up_to_a_number_of_iterations(
    text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    given = toy(text)
    iterations = sum(stream.count for stream in streams(given))
    for limit, is_replayed in ((iterations, True), (iterations - 1, False)):
        monkeypatch.setattr("rtlgen.ir.plan.MAX_REPLAYED", limit)
        done = replay_module.replay(given.plan, given.scop, given.scop.schedule, given.placed)
        assert done == is_replayed


def test_each_lookup_counts_the_elements_of_changing_arrays_that_it_may_touch(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    table = "static const int t[4] = {1, 2, 3, 4}; "
    given = toy(table + LOCAL.replace("m[x[i] & 3]", "m[(x[i] & 1) + 2] + t[x[i] & 3]"))
    # Four instances look at two elements of m each; t does not change.
    for limit, is_replayed in ((8, True), (7, False)):
        monkeypatch.setattr(replay_module, "MAX_ELEMENTS", limit)
        done = replay_module.replay(given.plan, given.scop, given.scop.schedule, given.placed)
        assert done == is_replayed
