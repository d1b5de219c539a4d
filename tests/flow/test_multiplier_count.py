"""A plan takes as many multiplier blocks as synthesis finds in its circuit."""

from __future__ import annotations

from pathlib import Path

import pytest

import rtlgen
from rtlgen.flow.synth import synthesise
from rtlgen.ir.operation_costs import multiplier_blocks

PRODUCTS = """#include <stdint.h>
void f({one} a[16], {other} b[16], {result} y[16]) {{
  for (int i = 0; i < 16; i++) y[i] = {value};
}}
"""

CASES = [
    ("int8_t", "int8_t", "int", "a[i] * b[i]", 1),
    ("uint8_t", "int16_t", "int", "a[i] * b[i]", 1),
    ("uint16_t", "uint16_t", "unsigned", "a[i] * b[i]", 1),
    ("int32_t", "int16_t", "int", "a[i] * b[i]", 2),
    ("int32_t", "int32_t", "int", "a[i] * b[i]", 3),
    ("int32_t", "int32_t", "int64_t", "(int64_t)a[i] * b[i]", 4),
    ("int64_t", "int64_t", "int64_t", "a[i] * b[i]", 10),
    ("int32_t", "int32_t", "int", "a[i] * 7 + b[i] * 12345", 2),
    ("int32_t", "int32_t", "int", "a[i] * b[i] + a[i] * 3 + a[i] * y[i]", 3),
    ("int32_t", "uint8_t", "int", "a[i] / 3 + b[i] % 10", 5),
    ("int32_t", "int32_t", "int", "a[i] * (i % 4)", 2),
]


@pytest.mark.sample("int32_t-int32_t-int-a[i] * (i % 4)-2")
@pytest.mark.synthesis
@pytest.mark.parametrize(("one", "other", "result", "value", "blocks"), CASES)
def test_blocks_are_counted_as_synthesis_does(
    tmp_path: Path, one: str, other: str, result: str, value: str, blocks: int
) -> None:
    text = PRODUCTS.format(one=one, other=other, result=result, value=value)
    design = rtlgen.compile(source=text, path="program.c")
    assert multiplier_blocks(design.plan) == blocks
    path = tmp_path / "f.v"
    path.write_text(design.verilog.text, encoding="utf-8")
    assert synthesise(path, "f", seeds=()).dsp == blocks
