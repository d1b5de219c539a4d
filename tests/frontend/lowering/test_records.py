"""Structures become one variable a member: what that means is what a C compiler makes of them."""

from __future__ import annotations

from pathlib import Path

import pytest

import rtlgen
from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError
from rtlgen.verify.data import Recipe
from tests.frontend.lowering.c_check import assert_as_c
from tests.oracles.gcc_oracle import have_gcc

needs_gcc = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

PROGRAMS = {
    "by value, and changed by a function that it is handed to": """
    struct q { int x, y[2]; };
    static void set(int *y, int v) { y[1] += v; }
    static int changed(struct q p, int v) { set(p.y, v); return p.x + p.y[1]; }
    int f(struct q a[4], int v[4]) {
      int s = 0;
      for (int i = 0; i < 4; i++) s = s * 3 + changed(a[i], v[i]);
      return s;
    }""",
    "what is returned is put where it is taken from": """
        typedef struct { int a, b; int v[2]; } T;
        T g;
        static T turned(const T *p) { return (T){ p->b, g.a, { p->v[1], p->v[0] } }; }
        static T either(T *p, T *q) { p->a++; return p->a > q->b ? *q : *p; }
        static T same(T t) { t.v[0] += t.v[1]; return t; }
        void f(T t[2]) {
          T s = t[0];
          s = turned(&s);
          s = either(&s, &g);
          s = same(s);
          g = turned(&g);
          g = either(&g, &s);
          t[1] = s;
        }""",
    "a subscript that the copy changes": """
        struct P { int x, y; };
        void f(struct P t[2]) { t[0] = t[t[0].x & 1]; }""",
    "a type is named again by its own name": """
        typedef short T;
        struct P { T x; int y; };
        int f(struct P p[4]) { typedef T T; int s = 0; for (int i = 0; i < 4; i++) { T t = p[i].x;
          T *q = &p[i].x; s += *q + t * (int)sizeof(T) + sizeof(p[i]); } return s; }""",
    "members of an array of structures": """
        struct P { int x, y; };
        int f(struct P p[4]) { int s = 0; for (int i = 0; i < 4; i++) { p[i].x += p[i].y;
          s += p[i].x; } return s; }""",
    "globals without a tag": """
        typedef struct { short a; unsigned char b[3]; } T;
        T g[5], h;
        static T once;
        void f(int n) { for (int i = 0; i < 5; i++) { g[i].a = n + i; g[i].b[i % 3]++; } h = g[2];
          once.a += 1; once.b[1] = h.b[0]; }""",
    "structures in structures": """
        struct A { int u; struct { int v; struct { short w[2]; } in; } mid; };
        void f(struct A *a, struct A b[3]) { a->mid.in.w[1] = b[1].mid.v; b[2].mid.in.w[0] = a->u;
          b[0].mid = b[2].mid; }""",
    "a structure with an array is given by value": """
        struct S { int n; int t[4]; };
        static int sum(struct S s) { int r = 0; for (int i = 0; i < 4; i++) { s.t[i] += s.n;
          r += s.t[i]; } return r; }
        int f(struct S k, struct S *q) { int r = sum(k) + 2 * sum(*q); k.t[0] = 7; k.n = 3;
          return r + k.t[0] + k.n + sum(k); }""",
    "structures are returned": """
        typedef struct { int re, im; } C;
        static C mul(C a, C b) { C r; r.re = a.re * b.re - a.im * b.im;
          r.im = a.re * b.im + a.im * b.re; return r; }
        static C conj(C a) { return (C){ a.re, -a.im }; }
        void f(C x[6], C w) { for (int i = 0; i < 6; i++) { x[i] = mul(conj(x[i]), mul(w, x[i])); }
          x[1].re = mul(x[2], x[3]).im + conj(w).im; }""",
    "members are set from each other": """
        typedef struct { int a, b; } T;
        void f(T t[2], T *p) { T q = t[0]; q = (T){ q.b, q.a }; t[0] = q; *p = (T){ p->b, p->a };
          t[1] = (T){ t[1].b, t[1].a }; T tmp = t[0]; t[0] = t[1]; t[1] = tmp; }""",
    "one of two structures": """
        typedef struct { int a, b; } T;
        static T inc(T t) { t.a++; return t; }
        void f(T t[3], int c) { T m = c > 0 ? t[0] : t[1]; t[2] = m;
          t[1] = c & 1 ? inc(m) : t[0]; }""",
    "the subscript is a member that is set": """
        struct N { int next, val; } n[4];
        void f(int i) { n[0] = n[n[0].next & 3]; n[1].val = i; }""",
    "a subscript with a side effect is evaluated once": """
        typedef struct { int a, b; } T;
        void f(T t[4], const T s[4]) { int i = 0, j = 3; t[i++] = s[j--]; t[i++] = s[j--];
          t[3].a = i + j; }""",
    "several assignments in a row": """
        typedef struct { int a, b; } T;
        void f(T t[4]) { T x, y; x = y = t[2]; x.a++; t[0] = x, t[1] = y; }""",
    "the value of an assignment": """
        struct P { int x, y; };
        void f(struct P p[2], struct P q) { int a = (p[0] = q).x; p[1].x = a; }""",
    "members of a union share a word": """
        typedef union { int i; unsigned u; } U;
        struct W { U k; short s; };
        void f(U a[4], struct W *w, int out[4]) { for (int i = 0; i < 4; i++) {
          out[i] = a[i].u > 5; a[i].u >>= 1; a[i].i -= 3; } w->k.u += 7; out[0] += w->k.i < 0;
          U z = { .u = 4294967295u }; out[1] += z.i; w->s++; }""",
    "bit-fields of every kind": """
        struct B { unsigned a : 3; int b : 5; unsigned c : 20; _Bool d : 1; int : 2;
          signed char e : 4; unsigned g : 32; };
        void f(struct B p[4], int x, long long out[8]) { for (int i = 0; i < 4; i++) {
          out[i] = p[i].a - 9 + p[i].b + p[i].c - 2000000 < 0; p[i].a = x + i; p[i].b += x;
          p[i].c++; p[i].d = x; p[i].e -= 3; p[i].g = x; } out[4] = p[0].c - 100000;
          out[5] = p[1].a = 13; out[6] = (p[0].g - 1) > 0; struct B q = { 9, -17, .e = 100 };
          out[7] = q.a + q.b * 100 + q.e * 10000; }""",
    "values in braces": """
        typedef struct { int x, y; } V; typedef struct { V a; int t[3]; V b[2]; } W;
        static const W tab[2] = { { {1, 2}, {3, 4, 5}, { {6, 7}, {8, 9} } }, { .t = { [1] = 5 },
          .b[1].y = 4, .a = { .y = 3 } } };
        W g = { 1, 2, 3, 4, 5, 6, 7, 8, 9 };
        void f(int out[24], int n) { int k = 0; for (int i = 0; i < 2; i++) {
          out[i] = tab[i].a.x + 10 * tab[i].a.y; for (int j = 0; j < 3;
          j++) out[2 + i * 3 + j] = tab[i].t[j]; out[8 + i] = tab[i].b[1].x + 10 * tab[i].b[1].y; }
          g.t[0] += n; W l = { { 7, 8 }, { 1 } }; out[10] = l.a.y + l.t[0] + l.t[1] + l.b[1].x;
          W m = l; m.b[0].x = 2; out[11] = m.b[0].x + l.b[0].x; struct { int q; }
          loc[3] = {{1},{2},{3}}; for (int i = 0; i < 3; i++) out[12 + i] = loc[i].q; }""",
    "whole structures in braces": """
        typedef struct { int x, y; } V; typedef struct { V a, b; int n; } L;
        void f(V v[2], int out[5]) { L l = { v[0], v[1], 5 }; V arr[2] = { v[1], { v[0].y, 3 } };
          out[0] = l.a.x; out[1] = l.b.y; out[2] = l.n; out[3] = arr[0].x; out[4] = arr[1].x; }""",
    "pointers to structures and to members": """
        struct P { int x; int v[3]; };
        static void up(struct P *p, int n) { struct P *q = p + 1; q->x += n; p->v[1] = q->v[2];
          (*q).v[0] = 9; (p + 2)->x--; p[2].v[1] ^= 3; }
        static void one(int *p) { *p += 5; }
        static void three(int v[3]) { v[0] = v[1] + v[2]; }
        void f(struct P a[6]) { up(a, 3); up(&a[2], 4); up(a + 3, 1); one(&a[1].x); three(a[4].v);
          one(&a[5].v[2]); struct P s = a[0]; up(&a[1], s.x); one(&s.x); three(s.v); a[5] = s; }""",
    "the address of one structure with an array in it": """
        struct P { int x; int v[3]; };
        static void set(struct P *p) { p->v[1] = p->x; p->x = p->v[2]; }
        void f(struct P *a) { struct P s = { 1, { 2, 3, 4 } }; set(&s); set(a); *a = s; }""",
    "names hide each other": """
        struct P { int x; } p;
        void f(int a[4], int p_x) { a[0] = p.x; { int p = 3; a[1] = p; { struct P p = { 4 };
          a[2] = p.x + p_x; } } p.x = 7; for (struct P p = { 1 }; p.x < 3; p.x++) a[3] += p.x; }""",
    "two dimensions and pointers to rows": """
        struct P { short v[2]; char c; };
        void f(struct P m[3][4], struct P (*r)[4]) { for (int i = 0; i < 3; i++) for (int j = 0;
          j < 4; j++) { m[i][j].v[1] += r[i][j].v[0]; r[i][j] = m[i][3 - j]; } }""",
    "memset and memcpy of whole structures": """
        #include <string.h>
        typedef struct { int a; short b[2]; } T;
        void f(T t[4], T *p, T u[4]) { memset(&t[1], 0, sizeof(T)); memcpy(&t[2], p, sizeof *p);
          memcpy(u, t, 4 * sizeof(T)); T z; memset(&z, 0, sizeof z); t[3] = z; }""",
    "an enumeration inside a structure": """
        struct E { enum K { A, B = 5, C } k; enum { X = 1, Y } m; };
        void f(struct E e[2], int out[3]) { e[0].k = B; e[1].m = Y; out[0] = C;
          out[1] = e[1].k == A; }""",
    "a member that points to an array": """
        typedef struct { const int *data; int n; } M;
        static int total(M m) { int s = 0; for (int i = 0; i < 4; i++) s += m.data[i] * m.n;
          return s; }
        int f(int a[4], int n) { M m = { a, n }; return total(m) + m.data[1]; }""",
    "a structure with an array is returned": """
        typedef struct { int v[3]; } V3;
        static V3 cross(V3 a, V3 b) { V3 r; for (int i = 0; i < 3;
          i++) r.v[i] = a.v[(i + 1) % 3] * b.v[(i + 2) % 3] - a.v[(i + 2) % 3] * b.v[(i + 1) % 3];
          return r; }
        static V3 rev(V3 a) { return (V3){ { a.v[2], a.v[1], a.v[0] } }; }
        void f(V3 p[4]) { p[0] = cross(p[1], p[2]); p[3] = rev(p[3]); p[1] = cross(p[1],
          rev(p[2])); V3 q = p[1]; q = rev(q); p[2] = q; }""",
    "members without a name": """
        struct Q { int t; union { int a; unsigned b; }; struct { short c, d; }; };
        void f(struct Q q[2], int *o) { q[0].a = -1; *o = q[0].b > 3u; q[1].c = q[0].d + q[1].t;
          struct Q z = { 1, { 2 }, { 3, 4 } }; q[1] = z; q[0].b = z.d; }""",
    "prototypes": """
        struct P { int x; };
        int g(struct P *, int); static int h(struct P p);
        void f(struct P *p, int *o) { *o = h(*p); }
        static int h(struct P p) { return p.x * 2; }""",
    "a type that a function declares": """
        void f(int a[3]) { struct P { int x, y; }; struct P p = { 1, 2 }; typedef struct {
          struct P q[2]; } R; R r; r.q[1] = p; r.q[0].x = 5; r.q[0].y = r.q[1].y; a[0] = r.q[1].x;
          a[1] = r.q[0].x + r.q[0].y; a[2] = sizeof(R); }""",
    "a function that is given an address returns a structure": """
        typedef struct { int a, b; } T;
        static T mk(int *p) { (*p)++; T t = { *p, 2 }; return t; }
        void f(int n[1], T t[3]) { t[0] = mk(n); T s; s = mk(n); t[1] = s; T u = mk(n); t[2] = u;
          s = mk(&s.a); t[2].b = s.a; }""",
    "static structures of functions": """
        typedef struct { int a, b; } T;
        static void h(int x) { static T t = { 3, 4 }; t.a += x; t.b ^= t.a; }
        void f(int x) { static T t[2]; t[0].a = x; h(x); t[1] = t[0]; }""",
    "constant parameters": """
        struct P { int x, y; };
        void f(const struct P p[4], const struct P k, int o[4]) { for (int i = 0; i < 4;
          i++) o[i] = p[i].x * k.x + p[i].y * k.y; }""",
    "parameters that are said to be unused": """
        struct P { int x, y; };
        void f(struct P *p, struct P q, int o[1]) { (void)p; (void)q; o[0] = q.x; }""",
    "the best one is kept": """
        typedef struct { int a, b; } T;
        static T pick(T x, T y) { T r = x; if (y.a > x.a) r = y; return r; }
        void f(T t[8], T *o) { T best = t[0]; for (int i = 1; i < 8; i++) best = pick(best, t[i]);
          *o = best; }""",
    "a pointer in a structure that nobody follows": """
        struct N { struct N *next; int v; };
        int f(struct N n[4]) { int s = 0; for (int i = 0; i < 4; i++) s += n[i].v; return s; }""",
    "the kernel returns a structure": """
        typedef struct { int a; short b[2]; } T;
        T f(int a, const T *q) { T t = *q; t.a += a; t.b[1] = t.b[0] + 1; return t; }""",
    "the kernel takes and returns structures": """
        struct T { int a, b; };
        struct T f(struct T x, struct T y) { return (struct T){ x.a * y.a, x.b - y.b }; }""",
    "a floating-point member that nobody uses": """
        struct P { int x; float w; };
        int f(struct P p[2]) { return p[0].x + p[1].x; }""",
    "types that are pointers to and arrays of structures": """
        typedef struct P { int x; } *PP; typedef struct P Row[3];
        int f(PP p, Row r, Row *m) { Row l; for (int i = 0; i < 3; i++) l[i] = r[i];
          m[1][2] = l[0]; return p->x + l[2].x; }""",
    "compound literals in loops": """
        struct P { int x, y; short z[2]; };
        void f(struct P t[5]) { for (int i = 0; i < 5; i++) { t[i] = (struct P){ .x = i * 2 };
          if (i & 1) t[i] = (struct P){ 1, 2, { i } }; else t[i].z[1] += 3; } }""",
    "compound literals as arguments": """
        struct P { int x, y; };
        static int len(const struct P *p) { return p->x * p->x + p->y; }
        static int len2(struct P p) { return p.x * p.x + p.y; }
        int f(int a) { return len(&(struct P){ a, 2 }) + len2((struct P){
          .y = a }) + len2((struct P){ 3, a }); }""",
    "an array of structures without a name": """
        struct P { int x, y; };
        static int total(const struct P *p) { int s = 0; for (int i = 0; i < 2;
          i++) s += p[i].x * p[i].y; return s; }
        int f(int a) { return total((struct P[]){ { a, 2 }, { 3, a } }); }""",
    "members with two dimensions": """
        struct M { int m[2][3]; };
        void f(struct M *a, const struct M b[2]) { *a = b[1]; a->m[1][2] += 5; struct M t = *a;
          for (int i = 0; i < 2; i++) for (int j = 0; j < 3; j++) t.m[i][j] = a->m[1 - i][j];
          *a = t; }""",
    "an element that data chooses": """
        struct R { unsigned char r, g, b; };
        void f(const struct R px[8], const unsigned char idx[8], struct R out[8]) { for (int i = 0;
          i < 8; i++) { struct R c = px[idx[i] & 7]; out[i].r = c.r / 2 + c.g / 4; out[i].g = c.b;
          out[i].b = (unsigned char)(c.r ^ c.g); } }""",
    "bit-fields of other types": """
        struct B { int a : 1; signed s : 12; unsigned u : 9; char c : 3; long l : 7;
          unsigned short h : 16; };
        void f(struct B b[3], int x) { for (int i = 0; i < 3; i++) { b[i].a = x >> i; b[i].s *= 3;
          b[i].u |= 300; b[i].c = b[i].s; b[i].l -= x; b[i].h <<= 3; } }""",
    "sizes of structures": """
        struct A { char c; int i; short s; }; struct B { struct A a[3]; char d; long long q; };
        void f(struct B *b, unsigned long o[6]) { struct B l[2]; o[0] = sizeof(struct A);
          o[1] = sizeof(struct B); o[2] = sizeof *b; o[3] = sizeof b->a;
          o[4] = sizeof l / sizeof l[0]; o[5] = sizeof(b->a[0].i); }""",
}


