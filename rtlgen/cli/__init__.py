"""The command line: arguments in, diagnostics out; the only place that exits.

A verb is a module of `rtlgen.cli.verbs`, which is imported when that verb is run. This is the one
place that imports late: `rtlgen --version` and `rtlgen run` should not wait for the compiler.
"""

from rtlgen.cli.supervision import supervised


def main() -> None:
    """Run the command line in a process that is watched, and exit."""
    supervised(_program)


def _program() -> None:
    from rtlgen.cli.program import main as program

    program()
