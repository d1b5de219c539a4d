"""Pages of the reference that are made from the program, so that they cannot be stale."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import sys
from pathlib import Path

import click

import rtlgen
from rtlgen.cli.interface import VERBS
from rtlgen.cli.program import cli
from rtlgen.errors import long_forms, registered_codes
from rtlgen.options import options
from rtlgen.options.passes import EVERY_PASS
from rtlgen.output.flows import FLOWS
from rtlgen.planning.moves import MOVES
from rtlgen.report.pictures import tile_svg
from tests.docs.blocks import ROOT

_GROUPS = (
    ("E01", "Front end"),
    ("E02", "Legality and transforms"),
    ("E03", "Scheduling and index styles"),
    ("E04", "Command line, inputs and build directories"),
    ("E05", "Tools"),
    ("E06", "Failed checks"),
    ("E07", "Errors of rtlgen itself"),
    ("W01", "Warnings of the front end"),
    ("W02", "Warnings of the analysis"),
    ("W06", "Warnings of `verify`"),
)

_NOTE = "<!-- made by `pytest tests/docs --update-golden`; do not edit -->"


def picture_of_tiles() -> str:
    """Return examples/transposed/tiles.svg."""
    design = rtlgen.compile(
        ROOT / "examples" / "transposed" / "transposed.c",
        define={"N": 64, "ELEMENT": "uint8_t"},
        memory="fixed:8",
        tile=(8, 8),
    )
    return tile_svg(design.report()["units"][0]["picture"]) + "\n"


def diagnostics_page() -> str:
    """Return reference/diagnostics.md."""
    parts = [
        _NOTE,
        "# Diagnostics",
        "Every diagnostic has a stable code. `rtlgen explain CODE` prints its text below. An error "
        "is shown with the place in the C file, the reason, often a witness, and what to do; with "
        "`--json` the same stands in `diagnostics` on stdout. The exit status is 2 for a refused "
        "input, 3 for a missing tool, 1 for a failed check.",
    ]
    import_all()
    texts = long_forms()
    errors = registered_codes()
    for prefix, title in _GROUPS:
        parts.append(f"## {title}")
        for code, text in texts.items():
            if code.startswith(prefix):
                status = f"Exit status {errors[code].exit_code}." if code in errors else ""
                parts += [f"### {code}", text, status]
    return "\n\n".join(part for part in parts if part) + "\n"


def options_table() -> str:
    """Return the options as arguments of `rtlgen.compile`, a table of Markdown."""
    lines = ["| parameter | command line | default | is |", "|---|---|---|---|"]
    for option in options():
        given = option.example or ", ".join(f'"{choice}"' for choice in option.choices)
        if all(isinstance(choice, int) for choice in option.choices) and option.choices:
            given = ", ".join(map(str, option.choices))
        elif isinstance(option.default, bool):
            given = f"{not option.default}"
        elif option.low is not None:
            given = f"{option.low} to {option.high}" if option.high else f"from {option.low}"
        default = option.shown_default or repr(option.default).replace("'", '"')
        default = "" if default in ("{}", "()") else default
        cells = (f"`{option.python}`: {given}", f"`{option.flag}`", default, option.help)
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def flows_table() -> str:
    """Return the flows, a table of Markdown."""
    lines = ["| flow | is | files | run by |", "|---|---|---|---|"]
    for flow in FLOWS:
        files = ", ".join(f"`{file}`" for file in flow.file_names("NAME"))
        lines.append(f"| `{flow.name}` | {flow.help} | {files} | `{flow.command}` |")
    return "\n".join(lines) + "\n"


def import_all() -> None:
    """Import every module, and with it whatever can raise a diagnostic."""
    for module in pkgutil.walk_packages(rtlgen.__path__, "rtlgen."):
        if module.name not in ("rtlgen.__main__", "rtlgen.sim.kernel_bench"):
            importlib.import_module(module.name)


def cli_page() -> str:
    """Return reference/cli.md."""
    parts = [
        _NOTE,
        "# Command line",
        "Results go to stdout, diagnostics and progress to stderr. With `--json` stdout holds one "
        "JSON document and nothing else: the result, or `diagnostics` when the input is refused.",
        "| exit status | means |\n|---|---|\n| 0 | done |\n| 1 | a check failed |\n"
        "| 2 | the input was refused |\n| 3 | a needed tool is missing |",
        _help(cli, "rtlgen"),
    ]
    for name, verb in VERBS.items():
        parts += [f"## rtlgen {name}", _help(verb.command(), f"rtlgen {name}")]
    return "\n\n".join(parts) + "\n"


def _help(command: click.Command, name: str) -> str:
    settings = cli.context_settings
    with click.Context(
        command,
        info_name=name,
        help_option_names=list(settings["help_option_names"]),
        terminal_width=100,
    ) as context:
        return f"```text\n{command.get_help(context)}\n```"


LIMITED = (
    "ir.effort",
    "ir.tolerance",
    "exploring.faster",
    "planning",
    "tiling",
    "windows",
    "scheduling",
    "memories",
    "datapath",
    "nests",
    "transforms",
    "poly",
)
"""Where it is chosen what is built, and where the work for that is limited."""


def limits_page() -> str:
    """Return reference/limits.md."""
    parts = [
        _NOTE,
        "# Limits of the search",
        "What is built never depends on how fast a machine is: work is counted in elementary "
        "steps, and each limit is a constant. Where one changes what is built, `plan` says so "
        "(`limit: ...`). These are all of them, by where they stand, and what they are for. None "
        "can be set: a program that meets one is better off with fewer statements, or with "
        "options that say what the search would have had to find.",
    ]
    for name in LIMITED:
        rows = [
            f"| `{module.removeprefix('rtlgen.')}` | `{constant}` | {value} | {reason} |"
            for module in _modules(f"rtlgen.{name}")
            for constant, value, reason in limits_of(module)
        ]
        if rows:
            header = ["| module | limit | is | why |", "|---|---|---|---|"]
            parts += [f"## {name}", "\n".join([*header, *rows])]
    return "\n\n".join(parts) + "\n"


def limits_of(module: str) -> list[tuple[str, str, str]]:
    """Return the constants of a module that are numbers: name, value, and what their text says."""
    path = Path(importlib.import_module(module).__file__ or "")
    body = ast.parse(path.read_text(encoding="utf-8")).body
    found = []
    for statement, behind in zip(body, [*body[1:], None], strict=True):
        if not isinstance(statement, ast.Assign) or not isinstance(statement.targets[0], ast.Name):
            continue
        name = statement.targets[0].id
        value = getattr(sys.modules[module], name)
        if name.isupper() and isinstance(value, int | float) and name[0] != "_":
            text = ast.get_docstring(ast.Module([behind], [])) if behind is not None else None
            found.append((name, f"{value:,}", " ".join((text or "").split())))
    return found


def _modules(name: str) -> list[str]:
    """Return a module, or those of a package."""
    module = importlib.import_module(name)
    if not hasattr(module, "__path__"):
        return [name]
    return sorted(each.name for each in pkgutil.walk_packages(module.__path__, f"{name}."))


def moves_table() -> str:
    """Return the moves in their order, each with what it does and why it may propose nothing."""
    rows = [
        f"| `{move.name}` | {(inspect.getdoc(type(move)) or '').splitlines()[0]} | {move.nothing} |"
        for move in MOVES
    ]
    header = ["| move | does | proposes nothing where |", "|---|---|---|"]
    return "\n".join(["", *header, *rows, "", ""])


def passes_table() -> str:
    """Return the passes, each with what it does and which programs go through it."""
    where = {(True, True): "all", (True, False): "on chip", (False, True): "in tiles"}
    rows = [f"| `{p.name}` | {p.does} | {where[p.on_chip, p.in_tiles]} |" for p in EVERY_PASS]
    return "\n".join(["", "| pass | does | programs |", "|---|---|---|", *rows, "", ""])
