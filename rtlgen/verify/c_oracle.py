"""What the C text computes through a C compiler of this machine, a judge of the front end, too.

The golden model walks the program as the front end has read it; an error of the front end could
hide there. A C compiler reads the text itself. What it makes runs in a process of its own: a
program may do what C leaves undefined.
"""

from __future__ import annotations

import re
import signal
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from itertools import count
from pathlib import Path
from typing import Literal, TypeAlias

import numpy as np

from rtlgen.errors import RtlgenError
from rtlgen.frontend.text.headers import library_text, math_functions
from rtlgen.frontend.text.tokens import split
from rtlgen.ir.expr import walk
from rtlgen.ir.records import Record, RecordMember
from rtlgen.ir.scop import Array, Scop
from rtlgen.ir.types import C_FLOAT_NAMES, FLOAT16, FloatType, NumberType
from rtlgen.system.tools import ToolFailedError, find_tool, run_tool
from rtlgen.verify.data import DataSets
from rtlgen.verify.equivalence import Outcome
from rtlgen.verify.golden_state import GoldenResult
from rtlgen.verify.values import (
    Elements,
    Value,
    element_dtype,
    element_value,
    is_nan,
    pattern_of,
    stored_dtype,
    to_words,
    value_of,
)

Oracle: TypeAlias = Literal["golden", "gcc"]

_COMPILERS = ("gcc", "cc", "clang")
# C as the front end reads it: char is signed, signed numbers wrap, and every operation of floating
# point is rounded to its type.
_OPTIONS = ("-O1", "-fwrapv", "-fsigned-char", "-ffp-contract=off")
_IN_PARTS = ("-ffunction-sections", "-fdata-sections")
_LINKINGS = ((), ("-Wl,--gc-sections",))
"""How it is linked, until one does: as it is, or without what the kernel never comes to.

The file's main program, and what fills its arrays, may call functions of other files.
"""
_PRECISION = "-fexcess-precision=standard"
_HALF_PRECISION = "-fexcess-precision=16"
"""With `_Float16`, of which gcc otherwise computes whole expressions in `float`."""

_OLDER_C = ("-std=gnu11",)
_NEWER_C = (
    "-std=gnu2x", "-Dauto=__auto_type", "-Dbool=_Bool", "-Dconstexpr=static const", "-Dfalse=0",
    "-Dstatic_assert=_Static_assert", "-Dtrue=1",
)  # fmt: skip
STANDARDS = ((*_OLDER_C, "-Werror=implicit-int"), _NEWER_C, _OLDER_C)
"""Which C a text is, until one fits: C11, where `auto` is no type, C23, and C11 without types.

Compilers of 2022 know much of C23, but not the keywords that are macros here.
"""

_STOPPED = frozenset((signal.SIGABRT, signal.SIGSEGV, signal.SIGBUS, signal.SIGFPE))
_DECLARATOR = re.compile(r"[A-Za-z_]\w*(\s*\[[^][]*\])*")


class OracleUnsuitable(RtlgenError):
    """The C compiler cannot be asked what the program computes.

    `rtlgen verify --oracle gcc` compiles the file as it is, calls the kernel on the same data, and
    reads all memory back. That is not possible

    - where the kernel is a `#pragma scop` region with statements around it, which would run, too;
    - for `static` variables of functions in included files, or declared by macros: code outside of
      a function can neither set nor read them, and where they are declared they are given a name;
    - on data on which the program does what C leaves undefined, such as a division by zero, or
      stops itself; such data sets are left out, and there must be another one;
    - with `--float`, whose program computes something else than the file: what `rtlgen emit-c`
      writes does the same, and can be compiled;
    - where the compiler refuses the file, or functions that the kernel calls are elsewhere.

    The golden model, `--oracle golden`, has none of these limits.
    """

    code = "E0430"


@dataclass(frozen=True, slots=True)
class COptions:
    """How the file was read.

    Members
    -------
    defines: macros, and the values of scalar parameters.
    is_cut: only a part of the function is the kernel.
    is_reordered: floats are computed in another order than the file's.
    flags: more of the compiler's, such as those of its sanitizers.
    seconds: that a run may take.
    """

    defines: Mapping[str, str]
    include_dirs: Sequence[str]
    is_cut: bool = False
    is_reordered: bool = False
    flags: Sequence[str] = ()
    seconds: float = 300


