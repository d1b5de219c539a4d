"""How much an analysis may take, counted in elementary steps: every machine accepts the same.

Exact dependence analysis and the search are exponential in the worst case. Nothing can interrupt a
step inside isl but isl's own count of elementary operations, which is limited for each step; the
operations of all steps, and those of the compiler's own loops, are added up for the whole
compilation. Ordinary programs come near neither limit. The clock is only looked at to end what
these counts should have ended long before. Memory is measured: it is limited as well.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager, suppress
from contextvars import ContextVar
from dataclasses import dataclass, field, replace

import islpy as isl

from rtlgen.errors import RtlgenError
from rtlgen.system.memory_limit import memory_limit_mb, resident_mb, too_much_memory

MAX_WORK = 80_000_000
"""Elementary steps for one compilation: half a minute. Most kernels need less than 10^6."""

MORE_WORK = 40_000_000
"""What a second, simpler attempt may take after the first one was too complex."""

TURN_WORK = 8_000_000
"""What each of several pieces of work may take at least: some seconds."""

STEP_WORK = 100
"""What every step counts for at least, in elementary steps."""

MAX_OPERATIONS = 100_000
"""Elementary isl operations for one step: some seconds. Most steps need less than 10^3."""

LOOP_OPERATIONS = 5_000_000
"""The same for writing out a whole program as loops, which is one step of isl."""

COUNTING_OPERATIONS = 50_000_000
"""The same for counting points and vertices, of which isl does millions a second."""

COUNTED_FROM = 256
"""isl operations of one step from which on they are counted, in powers of 4."""

MAX_SECONDS = 900.0
"""Computing time of this thread after which a compilation is ended whatever was counted."""

WATCHED_WORK = 100_000
"""Elementary steps between two looks at the clock and at the memory."""


@dataclass
class _Account:
    """What is left of the elementary steps, when the time is up, and where memory ends."""

    left: int
    deadline: float = field(default_factory=lambda: time.thread_time() + MAX_SECONDS)
    memory_mb: int = field(default_factory=lambda: resident_mb() + memory_limit_mb())
    unwatched: int = 0

    def spend(self, work: int) -> None:
        self.left -= work
        if self.left < 0:
            raise _too_complex("it needs too many elementary steps")
        self.unwatched += work
        if self.unwatched > WATCHED_WORK:
            self.unwatched = 0
            if resident_mb() > self.memory_mb:
                raise too_much_memory(memory_limit_mb())
            if time.thread_time() > self.deadline:
                raise _too_complex(f"it takes more than {MAX_SECONDS:g} seconds of computing time")


_account: ContextVar[_Account | None] = ContextVar("account", default=None)


@dataclass
class Tally:
    """Elementary steps of all that was done, whatever account paid for them.

    Members
    -------
    most: after so many nothing more is done; None: no limit.
    outer: of what this is a part of.
    """

    steps: int = 0
    most: int | None = None
    outer: Tally | None = None

    @property
    def is_over(self) -> bool:
        return self.most is not None and self.steps > self.most

    def count(self, work: int) -> None:
        self.steps += work
        if self.outer is not None:
            self.outer.count(work)
        if self.is_over:
            raise _too_complex("it needs more elementary steps than it is given")


_tally: ContextVar[Tally | None] = ContextVar("tally", default=None)


@contextmanager
def counted_effort(most: int | None = None) -> Iterator[Tally]:
    """Count the elementary steps of what is done inside: the same on every machine.

    Parameters
    ----------
    most: steps for all of it together; see `Tally.is_over` for whether it came to an end.

    Raises
    ------
    TooComplex: they are used up.
    """
    tally = Tally(most=most, outer=_tally.get())
    token = _tally.set(tally)
    try:
        yield tally
    finally:
        _tally.reset(token)


_limits: ContextVar[dict[str, None] | None] = ContextVar("limits", default=None)


@contextmanager
def noting_limits() -> Iterator[dict[str, None]]:
    """Collect what `note_limit` says inside, each sentence once and in order."""
    noted: dict[str, None] = {}
    token = _limits.set(noted)
    try:
        yield noted
    finally:
        _limits.reset(token)


def note_limit(sentence: str) -> None:
    """Say that a limit has changed what is built, and how: plan, build and report print it."""
    noted = _limits.get()
    if noted is not None:
        noted[sentence] = None


def note_limits(sentences: Iterable[str]) -> None:
    """Say again what was collected of an attempt that is taken."""
    for sentence in sentences:
        note_limit(sentence)


@contextmanager
def improving(what: str) -> Iterator[None]:
    """Look for something better than what is there already, as far as the effort allows.

    Parameters
    ----------
    what: is looked for; named where the search for it was too complex.
    """
    try:
        yield
    except TooComplex:
        note_limit(f"{what} would take too long to be weighed to the end")


class TooComplex(RtlgenError):
    """The analysis of the program would take too long.

    Exact dependence analysis, integer maximisation and the search over loop orders are exponential
    in the worst case. The compiler counts isl's elementary operations and steps of its own, and
    stops at fixed limits, the same on every machine, rather than running for hours. Split the
    function into smaller `#pragma scop` regions, simplify subscripts with several coefficients, or
    reduce the number of loops, conditions and statements that share an array.
    """

    code = "E0208"


_subject: ContextVar[str | None] = ContextVar("subject", default=None)


@contextmanager
def limited_effort(subject: str | None = None) -> Iterator[None]:
    """Limit what is done inside; isl's quota error becomes `TooComplex` and reaches no user.

    Parameters
    ----------
    subject: of what is done, which the error names. None: that of what it is part of.

    Raises
    ------
    TooComplex: a limit was met.
    """
    outer, token = _account.get(), _subject.set(subject or _subject.get())
    try:
        with _spending(_Account(MAX_WORK) if outer is None else outer):
            yield
    finally:
        _subject.reset(token)


@contextmanager
def advising() -> Iterator[None]:
    """Find out what nothing that is built depends on: where that takes too long, it stays unknown.

    It takes `TURN_WORK` at most, and half of what is left.
    """
    with suppress(TooComplex), limited_effort(), _part(lambda left: min(TURN_WORK, left // 2)):
        yield


@contextmanager
def more_effort() -> Iterator[None]:
    """Let what is inside take `MORE_WORK`, whatever was used up before.

    Raises
    ------
    TooComplex: a limit was met.
    """
    with _spending(_Account(MORE_WORK)):
        yield


class Reserve:
    """Elementary steps for several pieces of work together, whatever else is used up by then."""

    def __init__(self, work: int = MAX_WORK) -> None:
        self._work = work
        self._kept: _Account | None = None

    @contextmanager
    def spent(self, but: int = 0) -> Iterator[None]:
        """Let what is inside take what is left of it.

        Parameters
        ----------
        but: elementary steps that stay for what comes later.

        Raises
        ------
        TooComplex: a limit was met.
        """
        outer = self._kept = self._kept or _Account(self._work)
        inner = replace(outer, left=outer.left - but)
        try:
            with _spending(inner):
                yield
        finally:
            # Who took too much is not paid for by those that come later.
            outer.left = max(0, inner.left) + but


class Turns:
    """Elementary steps for so many pieces of work: each leaves `TURN_WORK` for each of the others.

    Of a few pieces the first may so take most of `MAX_WORK`, and of many none is left without.
    """

    def __init__(self, count: int) -> None:
        self._left = count
        self._reserve = Reserve(max(MAX_WORK, TURN_WORK * count))

    @contextmanager
    def next(self) -> Iterator[None]:
        """Let what is inside take one turn.

        Raises
        ------
        TooComplex: a limit was met.
        """
        self._left -= 1
        with self._reserve.spent(but=TURN_WORK * max(0, self._left)):
            yield


@contextmanager
def spare_effort() -> Iterator[None]:
    """Let what is inside take half of what is left, or all of it but half of `MORE_WORK`.

    So a search for something better leaves enough for what is done with what it finds.

    Raises
    ------
    TooComplex: a limit was met.
    """
    with limited_effort(), _part(lambda left: max(left // 2, left - MORE_WORK // 2)):
        yield


@contextmanager
def _part(share: Callable[[int], int]) -> Iterator[None]:
    """Let what is inside take a share of what is left."""
    outer = _account.get()
    assert outer is not None, "it is a part of limited effort"
    given = share(outer.left)
    inner = replace(outer, left=given)
    try:
        with _spending(inner):
            yield
    finally:
        outer.left -= given - max(0, inner.left)


@contextmanager
def _spending(account: _Account) -> Iterator[None]:
    token = _account.set(account)
    try:
        yield
    except isl.Error as error:
        if is_out_of_operations(error):
            raise out_of_operations() from error
        raise
    finally:
        _account.reset(token)


def keep_going(context: isl.Context | None = None, work: int = 0, each: int = 1) -> None:
    """Begin the next step, and let isl count its operations from 0 again.

    Parameters
    ----------
    context: in which isl worked in the step before. each: elementary steps of its operations there.
    work: elementary steps of the compiler itself.

    Raises
    ------
    TooComplex: enough was done.
    """
    done = STEP_WORK + work
    if context is not None:
        done += _operations(context) * each
        context.reset_operations()
    count_work(done)
    account = _account.get()
    if account is not None:
        account.spend(done)


def count_work(work: int) -> None:
    """Count elementary steps of what limits of its own end: no compilation is too complex for it.

    Raises
    ------
    TooComplex: advice, or a search, was given no more; see `counted_effort`.
    """
    tally = _tally.get()
    if tally is not None:
        tally.count(work)


def _operations(context: isl.Context) -> int:
    """Return the isl operations since the last step began, rounded to a power of 4.

    isl does not tell their number, only whether it has reached a limit.
    """
    limit = context.get_max_operations()
    count = 0
    tried = COUNTED_FROM
    while _reaches(context, tried):
        count, tried = 2 * tried, 4 * tried
    context.set_max_operations(limit)
    return count


def _reaches(context: isl.Context, count: int) -> bool:
    """Tell whether isl has done that many operations."""
    context.set_max_operations(count)
    try:
        isl.Val.zero(context)
    except isl.Error:
        return True
    return False


def is_out_of_operations(error: isl.Error) -> bool:
    """Tell whether isl gave up because a step took more operations than it may.

    islpy makes a value of a Python integer by itself, and does not say why it cannot.
    """
    text = str(error)
    return "maximal number of operations" in text or "from integer" in text


def out_of_operations() -> TooComplex:
    """Return the error for a step that needs more operations than it is given."""
    return _too_complex(
        f"a step of it needs more than {MAX_OPERATIONS:,} elementary isl operations"
    )


def _too_complex(reason: str) -> TooComplex:
    subject = _subject.get()
    gave_up = () if subject is None else (f"what gave up is the analysis of {subject}",)
    return TooComplex(
        "the analysis of this program is too complex",
        notes=(reason, *gave_up),
        help="split the region, or simplify its bounds and subscripts",
    )
