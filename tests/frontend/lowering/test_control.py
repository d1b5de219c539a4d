"""Loops and jumps of any form do what gcc makes of them."""

from __future__ import annotations

import numpy as np
import pytest

from rtlgen.frontend import parse_text
from rtlgen.frontend.errors import FrontendError, UnboundedLoop
from rtlgen.verify.data import random_inputs
from rtlgen.verify.golden import run_golden
from tests.frontend.gcc_check import assert_as_gcc
from tests.frontend.lowering.c_check import assert_as_c
from tests.oracles.gcc_oracle import have_gcc, run_gcc

pytestmark = pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")

_JUMPS = {
    "break_mid": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 16; i++) { s += a[i]; "
        "if (s > 1000000) break; s ^= i; } return s; }"
    ),
    "break_i_used": (
        "int f(const int a[16]) { int i, s = 0; for (i = 0; i < 16; i++) { s += a[i]; "
        "if (s < 0) break; } return i * 1000 + (s & 7); }"
    ),
    "continue": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 16; i++) { if (a[i] < "
        "0) continue; s += a[i]; } return s; }"
    ),
    "continue_nested": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 16; i++) { if (i & 1) "
        "{ if (a[i] < 0) continue; s ^= 5; } s += a[i]; } return s; }"
    ),
    "continue_break": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 16; i++) { if (a[i] & "
        "1) { if (a[i] < 0) continue; if (a[i] & 2) break; s ^= 5; } s += a[i]; } "
        "return s; }"
    ),
    "other_arm_continues": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 16; i++) { if (a[i] > 0) s += 3; "
        "else continue; s ^= i; } return s; }"
    ),
    "other_arm_breaks": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 16; i++) { if (a[i] & 6) s += 3; "
        "else break; s ^= i; } return s; }"
    ),
    "stepped_and_set": (
        "int f(const int a[16], int n) { unsigned u = 5; int k = 0; while (u-- && k != 0) { "
        "if (n > 4) { u ^= 1; k++; } } return u + a[0]; }"
    ),
    "every_way_leads_out": (
        "int f(const int a[16], unsigned char y) { int s = 0; while (y-- > 0 && y < 9) { "
        "if (a[y & 7]) return s; else break; } return s + y; }"
    ),
    "from_below_0": (
        "int f(const int a[16]) { int s = 0, j = 5; unsigned k = -2; while (k + 3 < 9 && j > 0) { "
        "if (a[j & 15] > 0) j--; else k++; s += 3; } return s + j; }"
    ),
    "set_where_it_is_left": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 4; i++) { int k = 0; "
        "if (a[i] > 0) k = 3; else if (a[i] & 1) break; while (k-- > 0) s += a[i + 4]; } "
        "return s; }"
    ),
    "set_before_a_label": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 4; i++) { int k = 2; "
        "if (a[i] > 0) goto run; k = 3; run: while (k-- > 0) s += a[i + 4]; } "
        "return s; }"
    ),
    "left_before_a_label": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 4; i++) { int k = 2; "
        "if (a[i] > 0) { k = 4; goto run; } if (a[i] & 2) break; run: while (k-- > 0) "
        "s += a[i + 4]; } return s; }"
    ),
    "steps_behind_a_label": (
        "int f(const int a[8], int b[8]) { int i = 0, j = 7; first: b[i++] = a[j--]; if (a[0] > 0) "
        "goto next; b[i] = 5; next: b[++i] = a[--j]; if (a[1] > 0) last: i += b[j--]; "
        "return i * 64 + j; }"
    ),
    "steps_in_one_case": (
        "int f(const int a[16]) { int i = 0, k = 0, s = 0; while (i < 16 && (a[i] > 0 || k++ < 3)) "
        "{ s += a[i]; i++; } return s * 100 + k; }"
    ),
    "steps_where_it_returns": (
        "static int next(int *p) { if (*p > 5) return (*p)--; return ++*p; } int f(const int a[8]) "
        "{ int k = 0, s = 0; for (int i = 0; i < 8; i++) { if (a[i] & 1 && next(&k) > 2) s += k; "
        "else s ^= a[k & 7]; } return s > 9 ? s-- + k : k++ + s; }"
    ),
    "counts_on_where_it_left": (
        "void f(const unsigned char a[8], int b[32]) { int n = 0; for (int i = 0; i < 8; i++) "
        "for (int k = 0; k < (a[i] & 3) && k < 4; k++) b[n++] = i; }"
    ),
    "counts_on_in_a_while": (
        "void f(const unsigned char a[8], int b[64]) { int n = 0, i = 0; while (i < 8) { "
        "int k = 0; while (k < 5 && a[i] > 40 * k) { b[n++] = i; k++; } i++; } }"
    ),
    "set_before_it_counts": (
        "void f(const unsigned char a[8], int b[8]) { int n; for (int i = 0; i < 8; i++) { n = i; "
        "while (n < 8 && a[n] > 99) b[n++] += i; } }"
    ),
    "counts_a_loop_around_too": (
        "void f(const int a[8], int b[8]) { int n, t = 0; for (n = 0; t < 8; t++) { n = t; "
        "while (n < 8 && a[n] > 0) n++; b[t] = n; } }"
    ),
    "is_asked_before_it_is_set": (
        "int f(const int a[16]) { int c = 0, d, s = 0; for (int i = 0; i < 6; i++) "
        "for (d = c, c = 0; c < 12 && a[c] > i; c++) s += 3 + d; return s; }"
    ),
    "never_begun": (
        "void f(short b[32]) { int s = 6; unsigned long k = 2; for (; s < 0; k = k + 2) { s += "
        "b[k]; b[k] += b[k - 1]; } b[0] = s; }"
    ),
    "question_behind_a_goto": (
        "int f(const int a[16]) { int t = 0, x = 12, u = 8; do { if (--u >= 1) goto out; x /= 6; } "
        "while (x && (t = a[3]) != 11); t += 5; out: return t * 8 + u; }"
    ),
    "asked_behind_a_step": (
        "long f(const int a[16]) { long k = 2, s = a[0]; while (k++ < 4 && 4u > k) s ^= k; "
        "return s * 8 + k; }"
    ),
    "inner_start_that_wraps": (
        "int f(const int a[16]) { int t = 0; unsigned char u = a[0]; for (int i = 0; i < 5; i++) { "
        "for (unsigned char k = 259; k <= 6; ++k) t += 2; t++; u ^= t; } return t * 256 + u; }"
    ),
    "inner_condition_that_wraps": (
        "int f(const int a[16]) { int t = a[0] & 3, s = 0; for (int i = 0; i < 5; i++) { "
        "for (unsigned k = 0; k - 1u < 5; k++) s += 2; s++; t ^= s; } return s * 256 + t; }"
    ),
    "asks_by_a_pointer": (
        "static int next(int *p, int c) { if (--*p > 5) return c; return c && (*p)++ > 2; } "
        "int f(const int a[8]) { int k[2] = {9, 1}, s = 0; for (int i = 0; i < 8; i++) "
        "s = s * 2 + next(&k[a[i] & 1], a[i] & 6); return s * 64 + k[0] * 8 + k[1]; }"
    ),
    "asks_by_elements": (
        "int f(int a[8], int b[8]) { int s = 0; for (int i = 0; i < 8; i++) { "
        "if (a[b[i] & 7]++ > s || i > 3) { b[i]++; s += a[b[i] & 7]; } else s -= a[i]; } "
        "return s; }"
    ),
    "asks_by_a_call": (
        "static int step(int *p) { *p += 3; if (*p > 20) return 0; return *p; } "
        "int f(const int a[8]) { int n = 0, s = 0, k = 0; for (int i = 0; i < 4 && step(&n) < 15; "
        "i++) { if (a[i] & 1) continue; s += a[n & 7]; } do { s ^= a[k & 7]; } "
        "while (++k < 12 && step(&n)); return s * 32 + n; }"
    ),
    "no_number": (
        "int f(const int a[16]) { int k = 0; float x = a[0]; x -= x; while (x < 9) { x += 1; "
        "if (++k == 4) x = (x - x) / (x - x); if (k == 30) break; } return k; }"
    ),
    "hidden_where_it_is_asked": (
        "int f(const int a[16]) { int n = 3, k = 0; do { int n = a[k]; k += n & 1; k++; } "
        "while (k < 12 && n-- > 0); return k * 8 + n; }"
    ),
    "hidden_where_it_steps": (
        "int f(const int a[16]) { int n = 3, s = 0; for (int i = 0; i < 16; i++, s += n) { "
        "int n = a[i]; if (n > 5) break; if (n & 1) continue; s ^= n; } return s + n; }"
    ),
    "break_before_step": (
        "int f(const int a[16]) { int s = 0, i; for (i = 0; i < 16; i++, s += a[i & 15]) { if "
        "(a[i] < 0) break; s ^= i; } return s; }"
    ),
    "early_return": (
        "int f(const int a[16], int key) { for (int i = 0; i < 16; i++) if (a[i] > "
        "key) return i; return -1; }"
    ),
    "early_return2": (
        "int f(const int a[4][4], int key) { for (int i = 0; i < 4; i++) for (int j = "
        "0; j < 4; j++) { if (a[i][j] > key) return i * 10 + j; } return -1; }"
    ),
    "early_void": (
        "void f(int a[16], int n) { if (n < 0) return; for (int i = 0; i < 16; i++) { "
        "if (a[i] == n) return; a[i] += n; } a[0] = 1; }"
    ),
    "nested_break": (
        "int f(const int a[4][4]) { int s = 0; for (int i = 0; i < 4; i++) { for (int "
        "j = 0; j < 4; j++) { if (a[i][j] < 0) break; s += a[i][j]; } s ^= i; } return "
        "s; }"
    ),
    "goto": (
        "int f(const int a[4][4]) { int r = 0; for (int i = 0; i < 4; i++) for (int j "
        "= 0; j < 4; j++) if (a[i][j] < 0) { r = i * 4 + j; goto out; } r = 99; out: "
        "return r; }"
    ),
    "goto_taking_counters": (
        "int f(const int a[4][4]) { int i, j; for (i = 0; i < 4; i++) for (j = 0; j < 4; j++) "
        "if (a[i][j] > 0) goto found; return -1; found: return 8 * i + j; }"
    ),
    "goto2": (
        "int f(int x) { int r = 1; if (x > 0) goto skip; r = 2; if (x < -5) goto end; "
        "r += 4; skip: r *= 3; end: return r; }"
    ),
    "write_after_exit": (
        "int f(const int a[16], int out[16]) { int n = 0; for (int i = 0; i < 16; i++) "
        "{ if (a[i] < 0) break; out[i] = a[i] * 2; n++; } return n; }"
    ),
    "write_k": (
        "int f(const int a[16], int out[32]) { int k = 0; for (int i = 0; i < 16; i++) "
        "{ out[k] = a[i]; k += 2; if (a[i] < -1000000000) break; } return k; }"
    ),
    "ret_in_helper": (
        "static int find(const int a[8], int k) { for (int i = 0; i < 8; i++) if (a[i] "
        "== k) return i; return -1; } void f(const int a[8], const int k[4], int y[4]) "
        "{ for (int t = 0; t < 4; t++) y[t] = find(a, k[t] & 7); }"
    ),
    "ends_in_helper": (
        "void exit(int); static int half(int x) { if (x == 77) exit(2); return x / 2; } void "
        "f(const int a[4], int b[4]) { for (int i = 0; i < 4; i++) b[i] = half(a[i]); }"
    ),
    "ends_in_statement": (
        "void abort(void); static void check(int x) { if (x == 77) abort(); } void f(const int "
        "a[4], int b[4]) { for (int i = 0; i < 4; i++) { check(a[i]); b[i] = a[i]; } }"
    ),
    "bubble": (
        "void f(int a[8]) { for (int i = 0; i < 7; i++) { int sw = 0; for (int j = 0; "
        "j < 7 - i; j++) if (a[j] > a[j + 1]) { int t = a[j]; a[j] = a[j + 1]; a[j + "
        "1] = t; sw = 1; } if (!sw) break; } }"
    ),
    "ret_struct_if": (
        "int f(int x, int y) { if (x > 0) { if (y > 0) return 1; x = 5; } else if (y < "
        "0) return 2; return x + y; }"
    ),
}

