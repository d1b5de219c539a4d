"""What every program must pass: refused for a stated reason, or exact in all that is asked."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from rtlgen.driver import compile_program
from rtlgen.errors import RtlgenError
from rtlgen.frontend import parse_text
from rtlgen.ir.cycles import predicted_cycles
from rtlgen.ir.plan import KernelPlan
from rtlgen.ir.scop import Scop
from rtlgen.manifest.file import write_manifest
from rtlgen.options import CompileOptions
from rtlgen.output.verilog import generate, manifest_of
from rtlgen.planning.compilation import Compilation
from rtlgen.verify.compare import compare_memories
from rtlgen.verify.cosim import Engine, Simulator, simulate
from rtlgen.verify.equivalence import known_to
from rtlgen.verify.golden import run_golden
from rtlgen.verify.golden_state import GoldenResult
from rtlgen.verify.values import is_same
from sim.batch import Circuit, Run, run_batch
from tests.oracles.gcc_oracle import have_gcc, run_gcc
from tests.oracles.judging_data import judging_inputs, returned_word, stored_of
from tests.plans.interpreter import interpret

REFUSALS = frozenset(("E0135", "E0208", "E0301", "E0305", "E0306"))
"""Codes with which a well-formed, in-bounds, affine program may be refused."""


@dataclass(frozen=True, slots=True)
class Compiled:
    """A program that was accepted."""

    program: Scop
    compilation: Compilation

    @property
    def plan(self) -> KernelPlan:
        return self.compilation.plan


def compiled(text: str, options: CompileOptions | None = None) -> Compiled | None:
    """Compile `text`; None where it is refused for a reason that is allowed."""
    try:
        program = parse_text(text, "program.c")
        compilation = compile_program(program, options or CompileOptions())
    except RtlgenError as error:
        assert error.code in REFUSALS, f"{error.code}: {error}\n{text}"
        assert error.diagnostic.render(error.sources)
        return None
    return Compiled(program.scop, compilation)


def assert_plan_exact(accepted: Compiled, seed: int = 0) -> None:
    """Run the plan by its definition, and the C program in both oracles; all memory must agree."""
    scop, plan = accepted.program, accepted.plan
    assert accepted.compilation.replayed
    inputs = judging_inputs(scop, seed)
    golden = run_golden(scop, inputs, engine="interpreter")
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
        # An array that no statement touches has no memory.
        assert after.get(name, stored[name]) == expected, f"{name}\n{scop.source.text}"
    if plan.returned is not None:
        assert after[plan.returned] == [returned_word(scop, golden)], scop.source.text
    if have_gcc():
        _assert_as_gcc(scop, golden, seed)


def _assert_as_gcc(scop: Scop, golden: GoldenResult, seed: int) -> None:
    if golden.events:
        return
    second = run_gcc(scop, judging_inputs(scop, seed)).beside(scop, golden)
    assert compare_memories(golden.arrays, second.arrays).mismatches == 0, scop.source.text
    assert is_same(golden.returned, second.returned), scop.source.text


def simulation_failures(
    plan: KernelPlan,
    scop: Scop,
    folder: Path,
    simulator: Simulator,
    *,
    engine: Engine = "auto",
    seed: int = 0,
) -> list[str]:
    """Build the circuit of `plan`, simulate it, and say how it differs from the C program."""
    circuit = _circuit(plan, scop, seed)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "design.v").write_text(circuit.verilog)
    write_manifest(folder, circuit.manifest)
    result = simulate(folder, circuit.manifest, circuit.inputs, simulator=simulator, engine=engine)
    run = Run("done", result.cycles, result.returned, result.arrays)
    return _differences(plan, scop, run, seed)


def batch_failures(programs: Sequence[Compiled], folder: Path, seed: int = 0) -> list[list[str]]:
    """Simulate the circuits of all `programs` in one model, and say of each how it differs."""
    return plan_failures([(program.plan, program.program) for program in programs], folder, seed)


def plan_failures(
    plans: Sequence[tuple[KernelPlan, Scop]],
    folder: Path,
    seed: int = 0,
    *,
    pauses: Sequence[bool] = (False,),
) -> list[list[str]]:
    """Simulate the circuits of plans in one model, and say of each how it differs from C.

    Parameters
    ----------
    pauses: for each time that all are run, whether memories off chip take longer now and then; the
        cycles are not those predicted then.
    """
    circuits = [_circuit(plan, scop, seed) for plan, scop in plans]
    found: list[list[str]] = [[] for _ in plans]
    for pausing, runs in zip(pauses, run_batch(circuits, folder, pauses), strict=True):
        for (plan, scop), run, failures in zip(plans, runs, found, strict=True):
            as_planned = replace(run, cycles=predicted_cycles(plan)) if pausing else run
            failures += _differences(plan, scop, as_planned, seed)
    return found


def _circuit(plan: KernelPlan, scop: Scop, seed: int) -> Circuit:
    verilog = generate(plan)
    manifest = manifest_of(
        plan,
        verilog,
        file="design.v",
        source=scop.source,
        version="0",
        options={},
        arrays=scop.arrays,
        scalars=scop.scalars,
    )
    return Circuit(verilog.text, manifest, known_to(manifest, judging_inputs(scop, seed)))


def _differences(plan: KernelPlan, scop: Scop, run: Run, seed: int) -> list[str]:
    golden = run_golden(scop, judging_inputs(scop, seed))
    expected = {name: image for name, image in golden.arrays.items() if name in run.arrays}
    comparison = compare_memories(expected, run.arrays)
    failures = [] if run.outcome == "done" else [run.outcome]
    failures += [comparison.text()] if comparison.mismatches else []
    if plan.returned is not None and not is_same(run.returned, golden.returned):
        failures.append(f"returns {run.returned}, not {golden.returned}")
    if run.cycles != predicted_cycles(plan):
        failures.append(f"{run.cycles} cycles, not {predicted_cycles(plan)}")
    return failures
