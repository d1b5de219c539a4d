"""Where arrays are in the memory off chip, and what is refused when it cannot be."""

from __future__ import annotations

import json
from dataclasses import astuple, replace

import pytest

from rtlgen.hw.names import port_names
from rtlgen.manifest.contents import Manifest, ManifestCorruptError, Port
from rtlgen.manifest.memory_map import MappedArray, PortUse
from rtlgen.output.verilog import GeneratedVerilog, manifest_of
from rtlgen.source import SourceFile
from sim.designs import scale_add_manifest
from sim.designs.increment import Increment
from tests.tiling.programs import TRANSPOSED, TWO_PRODUCTS, planned

INCREMENT = Increment(word_bits=64, element_bits=16, shape=(3, 6), latency_cycles=8)
BEHIND_AXI = replace(INCREMENT, kind="axi")


def test_every_byte_is_of_one_element_or_of_none() -> None:
    array = MappedArray("A", 16, (2, 3, 5), base_bytes=32, row_elements=5, row_bytes=12)
    found = [array.element_at(byte) for byte in range(32, array.end_bytes)]
    rows = [(i, j) for i in range(2) for j in range(3)]
    expected: list[tuple[int, ...] | None] = []
    for row in rows:
        expected += [(*row, k) for k in range(5) for _ in range(2)] + [None] * 2
    assert found == expected
    assert array.element_at(31) is None and array.element_at(array.end_bytes) is None


def test_short_rows_of_c_are_one_row_of_the_memory() -> None:
    array = MappedArray("w", 8, (2, 3, 3), base_bytes=8, row_elements=9, row_bytes=16)
    found = [array.element_at(byte) for byte in range(8, array.end_bytes)]
    every = [(i, j, k) for i in range(2) for j in range(3) for k in range(3)]
    assert found == [*every[:9], *[None] * 7, *every[9:], *[None] * 7]
    assert [array.row_at(byte) for byte in (8, 23, 24, 39)] == [(0,), (0,), (1,), (1,)]
    flat = replace(array, row_elements=18, row_bytes=24)
    assert flat.element_at(25) == (1, 2, 2) and flat.row_at(25) == ()
    with pytest.raises(ValueError, match="rows of 6 elements"):
        replace(array, row_elements=6)


def test_a_memory_survives_the_way_to_json_and_back() -> None:
    manifest = INCREMENT.manifest()
    document = json.loads(json.dumps(manifest.to_json()))
    assert Manifest.from_json(document) == manifest
    assert document["memory"]["ports"]["ack"] == "mem_ack"
    assert scale_add_manifest().to_json()["memory"] is None


def axi_manifest(**changes: PortUse) -> Manifest:
    """Return a manifest of a circuit with an AXI4 port, some ports being others."""
    manifest = BEHIND_AXI.manifest()
    assert manifest.memory is not None
    uses = {**dict(manifest.memory.port_uses()), **changes}
    ports = [Port(name, *use) for name, use in uses.items()]
    return replace(manifest, ports=(*manifest.ports[:5], *ports))


def test_an_axi_port_is_described_by_the_names_of_its_signals() -> None:
    manifest = axi_manifest()
    document = json.loads(json.dumps(manifest.to_json()))
    assert Manifest.from_json(document) == manifest
    ports = document["memory"]["ports"]
    own = ["error", "error_address", "error_write", "error_response"]
    assert [ports[name] for name in own] == [f"mem_{name}" for name in own]
    assert all(port == f"m_axi_{name}" for name, port in ports.items() if name not in own)
    assert manifest.memory is not None
    widths = {port.removeprefix("m_axi_"): use for port, use in manifest.memory.port_uses()}
    bases = [array["base_port"] for array in document["memory"]["arrays"]]
    assert bases == ["A_base", "B_base"]
    assert {name for name, (_, width) in widths.items() if width == 64} == {
        *(*bases, "mem_error_address", "awaddr", "araddr", "wdata", "rdata")
    }
    assert widths["wstrb"] == ("out", 8) and widths["rdata"] == ("in", 64)
    driven = {name for name, (direction, _) in widths.items() if direction == "in"}
    read = {"arready", "rid", "rdata", "rresp", "rlast", "rvalid"}
    assert driven == {*bases, "awready", "wready", "bid", "bresp", "bvalid"} | read


def test_an_axi_port_of_another_width_is_refused() -> None:
    with pytest.raises(
        ValueError, match=r"port m_axi_arlen is \('out', 4\), expected \('out', 8\)"
    ):
        axi_manifest(m_axi_arlen=("out", 4))
    with pytest.raises(ValueError, match=r"port B_base is \('in', 32\), expected \('in', 64\)"):
        axi_manifest(B_base=("in", 32))


