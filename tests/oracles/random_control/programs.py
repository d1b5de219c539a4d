"""Random C of `while`, `do`, `break`, `continue`, `return`, `switch` and `goto`.

Every loop ends: it counts, and a `continue` never leads past its step. What is written lies in its
array, because the subscript is a counter of a loop around it, or a number.
"""

from __future__ import annotations

from random import Random

_MOST_DEPTH = 3


def random_control(seed: int) -> str:
    """Return the text of a program; the same for the same seed."""
    return _Program(Random(seed)).text()


class _Program:
    def __init__(self, random: Random) -> None:
        self._random = random
        self._loops = 0
        self._left = random.randint(8, 22)
        self._labels: list[str] = []
        self._made = 0

    def text(self) -> str:
        """Return a function of two arrays and a number."""
        random = self._random
        helper = ""
        if random.random() < 0.4:
            body = self._block(1, [], in_loop=False, returns=True)
            head = "static int g(const int a[16], int b[16], int n, int s, int t)"
            helper = f"{head} {{\n{body}return t; }}\n"
            self._left = random.randint(6, 16)
        body = self._block(1, [], in_loop=False, returns=True, calls=bool(helper))
        return (
            f"{helper}int f(const int a[16], int b[16], int n) {{\nint s = 1, t = 0;\n{body}"
            "return s * 3 + t;\n}\n"
        )

    def _block(
        self,
        depth: int,
        counters: list[str],
        *,
        in_loop: bool,
        returns: bool,
        in_switch: bool = False,
        continues: bool = True,
        calls: bool = False,
    ) -> str:
        random = self._random
        lines: list[str] = []
        label = None
        if depth <= 2 and random.random() < 0.15:
            self._made += 1
            label = f"out{self._made}"
            self._labels.append(label)
        for _ in range(random.randint(1, 4)):
            self._left -= 1
            lines.append(
                self._statement(depth, counters, in_loop, returns, in_switch, continues, calls)
            )
        if label is not None:
            self._labels.remove(label)
            lines.append(f"{label}: {self._plain(counters)}")
        return "".join(line + "\n" for line in lines)

    def _statement(
        self,
        depth: int,
        counters: list[str],
        in_loop: bool,
        returns: bool,
        in_switch: bool,
        continues: bool,
        calls: bool,
    ) -> str:
        random = self._random
        kind = random.random()
        inner = {"in_loop": in_loop, "returns": returns, "in_switch": in_switch,
                 "continues": continues, "calls": calls}  # fmt: skip
        if depth > _MOST_DEPTH or self._left < 0 or kind < 0.3:
            if calls and random.random() < 0.2:
                return f"s = g(a, b, n, {self._value(counters)}, t);"
            return self._plain(counters)
        if kind < 0.5:
            jump = self._jump(in_loop, returns, in_switch, continues, counters)
            before = self._plain(counters) if random.random() < 0.4 else ""
            return f"if ({self._condition(counters)}) {{ {before} {jump} }}"
        if kind < 0.62:
            arm = self._block(depth + 1, counters, **inner)
            text = f"if ({self._condition(counters)}) {{\n{arm}}}"
            if random.random() < 0.5:
                text += f" else {{\n{self._block(depth + 1, counters, **inner)}}}"
            return text
        if kind < 0.72:
            return self._switch(depth, counters, inner)
        return self._loop(depth, counters, returns, calls)

    def _loop(self, depth: int, counters: list[str], returns: bool, calls: bool) -> str:
        random = self._random
        self._loops += 1
        k = f"k{self._loops}"
        most = random.randint(2, 6)
        inside = [*counters, k]
        kind = random.randrange(8)

        def body(continues: bool = True) -> str:
            return self._block(
                depth + 1, inside, in_loop=True, returns=returns, continues=continues, calls=calls
            )

        data = f" && {self._condition(inside)}" if random.random() < 0.4 else ""
        match kind:
            case 0:
                return f"for (int {k} = 0; {k} < {most}{data}; {k}++) {{\n{body()}}}"
            case 1:
                return f"int {k}; for ({k} = {most}; {k} > 0{data}; {k}--) {{\n{body()}}} s += {k};"
            case 2:
                end = self._plain(inside)
                return (
                    f"int {k} = 0; while ({k} < {most}{data}) {{\n{body(continues=False)}{k}++; "
                    f"{end} }} t ^= {k};"
                )
            case 3:
                return f"int {k} = {most}; while ({k}--) {{\n{body()}}} s -= {k};"
            case 4:
                inner = f"{{\n{body(continues=False)}{k} += 2; }}"
                return f"int {k} = 0; do {inner} while ({k} < {most}); t += {k};"
            case 5:
                return (
                    f"int {k} = 0; for (;;) {{\nif (++{k} >= {most}) break;\n{body()}}} s ^= {k};"
                )
            case 6:
                bound = random.randint(4, 12)
                return (
                    f"int {k} = 0;\n#pragma rtlgen bound {bound + 1}\n"
                    f"while ({k} < {bound} && s < {random.randint(50, 5000)}) "
                    f"{{\n{k} += 1 + (s & 1);\n{body()}}}"
                ).replace(f"[{k}]", "[0]")
            case _:
                self._loops += 1
                return f"for (int {k} = 0; {k} < n && {k} < {most}; {k}++) {{\n{body()}}}"

    def _switch(self, depth: int, counters: list[str], inner: dict[str, bool]) -> str:
        random = self._random
        lines = [f"switch ({self._value(counters)} & 3) {{"]
        cases = random.sample(range(4), random.randint(1, 3))
        default = random.choice([None, *range(len(cases) + 1)])
        for place, value in enumerate(cases):
            if default == place:
                lines.append(f"default: {self._plain(counters)}")
            lines.append(f"case {value}:")
            if random.random() < 0.8:
                inside = {**inner, "in_switch": True}
                block = self._block(depth + 1, counters, **inside)
                lines.append(f"{{\n{block}}}")
            if random.random() < 0.6:
                lines.append("break;")
        if default == len(cases):
            lines.append(f"default: {self._plain(counters)}")
        return "\n".join([*lines, "}"])

    def _jump(
        self, in_loop: bool, returns: bool, in_switch: bool, continues: bool, counters: list[str]
    ) -> str:
        jumps = []
        if in_loop or in_switch:
            jumps += ["break;"] * 3
        if in_loop and continues:
            jumps += ["continue;"] * 2
        if returns:
            jumps.append(f"return {self._value(counters)};")
        jumps += [f"goto {label};" for label in self._labels]
        return self._random.choice(jumps) if jumps else self._plain(counters)

    def _plain(self, counters: list[str]) -> str:
        random = self._random
        target = random.choice(["s", "t", "b"])
        value = self._value(counters)
        if target == "b":
            at = random.choice([*counters, "3", "7"])
            return f"b[{at}] {random.choice(['=', '+=', '^='])} {value};"
        return f"{target} {random.choice(['=', '+=', '-=', '^='])} {value};"

    def _value(self, counters: list[str]) -> str:
        random = self._random
        leaf = random.choice(
            ["s", "t", str(random.randint(-9, 9)), "a[s & 15]", "b[3]", "a[t & 7]"]
            + [f"a[{k}]" for k in counters]
            + counters
        )
        if random.random() < 0.4:
            op = random.choice("+-*^&|")
            return f"({leaf} {op} {random.choice(['s', 't', '5', *counters])})"
        return leaf

    def _condition(self, counters: list[str]) -> str:
        random = self._random
        left = self._value(counters)
        right = random.choice(["0", "3", "s", "t", *counters])
        return f"{left} {random.choice(['<', '>', '==', '!=', '<=', '>='])} {right}"
