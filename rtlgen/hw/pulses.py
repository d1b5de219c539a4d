"""Pulses that come later."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value

SHIFTED_CYCLES = 3
"""Up to this delay a shift register is smaller than a counter."""


def delayed_pulse(m: Module, pulse: Value, cycles: int, apart_cycles: int, name: str) -> Value:
    """Return a pulse `cycles` cycles after each one of `pulse`.

    Parameters
    ----------
    apart_cycles: how far pulses are apart at least. A counter delays by that much at most, so that
        a longer delay takes several.
    """
    while cycles:
        if cycles <= SHIFTED_CYCLES or apart_cycles <= SHIFTED_CYCLES:
            later = Signal(name=f"{name}_{cycles}")
            m.d.sync += later.eq(pulse)
            cycles -= 1
        else:
            part = min(cycles, apart_cycles)
            left = Signal(range(part + 1), name=f"{name}_in_{cycles}")
            later = Signal(name=f"{name}_{cycles}")
            with m.If(pulse):
                m.d.sync += left.eq(part)
            with m.Elif(left != 0):
                m.d.sync += left.eq(left - 1)
            m.d.comb += later.eq(left == 1)
            cycles -= part
        pulse = later
    return pulse
