"""Pointers that move become positions: what that means is what a C compiler makes of them."""

from __future__ import annotations

import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from tests.frontend.lowering.c_check import assert_as_c
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

PROGRAMS = {
    "one of two arrays, set under a condition": """
    void f(int a[8], int b[8], int c) { int *p = a; if (c) p = b; *p++ = 1; *p += 2; }""",
    "one of two arrays, stepped": """
    int f(int a[8], int b[8], int c) {
      int *p = c ? a : b + 1;
      p++;
      *p = 1;
      int s = p[1]--;
      return s;
    }""",
    "two arrays that change places": """
    void f(int a[8], int b[8]) {
      int *x = a, *y = b;
      for (int i = 0; i < 4; i++) { y[i] = x[i] * 3; int *t = x; x = y; y = t; }
    }""",
    "a pointer that is set further on from another one": """
    int f(int a[8], int b[8], int c) {
      int *p = c ? a : b, *q;
      q = p + 2;
      p = b;
      return *q * 3 + *p;
    }""",
    "a row that is looked up in one case only": """
    int f(const int x[8], int m[4][8], int a[8], int c) {
      int *p = c >= 0 && c < 8 ? m[x[c] & 3] : a;
      return *++p;
    }""",
    "a row of one of two matrices": """
    void f(int a[4][8], int b[4][8], int c, int k) {
      int *p = c > 0 ? a[k & 3] : b[(k >> 2) & 3];
      for (int i = 0; i < 8; i++) { p[i] ^= i; if (p == a[2]) p[0]++; }
    }""",
    "an array, a row or a scalar": """
    int f(int a[8], int m[3][8], int c) {
      int s = 5, *p = a;
      if (c & 1) p = m[c >> 1 & 1];
      if (c & 4) p = &s;
      *p += 7;
      return s + (p == &s) * 100 + (p == m[1]) * 1000 + (p != a) * 10000;
    }""",
    "a pointer that points nowhere": """
    int f(int a[8], int b[8]) {
      int *p = NULL, s = 0;
      for (int i = 0; i < 8; i++) {
        if (p) s += *p;
        else s -= 3;
        if (!p || a[i] > 5) p = a[i] > 100 ? 0 : a[i] < 0 ? b : &a[i];
        int *q = p;
        if (q != NULL && q == p) s ^= *q;
      }
      return p ? s : -s;
    }""".replace("NULL", "(void *)0"),
    "a parameter that is asked whether it points nowhere": """
    int f(int a[8], int *b, int *c) {
      if (!a || b == 0 || c == 0) return -1;
      return a[0] + b[1];
    }""",
    "two arrays that are compared and never read": """
    int f(int a[8], int b[8], const int d[8]) {
      int n = 0;
      for (int i = 0; i < 8; i++) { int *p = d[i] & 1 ? a + i : b + i; if (p == b + 3) n += 1; }
      return n;
    }""",
    "two members that are compared and never read": """
    struct M { int *x; int *y; int n; };
    int f(struct M *m, const int d[8]) {
      int n = 0;
      for (int i = 0; i < 8; i++) {
        int *p = d[i] & 1 ? m->x + i : m->y + i;
        if (p == m->y + 3) n++;
      }
      return n;
    }""",
    "a call for one of two arrays": """
    static int take(int *p, const int *q) { p[0] += q[1]; return p[0] > q[0]; }
    int f(int a[8], int b[8], int c) {
      int *p = c ? a : b, *q = c ? b : a, s = take(p, q + 2);
      take(c & 2 ? a + 1 : b + 2, p + 1);
      s += take(q, p);
      return take(p + 4, a) * 3 + s;
    }""",
    "a choice in a condition": """
    int f(int a[8], int b[8], int c) {
      int i = 0;
      while (i < 7 && (c ? a : b)[i] > 0) i++;
      return i + ((c ? a : b)[i] > 3 && *((c & 1 ? b : a) + 1) > 4);
    }""",
    "comparisons of pointers into either of two arrays": """
    int f(int a[8], int b[8], int c) {
      int *p = c ? a : b, *end = (c ? a : b) + 6, s = 0;
      for (; p < end; p += 2) s += *p * (int)(end - p);
      return s + (p == end) + 2 * (p != b + 6);
    }""",
    "structures of either of two arrays": """
    struct pair { int x; short y[2]; };
    int f(struct pair a[4], struct pair b[4], int c, struct pair *y) {
      struct pair *p = (c ? a : b) + (c & 1);
      p->y[1] += 3;
      *y = *p;
      p++;
      *p = b[3];
      return p->x + y->y[1];
    }""",
    "a converted pointer to rows": """
    int f(int m[4][4]) {
      int s = 0;
      int (*row)[4] = (int (*)[4])m;
      for (int i = 0; i < 4; i++, row++) s = s * 3 + (*row)[1];
      return s;
    }""",
    "differences of known places": """
    int f(const int a[16]) {
      const int *p = a + 9 - 4, *q = a + (2 * 7 - 3);
      int s = 0;
      for (int i = 0; i < 4; i++) s = s * 3 + *p++ - *q--;
      return s;
    }""",
    "returned with a step": """
        static int second(const int *p) { return *++p; }
        static int first(const int *p) { return *p++; }
        int f(const int a[8]) { return second(a + 1) * 3 + first(a + 4); }""",
    "differences across rows": """
        int f(int m[4][6], int n) {
          int *p = m[2];
          p++;
          for (int i = 0; i < 3; i++) { int *q = m[i]; q += 2; n += (q < p) + (int)(p - q); }
          return n;
        }""",
    "rows that differ": """
        void f(int m[4][6]) { int *p = m[1]; *p++ = 3; *p = 4; p = m[2]; *p++ = 5; *p = 6; }""",
    "ends of other types": """
        int f(const int a[8]) {
          unsigned low = 0; unsigned char most = 7; int s = 0;
          for (const int *p = a + most; p >= a + low; p--) s = 3 * s + *p;
          return s;
        }""",
    "two that go on together": """
        void f(int *a, const int *b, int n) { int *p = a; const int *q = b + 3;
          for (int i = 0; i < 8; i++) *p++ = *q++ + n; }""",
    "parameters that are stepped": """
        void f(int *d, const int *s) { for (int i = 0; i < 8; i++) *d++ += *s++; *d = 7; }""",
    "a stride": """
        int f(const int a[32]) { int s = 0; const int *p = a; for (int i = 0; i < 8; i++) {
          s += *p; p += 4; } return s; }""",
    "a pointer counts a loop": """
        int f(const int a[16]) { int s = 0; for (const int *p = a; p < a + 16; p++) s += *p;
          return s; }""",
    "a loop with its end in the header": """
        int f(const int a[16]) { int s = 0; const int *p, *end; for (p = a, end = a + 16;
          p != end; ++p) s += *p * p[-0]; return s; }""",
    "a loop that goes down": """
        int f(const int a[16]) { int s = 0; for (const int *p = a + 15, *e = a; p >= e;
          p--) s += s ^ *p; return s; }""",
    "a pointer into each row": """
        void f(int m[4][8]) { for (int i = 0; i < 4; i++) { int *p = m[i]; for (int j = 0;
          j < 8; j++) *p++ += i * j; } }""",
    "a pointer to rows": """
        void f(int m[4][8]) { int (*r)[8] = m; for (int i = 0; i < 4; i++, r++) {
          (*r)[2] = i; r[0][3] += 5; for (int j = 4; j < 8; j++) (*r)[j] -= j; } }""",
    "a parameter that points to rows": """
        void f(int (*r)[8], int n) { for (int i = 0; i < 4; i++) { (*r)[i] = n; ++r; } }""",
    "flat over two dimensions": """
        void f(int m[6][8]) { int *flat = &m[0][0]; for (int i = 0; i < 48;
          i++) flat[i] += i; }""",
    "one array by two names": """
        void f(int a[6][8]) { int *flat = &a[0][0]; for (int i = 1; i < 6;
          i++) for (int j = 0; j < 8; j++) { flat[8 * i + j] += a[i - 1][7 - j];
          a[i][j] ^= flat[8 * i + j - 1]; } }""",
    "flat over three dimensions by a conversion": """
        int f(int m[3][4][5]) { int s = 0; int *p = (int *)m; for (int i = 0; i < 60; i++) {
          s += *p; *p++ = i; } return s; }""",
    "from row to row": """
        void f(int m[6][8]) { int *row = &m[0][0]; for (int i = 0; i < 6; i++) { row[3] = i;
          row[i] += 2; row += 8; } }""",
    "differences": """
        long f(int a[10], int out[2]) { int *p = a + 2; int *q = p; q += 5; out[0] = q - p;
          *q = 3; out[1] = (int)(&a[9] - q); return q - a; }""",
    "elements before it": """
        void f(int a[16]) { int *p = &a[8]; for (int i = 0; i < 4; i++) { p[-1] += p[0];
          p[-2] = *(p - 3); p++; } }""",
    "the array between the brackets": """
        void f(int a[16]) { for (int i = 0; i < 8; i++) i[a] += (i + 8)[a]; 3[a] = 1; }""",
    "two towards each other": """
        void f(char s[16]) { char *lo = s, *hi = s + 15; for (int i = 0; i < 8; i++) {
          char t = *lo; *lo++ = *hi; *hi-- = t; } }""",
    "stepped before it is used": """
        int f(const int a[9]) { const int *p = a; int s = 0; for (int i = 0; i < 8;
          i++) s = s * 3 + *++p; return s; }""",
    "down to the start": """
        int f(const int a[9]) { const int *p = a + 9; int s = 0; for (int i = 0; i < 9;
          i++) s = s * 3 + *--p; return s; }""",
    "elements of arrays of structures": """
        struct P { int x; short v[3]; };
        void f(struct P p[6], const struct P *q) { struct P *w = p; for (int i = 0; i < 6;
          i++) { w->x = q->x + i; w->v[i % 3] = q->v[1]; w++; q++; } struct P *e = &p[5];
          e--; *e = p[0]; }""",
    "arrays in structures": """
        struct P { int x; short v[8]; };
        int f(struct P p[3]) { int s = 0; for (int i = 0; i < 3; i++) { short *v = p[i].v;
          for (int j = 0; j < 8; j++) s += *v++; int *x = &p[i].x; *x += s; } return s; }""",
    "arrays in structures that are walked over": """
        struct P { int x; short v[8]; };
        int f(struct P *p) { int s = 0; short *v; for (int i = 0; i < 3; i++) { v = p->v;
          for (int j = 0; j < 8; j++) { s += *v; v++; } ++p; } return s; }""",
    "given to functions": """
        static int three(const int *p) { return p[0] + 2 * p[1] + 4 * p[2]; }
        static void put(int *p, int v) { *p++ = v; *p = v + 1; }
        void f(const int a[16], int b[16]) { const int *p = a; int *q = b; for (int i = 0;
          i < 8; i++) { *q = three(p); p += 1; put(q + 1, i); q++; } }""",
    "stepped in a condition": """
        void f(const int a[16], int b[16]) { int *q = b; const int *p = a; for (int i = 0;
          i < 16; i++) { if (*p++ > 0) b[i] = 1; else b[i] = -1; } *q = 5; q++; }""",
    "chosen inside of one array": """
        void f(int a[16], int c) { int *p; for (int i = 0; i < 8; i++) {
          p = i & 1 ? a + i : &a[15 - i]; *p += c; } }""",
    "chosen by what steps": """
        void f(int a[8], int b[8], int n) { int *p = n++ ? b : b; *p = n;
          const int *q = n-- > 3 ? a + 1 : b + 2; p = (n += 2) ? a + 3 : b; *p += q[1] + n; }""",
    "chosen by what steps in a header": """
        void f(int a[8], int b[8], int n) { int i; const int *p; for (i = 0, p = n++ ? a + 1 : b;
          i < 4; i++, p = b[i]++ > 0 ? a + i : b + 2) b[5] += *p + n; }""",
    "chosen by what a function changes": """
        int g(int *p, int k) { p[k & 3] ^= k; return p[0]; }
        void f(int a[8], int b[8], int n) { const int *p = g(b, n) ? a + 1 : a + 1; b[5] = *p; }""",
    "set again": """
        void f(int a[4][8]) { int *p; for (int i = 0; i < 4; i++) { p = a[i]; p++; *p = i;
          p = &a[i][7]; *p-- = 3; *p = 4; } }""",
    "two set at once": """
        void f(int a[8]) { int *p, *q; p = q = a + 1; *p++ = 1; *p = 2; q += 3; *q = 5; }""",
    "distances of other types": """
        void f(int a[40], unsigned char k) { unsigned n = 3; int *p = a + n; p += n; *p = 1;
          p -= 2u; *p = 2; long l = 4; p = p + l; *p = k; p[n] = 9; }""",
    "sizes": """
        int f(short a[8]) { short *p = a; p++; return *p + (int)sizeof(*p) + (int)sizeof p; }""",
    "an end that stays": """
        int f(const int a[64], int n) { const int *p = a, *end = a + 64; int s = 0; for (;
          p < end; p += 2) s += *p; return s; }""",
    "globals": """
        int buf[16]; int total;
        void f(int n) { int *p = buf; for (int i = 0; i < 16; i++) *p++ = n + i; p = buf;
          int *t = &total; for (int i = 0; i < 16; i++) *t += *p++; }""",
    "addresses of scalar parameters": """
        static void sum(const int *x, const int *y, int *s) { *s = *x + *y; }
        void f(int a, int b, int out[1]) { int s; sum(&a, &b, &s); out[0] = s; }""",
    "names hide each other": """
        void f(int a[8]) { int *p = a; *p++ = 1; { int p = 3; a[5] = p; } for (int i = 0;
          i < 2; i++) { int *p = a + 4; *p++ = i; } *p = 2; }""",
    "names that are taken": """
        void f(int a[8], int p_at) { int *p = a; *p++ = p_at; *p = 2; }""",
    "a constant pointer": """
        void f(int a[8]) { int *const p = a + 2; p[1] = 4; const int *q = p; q++; a[0] = *q; }""",
    "walked in a function that is called for every row": """
        static int dot(const int *a, const int *b, int n) { int s = 0; for (int i = 0; i < 4;
          i++) s += *a++ * *b++; return s; }
        void f(const int m[4][4], const int v[4], int o[4]) { int *w = o; for (int i = 0;
          i < 4; i++) *w++ = dot(m[i], v, 4); }""",
    "rows of three dimensions": """
        void f(int t[3][4][5]) { for (int i = 0; i < 3; i++) { int *p = &t[i][0][0];
          for (int k = 0; k < 20; k++) *p++ = i + k; int (*r)[5] = t[i]; r++; (*r)[4] = 9; } }""",
    "set to null at first": """
        #include <stddef.h>
        void f(int a[8]) { int *p = NULL; int *q = 0; p = a; q = p + 1; *p++ = 1; *q = 3; }""",
    "the address of a constant parameter": """
        static int get(const int *p) { return *p + 1; }
        int f(const int n, int m) { return get(&n) + get(&m); }""",
    "the first row alone": """
        void f(int m[4][8]) { int *p = &m[0][0]; for (int j = 0; j < 8; j++) p[j] = j; }""",
    "structures given to a function one by one": """
        struct P { int x, y; };
        static void up(struct P *p, int n) { p->x += n; p->y = p[1].x; }
        void f(struct P p[9]) { struct P *w = p; for (int i = 0; i < 8; i++) { up(w, i); w++;
          } (void)w; }""",
    "structures up to an end": """
        struct P { int x, y; };
        int f(struct P p[9]) { int s = 0; for (struct P *w = p, *e = p + 9; w != e;
          w++) s += w->x * w->y; return s; }""",
    "arrays in structures in arrays": """
        struct Q { struct { int v[4]; } e[3]; };
        int f(struct Q *q) { int s = 0; for (int i = 0; i < 2; i++) { for (int j = 0; j < 3;
          j++) { int *v = q[i].e[j].v; v += 1; s += *v++; s ^= *v; } } return s; }""",
    "differences in structures": """
        struct P { int x, y; };
        long f(struct P p[9]) { struct P *w = p + 2; w++; w->x = 3; return w - p; }""",
    "subscripts that are read one by one": """
        void f(int a[16], const unsigned char k[16], int o[16]) { const unsigned char *p = k;
          for (int i = 0; i < 16; i++) o[i] = a[*p++ & 15]; }""",
    "a start that data chooses": """
        int f(const int a[16], int k) { const int *p = a + (k & 7); int s = 0;
          for (int i = 0; i < 8; i++) { s += *p; p++; } return s; }""",
    "changed in place": """
        void f(int a[8]) { int *p = a; for (int i = 0; i < 7; i++) { *p += p[1]; *p++ <<= 1;
          } *p ^= 1; }""",
    "the value stepped, and the pointer": """
        void f(int a[8]) { int *p = a; for (int i = 0; i < 8; i++) { (*p)++; ++*p; p++; } }""",
    "two steps an iteration": """
        void f(int a[20], int b[10], int c[10]) { int *pa = a, *pb = b; int *pc = c;
          for (int i = 0; i < 10; i++) { *pa++ = *pb; *pa++ = *pc; pb++; pc++; } }""",
    "rows from the last one": """
        void f(int m[5][3]) { int (*r)[3] = &m[4]; for (int i = 0; i < 5; i++) { int *c = *r;
          for (int j = 0; j < 3; j++) *c++ += i; r--; } }""",
    "down a column": """
        int f(int m[5][3]) { int s = 0; for (int j = 0; j < 3; j++) { int *c = &m[0][j];
          for (int i = 0; i < 5; i++) { s = 2 * s + *c; c += 3; } } return s; }""",
    "local arrays": """
        int f(int n) { int t[8]; int *p = t; for (int i = 0; i < 8; i++) *p++ = n * i;
          int s = 0; for (p = t; p < t + 8; p++) s ^= *p; return s; }""",
    "a string copied": """
        void f(char d[16], const char s[16]) { char *p = d; const char *q = s;
          for (int i = 0; i < 15; i++) *p++ = *q++; *p = 0; }""",
    "a parameter that starts again": """
        int f(const int *a) { const int *b = a; int s = 0; for (int r = 0; r < 2; r++) {
          for (int i = 0; i < 4; i++) s += *a++ * (r + 1); a = b; } return s; }""",
    "ends that meet": """
        void f(int a[10]) { for (int *l = a, *r = a + 9; l < r; l++, r--) { int t = *l;
          *l = *r; *r = t; } }""",
}


