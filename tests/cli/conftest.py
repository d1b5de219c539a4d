"""Run the command line in this process, and a small built kernel to run it on."""

from __future__ import annotations

import io
import json
import sys
from collections.abc import Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from rtlgen.cli.program import main

ROOT = Path(__file__).resolve().parents[2]

SCALED = """\
int total;

int scaled(int gain, const short x[8], int y[8])
{
  total = 0;
  for (int i = 0; i < 8; i++)
    y[i] = gain * x[i];
  for (int i = 0; i < 8; i++)
    total += y[i];
  return total;
}
"""


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a command left: exit status, standard output, standard error."""

    status: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        """The one JSON document on stdout; more or less than one is an error."""
        return json.loads(self.out)


def rtlgen(*arguments: object) -> Outcome:
    """Run `rtlgen` with these arguments."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["rtlgen", *map(str, arguments)]
    status: object = 0
    try:
        with redirect_stdout(out), redirect_stderr(err):
            main()
    except SystemExit as end:
        status = end.code
    finally:
        sys.argv = before
    assert isinstance(status, int)
    return Outcome(status, out.getvalue(), err.getvalue())


@pytest.fixture
def in_checkout(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Run in the root of the checkout, so that the examples have their usual paths."""
    monkeypatch.chdir(ROOT)
    monkeypatch.setenv("COLUMNS", "100")
    yield


@pytest.fixture(scope="session")
def scaled_c(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kernel with a scalar, a global, two arrays of different types, and a result."""
    path = tmp_path_factory.mktemp("c") / "scaled.c"
    path.write_text(SCALED)
    return path


@pytest.fixture(scope="session")
def built(scaled_c: Path) -> Path:
    """The build directory of `scaled_c`; do not change it."""
    directory = scaled_c.parent / "build"
    assert rtlgen("build", scaled_c, "-o", directory).status == 0
    return directory