_LOOPS = {
    "while_count": (
        "int f(const int a[16]) { int s = 0, i = 0; while (i < 16) { s += a[i]; i++; } return s; }"
    ),
    "while_data": (
        "int f(const int a[16], int key) { int i = 0; while (i < 16 && a[i] != key) "
        "i++; return i; }"
    ),
    "while_data2": (
        "int f(const signed char a[16]) { int i = 0; while (a[i] > -100 && i < 15) { "
        "i++; } return i; }"
    ),
    "do_const": (
        "int f(const int a[16]) { int s = 0, i = 0; do { s = s * 3 + a[i]; i++; } "
        "while (i < 16); return s; }"
    ),
    "do_pre": (
        "int f(const int a[16]) { int s = 0, i = 0; do { s = s * 3 + a[i]; } while "
        "(++i < 16); return s + i; }"
    ),
    "do_in": (
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 8; i++) { int j = i; "
        "do { s = s * 3 + a[j]; j++; } while (j < 8); } return s; }"
    ),
    "two_ptr": (
        "void f(int a[16]) { int lo = 0, hi = 15; while (lo < hi) { int t = a[lo]; "
        "a[lo] = a[hi]; a[hi] = t; lo++; hi--; } }"
    ),
    "two_for": (
        "void f(int a[16]) { for (int lo = 0, hi = 15; lo < hi; lo++, hi--) { int t = "
        "a[lo]; a[lo] = a[hi]; a[hi] = t; } }"
    ),
    "popcount": ("int f(unsigned x) { int c = 0; while (x) { c += x & 1; x >>= 1; } return c; }"),
    "popcount2": ("int f(unsigned x) { int c = 0; for (; x; x &= x - 1) c++; return c; }"),
    "log2": ("int f(unsigned n) { int k = 0; while (n > 1) { n /= 2; k++; } return k; }"),
    "emptied": (
        "int f(unsigned x, unsigned char y, int z, short w) { int n = 0; w |= 0x4000; x |= 1u << "
        "31; y |= 128; while (x) { x /= 10; n++; } do { y >>= 3; n += 16; } while (y); for (; z; "
        "z &= z - 1) n += 256; while (1) { n ^= 5; if (!w) break; w /= 3; n += 7; } return n; }"
    ),
    "emptied_by_negatives": (
        "int f(signed char w, int z) { int n = 0; w |= 64; do { n += 16; if (w == 3) continue; n "
        "^= 3; } while (w /= -2); while (z > 0) { z = z / 7; n += 3; } return n; }"
    ),
    "shifted_left": (
        "int f(unsigned r, unsigned x, short m, int w[1]) { int n = 0; r |= 1; x |= 4; m = (m & "
        "15) + 1; while (r <= 0x800000) { r <<= 8; w[0] += r; } while (!(x & 0xf0000000)) { n += "
        "4; x <<= 4; } while (m <= 99) { m = (short)(m << 1 | 1); n += 64; } for (; x; x <<= 7) "
        "n ^= x; return n + m; }"
    ),
    "narrow_step_in_question": (
        "int f(const int a[8], int out[8]) { unsigned char i = 250; int s = 0, k = 0; while (k < "
        "8) { s += a[k]; if (i++ > 253) out[k] = s; k++; } return s * 256 + i; }"
    ),
    "narrow_step_leaves": (
        "int f(const int a[8]) { unsigned char i = 250; int s = 0; for (int k = 0; k < 8; k++) { s "
        "+= a[k]; if (i++ == 255) break; } return s * 256 + i; }"
    ),
    "if_that_leaves_nothing": (
        "int f(const int a[16]) { int i = 0, s = 0; for (;;) { if (i > 5) s += a[i]; if (i == 15) "
        "break; i++; } return s; }"
    ),
    "start_that_was_moved": (
        "int f(const int a[16]) { int s = 0, i = 3; i += a[0] & 3; do { s = s * 3 + a[i]; i++; } "
        "while (i < 12); return s; }"
    ),
    "narrow_step_first": (
        "int f(const int a[8]) { unsigned char i = 250; int s = 0, k = 0; while (k < 8) { i++; if "
        "(i < 3) s += a[k]; k++; } return s * 256 + i; }"
    ),
    "arms_step_differently": (
        "int f(const int a[18]) { int i = 0, s = 0; while (i < 16) { if (a[i] & 1) { s += 2; i += "
        "2; continue; } s ^= a[i]; i++; } return s * 32 + i; }"
    ),
    "copy_until_0": (
        "void f(const signed char from[24], signed char to[24]) { int i = 0, j = 0, n = 20; while "
        "(n-- > 0 && (to[j++] = from[i++]) != 0) ; to[23] = n; }"
    ),
    "assigned_then_continued": (
        "int f(const signed char s[16], signed char t[16]) { int i = 0, j = 15, n = 0; do { if "
        "(s[i] & 1) continue; n += s[i] * j; } while ((t[i++] = s[j]) >= -100 && --j > 3); return "
        "i * 1000 + n * 16 + j; }"
    ),
    "comma_asks": (
        "int f(const signed char s[16]) { int i = 0, n = 0; signed char c; while (c = s[i], i < 15 "
        "&& c != 0) { n += c; i++; } return i * 1000 + n; }"
    ),
    "comma_asks_late": (
        "int f(const signed char s[16], int out[16]) { int i = 0, n = 0; unsigned char c; do { "
        "out[i] = n; if (n & 4) continue; n += 3; } while (c = s[i], ++i < 15 && c != 0); return i "
        "* 100 + n; }"
    ),
    "answers_joined_by_and": (
        "int f(const int x[16], int limit) { int i = 0, s = 0; for (; (i < 16) & !(s > limit) & "
        "(x[i & 15] != 0); i++) s += x[i] >> 4; return s ^ i; }"
    ),
    "one_is_no_answer": (
        "int f(const int x[16]) { int i = 0, s = 0; for (; i < 16 && ((s < 1000) & ~x[i]); i++) s "
        "+= x[i] & 14; return s * 32 + i; }"
    ),
    "bits_are_no_answers": (
        "int f(const int x[16]) { int i = 0, s = 0; for (; i < 16 && (x[i] & 6); i++) s += x[i]; "
        "return s ^ i; }"
    ),
    "gcd": (
        "int f(unsigned short a, unsigned short b) {\n"
        "#pragma rtlgen bound 30\n"
        "while (b != 0) { int t = a % b; a = b; b = t; } return a; }"
    ),
    "collatz": (
        "int f(unsigned char x) { unsigned v = x + 1u; int n = 0;\n"
        "#pragma rtlgen bound 300\n"
        "while (v != 1) { v = v & 1 ? 3 * v + 1 : v / 2; n++; } return n; }"
    ),
    "forever": (
        "int f(const int a[16]) { int i = 0, s = 0; for (;;) { if (i == 16) break; s = "
        "s * 5 + a[i]; i++; } return s; }"
    ),
    "forever_late": (
        "int f(const int a[16]) { int i = 0, s = 0; for (;;) { s = s * 5 + a[i]; if (i "
        "== 15) break; s ^= 1; i++; } return s * 100 + i; }"
    ),
    "while1": (
        "int f(const int a[16]) { int i = 0, s = 0; while (1) { s += a[i]; if (s < 0) "
        "break; if (++i >= 16) break; } return s + i; }"
    ),
    "iter_cap": (
        "int f(int x) { int it = 0; while (x > 1) { x = x / 3 + 1; if (++it >= 40) "
        "break; } return x * 100 + it; }"
    ),
    "post_dec": ("void f(int v[9]) { int i = 9; while (i--) v[i] += i; }"),
    "post_dec_gt": (
        "int f(int v[9]) { int i = 9; while (i-- > 0) { if (v[i] == 3) break; v[i] += "
        "i; } return i; }"
    ),
    "pre_dec": (
        "int f(int v[9]) { int i = 9; while (--i) { if (v[i] < 0) break; v[i] += i; } return i; }"
    ),
    "cont_while": (
        "int f(const int a[16]) { int i = 0, s = 0; while (i < 16) { if (a[i] < 0) { "
        "i++; continue; } s += a[i]; i++; } return s; }"
    ),
    "dowhile_cont": (
        "int f(const int a[16]) { int i = 0, s = 0; do { if (a[i] < 0) continue; s += "
        "a[i]; } while (++i < 16); return s + i; }"
    ),
    "dowhile_cont_chosen": (
        "int f(const int a[16], int n) { int i = 0, s = 0;\n#pragma rtlgen bound 16\n"
        "do { int i = 3; if (a[s & 15] < 0) "
        "continue; s += i; { for (int k = 0; k < 2; k++) { if (k) continue; s++; } } } "
        "while (i < 12 && (s > 9 || i++ < 4) && ++i < 16); return s * 100 + i; }"
    ),
    "do_once": (
        "int f(int x) { int r = 0; do { if (x < 0) break; r = x * 2; if (r > 100) "
        "break; r++; } while (0); return r; }"
    ),
    "assign_cond": (
        "int f(const char a[16]) { int i = 0, c, s = 0; while (i < 16 && (c = a[i]) > "
        "-64) { s += c; i++; } return s; }"
    ),
    "nested_while": (
        "int f(const int a[4][4]) { int s = 0, i = 0; while (i < 4) { int j = 0; while "
        "(j <= i && a[i][j] > 0) { s += a[i][j]; j++; } i++; } return s; }"
    ),
    "and_cond": (
        "void f(int a[8][8]) { for (int i = 0; i < 8; i++) for (int j = 0; (j < i) & "
        "(j < 6); j++) a[i][j] += 1; }"
    ),
    "strlen": ("int f(const char s[32]) { int n = 0; while (n < 32 && s[n]) n++; return n; }"),
    "binsearch": (
        "int f(const int a[16], int key) { int lo = 0, hi = 15;\n"
        "#pragma rtlgen bound 5\n"
        "while (lo <= hi) { int m = (lo + hi) / 2; if (a[m] == key) return m; if (a[m] "
        "< key) lo = m + 1; else hi = m - 1; } return -1; }"
    ),
}