@needs_gcc
@pytest.mark.sample(every=3)
@pytest.mark.parametrize("text", PROGRAMS.values(), ids=PROGRAMS)
def test_it_is_what_a_c_compiler_makes_of_it(text: str) -> None:
    assert_as_c(text)


def test_members_are_arrays_with_the_dimensions_around_them() -> None:
    scop = parse_text("""
        struct V { int x; short t[3]; };
        struct S { struct V v[2]; unsigned char c; } s[4];
        void f(const struct V *p) {
          for (int i = 0; i < 4; i++) { s[i].v[1] = p[i]; s[i].c = i; }
        }""").scop
    assert {a.name: (str(a.element), a.shape, a.role) for a in scop.arrays} == {
        "s_v_x": ("int32", (4, 2), "out"),
        "s_v_t": ("int16", (4, 2, 3), "out"),
        "s_c": ("uint8", (4,), "out"),
        "p_x": ("int32", (4,), "in"),
        "p_t": ("int16", (4, 3), "in"),
    }


def test_an_option_gives_the_extent_of_all_members() -> None:
    text = """struct P { int x; short v[2]; };
        void f(struct P *p) { p[1].x = p[3].v[1]; }"""
    shapes = {a.name: a.shape for a in parse_text(text, defines={"p_EXTENT": "9"}).scop.arrays}
    assert shapes == {"p_x": (9,), "p_v": (9, 2)}


