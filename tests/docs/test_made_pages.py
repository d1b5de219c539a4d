"""The pages that are made from the program are those of this program."""

from __future__ import annotations

from collections.abc import Callable
from inspect import cleandoc
from pathlib import Path

import pytest

from benchmarks.record import quotes, with_quotations
from rtlgen.errors import WARNINGS, long_forms, registered_codes
from tests.docs.blocks import ROOT, pages
from tests.docs.made_pages import (
    cli_page,
    diagnostics_page,
    flows_table,
    import_all,
    limits_of,
    limits_page,
    moves_table,
    options_table,
    passes_table,
    picture_of_tiles,
)

REFERENCE = ROOT / "docs" / "reference"


@pytest.mark.parametrize(
    ("page", "make"),
    [
        (REFERENCE / "diagnostics.md", diagnostics_page),
        (REFERENCE / "cli.md", cli_page),
        (REFERENCE / "limits.md", limits_page),
        (ROOT / "examples" / "transposed" / "tiles.svg", picture_of_tiles),
    ],
    ids=["diagnostics", "cli", "limits", "picture"],
)
def test_a_made_page_is_up_to_date(
    page: Path, make: Callable[[], str], update_golden: bool
) -> None:
    if update_golden:
        page.write_text(make(), encoding="utf-8")
    assert page.read_text(encoding="utf-8") == make()


@pytest.mark.parametrize(
    ("page", "origin", "make"),
    [
        (REFERENCE / "python-api.md", "rtlgen.options", options_table),
        (ROOT / "docs" / "how-to" / "use-the-verilog.md", "rtlgen.output.flows", flows_table),
        (ROOT / "docs" / "how-to" / "add-a-transform.md", "rtlgen.options.passes", passes_table),
        (
            ROOT / "docs" / "explanation" / "how-it-works.md",
            "rtlgen.planning.moves",
            moves_table,
        ),
    ],
    ids=["options in Python", "flows", "passes", "moves"],
)
def test_a_made_table_is_up_to_date(
    page: Path, origin: str, make: Callable[[], str], update_golden: bool
) -> None:
    text = page.read_text(encoding="utf-8")
    head, mark, rest = text.partition(f"<!-- made from {origin} -->\n")
    made = head + mark + make() + rest[rest.index("<!-- end -->") :]
    if update_golden:
        page.write_text(made, encoding="utf-8")
    else:
        assert text == made


def test_each_limit_has_its_reason() -> None:
    page = limits_page()
    assert "| TOLERANCE |" not in page and "`TOLERANCE` | 0.98 |" in page
    rows = [line for line in page.splitlines() if line.startswith("| `")]
    assert len(rows) > 100 and not [row for row in rows if row.endswith("|  |")]


def test_a_limit_without_a_reason_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bare_limit.py").write_text('MOST = 5\n\nOTHER = 6\n"""Why."""\n')
    monkeypatch.syspath_prepend(tmp_path)
    assert limits_of("bare_limit") == [("MOST", "5", ""), ("OTHER", "6", "Why.")]


def test_what_explain_reads_is_what_the_classes_say() -> None:
    import_all()
    said = {code: cleandoc(error.__doc__ or "") for code, error in registered_codes().items()}
    assert {code: long_forms()[code] for code in said} == said
    assert [code for code in long_forms() if code not in said] == list(WARNINGS)


def test_every_diagnostic_is_on_its_page() -> None:
    page = diagnostics_page()
    assert [code for code in long_forms() if f"\n### {code}\n" not in page] == []


@pytest.mark.parametrize(
    "page",
    [p for p in pages() if quotes(p.read_text(encoding="utf-8"))],
    ids=lambda page: page.name,
)
def test_quoted_figures_are_those_that_were_measured(page: Path, update_golden: bool) -> None:
    text = page.read_text(encoding="utf-8")
    if update_golden:
        text = with_quotations(text)
        page.write_text(text, encoding="utf-8")
    assert text == with_quotations(text), f"{page.name} quotes other figures"