_SWITCHES = {
    "switch1": (
        "void f(const int x[12], int y[12]) { for (int i = 0; i < 12; i++) switch "
        "(x[i] & 3) { case 0: y[i] = i; break; case 1: y[i] += 1; case 2: y[i] -= "
        "x[i]; break; default: y[i] = 0; } }"
    ),
    "switch_i": (
        "void f(int y[12]) { for (int i = 0; i < 12; i++) switch (i % 3) { case 0: "
        "y[i] = i; break; case 1: y[i] += 1; break; case 2: y[i] -= 7; } }"
    ),
    "switch_def_mid": (
        "void f(const int x[12], int y[12]) { for (int i = 0; i < 12; i++) switch "
        "(x[i] & 7) { case 0: y[i] = i; break; default: y[i] += 1; case 2: y[i] -= "
        "x[i]; break; case 5: y[i] = 0; } }"
    ),
    "switch_break_in": (
        "void f(const int x[12], int y[12]) { for (int i = 0; i < 12; i++) { switch "
        "(x[i] & 3) { case 0: if (y[i] > 0) break; y[i] = i; break; case 1: { y[i] = "
        "4; break; } case 3: y[i] ^= 1; if (y[i] & 4) break; y[i] += 2; } y[i] += 1; } "
        "}"
    ),
    "switch_loop_break": (
        "int f(const int x[12]) { int s = 0; for (int i = 0; i < 12; i++) { switch "
        "(x[i] & 3) { case 0: continue; case 1: s += 1; break; case 2: return s; } s "
        "+= 10; } return s; }"
    ),
    "switch_ret": (
        "static int g(int k, int v) { switch (k) { case 0: return v; case 1: return v "
        "* 2; default: return -v; } } void f(const int x[12], int y[12]) { for (int i "
        "= 0; i < 12; i++) y[i] = g(x[i] & 3, x[i]); }"
    ),
    "switch_state": (
        "int f(const int x[12]) { int st = 0, c = 0; for (int i = 0; i < 12; i++) { "
        "switch (st) { case 0: if (x[i] & 1) st = 1; break; case 1: st = x[i] & 2 ? 2 "
        ": 0; break; case 2: c++; st = 0; break; } } return c * 4 + st; }"
    ),
}

