"""The manifest survives the way to disk and back, and says what is wrong when it does not."""

import json
from pathlib import Path

import pytest

from rtlgen.manifest.contents import Manifest, ManifestCorruptError
from rtlgen.manifest.file import (
    ManifestMissingError,
    StaleVerilogError,
    read_manifest,
    read_verilog,
    write_manifest,
)
from sim.designs import build_scale_add, scale_add_manifest


def test_a_manifest_survives_the_way_to_disk_and_back(tmp_path: Path) -> None:
    manifest = scale_add_manifest()
    write_manifest(tmp_path, manifest)
    assert read_manifest(tmp_path) == manifest


def test_the_json_has_the_promised_entries() -> None:
    document = scale_add_manifest().to_json()
    promised = "name top clock reset start done ports arrays scalars return predicted_cycles"
    assert set(promised.split()) | {"verilog", "source", "options", "version"} <= set(document)
    result = {"port": "return_value", "width": 32, "signed": True, "type": "int32"}
    assert document["return"] == result


def test_a_missing_manifest_is_named(tmp_path: Path) -> None:
    with pytest.raises(ManifestMissingError) as caught:
        read_manifest(tmp_path)
    path = tmp_path / "manifest.json"
    assert caught.value.diagnostic.message == f"cannot read {path}: No such file or directory"


def test_a_truncated_manifest_is_refused(tmp_path: Path) -> None:
    path = write_manifest(tmp_path, scale_add_manifest())
    path.write_text(path.read_text()[:-40])
    with pytest.raises(ManifestCorruptError, match=r"manifest\.json is not JSON"):
        read_manifest(tmp_path)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("top",), None, "manifest.top: expected str, found None"),
        (("predicted_cycles",), True, "manifest.predicted_cycles: expected int, found True"),
        (("arrays", 0, "role"), "both", "manifest.arrays[0].role: expected 'in', 'out', 'inout',"),
        (("arrays", 0, "shape"), 4, "manifest.arrays[0].shape: expected a list, found 4"),
        (("arrays", 1, "element_bits"), 12, "manifest.arrays[1]: array B has elements of 12 bits"),
        (("arrays", 0, "shape"), [64], "port A_addr is ('in', 4), expected ('in', 6)"),
        (("done",), "ready", "port ready is None, expected ('out', 1)"),
        (("arrays", 1, "type"), "float16", "manifest.arrays[1]: int8 holds no float16"),
        (("arrays", 0, "type"), "float32", "manifest.arrays[0]: int32 holds no float32"),
        (("checksum_arrays",), ["Q"], "checksum over unknown arrays: ('Q',)"),
    ],
)
def test_a_wrong_entry_is_named(path: tuple[str | int, ...], value: object, message: str) -> None:
    document = json.loads(json.dumps(scale_add_manifest().to_json()))
    place = document
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    with pytest.raises(ManifestCorruptError) as caught:
        Manifest.from_json(document)
    assert message in caught.value.diagnostic.message


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("verilog", "file"), "../scale_add.v", "the Verilog of scale_add is not ../scale_add.v"),
        (("verilog", "file"), "/etc/passwd", "the Verilog of scale_add is not /etc/passwd"),
        (("name",), "../up", "'../up' is no name of C or Verilog"),
        (("top",), 'a"; $finish', "is no name of C or Verilog"),
        (("ports", 0, "name"), "clk;\n", "is no name of C or Verilog"),
        (("predicted_cycles",), -1, "-1 predicted cycles"),
        (("predicted_cycles",), 10**30, "predicted cycles"),
        (("arrays", 0, "shape"), [2**40], "array A has 1099511627776 elements"),
    ],
)
def test_entries_that_would_do_harm_are_refused(
    path: tuple[str | int, ...], value: object, message: str
) -> None:
    test_a_wrong_entry_is_named(path, value, message)


def test_a_false_entry_is_noticed_by_the_digest(tmp_path: Path) -> None:
    path = write_manifest(tmp_path, scale_add_manifest())
    text = path.read_text()
    for false in ('"predicted_cycles": 19', '"predicted_cycles": 0'):
        path.write_text(text.replace('"predicted_cycles": 18', false))
        assert path.read_text() != text
        with pytest.raises(ManifestCorruptError, match="was changed after the build"):
            read_manifest(tmp_path)
    path.write_text(text)
    assert read_manifest(tmp_path) == scale_add_manifest()


@pytest.mark.parametrize("deep", ["[" * 100_000, '{"a":' * 100_000, "[" * 500 + "]" * 500])
def test_a_manifest_of_brackets_is_refused(tmp_path: Path, deep: str) -> None:
    (tmp_path / "manifest.json").write_text(deep)
    with pytest.raises(ManifestCorruptError):
        read_manifest(tmp_path)


@pytest.mark.parametrize("change", ["missing", "unknown"])
def test_missing_and_unknown_entries_are_named(change: str) -> None:
    document = scale_add_manifest().to_json()
    if change == "missing":
        del document["return"]
    else:
        document["colour"] = "red"
    name = "return" if change == "missing" else "colour"
    with pytest.raises(ManifestCorruptError, match=name):
        Manifest.from_json(document)


def test_verilog_changed_after_the_build_is_refused(tmp_path: Path) -> None:
    manifest = build_scale_add(tmp_path)
    assert read_verilog(tmp_path, manifest) == tmp_path / "scale_add.v"
    with (tmp_path / "scale_add.v").open("a") as file:
        file.write("// touched\n")
    with pytest.raises(StaleVerilogError, match="not the Verilog that its manifest describes"):
        read_verilog(tmp_path, manifest)
