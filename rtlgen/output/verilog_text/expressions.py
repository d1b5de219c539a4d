"""Operators as Verilog expressions that mean the same in every bit.

In Verilog the width of `a + b` depends on what is around it, and so does if an operand is
extended by its sign. A `Text` therefore says where it holds:

- `exact`: its value is right in any unsigned context, of its own width or a wider one;
- neither: right in a context of its own width, as in a concatenation, or beside operands as wide;
- `rooted`: right only as the whole right-hand side of an assignment to something of its width: its
  operands are narrower than it and extended by Verilog, some of them by their sign.

Names are declared unsigned, and what is signed is written `$signed(...)`: no declaration changes
what an expression means.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from rtlgen.output.verilog_text.folding import signed_value
from rtlgen.output.verilog_text.netlist import Nets, constant_of

PRIMARY, UNARY, PRODUCT, SUM, SHIFT, RELATION, EQUALITY, AND, XOR, OR, CHOICE = range(12, 1, -1)
"""How tightly operators bind."""

_SYMBOLS = {
    "+": ("+", SUM),
    "-": ("-", SUM),
    "*": ("*", PRODUCT),
    "&": ("&", AND),
    "|": ("|", OR),
    "^": ("^", XOR),
    "<<": ("<<", SHIFT),
    "u>>": (">>", SHIFT),
    "s>>": (">>>", SHIFT),
    "==": ("==", EQUALITY),
    "!=": ("!=", EQUALITY),
    **{f"{sign}{symbol}": (symbol, RELATION) for sign in "us" for symbol in ("<", ">", "<=", ">=")},
}
_OPPOSITE = {" == ": " != ", " != ": " == "}
_DECIMAL_BITS = 32
"""A constant of more bits is written in hexadecimal digits."""


@dataclass(frozen=True, slots=True)
class Text:
    """An expression.

    Members
    -------
    binds: how tightly its outermost operator does. width: of its value. exact, rooted: see above.
    arms: of a choice, its conditions and values, the last one without a condition.
    terms: how many operators it has.
    """

    text: str
    binds: int
    width: int
    exact: bool = True
    rooted: bool = False
    arms: tuple[tuple[str, str], ...] = ()
    terms: int = 0

    def within(self, binds: int) -> str:
        """Return the text as an operand, in parentheses where the operator binds as tightly."""
        return self.text if self.binds > binds else f"({self.text})"


Operand: TypeAlias = Callable[[Nets], Text]
"""Returns the text of a value."""


def literal(value: int, width: int) -> Text:
    """Return an unsigned constant."""
    if width == 1:
        return Text(f"1'b{value}", PRIMARY, 1)
    if width > _DECIMAL_BITS:
        return Text(f"{width}'h{value:x}", PRIMARY, width)
    return Text(f"{width}'d{value}", PRIMARY, width)


def _signed_literal(value: int, width: int) -> str:
    return f"{width}'sd{value}"


def not_of(text: Text) -> Text:
    """Return the opposite of one bit."""
    for symbol, opposite in _OPPOSITE.items():
        if text.binds == EQUALITY and text.text.count(symbol) == 1 and "(" not in text.text:
            return replace(text, text=text.text.replace(symbol, opposite))
    if text.binds == UNARY and text.text.startswith("~") and text.text[1] not in "|&^":
        return Text(text.text[1:], PRIMARY, 1, terms=text.terms - 1)
    if text.binds == UNARY and text.text.startswith("|"):
        return Text(f"~{text.text}", UNARY, 1, terms=text.terms)
    return Text(f"~{text.within(UNARY)}", UNARY, 1, exact=False, terms=text.terms + 1)


def _alone(text: Text, width: int) -> Text:
    """Return an operand in a context of `width` bits, in which it must not be evaluated itself."""
    return text if text.exact or text.width == width else concatenation([text])


def concatenation(parts: Sequence[Text]) -> Text:
    """Return parts one beside the other, the highest first."""
    width = sum(part.width for part in parts)
    terms = sum(part.terms for part in parts)
    return Text(f"{{{', '.join(part.text for part in parts)}}}", PRIMARY, width, terms=terms)


def expression(operator: str, inputs: tuple[Nets, ...], width: int, operand: Operand) -> Text:
    """Return the text of an operator with `width` bits.

    Parameters
    ----------
    operand: returns the text of an operand, which is not `rooted`.
    """
    if operator == "m":
        return _choice(inputs, width, operand)
    if len(inputs) == 1:
        return _unary(operator, inputs[0], width, operand)
    if operator in ("&", "|", "^"):
        return _bitwise(operator, inputs, width, operand)
    if operator in ("<<", "u>>", "s>>"):
        return _shift(operator, inputs, width, operand)
    if operator in ("+", "-", "*"):
        return _arithmetic(operator, inputs, width, operand)
    return _comparison(operator, inputs, operand)


def _choice(inputs: tuple[Nets, ...], width: int, operand: Operand) -> Text:
    choice, yes, no = inputs
    condition, first, second = operand(choice), operand(yes), operand(no)
    wanted = condition.within(CHOICE), first.within(CHOICE)
    arms = (wanted, *(second.arms or (("", second.text),)))
    return Text(
        f"{wanted[0]} ? {wanted[1]} : {second.text}",
        CHOICE,
        width,
        exact=first.exact and second.exact,
        arms=arms,
        terms=condition.terms + first.terms + second.terms + 1,
    )


def _unary(operator: str, nets: Nets, width: int, operand: Operand) -> Text:
    if operator == "-":
        signed, (short,) = _extension((nets,))
        text = operand(short) if signed else _alone(operand(short), width)
        shown = f"$signed({text.text})" if signed else text.within(UNARY)
        rooted = signed or len(short) < width
        return Text(f"-{shown}", UNARY, width, exact=False, rooted=rooted, terms=text.terms + 1)
    text = operand(nets)
    if operator == "~":
        if width == 1:
            return not_of(text)
        return Text(f"~{text.within(UNARY)}", UNARY, width, exact=False, terms=text.terms + 1)
    if operator == "b":
        operator = "r|"
    return Text(f"{operator[1]}{text.within(UNARY)}", UNARY, 1, terms=text.terms + 1)


def _bitwise(operator: str, inputs: tuple[Nets, ...], width: int, operand: Operand) -> Text:
    symbol, binds = _SYMBOLS[operator]
    texts = [operand(nets) for nets in inputs]
    # Chains of one operator need no parentheses; all else in between gets them, for the reader.
    shown = [
        text.text if text.binds == binds else text.within(SHIFT if text.binds < UNARY else binds)
        for text in texts
    ]
    exact = all(text.exact for text in texts)
    terms = sum(text.terms for text in texts) + 1
    return Text(f" {symbol} ".join(shown), binds, width, exact=exact, terms=terms)


def _shift(operator: str, inputs: tuple[Nets, ...], width: int, operand: Operand) -> Text:
    value, amount = inputs
    symbol, binds = _SYMBOLS[operator]
    by = operand(amount)
    places = by.text if by.binds == PRIMARY else f"({by.text})"
    signed = operator == "s>>"
    if operator == "<<" and constant_of(value) is None:
        signed, (value,) = _extension((value,))
    text = operand(value) if signed else _alone(operand(value), width)
    shown = f"$signed({text.text})" if signed else text.within(binds)
    return Text(
        f"{shown} {symbol} {places}",
        binds,
        width,
        exact=operator == "u>>" and text.exact,
        rooted=signed or len(value) < width,
        terms=text.terms + by.terms + 1,
    )


def _extension(inputs: tuple[Nets, ...]) -> tuple[bool, tuple[Nets, ...]]:
    """Return the operands without the bits that Verilog's extension adds, and if it is by signs.

    Operands that are extended by their sign are left so wherever one of them can be shortened in no
    other way: synthesis tells by it how wide a multiplier is.
    """
    unsigned = tuple(map(_without_zeros, inputs))
    signed = tuple(map(_without_signs, inputs))
    constants = [constant_of(nets) is not None for nets in inputs]
    if any(constants) and len(inputs) > 1:
        other = constants.index(False)
        by_sign = len(signed[other]) < len(unsigned[other])
    else:
        by_sign = any(
            len(s) < len(nets) == len(u)
            for nets, s, u in zip(inputs, signed, unsigned, strict=True)
        )
    return by_sign, signed if by_sign else unsigned


def _without_zeros(nets: Nets) -> Nets:
    end = len(nets)
    while end > 1 and nets[end - 1] == 0:
        end -= 1
    return nets[:end]


def _without_signs(nets: Nets) -> Nets:
    end = len(nets)
    while end > 1 and nets[end - 1] == nets[end - 2]:
        end -= 1
    return nets[:end]


def _read_as(text: Text, signed: bool, width: int) -> Text:
    """Return an operand that Verilog extends to `width` by its sign, or by zeros."""
    if signed:
        return replace(text, text=f"$signed({text.text})", binds=PRIMARY)
    return _alone(text, width)


def _arithmetic(operator: str, inputs: tuple[Nets, ...], width: int, operand: Operand) -> Text:
    a, b = inputs
    symbol, binds = _SYMBOLS[operator]
    signed, short = _extension(inputs)
    if operator == "+" and constant_of(a) is not None:
        a, b, short = b, a, short[::-1]
    texts = []
    for nets, less in zip((a, b), short, strict=True):
        value = constant_of(nets)
        if value is None:
            text = _read_as(operand(less), signed, width)
        elif operator == "*":
            text = _factor(less, signed)
        else:
            if nets is b and value > 1 << (width - 1):
                # Modulo 2**width, what is added is less than nothing.
                symbol, value = "-" if operator == "+" else "+", (1 << width) - value
            shown = _signed_literal(value, width) if signed else literal(value, width).text
            text = Text(shown, PRIMARY, width)
        texts.append(text)
    # What Verilog would evaluate in fewer bits, or by another sign, has to be a right-hand side.
    rooted = signed or max(text.width for text in texts) < width
    left = texts[0].text if texts[0].binds == binds and operator == "+" else texts[0].within(binds)
    return Text(
        f"{left} {symbol} {texts[1].within(binds)}",
        binds,
        width,
        exact=False,
        rooted=rooted,
        terms=texts[0].terms + texts[1].terms + 1,
    )


def _factor(nets: Nets, signed: bool) -> Text:
    """Return a constant factor, in as few bits as it has: synthesis makes the multiplier of it."""
    value, width = sum(net << bit for bit, net in enumerate(nets)), len(nets)
    if not signed:
        return literal(value, width)
    number = signed_value(value, width)
    if number < 0:
        # The smallest number has no opposite in its own bits.
        return Text(f"-{_signed_literal(-number, width + 1)}", UNARY, width + 1)
    return Text(_signed_literal(number, width), PRIMARY, width)


def _comparison(operator: str, inputs: tuple[Nets, ...], operand: Operand) -> Text:
    symbol, binds = _SYMBOLS[operator]
    if operator[0] == "s":
        signed, short = True, tuple(map(_without_signs, inputs))
    elif operator[0] == "u":
        signed, short = False, tuple(map(_without_zeros, inputs))
    else:
        signed, short = _extension(inputs)
        if constant_of(inputs[0]) is not None:
            short = short[::-1]
    width = max(map(len, short))
    texts = []
    for nets in short:
        value = constant_of(nets)
        if value is None:
            text = _read_as(operand(nets), signed, width)
            texts.append(text)
        elif signed:
            number = signed_value(value, len(nets))
            sign = "-" if number < 0 else ""
            texts.append(Text(sign + _signed_literal(abs(number), width), UNARY, width))
        else:
            texts.append(literal(value, width))
    shown = [text.within(SHIFT if text.binds < SHIFT else binds) for text in texts]
    return Text(f" {symbol} ".join(shown), binds, 1, terms=sum(text.terms for text in texts) + 1)
