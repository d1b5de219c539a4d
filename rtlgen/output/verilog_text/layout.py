"""How lines are set, and what a component's docstring says of it, as comments.

How lines are set: one statement a line, long ones broken where a reader would.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache

from amaranth.lib import wiring

from rtlgen.output.verilog_text.expressions import Text

LINE_WIDTH = 100
SOURCE = re.compile(r'\(\* src = "[^"]*" \*\) ')
"""The attribute that names a line of the C program."""
_INDENT = "  "


def indented(lines: Iterable[str], depth: int = 1) -> Iterator[str]:
    for line in lines:
        yield f"{_INDENT * depth}{line}" if line else line


def range_of(width: int) -> str:
    """Return the range of a declaration, with a space behind it; nothing for one bit."""
    return f"[{width - 1}:0] " if width > 1 else ""


def part_of(low: int, width: int, of: int) -> str:
    """Return what picks some bits out of a name that has `of`; nothing for all of them."""
    if width == of:
        return ""
    return f"[{low}]" if width == 1 else f"[{low + width - 1}:{low}]"


def assignment(head: str, text: Text) -> Iterator[str]:
    """Yield `head` and an expression behind it, a choice in a line for each arm if it is long."""
    line = f"{head} {text.text};"
    if _length(line) <= LINE_WIDTH or not text.arms:
        yield from broken(line)
        return
    *chosen, (_, last) = text.arms
    widest = max(len(condition) for condition, _ in chosen)
    yield head
    for condition, value in chosen:
        yield f"{_INDENT}{condition.ljust(widest)} ? {value} :"
    yield f"{_INDENT}{last};"


def _length(line: str) -> int:
    """Return how long a line is, but for the name of a file: no break depends on where that is."""
    return len(SOURCE.sub("", line))


def broken(line: str) -> Iterator[str]:
    """Yield a line that is too long in several, broken behind operators and commas."""
    match = SOURCE.match(line)
    source = match[0] if match else ""
    line, indent = line[len(source) :], ""
    while len(indent + line) > LINE_WIDTH:
        room = LINE_WIDTH - len(indent)
        places = [line.rfind(mark, 0, room) + len(mark) for mark in (", ", " & ", " | ", " + ")]
        place = max((p for p in places if p > LINE_WIDTH // 3), default=0)
        if not place:
            break
        yield source + indent + line[:place].rstrip()
        line, indent, source = line[place:], _INDENT * 2, ""
    yield source + indent + line


def packed(items: Sequence[str], indent: int = 1) -> Iterator[str]:
    """Yield short statements, as many in a line as have room."""
    line = ""
    for item in items:
        if line and len(line) + 1 + len(item) > LINE_WIDTH - len(_INDENT) * indent:
            yield line
            line = ""
        line = f"{line} {item}" if line else item
    if line:
        yield line


def table(rows: Sequence[tuple[str, str, str, str]]) -> list[str]:
    """Return declarations as aligned columns: kind, range, name and comment."""
    kinds = max(len(kind) for kind, *_ in rows)
    ranges = max(len(range_) for _, range_, *_ in rows)
    heads = [f"{kind.ljust(kinds)} {range_.rjust(ranges)}{name}" for kind, range_, name, _ in rows]
    names = max(map(len, heads))
    return [
        f"{head.ljust(names)}  // {comment}" if comment else head
        for head, (*_, comment) in zip(heads, rows, strict=True)
    ]


def port_table(ports: Sequence[tuple[str, int, str, str]]) -> list[str]:
    """Return the list of ports as aligned columns: kind, width, name and comment of each."""
    last = len(ports) - 1
    return table(
        [
            (kind, range_of(width), name + ("," if n < last else ""), comment)
            for n, (kind, width, name, comment) in enumerate(ports)
        ]
    )


def declarations(items: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield declarations, names of the same kind one beside the other, as many as have room."""
    kind, line = "", ""
    for wanted, name in items:
        if wanted == kind and _length(line) + 2 + len(name) < LINE_WIDTH - len(_INDENT):
            line += f", {name}"
            continue
        if line:
            yield f"{line};"
        kind, line = wanted, f"{wanted}{name}"
    if line:
        yield f"{line};"


