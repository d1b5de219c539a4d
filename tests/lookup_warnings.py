"""What is said of subscripts that only C keeps inside of their arrays."""

from __future__ import annotations

from rtlgen.errors import Diagnostic
from rtlgen.frontend import parse_text
from rtlgen.planning.analysis import examine


def lookup_warnings(text: str) -> list[Diagnostic]:
    """Return the warnings of a program about subscripts that are not proven to stay inside."""
    return [w for w in examine(parse_text(text)).warnings if w.code == "W0205"]
