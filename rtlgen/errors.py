"""Diagnostics: what is wrong, where, why, and what to do about it.

Every failure that a user can cause is a subclass of `RtlgenError` with a stable `code`. Its
docstring is the long form that `rtlgen explain CODE` prints, so a code cannot exist without one.
A class lives in the module group that raises it; defining it registers it.
"""

from __future__ import annotations

import ast
import inspect
import os
import re
import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, replace
from functools import cache, wraps
from importlib.metadata import version
from pathlib import Path
from typing import Any, ClassVar, Literal, ParamSpec, Self, TypeVar

from rtlgen.source import SourceFile, Span

VERSION = version("rtlgen")
"""Of this rtlgen: a report of a bug says it, and so does what is built."""

Severity = Literal["error", "warning"]

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(frozen=True, slots=True)
class Label:
    """A span of the source with the words that stand behind its carets."""

    span: Span
    text: str = ""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One rendered message.

    Members
    -------
    code: stable, `E0203` for errors and `W0101` for warnings.
    message: what is wrong, one line, no full stop.
    labels: the first one is the place; the others are shown below it.
    notes: why, and the witness.
    help: what to do.
    """

    code: str
    message: str
    labels: tuple[Label, ...] = ()
    notes: tuple[str, ...] = ()
    help: str | None = None
    severity: Severity = "error"

    def __post_init__(self) -> None:
        if self.severity == "warning" and self.code not in WARNINGS:
            raise ValueError(f"{self.code} has no long form in WARNINGS")

    def render(self, sources: Mapping[str, SourceFile] | None = None) -> str:
        """Return the message with the quoted source lines and carets, without a final newline."""
        out = [f"{self.severity}[{self.code}]: {self.message}"]
        gutter = max((len(str(label.span.line)) for label in self.labels), default=1)
        previous: str | None = None
        for label in self.labels:
            span = label.span
            source = (sources or {}).get(span.file)
            if previous != span.file or source is None:
                arrow = "-->" if previous is None else ":::"
                out.append(f"{' ' * gutter}{arrow} {span}")
            if source is not None:
                first = previous != span.file
                out.extend(_quote(source.line(span.line), label, gutter, first=first))
            elif label.text:
                out.append(f"{' ' * gutter} = {label.text}")
            previous = span.file
        pad = " " * (gutter + 2)
        out.extend(f"{pad}= note: {note}" for note in self.notes)
        if self.help is not None:
            out.append(f"{pad}= help: {self.help}")
        return "\n".join(out)

    def to_json(self) -> dict[str, object]:
        """Return the diagnostic as a JSON-serialisable object."""
        return {
            "severity": self.severity,
            "code": self.code,
            "message": self.message,
            "labels": [
                {
                    "file": label.span.file,
                    "line": label.span.line,
                    "column": label.span.column,
                    "length": label.span.length,
                    "text": label.text,
                }
                for label in self.labels
            ],
            "notes": list(self.notes),
            "help": self.help,
        }


def _quote(line: str, label: Label, gutter: int, first: bool) -> list[str]:
    blank = f"{' ' * (gutter + 1)}|"
    span = label.span
    # Tabs are kept in the padding so that the carets stand under the text in any terminal.
    lead = "".join("\t" if c == "\t" else " " for c in line[: span.column - 1])
    length = max(1, min(span.length, len(line) - span.column + 1))
    carets = f"{blank} {lead}{'^' * length}{' ' + label.text if label.text else ''}"
    quoted = [f"{span.line:>{gutter}} | {line}".rstrip(), carets]
    return [blank, *quoted] if first else quoted


class RtlgenError(Exception):
    """Base of every failure that is the input's, the options' or the environment's fault.

    Members
    -------
    exit_code: what the command line returns: 2 for a refused input, 3 for a missing tool, 1 for a
        check that failed.
    sources: the files that the spans refer to, by path, where the error is about a C program.
    """

    code: ClassVar[str] = ""
    exit_code: ClassVar[int] = 2
    sources: Mapping[str, SourceFile] = {}

    def __init__(
        self,
        message: str,
        *,
        labels: Sequence[Label] = (),
        notes: Sequence[str] = (),
        help: str | None = None,
    ) -> None:
        super().__init__(message)
        self.diagnostic = Diagnostic(self.code, message, tuple(labels), tuple(notes), help)

    @property
    def diagnostics(self) -> tuple[Diagnostic, ...]:
        """Everything there is to tell; the first one names the error."""
        return (self.diagnostic,)

    def telling(self, **changes: Any) -> Self:
        """Return the same failure with parts of its diagnostic replaced.

        The failure itself may be met again, by another way.
        """
        told = copy(self)
        told.diagnostic = replace(self.diagnostic, **changes)
        return told

    def __str__(self) -> str:
        """Return what the command line prints, so that a script which ends with it says as much."""
        return "\n".join(diagnostic.render(self.sources) for diagnostic in self.diagnostics)

    def _render_traceback_(self) -> list[str]:
        """Return the lines that a notebook shows: IPython asks for them."""
        return str(self).splitlines()

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if not cls.code:
            return
        if cls.code in _REGISTRY:
            raise TypeError(f"{cls.code} is both {_REGISTRY[cls.code].__name__} and {cls.__name__}")
        if not cls.__doc__:
            raise TypeError(f"{cls.__name__} ({cls.code}) needs a docstring: it is the long form")
        _REGISTRY[cls.code] = cls


def without_frames(function: Callable[P, R]) -> Callable[P, R]:
    """Let errors leave a function of the API without the calls inside of it.

    A traceback ends with the caller's line then, and what is wrong with the C program.
    """

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return function(*args, **kwargs)
        except InternalError:
            raise  # Its frames are what a report needs.
        except RtlgenError as error:
            raise error.with_traceback(None) from None

    return call


_REGISTRY: dict[str, type[RtlgenError]] = {}


class InternalError(RtlgenError):
    """An error of the generator itself: it met something that its authors did not think of.

    Nothing is wrong with your program that anybody knows of, and nothing was written: a build
    directory is as it was. Please report it, with

    - the C file, and the files that it includes;
    - the command with all its options, or the call of `rtlgen.compile`;
    - the message, which has the version, and what is printed with `-v`: the frames in which it was
      raised.

    Often the program is accepted with other options: without `--unroll`, `--partition` or `--tile`,
    or with `--memory onchip`. In Python, the exception that it was stands in `__cause__`.
    """

    code = "E0701"

    @classmethod
    def of(cls, error: Exception, command: str | None = None) -> InternalError:
        """Return what is told of an exception that nobody expected.

        Parameters
        ----------
        command: in which it was raised, as it was given.
        """
        said = f": {error}" if str(error) else ""
        found = cls(
            f"rtlgen has met an error of its own: {type(error).__name__}{said}",
            notes=(
                *_innermost(error),
                *([f"the command was {command}"] if command else []),
                f"this is version {VERSION}",
            ),
            help="please report it: the C file, the options, and these lines",
        )
        found.__cause__ = error
        return found


def _innermost(error: Exception) -> list[str]:
    """Return where in this package an exception was raised."""
    package = os.path.dirname(os.path.abspath(__file__))
    for frame in reversed(traceback.extract_tb(error.__traceback__)):
        path = os.path.abspath(frame.filename)
        if path.startswith(package + os.sep):
            place = os.path.relpath(path, os.path.dirname(package))
            return [f"raised at {place}:{frame.lineno}, in {frame.name}"]
    return []


@contextmanager
def reporting_bugs() -> Iterator[None]:
    """Raise InternalError for whatever is raised inside and is nobody else's fault."""
    try:
        yield
    except (RtlgenError, MemoryError):
        raise
    except Exception as error:
        raise InternalError.of(error) from error


