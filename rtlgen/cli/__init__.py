"""The command line: arguments in, diagnostics out; the only place that exits.

The verbs are in modules of `rtlgen.cli.verbs`, which are imported when one of them is run. This is
the one place that imports late: `rtlgen --version` and `rtlgen run` do not wait for the compiler.
"""

from rtlgen.cli.supervision import supervised


def main() -> None:
    """Run the command line in a process that is watched, and exit."""
    supervised(_program)


def _program() -> None:
    from rtlgen.cli.program import main as program

    program()
