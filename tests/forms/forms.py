"""Small programs as people write them, one file each, some for each form of C that is lowered.

A file is called FORM_SUBJECT.c. Its first comment says what it does; a line before it gives the
options that it needs: `// -D n=6`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import ParsedProgram, parse_file
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import examine
from tests.end_to_end.judge import Compiled

FOLDER = Path(__file__).parent

FORMS: Mapping[str, Mapping[str, str]] = {
    "Control": {
        "while": "`while`",
        "do": "`do`",
        "header": "odd headers of `for`",
        "conditions": "several conditions",
        "break": "`break`",
        "continue": "`continue`",
        "return": "early `return`",
        "switch": "`switch`",
        "goto": "`goto`",
        "comma": "comma",
        "set": "assignments inside of expressions",
        "abort": "`abort`, `exit`",
        "wrap": "iterators that wrap",
    },
    "Sizes and bounds": {"sizes": "parameters and data"},
    "Data": {
        "struct": "structures",
        "union": "unions",
        "bitfield": "bit-fields",
        "pointer": "pointers that walk",
        "chosen": "pointers into one of several arrays",
        "table": "arrays of pointers, and of functions",
        "handed": "pointers that functions move and return",
        "seen": "pointers that see another type",
        "text": "what ends with its data",
        "members": "pointers in structures",
        "address": "addresses of scalars",
        "alias": "one array under two names",
        "bitint": "`_BitInt`",
        "volatile": "`volatile`",
    },
    "Floating point": {
        "float": "`float`",
        "double": "`double`",
        "half": "`_Float16`",
        "mixed": "conversions",
        "bits": "bits of numbers",
        "math": "`<math.h>`",
    },
    "Initial values and literals": {
        "init": "initial values",
        "compound": "compound literals",
        "static": "`static` in helpers",
        "extent": "computed extents",
        "c23": "C23",
        "sizeof": "`sizeof`",
        "memory": "`malloc`, `calloc`",
        "memmove": "`memmove`",
        "memset": "`memset`, `memcpy`",
    },
    "Subscripts": {
        "subscript": "subscripts",
        "lookup": "loads where data says",
        "scatter": "stores where data says",
    },
    "Files as found": {"file": "calls, macros, included files"},
}
"""The forms in the order of the page, by the first word of the names of their files."""

ALL = sorted(FOLDER.glob("*.c"))
REFUSED = sorted((FOLDER / "refused").glob("*.c"))


@dataclass(frozen=True, slots=True)
class Row:
    """What the page says of a program."""

    title: str
    options: str
    cycles: int


def form_of(path: Path) -> str:
    return path.stem.split("_")[0]


def defines_of(path: Path) -> dict[str, str]:
    """Return the options that the first line of a file gives."""
    first = path.read_text(encoding="utf-8").split("\n", 1)[0]
    return dict(re.findall(r"-D (\w+)=(\w+)", first if first.startswith("//") else ""))


def title_of(path: Path) -> str:
    found = re.search(r"/\* (.*?) \*/", path.read_text(encoding="utf-8"))
    assert found is not None, f"{path.name} does not say what it does"
    return found[1].rstrip(".")


def stored_types(text: str) -> str:
    """Return the bit-precise types of a program as those in which they are stored."""
    found = re.findall(r"typedef (unsigned )?_BitInt\((\d+)\) (\w+);", text)
    plain = ((sign, "char" if int(bits) <= 8 else "short", name) for sign, bits, name in found)
    return "".join(f"typedef {sign or 'signed '}{kind} {name};\n" for sign, kind, name in plain)


@cache
def program_of(path: Path) -> ParsedProgram:
    return parse_file(path, defines=defines_of(path))


@cache
def refusal_of(path: Path) -> RtlgenError:
    """Return why a program is refused."""
    try:
        program = program_of(path)
    except RtlgenError as error:
        return error
    try:
        examine(program)
    except RtlgenError as error:
        error.sources = program.sources
        return error
    raise AssertionError(f"{path.name} is accepted")


@cache
def accepted(path: Path) -> Compiled:
    program = program_of(path)
    return Compiled(program.scop, compile_program(program, CompileOptions()))


def row_of(path: Path) -> Row:
    options = " ".join(f"-D {name}={value}" for name, value in defines_of(path).items())
    return Row(title_of(path), options, predicted_cycles(accepted(path).plan))
