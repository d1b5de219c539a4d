"""`rtlgen run --check`: what the program that a build directory was made from computes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from rtlgen.cli.errors import SourceMoved
from rtlgen.driver import parse
from rtlgen.frontend import ParsedProgram
from rtlgen.manifest.contents import BUILD_AGAIN, Manifest, ManifestCorruptError
from rtlgen.manifest.file import sha256_of
from rtlgen.options import CompileOptions
from rtlgen.options.choices import PartitionWish
from rtlgen.system.typed_json import MismatchError, TypedJson
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.cosim import SimulationResult
from rtlgen.verify.data import completed
from rtlgen.verify.golden import run_golden
from rtlgen.verify.values import Elements, Value, is_same, value_text

_FORM = TypedJson()


def source_of(manifest: Manifest) -> ParsedProgram:
    """Return the program that the circuit was built from.

    Raises
    ------
    SourceMoved: the file that the manifest names is not there, or holds something else now.
    ManifestCorruptError: its options are none of this version's.
    """
    path = Path(manifest.source.file)
    try:
        found = sha256_of(path.read_bytes().decode("utf-8-sig"))
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else None
        raise SourceMoved(
            f"cannot read {path}, from which {manifest.name} was built: {why or error}",
            notes=["the manifest names it as it was called then"],
            help="run from the same folder, or build again",
        ) from None
    if found != manifest.source.sha256:
        raise SourceMoved(
            f"{path} has changed since {manifest.name} was built from it",
            notes=[f"SHA-256 {found}", f"manifest: {manifest.source.sha256}"],
            help="build again",
        )
    return parse(path, _options_of(manifest))


def _options_of(manifest: Manifest) -> CompileOptions:
    """Return what a circuit was built with: it may decide in what order floats are computed."""
    try:
        found: CompileOptions = _FORM.decode(manifest.options, CompileOptions, "options")
        wishes = found.partitions.items()
        partitions = {
            name: _FORM.decode(list(how), tuple[PartitionWish, ...], name) for name, how in wishes
        }
    except MismatchError as error:
        raise ManifestCorruptError(str(error), help=BUILD_AGAIN) from None
    return replace(found, function=found.function or manifest.name, partitions=partitions)


def differences(
    manifest: Manifest,
    program: ParsedProgram,
    inputs: Mapping[str, Elements | Value],
    result: SimulationResult,
) -> tuple[str, ...]:
    """Say how a run differs from what the golden model computes; empty where it does not."""
    golden = run_golden(program.scop, completed(program.scop, inputs))
    simulated = {name: image for name, image in result.arrays.items() if name in golden.arrays}
    expected = {name: golden.arrays[name] for name in simulated}
    comparison = compare_memories(expected, simulated)
    found = [comparison.text()] if comparison.mismatches else []
    if not is_same(golden.returned, result.returned):
        found.append(
            f"returned {value_text(result.returned)}, expected {value_text(golden.returned)}"
        )
    if result.cycles != manifest.predicted_cycles:
        found.append(f"took {result.cycles} cycles, predicted {manifest.predicted_cycles}")
    return tuple(found)
