"""Help and the shape of the command line."""

from __future__ import annotations

import re
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

from rtlgen.cli.verbs import cli
from tests.cli.conftest import rtlgen

VERBS = ("bench", "build", "check", "deps", "explain", "plan", "run", "synth", "verify")


def test_the_promised_verbs_are_there() -> None:
    assert set(VERBS) <= set(cli.commands)


@pytest.mark.parametrize("verb", sorted(cli.commands))
def test_the_help_of_a_verb_has_an_example_of_it(verb: str) -> None:
    outcome = rtlgen(verb, "--help")
    assert outcome.status == 0
    assert re.search(rf"^  Example: rtlgen {verb} \S", outcome.out, re.MULTILINE)
    assert rtlgen(verb, "-h").out == outcome.out


@pytest.mark.parametrize("verb", sorted(cli.commands))
def test_every_verb_can_print_json_and_describes_each_option(verb: str) -> None:
    options = [p for p in cli.commands[verb].params if p.param_type_name == "option"]
    assert "as_json" in {option.name for option in options}
    assert [o.name for o in options if not getattr(o, "help", None)] == []


def test_the_installed_program_runs_and_knows_its_version() -> None:
    program = Path(sys.executable).with_name("rtlgen")
    done = subprocess.run([program, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"rtlgen, version {version('rtlgen')}\n"


def test_without_a_verb_the_help_is_shown() -> None:
    outcome = rtlgen()
    assert outcome.status == 2
    assert all(verb in outcome.out + outcome.err for verb in VERBS)
