"""Compile a program whose arrays are all on chip."""

from __future__ import annotations

from rtlgen.driver import compile_program
from rtlgen.frontend import ParsedProgram
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import IslandCompilation


def compile_island(
    program: ParsedProgram, options: CompileOptions | None = None
) -> IslandCompilation:
    """Compile a program of which nothing is to be off chip."""
    compilation = compile_program(program, options or CompileOptions())
    assert isinstance(compilation, IslandCompilation)
    return compilation
