"""Small random programs of structures, and of pointers that walk over them."""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

_NUMBERS = ("int", "short", "unsigned char", "unsigned", "long long", "signed char")
_EXTENT = 6
"""Elements of every array of structures: more than any pointer walks in one loop."""


@dataclass
class _Struct:
    """A structure type.

    Members
    -------
    numbers: how its numbers are named behind it, with `{}` for a subscript below 3.
    parts: its members that are structures themselves, by name.
    """

    name: str
    text: str
    numbers: list[str] = field(default_factory=list)
    parts: list[tuple[str, _Struct]] = field(default_factory=list)


class _Program:
    def __init__(self, seed: int) -> None:
        self._random = Random(f"records {seed}")
        self._structs: list[_Struct] = []
        for number in range(self._random.randint(1, 3)):
            self._structs.append(self._struct(f"S{number}"))

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _struct(self, name: str) -> _Struct:
        made = _Struct(name, "")
        lines = []
        for number in range(self._random.randint(1, 4)):
            member = f"m{number}"
            kind = self._random.randrange(8)
            if kind < 3:
                lines.append(f"{self._pick(*_NUMBERS)} {member};")
                made.numbers.append(f".{member}")
            elif kind == 3:
                lines.append(f"{self._pick(*_NUMBERS)} {member}[3];")
                made.numbers.append(f".{member}[{{}}]")
            elif kind == 4:
                sign = self._pick("unsigned", "int", "signed")
                lines.append(f"{sign} {member} : {self._random.randint(1, 31)};")
                made.numbers.append(f".{member}")
            elif kind == 5:
                lines.append(f"union {{ int i; unsigned u; }} {member};")
                made.numbers += [f".{member}.i", f".{member}.u"]
            elif self._structs:
                inner = self._random.choice(self._structs)
                lines.append(f"struct {inner.name} {member};")
                made.numbers += [f".{member}{path}" for path in inner.numbers]
                made.parts.append((f".{member}", inner))
            else:
                lines.append(f"struct {{ int a, b; }} {member};")
                made.numbers += [f".{member}.a", f".{member}.b"]
        made.text = f"struct {name} {{ {' '.join(lines)} }};"
        return made

    def _member(self, struct: _Struct) -> str:
        return self._random.choice(struct.numbers).replace("{}", str(self._random.randrange(3)))

    def _expression(self, atoms: list[str], depth: int = 2) -> str:
        if depth == 0 or self._random.random() < 0.2:
            return self._pick(*atoms, str(self._random.randint(-9, 99)))
        a, b = (self._expression(atoms, depth - 1) for _ in range(2))
        operator = self._pick("+", "-", "*", "&", "^", "|", "<", "==", "? 1 :", ">> 1 ^")
        return f"({a} {operator} {b})"

    def _helpers(self, struct: _Struct) -> list[str]:
        name = struct.name
        atoms = [f"p->{self._member(struct)[1:]}" for _ in range(3)] + ["n"]
        values = [f"s{self._member(struct)}" for _ in range(3)] + ["n"]
        last = f"s{self._member(struct)}"
        return [
            f"static void by_address_{name}(struct {name} *p, int n) {{"
            f" p->{self._member(struct)[1:]} = {self._expression(atoms)};"
            f" p->{self._member(struct)[1:]} {self._pick('+=', '^=', '-=')} n; }}",
            f"static int by_value_{name}(struct {name} s, int n) {{"
            f" s{self._member(struct)} = {self._expression(values)};"
            f" return {self._expression(values)}; }}",
            f"static struct {name} returned_{name}(struct {name} s, int n) {{"
            f" struct {name} t = s; t{self._member(struct)} = {self._expression(values)};"
            f" t{self._member(struct)} = {last}; return t; }}",
        ]

    def _statement(self, struct: _Struct, index: str) -> str:
        name = struct.name
        places = [
            f"a{name}[{index}]", f"g{name}[{_EXTENT - 1} - {index}]", f"l{name}",
            f"(*w{name})", f"a{name}[{self._random.randrange(_EXTENT)}]",
        ]  # fmt: skip
        place, other = self._random.choice(places), self._random.choice(places)
        atoms = [f"{self._random.choice(places)}{self._member(struct)}" for _ in range(3)]
        atoms += [index, "n"]
        value = self._expression(atoms)
        kind = self._random.randrange(11)
        match kind:
            case 0 | 1 | 2:
                return f"{place}{self._member(struct)} = {value};"
            case 3:
                return (
                    f"{place}{self._member(struct)} {self._pick('+=', '-=', '*=', '|=')} {value};"
                )
            case 4:
                return f"{place} = {other};"
            case 5:
                return f"by_address_{name}(&{place}, {value});"
            case 6:
                return f"n += by_value_{name}({place}, {value});"
            case 7:
                return f"{place} = returned_{name}({other}, {index});"
            case 8:
                return f"if ({value}) {place} = {other}; else {place}{self._member(struct)}++;"
            case 9 if struct.parts:
                path, inner = self._random.choice(struct.parts)
                return f"{place}{path} = returned_{inner.name}({other}{path}, 3);"
            case _:
                chosen = f"n & 1 ? {place} : {other}"
                return f"l{name} = {chosen}; l{name}{self._member(struct)} = {value};"

    def text(self) -> str:
        """Return the program."""
        lines = [struct.text for struct in self._structs]
        lines += [f"struct {s.name} g{s.name}[{_EXTENT}];" for s in self._structs]
        lines += [line for struct in self._structs for line in self._helpers(struct)]
        taken = ", ".join(f"struct {s.name} a{s.name}[{_EXTENT}]" for s in self._structs)
        lines.append(f"int f({taken}, int n) {{")
        for s in self._structs:
            start = self._pick(f"a{s.name}", f"g{s.name}", f"&a{s.name}[0]")
            lines.append(f"  struct {s.name} *w{s.name} = {start};")
            lines.append(f"  struct {s.name} l{s.name} = a{s.name}[2];")
        for loop in range(self._random.randint(1, 2)):
            struct = self._random.choice(self._structs)
            lines.append(f"  for (int i = 0; i < {_EXTENT // 2}; i++) {{")
            lines += [
                f"    {self._statement(self._random.choice(self._structs), 'i')}"
                for _ in range(self._random.randint(1, 4))
            ]
            step = f"w{struct.name}{self._pick('++', ' += 1')};" if loop == 0 else ""
            lines.append(f"    {step}\n  }}")
        lines += [f"  g{s.name}[1] = l{s.name};" for s in self._structs]
        return "\n".join([*lines, "  return n;", "}"])


def random_program(seed: int) -> str:
    """Return a program that a seed stands for."""
    return _Program(seed).text()
