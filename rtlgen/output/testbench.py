"""A self-checking test bench in plain Verilog: no Python, no vendor library.

For each data set it writes every array through the host ports, starts the kernel, counts the cycles
to done, reads everything back, compares each element, the return value, the checksum and the cycle
count, and prints one line a check. A memory off chip is part of the bench, filled before each run
and compared after it, with all that is between arrays. There is no reset between data sets. It ends
with `PASS` or, through `$fatal`, with `FAIL` and a non-zero status. The text is `testbench.v.j2`;
the data stands beside it in hexadecimal.

The data sets are those that show most, as many as the files may hold; where a run is too much to
compute there is no test bench.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.types import type_named
from rtlgen.manifest.contents import CHECKSUM_WIDTH_BITS, ArrayEntry, Manifest
from rtlgen.manifest.memory_map import AXI_BASE_BYTES, AXI_MOST_BEATS
from rtlgen.manifest.registers import RegisterMap
from rtlgen.output.templates import templates_in
from rtlgen.sim.off_chip import LOCAL, ArrayPlace, Bytes, array_places, image_of, owners
from rtlgen.verify.compare import checksum
from rtlgen.verify.data import DataSets
from rtlgen.verify.equivalence import known_to
from rtlgen.verify.inputs import Inputs, check_inputs, scalar_word
from rtlgen.verify.values import Value, pattern_of, to_words

SHOWN_MISMATCHES = 10

_RAM_FILE = "off-chip"
"""No array of C has this name."""

_TEMPLATES = templates_in(Path(__file__).parent)


@dataclass(frozen=True, slots=True, eq=False)
class Expected:
    """What a run must leave: every array that the host gets, and the values that the ports give.

    None leaves out the check.
    """

    arrays: Mapping[str, np.ndarray]
    returned: Value | None = None
    checksum: int | None = None


@dataclass(frozen=True, slots=True, eq=False)
class Case:
    """One run: its inputs, and what it must leave; `name` says what data that is."""

    name: str
    inputs: Inputs
    expected: Expected


@dataclass(frozen=True, slots=True)
class Testbench:
    """The files of a test bench: the Verilog, and the data that it reads by relative paths."""

    verilog: Path
    data: tuple[Path, ...]


@dataclass(frozen=True, slots=True)
class _Check:
    """A comparison of one value, which is another one in each run.

    Members
    -------
    got: what holds it. form: how $display shows it.
    """

    name: str
    got: str
    expected: tuple[str, ...]
    width: int
    form: str


def testbench_files(manifest: Manifest) -> tuple[str, str]:
    """Return the names of the test bench's Verilog and of the folder of its data."""
    return f"{manifest.name}_tb.v", f"{manifest.name}_tb_data"


def write_testbench(directory: Path, manifest: Manifest, cases: Sequence[Case]) -> Testbench:
    """Write `NAME_tb.v` and `NAME_tb_data/*.hex` into `directory`, beside the kernel's Verilog.

    Raises
    ------
    MissingInputError, UnknownInputError, InputTypeError: about the inputs.
    """
    given = [check_inputs(case.inputs, manifest) for case in cases]
    name = f"{manifest.name}_tb"
    file, folder = testbench_files(manifest)
    data = directory / folder
    data.mkdir(parents=True, exist_ok=True)
    files: list[Path] = []
    for array in manifest.host_arrays:
        before = [inputs[array.name] for inputs in given]
        after = [case.expected.arrays[array.name] for case in cases]
        for kind, images in (("in", before), ("out", after)):
            path = data / f"{array.name}_{kind}.hex"
            text = "".join(_hex_lines(np.asarray(image), array) for image in images)
            path.write_text(text, encoding="utf-8")
            files.append(path)
    if manifest.memory is not None:
        files += _write_memory(data, manifest, given, [case.expected.arrays for case in cases])
    prefix, registers = _free_prefix(manifest), manifest.registers
    windows = {w.array: w.offset for w in registers.windows} if registers is not None else {}
    text = _TEMPLATES.get_template("testbench.v.j2").render(
        name=name,
        kernel=manifest,
        arrays=manifest.host_arrays,
        streams=manifest.streams,
        inputs=_driven(manifest),
        memory=manifest.memory,
        ram_file=_RAM_FILE,
        places=_places(manifest),
        idle=f"{prefix}idle" if registers is not None else manifest.idle,
        registers=registers,
        at=lambda value, half=0: _offset(manifest, value, half),
        window=lambda array: f"32'h{windows[array.name]:x}",
        read_back=() if registers is None else _read_back(registers),
        most_beats=AXI_MOST_BEATS,
        page_bytes=AXI_BASE_BYTES,
        cases=[case.name for case in cases],
        scalars={
            s.name: [_literal(scalar_word(inputs[s.name], s), s.width) for inputs in given]
            for s in manifest.scalars
        },
        checks=_checks(manifest, [case.expected for case in cases], prefix),
        limit_cycles=4 * manifest.predicted_cycles + 1000,
        shown_mismatches=SHOWN_MISMATCHES,
        p=prefix,
    )
    verilog = directory / file
    verilog.write_text(text, encoding="utf-8")
    return Testbench(verilog, tuple(files))


def _offset(manifest: Manifest, value: str, half: int) -> str:
    """Return where the register of a value is, as Verilog has it; 1: of its upper half."""
    assert manifest.registers is not None, "a block has registers"
    return f"32'h{manifest.registers.halves(value)[half].offset:x}"


