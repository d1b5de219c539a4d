"""Files and folders that are whole or absent, whatever ends the process that writes them."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import signal
import stat
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import FrameType

from rtlgen.errors import RtlgenError

STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
"""The signals that ask a process to end."""


@contextlib.contextmanager
def uninterrupted() -> Iterator[None]:
    """Let signals that ask the process to end wait until the block is left."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Signals are handled by the main thread alone.
        return
    waiting: list[int] = []

    def wait(number: int, _: FrameType | None) -> None:
        waiting.append(number)

    before = {number: signal.signal(number, wait) for number in STOPPING}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, signal.SIG_DFL if handler is None else handler)
        for caught in waiting:
            signal.raise_signal(caught)


@contextlib.contextmanager
def locked(folder: Path) -> Iterator[None]:
    """Keep other processes that lock the same folder out of the block; it leaves no file."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        # A file system that knows no locks has no two processes to keep apart, most likely.
        with contextlib.suppress(OSError):
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def scratch_folder(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder that is gone when the block is left.

    Those of processes that were killed go too: a live one's holds a lock.
    """
    with contextlib.ExitStack() as stack:
        with uninterrupted():
            with locked(parent):
                for stale in parent.glob(f"{prefix}*"):
                    _remove_unlocked(stale)
                folder = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
                descriptor = os.open(folder, os.O_RDONLY)
                stack.callback(os.close, descriptor)
                with contextlib.suppress(OSError):
                    fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        yield folder


def _remove_unlocked(folder: Path) -> None:
    try:
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    except OSError:
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    else:
        shutil.rmtree(folder, ignore_errors=True)
    finally:
        os.close(descriptor)


@contextlib.contextmanager
def kept_for_its_log(parent: Path, prefix: str) -> Iterator[Path]:
    """Make a folder that is gone afterwards, but where an `RtlgenError` names the log in it."""
    with contextlib.ExitStack() as stack:
        with uninterrupted():
            folder = Path(tempfile.mkdtemp(dir=parent, prefix=prefix))
            stack.callback(shutil.rmtree, folder, ignore_errors=True)
        try:
            yield folder
        except RtlgenError:
            stack.pop_all()
            raise


def write_file(path: Path, content: bytes) -> None:
    """Replace a file; a reader sees the old content or the new one, never a part.

    Raises
    ------
    OSError: it cannot be written.
    """
    try:
        before = path.stat()
    except FileNotFoundError:
        before = None
    if before is not None and not stat.S_ISREG(before.st_mode):
        path.write_bytes(content)  # A device or a pipe, such as /dev/stdout.
        return
    place = Path(os.path.realpath(path))
    new = place.with_name(f".{place.name[:100]}.{os.getpid()}.{threading.get_ident()}")
    try:
        with open(new, "xb") as file:
            file.write(content)
        if before is not None:
            new.chmod(stat.S_IMODE(before.st_mode))
        os.replace(new, place)
    finally:
        new.unlink(missing_ok=True)
