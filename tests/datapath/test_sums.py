"""Sums with fewer products have the value that they had, and are there no later."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace

import pytest

from rtlgen.datapath.sums import equal_reads, reassociated, with_reads
from rtlgen.frontend import parse_text
from rtlgen.ir.expr import Binary, Constant, Expr, walk
from rtlgen.ir.scop import Scop
from rtlgen.target import get_target
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden

TYPES = ("int", "unsigned", "short", "unsigned char", "long")


def program(value: str, type_: str = "int") -> Scop:
    text = f"void f({type_} y[1], {type_} a[9], {type_} x, {type_} z) {{ y[0] += {value}; }}"
    return parse_text(text, "program.c").scop


def reordered(scop: Scop, late: bool = False) -> Expr:
    (statement,) = scop.statements
    own = next(k for k, read in enumerate(statement.reads) if read.array == "y")
    late_reads = {own: 1} if late else {}
    expr = with_reads(statement.expr, equal_reads(statement))
    return reassociated(expr, late_reads, lambda _: 2, get_target())


def operators(expr: Expr) -> Counter[str]:
    found = Counter[str]()
    for node in walk(expr):
        if isinstance(node, Binary):
            constant = isinstance(node.left, Constant) or isinstance(node.right, Constant)
            found[f"{node.op} constant" if constant and node.op == "mul" else node.op] += 1
    return found


@pytest.mark.parametrize(
    ("value", "multiplied", "by_constants"),
    [
        ("a[0] * 3 + a[0] * 5 - a[0]", 0, 1),
        ("a[0] * 3 - 4 * a[0] + a[0]", 0, 0),
        ("x * a[0] + x * a[1] + x * a[2] + x * a[3]", 1, 0),
        ("x * a[0] * a[1] + x * a[2] * a[3] - x * a[4] * a[5] + x * a[6] * a[7]", 5, 0),
        ("x * a[0] * z + z * a[1] * x", 2, 0),
        ("a[0] * a[1] + a[2] * a[3]", 2, 0),
    ],
)
def test_what_terms_share_is_built_once(value: str, multiplied: int, by_constants: int) -> None:
    found = operators(reordered(program(value)))
    assert (found["mul"], found["mul constant"]) == (multiplied, by_constants)


def test_what_comes_last_is_added_last() -> None:
    found = reordered(program("y[0] * x + a[0] * x"), late=True)
    # A factor of the value that comes from the iteration before would make the others wait.
    assert operators(found)["mul"] == 2


@pytest.mark.sample(every=2)
@pytest.mark.parametrize("seed", range(150))
def test_the_value_is_the_same(seed: int) -> None:
    rng = random.Random(f"factors {seed}")
    atoms = ["a[0]", "a[1]", "a[2]", "x", "z", "2", "7", "2147483647"]

    def term() -> str:
        return " * ".join(rng.choice(atoms) for _ in range(rng.randint(1, 3)))

    value = term() + "".join(f" {rng.choice('+-')} {term()}" for _ in range(rng.randint(1, 7)))
    type_ = rng.choice(TYPES)
    scop = program(f"({value}) * {rng.choice(('1', 'z', '(x - z)'))}", type_)
    (statement,) = scop.statements
    after = replace(
        scop, statements=(replace(statement, expr=reordered(scop, rng.random() < 0.3)),)
    )
    for number in range(3):
        inputs = random_inputs(scop, number)
        one = run_golden(scop, inputs, engine="interpreter").arrays["y"]
        other = run_golden(after, inputs, engine="interpreter").arrays["y"]
        assert one.tolist() == other.tolist(), (value, type_)
