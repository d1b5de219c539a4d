"""Drivers of a block, in C and Python: the same text on a board and in a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rtlgen.manifest.contents import ArrayEntry, Manifest, c_type
from rtlgen.manifest.registers import ERRORS
from rtlgen.output.templates import templates_in

_TEMPLATES = templates_in(Path(__file__).parent)
_NUMPY_TYPES = {"bfloat16": "uint16"}


@dataclass(frozen=True, slots=True)
class _Argument:
    """An argument of the function that runs the block, and what is done with it."""

    declaration: str
    before: str = ""
    after: str = ""


def driver_files(manifest: Manifest) -> dict[str, str]:
    """Return the files of the drivers by their names."""
    given = _context(manifest)
    return {
        f"{manifest.name}{suffix}": _TEMPLATES.get_template(f"driver{suffix}.j2").render(given)
        for suffix in (".h", ".c", ".py")
    }


def _context(manifest: Manifest) -> dict[str, object]:
    registers = manifest.registers
    assert registers is not None, "a block has registers"
    windows = {window.array: window for window in registers.windows}
    on_chip = [
        _array(array) | {"offset": windows[array.name].offset}
        for array in manifest.arrays
        if array.name in windows
    ]
    mapped = () if manifest.memory is None else manifest.memory.arrays
    off_chip = [
        _array(manifest.array(place.name))
        | {
            "bytes": place.rows * place.row_bytes,
            "rows": place.rows,
            "row_bytes": place.row_bytes,
            "row_elements": place.row_elements,
        }
        for place in mapped
    ]
    scalars = [
        {
            "name": scalar.name,
            "dtype": _numpy(scalar.type),
            "c_type": c_type(scalar.type),
            "bits": scalar.width,
            "word": "uint64_t" if scalar.width > 32 else "uint32_t",
        }
        for scalar in manifest.scalars
    ]
    returned = manifest.returned
    return {
        "m": manifest,
        "p": manifest.name,
        "P": manifest.name.upper(),
        "class_name": class_name(manifest),
        "errors": ERRORS,
        "on_chip": on_chip,
        "off_chip": off_chip,
        "scalars": scalars,
        "arguments": _arguments(manifest),
        "result": None if returned is None else _numpy(returned.type),
        "result_c": "" if returned is None else c_type(returned.type),
        "result_bits": 0 if returned is None else returned.width,
        "wide_written": bool(off_chip) or any(scalar.width > 32 for scalar in manifest.scalars),
        "example": _example(manifest, [str(array["name"]) for array in off_chip]),
    }


def class_name(manifest: Manifest) -> str:
    """Return the name of the Python class."""
    return "".join(part[:1].upper() + part[1:] for part in manifest.name.split("_")) or "Block"


def _array(array: ArrayEntry) -> dict[str, object]:
    return {
        "name": array.name,
        "elements": array.depth,
        "shape": array.shape,
        "role": array.role,
        "dtype": _numpy(array.type),
        "c_type": c_type(array.type),
    }


def _numpy(type_: str) -> str:
    return _NUMPY_TYPES.get(type_, type_)


def _example(manifest: Manifest, off_chip: list[str]) -> str:
    names = [a.name for a in manifest.data_arrays if "in" in a.role]
    given = [f"{name}={name.lower()}{'_address' if name in off_chip else ''}" for name in names]
    given += [f"{scalar.name}={scalar.name}" for scalar in manifest.scalars]
    return f"left = block.run({', '.join(given)})"


def _parameter(name: str) -> str:
    """Return an argument's name in the C driver, which has some of its own."""
    return f"{name}_" if name in ("device", "error", "returned") else name


def _arguments(manifest: Manifest) -> list[_Argument]:
    """Return the arguments of the function that runs the block: scalars, arrays, result."""
    p = manifest.name
    mapped = set() if manifest.memory is None else {a.name for a in manifest.memory.arrays}
    found = [
        _Argument(
            f"{c_type(s.type)} {_parameter(s.name)}",
            f"{p}_set_{s.name}(device, {_parameter(s.name)});",
        )
        for s in manifest.scalars
    ]
    on_chip = {array.name for array in manifest.host_arrays}
    for array in manifest.arrays:
        name, kind, given = array.name, c_type(array.type), _parameter(array.name)
        if name in mapped:
            size = f"{p.upper()}_{name}_BYTES"
            there = f"{given}.memory) device->{{}}(device, {given}.memory, {size});"
            found.append(
                _Argument(
                    f"{p}_buffer {given}",
                    f"{p}_place_{name}(device, {given}.address);\n"
                    f"    if (device->flush && {there.format('flush')}",
                    f"if (device->invalidate && {there.format('invalidate')}"
                    if array.role != "in"
                    else "",
                )
            )
        elif name in on_chip:
            # Elements that a run leaves alone are those of the caller, whatever the role.
            writes = "out" in array.role
            found.append(
                _Argument(
                    f"{'' if writes else 'const '}{kind} *{given}",
                    f"{p}_write_{name}(device, {given});",
                    f"if (!error) {p}_read_{name}(device, {given});" if writes else "",
                )
            )
    if manifest.returned is not None:
        kind = c_type(manifest.returned.type)
        found.append(
            _Argument(
                f"{kind} *returned", "", f"if (!error && returned) *returned = {p}_result(device);"
            )
        )
    return found