_SECTION = re.compile(r"^(\w+)\n-+\n", re.MULTILINE)
_ENTRY = re.compile(r"(?:^|(?<=[.;] ))((?:[A-Za-z]\w*)(?:, [A-Za-z]\w*)*): ")
_DIRECTION = re.compile(r"^(?:In|Out)(?:\([^)]*\))?(?:[,.;] ?|$)|^(?:In|Out) +")
_PLACEHOLDER = re.compile(r"[A-Z]+")
_COMMENT_WIDTH = 72
_LINE_WIDTH = 97


@cache
def _sections(kind: object) -> Mapping[str, str]:
    """Return the sections of a docstring; what is before the first one is called ''."""
    text = inspect.cleandoc(getattr(kind, "__doc__", "") or "")
    parts = _SECTION.split(text)
    names, bodies = ["", *parts[1::2]], parts[::2]
    return {name: body.strip() for name, body in zip(names, bodies, strict=True)}


@cache
def _entries(kind: object) -> tuple[tuple[re.Pattern[str], str], ...]:
    """Return patterns of the names of ports, and what is said of them."""
    found = []
    for each in getattr(kind, "__mro__", ()):
        if not issubclass(each, wiring.Component) or each is wiring.Component:
            continue
        members = " ".join(_sections(each).get("Members", "").split())
        parts = _ENTRY.split(members)
        for names, text in zip(parts[1::2], parts[2::2], strict=True):
            said = _DIRECTION.sub("", text.strip()).strip().rstrip(".;")
            found += [(_pattern(name), said) for name in names.split(", ")]
    return tuple(found)


def _pattern(name: str) -> re.Pattern[str]:
    """Return what matches a name, in which capitals stand for something, N for a number say."""
    seen: set[str] = set()

    def group(match: re.Match[str]) -> str:
        # One capital is a number, but for S: that is a stream.
        what = r"\d+" if len(match[0]) == 1 and match[0] != "S" else r"\w+?"
        if match[0] in seen:
            return what
        seen.add(match[0])
        return rf"(?P<{match[0]}>{what})"

    return re.compile(_PLACEHOLDER.sub(group, name))


def port_comment(component: wiring.Component, port: str) -> str:
    """Return what a component says of a port in its `port_comments`, or in its docstring."""
    own: Mapping[str, str] = getattr(component, "port_comments", {})
    if port in own:
        return own[port]
    kind: object = type(component)
    for pattern, said in _entries(kind):
        match = pattern.fullmatch(port)
        if match and said:
            for placeholder, value in match.groupdict().items():
                said = re.sub(rf"\b{placeholder}\b", value, said)
            return _shortened(_filled_in(component, said))
    return ""


def _filled_in(component: wiring.Component, said: str) -> str:
    """Return a text with the numbers that its quoted names stand for."""

    def value(match: re.Match[str]) -> str:
        found = getattr(component, match[1], None)
        return str(found) if isinstance(found, int) else match[1]

    return re.sub(r"`(\w+)`", value, said).replace("`", "")


def _shortened(said: str) -> str:
    """Return the first sentence, or as much of it as fits, up to a comma or a colon."""
    first = re.split(r"(?<=[^.])\. |; ", said)[0]
    while len(first) > _COMMENT_WIDTH and re.search(r"[,:] ", first):
        first = re.split(r"[,:] (?!.*[,:] )", first)[0]
    return first if len(first) <= _COMMENT_WIDTH else ""


def heading(component: wiring.Component) -> Iterator[str]:
    """Yield lines that say what a component is, and its timing."""
    kind: object = type(component)
    sections = _sections(kind)
    first = _filled_in(component, " ".join(sections[""].split("\n\n")[0].split()))
    if first:
        yield from textwrap.wrap(first, _LINE_WIDTH)
    for each in type(component).__mro__:
        timing = _sections(each).get("Timing") if issubclass(each, wiring.Component) else None
        if timing:
            said = _filled_in(component, " ".join(timing.split()))
            yield from textwrap.wrap(f"Timing: {said}", _LINE_WIDTH)
            return
