"""`pytest --update-golden` rewrites expected texts: diagnostics, documented output, made pages.

Random tests draw the same examples in every run, so that a change is judged by its own effect. With
HYPOTHESIS_PROFILE=exploring they draw new ones, and print how to repeat a failure.
"""

from __future__ import annotations

import gc
import os

import pytest
from hypothesis import HealthCheck, settings

# How long a machine takes says nothing of a test.
UNTIMED = (HealthCheck.too_slow,)
settings.register_profile("steady", derandomize=True, deadline=None, suppress_health_check=UNTIMED)
settings.register_profile(
    "exploring", derandomize=False, print_blob=True, suppress_health_check=UNTIMED
)
# What a test asks is not answered by what another one was told.
os.environ["RTLGEN_FRESH"] = "1"

FEW_COLLECTIONS = 50_000
"""Objects that are made between two searches for garbage, of which there is little."""

settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what the program says now into the expected texts; look at the diff",
    )


@pytest.hookimpl(trylast=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Let files whose tests call a simulator or synthesis come first: those take longest.

    Each file stays with one worker, so that a long one at the end is waited for by all others.
    """
    slow = {
        item.path
        for item in items
        if any(item.get_closest_marker(mark) for mark in ("simulation", "synthesis"))
    }
    items.sort(key=lambda item: item.path not in slow)


def pytest_collection_finish() -> None:
    """Leave what was collected, and imported for it, out of every later search for garbage."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(FEW_COLLECTIONS)


@pytest.fixture
def update_golden(request: pytest.FixtureRequest) -> bool:
    return bool(request.config.getoption("--update-golden"))
