"""Programs of few variables that every statement may use: what counts a loop counts others, too.

A counter is carried by an outer loop, starts from what another one is, is copied before it steps,
wraps, is a member of a structure or static, and is stepped in a condition. Nothing is known of
when a loop ends: a program that takes too many turns, or leaves its arrays, has no meaning, and a
compiled one says so (`OUT_OF_TURNS`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from random import Random

from tests.oracles.random_control.values import (
    BYTES,
    INT,
    NARROW,
    TYPES,
    Array,
    Number,
    Scope,
    Type,
    Values,
    flip,
)

OUT_OF_TURNS = "-DTURN=if (++turns > 4000) __builtin_abort()"
"""What a compiler is told, so that every program ends."""

_HEAD = """#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#ifdef TURN
static int turns;
#else
#define TURN
#endif
"""
_MOST_DEPTH = 3


@dataclass(frozen=True, slots=True)
class _Where:
    """Where a statement stands.

    Members
    -------
    continues: what has to be done before a `continue`; None: there must be none.
    fixed: counters of loops around, which little but their loops should change.
    """

    depth: int = 1
    breaks: bool = False
    continues: str | None = None
    fixed: tuple[str, ...] = ()
    returns: bool = True

    def inner(self) -> _Where:
        return replace(self, depth=self.depth + 1)


@dataclass(slots=True)
class Reuse:
    """Makes one program.

    Members
    -------
    ranges: of its parameters, which it fills in.
    touched: what loops have set or counted, the last of which are taken up again.
    private: variables that little but loops use.
    """

    random: Random
    ranges: dict[str, tuple[int, int]]
    has_floats: bool
    left: int = 0
    made: int = 0
    labels: list[str] = field(default_factory=list)
    variables: list[Number] = field(default_factory=list)
    arrays: list[Array] = field(default_factory=list)
    helpers: list[str] = field(default_factory=list)
    moving: list[tuple[str, Array]] = field(default_factory=list)
    touched: list[Number] = field(default_factory=list)
    private: frozenset[str] = frozenset()

    def text(self) -> str:
        random = self.random
        self.left = random.choice([2, 3, 4, 5, 7])
        a = Array("a", random.choice([INT, *TYPES[:6]]), random.choice([8, 16, 16]), False)
        b = Array("b", random.choice(TYPES), random.choice([8, 16]))
        self.arrays = [a, b]
        outer, own = self._declarations()
        parameters = [f"const {a.type.names[0]} a[{a.extent}]", f"{b.type.names[0]} b[{b.extent}]"]
        type_ = random.choice([INT, INT, *NARROW])
        parameters += [f"{self._name(type_)} n"]
        self.ranges["n"] = random.choice([0, 0, max(type_.low, -3)]), random.randint(4, 12)
        self.variables.append(Number("n", type_, type_.low, type_.high))
        if flip(random, 0.25):
            where = random.choice([0, 0, random.randrange(4)])
            own.append(f"const {a.type.names[0]} *p = a + {where};")
            self.moving.append(("p", a))
        functions = self._functions()
        self.private = frozenset(x.text for x in self.variables[:-1] if flip(random, 0.6))
        body = self._block(_Where(), random.randint(1, 3))
        # What is returned is used behind each loop: of the others, only loops see what is left.
        seen = [x for x in self.variables if x.text not in self.private and flip(random, 0.6)]
        returned = " + ".join(f"{x.text} * {3**k}" for k, x in enumerate(seen)) or "b[0]"
        if self.moving and flip(random, 0.5):
            returned += " + (int)(p - a)"
        return f"{_HEAD}{outer}{functions}int f({', '.join(parameters)}) {{\n" + "\n".join(
            [*own, body.rstrip(), f"return {returned};", "}", ""]
        )

    def _name(self, type_: Type) -> str:
        return self.random.choice(type_.names)

    def _declarations(self) -> tuple[str, list[str]]:
        """Return what stands before the function, and what it declares, and note both."""
        random = self.random
        outer, own = "", []
        names = random.sample(["c", "d", "k", "t", "i", "j"], random.choice([2, 2, 3, 3]))
        for name in names:
            type_ = random.choice([INT, INT, INT, *TYPES, *NARROW])
            start = random.choice([0, 0, 0, random.randint(-3, 9)])
            kind = random.random()
            if kind < 0.07:
                outer += f"static {self._name(type_)} {name} = {start};\n"
            elif kind < 0.12:
                own.append(f"static {self._name(type_)} {name} = {start};")
            else:
                own.append(f"{self._name(type_)} {name} = {start};")
            self.variables.append(Number(name, type_, type_.low, type_.high))
        if flip(random, 0.25):
            bits, type_ = random.randint(3, 6), random.choice([INT, *BYTES])
            member = f"unsigned y : {bits};"
            members = f"struct {{ {type_.names[0]} x; {member} }}"
            own.append(f"{members} w = {{ {random.randint(0, 3)} }};")
            field_type = Type(("unsigned",), bits, False)
            self.variables.append(Number("w.x", type_, type_.low, type_.high))
            self.variables.append(Number("w.y", field_type, 0, field_type.high))
        return outer, own

    # Functions that are called.

    def _functions(self) -> str:
        random, text = self.random, ""
        if flip(random, 0.3):
            text += self._early()
            self.helpers.append("h({}, {})")
        whole = [x for x in self.variables if x.type is INT and "." not in x.text]
        if whole and flip(random, 0.2):
            most, by = random.randint(2, 7), random.choice([1, 1, 2, -1])
            question = "*q < 0" if by < 0 else f"*q > {most}"
            answer = random.choice(["1", "*q", f"*q < {most}"])
            text += (
                f"static int step(int *q) {{\nif ({question}) return 0;\n*q += {by};\n"
                f"return {answer};\n}}\n"
            )
            self.helpers.append(f"step(&{random.choice(whole).text})")
        return text

    def _early(self) -> str:
        """Return a function that returns early, out of a loop or not."""
        random = self.random
        types = [random.choice([INT, INT, *NARROW]) for _ in range(3)]
        scope = Scope(
            numbers=[Number(n, t, t.low, t.high) for n, t in zip("xy", types, strict=False)],
            scalars=[Number(n, t, t.low, t.high) for n, t in zip("xy", types, strict=False)],
            arrays=[Array("table", INT, 8, False)],
        )
        values = Values(random, scope, has_floats=False)
        lines = [f"if ({values.condition(1)}) return {values.leaf()};"]
        if flip(random, 0.5):
            most = random.randint(2, 5)
            head = values.pick(
                f"for (int z = 0; z < {most}; z++)", "for (int z = 0; z < (y & 3); z++)",
                f"for (; x < {most}; x++)", "while (y-- > 0 && y < 9)",
            )  # fmt: skip
            inner = values.pick("x ^= y;", "y += x & 1;", "", values.plain())
            lines.append(
                f"{head} {{\nTURN;\nif ({values.condition(1)}) return {values.leaf()};\n{inner}\n}}"
            )
        if flip(random, 0.4):
            lines.append(values.plain())
        lines.append(f"return {values.value(1)};")
        x, y, returned = map(self._name, types)
        head = f"static {returned} h({x} x, {y} y)"
        table = "static const int table[8] = {3, 1, 4, 1, 5, 9, 2, 6};\n"
        return table + "\n".join([f"{head} {{", *lines, "}", ""])

    # Values.

    def _values(self, where: _Where) -> Values:
        """Return what makes expressions and statements there."""
        random = self.random
        is_loose = flip(random, 0.15)
        known = [x for x in self.variables if x.text not in self.private]
        free = [x for x in known if is_loose or x.text not in where.fixed]
        others = [replace(x, low=0, high=99) for x in self.variables if x.text in where.fixed]
        scope = Scope(scalars=free or known, counters=others, numbers=[], arrays=list(self.arrays))
        scope.pointers += [(name, array.type) for name, array in self.moving if flip(random, 0.3)]
        return Values(random, scope, has_floats=self.has_floats and flip(random, 0.3))

    def _free(self, where: _Where) -> Number:
        """Return a variable that may be changed."""
        free = [x for x in self.variables if x.text not in where.fixed]
        again = [x for x in self.touched[-3:] if x in free]
        if again and flip(self.random, 0.4):
            return self.random.choice(again)
        return self.random.choice(self.variables if not free or flip(self.random, 0.1) else free)

    def _condition(self, where: _Where) -> str:
        random, values = self.random, self._values(where)
        kind = random.random()
        if kind < 0.15 and self.helpers:
            call = random.choice(self.helpers).format(values.leaf(), values.leaf())
            return values.pick(call, f"{call} < {values.constant()}", f"{call} > 2",
                               f"{values.condition(0)} && {call}")  # fmt: skip
        if kind < 0.22:
            v = self._free(where).text
            return values.pick(
                f"{v}++ < {random.randint(2, 9)}", f"--{v} > {random.randint(-3, 3)}",
                f"({v} = {values.read(v)}) != {random.randint(0, 3)}",
                f"({v} = {values.leaf(v)}, {values.condition(1, v)})",
                f"{values.condition(1, v)} && {v}++ < {random.randint(2, 9)}",
                f"{values.condition(1, v)} || {v}-- > {random.randint(-3, 3)}",
            )  # fmt: skip
        return values.condition(1 if flip(random, 0.7) else 2)

    # Statements.

    def _block(self, where: _Where, count: int) -> str:
        random = self.random
        label = None
        if where.depth <= 2 and flip(random, 0.3):
            self.made += 1
            label = f"out{self.made}"
            self.labels.append(label)
        lines = []
        for _ in range(count):
            self.left -= 1
            lines.append(self._statement(where))
        if label is not None:
            self.labels.remove(label)
            lines.append(f"{label}: {self._plain(where)}")
        return "".join(line + "\n" for line in lines)

    def _plain(self, where: _Where) -> str:
        """Return a statement that sets something."""
        random, values = self.random, self._values(where)
        known = [x for x in self.variables if x.text in where.fixed or x.text not in self.private]
        v, x = self._free(where).text, random.choice(known).text
        kind = random.random()
        if kind < 0.12:
            return f"{v} = {x};"
        if kind < 0.2:
            return f"{v} {random.choice(['=', '+=', '='])} {random.randint(0, 6)};"
        if kind < 0.26:
            return random.choice([f"{v}++;", f"{v}--;", f"{v} += 2;", f"{v} &= 7;"])
        if kind < 0.44:
            b = self.arrays[1]
            return random.choice(
                [f"b[{v}++ & {b.extent - 1}] = {values.leaf(v)};"] * 2
                + [f"b[{v} & 7] += {v};",
                 f"{x} += a[{v}--  & 7];" if x != v else f"{v} += a[{v} & 7];"]
            )  # fmt: skip
        if kind < 0.48 and x != v:
            w = self._free(where).text
            if w not in (v, x):
                return f"{x} = {values.condition(0)} ? a[{v}++ & 7] : b[{w}-- & 7];"
        if kind < 0.54 and self.moving:
            p = self.moving[0][0]
            return random.choice(
                [f"{v} = *{p};", f"{p} = a;", f"{p} = a + ({x} & 7);", f"{p} = a + 2;"]
            )
        if kind < 0.58 and self.helpers:
            call = random.choice(self.helpers).format(values.leaf(), values.leaf())
            return f"{v} = {call};" if v not in call else f"{call};"
        return values.plain()

    def _statement(self, where: _Where) -> str:
        random = self.random
        kind = random.random()
        is_small = where.depth > _MOST_DEPTH or self.left < 0
        if where.depth == 1 and not is_small and flip(random, 0.6):
            return self._loop(where)
        if kind < 0.3 or (is_small and kind > 0.55):
            return self._plain(where)
        if kind < 0.42:
            before = self._plain(where) if flip(random, 0.3) else ""
            jump = self._jump(where)
            text = f"if ({self._condition(where)}) {{ {before} {jump} }}"
            if flip(random, 0.3):
                # What is set in one arm is all that a loop behind it knows.
                text = f"if ({self._condition(where)}) {self._plain(where)} else {text}"
            return text
        if kind < 0.48:
            return self._fact(where)
        if kind < 0.55:
            other = f" else {{ {self._plain(where)} }}" if flip(random, 0.4) else ""
            return f"if ({self._condition(where)}) {{ {self._plain(where)} }}{other}"
        if kind < 0.62:
            text = f"if ({self._condition(where)}) {{\n{self._block(where.inner(), 2)}}}"
            if flip(random, 0.5):
                text += f" else {{\n{self._block(where.inner(), 1)}}}"
            return text
        if kind < 0.7:
            return self._switch(where)
        return self._loop(where)

    def _jump(self, where: _Where) -> str:
        jumps = [f"goto {label};" for label in self.labels]
        jumps += ["break;"] * 3 if where.breaks else []
        again = f"{{ {where.continues} continue; }}" if where.continues else "continue;"
        jumps += [again] * 3 if where.continues is not None else []
        if not jumps or flip(self.random, 0.1):
            return f"return {self._values(where).leaf()};"
        return self.random.choice(jumps)

    def _fact(self, where: _Where) -> str:
        """Return statements that tell something of a variable, use it, and change it."""
        random, values = self.random, self._values(where)
        x, d = random.choice(self.variables).text, self._free(where).text
        most = min(array.extent for array in self.arrays) - 1
        copied = f"{d} = {x};" if d != x else ""
        used = random.choice([f"{d} += a[{x}];", f"b[{x}] ^= {values.leaf()};",
                              f"b[{x}] = a[{d}];", f"{d} = b[{d}];"])  # fmt: skip
        changed = random.choice([f"{x}++;", f"{x} = {values.leaf()};", "", ""])
        told = random.choice(
            [f"if ({x} < 0 || {x} > {most}) {self._jump(where)}",
             f"if ({d} < 0 || {d} > {most}) {self._jump(where)}",
             f"assert({x} >= 0 && {x} <= {most});",
             f"if ({x} > {most}) {x} = {most}; if ({x} < 0) {self._jump(where)}"]
        )  # fmt: skip
        lines = [told, changed, used] if flip(random, 0.25) else [told, used, changed]
        if flip(random, 0.5):
            lines.insert(random.randrange(2), copied)
        return "\n".join(line for line in lines if line)

    def _switch(self, where: _Where) -> str:
        random, values = self.random, self._values(where)
        inner = replace(where.inner(), breaks=True)
        v = self._free(where).text
        selector = random.choice([f"{values.leaf()} & 3", f"{v}++ & 3", f"{v} & 3", v, f"--{v}"])
        lines = [f"switch ({selector}) {{"]
        cases = random.sample(range(4), random.randint(1, 3))
        for value in cases:
            lines.append(f"case {value}:")
            if flip(random, 0.75):
                lines.append(f"{{\n{self._block(inner, random.randint(1, 2))}}}")
            if flip(random, 0.5):
                lines.append(random.choice(["break;", "break;", self._jump(inner)]))
        if flip(random, 0.5):
            lines.append(f"default: {self._plain(where)}")
        elif lines[-1].endswith(":"):
            lines.append("break;")
        return "\n".join([*lines, "}"])

    # Loops.

    def _loop(self, where: _Where) -> str:
        random = self.random
        if where.depth == 1 and len(self.variables) > 2 and flip(random, 0.7):
            return self._nest(where)
        before = ""
        counter = self._free(where)
        if flip(random, 0.2):
            # What the loop starts from may be passed over by a jump.
            v = counter.text
            before = f"{v} = {random.randint(0, 3)};\n" if flip(random, 0.7) else ""
            before += (
                f"if ({self._condition(where)}) {v} = {random.randint(0, 4)}; "
                f"else if ({self._condition(where)}) {self._jump(where)}\n"
            )
        self.touched.append(counter)
        kind = random.random()
        if kind < 0.1 and self.moving:
            text = self._walking(where)
        elif kind < 0.17:
            text = self._two(where)
        elif kind < 0.72:
            text = self._upwards(counter, where)
        else:
            text = self._downwards(counter.text, where)
        behind = f"\n{self._plain(where)}" if flip(random, 0.35) else ""
        return before + text + behind

    def _started(self, v: str, first: Sequence[str], where: _Where) -> tuple[str, str]:
        """Return what a loop begins with: statements before it, and its header's."""
        random = self.random
        x = random.choice(self.variables).text
        other = self._free(where)
        d = other.text
        starts = [*first, *first, "", ""]
        if x != v:
            starts += [f"{v} = {x} & 7", f"{v} = {x}"]
        if d != v:
            number = random.randint(0, 6)
            starts += [f"{d} = {v}, {first[0]}", f"{first[0]}, {d} = {number}"]
            starts += [f"{d} = {number}"] * 2
        start = random.choice(starts)
        if d in start.split():
            self.touched.append(other)
        return ("", start) if flip(random, 0.5) else (f"{start};\n" if start else "", "")

    def _body(self, v: str, where: _Where, continues: str | None, count: int = 0) -> str:
        inner = replace(where.inner(), breaks=True, continues=continues)
        if flip(self.random, 0.85):
            inner = replace(inner, fixed=(*inner.fixed, v))
        return "TURN;\n" + self._block(inner, count or self.random.randint(1, 3))

    def _other(self, where: _Where, v: str) -> str:
        """Return one more condition, or nothing."""
        random = self.random
        if flip(random, 0.5):
            return ""
        inside = replace(where, fixed=(*where.fixed, v))
        if flip(random, 0.2):
            t = self._free(inside).text
            if t != v:
                return f" && ({t} = {self.arrays[0].at(f'{v} & 7')}) != {random.randint(0, 3)}"
        values = self._values(inside)
        return random.choice([f" && a[{v} & 7] > {random.randint(-2, 3)}",
                              f" && {values.condition(1)}", f" && !({values.condition(1)})",
                              f" && {self._condition(inside)}"])  # fmt: skip

    def _upwards(self, counter: Number, where: _Where) -> str:
        random = self.random
        v, most = counter.text, random.randint(2, (9, 6, 4)[min(where.depth, 3) - 1])
        low = random.choice([0, 0, 0, 1, 2])
        before, init = self._started(v, [f"{v} = {low}"], where)
        asked = random.choice([f"{v} < {most}", f"{v} < {most}", f"{v} <= {most}", f"{most} > {v}"])
        if flip(random, 0.2):
            limit = random.choice(self.variables)
            if limit.text != v:
                asked = f"{v} < {limit.text} && {v} < {most}"
        step = random.choice([f"{v}++", f"++{v}", f"{v} += 1", f"{v} += 2"])
        other = self._other(where, v)
        match random.randrange(10):
            case 0 | 1 | 2:
                body = self._body(v, where, "")
                return f"{before}for ({init}; {asked}{other}; {step}) {{\n{body}}}"
            case 3 | 4:
                body = self._body(v, where, f"{step};")
                inside = self._placed(body, f"{step};", where)
                return f"{before}{init};\nwhile ({asked}{other}) {{\n{inside}}}"
            case 5:
                body = self._body(v, where, "")
                return f"{before}{init};\ndo {{\n{step};\n{body}}} while ({asked}{other});"
            case 6:
                body = self._body(v, where, f"{step};")
                return f"{before}{init};\ndo {{\n{body}{step};\n}} while ({asked}{other});"
            case 7:
                body = self._body(v, where, "")
                question = random.choice(
                    [f"{v}++ < {most}", f"++{v} < {most}", f"{v}++ < {most}{other}"]
                )
                head = random.choice([f"while ({question})", f"for (; {question};)"])
                return f"{before}{init};\n{head} {{\n{body}}}"
            case 8:
                body = self._body(v, where, f"{step};")
                leaving = replace(where, breaks=True)
                more = f"if (!(1{other})) {self._jump(leaving)}\n" if other else ""
                out = random.choice(["break;", "break;", self._jump(leaving)])
                return f"{before}for ({init};;) {{\nif (!({asked})) {out}\n{more}{body}{step};\n}}"
            case _:
                t = self._free(where).text
                if t == v:
                    body = self._body(v, where, f"{v}++;")
                    end = counter.type.wrapped(random.choice([0, most]))
                    return f"{before}{init};\ndo {{\n{body}{v}++;\n}} while ({v} != {end});"
                body = self._body(v, where, f"{step};")
                question = f"{t} = a[{v} & 7], {asked} && {t} != {random.randint(0, 3)}"
                return f"{before}{init};\nwhile ({question}) {{\n{body}{step};\n}}"

    def _placed(self, body: str, step: str, where: _Where) -> str:
        """Return a body with its step at its end, or in both of its ways."""
        if flip(self.random, 0.25):
            arm = f"if ({self._condition(where)}) {{ {self._plain(where)} {step} continue; }}"
            return f"{arm}\n{body}{step}\n"
        return f"{body}{step}\n"

    def _downwards(self, v: str, where: _Where) -> str:
        random = self.random
        most = random.randint(2, (9, 6, 4)[min(where.depth, 3) - 1])
        before, init = self._started(v, [f"{v} = {most}", f"{v} &= 7"], where)
        other = self._other(where, v)
        match random.randrange(5):
            case 0:
                body = self._body(v, where, "")
                question = random.choice([f"{v}--", f"{v}-- > 0", f"{v}-- && a[{v} & 7]"])
                return f"{before}{init};\nwhile ({question}{other}) {{\n{body}}}"
            case 1:
                body = self._body(v, where, f"{v}--;")
                return f"{before}{init};\nwhile ({v} > 0{other}) {{\n{body}{v}--;\n}}"
            case 2:
                body = self._body(v, where, "")
                asked = random.choice([v, f"{v} > 0", f"{v} >= 1", f"{v} != 0"])
                return f"{before}for ({init}; {asked}{other}; {v}--) {{\n{body}}}"
            case 3:
                body = self._body(v, where, "")
                return f"{before}for ({init}; {v}-- > 0{other};) {{\n{body}}}"
            case _:
                body = self._body(v, where, "")
                return f"{before}{init};\ndo {{\n{body}}} while (--{v} > 0{other});"

    def _two(self, where: _Where) -> str:
        """Return a loop in which one counter or the other is stepped."""
        random = self.random
        v, d = self._free(where).text, self._free(where).text
        most = random.randint(2, 5)
        start = random.choice([f"{v} = 0; {d} = {most};\n", f"{v} = 0; {d} &= 3;\n", f"{v} = 0;\n"])
        inner = replace(where, fixed=(*where.fixed, v))
        body = self._body(d, inner, f"{v}++;", 1)
        question = random.choice([f"{v} < {most} && {d} > 0", f"{d} > 0 && {v} < {most}"])
        stepped = f"if ({self._condition(inner)}) {d}--; else {v}++;"
        return f"{start}while ({question}{self._other(where, v)}) {{\n{body}{stepped}\n}}"

    def _walking(self, where: _Where) -> str:
        """Return a loop by a pointer, which goes on from where it is, or is put back."""
        random = self.random
        p, array = self.moving[0]
        end = f"a + {random.randint(4, array.extent)}"
        start = random.choice(["", f"{p} = a", f"{p} = a", f"{p} = a + 1"])
        body = self._body("", where, f"{p}++;", 1)
        asked = random.choice([f"{p} < {end}", f"{p} < {end}", f"{p} != {end}"])
        more = random.choice(["", "", f" && *{p} > {random.randint(-2, 3)}", f" && *{p}"])
        if flip(random, 0.5):
            return f"for ({start}; {asked}{more}; {p}++) {{\n{body}}}"
        return f"{start};\nwhile ({asked}{more}) {{\n{body}{p}++;\n}}"

    # Two loops and what they share.

    def _nest(self, where: _Where) -> str:
        """Return two loops, with each variable set, stepped and used at places of any of them."""
        random, at = self.random, _Places()
        outer, inner, *others = random.sample(self.variables, min(len(self.variables), 4))
        o, v = outer.text, inner.text
        taken = others[: random.randrange(3)]
        names = [o, v, *(x.text for x in taken)]
        b, most = self.arrays[1], random.randint(2, 7)
        random.choice([at.before, at.first]).append(f"{o} = 0")
        if flip(random, 0.25):
            # What it is set to first is not what the inner loop begins with.
            at.first = [f"{v} = {random.randint(0, 3)}"]
            at.before.append(f"{o} = 0")
            random.choice([at.start, at.inner]).append(f"{v} = {o}")
        for name in [*names[1:], *(x for x in names[1:] if flip(random, 0.6))]:
            if flip(random, 0.8):
                value = random.choice(["0", "0", str(random.randint(1, 4)), o, *names])
                places = [at.before, at.first, at.start, at.inner, at.inner]
                random.choice(places).append(f"{name} = {value}")
        is_up = flip(random, 0.7)
        step = f"{v}++" if is_up else f"{v}--"
        asked = [f"{v} < {most}" if is_up else f"{v} > 0"]
        looked_at = f"a[{random.choice(names)} & 7]"
        more = [f"{looked_at} > {random.randint(-2, 3)}", f"{v} < {looked_at}", f"{looked_at} & 1",
                f"({names[-1]} = {looked_at}) > 0", f"{self._condition(where)}"]  # fmt: skip
        asked += random.sample(more, random.choice([0, 1, 1, 2]))
        if len(names) > 2 and flip(random, 0.6):
            stepped = random.choice([f"{names[2]}++", f"{names[2]} += 2", f"{names[2]}--"])
            random.choice([at.body, at.body, at.between, at.step]).append(stepped)
        for _ in range(random.randint(1, 3)):
            x, y = random.choice(names), random.choice([*names, self._values(where).leaf()])
            used = random.choice(
                [f"b[{x} & {b.extent - 1}] = {y}", f"b[{o} & 7] = {x}", f"b[{x} & 7] += {y}",
                 f"b[{x}++ & {b.extent - 1}] = {random.choice([z for z in names if z != x])}"]
            )  # fmt: skip
            random.choice([at.body, at.between, at.between, at.between, at.after]).append(used)
        for part in (at.before, at.first, at.inner, at.body, at.step):
            if flip(random, 0.5):
                random.shuffle(part)
        self.made += 1
        label, jump = f"out{self.made}", random.choice(["break", "break", "continue", ""])
        jump = jump or f"goto {label}"
        passed = random.choice([f"if ({looked_at} > {random.randint(0, 3)}) {jump};", "", ""])
        body = "".join(f"{each};\n" for each in at.body)
        condition = " && ".join(asked)
        begun = ", ".join(at.inner)
        match random.randrange(4):
            case 0 | 1:
                loop = f"for ({begun}; {condition}; {step}) {{\nTURN;\n{passed}\n{body}}}"
            case 2:
                passed = passed.replace("continue", "break")
                loop = f"{begun};\nwhile ({condition}) {{\nTURN;\n{passed}\n{body}{step};\n}}"
            case _:
                loop = f"{begun};\ndo {{\nTURN;\n{step};\n{passed}\n{body}}} while ({condition});"
        start = "".join(f"{each};\n" for each in at.start)
        if flip(random, 0.2):
            start += f"if ({self._condition(where)}) continue;\n"
        if flip(random, 0.2):
            loop = (
                f"if ({self._condition(where)}) {v} = {random.randint(0, 3)}; else if "
                f"({looked_at} == {random.randint(0, 3)}) {random.choice(['break', 'continue'])};\n"
                + loop
            )
        between = "".join(f"{each};\n" for each in at.between)
        trips = random.randint(2, 8)
        head = f"for ({', '.join(at.first)}; {o} < {trips}; {', '.join([f'{o}++', *at.step])})"
        before = "".join(f"{each};\n" for each in at.before)
        behind = "".join(f"{each};\n" for each in at.after)
        end = f"{label}: {self._plain(where)}" if jump.startswith("goto") else ""
        return f"{before}{head} {{\nTURN;\n{start}{loop}\n{between}}}\n{behind}{end}"


@dataclass(slots=True)
class _Places:
    """What stands at the places of two loops, one inside of the other.

    Members
    -------
    before, first, start: before both, in the outer header, in front of the inner loop. inner: in
        its header, or there. body: of the inner one. between, step: behind it, in the outer header.
    """

    before: list[str] = field(default_factory=list)
    first: list[str] = field(default_factory=list)
    start: list[str] = field(default_factory=list)
    inner: list[str] = field(default_factory=list)
    body: list[str] = field(default_factory=list)
    between: list[str] = field(default_factory=list)
    step: list[str] = field(default_factory=list)
    after: list[str] = field(default_factory=list)
