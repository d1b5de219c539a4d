"""Expressions of iterators that lie where an array wants them."""

from __future__ import annotations

from tests.oracles.random_c.draft import Draft, Index

TRIES = 6


def subscript(draft: Draft, extent: int, *, written: bool) -> str:
    """Return a subscript that is inside of an extent, whatever the iterators are."""
    for _ in range(TRIES):
        fitted = _fitted(draft, any_index(draft, written=written), extent)
        if fitted is not None:
            return f"({fitted})" if draft.chance(0.1) else fitted
    return str(draft.between(0, extent - 1))


def any_index(draft: Draft, *, written: bool) -> Index:
    """Return an expression of the iterators in scope."""
    if not draft.scope.indices or draft.chance(0.1):
        value = draft.between(0, 5)
        return Index(str(value), value, value)
    rare = 0.3 if written else 1.0
    own = draft.pick(draft.scope.indices)
    if draft.chance(rare) and draft.wants("quotients"):
        return _divided(draft, own)
    if draft.chance(rare) and draft.wants("masks"):
        return _masked(draft, own)
    if draft.chance(rare) and draft.wants("guards"):
        return _chosen(draft, own)
    if draft.chance(0.2):
        return _sum(draft, own, draft.pick(draft.scope.indices))
    return _scaled(draft, own)


def _scaled(draft: Draft, own: Index) -> Index:
    factor = draft.pick((1, 1, 1, 1, 1, 2, -1, 3))
    if factor == 1:
        return own
    if factor == -1:
        text = f"{own.high} - {own.operand}"
        return Index(text, 0, own.high - own.low, own.is_signed)
    text = f"{factor} * {own.operand}" if draft.chance(0.5) else f"{own.operand} * {factor}"
    return Index(text, factor * own.low, factor * own.high, own.is_signed)


def _sum(draft: Draft, a: Index, b: Index) -> Index:
    if draft.chance(0.6):
        return Index(f"{a.text} + {b.text}", a.low + b.low, a.high + b.high, _both(a, b))
    if not _both(a, b):
        return a
    if a == b:
        return Index(f"{a.text} - {b.operand}", 0, 0)
    return Index(f"{a.text} - {b.operand}", a.low - b.high, a.high - b.low)


def _both(a: Index, b: Index) -> bool:
    return a.is_signed and b.is_signed


def _divided(draft: Draft, own: Index) -> Index:
    by = draft.pick((2, 2, 3, 4))
    if own.low < 0:
        return own
    if draft.chance(0.5):
        text = f"{own.operand} >> {by.bit_length() - 1}" if by != 3 and draft.chance(0.4) else ""
        return Index(text or f"{own.operand} / {by}", own.low // by, own.high // by, own.is_signed)
    return Index(f"{own.operand} % {by}", 0, min(own.high, by - 1), own.is_signed)


def _masked(draft: Draft, own: Index) -> Index:
    if own.low < 0:
        return own
    if draft.chance(0.3):
        bit = draft.pick((1, 2))
        most = (1 << max(own.high, bit).bit_length()) - 1
        return Index(f"{own.operand} ^ {bit}", 0, most, own.is_signed)
    mask = draft.pick((1, 3, 7))
    return Index(f"{own.operand} & {mask}", 0, min(own.high, mask), own.is_signed)


def _chosen(draft: Draft, own: Index) -> Index:
    """Return an index that is another one in some iterations."""
    at = draft.between(own.low, own.high)
    match draft.pick(("equal", "least", "greatest")):
        case "equal":
            other = draft.between(0, 4)
            low, high = min(own.low, other), max(own.high, other)
            text = f"{own.operand} == {at} ? {other} : {own.operand}"
            return Index(text, low, high, own.is_signed)
        case "least":
            text = f"{own.operand} < {at} ? {own.operand} : {at}"
            return Index(text, own.low, at, own.is_signed)
        case _:
            text = f"{own.operand} > {at} ? {own.operand} : {at}"
            return Index(text, at, own.high, own.is_signed)


def _fitted(draft: Draft, index: Index, extent: int) -> str | None:
    """Return an index moved or folded into 0..extent - 1, or None."""
    if index.high - index.low < extent:
        least, most = -index.low, extent - 1 - index.high
        near = [c for c in (-1, 0, 0, 0, 1) if least <= c <= most]
        offset = draft.pick(near or range(least, most + 1))
        if offset < 0 and not index.is_signed and index.low + offset < 0:
            return None
        return _moved(index, offset)
    if index.low >= 0 and draft.wants("quotients"):
        return f"{index.operand} % {extent}"
    return None


def _moved(index: Index, offset: int) -> str:
    if offset == 0:
        return index.text
    # What chooses or masks binds less than a sum.
    inner = index.operand if set(index.text) & set("?^&>") else index.text
    return f"{inner} + {offset}" if offset > 0 else f"{inner} - {-offset}"
