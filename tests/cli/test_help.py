"""Help and the shape of the command line."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from rtlgen.cli.interface import VERBS
from tests.cli.conftest import rtlgen

PROMISED = {
    "bench",
    "build",
    "check",
    "deps",
    "emit-c",
    "explain",
    "explore",
    "plan",
    "run",
    "synth",
    "verify",
}


def test_the_promised_verbs_are_there() -> None:
    assert set(VERBS) >= PROMISED


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_the_help_of_a_verb_has_an_example_of_it(verb: str) -> None:
    outcome = rtlgen(verb, "--help")
    assert outcome.status == 0
    assert re.search(rf"^  Example: rtlgen {verb} \S", outcome.out, re.MULTILINE)
    assert rtlgen(verb, "-h").out == outcome.out


@pytest.mark.parametrize("verb", sorted(VERBS))
def test_every_verb_can_print_json_and_describes_each_option(verb: str) -> None:
    options = [p for p in VERBS[verb].command().params if p.param_type_name == "option"]
    assert "as_json" in {option.name for option in options}
    assert [o.name for o in options if not getattr(o, "help", None)] == []


@pytest.mark.parametrize(
    ("arguments", "status"),
    [
        (["explain", "E0203"], 0),
        (["plan", "f.c", "--unrol", "i=2"], 2),
        (["verify", "f.c", "--memory", "there"], 2),
        (["pln", "f.c"], 2),
    ],
    ids=["explain", "mistyped option", "bad value", "mistyped verb"],
)
def test_nothing_of_the_compiler_is_waited_for(arguments: list[str], status: int) -> None:
    script = (
        "import sys; from rtlgen.cli.program import main; sys.argv[0] = 'rtlgen'\n"
        "try: main()\n"
        "finally: print(*({'numpy', 'islpy', 'amaranth', 'cocotb'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, text=True
    )
    assert done.returncode == status, done.stderr
    assert done.stdout.splitlines()[-1] == ""


def test_a_mistyped_verb_gets_a_suggestion() -> None:
    outcome = rtlgen("buidl", "f.c")
    assert outcome.status == 2
    assert "No such command 'buidl'. Did you mean 'build'?" in outcome.err
    assert "Did you mean" not in rtlgen("xyzzy", "f.c").err


def test_how_much_is_told_can_be_said_before_and_after_the_verb(tmp_path: Path) -> None:
    path = tmp_path / "warns.c"
    path.write_text("void f(int a[4], int unused) { for (int i = 0; i < 4; i++) a[i] = 1; }\n")
    assert rtlgen("check", path).err.startswith("warning[W0102]: ")
    quiet = (["-q", "check", path], ["check", "-q", path], ["-v", "check", path, "-q"])
    for arguments in quiet:
        assert rtlgen(*arguments).err == ""
    verbose = (["-v", "check", path], ["check", path, "-v"], ["-q", "check", "-v", path])
    for arguments in verbose:
        outcome = rtlgen(*arguments)
        assert re.match(rf"compiling {path}: \d+\.\d\d s\nwarning", outcome.err)
        assert outcome.out == rtlgen("check", path).out


def test_a_verb_imports_what_it_needs_only() -> None:
    heavy = ["islpy", "amaranth", "pyosys", "pycparser", "cocotb", "numpy", "rich"]
    script = (
        "import sys\n"
        "from rtlgen.cli.program import cli\n"
        "cli.main(sys.argv[1:], standalone_mode=False)\n"
        f"print([name for name in {heavy} if name in sys.modules])\n"
    )

    def imported(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-c", script, *arguments], capture_output=True, text=True, check=True
        )
        return done.stdout.splitlines()[-1]

    assert imported("--version") == imported("--help") == "[]"
    assert imported("plan", "--help") == imported("synth", "--help") == "[]"
    assert imported("run", "--help") == "[]"


def test_the_installed_program_runs_and_knows_its_version() -> None:
    program = Path(sys.executable).with_name("rtlgen")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"rtlgen, version {version('rtlgen')}\n"


def test_without_a_verb_the_help_is_shown() -> None:
    outcome = rtlgen()
    assert outcome.status == 2
    assert all(verb in outcome.out + outcome.err for verb in VERBS)


def test_the_package_runs_as_the_program_does() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rtlgen", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout == rtlgen("--version").out
