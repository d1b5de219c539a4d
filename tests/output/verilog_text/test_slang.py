"""The Verilog as slang reads it, a strict reader: everything is declared before it is used.

What it warns of beside is of two kinds, both by intent: an operator whose operands have different
widths extends the narrower one, and one that takes its operands as signed gives bits. Verilator's
lint leaves out the same (`rtlgen/sim/lint.vlt`).
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import rtlgen

pyslang = pytest.importorskip("pyslang", reason="pip install 'rtlgen[test]'")

ROOT = Path(__file__).parents[3]
BY_INTENT = ("ArithOpMismatch", "SignConversion", "WidthExpand")

CIRCUITS: dict[str, tuple[str, dict[str, Any]]] = {
    "core": ("examples/gemm/gemm.c", {}),
    "table": ("examples/aes/aes.c", {}),
    "shared units": ("examples/dct/dct.c", {"checksum": True}),
    "floats": ("examples/float/fgemm/fgemm.c", {}),
    "lookups": ("tests/forms/scatter_histogram.c", {}),
    "beside": ("examples/gemm/gemm.c", {"interface": "external", "unroll": {"k": 4}}),
    "two copies": ("examples/gemm/gemm.c", {"double_buffer": ["A"], "memory": {"B": "axi"}}),
    "block": ("examples/gemm/gemm.c", {"top": "axi", "unroll": {"k": 8}}),
    "block, axi": ("examples/gemm/gemm.c", {"top": "axi", "memory": "axi", "define": {"N": 32}}),
    "block, streams": (
        "examples/gesummv/gesummv.c",
        {"top": "axi", "memory": {"A": "stream", "B": "stream"}},
    ),
}


def found_in(text: str) -> list[str]:
    """Return what slang says of a text, but for what is meant."""
    manager = pyslang.SourceManager()
    tree = pyslang.syntax.SyntaxTree.fromText(text, manager, "design.v", "design.v")
    compilation = pyslang.ast.Compilation()
    compilation.addSyntaxTree(tree)
    return [
        pyslang.DiagnosticEngine.reportAll(manager, [each])
        for each in compilation.getAllDiagnostics()
        if not any(kind in str(each.code) for kind in BY_INTENT)
    ]


@cache
def text_of(name: str) -> str:
    source, options = CIRCUITS[name]
    return rtlgen.compile(str(ROOT / source), **options).verilog.text


@pytest.mark.parametrize("name", CIRCUITS)
def test_a_circuit_is_read_without_a_warning(name: str) -> None:
    assert found_in(text_of(name)) == []


@pytest.mark.parametrize("name", CIRCUITS)
def test_what_is_in_a_circuit_is_called_after_what_it_carries(name: str) -> None:
    # So Amaranth calls what has no name of its own.
    assert re.findall(r"\b(?:signal|signature)(?:_\w+)?\b", text_of(name)) == []


def test_a_chain_is_read_without_a_warning() -> None:
    folder = ROOT / "examples" / "chain" / "blur"
    kernels = [
        rtlgen.compile(str(folder / f"{name}.c"), memory="stream") for name in ("rows", "columns")
    ]
    assert found_in(rtlgen.chain(*kernels, connect=["rows.out=columns.in"]).verilog) == []


def test_what_is_used_before_it_is_declared_is_noticed() -> None:
    text = "module m (output wire a);\n  assign a = b;\n  wire b = 1'b1;\nendmodule\n"
    (found,) = found_in(text)
    assert "before its declaration" in found
