"""Small random programs of pointers that walk over arrays of one and two dimensions.

Some of them may point into one of several arrays, at the same place.
"""

from __future__ import annotations

from random import Random

_ROWS, _COLUMNS, _LENGTH = 5, 6, 30


class _Pointer:
    """A pointer, and where it is.

    Members
    -------
    array: what it points into, as a pointer to the first element; `?` where data says.
    position: in that array.
    """

    def __init__(self, name: str, array: str, position: int, size: int) -> None:
        self.name = name
        self.array = array
        self.position = position
        self.size = size


class _Program:
    def __init__(self, seed: int) -> None:
        self._random = Random(f"pointers {seed}")
        self._pointers: list[_Pointer] = []
        self._lines: list[str] = []

    def _pick(self, *choices: str) -> str:
        return self._random.choice(choices)

    def _start(self, name: str) -> None:
        """Declare a pointer, or a pointer that is set later."""
        kind = self._random.randrange(7)
        if kind > 4:
            place = self._random.randrange(_LENGTH)
            made = _Pointer(name, f"?{name}", place, _LENGTH)
            arms = self._random.sample(["a", "g", "(&m[0][0])"], 2)
            text = f"{self._condition()} ? {arms[0]} + {place} : {arms[1]} + {place}"
        elif kind == 0:
            place = self._random.randrange(_LENGTH)
            made, text = _Pointer(name, "a", place, _LENGTH), f"a + {place}"
        elif kind == 1:
            place = self._random.randrange(_LENGTH)
            made, text = _Pointer(name, "g", place, _LENGTH), f"&g[{place}]"
        elif kind == 2:
            row, place = self._random.randrange(1, _ROWS), self._random.randrange(_COLUMNS)
            made, text = _Pointer(name, f"m[{row}]", place, _COLUMNS), f"&m[{row}][{place}]"
        elif kind == 3:
            made = _Pointer(name, "(&m[0][0])", 0, _ROWS * _COLUMNS)
            text = self._pick("&m[0][0]", "(int *)m")
        else:
            row = self._random.randrange(1, _ROWS)
            made, text = _Pointer(name, f"m[{row}]", 0, _COLUMNS), f"m[{row}]"
        if self._random.random() < 0.3:
            self._lines.append(f"  int *{name}; {name} = {text};")
        else:
            self._lines.append(f"  int *{name} = {text};")
        self._pointers.append(made)

    def _condition(self) -> str:
        places = f"a[{self._random.randrange(_LENGTH)}]", f"g[{self._random.randrange(_LENGTH)}]"
        return self._pick("n & 1", "n > 0", *(f"{place} > 0" for place in places))

    def _value(self) -> str:
        """Return a value that pointers lead to."""
        pointer = self._random.choice(self._pointers)
        near = self._random.randrange(pointer.size) - pointer.position
        name = pointer.name
        other = self._random.choice(
            [p for p in self._pointers if p.array == pointer.array] or [pointer]
        )
        anything = self._random.choice(self._pointers)
        whole = [p for p in self._pointers if p.size == _LENGTH]
        if len(whole) > 1 and self._random.random() < 0.2:
            at = self._random.randrange(_LENGTH)
            ends = [f"{p.name} + {at - p.position}" for p in self._random.sample(whole, 2)]
            return f"({self._condition()} ? {ends[0]} : {ends[1]})[{self._pick('0', '-0')}]"
        if anything.size == _LENGTH == pointer.size and self._random.random() < 0.1:
            return f"({name} {self._pick('==', '!=')} {anything.name})"
        return self._pick(
            f"{name}[{near}]", f"*({name} + {near})", f"({near})[{name}]",
            f"(int)({name} - {other.name})", f"({name} {self._pick('<', '==', '>=')} {other.name})",
            "n", str(self._random.randint(-9, 9)),
        )  # fmt: skip

    def _statement(self) -> str:
        pointer = self._random.choice(self._pointers)
        name, value = pointer.name, f"{self._value()} {self._pick('+', '-', '^')} {self._value()}"
        is_named = name in value
        kind = self._random.randrange(7)
        others = [p for p in self._pointers if p.size == _LENGTH and p is not pointer]
        if kind == 6 and pointer.array.startswith("?") and others:
            other = self._random.choice(others)
            to = f"{other.name} + {pointer.position - other.position}"
            if self._random.random() < 0.5:
                return f"if ({self._condition()}) {name} = {to};"
            return f"{name} = {self._condition()} ? {name} : {to};"
        if kind == 0 and pointer.position + 1 < pointer.size and not is_named:
            pointer.position += 1
            step = self._pick("p++", "++p")
            target = f"*{step}".replace("p", name)
            return f"{target} {self._pick('=', '+=')} {value};"
        if kind == 1 and pointer.position > 0 and not is_named:
            step = "--p" if pointer.position == pointer.size else self._pick("--p", "p--")
            pointer.position -= 1
            return f"*{step.replace('p', name)} = {value};"
        if kind == 2:
            goal = self._random.randrange(pointer.size)
            moved, pointer.position = goal - pointer.position, goal
            sign = "+=" if moved >= 0 else "-="
            size = f"{abs(moved)}{self._pick('', 'u', 'L', 'UL')}"
            return self._pick(f"{name} {sign} {size};", f"{name} = {name} + {moved};")
        if kind == 3:
            same = [p for p in self._pointers if p.array == pointer.array]
            other = self._random.choice(same)
            pointer.position = other.position
            return f"{name} = {other.name};"
        near = self._random.randrange(pointer.size) - pointer.position
        return f"{name}[{near}] {self._pick('=', '-=', '^=')} {value};"

    def _loop(self, number: int) -> str:
        """Return a loop in which a pointer walks on."""
        pointer = self._random.choice(self._pointers)
        left = pointer.size - pointer.position
        others = [p for p in self._pointers if p is not pointer]
        other = self._random.choice(others or [pointer])
        count = self._random.randint(1, max(1, min(4, left)))
        can_read = other is not pointer and other.position + count <= other.size
        value = f"*{other.name}" if can_read else "n"
        name, counter = pointer.name, f"i{number}"
        step = self._pick("", f" {other.name}++;") if can_read else ""
        if left < count:
            return ""
        pointer.position += count
        other.position += count if step else 0
        start = f"for (int {counter} = 0; {counter} < {count}; {counter}++)"
        begin, shape = pointer.position, self._random.randrange(3)
        if shape == 1:
            start = f"for (int *e = {name} + {count}; {name} < e;)"
        elif shape == 2 and not pointer.array.startswith("?"):
            start = f"while ({name} != {pointer.array} + {begin})"
        return f"{start} {{ *{name}++ += {value};{step} }}"

    def text(self) -> str:
        """Return the program."""
        head = f"int g[{_LENGTH}];\nint f(int a[{_LENGTH}], int m[{_ROWS}][{_COLUMNS}], int n) {{"
        for number in range(self._random.randint(2, 4)):
            self._start(f"p{number}")
        for number in range(self._random.randint(3, 8)):
            is_loop = self._random.random() < 0.3
            self._lines.append(f"  {self._loop(number) if is_loop else self._statement()}")
        self._lines.append(f"  n ^= {self._value()};")
        return "\n".join([head, *self._lines, "  return n;", "}"])


def random_program(seed: int) -> str:
    """Return a program that a seed stands for."""
    return _Program(seed).text()
