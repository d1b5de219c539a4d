"""Compile a C file from Python."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Unpack, get_type_hints

from rtlgen.design import Design
from rtlgen.driver import compile_program, parse, parse_source
from rtlgen.errors import reporting_bugs, without_frames
from rtlgen.options import Choices, CompileOptions, options


@without_frames
def compile(
    path: str | Path | None = None, *, source: str | None = None, **choices: Unpack[Choices]
) -> Design:
    """Compile the kernel of a C file, or of C text.

    Parameters
    ----------
    source: C text in place of a file; with it, `path` is only the name that messages show.

    Raises
    ------
    RtlgenError: the program or an option is refused; its `diagnostic` says where and why.
    TypeError: there is neither a path nor a source, or no such option.
    ValueError: an option has no such value.
    """
    chosen = CompileOptions.from_python(choices)
    if source is None and path is None:
        raise TypeError("compile() needs a path or a source")
    with reporting_bugs():
        if source is not None:
            program = parse_source(source, str(path or "kernel.c"), chosen)
        else:
            program = parse(Path(path or ""), chosen)
        return Design(compile_program(program, chosen), chosen)


def _describe() -> None:
    """Give `compile` the signature and the list of options that `help` shows."""
    types = get_type_hints(Choices)
    own = [
        parameter
        for parameter in inspect.signature(compile).parameters.values()
        if parameter.kind is not inspect.Parameter.VAR_KEYWORD
    ]
    keyword = inspect.Parameter.KEYWORD_ONLY
    described = [
        inspect.Parameter(each.python, keyword, default=each.default, annotation=types[each.python])
        for each in options()
    ]
    signature = inspect.Signature([*own, *described], return_annotation=Design)
    compile.__signature__ = signature  # type: ignore[attr-defined]
    lines = [f"    {each.python}: {each.help}" for each in options()]
    head, raises, tail = (compile.__doc__ or "").partition("\n    Raises\n")
    compile.__doc__ = head + "\n".join(lines) + "\n" + raises + tail


_describe()
