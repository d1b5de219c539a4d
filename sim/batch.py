"""Many circuits in one Verilator model: most of the time of a small one goes into building it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path

import numpy as np

from rtlgen.ir.types import type_named
from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.memory_map import (
    AXI_ADDRESS_BITS,
    MOST_MEMORY_BYTES,
    WORD_BITS,
    AxiPorts,
    MemoryKind,
    MemoryMap,
    MemoryPorts,
    PortUse,
)
from rtlgen.sim import native_engine
from rtlgen.sim.axi_behaviour import AxiBehaviour
from rtlgen.sim.models import Harness, compile_verilated
from rtlgen.sim.off_chip import image_of, owners, words_of
from rtlgen.sim.verilator import find_verilator
from rtlgen.system.tools import run_tool
from rtlgen.verify.inputs import Inputs, check_inputs, from_words, scalar_word
from rtlgen.verify.values import Value, to_words, value_of
from sim.axi_traffic import place_words

MAX_SCALARS = 8
_KINDS: tuple[MemoryKind, ...] = ("fixed", "axi", "dram")
_OUTCOMES = ("done", "hang", "protocol", "memory")


@dataclass(frozen=True, slots=True, eq=False)
class Circuit:
    """Verilog text, what it promises, and the data to run it on."""

    verilog: str
    manifest: Manifest
    inputs: Inputs


@dataclass(frozen=True, slots=True, eq=False)
class Run:
    """What a circuit did; `outcome` is `done`, `hang`, `protocol` or `memory`."""

    outcome: str
    cycles: int
    returned: Value | None
    arrays: Mapping[str, np.ndarray]


def run_batch(
    circuits: Sequence[Circuit], folder: Path, pauses: Sequence[bool] = (False,)
) -> list[list[Run]]:
    """Build one model of all `circuits`, run each after a reset, and read everything back.

    Parameters
    ----------
    pauses: for each time that all are run, whether memories off chip take longer now and then.
    """
    names = [circuit.manifest.top for circuit in circuits]
    if len(set(names)) != len(names):
        raise ValueError(f"two circuits share a name: {names}")
    folder.mkdir(parents=True, exist_ok=True)
    design = folder / "batch.v"
    texts = [circuit.verilog for circuit in circuits]
    wrapper = _wrapper([circuit.manifest for circuit in circuits])
    design.write_text("\n".join([*texts, wrapper]), encoding="utf-8")
    main = Path(__file__).with_name("batch_main.cpp")
    # Little runs, much is compiled.
    harness = Harness(main=main, compile_options=(f"-I{native_engine.FOLDER}",), optimisation="-O0")
    executable = compile_verilated(find_verilator(), [design], "batch", folder, harness)
    given = [check_inputs(circuit.inputs, circuit.manifest) for circuit in circuits]
    return [_runs(executable, circuits, given, folder, pausing) for pausing in pauses]


def _runs(
    executable: Path,
    circuits: Sequence[Circuit],
    given: Sequence[Inputs],
    folder: Path,
    pauses: bool,
) -> list[Run]:
    inputs, outputs = folder / "inputs.bin", folder / "outputs.bin"
    words = [len(circuits)]
    for number, (circuit, values) in enumerate(zip(circuits, given, strict=True), 1):
        words += _job(circuit.manifest, values)
        words += _memory(circuit, values, number if pauses else 0)
    np.array(words, dtype="<u8").tofile(inputs)
    run_tool([executable, inputs, outputs], log=folder / "simulation.log", timeout_seconds=300)
    answers = iter(np.fromfile(outputs, dtype="<u8").tolist())
    return [_run(circuit.manifest, answers) for circuit in circuits]


def _job(manifest: Manifest, values: Inputs) -> Iterator[int]:
    yield 4 * manifest.predicted_cycles + 1000
    scalars = [scalar_word(values[s.name], s) for s in manifest.scalars]
    if len(scalars) > MAX_SCALARS:
        raise ValueError(f"{manifest.top} has {len(scalars)} scalars")
    yield from scalars + [0] * (MAX_SCALARS - len(scalars))
    yield len(manifest.host_arrays)
    for array in manifest.host_arrays:
        yield (1 << array.element_bytes) - 1
        yield array.depth
        yield from to_words(np.asarray(values[array.name])).tolist()


def _memory(circuit: Circuit, values: Inputs, pauses: int) -> Iterator[int]:
    """Yield what the memory off chip is, and holds; `pauses` is their seed, 0 for none."""
    memory = circuit.manifest.memory
    if memory is None:
        yield 0
        return
    yield 1 + _KINDS.index(memory.kind)
    yield from (memory.word_bytes, memory.depth_words, memory.latency_cycles)
    if memory.is_axi:
        yield from place_words(memory)
        yield from AxiBehaviour(pauses=pauses).words()
    else:
        yield int(pauses > 0)
    yield from owners(circuit.manifest).tolist()
    given = {a.name for a in circuit.manifest.data_arrays} & {a.name for a in memory.arrays}
    words = {name: to_words(np.asarray(values[name])) for name in given}
    yield from image_of(circuit.manifest, words).tolist()


def _run(manifest: Manifest, answers: Iterator[int]) -> Run:
    outcome, cycles, returned = next(answers), next(answers), next(answers)
    result = manifest.returned
    arrays = {
        array.name: from_words(
            np.array([next(answers) for _ in range(array.depth)], dtype="<u8").astype(
                f"u{array.element_bytes}"
            ),
            array,
        )
        for array in manifest.host_arrays
    }
    memory = manifest.memory
    if memory is not None:
        image = np.array([next(answers) for _ in range(memory.bytes)], dtype=np.uint8)
        given = {a.name: a for a in manifest.data_arrays}
        arrays |= {
            place.name: from_words(words_of(image, place), given[place.name])
            for place in memory.arrays
            if place.name in given
        }
    value = None if result is None else value_of(returned, type_named(result.type))
    return Run(_OUTCOMES[outcome], cycles, value, arrays)


def _widest_ports() -> dict[str, PortUse]:
    """Return direction and width of every port to a memory, of any kind and word."""
    found: dict[str, PortUse] = {}
    for word_bits in WORD_BITS:
        depth = MOST_MEMORY_BYTES * 8 // word_bits
        for ports in (MemoryPorts, AxiPorts):
            names = ports(*(field.name for field in fields(ports)))
            kind = _KINDS[ports is AxiPorts]
            memory = MemoryMap(kind, names, word_bits, depth, 1, "little", ())
            for name, (way, width) in memory.port_uses():
                found[name] = (way, max(width, found.get(name, (way, 0))[1]))
    return found


def _wrapper(manifests: Sequence[Manifest]) -> str:
    """Return the module `batch`: all circuits behind one set of ports."""
    uses = _widest_ports()
    bases = [native_engine.base_slices(manifest.memory) for manifest in manifests]
    most_bases = max(1, *map(len, bases))
    lines = [
        "module batch (input clock, input reset, input start, input [15:0] chosen,",
        "  input [15:0] array, input [63:0] addr, input en, input [7:0] we, input [63:0] wdata,",
        *(f"  input [63:0] scalar_{k}," for k in range(MAX_SCALARS)),
        *(f"  {way}put [{width - 1}:0] memory_{kind}," for kind, (way, width) in uses.items()),
        f"  input [{most_bases * AXI_ADDRESS_BITS - 1}:0] {native_engine.BASES},",
        "  output done, output idle, output [63:0] returned, output [63:0] rdata);",
    ]
    requests = [f"memory_{kind}" for kind, (way, _) in uses.items() if way == "out"]
    taken: dict[str, list[str]] = {
        name: [] for name in ("done", "idle", "returned", "rdata", *requests)
    }
    for number, manifest in enumerate(manifests):
        here = f"chosen == {number}"
        wires: dict[str | None, str] = {
            manifest.clock: f"clock & ({here})",
            manifest.reset: "reset",
            manifest.start: "start",
            manifest.done: f"done_{number}",
            manifest.idle: f"idle_{number}",
        }
        taken["done"].append(f"{here} ? done_{number} : ")
        taken["idle"].append(f"{here} ? idle_{number} : ")
        lines += [f"  wire done_{number}, idle_{number};"]
        widths = {port.name: port.width for port in manifest.ports}
        for k, scalar in enumerate(manifest.scalars):
            wires[scalar.port] = f"scalar_{k}[{scalar.width - 1}:0]"
        if manifest.returned is not None:
            wires[manifest.returned.port] = f"returned_{number}"
            taken["returned"].append(f"{here} ? returned_{number} : ")
            lines.append(f"  wire [{manifest.returned.width - 1}:0] returned_{number};")
        wires |= dict(bases[number])
        if manifest.memory is not None:
            for kind, port in asdict(manifest.memory.ports).items():
                name = f"memory_{kind}"
                if uses[kind][0] == "in":
                    wires[port] = f"{name}[{widths[port] - 1}:0]"
                    continue
                wires[port] = f"{name}_{number}"
                taken[name].append(f"{here} ? {name}_{number} : ")
                lines.append(f"  wire [{widths[port] - 1}:0] {name}_{number};")
        for k, array in enumerate(manifest.host_arrays):
            assert array.ports is not None
            mine, read = f"array == {k}", f"rdata_{number}_{k}"
            wires[array.ports.addr] = f"addr[{array.address_bits - 1}:0]"
            wires[array.ports.en] = f"en & ({mine})"
            wires[array.ports.we] = f"we[{array.element_bytes - 1}:0] & {{8{{{mine}}}}}"
            wires[array.ports.wdata] = f"wdata[{array.element_bits - 1}:0]"
            wires[array.ports.rdata] = read
            lines.append(f"  wire [{widths[array.ports.rdata] - 1}:0] {read};")
            taken["rdata"].append(f"({here} && {mine}) ? {read} : ")
        connected = ", ".join(f".\\{port} ({wire})" for port, wire in wires.items())
        lines.append(f"  \\{manifest.top} circuit_{number} ({connected});")
    lines += [f"  assign {name} = {''.join(parts)} 0;" for name, parts in taken.items()]
    return "\n".join([*lines, "endmodule", ""])
