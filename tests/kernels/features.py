"""What real kernels use of C, and how it looks in a text.

The list is a census of public suites of static-affine kernels: PolyBench, Dynamatic, PLUTO, pet,
ppcg, AutoSA, MachSuite, CHStone, ScaleHLS, Vitis and Bambu examples, Phism.
"""

from __future__ import annotations

import re

_FOR = r"for \((?:\w+ )*"

FEATURES = {
    "region pragma": r"#pragma scop",
    "several dimensions": r"\w\[\w+\]\[\w+\]",
    "four dimensions": r"\w(\[[^]]+\]){4}",
    "array parameter": r"\(.*\w+ \w+\[",
    "symbolic bound by a macro": rf"{_FOR}\w+ = 0; \w+ < N;",
    "bound by an expression": rf"{_FOR}\w+ = 0; \w+ <=? N [-/]",
    "lower bound not 0": rf"{_FOR}\w+ = [1-9i];",
    "local scalar": r"^ +int \w+;",
    "iterator declared in the header": r"for \(int \w+ =",
    "iterator declared before": r"for \(\w+ = ",
    "imperfect nest": r"\{\n +[^f\n]+;\n +for ",
    "compound assignment": r"[-+*/%&|^]= ",
    "constant macro": r"#define \w+ \d",
    "local array": r"^  \w+ \w+\[",
    "global scalar": r"^(int|unsigned) \w+;",
    "global array": r"^(int|unsigned|short) \w+\[",
    "division": r" / ",
    "division by a negative": r"/ -\d",
    "remainder": r" % ",
    "<=": r"; \w+ <= ",
    "unsigned iterator": r"for \(unsigned",
    "long iterator": r"for \(long",
    "sibling loops in a loop": r"(?s)\n  for \([^\n]*\{\n    for.*?\n    for [^\n]*\n",
    "macro with arguments": r"#define \w+\(",
    "sum of iterators in a subscript": r"\[\w \+ [a-z]+\]",
    "triangular bound": r"[<>]=? i[;)]",
    "triangular start": r"= i \+ 1;",
    "condition on data": r"if \(\w+\[",
    "store under a condition on data": r"if \(a\[i\] > 63\)|if \(mask",
    "linearised subscript": r"\w \* [A-Z]\w* \+ \w+",
    "coefficient of an iterator": r"\[[23] \* \w",
    "pointer parameter": r"\*\w+[,)]",
    "returned value": r"^(int|unsigned|long long|uint64_t) \w+\(.*\{$",
    "remainder of an iterator": r"i % 3 == 1",
    "bits of an iterator": r"\(i & 3\) == 0",
    "conditional expression": r"\?",
    "nested conditional expression": r"\? .* : .*\? .* : ",
    "minimum by a function": r"int min\w*\(|least\(|low",
    "maximum by a macro": r"MAX\(",
    "affine if": r"if \(i [<>=]=? ",
    "else if": r"else if",
    "conjunction": r" && ",
    "disjunction": r" \|\| ",
    "negated condition": r"!\(",
    "cast": r"\((int|unsigned|fixed|uint8_t|int64_t|long long|unsigned char)\)\w",
    "negative coefficient": r"\[[A-Z]\w* - 1 - ",
    "char": r"\bchar ",
    "short": r"\bshort ",
    "64 bits": r"long long|int64_t",
    "unsigned 64 bits": r"unsigned long long|uint64_t",
    "decreasing loop": r"--\)",
    "step": r"\+= [2B]\w*\)",
    "affine scalar temporary": r"int \w+ = [ij2] \* |_row = ",
    "typedef": r"typedef",
    "stdint": r"#include <stdint.h>",
    "constant table": r"static const",
    "constant table of two dimensions": r"static const \w+ \w+\[\d\]\[\d\]",
    "function call": r"static ",
    "function of arrays": r"static \w+ \w+\([^)]*\*\w+, (const )?\w+ \*",
    "function with an early return": r"\n  if [^\n]*\n    return ",
    "nested calls": r"min2\(a, min2\(",
    "inline": r"static inline",
    "address of an element": r"&\w+\[",
    "address of a scalar": r"&low",
    "result through a pointer": r"^  \*\w+ = ",
    "extent after static": r"\[static N\]",
    "restrict": r"restrict",
    "scalar parameter": r"\(.*, (int|unsigned|short) \w+\)",
    "unsigned wrap": r"- 3000000000u",
    "shift left by a variable": r"<< \(\w+\[",
    "shift right by a variable": r">> \(\w+\[",
    "arithmetic shift": r">> 1",
    "shadowed name": r"(?s)int x = \w+;.*int x = a\[i\];.*int x = b\[i\];",
    "scalar carried on": r"int carried = 0;",
    "scalar that counts beside a loop": r"\[\w+\+\+\]",
    "two variables in a header": r"for \(int \w+ = 0, \w+ = ",
    "chained assignment": r"\] = \w+(\[\w+\])* = |\w = \w+\[\w\] = ",
    "comma": r"\w, \w+ \+= ",
    "local pointer": r"^ +(const )?int \*\w+ = ",
    "label": r"^\w+:$",
    "minimum in a bound": r"< MIN\(",
    "minimum in a bound by a function": r"<= lesser\(",
    "maximum in a start": r"= MAX\(0",
    "skewed bounds": r"= t \+ 1;",
    "two bounds at once": r"<=? \w+ && ",
    "bit operations": r" \^= ",
}
"""Feature and regular expression; `^` and `$` stand at lines."""


def without_comments(text: str) -> str:
    """Return C text without its comments."""
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def features_of(text: str) -> frozenset[str]:
    """Return the features that a C text uses."""
    plain = without_comments(text)
    return frozenset(
        name for name, pattern in FEATURES.items() if re.search(pattern, plain, re.MULTILINE)
    )
