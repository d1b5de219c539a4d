"""edalize: a script that makes a bitstream for ECP5."""

from rtlgen.output.flows.flow import Flow

EDALIZE = Flow(
    "edalize",
    "script for edalize that synthesises, places and routes for ECP5, and packs a bitstream",
    "python NAME_edalize.py",
    {"{name}_edalize.py": "edalize.py.j2", "{name}_on_pins.v": "on_pins.v.j2"},
)
