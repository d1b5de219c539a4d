"""What a component's docstring says about it and its ports, as comments."""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Iterator, Mapping
from functools import cache

from amaranth.lib import wiring

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
