"""Programs that are too large to be listed are planned in closed form, and as well as small ones.

The limit is lowered here, so that the replay, which lists all instances, judges the closed forms.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.driver import compile_program, parse, parse_source
from rtlgen.ir.effort import noting_limits
from rtlgen.nests.candidates import ragged_statements
from rtlgen.options import EVERY_ARRAY, CompileOptions
from rtlgen.planning.compilation import Compilation
from rtlgen.poly.errors import IllegalShift
from rtlgen.tiling.loops import as_written
from rtlgen.transforms.units import dependence_units

LIMIT = 100

TRIANGULAR_PRODUCT = """
void f(int A[N][N], int B[N][N], int C[N][N]) {
  for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) for (int k = 0; k < N; k++)
    C[i][j] += A[i][k] * B[k][j];
}"""

PROGRAMS = {
    "product": TRIANGULAR_PRODUCT,
    "sum": """
int f(int in[2 * N]) {
  int sum = 0;
  for (int i = 0; i < N; i++) for (int j = 0; j < i; j++) sum += in[i + j];
  return sum;
}""",
    "rank_k": """
void f(int alpha, int beta, int C[N][N], int A[N][N]) {
  for (int i = 0; i < N; i++) {
    for (int j = 0; j <= i; j++) C[i][j] *= beta;
    for (int k = 0; k < N; k++) for (int j = 0; j <= i; j++) C[i][j] += alpha * A[i][k] * A[j][k];
  }
}""",
    "in_place": """
void f(int alpha, int A[N][N], int B[N][N]) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) {
    for (int k = i + 1; k < N; k++) B[i][j] += A[k][i] * B[k][j];
    B[i][j] *= alpha;
  }
}""",
    "beside_a_box": """
void f(int A[N][N], int B[N][N], int C[N], int D[N]) {
  for (int i = 0; i < N; i++) for (int j = 0; j < N; j++) B[i][j] = A[j][i] + 1;
  for (int i = 0; i < N; i++) for (int j = i; j < N; j++) C[i] += B[i][j];
  for (int i = 0; i < N; i++) D[i] = C[N - 1 - i];
}""",
}


def compiled(folder: Path, text: str, size: int, **options: object) -> Compilation:
    path = folder / "f.c"
    path.write_text(text)
    chosen = CompileOptions(defines={"N": str(size)}, **options)  # type: ignore[arg-type]
    return compile_program(parse(path, chosen), chosen)


def lower(monkeypatch: pytest.MonkeyPatch, limit: int) -> None:
    for module in ("rtlgen.nests.candidates", "rtlgen.poly.legality"):
        for name in ("MANY_INSTANCES", "MAX_INSTANCES"):
            monkeypatch.setattr(f"{module}.{name}", limit)


@pytest.mark.parametrize("program", PROGRAMS.values(), ids=PROGRAMS)
def test_a_plan_in_closed_form_is_replayed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str
) -> None:
    lower(monkeypatch, LIMIT)
    found = compiled(tmp_path, program, 12)
    assert found.replayed
    floor = found.plan.floor_iterations
    total = sum(stream.instances for stream in found.plan.streams)
    (region,) = found.plan.regions
    # Stores that are not known to be apart wait for each other.
    assert floor <= region.issue_slots <= total + 40
    assert not found.limits


def test_many_deep_statements_in_a_cycle_share_a_nest_that_is_no_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower(monkeypatch, LIMIT)
    text = (Path(__file__).parents[1] / "planning" / "sort_rows.c").read_text()
    found = compiled(tmp_path, text.replace("1200", "12"), 12)
    assert found.replayed
    # A box has 64 iterations where 36 swap.
    assert found.plan.regions[0].issue_slots < 12 * 36 + 10


def test_slots_are_the_floor_on_both_sides_of_the_limit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    instances = 8 * 9 // 2 * 8
    slots = set()
    for limit in (instances, instances - 1):
        lower(monkeypatch, limit)
        found = compiled(tmp_path, TRIANGULAR_PRODUCT, 8)
        slots.add(found.plan.regions[0].issue_slots)
    assert slots == {instances}


def test_a_shift_that_is_too_small_is_refused_in_closed_form(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower(monkeypatch, LIMIT)
    with pytest.raises(IllegalShift) as refusal:
        compiled(tmp_path, PROGRAMS["beside_a_box"], 12, shifts={"S2": 0})
    assert refusal.value.diagnostic.notes


def test_a_large_program_is_planned_at_no_more_cost(tmp_path: Path) -> None:
    size = 1 << 12
    found = compiled(tmp_path, TRIANGULAR_PRODUCT, size, memory={EVERY_ARRAY: "onchip"})
    assert not found.replayed
    assert found.plan.regions[0].issue_slots == size * size * (size + 1) // 2


CYCLE = (
    "void f(int a[N], int b[N]) { for (int i = 0; i < N; i++) for (int j = 0; j <= i; j++) {"
    " a[j] += b[i]; b[j] = a[j] * 3; } }"
)


def test_a_cycle_of_statements_needs_no_box(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lower(monkeypatch, LIMIT)
    found = compiled(tmp_path, CYCLE, 12)
    assert not found.limits
    assert all(stream.iterations is not None for stream in found.plan.streams)


def test_boxes_of_what_can_be_neither_listed_nor_ranked_are_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    lower(monkeypatch, LIMIT)
    parsed = parse_source(CYCLE, "f.c", CompileOptions(defines={"N": "12"}))
    program = as_written(parsed.scop)
    units = dependence_units(program.scop, program.dependences)
    with noting_limits() as limits:
        assert ragged_statements(program.sets, units, "listed") == frozenset()
    (limit,) = limits
    assert "S0, S1 run in boxes around their loops" in limit
