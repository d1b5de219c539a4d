"""Failures of synthesis."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class UnreadableResultError(RtlgenError):
    """A synthesis tool ended well, but what it wrote is not what this version of rtlgen reads.

    The versions that work together are in requirements-dev.lock; `make setup-dev` installs them.
    """

    code = "E0510"
    exit_code = 1
