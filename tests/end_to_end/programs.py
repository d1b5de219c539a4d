"""A strategy for small C programs, as text, whose every subscript is inside its array.

They are what users write and compilers stumble over: imperfect and triangular nests, sibling loops,
strides, loops that count down, guards, scalar temporaries, in-place updates at small distances,
and integer types of every width. Arrays are declared last, as large as the subscripts need.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hypothesis import strategies as st

TYPES = (
    "int", "int", "int", "unsigned", "short", "unsigned short", "signed char", "unsigned char",
    "long", "unsigned long",
)  # fmt: skip
MAX_STATEMENTS = 4
MAX_DEPTH = 3


@dataclass(frozen=True, slots=True)
class _Iterator:
    """A loop variable with the smallest and largest value that it can take."""

    name: str
    low: int
    high: int


@dataclass(slots=True)
class _Array:
    """An array whose extents grow with the subscripts that are drawn."""

    name: str
    type: str
    storage: str
    extents: list[int]

    @property
    def declaration(self) -> str:
        return f"{self.type} {self.name}" + "".join(f"[{extent}]" for extent in self.extents)


@dataclass(slots=True)
class _Draft:
    """What has been drawn of a program so far."""

    arrays: list[_Array]
    statements: int = 0
    loops: int = 0
    lines: list[str] = field(default_factory=list)

    def add(self, depth: int, text: str) -> None:
        self.lines.append("  " * (depth + 1) + text)


@st.composite
def programs(draw: st.DrawFn) -> str:
    """Draw a C function `f` with one to four assignments."""
    arrays = [
        _Array("a", draw(st.sampled_from(TYPES)), "parameter", [1]),
        _Array("b", draw(st.sampled_from(TYPES)), "parameter", [1, 1]),
        _Array("s", draw(st.sampled_from(TYPES)), draw(st.sampled_from(["global", "local"])), []),
        _Array("g", draw(st.sampled_from(TYPES)), draw(st.sampled_from(["global", "local"])), [1]),
    ]
    draft = _Draft(arrays)
    wanted = draw(st.integers(1, MAX_STATEMENTS))
    while draft.statements < wanted:
        _nodes(draw, draft, (), wanted)
    return _text(draft, returned=draw(st.booleans()))


def _text(draft: _Draft, *, returned: bool) -> str:
    a, b, s, g = draft.arrays
    body = "\n".join(draft.lines)
    head = [f"{array.declaration};" for array in (s, g) if array.storage == "global"]
    local = []
    if s.storage == "local":
        local.append(f"  {s.type} s = 3;")
    if g.storage == "local":
        local += [f"  {g.declaration};", f"  for (int z = 0; z < {g.extents[0]}; z++) g[z] = z;"]
    result, tail = (s.type, "  return s;\n") if returned else ("void", "")
    parameters = f"{a.declaration}, {b.declaration}, int p, unsigned char q"
    lines = [*head, f"{result} f({parameters}) {{", *local, body]
    return "\n".join(lines) + f"\n{tail}}}\n"


def _nodes(draw: st.DrawFn, draft: _Draft, outer: tuple[_Iterator, ...], wanted: int) -> None:
    depth = len(outer)
    for _ in range(draw(st.integers(1, 3))):
        if draft.statements >= wanted:
            return
        kind = draw(st.sampled_from(["loop"] * (4 - depth) + ["statement"] * (1 + depth) + ["if"]))
        if kind == "loop" and depth < MAX_DEPTH:
            iterator = _loop(draw, draft, outer)
            _body(draw, draft, (*outer, iterator), wanted)
            draft.add(depth, "}")
        elif kind == "if" and outer:
            draft.add(depth, f"if ({_condition(draw, outer)}) {{")
            _statement(draw, draft, outer)
            if draw(st.booleans()) and draft.statements < wanted:
                draft.add(depth, "} else {")
                _statement(draw, draft, outer)
            draft.add(depth, "}")
        else:
            _statement(draw, draft, outer)


def _body(draw: st.DrawFn, draft: _Draft, outer: tuple[_Iterator, ...], wanted: int) -> None:
    before = draft.statements
    _nodes(draw, draft, outer, wanted)
    if draft.statements == before:
        _statement(draw, draft, outer)


def _loop(draw: st.DrawFn, draft: _Draft, outer: tuple[_Iterator, ...]) -> _Iterator:
    name = f"i{draft.loops}"
    draft.loops += 1
    low = draw(st.integers(0, 3))
    high = low + draw(st.sampled_from([0, 1, 2, 3, 4, 5, 6]))
    step = draw(st.sampled_from([1, 1, 1, 1, 2, 3]))
    first, last = str(low), str(high)
    if outer and draw(st.sampled_from([False, False, True])):
        other = draw(st.sampled_from(outer))
        shift = draw(st.integers(-1, 1))
        edge = f"{other.name} + {shift}" if shift >= 0 else f"{other.name} - {-shift}"
        if draw(st.booleans()):
            first, low = edge, other.low + shift
            high = max(high, low)
        else:
            last, high = edge, max(other.high + shift, low)
    if draw(st.sampled_from([False, False, False, True])):
        draft.add(len(outer), f"for (int {name} = {last}; {name} >= {first}; {name} -= {step}) {{")
    else:
        draft.add(len(outer), f"for (int {name} = {first}; {name} <= {last}; {name} += {step}) {{")
    return _Iterator(name, low, high)


def _condition(draw: st.DrawFn, outer: tuple[_Iterator, ...]) -> str:
    left = draw(st.sampled_from(outer)).name
    comparison = draw(st.sampled_from(["<", "<=", ">", ">=", "==", "!="]))
    if len(outer) > 1 and draw(st.booleans()):
        return f"{left} {comparison} {draw(st.sampled_from(outer)).name}"
    return f"{left} {comparison} {draw(st.integers(0, 5))}"


def _statement(draw: st.DrawFn, draft: _Draft, outer: tuple[_Iterator, ...]) -> None:
    draft.statements += 1
    operator = draw(st.sampled_from(["=", "=", "=", "+=", "-=", "*=", "^="]))
    target = _access(draw, draft, outer)
    draft.add(len(outer), f"{target} {operator} {_expression(draw, draft, outer, 2)};")


def _access(draw: st.DrawFn, draft: _Draft, outer: tuple[_Iterator, ...]) -> str:
    array = draw(st.sampled_from([*draft.arrays, draft.arrays[0], draft.arrays[1]]))
    text = array.name
    for dimension in range(len(array.extents)):
        subscript, highest = _subscript(draw, outer)
        array.extents[dimension] = max(array.extents[dimension], highest + 1)
        text += f"[{subscript}]"
    return text


def _subscript(draw: st.DrawFn, outer: tuple[_Iterator, ...]) -> tuple[str, int]:
    """Return a subscript that is never negative, and its largest value."""
    if not outer or draw(st.sampled_from([False] * 7 + [True])):
        constant = draw(st.integers(0, 2))
        return str(constant), constant
    coefficients = {draw(st.sampled_from(outer)): draw(st.sampled_from([1, 1, 1, 1, -1, 2]))}
    if draw(st.sampled_from([False] * 7 + [True])):
        coefficients.setdefault(draw(st.sampled_from(outer)), 1)
    low = sum(min(c * x.low, c * x.high) for x, c in coefficients.items())
    high = sum(max(c * x.low, c * x.high) for x, c in coefficients.items())
    constant = max(draw(st.integers(-2, 2)), -low)
    parts = [x.name if c == 1 else f"{c} * {x.name}" for x, c in coefficients.items()]
    if constant:
        parts.append(str(constant))
    return " + ".join(parts).replace("+ -", "- "), high + constant


def _expression(draw: st.DrawFn, draft: _Draft, outer: tuple[_Iterator, ...], depth: int) -> str:
    if depth == 0 or draw(st.sampled_from([False, False, True])):
        return _leaf(draw, draft, outer)

    def operand() -> str:
        return _expression(draw, draft, outer, depth - 1)

    form = draw(
        st.sampled_from(
            [
                "({} + {})", "({} - {})", "{} * {}", "({} ^ {})", "({} & {})", "({} | {})",
                "({} < {} ? {} : {})", "({} == {})", "- {}", "~{}", "!{}", "({} >> 3)", "({} << 2)",
                "({} >> ({} & 7))", "({} % 5)", "({} / 7)", "({} / (({} & 3) + 1))", "(short){}",
                "{} * 0", "{} * 8", "(unsigned char){}",
            ]
        )
    )  # fmt: skip
    return str(form).format(*(operand() for _ in range(form.count("{}"))))


def _leaf(draw: st.DrawFn, draft: _Draft, outer: tuple[_Iterator, ...]) -> str:
    kind = draw(st.sampled_from(["access", "access", "access", "constant", "index", "scalar"]))
    if kind == "access":
        return _access(draw, draft, outer)
    if kind == "index" and outer:
        return draw(st.sampled_from(outer)).name
    if kind == "scalar":
        return draw(st.sampled_from(["p", "q"]))
    return str(draw(st.sampled_from([0, 1, 2, 7, 100, 70000])))
