"""Vivado: synthesis out of context, and an IP package."""

from rtlgen.output.flows.flow import Flow

VIVADO = Flow(
    "vivado",
    "Tcl for Vivado: synthesis, place and route out of context with reports, and an IP package",
    "vivado -mode batch -source NAME_vivado.tcl",
    {
        "{name}_vivado.tcl": "vivado.tcl.j2",
        "{name}_ip.tcl": "vivado_ip.tcl.j2",
        "{name}.xdc": "vivado.xdc.j2",
    },
)
