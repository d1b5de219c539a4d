"""A block as an IP-XACT component (IEEE 1685-2014): buses, ports, files, memory map.

The memory map comes from the SystemRDL by peakrdl-ipxact; the rest, which that does not know, is
put into its place here.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from xml.etree import ElementTree

from peakrdl_ipxact.exporter import IPXACTExporter, Standard
from systemrdl.node import RootNode

from rtlgen.manifest.contents import Manifest

_NAMESPACE = "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"
_AMBA = {"vendor": "amba.com", "library": "AMBA4", "version": "r0p0_0"}
_XILINX_SIGNAL = {"vendor": "xilinx.com", "library": "signal", "version": "1.0"}
_MAP = "memoryMaps"


def component(manifest: Manifest, root: RootNode) -> str:
    """Return the text of component.xml."""
    ElementTree.register_namespace("ipxact", _NAMESPACE)
    text = _memory_map(root, manifest.version)
    made = ElementTree.fromstring(text)
    places = [child.tag for child in made]
    maps = places.index(_tag(_MAP))
    _add_windows(manifest, made[maps][0])
    map_name = made.findtext(f"./{_tag(_MAP)}/{_tag('memoryMap')}/{_tag('name')}") or ""
    made.insert(maps, _bus_interfaces(manifest, map_name))
    after = maps + 2
    if manifest.memory is not None:
        made.insert(maps + 1, _address_spaces())
        after += 1
    made.insert(after, _model(manifest))
    made.insert(after + 1, _file_sets(manifest))
    ElementTree.indent(made)
    head = '<?xml version="1.0" encoding="UTF-8"?>\n'
    return head + ElementTree.tostring(made, encoding="unicode") + "\n"


def _add_windows(manifest: Manifest, memory_map: ElementTree.Element) -> None:
    """Put an address block for each array on chip behind that of the registers."""
    registers = manifest.registers
    assert registers is not None, "a block has registers"
    found = [n for n, child in enumerate(memory_map) if child.tag == _tag("addressBlock")]
    for number, window in enumerate(registers.windows):
        block = _element(
            "addressBlock",
            _element("name", f"ARRAY_{window.array}"),
            _element("baseAddress", f"'h{window.offset:x}"),
            _element("range", f"'h{-(-window.bytes // 4) * 4:x}"),
            _element("width", "32"),
            _element("usage", "memory"),
            _element("access", "read-write"),
        )
        memory_map.insert(found[-1] + 1 + number, block)


def _tag(name: str) -> str:
    return f"{{{_NAMESPACE}}}{name}"


def _element(
    tag: str, /, *children: ElementTree.Element | str, **attributes: str
) -> ElementTree.Element:
    made = ElementTree.Element(_tag(tag), attributes)
    for child in children:
        if isinstance(child, str):
            made.text = child
        else:
            made.append(child)
    return made


def _bus_interfaces(manifest: Manifest, map_name: str) -> ElementTree.Element:
    prefix = manifest.control_prefix or ""
    control = prefix.removesuffix("_")
    slave = _element("slave", _element("memoryMapRef", memoryMapRef=map_name))
    made = [_bus(manifest, control, "AXI4", slave, prefix)]
    if manifest.memory is not None:
        master = _element("master", _element("addressSpaceRef", addressSpaceRef="memory"))
        made.append(_bus(manifest, "m_axi", "AXI4", master, "m_axi_"))
    for array in manifest.streams:
        assert array.stream is not None
        pins = asdict(array.stream)
        name = array.stream.tdata.removesuffix("_tdata")
        role = _element("slave" if array.role == "in" else "master")
        maps = [(pin.upper(), port) for pin, port in pins.items()]
        made.append(_interface(name, _AMBA, "AXI4Stream", role, maps))
    signals = (
        ("aclk", "clock", _XILINX_SIGNAL, "CLK", manifest.clock),
        ("aresetn", "reset", _XILINX_SIGNAL, "RST", manifest.reset),
        ("interrupt", "interrupt", _XILINX_SIGNAL, "INTERRUPT", manifest.interrupt or ""),
    )
    for name, bus, library, logical, port in signals:
        role = _element("master" if bus == "interrupt" else "slave")
        made.append(_interface(name, library, bus, role, [(logical, port)]))
    return _element("busInterfaces", *made)


def _bus(
    manifest: Manifest, name: str, bus: str, role: ElementTree.Element, prefix: str
) -> ElementTree.Element:
    ports = [port.name for port in manifest.ports if port.name.startswith(prefix)]
    maps = [(port.removeprefix(prefix).upper(), port) for port in ports]
    return _interface(name, _AMBA, bus, role, maps)


def _interface(
    name: str,
    library: dict[str, str],
    bus: str,
    role: ElementTree.Element,
    maps: Iterable[tuple[str, str]],
) -> ElementTree.Element:
    port_maps = (
        _element(
            "portMap",
            _element("logicalPort", _element("name", logical)),
            _element("physicalPort", _element("name", port)),
        )
        for logical, port in maps
    )
    abstraction = _element(
        "abstractionType",
        _element("abstractionRef", **library, name=f"{bus}_rtl"),
        _element("portMaps", *port_maps),
    )
    return _element(
        "busInterface",
        _element("name", name),
        _element("busType", **library, name=bus),
        _element("abstractionTypes", abstraction),
        role,
    )


def _address_spaces() -> ElementTree.Element:
    space = _element(
        "addressSpace",
        _element("name", "memory"),
        _element("range", "'h10000000000000000"),
        _element("width", "64"),
    )
    return _element("addressSpaces", space)


def _model(manifest: Manifest) -> ElementTree.Element:
    environment = _element("envIdentifier", "::")
    view = _element(
        "view",
        _element("name", "verilog"),
        environment,
        _element("componentInstantiationRef", "verilog_module"),
    )
    module = _element(
        "componentInstantiation",
        _element("name", "verilog_module"),
        _element("language", "verilog"),
        _element("moduleName", manifest.top),
        _element("fileSetRef", _element("localName", "verilog")),
    )
    ports = []
    for port in manifest.ports:
        wire = _element("wire", _element("direction", port.direction))
        if port.width > 1:
            vector = _element(
                "vector", _element("left", str(port.width - 1)), _element("right", "0")
            )
            wire.append(_element("vectors", vector))
        ports.append(_element("port", _element("name", port.name), wire))
    return _element(
        "model",
        _element("views", view),
        _element("instantiations", module),
        _element("ports", *ports),
    )


def _file_sets(manifest: Manifest) -> ElementTree.Element:
    verilog = _file(manifest.verilog.file, "verilogSource")
    driver = [_file(f"driver/{manifest.name}.{end}", "cSource") for end in ("c", "h")]
    return _element(
        "fileSets",
        _element("fileSet", _element("name", "verilog"), verilog),
        _element("fileSet", _element("name", "driver"), *driver),
    )


def _file(name: str, kind: str) -> ElementTree.Element:
    return _element("file", _element("name", name), _element("fileType", kind))


def _memory_map(root: RootNode, version: str) -> str:
    """Return the IP-XACT component (IEEE 1685-2014) with nothing but the memory map."""
    with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
        path = Path(folder) / "component.xml"
        exporter = IPXACTExporter(
            vendor="rtlgen", library="kernels", version=version, standard=Standard.IEEE_1685_2014
        )
        exporter.export(root.top, str(path))
        return path.read_text(encoding="utf-8")
