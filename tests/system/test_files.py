"""What is written is whole or absent."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from rtlgen.system.files import scratch_folder, uninterrupted, write_file


@pytest.fixture
def interruptible() -> Iterator[None]:
    """Let SIGINT interrupt, also where whoever started the tests ignores it, as shells do."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_a_signal_waits_until_the_block_is_left() -> None:
    done = []
    with pytest.raises(KeyboardInterrupt), uninterrupted():
        signal.raise_signal(signal.SIGINT)
        done.append(1)
    assert done == [1]
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_a_file_is_replaced_whole_or_not_at_all(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a"
    write_file(path, b"old")
    path.chmod(0o640)

    def fails(*_: object) -> None:
        raise OSError("in the middle")

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", fails)
        with pytest.raises(OSError, match="in the middle"):
            write_file(path, b"new")
    assert path.read_bytes() == b"old"
    write_file(path, b"new")
    assert path.read_bytes() == b"new"
    assert path.stat().st_mode & 0o777 == 0o640
    assert list(tmp_path.iterdir()) == [path]


def test_a_link_and_a_device_stay_what_they_are(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to(tmp_path / "target")
    write_file(tmp_path / "link", b"x")
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "target").read_bytes() == b"x"
    write_file(Path("/dev/null"), b"x")
    assert Path("/dev/null").is_char_device()


def test_scratch_of_a_killed_process_is_removed_and_of_a_live_one_kept(tmp_path: Path) -> None:
    script = (
        "import os, pathlib, sys\n"
        "from rtlgen.system.files import scratch_folder\n"
        "with scratch_folder(pathlib.Path(sys.argv[1]), '.w-') as folder:\n"
        "    print(folder, flush=True)\n"
        "    sys.stdin.read()\n"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script, str(tmp_path)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    assert process.stdout is not None
    other = Path(process.stdout.readline().strip())
    assert other.is_dir()
    with scratch_folder(tmp_path, ".w-"):
        assert other.is_dir()
    process.kill()
    process.wait()
    with scratch_folder(tmp_path, ".w-") as mine:
        assert list(tmp_path.iterdir()) == [mine]
    assert list(tmp_path.iterdir()) == []
