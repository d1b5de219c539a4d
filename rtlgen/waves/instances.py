"""Which instances of C the streams of a built circuit issue: instances.json, and their names."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from rtlgen.ir.issued_instances import IssuedStream
from rtlgen.ir.plan import KernelPlan, PlanError
from rtlgen.ir.plan_text import plan_from_json
from rtlgen.manifest.contents import BUILD_AGAIN, Manifest
from rtlgen.manifest.file import read_manifest
from rtlgen.system.typed_json import MismatchError, TypedJson
from rtlgen.waves.errors import NotInTraceError, TraceUnreadableError

FILE_NAME = "instances.json"
_FORM = TypedJson(tag="is")


@dataclass(frozen=True, slots=True)
class _Document:
    streams: tuple[IssuedStream, ...]


@dataclass(frozen=True, slots=True, eq=False)
class BuiltCircuit:
    """What a build directory says of a circuit. `issued` has what belongs to each stream."""

    manifest: Manifest
    plan: KernelPlan
    issued: tuple[IssuedStream, ...]


def write_instances(directory: Path, streams: Sequence[IssuedStream]) -> None:
    """Write instances.json into a build directory."""
    document = _FORM.encode(_Document(tuple(streams)), _Document)
    text = json.dumps(document, indent=1)
    (directory / FILE_NAME).write_text(text + "\n", encoding="utf-8")


def read_circuit(directory: Path) -> BuiltCircuit:
    """Read what waves of the circuit in a build directory mean.

    Raises
    ------
    ManifestMissingError, ManifestCorruptError
    TraceUnreadableError: plan.json or instances.json cannot be read, or do not belong together.
    """
    manifest = read_manifest(directory)
    try:
        plan = plan_from_json(json.loads((directory / "plan.json").read_text(encoding="utf-8")))
        document = json.loads((directory / FILE_NAME).read_text(encoding="utf-8"))
        found = _FORM.decode(document, _Document, "instances")
    except (OSError, ValueError, RecursionError, PlanError, MismatchError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise TraceUnreadableError(
            f"cannot read the plan in {directory}: {reason}", help=BUILD_AGAIN
        ) from None
    if plan.name != manifest.name or len(found.streams) != len(plan.streams):
        raise TraceUnreadableError(
            f"plan.json and {FILE_NAME} in {directory} are not of one build", help=BUILD_AGAIN
        )
    return BuiltCircuit(manifest, plan, found.streams)


_INSTANCE = re.compile(r"\s*(?P<statement>\w+)\s*\((?P<values>[^()]*)\)\s*")


def parsed_instance(text: str, circuit: BuiltCircuit) -> tuple[str, tuple[int, ...]]:
    """Return the statement and the values of its iterators.

    Raises
    ------
    NotInTraceError: the program has no such statement, or that has other iterators.
    """
    known = {i.instances.statement: i.instances.iterators for i in circuit.issued}
    found = _INSTANCE.fullmatch(text)
    if found is None or found["statement"] not in known:
        raise NotInTraceError(
            f"{text} names no instance of {circuit.manifest.name}",
            help=f"write S1(3,4,2); its statements are {', '.join(known)}",
        )
    statement = found["statement"]
    point = _point(found["values"], known[statement])
    if point is None:
        values = ",".join(f"{name}=0" for name in known[statement])
        raise NotInTraceError(
            f"{text} names no instance of {statement}",
            help=f"its iterators are {', '.join(known[statement]) or 'none'}: write "
            f"{statement}({values})",
        )
    return statement, point


def _point(text: str, iterators: Sequence[str]) -> tuple[int, ...] | None:
    """Return the values that are given for iterators, in their order or by their names."""
    values = [part.strip() for part in text.split(",") if part.strip()]
    pairs = [value.partition("=") for value in values]
    if values and all(equals for _, equals, _ in pairs):
        given = {name.strip(): value for name, _, value in pairs}
        if sorted(given) != sorted(iterators) or len(given) != len(pairs):
            return None
        values = [given[name] for name in iterators]
    try:
        point = tuple(map(int, values))
    except ValueError:
        return None
    return point if len(point) == len(iterators) else None
