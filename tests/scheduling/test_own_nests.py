"""Large programs: statements that are slowed down to the pace of others."""

from __future__ import annotations

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.options import CompileOptions
from rtlgen.scheduling.own_nests import MANY_STATEMENTS

STAGE = "for (int x = 0; x < 64; x++) for (int k = 0; k < {k}; k++) {to}[x] += {of}[x] * w[k];"


def chain(terms: list[int], others: int) -> str:
    """Return stages that sum so many terms each, and statements on their own."""
    arrays = ["a", *(f"b{n}" for n in range(len(terms)))]
    stages = [
        STAGE.format(k=k, of=of, to=to)
        for k, of, to in zip(terms, arrays, arrays[1:], strict=False)
    ]
    more = [f"z[{n}] = a[{n}];" for n in range(others)]
    parameters = ", ".join(f"int {name}[64]" for name in [*arrays, "w", "z"])
    return f"void f({parameters}) {{ {' '.join(stages + more)} }}"


def total(text: str) -> int:
    return compile_program(parse_text(text), CompileOptions()).decision.fused_iterations


def test_a_short_stage_between_long_ones_keeps_step_in_a_large_program() -> None:
    """The second stage has half the work: at full speed it would begin 128 iterations late."""
    few, many = (total(chain([4, 2, 4], others)) for others in (0, MANY_STATEMENTS))
    assert few <= 256 + 8
    assert many == few
