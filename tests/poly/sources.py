"""C programs that the tests of the polyhedral half share, and the way to read them."""

from __future__ import annotations

from pathlib import Path

import islpy as isl

from rtlgen.driver import parse
from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import EmptyRegion
from rtlgen.ir.sets import for_each, point_values
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, examine
from rtlgen.scheduling.errors import NothingObservable, NothingToBuild
from tests.poly.enumeration import Pair, Point, instances

EXAMPLES = Path(__file__).parents[2] / "examples"
EXAMPLE_NAMES = (
    "2mm", "3mm", "atax", "bicg", "gemm", "gemver", "gesummv", "mms", "mms_d", "mvt",
)  # fmt: skip

SMALL = {
    "stencil": """void f(int a[6], int b[6]) {
      for (int t = 0; t < 2; t++) {
        for (int i = 1; i < 5; i++) b[i] = a[i - 1] + a[i] + a[i + 1];
        for (int i = 1; i < 5; i++) a[i] = b[i];
      } }""",
    "triangle": """void f(int L[4][4], int x[4], int b[4]) {
      for (int i = 0; i < 4; i++) {
        x[i] = b[i];
        for (int j = 0; j < i; j++) x[i] -= L[i][j] * x[j];
        x[i] = x[i] * L[i][i];
      } }""",
    "down": """void f(int a[9]) {
      for (int i = 8; i > 0; i -= 2) a[i] = a[i - 1] + a[8 - i];
      for (int i = 0; i < 9; i += 3) a[i] = 1; }""",
    "guarded": """void f(int a[5][5]) {
      for (int i = 0; i < 5; i++) for (int j = 0; j < 5; j++) {
        if (i <= j) a[i][j] = a[j][i] + 1; else a[i][j] = 2; } }""",
    "scalar": """int f(int a[5]) { int s = 0, t;
      for (int i = 0; i < 5; i++) { t = a[i] + s; s = t * 2; a[i] = t; } return s; }""",
    "product": """void f(int c[3][3], int a[3][3], int b[3][3]) {
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) { c[i][j] = 0;
        for (int k = 0; k < 3; k++) c[i][j] += a[i][k] * b[k][j]; } }""",
    "skewed": """void f(int a[9], int b[3]) {
      for (int i = 0; i < 3; i++) for (int j = 0; j < 3; j++) a[i + 2 * j] += b[j];
      for (int i = 0; i < 3; i++) b[i] = a[2 * i + 1]; }""",
}  # fmt: skip

ONE_ITERATION = {
    "branch": """int f(int c[6]) { int t = 2;
      for (int i = 0; i < 6; i++) {
        if (i == 4) { if (c[i]) t = 5; } else if (c[i]) t = 7;
      } return t; }""",
    "quotients": "void f(int a[4]) { for (int i = 6; i >= 2; i--) a[i / 4] = a[i / 2]; }",
}
"""Statements that run in one iteration of a loop each, among others that run in several."""


def analysed(text: str) -> Analysis:
    return examine(parse_text(text, "program.c"))


def analysed_if_small(text: str) -> Analysis | None:
    """Return the analysis of a random program; None: there is nothing to build, or too much."""
    try:
        analysis = analysed(text)
    except (EmptyRegion, NothingObservable, NothingToBuild):
        return None
    return analysis if len(instances(analysis.scop)) <= 100 else None


def example(name: str) -> Analysis:
    return examine(parse(EXAMPLES / name / f"{name}.c", CompileOptions()))


def pairs_of(relation: isl.Map) -> set[Pair]:
    """Return every pair of a finite relation."""
    sources = relation.dim(isl.dim_type.in_)
    flat = relation.wrap().flatten()
    points = (point_values(point) for point in for_each(flat.foreach_point))
    return {(point[:sources], point[sources:]) for point in points}


def points_of(instances: isl.Set) -> set[Point]:
    return {point_values(point) for point in for_each(instances.foreach_point)}
