"""C names become port names that clash with nothing, always in the same way."""

from __future__ import annotations

from dataclasses import replace

from rtlgen.hw.names import CONTROL_PORTS, Namer, port_names
from rtlgen.ir.plan import Scalar
from tests.plans.gemm import gemm_plan
from tests.plans.renaming import renamed


def test_harmless_names_stay() -> None:
    names = port_names(gemm_plan())
    assert names.scalars == {"alpha": "alpha", "beta": "beta"}
    assert names.hosts["C"].wdata == "C_wdata"


def test_an_array_and_a_scalar_that_looks_like_its_port_get_different_names() -> None:
    names = port_names(renamed(gemm_plan(), {"alpha": "A_addr"}))
    assert names.scalars["A_addr"] == "A_addr"
    assert names.hosts["A"].addr == "A_2_addr"
    assert names.hosts["A"].rdata == "A_2_rdata"


def test_keywords_control_ports_and_component_attributes_are_left_alone() -> None:
    plan = gemm_plan()
    taken = (*CONTROL_PORTS, "reg", "logic", "signature", "elaborate", "plan")
    scalars = tuple(Scalar(name, 32, True) for name in taken)
    names = port_names(replace(plan, scalars=(*plan.scalars, *scalars)))
    assert [names.scalars[name] for name in taken] == [f"{name}_2" for name in taken]


def test_the_first_comer_keeps_the_name() -> None:
    namer = Namer(("x",))
    assert [namer.name(name) for name in ("y", "y", "x", "y_2", "_y", "_1", "__")] == [
        "y", "y_2", "x_2", "y_2_2", "y_3", "x1", "x_3",
    ]  # fmt: skip
