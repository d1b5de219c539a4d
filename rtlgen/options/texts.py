"""What the texts of options on the command line say."""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.errors import RtlgenError
from rtlgen.options.choices import (
    EVERY_ARRAY,
    MOST_LATENCY_CYCLES,
    FloatWishes,
    PartitionWish,
    float_wishes_of,
    off_chip_place,
    wish_of,
)


class BadOption(RtlgenError):
    """The command line cannot be read.

    An option or an argument is unknown or missing, or its value has the wrong form. `-D` takes NAME
    or NAME=VALUE, `--shift` takes STATEMENT=N with a non-negative N, and both may be given several
    times. `rtlgen VERB --help` shows every option with its form.
    """

    code = "E0403"


def definitions_of(texts: Sequence[str]) -> dict[str, str]:
    """Return macros and scalar parameters with their texts."""
    return dict(map(_definition, texts))


def shifts_of(texts: Sequence[str]) -> dict[str, int]:
    """Return statements with their shifts."""
    return dict(map(_shift, texts))


def lanes_of(texts: Sequence[str]) -> dict[str, int | None]:
    """Return loops with their lanes; None: as many as a loop has iterations."""
    return dict(map(_lanes, texts))


def loop_names_of(texts: Sequence[str]) -> tuple[str, ...]:
    """Return the names of loops, or their levels as numbers without leading zeros."""
    return tuple(map(_loop_name, texts))


def _definition(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    # A macro with parameters is defined as on gcc's command line: -D 'F(x)=x'.
    if not name.partition("(")[0].strip().isidentifier():
        raise BadOption(f"-D {text} does not define a name", help="write -D NAME=VALUE")
    return name, value if equals else "1"


def _shift(text: str) -> tuple[str, int]:
    name, _, value = text.partition("=")
    if not name or not value.isdigit():
        raise BadOption(f"--shift {text} is no shift", help="write --shift STATEMENT=N with N >= 0")
    return name, int(value)


def float_wishes(texts: Sequence[str]) -> FloatWishes:
    """Return how floats may be computed otherwise."""
    words = [word for text in texts for word in text.split(",")]
    try:
        return float_wishes_of(words)
    except ValueError as error:
        raise BadOption(
            f"--float {','.join(texts)}: {error}",
            help="write --float contract, ftz, reassociate or reassociate=8",
        ) from error


def tile_sizes(text: str | None) -> tuple[int, ...]:
    """Return the iterations of a tile along each loop."""
    if text is None:
        return ()
    parts = text.split(",")
    if not all(part.isdecimal() and int(part) > 0 for part in parts):
        raise BadOption(f"--tile {text} is no tile", help="write --tile 8,8: iterations a loop")
    return tuple(map(int, parts))


def places_of(texts: Sequence[str]) -> dict[str, str]:
    """Return where arrays are kept, by name."""
    places: dict[str, str] = {}
    for text in texts:
        name, equals, place = text.rpartition("=")
        try:
            off_chip_place(place)
        except ValueError:
            raise BadOption(
                f"--memory {text} is no place for an array",
                help="write --memory [ARRAY=]onchip, [ARRAY=]external, [ARRAY=]stream, "
                "[ARRAY=]fixed:L, [ARRAY=]axi:L or [ARRAY=]dram:L, "
                f"L from 1 to {MOST_LATENCY_CYCLES}",
            ) from None
        if equals and not name:
            raise BadOption(f"--memory {text} names no array", help=f"write --memory {place}")
        if places.get(name, place) != place:
            what = name or "every array"
            raise BadOption(
                f"--memory says two places for {what}: {places[name]} and {place}",
                help="say one of them",
            )
        places[name or EVERY_ARRAY] = place
    return places


def _lanes(text: str) -> tuple[str, int | None]:
    name, _, lanes = text.partition("=")
    if not name or (lanes != "all" and (not lanes.isdecimal() or int(lanes) < 1)):
        raise BadOption(
            f"--unroll {text} says no number of lanes",
            help="write --unroll LOOP=N with N >= 1, or LOOP=all",
        )
    return name, None if lanes == "all" else int(lanes)


def _loop_name(text: str) -> str:
    if not text.isidentifier() and not text.isdecimal():
        raise BadOption(
            f"--pipeline {text} names no loop",
            help="write --pipeline LOOP, a variable or a label, or --pipeline LEVEL, a number",
        )
    return text if text.isidentifier() else str(int(text))


def partitions_of(texts: Sequence[str]) -> dict[str, tuple[PartitionWish, ...]]:
    """Return how arrays are to be cut into banks, by name."""
    wishes: dict[str, tuple[PartitionWish, ...]] = {}
    for text in texts:
        name, _, how = text.partition("=")
        try:
            wish = wish_of(how)
        except ValueError:
            raise BadOption(
                f"--partition {text} is no way to cut an array",
                help="write --partition ARRAY=cyclic:DIM:N, ARRAY=block:DIM:N or "
                "ARRAY=complete:DIM",
            ) from None
        if not name.isidentifier():
            raise BadOption(f"--partition {text} names no array", help=f"write ARRAY={how}")
        wishes[name] = (*wishes.get(name, ()), wish)
    return wishes
