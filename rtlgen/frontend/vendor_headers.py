"""Headers of C++ tools for high-level synthesis, and what to write in C for what they declare."""

from __future__ import annotations

import re

GUIDE = "docs/how-to/come-from-vitis-hls.md"

_INSTEAD = {
    "ap_int.h": "write int8_t, int16_t, int32_t or int64_t of <stdint.h>, and a mask where a value "
    "wraps at fewer bits: x & 0xfff",
    "ap_fixed.h": "write integers with a scale: (a * b) >> 8 for two numbers with 8 bits behind "
    "the point",
    "hls_stream.h": "write an array: a loop that writes it and one that reads it run side by side, "
    "each value as soon as it is there",
    "hls_math.h": "write integers, or look values up in a constant table",
}
_KINDS = {"ap_cint.h": "ap_int.h", "ac_int.h": "ap_int.h", "ac_fixed.h": "ap_fixed.h"}
_KINDS |= {"ac_channel.h": "hls_stream.h"}
_VENDOR = re.compile(r"(?:ap|hls|ac)_\w+\.h(?:pp)?")


def instead_of(header: str) -> str | None:
    """Return what to write in place of a header of such a tool; None for any other header."""
    if _VENDOR.fullmatch(header) is None:
        return None
    return _INSTEAD.get(_KINDS.get(header, header), "write what the function does in plain C")
