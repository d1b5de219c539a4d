"""FuseSoC: a core file with targets for lint, simulation and ECP5."""

from rtlgen.output.flows.flow import Flow

FUSESOC = Flow(
    "fusesoc",
    "core file for FuseSoC (CAPI2) with the targets lint, sim and ecp5",
    "fusesoc run --target=sim NAME",
    {
        "{name}.core": "fusesoc.core.j2",
        "fusesoc.conf": "fusesoc.conf.j2",
        "{name}_on_pins.v": "on_pins.v.j2",
    },
)
