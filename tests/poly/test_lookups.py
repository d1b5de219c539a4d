"""Subscripts that depend on data: what is proven of them, and what that makes of dependences."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import islpy as isl
import pytest

from rtlgen.driver import compile_program
from rtlgen.frontend import parse_text
from rtlgen.ir.scop import Access, Window
from rtlgen.options import CompileOptions
from rtlgen.planning.analysis import Analysis, analyse, examine
from rtlgen.poly.errors import LookupOutOfRange, OutOfBounds
from rtlgen.verify.data import KINDS, Recipe
from rtlgen.verify.golden import run_golden
from tests.lookup_warnings import lookup_warnings

FORMS = Path(__file__).parents[1] / "forms"

TABLE = "static const int t[16] = {3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5, 8, 9, 7, 9, 3};\n"


def analysed(
    body: str, before: str = "", parameters: str = "int x[8], unsigned char c[8]"
) -> Analysis:
    return examine(
        parse_text(
            f"""{TABLE}{before}
            void f({parameters}, unsigned u, int y[8]) {{
              for (int i = 0; i < 8; i++) {{
                {body}
              }}
            }}"""
        )
    )


def windows(analysis: Analysis, array: str = "t") -> list[str]:
    """Return the windows of every lookup in an array."""
    return [
        str(window)
        for statement in analysis.scop.statements
        for access in statement.reads
        for window in access.windows
        if access.array == array
    ]


@pytest.mark.sample(every=2)
@pytest.mark.parametrize(
    ("body", "window"),
    [
        ("y[i] = t[x[i] & 7];", "0..7"),
        ("y[i] = t[c[i] >> 4];", "0..15"),
        ("y[i] = t[c[i] % 10];", "0..9"),
        ("y[i] = t[(unsigned)x[i] >> 29];", "0..7"),
        ("y[i] = t[u & 3];", "0..3"),
        ("y[i] = t[c[i] / 17];", "0..15"),
        ("y[i] = t[x[i] > 3];", "0..1"),
        ("y[i] = t[(x[i] & 7) + i];", "0..14"),
        ("y[i] = t[15 - (c[i] & 3)];", "12..15"),
        ("y[i] = t[t[x[i] & 15]];", "1..9"),
        ("int k = x[i] & 15; k ^= c[i] & 3; y[i] = t[k];", "0..15"),
        ("int k = x[i]; if (k > 12) k = 12; if (k < 2) k = 2; y[i] = t[k];", "2..12"),
        ("int k = x[i]; y[i] = t[k < 0 ? 0 : k > 15 ? 15 : k];", "0..15"),
        ("int k = x[i]; if (k >= 3 && k <= 9) y[i] = t[k];", "3..9"),
        ("int k = x[i]; if (!(k < 3 || k > 9)) y[i] = t[k];", "3..9"),
        ("int k = x[i] & 15; if (k != 15) y[i] = t[k + 1];", "1..15"),
        ("int k = c[i] & 15; if (k) y[i] = t[k - 1];", "0..14"),
        ("int k = x[i]; if (k < 3 || k > 9) y[i] = 0; else y[i] = t[k];", "3..9"),
        ("int k = x[i]; y[i] = (unsigned)k < 6u ? t[k] : k;", "0..5"),
        ("int k = x[i]; if (k - 3u < 13) y[i] = t[k - 3];", "0..12"),
        ("int k = x[i]; y[i] = (unsigned)k + 2 < 9u ? t[k + 2] : 0;", "0..8"),
        ("int k = x[i]; y[i] = 5u - k <= 4u ? t[5 - k] : 0;", "0..4"),
        ("if (c[i] < 15) y[i] = t[c[i] + 1];", "1..15"),
        ("y[i] = (x[i] & 6) == 4 ? t[x[i] & 7] : 0;", "0..7"),
        ("if (x[i] > 0) { if (x[i] < 8) y[i] = t[x[i]]; }", "1..7"),
        ("y[i] = t[i * i % 16];", "0..15"),
        ("y[i] = t[(unsigned char)(i * 37) >> 4];", "0..15"),
        ("y[i] = *(t + (x[i] & 3) + 1);", "1..4"),
        # It wraps, but as one.
        ("short v = c[i] - 256; y[i] = t[((unsigned)v + 0x100u) >> 4];", "0..15"),
    ],
)
def test_the_window_of_a_lookup_is_proven(body: str, window: str) -> None:
    assert window in windows(analysed(body))


def test_a_subscript_that_a_condition_makes_a_number_is_no_lookup() -> None:
    body = "y[i] = x[i] == 4 ? t[x[i]] : 0;"
    assert windows(analysed(body)) == ["4..4"]
    text = f"{TABLE} void f(const int x[8], int y[8]) {{ for (int i = 0; i < 8; i++) {body} }}"
    folded = compile_program(parse_text(text), CompileOptions()).stages["fold"]
    assert [str(read) for read in folded.statements[-1].reads] == ["x[i]"]


@pytest.mark.parametrize(
    ("body", "window", "reach"),
    [
        ("y[i] = t[i + (x[i] & 3)];", "0..10", "i + 0..3"),
        ("y[i] = t[8 + i - (c[i] >> 6)];", "5..15", "i + 5..8"),
        ("unsigned char d = c[i] & 7; y[i] = t[15 - d - i];", "1..15", "-i + 8..15"),
        ("int d = x[i]; if (d >= 0 && d <= i) y[i] = t[i - d];", "0..7", "i + -7..0"),
        ("y[i] = t[(unsigned char)(i + 253) & 3];", "0..3", None),
        ("unsigned d = x[i] & 1; y[i] = t[(unsigned char)(i + 250u + d) % 16];", "0..15", None),
    ],
)
def test_a_window_moves_with_the_iterators(body: str, window: str, reach: str | None) -> None:
    analysis = analysed(body)
    assert set(windows(analysis)) == {window}
    moving = {
        w.moving
        for s in analysis.scop.statements
        for access in s.reads
        for w in access.windows
        if access.array == "t"
    }
    assert [None if r is None else f"{r.base} + {r.low}..{r.high}" for r in moving] == [reach]


def test_what_a_lookup_cannot_reach_it_does_not_wait_for() -> None:
    """Subset sums: a capacity takes the one some places below, of the item before."""
    analysis = examine(
        parse_text(
            """void f(const unsigned char w[5], int best[40]) {
              for (int i = 0; i < 5; i++) {
                int d = (w[i] & 7) + 1;
                for (int c = 39; c >= 8; c--) best[c] += best[c - d];
              }
            }"""
        )
    )
    flows = [d for d in analysis.dependences if d.kind == "flow" and d.source == d.sink]
    assert flows
    for flow in flows:
        # Within an item it looks up what is changed later only.
        assert flow.relation.domain().is_subset(analysis.sets.domains[flow.source])
        inside = flow.relation.equate(isl.dim_type.in_, 0, isl.dim_type.out, 0)
        assert inside.is_empty()


def test_values_that_go_round_are_bounded_by_what_feeds_them() -> None:
    counting = examine(
        parse_text(
            TABLE
            + """void f(const int x[8], int y[8]) {
              int s = 0;
              for (int i = 0; i < 8; i++) { y[i] = t[s]; s = (s + (x[i] & 1)) % 12; }
            }"""
        )
    )
    assert windows(counting) == ["0..11"]


def test_a_table_that_the_program_fills_bounds_what_is_read_from_it() -> None:
    analysis = examine(
        parse_text(
            TABLE
            + """void f(const int x[8], int y[8]) {
              short map[8];
              for (int k = 0; k < 8; k++) map[k] = (x[k] & 3) * 2 + 1;
              for (int i = 0; i < 8; i++) y[i] = t[map[x[i] & 7]];
            }"""
        )
    )
    assert windows(analysis) == ["1..7"]
    assert windows(analysis, "map") == ["0..7"]


@pytest.mark.parametrize(
    "body",
    [
        "y[i] = t[x[i]];",
        "y[i] = t[c[i]];",
        "y[i] = t[x[i] % 16];",
        "y[i] = t[(x[i] & 15) + 1];",
        "int k = x[i]; if (k < 16) y[i] = t[k];",
        "int k = x[i]; if (k >= 0 || k < 16) y[i] = t[k];",
        "y[i] = x[i] < 16 && x[i] >= 0 ? 0 : t[x[i]];",
        "y[i] = (unsigned char)x[i] < 6 ? t[x[i]] : 0;",
        "y[i] = (char)x[i] == 3 ? t[x[i]] : 0;",
        "int k = x[i]; if (k >= 0 && k < 16) { k += c[i]; y[i] = t[k]; }",
        "y[i] = t[i * i];",
        "short v = c[i] - 256; y[i] = t[((unsigned)v + 0x80u) >> 4];",
    ],
)
def test_a_lookup_that_is_not_proven_may_touch_whatever_there_is(body: str) -> None:
    analysis = analysed(body)
    assert [w.code for w in analysis.warnings if w.code != "W0102"] == ["W0205"]
    (access,) = (a for s in analysis.scop.statements for a in s.reads if a.array == "t")
    (window,) = access.windows
    assert window.unproven is not None and 0 <= window.low <= window.high <= 15


def test_a_lookup_that_is_never_inside_is_refused() -> None:
    with pytest.raises(LookupOutOfRange) as caught:
        analysed("y[i] = t[(c[i] & 15) + 16];")
    diagnostic = caught.value.diagnostic
    assert diagnostic.message == "`t[(c[i] & 15) + 16]` lies outside of t[16]"
    assert diagnostic.labels[0].text == "the subscript is 16 to 31"


def test_the_warning_tells_the_range_and_the_remedy() -> None:
    (diagnostic,) = (w for w in analysed("y[i] = t[c[i] - 3];").warnings if w.code == "W0205")
    assert diagnostic.message == "`t[c[i] - 3]` may lie outside of t[16]"
    assert diagnostic.labels[0].text == "the subscript is -3 to 252, as far as can be proven"
    assert diagnostic.help is not None and "& 15" in diagnostic.help


@pytest.mark.parametrize(
    ("statement", "written", "said"),
    [
        ("y[i] = e[x[i]].w;", "e[x[i]].w", "line 5: `assert(x[i] >= 0 && x[i] < 16);`"),
        ("y[i] = g->at[x[i] + i];", "g->at[x[i] + i]", "line 5: `assert(x[i] + i >= 0 && "),
        ("y[i] = e[x[i]++].w;", "e[x[i]++].w", "write `e[at].w`, in line 5: `int at = x[i]++; as"),
        ("y[i] = pick(t, x[i]);", "p[k]", "line 2, of its place in t: `assert(x >= 0 && x < 16);`"),
        (
            "y[i] = PICK(x[i]);",
            "PICK(x[i])",
            "line 5, of its place in t: `assert(x >= 0 && x < 16);`",
        ),
    ],
)
def test_the_remedy_is_in_the_words_of_the_program(statement: str, written: str, said: str) -> None:
    text = """struct part { int v, w; }; struct group { int at[16]; };
