"""The folder for compiled tools says what it is made for, and does not grow without end."""

from __future__ import annotations

import logging
import os
import time
from pathlib import Path

import pytest

import rtlgen.system.cache
from rtlgen.system.cache import IN_USE_SECONDS, forget_old_tools, keep, new_in


def tool(cache: Path, name: str, hours_ago: float, size: int = 40) -> Path:
    """Make a tool of `size` bytes that was used so long ago; a folder but for archives."""
    place = cache / name
    file = place if place.suffix == ".a" else place / "bin" / "program"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(bytes(size))
    used = time.time() - 3600 * hours_ago
    os.utime(place, (used, used))
    return place


def test_the_tools_used_longest_ago_make_room(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rtlgen.system.cache, "MOST_TOOL_BYTES", 100)
    newest, second = tool(tmp_path, "verilator-2", 2), tool(tmp_path, "headers-b", 3)
    old, older = tool(tmp_path, "runtime-none-a.a", 4), tool(tmp_path, "verilator-1", 5)
    other = tool(tmp_path, "answers", 99)
    forget_old_tools(tmp_path)
    assert [p.exists() for p in (newest, second, old, older, other)] == [1, 1, 0, 0, 1]


def test_a_tool_that_is_used_is_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rtlgen.system.cache, "MOST_TOOL_BYTES", 100)
    old, new = tool(tmp_path, "verilator-1", 9), tool(tmp_path, "verilator-2", 2, size=90)
    keep(old)
    forget_old_tools(tmp_path)
    assert old.exists() and not new.exists()
    # Whatever there is too much of: another process may just be using it.
    hours = IN_USE_SECONDS / 3600 / 2
    several = [tool(tmp_path, f"runtime-none-{n}.a", hours, size=90) for n in range(3)]
    forget_old_tools(tmp_path)
    assert all(place.exists() for place in several)


def test_what_takes_long_the_first_time_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with new_in(tmp_path, ".new-", "compiling the runtime"):
        pass
    assert caplog.record_tuples == [
        ("rtlgen.cache", logging.WARNING, f"compiling the runtime, once: it is kept in {tmp_path}")
    ]
