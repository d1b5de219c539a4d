"""Quartus: a project, and a component for Platform Designer."""

from rtlgen.output.flows.flow import Flow

QUARTUS = Flow(
    "quartus",
    "Tcl for Quartus: a project with all pins virtual, and a component for Platform Designer",
    "quartus_sh -t NAME_quartus.tcl",
    {
        "{name}_quartus.tcl": "quartus.tcl.j2",
        "{name}_hw.tcl": "quartus_hw.tcl.j2",
        "{name}.sdc": "quartus.sdc.j2",
    },
)