_BOUNDS = {
    "start_comes_round": (
        "int f(const unsigned char n[8], const int a[300]) { int s = 0; for (int k = 0; k < 8; "
        "k++) "
        "{ unsigned char t = n[k], m = t + 200; for (int i = m; i < 260; i++) s += a[i] ^ k; } "
        "return s; }"
    ),
    "clamped_local": (
        "int f(int n, int m, const int *a) { int k = n < m ? n : m, s = 0; if (k > 24) k = 24; for "
        "(int i = 0; i < k; i++) s += a[i]; return s + m; }"
    ),
    "returned_for_local": (
        "int f(const signed char m[8], const int a[8]) { int n = m[0], s = 0; if (n > 10) return "
        "-1; for (int i = 0; i < n; i++) s += a[i & 7] * i; return s; }"
    ),
    "clamped_then_moved": (
        "int f(int n, const int a[40]) { int s = 0; if (n > 24) n = 24; n += 3; for (int i = 0; i "
        "< n; i++) s += a[i] * i; return s; }"
    ),
    "assert_n": (
        "#include <assert.h>\n"
        "int f(const int a[64], int n) { assert(n <= 64); int s = 0; for (int i = 0; i "
        "< n; i++) s += a[i]; return s; }"
    ),
    "implied_n": (
        "void f(const int x[64], int y[64], int n) { for (int i = 0; i < n; i++) y[i] = 3 * x[i]; }"
    ),
    "rows_n": (
        "#include <assert.h>\n"
        "void f(int n, const int a[n][8], int y[n]) { assert(n <= 12); for (int i = 0; i < n; "
        "i++) { y[i] = 0; for (int j = 0; j < 8; j++) y[i] += a[i][j]; } }"
    ),
    "begins_inside": (
        "void f(int n, int m, int a[4][8], const int c[8][8]) { int s[8]; for (int r = 0; r < n; "
        "r++) { for (int p = 0; p < m; p++) { s[p] = 0; for (int q = 0; q < m; q++) s[p] += "
        "a[r][q] * c[q][p]; } for (int p = 0; p < m; p++) a[r][p] = s[p]; } }"
    ),
    "second_cond": (
        "int f(const int a[64], int n) { int s = 0; for (int i = 0; i < n && i < 64; "
        "i++) s += a[i]; return s; }"
    ),
    "type_n": (
        "int f(const int a[256], unsigned char n) { int s = 0; for (int i = 0; i < n; "
        "i++) s += a[i]; return s; }"
    ),
    "matvec": (
        "void f(int n, int m, const int A[8][8], const int x[8], int y[8]) { for (int "
        "i = 0; i < n; i++) { int s = 0; for (int j = 0; j < m; j++) s += A[i][j] * "
        "x[j]; y[i] = s; } }"
    ),
    "down_n": (
        "int f(const int a[32], unsigned char n) { int s = 0; if (n > 32) n = 32; for "
        "(int i = n - 1; i >= 0; i--) s = s * 3 + a[i]; return s; }"
    ),
    "clamp": (
        "int f(const int a[32], int n) { int s = 0; if (n > 32) n = 32; for (int i = "
        "0; i < n; i++) s = s * 3 + a[i]; return s; }"
    ),
    "ret_n": (
        "int f(const int a[32], int n) { int s = 0; if (n > 32 || n < 0) return -1; "
        "for (int i = 0; i < n; i++) s = s * 3 + a[i]; return s; }"
    ),
    "min_n": (
        "int f(const int a[32], int n) { int s = 0; for (int i = 0; i < (n < 32 ? n : "
        "32); i++) s = s * 3 + a[i]; return s; }"
    ),
    "while_n": (
        "int f(const int a[32], unsigned char n) { int s = 0, i = 0; while (i < n && i "
        "< 32) { s += a[i]; if (s == 77) break; i++; } return s + i; }"
    ),
    "csr": (
        "void f(const unsigned char row[5], const int val[64], int y[4]) { for (int i "
        "= 0; i < 4; i++) { int s = 0; for (int k = row[i]; k < row[i + 1] && k < 64; "
        "k++) s += val[k]; y[i] = s; } }"
    ),
    "wrap_b": (
        "#include <stdint.h>\nvoid f(int a[16]) { for (uint8_t b = 15; b < 16; --b) a[b] += b; }"
    ),
    "up_zero": (
        "#include <stdint.h>\n"
        "int f(const int a[256]) { int s = 0; for (uint8_t b = 1; b != 0; b++) s += "
        "a[b]; return s; }"
    ),
    "sc_bnd": (
        "void f(int a[16]) { int n = 12; for (int i = 0; i < n; i++) { a[i] += n; if "
        "(i == 5) n = 9; } }"
    ),
    "for_data": (
        "int f(const int a[16], int k) { int i; for (i = 0; i < 16 && a[i] != k; i++) ; return i; }"
    ),
    "tri_n": (
        "void f(int n, int a[8][8]) { for (int i = 0; i < n; i++) for (int j = 0; j <= "
        "i; j++) a[i][j] += i + j; }"
    ),
    "tri_n2": (
        "void f(int n, int a[8][8]) { for (int i = 0; i < n; i++) for (int j = i; j < "
        "n; j++) a[i][j] += i + j; }"
    ),
    "ranked": (
        "int f(const unsigned char m[8][8], int key) { int i = 0, j = 7, n = 0; while (i < 8 && "
        "j >= 0) { if (m[i & 7][j & 7] == key) return i * 8 + j; if (m[i & 7][j & 7] > key) j--; "
        "else i++; n++; } return -n; }"
    ),
    "runs": (
        "int f(const unsigned char a[64]) { int n = 0, i = 0; while (i < 64) { int k = 1; while "
        "(i + k < 64 && k < 9 && a[(i + k) & 63] == a[i & 63]) k++; n++; i += k < 9 ? k : 9; } "
        "return n; }"
    ),
    "root": (
        "unsigned f(unsigned x) { unsigned r = 0, b = 1u << 30; while (b > x) b >>= 2; while (b) "
        "{ if (x >= r + b) { x -= r + b; r = (r >> 1) + b; } else r >>= 1; b >>= 2; } return r; }"
    ),
    "counts_a_parameter_down": (
        "unsigned f(unsigned char n) { unsigned a = 0, b = 1; while (n--) { unsigned t = a + b; a "
        "= b; b = t; } return a + n; }"
    ),
    "inside_of_a_grid": (
        "void f(int n, int t, int a[9][9], int b[9][9]) { for (int k = 0; k < t && k < 3; k++) { "
        "for (int i = 1; i < n - 1; i++) for (int j = 1; j < n - 1; j++) b[i][j] = a[i][j] + "
        "a[i + 1][j]; for (int i = 1; i < n - 1; i++) a[i][i] = b[i][i]; } }"
    ),
    "starts_with_another": (
        "void f(int a[16], int n) { for (int i = 0, j = i; i < 8; i++) a[i] += j; int k; for (int "
        "i = 0; i < 8; i++, k = i) a[i] ^= n; }"
    ),
    "wraps_down": (
        "void f(int v[256]) { for (unsigned char i = 3; i != 250; i--) v[i & 255] -= i; }"
    ),
    "skipped_break": (
        "int f(const int a[8]) { int i = 0, n = 0; for (;;) { i++; if (i == 40) return -1; if "
        "(a[i & 7] & 1) continue; n++; if (i >= 5) break; } return n * 64 + i; }"
    ),
    "skipped_shift": (
        "int f(unsigned x) { int n = 0;\n#pragma rtlgen bound 70\nwhile (x) { n++; if (n & 1) "
        "continue; x >>= 1; } return n; }"
    ),
    "goes_on_from_data": (
        "int f(const char s[16]) { int i = 0, v = 0; while (i < 16 && s[i] == 0) i++; for (; i < "
        "16; i++) { if (s[i & 15] < 0) break; v += s[i & 15]; } return v * 16 + i; }"
    ),
    "pointer_to_member": (
        "int f(int a[32], int b[32], int n) { int d = 0; for (int i = 0; i < n; i++) { int *q = "
        "&a[i]; if (!*q) continue; *q += b[i]; if (*q > 9) d++; if (d > 4) break; } return d; }"
    ),
}


