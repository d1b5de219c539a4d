"""Targets: known names, sensible latencies, and block RAM counts as synthesis finds them."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from rtlgen.hw.memory import LoadUser, StoreUser
from rtlgen.hw.storage import build_storage
from rtlgen.ir.plan import Memory
from rtlgen.output.verilog import component_verilog
from rtlgen.target import UnknownTargetError, get_target, target_names

_SYNTHESIS = """
import sys
from pyosys import libyosys
design = libyosys.Design()
for command in ("read_verilog dut.v", "synth_ecp5 -top dut -json dut.json"):
    design.run_pass("tee -q " + command)
"""


def test_the_default_target_comes_first() -> None:
    assert target_names()[0] == get_target().name == "ecp5"


def test_an_unknown_target_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownTargetError) as caught:
        get_target("z80")
    assert caught.value.diagnostic.render() == (
        "error[E0401]: there is no target z80\n   = help: choose one of ecp5, ice40, xilinx"
    )


@pytest.mark.parametrize("target", target_names())
def test_wiring_is_free_and_arithmetic_is_registered(target: str) -> None:
    latency = get_target(target).latency_cycles
    for op in ("and", "not", "cast", "select"):
        assert latency(op, 32, 32, 32) == 0
    assert latency("shl", 32, 0, 32) == 0
    for op in ("add", "lt", "shl", "mul"):
        assert latency(op, 32, 32, 32) >= 1
    assert latency("div", 32, 32, 32) > latency("mul", 32, 32, 32)


def test_wider_products_take_longer() -> None:
    latency = get_target("ecp5").latency_cycles
    widths = [(16, 16, 32), (32, 32, 32), (64, 64, 64)]
    assert [latency("mul", *each) for each in widths] == [1, 2, 3]


def test_a_division_takes_as_long_as_its_dividend_is_wide() -> None:
    latency = get_target("ecp5").latency_cycles
    assert [latency("div", bits, 32, bits) for bits in (2, 8, 16, 31, 32, 64)] == [
        3, 6, 10, 18, 18, 34,
    ]  # fmt: skip


def test_there_is_no_operation_of_another_name() -> None:
    with pytest.raises(ValueError, match="sqrt"):
        get_target().latency_cycles("sqrt", 32, 32, 32)


@pytest.mark.sample("2048-16")
@pytest.mark.synthesis
@pytest.mark.parametrize(
    ("depth", "width_bits"),
    [(8, 32), (512, 32), (513, 32), (1024, 32), (64, 64), (2048, 8), (2048, 16)],
)
def test_an_array_takes_as_many_block_rams_as_predicted(
    depth: int, width_bits: int, tmp_path: Path
) -> None:
    memory = Memory(
        name="A",
        width_bits=width_bits,
        signed=True,
        shape=(depth,),
        role="inout",
        storage="parameter",
        kind="block",
        read_ports=1,
        read_latency_cycles=2,
        collision_free=True,
    )
    text = component_verilog(build_storage(memory, (LoadUser(0),), (StoreUser(0),)), "dut", "")
    (tmp_path / "dut.v").write_text(text)
    subprocess.run([sys.executable, "-c", _SYNTHESIS], cwd=tmp_path, check=True)
    cells = json.loads((tmp_path / "dut.json").read_text())["modules"]["dut"]["cells"].values()
    types = [cell["type"] for cell in cells]
    assert types.count("DP16KD") == get_target("ecp5").block_rams(depth, width_bits)
    # Nothing of the array is in flip-flops or LUT RAM: only the register behind each output bit,
    # and for several RAMs in depth the choice among them.
    assert "TRELLIS_DPR16X4" not in types
    assert types.count("TRELLIS_FF") <= width_bits + 4


@pytest.mark.parametrize(
    ("words", "is_one_of_many", "style"),
    [
        (16, False, "distributed"),
        (17, False, "block"),
        (17, True, "distributed"),
        (64, True, "distributed"),
        (65, True, "block"),
    ],
)
def test_what_takes_few_cells_is_made_of_them(words: int, is_one_of_many: bool, style: str) -> None:
    assert get_target("ecp5").ram_style(words, is_one_of_many=is_one_of_many) == style
    assert get_target("ice40").ram_style(words, is_one_of_many=is_one_of_many) == "block"
