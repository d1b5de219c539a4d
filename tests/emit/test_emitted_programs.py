"""The C of a program after every pass compiles without a warning and computes what it did."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from rtlgen.driver import compile_program
from rtlgen.emit.unit import c_program
from rtlgen.frontend import parse_file, parse_text
from rtlgen.frontend.program import ParsedProgram
from rtlgen.options import CompileOptions
from rtlgen.options.passes import TRANSFORMS
from tests.emit.execution import Unit, differences
from tests.oracles.gcc_oracle import have_gcc

ROOT = Path(__file__).parents[2]
PROGRAMS = sorted(
    [
        *ROOT.glob("examples/*/*.c"),
        *ROOT.glob("tests/kernels/*.c"),
        *ROOT.glob("tests/end_to_end/*/*.c"),
    ],
    key=lambda path: path.stem,
)

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compile with")


def stages(program: ParsedProgram, label: str, options: CompileOptions) -> Iterator[Unit]:
    """Yield the C of `program` after every pass, each text once."""
    seen = set()
    for name, scop in compile_program(program, options).stages.items():
        text = c_program(scop, name)
        body = text.partition("*/")[2]
        if body not in seen:
            seen.add(body)
            yield Unit(f"{label}.{name}", program.scop, text)


def units(paths: Sequence[Path], options: CompileOptions | None = None) -> list[Unit]:
    chosen = options or CompileOptions()
    return [unit for path in paths for unit in stages(parse_file(path), path.stem, chosen)]


def units_of(text: str, label: str = "program") -> list[Unit]:
    return list(stages(parse_text(text, f"{label}.c"), label, CompileOptions()))


# These parts hold no program whose plan takes seconds.
@pytest.mark.parametrize(
    ("part", "step"), [(10, 64), *(pytest.param(p, 16, marks=pytest.mark.long) for p in (0, 10))]
)
def test_the_program_after_every_pass_computes_the_same(part: int, step: int) -> None:
    sample = PROGRAMS[part::step]
    found = units(sample)
    assert {unit.label.rpartition(".")[2] for unit in found} >= {"parse", "flatten", "fuse"}
    assert differences(found) == []


@pytest.mark.long
@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("part", range(8))
def test_every_program_after_every_pass_computes_the_same(part: int, level: str) -> None:
    assert differences(units(PROGRAMS[part::8]), level=level, seed=part) == []


@pytest.mark.long
@pytest.mark.parametrize("part", range(4))
def test_every_program_that_is_not_fused_computes_the_same(part: int) -> None:
    assert differences(units(PROGRAMS[part::4], CompileOptions(fuse="none"))) == []


def test_every_transform_is_printed() -> None:
    program = parse_file(ROOT / "examples" / "mms_d" / "mms_d.c")
    options = CompileOptions(scheduler="pluto", tile=(4, 4), wavefront=True)
    assert tuple(compile_program(program, options).stages) == TRANSFORMS


UNDEFINED = """
void undefined(short a[16], short z[16], long l[16], unsigned u[16], short b[16], long m[16],
               unsigned v[16], signed char c[16]) {
  for (int i = 0; i < 16; i++) {
    b[i] = a[i] / ((z[i] & 3) - 1) + a[i] % ((z[i] & 3) - 1);
    m[i] = ((z[i] & 1) ? l[i] : (-9223372036854775807L - 1)) / (z[i] & 1 ? 0 : -1);
    v[i] = u[i] / (u[i] & 1) + (u[i] << z[i]) + (u[i] >> z[i]);
    c[i] = (signed char)(l[i] % 7) >> (z[i] & 15);
    l[i] = (l[i] << z[i]) ^ (l[i] >> (z[i] & 63)) ^ (-1 << 31);
  }
}
"""


def test_what_c_leaves_undefined_is_as_the_golden_model_has_it() -> None:
    assert differences(units_of(UNDEFINED)) == []


NAMES = """
int min[8];
unsigned n;
int n_, floord;
void max(int S0_i[8], int int16[8], int divide_int32, int unused, long *also) {
  int S1[8];
  for (int i = 0; i < 8; i++) {
    min[i] = S0_i[i] / int16[i] + divide_int32;
    S1[i] = min[i];
  }
  for (int ceild = 0; ceild < 8; ceild++)
    for (int c0 = 0; c0 <= ceild; c0++) {
      n = n * 3 + S1[ceild] + c0;
      floord = n % 3;
      n_ += floord;
    }
}
"""


def test_names_of_the_program_are_kept_apart_from_those_of_the_text() -> None:
    assert differences(units_of(NAMES, "names")) == []


ALWAYS_TRUE = """
int always(unsigned u[8], unsigned char c[8], int b[8]) {
  int s = 0;
  for (int i = 0; i < 8; i++) {
    b[i] = (u[i] >= 0) + (c[i] < 300) + !(u[i] < 0) - ~(u[i] == c[i]);
    b[i] += (~(int)c[i] != 0);
    if ((u[i] == u[i]) < 2) b[i] += c[i] * 3 ? 1 : 2;
    s += (u[i] < 5) << 1 ? 3 : (b[i] & 1) == 2;
  }
  return s;
}
"""


SKEWED_BY_A_RATIO = """
void skewed_by_a_ratio(unsigned char a[11], long b[14][5], int p) {
  for (int i = 1; i <= 4; i++) {
    for (int j = 2; j <= 7; j++) {
      for (int k = i; k >= 1; k--)
        a[j] = 0;
      b[1][i - 1] = i < (p | b[2 * j - 1][i]) ? 1 : i;
    }
    for (int j = i - 1; j <= 6; j++)
      a[2 * i + 2] = b[1][i - 1];
  }
}
"""


@pytest.mark.long
def test_an_iterator_that_is_computed_and_not_used_is_no_warning() -> None:
    options = CompileOptions(scheduler="feautrier", fusion="max", wavefront=True)
    program = parse_text(SKEWED_BY_A_RATIO, "program.c")
    assert differences(list(stages(program, "program", options))) == []


def test_conditions_that_a_compiler_may_warn_of_are_no_error() -> None:
    assert differences(units_of(ALWAYS_TRUE)) == []


def test_a_parameter_that_only_a_dead_statement_uses_is_no_warning() -> None:
    text = (
        "void f(int p, int a[4]) { for (int i = 0; i < 4; i++) { if (i > 7) a[i] = p; a[i]++; } }"
    )
    assert differences(units_of(text)) == []


def test_a_comment_in_the_text_of_a_statement_ends_no_comment() -> None:
    text = "void f(int a[4]) { for (int i = 0; i < 4; i++) a[i] = /* one */ i /* two */; }"
    assert differences(units_of(text)) == []


SMALL = """
int total;
int f(int a[6], int b[6]) {
  int s = 0;
  for (int i = 0; i < 6; i++) {
    b[i] = a[i] - 3 * b[i];
    total = total * 5 + b[5 - i];
  }
  for (int i = 1; i < 6; i++) s = s * 7 - b[i - 1];
  return s;
}
"""


@pytest.mark.parametrize(
    ("stage", "right", "wrong"),
    [
        ("parse", "i < 6", "i < 5"),
        ("normalise", "* 5", "* 6"),
        ("flatten", "S2_i++", "S2_i += 2"),
        ("fuse", "return s", "return total"),
        ("fuse", "n < 5", "n < 4"),
    ],
)
def test_a_changed_text_is_told_from_the_right_one(stage: str, right: str, wrong: str) -> None:
    found = units_of(SMALL)
    unit = next(unit for unit in found if unit.label == f"program.{stage}")
    comment, end, code = unit.text.partition("*/")
    assert right in code
    broken = replace(unit, text=comment + end + code.replace(right, wrong, 1))
    assert len(differences([*found, broken])) == 1


def test_a_warning_of_the_compiler_is_noticed() -> None:
    unit = units_of(SMALL)[0]
    broken = replace(unit, text=unit.text.replace("int32_t s = 0;", "int32_t s = 0, unused;"))
    with pytest.raises(AssertionError, match="unused"):
        differences([broken])
