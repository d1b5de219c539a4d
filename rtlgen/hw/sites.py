"""The places where a stream's datapath meets its control, the memories and other streams."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Generic, TypeVar

from rtlgen.ir.block_rams import versions_of
from rtlgen.ir.operations import ComputedBase, UnitOp
from rtlgen.ir.plan import (
    ChooseOp,
    ForwardOp,
    IndexOp,
    LoadOp,
    ParameterOp,
    Store,
    Stream,
    Tap,
)

Op = TypeVar("Op", LoadOp, IndexOp, ForwardOp, ChooseOp, UnitOp)


@dataclass(frozen=True, slots=True)
class Site(Generic[Op]):
    """An operation, `number` of its stream, that something outside of its datapath decides on."""

    number: int
    name: str
    op: Op


@dataclass(frozen=True, slots=True)
class LoadSite(Site[LoadOp]):
    """A load."""

    @property
    def chosen_versions(self) -> tuple[int, ...]:
        """The versions that the element is taken from on a condition; in all other cases, 0."""
        versions = versions_of(self.op)
        return tuple(version for version in versions if version) if len(versions) > 1 else ()


@dataclass(frozen=True, slots=True)
class TapSite(Site[ForwardOp]):
    """One tap of a forward operation."""

    tap: Tap


@dataclass(frozen=True, slots=True)
class StoreSite:
    """The store, or a copy of it."""

    name: str
    store: Store


@dataclass(frozen=True, slots=True)
class Sites:
    """All of a stream's sites, operations that its stores do not depend on left out.

    Members
    -------
    live: numbers of the operations that the stored values depend on, in order.
    matches: the taps that are taken where places are equal.
    parameters: names of the scalars among them.
    """

    live: tuple[int, ...]
    loads: tuple[LoadSite, ...]
    indices: tuple[Site[IndexOp], ...]
    taps: tuple[TapSite, ...]
    matches: tuple[TapSite, ...]
    choices: tuple[Site[ChooseOp], ...]
    begins: tuple[Site[UnitOp], ...]
    stores: tuple[StoreSite, ...]
    parameters: tuple[str, ...]


def sites_of(stream: Stream) -> Sites:
    """Return the sites of `stream`, with names that are unique within it."""
    live = stream.live
    loads: list[LoadSite] = []
    indices: list[Site[IndexOp]] = []
    taps: list[TapSite] = []
    matches: list[TapSite] = []
    choices: list[Site[ChooseOp]] = []
    begins: list[Site[UnitOp]] = []
    parameters: list[str] = []
    for number in live:
        match stream.operations[number]:
            case LoadOp() as op:
                loads.append(LoadSite(number, f"load{number}_{op.memory}", op))
            case IndexOp() as op:
                indices.append(Site(number, f"index{number}", op))
            case ForwardOp() as op:
                for n, tap in enumerate(op.taps):
                    found = matches if tap.is_matched else taps
                    found.append(TapSite(number, f"tap{number}_{n}", op, tap))
            case ChooseOp() as op:
                choices.append(Site(number, f"choose{number}", op))
            case ComputedBase(is_announced=True) as op:
                begins.append(Site(number, f"begin{number}", op))
            case ParameterOp(name=name) if name not in parameters:
                parameters.append(name)
            case _:
                pass
    stores = tuple(
        StoreSite(f"store{n}" if n else "store", store) for n, store in enumerate(stream.stores)
    )
    return Sites(
        live,
        tuple(loads),
        tuple(indices),
        tuple(taps),
        tuple(matches),
        tuple(choices),
        tuple(begins),
        stores,
        tuple(parameters),
    )
