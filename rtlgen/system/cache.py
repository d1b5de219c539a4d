"""What need not be done twice: the folder for compiled tools, and for answers given before."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from rtlgen.errors import RtlgenError
from rtlgen.system.files import scratch_folder


class CacheUnwritableError(RtlgenError):
    """What has to be kept between runs cannot be written.

    Verilator is made ready for use once, and its runtime and headers compiled once, in the folder
    that RTLGEN_CACHE names, or `rtlgen` in XDG_CACHE_HOME or in `~/.cache`. Name one that you may
    write to, on a disk with some 150 MB left:

        RTLGEN_CACHE=/tmp/rtlgen-cache rtlgen verify gemm.c
    """

    code = "E0505"
    exit_code = 3


def cache_folder() -> Path:
    """Return the folder: $RTLGEN_CACHE, or the user's.

    Raises
    ------
    CacheUnwritableError: there is no such variable, and the user has no home.
    """
    if chosen := os.environ.get("RTLGEN_CACHE"):
        return Path(chosen).absolute()
    if base := os.environ.get("XDG_CACHE_HOME"):
        return Path(base).absolute() / "rtlgen"
    try:
        return Path.home() / ".cache" / "rtlgen"
    except RuntimeError as error:
        raise CacheUnwritableError("there is no folder for a cache", help=_REMEDY) from error


@contextmanager
def new_in(cache: Path, prefix: str) -> Iterator[Path]:
    """Make a folder in the cache, for what is moved into its place when it is whole.

    Raises
    ------
    CacheUnwritableError: that cannot be done.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with scratch_folder(cache, prefix) as folder:
            yield folder
    except OSError as error:
        raise CacheUnwritableError(
            f"cannot write to {cache}: {error.strerror}", help=_REMEDY
        ) from error


_REMEDY = "set RTLGEN_CACHE to a folder that you may write to"
