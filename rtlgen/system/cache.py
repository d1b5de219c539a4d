"""What need not be done twice: the folder for compiled tools, and for answers given before.

An answer is kept by its question, the digest of all that decides it: the input, the options,
rtlgen's own code, the packages and programs that take part. Nothing in the folder is trusted: an
entry that does not match its digest is no answer, and where nothing can be kept, everything is done
anew. Those that nobody asked for longest make room for new ones.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import logging
import os
import re
import shutil
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from rtlgen.errors import RtlgenError
from rtlgen.system.files import scratch_folder, write_file


class CacheUnwritableError(RtlgenError):
    """What has to be kept between runs cannot be written.

    Verilator is made ready for use once, and its runtime and headers compiled once, in the folder
    that RTLGEN_CACHE names, or `rtlgen` in XDG_CACHE_HOME or in `~/.cache`. Name one that you may
    write to, on a disk with some 150 MB left:

        RTLGEN_CACHE=/tmp/rtlgen-cache rtlgen verify gemm.c
    """

    code = "E0505"
    exit_code = 3


_LOG = logging.getLogger("rtlgen.cache")

MOST_TOOL_BYTES = 1 << 29
"""Of compiled tools and models together: three times what one version of Verilator and of a
compiler take. A model takes less than a MB."""

IN_USE_SECONDS = 3600.0
"""After its last use, for which a compiled tool is kept: another process may be using it."""

_TOOLS = ("verilator-*", "headers-*", "runtime-*", "model-*")


def keep(place: Path) -> None:
    """Note that a compiled tool is used, so that others are removed before it."""
    with contextlib.suppress(OSError):
        os.utime(place)


def forget_old_tools(cache: Path) -> None:
    """Remove the compiled tools that were used longest ago, as many as there are too many."""
    found = []
    for path in (path for pattern in _TOOLS for path in cache.glob(pattern)):
        with contextlib.suppress(OSError):  # Others may remove it meanwhile.
            parts = path.rglob("*") if path.is_dir() else (path,)
            size = sum(part.stat().st_size for part in parts if part.is_file())
            found.append((path.stat().st_mtime, size, path))
    kept = 0
    for used, size, path in sorted(found, reverse=True):
        kept += size
        if kept > MOST_TOOL_BYTES and time.time() - used > IN_USE_SECONDS:
            shutil.rmtree(path, ignore_errors=True)
            with contextlib.suppress(OSError):
                path.unlink()


def publish(new: Path, place: Path) -> None:
    """Rename `new` to `place`, unless another process has put the same there meanwhile."""
    try:
        new.rename(place)
    except OSError:
        if not place.exists():
            raise
    keep(place)
    forget_old_tools(place.parent)


def copy_kept(place: Path, folder: Path) -> bool:
    """Copy the files of a folder that is kept in the cache; return whether there is one."""
    keep(place)
    if not place.is_dir():
        return False
    shutil.copytree(place, folder, dirs_exist_ok=True)
    return True


def keep_copy(folder: Path, place: Path) -> None:
    """Keep the files of a folder, but for the folders in it, as `place` in the cache.

    Where the cache cannot be written, nothing is kept.
    """
    with contextlib.suppress(OSError), scratch_folder(place.parent, ".copy-") as scratch:
        new = scratch / "new"
        new.mkdir()
        for file in (path for path in folder.iterdir() if path.is_file()):
            shutil.copy2(file, new)
        publish(new, place)


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
def new_in(cache: Path, prefix: str, what: str) -> Iterator[Path]:
    """Make a folder in the cache, for what is moved into its place when it is whole.

    It is the first use that waits for it, and that is told so: through `logging`, whose warnings
    are shown wherever nobody has decided otherwise.

    Parameters
    ----------
    what: is being done, for whoever waits.

    Raises
    ------
    CacheUnwritableError: that cannot be done.
    """
    _LOG.warning("%s, once: it is kept in %s", what, cache)
    try:
        cache.mkdir(parents=True, exist_ok=True)
        with scratch_folder(cache, prefix) as folder:
            yield folder
    except OSError as error:
        raise CacheUnwritableError(
            f"cannot write to {cache}: {error.strerror}", help=_REMEDY
        ) from error


_REMEDY = "set RTLGEN_CACHE to a folder that you may write to"


Answer = Mapping[str, Any]

MOST_BYTES = 1 << 24
"""Of one answer."""

MOST_KEPT_BYTES = 1 << 26
"""Of all answers together."""

_PACKAGE = Path(__file__).parents[1]


def question(verb: str, asked: Mapping[str, Any], programs: Sequence[str] = ()) -> str:
    """Return the digest of a question.

    Parameters
    ----------
    asked: what the user gave, as JSON: contents, not paths alone.
    programs: paths of the external ones that take part.
    """
    parts = [verb, asked, [*map(_identity, programs)], _versions(), _code_digest()]
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def recall(asked: str) -> Answer | None:
    """Return the answer to a question, or None."""
    try:
        place = _place(asked)
        with place.open("rb") as file:
            entry = json.loads(file.read(MOST_BYTES))
        answer = entry["answer"]
        if isinstance(answer, dict) and entry["sha256"] == _digest(asked, answer):
            with contextlib.suppress(OSError):
                os.utime(place)  # Asked for just now: others are forgotten before it.
            return answer
    except (OSError, ValueError, KeyError, TypeError, RecursionError, CacheUnwritableError):
        pass  # Nothing, or nothing of use, is there.
    return None


def remember(asked: str, answer: Answer) -> None:
    """Keep the answer to a question, where that can be done."""
    entry = {"sha256": _digest(asked, answer), "answer": answer}
    with contextlib.suppress(OSError, CacheUnwritableError):
        place = _place(asked)
        place.parent.mkdir(parents=True, exist_ok=True)
        write_file(place, json.dumps(entry).encode())
        _forget(place.parent, but=place)


def _forget(folder: Path, but: Path) -> None:
    """Remove the answers that were asked for longest ago, as many as there are too many."""
    found = []
    for path in folder.glob("*.json"):
        with contextlib.suppress(OSError):  # Others may remove it meanwhile.
            stat = path.stat()
            found.append((path == but, stat.st_mtime_ns, stat.st_size, path))
    kept = 0
    for _, _, size, path in sorted(found, reverse=True):
        kept += size
        if kept > MOST_KEPT_BYTES and path != but:
            with contextlib.suppress(OSError):
                path.unlink()


def _place(asked: str) -> Path:
    return cache_folder() / "answers" / f"{asked}.json"


def _digest(asked: str, answer: Answer) -> str:
    # With the question: an entry that was moved to another name is no answer to that.
    text = json.dumps([asked, answer], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def _identity(program: str) -> tuple[str, int, int]:
    """Return what changes when a program is replaced by another version."""
    path = Path(program).resolve()
    stat = path.stat()
    return str(path), stat.st_size, stat.st_mtime_ns


@functools.cache
def _versions() -> dict[str, str]:
    """Return the version of Python and of each package that rtlgen stands on."""
    versions = {"python": sys.version}
    for requirement in importlib.metadata.requires("rtlgen") or ():
        match = re.match(r"[\w.-]+", requirement)
        if match is not None:
            with contextlib.suppress(importlib.metadata.PackageNotFoundError):
                versions[match[0]] = importlib.metadata.version(match[0])
    return versions


@functools.cache
def _code_digest() -> str:
    """Return the digest of all files of rtlgen."""
    digest = hashlib.sha256()
    for path in sorted(_PACKAGE.rglob("*")):
        if path.is_file() and path.suffix != ".pyc":
            digest.update(f"{path.relative_to(_PACKAGE)}\0".encode())
            digest.update(hashlib.sha256(path.read_bytes()).digest())
    return digest.hexdigest()
