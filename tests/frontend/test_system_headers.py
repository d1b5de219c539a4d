"""System headers: what they declare is there, and is refused only where it is used."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rtlgen.frontend import parse_file, parse_text
from rtlgen.frontend.errors import CSyntaxError, FrontendError, IncludeNotFound, VendorHeader
from rtlgen.frontend.text.headers import _FOLDER as FOLDER
from rtlgen.frontend.text.headers import (
    PREDEFINED,
    declarations,
    header_of,
    included,
    system_header,
)
from rtlgen.ir.expr import Binary
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

NAMES = sorted(p.relative_to(FOLDER).as_posix() for p in FOLDER.rglob("*.h"))
HEADERS = [name for name in NAMES if name != "builtins.h"]
GNU = "#define _GNU_SOURCE\n"
MACROS_OF_GCC = ("assert", "setjmp", "alloca", "memalign", "signbit", "fpclassify")
KERNEL = "void f(int a[8]) { for (int i = 0; i < 8; i++) a[i] += i; }\n"


def values(*expressions: str) -> str:
    """Return a kernel that stores the values of constant expressions, as 64 bits each."""
    stored = "".join(f"y[{k}] = {text};" for k, text in enumerate(expressions))
    return f"void f(unsigned long y[{len(expressions)}]) {{ {stored} }}"


@needs_gcc
def test_every_constant_of_the_integer_headers_has_the_value_that_gcc_gives_it() -> None:
    macros = []
    for name in ("stdint.h", "limits.h", "stdlib.h"):
        header = system_header(name)
        assert header is not None
        macros += [m.split()[0] for m in header.macros if "(c)" not in m and "MB_" not in m]
    called = [f"{sign}INT{w}_C(7) << 2" for sign in ("", "U") for w in (8, 16, 32, 64, "MAX")]
    own = [name for name in PREDEFINED if not name.endswith("_TYPE__")]
    sizes = [f"sizeof({name})" for name in PREDEFINED if name.endswith("_TYPE__")]
    text = values(*macros, *called, *own, *sizes)
    includes = "#include <stdint.h>\n#include <limits.h>\n#include <stdlib.h>\n"
    assert_as_gcc(GNU + includes + text, runs=1)
    assert len(macros) > 70


@needs_gcc
def test_the_types_of_headers_have_the_size_and_the_sign_that_gcc_gives_them() -> None:
    names = []
    for name in ("stdint.h", "sys/types.h", "stddef.h", "time.h"):
        header = system_header(name)
        assert header is not None
        for word, text in header.declarations.items():
            if re.match(r"typedef [a-z ]+ \w+;", text):
                names.append(word)
    integer = [f"sizeof({name}) * 2 + (({name})-1 < 0)" for name in dict.fromkeys(names)]
    assert len(integer) > 50
    includes = "".join(f"#include <{n}>\n" for n in ("stdint.h", "sys/types.h", "time.h"))
    assert_as_gcc(f"{GNU}#include <stddef.h>\n{includes}{values(*integer)}", runs=1)


@pytest.mark.long
@needs_gcc
def test_gcc_declares_what_the_headers_declare() -> None:
    # Every name is mentioned in a function that is no part of the circuit.
    text = "".join(f"#include <{name}>\n" for name in HEADERS if name != "malloc.h")
    functions = []
    for name in HEADERS:
        header = system_header(name)
        assert header is not None
        for word, declared in header.declarations.items():
            is_function = re.match(r"(?!typedef|extern)[^{=]*\b\w+\(", declared)
            if is_function and word not in MACROS_OF_GCC and word[:2] != "is":
                functions.append(f"(void *)&{word}")
    uses = ", ".join(functions)
    text = GNU + text + KERNEL
    text += f"int main(void) {{ void *used[] = {{ {uses} }}; return used[0] == 0; }}\n"
    assert len(functions) > 200
    assert_as_gcc(text, runs=1)


@pytest.mark.parametrize("name", HEADERS)
def test_a_header_may_be_included_by_either_form_and_twice(name: str) -> None:
    program = parse_text(f'#include <{name}>\n#include "{name}"\n{KERNEL}')
    assert program.warnings == ()
    # All that it declares is C.
    words = [w for inner in included((name,)) for w in system_header(inner).declarations]  # type: ignore[union-attr]
    declared = declarations((name,), words)
    assert all(re.search(rf"\b{word}\b", declared) for word in words)


def test_only_what_is_mentioned_is_declared() -> None:
    assert declarations(("math.h", "stdio.h"), ("a", "i")) == ""
    text = declarations(("sys/time.h",), ("gettimeofday",))
    assert "struct timeval {" in text and "typedef long time_t;" in text and "clock(" not in text


def test_a_header_of_the_users_comes_first(tmp_path: Path) -> None:
    folder = tmp_path / "include"
    folder.mkdir()
    (folder / "math.h").write_text("#define OFFSET 3\n")
    kernel = tmp_path / "kernel.c"
    kernel.write_text("#include <math.h>\nvoid f(int a[8]) { a[0] = OFFSET; }\n")
    assert parse_file(kernel, include_dirs=[str(folder)]).scop.name == "f"
    with pytest.raises(FrontendError):
        parse_file(kernel)


def test_an_unknown_header_is_missing_only_to_what_needs_it() -> None:
    program = parse_text(f"#include <board/fpga.h>\n{KERNEL}")
    assert [w.code for w in program.warnings] == ["W0110"]
    with pytest.raises(CSyntaxError) as refusal:
        parse_text("#include <board/fpga.h>\nvoid f(fixed_t a[8]) { a[0] = 1; }")
    assert "<board/fpga.h> is not known" in refusal.value.diagnostic.notes[0]
    with pytest.raises(IncludeNotFound):
        parse_text(f'#include "board/fpga.h"\n{KERNEL}')


def test_no_path_leads_out_of_the_folder_of_headers() -> None:
    assert system_header("../headers.h") is None and system_header("builtins.h") is None
    assert system_header("/etc/passwd") is None and system_header("nothing.h") is None


def test_the_header_that_is_missing_is_named() -> None:
    assert header_of("INT8_MAX") == "stdint.h" and header_of("nonsense") is None
    with pytest.raises(FrontendError) as refusal:
        parse_text("void f(int a[8]) { a[0] = INT8_MAX; }")
    assert refusal.value.diagnostic.help == (
        "include the header that declares it: #include <stdint.h>"
    )


@needs_gcc
def test_the_builtins_of_gnu_c_have_the_values_that_gcc_gives_them() -> None:
    calls = []
    for suffix, x in (("", "(unsigned)x"), ("l", "x"), ("ll", "x")):
        calls += [f"__builtin_{name}{suffix}({x})" for name in ("popcount", "parity", "ffs")]
        calls += [f"__builtin_clrsb{suffix}({x})"]
        calls += [f"__builtin_clz{suffix}({x} | 1)", f"__builtin_ctz{suffix}({x} | 1ul << 31)"]
    calls += [f"(unsigned long)__builtin_bswap{bits}(x)" for bits in (16, 32, 64)]
    calls += ["__builtin_expect(x, 3)", "__builtin_abs((int)x)", "__builtin_labs(x)"]
    stored = "".join(f"y[i][{k}] = {text};" for k, text in enumerate(calls))
    # Numbers of every length, of either sign.
    kernel = f"""void f(const long a[64], long y[64][{len(calls)}]) {{
      for (int i = 0; i < 64; i++) {{ long x = a[i] >> (i & 31) >> (i & 32); {stored} }} }}"""
    assert_as_gcc(kernel)


@needs_gcc
def test_characters_are_what_ctype_says() -> None:
    names = [
        "digit",
        "upper",
        "lower",
        "alpha",
        "alnum",
        "xdigit",
        "space",
        "blank",
        "cntrl",
        "print",
        "graph",
        "punct",
    ]
    stored = "".join(f"y[i] |= !!is{name}(i) << {k};" for k, name in enumerate(names))
    assert_as_gcc(
        f"""#include <ctype.h>
        #include <strings.h>
        void f(int y[256]) {{ for (int i = 0; i < 256; i++) {{
          y[i] = 0; {stored} y[i] |= toupper(i) << 12 | tolower(i) << 20; y[i] += ffs(i); }} }}""",
        runs=1,
    )


def test_a_function_of_the_users_takes_the_place_of_one_of_a_header() -> None:
    scop = parse_text(
        "#include <ctype.h>\nstatic int toupper(int c) { return c + 1; }"
        "void f(int a[4]) { a[0] = toupper(a[1]); }"
    ).scop
    expr = scop.statements[0].expr
    assert isinstance(expr, Binary) and expr.op == "add"


def test_names_of_headers_may_be_used_for_something_else() -> None:
    scop = parse_text(
        """#include <math.h>
        #include <unistd.h>
        void f(int y0[8], int j1[8]) {
          int index = 0, time = 1;
          for (int read = 0; read < 8; read++) y0[index++] = j1[read] + time;
        }"""
    ).scop
    assert [str(s.write) for s in scop.statements][-1] == "y0[read]"


@pytest.mark.parametrize(
    ("header", "remedy"),
    [
        ("<ap_int.h>", "int16_t"),
        ('"ap_fixed.h"', "scale"),
        ("<hls_stream.h>", "an array"),
        ('"hls_math.h"', "constant table"),
        ("<hls_fft.h>", "plain C"),
        ("<ac_int.h>", "int16_t"),
    ],
)
def test_a_header_of_a_c_plus_plus_tool_says_what_to_write(header: str, remedy: str) -> None:
    with pytest.raises(VendorHeader) as caught:
        parse_text(f"#include {header}\nvoid f(int a[4]) {{ a[0] = 1; }}\n")
    assert remedy in str(caught.value.diagnostic.help)
    assert caught.value.diagnostic.labels[0].span.line == 1


def test_a_header_of_that_name_by_the_user_is_read(tmp_path: Path) -> None:
    (tmp_path / "ap_int.h").write_text("typedef short sample;\n")
    path = tmp_path / "f.c"
    path.write_text('#include "ap_int.h"\nvoid f(sample a[4]) { a[0] = 1; }\n')
    assert parse_file(path).scop.arrays[0].element.width_bits == 16
