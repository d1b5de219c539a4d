"""Each form of C that is lowered means what gcc says it means, and is exact as a circuit."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import replace
from pathlib import Path

import pytest

import rtlgen
from rtlgen.errors import RtlgenError
from rtlgen.planning.analysis import examine
from rtlgen.sim.cocotb_runner import Simulator
from rtlgen.source import SourceFile
from rtlgen.verify.c_oracle import Oracle
from tests.docs.blocks import ROOT
from tests.end_to_end.judge import batch_failures, simulation_failures
from tests.forms.forms import (
    ALL,
    FORMS,
    REFUSED,
    Row,
    accepted,
    defines_of,
    form_of,
    program_of,
    refusal_of,
    row_of,
    stored_types,
    title_of,
)
from tests.frontend.lowering.c_check import assert_scop_as_c
from tests.oracles.gcc_oracle import have_gcc
from tests.simulators import SIMULATORS, needs_icarus

PAGE = ROOT / "docs" / "reference" / "forms.md"

NOT_YET = {"sizes_matrix": "E0129"}
"""Programs that are refused and should not be, with the code; a row goes when it is accepted."""

FILES = [path for path in ALL if path.stem not in NOT_YET]
each_file = pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

ON_ICARUS = ("do_varint", "struct_sort")
ON_VERILATOR = (
    "abort_default", "bitfield_wrap", "bitint_crc", "conditions_budget", "goto_error",
    "pointer_twins", "return_find", "switch_machine", "wrap_down",
)  # fmt: skip


def test_there_are_three_programs_for_each_kind_of_form() -> None:
    forms = {form: group for group, names in FORMS.items() for form in names}
    assert {form_of(path) for path in ALL} == forms.keys()
    for group, names in FORMS.items():
        counts = Counter(form_of(path) for path in FILES)
        assert sum(counts[name] for name in names) >= 3, group
        if group in ("Control", "Data"):
            assert {name for name in names if counts[name] < 3} == set()
    assert len(FILES) >= 60 and len(REFUSED) >= 20


@needs_gcc
@pytest.mark.sample(*(path.stem for path in FILES[::5]))
@each_file
def test_a_form_means_what_gcc_says(path: Path) -> None:
    scop = examine(program_of(path)).program.scop
    if form_of(path) == "bitint":
        # Compilers of 2022 do not know it: they are asked what the plain C means that it becomes.
        text = stored_types(scop.source.text) + program_of(path).lowered
        scop = replace(scop, source=SourceFile(str(path), text))
    assert_scop_as_c(scop, defines_of(path))


@pytest.mark.parametrize("path", REFUSED, ids=lambda path: path.stem)
def test_what_cannot_be_read_is_refused_with_the_reason(path: Path, update_golden: bool) -> None:
    expected = path.with_suffix(".expected")
    if update_golden:
        expected.write_text(rendered(path), encoding="utf-8")
    assert rendered(path) == expected.read_text(encoding="utf-8")


def rendered(path: Path) -> str:
    error = refusal_of(path)
    return error.diagnostic.render(error.sources).replace(f"{path.parent}/", "") + "\n"


@pytest.mark.parametrize("name", NOT_YET)
def test_what_is_not_read_yet_is_refused(name: str) -> None:
    path = next(path for path in ALL if path.stem == name)
    with pytest.raises(RtlgenError) as refused:
        examine(program_of(path))
    assert refused.value.code == NOT_YET[name]


@pytest.mark.sample("do_varint")
@pytest.mark.simulation
@needs_icarus
@pytest.mark.parametrize("name", ON_ICARUS)
def test_a_form_is_exact_on_icarus(name: str, tmp_path: Path) -> None:
    found = accepted(next(path for path in FILES if path.stem == name))
    assert simulation_failures(found.plan, found.program, tmp_path, "icarus", seed=1) == []


@pytest.mark.simulation
def test_forms_are_exact_on_verilator(tmp_path: Path) -> None:
    paths = [path for path in FILES if path.stem in ON_VERILATOR]
    failures = batch_failures([accepted(path) for path in paths], tmp_path, seed=1)
    wrong = {path.stem: failed for path, failed in zip(paths, failures, strict=True) if failed}
    assert wrong == {}
    assert len(paths) == len(ON_VERILATOR)


@pytest.mark.simulation
@pytest.mark.long
@needs_gcc
@pytest.mark.parametrize("simulator", SIMULATORS)
@each_file
def test_a_form_is_verified_against_gcc(path: Path, simulator: Simulator) -> None:
    design = rtlgen.compile(path, define={k: int(v) for k, v in defines_of(path).items()})
    oracle: Oracle = "golden" if form_of(path) == "bitint" else "gcc"
    verified = design.verify(simulator=simulator, oracle=oracle)
    assert verified.exact, verified.failures
    assert verified.cycles == verified.predicted_cycles


def rows_of_page() -> dict[str, Row]:
    """Return what the page says, by file."""
    text = PAGE.read_text(encoding="utf-8")
    pattern = r"^\|[^|]*\| \[(\w+)\]\([^)]*\) \| ([^|]*?) \| ([^|]*?) \| (\d+) \|$"
    found = re.findall(pattern, text, re.MULTILINE)
    return {name: Row(title, flags.strip("`"), int(cycles)) for name, title, flags, cycles in found}


def page_of(rows: dict[str, Row]) -> str:
    """Return reference/forms.md."""
    lines = [
        "<!-- made by `pytest tests/forms --update-golden`; do not edit -->",
        "# Forms of C",
        f"{len(rows)} small programs, some for each form of C that is rewritten before it is read\n"
        "([lowering](../explanation/lowering.md)), with the cycles from start to done.\n"
        "Each is exact on Verilator and Icarus Verilog, and means what gcc says it means: "
        "`pytest tests/forms -m 'long or not long'`.",
    ]
    for group, names in FORMS.items():
        table = ["| form | program | does | options | cycles |", "|---|---|---|---|---|"]
        for form, shown in names.items():
            for name, row in rows.items():
                if name.split("_")[0] == form:
                    link = f"[{name}](../../tests/forms/{name}.c)"
                    flags = f"`{row.options}`" if row.options else ""
                    table.append(f"| {shown} | {link} | {row.title} | {flags} | {row.cycles} |")
        lines += [f"## {group}", "\n".join(table)]
    table = ["| program | does | code | message |", "|---|---|---|---|"]
    for path in REFUSED:
        link = f"[{path.stem}](../../tests/forms/refused/{path.name})"
        error = refusal_of(path)
        code = f"[{error.code}](diagnostics.md#{error.code.lower()})"
        message = error.diagnostic.message.replace("|", "\\|")
        table.append(f"| {link} | {title_of(path)} | {code} | {message} |")
    lines += [
        "## Refused",
        "These are refused, with the place, the reason, and what to write instead.",
    ]
    lines.append("\n".join(table))
    return "\n\n".join(lines) + "\n"


def test_the_page_has_a_row_for_each_program(update_golden: bool) -> None:
    if update_golden:
        PAGE.write_text(page_of({path.stem: row_of(path) for path in FILES}), encoding="utf-8")
    rows = rows_of_page()
    assert {name: row.title for name, row in rows.items()} == {p.stem: title_of(p) for p in FILES}
    assert PAGE.read_text(encoding="utf-8") == page_of({p.stem: rows[p.stem] for p in FILES})


@pytest.mark.sample(*ON_ICARUS, *ON_VERILATOR, "sizes_square")
@each_file
def test_a_row_of_the_page_is_true(path: Path) -> None:
    assert rows_of_page()[path.stem] == row_of(path)
