"""manifest.json in a build directory, and the Verilog that it names."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

from rtlgen.errors import RtlgenError
from rtlgen.manifest.contents import BUILD_AGAIN, Json, Manifest, ManifestCorruptError

FILE_NAME = "manifest.json"
DRIVER_FOLDER = "driver"
"""Of a block, in its build directory."""

MOST_BYTES = 1 << 24
DIGEST_NAME = "sha256"


class OutputDirectoryError(RtlgenError):
    """The build directory cannot be written.

    `rtlgen build FILE.c -o DIR` creates DIR when it is not there and replaces the files in it that
    carry the same names, and those of an earlier build. Choose a directory that you may write to,
    that is not a file, and in which no folder has the name of a file of the build.
    """

    code = "E0402"


class ManifestMissingError(RtlgenError):
    """A build directory has no manifest.json, or it cannot be read.

    `rtlgen run DIR` and `rtlgen synth DIR` take a directory that `rtlgen build` wrote. It holds
    the Verilog, `manifest.json` and the reports. Build first, then name that directory:

        rtlgen build gemm.c -o build/gemm
        rtlgen run build/gemm --inputs in.npz --outputs out.npz
    """

    code = "E0410"


class StaleVerilogError(RtlgenError):
    """The Verilog in a build directory is not the one that its manifest describes.

    The manifest keeps the SHA-256 of the Verilog text. When they differ, the port list, the
    predicted cycles and every result would be about another circuit, so nothing is run. Build the
    directory again; keep hand-made changes of the Verilog in a copy elsewhere.
    """

    code = "E0412"


def unwritable(directory: Path, reason: str | None) -> OutputDirectoryError:
    """Return the error for a build directory into which something cannot be written."""
    return OutputDirectoryError(
        f"cannot write to {directory}: {reason}", help="choose another directory"
    )


def sha256_of(text: str) -> str:
    """Return the SHA-256 of `text` in UTF-8, as hex."""
    return hashlib.sha256(text.encode()).hexdigest()


def write_manifest(directory: Path, manifest: Manifest) -> Path:
    """Write manifest.json into `directory`, with a digest of itself, and return its path."""
    path = directory / FILE_NAME
    document = manifest.to_json()
    document[DIGEST_NAME] = _digest(document)
    path.write_text(json.dumps(document, indent=2) + "\n", encoding="utf-8")
    return path


def _digest(document: Mapping[str, Json]) -> str:
    return sha256_of(json.dumps(document, sort_keys=True))


def read_manifest(directory: Path) -> Manifest:
    """Read manifest.json of `directory`.

    Raises
    ------
    ManifestMissingError, ManifestCorruptError
    """
    path = directory / FILE_NAME
    try:
        with path.open("rb") as file:
            text = file.read(MOST_BYTES)
        document = json.loads(text)
        digest = document.pop(DIGEST_NAME, None) if isinstance(document, dict) else None
        manifest = Manifest.from_json(document)
        is_as_written = digest == _digest(manifest.to_json())
    except OSError as error:
        reason = error.strerror or str(error)
        raise ManifestMissingError(
            f"cannot read {path}: {reason}",
            help="name a directory that `rtlgen build FILE.c -o DIR` wrote",
        ) from None
    except (ValueError, RecursionError) as error:
        raise ManifestCorruptError(
            f"{path} is not JSON", notes=[str(error)], help=BUILD_AGAIN
        ) from None
    if not is_as_written:
        raise ManifestCorruptError(
            f"{path} was changed after the build",
            notes=["a wrong entry, such as `predicted_cycles`, would make every result wrong"],
            help=BUILD_AGAIN,
        )
    return manifest


def read_verilog(directory: Path, manifest: Manifest) -> Path:
    """Return the path of the Verilog of `directory`, after checking that it is the manifest's.

    Raises
    ------
    ManifestMissingError: the file is not there.
    StaleVerilogError: its text has changed since the manifest was written.
    """
    path = directory / manifest.verilog.file
    try:
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise ManifestMissingError(
            f"cannot read {path}: {error.strerror or error}", help=BUILD_AGAIN
        ) from None
    if digest != manifest.verilog.sha256:
        raise StaleVerilogError(
            f"{path} is not the Verilog that its manifest describes",
            notes=[f"SHA-256 {digest}", f"manifest: {manifest.verilog.sha256}"],
            help=BUILD_AGAIN,
        )
    return path
