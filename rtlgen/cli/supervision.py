"""A process that watches the one that works: nothing it does ends in a crash or leaves anything.

Memory that one call of a C library takes, and a signal that comes while it runs, cannot be seen by
the Python around it. So the work is done in a child process. The parent only waits, and

- lets the work raise `TooMuchMemory` when it holds more than its limit, and ends it where it is
  deaf to that;
- passes on the signals that ask to stop, and ends work that does not within GRACE_SECONDS;
- removes all temporary files, and ends all programs that the work has started.

Until it has blocked the signals, one of them ends Python in Python's own way. So this module
imports next to nothing before that, and nothing of rtlgen but on the way to a diagnostic.
"""

from __future__ import annotations

import os
import signal
import sys
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType
    from typing import NoReturn

    from rtlgen.errors import RtlgenError

GRACE_SECONDS = 2.0
LOOK_SECONDS = 0.05
FIRST_LOOK_SECONDS = 0.25
"""Python cannot import the libraries any faster, and `rtlgen --version` is done by then."""
HEADROOM = 1.25
"""Times the limit, at which work is ended at once."""

_STOPPING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)
_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36


class Stopped(BaseException):
    """A signal asked the process to stop."""

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.exit_code = 128 + number


def supervised(work: Callable[[], None]) -> None:
    """Do `work` in a child process, and end this one with its exit status.

    Only the child returns from this function.
    """
    if not sys.platform.startswith("linux"):
        _work(work)
        return
    stopping = [n for n in _STOPPING if signal.getsignal(n) is not signal.SIG_IGN]
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_BLOCK, {*stopping, signal.SIGCHLD})
    scratch = _scratch_folder()
    supervisor = os.getpid()
    child = os.fork()
    if child != 0:
        _prctl(_PR_SET_CHILD_SUBREAPER, 1)
        _end(_Watch(child, stopping).until_done(), scratch)
    _prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != supervisor:
        os._exit(128 + signal.SIGTERM)
    if scratch is not None:
        os.environ["TMPDIR"] = scratch
    for number in stopping:
        signal.signal(number, _stop)
    signal.signal(signal.SIGUSR1, _refuse_memory)
    signal.signal(signal.SIGALRM, _raise_again)
    sys.unraisablehook = _not_raised
    signal.pthread_sigmask(signal.SIG_UNBLOCK, {*stopping, signal.SIGCHLD})
    _work(work)


def _work(work: Callable[[], None]) -> None:
    try:
        work()
    except Stopped as stopped:
        sys.exit(stopped.exit_code)
    finally:
        # All that is left to do is to end.
        for number in _STOPPING:
            signal.signal(number, signal.SIG_IGN)


# In the working process.

_raised: list[BaseException] = []


def _stop(number: int, _: FrameType | None) -> None:
    # Once: a second signal must not break off the cleaning up.
    if not _raised:
        _raised.append(Stopped(number))
        raise _raised[0]


def _refuse_memory(_: int, __: FrameType | None) -> None:
    if not _raised:
        _raised.append(_memory_refusal())
        raise _raised[0]


def _raise_again(_: int, __: FrameType | None) -> None:
    raise _raised[0]


def _not_raised(unraisable: sys.UnraisableHookArgs) -> None:
    """Raise once more what was lost in a destructor or in a callback of a C library."""
    if _raised and unraisable.exc_value is _raised[0]:
        signal.setitimer(signal.ITIMER_REAL, 0.01)
    else:
        sys.__unraisablehook__(unraisable)


# In the watching process, which has all its signals blocked and looks for them itself.