_ORDERS_AND_SIGNS = {
    "absorb": (
        "int f(const int a[32]) { int i = 0, s = 0; while (i < 20 && a[i++] != 12345 && i < "
        "9) s += i; return s * 64 + i; }"
    ),
    "absorb2": (
        "int f(const int a[32]) { int i = 0, c = 0, s = 0; while (i < 20 && (c = a[i]) != "
        "12345 && i < 9) { s += i; i++; } return s + c; }"
    ),
    "assert_effect": (
        "int f(const int a[64], unsigned char m) { int n = m & 15, i = 0, c = 0; while ((c = "
        "a[i]) < 2147483647 && i < n) i++; return c ^ i; }"
    ),
    "bound_effect": (
        "int f(unsigned char b) { unsigned char c = b & 7; int n = 0;\n"
        "#pragma rtlgen bound 7\n"
        "while (c--) n++; return n * 256 + c; }"
    ),
    "cond_effect": (
        "int f(int n, int y[16]) { int k = 0; for (int i = 0; i < (n & 31); i++) { if (k++ > "
        "100) y[i] = 1; } return k; }"
    ),
    "goto_fact": (
        "int f(const int a[8], unsigned char n) { int s = 0; if (n > 5) goto end; s = 1; "
        "end: for (int i = 0; i < n; i++) s += 2; return s; }"
    ),
    "mask_cond": (
        "int f(const int a[64], int n) { int s = 0; for (int i = 0; i < 64 && (i & 3) < (n & "
        "7); i++) s += a[i] & 15; return s; }"
    ),
    "narrow_start": (
        "int f(const int a[8]) { int s = 0; unsigned char i = 300; while (i != 50) { s += i; "
        "i++; if (s < 0) break; } return s; }"
    ),
    "signed_unsigned": (
        "int f(const int a[64], unsigned char m) { unsigned n = m & 31u; int s = 0; for (int "
        "i = -3; i < n; i++) s += a[(i + 8) & 63] & 255; return s; }"
    ),
    "stepped_by_question": (
        "int f(const int a[8], unsigned char n) { int u = n & 7, s = 0, i = 0; do { if (a[i & 7] > "
        "0) { u += 3; continue; } s += u; } while (u-- > i && i++ < 9); return u * 64 + s + i; }"
    ),
    "stepped_by_question2": (
        "int f(const int a[8]) { unsigned u = 5; int s = 0; while (u-- > 2 && s < 40) { if (a[s & "
        "7] > 0) u ^= 3; s++; } return u * 64 + s; }"
    ),
    "for_with_effect": (
        "int f(int n, const int a[8]) { int u = 5, s = 0; for (int i = 0; u-- > i && i < 9; i++) { "
        "if (a[i & 7] > 0) u += 3; s += u; } return u * 64 + s; }"
    ),
    "assigned_in_if": (
        "int f(int v, const int a[8]) { unsigned char u = 7; int s = v; if ((u += a[v & 7]) > 99 "
        "&& v) return u; for (int i = 0; i < 8; i++) { if ((s ^= a[i]) < 0 || u == 5) u++; else if "
        "((u = a[i & 3]) & 1) s = u; } return s + u; }"
    ),
    "narrow_step_in_body": (
        "int f(unsigned char n) { unsigned char t = n | 250; int s = 0, i = 0; while (i < 9) { "
        "i++; if (t++ < 100) break; s = s * 3 + i; } return s * 256 + t; }"
    ),
    "unsigned_offset": (
        "int f(const int a[16], unsigned char n) { int s = 0; for (unsigned i = 0; i - 2 < (n & "
        "7); i++) s += a[i & 15]; return s; }"
    ),
    "unsigned_top": (
        "int f(const int a[8], unsigned char v) { unsigned t = 6, k = -3; do { t ^= a[v & 7] ^ v; "
        "k++; } while (k + 1 > 4); return t; }"
    ),
    "constants_of_types": (
        "int f(const int a[16]) { int s = 0; unsigned char i = 9; while (i >= 2u) { s += a[i & "
        "15]; i -= 2u; if (s == 77) break; } long k = 9; while (k - 3L > -2L) { s += a[k & 15]; if "
        "(s == 99) break; k -= 1; } do { s += i; i++; } while (i - 3 < 250L); return s + i + k; }"
    ),
    "large_limit": (
        "int f(unsigned char v) { int s = 0; for (unsigned k = 3; k < (v / 43) - 1 && k < 5; k++) "
        "s += k; return s; }"
    ),
    "large_choice": (
        "int f(unsigned char v, unsigned char m, const int a[8]) { int s = 0, d = (v & 3) - 1; "
        "unsigned e = m & 7; int c = d < e ? d : e; for (int i = 0; i < c; i++) s += a[i & 7]; "
        "return s; }"
    ),
    "large_fact": (
        "int f(unsigned char v) { int s = 0, n = (v & 15) - 8; if (n <= 5u) return s; for (int i = "
        "9; i >= n && i > -9; i--) s += i; return s; }"
    ),
    "copied_before_a_clamp": (
        "int f(unsigned char n) { int c = n, s = 0; if (n > 5) n = 5; for (int i = 0; i < c; i++) "
        "s += i; return s + n; }"
    ),
    "copied_before_it_is_set": (
        "int f(unsigned char v) { int n = v, s = 0, c = n; n = v & 7; if (n > 5) return 1; for "
        "(int i = 0; i < c; i++) s += i; return s + n; }"
    ),
    "facts_passed_over": (
        "int f(unsigned char n, unsigned char m, int v) { int s = 0; if (v & 1) goto out; if (n > "
        "5) return 0; if (m > 7) m = 7; out: for (int i = 0; i < n; i++) s += i; for (int i = 0; "
        "i < m; i++) s ^= i; return s + n; }"
    ),
    "called_in_iterations": (
        "int cnt; static int g(int i) { cnt += i; return 3; } int f(unsigned char n, int y[8]) { "
        "for (int i = 0; i < (n & 31); i++) { int t = g(i); if (t > 100) y[i] = t; } return 5; }"
    ),
    "started_in_iterations": (
        "int f(unsigned char n, int y[8]) { int k = 0; for (int i = 0; i < (n & 31); i++) { if (n "
        "== 255) y[i] = 1; else for (k = i; k < 3; ) { y[i] = 3; k++; } } return k; }"
    ),
    "unsigned_minus": (
        "int f(unsigned char m) { unsigned n = m & 3; int s = 0; for (unsigned i = 0; i < n "
        "- 1 && i < 50; i++) s += 3; return s; }"
    ),
    "unsigned_trips": (
        "int f(const int a[8]) { int s = 0; unsigned i = 0; do { s += a[i & 7] & 3; i++; } "
        "while (i - 2 < 5); return s * 64 + i; }"
    ),
    "unsigned below 0": (
        "int f(const int a[64], int b[64], unsigned n) { int s = 3; for (int i = 0; i - 1 < n && "
        "i < 64; i++) { s += a[i]; b[i] = s; } return s; }"
    ),
    "hidden by another type": (
        "unsigned n; int f(const int a[64], int b[64]) { int s = 0; { int n = 3; s += n; } for "
        "(int i = 0; i - 1 < n && i < 64; i++) { s += a[i]; b[i] = s; } return s; }"
    ),
    "a counter of a named type": (
        "typedef int idx; int f(const int a[64], int key) { register int k = 0; idx i = 0; while "
        "(i < 64 && a[i] > key) i++; while (k < 64 && a[k] != key) k++; return i * 64 + k; }"
    ),
    "a step down by less wide a number without a sign": """
        void f(int y[4], const int x[4]) {
          for (int k = 0; k < 4; k++) {
            unsigned m = (x[k] & 31) + 5; long n = 100; int s = 0;
            while (n > 0) { s++; n -= m; }
            y[k] = s; }
        }""",
    "two steps of less wide numbers, one without a sign": """
        void f(int y[4], const int x[4]) {
          for (int k = 0; k < 4; k++) {
            unsigned m = (x[k] & 7) + 5; int d = 3; long n = 100; int s = 0;
            do { s++; n += d; if (x[s & 3] == 7) break; n -= m; } while (n > 0 && s < 90);
            y[k] = s + (int)(n >> 3); }
        }""",
    "two steps by what is known before": """
        void f(int y[64]) {
          unsigned a = 3; int b = -1; long n = 0;
          while (n < 60) { y[n] += 1; n += a; y[n] += 2; n += b; }
        }""",
}


