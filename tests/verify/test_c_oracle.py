"""The C compiler of the machine as an oracle: it reads the text itself."""

from __future__ import annotations

import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from rtlgen.frontend import parse_file, parse_text
from rtlgen.ir.expr import Binary, Expr, children, with_children
from rtlgen.ir.scop import Scop
from rtlgen.system.tools import MissingToolError
from rtlgen.verify.c_oracle import COptions, OracleUnsuitable, c_outcomes, compiled_kernel
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.data import given_data_set, random_data_sets
from rtlgen.verify.golden import run_golden
from rtlgen.verify.values import Elements, Value

needs_gcc = pytest.mark.skipif(shutil.which("gcc") is None, reason="there is no gcc")

TEXT = """
#include "sizes.h"
static short offset = 3;
unsigned char seen[N];
static long long scaled(long long x) { return x * GAIN + offset; }
static long long kernel(int n, _Bool up, const signed char a[N], long long b[N][2], int unused) {
  long long sum = 0;
  offset += 1;
  for (int i = 0; i < N; i++) {
    b[i][1] = up ? scaled(a[i] << n) : 7;
    seen[i] = a[i];
    sum += b[i][1];
  }
  return sum;
}
int main(void) { return 0; }
"""
OPTIONS = COptions({"GAIN": "-7", "n": "2"}, ("include",))


def program(folder: Path) -> Scop:
    (folder / "include").mkdir()
    (folder / "include" / "sizes.h").write_text("#define N 5\n")
    (folder / "kernel.c").write_text(TEXT)
    return parse_file(
        Path("kernel.c"), function="kernel", defines=OPTIONS.defines, include_dirs=("include",)
    ).scop


@needs_gcc
def test_it_agrees_with_the_golden_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    scop = program(tmp_path)
    data = random_data_sets(scop)
    kept, outcomes = c_outcomes(scop, data, OPTIONS)
    assert len(kept.sets) == len(data.sets) == len(outcomes)
    for each, outcome in zip(kept.sets, outcomes, strict=True):
        assert outcome.returned == each.golden.returned
        assert outcome.arrays.keys() == each.golden.arrays.keys() == {"offset", "seen", "a", "b"}
        for name, image in outcome.arrays.items():
            assert image.tolist() == each.golden.arrays[name].tolist(), name


@needs_gcc
def test_what_c_leaves_open_of_extremes_is_as_the_circuit_has_it() -> None:
    text = """#include <math.h>
    void f(const float x[4], const float y[4], float less[4], double more[4]) {
      for (int i = 0; i < 4; i++) { less[i] = fminf(x[i], y[i]); more[i] = fmax(y[i], x[i]); }
    }"""
    scop = parse_text(text).scop
    zero, negative_zero, three, signaling = 0, 1 << 31, 0x40400000, 0x7F800001
    x = np.array([zero, negative_zero, three, signaling], np.uint32).view(np.float32)
    y = np.array([negative_zero, zero, signaling, three], np.uint32).view(np.float32)
    inputs: dict[str, Elements | Value] = {
        "x": x,
        "y": y,
        "less": np.zeros(4, np.float32),
        "more": np.zeros(4),
    }
    golden = run_golden(scop, inputs)
    with compiled_kernel(scop, COptions({}, ())) as kernel:
        outcome = kernel.outcome(inputs)
    assert outcome is not None
    for name in ("less", "more"):
        assert outcome.arrays[name].tobytes() == golden.arrays[name].tobytes(), name


@needs_gcc
def test_functions_of_the_file_are_its_own_whatever_their_names() -> None:
    text = """float expf(float x) { return x + 1; }
    float fmaxf(float x, float y) { return x + y; }
    float f(float x) { return expf(x) + fmaxf(x, 2); }"""
    with compiled_kernel(parse_text(text).scop, COptions({}, ())) as kernel:
        outcome = kernel.outcome({"x": np.float32(3)})
    assert outcome is not None and outcome.returned == 9


@needs_gcc
def test_an_error_of_the_front_end_shows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text("int f(int a, int b) { return a - b; }")
    right = parse_file(Path("f.c")).scop

    def turned(expr: Expr) -> Expr:
        if isinstance(expr, Binary) and expr.op == "sub":
            return replace(expr, op="add")
        return with_children(expr, tuple(map(turned, children(expr))))

    (statement,) = right.statements
    wrong = replace(right, statements=(replace(statement, expr=turned(statement.expr)),))
    data = given_data_set(wrong, "mine", {"a": 7, "b": 2})
    _, (outcome,) = c_outcomes(wrong, data, COptions({}, ()))
    assert (outcome.returned, data.sets[0].golden.returned) == (5, 9)


@needs_gcc
def test_data_without_a_meaning_in_c_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text("int f(int a, int b) { return a / b; }")
    scop = parse_file(Path("f.c")).scop
    with pytest.raises(OracleUnsuitable, match="what C leaves undefined"):
        c_outcomes(scop, given_data_set(scop, "mine", {"a": 7, "b": 0}), COptions({}, ()))
    data = random_data_sets(scop, seeds=8)
    kept, _ = c_outcomes(scop, data, COptions({}, ()))
    assert kept.left_out == len(data.sets) - len(kept.sets)


