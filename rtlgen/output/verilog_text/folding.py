"""What an operator makes of nets that are constant, or the same: less than a cell.

A rule says for each output bit which net it is, `OWN` where it is the operator's own.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from rtlgen.output.verilog_text.netlist import Net, Nets, constant_nets, constant_of

OWN: Final = -1

BITWISE: Final = frozenset({"&", "|", "^", "~", "m"})
"""Operators whose output bits depend on the same bits of their operands (and on the choice)."""
LOW_TO_HIGH: Final = frozenset({"+", "-", "*", "<<"})
"""Operators whose output bits depend on the same and lower bits of their operands."""


@dataclass(frozen=True, slots=True)
class Rewritten:
    """Another operator that does the same with fewer bits.

    Members
    -------
    places: of its output bits, among those of the first operator; `bits` are the others.
    """

    operator: str
    inputs: tuple[Nets, ...]
    places: tuple[int, ...]
    bits: Nets


def signed_value(value: int, width: int) -> int:
    """Return a pattern of bits as a number in two's complement."""
    return value - (1 << width) if width and value >> (width - 1) else value


def evaluate(operator: str, inputs: Sequence[Nets]) -> Nets | None:
    """Return what an operator makes of constants; None where some operand is none."""
    values = [constant_of(nets) for nets in inputs]
    known = [value for value in values if value is not None]
    if len(known) < len(values):
        return None
    width = len(inputs[0])
    if operator == "m":
        return inputs[1] if known[0] else inputs[2]
    if len(known) == 1:
        return constant_nets(*_unary(operator, known[0], width))
    a, b = known
    if operator in _COMPARISONS:
        if operator[0] == "s":
            a, b = signed_value(a, width), signed_value(b, width)
        return constant_nets(int(_COMPARISONS[operator](a, b)), 1)
    if operator == "s>>":
        a = signed_value(a, width)
    return constant_nets(_ARITHMETIC[operator](a, b), width)


def _unary(operator: str, value: int, width: int) -> tuple[int, int]:
    match operator:
        case "~":
            return ~value, width
        case "-":
            return -value, width
        case "b" | "r|":
            return int(value != 0), 1
        case "r&":
            return int(value == (1 << width) - 1), 1
        case _:
            return value.bit_count() & 1, 1


_COMPARISONS: dict[str, Callable[[int, int], bool]] = {
    "==": lambda a, b: a == b,
    "!=": lambda a, b: a != b,
    **{f"{sign}<": (lambda a, b: a < b) for sign in "us"},
    **{f"{sign}>": (lambda a, b: a > b) for sign in "us"},
    **{f"{sign}<=": (lambda a, b: a <= b) for sign in "us"},
    **{f"{sign}>=": (lambda a, b: a >= b) for sign in "us"},
}
_ARITHMETIC: dict[str, Callable[[int, int], int]] = {
    "+": lambda a, b: a + b,
    "-": lambda a, b: a - b,
    "*": lambda a, b: a * b,
    "&": lambda a, b: a & b,
    "|": lambda a, b: a | b,
    "^": lambda a, b: a ^ b,
    "<<": lambda a, b: a << b,
    "u>>": lambda a, b: a >> b,
    "s>>": lambda a, b: a >> b,
}


def fold(operator: str, inputs: tuple[Nets, ...]) -> Nets | Rewritten | None:
    """Return what an operator can be replaced by: nets, or an operator of fewer bits."""
    if (known := evaluate(operator, inputs)) is not None:
        return known
    if operator in BITWISE:
        return _fold_bitwise(operator, inputs)
    if operator in ("==", "!="):
        return _fold_equality(operator, *inputs)
    if operator in ("b", "r|", "r&"):
        return _fold_reduction(operator, inputs[0])
    if operator == "r^" and len(inputs[0]) == 1:
        return inputs[0]
    if operator in ("<<", "u>>", "s>>"):
        return _fold_shift(operator, *inputs)
    if operator in ("+", "-", "*") and len(inputs) > 1:
        return _fold_arithmetic(operator, *inputs)
    return None


