"""LiteX: a module with the circuit on the bus of a SoC."""

from rtlgen.output.flows.flow import Flow

LITEX = Flow(
    "litex",
    "module for LiteX: arrays on the bus, scalars and status in CSRs, an interrupt when done",
    "from NAME_litex import Kernel; soc.NAME = Kernel(soc.platform); soc.NAME.add_to(soc)",
    {"{name}_litex.py": "litex.py.j2"},
)
