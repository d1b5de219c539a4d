"""What writing a program out refuses."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class NoSuchStage(RtlgenError):
    """A program was asked for after a pass that it has not been through.

    `rtlgen emit-c FILE.c --after PASS` prints the program after one of the passes that it went
    through. With `--fuse none` the nests are not fused, so there is nothing after `fuse`. The
    message lists the passes.
    """

    code = "E0408"
