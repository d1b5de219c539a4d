"""Rows of tests that `make test` leaves to `make test-long`.

    @pytest.mark.sample("fir", "gemm-*")                of all rows, `make test` runs these
    @pytest.mark.sample(without=("vgg",))               all but this one
    @pytest.mark.sample(every=3)                        a third of them, where none is special

What is left out gets the marks `long` and `left_out`. A name that no row has is an error: else a
row that has another name by now would be left out unnoticed.
"""

from __future__ import annotations

from collections import defaultdict
from fnmatch import fnmatchcase

import pytest


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark the rows that `make test` leaves out."""
    rows: dict[str, list[pytest.Function]] = defaultdict(list)
    for item in items:
        if isinstance(item, pytest.Function) and item.get_closest_marker("sample") is not None:
            rows[item.nodeid.partition("[")[0]].append(item)
    # Of a single row that is asked for, the others are not there.
    is_all = not any("::" in argument for argument in config.args)
    for name, items_of_test in rows.items():
        unknown = _leave_out(items_of_test)
        if unknown and is_all:
            raise pytest.UsageError(f"{name}: no row is called {', '.join(sorted(unknown))}")


def _leave_out(items: list[pytest.Function]) -> set[str]:
    """Mark the rows of one test; return the names that none of them has."""
    marker = items[0].get_closest_marker("sample")
    assert marker is not None
    for item in (item for n, item in enumerate(items) if n % marker.kwargs.get("every", 1)):
        _mark(item)
    kept, left_out = set(marker.args), set(marker.kwargs.get("without", ()))
    seen: set[str] = set()
    for item in items:
        names = {name for name in kept | left_out if _matches(item.callspec.id, name)}
        seen |= names
        if names & left_out or (kept and not names):
            _mark(item)
    return (kept | left_out) - seen


def _mark(item: pytest.Function) -> None:
    item.add_marker(pytest.mark.long)
    item.add_marker(pytest.mark.left_out)


def _matches(row: str, name: str) -> bool:
    return fnmatchcase(row, name.replace("[", "[[]"))
