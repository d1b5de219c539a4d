"""Pointers that functions return or move, tables of them, and what else is written out."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from tests.frontend.lowering.c_check import assert_as_c
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

TEXTS = {
    "a value that is returned early": """
        static int *first(int *a, int key) {
          for (int i = 0; i < 8; i++) { if (a[i] == key) return &a[i]; }
          return 0;
        }
        int f(int a[8], int n) { int *p = first(a, n & 3); if (p) *p = 99; return p != 0; }""",
    "a name that the caller has, too": """
        int base[4];
        static int *at(int i) { int k = i & 3; return base + k; }
        int f(int k) { int i = 3; int *p = at(k); *p += i; return *at(i) + k; }""",
    "a call in the value of another one": """
        static const int *behind(const int *p, int n) { return p + n; }
        static int sum(const int **p, int n) { int s = 0; while (n-- > 0) s += *(*p)++; return s; }
        int f(const int a[16]) {
          const int *p = behind(behind(a, 1), 2);
          int s = sum(&p, 3);
          s = s * 100 + sum(&p, 2);
          return s * 100 + (int)(p - a);
        }""",
    "a pointer that stays where another one is that moves": """
        int f(int a[16], int b[16], const int x[4]) {
          int s = 0, *p = a;
          for (int i = 0; i < 4; i++) {
            int *q = p; *q += 3; p += 2; q[1]--; s += q - a;
            int *r = x[i] > 0 ? p : b, *t = r;
            *t += 1;
          }
          return s;
        }""",
    "a pointer that may be none, by way of another one": """
        int f(int a[8], int k) { int *p; if (k) p = a + 1; else p = 0;
          int *q = p; if (q) *q = 3; return q == 0; }""",
    "no place, and what holds anything": """
        static int core(const unsigned *s, unsigned *tail, const void *mask) {
          const unsigned char *m = (const unsigned char *)mask;
          if (tail) *tail = s[1];
          return m ? m[0] & (int)s[0] : 7;
        }
        int f(const unsigned s[2], unsigned t[1], const unsigned char m[1]) {
          int first = core(s, 0, 0);
          return first + core(s, t, m);
        }""",
    "conversions to what it is": """
        static void bump(int *p) { p[0]++; }
        void f(int a[8], const unsigned char m[4]) {
          const unsigned char *q = (const unsigned char *)m;
          int *r = (int *)a;
          r[1] += q[2]; bump((int *)a); ((int *)a)[3] = q[1]; *(int *)&a[5] = 1;
        }""",
    "rows that are set, stepped and swapped": """
        void f(int m[4][4], const int x[4]) {
          int *rows[4];
          for (int i = 0; i < 4; i++) rows[i] = m[i];
          for (int k = 0; k < 3; k++)
            if (x[k] > x[k + 1]) { int *t = rows[k]; rows[k] = rows[k + 1]; rows[k + 1] = t; }
          *rows[x[0] & 3] = 9;
          *rows[2]++ = 11; *rows[2] = 12;
        }""",
    "functions by number": """
        static int add(int a, int b) { return a + b; }
        static int sub(int a, int b) { return a - b; }
        static int (*const ops[2])(int, int) = {add, sub};
        int f(const int x[8], int k) {
          int s = 0;
          int (*op)(int, int) = k > 3 ? add : &sub;
          for (int i = 0; i < 8; i++) s += ops[x[i] & 1](s, i) + (*op)(k, i);
          return s + (int)(sizeof ops / sizeof ops[0]);
        }""",
    "a table of texts": """
        static const char *const names[] = {"ab", "cde"};
        int f(const int x[4]) {
          int s = 0;
          for (int i = 0; i < 4; i++) s += names[x[i] & 1][i & 1];
          return s;
        }""",
    "copies of a structure's pointer": """
        struct job { int n, k; int w[8]; };
        static int sum(const struct job *m) {
          const struct job *j = (const struct job *)m;
          int s = 0;
          for (int i = 0; i < 8; i++) s += j->w[i] * j->k;
          return s;
        }
        void f(struct job *m, int *o) { struct job *j = m; j->n++; m->k += j->n; *o = sum(j); }""",
    "what is set on the way": """
        unsigned f(const unsigned x[16], unsigned y[4]) {
          unsigned w[16], a = 1, e = 5; int k;
          for (int i = 0; i < 16; i++) w[i] = x[i];
          for (int i = 16; i < 40; i++) {
            unsigned t = (a << 5) + e + (w[i & 15] = w[(i - 3) & 15] ^ w[i & 15]);
            e = a; a = t;
          }
          if ((y[0] = a) > 3) y[1] = (k = 3) + e; else y[1] = 0;
          y[2] = (w[3] = a ^ 5) * 2 + (e += 3);
          return a + (y[0] += 3);
        }""",
    "ranges": """
        static const unsigned char kind[64] = {[1 ... 9] = 1, [20 ... 25] = 2, [22] = 3};
        int f(const int x[8]) {
          int w[3][4] = {[0 ... 1][1 ... 2] = 5, [2] = {1, 2, 3, 4}}, s = 0;
          for (int i = 0; i < 8; i++)
            switch (kind[x[i] & 63]) {
            case 1 ... 2: s += w[i % 3][i & 3]; break;
            case 3: s--; break;
            default: s += 100;
            }
          return s;
        }""",
    "parameters without names": """
        static int g(int a, int, int [4]) { return a + 1; }
        int f(int x[4]) { return g(x[0], x[1], x); }""",
}


@needs_gcc
@pytest.mark.parametrize("text", TEXTS.values(), ids=list(TEXTS))
def test_what_is_written_out_means_what_gcc_says(text: str) -> None:
    assert_as_c(text)


@pytest.mark.parametrize(
    "text",
    [
        # It would be another variable in each place.
        "static int *next(int *a) { static int n; return &a[n++ & 7]; }"
        " void f(int a[8]) { *next(a) = 1; }",
        "static int *at(int *a, int i) { return i ? at(a + 1, i - 1) : a; }"
        " void f(int a[8]) { *at(a, 3) = 1; }",
        # C does not say where p is on the right.
        "static int next(const int **p) { return *(*p)++; }"
        " int f(const int a[8]) { const int *p = a; return next(&p) + *p; }",
        "void f(int a[8], int b[8]) { int *t[17] = {a, b}; *t[1] = 2; }",
        "void f(int a[8], int b[8]) { int i = 0, *t[2] = {a, b}; *t[i++] = 2; }",
    ],
)
def test_what_cannot_be_written_out_is_refused(text: str) -> None:
    with pytest.raises(FrontendError):
        parse_text(text)