def _read_back(registers: RegisterMap) -> list[tuple[str, str]]:
    """Return the registers that are read after a run, and what keeps them."""
    kept = (("CYCLES", "cycles"), ("RESULT", "returned"), ("CHECKSUM", "checksum"))
    return [(name, place) for name, place in kept if registers.has(name)]


def _places(manifest: Manifest) -> tuple[ArrayPlace, ...]:
    memory = manifest.memory
    return array_places(memory) if memory is not None and memory.is_axi else ()


def _driven(manifest: Manifest) -> list[str]:
    """Return the inputs that the bench drives step by step."""
    answers = () if manifest.memory is None else [name for name, _ in manifest.memory.port_uses()]
    return [p.name for p in manifest.ports if p.direction == "in" and p.name not in answers]


def _write_memory(
    folder: Path,
    manifest: Manifest,
    before: Sequence[Inputs],
    after: Sequence[Mapping[str, np.ndarray]],
) -> list[Path]:
    """Write what is in the memory off chip before and after each run, and what is compared."""
    assert manifest.memory is not None
    names = {a.name for a in manifest.data_arrays} & {a.name for a in manifest.memory.arrays}
    written: list[Path] = []

    def write(kind: str, images: Sequence[Bytes]) -> None:
        assert manifest.memory is not None
        path = folder / f"{_RAM_FILE}_{kind}.hex"
        # The highest byte of a word comes first.
        words = np.concatenate(images).reshape(-1, manifest.memory.word_bytes)[:, ::-1]
        path.write_text("".join(f"{word.tobytes().hex()}\n" for word in words), encoding="utf-8")
        written.append(path)

    for kind, arrays in (("in", before), ("out", after)):
        words = [{name: to_words(np.asarray(each[name])) for name in names} for each in arrays]
        write(kind, [image_of(manifest, each) for each in words])
    write("mask", [np.where(owners(manifest) == LOCAL, 0, 255).astype(np.uint8)])
    return written


def _hex_lines(values: np.ndarray, array: ArrayEntry) -> str:
    digits = array.element_bits // 4
    # One format for all words: a call a word would take longer than the golden model.
    words = to_words(values).tolist()
    return (f"%0{digits}x\n" * len(words)) % tuple(words)


def _free_prefix(manifest: Manifest) -> str:
    """Return a start of names that no port has, for the test bench's own."""
    prefix = "tb_"
    while any(port.name.startswith(prefix) for port in manifest.ports):
        prefix += "_"
    return prefix


def _checks(manifest: Manifest, expected: Sequence[Expected], prefix: str) -> list[_Check]:
    cycles = (f"64'd{manifest.predicted_cycles}",) * len(expected)
    checks = [_Check("cycles", f"{prefix}cycles", cycles, 64, "%0d")]
    returned = manifest.returned
    if returned is not None:
        values = [e.returned for e in expected if e.returned is not None]
        if len(values) == len(expected):
            type_ = type_named(returned.type)
            words = tuple(_literal(pattern_of(e, type_), returned.width) for e in values)
            got = returned.port or f"{prefix}returned[{returned.width - 1}:0]"
            checks.append(_Check("return value", got, words, returned.width, "%h"))
    if manifest.has_checksum:
        sums = [e.checksum for e in expected if e.checksum is not None]
        if len(sums) == len(expected):
            words = tuple(_literal(value, CHECKSUM_WIDTH_BITS) for value in sums)
            got = manifest.checksum or f"{prefix}checksum"
            unit = _Check("checksum", got, words, CHECKSUM_WIDTH_BITS, "%h")
            checks.append(unit)
    return checks


def _literal(value: int, width: int) -> str:
    return f"{width}'h{value & ((1 << width) - 1):x}"


SEVERAL_WORDS = 200_000
"""Of the data files, in and out, up to which a test bench has several data sets."""

MOST_WORDS = 8_000_000
"""Of the same, up to which there is a test bench: some hundred megabytes."""

MOST_INSTANCES = 2_000_000_000
"""Of all statements, up to which it is computed what a run has to leave: some ten seconds."""


def testbench_obstacle(plan: KernelPlan, manifest: Manifest) -> str | None:
    """Return why a build has no test bench, or None where it has one."""
    instances = sum(stream.instances for stream in plan.streams)
    if instances > MOST_INSTANCES:
        return (
            f"no test bench: what it expects would take {instances:,} instances to compute, and "
            f"{MOST_INSTANCES:,} are the most"
        )
    if _words(manifest) > MOST_WORDS:
        return (
            f"no test bench: its data would be {_words(manifest):,} words, and {MOST_WORDS:,} are "
            "the most"
        )
    return None


def testbench_cases(manifest: Manifest, data: DataSets) -> list[Case]:
    """Return the runs of a test bench: those that show most, as many as its files may hold."""
    return [
        Case(
            each.name,
            known_to(manifest, each.inputs),
            Expected(
                each.golden.arrays,
                each.golden.returned,
                checksum(
                    each.golden.arrays[a.name]
                    for a in manifest.data_arrays
                    if a.role in ("out", "inout")
                ),
            ),
        )
        for each in data.first(max(1, SEVERAL_WORDS // max(1, _words(manifest)))).sets
    ]


def _words(manifest: Manifest) -> int:
    return sum(array.depth for array in manifest.data_arrays)
