"""What the front end makes of whole programs."""

from __future__ import annotations

from pathlib import Path

import pytest

from rtlgen.frontend import parse_file, parse_text
from rtlgen.ir.expr import to_text
from rtlgen.ir.scop import Scop, Statement

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/*.c"))


def scop_of(text: str, **options: object) -> Scop:
    return parse_text(text, **options).scop  # type: ignore[arg-type]


def formula(statement: Statement) -> str:
    reads = tuple(map(str, statement.reads))
    return f"{statement.write} = {to_text(statement.expr, reads)}"


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_every_example_is_accepted_without_warnings(path: Path) -> None:
    assert parse_file(path).warnings == ()


def test_mms_d_reads_as_written() -> None:
    path = next(path for path in EXAMPLES if path.stem == "mms_d")
    scop = parse_file(path).scop
    assert [formula(statement) for statement in scop.statements] == [
        "c[i][j] = (c[i][j] + (a[i][k] * b[k][j]))",
        "d[i][k] = (d[i][k] + (c[i][j] * e[j][k]))",
    ]
    assert {array.name: (array.shape, array.role) for array in scop.arrays} == {
        "a": ((8, 11), "in"),
        "b": ((11, 9), "in"),
        "c": ((8, 12), "inout"),
        "d": ((8, 9), "inout"),
        "e": ((12, 9), "in"),
    }
