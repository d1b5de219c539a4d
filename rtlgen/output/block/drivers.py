"""Drivers of a block, in C and Python: the same text on a board and in a simulation."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from rtlgen.manifest.contents import ArrayEntry, Manifest, c_type
from rtlgen.manifest.names import Namer
from rtlgen.manifest.registers import ERRORS, RegisterMap
from rtlgen.output.templates import templates_in

_TEMPLATES = templates_in(Path(__file__).parent)
_NUMPY_TYPES = {"bfloat16": "uint16"}


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_NAMES_IN_C = _words(
    """
    device error returned

    alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t
    char32_t class compl concept const consteval constexpr constinit const_cast continue co_await
    co_return co_yield decltype default delete do double dynamic_cast else enum explicit export
    extern false float for friend goto if inline int long mutable namespace new noexcept not not_eq
    nullptr operator or or_eq private protected public register reinterpret_cast requires restrict
    return short signed sizeof static static_assert static_cast struct switch template this
    thread_local throw true try typedef typeid typename typeof typeof_unqual union unsigned using
    virtual void volatile wchar_t while xor xor_eq
    """
)
"""What an argument of the function that runs the block cannot be called: what it has itself, and
keywords of C and C++."""

_NAMES_IN_PYTHON = _words(
    """
    Any Callable NamedTuple Protocol Bus OnChip OffChip Exception None True False
    BLOCK SIGNATURE BYTES REGISTERS ERRORS ON_CHIP OFF_CHIP SCALARS RESULT
    START DONE IDLE RESTART ABORT SWAP
    """
)
"""What the class cannot be called."""


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
        _array(array)
        | {"offset": windows[array.name].offset, "is_double": windows[array.name].is_double}
        for array in manifest.arrays
        if array.name in windows
    ]
    mapped = () if manifest.memory is None else manifest.memory.arrays
    off_chip = [
        _array(manifest.array(place.name))
        | {
            "registers": _registers(registers, f"BASE_{place.name}"),
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
            "registers": _registers(registers, f"SCALAR_{scalar.name}"),
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
        "values": _values(registers),
        "has_twins": any(window.is_double for window in registers.windows),
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


def _registers(registers: RegisterMap, value: str) -> list[str]:
    return [half.name for half in registers.halves(value)]


def _values(registers: RegisterMap) -> list[tuple[str, list[int]]]:
    """Return each value, and where its registers are."""
    values = dict.fromkeys(register.shows for register in registers.registers)
    return [(value, [half.offset for half in registers.halves(value)]) for value in values]


def class_name(manifest: Manifest) -> str:
    """Return the name of the Python class."""
    wanted = "".join(part[:1].upper() + part[1:] for part in manifest.name.split("_"))
    if not wanted or wanted[0].isdigit():
        wanted = f"Block{wanted}"
    return Namer(_NAMES_IN_PYTHON).group(wanted, ("", "Error"))[0]


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
    names = [a.name for a in manifest.data_arrays if "in" in a.role and a.stream is None]
    given = [f"{name}={name.lower()}{'_address' if name in off_chip else ''}" for name in names]
    given += [f"{scalar.name}={scalar.name}" for scalar in manifest.scalars]
    return f"left = block.run({', '.join(given)})"


def _parameters(manifest: Manifest) -> dict[str, str]:
    """Return the name of each argument in the C driver, which has some of its own."""
    namer, own = Namer(_NAMES_IN_C), f"{manifest.name}_".upper()
    names = [scalar.name for scalar in manifest.scalars]
    names += [array.name for array in manifest.arrays]
    # Functions and macros of the driver begin with the block's name.
    wanted = [f"its_{name}" if name.upper().startswith(own) else name for name in names]
    return dict(zip(names, map(namer.name, wanted), strict=True))


def _arguments(manifest: Manifest) -> list[_Argument]:
    """Return the arguments of the function that runs the block: scalars, arrays, result."""
    p, parameters = manifest.name, _parameters(manifest)
    mapped = set() if manifest.memory is None else {a.name for a in manifest.memory.arrays}
    found = [
        _Argument(
            f"{c_type(s.type)} {parameters[s.name]}",
            f"{p}_set_{s.name}(device, {parameters[s.name]});",
        )
        for s in manifest.scalars
    ]
    on_chip = {array.name for array in manifest.held_arrays}
    for array in manifest.arrays:
        name, kind, given = array.name, c_type(array.type), parameters[array.name]
        if name in mapped:
            size = f"{p.upper()}_BYTES_OF_{name}"
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
