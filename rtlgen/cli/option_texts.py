"""What the texts of options say; each function raises BadOption for one that says nothing."""

from __future__ import annotations

from collections.abc import Sequence

from rtlgen.cli.errors import BadOption
from rtlgen.options import EVERY_ARRAY, MOST_LATENCY_CYCLES, off_chip_bus
from rtlgen.transforms.partition import PartitionWish, wish_of


def definition(text: str) -> tuple[str, str]:
    """Return the name and the text of a macro, or of a scalar parameter."""
    name, equals, value = text.partition("=")
    # A macro with parameters is defined as on gcc's command line: -D 'F(x)=x'.
    if not name.partition("(")[0].strip().isidentifier():
        raise BadOption(f"-D {text} does not define a name", help="write -D NAME=VALUE")
    return name, value if equals else "1"


def shift(text: str) -> tuple[str, int]:
    """Return a statement and its shift."""
    name, _, value = text.partition("=")
    if not name or not value.isdigit():
        raise BadOption(f"--shift {text} is no shift", help="write --shift STATEMENT=N with N >= 0")
    return name, int(value)


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
            off_chip_bus(place)
        except ValueError:
            raise BadOption(
                f"--memory {text} is no place for an array",
                help=f"write --memory [ARRAY=]onchip, [ARRAY=]fixed:L, [ARRAY=]axi:L or "
                f"[ARRAY=]dram:L, L from 1 to {MOST_LATENCY_CYCLES}",
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


def lanes_of(text: str) -> tuple[str, int | None]:
    """Return a loop and its lanes; None: as many as it has iterations."""
    name, _, lanes = text.partition("=")
    if not name or (lanes != "all" and (not lanes.isdecimal() or int(lanes) < 1)):
        raise BadOption(
            f"--unroll {text} says no number of lanes",
            help="write --unroll LOOP=N with N >= 1, or LOOP=all",
        )
    return name, None if lanes == "all" else int(lanes)


def loop_name(text: str) -> str:
    """Return the name of a loop, or its level as a number without leading zeros."""
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
