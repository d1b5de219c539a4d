"""The one place that ties a net to a line of the C program."""

from __future__ import annotations

from amaranth.hdl import Signal

from rtlgen.source import Span


def mark(signal: Signal, span: Span | None) -> Signal:
    """Let `signal` carry the C line of `span` as its `src` attribute, and return it.

    Amaranth has no public way to say where a signal comes from; it writes `src_loc`, a pair of
    file and line, into the netlist, and `rtlgen.output.verilog_text` names the ones of C files
    only.
    """
    if span is not None:
        signal.src_loc = (span.file, span.line)
    return signal
