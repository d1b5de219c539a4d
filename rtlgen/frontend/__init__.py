"""C text to a `Scop`: the only user of pycparser and pcpp."""

from rtlgen.frontend.lowering.float_wishes import FloatRewriting
from rtlgen.frontend.program import ParsedProgram, parse_file, parse_text
from rtlgen.frontend.syntax.parse import deep_recursion
from rtlgen.frontend.text.pragmas import (
    HlsPragma,
    PartitionPragma,
    PipelinePragma,
    UnrollPragma,
    not_followed,
)

__all__ = [
    "FloatRewriting",
    "HlsPragma",
    "ParsedProgram",
    "PartitionPragma",
    "PipelinePragma",
    "UnrollPragma",
    "deep_recursion",
    "not_followed",
    "parse_file",
    "parse_text",
]
