"""Expressions of data, integers and numbers, whose value is defined whatever the data are."""

from __future__ import annotations

from tests.oracles.random_c.draft import FLOAT_TYPES, Block, Draft
from tests.oracles.random_c.indices import any_index, subscript

TYPES = (
    "int", "int", "int", "unsigned", "short", "unsigned short", "signed char", "unsigned char",
    "char", "long", "unsigned long", "int8_t", "uint8_t", "int16_t", "uint16_t", "int32_t",
    "uint32_t", "int64_t", "uint64_t", "bool",
)  # fmt: skip

LITERALS = (
    "0", "1", "2", "3", "5", "7", "10", "31", "100", "256", "1000", "-1", "-3", "017", "0x7f",
    "'a'", "213u", "1L", "2147483648", "0xFFFFFFFF", "0x7fffffffffffffff", "-2147483648", "70000",
)  # fmt: skip

COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


def value(draft: Draft, depth: int) -> str:
    """Return an expression of up to `depth` operators in a row."""
    if depth == 0 or draft.chance(0.2):
        return leaf(draft)
    if draft.has_floats and draft.chance(0.15):
        return (compared if draft.chance(0.5) else as_integer)(draft, depth - 1)
    if draft.wants("casts"):
        return f"({draft.pick(TYPES)})({value(draft, depth - 1)})"
    if draft.wants("calls") and (called := call(draft, depth - 1)) is not None:
        return called

    def part() -> str:
        return value(draft, depth - 1)

    match draft.between(0, 15):
        case 0 | 1 | 2 | 3:
            return f"({part()} {draft.pick(('+', '-', '+', '-', '&', '|', '^'))} {part()})"
        case 4 | 5:
            return f"({part()}) * {part()}"
        case 6:
            return f"({part()} {draft.pick(COMPARISONS)} {part()})"
        case 7:
            return f"(({part()}) {draft.pick(('<<', '>>'))} {draft.pick((1, 3, 7, 23))})"
        case 8:
            return f"(({part()}) {draft.pick(('<<', '>>'))} (({part()}) & {draft.pick((7, 15))}))"
        case 9:
            return f"({part()}) {draft.pick('/%')} {draft.pick((2, 3, 5, 7, 8, -3, 10))}"
        case 10:
            return f"({part()}) {draft.pick('/%')} {_divisor(part())}"
        case 11:
            return f"({part()} ? {part()} : {part()})"
        case 12:
            return f"({part()} {draft.pick(('&&', '||'))} {part()})"
        case 13:
            return f"{draft.pick('-~!+')}({part()})"
        case 14:
            return f"{part()} * {draft.pick((0, 1, 2, 8, -5))}"
        case _:
            return f"({part()} + {part()})"


def _divisor(operand: str) -> str:
    return f"((({operand}) & 7) + 1)"


def leaf(draft: Draft) -> str:
    scope = draft.scope
    kind = draft.pick(("element", "element", "element", "scalar", "index", "literal"))
    if kind == "element" and scope.integer_blocks:
        return element(draft, draft.pick(scope.integer_blocks), written=False)
    if kind == "scalar" and scope.values:
        return draft.pick(scope.values)
    if kind == "index" and scope.indices:
        return f"({any_index(draft, written=False).text})"
    return f"({draft.pick(LITERALS)})"


NUMBERS = (
    "0.5f", "1.0f", "2.0f", "-3.25f", "0.1f", "1e-3f", "0.0f", "-0.0f", "3e38f", "1e-40f",
    "0.1", "4.0", "-1.5", "1e300", "0x1.8p-3", "1.f", ".25",
)  # fmt: skip
UNARY = ("sqrt", "fabs", "floor", "ceil", "trunc", "round", "rint")
BINARY = ("fmin", "fmax", "copysign")


def number(draft: Draft, depth: int) -> str:
    """Return an expression in floating point of up to `depth` operators in a row."""
    if depth == 0 or draft.chance(0.2):
        return _number_leaf(draft)

    def part() -> str:
        return number(draft, depth - 1)

    def function(*names: str) -> str:
        return draft.pick(names) + draft.pick(("f", "f", ""))

    if draft.number_helpers and draft.wants("calls"):
        helper = draft.pick(draft.number_helpers)
        return f"{helper.name}({', '.join(part() for _ in range(helper.scalars))})"
    match draft.between(0, 13):
        case 0 | 1 | 2:
            return f"({part()} {draft.pick('+-')} {part()})"
        case 3 | 4 | 5:
            return f"({part()} * {part()})"
        case 6:
            return f"({part()} / {part()})"
        case 7:
            return f"-({part()})"
        case 8:
            return f"({draft.pick(FLOAT_TYPES)})({part()})"
        case 9:
            return f"({compared(draft, depth - 1)} ? {part()} : {part()})"
        case 10:
            return f"{function(*UNARY)}({part()})"
        case 11:
            return f"{function(*BINARY)}({part()}, {part()})"
        case 12:
            return f"{function('fma')}({part()}, {part()}, {part()})"
        case _:
            return f"({part()} + {part()} * {draft.pick(('2.0f', '0.5', '8', '0.1'))})"


