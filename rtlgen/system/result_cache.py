"""Answers that were given before, kept by all that decides them.

A question is the digest of everything the answer depends on: the input, the options, rtlgen's own
code, the packages and programs that take part. Nothing in the folder is trusted: an entry that does
not match its digest is no answer, and where nothing can be kept, everything is done anew. Those
that nobody asked for longest make room for new ones.
"""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import json
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from rtlgen.system.cache import CacheUnwritableError, cache_folder
from rtlgen.system.files import write_file

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
