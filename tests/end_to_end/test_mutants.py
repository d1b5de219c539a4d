"""Circuits with one fault are caught by `verify`, and by the test bench that `build` writes.

A fault that no data set of many shows changes no result: it is in what reset leaves, or in what the
host port does while nobody asks for it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

import rtlgen
import rtlgen.design
from rtlgen.errors import RtlgenError
from tests.end_to_end.mutants import Judges, Mutant, mutants
from tests.poly.sources import EXAMPLES
from tests.simulators import needs_icarus

pytestmark = [pytest.mark.simulation, needs_icarus]

KERNELS = Path(__file__).parents[1] / "kernels"

# Multipliers, dividers, tables, triangles, recurrences, choices, every width.
CAMPAIGN = [
    *(EXAMPLES / name / f"{name}.c" for name in (
        "gemm", "mms_d", "atax", "gesummv", "loop_pipeline", "accum_swg", "transposed", "mvt",
        "symm", "trmm",
    )),
    *(KERNELS / f"{name}.c" for name in (
        "relu", "conv_layer", "saturating_add", "sobel", "biquads", "crc_words", "viterbi",
        "histogram_equalise", "quotients", "row_pointers",
    )),
]  # fmt: skip

HIDING = """
void conv(const signed char x[12], const signed char w[3], int bias, unsigned char y[10])
{
  for (int i = 0; i < 10; i++) {
    int s = bias;
    for (int k = 0; k < 3; k++)
      s += x[i + k] * w[k];
    y[i] = s > 0 ? (s > 255 ? 255 : s) : 0;
  }
}
"""


def missed(judges: Judges, faults: list[Mutant]) -> list[Mutant]:
    """Return the faults that change some result, and that the shipped test bench does not see."""
    passing = [fault for fault in faults if judges.shipped_passes(fault.text)]
    return [fault for fault in passing if not judges.thorough_passes(fault.text)]


def test_what_a_relu_hides_is_caught(tmp_path: Path) -> None:
    (tmp_path / "conv.c").write_text(HIDING)
    design = rtlgen.compile(tmp_path / "conv.c")
    judges = Judges(design, tmp_path, more=12)
    text = design.verilog.text
    assert judges.shipped_passes(text) and judges.thorough_passes(text)
    product = next(line for line in text.splitlines() if " * " in line)
    zero = f"{product.rpartition(' <= ')[0]} <= 0;"
    assert not judges.shipped_passes(text.replace(product, zero))
    assert not judges.shipped_passes(text.replace(product, product.replace(" * ", " - ")))
    faults = mutants(text, 12, seed=5)
    assert {fault.kind for fault in faults} == {"operator", "constant", "address", "guard"}
    assert not missed(judges, faults)
    assert sum(judges.shipped_passes(fault.text) for fault in faults) <= 4


@pytest.mark.long
def test_verify_catches_what_the_test_bench_does(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = EXAMPLES / "transposed" / "transposed.c"
    judges = Judges(rtlgen.compile(path), tmp_path, more=4)
    right = rtlgen.compile(path).verilog
    faults = mutants(right.text, 6, seed=2)
    caught = [fault for fault in faults if not judges.shipped_passes(fault.text)]
    assert len(caught) >= 3
    for fault in caught[:3]:
        wrong = replace(right, text=fault.text)
        monkeypatch.setattr(rtlgen.design, "generate", lambda _, wrong=wrong: wrong)
        assert not is_exact(rtlgen.compile(path)), str(fault)


def is_exact(design: rtlgen.Design) -> bool:
    try:
        return design.verify(simulator="icarus").exact
    except RtlgenError as error:
        assert error.code.startswith("E06"), error
        return False


@pytest.mark.long
@pytest.mark.parametrize("path", CAMPAIGN, ids=lambda path: path.stem)
def test_every_fault_that_changes_a_result_is_caught(path: Path, tmp_path: Path) -> None:
    design = rtlgen.compile(path)
    judges = Judges(design, tmp_path)
    assert judges.shipped_passes(design.verilog.text)
    faults = mutants(design.verilog.text, 10, seed=1)
    assert not [str(fault) for fault in missed(judges, faults)]