def c_outcomes(
    scop: Scop, data: DataSets, options: COptions
) -> tuple[DataSets, tuple[Outcome, ...]]:
    """Return the data sets that have a meaning in C, and what the compiled program leaves of each.

    Raises
    ------
    MissingToolError: there is no C compiler. OracleUnsuitable
    """
    if options.is_reordered:
        raise _unsuitable(scop, "--float computes something else than the file does")
    if options.is_cut:
        raise _unsuitable(scop, "the file has statements around the region, which would run, too")
    defined = tuple(each for each in data.sets if not each.golden.events)
    if not defined:
        raise _unsuitable(scop, "on all of the data the program does what C leaves undefined")
    with compiled_kernel(scop, options) as kernel:
        found = [(each, kernel.outcome(each.inputs)) for each in defined]
    ended = [
        (each, with_known_nan(scop, outcome, each.golden))
        for each, outcome in found
        if outcome is not None
    ]
    if not ended:
        raise _unsuitable(scop, "on all of the data the compiled program stops before its end")
    sets = tuple(each for each, _ in ended)
    kept = replace(data, sets=sets, left_out=data.left_out + len(data.sets) - len(sets))
    return kept, tuple(outcome for _, outcome in ended)


def with_known_nan(scop: Scop, outcome: Outcome, golden: GoldenResult) -> Outcome:
    """Return what C says, with the golden model's NaN for its own ones: C leaves open which.

    Where only one of the two has a NaN, nothing is changed, and they differ.
    """
    types = {array.name: array.element for array in scop.arrays}

    def known(found: Elements, golden: Elements, type_: NumberType) -> Elements:
        are_nan = is_nan(found, type_) & is_nan(golden, type_)
        return np.where(are_nan, golden, found) if are_nan.any() else found

    arrays = {
        name: known(found, golden.arrays[name], types[name])
        for name, found in outcome.arrays.items()
    }
    if scop.returned is None:
        return Outcome(arrays, None)
    returned = np.asarray(outcome.returned), np.asarray(golden.returned)
    return Outcome(arrays, element_value(known(*returned, types[scop.returned])[()]))


@dataclass(frozen=True, slots=True)
class CompiledKernel:
    """The file as compiled, to be run on data."""

    scop: Scop
    options: COptions
    program: Path

    def outcome(self, inputs: Mapping[str, Elements | Value]) -> Outcome | None:
        """Return what the program leaves of its inputs; None if it stops before its end.

        An `abort()`, an assertion, or an access out of an array: C gives the data no result.
        """
        try:
            return _outcome(self, inputs)
        except ToolFailedError as error:
            if error.signal in _STOPPED:
                return None
            raise


@contextmanager
def compiled_kernel(scop: Scop, options: COptions) -> Iterator[CompiledKernel]:
    """Compile the file, for as long as the block lasts.

    Raises
    ------
    MissingToolError: there is no C compiler. OracleUnsuitable: it refuses the file.
    """
    compiler = find_tool(*_COMPILERS)
    with tempfile.TemporaryDirectory(prefix="rtlgen-oracle-") as name:
        yield CompiledKernel(scop, options, _compiled(scop, options, compiler, Path(name)))


def _unsuitable(scop: Scop, why: str) -> OracleUnsuitable:
    return OracleUnsuitable(
        f"the C compiler cannot be asked about {scop.name}: {why}", help="use --oracle golden"
    )