static int pick(const int *p, int k) { return p[k]; }
#define PICK(k) t[k]
void f(struct part e[16], const struct group *g, const int t[16], int x[8], int y[8]) {
  for (int i = 0; i < 8; i++) { ... }
}"""
    diagnostic = lookup_warnings(text.replace("...", statement))[0]
    assert diagnostic.message.startswith(f"`{written}` may lie outside of")
    assert diagnostic.help is not None and said in diagnostic.help


@pytest.mark.parametrize(
    ("body", "told"),
    [
        ("y[i] = t[x[i]];", (0, 15)),
        ("y[i] = t[x[i] + 3];", (-3, 12)),
        ("y[i] = t[2 * x[i] - 1];", (1, 8)),
        ("int k = x[i]; k -= 2; y[i] = t[k];", (2, 17)),
        ("y[i] = x[i] >= 0 && x[i] < 16 ? t[x[i]] : 0;", None),
        ("y[i] = t[x[i] & 15];", None),
    ],
)
def test_what_is_a_subscript_is_drawn_from_inside(body: str, told: tuple[int, int] | None) -> None:
    analysis = analysed(body, parameters="const int x[8]")
    assert analysis.program.scop.array("x").told == told
    drawn = Recipe("full", 1).inputs(analysis.program.scop)
    run_golden(analysis.program.scop, drawn)


def test_a_parameter_may_choose_an_element() -> None:
    (told,) = analysed("y[i] = t[u - 4];").program.scop.scalars
    assert (told.told, told.limits) == ((4, 19), None)


def test_a_parameter_keeps_to_its_meaning_where_it_chooses_an_element() -> None:
    text = """int f(const int a[8], const int t[20], int n) {
      int s = 0;
      for (int i = 0; i < n; i++) s += a[i];
      return s + t[n - 1];
    }"""
    (scalar,) = examine(parse_text(text)).program.scop.scalars
    assert scalar.told == (1, 8)


def test_an_affine_subscript_beside_a_looked_up_one_is_still_judged() -> None:
    with pytest.raises(OutOfBounds):
        examine(
            parse_text(
                """void f(const int m[8][4], const int x[9], int y[9]) {
                  for (int i = 0; i < 9; i++) y[i] = m[i][x[i] & 3];
                }"""
            )
        )


def test_a_condition_on_data_may_keep_an_affine_subscript_inside() -> None:
    text = """void f(const int a[8], const int b[8], int y[8]) {
      for (int i = 0; i < 8; i++) if (a[i] > 0) y[i] = b[i + 1];
    }"""
    analysis = examine(parse_text(text))
    (statement,) = analysis.scop.statements
    conditional = [access for access in statement.reads if access.is_conditional]
    assert [access.array for access in conditional] == ["b"]
    assert analysis.sets.accessing(statement, conditional[0]).count_val().to_python() == 7


def test_all_subscripts_that_may_leave_their_arrays_are_named_at_once() -> None:
    body = "y[i] = t[x[i]]; g[x[7 - i]][x[i]]++; y[i & 3] = t[c[i] & 15];"
    warnings = analysed(body, "int g[2][8];").warnings
    found = [(d.message, d.labels[0].text[:13]) for d in warnings if d.code == "W0205"]
    assert found == [
        ("`t[x[i]]` may lie outside of t[16]", "the subscript"),
        ("`g[x[7 - i]][x[i]]` may lie outside of g[2][8]", "subscript 1 i"),
        ("`g[x[7 - i]][x[i]]` may lie outside of g[2][8]", "subscript 2 i"),
    ]


def test_a_subscript_that_is_never_inside_is_refused_under_any_condition() -> None:
    text = """void f(const int a[8], int y[8]) {
      for (int i = 0; i < 8; i++) if (a[i] > 0) y[i] = a[i + 8];
    }"""
    with pytest.raises(OutOfBounds):
        examine(parse_text(text))


def test_a_lookup_depends_on_all_that_it_may_read() -> None:
    analysis = examine(
        parse_text(
            """void f(const int x[8], int y[8]) {
              int m[8];
              for (int k = 0; k < 8; k++) m[k] = x[k];
              for (int i = 0; i < 8; i++) y[i] = m[x[i] & 3];
              for (int k = 0; k < 8; k++) m[k] = y[k];
              for (int i = 0; i < 8; i++) y[i] += m[i];
            }"""
        )
    )
    found = {
        (d.kind, d.source, d.sink): d.relation.domain().count_val().to_python()
        for d in analysis.dependences
        if d.array == "m"
    }
    # The elements 0 to 3 may be read, in every iteration.
    assert found["flow", "S0", "S1"] == 4
    assert found["anti", "S1", "S2"] == 8
    flow = next(f for f in analysis.flows.flows if (f.source, f.sink) == ("S0", "S1"))
    assert flow.relation.wrap().count_val().to_python() == 32


def test_a_quotient_of_iterators_is_known_exactly() -> None:
    analysis = examine(
        parse_text(
            """void f(const int x[16], int y[16]) {
              int m[16];
              for (int k = 0; k < 16; k++) m[k] = x[k];
              for (int i = 0; i < 16; i++) y[i] = m[i / 2] + m[(5 * i + 1) % 16];
            }"""
        )
    )
    found = [f.relation.wrap().count_val().to_python() for f in analysis.flows.flows]
    assert found == [16, 16]
    (window,) = analysis.scop.statement("S1").reads[0].windows
    assert window.known is not None and (window.low, window.high) == (0, 7)


def test_windows_are_never_empty() -> None:
    with pytest.raises(ValueError, match="empty window"):
        Window(3, 2)


def told(access: Access) -> Access:
    """Return an access of which the golden model requires what is proven."""
    at = (
        replace(s, told=(s.low, s.high)) if isinstance(s, Window) and s.is_proven else s
        for s in access.subscripts
    )
    return replace(access, subscripts=tuple(at))


@pytest.mark.parametrize("name", ["conditions_merge", "scatter_common", "scatter_trace"])
def test_no_run_leaves_the_windows_that_are_proven(name: str) -> None:
    text = (FORMS / f"{name}.c").read_text(encoding="utf-8")
    scop = analyse(parse_text(text)).scop
    statements = tuple(
        replace(s, write=told(s.write), reads=tuple(map(told, s.reads))) for s in scop.statements
    )
    assert any(read.is_lookup for statement in statements for read in statement.reads)
    for seed, kind in enumerate(KINDS):
        inputs = Recipe(kind, seed).inputs(scop)
        run_golden(replace(scop, statements=statements), inputs)
