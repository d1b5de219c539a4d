"""Build a SoC of LiteX around a kernel, with a bus master on its pins: run in the build directory.

    python litex_soc.py NAME

writes soc.v, and prints where everything is, as JSON.
"""

from __future__ import annotations

import importlib
import json
import sys
from pathlib import Path

from litex.build.generic_platform import Pins, Subsignal
from litex.build.sim import SimPlatform
from litex.gen import LiteXModule
from litex.soc.integration.soc_core import SoCMini
from litex.soc.interconnect import wishbone
from migen import ClockDomain

PINS = {"adr": 30, "dat_w": 32, "dat_r": 32, "sel": 4, "cyc": 1, "stb": 1, "ack": 1, "we": 1}
IO = [
    ("sys_clk", 0, Pins(1)),
    ("sys_rst", 0, Pins(1)),
    ("bus", 0, *(Subsignal(name, Pins(width)) for name, width in PINS.items())),
]


class Clocks(LiteXModule):  # type: ignore[misc]
    """The clock and the reset of the pins."""

    def __init__(self, platform: SimPlatform) -> None:
        self.cd_sys = ClockDomain()
        self.comb += [
            self.cd_sys.clk.eq(platform.request("sys_clk")),
            self.cd_sys.rst.eq(platform.request("sys_rst")),
        ]


def main() -> None:
    """Build the SoC."""
    name = sys.argv[1]
    sys.path.insert(0, str(Path.cwd()))
    kernel = importlib.import_module(f"{name}_litex").Kernel
    platform = SimPlatform("SIM", IO)
    soc = SoCMini(platform, clk_freq=int(1e6), ident="", integrated_main_ram_size=0x4000)
    soc.crg = Clocks(platform)
    pads, bus = platform.request("bus"), wishbone.Interface(data_width=32, adr_width=30)
    for signal in PINS:
        given, taken = getattr(pads, signal), getattr(bus, signal)
        soc.comb += given.eq(taken) if signal in ("dat_r", "ack") else taken.eq(given)
    soc.bus.add_master(name="pins", master=bus)
    setattr(soc, name, kernel(platform))
    getattr(soc, name).add_to(soc, origin=0x20000000)
    soc.finalize()
    platform.get_verilog(soc, name="soc").write("soc.v")
    csrs = soc.csr_regions[name]
    places, place = {}, csrs.origin
    for csr in csrs.obj:
        places[csr.name] = place
        place += 4 * -(-csr.size // 32)
    regions = {region: found.origin for region, found in soc.bus.regions.items()}
    print(json.dumps({"csrs": places, "regions": regions}))


if __name__ == "__main__":
    main()
