"""A build directory holds the files of one build, whatever happens to the others."""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import pytest

from rtlgen.manifest.file import OutputDirectoryError, read_manifest, read_verilog
from rtlgen.output.build_directory import build_directory
from sim.designs import SCALE_ADD, build_scale_add


def build(directory: Path, mark: str) -> None:
    """Write a small build all of whose files carry a mark."""
    with build_directory(directory) as staging:
        manifest = build_scale_add(staging, f"{SCALE_ADD}// {mark}\n")
        data = staging / "scale_add_tb_data"
        data.mkdir()
        for path in (data / "A.hex", staging / "scale_add_tb.v", staging / "plan.json"):
            path.write_text(mark)
        assert manifest.verilog.file == "scale_add.v"


def marks(directory: Path) -> set[str]:
    read_verilog(directory, read_manifest(directory))
    verilog = (directory / "scale_add.v").read_text().rsplit("// ", 1)[1].strip()
    names = ("scale_add_tb_data/A.hex", "scale_add_tb.v", "plan.json")
    return {verilog, *((directory / name).read_text() for name in names)}


def build_often(directory: Path, mark: str) -> None:
    for _ in range(40):
        build(directory, mark)


def test_two_builds_at_once_leave_the_files_of_one(tmp_path: Path) -> None:
    context = multiprocessing.get_context("fork")
    both = [context.Process(target=build_often, args=(tmp_path, mark)) for mark in "ab"]
    for process in both:
        process.start()
    for process in both:
        process.join()
        assert process.exitcode == 0
    assert len(marks(tmp_path)) == 1
    assert not list(tmp_path.glob(".*"))


def test_a_build_that_fails_leaves_everything_as_it_was(tmp_path: Path) -> None:
    for directory in (tmp_path / "old", tmp_path / "new" / "inner"):
        if directory.name == "old":
            build(directory, "a")
        with pytest.raises(KeyboardInterrupt), build_directory(directory) as staging:
            (staging / "plan.json").write_text("b")
            raise KeyboardInterrupt
    assert marks(tmp_path / "old") == {"a"}
    assert [path.name for path in tmp_path.iterdir()] == ["old"]


def test_what_an_earlier_build_wrote_goes_and_what_others_wrote_stays(tmp_path: Path) -> None:
    build(tmp_path, "a")
    (tmp_path / "mine.txt").write_text("mine")
    with build_directory(tmp_path) as staging:
        for name in ("other.v", "manifest.json"):
            (staging / name).write_text("b")
    assert {path.name for path in tmp_path.iterdir()} == {
        "mine.txt", "other.v", "manifest.json", "plan.json",
    }  # fmt: skip


def test_a_folder_in_the_place_of_a_file_is_not_removed(tmp_path: Path) -> None:
    (tmp_path / "scale_add.v" / "inside").mkdir(parents=True)
    with pytest.raises(OutputDirectoryError, match=r"scale_add\.v is a folder"):
        build(tmp_path, "a")
    assert [path.name for path in tmp_path.iterdir()] == ["scale_add.v"]
    assert (tmp_path / "scale_add.v" / "inside").is_dir()
