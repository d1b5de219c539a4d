"""What macros make, and which `-D` is one."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.frontend import ParsedProgram, parse_file, parse_text
from rtlgen.frontend.errors import LoopNeverEnds
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.oracles.gcc_oracle import have_gcc, run_gcc


def assert_as_gcc(program: ParsedProgram) -> None:
    inputs = random_inputs(program.scop, 1)
    golden, second = run_golden(program.scop, inputs), run_gcc(program.scop, inputs)
    for name, image in golden.arrays.items():
        assert (image == second.arrays[name]).all()


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_suffixes_and_digits_are_pasted() -> None:
    text = """#define WIDE(x) x##LL
#define UNS(x) x ## u
#define BOTH(x) x##uLL
#define PLACE(x, y) x##y
void f(long long a[8]) {
  for (int i = 0; i < 8; i++)
    a[i] = (a[i] & WIDE(0x7FFFFFFF0)) + UNS(3) + BOTH(5) + PLACE(1, 2) + WIDE(-1);
}
"""
    assert_as_gcc(parse_text(text))


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
def test_wide_characters_are_numbers() -> None:
    text = r"""#define Q L'q'
void f(int v[4]) {
  for (int i = 0; i < 4; i++) v[i] = L'a' + Q + u'\xff' + '\xff' + L'\377';
}
"""
    assert_as_gcc(parse_text(text))


KERNEL = "void f(int n, int a[8])\n{\n  for (int i = 0; i < n; i++)\n    a[i] += i;\n}\n"
FIXED = {
    "a global of that name": f"int n;\n{KERNEL}",
    "a member of that name": f"struct s {{ int n; }};\n{KERNEL}",
    "the old style": (
        "void f(a, n)\n  int a[8], n;\n{ int i; for (i = 0; i < n; i++) a[i] += i; }\n"
    ),
    "a parameter of another function": (
        "static void clear(int n, int a[8]) { for (int i = 0; i < n; i++) a[i] = 0; }\n"
        + KERNEL.replace("{\n", "{\n  clear(n, a);\n")
    ),
    "an included kernel": '#include "inc/body.h"\n',
    "a kernel that a macro includes": '#ifdef SIZE\n#include "inc/body.h"\n#endif\n',
}


@pytest.mark.parametrize("text", FIXED.values(), ids=FIXED)
def test_an_option_fixes_a_parameter_wherever_it_is_declared(text: str, tmp_path: Path) -> None:
    (tmp_path / "inc").mkdir()
    (tmp_path / "inc" / "body.h").write_text(KERNEL)
    (tmp_path / "f.c").write_text(text)
    program = parse_file(tmp_path / "f.c", function="f", defines={"n": "4", "SIZE": "4"})
    assert {s.loops[0].stop.constant for s in program.scop.statements} == {4}


def test_an_option_for_a_macro_of_an_included_file_is_a_macro(tmp_path: Path) -> None:
    (tmp_path / "size.h").write_text("#define ROWS (n)\n")
    (tmp_path / "f.c").write_text(
        '#include "size.h"\nvoid f(int a[8]) { for (int i = 0; i < ROWS; i++) a[i] = 0; }\n'
    )
    (statement,) = parse_file(tmp_path / "f.c", defines={"n": "4"}).scop.statements
    assert statement.loops[0].stop.constant == 4


REMEDIES = {
    "for (int i = 9; i != 3; i++)": "turn the step round, or let the loop start before its end",
    "for (int i = 0; i != 8; i += 3)": "compare with `<`",
}


@pytest.mark.parametrize(("head", "remedy"), REMEDIES.items())
def test_a_loop_that_misses_its_end_has_a_remedy_that_enters_it(head: str, remedy: str) -> None:
    with pytest.raises(LoopNeverEnds) as caught:
        parse_text(f"#include <stdint.h>\nvoid f(int v[256]) {{ {head} v[i & 255] -= i; }}")
    assert caught.value.diagnostic.help == remedy


def test_a_file_that_asks_for_a_compiler_of_the_standard_is_told_of_one() -> None:
    text = """
    #if __STDC__ && __STDC_VERSION__ >= 199901L
    #define P(parameters) parameters
    #endif
    int larger P((int a, int b)) { return a > b ? a : b; }
    """
    assert parse_text(text).scop.name == "larger"


def test_a_file_whose_guard_is_undefined_is_read_again(tmp_path: Path) -> None:
    guarded = "#ifndef ONCE\n#define ONCE\n#define P(parameters) parameters\n#endif\n"
    (tmp_path / "on.h").write_text(guarded)
    (tmp_path / "off.h").write_text("#undef ONCE\n#undef P\n")
    kernel = tmp_path / "kernel.c"
    head = '#include "on.h"\n#include "off.h"\n#include "on.h"\n#include "on.h"\n'
    kernel.write_text(f"{head}int larger P((int a, int b)) {{ return a > b ? a : b; }}\n")
    assert parse_file(kernel).scop.name == "larger"
