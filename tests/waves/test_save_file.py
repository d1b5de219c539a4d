"""The save file beside a trace names signals that the trace has, by statement."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest
from pywellen import Waveform

import rtlgen
from rtlgen.waves.save_file import translations
from tests.simulators import SIMULATORS

GEMM = Path(__file__).resolve().parents[2] / "examples" / "gemm" / "gemm.c"


@pytest.mark.sample("icarus")
@pytest.mark.simulation
@pytest.mark.parametrize("simulator", SIMULATORS)
def test_a_trace_comes_with_a_save_file(tmp_path: Path, simulator: str) -> None:
    design = rtlgen.compile(GEMM, define={"N": 4})
    trace = tmp_path / f"waves{'.fst' if simulator == 'icarus' else '.vcd'}"
    zero = np.zeros((4, 4), np.int32)
    design.run(simulator=simulator, trace=trace, A=zero, B=zero, C=zero, alpha=1, beta=1)  # type: ignore[arg-type]
    lines = (tmp_path / "waves.gtkw").read_text().splitlines()
    assert f'[dumpfile] "{trace}"' in lines
    known = {variable.full_name for variable in Waveform(str(trace)).all_vars()}
    names = [name for line in lines if re.match(r"^[A-Za-z#]", line) for name in shown(line)]
    assert len(names) > 40
    assert {re.sub(r"\[\d+:0\]$", "", name) for name in names} <= known
    groups = [line[1:] for line in lines if line.startswith("-")]
    assert groups.count("S0: C[i][j] *= beta") == 2, "it begins and ends"
    assert groups.count("S1: C[i][j] += alpha * A[i][k] * B[k][j]") == 2
    filters = [Path(line.split(" ", 1)[1]) for line in lines if line.startswith("^1 ")]
    assert [file.name for file in filters] == ["S0.txt", "S1.txt"]
    table = filters[1].read_text().splitlines()
    assert len(table) == 64
    # One bit of `valid`, and two of each counter.
    assert table[0] == "40 S1(i=0, j=0, k=0)"
    assert table[-1] == "7f S1(i=3, j=3, k=3)"


def shown(line: str) -> list[str]:
    """Return the signals of a line: one, or those that are shown as one."""
    return line.partition("}")[2].split() if line.startswith("#{") else [line]


def test_padding_is_not_translated() -> None:
    design = rtlgen.compile(GEMM, define={"N": 4})
    stream, issued = design.plan.streams[0], design.issued[0]
    rows = list(translations(stream, issued, [1, 2, 2, 2]))
    assert len(rows) == 16 < stream.count
    assert rows[5] == ("54", "S0(i=1, j=1)")


@pytest.mark.simulation
def test_many_iterations_are_shown_as_numbers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("rtlgen.waves.save_file.MOST_TRANSLATED", 15)
    source = "void f(char a[16]) { for (int i = 0; i < 16; i++) a[i] = a[i] + 1; }"
    design = rtlgen.compile(source=source)
    design.run(trace=tmp_path / "waves.vcd", a=np.zeros(16, np.int8))
    text = (tmp_path / "waves.gtkw").read_text()
    assert "^1 " not in text
    assert "@22\n#{S0 instance} " in text
    assert not (tmp_path / "waves.filters").exists()