def test_texts_and_places_are_those_of_the_program() -> None:
    scop = parse_text("""struct P { int x, y; };
        void f(struct P *p, int n) { p[1].x = p->y + n; p[2] = p[1]; }""").scop
    assert [s.text for s in scop.statements] == ["p[1].x = p->y + n", "p[2] = p[1]", "p[2] = p[1]"]
    assert scop.array("p_x").span.column == 26
    assert scop.statements[0].span.column == 38


def test_made_up_names_meet_no_others() -> None:
    scop = parse_text("""struct P { int x; } p; int p_x;
        void f(int k, int out[2]) { p.x = k; p_x = 2; out[0] = p.x; out[1] = p_x; }""").scop
    assert {a.name for a in scop.arrays} == {"p_x", "p_x_2", "out"}


def test_random_values_of_bit_fields_fit_them() -> None:
    scop = parse_text("""struct B { unsigned a : 3; int b : 5; } b[64];
        void f(void) { for (int i = 0; i < 64; i++) b[i].a += b[i].b; }""").scop
    inputs = Recipe("full", 1).inputs(scop)
    a, b = inputs["b_a"], inputs["b_b"]
    assert not isinstance(a, int) and not isinstance(b, int)
    assert (int(a.min()), int(a.max()), int(b.min()), int(b.max())) == (0, 7, -16, 15)