_CLASS = re.compile(r"^(?=class )", re.MULTILINE)
_CODE = re.compile(r'^    code = "(E\d{4})"$', re.MULTILINE)
_TEXT = re.compile(r'^    ("""(?:.|\n)*?""")', re.MULTILINE)


def registered_codes() -> Mapping[str, type[RtlgenError]]:
    """Return every code of an error with its class, in order of the codes."""
    return dict(sorted(_REGISTRY.items()))


@cache
def long_forms() -> Mapping[str, str]:
    """Return the long explanation of every error and warning, by code.

    A class registers itself when its module is imported, which would import the whole compiler. So
    the text of the modules is read: `rtlgen explain` answers at once.
    """
    texts = {**dict(sorted(_written_forms())), **WARNINGS}
    return {code: inspect.cleandoc(text) for code, text in texts.items()}


def _written_forms() -> Iterator[tuple[str, str]]:
    for path in Path(__file__).parent.rglob("*.py"):
        text = path.read_text(encoding="utf-8")
        for declared in _CLASS.split(text)[1:] if '    code = "E' in text else ():
            code, long_form = _CODE.search(declared), _TEXT.search(declared)
            if code is not None and long_form is not None:
                yield code[1], ast.literal_eval(long_form[1])


WARNINGS: Mapping[str, str] = {
    "W0101": """A loop is never entered, and is left out of the circuit.

    Its bounds leave no iteration: `for (int i = 8; i < N; i++)` with N = 8. This is legal C; if it
    is not what you meant, correct the bounds or the `-D` that they depend on.
    """,
    "W0102": """A parameter is not used by any statement of the circuit, and gets no port.

    Remove it, or ignore this warning where the parameter list is given from outside.
    """,
    "W0103": """There are statements outside of the `#pragma scop` region.

    Only what stands between `#pragma scop` and `#pragma endscop` becomes the circuit; the rest is
    for your own test program. Move the pragmas if it should be part of it.
    """,
    "W0104": """A `-D` has no effect, because the file defines the same macro itself.

    A `#define` in the text comes later and wins, as with a C compiler. Guard it:

        #ifndef N
        #define N 64
        #endif
    """,
    "W0105": """A `-D` has no effect, because the file does not mention the name.

    Usually the name is misspelt; upper and lower case are told apart.
    """,
    "W0106": """A condition is never true, and what depends on it is left out of the circuit.

    The ranges of the loops exclude it: `if (i > 9)` in a loop with `i < 8`. Correct the condition
    or the bounds if it should hold somewhere.
    """,
    "W0107": """A local or global variable is declared, and no statement uses it.

    It gets no memory. Remove the declaration, or look for the name that was meant.
    """,
    "W0108": """An assignment under a condition on data would leave its array in some iterations.

        for (int i = 0; i < 8; i++)
          if (x[i] > 0)
            a[i + 1] = x[i];                  a[8] of int a[8], if x[7] > 0

    C allows it as long as the condition does not hold there. The circuit does not write in these
    iterations, whatever the condition says. Say in the program what keeps it inside:
    `if (i < 7 && x[i] > 0)`.
    """,
    "W0109": """A global or `static` variable that the program changes has initial values.

    It keeps its content from run to run, and has a host port; what it holds before the first run is
    loaded there, or is 0. What no function of the file changes is a constant, and built in.

    Remedy: load the values before the first run, or set them at the start of the function.
    """,
    "W0110": """A system header is included of which nothing is known, and nothing is declared.

    The program may not need it. A type, constant or function of it that is needed is missing then,
    and is refused where it is used. Give the folder that holds the header with `-I DIR`, or declare
    what is needed in the file.
    """,
    "W0111": """A call that changes nothing of what is computed is left out.

    `assert(n > 0);` and `printf("%d", n);` change nothing that the function computes, and a circuit
    has nobody to tell. The same holds of `puts`, `fprintf`, `perror`, hints to the compiler and
    their like. What an `assert` says is believed where it bounds loops and subscripts. An argument
    that changes something is refused (E0126).

    Left out are also functions outside of the file, such as `gettimeofday` or `free`, that are
    given no array of the kernel and whose results end in such calls, with the variables that hold
    them. One that the file declares itself could change variables of the file: it is refused
    (E0116) where there are any.
    """,
    "W0113": """A pragma of another tool is not followed.

    The warning says what it would have asked for. None of them changes what a C program computes,
    so that it is compiled as if they were not there; rtlgen has options of its own for most of it.

    Three are followed: `#pragma HLS UNROLL`, whose loop runs in lanes; `#pragma HLS PIPELINE`,
    below whose loop, or in whose function, all loops are unrolled; and
    `#pragma HLS ARRAY_PARTITION`, whose array is cut into banks. The warning says why one is not,
    or not in all that it says: an interval (`II=4`) is what dependences leave, never longer. The
    options `--unroll`, `--pipeline` and `--partition` come before pragmas.
    """,
    "W0114": """The lanes or threads that `--unroll`, `--threads` or pragmas ask for save no cycles.

    The circuit has them all the same. The warning says how many cycles the program takes with one
    lane of these loops, and what the lanes wait for: iterations that need each other's results take
    turns, and what shares the port of a memory does, too. A sum over lanes is a tree of adders,
    which takes longer than one adder; where the next iteration waits for the sum, all of it gets
    longer. Options are judged together, and pragmas where there are no such options. `--max-dsp N`
    tries several numbers of lanes, and takes those with the fewest cycles.

    Of a program with arrays off chip, statements that cannot run in lanes of a tile are written
    out, each with windows of its own, or stay in one lane where that takes fewer cycles. Threads
    have windows of their own, too: what one thread keeps on chip several may have to load again,
    and wait for. What one does sooner by more than 1 % is left to one, unless `--tile` or
    `--no-buffer` say what is shared.
    """,
    "W0115": """A loop that may end earlier takes the cycles of its bound.

    The cycles of a circuit do not depend on data. A loop that `break`, `return` or its condition
    may leave, or whose bound is a parameter, has as many iterations as it can ever have; those
    behind the end have no effect. The bound follows from its condition, from what parameters may be
    (their type, `assert(n <= 64)`), from the arrays that every iteration accesses, or is stated:
    `#pragma rtlgen bound 64`. A smaller one saves cycles; so does `-D n=40` where n is always 40.
    """,
    "W0116": """A variable is declared `volatile`, which is left out.

    C then reads and writes it as often as the program says, since somebody else may see it or
    change it in between. A circuit has its arrays and scalars for itself from start to done: the
    host loads them before, and reads them after. Values may stay in registers, and be written once.
    """,
    "W0117": """A constant makes an operation on floats one on doubles.

        float x;  x * 0.1        is a product of doubles, rounded to float afterwards
        float x;  x * 0.1f       is a product of floats

    The circuit does what C says, with an operator of twice the width: four times the multiplier
    blocks, and some cycles more. Where the constant is a float, as 0.5 is, and the result is
    converted to float, the operation is done in float, since its result is the same in every bit.
    """,
    "W0118": """`--float` asks for something that changes nothing.

    `contract` is for products that are added to something, `ftz` for operations on floats.
    `reassociate` cuts sums into parts that take turns at the adder, where an addition has to wait
    for the one before. Where the loops can change places, so that consecutive iterations add to
    different elements, no sum waits, and every one keeps its order: nothing is to be gained.
    """,
    "W0119": """A parameter is the same number in every call, and gets no port.

        static void kernel(int n, float a[64]) { for (int i = 0; i < n; i++) ... }
        int main(void) { int n = 40; ... kernel(n, a); ... }

    A `static` function is called from its own file alone. What all calls give the same integer is
    taken for that integer, as with `-D n=40`: loops have bounds that are known, and the circuit
    needs no guards for those that end earlier. `-D` may give another number. Without `static`, the
    function may be called from elsewhere with any number, and the parameter is a port.
    """,
    "W0201": """A statement is never executed, and is left out of the circuit.

    Its loops and conditions leave no iteration: `if (2 * i == 5) ...` holds for no integer, and
    `for (int j = i; j < n; j++)` has no iteration where every i is at least n. Correct the bounds
    or the condition if it should run.
    """,
    "W0202": """A value is stored that nobody reads.

    Another store overwrites it before, or the variable is local and the program ends. The message
    names the first such iteration and what overwrites the value. It is given where all values of a
    statement are lost, and where a statement overwrites more than half of its own ones unread:

        for (int i = 0; i < 8; i++) t = a[i];    only the last value of t can be read

    A statement all of whose values are lost is left out of the circuit, as is one that is read by
    such statements alone; so is an initial value that is always overwritten, without a word.

    Often a subscript is missing, or a wrong variable is assigned.
    """,
    "W0203": """A statement stores what is there already, so it has no effect.

    `a[i] = a[i];` is an assignment of a place to itself. Often one of the two subscripts should be
    another. The circuit spends a store on it all the same.
    """,
    "W0204": """A local variable may be read before it is written; whether it is depends on data.

    The read stands under a condition on data, in an arm of `?:`, or behind `&&` or `||`. If the
    condition can hold before the first write, the value is open in C, and `verify` warns with W0604
    when it happened. Give the variable a value where it is declared.
    """,
    "W0205": """A subscript that depends on data is believed to stay inside of its array.

    As far as can be proven it may leave the array: for `int t[16]` nothing is known of x[i] in
    `t[x[i]]`. In C such a run has no meaning, so every run that has one keeps inside, and the
    circuit is right for those. The golden model stops where the array is left (E0620); random data
    of `verify` keep inside where an element of an array is the subscript, as in `t[x[i]]` or
    `k = x[i]; t[k + 1]`. In the circuit a load outside brings some element of the same array, and a
    store outside stores nothing; where the element that such a load brings tells a store where to
    go, that may be any element of its own array.

    To be sure, keep the subscript inside: `t[x[i] & 15]`, or `x[i] < 16` as a condition. Where you
    know that it is, say so, `assert(x[i] >= 0 && x[i] < 16);`, and the warning goes, as does the
    comparison before a store. What is known may also make fewer accesses wait for each other.
    """,
    "W0601": """A divisor was 0 in the run on random data.

    C leaves that undefined. The circuit gives -1 (all ones) as quotient and the dividend as
    remainder, and the golden model agrees. Where it can happen on your data, select another result:
    `d != 0 ? x / d : 0`.
    """,
    "W0602": """The smallest value of a type was divided by -1 in the run on random data.

    The quotient does not fit its type, which C leaves undefined. In the circuit it wraps to the
    dividend, with remainder 0. Divide in a wider type if your data can have it.
    """,
    "W0603": """A shift count was negative, or not below the width, in the run on random data.

    C leaves that undefined. The circuit takes the count modulo the width of the left operand. Mask
    it in the program, `x << (n & 31)`, and the meaning is the same everywhere.
    """,
    "W0604": """A local variable was read before it was written.

    C leaves its value open: the golden model reads 0, the circuit whatever is there. Give the
    variable an initial value where it is declared.
    """,
    "W0605": """No result depends on what a statement computes, on the data of this verification.

    The golden model was run with the statement's values changed: to 0, to one more, to their
    negatives. No element of memory and no return value was another one, on any of the data sets.
    So a circuit that is wrong there would be called exact. Often the data is to blame, such as sums
    that a following `max(0, sum)` cuts off: give data of your own (`--inputs IN.npz`), a range
    (`--range bias=-100..100`), or more seeds (`--seeds 4`). Else the statement may do nothing.
    """,
    "W0606": """No result depends on some operand of a statement, on the data of this verification.

    As W0605, for a part of an expression: the other side of a choice that always goes one way, the
    smaller side of a minimum, what a shift or a mask always cuts off.
    """,
    "W0607": """A number was converted to an integer type that does not hold it.

    Its integer part is beyond the type, or it is infinite or no number at all: C leaves the result
    undefined. The circuit gives the nearest value of the type, and 0 of a NaN, and the golden model
    agrees. Compare the number with the ends of the type first if your data can be like that, or
    give data that is not: `--range x=-1000.0..1000.0`.
    """,
    "W0608": """With some of the data that was drawn, the program leaves an array.

    C gives such a run no meaning, so it is compared with nothing: a text without an end in
    `while (s[n]) n++`, a subscript that an assertion keeps inside. The other data sets have been
    compared. If the program should keep inside whatever it is given, this is a mistake in it; else
    give data of its kind, `--inputs IN.npz`, or a range, `--range s=0..9`.
    """,
}
"""The long form of every warning."""
