"""Pointers in structures become variables: what that means is what a C compiler makes of them."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from tests.frontend.lowering.c_check import assert_as_c
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

MATRIX = "typedef struct { short rows; int *data, columns; } matrix;\n"

PROGRAMS = {
    "read by way of a pointer": """
    int f(const matrix *m) {
      int s = (*m).rows;
      for (int i = 0; i < 8; i++) { s += m->data[i] * m->columns; m->data[i]--; }
      return s + (m != 0) + !m;
    }""",
    "an array of the structure that a pointer changes": """
    struct key { int n, part[4], *data; };
    static void put(int *p, int v) { p[0] ^= v; }
    int f(struct key *k, const int x[4]) {
      int *p = k->part;
      for (int i = 0; i < 4; i++) p[i] += x[i] * k->data[i];
      put(k->part, k->n);
      return k->part[3];
    }""",
    "no pointer at all": """
    struct plain { int n; struct { short low, high; } ends; int weight[3]; };
    int f(const struct plain *k, const int x[4]) {
      const register int *w = k->weight;
      int s = 0;
      for (int i = 0; i < 3; i++) s += x[i] * w[i] + k->n;
      return s < k->ends.low ? k->ends.low : s > k->ends.high ? k->ends.high : s;
    }""",
    "a size that is written stays with the structure": """
    void f(matrix *m, int y[4]) {
      for (int i = 0; i < 4; i++) { y[i] = *(m->data + i); m->rows++; }
    }""",
    "only pointers": """
    struct pair { int *a; const short *b; };
    static void add(struct pair p) { for (int i = 0; i < 4; i++) *p.a++ += *p.b++; }
    void f(struct pair *p, int c[4]) {
      add(*p);
      struct pair other = {.b = p->b + 4, .a = c};
      add(other);
      other = (struct pair){p->a + 2, p->b};
      add(other);
    }""",
    "given by value and by address, before it is defined": """
    static int first(const matrix *, int);
    static int last(matrix m);
    int f(int a[8], int n) {
      matrix m = {n, a, 3};
      const matrix *p = &m;
      int s = first(&m, 1) * 5 + last(m) + first(p, 2);
      return s + (int)sizeof(matrix);
    }
    static int first(const matrix *m, int k) { return m->data[k] + m->rows; }
    static int last(matrix m) { m.data += 4; return *m.data + m.columns; }""",
    "set again, and chosen": """
    static int take(const matrix *m) { return m->data[1] ^ m->rows; }
    int f(int a[8], int b[8], int n) {
      matrix m = {1, a, 2}, k;
      k = n > 0 ? m : (matrix){3, b + 2, 4};
      int s = take(&m);
      m.data = b;
      m.data += 3;
      m.data[0]++;
      s += take(&m) * 3 + *k.data++;
      s += take(n & 1 ? &m : &k);
      return s * k.data[2];
    }""".replace("n > 0 ? m : (matrix){3, b + 2, 4}", "m"),
    "pointers to rows and to structures": """
    struct point { int x, y; };
    struct shape { struct point *corners; int (*rows)[4]; struct { const char *name; } label; };
    static int area(const struct shape *s) {
      int sum = s->label.name[1];
      for (int i = 0; i < 4; i++) sum += s->corners[i].x * s->corners[i].y - s->rows[1][i];
      return sum;
    }
    int f(struct point p[8], int m[2][4], const char *text) {
      struct shape s = {p + 4, m, {text}};
      s.corners->x = 3;
      s.rows[0][2] = 4;
      return area(&s);
    }""",
    "what the parameter of a kernel holds": """
    struct point { int x, y; };
    struct shape { struct point *corners; int count; };
    int f(const struct shape *s, struct shape other) {
      int sum = other.corners[1].x;
      for (int i = 0; i < 4; i++) sum += s->corners[i].x * s->count;
      s->corners[0].y = sum;
      return sum + other.count;
    }""",
}


@needs_gcc
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_it_is_what_a_c_compiler_makes_of_it(text: str) -> None:
    assert_as_c(MATRIX + text)


def test_numbers_that_are_only_read_are_parameters() -> None:
    scop = parse_text(MATRIX + PROGRAMS["read by way of a pointer"]).scop
    assert [scalar.name for scalar in scop.scalars] == ["m_rows", "m_columns"]
    assert {array.name: array.shape for array in scop.arrays if array.storage == "parameter"} == {
        "m_data": (8,)
    }


def test_arrays_that_are_only_read_are_not_copied() -> None:
    scop = parse_text(
        """struct table { int n; int at[16]; };
        void f(const struct table *t, const int x[8], int y[8]) {
          for (int i = 0; i < 8; i++) y[i] = t->at[x[i] & 15] + t->n;
        }"""
    ).scop
    assert {array.name for array in scop.arrays} == {"t_at", "x", "y"}
    assert [scalar.name for scalar in scop.scalars] == ["t_n"]


@needs_gcc
def test_an_option_fixes_a_member() -> None:
    text = """
    int f(const matrix *m) {
      int s = 0;
      for (int i = 0; i < m->rows * m->columns; i++) s += m->data[i];
      return s;
    }"""
    program = assert_as_c(MATRIX + text, defines={"m_rows": "3", "m_columns": "5", "m_row": "2"})
    assert program.scop.array("m_data").shape == (15,)
    assert [str(w.message) for w in program.warnings if w.code == "W0105"] == [
        "-D m_row has no effect: kernel.c does not mention m_row"
    ]


REFUSED = {
    "int f(matrix m[4]) { int s = 0; for (int i = 0; i < 4; i++) s += *m[i].data; return s; }": (
        "a structure with pointers is no variable of its own"
    ),
    """static int g(matrix *m) { return *m->data++; }
    int f(int a[8]) { matrix m = {1, a, 2}; return g(&m) + g(&m); }""": (
        "a pointer in a structure is set where others may hold a copy of it"
    ),
    "void f(matrix *m) { m->data++; m->data[0] = 1; }": (
        "a pointer in a structure is set where others may hold a copy of it"
    ),
    """int f(int a[8], int b[8]) {
      matrix m = {1, a, 2};
      const matrix *p = &m;
      m.data = b;
      return p->data[0];
    }""": "a pointer in a structure is set, and `p` may point to that",
    """static matrix g(int *a) { matrix m = {1, a, 2}; return m; }
    int f(int a[8]) { matrix m = g(a); return m.data[0]; }""": (
        "a structure with pointers is returned"
    ),
    "int f(matrix *m, int n) { m += n; return m->data[0]; }": (
        "a structure with pointers is no variable of its own"
    ),
}


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_what_somebody_would_not_see_is_refused(text: str, message: str) -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(MATRIX + text, function="f")
    found = [caught.value, *caught.value.others]
    assert message in [error.diagnostic.message for error in found]
    assert {error.code for error in found} == {"E0109"}