@pytest.mark.sample(every=3)
@pytest.mark.parametrize("name", [*_JUMPS, *_LOOPS, *_SWITCHES, *_BOUNDS, *_ORDERS_AND_SIGNS])
def test_control_of_any_form_is_as_gcc_has_it(name: str) -> None:
    texts = {**_JUMPS, **_LOOPS, **_SWITCHES, **_BOUNDS, **_ORDERS_AND_SIGNS}
    assert_as_gcc(texts[name], runs=4)


def test_no_program_hides_another_one() -> None:
    groups = (_JUMPS, _LOOPS, _SWITCHES, _BOUNDS, _ORDERS_AND_SIGNS)
    assert len({name for group in groups for name in group}) == sum(map(len, groups))


def test_a_loop_that_may_be_left_is_told_of() -> None:
    program = parse_text(_JUMPS["break_mid"])
    assert [warning.code for warning in program.warnings] == ["W0115"]


def test_a_condition_of_the_iterator_alone_stays_affine() -> None:
    """A `continue` is the other arm of its `if`, and no flag."""
    text = (
        "void f(int a[8], const int b[8]) { for (int i = 0; i < 8; i++) { if (i == 3) continue; "
        "a[i] += b[i]; } }"
    )
    program = parse_text(text)
    assert [array.name for array in program.scop.arrays] == ["a", "b"]
    assert not program.warnings