def _compiled(scop: Scop, options: COptions, compiler: str, folder: Path) -> Path:
    """Compile the file with a caller behind it, and a main program; return the executable."""
    kernel, main, program = folder / "kernel.c", folder / "main.c", folder / "program"
    path = Path(scop.source.path)
    text, hidden = _with_symbols(scop)
    kernel.write_text(f'#line 1 "{path.name}"\n{text}\n{_caller(scop, hidden)}')
    main.write_text(_main(scop))
    parameters = {parameter.name for parameter in scop.parameters}
    flags = [
        *(f"-D{k}={v}" for k, v in options.defines.items() if k not in parameters),
        "-iquote",
        str(path.parent.absolute()),
        *(f"-I{Path(place).absolute()}" for place in options.include_dirs),
        # The file may have a main program of its own.
        "-Dmain=rtlgen_main_of_the_file",
    ]
    # What has a second name must not be kept in a register, or taken for what nobody changes.
    flags = [
        *_OPTIONS,
        *_IN_PARTS,
        _precision(scop),
        *(["-O0"] if hidden else []),
        *options.flags,
        *flags,
    ]
    # The sine and cosine of one number would be one call of a function that is not ours.
    flags += [f"-fno-builtin-{name}" for name in sorted({*math_functions(), *_EXTREMES})]
    log = folder / "compile.log"
    command: list[str | Path] = [compiler, *flags, "-c", kernel, "-o", folder / "kernel.o"]
    if not any(_is_compiled([*command, *standard], log) for standard in STANDARDS):
        raise _refused(scop, f"{Path(compiler).name} refuses the file", log)
    library = folder / "library.c"
    library.write_text(called_library(scop.source.text))
    linking: list[str | Path] = [compiler, *_OPTIONS, *_OLDER_C, *options.flags, main, library]
    linking += [folder / "kernel.o", "-lm", "-o", program]
    if not any(_is_compiled([*linking, *how], log) for how in _LINKINGS):
        raise _refused(scop, "the kernel uses what the file does not define", log)
    return program


REINTERPRETATIONS = """
#include <stdint.h>
#include <string.h>
static inline uint32_t __float_as_uint(float x) { uint32_t u; memcpy(&u, &x, 4); return u; }
static inline float __uint_as_float(uint32_t u) { float x; memcpy(&x, &u, 4); return x; }
static inline uint64_t __double_as_ulong(double x) { uint64_t u; memcpy(&u, &x, 8); return u; }
static inline double __ulong_as_double(uint64_t u) { double x; memcpy(&x, &u, 8); return x; }
"""
"""C of what the texts of the library use of a circuit's own functions."""


_WEAK = "__attribute__((weak))"
"""A file may define a function of that name itself."""

_EXTREMES = {
    f"{name}{suffix}": (
        f"{_WEAK} {type_} {name}{suffix}({type_} a, {type_} b)\n"
        f"{{ return a != a ? b : b != b || {question} ? a : b; }}\n"
    )
    for name, question in (("fmin", "a < b"), ("fmax", "b < a"))
    for type_, suffix in (("float", "f"), ("double", ""))
}
"""C leaves open which of two zeros is the greater one, and what a signaling NaN does."""


def called_library(text: str) -> str:
    """Return the functions of <math.h> that a file may call, as the circuit computes them.

    They are correctly rounded, which those of a C library need not be: its own differ from machine
    to machine.
    """
    words = frozenset(word for _, word in split(text))
    is_open = any('"' in line for line in text.splitlines() if line.lstrip().startswith("#"))

    def called(names: Iterable[str]) -> list[str]:
        return sorted(name for name in names if is_open or name in words)

    extremes = "".join(_EXTREMES[name] for name in called(_EXTREMES))
    names = called(math_functions())
    if not names:
        return extremes
    found = library_text(names)
    for name in names:
        found = re.sub(rf"static (float|double) {name}\(", rf"{_WEAK} \1 {name}(", found)
    return f"{REINTERPRETATIONS}\n{found}\n{extremes}"


def _precision(scop: Scop) -> str:
    """Return the option with which every operation is rounded."""
    expressions = (node.type for s in scop.statements for node in walk(s.expr))
    return _HALF_PRECISION if FLOAT16 in expressions else _PRECISION


def _refused(scop: Scop, why: str, log: Path) -> OracleUnsuitable:
    """Return the refusal of a file, with what the compiler says."""
    said = [line for line in log.read_text().splitlines() if re.search(r"error:|undefined", line)]
    error = _unsuitable(scop, why)
    error.diagnostic = replace(error.diagnostic, notes=tuple(said[:3]))
    return error


def _is_compiled(command: Sequence[str | Path], log: Path) -> bool:
    try:
        run_tool(command, log=log)
    except ToolFailedError:
        return False
    return True


