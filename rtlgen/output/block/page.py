"""The registers of a block as a page of Markdown."""

from __future__ import annotations

from collections.abc import Iterator

from rtlgen.manifest.contents import Manifest

_ACCESS = {
    "ro": "read",
    "rw": "read, write",
    "w1s": "read, write 1 to ask",
    "w1c": "read, write 1 to clear",
}


def register_page(manifest: Manifest) -> str:
    """Return the page."""
    return "\n".join(_lines(manifest)) + "\n"


def _lines(manifest: Manifest) -> Iterator[str]:
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
            reset = f"0x{field.reset:X}" if field.is_constant or field.access != "ro" else ""
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
