"""Affine forms of counters that are known some iterations before they are needed."""

from __future__ import annotations

from amaranth.hdl import Module, Signal, Value

from rtlgen.hw.elastic import LEAD, ElasticOdometer
from rtlgen.hw.primed import Pipeline, linear
from rtlgen.ir.plan import IndexForm


class LeadForms:
    """Sums of shifted counters, added up on the way from an elastic odometer to stage 0.

    Parameters
    ----------
    index: the odometer, which stands in the same module. valid: its output of that name.
    """

    def __init__(self, m: Module, index: ElasticOdometer, valid: Value) -> None:
        self._m = m
        self._counters = index.wheels[-1].counters
        leads = {
            node: Signal.like(lead, name=f"lead_{n}")
            for n, (node, lead) in enumerate(zip(self._counters, index.leads, strict=True))
        }
        m.d.comb += [copy.eq(lead) for copy, lead in zip(leads.values(), index.leads, strict=True)]
        self._pipeline = Pipeline(m, valid, dict(leads), LEAD)

    def at(self, form: IndexForm, width_bits: int, name: str) -> Signal:
        """Return the low `width_bits` bits of `form` for the iteration that is issued."""
        parts = list(zip(self._counters, form.coefficients, strict=True))
        total = linear(parts, form.constant, name, stages=LEAD)
        shown = Signal(width_bits, name=name)
        self._m.d.comb += shown.eq(self._pipeline.at(total, LEAD))
        return shown
