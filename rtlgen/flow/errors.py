"""Failures of synthesis."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class UnreadableResultError(RtlgenError):
    """A synthesis tool ended well, but what it wrote is not what this version of rtlgen reads.

    The versions that work together are in requirements-dev.lock; `make setup-dev` installs them.
    """

    code = "E0510"
    exit_code = 1

    @classmethod
    def of_netlist(cls, error: Exception) -> UnreadableResultError:
        """Return the error that tells why a netlist of yosys is none that is known."""
        return cls(f"yosys's netlist cannot be read: {error!r}")
