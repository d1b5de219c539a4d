"""What the values mean that Python gives for options: the short forms are written out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from rtlgen.options.choices import EVERY_ARRAY, FloatWishes, PartitionWish, float_wishes_of, wish_of


def texts_taken(values: Mapping[str, object] | None) -> dict[str, str]:
    """Return macros and values of parameters as the texts that `-D` would give."""
    return {name: str(value) for name, value in (values or {}).items()}


def words_taken(values: Sequence[str | Path]) -> tuple[str, ...]:
    """Return folders as texts."""
    return tuple(map(str, values))


def names_taken(values: str | Sequence[str]) -> tuple[str, ...]:
    """Return names: one, or several."""
    return (values,) if isinstance(values, str) else tuple(values)


def float_wishes_taken(values: str | Sequence[str]) -> FloatWishes:
    """Return how floats may be computed otherwise."""
    words = values.split(",") if isinstance(values, str) else values
    return float_wishes_of(words)


def sizes_taken(values: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes of a tile."""
    return tuple(values)


def shifts_taken(values: Mapping[str, int] | None) -> dict[str, int]:
    """Return the shifts of statements."""
    return dict(values or {})


def lanes_taken(values: Mapping[str, int | None] | None) -> dict[str, int | None]:
    """Return the lanes of loops."""
    return dict(values or {})


def places_taken(values: str | Mapping[str, str] | None) -> dict[str, str]:
    """Return where arrays are: all of them, or each."""
    return {EVERY_ARRAY: values} if isinstance(values, str) else dict(values or {})


def partitions_taken(
    values: Mapping[str, str | Sequence[str]] | None,
) -> dict[str, tuple[PartitionWish, ...]]:
    """Return how arrays are cut: in one way, or in several."""
    return {name: tuple(map(wish_of, names_taken(how))) for name, how in (values or {}).items()}