def test_arrays_off_chip_are_the_hosts_and_local_ones_are_not() -> None:
    manifest = INCREMENT.manifest()
    assert [array.name for array in manifest.data_arrays] == ["A", "B"]
    assert manifest.host_arrays == manifest.untouched_arrays == ()
    local = INCREMENT.manifest(roles=("in", "local"))
    assert [array.name for array in local.data_arrays] == ["A"]
    assert local.untouched_arrays == ()


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("kind",), "sram", "manifest.memory.kind: expected 'fixed', 'axi', 'dram', found 'sram'"),
        (("kind",), "axi", "these are not the ports of a memory of kind axi"),
        (
            ("ports",),
            {"ack": "a", "en": "e"},
            "manifest.memory.ports: missing entries: we, addr, wdata, rdata",
        ),
        (("byte_order",), "big", "manifest.memory.byte_order: expected 'little', found 'big'"),
        (("word_bits",), 24, "manifest.memory: the memory has words of 24 bits"),
        (("word_bits",), 8, "array A has elements of 16 bits, wider than words of 8"),
        (("latency_cycles",), 0, "an access of the memory takes 0 cycles"),
        (("depth_words",), 0, "the memory has 0 words"),
        (("depth_words",), 11, "array B ends at byte 96 of a memory of 88 bytes"),
        (("depth_words",), 33, "port mem_addr is ('out', 4), expected ('out', 6)"),
        (("ports", "ack"), "rst2", "port rst2 is None, expected ('in', 1)"),
        (("arrays", 1, "base_bytes"), 40, "array B begins at byte 40, in array A, which ends at"),
        (("arrays", 1, "base_bytes"), 52, "array B begins at byte 52, not on a word of 8 bytes"),
        (("arrays", 0, "base_bytes"), -8, "array A begins at byte -8"),
        (("arrays", 0, "row_bytes"), 12, "array A has a row every 12 bytes, not on words of 8"),
        (("arrays", 0, "row_bytes"), 8, "array A has rows of 12 bytes every 8"),
        (("arrays", 0, "shape"), [], "array A of shape () has no rows"),
        (("arrays", 0, "shape"), [2, 6], "array A has (3, 6) elements of 16 bits, in the memory"),
        (("arrays", 0, "row_elements"), 5, "array A of shape (3, 6) has rows of 5 elements"),
        (("arrays", 0, "element_bits"), 12, "array A has elements of 12 bits"),
        (("arrays", 0, "base_port"), "A_base", "array A has the base A_base in a memory of kind"),
        (("arrays", 0, "name"), "Q", "unknown array Q is in the memory"),
        (("arrays", 0, "name"), "B", "an array is in the memory twice"),
    ],
)
def test_a_wrong_entry_is_named(path: tuple[str | int, ...], value: object, message: str) -> None:
    document = json.loads(json.dumps(INCREMENT.manifest().to_json()))
    place = document["memory"]
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ManifestCorruptError) as caught:
        Manifest.from_json(document)
    assert message in caught.value.diagnostic.message


@pytest.mark.parametrize(
    ("entry", "value", "message"),
    [
        ("base_bytes", 2048, "array B begins at byte 2048, not on a page of 4096"),
        ("base_port", None, "array B has no input for its base in a memory of kind axi"),
        ("base_port", "b", "port b is None, expected ('in', 64)"),
    ],
)
def test_a_base_that_an_array_cannot_have_is_named(entry: str, value: object, message: str) -> None:
    document = json.loads(json.dumps(BEHIND_AXI.manifest().to_json()))
    document["memory"]["arrays"][1][entry] = value
    with pytest.raises(ManifestCorruptError) as caught:
        Manifest.from_json(document)
    assert message in caught.value.diagnostic.message


def test_an_array_is_not_in_two_places() -> None:
    document = json.loads(json.dumps(scale_add_manifest().to_json()))
    memory = json.loads(json.dumps(INCREMENT.manifest().to_json()["memory"]))
    a = document["arrays"][0]
    place = {"name": "A", "element_bits": 32, "shape": a["shape"], "base_bytes": 0}
    rows = {"row_elements": a["shape"][-1], "row_bytes": 16, "base_port": None}
    memory["arrays"] = [place | rows]
    document["memory"] = memory
    document["ports"] += INCREMENT.manifest().to_json()["ports"][5:]  # type: ignore[index]
    with pytest.raises(ManifestCorruptError, match="array A is in the memory and has a host port"):
        Manifest.from_json(document)


@pytest.mark.long
def test_a_planned_memory_is_described_in_the_order_of_c() -> None:
    found = planned(TWO_PRODUCTS, 9, (4, 4, 4), on_chip=frozenset({"A"}))
    side = found.plan.memory_side
    assert side is not None
    control = [Port(name, "in", 1) for name in ("clk", "rst", "start")]
    control += [Port("done", "out", 1), Port("idle", "out", 1)]
    host = port_names(found.plan).hosts["A"]
    ports = [
        *control,
        *(Port(name, "in", w) for name, w in zip(astuple(host)[:4], (7, 1, 4, 32), strict=True)),
        Port(host.rdata, "out", 32),
        *INCREMENT.manifest().ports[5:],
    ]
    widths = {"mem_addr": (side.depth_words - 1).bit_length()}
    manifest = manifest_of(
        found.plan,
        GeneratedVerilog(
            "", "two", tuple(replace(p, width=widths.get(p.name, p.width)) for p in ports)
        ),
        file="two.v",
        source=SourceFile("two.c", ""),
        version="0",
        options={},
        arrays=found.program.scop.arrays,
    )
    assert [array.name for array in manifest.arrays] == ["A", "B", "C", "D", "T"]
    assert [array.name for array in manifest.data_arrays] == ["A", "B", "C", "D"]
    assert [array.name for array in manifest.host_arrays] == ["A"]
    memory = manifest.memory
    assert memory is not None and memory.latency_cycles == side.bus.latency_cycles
    (d,) = (array for array in side.arrays if array.name == "D")
    # Nine numbers of 4 bytes begin every fifth word.
    assert memory.array("D") == MappedArray("D", 32, (9, 9), 8 * d.base_words, 9, 40)


def test_no_name_of_c_takes_a_port_of_the_memory() -> None:
    text = TRANSPOSED.replace("uint8_t a[N][N]", "uint8_t a[N][N], uint8_t mem_en")
    plan = planned(text.replace("a[j][i] +", "a[j][i] + mem_en +"), 8, (4, 4)).plan
    assert port_names(plan).scalars == {"mem_en": "mem_en_2"}