def test_members_that_nobody_uses_are_not_warned_of() -> None:
    program = parse_text("""struct P { int x, y; };
        void f(int out[1]) { struct P p; p.x = 1; out[0] = p.x; }""")
    assert program.warnings == ()


P = "struct P { int x, y; };\n"
REFUSED = {
    """struct P { unsigned b : 3; int y; };
    int f(struct P t[4], int a[4]) { int i = 0; t[i++].b += 5; a[0] = t[0].b; return i; }""": (
        "E0110",
        "a member is changed by way of something that changes, too",
    ),
    "struct N { struct N *next; int v; };\nint f(struct N *n) { return n->next->v; }": (
        "E0110",
        "the member `next` is a pointer to a structure",
    ),
    "union U { int i; short s[2]; };\nint f(union U *u) { u->i = 3; return u->s[0]; }": (
        "E0110",
        "the members of `union U` are not numbers of one size",
    ),
    "union U { double f; unsigned u; };\nunsigned f(union U *u) { return u->u; }": (
        "E0110",
        "the members of `union U` are not numbers of one size",
    ),
    "struct F { int n; int d[]; };\nint f(struct F *p) { return p->d[0]; }": (
        "E0109",
        "the size of the array is not known",
    ),
    P + "int f(struct P p[4]) { return &p[1] == p + 1; }": (
        "E0110",
        "addresses of structures are compared",
    ),
    P + "int f(struct P p[4]) { return p[0].z; }": ("E0110", "there is no member `z`"),
    "struct P;\nint f(struct P *p) { return p->y; }": ("E0110", "`struct P` is not defined"),
    P + "struct P g(int a) { struct P p = {a}; return p; }\nint f(int a) { return a && g(a).x; }": (
        "E0110",
        "this may be evaluated again, or not at all",
    ),
    "struct P { int x; long double w; };\nint f(struct P p[2]) { return p[0].w; }": (
        "E0108",
        "the type `long double` is not supported",
    ),
    "struct B { int x : 3; };\nvoid g(int *p) { *p = 1; }\nvoid f(struct B *b) { g(&b->x); }": (
        "E0110",
        "a pointer to a member of a union or to a bit-field",
    ),
    "struct B { int x : 3; };\nint f(struct B *b) { int a = b->x++; return a; }": (
        "E0110",
        "a bit-field, or a member of a union, is stepped inside an expression",
    ),
    "struct B { long long x : 40; };\nint f(struct B *b) { return b->x; }": (
        "E0110",
        "the bit-field `x` is not supported",
    ),
    P + "void f(struct P p[2], int n) { p[0] = (struct P){ 1, 2, 3 }; }": (
        "E0127",
        "there are more values than members",
    ),
    P + "void f(struct P p[2], int n) { p[0] = (struct P){ .z = n }; }": (
        "E0127",
        "there is no member `z`",
    ),
    "struct B { unsigned x : 3; };\nvoid f(struct B b[8]) { int i = 0; b[i++].x += 3; }": (
        "E0110",
        "a member is changed by way of something that changes, too",
    ),
}