def _bit(operator: str, nets: Sequence[Net]) -> Net:
    """Return an output bit of a bitwise operator, given the bits that it depends on."""
    if operator == "m":
        choice, yes, no = nets
        if yes == no or choice == 1:
            return yes
        if choice == 0:
            return no
        return choice if (yes, no) == (1, 0) else OWN
    if operator == "~":
        return 1 - nets[0] if nets[0] < 2 else OWN
    a, b = nets
    if a == b:
        return 0 if operator == "^" else a
    for one, other in ((a, b), (b, a)):
        if operator == "&" and one < 2:
            return other if one else 0
        if operator == "|" and one < 2:
            return 1 if one else other
        if operator == "^" and one == 0:
            return other
    return OWN


def _fold_bitwise(operator: str, inputs: tuple[Nets, ...]) -> Nets | Rewritten | None:
    if operator == "m":
        choice, yes, no = inputs
        if choice[0] > 1 and len(yes) == 1:
            return _fold_choice_of_bits(choice[0], yes[0], no[0])
        columns = [(choice[0], a, b) for a, b in zip(yes, no, strict=True)]
    else:
        columns = list(zip(*inputs, strict=True))
    bits = tuple(_bit(operator, column) for column in columns)
    places = tuple(place for place, net in enumerate(bits) if net == OWN)
    if not places:
        return bits
    if len(places) == len(bits):
        return None
    kept = [tuple(nets[place] for place in places) for nets in inputs[operator == "m" :]]
    fewer = (inputs[0], *kept) if operator == "m" else tuple(kept)
    return Rewritten(operator, fewer, places, bits)


def _fold_choice_of_bits(choice: Net, yes: Net, no: Net) -> Nets | Rewritten | None:
    """Write a choice of one bit of which one side is constant as what it is."""
    found = _bit("m", (choice, yes, no))
    if found != OWN:
        return (found,)
    if (yes, no) == (0, 1):
        return Rewritten("~", ((choice,),), (0,), ())
    if no == 0 or yes == 1:
        return Rewritten("&" if no == 0 else "|", ((choice,), (yes if no == 0 else no,)), (0,), ())
    return None


def _fold_equality(operator: str, a: Nets, b: Nets) -> Nets | Rewritten | None:
    """Leave out the bits that are equal in any case."""
    pairs = [pair for pair in zip(a, b, strict=True) if pair[0] != pair[1]]
    differ = int(operator == "!=")
    if any(set(pair) == {0, 1} for pair in pairs):
        return (differ,)
    if not pairs:
        return (1 - differ,)
    if len(pairs) == 1:
        constants = [net for net in pairs[0] if net < 2]
        if constants:
            (other,) = (net for net in pairs[0] if net > 1)
            if constants[0] != differ:
                return (other,)
            return Rewritten("~", ((other,),), (0,), ())
    if len(pairs) == len(a):
        return None
    left, right = zip(*pairs, strict=True)
    return Rewritten(operator, (left, right), (0,), ())


def _fold_reduction(operator: str, nets: Nets) -> Nets | Rewritten | None:
    neutral = int(operator == "r&")
    if 1 - neutral in nets:
        return (1 - neutral,)
    kept = tuple(dict.fromkeys(net for net in nets if net != neutral))
    if len(kept) == 1:
        return kept
    return None if kept == nets else Rewritten(operator, (kept,), (0,), ())


def _fold_shift(operator: str, value: Nets, amount: Nets) -> Nets | None:
    """Turn a shift by a constant into a choice of bits."""
    if constant_of(value) == 0:
        return value
    places = constant_of(amount)
    if places is None:
        return None
    places = min(places, len(value))
    if operator == "<<":
        return (0,) * places + value[: len(value) - places]
    fill = value[-1] if operator == "s>>" else 0
    return value[places:] + (fill,) * places


def _fold_arithmetic(operator: str, a: Nets, b: Nets) -> Nets | None:
    values = constant_of(a), constant_of(b)
    if operator == "*":
        for value, other in zip(values, (b, a), strict=True):
            if value is not None and value & (value - 1) == 0:
                if value == 0:
                    return (0,) * len(a)
                places = value.bit_length() - 1
                return (0,) * places + other[: len(other) - places]
        return None
    if values[1] == 0:
        return a
    return b if values[0] == 0 and operator == "+" else None
