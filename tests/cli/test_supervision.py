"""The process that watches: memory, signals and crashes end in an exit status and leave nothing."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.cli.conftest import ROOT

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of a process")

GEMM = ROOT / "examples" / "gemm" / "gemm.c"
PROGRAM = """
import ctypes, os, signal, subprocess, sys, tempfile, time
import rtlgen.cli.supervision as supervision
supervision.FIRST_LOOK_SECONDS = 0
supervision.GRACE_SECONDS = 0.3
def burst():
    [0] * 10**8
def grow():
    held = []
    while True:
        held.append(bytearray(b"x" * 10**6))
def deaf():
    sum(range(10**11))
def crash():
    ctypes.string_at(0)
def children():
    place = tempfile.mkdtemp()
    subprocess.Popen(["sh", "-c", "sleep 100 & sleep 100"], cwd=place)
    time.sleep(0.2)
    os.kill(os.getpid(), signal.SIGSEGV)
def lost():
    class Last:
        def __del__(self):
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(0)
    Last()
    time.sleep(10)
def work():
    from rtlgen.cli.output import print_error
    from rtlgen.system.memory_limit import TooMuchMemory
    print("begun", flush=True)
    try:
        globals()[sys.argv[1]]()
    except TooMuchMemory as error:
        print("raised", flush=True)
        print_error(error, as_json=False)
        sys.exit(error.exit_code)
supervision.supervised(work)
"""


def start(
    arguments: list[object], folder: Path, variables: Mapping[str, str] | None = None
) -> subprocess.Popen[str]:
    (folder / "tmp").mkdir()
    return subprocess.Popen(
        list(map(str, arguments)),
        cwd=folder,
        env={**os.environ, "TMPDIR": str(folder / "tmp"), **(variables or {})},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=_heed_signals,
    )


def _heed_signals() -> None:
    """Undo what a shell does to what it starts in the background, and nohup: to ignore signals."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def work(name: str, folder: Path, limit_mb: int = 2048) -> subprocess.Popen[str]:
    limit = {"RTLGEN_MEMORY_MB": str(limit_mb)}
    return start([sys.executable, "-c", PROGRAM, name], folder, limit)


def left_in(folder: Path) -> list[Path]:
    return [path for path in folder.rglob("*") if path != folder / "tmp"]


def test_memory_that_one_call_takes_ends_in_a_refusal(tmp_path: Path) -> None:
    process = work("burst", tmp_path, 100)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "begun\n")
    assert err.startswith("error[E0209]: this needs more than 100 MB of memory\n")


def test_memory_that_grows_raises_the_refusal_in_the_work(tmp_path: Path) -> None:
    process = work("grow", tmp_path, 400)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out) == (2, "begun\nraised\n")
    assert err.startswith("error[E0209]: this needs more than 400 MB of memory\n")


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_work_that_is_deaf_to_a_signal_is_ended(tmp_path: Path, number: signal.Signals) -> None:
    process = work("deaf", tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    begin = time.monotonic()
    process.send_signal(number)
    assert process.communicate(timeout=30) == ("", "")
    assert process.returncode == 128 + number
    assert time.monotonic() - begin < 5


def test_a_signal_that_a_destructor_swallows_is_not_lost(tmp_path: Path) -> None:
    process = work("lost", tmp_path)
    assert process.communicate(timeout=30) == ("begun\n", "")
    assert process.returncode == 130


def test_a_crash_is_told(tmp_path: Path) -> None:
    process = work("crash", tmp_path)
    _, err = process.communicate(timeout=30)
    assert (process.returncode, err.splitlines()[0]) == (
        2, "error[E0413]: rtlgen was ended by SIGSEGV",
    )  # fmt: skip


def test_neither_files_nor_programs_are_left(tmp_path: Path) -> None:
    process = work("children", tmp_path)
    process.communicate(timeout=30)  # Returns when no child holds the pipes any more.
    assert process.returncode == 2
    assert left_in(tmp_path) == []


@pytest.mark.sample(without=("3.0-2",))
@pytest.mark.parametrize(
    ("seconds", "number"), [(0.4, signal.SIGTERM), (1.5, signal.SIGINT), (3.0, signal.SIGINT)]
)
def test_a_build_is_stopped_at_any_moment_and_leaves_nothing(
    tmp_path: Path, seconds: float, number: signal.Signals
) -> None:
    program = Path(sys.executable).with_name("rtlgen")
    process = start([program, "build", GEMM, "-D", "N=32", "-o", "out"], tmp_path)
    time.sleep(seconds)
    process.send_signal(number)
    out, err = process.communicate(timeout=30)
    if process.returncode == 0:  # A fast machine is done by then.
        assert "module gemm" in out
    else:
        assert (process.returncode, out, err) == (128 + number, "", "")
        assert left_in(tmp_path) == []


def test_the_limit_holds_for_verbs_and_has_one_json_document(tmp_path: Path) -> None:
    program = Path(sys.executable).with_name("rtlgen")
    process = start([program, "plan", GEMM, "--json"], tmp_path, {"RTLGEN_MEMORY_MB": "40"})
    out, err = process.communicate(timeout=60)
    assert process.returncode == 2
    assert json.loads(out)["diagnostics"][0]["code"] == "E0209"
    # A library that is loaded just then may have said so, too.
    assert "error[E0209]: this needs more than 40 MB of memory" in err
