"""The registers of a block for those who use it: a page, SystemRDL, and a header made from that."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from systemrdl.compiler import RDLCompiler
from systemrdl.node import RootNode

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.file import DRIVER_FOLDER
from rtlgen.manifest.registers import Access, RegisterMap
from rtlgen.output.block.drivers import driver_files
from rtlgen.output.block.ip_xact import component
from rtlgen.output.templates import templates_in

_TEMPLATES = templates_in(Path(__file__).parent)

_ACCESS: dict[Access, str] = {
    "ro": "read",
    "rw": "read, write",
    "w1s": "read, write 1 to ask",
    "w1c": "read, write 1 to clear",
}

_PROPERTIES: dict[Access, str] = {
    "ro": "sw = r; hw = w;",
    "rw": "sw = rw; hw = r;",
    "w1s": "sw = rw; hw = rw; onwrite = woset;",
    "w1c": "sw = rw; hw = rw; onwrite = woclr; hwset;",
}


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


def register_page(manifest: Manifest) -> str:
    """Return the registers as a page of Markdown."""
    return _TEMPLATES.get_template("registers.md.j2").render(
        manifest=manifest, registers=manifest.registers, access=_ACCESS
    )


def system_rdl(registers: RegisterMap) -> str:
    """Return the map as SystemRDL."""
    return _TEMPLATES.get_template("registers.rdl.j2").render(
        registers=registers, properties=_PROPERTIES, quoted=_quoted
    )


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')


@contextlib.contextmanager
def elaborated(rdl: str) -> Iterator[RootNode]:
    """Give what systemrdl-compiler makes of a text, which it reads again for its messages."""
    with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
        path = Path(folder) / "registers.rdl"
        path.write_text(rdl, encoding="utf-8")
        compiler = RDLCompiler()
        compiler.compile_file(str(path))
        yield compiler.elaborate()


def register_header(root: RootNode) -> str:
    """Return the C header of the registers: offsets, masks, positions, resets, a structure."""
    with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
        path = Path(folder) / f"{root.top.inst_name}_registers.h"
        CHeaderExporter().export(root, path=str(path), reuse_typedefs=True)
        return path.read_text(encoding="utf-8")
