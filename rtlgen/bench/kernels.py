"""Where a benchmark finds the C files of its kernels."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from rtlgen.bench.errors import KernelsNotFound

DEFAULT_KERNELS = Path("examples")


def kernel_files(directory: Path, names: Sequence[str]) -> dict[str, Path]:
    """Return the file `directory`/NAME/NAME.c, or else `directory`/NAME.c, of every name.

    Raises
    ------
    KernelsNotFound: the first file that is not there is named.
    """
    files = {name: _file(directory, name) for name in names}
    missing = [name for name, path in files.items() if not path.is_file()]
    if missing:
        raise KernelsNotFound(
            f"there is no {files[missing[0]]}",
            notes=(f"of {len(names)} kernels, {len(missing)} are missing: {', '.join(missing)}",),
            help="run it at the top of a checkout of rtlgen, or say --kernels DIR",
        )
    return files


def _file(directory: Path, name: str) -> Path:
    """Return the file of a kernel; where there is none, the first that was looked for."""
    places = (directory / name / f"{name}.c", directory / f"{name}.c")
    return next((path for path in places if path.is_file()), places[0])
