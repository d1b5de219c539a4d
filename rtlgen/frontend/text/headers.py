"""System headers: what they declare, written as C text beside this module.

Each line of such a text is one macro, declaration or further `#include`. Its macros are defined
where it is included, as of any header. Of the rest, the parser is given what the program mentions:
its types, and functions that are refused only where they are called. Small functions are defined
here (`isdigit`, `__builtin_clz`) and are read like the user's own.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_LIBRARY = Path(__file__).parent / "math_library"
_FOLDER = Path(__file__).parent / "system_headers"
_ALWAYS = ("stdint.h", "stddef.h")
_BUILTINS = "builtins.h"

_WORD = re.compile(r"[A-Za-z_]\w*")
_DEFINED = re.compile(r"#define ([A-Za-z_]\w*)")
_INCLUDED = re.compile(r"#include <(.+)>")
_PART = re.compile(r'#include "(.+)"')
_TAG = re.compile(r"(?:struct|union|enum) ([A-Za-z_]\w*) \{.*\};")
_TYPE = re.compile(r"typedef .*?([A-Za-z_]\w*)(?:\[\d+\])?;")
_OBJECT = re.compile(r"extern .*?([A-Za-z_]\w*);")
_FUNCTION = re.compile(r"[^(]*?([A-Za-z_]\w*)\(.*")

_TYPE_NAMES = {
    "SIZE": "unsigned long", "PTRDIFF": "long", "WCHAR": "int", "WINT": "unsigned int",
    "INTMAX": "long", "UINTMAX": "unsigned long", "INTPTR": "long", "UINTPTR": "unsigned long",
    "INT8": "signed char", "INT16": "short", "INT32": "int", "INT64": "long",
    "UINT8": "unsigned char", "UINT16": "unsigned short", "UINT32": "unsigned int",
    "UINT64": "unsigned long", "CHAR16": "unsigned short", "CHAR32": "unsigned int",
}  # fmt: skip
_MAXIMA = {
    "SCHAR": "127", "SHRT": "32767", "INT": "2147483647", "LONG": "9223372036854775807L",
    "LONG_LONG": "9223372036854775807LL", "SIZE": "18446744073709551615UL",
    "PTRDIFF": "9223372036854775807L", "INTMAX": "9223372036854775807L",
    "UINTMAX": "18446744073709551615UL",
}  # fmt: skip
_SIZES = {
    "SHORT": 2, "INT": 4, "LONG": 8, "LONG_LONG": 8, "SIZE_T": 8, "PTRDIFF_T": 8, "POINTER": 8,
}  # fmt: skip

PREDEFINED: Mapping[str, str] = {
    **{f"__{name}_TYPE__": type_ for name, type_ in _TYPE_NAMES.items()},
    **{f"__{name}_MAX__": value for name, value in _MAXIMA.items()},
    **{f"__SIZEOF_{name}__": str(size) for name, size in _SIZES.items()},
    "__STDC__": "1",
    "__STDC_HOSTED__": "1",
    "__STDC_VERSION__": "201112L",
    "__CHAR_BIT__": "8",
    "__LP64__": "1",
    "__ORDER_LITTLE_ENDIAN__": "1234",
    "__ORDER_BIG_ENDIAN__": "4321",
    "__BYTE_ORDER__": "__ORDER_LITTLE_ENDIAN__",
}
"""The macros that compilers define by themselves: of the language, its types and the machine."""


@dataclass(frozen=True, slots=True)
class Header:
    """What one header brings, what it includes left out.

    Members
    -------
    macros: what to define, as a `#define` has it behind the keyword.
    declarations: the C text by what it declares, in order.
    """

    includes: tuple[str, ...]
    macros: tuple[str, ...]
    declarations: Mapping[str, str]


@cache
def system_header(name: str) -> Header | None:
    """Return the header that a program includes by that name, or None if it is not known."""
    path = _FOLDER / name
    inside = re.fullmatch(r"(?:\w+/)?\w+\.h", name) is not None and name != _BUILTINS
    return _read(path) if inside and path.is_file() else None


def included(names: Iterable[str]) -> tuple[str, ...]:
    """Return names of headers with all that they include, each once, the included one first."""
    found: list[str] = []

    def add(name: str) -> None:
        header = system_header(name)
        if header is not None and name not in found:
            for inner in header.includes:
                add(inner)
            found.append(name)

    for name in names:
        add(name)
    return tuple(found)


def declarations(headers: Sequence[str], words: Iterable[str]) -> str:
    """Return one line of C that declares what a program mentions.

    Parameters
    ----------
    headers: what it includes; common types and what needs no header are there without.
    words: the identifiers of the program.
    """
    known: dict[str, str] = dict(_read(_FOLDER / _BUILTINS).declarations)
    for name in (*included(_ALWAYS), *included(headers)):
        header = system_header(name)
        assert header is not None, "only known headers are included"
        known |= header.declarations
    library = known.keys() & math_functions()
    wanted: set[str] = set()
    pending = [word for word in words if word in known]
    while pending:
        word = pending.pop()
        if word not in wanted:
            wanted.add(word)
            text = library_text([word]) if word in library else known[word]
            pending += [inner for inner in _WORD.findall(text) if inner in known]
    declared = [text for name, text in known.items() if name in wanted - library]
    return " ".join([*declared, library_text(sorted(wanted & library))])


def header_of(name: str) -> str | None:
    """Return a header that declares `name` or defines it as a macro."""
    for path in sorted(_FOLDER.rglob("*.h")):
        header = _read(path)
        macros = (re.split(r"\W", macro, maxsplit=1)[0] for macro in header.macros)
        if path.name != _BUILTINS and (name in header.declarations or name in macros):
            return path.relative_to(_FOLDER).as_posix()
    return None


@cache
def math_functions() -> frozenset[str]:
    """Return the names of the functions of <math.h> that are computed by others."""
    return frozenset(path.stem for path in _LIBRARY.glob("[a-z]*.c"))


def library_text(names: Iterable[str]) -> str:
    """Return one line of C with some of `math_functions`, and what they include, each once.

    A text works on the bits of its operands: `static uint32_t rtlgen_expf(uint32_t x)`; what the
    program calls stands behind it, `static float expf(float x)`.
    """
    found: dict[str, str] = {}

    def add(name: str) -> None:
        text = _library_file(name)
        for inner in text.includes:
            add(inner)
        found.setdefault(name, text.body)

    for name in names:
        add(f"{name}.c")
    return " ".join(found.values())


@dataclass(frozen=True, slots=True)
class _LibraryFile:
    """A C text of the library, what it includes of the library left out."""

    includes: tuple[str, ...]
    body: str


@cache
def _library_file(name: str) -> _LibraryFile:
    text = re.sub(r"/\*.*?\*/", "", (_LIBRARY / name).read_text("utf-8"), flags=re.DOTALL)
    lines = text.splitlines()
    body = " ".join(line for line in lines if not line.startswith("#"))
    if not name.startswith("_"):
        body = f"{body} {_of_floats(name.removesuffix('.c'), body)}"
    return _LibraryFile(tuple(match[1] for line in lines if (match := _PART.fullmatch(line))), body)


def _of_floats(name: str, body: str) -> str:
    """Return the function on floats that calls the one on bits."""
    signature = re.search(rf"static (uint\d+_t) rtlgen_{name}\(([^)]*)\)", body)
    assert signature is not None, f"the library has no {name}"
    type_, as_bits, as_float = _PATTERNS[signature[1]]
    parameters = [parameter.split()[-1] for parameter in signature[2].split(",")]
    given = ", ".join(f"{type_} {parameter}" for parameter in parameters)
    bits = ", ".join(f"{as_bits}({parameter})" for parameter in parameters)
    return f"static {type_} {name}({given}) {{ return {as_float}(rtlgen_{name}({bits})); }}"


_PATTERNS = {
    "uint32_t": ("float", "__float_as_uint", "__uint_as_float"),
    "uint64_t": ("double", "__double_as_ulong", "__ulong_as_double"),
}


@cache
def _read(path: Path) -> Header:
    text = re.sub(r"/\*.*?\*/", "", path.read_text("utf-8"), flags=re.DOTALL)
    lines = [line for line in text.splitlines() if line]
    return Header(
        tuple(match[1] for line in lines if (match := _INCLUDED.fullmatch(line))),
        tuple(line.removeprefix("#define ") for line in lines if _DEFINED.match(line)),
        {_declared(line): line for line in lines if not line.startswith("#")},
    )


def _declared(line: str) -> str:
    for form in (_TAG, _TYPE, _OBJECT, _FUNCTION):
        match = form.fullmatch(line)
        if match is not None:
            return match[1]
    raise ValueError(f"a system header declares nothing here: {line}")


def type_names() -> Iterator[str]:
    """Yield the names of integer types that are there without a header."""
    for name in _ALWAYS:
        header = system_header(name)
        assert header is not None, "the headers of common types are known"
        yield from header.declarations
