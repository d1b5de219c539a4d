"""Write the files of flows: templates, filled from the manifest."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path

from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import MemoryMap
from rtlgen.output.flows import Flow
from rtlgen.output.templates import templates_in
from rtlgen.output.testbench import testbench_files

CLOCK_MHZ = 100
"""What the constraints ask for: on ECP5 all examples reach it."""

_TEMPLATES = templates_in(Path(__file__).parent)


def write_flows(directory: Path, manifest: Manifest, flows: Iterable[Flow]) -> tuple[Path, ...]:
    """Write the files of flows into a build directory, which has all others already."""
    context = _context(directory, manifest)
    texts = {
        file: template
        for flow in flows
        for file, template in zip(
            flow.file_names(manifest.name), flow.templates.values(), strict=True
        )
    }
    written = []
    for file, template in texts.items():
        path = directory / file
        path.write_text(_TEMPLATES.get_template(template).render(context), encoding="utf-8")
        written.append(path)
    return tuple(written)


def _context(directory: Path, manifest: Manifest) -> Mapping[str, object]:
    bench, folder = testbench_files(manifest)
    has_bench = (directory / bench).exists()
    data = sorted(path.name for path in (directory / folder).iterdir()) if has_bench else []
    roles, ways = _axi_roles(manifest.memory), {port.name: port for port in manifest.ports}
    return {
        "kernel": manifest,
        "name": manifest.name,
        "top": manifest.top,
        "verilog": manifest.verilog.file,
        "waivers": f"{manifest.name}.vlt",
        "bench": bench if has_bench else None,
        "data": [f"{folder}/{file}" for file in data],
        "clock_mhz": CLOCK_MHZ,
        "period_ns": 1000 / CLOCK_MHZ,
        "inputs": [p for p in manifest.ports if p.direction == "in" and p.name != manifest.clock],
        "outputs": [p for p in manifest.ports if p.direction == "out"],
        "axi": roles,
        "axi_inputs": [role for role, port in roles.items() if ways[port].direction == "in"],
        "id_bits": ways[roles["awid"]].width if roles else 0,
        "signals": {role: _litex_signal(role) for role in roles},
        "control": _control_roles(manifest),
        "streams": _streams(manifest),
        "streamed": [port for roles in _streams(manifest).values() for port in roles.values()],
    }


def _streams(manifest: Manifest) -> Mapping[str, Mapping[str, str]]:
    """Return the ports of each stream by their roles; by the names of the streams' ports."""
    ports = (array.stream for array in manifest.streams)
    return {port.tdata.removesuffix("_tdata"): asdict(port) for port in ports if port is not None}


def _control_roles(manifest: Manifest) -> Mapping[str, str]:
    """Return the ports of a block's AXI4-Lite port by their roles; none where there is none."""
    prefix = manifest.control_prefix
    if prefix is None:
        return {}
    names = [port.name for port in manifest.ports if port.name.startswith(prefix)]
    return {name.removeprefix(prefix): name for name in names}


def _axi_roles(memory: MemoryMap | None) -> Mapping[str, str]:
    """Return the ports of an AXI4 master by their roles in the standard; none where there is none.

    What the circuit tells of its own about errors, and the bases of its arrays, have no such role.
    """
    if memory is None or not memory.is_axi:
        return {}
    ports: Mapping[str, str | None] = asdict(memory.ports)
    return {role: port for role, port in ports.items() if port and port.startswith("m_axi_")}


def _litex_signal(role: str) -> str:
    """Return what LiteX calls a port of an AXI4 master; of an address it takes the low bits."""
    channel = role[:2] if role[:2] in ("aw", "ar") else role[:1]
    whole = {"awaddr": "written_at", "araddr": "read_at"}
    return whole.get(role, f"bus.{channel}.{role.removeprefix(channel)}")