def _with_symbols(scop: Scop) -> tuple[str, dict[str, str]]:
    """Return the C text with a symbol for every `static` variable of a function, and these by name.

    static int n = 3;   ->   static int n __asm__("rtlgen_static_0") __attribute__((used)) = 3;
    """
    text = scop.source.text
    lines = [0, *(match.end() for match in re.finditer("\n", text))]
    depths = _brace_depths(text)
    symbols: dict[int, str] = {}
    hidden: dict[str, str] = {}
    for place, (name, _, _) in enumerate(_blocks(scop)):
        array = next((a for a in scop.arrays if a.name == name and a.storage == "global"), None)
        if array is None or array.span.file != scop.source.path:
            continue
        start = lines[array.span.line - 1] + array.span.column - 1
        declared = _DECLARATOR.match(text, start)
        if declared is not None and depths.get(start, 0):
            # All members of a structure are one variable.
            hidden[name] = symbols.setdefault(declared.end(), f"rtlgen_static_{place}")
    found = symbols.items()
    for end, symbol in sorted(found, reverse=True):
        text = f'{text[:end]} __asm__("{symbol}") __attribute__((used)){text[end:]}'
    return text, hidden


def _brace_depths(text: str) -> dict[int, int]:
    """Return how many braces are open at each token of a text, by its offset."""
    depth, found = 0, {}
    for offset, token in split(text):
        depth += {"{": 1, "}": -1}.get(token, 0)
        found[offset] = depth
    return found


def _visible(scop: Scop) -> list[Array]:
    return [array for array in scop.arrays if array.role != "local"]


def _blocks(scop: Scop) -> Iterator[tuple[str, NumberType, int]]:
    """Yield what goes in and comes out, in order: name, type, number of elements."""
    for array in _visible(scop):
        yield array.name, array.element, array.depth
    for scalar in scop.scalars:
        yield scalar.name, scalar.type, 1


def _c_type(element: NumberType) -> str:
    if isinstance(element, FloatType):
        return C_FLOAT_NAMES[element]
    if element.is_bool:
        return "_Bool"
    names = {8: "char", 16: "short", 32: "int", 64: "long long"}
    return f"{'signed' if element.signed else 'unsigned'} {names[element.width_bits]}"


def _caller(scop: Scop, hidden: Mapping[str, str]) -> str:
    """Return C behind the file's: it calls the kernel, and says where its globals are.

    Parameters
    ----------
    hidden: symbols of those that have no name there.
    """
    places = {name: place for place, (name, _, _) in enumerate(_blocks(scop))}
    stored = {array.name for array in scop.arrays if array.storage == "parameter"}
    names = {array.name: hidden.get(array.name, array.name) for array in scop.arrays}
    structures = _Structures(scop, places, hidden)
    arguments = []
    for parameter in scop.parameters:
        record = structures.of_parameter(parameter.name)
        if record is not None:
            arguments += structures.argument(record)
        elif parameter.is_array:
            known = parameter.name in stored and parameter.name in places
            arguments.append(
                f"block[{places[parameter.name]}]" if known else _unread(len(arguments))
            )
        elif parameter.given:
            arguments.append(f"({parameter.given})")
        elif parameter.name in places:
            type_ = _c_type(parameter.type)
            arguments.append(f"*({type_} *)block[{places[parameter.name]}]")
        else:
            arguments.append("0")
    call = f"{scop.name}({', '.join(arguments)});"
    if scop.returned is not None:
        call = f"*({_c_type(scop.array(scop.returned).element)} *)result = {call}"
    call = f"{structures.result()}{call}"
    lines = [
        *(
            f'extern char {symbol} __asm__("{symbol}");'
            for name, symbol in hidden.items()
            if name not in structures.members
        ),
        "void rtlgen_call(void **block, void *result) {",
        *structures.declared(),
        "  (void)block; (void)result;",
        *structures.copies(builds=True),
        f"  {call}",
        *structures.copies(builds=False),
        "}",
        "void *rtlgen_global(int place) {",
        "  (void)place;",
        *(
            f"  if (place == {places[array.name]}) return (void *)&{names[array.name]};"
            for array in _visible(scop)
            if array.storage == "global" and array.name not in structures.members
        ),
        "  return (void *)0;",
        "}",
    ]
    return "\n".join(lines) + "\n"


