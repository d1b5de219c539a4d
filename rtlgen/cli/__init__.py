"""The command line: arguments in, diagnostics out; the only place that exits."""

from rtlgen.cli.verbs import main

__all__ = ["main"]
