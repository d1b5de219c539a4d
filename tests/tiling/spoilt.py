"""Single things that are changed in the plan of a program in tiles."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from rtlgen.ir.plan import FoldedForm, LoadOp, Store, Stream, TiledRegion, Transfer


def with_stream(region: TiledRegion, change: Callable[[Stream], Stream]) -> TiledRegion:
    """Change the only stream of a region."""
    (stream,) = region.kernel.streams
    return replace(region, kernel=replace(region.kernel, streams=(change(stream),)))


def with_transfer(
    region: TiledRegion, window: str, change: Callable[[Transfer], Transfer]
) -> TiledRegion:
    """Change the transfer of one window."""
    moved = tuple(change(t) if t.window == window else t for t in region.transfers)
    return replace(region, transfers=moved)


def narrower(address: FoldedForm, field: int) -> FoldedForm:
    """Take a bit from a field of an address."""
    fields = list(address.fields)
    fields[field] = replace(fields[field], width_bits=fields[field].width_bits - 1)
    return replace(address, fields=tuple(fields))


def on_kept(
    stream: Stream, change: Callable[[FoldedForm], FoldedForm], name: str = "a_kept"
) -> Stream:
    """Change all addresses of a kept memory alike."""

    def store(old: Store) -> Store:
        if old.memory != name or not isinstance(old.address, FoldedForm):
            return old
        return replace(old, address=change(old.address))

    operations = tuple(
        replace(op, address=change(op.address))
        if isinstance(op, LoadOp) and op.memory == name and isinstance(op.address, FoldedForm)
        else op
        for op in stream.operations
    )
    return replace(
        stream,
        operations=operations,
        store=store(stream.store),
        copies=tuple(map(store, stream.copies)),
    )