def compared(draft: Draft, depth: int) -> str:
    """Return a comparison of numbers, or of what kind one is: an int."""
    if draft.chance(0.1):
        kind = draft.pick(("isnan", "isinf", "isfinite"))
        return f"({kind}((double)({number(draft, depth)})) != 0)"
    return f"({number(draft, depth)} {draft.pick(COMPARISONS)} {number(draft, depth)})"


def as_integer(draft: Draft, depth: int) -> str:
    """Return a number as an integer, between ends that its type holds; a NaN is the first one."""
    ends = draft.pick(("-1000, 1000", "0, 255", "-2e9, 2e9", "0.0f, 1.5f")).split(", ")
    type_ = draft.pick(("int", "long", "int32_t", "int64_t"))
    return f"({type_})fmin(fmax({number(draft, depth)}, {ends[0]}), {ends[1]})"


def _number_leaf(draft: Draft) -> str:
    scope = draft.scope
    match draft.pick(("element", "element", "element", "scalar", "literal", "integer")):
        case "element" if scope.float_blocks:
            return element(draft, draft.pick(scope.float_blocks), written=False)
        case "scalar" if scope.numbers:
            return draft.pick(scope.numbers)
        case "integer" if scope.values:
            integer = draft.pick(scope.values)
            return integer if draft.chance(0.5) else f"({draft.pick(FLOAT_TYPES)}){integer}"
        case _:
            return f"({draft.pick(NUMBERS)})"


def element(draft: Draft, block: Block, *, written: bool) -> str:
    """Return an element of an array, by subscripts that are inside of it."""
    parts = []
    for extent in block.shape:
        may_be = not written or draft.has_scatters
        if may_be and draft.wants("data subscripts") and draft.chance(0.4):
            parts.append(_looked_up(draft, extent))
        else:
            parts.append(subscript(draft, extent, written=written))
    return block.name + "".join(f"[{part}]" for part in parts)


def _looked_up(draft: Draft, extent: int) -> str:
    """Return a subscript that depends on data."""
    inner = value(draft, 1)
    beside = [own for own in draft.scope.indices if own.low >= 0 and own.high < extent]
    if beside and draft.chance(0.5):
        own = draft.pick(beside)
        sign = draft.pick(("+", "-"))
        room = own.low if sign == "-" else extent - 1 - own.high
        return f"{own.text} {sign} (({inner}) & {(1 << ((room + 1).bit_length() - 1)) - 1})"
    if extent & (extent - 1) == 0 and draft.chance(0.5):
        return f"({inner}) & {extent - 1}"
    return f"(unsigned)({inner}) % {extent}"


def condition(draft: Draft) -> str:
    """Return a condition, on iterators or on data."""
    if draft.wants("masks") and draft.chance(0.2):
        joint = draft.pick(("&&", "||"))
        return f"{_comparison(draft)} {joint} {_comparison(draft)}"
    return _comparison(draft)


def _comparison(draft: Draft) -> str:
    indices = draft.scope.indices
    if draft.has_floats and draft.chance(0.3):
        return compared(draft, 1)
    if not indices or draft.wants("guards"):
        return f"{value(draft, 1)} {draft.pick(COMPARISONS)} {value(draft, 1)}"
    own = draft.pick(indices)
    match draft.between(0, 6):
        case 0 | 1 | 2:
            at = draft.between(own.low, own.high)
            return f"{own.operand} {draft.pick(COMPARISONS)} {at}"
        case 3:
            return f"{own.operand} {draft.pick(COMPARISONS)} {draft.pick(indices).operand}"
        case 4:
            return f"{own.operand} % {draft.pick((2, 3))} {draft.pick(('==', '!='))} 1"
        case 5:
            return f"{draft.between(own.low, own.high)} {draft.pick(COMPARISONS)} {own.operand}"
        case _:
            return own.operand if draft.chance(0.5) else f"!({own.text})"


def call(draft: Draft, depth: int) -> str | None:
    """Return the call of a helper that returns something, or None where there is none."""
    helpers = [h for h in draft.helpers if h.returns]
    if not helpers:
        return None
    helper = draft.pick(helpers)
    arguments = [value(draft, min(depth, 1)) for _ in range(helper.scalars)]
    if helper.takes is not None:
        given = part_of(draft, *helper.takes)
        if given is None:
            return None
        arguments.insert(0, given)
    return f"{helper.name}({', '.join(arguments)})"


def part_of(
    draft: Draft, type_: str, shape: tuple[int, ...], *, written: bool = False
) -> str | None:
    """Return an array, or a row of one, that a helper can be given."""
    fitting = [
        b
        for b in draft.scope.blocks
        if b.type == type_ and b.shape[-len(shape) :] == shape and b.is_written >= written
    ]
    if not fitting:
        return None
    block = draft.pick(fitting)
    outer = block.shape[: len(block.shape) - len(shape)]
    return block.name + "".join(f"[{subscript(draft, e, written=written)}]" for e in outer)
