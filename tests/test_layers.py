"""The import contracts of pyproject.toml hold, and would notice it if they did not."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent


def lint_imports(root: Path) -> subprocess.CompletedProcess[str]:
    script = "from importlinter.cli import lint_imports_command; lint_imports_command()"
    command = [sys.executable, "-c", script, "--no-cache"]
    return subprocess.run(command, cwd=root, capture_output=True, text=True, check=False)


def test_the_contracts_hold() -> None:
    done = lint_imports(ROOT)
    assert done.returncode == 0, done.stdout


@pytest.mark.sample(
    "rtlgen/ir/scop.py-import rtlgen.poly-*",
    "rtlgen/tiling/plan.py-import rtlgen.judges.replay-*",
    "rtlgen/verify/golden.py-import rtlgen.transforms.outer_shift-*",
    "rtlgen/hw/odometer.py-import islpy-*",
)
@pytest.mark.parametrize(
    ("module", "line", "contract"),
    [
        ("rtlgen/ir/scop.py", "import rtlgen.poly", "imports go downward only"),
        ("rtlgen/hw/odometer.py", "import islpy", "hardware is built from the plan alone"),
        (
            "rtlgen/tiling/plan.py",
            "import rtlgen.judges.replay",
            "what chooses a plan does not judge it",
        ),
        ("rtlgen/judges/replay.py", "import rtlgen.scheduling", "imports go downward only"),
        (
            "rtlgen/verify/golden.py",
            "import rtlgen.transforms.outer_shift",
            "the golden model is independent of what it judges",
        ),
        (
            "rtlgen/sim/host.py",
            "import rtlgen.ir.plan",
            "the simulated side knows the manifest, not the generator",
        ),
        ("rtlgen/transforms/outer_shift.py", "import pycparser", "only the front end parses C"),
        ("rtlgen/verify/cosim.py", "import islpy", "only the polyhedral half sees isl"),
        ("rtlgen/verify/cosim.py", "import amaranth", "only hardware builders see Amaranth"),
    ],
)
def test_a_forbidden_import_is_noticed(
    tmp_path: Path, module: str, line: str, contract: str
) -> None:
    ignored = shutil.ignore_patterns("__pycache__")
    shutil.copytree(ROOT / "rtlgen", tmp_path / "rtlgen", ignore=ignored)
    shutil.copy(ROOT / "pyproject.toml", tmp_path)
    with (tmp_path / module).open("a") as file:
        file.write(f"\n{line}\n")
    done = lint_imports(tmp_path)
    assert done.returncode != 0
    assert f"{contract} BROKEN" in done.stdout
