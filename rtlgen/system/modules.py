"""Python texts that are no part of a package."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType


def module_of(file: Path) -> ModuleType:
    """Run a file, and return it as a module that nothing else can import."""
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec is not None and spec.loader is not None, "the file is one of Python"
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
