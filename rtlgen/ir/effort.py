"""How much an analysis may take: computing time for all of it, isl operations for one step of it.

Exact dependence analysis and the search are exponential in the worst case. Nothing can interrupt a
step inside isl but isl's own count of elementary operations; between the steps, and in the loops of
the search, `keep_going` looks at the clock. Ordinary programs come near neither limit.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

import islpy as isl

from rtlgen.errors import RtlgenError

MAX_SECONDS = 60.0
"""Computing time of this thread for one compilation. Most kernels need less than one second."""

MAX_OPERATIONS = 100_000
"""Elementary isl operations for one step: some seconds. Most steps need less than 10^3."""

LOOP_OPERATIONS = 5_000_000
"""The same for writing out a whole program as loops, which is one step of isl."""

COUNTING_OPERATIONS = 50_000_000
"""The same for counting points and vertices, of which isl does millions a second."""

MORE_SECONDS = 30.0
"""What a second, simpler attempt may take after the first one was too complex."""

_deadline: ContextVar[float | None] = ContextVar("deadline", default=None)


class TooComplex(RtlgenError):
    """The analysis of the program would take too long.

    Exact dependence analysis, integer maximisation and the search over loop orders are exponential
    in the worst case. The compiler counts isl's elementary operations and its own computing time,
    and stops at fixed limits rather than running for hours. Split the function into smaller
    `#pragma scop` regions, simplify subscripts with several coefficients, or reduce the number of
    loops, conditions and statements that share an array.
    """

    code = "E0208"


@contextmanager
def limited_effort() -> Iterator[None]:
    """Limit what is done inside; isl's quota error becomes `TooComplex` and reaches no user.

    Raises
    ------
    TooComplex: a limit was met.
    """
    outer = _deadline.get()
    token = _deadline.set(time.thread_time() + MAX_SECONDS if outer is None else outer)
    try:
        yield
    except isl.Error as error:
        if "maximal number of operations" in str(error):
            raise out_of_operations() from error
        raise
    finally:
        _deadline.reset(token)


@contextmanager
def more_effort() -> Iterator[None]:
    """Let what is inside take `MORE_SECONDS`, whatever was used up before.

    Raises
    ------
    TooComplex: a limit was met.
    """
    token = _deadline.set(time.thread_time() + MORE_SECONDS)
    try:
        with limited_effort():
            yield
    finally:
        _deadline.reset(token)


def keep_going(context: isl.Context | None = None) -> None:
    """Begin the next step: look at the clock, and let isl count its operations from 0 again.

    Raises
    ------
    TooComplex: the time is up.
    """
    deadline = _deadline.get()
    if deadline is not None and time.thread_time() > deadline:
        raise _too_complex(f"it takes more than {MAX_SECONDS:g} seconds of computing time")
    if context is not None:
        context.reset_operations()


def out_of_operations() -> TooComplex:
    """Return the error for a step that needs more operations than it is given."""
    return _too_complex(
        f"a step of it needs more than {MAX_OPERATIONS:,} elementary isl operations"
    )


def _too_complex(reason: str) -> TooComplex:
    return TooComplex(
        "the analysis of this program is too complex",
        notes=(reason,),
        help="split the region, or simplify its bounds and subscripts",
    )
