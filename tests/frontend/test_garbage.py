"""Whatever is in a file, the answer is a diagnostic within seconds, and never a traceback."""

from __future__ import annotations

import random
import time
from pathlib import Path

import pytest

from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_file
from tests.frontend.test_semantics import PROGRAMS

MOST_SECONDS = 5
KERNELS = sorted((Path(__file__).parents[1] / "kernels").glob("*.c"))
KERNEL = b"void f(int a[8]) { for (int i = 0; i < 8; i++) a[i] = i; }\n"
DEEP = 20_000

REFUSED = {
    "empty": b"",
    "only spaces": b" \n\t\r\n" * 50,
    "only a comment": b"/* nothing */",
    "nul": b"\0",
    "nul in a kernel": KERNEL.replace(b"i = 0", b"i \0 = 0"),
    "nul in a comment": b"/* \0 */ int x;",
    "many nuls": b"\0" * 100_000,
    "utf-16": KERNEL.decode().encode("utf-16"),
    "binary": bytes(range(256)) * 64,
    "elf": b"\x7fELF\x02\x01\x01" + b"\0" * 100,
    "latin-1": b"int caf\xe9;",
    "unterminated comment": KERNEL + b"/* and so on",
    "unterminated comment inside": KERNEL.replace(b"i++", b"/* i++"),
    "comment that is no end": KERNEL.replace(b"i++", b"/*/ i++"),
    "unterminated string": b'char *s = "abc;\n' + KERNEL.replace(b"= i;", b'= "x;'),
    "unterminated character": KERNEL.replace(b"= i;", b"= 'x;"),
    "unterminated macro": b"#define M(a, b \n" + KERNEL,
    "unterminated call of a macro": b"#define M(a) a\n" + KERNEL.replace(b"= i;", b"= M(1;"),
    "unterminated if": b"#if 1\n" + KERNEL,
    "endif alone": b"#endif\n" + KERNEL.replace(b"i < 8", b"i < n"),
    "unknown include": b'#include "nowhere.h"\n' + KERNEL,
    "include of nothing": b"#include\n" + KERNEL,
    "include of a folder": b'#include "."\n' + KERNEL,
    "brackets": b"(" * DEEP,
    "braces": b"void f(void) " + b"{" * DEEP,
    "closed braces": b"}" * DEEP,
    "pointers to pointers": b"int " + b"*" * DEEP + b"p; " + KERNEL.replace(b"= i", b"= p"),
    "many dimensions": b"void f(int a" + b"[2]" * 3000 + b") { }",
    "huge array": b"void f(int a[1000000000][1000000000]) { a[0][0] = 1; }",
    "an array of 2^31 elements": b"void f(void) { int a[2147483648UL]; a[0] = 1; }",
    "an array of 2^30 elements": b"void f(int a[1 << 30]) { a[0] = 1; }",
    "rows of 2^30 elements": b"void f(int a[][1 << 20]) { a[1023][0] = 1; }",
    "huge constant": KERNEL.replace(b"8; i", b"9" * 5000 + b"; i"),
    "huge shift": KERNEL.replace(b"= i;", b"= 1 << 99999999999;"),
    "division by zero in a bound": KERNEL.replace(b"i < 8", b"i < 8 / 0"),
    "division by zero in a directive": b"#if 1 / 0\n#endif\nint f(",
    "macro that names itself": b"#define N N + 1\n" + KERNEL.replace(b"i < 8", b"i < N"),
    "a bomb of macros": b"".join(
        f"#define X{k} X{k - 1} X{k - 1} X{k - 1} X{k - 1}\n".encode() for k in range(1, 30)
    )
    + b"#define X0 1 +\n"
    + KERNEL.replace(b"= i;", b"= X29 0;"),
    "macros in a ring": b"#define A B\n#define B C\n#define C A\n"
    + KERNEL.replace(b"i < 8", b"i < A"),
    "nested macro calls": b"#define F(x) ((x) + 1)\n"
    + KERNEL.replace(b"= i;", b"= " + b"F(" * 300 + b"i" + b")" * 300 + b";"),
    "a hundred thousand lines": b"int x;\n" * 100_000 + KERNEL,
    "a hundred thousand statements": b"void f(int a[8]) {\n" + b"a[1] = 2;\n" * 100_000 + b"}\n",
    "a hundred thousand loops": b"void f(int a[8]) {\n"
    + b"for (int i = 0; i < 8; i++) a[i] = 2;\n" * 100_000
    + b"}\n",
    "one line of a megabyte": b"void f(int a[8]) { a[0] = " + b"1 + " * 250_000 + b"1; }",
    "a name of a megabyte": b"void " + b"f" * 1_000_000 + b"(int a[8]) { b = 1; }",
    "backslashes": b"\\\n" * 50_000,
    "c++": b"template <class T> class A { virtual T f() = 0; };",
    "python": b"def f(a):\n    return a[0]\n",
    "assembly": b"f:\n\tmov eax, 1\n\tret\n",
    "makefile": b"all: a.o\n\tgcc -o a a.o\n",
}

