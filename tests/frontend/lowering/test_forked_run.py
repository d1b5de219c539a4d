"""Loops whose bound is found by running their scalars in all ways that data may decide."""

from __future__ import annotations

import re

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from tests.frontend.gcc_check import assert_as_gcc
from tests.oracles.gcc_oracle import have_gcc

SEARCH = """int f(const int a[64], int key) {
  int lo = 0, hi = 63;
  while (lo <= hi) {
    int mid = lo + (hi - lo) / 2;
    if (a[mid] == key) return mid;
    if (a[mid] < key) lo = mid + 1; else hi = mid - 1;
  }
  return -1;
}"""

BOUND = """int f(const int a[100], int key) {
  int lo = 0, hi = 100;
  while (lo < hi) { int mid = (lo + hi) >> 1; if (a[mid] < key) lo = mid + 1; else hi = mid; }
  return lo;
}"""

ROOT = """unsigned f(const unsigned short a[1]) {
  unsigned lo = 0, hi = 255;
  while (lo < hi) {
    unsigned mid = (lo + hi + 1) / 2;
    if (mid * mid <= a[0]) lo = mid; else hi = mid - 1;
  }
  return lo;
}"""

HEAP = """int f(int a[15]) {
  int root = 0;
  while (2 * root + 1 < 15) {
    int child = 2 * root + 1;
    if (child + 1 < 15 && a[child] < a[child + 1]) child++;
    if (a[root] >= a[child]) break;
    int t = a[root]; a[root] = a[child]; a[child] = t;
    root = child;
  }
  return root;
}"""

EITHER = """int f(const int a[8]) {
  int i = 0, j = 6;
  while (i < 4 || j > 0) {
    if (i < 4 && (j <= 0 || a[i] > a[j])) i++; else j -= 2;
  }
  return i * 8 + j;
}"""

PARTED = """int f(const int a[32], int key) {
  int i = 0, j = 31, s = 0;
  while (i < j) {
    while (i < j && a[i] < key) i++;
    while (j > i && a[j] >= key) j--;
    if (i < j) { s += a[i] - a[j]; i++; j--; }
  }
  return s * 64 + i;
}"""

SORTED = """int f(int a[16]) {
  int end = 16, swaps = 0;
  while (end > 1) {
    int last = 0;
    for (int i = 1; i < end; i++) {
      if (a[i - 1] <= a[i]) continue;
      if (swaps > 90) break;
      int t = a[i]; a[i] = a[i - 1]; a[i - 1] = t;
      last = i;
      swaps++;
    }
    end = last;
  }
  return swaps;
}"""

AGAIN = """int f(const int a[8]) {
  int n = 12, s = 0;
  while (n > 0) {
    int k = 0;
    for (int m = 0; m < 3 && k < a[m]; m++) k = a[n & 7] > 3 ? 0 : 1;
    n -= k ? 3 : 2;
    s++;
  }
  return s;
}"""

PRODUCT = """int f(int a[8]) {
  for (int i = 0, j = 30; i * j < 90; i += 2, j--) a[i & 7] += j;
  return a[0];
}"""


def bound(text: str) -> int:
    """Return the most iterations of the outermost loop of a program."""
    found = re.findall(r"trip\w* < (\d+)", parse_text(text).lowered)
    return int(found[0])


@pytest.mark.parametrize(
    ("text", "most"),
    [
        (SEARCH, 7), (BOUND, 7), (ROOT, 8), (HEAP, 3), (EITHER, 7), (PARTED, 16), (SORTED, 15),
        (AGAIN, 6),
    ],
)  # fmt: skip
def test_the_bound_is_the_longest_way(text: str, most: int) -> None:
    assert bound(text) == most


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize(
    "text", [SEARCH, BOUND, ROOT, HEAP, EITHER, PARTED, SORTED, AGAIN, PRODUCT]
)
def test_no_iteration_is_missing(text: str) -> None:
    assert_as_gcc(text, runs=6)


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("lo = mid + 1", "lo = mid"),
        ("hi = mid;", "hi = a[mid];"),
        ("hi = mid;", "{ int lo = mid; hi = lo + a[3]; }"),
        ("hi = 100", "hi = key"),
    ],
)
def test_a_loop_that_may_not_end_has_no_bound(was: str, becomes: str) -> None:
    with pytest.raises(FrontendError) as refused:
        parse_text(BOUND.replace(was, becomes))
    assert refused.value.code == "E0113"


@pytest.mark.parametrize(
    ("text", "was", "becomes"),
    [
        (PARTED, "{ s += a[i] - a[j]; i++; j--; }", "s += a[i] - a[j];"),
        (SORTED, "last = i;", "last = i + 1;"),
        (SORTED, "break;", "{ last = end; break; }"),
        (AGAIN, "n -= k ? 3 : 2", "n -= k"),
    ],
)
def test_a_loop_that_an_inner_one_may_keep_going_has_no_bound(
    text: str, was: str, becomes: str
) -> None:
    assert was in text
    with pytest.raises(FrontendError) as refused:
        parse_text(text.replace(was, becomes))
    assert refused.value.code == "E0113"


def test_a_parameter_with_limits_is_run_from_each_of_its_values() -> None:
    text = BOUND.replace("hi = 100", "hi = n").replace("int key) {", "int n, int key) { assert")
    text = text.replace("assert", "assert(n >= 0 && n <= 20);")
    assert bound(text) == 5
