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


RAGGED = """void f(char a[9][7], const unsigned char e[9]) {
  for (int i = 7; i > 0; i -= 3)
    for (int j = 2, k = 7; 3 >= j; j += 3, k -= 3) {
      a[j][k - 1] = !(a[i][i & 1] && a[k ^ 1][(unsigned)(j % 3 + a[i + 1][i - 1]) % 7])
        * (i * 2 ? 256 : 70000);
      a[2 * k - 12][i & 1] = e[(unsigned)(a[j * 2][3] * 2) % 7] + e[(unsigned)a[(unsigned)(31 %
        ((a[2][(unsigned)a[k + j - 4][k - 1] % 7] & 7) + 1)) % 9][i - 1] % 9];
    }
}"""


def test_what_a_nest_waits_for_is_told_of_stores_that_are_kept_apart() -> None:
    """Two statements in a nest of no box: their stores have no order that ranks of boxes give."""
    report = rtlgen.compile(source=RAGGED).report()
    assert left_over(report) == 0
    assert any("iterations of the nest of S0" in idle["cause"] for idle in report["idle_slots"])