ACCEPTED = {
    "crlf": KERNEL.replace(b"{", b"{\r\n"),
    "a mark of the byte order": b"\xef\xbb\xbf" + KERNEL,
    "no newline at the end": KERNEL.rstrip(),
    "form feed": KERNEL.replace(b"{", b"{\f\v"),
    "continued lines": KERNEL.replace(b" ", b" \\\n"),
    "crlf after backslashes": b"#define N \\\r\n8\r\n" + KERNEL.replace(b"i < 8", b"i < N"),
    "a huge shift in a directive": b"#if 1 << 20000000000\n#error\n#endif\n" + KERNEL,
    "a hundred thousand empty lines": b"\n" * 100_000 + KERNEL,
    "utf-8 in a comment": "// Größe π 漢字 🙂\n".encode() + KERNEL,
    "trigraphs": b"??=define N 8\n" + KERNEL.replace(b"8;", b"N;"),
    "pragma of nothing": b"#pragma\n" + KERNEL,
    "many comments": b"// line\n" * 20_000 + KERNEL,
}


def answer(path: Path, content: bytes) -> str | None:
    """Return the code of the refusal, or None; the answer is in time and can be shown."""
    path.write_bytes(content)
    begin = time.process_time()
    try:
        parse_file(path)
    except RtlgenError as error:
        assert error.diagnostic.render(error.sources)
        code: str | None = error.code
    else:
        code = None
    assert time.process_time() - begin < MOST_SECONDS
    return code


@pytest.mark.sample(
    without=(
        "many nuls",
        "a bomb of macros",
    ),
    every=3,
)
@pytest.mark.parametrize("name", REFUSED)
def test_garbage_is_refused_in_time(name: str, tmp_path: Path) -> None:
    assert answer(tmp_path / "garbage.c", REFUSED[name]) is not None


@pytest.mark.parametrize("name", ACCEPTED)
def test_odd_but_right_text_is_accepted(name: str, tmp_path: Path) -> None:
    assert answer(tmp_path / "odd.c", ACCEPTED[name]) is None


def damaged(content: bytes, generator: random.Random) -> bytes:
    """Return bytes with some of them cut off, changed, doubled or left out."""
    at = generator.randrange(len(content))
    to = min(len(content), at + generator.choice((1, 1, 2, 5, 40)))
    match generator.choice(("cut", "bytes", "drop", "double", "bit", "move")):
        case "cut":
            return content[:at]
        case "bytes":
            return content[:at] + generator.randbytes(to - at) + content[to:]
        case "drop":
            return content[:at] + content[to:]
        case "double":
            return content[:to] + content[at:]
        case "bit":
            changed = content[at] ^ 1 << generator.randrange(8)
            return content[:at] + bytes([changed]) + content[at + 1 :]
        case _:
            other = generator.randrange(len(content))
            return content[:other] + content[at:to] + content[other:]


def judge_damage(count: int, seed: int, path: Path) -> None:
    generator = random.Random(seed)
    contents = [text.encode() for text in PROGRAMS.values()]
    contents += [kernel.read_bytes() for kernel in KERNELS]
    for number in range(count):
        content = generator.choice(contents)
        for _ in range(generator.randint(1, 3)):
            content = damaged(content, generator) if content else content
        try:
            answer(path, content)
        except Exception as error:
            raise AssertionError(f"seed {seed}, number {number}: {content!r}") from error


def test_damaged_files_are_answered(tmp_path: Path) -> None:
    judge_damage(150, 1, tmp_path / "damaged.c")


@pytest.mark.long
@pytest.mark.parametrize("seed", range(2, 6))
def test_many_damaged_files_are_answered(seed: int, tmp_path: Path) -> None:
    judge_damage(1500, seed, tmp_path / "damaged.c")


def test_random_bytes_are_answered(tmp_path: Path) -> None:
    generator = random.Random(7)
    for size in (1, 2, 10, 100, 1000, 10_000):
        for _ in range(5):
            assert answer(tmp_path / "bytes.c", generator.randbytes(size)) is not None


def test_an_answer_that_takes_too_long_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "MOST_SECONDS", 0)
    with pytest.raises(AssertionError):
        answer(tmp_path / "kernel.c", KERNEL)