@needs_gcc
@pytest.mark.sample(every=3)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_it_is_what_a_c_compiler_makes_of_it(text: str) -> None:
    assert_as_c(text)


def test_a_position_costs_nothing_where_the_iterators_know_it() -> None:
    scop = parse_text("""void f(int a[8], const int *b) {
          int *p = a;
          for (int i = 0; i < 8; i++) *p++ = *b++;
        }""").scop
    copies = [s for s in scop.statements if s.write.array == "a"]
    assert [str(s.write) for s in copies] == ["a[i]"]
    assert [str(r) for r in copies[0].reads] == ["b[i]"]
    assert copies[0].text == "*p++ = *b++"


def test_distances_of_other_types_are_counted_as_ints() -> None:
    # A position before the first element is less than any, and would be no unsigned number.
    lowered = parse_text("""int f(const int a[8], unsigned n, short k) {
          const int *p = a + k;
          p++;
          return p < a + n ? *p : 0;
        }""").lowered
    assert "p_at < ((int) n)" in lowered
    assert "int p_at = k;" in lowered


def test_a_pointer_that_stays_is_left_to_the_reader() -> None:
    moved = parse_text("void f(int a[4][8]) { int *p = a[1]; p[2] = p[3]; }").scop
    plain = parse_text("void f(int a[4][8]) { a[1][2] = a[1][3]; }").scop
    assert [str(s.write) for s in moved.statements] == [str(s.write) for s in plain.statements]
    assert {array.name for array in moved.arrays} == {"a"}