MOST_PARAMETERS = 127
"""Of a function that every compiler takes (C11, 5.2.4.1)."""


def _unread(number: int) -> str:
    """Return C for an array that nobody looks into: whoever asks sees that there is one.

    Its addresses are those of no other array, and of no other number, so that pointers into two
    of them differ.
    """
    return f"(void *)((__SIZE_TYPE__){number + 1} << 4 * sizeof(void *))"


class _Structures:
    """Builds the structures of a program from the arrays of their members, and takes them apart.

    Members
    -------
    members: the arrays and scalars that are members of some structure.

    Parameters
    ----------
    places: the numbers of the blocks that hold the arrays.
    hidden: symbols of those that have no name outside of their functions.
    """

    def __init__(self, scop: Scop, places: Mapping[str, int], hidden: Mapping[str, str]) -> None:
        self._shapes: dict[str, tuple[tuple[int, ...], NumberType]] = {
            array.name: (array.shape, array.element) for array in _visible(scop)
        }
        self._shapes |= {scalar.name: ((), scalar.type) for scalar in scop.scalars}
        self._places = places
        self._hidden = hidden
        self._given: list[Record] = []
        self._values = {p.name: p.given for p in scop.parameters if p.given}
        self._records = [r for r in scop.records if r.is_parameter or self._used(r)]
        owned = ((member.array, r) for r in scop.records for member in r.members)
        self.members: dict[str, Record] = dict(owned)
        self._by_name = {record.name: record for record in self._records}
        pointed_to = ((m.array, r) for r in scop.records for m in r.members if m.is_pointed_to)
        self._holders: dict[str, Record] = dict(pointed_to)

    def _used(self, record: Record) -> list[RecordMember]:
        return [member for member in record.members if member.array in self._places]

    def of_parameter(self, name: str) -> Record | None:
        """Return the structure that a parameter of the circuit is a member of."""
        record = self.members.get(name)
        return record if record is not None and record.is_parameter else None

    def argument(self, record: Record) -> list[str]:
        """Return the argument that a structure is, where its first member stands."""
        record = self._holders.get(record.name, record)
        if record.is_result or record in self._given:
            return []
        self._given.append(record)
        is_address = record.rank or record.is_address
        return [f"{self._name(record)}{'' if is_address else '[0]'}"]

    def result(self) -> str:
        """Return what the returned structure is assigned to, if there is one."""
        return "".join(
            f"{self._name(record)}[0] = " for record in self._records if record.is_result
        )

    def declared(self) -> Iterator[str]:
        """Yield the declarations of the structures that have no name where the program is called.

        What no block holds of them is 0.
        """
        for record in self._records:
            name = self._name(record)
            if name == record.name:
                continue
            stored = [member for member in self._used(record) if not member.is_pointed_to]
            outer = [self._shapes[member.array][0][: record.rank] for member in stored]
            first = max((shape[0] for shape in outer if shape), default=1)
            inner = next((shape[1:] for shape in outer), ())
            sizes = "".join(f"[{size}]" for size in (first, *inner))
            if record.is_parameter:
                yield f"  static {record.c_type} {name}{sizes};"
            else:
                sizes = sizes if record.rank else ""
                yield f'  extern {record.c_type} {name}{sizes} __asm__("{name}");'

    def _name(self, record: Record) -> str:
        """Return the name of a structure where the program is called."""
        if record.is_parameter:
            return f"rtlgen_s_{record.name}"
        used = self._used(record)
        return self._hidden.get(used[0].array, record.name) if used else record.name

    def copies(self, *, builds: bool) -> Iterator[str]:
        """Yield what copies all members from their blocks, or back."""
        # Behind those of the parameters.
        unread = count(MOST_PARAMETERS)
        for record in self._records:
            for member in self._used(record):
                if not member.is_pointed_to:
                    yield from self._copied(record, member, builds)
            for member in record.members if builds else ():
                value = self._values.get(member.array)
                if member.is_pointed_to and member.array in self._places:
                    value = f"(void *)block[{self._places[member.array]}]"
                elif member.is_pointed_to and member.array in self._by_name:
                    value = self._name(self._by_name[member.array])
                elif member.is_pointed_to:
                    value = _unread(next(unread))
                if value is not None:
                    yield f"  {self._member(record, member)} = {value};"

    def _member(self, record: Record, member: RecordMember, *counters: str) -> str:
        """Return how a member is named where the program is called."""
        start = "[0]" if record.is_parameter and not record.rank else ""
        return f"{self._name(record)}{start}{member.accessor.format(*counters)}"

    def _copied(self, record: Record, member: RecordMember, builds: bool) -> Iterator[str]:
        shape, element = self._shapes[member.array]
        counters = [f"k{number}" for number in range(len(shape))]
        place = self._member(record, member, *counters)
        number = "0"
        for counter, extent in zip(counters, shape, strict=True):
            number = f"({number}) * {extent} + {counter}"
        block = f"(({_c_type(element)} *)block[{self._places[member.array]}])[{number}]"
        loops = " ".join(
            f"for (int {counter} = 0; {counter} < {extent}; {counter}++)"
            for counter, extent in zip(counters, shape, strict=True)
        )
        target, value = (place, block) if builds else (block, place)
        yield f"  {loops} {target} = {value};"


