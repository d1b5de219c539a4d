"""Helper functions: of scalars, and of arrays that they read or write."""

from __future__ import annotations

from tests.oracles.random_c.draft import FLOAT_TYPES, Block, Draft, Helper, Scope
from tests.oracles.random_c.loops import loop_head
from tests.oracles.random_c.values import TYPES, compared, condition, element, number, value

VALUE_TYPES = ("int", "unsigned", "long", "int32_t", "uint16_t", "short", "uint8_t", "char")


def value_helper(draft: Draft, name: str) -> None:
    """Write a function of one or two scalars, perhaps with an array that it reads."""
    scalars = [f"{name}_{x}" for x in ("x", "y")[: draft.between(1, 2)]]
    parameters = [f"{draft.pick(VALUE_TYPES)} {scalar}" for scalar in scalars]
    takes = (draft.pick(TYPES), (draft.between(3, 8),)) if draft.chance(0.3) else None
    scope = Scope(values=list(scalars), variables=list(scalars))
    if takes is not None:
        block = Block(f"{name}_z", *takes, is_written=False)
        parameters.insert(0, f"const {block.type} {block.name}[{block.shape[0]}]")
        scope.blocks.append(block)
    draft.scope = scope
    with draft.block(f"static {draft.pick(VALUE_TYPES)} {name}({', '.join(parameters)})"):
        if draft.chance(0.3):
            own = draft.pick(scalars)
            draft.add(f"{own} {draft.pick(('+=', '-=', '^=', '*='))} {value(draft, 1)};")
        if draft.chance(0.3):
            own = draft.pick(scalars)
            draft.add(f"if ({condition(draft)}) {own} -= {value(draft, 1)};")
        if draft.chance(0.3):
            draft.add(f"if ({condition(draft)}) return {value(draft, 2)};")
        if takes is not None and draft.chance(0.5):
            _sum_up(draft, scope.blocks[0])
        else:
            draft.add(f"return {value(draft, 2)};")
    draft.scope = Scope()
    draft.helpers.append(Helper(name, True, len(scalars), takes))


def _sum_up(draft: Draft, block: Block) -> None:
    total, at = draft.name("r"), draft.name("q")
    draft.add(f"int {total} = {draft.pick((0, 1))};")
    operator = draft.pick(("+=", "^=", "-="))
    draft.add(f"for (int {at} = 0; {at} < {block.shape[0]}; {at}++)")
    draft.add(f"  {total} {operator} {block.name}[{at}];")
    draft.add(f"return {total};")


def number_helper(draft: Draft, name: str) -> None:
    """Write a function of one or two numbers."""
    scalars = [f"{name}_{x}" for x in ("x", "y")[: draft.between(1, 2)]]
    parameters = [f"{draft.pick(FLOAT_TYPES)} {scalar}" for scalar in scalars]
    draft.scope = Scope(numbers=list(scalars))
    with draft.block(f"static {draft.pick(FLOAT_TYPES)} {name}({', '.join(parameters)})"):
        if draft.chance(0.3):
            draft.add(f"if ({compared(draft, 1)}) return {number(draft, 1)};")
        draft.add(f"return {number(draft, 2)};")
    draft.scope = Scope()
    draft.number_helpers.append(Helper(name, True, len(scalars)))


def void_helper(draft: Draft, name: str) -> None:
    """Write a function that changes the elements of an array."""
    shape = tuple(draft.between(3, 8) for _ in range(draft.pick((1, 1, 1, 2))))
    block = Block(f"{name}_z", draft.pick(TYPES), shape)
    extents = "".join(f"[{extent}]" for extent in shape)
    given = f"{name}_g"
    draft.scope = Scope(blocks=[block], values=[given])
    head = f"static void {name}({block.type} {block.name}{extents}, {draft.pick(VALUE_TYPES)}"
    with draft.block(f"{head} {given})"):
        loop = loop_head(draft, 1)
        for line in loop.before:
            draft.add(line)
        with draft.block(loop.text):
            draft.scope.indices += loop.indices
            target = element(draft, block, written=True)
            draft.add(f"{target} {draft.pick(('=', '=', '+=', '^='))} {value(draft, 2)};")
    draft.scope = Scope()
    draft.helpers.append(Helper(name, False, 1, (block.type, shape)))