def test_what_nobody_calls_may_do_anything_with_pointers() -> None:
    parse_text(
        """
        struct item { struct item *next; char *name; } *items;
        char *next(char **p) { while (*(*p)++) ; return *p; }
        int count(struct item *n) { int k = 0; for (; n; n = n->next) k++; return k; }
        int main(int argc, char **argv) { return *next(argv) + count(items); }
        void kernel(int a[8]) { int *p = a; *p++ = 1; *p = 2; }""",
        function="kernel",
    )


REFUSED = {
    """void f(int a[8], int b[8], int c) {
      int *p = c ? a : b;
      for (int i = 0; i < 8; *p = i) { i++; p++; }
    }""": "something is set by way of a pointer that may point into several arrays",
    """void f(int a[8], int b[8], int c, int y[2]) {
      int *p = c ? a : b;
      int t[2] = {*p, (*p)++};
      y[0] = t[0];
    }""": "the address of one of several arrays is used as a value",
    "void f(int a[8]) { int *p = a, **q = &p; q = &p; p++; (*q)[0] = 1; }": (
        "it is not known what this points to"
    ),
    "void f(int a[8]) { int s = 3; int *p = &s; p++; a[0] = *p; }": (
        "`p` points to one variable, and is moved"
    ),
    "int f(int a[8], int b[8]) { int *p = a; p++; return p < b; }": (
        "pointers into different arrays are compared"
    ),
    """int f(int m[4][4]) {
      int *p = m[0], s = 0;
      for (int i = 0; i < 8; i++) { p = &m[i & 3][*p & 3]; s += *p; }
      return s;
    }""": "a pointer to a row is set by way of itself",
    "int *f(int a[8]) { int *p = a; p++; return p; }": "a pointer that moves is used as a value",
    """struct N { struct N *next; int v; };
    int f(struct N *n) { int s = 0; for (; s < 9; n = n->next) s += n->v; return s; }""": (
        "it is not known what `n` points to"
    ),
    """void f(int a[8]) {
      int *p = a;
      for (int i = 0; i < 4; i++) { int a[2] = {1, 2}; *p++ = a[0]; }
    }""": "`a` is another variable here",
}


