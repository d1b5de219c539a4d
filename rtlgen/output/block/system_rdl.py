"""The registers of a block as SystemRDL 2.0, and what well-kept tools make of that."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path

from peakrdl_cheader.exporter import CHeaderExporter
from peakrdl_ipxact.exporter import IPXACTExporter, Standard
from systemrdl.compiler import RDLCompiler
from systemrdl.node import RootNode

from rtlgen.manifest.registers import Access, Field, Register, RegisterMap, Window

_PROPERTIES: dict[Access, str] = {
    "ro": "sw = r; hw = w;",
    "rw": "sw = rw; hw = r;",
    "w1s": "sw = rw; hw = rw; onwrite = woset;",
    "w1c": "sw = rw; hw = rw; onwrite = woclr; hwset;",
}


def system_rdl(registers: RegisterMap) -> str:
    """Return the map as SystemRDL."""
    return "\n".join(_lines(registers)) + "\n"


def _lines(registers: RegisterMap) -> Iterator[str]:
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
    # The value after a reset of what the circuit says is what it says.
    shows_reset = field.is_constant or field.access != "ro"
    reset = f" = {field.width}'h{field.reset:x}" if shows_reset else ""
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


def memory_map_ipxact(root: RootNode, version: str) -> str:
    """Return the IP-XACT component (IEEE 1685-2014) with nothing but the memory map."""
    with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
        path = Path(folder) / "component.xml"
        exporter = IPXACTExporter(
            vendor="rtlgen", library="kernels", version=version, standard=Standard.IEEE_1685_2014
        )
        exporter.export(root.top, str(path))
        return path.read_text(encoding="utf-8")