def _main(scop: Scop) -> str:
    """Return the main program: reads all blocks, calls, writes all blocks and the result."""
    sizes = [depth * element.width_bits // 8 for _, element, depth in _blocks(scop)]
    table = ", ".join(map(str, [*sizes, 0]))
    return f"""#include <stdio.h>
#include <stdlib.h>
#include <string.h>
void rtlgen_call(void **block, void *result);
void *rtlgen_global(int place);
static int is_called;
static void stop(void) {{ if (is_called) abort(); }}
int main(int argc, char **argv) {{
  static const size_t size[] = {{{table}}};
  static void *block[{len(sizes) + 1}];
  long long result = 0;
  FILE *in = argc == 3 ? fopen(argv[1], "rb") : NULL, *out;
  if (in == NULL) return 2;
  for (int k = 0; k < {len(sizes)}; k++) {{
    block[k] = malloc(size[k]);
    if (block[k] == NULL || fread(block[k], 1, size[k], in) != size[k]) return 2;
    if (rtlgen_global(k) != NULL) memcpy(rtlgen_global(k), block[k], size[k]);
  }}
  atexit(stop);
  at_quick_exit(stop);
  is_called = 1;
  rtlgen_call(block, &result);
  is_called = 0;
  out = fopen(argv[2], "wb");
  if (out == NULL) return 2;
  for (int k = 0; k < {len(sizes)}; k++)
    if (fwrite(rtlgen_global(k) ? rtlgen_global(k) : block[k], 1, size[k], out) != size[k])
      return 2;
  fwrite(&result, sizeof result, 1, out);
  return fclose(out) ? 2 : 0;
}}
"""


def _outcome(kernel: CompiledKernel, inputs: Mapping[str, Elements | Value]) -> Outcome:
    """Run the compiled program."""
    scop, folder = kernel.scop, kernel.program.parent
    before, after = folder / "inputs.bin", folder / "outputs.bin"
    with before.open("wb") as file:
        for name, element, _ in _blocks(scop):
            value = inputs[name]
            if not isinstance(value, np.ndarray):
                value = np.array(pattern_of(value, element), stored_dtype(element))
            file.write(to_words(value).tobytes())
    command = [kernel.program, before, after]
    run_tool(command, log=folder / "run.log", timeout_seconds=kernel.options.seconds)
    content, start = after.read_bytes(), 0
    arrays: dict[str, Elements] = {}
    for array in _visible(scop):
        dtype = element_dtype(array.element)
        image = np.frombuffer(content, dtype, array.depth, start)
        arrays[array.name] = image.reshape(array.shape).copy()
        start += image.nbytes
    returned: Value | None = None
    if scop.returned is not None:
        element = scop.array(scop.returned).element
        word = np.frombuffer(content, stored_dtype(element), 1, len(content) - 8)
        returned = value_of(int(word[0]), element)
    return Outcome(arrays, returned)
