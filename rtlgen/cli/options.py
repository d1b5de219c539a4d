"""Options and arguments that several verbs share; those of the compiler are in `compiling`."""

from __future__ import annotations

import click

json_option = click.option("--json", "as_json", is_flag=True, help="One JSON document on stdout.")

simulator_option = click.option(
    "--simulator",
    type=click.Choice(["verilator", "icarus"]),
    default="verilator",
    show_default=True,
    help="Which simulator runs the Verilog.",
)

trace_option = click.option(
    "--trace", type=click.Path(dir_okay=False), metavar="FILE", help="Write waves: .vcd or .fst."
)

seed_option = click.option(
    "--seed", type=int, default=1, show_default=True, help="Of the random data."
)

fresh_option = click.option(
    "--fresh",
    is_flag=True,
    envvar="RTLGEN_FRESH",
    help="Do it again, even where the same was asked before.",
)

source_argument = click.argument("file", metavar="FILE.c")
