"""Every issue slot in which the longest statement issues nothing has a cause."""

from __future__ import annotations

from typing import Any

import pytest

import rtlgen
from rtlgen.report.text import plan_report_text
from tests.test_examples import EXAMPLES

SUM = """void f(const int w[16][8], const int b[16], int y[16]) {
  for (int i = 0; i < 16; i++) {
    int s = b[i];
    for (int j = 0; j < 8; j++) s += w[i][j];
    y[i] = s < 0 ? 0 : s;
  }
}"""


def left_over(report: dict[str, Any]) -> int:
    """Return the issue slots that have no cause and no instance of the longest statement."""
    longest: int = max(statement["instances"] for statement in report["streams"])
    idle: int = sum(cause["slots"] for cause in report["idle_slots"])
    slots: int = report["issue_slots"]
    return slots - longest - idle


@pytest.mark.parametrize(
    "options",
    [{}, {"fuse": "none"}, {"expand": "never"}, {"unroll": {"j": 2}}, {"scheduler": "pluto"}],
    ids=str,
)
def test_causes_add_up(options: dict[str, Any]) -> None:
    report = rtlgen.compile(source=SUM, **options).report()
    assert left_over(report) == 0


@pytest.mark.sample(
    without=("dct", "horner", "symm", "tce", "jacobi_solver", "softmax_layer"), every=2
)
@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_causes_add_up_in_every_example(path: Any) -> None:
    if path.stem in {"vgg", "aes"}:
        pytest.skip("takes long to plan")
    report = rtlgen.compile(path, memory="onchip").report()
    assert left_over(report) == 0
    assert all(cause["slots"] > 0 for cause in report["idle_slots"])


def test_a_pad_is_named_with_the_dependences_that_ask_for_it() -> None:
    report = rtlgen.compile(source=SUM, expand="never").report()
    (pad,) = (cause for cause in report["idle_slots"] if "runs for" in cause["cause"])
    trips = next(x["extent"] for x in report["statements"][1]["loops"] if x["name"] == "j")
    # Behind the last sum nobody waits.
    assert trips > 8 and 15 * (trips - 8) <= pad["slots"] <= 16 * (trips - 8)
    assert f"S1: j runs for {trips} iterations and needs 8: in one period" in pad["cause"]
    assert "writes to s behind where" in pad["cause"]
    assert f"idle: {pad['slots']} slots: S1: j runs for" in plan_report_text(report)


def test_an_interval_is_named_with_its_reason() -> None:
    text = "void f(int a[8]) { for (int i = 1; i < 8; i++) a[i] = a[i - 1] / 3; }"
    report = rtlgen.compile(source=text).report()
    (stream,) = report["streams"]
    cause = f"S0 issues every {stream['ii']} cycles: {stream['ii_reason']}"
    assert report["idle_slots"] == [{"slots": 6 * (stream["ii"] - 1), "cause": cause}]


def test_regions_of_others_idle_for_the_longest_statement() -> None:
    report = rtlgen.compile(source=SUM, fuse="none").report()
    assert left_over(report) == 0


def test_what_tiles_lose_is_said_to_be_unknown() -> None:
    report = rtlgen.compile(source=SUM, memory="axi").report()
    assert all("not attributed" in cause["cause"] for cause in report["idle_slots"])
