"""Programs are ended by whom they belong to."""

from __future__ import annotations

import threading
import time
from pathlib import Path

from rtlgen.system.tools import ToolFailedError, run_tool, stop_tools


def test_only_the_programs_of_some_threads_are_ended(tmp_path: Path) -> None:
    failed: list[str] = []

    def wait(name: str, seconds: str) -> None:
        try:
            run_tool(["sleep", seconds], log=tmp_path / name)
        except ToolFailedError as error:
            failed.append(f"{name}: {error.diagnostic.message}")

    threads = [threading.Thread(target=wait, args=case) for case in (("a", "30"), ("b", "1"))]
    for thread in threads:
        thread.start()
    while not all((tmp_path / name).exists() for name in "ab"):
        time.sleep(0.01)
    time.sleep(0.2)
    assert threads[0].ident is not None
    stop_tools({threads[0].ident})
    for thread in threads:
        thread.join()
    assert failed == ["a: sleep was stopped by signal 9"]
