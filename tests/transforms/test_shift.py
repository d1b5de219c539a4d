"""The exact shift is the one that MF3's binary search finds, on every dependence."""

from __future__ import annotations

import pytest

from rtlgen.ir.schedule import FlatDim
from rtlgen.transforms.shift import binary_search_shift, exact_shift
from tests.poly.sources import EXAMPLE_NAMES, SMALL, analysed, example, pairs_of


@pytest.mark.parametrize("name", [*EXAMPLE_NAMES, *SMALL])
def test_both_methods_agree(name: str) -> None:
    analysis = analysed(SMALL[name]) if name in SMALL else example(name)
    flats = {
        s.name: FlatDim(analysis.scop.schedule.loops(s.name)) for s in analysis.scop.statements
    }
    assert analysis.dependences
    for d in analysis.dependences:
        for together in (False, True):
            arguments = (analysis.sets, d, flats[d.source], flats[d.sink], together)
            assert exact_shift(*arguments) == binary_search_shift(*arguments)


@pytest.mark.parametrize("name", SMALL)
def test_the_exact_shift_is_the_largest_gap_of_any_pair(name: str) -> None:
    analysis = analysed(SMALL[name])
    scop = analysis.scop
    for d in analysis.dependences:
        source, sink = (FlatDim(scop.schedule.loops(n)) for n in (d.source, d.sink))
        a, b = scop.statement(d.source).iterators, scop.statement(d.sink).iterators
        gaps = [
            source.rank.evaluate(dict(zip(a, p, strict=True)))
            - sink.rank.evaluate(dict(zip(b, q, strict=True)))
            for p, q in pairs_of(d.relation)
        ]
        assert exact_shift(analysis.sets, d, source, sink, True) == max(gaps)
        assert exact_shift(analysis.sets, d, source, sink, False) == max(gaps) + 1


def test_the_shift_of_mms_d_is_26() -> None:
    analysis = example("mms_d")
    flats = [FlatDim(analysis.scop.schedule.loops(name)) for name in ("S0", "S1")]
    (d,) = (d for d in analysis.dependences if (d.source, d.sink, d.kind) == ("S0", "S1", "flow"))
    assert exact_shift(analysis.sets, d, flats[0], flats[1], True) == 26
