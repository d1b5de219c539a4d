"""What data shows of a program, and what of it could be wrong without anybody noticing."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Scop
from rtlgen.verify import sensitivity
from rtlgen.verify.data import KINDS, DataSets, Recipe, given_data_set, random_data_sets
from rtlgen.verify.golden import run_golden
from rtlgen.verify.sensitivity import Sensitivity, perturbed

CONVOLUTION = """
    void conv(const signed char x[12], const signed char w[3], int bias, unsigned char y[10]) {
      for (int i = 0; i < 10; i++) {
        int s = bias;
        for (int k = 0; k < 3; k++) s += x[i + k] * w[k];
        y[i] = s > 0 ? (s > 255 ? 255 : s) : 0;
      }
    }"""


def unseen(scop: Scop, *recipes: Recipe) -> set[str]:
    """Return the statements, and the texts of operands, that some data does not show."""
    asked: Sensitivity | None = None
    for recipe in recipes:
        inputs = recipe.inputs(scop)
        golden = run_golden(scop, inputs)
        asked = asked or Sensitivity(scop, golden.counts)
        asked.ask(inputs, golden)
    assert asked is not None
    return {site.statement.name if site.is_result else site.text for site in asked.shown().unseen}


@pytest.mark.sample("True")
@pytest.mark.parametrize("has_compiler", [True, False])
def test_a_convolution_is_hidden_by_a_large_bias_and_shown_by_small_data(
    has_compiler: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not has_compiler:
        monkeypatch.setattr(sensitivity, "COMPILERS", ())
    scop = parse_text(CONVOLUTION).scop
    hidden = Recipe("full", 1, {"bias": (-(2**31), -(2**20))})
    assert any("w[" in text for text in unseen(scop, hidden))
    assert unseen(scop, hidden, Recipe("small", 1)) == {"s"}  # No sum is above 255.
    assert not random_data_sets(scop, seed=1).shown.unseen


def test_more_data_is_tried_where_something_is_not_seen() -> None:
    scop = parse_text("""
        void f(const int a[4], const int b[4], const int c[4], int y[4]) {
          for (int i = 0; i < 4; i++)
            if (a[i] > 1000000 && b[i] < 9 && b[i] > 0) y[i] = c[i] * 5;
        }""").scop
    data = random_data_sets(scop, seed=3)
    assert len(data.sets) > len(KINDS)
    assert data.sets[-1].new and data.sets[-1].name.startswith("by array")


@pytest.mark.parametrize(
    ("body", "hidden"),
    [
        ("y[i] = x[i] - x[i];", set()),
        ("y[i] = x[i] * 0;", {"x[i]"}),
        ("y[i] = (unsigned)x[i] >> 31 > 1 ? z[i] : 0;", {"z[i]"}),
        ("y[i] = z[i] & 0;", {"z[i]"}),
        ("z[i] = 7; z[i] = x[i];", {"S0"}),
        ("y[i] = x[i] > 9 || 1 ? z[i] : 0;", {"x[i]", "(x[i] > 9)"}),
    ],
)
def test_what_cannot_be_seen_is_named(body: str, hidden: set[str]) -> None:
    scop = parse_text(
        f"void f(int x[9], int y[9], int z[9]) {{ for (int i = 0; i < 9; i++) {{ {body} }} }}"
    ).scop
    assert unseen(scop, *(Recipe(kind, 1) for kind in KINDS)) >= hidden
    if not hidden:
        assert not unseen(scop, Recipe("full", 1))


def test_without_a_change_it_is_the_same_program() -> None:
    scop = parse_text(CONVOLUTION).scop
    program = perturbed(scop, [statement.name for statement in scop.statements])
    inputs = Recipe("mixed", 5).inputs(scop)
    plain = run_golden(scop, inputs).arrays["y"]
    unchanged = run_golden(program.scop, {**inputs, **program.arguments()}).arrays["y"]
    assert unchanged.tolist() == plain.tolist() and plain.any()
    (stored,) = (s for s in program.sites if s.is_result and s.statement.write.array == "y")
    zeroed = {**inputs, **program.arguments(stored, "zero")}
    assert not run_golden(program.scop, zeroed).arrays["y"].any()


def test_a_limit_of_work_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    scop = parse_text(CONVOLUTION).scop
    monkeypatch.setattr(sensitivity, "COMPILED_VALUES", 1000)
    shown = random_data_sets(scop).shown
    assert shown.left_out and f"{len(shown.left_out)} not asked for" in shown.text()


def test_the_verdict_says_how_much_was_seen() -> None:
    scop = parse_text("void f(int x[9], int y[9]) { for (int i = 0; i < 9; i++) "
                      "{ y[i] = 4; y[i] = x[i] + 1; } }").scop  # fmt: skip
    data = random_data_sets(scop)
    assert data.shown.text() == "1 of 2 statements and all 1 operand seen"
    (warning,) = data.diagnostics(scop)
    assert (warning.code, warning.labels[0].span.line) == ("W0605", 1)
    assert warning.message == "S0 cannot be seen in any output with this data"


def test_data_of_the_user_is_judged_too() -> None:
    scop = parse_text("int f(int x, int y) { return x > 100 ? y : 3; }").scop
    data: DataSets = given_data_set(scop, "mine", {"x": 3, "y": 9})
    assert [site.text for site in data.shown.unseen] == ["x", "y"]
    (warning,) = data.diagnostics(scop)
    assert (warning.code, warning.notes) == ("W0606", ("the operand x", "the operand y"))
    assert not given_data_set(scop, "mine", {"x": 103, "y": 9}).first(1).left_out


def test_the_data_sets_that_show_most_are_kept() -> None:
    data = random_data_sets(parse_text(CONVOLUTION).scop)
    (best,) = data.first(1).sets
    assert best.new == max(each.new for each in data.sets) > data.sets[0].new > 0
    assert data.first(1).left_out == len(data.sets) - 1
    assert data.first(99) is data