def test_what_counts_on_is_a_function_of_the_iterators() -> None:
    """Else what is written would not be known."""
    program = parse_text(_JUMPS["write_k"])
    written = [s.write for s in program.scop.statements if s.write.array == "out"]
    assert [str(write) for write in written] == ["out[2*i]"]


@pytest.mark.parametrize(
    ("loop", "iterations"),
    [
        ("while (x) { x /= 10; n++; }", 10),
        ("do { x >>= 7; n++; } while (x);", 5),
        ("for (; x; x &= x - 1) n++;", 32),
        ("while (1) { n ^= 5; if (!x) break; x /= 10; n++; }", 11),
    ],
)
def test_a_word_is_emptied_in_no_more_iterations_than_it_takes(loop: str, iterations: int) -> None:
    program = parse_text(f"int f(unsigned x) {{ int n = 0; {loop} return n; }}")
    assert f"< {iterations}; trip++" in program.lowered


@pytest.mark.parametrize(
    ("was", "becomes"),
    [
        ("int q = 0; q < m", "int q = 1; q < m"),
        ("int q = 0; q < m", "int q = 0; q < n"),
        ("for (int q", "for (unsigned q"),
        ("s[p] = 0;", "s[p] = 0; if (c[p][0]) break;"),
        ("s[p] = 0;", "s[p] = 0; m--;"),
    ],
)
def test_a_loop_that_need_not_begin_bounds_nothing(was: str, becomes: str) -> None:
    text = _BOUNDS["begins_inside"]
    assert was in text
    with pytest.raises(FrontendError):
        parse_text(text.replace(was, becomes))


def test_a_parameter_that_bounds_loops_has_limits() -> None:
    (scalar,) = parse_text(_BOUNDS["implied_n"]).scop.scalars
    assert scalar.limits == (-(2**31), 64)


def test_a_bound_that_is_not_known_is_no_limit() -> None:
    """What returns early has a meaning for any number."""
    (scalar,) = parse_text(_BOUNDS["ret_n"]).scop.scalars
    assert scalar.limits is None


@pytest.mark.parametrize(
    ("body", "limits", "told"),
    [
        ("for (int i = 0; i < n; i++) s += a[i];", 16, None),
        ("for (int i = 0; i < n; i += 4) s += a[i] + a[i + 3];", 16, None),
        ("for (int i = 1; i <= n; i += 5) s += a[i];", 15, None),
        ("for (int i = 0; i < n && i < 8; i++) s += a[i];", None, 16),
        ("for (int i = 0; i < n; i++) if (i < 8) s += a[i];", None, 16),
        ("if (n < 9) for (int i = 0; i < n; i++) s += a[i];", None, 16),
        ("if (k) return 0; for (int i = 0; i < n; i++) s += a[i];", None, 16),
        ("for (int j = 0; j < k; j++) for (int i = 0; i < n; i++) s += a[i] + a[j];", 16, None),
    ],
)
def test_a_parameter_has_a_meaning_as_long_as_some_run_has(
    body: str, limits: int | None, told: int | None
) -> None:
    text = f"int f(const int a[16], int k, int n) {{ int s = 0; {body} return s; }}"
    scop = parse_text(text).scop
    scalar = next(s for s in scop.scalars if s.name == "n")
    found = tuple(known and known[1] for known in (scalar.limits, scalar.told))
    assert found == (limits, told)


def test_an_assertion_limits_what_it_speaks_of() -> None:
    """What is clamped, or returned for, has a meaning for any number."""
    program = parse_text(
        "#include <assert.h>\nint f(int n, int m, int k, const int a[40]) { int s = 0; "
        "if (n > 30) n = 30; if (k > 20) return 0; assert(m <= 25); "
        "for (int i = 0; i < n; i++) s ^= i; for (int i = 0; i < k; i++) s += a[i]; "
        "for (int i = 0; i < m; i++) s -= a[i]; return s; }"
    )
    assert {s.name: s.limits for s in program.scop.scalars if s.limits} == {"m": (-(2**31), 25)}


def test_a_static_is_stepped_behind_the_ends_of_arrays() -> None:
    scop = parse_text(
        "void f(unsigned char n, int y[8]) { for (int i = 0; i < (n & 31); i++) { static unsigned "
        "c; c++; if (c == 0) y[i] = 1; } }"
    ).scop
    inputs = {**random_inputs(scop, 1), "n": 20}
    stepped = run_golden(scop, inputs).arrays["c"] - np.asarray(inputs["c"])
    assert stepped == 20


def test_two_arms_that_set_flags_are_no_choice_of_one_value() -> None:
    """Both stand at the place of the same text."""
    assert_as_gcc(
        """
        static int g(const int a[16], int b[16], int s, int t) {
          for (int k = 3; k > 0 && a[t & 7] != k; k--) {
            t -= a[t & 7];
            for (int m = 0; m < 5 && s != m; m++) s ^= t * 5;
          }
          b[3] = b[3] + s;
          return t;
        }
        int f(const int a[16], int b[16]) {
          int s = 1;
          for (int k = 2; k > 0; k--) s = g(a, b, a[s & 15] ^ k, 0);
          return s;
        }""",
        runs=4,
    )


