"""Every page is true: its commands print what it shows, its programs run, its links lead somewhere.

`pytest tests/docs --update-golden` writes the present output into the pages.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from _pytest.mark.structures import ParameterSet

from tests.docs.blocks import ROOT, Block, agrees, blocks_of, commands_of, pages, renewed
from tests.docs.session import Session, Stale

_LINK = re.compile(r"\]\((?P<target>[^)#\s]*)(?:#(?P<anchor>[^)\s]+))?\)")
_DOTTED = re.compile(r"`(?:rtlgen\.)?(?P<package>\w+)\.(?P<module>[a-z_]+)(?:\.\w+)*`")
_MODULE = re.compile(r"`(?P<path>\w+/[\w/]+\.py)`")
_HEADING = re.compile(r"^#+ (?P<text>.+)$", re.MULTILINE)


def parameters() -> list[ParameterSet]:
    found = []
    for page in pages():
        blocks = blocks_of(page.read_text(encoding="utf-8"))
        if any(block.is_executable for block in blocks):
            marks = [pytest.mark.simulation] if any(b.simulates for b in blocks) else []
            name = str(page.relative_to(ROOT))
            found.append(pytest.param(page, marks=marks, id=name))
    return found


@pytest.mark.sample(
    "docs/how-to/add-a-transform.md",
    "docs/how-to/come-from-vitis-hls.md",
    "docs/explanation/scheduling.md",
    "docs/reference/cycle-model.md",
    "docs/explanation/fusion.md",
    "docs/how-to/read-the-nest-report.md",
)
@pytest.mark.parametrize("page", parameters())
def test_the_blocks_of_a_page_are_true(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, update_golden: bool
) -> None:
    text = page.read_text(encoding="utf-8")
    session = Session(page, tmp_path, monkeypatch)
    changed = text
    for block in blocks_of(text):
        if update_golden and block.language == "console" and "..." not in block.text:
            new = renewed(block, session.outputs(block))
            changed = changed.replace(
                f"```{' '.join(block.words)}\n{block.text}```",
                f"```{' '.join(block.words)}\n{new}```",
            )
        elif block.is_executable:
            session.run(block)
    if changed != text:
        page.write_text(changed, encoding="utf-8")


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_of_a_page_lead_somewhere(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for link in _LINK.finditer(text):
        if "://" in link["target"]:
            continue
        target = (page.parent / link["target"]).resolve() if link["target"] else page
        assert target.exists(), f"{page.name} links to {link['target']}"
        if link["anchor"]:
            assert link["anchor"] in anchors(target), f"{page.name} links to {link[0]}"


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(ROOT)))
def test_the_modules_that_a_page_names_are_there(page: Path) -> None:
    folders = [ROOT, ROOT / "rtlgen", ROOT / "rtlgen" / "frontend"]
    for path in _MODULE.findall(page.read_text(encoding="utf-8")):
        # What a build writes is in a folder of the reader's.
        is_built = path.startswith("driver/")
        assert is_built or any((folder / path).is_file() for folder in folders), path


def test_the_modules_that_a_text_names_in_passing_are_there() -> None:
    """`package.module`, in pages and in docstrings."""
    package = ROOT / "rtlgen"
    inits = [*package.glob("*/__init__.py"), *package.glob("*/*/__init__.py")]
    folders = {init.parent.name: init.parent for init in inits}
    texts = [*pages(), *package.rglob("*.py")]
    missing = {
        f"{text.relative_to(ROOT)}: {named[0]}"
        for text in texts
        for named in _DOTTED.finditer(text.read_text(encoding="utf-8"))
        if (folder := folders.get(named["package"])) is not None
        and named["module"] not in ("json", "py")
        and not (folder / f"{named['module']}.py").exists()
        and not (folder / named["module"]).is_dir()
        and named["module"] not in (folder / "__init__.py").read_text(encoding="utf-8")
    }
    assert not missing, sorted(missing)


def anchors(page: Path) -> set[str]:
    headings = _HEADING.findall(page.read_text(encoding="utf-8"))
    plain = (re.sub(r"[^\w\- ]", "", heading.lower()) for heading in headings)
    return {text.replace(" ", "-") for text in plain}


def test_every_page_is_reached_from_the_index() -> None:
    index = ROOT / "docs" / "index.md"
    linked = {
        (index.parent / link["target"]).resolve()
        for link in _LINK.finditer(index.read_text(encoding="utf-8"))
    }
    assert set((ROOT / "docs").rglob("*.md")) - {index} <= linked


@pytest.mark.parametrize(
    "block",
    [
        "```console\n$ rtlgen explain E0203\nE0203: something else\n```\n",
        "```console\n$ rtlgen explain E9999\n...\n$ echo $?\n0\n```\n",
        "```python\nprint(1)  # -> 2\n```\n",
        "```c accepted\nvoid f(float a[4]) {}\n```\n",
        "```c E0118\nvoid f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = 0; }\n```\n",
    ],
    ids=["output", "status", "python", "accepted", "refused"],
)
def test_a_stale_block_is_noticed(
    block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.md"
    page.write_text(block)
    session = Session(page, tmp_path, monkeypatch)
    (only,) = blocks_of(block)
    with pytest.raises(Stale):
        session.run(only)


def test_dots_stand_for_any_lines_and_for_the_rest_of_a_line() -> None:
    assert agrees("a\n...\nz 0...\n", "a\nb\nc\nz 0x12\n")
    assert agrees("a\n...\n", "a\n")
    assert not agrees("a\n...\nz\n", "a\nb\n")
    assert not agrees("a\n", "a\nb\n")
    assert agrees("", "")


def test_a_command_may_go_over_several_lines() -> None:
    block = Block(("console",), "$ rtlgen run b \\\n    --inputs i.npz\nout\n$ ls\n", 1, 0)
    assert [c.text for c in commands_of(block)] == ["rtlgen run b --inputs i.npz", "ls"]
    assert renewed(block, {"rtlgen run b --inputs i.npz": "new\n", "ls": ""}) == (
        "$ rtlgen run b \\\n    --inputs i.npz\nnew\n$ ls\n"
    )
