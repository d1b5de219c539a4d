"""Statements, blocks, loops and branches."""

from __future__ import annotations

from tests.oracles.random_c.draft import FLOAT_TYPES, Block, Draft, Index, is_float
from tests.oracles.random_c.indices import subscript
from tests.oracles.random_c.loops import loop_head
from tests.oracles.random_c.values import TYPES, condition, element, number, part_of, value

MAX_LOOPS = 3
MAX_RUNS = 150
"""Iterations of a statement, at most."""


def body(draft: Draft, around: int, runs: int) -> None:
    """Write a few nodes; `around` loops that run `runs` times stand around them."""
    for _ in range(draft.pick((1, 1, 2, 2, 3))):
        node(draft, around, runs)


def node(draft: Draft, around: int, runs: int) -> None:
    """Write a loop, a branch, a block or a statement."""
    if draft.left <= 0:
        return
    inner = around < MAX_LOOPS - 1 and runs < MAX_RUNS // 2
    if inner and draft.chance((1.0, 0.5, 0.3)[around]):
        _loop(draft, around, runs)
    elif draft.wants("branches"):
        _branch(draft, around, runs)
    elif draft.wants("temporaries"):
        _temporary(draft)
        statement(draft)
    elif draft.wants("rows"):
        _row(draft)
        statement(draft)
    elif draft.chance(0.03):
        with draft.block(""):
            body(draft, around, runs)
    else:
        statement(draft)


def _loop(draft: Draft, around: int, runs: int) -> None:
    head = loop_head(draft, around)
    for line in head.before:
        draft.add(line)
    counter = _counter(draft) if draft.wants("counters") else None
    with draft.block(head.text):
        draft.scope.indices += head.indices
        if counter is not None:
            draft.scope.indices.append(counter[0])
        before = len(draft.lines)
        body(draft, around + 1, runs * head.trips)
        if len(draft.lines) == before:
            statement(draft)
        if counter is not None:
            draft.add(counter[1])


def _counter(draft: Draft) -> tuple[Index, str]:
    """Declare a variable that goes round; return it with the statement that moves it on."""
    name, period = draft.name("k"), draft.pick((2, 3, 4, 5))
    start = draft.between(0, period - 1)
    draft.add(f"int {name} = {start};")
    steps = (
        f"if (++{name} == {period}) {name} = 0;",
        f"{name} = {name} == {period - 1} ? 0 : {name} + 1;",
        f"{name} = ({name} + 1) % {period};",
        f"{name}++; if ({name} >= {period}) {name} = 0;",
    )
    return Index(name, 0, period - 1), draft.pick(steps)


def _branch(draft: Draft, around: int, runs: int) -> None:
    with draft.block(f"if ({condition(draft)})"):
        if draft.chance(0.2):
            body(draft, around, runs)
        else:
            statement(draft)
    if draft.chance(0.4):
        draft.lines[-1] += " else {"
        outer = draft.scope
        draft.scope, draft.depth = outer.copy(), draft.depth + 1
        if draft.chance(0.3) and draft.left > 0:
            _branch(draft, around, runs)
        else:
            statement(draft)
        draft.scope, draft.depth = outer, draft.depth - 1
        draft.add("}")


def _temporary(draft: Draft) -> None:
    name = draft.name("t")
    draft.left -= 1
    if draft.is_number():
        draft.add(f"{draft.pick(FLOAT_TYPES)} {name} = {number(draft, 2)};")
        draft.scope.numbers.append(name)
        return
    draft.add(f"{draft.pick(TYPES)} {name} = {value(draft, 2)};")
    draft.scope.values.append(name)
    draft.scope.variables.append(name)


def _row(draft: Draft) -> None:
    deep = [b for b in draft.scope.blocks if len(b.shape) > 1]
    if not deep:
        return
    block, name = draft.pick(deep), draft.name("row")
    qualifier = "" if block.is_written else "const "
    if len(block.shape) == 2:
        at = subscript(draft, block.shape[0], written=True)
        draft.add(f"{qualifier}{block.type} *{name} = {block.name}[{at}];")
        draft.scope.blocks.append(Block(name, block.type, block.shape[1:], block.is_written))


def statement(draft: Draft) -> None:
    """Write an assignment, or a call of a helper that writes."""
    draft.left -= 1
    if draft.wants("calls") and _call(draft):
        return
    if draft.scope.numbers and draft.is_number():
        _number_statement(draft)
        return
    if draft.wants("merged") and draft.scope.variables:
        _merge(draft, draft.pick(draft.scope.variables))
        return
    blocks = [b for b in draft.scope.blocks if b.is_written]
    if draft.scope.variables and (not blocks or draft.chance(0.2)):
        target = draft.pick(draft.scope.variables)
    else:
        block = draft.pick(blocks)
        target = element(draft, block, written=True)
        if is_float(block.type):
            _assign_number(draft, target)
            return
    _assign(draft, target)


def _number_statement(draft: Draft) -> None:
    """Write what gives a variable in floating point another value."""
    name = draft.pick(draft.scope.numbers)
    if draft.wants("merged"):
        draft.add(f"if ({condition(draft)}) {name} = {number(draft, 2)};")
        if draft.chance(0.5):
            draft.add(f"else {name} {draft.pick(('=', '+=', '*='))} {number(draft, 2)};")
        return
    _assign_number(draft, name)


def _assign_number(draft: Draft, target: str) -> None:
    if draft.wants("compound"):
        operator = draft.pick(("+=", "+=", "-=", "*=", "/="))
        draft.add(f"{target} {operator} {number(draft, 2)};")
        return
    # C converts whichever of both it is.
    draft.add(f"{target} = {number(draft, 3) if draft.chance(0.9) else value(draft, 2)};")


def _assign(draft: Draft, target: str) -> None:
    if draft.wants("compound"):
        operator = draft.pick(("+=", "-=", "*=", "^=", "|=", "&=", "+=", "<<=", ">>="))
        if operator in ("<<=", ">>="):
            draft.add(f"{target} {operator} {draft.pick((1, 2, 5))};")
        elif draft.chance(0.1):
            draft.add(f"{target}{draft.pick(('++', '--'))};")
        else:
            draft.add(f"{target} {operator} {value(draft, 2)};")
        return
    draft.add(f"{target} = {value(draft, 3)};")


def _merge(draft: Draft, name: str) -> None:
    """Write a branch that leaves one of several values in a scalar."""
    first = f"if ({condition(draft)})"
    if draft.chance(0.3):
        draft.add(f"{first} {{ if ({condition(draft)}) {name} = {value(draft, 1)}; }}")
        if draft.chance(0.7):
            draft.add(f"else if ({condition(draft)}) {name} = {value(draft, 1)};")
        return
    draft.add(f"{first} {name} = {value(draft, 2)};")
    if draft.chance(0.5):
        draft.add(f"else {name} {draft.pick(('=', '+=', '^='))} {value(draft, 2)};")


def _call(draft: Draft) -> bool:
    helpers = [h for h in draft.helpers if not h.returns]
    if not helpers:
        return False
    helper = draft.pick(helpers)
    assert helper.takes is not None, "a helper without a value writes an array"
    given = part_of(draft, *helper.takes, written=True)
    if given is None:
        return False
    arguments = [given, *(value(draft, 1) for _ in range(helper.scalars))]
    draft.add(f"{helper.name}({', '.join(arguments)});")
    return True
