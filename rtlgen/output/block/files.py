"""The files that a block has beside its Verilog."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import DRIVER_FOLDER
from rtlgen.output.block.drivers import driver_files
from rtlgen.output.block.ip_xact import component
from rtlgen.output.block.page import register_page
from rtlgen.output.block.system_rdl import elaborated, register_header, system_rdl


def write_block(directory: Path, manifest: Manifest) -> None:
    """Write registers and drivers of a block into the directory that has its Verilog."""
    registers = manifest.registers
    assert registers is not None, "a block has registers"
    rdl = system_rdl(registers)
    drivers = driver_files(manifest)
    with elaborated(rdl) as root:
        drivers[f"{manifest.name}_registers.h"] = register_header(root)
    # IP-XACT knows no memory beside registers: the component has an address block for each.
    with elaborated(system_rdl(replace(registers, windows=()))) as root:
        xml = component(manifest, root)
    (directory / DRIVER_FOLDER).mkdir()
    for name, text in drivers.items():
        (directory / DRIVER_FOLDER / name).write_text(text, encoding="utf-8")
    (directory / "registers.rdl").write_text(rdl, encoding="utf-8")
    (directory / "registers.md").write_text(register_page(manifest), encoding="utf-8")
    (directory / "component.xml").write_text(xml, encoding="utf-8")
