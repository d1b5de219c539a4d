"""Files for the flows of others, each beside the Verilog of a build directory.

`FLOWS` is all that knows of them: `rtlgen build --flow`, the documentation and the tests come from
that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from rtlgen.options import BadOption


@dataclass(frozen=True, slots=True)
class Flow:
    """A flow of others.

    Members
    -------
    help: what its files are, in a sentence. command: how they are used, in the build directory;
        NAME is the kernel.
    templates: by file, the template of its text; {name} is the kernel.
    """

    name: str
    help: str
    command: str
    templates: Mapping[str, str]

    def file_names(self, kernel: str) -> tuple[str, ...]:
        """Return the files of the flow, in order."""
        return tuple(file.format(name=kernel) for file in self.templates)


FLOWS = (
    Flow(
        "fusesoc",
        "core file for FuseSoC (CAPI2) with the targets lint, sim and ecp5",
        "fusesoc run --target=sim NAME",
        {
            "{name}.core": "fusesoc.core.j2",
            "fusesoc.conf": "fusesoc.conf.j2",
            "{name}_on_pins.v": "on_pins.v.j2",
        },
    ),
    Flow(
        "edalize",
        "script for edalize that synthesises, places and routes for ECP5, and packs a bitstream",
        "python NAME_edalize.py",
        {"{name}_edalize.py": "edalize.py.j2", "{name}_on_pins.v": "on_pins.v.j2"},
    ),
    Flow(
        "litex",
        "module for LiteX: arrays on the bus, scalars and status in CSRs, an interrupt when done",
        "from NAME_litex import Kernel; soc.NAME = Kernel(soc.platform); soc.NAME.add_to(soc)",
        {"{name}_litex.py": "litex.py.j2"},
    ),
    Flow(
        "vivado",
        "Tcl for Vivado: synthesis, place and route out of context with reports, and an IP package",
        "vivado -mode batch -source NAME_vivado.tcl",
        {
            "{name}_vivado.tcl": "vivado.tcl.j2",
            "{name}_ip.tcl": "vivado_ip.tcl.j2",
            "{name}.xdc": "vivado.xdc.j2",
        },
    ),
    Flow(
        "quartus",
        "Tcl for Quartus: a project with all pins virtual, and a component for Platform Designer",
        "quartus_sh -t NAME_quartus.tcl",
        {
            "{name}_quartus.tcl": "quartus.tcl.j2",
            "{name}_hw.tcl": "quartus_hw.tcl.j2",
            "{name}.sdc": "quartus.sdc.j2",
        },
    ),
)


def flow_files(name: str) -> frozenset[str]:
    """Return the names of all files that flows may have written for a kernel."""
    return frozenset(file for flow in FLOWS for file in flow.file_names(name))


def flow_named(name: str) -> Flow:
    """Return a flow by its name.

    Raises
    ------
    BadOption: there is none.
    """
    for flow in FLOWS:
        if flow.name == name:
            return flow
    raise BadOption(
        f"there is no flow {name}", help=f"give some of {','.join(flow.name for flow in FLOWS)}"
    )
