"""Every verb that reads C answers garbage with a diagnostic and exit status 2."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import rtlgen
from tests.frontend.test_garbage import REFUSED

CASES = (
    "empty",
    "nul in a kernel",
    "binary",
    "unterminated comment",
    "unknown include",
    "huge array",
    "macros in a ring",
    "c++",
)


@pytest.mark.parametrize("verb", ["check", "deps", "plan", "build", "verify", "emit-c"])
@pytest.mark.parametrize("name", CASES)
def test_the_answer_is_a_diagnostic(verb: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "garbage.c"
    path.write_bytes(REFUSED[name])
    outcome = rtlgen(verb, path, *(["-o", tmp_path / "build"] if verb == "build" else []))
    assert outcome.status == 2
    assert outcome.err.startswith("error[E01")
    assert "Traceback" not in outcome.err + outcome.out
