"""Loops of a random program: by a counter, by one that wraps, by pointers, and by data.

Each ends: one of its conditions is about a counter that every iteration steps. The others may be
anything, in any order, and some of them change something.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from random import Random

from tests.oracles.random_control.limits import Limits
from tests.oracles.random_control.values import (
    BYTES,
    INT,
    TYPES,
    UNSIGNED,
    Array,
    Number,
    Scope,
    Type,
    Values,
    flip,
)


@dataclass(frozen=True, slots=True)
class Where:
    """Where a statement stands.

    Members
    -------
    before_continue: what has to be done before a `continue`; None: there must be none.
    is_light: it is carried out often, and holds no loops.
    """

    depth: int = 1
    in_loop: bool = False
    in_switch: bool = False
    before_continue: str | None = None
    calls: bool = False
    is_light: bool = False


@dataclass(slots=True)
class Draft:
    """A loop.

    Members
    -------
    sure: the conditions that end it. others: more of them.
    step: what each iteration does to what it counts. asks_step: a condition that does it.
    inside: what the body knows of the counter.
    """

    name: str
    declared: str
    start: str
    sure: list[str]
    step: str
    inside: list[Number] = field(default_factory=list)
    asks_step: str | None = None
    others: list[str] = field(default_factory=list)
    after: str = ""
    is_light: bool = False
    points_to: Array | None = None


class Loops:
    """Makes loops around bodies.

    Parameters
    ----------
    body: makes the statements of one.
    """

    def __init__(
        self,
        random: Random,
        scope: Scope,
        values: Values,
        limits: Limits,
        body: Callable[[Where], str],
        leave: Callable[[Where], str],
    ) -> None:
        self._random = random
        self._scope = scope
        self._values = values
        self._limits = limits
        self._body = body
        self._leave = leave
        self._made = 0

    def loop(self, where: Where) -> str:
        """Return a loop of any kind."""
        kind = self._random.random()
        if kind < 0.52:
            return self._written(self._counting(where), where)
        if kind < 0.66:
            return self._written(self._wrapping(where), where)
        if kind < 0.78:
            return self._written(self._walking(where), where)
        if kind < 0.86:
            return self._ranked(where)
        if kind < 0.94:
            return self._emptied(where)
        return self._stated(where)

    def _fresh(self, name: str) -> str:
        self._made += 1
        return f"{name}{self._made}"

    def _most(self, where: Where) -> int:
        return self._random.randint(2, (10, 6, 4)[min(where.depth, 3) - 1])

    # By a counter.

    def _counting(self, where: Where) -> Draft:
        random, pick = self._random, self._values.pick
        type_ = random.choice([*TYPES, INT, INT])
        k, most = self._fresh("k"), self._most(where)
        step = 1 if flip(random, 0.75) else random.randint(2, 3)
        declared = self._values.type_name(type_)
        if flip(random, 0.7):
            low = random.choice([0, 0, 0, 1, 2, *([-1, -3] if type_.is_signed else [])])
            start, high = str(low), low
            if flip(random, 0.12):
                number = self._limits.number(3)
                if number.is_told and (number.low >= 0 or type_.is_signed):
                    start, low, high = number.text, number.low, number.high
            top = max(high + most * step, 2)
            end = self._limits.number(top)
            if flip(random, 0.12) and where.depth == 1:
                narrow = [n for n in self._scope.numbers if n.type in BYTES]
                if narrow and type_.high > 300:
                    end = replace(end, text=random.choice(narrow).text, high=255)
            if flip(random, 0.1) and where.depth == 1 and type_.high > 40:
                # Beyond arrays: what they bound is bounded by nothing else.
                end = replace(
                    end, text=f"({random.choice(self._scope.numbers).text} & 31)", high=31
                )
            sure = [self._compared(k, pick("<", "<", "<", "<="), end.text)]
            if not end.is_told or end.high + step > type_.high or flip(random, 0.3):
                sure.append(f"{k} {pick('<', '<=')} {top}")
            elif step == 1 and end.low >= high and end.text[0] in "(0123" and flip(random, 0.3):
                sure = [f"{k} != {end.text}"]
            ways = [f"{k}++", f"++{k}", f"{k} += 1", f"{k} = {k} + 1"]
            steps = ways if step == 1 else [f"{k} += {step}", f"{k} = {k} + {step}"]
            if flip(random, 0.12):
                # Something changes between a wide bound and a narrow one.
                sure = [f"{k} < {top + random.randint(1, 3)}", self._values.effect(), sure[-1]]
            asks = None
            if step == 1:
                asks = pick(f"{k}++ < {top}", f"++{k} < {top}", f"++{k} != {top + 1}")
            draft = Draft(k, declared, start, sure, pick(*steps), asks_step=asks)
            draft.inside = [Number(k, type_, low, max(end.high, low))]
            draft.is_light = end.high > 40
        else:
            low = random.choice([0, 0, 0, 1, 2])
            first = self._limits.number(low + most * step)
            start = first.text if first.is_told else str(low + most)
            high = first.high if first.is_told else low + most
            end_text = str(low)
            tests = [f"{k} > {end_text}", f"{end_text} < {k}"]
            if type_.is_signed or low > 0:
                tests.append(f"{k} >= {low}")
            if step == 1 and first.is_told and first.low >= low and type_.high > high:
                tests += [f"{k} != {low}"] + ([k] if low == 0 else [])
            steps = [f"{k}--", f"--{k}", f"{k} -= 1"] if step == 1 else [f"{k} -= {step}"]
            asks = pick(f"{k}-- > {low}", f"--{k} > {low}") if step == 1 else None
            sure = [random.choice(tests)]
            if flip(random, 0.1):
                sure.append(f"{k} > {self._limits.number(3).text}")
            if not type_.is_signed and (step > 1 or first.low < low):
                sure = [f"{k} > {low + step - 1}", f"{k} < {high + 1}"]
            draft = Draft(k, declared, start, sure, pick(*steps), asks_step=asks)
            draft.inside = [Number(k, type_, low, high)]
        draft.others = self._others(k, type_)
        return draft

    def _compared(self, left: str, relation: str, right: str) -> str:
        """Return a comparison, or its mirror image."""
        mirrored = {"<": ">", "<=": ">=", ">": "<", ">=": "<="}
        if flip(self._random, 0.15):
            return f"{right} {mirrored[relation]} {left}"
        return f"{left} {relation} {right}"

    def _others(self, k: str, type_: Type) -> list[str]:
        """Return more conditions, which hold or not."""
        random, values = self._random, self._values
        found: list[str] = []
        if flip(random, 0.25):
            found.append(values.condition(1))
        if flip(random, 0.18):
            found.append(values.effect())
        if flip(random, 0.35):
            other = values.leaf(k)
            found.append(
                values.pick(
                    f"({k} & 3) < ({other} & 7)", f"({k} & 3) <= {random.randint(0, 3)}",
                    f"({k} ^ 2) < ({other} & 15)", f"{k} % 4 < ({other} & 3)",
                    f"({k} & 3) != ({other} & 3)",
                    f"({k} >> 1) != {random.randint(1, 6)}", f"{k} / 2 < ({other} & 7)",
                    f"({k} ^ 1) < {random.randint(4, 12)}", f"{k} - 2 < {random.randint(1, 9)}",
                    f"{k} != {other}", f"{k} < {other}", f"{k} + 1 != {random.randint(2, 9)}",
                    f"{k} * 2 < {random.randint(4, 19)}", f"{k} < {self._limits.number(9).text}",
                    f"{k} % 5 != 4", f"{random.randint(3, 9)} - {k} > 0",
                    f"{k} < {self._limits.number(9).text} - 1", f"-{k} > {random.randint(-9, 0)}",
                    f"({values.type_name(random.choice(TYPES))}){k} < {random.randint(3, 9)}",
                )
            )  # fmt: skip
        return found

    def _wrapping(self, where: Where) -> Draft:
        """Return a loop of constants that ends, whichever way its counter comes there."""
        random, pick = self._random, self._values.pick
        k = self._fresh("k")
        while True:
            type_ = random.choice([*BYTES, *BYTES, *TYPES[2:4], UNSIGNED, TYPES[7]])
            near = random.choice([0, type_.high, type_.low, type_.high + 1])
            start = near + random.randint(-6, 6)
            if flip(random, 0.15):
                start = random.choice([300, -200, 70000, 5])
            end = random.choice([0, type_.high, type_.low, start]) + random.randint(-8, 8)
            by, relation = random.choice([1, 1, -1, -1, 2, -3, 5]), pick("<", "<=", ">", ">=", "!=")
            moved = random.choice([0, 0, 0, 1, -2, 3])
            if not -(1 << 31) <= start < 1 << 31 or not -(1 << 31) < end < 1 << 31:
                continue
            most = 40 if where.depth == 1 else 8
            trips = _trips(type_, start, end, by, relation, moved, most)
            if trips is not None and trips > 0:
                break
        asked = k if not moved else f"{k} {'+' if moved > 0 else '-'} {abs(moved)}"
        step = f"{k} += {by}" if by > 0 else f"{k} -= {-by}"
        if abs(by) == 1:
            step = pick(f"{k}{'++' if by > 0 else '--'}", f"{'++' if by > 0 else '--'}{k}")
        draft = Draft(
            k, self._values.type_name(type_), str(start), [f"{asked} {relation} {end}"], step
        )
        values = [type_.wrapped(start + n * by) for n in range(trips + 1)]
        draft.inside = [Number(k, type_, min(values), max(values))]
        draft.is_light = trips > 12
        if flip(random, 0.3):
            draft.others = self._others(k, type_)
        return draft

    # By a pointer.

    def _walking(self, where: Where) -> Draft:
        random, pick = self._random, self._values.pick
        arrays = [array for array in self._scope.arrays if not array.member and array.extent > 3]
        array = random.choice(arrays)
        p, most = self._fresh("p"), min(self._most(where), array.extent - 2)
        first = random.randint(0, array.extent - 1 - most)
        const = "" if array.is_writable else "const "
        declared = f"{const}{array.type.names[0]} *"
        begin, end = f"{array.name} + {first}", f"{array.name} + {first + most}"
        if first == 0 and flip(random, 0.5):
            begin = array.name
        if flip(random, 0.3):
            begin, end = f"&{array.name}[{first}]", f"&{array.name}[{first + most}]"
        if flip(random, 0.75):
            sure = [pick(f"{p} < {end}", f"{p} != {end}", f"{end} > {p}")]
            draft = Draft(p, declared, begin, sure, pick(f"{p}++", f"++{p}", f"{p} += 1"))
        else:
            last = f"{array.name} + {first + most - 1}"
            sure = [pick(f"{p} > {begin}", f"{p} != {begin}")]
            draft = Draft(p, declared, last, sure, pick(f"{p}--", f"--{p}", f"{p} -= 1"))
        if flip(random, 0.4):
            draft.others = [
                pick(f"*{p} != {self._values.constant()}", f"*{p}", f"*{p} & 3",
                     f"*{p} < {self._values.leaf()}", f"(*{p} >> 1) != 3")
            ]  # fmt: skip
        if flip(random, 0.15):
            draft.others.append(self._values.effect())
        draft.points_to = array
        draft.after = f"s ^= (int)({p} - {array.name});"
        return draft

    # What is written.

    def _written(self, draft: Draft, where: Where) -> str:
        with self._scope.inner():
            return self._of_form(draft, where)

    def _of_form(self, draft: Draft, where: Where) -> str:
        random, pick = self._random, self._values.pick
        k, step = draft.name, draft.step
        scope = self._scope
        if draft.points_to is not None:
            scope.pointers.append((k, draft.points_to.type))
            scope.written_pointers += [k] if draft.points_to.is_writable else []
        form = pick("for", "for", "for", "for out", "while", "while", "do", "forever", "forever")
        asked = [*draft.sure, *draft.others]
        place = "header" if form in ("for", "for out") else "end"
        chosen = random.random()
        if chosen < 0.2 and draft.asks_step is not None:
            place = "question"
            asked.insert(random.randrange(len(asked) + 1), draft.asks_step)
        elif chosen < 0.3 and draft.inside:
            place = "start"
        elif chosen < 0.4 and form != "for":
            place = "arms"
        if flip(random, 0.4):
            random.shuffle(asked)
        scope.counters += [
            replace(n, low=n.low - 4, high=n.high + 4) if place in ("question", "start") else n
            for n in draft.inside
        ]
        before_continue = {"header": "", "question": "", "start": "", "end": None}.get(
            place, f"{step};"
        )
        if form == "do" and place == "end":
            before_continue = None
        inner = Where(
            where.depth + 1, True, False, before_continue, where.calls and not draft.is_light,
            where.is_light or draft.is_light,
        )  # fmt: skip
        body = self._body(inner)
        if place == "start":
            body = f"{step};\n{body}"
        elif place == "arms":
            more = self._values.plain()
            arm = f"if ({self._values.condition()}) {{ {more} {step}; continue; }}"
            body = f"{arm}\n{body}{step};\n"
        elif place == "end":
            body = f"{body}{step};\n"
        condition = " && ".join(asked)
        header = step if place == "header" else ""
        is_declared = form == "for"
        text = f"{draft.declared} {k} = {draft.start};\n"
        match form:
            case "for":
                start = f"{draft.declared} {k} = {draft.start}"
                text = f"for ({start}; {condition}; {header}) {{\n{body}}}"
            case "for out":
                if flip(random, 0.5):
                    text = f"{draft.declared} {k};\n"
                    start = f"{k} = {draft.start}"
                else:
                    start = ""
                text += f"for ({start}; {condition}; {header}) {{\n{body}}}"
            case "while":
                text += f"while ({condition}) {{\n{body}}}"
            case "do":
                text += f"do {{\n{body}}} while ({condition});"
            case _:
                text += self._forever(asked, body, where)
        if not is_declared and flip(random, 0.6):
            ending = draft.after or pick(f"s += {k};", f"t ^= {k};", f"s = s * 3 + (int){k};")
            text += f"\n{ending}"
        return text

    def _forever(self, asked: list[str], body: str, where: Where) -> str:
        """Return a loop that its questions leave, wherever they stand."""
        random, values = self._random, self._values
        lines = []
        for question in asked:
            out = "break;"
            if flip(random, 0.2):
                out = f"{{ {values.plain()} break; }}"
            elif flip(random, 0.1):
                out = self._leave(where)
            lines.append(f"if (!({question})) {out}")
            if flip(random, 0.15):
                lines.append(values.plain())
        head = values.pick("for (;;)", "while (1)", "for (;;)")
        return "\n".join([f"{head} {{", *lines, body.rstrip(), "}"])

    # By data.

    def _ranked(self, where: Where) -> str:
        """Return a loop in which one counter or the other is stepped, as data says."""
        random, values = self._random, self._values
        up, down = self._fresh("i"), self._fresh("j")
        types = [random.choice([INT, INT, *TYPES]) for _ in range(2)]
        most = self._most(where)
        low = random.choice([0, 0, 1]) if types[1].is_signed else 1
        end = self._limits.number(most)
        sure = [f"{up} < {end.text}", f"{down} {values.pick('>', '>=')} {low}"]
        if not end.is_told:
            sure[0] = f"{up} < {most}"
        if flip(random, 0.3):
            sure.append(values.pick(values.condition(1), values.effect(), values.effect()))
        random.shuffle(sure)
        step = values.pick(f"{up}++;", f"{up} += 1 + (s & 1);", f"{up} += 2;")
        lines = [
            f"{values.type_name(types[0])} {up} = {random.choice([0, 0, 1])};",
            f"{values.type_name(types[1])} {down} = {random.randint(1, most)};",
            f"while ({' && '.join(sure)}) {{",
        ]
        with self._scope.inner():
            self._scope.numbers += [
                Number(up, types[0], 0, most + 2), Number(down, types[1], 0, most)
            ]  # fmt: skip
            lines.append(
                self._body(Where(where.depth + 1, True, False, f"{down}--;", where.calls)).rstrip()
            )
            question = values.condition(1)
        if flip(random, 0.3):
            lines.append(f"if ({question}) {{ {down}--; continue; }} {step}")
        else:
            lines.append(f"if ({question}) {down}--; else {step}")
        return "\n".join([*lines, "}", f"s += {up} * 16 + {down};"])

    def _emptied(self, where: Where) -> str:
        """Return a loop that goes on while a word is not empty."""
        random, values = self._random, self._values
        x, n = self._fresh("x"), self._fresh("n")
        type_ = random.choice([*TYPES[:6], *BYTES])
        step = values.pick(f"{x} >>= {random.randint(1, 3)}", f"{x} /= {random.randint(2, 10)}",
                           f"{x} = {x} >> 1", f"{x} &= {x} - 1")  # fmt: skip
        question = values.pick(x, f"{x} != 0", f"{x} > 0", f"{x} > 1")
        if type_.is_signed and ">>" in step:
            question = f"{x} > 0"
        if question.endswith("> 1") and "&" in step and not type_.is_signed:
            question = f"{x}"
        start = f"{values.type_name(type_)} {x} = {values.leaf()};\nint {n} = 0;\n"
        inside = Where(where.depth + 1, True, False, None, False, True)
        kind = random.randrange(5)
        more = (
            f" && {values.pick(values.effect(), values.condition(1))}" if flip(random, 0.2) else ""
        )
        with self._scope.inner():
            self._scope.numbers.append(Number(x, type_, type_.low, type_.high))
            if kind == 0:
                body = self._body(replace(inside, before_continue=""))
                text = f"for (; {question}{more}; {step}) {{\n{n}++;\n{body}}}"
            elif kind == 1:
                text = f"while ({question}{more}) {{\n{n}++;\n{self._body(inside)}{step};\n}}"
            elif kind == 2:
                text = f"do {{\n{n}++;\n{self._body(inside)}{step};\n}} while ({question}{more});"
            else:
                # The question is passed over now and then, and a counter ends the loop.
                most = str(self._random.randint(20, 45))
                if flip(random, 0.3):
                    most = f"({self._values.leaf()} & 63)"
                passed = values.pick(f"{n} < {random.randint(2, 40)} && {values.leaf()} != 9",
                                     values.condition(1))  # fmt: skip
                text = (
                    f"for (;; {step}) {{\n{n}++;\nif ({n} > {most}) break;\n"
                    f"if ({passed}) continue;\nif (!({question})) break;\n{values.plain()}\n}}"
                )
        return f"{start}{text}\ns = s * 5 + {n};"

    def _stated(self, where: Where) -> str:
        """Return a loop whose bound is stated."""
        random, values = self._random, self._values
        k, most = self._fresh("k"), self._most(where)
        type_ = random.choice(TYPES)
        declared = values.type_name(type_)
        inner = Where(where.depth + 1, True, False, "", where.calls)
        mask = (1 << most.bit_length()) - 1
        other = values.condition(1)
        match random.randrange(4):
            case 0:
                start, question = f"{values.leaf()} & {mask}", f"{k}--"
                most, first = mask, ""
            case 1:
                start, question = f"{values.leaf()} & {mask}", f"{k}-- > 0 && {other}"
                most, first = mask, ""
            case 2:
                start, question = "0", f"{k}++ < {most}"
                first = ""
            case _:
                start, question = "0", f"{k} < {most} && {other}"
                first = f"{k} += 1 + (s & 1);\n"
        body = self._body(inner)
        return (
            f"{declared} {k} = {start};\n#pragma rtlgen bound {most}\n"
            f"while ({question}) {{\n{first}{body}}}\nt += {k};"
        )


def _trips(
    type_: Type, start: int, end: int, by: int, relation: str, moved: int, most: int
) -> int | None:
    """Return the iterations of `for (T k = start; k + moved relation end; k += by)`."""
    value = type_.wrapped(start)
    wide = type_ if type_.width_bits >= 32 else INT
    for trip in range(most + 1):
        here = wide.wrapped(value + moved)
        there = end if wide.is_signed else wide.wrapped(end)
        goes_on = {"<": here < there, "<=": here <= there, ">": here > there,
                   ">=": here >= there, "!=": here != there}[relation]  # fmt: skip
        if not goes_on:
            return trip
        value = type_.wrapped(value + by)
    return None


def record_arrays(name: str, extent: int, members: list[tuple[str, Type]]) -> list[Array]:
    """Return the arrays that the members of an array of structures are."""
    return [Array(name, type_, extent, True, f".{member}") for member, type_ in members]
