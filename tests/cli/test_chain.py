"""`rtlgen chain`: kernels that were built, joined."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rtlgen.cli.program import cli
from rtlgen.errors import RtlgenError
from rtlgen.manifest.file import read_manifest

KERNELS = Path(__file__).parents[2] / "examples" / "chain" / "blur"


def rtlgen(*arguments: object) -> str:
    runner = CliRunner()
    found = runner.invoke(cli, [str(each) for each in arguments], standalone_mode=False)
    if found.exception is not None:
        raise found.exception
    return found.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    folder = tmp_path_factory.mktemp("built")
    for name in ("rows", "columns"):
        rtlgen("build", KERNELS / f"{name}.c", "--memory", "stream", "-o", folder / name)
    return folder / "rows", folder / "columns"


@pytest.mark.simulation
def test_a_chain_is_built_and_proven(built: tuple[Path, Path], tmp_path: Path) -> None:
    joint = ["--connect", "rows.out=columns.in", "--name", "blur"]
    text = rtlgen("chain", *built, *joint, "-o", tmp_path / "blur", "--verify", "--json")
    document = json.loads(text)
    assert document["exact"] and document["compared"] > 0
    assert document["cycles"] == document["predicted_cycles"] < document["cycles_together"]
    manifest = read_manifest(tmp_path / "blur")
    assert (manifest.name, manifest.predicted_cycles) == ("blur", document["cycles"])
    with pytest.raises(RtlgenError) as caught:
        rtlgen("chain", tmp_path / "blur", built[1], *joint, "-o", tmp_path / "more")
    assert caught.value.code == "E0431"
    assert "it was joined itself" in str(caught.value)


def test_a_chain_is_not_written_over_its_kernels(built: tuple[Path, Path]) -> None:
    before = {path: path.read_bytes() for path in built[0].iterdir() if path.is_file()}
    with pytest.raises(RtlgenError) as caught:
        rtlgen("chain", *built, "--connect", "rows.out=columns.in", "-o", built[0])
    assert caught.value.code == "E0431"
    assert {path: path.read_bytes() for path in built[0].iterdir() if path.is_file()} == before


@pytest.mark.parametrize(
    ("joint", "code"), [("rows.out=columns.inn", "E0431"), ("columns.out=rows.in", "E0431")]
)
def test_what_cannot_be_joined_is_refused(
    built: tuple[Path, Path], tmp_path: Path, joint: str, code: str
) -> None:
    with pytest.raises(RtlgenError) as caught:
        rtlgen("chain", *built, "--connect", joint, "-o", tmp_path / "no")
    assert caught.value.code == code
    assert not (tmp_path / "no").exists()


def test_a_kernel_that_was_changed_is_refused(built: tuple[Path, Path], tmp_path: Path) -> None:
    text = (built[0] / "rows.v").read_text()
    (built[0] / "rows.v").write_text(text + "\n")
    try:
        with pytest.raises(RtlgenError) as caught:
            rtlgen("chain", *built, "--connect", "rows.out=columns.in", "-o", tmp_path / "no")
    finally:
        (built[0] / "rows.v").write_text(text)
    assert caught.value.code == "E0412"
