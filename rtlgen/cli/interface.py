"""The verbs and what each takes: all that a command line is read by, and refused, before any work.

What a verb does is a function of its name in a module of `rtlgen.cli.verbs`. That is imported when
the verb is run, so that `--help` and a mistyped option wait for nothing.
"""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from rtlgen.cli.output import Verbosity
from rtlgen.options import CompileOptions, Option, options
from rtlgen.options.passes import DUMPED, TILED_PASSES, TRANSFORMS
from rtlgen.output.flows import FLOWS
from rtlgen.target import target_names


def compile_option(option: Option) -> click.Option:
    """Return an option of the compiler as the command line has it."""
    shown = f"  [default: {option.shown_default}]" if option.shown_default else ""
    return click.Option([_flags(option), option.member], **_form(option), help=option.help + shown)


def _flags(option: Option) -> str:
    if option.default is True:
        return f"{option.flag}/--no-{option.flag.removeprefix('--')}"
    return option.flag


def _form(option: Option) -> dict[str, Any]:
    """Return how an option is written: a flag, a word of several, a number, or texts."""
    if option.default is False:
        return {"is_flag": True}
    if option.repeated:
        return {"multiple": True, "metavar": option.metavar}
    shown = {"default": option.default, "show_default": True} if option.default else {}
    if option.choices:
        texts = [str(choice) for choice in option.choices]
        shown = {name: str(value) if name == "default" else value for name, value in shown.items()}
        return {"type": click.Choice(texts), **shown}
    if option.low is not None:
        kind = click.IntRange(option.low, option.high)
        return {"type": kind, "metavar": option.metavar, **shown}
    return {"metavar": option.metavar, **shown}


def verbosity_options() -> list[click.Option]:
    """Return `-q` and `-v`, which every verb has, and `rtlgen` itself."""
    return [
        click.Option(
            list(flags), is_flag=True, expose_value=False, callback=_setting(level), help=text
        )
        for flags, level, text in (
            (("-q", "--quiet"), Verbosity.QUIET, "No warnings, no progress."),
            (("-v", "--verbose"), Verbosity.VERBOSE, "Name each step, and the seconds it took."),
        )
    ]


def _setting(level: Verbosity) -> Any:
    def set_level(context: click.Context, _: click.Parameter, given: bool) -> None:
        if given:
            context.obj = level
            if level is Verbosity.QUIET:
                log = logging.getLogger("rtlgen")
                context.call_on_close(partial(log.setLevel, log.level))
                log.setLevel(logging.ERROR)

    return set_level


def _source() -> click.Parameter:
    return click.Argument(["file"], metavar="FILE.c")


def _directory() -> click.Parameter:
    return click.Argument(["directory"], metavar="DIR")


def _json() -> click.Parameter:
    return click.Option(["--json", "as_json"], is_flag=True, help="One JSON document on stdout.")


def _simulator() -> click.Parameter:
    return click.Option(
        ["--simulator"],
        type=click.Choice(["verilator", "icarus"]),
        default="verilator",
        show_default=True,
        help="Which simulator runs the Verilog.",
    )


def _trace() -> click.Parameter:
    return click.Option(
        ["--trace"],
        type=click.Path(dir_okay=False),
        metavar="FILE",
        help="Write waves: .vcd or .fst.",
    )


def _seed() -> click.Parameter:
    return click.Option(
        ["--seed"], type=int, default=1, show_default=True, help="Of the random data."
    )


def _fresh() -> click.Parameter:
    return click.Option(
        ["--fresh"],
        is_flag=True,
        envvar="RTLGEN_FRESH",
        help="Do it again, even where the same was asked before.",
    )


def _dump() -> click.Parameter:
    return click.Option(
        ["--dump-after"],
        type=click.Choice(DUMPED),
        metavar="PASS",
        help=f"Print the program after a pass (with --json on stderr): {', '.join(DUMPED)}.",
    )


def _number(flag: str, member: str, least: int, default: int, text: str) -> click.Parameter:
    return click.Option(
        [flag, member],
        type=click.IntRange(least),
        default=default,
        show_default=True,
        metavar="N",
        help=text,
    )


