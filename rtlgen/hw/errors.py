"""What the hardware builders refuse."""

from __future__ import annotations

from rtlgen.errors import RtlgenError


class IndexStyleError(RtlgenError):
    """A nest cannot be indexed in the style that was asked for.

    `--index shift` takes the loop counters as bit slices of one flat counter, which works when
    every loop but the outermost one has a power of two of iterations:

        for (int i = 0; i < 9; i++)
            for (int j = 0; j < 8; j++)     /* shift applies: j is the low three bits */

    With `j < 12` it does not. Use `--index odometer` (the default, any nest) or `--index divide`.
    """

    code = "E0350"
