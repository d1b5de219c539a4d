"""From C text to a `Scop`: the front end's passes, in order."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from os import PathLike, fspath

from pycparser import c_ast, c_generator

from rtlgen.errors import Diagnostic
from rtlgen.frontend.errors import (
    CallUnsupported,
    CSyntaxError,
    FrontendError,
    Jump,
    LoopHeader,
    NoFunction,
    ParameterInControl,
    TooManyIterations,
    UnboundedLoop,
    UnknownIdentifier,
)
from rtlgen.frontend.lowering.bits import standard_integers, take_patterns
from rtlgen.frontend.lowering.block_calls import loop_block_calls
from rtlgen.frontend.lowering.calls import changing_functions, drop_outside_calls
from rtlgen.frontend.lowering.chosen_effects import lift_chosen_effects
from rtlgen.frontend.lowering.desugar import (
    desugar,
    drop_expectations,
    drop_volatile,
    separate_effects,
    type_parameters_in_place,
)
from rtlgen.frontend.lowering.exits import lower_control
from rtlgen.frontend.lowering.float_wishes import FloatRewriting, rewrite_floats
from rtlgen.frontend.lowering.inferred_types import (
    find_types,
    number_enumerations,
    take_seen_types,
    write_out_type_names,
)
from rtlgen.frontend.lowering.initialisers import name_literals
from rtlgen.frontend.lowering.passed_over import PassedOver
from rtlgen.frontend.lowering.pointer_choices import name_chosen_pointers
from rtlgen.frontend.lowering.pointer_members import part_pointers
from rtlgen.frontend.lowering.pointer_tables import part_tables, take_in_pointers
from rtlgen.frontend.lowering.pointers import place_pointers
from rtlgen.frontend.lowering.read_only import hand_over_values
from rtlgen.frontend.lowering.records import split_records
from rtlgen.frontend.lowering.rewriter import Refused
from rtlgen.frontend.lowering.trip_bounds import take_bounds
from rtlgen.frontend.lowering.variables import (
    Deciding,
    deciding_parameters,
    known_parameters,
    state_extents,
    take_known_extents,
)
from rtlgen.frontend.lowering.written_out import write_out_calls
from rtlgen.frontend.reading.elements import with_bound_stated
from rtlgen.frontend.reading.types import SUFFIX, extent_options
from rtlgen.frontend.scop.kernel import Kernel
from rtlgen.frontend.syntax.assigned import functions
from rtlgen.frontend.syntax.parse import deep_recursion, parse
from rtlgen.frontend.syntax.region import Region, called, select_function, select_region
from rtlgen.frontend.text.headers import declarations
from rtlgen.frontend.text.pragmas import HlsPragma
from rtlgen.frontend.text.preprocess import (
    Preprocessed,
    check_name,
    file_that_defines,
    preprocess,
    read_source,
)
from rtlgen.frontend.text.tokens import plain_c, scalar_parameter_names, words
from rtlgen.ir.float_flushing import with_flushes
from rtlgen.ir.scop import Scop
from rtlgen.ir.split_loops import split_loops
from rtlgen.source import SourceFile

MAX_ATTEMPTS = 2
"""Other ways to read the header of a loop: its end may be data, and then its start, too."""


AS_WRITTEN = FloatRewriting()
"""Floats as C has them."""


@dataclass(frozen=True, slots=True)
class ParsedProgram:
    """The kernel of a C file.

    Members
    -------
    scop: its schedule is empty; `transforms.normalise` gives it one, in program order.
    warnings: what was left out or had no effect.
    sources: every file that was read, by the path that spans use.
    pragmas: that ask for lanes, pipelined loops or banks.
    lowered: the kernel, and the functions that it calls, in the simpler C that is read.
    """

    scop: Scop
    warnings: tuple[Diagnostic, ...]
    sources: Mapping[str, SourceFile]
    pragmas: tuple[HlsPragma, ...] = ()
    lowered: str = ""


def parse_file(
    path: str | PathLike[str],
    *,
    function: str | None = None,
    defines: Mapping[str, str] | None = None,
    include_dirs: Sequence[str] = (),
    floats: FloatRewriting = AS_WRITTEN,
) -> ParsedProgram:
    """Read a C file.

    Parameters
    ----------
    function: the kernel; by default the only function, or the one that holds `#pragma scop`.
    defines: macros, values for scalar parameters of the function, and with `NAME_EXTENT` the
        extents of arrays that are given as pointers.
    include_dirs: where to look for included files, after the folder of the including one.
    floats: what is to be computed in another order than the program says.

    Raises
    ------
    FrontendError: the program is refused; `sources` holds the files that the spans refer to.
    """
    return _parse(read_source(fspath(path)), function, defines or {}, include_dirs, floats)


def parse_text(
    text: str,
    path: str = "kernel.c",
    *,
    function: str | None = None,
    defines: Mapping[str, str] | None = None,
    include_dirs: Sequence[str] = (),
    floats: FloatRewriting = AS_WRITTEN,
) -> ParsedProgram:
    """Read C text as `parse_file` reads the file `path`."""
    check_name(path)
    return _parse(SourceFile(path, text), function, defines or {}, include_dirs, floats)


def _parse(
    main: SourceFile,
    function: str | None,
    defines: Mapping[str, str],
    include_dirs: Sequence[str],
    floats: FloatRewriting,
) -> ParsedProgram:
    preprocessed, fixed = _preprocessed(main, function, defines, include_dirs)
    try:
        # The tree may be as deep as the parser accepts, and so may what is made of it.
        with deep_recursion():
            return _lowered(preprocessed, main, function, fixed, floats)
    except FrontendError as error:
        error.sources = preprocessed.sources
        if isinstance(error, CSyntaxError | UnknownIdentifier | CallUnsupported):
            notes = [
                f"<{name}> is not known: -I DIR gives the folder that holds it"
                for name in preprocessed.unknown
            ]
            file = None if error.missing is None else file_that_defines(error.missing, main.path)
            if file is not None:
                notes.append(f'{file} defines it: `#include "{file}"` above takes it in')
            error.diagnostic = replace(error.diagnostic, notes=(*error.diagnostic.notes, *notes))
        raise


def _preprocessed(
    main: SourceFile,
    function: str | None,
    defines: Mapping[str, str],
    include_dirs: Sequence[str],
) -> tuple[Preprocessed, dict[str, str]]:
    """Return the tokens of the program, and those of `defines` that are no macros in it.

    What they are depends on the files that are read, and which these are may depend on macros.
    """
    texts = {main.text}
    while True:
        fixed = _fixed_values(texts, function, defines)
        macros = {name: value for name, value in defines.items() if name not in fixed}
        preprocessed = preprocess(main, macros, include_dirs)
        texts |= {source.text for source in preprocessed.sources.values()}
        if _fixed_values(texts, function, defines) == fixed:
            # What no text mentions may be a member of a structure.
            known = frozenset[str]().union(*map(words, texts))
            others = {k: v for k, v in macros.items() if k.partition("(")[0] not in known}
            return preprocessed, fixed | others


def _fixed_values(
    texts: Collection[str], function: str | None, defines: Mapping[str, str]
) -> dict[str, str]:
    """Return those of `defines` that fix a scalar parameter or an extent, and define no macro."""
    if not defines:
        return {}
    parameters = [item for text in texts for item in scalar_parameter_names(text).items()]
    asked = (names for name, names in parameters if function in (None, name))
    names = frozenset[str]().union(*asked)
    fixed = {name: value for name, value in defines.items() if name in names}
    return fixed | extent_options("\n".join(texts), defines)


def _without_effect(
    preprocessed: Preprocessed, fixed: Mapping[str, str], scop: Scop, path: str
) -> Iterator[Diagnostic]:
    """Yield warnings of `-D` options that name nothing."""
    texts = (source.text for source in preprocessed.sources.values())
    mentioned = frozenset[str]().union(*map(words, texts))
    parameters = {parameter.name for parameter in scop.parameters}
    for option in fixed:
        name = option.partition("(")[0]
        if not {name, name.removesuffix(SUFFIX)} & (mentioned | parameters):
            message = f"-D {name} has no effect: {path} does not mention {name}"
            yield Diagnostic("W0105", message, severity="warning")


def _lowered(
    preprocessed: Preprocessed,
    main: SourceFile,
    function: str | None,
    fixed: Mapping[str, str],
    floats: FloatRewriting,
) -> ParsedProgram:
    """Return the program, loops read by their headers, or else by the most iterations they have.

    Calls stay in their expressions, or else are made first. A function with a loop that has no
    bound is written out where it is called: what it is given may tell. So is one that returns from
    its middle, and is too large to be an expression.
    """
    written_out = frozenset[str]()
    told_first: FrontendError | None = None
    unread: dict[int, int] = {}
    first_calls = frozenset[int]()
    told: dict[int, FrontendError] = {}
    while True:
        again = unread, first_calls, written_out
        try:
            return _lower(preprocessed, main, function, fixed, floats, *again)
        except FrontendError as error:
            found = [error, *error.others]
            loops = {e.loop: e for e in reversed(found) if e.loop is not None}
            others = {loop for loop in loops if unread.get(loop, 0) < MAX_ATTEMPTS}
            lifted = {e.call for e in found if e.call is not None} - first_calls
            # What is wrong with a header is what was wrong with it as it is written.
            told = {**loops, **told}
            if not others and not lifted:
                # A function that is called several times has the same loop each time.
                written = dict.fromkeys(e if e.loop is None else told[e.loop] for e in found)
                first, *more = map(with_bound_stated, written)
                first.others = tuple(more)
                # That one is too large to be an expression the program does not say.
                told_first = told_first or (None if isinstance(first, Jump) else first)
                open_ones = [e for e in found if isinstance(e, UnboundedLoop | LoopHeader | Jump)]
                inner = {e.inside for e in open_ones if e.inside is not None} - written_out
                if not inner:
                    raise told_first or first from None
                written_out |= inner
                unread, told = {}, {}
                continue
            unread |= {loop: unread.get(loop, 0) + 1 for loop in others}
            first_calls |= lifted


def _lower(
    preprocessed: Preprocessed,
    main: SourceFile,
    function: str | None,
    fixed: Mapping[str, str],
    floats: FloatRewriting,
    unread: Mapping[int, int],
    first_calls: frozenset[int],
    asked: frozenset[str],
) -> ParsedProgram:
    """Return the program.

    Parameters
    ----------
    unread: how often the header of a loop could not be read, by the line of its place.
    first_calls: that are made before their statements, by the lines of their places.
    asked: the functions that are written out where they are called.
    """
    given = fixed
    if not preprocessed.tokens:
        raise NoFunction(f"{main.path} is empty")
    tokens = plain_c(preprocessed.tokens)
    words = frozenset(token.text for token in tokens)
    declared = declarations(preprocessed.headers, words)
    tree, locator = parse(declared, tokens, dict(preprocessed.sources))
    type_parameters_in_place(tree, locator)
    volatile = {node: drop_volatile(node) for node in tree.ext}
    number_enumerations(tree)
    take_known_extents(tree, locator)
    find_types(tree, locator, words)
    standard_integers(tree, locator)
    take_patterns(tree)
    kernel = select_function(tree, function, locator).decl.name
    take_seen_types(tree, kernel)
    deciding = [deciding_parameters(tree, kernel)]
    with _telling(deciding, fixed):
        known = known_parameters(tree, kernel)
        changing = changing_functions(tree)
        outside = drop_outside_calls(tree, locator, changing)
        take_in_pointers(tree)
        literal_arrays = name_literals(tree, locator)
        drop_expectations(tree)
        members = part_pointers(tree, locator, kernel)
        lift_chosen_effects(tree, locator, changing, first_calls)
        written_out = write_out_calls(tree, locator, changing, asked)
        tables = part_tables(tree, locator)
        loop_block_calls(tree, locator, kernel)
        chosen = name_chosen_pointers(tree, locator, changing)
        pointers = place_pointers(tree, locator)
        records = split_records(tree, locator, kernel, members.given)
        hand_over_values(tree, kernel)
        # Members of structures are parameters by now.
        deciding.append(deciding_parameters(tree, kernel))
        bounds = take_bounds(tree, locator)
        separate_effects(tree)
        region = select_region(tree, kernel, locator)
        passes = (literal_arrays, members.refused, written_out, tables, chosen, pointers)
        _require_accepted(region, tree, (*passes, records.refused))
        fixed = {**fixed, **records.extents(region.function.decl.name, fixed)}
        state_extents(tree, region.function, fixed, locator)
        lowered = lower_control(tree, region, bounds, unread, fixed)
        rewrite_floats(tree, locator, floats)
        text = _text(tree, region)
        told = desugar(tree, changing)
        write_out_type_names(tree)
        # Who calls what may stand in a call that is left out by now.
        region = select_region(tree, region.function.decl.name, locator)
        passed_over = PassedOver(region, tree, locator)
        name = region.function.decl.name
        reader = Kernel(
            region, locator, fixed, known, records.members, lowered.limits, lowered.expected
        )
        scop = replace(split_loops(reader.read(tree, main)), records=records.of(name))
        if floats.flush:
            scop = with_flushes(scop)
        warnings = (
            *preprocessed.warnings,
            *_without_effect(preprocessed, given, scop, main.path),
            *passed_over.calls(told, "a circuit has nobody to tell"),
            *passed_over.calls(outside, "it does not touch what the circuit computes"),
            *passed_over.volatile(volatile),
            *passed_over.bounds(lowered.full),
            *reader.warnings,
        )
        return ParsedProgram(scop, warnings, preprocessed.sources, preprocessed.pragmas, text)


@contextmanager
def _telling(deciding: Sequence[Deciding], fixed: Mapping[str, str]) -> Iterator[None]:
    """Note in refusals which parameters decide about them, of those that no option fixes."""
    try:
        yield
    except FrontendError as error:
        for each in (error, *error.others):
            is_whole = isinstance(each, ParameterInControl | TooManyIterations)
            known = deciding[-1]
            asked = known.of_all if is_whole else known.of_loops.get(each.loop or 0, ())
            each.deciding = tuple(name for name in asked if name not in fixed)
        raise


def _require_accepted(region: Region, tree: c_ast.FileAST, passes: Iterable[Refused]) -> None:
    """Raise what the passes have refused in the kernel, or in a function that it calls."""
    read = {region.function.decl.name, *called(region, tree)}
    for refused in passes:
        found = [error for name in read for error in refused.get(name, ())]
        if found:
            # What the passes behind this one say follows from it.
            first, *others = sorted(found, key=lambda error: error.position)
            first.others = tuple(others)
            raise first


def _text(tree: c_ast.FileAST, region: Region) -> str:
    """Return the kernel, and the functions that it calls, as C."""
    entered = called(region, tree)
    known = functions(tree).items()
    shown = [f for name, f in known if f is region.function or name in entered]
    return "\n".join(c_generator.CGenerator().visit(function) for function in shown)
