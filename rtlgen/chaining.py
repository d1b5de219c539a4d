"""Kernels whose streams are joined: what one sends another one takes, and all run side by side.

first = rtlgen.compile("fir.c", memory="stream")
second = rtlgen.compile("decimate.c", memory="stream")
chain = rtlgen.chain(first, second, connect=["fir.y=decimate.x"])
out = chain.run(x=samples)
"""

from __future__ import annotations

import re
import tempfile
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np

from rtlgen.design import Design
from rtlgen.errors import VERSION, RtlgenError, without_frames
from rtlgen.hw.names import Namer
from rtlgen.ir.cycles import Joint, NeverEnds, joined_cycles
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import Scop
from rtlgen.manifest.contents import (
    ArrayEntry,
    FileEntry,
    HostPort,
    KernelPins,
    Manifest,
    Port,
    ScalarEntry,
    StreamPort,
)
from rtlgen.manifest.file import sha256_of, write_manifest
from rtlgen.output.build_directory import build_directory
from rtlgen.sim.axi_behaviour import AxiBehaviour
from rtlgen.sim.lint import WAIVERS
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.cosim import Simulator, simulate_all
from rtlgen.verify.data import random_data_sets
from rtlgen.verify.golden import run_golden
from rtlgen.verify.inputs import Inputs
from rtlgen.verify.session import RunResult
from rtlgen.verify.values import Elements, Value

_IDENTIFIER = re.compile(r"[A-Za-z]\w*", re.ASCII)
_MODULE = re.compile(r"^module (\w+)", re.MULTILINE)

PAUSED_RUNS = 2
"""Of `Chain.verify`, with pauses of the streams at its ends, a seed each."""


class NoChain(RtlgenError):
    """Kernels cannot be chained the way that was asked for.

    Each joint is `KERNEL.ARRAY=KERNEL.ARRAY`: a stream that goes out of a kernel, and one that
    comes into a later one, with as many elements of the same type. The kernels have names of their
    own, are compiled with `--top core`, keep their other arrays in themselves, and return nothing:
    what they have to say goes out over arrays. Of several streams between two kernels, one does not
    wait for a word of another one that the first kernel sends later: a stream has room for four
    words.

        rtlgen.chain(fir, decimate, connect=["fir.y=decimate.x"])
        rtlgen chain build/fir build/decimate --connect fir.y=decimate.x -o build/chain
    """

    code = "E0431"


@dataclass(frozen=True, slots=True)
class _End:
    """A stream of a kernel: the kernel's number, and the array."""

    kernel: int
    entry: ArrayEntry


@dataclass(frozen=True, slots=True, eq=False)
class ChainVerification:
    """The outcome of a comparison of a chain with its programs, run one after another.

    Members
    -------
    exact: nothing differed, and something was compared. failures: what did, a sentence each.
    compared: elements. cycles: of a run; predicted_cycles: from the plans of its kernels; together,
        of its kernels one after another.
    paused_cycles: of runs whose streams pause at the ends of the chain.
    """

    exact: bool
    failures: tuple[str, ...]
    compared: int
    cycles: int
    predicted_cycles: int
    together: int
    paused_cycles: tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class ChainedKernel:
    """What a chain knows of one of its kernels: its circuit, its plan, and its program.

    Members
    -------
    dead: statements of the program of which nothing is seen.
    """

    manifest: Manifest
    verilog: str
    plan: KernelPlan
    program: Scop
    dead: tuple[str, ...] = ()

    @staticmethod
    def of(design: Design) -> ChainedKernel:
        """Return a kernel that was compiled."""
        compilation = design.compilation
        program = compilation.analysis.program.scop
        dead = tuple(compilation.dead_statements)
        return ChainedKernel(design.manifest, design.verilog.text, design.plan, program, dead)