@pytest.mark.parametrize(
    "body",
    [
        "int *p = &x; *p = x++;",
        "int *p = &x; a[0] = *p + x++;",
        "int *p = &x; x = (*p)++ + 1;",
        "int *p = &x; a[x & 7] = (*p)--;",
        "int *p = &x, *q = p; *q = (*p)++;",
        "int *p = &x; if (*p == x++) a[0] = 1;",
        "int *p = &x; int y = *p - --x; a[0] = y;",
        "int *p = &a[1]; a[1] = (*p)++;",
        "int *p = a; p[1] = a[1]++;",
    ],
)
def test_what_two_names_do_to_one_variable_has_no_order(body: str) -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(f"int f(int a[8]) {{ int x = a[0] & 3; {body} return x; }}")
    assert caught.value.code == "E0126"
    assert "name one variable, which changes here" in caught.value.diagnostic.message


READING = """
static int get(const int **from) { return *(*from)++; }
static void put(int **to, int value) { *(*to)++ = value; }
static void put_at(int *to, int value) { *to = value; }
static void put_sum(int **to, const int *p, int value) { *(*to)++ = value + *p; }
"""


@needs_gcc
def test_a_call_may_move_what_stands_beside_an_address() -> None:
    body = "const int *p = a; int *q = b; for (int i = 0; i < 4; i++) put(&q, get(&p)); *q = 5;"
    assert_as_c(f"{READING} void f(const int a[8], int b[8]) {{ {body} }}")


