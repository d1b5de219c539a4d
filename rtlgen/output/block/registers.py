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
from rtlgen.manifest.registers import Access, Field, Register, RegisterMap, Window
from rtlgen.output.block.drivers import driver_files
from rtlgen.output.block.ip_xact import component


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


_ACCESS = {
    "ro": "read",
    "rw": "read, write",
    "w1s": "read, write 1 to ask",
    "w1c": "read, write 1 to clear",
}


def register_page(manifest: Manifest) -> str:
    """Return the page."""
    return "\n".join(_page(manifest)) + "\n"


def _page(manifest: Manifest) -> Iterator[str]:
    registers = manifest.registers
    assert registers is not None, "a block has registers"
    yield f"# Registers of {manifest.name}"
    yield ""
    yield f"{registers.bytes} bytes behind the AXI4-Lite port `{manifest.control_prefix}*`, in"
    yield "words of 32 bits, little-endian. An address where nothing is, and an array on chip while"
    yield "the block runs, are answered with SLVERR."
    if any(window.is_double for window in registers.windows):
        yield ""
        yield "Of an array in two copies, the window shows the one that no run has, at any time,"
        yield "until the next start, or until 1 is written to SWAP between runs."
    yield ""
    yield "| offset | register | bits | field | access | after reset | meaning |"
    yield "|---|---|---|---|---|---|---|"
    for register in registers.registers:
        for field in register.fields:
            high = field.low + field.width - 1
            bits = f"{high}:{field.low}" if field.width > 1 else f"{field.low}"
            reset = f"0x{field.reset:X}" if field.shows_reset else ""
            cells = (f"0x{register.offset:04X}", register.name, bits, field.name)
            yield f"| {' | '.join((*cells, _ACCESS[field.access], reset, field.meaning))} |"
    if registers.windows:
        yield ""
        yield "| offset | array | elements | bytes of each | copies |"
        yield "|---|---|---|---|---|"
        for window in registers.windows:
            sizes = f"{window.elements} | {window.element_bytes} | {2 if window.is_double else 1}"
            yield f"| 0x{window.offset:04X} | {window.array} | {sizes} |"
    if manifest.memory is not None:
        yield ""
        yield "| array off chip | from its base on | rows | bytes of a row | from one to the next |"
        yield "|---|---|---|---|---|"
        for place in manifest.memory.arrays:
            sizes = f"{place.rows * place.row_bytes} | {place.rows} | {place.used_bytes}"
            yield f"| {place.name} | {sizes} | {place.row_bytes} |"


_PROPERTIES: dict[Access, str] = {
    "ro": "sw = r; hw = w;",
    "rw": "sw = rw; hw = r;",
    "w1s": "sw = rw; hw = rw; onwrite = woset;",
    "w1c": "sw = rw; hw = rw; onwrite = woclr; hwset;",
}


def system_rdl(registers: RegisterMap) -> str:
    """Return the map as SystemRDL."""
    return "\n".join(_rdl(registers)) + "\n"


def _rdl(registers: RegisterMap) -> Iterator[str]:
    # A name of C may be a keyword here; with a backslash it is none.
    yield f"addrmap \\{registers.name} {{"
    yield f'    name = "{registers.name}";'
    yield '    desc = "Registers and arrays of a block that rtlgen generated.";'
    yield "    default regwidth = 32;"
    yield "    default accesswidth = 32;"
    yield "    addressing = regalign;"
    for register in registers.registers:
        yield from _register(register)
    for window in registers.windows:
        yield from _window(window)
    yield "};"


def _register(register: Register) -> Iterator[str]:
    yield ""
    yield "    reg {"
    yield f'        desc = "{_quoted(register.meaning)}";'
    for field in register.fields:
        yield from _field(field)
    yield f"    }} {register.name} @ 0x{register.offset:X};"


def _field(field: Field) -> Iterator[str]:
    yield "        field {"
    yield f'            desc = "{_quoted(field.meaning)}";'
    yield f"            {_PROPERTIES[field.access]}"
    bits = f"[{field.low + field.width - 1}:{field.low}]"
    reset = f" = {field.width}'h{field.reset:x}" if field.shows_reset else ""
    yield f"        }} {field.name}{bits}{reset};"


def _window(window: Window) -> Iterator[str]:
    yield ""
    yield "    external mem {"
    elements = f"{window.elements} elements of {window.element_bytes} bytes"
    which = " The copy that no run has." if window.is_double else ""
    yield f'        desc = "Array {window.array}: {elements}, the lowest byte first.{which}";'
    yield f"        mementries = {-(-window.bytes // 4)};"
    yield "        memwidth = 32;"
    yield "        sw = rw;"
    yield f"    }} ARRAY_{window.array} @ 0x{window.offset:X};"


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
