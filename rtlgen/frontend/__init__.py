"""C text to a `Scop`: the only user of pycparser and pcpp."""

from rtlgen.frontend.program import ParsedProgram, parse_file, parse_text

__all__ = ["ParsedProgram", "parse_file", "parse_text"]