class _Watch:
    """Waits for the child, and looks after it."""

    def __init__(self, child: int, stopping: list[signal.Signals]) -> None:
        self._child = child
        self._begin = time.monotonic()
        self._signals = {*stopping, signal.SIGCHLD}
        self._limit_mb: int | None = None
        self._deadline: float | None = None
        self._stopped_by: int | None = None
        self._over_limit = False

    def until_done(self) -> int:
        """Return the exit status."""
        while True:
            caught = signal.sigtimedwait(self._signals, LOOK_SECONDS)
            if caught is not None and caught.si_signo != signal.SIGCHLD:
                self._pass_on(caught.si_signo)
            while True:
                ended, status = os.waitpid(-1, os.WNOHANG)
                if ended == self._child:
                    return self._status(status)
                if ended == 0:
                    break
            self._look()

    def _pass_on(self, number: int) -> None:
        self._stopped_by = self._stopped_by or number
        self._deadline = self._deadline or time.monotonic() + GRACE_SECONDS
        os.kill(self._child, number)

    def _look(self) -> None:
        if time.monotonic() - self._begin < FIRST_LOOK_SECONDS:
            return
        if self._limit_mb is None:
            self._limit_mb = _limit_mb()
        held = _resident_mb(self._child)
        if held > self._limit_mb and not self._over_limit and self._stopped_by is None:
            self._over_limit = True
            self._deadline = time.monotonic() + GRACE_SECONDS
            os.kill(self._child, signal.SIGUSR1)
        late = self._deadline is not None and time.monotonic() > self._deadline
        if late or held > HEADROOM * self._limit_mb:
            self._over_limit = self._over_limit or not late
            os.kill(self._child, signal.SIGKILL)

    def _status(self, status: int) -> int:
        code = os.waitstatus_to_exitcode(status)
        if code >= 0:
            return code
        if self._stopped_by is not None:
            return 128 + self._stopped_by
        if self._over_limit:
            return _report(_memory_refusal())
        return _report(crash(-code))


def _end(status: int, scratch: str | None) -> NoReturn:
    for _ in range(1000):
        left = _children()
        if not left:
            break
        for child in left:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    if scratch is not None:
        try:
            os.rmdir(scratch)
        except OSError:
            import shutil

            shutil.rmtree(scratch, ignore_errors=True)
    os._exit(status)


def _children() -> list[int]:
    """Return what this process has inherited: the programs that the work had started."""
    try:
        with open(f"/proc/self/task/{os.getpid()}/children") as file:
            return [int(child) for child in file.read().split()]
    except OSError:
        return []


def _scratch_folder() -> str | None:
    """Return a new folder for all temporary files, or None where there can be none."""
    base = os.environ.get("TMPDIR") or "/tmp"
    folder = os.path.join(base, f"rtlgen-{os.getpid()}-{os.urandom(4).hex()}")
    try:
        os.mkdir(folder, 0o700)
    except OSError:
        return None
    return folder


def _prctl(option: int, value: int) -> None:
    import ctypes

    ctypes.CDLL(None).prctl(option, value, 0, 0, 0)


# Imports for what seldom happens.


def _limit_mb() -> int:
    from rtlgen.system.memory_limit import MAX_MEMORY_MB, BadMemoryLimit, memory_limit_mb

    try:
        return memory_limit_mb()
    except BadMemoryLimit:
        return MAX_MEMORY_MB  # The work refuses it.


def _resident_mb(process: int) -> int:
    from rtlgen.system.memory_limit import resident_mb

    return resident_mb(process)


def _memory_refusal() -> RtlgenError:
    from rtlgen.system.memory_limit import too_much_memory

    return too_much_memory(_limit_mb())


def crash(number: int) -> RtlgenError:
    """Return what is told of work that a signal has ended."""
    from rtlgen.cli.errors import Crashed

    is_killed = number == signal.SIGKILL
    why = "the machine was out of memory, or a limit of the shell was reached"
    return Crashed(
        f"rtlgen was ended by {signal.Signals(number).name}",
        notes=[why] if is_killed else [],
        help=None if is_killed else "report the C file and the command",
    )


def _report(error: RtlgenError) -> int:
    from rtlgen.cli.output import print_error

    print_error(error, as_json="--json" in sys.argv)
    sys.stdout.flush()
    sys.stderr.flush()
    return error.exit_code
