"""What goes with a block of a system: the description of its registers, and its drivers."""

from rtlgen.manifest.file import DRIVER_FOLDER

BLOCK_FILES = (DRIVER_FOLDER, "registers.rdl", "registers.md", "component.xml")
"""What `registers.write_block` writes, beside the Verilog."""
