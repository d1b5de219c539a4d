"""What bounds the loops of a random program: facts on parameters, and limited expressions.

A fact is true, and the reader may use it, or it is none: it holds in one branch only, a `goto`
leads behind it, what it speaks of changes later.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random

from tests.oracles.random_control.values import INT, NARROW, Number, Scope, Type, Values, flip


@dataclass(frozen=True, slots=True)
class Limited(Number):
    """A number between limits.

    Members
    -------
    is_told: the reader can be expected to find them.
    """

    is_told: bool = True


class Limits:
    """Makes facts on parameters, and numbers that bound loops."""

    def __init__(self, random: Random, scope: Scope, values: Values) -> None:
        self._random = random
        self._scope = scope
        self._values = values
        self._known: list[Limited] = []

    # Facts.

    def fact(
        self, name: str, type_: Type, cap: int, leave: Callable[[], str], label: str | None
    ) -> str:
        """Return statements that say, or seem to say, that a parameter is `cap` at most.

        Parameters
        ----------
        leave: a statement that returns. label: one that stands further down.
        """
        random, pick = self._random, self._values.pick
        is_true = flip(random, 0.6)
        beyond = pick(f"{name} > {cap}", f"{name} >= {cap + 1}", f"{cap} < {name}")
        within = pick(f"{name} <= {cap}", f"{name} < {cap + 1}", f"{cap} >= {name}")
        other = self._values.condition(1, but=name)
        if not is_true:
            if flip(random, 0.3):
                self._scope.scalars.append(Number(name, type_, type_.low, type_.high))
            else:
                self.note(Limited(name, type_, type_.low, type_.high, False))
            traps = [
                f"if ({beyond} && {other}) {leave()}",
                f"if ({other}) {{ if ({beyond}) {leave()} }}",
                f"if ({beyond}) {{ {self._values.plain()} }}",
                f"if ({beyond}) {{ if ({other}) {leave()} }}",
                f"if ({beyond}) {leave()} {name} {pick('+=', '^=', '*=')} {random.randint(2, 9)};",
                f"if ({other}) {name} = {cap}; else {name} &= 31;",
                f"if ({beyond}) {name} = {cap}; if ({other}) {name} += 7;",
                f"do {{ if ({beyond}) break; {self._values.plain()} }} while (0);",
                f"for (int w = 0; w < 2; w++) if ({beyond}) break;",
                f"if ({within}) {{ {self._values.plain()} }} else {name} -= 100;",
            ]
            if label is not None:
                traps += [f"if ({beyond}) goto {label};"] * 3
            return random.choice(traps)
        low = random.choice([0, -2, 0]) if type_.is_signed else 0
        texts = [
            f"assert({within});",
            f"assert({within} && {name} >= {low});",
            f"assert({name} >= {low}); assert({within});",
            f"if ({beyond}) {leave()}",
            f"if ({beyond} || {name} < {low}) {leave()}",
            f"if ({name} < {low} || {beyond}) {{ {self._values.plain()} {leave()} }}",
            f"if ({beyond}) {name} = {random.randint(0, cap)};",
            f"if ({beyond}) {{ {name} = {cap}; }}",
        ]
        self._known.append(Limited(name, type_, type_.low, cap))
        self._scope.numbers.append(self._known[-1])
        return random.choice(texts)

    def note(self, number: Limited) -> None:
        """Note a variable that is limited; it is in scope until the block ends."""
        self._known.append(number)
        self._scope.numbers.append(number)

    # Numbers.

    def number(self, most: int) -> Limited:
        """Return a number that is `most` at most."""
        random = self._random
        found = self._plain(most)
        if flip(random, 0.25):
            by = random.randint(1, 3)
            sign = random.choice([1, -1, -1])
            if sign < 0 or found.high + by <= most:
                moved = f"{found.text} {'+' if sign > 0 else '-'} {by}"
                type_ = found.type if found.type.width_bits >= 32 else INT
                return Limited(moved, type_, found.low + sign * by, found.high + sign * by,
                               found.is_told and found.low + sign * by >= 0)  # fmt: skip
        return found

    def _plain(self, most: int) -> Limited:
        random, pick = self._random, self._values.pick
        known = [
            x for x in self._known if (x.high <= most or not x.is_told) and x in self._scope.numbers
        ]
        known += [
            Limited(c.text, c.type, c.low, c.high, True)
            for c in self._scope.counters
            if 0 < c.high <= most and c.low > -4
        ]
        if known and flip(random, 0.4):
            return random.choice(known)
        source = random.choice([*self._scope.scalars, *self._scope.numbers])
        text, type_ = source.text, source.type
        if flip(random, 0.3):
            text, type_ = self._values.read(), INT
        wide = type_ if type_.width_bits >= 32 else INT
        mask = (1 << (most + 1).bit_length() - 1) - 1
        match random.randrange(8):
            case 0 | 1:
                suffix = pick("", "", "u")
                kept = Type(wide.names, wide.width_bits, wide.is_signed and not suffix)
                return Limited(f"({text} & {mask}{suffix})", kept, 0, mask)
            case 2:
                low = 0 if type_ in NARROW and not type_.is_signed else -most
                return Limited(f"({text} % {most + 1})", wide, low, most, type_ is not INT)
            case 3:
                clamp = pick(f"({text} < {most} ? {text} : {most})",
                             f"({text} > {most} ? {most} : {text})")  # fmt: skip
                if type_.is_compared_unsigned or text.startswith("*") or "[" in text:
                    return Limited(str(most), INT, most, most)
                return Limited(clamp, wide, type_.low, most)
            case 4 if type_ in NARROW and not type_.is_signed and type_.width_bits == 8:
                shift = 8 - mask.bit_length()
                return Limited(f"({text} >> {shift})", INT, 0, mask)
            case 5 if type_ in NARROW and not type_.is_signed and type_.width_bits == 8:
                return Limited(f"({text} / {256 // (most + 1) + 1})", INT, 0, most)
            case 6:
                return Limited(self._values.leaf(), INT, -(1 << 31), (1 << 31) - 1, False)
        return Limited(f"{most}{pick('', '', '', 'u', 'L')}", INT, most, most)