@pytest.mark.parametrize(
    "text",
    [
        "void f(int b[8]) { for (unsigned i = 7; i >= 0; i--) b[i] = 0; }",
        "void f(int b[8]) { unsigned i = 7; while (i > 0) { b[i & 7] = 0; i -= b[0] & 3; } }",
        "void f(int b[8]) { signed char i = 0; while (i < b[0]) { i++; b[1]++; } }",
        "int f(int b[8], int k) { while (k > b[k & 7]) k = b[k & 7]; return k; }",
        "void f(int b[8]) { int i = 0; while (i < 8) { if (b[i & 7]) continue; i++; } }",
        "void f(int b[8]) { int i = 0, j = 0; while (i < 8) { if (b[i & 7]) j++; else i++; } }",
        # What is asked of the counter comes round: 4,294,967,297 is 1.
        "int f(const int a[16]) { int s = 0, j = 5; unsigned k = 30; while (k - 3 > 2 && j > 0) { "
        "if (a[j & 15] > 0) j--; else k -= 4; s += 3; } return s + j; }",
        "int f(unsigned char v, const int a[8]) { int s = 0, j = 3; unsigned k = 0; while (k < (v "
        "& 7) - 1 && j > 0) { if (a[k & 7] > 3) k++; else j--; s++; } return s * 16 + k; }",
        # The question may be passed over, while the word is emptied all the same.
        "int f(unsigned char x, const char a[64]) { int n = 0, k = 0; for (unsigned y = x; ; "
        "y >>= 1) { n++; if (n < 40 && a[n & 63] >= -128) continue; if (!y) break; k++; } "
        "return n * 8 + k; }",
        # A byte comes round before it is at its end.
        "int f(const int a[8]) { unsigned char i = 0, j = 0; int s = 0; while (i < 255 && j < 9) { "
        "if (a[s & 7] > 0) i += 10; else j++; s++; } return s + i; }",
        # The last question steps, too, and would not be asked.
        "int f(int n, const int a[64]) { int s = 0, i = 0; while (i++ < n) s += a[i - 1]; return "
        "s * 100 + i; }",
        # When it is stepped is left open.
        "int f(const int a[16]) { int i = 0, s = 0;\n#pragma rtlgen bound 16\n"
        "while (a[i & 15] > i++) s += i; return s; }",
        # The case behind it sees the inner variable.
        "int f(const int a[4]) { int s = 0, t = 5; for (int i = 0; i < 4; i++) { switch (a[i] & 3) "
        "{ case 1:; int t = 3; s += t; case 2: s += t; } } return s; }",
        # `case -1` is 4,294,967,295 there.
        "int f(const int a[16]) { int s = 0; for (int i = 0; i < 16; i++) { unsigned u = "
        "a[i] | 0x7ffffff0; switch (u++) { case -1: s += 1; break; case 2147483647: s += 16; "
        "break; default: s += 256; } } return s; }",
    ],
)
def test_a_loop_that_may_go_round_is_refused(text: str) -> None:
    with pytest.raises(FrontendError):
        parse_text(text)


_WAITING = """
int f(unsigned x, const int a[8]) {
  unsigned bit = 1u << 31, k = 0;
  x |= 9;
  %s
  return k * 100 + (bit & 7);
}"""


@pytest.mark.parametrize(
    ("loop", "trips"),
    [
        ("while ((x & bit) == 0) { k++; bit = bit >> 1; }", 32),
        ("while (!(x & bit)) { bit >>= 4; k++; }", 8),
        ("do { bit /= 2; k++; } while (!(x & bit));", 32),
        ("for (; x < bit && !(x & bit); bit >>= 1) k++;", 32),
    ],
)
def test_a_loop_that_waits_for_a_bit_ends_with_the_word(loop: str, trips: int) -> None:
    """Behind the last bit nothing changes: the loop has ended, or has no meaning."""
    program = assert_as_c(_WAITING % loop)
    warning = next(w for w in program.warnings if w.code == "W0115")
    assert int(warning.labels[0].text.rsplit(" ", 1)[1]) in (trips, trips + 1)


@pytest.mark.parametrize(
    "loop",
    [
        "while (!(x & bit)) { bit >>= 1; x = a[k++ & 7]; }",
        "while (!(a[k & 7] & bit)) { bit >>= 1; k++; }",
        "while (!(x & bit)) { bit >>= 1; if (k++ > x) break; }",
        "while (!(x & bit) && k < x) { bit >>= 1; k++; }",
        "while (!(x & bit)) { if (k++ & 1) continue; bit >>= 1; }",
    ],
)
def test_a_loop_that_may_end_otherwise_is_not_bounded_by_a_word(loop: str) -> None:
    with pytest.raises(FrontendError) as caught:
        parse_text(_WAITING % loop)
    assert caught.value.diagnostic.code in ("E0113", "E0118")


@pytest.mark.parametrize(
    "loop",
    [
        "while (n--) s += a[n & 7];",
        "for (; n > 0; n--) s = 2 * s + a[n & 7];",
        "while (n != 0) { n = n - 1; s -= a[n & 7]; } s += n;",
        "for (n = 2; n < 6; n++) s += a[n]; s *= n;",
    ],
)
def test_a_parameter_of_a_function_that_is_called_counts_its_loops(loop: str) -> None:
    assert_as_c(
        f"""static int sum(unsigned char n, const int a[8]) {{ int s = 0; {loop} return s; }}
        void f(const int a[8], unsigned char x[4], int b[4]) {{
          for (int i = 0; i < 4; i++) b[i] = sum(5, a) + sum(i, a) + sum(x[i] >> 4, a);
        }}"""
    )


@pytest.mark.skipif(not have_gcc(), reason="there is no gcc to compare with")
@pytest.mark.parametrize(
    "condition",
    [
        "k < a[3] && ++k < 9",
        "k < a[3] && k++ < 8",
        "k != a[3] && ++k < 8",
        "a[k] != 0 && ++k < 9",
        "k < a[3] && ++k < 9 && k <= 9 && k < (a[5] & 31)",
        "k < 12 && ++k < a[3] && k < 9",
    ],
)
def test_a_step_behind_a_question_is_made_the_last_time_only_where_that_holds(
    condition: str,
) -> None:
    text = f"int f(const unsigned char a[16]) {{ int k = 0; while ({condition}) ; return k; }}"
    scop = parse_text(text).scop
    inputs = random_inputs(scop, 1)
    for value in range(12):
        # Whatever ends the loop, it is at every place that it may end at.
        a = np.full(16, 20, dtype=np.uint8)
        a[3] = value
        inputs["a"] = a
        for at in (None, *range(4, 10)):
            a[4:11] = 20
            if at is not None:
                a[at] = 0
            golden = run_golden(scop, inputs, engine="interpreter")
            assert golden.returned == run_gcc(scop, inputs).returned, (value, at)


@pytest.mark.parametrize(
    "loop",
    [
        "unsigned short i = 0; do { i--; s += a[i & 7]; if (s > 40) break; } while (i > 0);",
        "unsigned short i = 4; do { i--; if (a[i & 7] & 1) i--; s += a[i & 7]; } while (i > 0);",
    ],
)
def test_a_counter_that_may_come_round_bounds_nothing(loop: str) -> None:
    text = f"int f(const unsigned char a[8]) {{ int s = 0; {loop} return s; }}"
    with pytest.raises(UnboundedLoop):
        parse_text(text, "kernel.c")
