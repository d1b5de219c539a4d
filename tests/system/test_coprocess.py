"""A program behind pipes answers, or is ended with an error that says what it printed."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from rtlgen.system.coprocess import Coprocess
from rtlgen.system.tools import ToolFailedError

ECHO = """\
import os, sys, time
while line := os.read(0, 1 << 20):
    if line == b"end":
        break
    if line == b"die":
        print("I die", file=sys.stderr, flush=True)
        sys.exit(3)
    if line == b"sleep":
        time.sleep(60)
    os.write(1, line)
"""
DEAF = "import time; time.sleep(60)"


def started(folder: Path, text: str = ECHO) -> Coprocess:
    return Coprocess([sys.executable, "-c", text], log=folder / "log", cwd=folder)


def test_what_is_sent_is_answered(tmp_path: Path) -> None:
    process = started(tmp_path)
    for _ in range(3):
        with process.exchange(10) as exchange:
            exchange.send(b"hello")
            assert exchange.receive(2) + exchange.receive(3) == b"hello"
    assert process.is_usable
    process.end(b"end")
    assert not process.is_usable


def test_a_program_that_dies_is_an_error_with_what_it_printed(tmp_path: Path) -> None:
    process = started(tmp_path)
    with (
        pytest.raises(ToolFailedError, match="failed with status 3") as caught,
        process.exchange() as exchange,
    ):
        exchange.send(b"die")
        exchange.receive(1)
    assert caught.value.diagnostic.notes == ("I die",)
    assert not process.is_usable


@pytest.mark.parametrize("data", [b"sleep", bytes(1 << 20)], ids=["no answer", "not taken"])
def test_a_program_that_takes_too_long_is_ended(tmp_path: Path, data: bytes) -> None:
    process = started(tmp_path, ECHO if data == b"sleep" else DEAF)
    with (
        pytest.raises(ToolFailedError, match=r"did not end within 0\.5 seconds"),
        process.exchange(0.5) as exchange,
    ):
        exchange.send(data)
        exchange.receive(1)
    assert not process.is_usable


def test_an_exchange_that_is_broken_off_ends_the_program(tmp_path: Path) -> None:
    process = started(tmp_path)
    with pytest.raises(KeyboardInterrupt), process.exchange() as exchange:
        exchange.send(b"half")
        raise KeyboardInterrupt
    assert not process.is_usable


def test_a_program_that_ends_in_another_way_than_told_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ToolFailedError, match="failed with status 3"):
        started(tmp_path).end(b"die")
