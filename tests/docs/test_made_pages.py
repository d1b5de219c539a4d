"""The pages that are made from the program are those of this program."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from rtlgen.errors import long_forms
from tests.docs.blocks import ROOT
from tests.docs.made_pages import cli_page, diagnostics_page

REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize(
    ("page", "make"),
    [
        (REFERENCE / "diagnostics.md", diagnostics_page),
        (REFERENCE / "cli.md", cli_page),
    ],
    ids=["diagnostics", "cli"],
)
def test_a_made_page_is_up_to_date(
    page: Path, make: Callable[[], str], update_golden: bool
) -> None:
    if update_golden:
        page.write_text(make(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == make()


def test_every_diagnostic_is_on_its_page() -> None:
    page = diagnostics_page()
    assert [code for code in long_forms() if f"\n### {code}\n" not in page] == []
