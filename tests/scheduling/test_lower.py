"""A map from counters to instances of C agrees with the judge of plans."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rtlgen
from rtlgen.ir.issued_instances import instances_of
from rtlgen.ir.iterations import stream_iterations
from rtlgen.planning.compilation import IslandCompilation

ROOT = Path(__file__).resolve().parents[2]

STRIDES = """void f(int a[40], int b[40]) {
  for (int i = 3; i < 40; i += 4) a[i] = i;
  for (int i = 30; i > 2; i -= 2) if (i % 3 == 0) b[i] = a[i] + b[i - 1];
}"""


@pytest.mark.parametrize(
    ("source", "options"),
    [
        ("gemm", {}),
        ("gemm", {"unroll": {"j": 2}}),
        ("trmm", {}),
        ("symm", {}),
        ("2mm_d", {"scheduler": "pluto"}),
        (STRIDES, {}),
    ],
    ids=["gemm", "lanes", "triangle", "symm", "pluto", "strides"],
)
def test_instances_are_those_of_the_judge(source: str, options: dict[str, Any]) -> None:
    if source == STRIDES:
        design = rtlgen.compile(source=source, **options)
    else:
        design = rtlgen.compile(ROOT / "examples" / source / f"{source}.c", **options)
    compilation = design.compilation
    assert isinstance(compilation, IslandCompilation)
    placed = compilation.stages["flatten"].schedule
    for stream, issued in zip(design.plan.streams, compilation.instance_maps(), strict=True):
        statement = compilation.analysis.scop.statement(stream.statement)
        counters = stream_iterations(stream)
        real, points = instances_of(statement, placed.loops(statement.name), counters)
        assert (issued.real(counters) == real).all()
        shown = [statement.instance_text(tuple(point)) for point in points.tolist()]
        mine = issued.points(counters[real]).tolist()
        texts = [f"{statement.name}({','.join(map(str, point))})" for point in mine]
        assert texts == shown


def test_instances_are_named_as_in_c() -> None:
    design = rtlgen.compile(source=STRIDES)
    texts = []
    for stream, issued in zip(design.plan.streams, design.issued, strict=True):
        counters = stream_iterations(stream)
        points = issued.instances.points(counters[issued.instances.real(counters)]).tolist()
        texts += [issued.instances.text(point) for point in points]
    expected = [f"S0(i={i})" for i in range(3, 40, 4)]
    expected += [f"S1(i={i})" for i in range(30, 2, -2) if i % 3 == 0]
    assert sorted(texts) == sorted(expected)
