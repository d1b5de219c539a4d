"""Every refusal and warning of the front end, rendered, against `diagnostics/NAME.expected`.

The first line of a file may give options: `// -D N=4 --function g`.
"""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

from rtlgen.errors import Diagnostic, registered_codes
from rtlgen.frontend import errors, parse_file
from rtlgen.frontend.errors import FrontendError

FOLDER = Path(__file__).parent / "diagnostics"
CASES = sorted(FOLDER.glob("*.c"))


def test_there_are_cases() -> None:
    assert len(CASES) > 50


def rendered(path: Path) -> str:
    """Return all that the front end says about a file, with the file's name for its path."""
    options = path.read_bytes().split(b"\n", 1)[0].decode("latin-1")
    defines = dict(re.findall(r"-D (\w+)(?:=(\S*))?", options))
    function = re.search(r"--function (\w+)", options)
    said: tuple[Diagnostic, ...]
    try:
        program = parse_file(path, defines=defines, function=function and function[1])
    except FrontendError as error:
        said, sources = error.diagnostics, error.sources
    else:
        said, sources = program.warnings, program.sources
    text = "\n\n".join(diagnostic.render(sources) for diagnostic in said)
    return text.replace(str(FOLDER) + "/", "") + "\n"


@pytest.mark.parametrize("path", CASES, ids=lambda path: path.stem)
def test_diagnostic_reads_as_expected(path: Path, update_golden: bool) -> None:
    expected = path.with_suffix(".expected")
    if update_golden:
        expected.write_text(rendered(path))
    assert rendered(path) == expected.read_text()


def test_every_code_of_the_front_end_is_shown_by_a_case() -> None:
    codes = {code for code, cls in registered_codes().items() if issubclass(cls, FrontendError)}
    shown = {
        code
        for path in FOLDER.glob("*.expected")
        for code in re.findall(r"^error\[(E\d+)\]", path.read_text(), re.MULTILINE)
    }
    assert shown == codes


def test_every_long_form_says_what_to_do() -> None:
    for name, cls in inspect.getmembers(errors, inspect.isclass):
        if issubclass(cls, FrontendError) and cls.code:
            assert len(inspect.cleandoc(cls.__doc__ or "").splitlines()) >= 3, name


def test_a_moved_caret_is_noticed(tmp_path: Path) -> None:
    case = FOLDER / "bound_macro.c"
    copy = tmp_path / case.name
    copy.write_text(case.read_text().replace("j < LAST", "j <  LAST"))
    said = rendered(copy).replace(str(tmp_path) + "/", "")
    assert said.splitlines()[1:] != case.with_suffix(".expected").read_text().splitlines()[1:]
