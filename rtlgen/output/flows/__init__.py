"""Files for the flows of others, each beside the Verilog of a build directory.

A flow is a module with its `Flow`; the list below is all that knows of it: `rtlgen build --flow`,
the documentation and the tests come from that.
"""

from __future__ import annotations

from rtlgen.options import BadOption
from rtlgen.output.flows.edalize import EDALIZE
from rtlgen.output.flows.flow import Flow
from rtlgen.output.flows.fusesoc import FUSESOC
from rtlgen.output.flows.litex import LITEX
from rtlgen.output.flows.quartus import QUARTUS
from rtlgen.output.flows.vivado import VIVADO

__all__ = ["FLOWS", "Flow", "flow_files", "flow_named"]

FLOWS: tuple[Flow, ...] = (FUSESOC, EDALIZE, LITEX, VIVADO, QUARTUS)


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
