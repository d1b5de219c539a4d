"""The directory that a build writes: the files of one build, or of none."""

from __future__ import annotations

import contextlib
import os
import shutil
from collections.abc import Iterator
from pathlib import Path

from rtlgen.manifest.contents import ManifestCorruptError
from rtlgen.manifest.file import FILE_NAME, ManifestMissingError, read_manifest, unwritable
from rtlgen.output.block import BLOCK_FILES
from rtlgen.output.flows import flow_files
from rtlgen.output.testbench import testbench_files
from rtlgen.system.files import locked, scratch_folder, uninterrupted

PREFIX = ".writing-"
"""Of the folder inside of the directory in which the files are made."""


@contextlib.contextmanager
def build_directory(directory: Path) -> Iterator[Path]:
    """Give a folder to write a build into; when the block is left well, it becomes `directory`'s.

    A failure leaves the directory as it was, and removes it again where it was not there. Of two
    builds at once, the files of the later one stay, and none of the other.

    Raises
    ------
    OutputDirectoryError: the directory cannot be written.
    """
    made = [d for d in (directory, *directory.parents) if not d.exists()]
    try:
        directory.mkdir(parents=True, exist_ok=True)
        with scratch_folder(directory, PREFIX) as staging:
            yield staging
            with uninterrupted(), locked(directory):
                _install(staging, directory)
    except OSError as error:
        inside = error.filename not in (None, str(directory))
        where = f" ({error.filename})" if inside else ""
        raise unwritable(directory, f"{error.strerror}{where}") from error
    finally:
        for folder in made:  # From the inside to the outside, where nothing was put into them.
            with contextlib.suppress(OSError):
                folder.rmdir()


def _install(staging: Path, directory: Path) -> None:
    """Move all files of `staging`, the manifest last: without one, a directory holds no build."""
    names = {path.name for path in staging.iterdir()}
    for name in sorted(names):
        place = directory / name
        if place.exists() and place.is_dir() != (staging / name).is_dir():
            kind = "folder" if place.is_dir() else "file"
            raise unwritable(directory, f"{place} is a {kind}")
    earlier = _files_of_earlier_build(directory)
    (directory / FILE_NAME).unlink(missing_ok=True)
    for name in sorted(earlier | names):
        _remove(directory / name)
    for name in (*sorted(names - {FILE_NAME}), FILE_NAME):
        os.replace(staging / name, directory / name)


def _files_of_earlier_build(directory: Path) -> frozenset[str]:
    try:
        manifest = read_manifest(directory)
    except (ManifestMissingError, ManifestCorruptError):
        return frozenset()
    waivers = f"{manifest.name}.vlt"
    block = BLOCK_FILES if manifest.registers is not None else ()
    own = (manifest.verilog.file, waivers, *testbench_files(manifest))
    return frozenset((*own, *block, *flow_files(manifest.name)))


def _remove(path: Path) -> None:
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path)
    else:
        path.unlink(missing_ok=True)
