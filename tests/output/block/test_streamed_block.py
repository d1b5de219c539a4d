"""A block whose arrays come and go over streams: buses for tools, no arguments for drivers."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from xml.etree import ElementTree

import pytest

import rtlgen
from rtlgen.manifest.contents import Manifest
from rtlgen.options import Top

TEXT = """
#include <stdint.h>
int streamed(int8_t k, const uint16_t x[6], const int h[3], uint8_t y[6]) {
  int sum = 0;
  for (int i = 0; i < 6; i++) {
    uint16_t word = x[i];
    y[i] = word * k;
    sum += word * h[i % 3];
  }
  return sum;
}
"""
IPXACT = {"x": "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"}


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    folder = tmp_path_factory.mktemp("streamed")
    design = rtlgen.compile(source=TEXT, top="axi", memory={"x": "stream", "y": "stream"})
    design.write(folder, flows=("litex", "vivado", "quartus"))
    return folder, design.manifest


def test_each_stream_is_a_bus_of_ip_xact(built: tuple[Path, Manifest]) -> None:
    folder, manifest = built
    root = ElementTree.parse(folder / "component.xml").getroot()
    found = {}
    for bus in root.findall(".//x:busInterface", IPXACT):
        kind = bus.find("x:busType", IPXACT)
        if kind is None or kind.get("name") != "AXI4Stream":
            continue
        name = bus.findtext("x:name", None, IPXACT)
        maps = {
            (
                each.findtext("x:logicalPort/x:name", None, IPXACT),
                each.findtext("x:physicalPort/x:name", None, IPXACT),
            )
            for each in bus.findall(".//x:portMap", IPXACT)
        }
        found[name] = bus.find("x:slave", IPXACT) is not None, maps
    pins = ("tdata", "tvalid", "tready", "tlast")
    assert found == {
        name: (is_slave, {(pin.upper(), f"{name}_{pin}") for pin in pins})
        for name, is_slave in (("s_axis_x", True), ("m_axis_y", False))
    }
    mapped = [port.text for port in root.findall(".//x:portMap/x:physicalPort/x:name", IPXACT)]
    assert sorted(map(str, mapped)) == sorted(port.name for port in manifest.ports)


def test_drivers_have_no_argument_for_a_stream(built: tuple[Path, Manifest]) -> None:
    folder, manifest = built
    header = (folder / "driver" / "streamed.h").read_text()
    assert "int streamed_run(streamed_device *device, int8_t k, const int32_t *h, " in header
    assert "_write_x" not in header
    registers = manifest.registers
    assert registers is not None
    assert [window.array for window in registers.windows] == ["h"]
    assert registers.has("STALL_KERNEL")
    assert not registers.has("BASE_x")


def test_flows_name_the_buses(built: tuple[Path, Manifest]) -> None:
    folder, _ = built
    vivado, quartus = ((folder / f"streamed_{end}.tcl").read_text() for end in ("ip", "hw"))
    for stream, way in (("s_axis_x", "end"), ("m_axis_y", "start")):
        assert f"associate_bus_interfaces -busif {stream} " in vivado
        assert f"add_interface {stream} axi4stream {way}" in quartus
        assert quartus.count(f"add_interface_port {stream} {stream}_") == 4


@pytest.mark.skipif(importlib.util.find_spec("litex") is None, reason="LiteX is not installed")
@pytest.mark.parametrize("top", ["core", "axi"])
def test_litex_has_an_endpoint_for_each_stream(tmp_path: Path, top: Top) -> None:
    design = rtlgen.compile(source=TEXT, top=top, memory={"x": "stream", "y": "stream"})
    design.write(tmp_path, flows=("litex",))
    spec = importlib.util.spec_from_file_location("made", tmp_path / "streamed_litex.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)

    class Platform:
        def add_source(self, file: str) -> None:
            assert Path(file).exists()

    kernel = made.Kernel(Platform())
    assert {name: len(end.data) for name, end in kernel.streams.items()} == {"x": 16, "y": 8}
    connected = {item.name: item.expr for item in kernel._fragment.specials.pop().items}
    for name, port in (("x", "s_axis_x"), ("y", "m_axis_y")):
        end = kernel.streams[name]
        ends = {"tdata": end.data, "tvalid": end.valid, "tready": end.ready, "tlast": end.last}
        assert all(connected[f"{port}_{pin}"] is signal for pin, signal in ends.items())
