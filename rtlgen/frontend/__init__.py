"""C text to a `Scop`: the only user of pycparser and pcpp."""

from rtlgen.frontend.hls_pragmas import (
    HlsPragma,
    PartitionPragma,
    PipelinePragma,
    UnrollPragma,
    not_followed,
)
from rtlgen.frontend.program import ParsedProgram, parse_file, parse_text
from rtlgen.frontend.syntax import deep_recursion

__all__ = [
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
