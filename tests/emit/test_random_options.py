"""Random programs under random options: every pass computes the same, or refuses for a reason."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from rtlgen.driver import compile_program
from rtlgen.emit.unit import c_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.schedule import ScalarDim, Schedule
from rtlgen.options import EXPAND_MODES, FUSE_MODES, FUSIONS, SCHEDULERS, CompileOptions
from rtlgen.transforms.normalise import normalise
from tests.emit.execution import Unit, differences
from tests.end_to_end.judge import REFUSALS, Compiled, assert_plan_exact
from tests.end_to_end.programs import programs
from tests.oracles.gcc_oracle import have_gcc

SEED = 20261122
BATCH = 50
"""Programs that are compiled by gcc at a time."""

REASONS = REFUSALS | {"E0206", "E0210", "E0212"}
"""Codes with which a well-formed program may be refused under some option."""

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compile with")


@dataclass(frozen=True, slots=True)
class Case:
    """A program and how it is compiled."""

    text: str
    options: CompileOptions

    @property
    def key(self) -> str:
        return f"{self.options}\n{self.text}"


@st.composite
def option_sets(draw: st.DrawFn) -> CompileOptions:
    """Draw all options that choose transforms; the first of each is what leaves them out."""
    return CompileOptions(
        scheduler=draw(st.sampled_from([None, *SCHEDULERS])),
        fusion=draw(st.sampled_from(FUSIONS)),
        tile=draw(st.sampled_from([(), (), (), (2,), (4,), (4, 4)])),
        wavefront=draw(st.booleans()),
        fuse=draw(st.sampled_from(["mf3", "mf3", "mf3", *FUSE_MODES])),
        expand=draw(st.sampled_from(EXPAND_MODES)),
    )


cases = st.builds(Case, programs(), option_sets())


class Judge:
    """What is wrong with each case; many are compiled by gcc at a time."""

    def __init__(self) -> None:
        self.seen: Counter[str] = Counter()
        self.known: dict[str, list[str]] = {}

    def learn(self, wanted: Sequence[Case]) -> None:
        """Judge all cases, those in one batch with one run of gcc."""
        for start in range(0, len(wanted), BATCH):
            units: list[Unit] = []
            for number, case in enumerate(wanted[start : start + BATCH]):
                self.known[case.key] = []
                units += self._stages(case, f"p{number}")
            for text in differences(units, level="-O0", seed=start):
                label = text.partition(".")[0]
                self.known[wanted[start + int(label[1:])].key].append(text)

    def require(self, case: Case) -> None:
        """Fail where something is wrong with a case."""
        if case.key not in self.known:
            self.learn([case])
        assert self.known[case.key] == []

    def _stages(self, case: Case, label: str) -> list[Unit]:
        """Return the program after every pass, each text once, and judge its plan."""
        options, wrong = case.options, self.known[case.key]
        try:
            program = parse_text(case.text, "program.c")
            compilation = compile_program(program, options)
        except RtlgenError as error:
            assert error.diagnostic.render(error.sources)
            if error.code not in REASONS:
                wrong.append(f"{error.code}: {error}")
            self.seen[error.code or ""] += 1
            return []
        self._count(options)
        try:
            assert_plan_exact(Compiled(program.scop, compilation))
        except AssertionError as error:
            wrong.append(f"the plan: {error}")
        texts = {
            text.partition("*/")[2]: Unit(f"{label}.{name}", program.scop, text)
            for name, scop in compilation.stages.items()
            if (text := c_program(scop, name))
        }
        return list(texts.values())

    def _count(self, options: CompileOptions) -> None:
        chosen = options.loops.chosen
        self.seen["accepted"] += 1
        self.seen[f"loops by {chosen}"] += 1
        self.seen["tiled"] += chosen is not None and options.tile != ()
        self.seen["wavefront"] += chosen is not None and options.wavefront
        self.seen[f"fuse {options.fuse}"] += 1
        self.seen[f"expand {options.expand}"] += options.fuse == "mf3"


def drawn(count: int, first_seed: int, take: Callable[[Case], None], *, shrinking: bool) -> None:
    phases = [Phase.generate, Phase.shrink] if shrinking else [Phase.generate]
    steady = settings(
        deadline=None,
        suppress_health_check=list(HealthCheck),
        database=None,
        phases=phases,
        max_examples=count,
    )
    seed(first_seed)(steady(given(cases)(take)))()


def judge_random(count: int, first_seed: int) -> Counter[str]:
    """Judge random cases; one that fails is shrunk by Hypothesis.

    The same ones are drawn twice: to compile them in batches, and to judge them.
    """
    judge, wanted = Judge(), []

    def collect(case: Case) -> None:
        wanted.append(case)

    def require(case: Case) -> None:
        judge.require(case)

    drawn(count, first_seed, collect, shrinking=False)
    judge.learn(wanted)
    if any(judge.known.values()):
        drawn(count, first_seed, require, shrinking=True)
    assert not any(judge.known.values())
    return judge.seen


def test_a_few_random_programs_under_random_options_compute_the_same() -> None:
    assert judge_random(8, SEED + 1000)["accepted"] >= 4


@pytest.mark.long
def test_random_programs_under_random_options_compute_the_same() -> None:
    seen = judge_random(70, SEED + 1000)
    assert seen["accepted"] >= 42
    kinds = [*(f"loops by {s}" for s in (None, *SCHEDULERS)), *(f"fuse {f}" for f in FUSE_MODES)]
    for kind in (*kinds, "tiled", "wavefront", "expand always"):
        assert seen[kind] >= 1, f"hardly drawn: {kind} in {seen}"


@pytest.mark.long
@pytest.mark.parametrize("part", range(20))
def test_many_random_programs_under_random_options_compute_the_same(part: int) -> None:
    assert judge_random(100, SEED + 2000 + part)["accepted"] >= 50


def test_a_wrong_program_after_a_pass_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    text = "void f(int a[8]) { for (int i = 0; i < 8; i++) a[i] = a[i] + 2; }"
    case = Case(text, CompileOptions())
    Judge().require(case)
    right = Judge._stages

    def spoilt(judge: Judge, judged: Case, label: str) -> list[Unit]:
        units = right(judge, judged, label)
        return [replace(unit, text=unit.text.replace(" + 2", " - 2")) for unit in units]

    monkeypatch.setattr(Judge, "_stages", spoilt)
    with pytest.raises(AssertionError):
        Judge().require(case)


def reversed_order(text: str, label: str) -> Unit:
    """Return the C of a program whose statements run in nests of their own, the last one first."""
    program = parse_text(text, "program.c")
    scop = normalise(program.scop)
    dims = {
        name: (ScalarDim(-place), *own)
        for place, (name, own) in enumerate(scop.schedule.dims.items())
    }
    turned = scop.with_schedule(Schedule(dims))
    return Unit(label, program.scop, c_program(turned, "reversing"))


def test_a_schedule_that_breaks_dependences_is_noticed() -> None:
    units: list[Unit] = []

    def collect(case: Case) -> None:
        units.append(reversed_order(case.text, f"p{len(units)}"))

    drawn(30, SEED, collect, shrinking=False)
    assert len(differences(units)) >= 5