@pytest.mark.parametrize(("text", "expected"), REFUSED.items())
def test_what_members_one_by_one_cannot_be_is_refused(text: str, expected: tuple[str, str]) -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(text)
    assert (caught.value.code, caught.value.diagnostic.message) == expected
    assert caught.value.diagnostic.labels


CIRCUIT = """
    typedef struct { int x, y; } vec;
    struct body { vec at; short tag[2]; unsigned kind : 3; };
    static vec turned(vec a) { return (vec){-a.y, a.x}; }
    static void move(struct body *p, vec by) { p->at.x += by.x; p->at.y -= by.y; p->kind += 3; }
    struct body last;
    int kernel(struct body b[4], const vec *by)
    {
      int sum = 0;
      for (int i = 0; i < 4; i++) {
        move(&b[i], turned(*by));
        b[i].tag[i & 1] ^= b[3 - i].tag[0];
        sum += b[i].at.x;
      }
      last = b[1];
      return sum;
    }
"""


@needs_gcc
@pytest.mark.simulation
def test_a_circuit_computes_what_the_compiled_program_does(tmp_path: Path) -> None:
    path = tmp_path / "structures.c"
    path.write_text(CIRCUIT)
    shown = rtlgen.compile(path).verify(oracle="gcc", simulator="icarus")
    assert shown.exact and shown.oracle == "gcc"


def test_volatile_members_and_variables_are_plain_and_told_of() -> None:
    plain = """struct P { int x; KEPT int y; };
        void f(struct P p[4], KEPT int *out) {
          KEPT int sum = 0;
          for (int i = 0; i < 4; i++) sum += p[i].x * p[i].y;
          *out = sum;
        }"""
    told = parse_text(plain.replace("KEPT", "volatile"))
    assert [warning.code for warning in told.warnings] == ["W0116"]
    expected = parse_text(plain.replace("KEPT", "")).scop
    assert [str(s.write) for s in told.scop.statements] == [
        str(s.write) for s in expected.statements
    ]
