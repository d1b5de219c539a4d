"""Answers are known again when all that decides them is the same, and never otherwise."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

import rtlgen.flow.synth
import rtlgen.system.cache
from rtlgen.design import Design
from rtlgen.flow.synth import SynthesisReport
from rtlgen.system.cache import question, recall, remember
from rtlgen.verify.equivalence import Verification
from tests.cli.conftest import rtlgen as run_rtlgen

ANSWER = {"exact": True, "lines": ["a", "b"]}


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    # Of answers alone: nobody waits for Verilator's runtime to be compiled there once more.
    monkeypatch.setattr(rtlgen.system.cache, "cache_folder", lambda: folder)
    monkeypatch.delenv("RTLGEN_FRESH", raising=False)
    return folder


def test_an_answer_is_known_again() -> None:
    asked = question("verify", {"text": "int a;"})
    assert recall(asked) is None
    remember(asked, ANSWER)
    assert recall(asked) == ANSWER


def test_answers_that_nobody_asked_for_longest_make_room(
    cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = [question("verify", {"seed": seed}) for seed in range(4)]
    for number, each in enumerate(asked[:3]):
        remember(each, ANSWER)
        os.utime(cache / "answers" / f"{each}.json", (number, number))
    size = (cache / "answers" / f"{asked[0]}.json").stat().st_size
    monkeypatch.setattr(rtlgen.system.cache, "MOST_KEPT_BYTES", 3 * size)
    assert recall(asked[0]) == ANSWER
    remember(asked[3], ANSWER)
    assert [recall(each) for each in asked] == [ANSWER, None, ANSWER, ANSWER]
    # One that is larger than all there may be is kept until the next one.
    monkeypatch.setattr(rtlgen.system.cache, "MOST_KEPT_BYTES", 1)
    remember(asked[1], ANSWER)
    assert [recall(each) for each in asked] == [None, ANSWER, None, None]


def test_everything_that_decides_the_answer_makes_another_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "tool"
    program.write_text("1")
    asked = {question("verify", {"seed": 1}, [str(program)])}
    assert question("verify", {"seed": 1}, [str(program)]) in asked
    asked.add(question("verify", {"seed": 2}, [str(program)]))
    asked.add(question("synth", {"seed": 1}, [str(program)]))
    asked.add(question("verify", {"seed": 1}))
    program.write_text("22")
    asked.add(question("verify", {"seed": 1}, [str(program)]))
    for name, other in (("_versions", {"islpy": "0"}), ("_code_digest", "0")):
        monkeypatch.setattr(rtlgen.system.cache, name, lambda other=other: other)
        asked.add(question("verify", {"seed": 1}, [str(program)]))
    assert len(asked) == 7


def test_the_code_of_every_module_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    digests = set()
    monkeypatch.setattr(rtlgen.system.cache, "_PACKAGE", tmp_path)
    (tmp_path / "a" / "b").mkdir(parents=True)
    (tmp_path / "other").mkdir()
    (tmp_path / "sim").mkdir()
    for place in ("a/b/c.py", "d.j2", "sim/main.cpp"):
        for text in ("1", "2"):
            (tmp_path / place).write_text(text)
            digests.add(rtlgen.system.cache._code_digest.__wrapped__())
    assert len(digests) == 6


@pytest.mark.parametrize(
    "content", ["", "null", "[]", "{}", "[" * 100_000, '{"sha256": 1, "answer": {}}', "\0" * 10]
)
def test_what_was_damaged_is_no_answer(cache: Path, content: str) -> None:
    asked = question("verify", {})
    remember(asked, ANSWER)
    (entry,) = (cache / "answers").iterdir()
    entry.write_text(content)
    assert recall(asked) is None
    remember(asked, ANSWER)
    assert recall(asked) == ANSWER


def test_an_answer_that_was_changed_or_moved_is_none(cache: Path) -> None:
    asked, other = question("verify", {}), question("verify", {"seed": 2})
    remember(asked, ANSWER)
    (entry,) = (cache / "answers").iterdir()
    text = entry.read_text()
    (cache / "answers" / f"{other}.json").write_text(text)
    assert recall(other) is None
    entry.write_text(json.dumps({**json.loads(text), "answer": {**ANSWER, "lines": []}}))
    assert recall(asked) is None


def test_a_cache_that_cannot_be_written_does_no_harm(
    cache: Path,
) -> None:
    cache.write_text("occupied")
    remember("a" * 64, ANSWER)
    assert recall("a" * 64) is None


def test_synth_answers_at_once_what_was_asked_before(
    built: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    runs = []

    def counted(*arguments: Any, **_: Any) -> SynthesisReport:
        runs.append(arguments)
        return SynthesisReport(
            "scaled", "ice40", 1, 1, None, len(runs), None, 3, 4, {}, None, None, {}, None, 1.5, {}
        )

    monkeypatch.setattr(rtlgen.flow.synth, "synthesise", counted)
    first = run_rtlgen("synth", built, "--target", "ice40")
    assert first.out == "scaled on ice40: 1 LUT, 1 FF, 3 DSP, 4 block RAM, not placed\n"
    second = run_rtlgen("synth", built, "--target", "ice40")
    assert second.out == first.out.strip() + " (known from an earlier run; --fresh does it again)\n"
    assert run_rtlgen("synth", built, "--target", "ice40", "--json").document["cached"] is True
    assert len(runs) == 1
    fresh = run_rtlgen("synth", built, "--target", "ice40", "--fresh", "--json").document
    assert (fresh["cached"], fresh["ff"], len(runs)) == (False, 2, 2)
    assert run_rtlgen("synth", built, "--target", "ice40", "--json").document["ff"] == 2
    run_rtlgen("synth", built, "--target", "ice40", "--clock-mhz", "50")
    assert len(runs) == 3


@pytest.mark.long
@pytest.mark.simulation
def test_verify_answers_at_once_what_was_asked_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "c").mkdir()
    path, header = tmp_path / "c" / "k.c", tmp_path / "c" / "k.h"
    header.write_text("#define N 4\n")
    path.write_text(
        '#include "k.h"\nvoid k(int a[N], int unused) { for (int i = 0; i < N; i++) a[i] += i; }\n'
    )
    runs = []
    really = Design.verify

    def counted(design: Design, **options: Any) -> Verification:
        runs.append(options)
        return really(design, **options)

    monkeypatch.setattr(Design, "verify", counted)
    first = run_rtlgen("verify", path)
    second = run_rtlgen("verify", path)
    assert (first.status, second.status, len(runs)) == (0, 0, 1)
    line, *rest = first.out.splitlines()
    known = f"{line} (known from an earlier run; --fresh does it again)"
    assert second.out.splitlines() == [known, *rest]
    assert second.err == first.err
    assert first.err.startswith("warning[W0102]: ")
    assert run_rtlgen("verify", path, "--json").document["cached"] is True
    assert run_rtlgen("verify", path, "--fresh", "--json").document["cached"] is False
    assert len(runs) == 2
    # What the answer depends on: files that are included, and files that are asked for.
    header.write_text("#define N 5\n")
    assert "known" not in run_rtlgen("verify", path).out
    assert "known" not in run_rtlgen("verify", path, "--keep", tmp_path / "kept").out
    assert (tmp_path / "kept" / "k" / "k.v").is_file()
    assert len(runs) == 4


def test_a_missing_simulator_is_told_before_anything_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    outcome = run_rtlgen("verify", "nothing.c", "--simulator", "icarus")
    assert (outcome.status, outcome.err[:12]) == (3, "error[E0501]")
