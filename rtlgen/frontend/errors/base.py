"""What the refusals of a C program have in common."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import ClassVar

from rtlgen.errors import Diagnostic, RtlgenError


class FrontendError(RtlgenError):
    """Base of the refusals of a C program.

    Members
    -------
    others: further refusals found in the same file, in the order of the text.
    loop: line of the place of a loop whose header is refused.
    call: line of the place of a call that cannot stay inside of its expression.
    is_told_once: one place says it for the program: what changes that changes all of them.
    """

    is_told_once: ClassVar[bool] = False
    others: tuple[FrontendError, ...] = ()
    loop: int | None = None
    call: int | None = None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every refusal of the file, this one first."""
        told: dict[type[FrontendError], list[FrontendError]] = {}
        for error in (self, *self.others):
            told.setdefault(type(error), []).append(error)
        return tuple(
            _with_places(error.diagnostic, told[type(error)][1:])
            if error.is_told_once
            else error.diagnostic
            for error in (self, *self.others)
            if not error.is_told_once or error is told[type(error)][0]
        )

    @property
    def position(self) -> tuple[int, int]:
        """Line and column of its first place, to sort refusals by."""
        labels = self.diagnostic.labels
        return (labels[0].span.line, labels[0].span.column) if labels else (0, 0)


def _with_places(diagnostic: Diagnostic, others: Sequence[FrontendError]) -> Diagnostic:
    """Return a diagnostic with a note of the other places of which it speaks."""
    if not others:
        return diagnostic
    here = diagnostic.labels[0].span.file if diagnostic.labels else ""
    spans = [label.span for error in others for label in error.diagnostic.labels[:1]]
    lines = dict.fromkeys(str(span.line) for span in spans if span.file == here)
    elsewhere = dict.fromkeys(f"{span.file}:{span.line}" for span in spans if span.file != here)
    places = [f"line{'s' if len(lines) > 1 else ''} {', '.join(lines)}"] if lines else []
    is_one = len(others) == 1
    note = f"so {'is' if is_one else 'are'} {len(others)} more: {', '.join((*places, *elsewhere))}"
    return replace(diagnostic, notes=(*diagnostic.notes, note))
