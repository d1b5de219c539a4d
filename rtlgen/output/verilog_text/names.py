"""Names in a module: after the signals that carry a value, else after what it is made of."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping

from rtlgen.hw.names import SYSTEMVERILOG_KEYWORDS, VERILOG_KEYWORDS, Namer
from rtlgen.output.verilog_text.netlist import Net, Nets, is_constant

_NO_LETTER = re.compile(r"\W+|__+")
_MOST_LETTERS = 28
"""Of a name made of the names of operands: two of them, as long as most are, and a word between."""

_BETWEEN = {
    "+": "plus",
    "-": "minus",
    "*": "times",
    "&": "and",
    "|": "or",
    "^": "xor",
    "==": "is",
    "!=": "is_not",
    "<<": "shifted_by",
    ">>": "shifted_by",
    "<": "below",
    ">": "above",
    "<=": "at_most",
    ">=": "at_least",
}
_BEFORE = {"~": "not", "-": "minus", "r|": "any", "b": "any", "r&": "all", "r^": "parity"}
_NOUNS = {
    "+": "sum",
    "-": "difference",
    "*": "product",
    "m": "choice",
    "<<": "shifted",
    ">>": "shifted",
    "==": "match",
    "!=": "mismatch",
    "&": "masked",
    "|": "joined",
    "^": "parity",
    "~": "inverted",
    "r|": "any",
    "b": "any",
    "r&": "all",
    "r^": "parity",
}


def identifier(name: str) -> str:
    """Return a plain Verilog identifier that spells `name`, where that is possible."""
    plain = _NO_LETTER.sub("_", name).strip("_") or "x"
    if plain[0].isdigit():
        plain = f"n{plain}"
    if plain in VERILOG_KEYWORDS or plain in SYSTEMVERILOG_KEYWORDS:
        return f"{plain}_signal"
    return plain


def escaped(name: str) -> str:
    """Return the name of a port of the top, whose spelling is not this module's to choose."""
    taken = VERILOG_KEYWORDS | SYSTEMVERILOG_KEYWORDS
    return f"\\{name} " if name in taken or not name.isidentifier() else name


class SignalNames:
    """The signals that are known in a module, by their nets.

    Parameters
    ----------
    signals: names and nets, those first whose names are better.
    """

    def __init__(self, signals: Iterable[tuple[str, Nets]]) -> None:
        self._exact: dict[Nets, str] = {}
        self._from: dict[Net, list[tuple[str, Nets]]] = {}
        self._bits: dict[Net, tuple[str, int]] = {}
        for name, nets in signals:
            if not nets:
                continue
            self._exact.setdefault(nets, name)
            self._from.setdefault(nets[0], []).append((name, nets))
            for bit, net in enumerate(nets):
                self._bits.setdefault(net, (name, bit))

    def of(self, nets: Nets) -> str | None:
        """Return the name of what shows some nets; None if nothing does."""
        if not nets:
            return None
        if nets in self._exact:
            return self._exact[nets]
        for name, longer in self._from.get(nets[0], ()):
            # The upper bits are constants, or nobody looks at them.
            rest = longer[len(nets) :]
            own = range(nets[0], nets[0] + len(longer))
            if longer[: len(nets)] == nets and all(is_constant(n) or n in own for n in rest):
                return name
        if nets[0] in self._bits:
            name, bit = self._bits[nets[0]]
            top = bit + len(nets) - 1
            return f"{name}_{bit}" if len(nets) == 1 else f"{name}_{top}_{bit}"
        return None


def operator_name(operator: str, operands: Iterable[str | None], feeds: str | None) -> str:
    """Return a name for an operator without one: what it is made of, or what it is made for.

    Parameters
    ----------
    operands: their names; None for what has none. feeds: what looks at it first.
    """
    symbol = operator.lstrip("us")
    made = list(_spelled(symbol, list(operands)))
    name = "_".join(made)
    if made and len(name) <= _MOST_LETTERS:
        return name
    noun = _NOUNS.get(symbol, "result")
    return f"{feeds}_{noun}" if feeds else noun


def _spelled(symbol: str, operands: list[str | None]) -> Iterator[str]:
    known = [name for name in operands if name is not None]
    if len(known) < len(operands) or symbol == "m":
        return
    if len(known) == 1 and symbol in _BEFORE:
        yield from (_BEFORE[symbol], known[0])
    elif len(known) > 1 and symbol in _BETWEEN:
        yield from (known[0], _BETWEEN[symbol], known[1])


def taken_by(ports: Mapping[str, object]) -> Namer:
    """Return a namer that gives out no name of a port."""
    return Namer(ports)
