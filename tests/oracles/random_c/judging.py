"""What the compiler makes of a random program: exact, refused for a reason, or wrong."""

from __future__ import annotations

import time
import traceback
from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Literal, TypeAlias

from rtlgen.driver import compile_program, parse_source
from rtlgen.errors import RtlgenError
from rtlgen.frontend import ParsedProgram, parse_text
from rtlgen.ir.scop import Scop
from rtlgen.options import CompileOptions
from rtlgen.planning.compilation import Compilation
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.golden import run_golden
from rtlgen.verify.golden_state import GoldenResult
from rtlgen.verify.values import is_same
from tests.oracles.gcc_oracle import run_gcc
from tests.oracles.judging_data import judging_inputs, returned_word, stored_of
from tests.oracles.random_c.options import random_options
from tests.oracles.random_c.program import Program, random_program
from tests.plans.interpreter import interpret

Outcome: TypeAlias = Literal["exact", "refused", "wrong", "slow"]

REFUSALS = ("E01", "E02", "E03", "E04")
"""How codes begin with which a program is refused; any other one is a failure of the compiler."""

BLAMING = frozenset(("E0211", "E0304"))
"""Codes that say so of the compiler itself."""

MAX_INTERPRETED = 3_000
"""Iterations up to which a plan is run by its definition, too."""

SEEDS = (1, 2)


@dataclass(frozen=True, slots=True)
class Verdict:
    """What became of a program.

    Members
    -------
    code: of the refusal. details: what is wrong, or the refusal's message.
    seconds: of computing time that it took the compiler.
    """

    seed: int
    outcome: Outcome
    code: str = ""
    details: str = ""
    seconds: float = 0.0


@dataclass(frozen=True, slots=True, eq=False)
class Accepted:
    """A program that was accepted, as read and as compiled."""

    program: Scop
    compilation: Compilation


@dataclass(frozen=True, slots=True, eq=False)
class Attempt:
    """A program that was accepted, and the seconds of the processor that it took."""

    scop: Scop
    compilation: Compilation
    seconds: float


def judge(seed: int, options: CompileOptions | None = None) -> tuple[Verdict, Accepted | None]:
    """Compile the program of a seed under the options of the seed, and compare with gcc."""
    program = random_program(seed)
    chosen = options or random_options(seed, program.function, program.defines)
    return judge_program(program, chosen)


def judge_program(program: Program, options: CompileOptions) -> tuple[Verdict, Accepted | None]:
    """Judge one program; the second result is None where it is not exact."""

    def parse() -> ParsedProgram:
        name = f"{program.function}.c"
        return parse_text(program.text, name, function=options.function, defines=options.defines)

    found = attempt(program.seed, parse, options, refusal)
    if isinstance(found, Verdict):
        return found, None
    accepted = Accepted(found.scop, found.compilation)
    wrong = _differences(accepted, program)
    if wrong:
        return Verdict(program.seed, "wrong", "", wrong, found.seconds), None
    return Verdict(program.seed, "exact", "", "", found.seconds), accepted


def attempt(
    seed: int,
    parse: Callable[[], ParsedProgram],
    options: CompileOptions,
    refused: Callable[[int, RtlgenError, float], Verdict],
) -> Attempt | Verdict:
    """Compile the program of a seed.

    Parameters
    ----------
    refused: says what a refusal is worth.
    """
    begun = time.process_time()
    try:
        parsed = parse()
        compilation = compile_program(parsed, options)
    except RtlgenError as error:
        return refused(seed, error, time.process_time() - begun)
    except Exception:
        # Whatever it is, it would have been a traceback.
        return Verdict(seed, "wrong", "", traceback.format_exc(), time.process_time() - begun)
    return Attempt(parsed.scop, compilation, time.process_time() - begun)


def replayed_attempt(
    seed: int, text: str, name: str, options: CompileOptions, allowed: Collection[str]
) -> Attempt | Verdict:
    """Compile the program of a seed that is small enough to be replayed.

    Parameters
    ----------
    name: of its file. allowed: codes with which it may be refused.
    """

    def refused(seed: int, error: RtlgenError, seconds: float) -> Verdict:
        code = error.code or ""
        outcome: Outcome = "refused" if code in allowed else "wrong"
        return Verdict(seed, outcome, code, error.diagnostic.render(error.sources), seconds)

    found = attempt(seed, lambda: parse_source(text, name, options), options, refused)
    if isinstance(found, Attempt) and not found.compilation.replayed:
        return Verdict(seed, "wrong", "", "not replayed", found.seconds)
    return found


def refusal(seed: int, error: RtlgenError, seconds: float) -> Verdict:
    """Return the verdict on a program that was refused."""
    code, text = error.code or "", error.diagnostic.render(error.sources)
    is_honest = code.startswith(REFUSALS) and code not in BLAMING
    return Verdict(seed, "refused" if is_honest else "wrong", code, text, seconds)


def _differences(accepted: Accepted, program: Program) -> str:
    """Return how the golden model, the plan and gcc differ, or nothing."""
    scop = accepted.program
    for seed in SEEDS:
        golden = run_golden(scop, judging_inputs(scop, seed))
        if not golden.events:
            define = [f"{name}={value}" for name, value in program.defines.items()]
            native = run_gcc(scop, judging_inputs(scop, seed), define).beside(scop, golden)
            comparison = compare_memories(golden.arrays, native.arrays)
            if comparison.mismatches:
                return f"the golden model is not gcc: {comparison.text()}"
            if not is_same(golden.returned, native.returned):
                return f"the golden model returns {golden.returned}, gcc {native.returned}"
    plan = accepted.compilation.plan
    if sum(stream.count for stream in plan.streams) > MAX_INTERPRETED:
        return ""
    return _plan_differences(accepted, golden, SEEDS[-1])


def _plan_differences(accepted: Accepted, golden: GoldenResult, seed: int) -> str:
    scop, plan = accepted.program, accepted.compilation.plan
    inputs = judging_inputs(scop, seed)
    stored = stored_of(scop, inputs)
    images = {
        memory.name: stored[memory.name]
        if memory.name in stored
        else list(memory.values or [0] * memory.depth)
        for memory in plan.memories
    }
    after = interpret(plan, images, {s.name: stored[s.name][0] for s in plan.scalars})
    expected_words = stored_of(scop, golden.arrays)
    for name, expected in expected_words.items():
        if after.get(name, stored[name]) != expected:
            return f"the plan leaves other values in {name}"
    if plan.returned is not None and after[plan.returned] != [returned_word(scop, golden)]:
        return f"the plan returns {after[plan.returned]}, not {golden.returned}"
    return ""
