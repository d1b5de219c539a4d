"""A program that stays, and answers what it is asked through pipes."""

from __future__ import annotations

import contextlib
import os
import select
import subprocess
import time
import weakref
from collections.abc import Iterator, Sequence
from pathlib import Path

from rtlgen.system.tools import tool_failed

END_SECONDS = 60.0
"""In which a program that was told to end does so: it may have the last of its waves to write."""


LOOK_SECONDS = 0.2
"""After which is looked whether the time is over: `poll` cannot be told of more than 24 days."""


class Coprocess:
    """A running program whose standard input and output are pipes to this process.

    It belongs to the process that started it: a copy that a fork makes of it can only be dropped.
    """

    def __init__(self, command: Sequence[str | Path], *, log: Path, cwd: Path) -> None:
        self._command, self._log = command, log
        with log.open("ab") as sink:
            sink.write(f"$ {' '.join(map(str, command))}\n".encode())
            sink.flush()
            self._begin = sink.tell()
            self._process = subprocess.Popen(
                [str(part) for part in command],
                cwd=cwd,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=sink,
                bufsize=0,
            )
        self._owner = os.getpid()
        self._finalizer = weakref.finalize(self, _kill, self._process, self._owner)

    @property
    def is_usable(self) -> bool:
        """Whether it was not ended from here, and is this process's own."""
        return self._finalizer.alive and self._owner == os.getpid()

    @contextlib.contextmanager
    def exchange(self, timeout_seconds: float | None = None) -> Iterator[Exchange]:
        """Ask and be answered within a time.

        Whatever breaks off the block ends the program: what is in the pipes has no meaning then.

        Raises
        ------
        ToolFailedError: the program has ended, or did not answer in time.
        """
        try:
            yield Exchange(self._process, timeout_seconds)
        except (EOFError, BrokenPipeError):
            status = self._process.wait()
            self.kill()
            raise tool_failed(self._command, status, self._printed(), self._log) from None
        except TimeoutError:
            self.kill()
            printed = self._printed()
            raise tool_failed(self._command, None, printed, self._log, timeout_seconds) from None
        except BaseException:
            self.kill()
            raise

    def end(self, farewell: bytes) -> None:
        """Send what the program ends at, and wait until it has.

        Raises
        ------
        ToolFailedError: it ended with another status than 0, or not in time.
        """
        with self.exchange(END_SECONDS) as exchange:
            exchange.send(farewell)
            exchange.receive_end()
            status = self._process.wait()
        self.kill()
        if status != 0:
            raise tool_failed(self._command, status, self._printed(), self._log)

    def kill(self) -> None:
        """End the program where it is, if it is this process's own."""
        self._finalizer()

    def _printed(self) -> str:
        with self._log.open("rb") as source:
            source.seek(self._begin)
            return source.read().decode(errors="replace")


def _kill(process: subprocess.Popen[bytes], owner: int) -> None:
    for pipe in (process.stdin, process.stdout):
        assert pipe is not None
        pipe.close()
    if os.getpid() == owner:
        process.kill()  # One that has ended is left alone.
        process.wait()
    else:
        process.returncode = 0  # Whoever started it waits for it.


class Exchange:
    """What is sent to a program, and received from it, until a point in time."""

    def __init__(self, process: subprocess.Popen[bytes], timeout_seconds: float | None) -> None:
        assert process.stdin is not None
        assert process.stdout is not None
        self._to, self._source = process.stdin.fileno(), process.stdout.fileno()
        self._until = None if timeout_seconds is None else time.monotonic() + timeout_seconds
        # A pipe that is full would keep this process from noticing that the time is over.
        os.set_blocking(self._to, False)

    def send(self, data: bytes) -> None:
        """Send all of `data`.

        Raises
        ------
        BrokenPipeError: the program has ended.
        TimeoutError: it does not take it in time.
        """
        left = memoryview(data)
        while len(left):
            self._wait(self._to, select.POLLOUT)
            left = left[os.write(self._to, left) :]

    def receive(self, count: int) -> bytearray:
        """Return the next `count` bytes.

        Raises
        ------
        EOFError: the program has ended.
        TimeoutError: they do not come in time.
        """
        found = bytearray(count)
        left = memoryview(found)
        while len(left):
            self._wait(self._source, select.POLLIN)
            got = os.readv(self._source, [left])
            if not got:
                raise EOFError
            left = left[got:]
        return found

    def receive_end(self) -> None:
        """Wait until the program has closed its output.

        Raises
        ------
        ValueError: it has more to say.
        TimeoutError: it does not do so in time.
        """
        self._wait(self._source, select.POLLIN)
        if os.read(self._source, 1):
            raise ValueError("an answer that nobody asked for")

    def _wait(self, pipe: int, event: int) -> None:
        poll = select.poll()
        poll.register(pipe, event)
        while not poll.poll(LOOK_SECONDS * 1000):
            if self._until is not None and time.monotonic() > self._until:
                raise TimeoutError