@dataclass(frozen=True, slots=True)
class Verb:
    """One thing that `rtlgen` does.

    Members
    -------
    help: its first line. example: a command that can be run.
    before, after: its own parameters, as they are shown before and after the compiler's options.
    compiles: whether it has these.
    home: the module of `rtlgen.cli.verbs` that has it; by default one of its name.
    """

    name: str
    help: str
    example: str
    before: Sequence[click.Parameter] = ()
    after: Sequence[click.Parameter] = ()
    compiles: bool = True
    home: str = ""

    def command(self) -> click.Command:
        """Return the verb as click reads it."""
        compiler = [compile_option(option) for option in options()] if self.compiles else []
        return click.Command(
            self.name,
            params=[*self.before, *compiler, *self.after, _json(), *verbosity_options()],
            callback=self._run,
            help=self.help,
            epilog=f"Example: {self.example}",
        )

    def _run(self, /, **given: Any) -> Any:
        if self.compiles:
            texts = {option.member: given.pop(option.member) for option in options()}
            given["options"] = CompileOptions.from_texts(texts)
        member = self.name.replace("-", "_")
        action = getattr(import_module(f"rtlgen.cli.verbs.{self.home or member}"), member)
        return action(click.get_current_context().obj, **given)


_VERBS = (
    Verb(
        "bench",
        "Reproduce one published table beside this project's own figures.",
        "rtlgen bench mf3 --only 'mms*' --no-synth",
        before=[
            click.Argument(["name"]),
            click.Option(
                ["--only"], metavar="GLOB", help="Only the kernels that match, as in 'mms*'."
            ),
            click.Option(["--no-synth"], is_flag=True, help="Leave out area and clock frequency."),
            click.Option(
                ["--kernels"],
                type=click.Path(file_okay=False, path_type=Path),
                metavar="DIR",
                help="Kernel K is DIR/K/K.c or DIR/K.c; by default DIR is the benchmark's own.",
            ),
            _simulator(),
        ],
        compiles=False,
    ),
    Verb(
        "build",
        "Write Verilog, manifest, reports and a self-checking test bench.",
        "rtlgen build examples/gemm/gemm.c -o build/gemm",
        before=[
            _source(),
            click.Option(["-o", "output"], required=True, metavar="DIR", help="Build directory."),
        ],
        after=[
            _dump(),
            _seed(),
            click.Option(
                ["--flow", "flows"],
                default="",
                metavar=",".join(flow.name for flow in FLOWS),
                help="Write the files of these flows beside the Verilog.",
            ),
        ],
        home="compiling",
    ),
    Verb(
        "chain",
        "Join streams of kernels that were built, which then run side by side.",
        "rtlgen chain build/rows build/columns --connect rows.out=columns.in -o build/blur",
        before=[
            click.Argument(["directories"], nargs=-1, required=True, metavar="DIR..."),
            click.Option(
                ["--connect", "joints"],
                multiple=True,
                required=True,
                metavar="KERNEL.ARRAY=KERNEL.ARRAY",
                help="What one sends, and the other one takes.",
            ),
            click.Option(["-o", "output"], required=True, metavar="DIR", help="Build directory."),
            click.Option(
                ["--name"],
                default="chain",
                show_default=True,
                metavar="NAME",
                help="Of the Verilog module.",
            ),
            click.Option(
                ["--verify", "proves"],
                is_flag=True,
                help="Compare it on random data with the C programs, run one after another.",
            ),
            _simulator(),
            _seed(),
        ],
        compiles=False,
    ),
    Verb(
        "check",
        "Is the program supported; what becomes of its loop nests, here and in other tools.",
        "rtlgen check examples/gemm/gemm.c",
        before=[_source()],
        home="compiling",
    ),
    Verb(
        "deps",
        "Show the dependences: kind, distance or relation, source lines.",
        "rtlgen deps examples/mms_d/mms_d.c",
        before=[_source()],
    ),
    Verb(
        "emit-c",
        "Print the program after a pass as C that computes the same.",
        "rtlgen emit-c examples/mms_d/mms_d.c --after fuse",
        before=[
            _source(),
            click.Option(
                ["--after"],
                type=click.Choice(list(dict.fromkeys((*TRANSFORMS, *TILED_PASSES)))),
                metavar="PASS",
                help=f"The last pass that the program has been through: {', '.join(TRANSFORMS)}; "
                f"with arrays off chip {', '.join(TILED_PASSES)}.  [default: the last transform]",
            ),
            click.Option(
                ["-o", "output"], metavar="FILE", help="Write the C to FILE, not to stdout."
            ),
        ],
        home="compiling",
    ),
    Verb(
        "explain",
        "Print the long form of a diagnostic.",
        "rtlgen explain E0203",
        before=[click.Argument(["code"], required=False)],
        compiles=False,
    ),
    Verb(
        "explore",
        "Search lanes, threads, tiles and index styles: the front of time and area.",
        "rtlgen explore examples/gemm/gemm.c --plans 20",
        before=[_source()],
        after=[
            _number("--plans", "most_plans", 1, 60, "Plan at most N designs."),
            _number(
                "--circuits",
                "most_circuits",
                0,
                12,
                "Synthesise, place and route at most N of those on the front; 0: figures of the "
                "plan.",
            ),
            _fresh(),
        ],
    ),
    Verb(
        "plan",
        "Show what will be built: orders, pads, shifts, II, ports, predicted cycles.",
        "rtlgen plan examples/mms_d/mms_d.c --shift S1=25",
        before=[_source()],
        after=[_dump()],
        home="compiling",
    ),
    Verb(
        "run",
        "Simulate a built circuit on given arrays.",
        "rtlgen run build/gemm --inputs in.npz --outputs out.npz --simulator icarus",
        before=[
            _directory(),
            click.Option(
                ["--inputs"], required=True, metavar="IN.npz", help="Arrays and scalars by C name."
            ),
            click.Option(
                ["--outputs"],
                required=True,
                metavar="OUT.npz",
                help="Every array after the run.",
            ),
            click.Option(
                ["--check"], is_flag=True, help="Compare with what the C program computes."
            ),
            _simulator(),
            _trace(),
        ],
        compiles=False,
    ),
    Verb(
        "synth",
        "Measure LUT, FF, DSP, block RAM and Fmax with yosys and nextpnr.",
        "rtlgen synth build/gemm --target ecp5",
        before=[
            _directory(),
            click.Option(
                ["--target"],
                type=click.Choice(target_names()),
                default="ecp5",
                show_default=True,
                help="FPGA family.",
            ),
            click.Option(
                ["--clock-mhz"],
                type=float,
                default=130.0,
                show_default=True,
                help="Clock to aim at.",
            ),
            _fresh(),
        ],
        compiles=False,
    ),
    Verb(
        "trace",
        "Say which instances of the C program are in which stage in recorded waves, and when.",
        "rtlgen trace gemm.vcd build/gemm --at 100",
        before=[
            click.Argument(["file"], metavar="FILE"),
            _directory(),
            click.Option(
                ["--at", "cycle"],
                type=click.IntRange(0),
                metavar="CYCLE",
                help="What is on its way in a cycle; 0 is the first one after start.",
            ),
            click.Option(
                ["--instance"], metavar="'S1(3,4,2)'", help="In which cycles an instance is where."
            ),
            _number("--run", "run_number", 1, 1, "In the Nth run that the trace shows."),
            click.Option(
                ["--save-file"],
                is_flag=True,
                help="Write a save file for GTKWave beside FILE, as run and verify do.",
            ),
        ],
        compiles=False,
    ),
    Verb(
        "verify",
        "Prove equivalence: build, simulate on several data sets, compare memory, checksum, "
        "cycles.",
        "rtlgen verify examples/*/*.c --simulator icarus",
        before=[click.Argument(["files"], nargs=-1, required=True, metavar="FILE.c...")],
        after=[
            _simulator(),
            _seed(),
            click.Option(
                ["--seeds"],
                type=click.IntRange(1),
                default=1,
                show_default=True,
                help="How many, from --seed on; each gives a data set of every kind.",
            ),
            click.Option(
                ["--range", "ranges"],
                multiple=True,
                metavar="NAME=LOW..HIGH",
                help="Keep the random data of an array or scalar within these limits.",
            ),
            click.Option(
                ["--inputs"],
                metavar="IN.npz",
                help="Arrays and scalars by C name, in place of random data.",
            ),
            click.Option(
                ["--oracle"],
                type=click.Choice(["golden", "gcc"]),
                default="golden",
                show_default=True,
                help="What says what is right: the golden model, or the C text through the C "
                "compiler.",
            ),
            _trace(),
            click.Option(
                ["--keep"], metavar="DIR", help="Keep what was built and simulated in DIR/KERNEL."
            ),
            _fresh(),
        ],
    ),
)

VERBS: Mapping[str, Verb] = {verb.name: verb for verb in _VERBS}


class VerbGroup(click.Group):
    """`rtlgen` itself, whose commands are the verbs."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(VERBS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        return VERBS[cmd_name].command() if cmd_name in VERBS else None

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(verb.name, verb.help) for verb in VERBS.values()])

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError as error:
            meant = get_close_matches(args[0], VERBS, n=1)
            if not meant or args[0] in VERBS:
                raise
            raise click.UsageError(f"{error.message} Did you mean {meant[0]!r}?", ctx) from None
