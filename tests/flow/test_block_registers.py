"""Registers move into blocks where that changes nothing, and nowhere else."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from rtlgen.flow.block_registers import (
    ALWAYS,
    WITH_ENABLE,
    absorb_in_file,
    absorb_registers,
    main,
)
from rtlgen.flow.errors import UnreadableResultError

CLOCK, ENABLE, OTHER = 2, 3, 4


def register(d: int, q: int, enable: int | None = None) -> dict[str, Any]:
    return {
        "type": "TRELLIS_FF",
        "parameters": dict(ALWAYS if enable is None else WITH_ENABLE),
        "port_directions": {
            "CE": "input", "CLK": "input", "DI": "input", "LSR": "input", "Q": "output",
        },
        "connections": {"CLK": [CLOCK], "DI": [d], "LSR": ["0"], "Q": [q]}
        | ({} if enable is None else {"CE": [enable]}),
    }  # fmt: skip


def module(block: dict[str, Any], enable: int | None = None) -> dict[str, Any]:
    """Return a block of which two bits of an output, 10 and 11, are registered into 20 and 21."""
    cells = {"block": block, "low": register(10, 20, enable), "high": register(11, 21, enable)}
    ports = {"clk": {"bits": [CLOCK]}, "y": {"bits": [20, 21]}}
    return {"cells": cells, "ports": ports}


def multiplier() -> dict[str, Any]:
    pins = {f"P{bit}": [10 + bit if bit < 2 else 100 + bit] for bit in range(36)}
    directions = dict.fromkeys(pins, "output")
    return {
        "type": "MULT18X18D",
        "parameters": {},
        "port_directions": directions,
        "connections": pins,
    }


def block_ram(width: int, outputs: tuple[str, str]) -> dict[str, Any]:
    pins = {"CLKA": [CLOCK], "CLKB": [CLOCK], "OCEA": ["0"], "OCEB": ["1"]}
    pins |= {"RSTA": ["0"], "RSTB": ["0"]}
    directions = dict.fromkeys(pins, "input") | dict.fromkeys(outputs, "output")
    return {
        "type": "DP16KD",
        "parameters": {
            "DATA_WIDTH_A": f"{width:032b}",
            "DATA_WIDTH_B": f"{width:032b}",
            "REGMODE_A": "NOREG",
            "REGMODE_B": "NOREG",
        },
        "port_directions": directions,
        "connections": pins | dict(zip(outputs, ([10], [11]), strict=True)),
    }


def test_a_product_is_registered_in_its_block() -> None:
    netlist = module(multiplier())
    assert absorb_registers(netlist) == 2
    assert list(netlist["cells"]) == ["block"]
    block = netlist["cells"]["block"]
    assert [block["connections"][f"P{bit}"] for bit in (0, 1)] == [[20], [21]]
    assert block["parameters"]["REG_OUTPUT_CLK"] == "CLK0"
    assert [block["connections"][pin] for pin in ("CLK0", "CE0", "RST0")] == [[CLOCK], ["1"], ["0"]]
    assert block["port_directions"]["CLK0"] == "input"


@pytest.mark.parametrize("enable", [None, ENABLE])
def test_a_word_is_registered_behind_the_port_that_reads_it(enable: int | None) -> None:
    netlist = module(block_ram(18, ("DOB0", "DOB1")), enable)
    assert absorb_registers(netlist) == 2
    block = netlist["cells"]["block"]
    assert (block["parameters"]["REGMODE_A"], block["parameters"]["REGMODE_B"]) == (
        "NOREG",
        "OUTREG",
    )
    assert block["connections"]["OCEA"] == ["0"]
    assert block["connections"]["OCEB"] == ["1" if enable is None else enable]


def test_a_wide_word_is_registered_behind_both_ports() -> None:
    netlist = module(block_ram(36, ("DOA0", "DOB0")))
    assert absorb_registers(netlist) == 2
    block = netlist["cells"]["block"]
    assert [block["parameters"][f"REGMODE_{port}"] for port in "AB"] == ["OUTREG", "OUTREG"]
    assert [block["connections"][f"OCE{port}"] for port in "AB"] == [["1"], ["1"]]


def read_by_logic(netlist: dict[str, Any]) -> None:
    netlist["cells"]["logic"] = {
        "type": "LUT4",
        "parameters": {},
        "port_directions": {"A": "input", "Z": "output"},
        "connections": {"A": [11], "Z": [30]},
    }


def read_by_logic_alone(netlist: dict[str, Any]) -> None:
    read_by_logic(netlist)
    del netlist["cells"]["high"]


def shown(netlist: dict[str, Any]) -> None:
    netlist["ports"]["product"] = {"bits": [11]}


def at_the_enable(netlist: dict[str, Any]) -> None:
    netlist["cells"]["high"] = register(30, 21, enable=11)


def one_with_a_reset(netlist: dict[str, Any]) -> None:
    netlist["cells"]["high"]["connections"]["LSR"] = [OTHER]


def ones_at_power_up(netlist: dict[str, Any]) -> None:
    for name in ("low", "high"):
        netlist["cells"][name]["parameters"]["REGSET"] = "SET"


def one_with_an_enable(netlist: dict[str, Any]) -> None:
    netlist["cells"]["high"] = register(11, 21, ENABLE)


def enables_that_differ(netlist: dict[str, Any]) -> None:
    netlist["cells"]["low"] = register(10, 20, ENABLE)
    netlist["cells"]["high"] = register(11, 21, OTHER)


def clocks_that_differ(netlist: dict[str, Any]) -> None:
    netlist["cells"]["high"]["connections"]["CLK"] = [OTHER]


def one_to_be_kept(netlist: dict[str, Any]) -> None:
    netlist["cells"]["high"]["attributes"] = {"keep": "1"}


SPOILT: tuple[Callable[[dict[str, Any]], None], ...] = (
    read_by_logic,
    read_by_logic_alone,
    shown,
    at_the_enable,
    one_with_a_reset,
    ones_at_power_up,
    one_with_an_enable,
    enables_that_differ,
    clocks_that_differ,
    one_to_be_kept,
)


@pytest.mark.parametrize("spoil", SPOILT)
@pytest.mark.parametrize("block", [multiplier, lambda: block_ram(18, ("DOB0", "DOB1"))])
def test_registers_that_do_something_else_stay(
    block: Callable[[], dict[str, Any]], spoil: Callable[[dict[str, Any]], None]
) -> None:
    netlist = module(block())
    spoil(netlist)
    before = json.dumps(netlist)
    assert absorb_registers(netlist) == 0
    assert json.dumps(netlist) == before


def test_a_product_that_waits_stays_outside() -> None:
    assert absorb_registers(module(multiplier(), ENABLE)) == 0


def test_what_a_word_enables_it_enables_in_a_block() -> None:
    """A bit of one block is the enable of what moves into another."""
    first, second = block_ram(18, ("DOB0", "DOB1")), block_ram(18, ("DOB0", "DOB1"))
    second["connections"] |= {"DOB0": [ENABLE], "DOB1": [12]}
    netlist = module(first, ENABLE)
    netlist["cells"] |= {"second": second, "other": register(12, 22)}
    assert absorb_registers(netlist) == 2
    assert list(netlist["cells"]) == ["block", "second", "other"]
    assert netlist["cells"]["block"]["connections"]["OCEB"] == [ENABLE]


def test_a_word_read_under_another_clock_stays_outside() -> None:
    block = block_ram(18, ("DOB0", "DOB1"))
    block["connections"]["CLKB"] = [OTHER]
    assert absorb_registers(module(block)) == 0


def test_a_port_with_a_reset_takes_no_register() -> None:
    block = block_ram(18, ("DOB0", "DOB1"))
    block["connections"]["RSTB"] = [OTHER]
    assert absorb_registers(module(block)) == 0


def test_the_top_of_a_file_is_packed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found, packed = tmp_path / "netlist.json", tmp_path / "packed.json"
    top = module(multiplier()) | {"attributes": {"top": "1"}}
    cell = module(multiplier()) | {"attributes": {"blackbox": "1"}}
    found.write_text(json.dumps({"modules": {"cell": cell, "top": top}}))
    monkeypatch.setattr(sys, "argv", ["block_registers", str(found), str(packed)])
    main()
    assert capsys.readouterr().out == "2 flip-flops are in blocks\n"
    written = json.loads(packed.read_text())["modules"]
    assert [list(written[name]["cells"]) for name in ("cell", "top")] == [
        [*cell["cells"]],
        ["block"],
    ]


@pytest.mark.parametrize("text", ['{"modules": {}}', "{}", "no JSON", '{"modules": {"top": 3}}'])
def test_a_netlist_of_another_form_is_refused(tmp_path: Path, text: str) -> None:
    found, packed = tmp_path / "netlist.json", tmp_path / "packed.json"
    found.write_text(text)
    with pytest.raises(UnreadableResultError, match="yosys's netlist cannot be read"):
        absorb_in_file(found, packed)
    assert not packed.exists()
