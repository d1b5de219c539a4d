"""C text to a `Scop`: the only user of pycparser and pcpp."""

from rtlgen.frontend.program import ParsedProgram, parse_file, parse_text
from rtlgen.frontend.unroll_pragmas import UnrollPragma, not_followed

__all__ = ["ParsedProgram", "UnrollPragma", "not_followed", "parse_file", "parse_text"]