@needs_gcc
@pytest.mark.parametrize("stop", ["abort()", "exit(0)", "exit(3)", "quick_exit(1)"])
def test_data_on_which_the_program_stops_itself_is_left_out(
    stop: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = "#include <stdlib.h>\nint f(int n) { int s = 3; if (n > 4) WHAT; s += n; return s; }"
    Path("some.c").write_text(text.replace("WHAT", stop))
    scop = parse_file(Path("some.c")).scop
    data = [given_data_set(scop, name, {"n": n}) for name, n in (("few", 4), ("many", 5))]
    both = replace(data[0], sets=(*data[0].sets, *data[1].sets))
    kept, (outcome,) = c_outcomes(scop, both, COptions({}, ()))
    assert ([each.name for each in kept.sets], kept.left_out) == (["few"], 1)
    assert outcome.returned == 7
    with pytest.raises(OracleUnsuitable, match="stops before its end"):
        c_outcomes(scop, data[1], COptions({}, ()))


@needs_gcc
def test_statics_of_functions_are_set_and_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "f.c").write_text(
        "int n[2];\n"
        "static int once(int by) { static int n = 3, m[2][2] = {{1}, {3}};\n"
        "  n += by; m[by & 1][1] ^= n; return n + m[0][1]; }\n"
        "static int twice(int by) { static unsigned char n; n += by; return n; }\n"
        "int f(int a[8], int x) {\n"
        "  static int calls; calls++;\n"
        "  for (int i = 0; i < 8; i++) { a[i] = once(i); n[1] += x; a[i] += twice(a[i] & 7); }\n"
        "  return calls;\n}\n"
    )
    scop = parse_file(Path("f.c"), function="f").scop
    data, outcomes = c_outcomes(scop, random_data_sets(scop), COptions({}, ()))
    stored = [a.name for a in scop.arrays if a.storage == "global"]
    assert len(stored) == 5
    for each, outcome in zip(data.sets, outcomes, strict=True):
        assert compare_memories(each.golden.arrays, outcome.arrays).mismatches == 0
        assert outcome.returned == each.golden.returned
        # They hold other values than the compiled program would give them.
        assert any(np.any(each.inputs[name]) for name in stored)


@needs_gcc
def test_a_static_of_an_included_function_is_out_of_reach(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.h").write_text("static int g(int x) { static int n; n += x; return n; }")
    (tmp_path / "f.c").write_text('#include "g.h"\nint f(int x) { int y = g(x); return y; }')
    scop = parse_file(Path("f.c"), function="f").scop
    with pytest.raises(OracleUnsuitable, match="gcc refuses the file") as caught:
        c_outcomes(scop, random_data_sets(scop), COptions({}, ()))
    assert "undeclared" in caught.value.diagnostic.notes[0]


@needs_gcc
def test_what_the_kernel_never_comes_to_may_be_elsewhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = (
        "extern void *memory_for(int n);\nextern int elsewhere(int x);\n"
        "static int f(int a[4]) { int s = 0; for (int i = 0; i < 4; i++) s += a[i]; return s; }\n"
        "static void fill(int *a) { for (int i = 0; i < 4; i++) a[i] = elsewhere(i); }\n"
        "int (*table[])(int) = {elsewhere};\n"
        "int main(void) { int *a = memory_for(4); fill(a); return f(a); }\n"
    )
    Path("f.c").write_text(text)
    scop = parse_file(Path("f.c"), function="f").scop
    data = given_data_set(scop, "mine", {"a": np.array([1, 2, 3, 4], np.int32)})
    _, (outcome,) = c_outcomes(scop, data, COptions({}, ()))
    assert outcome.returned == 10
    Path("f.c").write_text("void begin(void); int f(int x) { begin(); return x; }")
    scop = parse_file(Path("f.c"), function="f").scop
    with pytest.raises(
        OracleUnsuitable, match="the kernel uses what the file does not define"
    ) as caught:
        c_outcomes(scop, given_data_set(scop, "mine", {"x": 1}), COptions({}, ()))
    assert any("begin" in note for note in caught.value.diagnostic.notes)


@needs_gcc
def test_the_kernel_gets_what_the_file_gives_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.c").write_text(
        "static int f(int n, int x) { int s = 0; for (int i = 0; i < n; i++) s += x; return s; }\n"
        "int main(void) { int n = 5; return f(n, 1) + f(n, 2); }\n"
    )
    scop = parse_file(Path("f.c"), function="f").scop
    _, (outcome,) = c_outcomes(scop, given_data_set(scop, "mine", {"x": 3}), COptions({}, ()))
    assert outcome.returned == 15


def test_without_a_compiler_it_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "f.c").write_text("int f(int x) { return x + 1; }")
    scop = parse_file(tmp_path / "f.c").scop
    data = given_data_set(scop, "mine", {"x": 1})
    monkeypatch.setattr("shutil.which", lambda *_, **__: None)
    with pytest.raises(MissingToolError) as caught:
        c_outcomes(scop, data, COptions({}, ()))
    assert (caught.value.exit_code, "gcc" in str(caught.value)) == (3, True)