class Chain:
    """Kernels that are joined; see `rtlgen.chain`.

    Members
    -------
    kernels: in the order of the data. name: of the Verilog module. verilog: its text, with all
        modules in it. predicted_cycles: of a run, behind ends that never wait.
    manifest: its ports, and the arrays and scalars that are left. Ports are called as in their
        kernels, behind the kernel's name; arrays and scalars as in C, behind the kernel's name
        where several kernels have them, and a number where one has that, too.
    """

    def __init__(self, kernels: Sequence[ChainedKernel], connect: Sequence[str], name: str) -> None:
        self.kernels = tuple(kernels)
        self.name = name
        self._kernels = [kernel.manifest for kernel in kernels]
        self._require_kernels()
        self.joints = [self._joint(text) for text in connect]
        ends = Counter((end.kernel, end.entry.name) for joint in self.joints for end in joint)
        for (kernel, array), count in ends.items():
            if count > 1:
                raise NoChain(f"{self._kernels[kernel].name}.{array} is joined {count} times")
        self._joined = set(ends)
        named = Counter(
            name
            for number, manifest in enumerate(self._kernels)
            for name in self._names(manifest)
            if (number, name) not in self._joined
        )
        taken = Namer(name for name, count in named.items() if count == 1)
        self._called = {
            (number, name): taken.name(f"{manifest.name}_{name}") if named[name] > 1 else name
            for number, manifest in enumerate(self._kernels)
            for name in self._names(manifest)
        }
        self.predicted_cycles = self._predicted()
        self.verilog, self.manifest = self._build()
        modules = Counter(_MODULE.findall(self.verilog))
        for module, count in modules.items():
            if count > 1:
                raise NoChain(f"several kernels have a module {module}", help="rename a function")

    @staticmethod
    def _names(manifest: Manifest) -> list[str]:
        return [*(a.name for a in manifest.arrays), *(s.name for s in manifest.scalars)]

    def _require_kernels(self) -> None:
        names = [manifest.name for manifest in self._kernels]
        if len(names) < 2 or len(set(names)) < len(names) or self.name in names:
            raise NoChain(
                f"{', '.join([*names, self.name])} are no chain",
                help="chain two kernels or more, each with a name of its own",
            )
        if not _IDENTIFIER.fullmatch(self.name) or Namer().name(self.name) != self.name:
            raise NoChain(
                f"{self.name!r} is no name of a Verilog module",
                help="letters, digits and underscores, behind a letter; no keyword",
            )
        for manifest in self._kernels:
            what = (
                "has registers: it is a block"
                if manifest.registers is not None
                else "has arrays off chip"
                if manifest.memory is not None
                else "has arrays in RAMs beside it"
                if manifest.core is not None
                else "returns a value"
                if manifest.returned is not None
                else "has a checksum unit"
                if manifest.checksum is not None
                else "has arrays in two copies: each kernel of a chain starts by itself"
                if manifest.swap is not None
                else None
            )
            if what is not None:
                raise NoChain(f"{manifest.name} {what}")

    def _joint(self, text: str) -> tuple[_End, _End]:
        source, equals, sink = text.partition("=")
        if not equals:
            raise NoChain(f"{text} is no joint", help="write KERNEL.ARRAY=KERNEL.ARRAY")
        first, second = self._end(source.strip()), self._end(sink.strip())
        if first.entry.role != "out" or second.entry.role != "in":
            raise NoChain(f"{text} does not lead from what goes out to what comes in")
        if second.kernel <= first.kernel:
            raise NoChain(f"{text} leads back", help="name the kernels in the order of the data")
        if (first.entry.type, first.entry.depth) != (second.entry.type, second.entry.depth):
            raise NoChain(
                f"{text} joins {first.entry.depth} x {first.entry.type} to "
                f"{second.entry.depth} x {second.entry.type}"
            )
        return first, second

    def _end(self, text: str) -> _End:
        kernel, _, array = text.partition(".")
        for number, manifest in enumerate(self._kernels):
            for entry in manifest.streams:
                if (manifest.name, entry.name) == (kernel, array):
                    return _End(number, entry)
        streams = [f"{m.name}.{entry.name}" for m in self._kernels for entry in m.streams]
        raise NoChain(
            f"{text} is no stream",
            help=f"the streams are {', '.join(streams) or 'none: say --memory A=stream'}",
        )

    def _build(self) -> tuple[str, Manifest]:
        """Return the Verilog of the chain, and what drives it needs to know."""
        pins, namer = KernelPins(), Namer((*asdict(KernelPins()).values(), "ends", "rests"))
        wires = self._wires(namer)
        control = asdict(pins).values()
        ports = [Port(name, "out" if name in ("done", "idle") else "in", 1) for name in control]
        arrays: list[ArrayEntry] = []
        scalars: list[ScalarEntry] = []
        errors: list[str] = []
        instances: list[str] = []
        for number, kernel in enumerate(self._kernels):
            names = {
                port.name: wires.get((number, port.name))
                or namer.name(f"{kernel.name}_{port.name}")
                for port in kernel.ports
                if port.name not in control
            }
            ports += [
                Port(names[port.name], port.direction, port.width)
                for port in kernel.ports
                if port.name in names and (number, port.name) not in wires
            ]
            arrays += [
                replace(
                    entry,
                    name=self._called[number, entry.name],
                    ports=None if entry.ports is None else HostPort(**_renamed(entry.ports, names)),
                    stream=None
                    if entry.stream is None
                    else StreamPort(**_renamed(entry.stream, names)),
                )
                for entry in kernel.arrays
                if (number, entry.name) not in self._joined
            ]
            scalars += [
                replace(
                    entry,
                    name=self._called[number, entry.name],
                    port=None if entry.port is None else names[entry.port],
                )
                for entry in kernel.scalars
            ]
            errors += [names[port] for port in kernel.stream_errors]
            own = {
                "start": "start & idle",
                "done": f"ends[{number}]",
                "idle": f"rests[{number}]",
            }
            connected = {**{name: name for name in control}, **own, **names}
            lines = ",\n".join(f"    .{port}({wire})" for port, wire in connected.items())
            instances.append(f"  {kernel.top} {kernel.top}_kernel (\n{lines}\n  );\n")
        text = self._text(ports, wires, instances)
        return text, Manifest(
            name=self.name,
            top=self.name,
            **asdict(pins),
            ports=tuple(ports),
            arrays=tuple(arrays),
            scalars=tuple(scalars),
            returned=None,
            checksum=None,
            checksum_arrays=(),
            predicted_cycles=self.predicted_cycles,
            verilog=FileEntry(f"{self.name}.v", sha256_of(text)),
            source=self._kernels[0].source,
            version=VERSION,
            stream_errors=tuple(errors),
        )

    def _wires(self, namer: Namer) -> dict[tuple[int, str], str]:
        """Return the wires between kernels, by the ports at both of their ends."""
        wires = {}
        for first, second in self.joints:
            assert first.entry.stream is not None and second.entry.stream is not None
            stem = f"{self._kernels[first.kernel].name}_{first.entry.name}"
            ends = asdict(first.entry.stream), asdict(second.entry.stream)
            names = namer.group(stem, tuple(f"_{pin}" for pin in ends[0]))
            for pin, wire in zip(ends[0], names, strict=True):
                wires[first.kernel, ends[0][pin]] = wires[second.kernel, ends[1][pin]] = wire
        return wires

    def _text(
        self,
        ports: Sequence[Port],
        wires: Mapping[tuple[int, str], str],
        instances: Sequence[str],
    ) -> str:
        widths = {
            (n, port.name): port.width for n, m in enumerate(self._kernels) for port in m.ports
        }
        ways = {"in": "input wire", "out": "output wire"}
        declared = ",\n".join(f"  {ways[p.direction]} {_range(p.width)}{p.name}" for p in ports)
        inner = {wire: widths[place] for place, wire in wires.items()}
        lines = "".join(f"  wire {_range(width)}{wire};\n" for wire, width in inner.items())
        count = len(self._kernels)
        modules = "\n".join(kernel.verilog for kernel in self.kernels)
        names = ", ".join(kernel.name for kernel in self._kernels)
        return (
            f"// {self.name}: {names}, joined by rtlgen: they start together, and done comes with\n"
            f"// the last of theirs.\nmodule {self.name} (\n{declared}\n);\n"
            f"  wire [{count - 1}:0] ends;\n  wire [{count - 1}:0] rests;\n{lines}\n"
            "  assign idle = &rests;\n"
            "  assign done = ~idle & &(rests | ends);\n\n"
            + "\n".join(instances)
            + f"endmodule\n\n{modules}"
        )

    @property
    def cycles_together(self) -> int:
        """Cycles of the kernels one after another."""
        return sum(kernel.manifest.predicted_cycles for kernel in self.kernels)

    def _predicted(self) -> int:
        """Return the cycles of a run behind sources and sinks that never wait."""
        joints = [
            Joint((first.kernel, first.entry.name), (second.kernel, second.entry.name))
            for first, second in self.joints
        ]
        try:
            return joined_cycles([kernel.plan for kernel in self.kernels], joints)
        except NeverEnds as stuck:
            names = [self._kernels[number].name for number in stuck.waiting]
            raise NoChain(
                f"{' and '.join(names)} would wait for each other for ever",
                notes=("a stream between two kernels has room for four words",),
                help="let both of them go through their common streams in the same order",
            ) from None

    def write(self, directory: str | Path) -> Path:
        """Write the Verilog and the manifest into a directory, and return the file of the first.

        Raises
        ------
        OutputDirectoryError
        """
        with build_directory(Path(directory)) as staging:
            (staging / self.manifest.verilog.file).write_text(self.verilog, encoding="utf-8")
            (staging / f"{self.name}.vlt").write_bytes(WAIVERS.read_bytes())
            write_manifest(staging, self.manifest)
        return Path(directory) / self.manifest.verilog.file

    @without_frames
    def run(
        self,
        *,
        simulator: Simulator = "verilator",
        inputs: Inputs | None = None,
        **arrays: Elements | Value | float,
    ) -> RunResult:
        """Simulate the chain on arrays and scalars, by their names in it; see `Design.run`.

        Raises
        ------
        RtlgenError: an input is missing or of the wrong type, a tool is missing, the run hangs.
        """
        with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
            self.write(folder)
            given = {**(inputs or {}), **arrays}
            (found,) = simulate_all(Path(folder), self.manifest, [given], simulator=simulator)
        return RunResult(found.arrays, None, found.cycles)

    @without_frames
    def verify(self, *, simulator: Simulator = "verilator", seed: int = 1) -> ChainVerification:
        """Compare the chain on random data with its programs, run one after another.

        Raises
        ------
        RtlgenError: a tool is missing, the run hangs, an output is undefined.
        """
        cases = self._cases(seed)
        failures: list[str] = []
        compared, paused = 0, []
        with tempfile.TemporaryDirectory(prefix="rtlgen-") as folder:
            self.write(folder)
            runs = list(
                simulate_all(
                    Path(folder), self.manifest, [given for given, _ in cases], simulator=simulator
                )
            )
            for number in range(PAUSED_RUNS if self.manifest.streams else 0):
                runs += simulate_all(
                    Path(folder),
                    self.manifest,
                    [cases[0][0]],
                    simulator=simulator,
                    axi=AxiBehaviour(pauses=seed + number),
                )
                paused.append(runs[-1].cycles)
        cycles = runs[0].cycles
        wanted = [*(expected for _, expected in cases), *(cases[0][1] for _ in paused)]
        for number, (expected, got) in enumerate(zip(wanted, runs, strict=True), 1):
            of_these = {name: np.asarray(expected[name]) for name in got.arrays}
            comparison = compare_memories(of_these, got.arrays)
            compared += comparison.elements
            if comparison.mismatches:
                failures.append(f"run {number}: {comparison.text()}")
            if number <= len(cases) and got.cycles != self.predicted_cycles:
                failures.append(
                    f"run {number}: {got.cycles} cycles, predicted {self.predicted_cycles}"
                )
        return ChainVerification(
            not failures and compared > 0,
            tuple(failures),
            compared,
            cycles,
            self.predicted_cycles,
            self.cycles_together,
            tuple(paused),
        )

    def _cases(self, seed: int) -> list[tuple[dict[str, Elements | Value], dict[str, Elements]]]:
        """Return what the chain gets, and what its programs make of that."""
        joints = {
            (second.kernel, second.entry.name): (first.kernel, first.entry.name)
            for first, second in self.joints
        }
        sets = [
            random_data_sets(kernel.program, seed=seed, left_out=kernel.dead).sets
            for kernel in self.kernels
        ]
        cases = []
        for number in range(min(map(len, sets))):
            given: dict[str, Elements | Value] = {}
            left: dict[tuple[int, str], Elements] = {}
            for kernel, member in enumerate(self.kernels):
                inputs = dict(sets[kernel][number].inputs)
                inputs |= {
                    # The kernels agree on the order of the elements, not on their shape.
                    array: np.asarray(left[joints[kernel, array]]).reshape(np.shape(inputs[array]))
                    for array in inputs
                    if (kernel, array) in joints
                }
                found = run_golden(member.program, inputs)
                left |= {(kernel, array): values for array, values in found.arrays.items()}
                given |= {
                    self._called[kernel, name]: value
                    for name, value in inputs.items()
                    if (kernel, name) not in self._joined
                }
            known = {*self._names(self.manifest)}
            expected = {
                self._called[kernel, name]: value
                for (kernel, name), value in left.items()
                if (kernel, name) not in self._joined
            }
            cases.append(({n: v for n, v in given.items() if n in known}, expected))
        return cases


def _renamed(ports: HostPort | StreamPort, names: Mapping[str, str]) -> dict[str, str]:
    return {pin: names[port] for pin, port in asdict(ports).items()}


def _range(width: int) -> str:
    return f"[{width - 1}:0] " if width > 1 else ""


@without_frames
def chain(*designs: Design, connect: Sequence[str], name: str = "chain") -> Chain:
    """Join streams of kernels, which then run side by side.

    Parameters
    ----------
    designs: in the order of the data. connect: `KERNEL.ARRAY=KERNEL.ARRAY` each, from what goes out
        to what comes in. name: of the Verilog module.

    Raises
    ------
    NoChain
    """
    return Chain([ChainedKernel.of(design) for design in designs], connect, name)
