"""What the refusals of a C program have in common."""

from __future__ import annotations

from rtlgen.errors import Diagnostic, RtlgenError


class FrontendError(RtlgenError):
    """Base of the refusals of a C program.

    Members
    -------
    others: further refusals found in the same file, in the order of the text.
    loop: line of the place of a loop whose header is refused.
    """

    others: tuple[FrontendError, ...] = ()
    loop: int | None = None

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Every refusal of the file, this one first."""
        return (self.diagnostic, *(other.diagnostic for other in self.others))

    @property
    def position(self) -> tuple[int, int]:
        """Line and column of its first place, to sort refusals by."""
        labels = self.diagnostic.labels
        return (labels[0].span.line, labels[0].span.column) if labels else (0, 0)