@pytest.mark.parametrize(
    "body", ["put_sum(&q, p, get(&p));", "put_at(q, get((const int **)&q));", "*q = get(&p) + *p;"]
)
def test_what_a_call_may_move_is_not_used_beside_it(body: str) -> None:
    with pytest.raises(FrontendError) as caught:
        start = "const int *p = a; int *q = b;"
        parse_text(f"{READING} void f(const int a[8], int b[8]) {{ {start} {body} }}", function="f")
    assert caught.value.code == "E0126"
    assert "may change what stands beside its call" in caught.value.diagnostic.message


@pytest.mark.parametrize("chosen", ["n ? n++ ? a : a : b", "n++ ? m++ ? a : b : b"])
def test_what_chooses_in_one_case_only_is_no_step(chosen: str) -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(f"void f(int a[8], int b[8], int n, int m) {{ int *p = {chosen}; *p = n + m; }}")
    assert caught.value.code == "E0126"
    assert "chooses a pointer" in caught.value.diagnostic.message


@needs_gcc
@pytest.mark.parametrize(
    "body",
    [
        "int *p = &x; x = *p + 1; a[0] = *p * x; *p += x;",
        "int *p = &x; a[0] = x++ > 0 && *p; if (*p == 3 || x--) a[1]++;",
        "int *p = &x; a[0] = (x++, *p) + 1; a[1] = *p > 2 ? x-- : (*p)++;",
        "int *p = a; p[1] = a[0]++; p[2] = p[1] + a[2]; a[3] = p[a[4] & 7];",
    ],
)
def test_what_c_orders_may_be_done_under_two_names(body: str) -> None:
    assert_as_c(f"int f(int a[8]) {{ int x = a[0] & 3; {body} return x; }}")


@pytest.mark.parametrize(("text", "message"), REFUSED.items())
def test_a_pointer_that_the_text_does_not_place_is_refused(text: str, message: str) -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(text, function="f")
    assert (caught.value.code, caught.value.diagnostic.message) == ("E0109", message)
    assert caught.value.diagnostic.labels
