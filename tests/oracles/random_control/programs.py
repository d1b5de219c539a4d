"""Random C of loops and jumps of every form, over integers of all types, structures and pointers.

Every loop ends, and nothing is undefined in C as `gcc -fwrapv` takes it, for the values of
parameters that the program is given with; elsewhere, what an array's extent bounds may go beyond.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from random import Random

from tests.oracles.random_control.limits import Limited, Limits
from tests.oracles.random_control.loops import Loops, Where, record_arrays
from tests.oracles.random_control.reuse import Reuse
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

_MOST_DEPTH = 3


@dataclass(frozen=True, slots=True)
class Program:
    """A program of a function `f`.

    Members
    -------
    ranges: the values of its scalar parameters that are of interest, by their names.
    """

    text: str
    ranges: Mapping[str, tuple[int, int]]


def random_control(seed: int) -> Program:
    """Return a program; the same for the same seed.

    Every second pair of seeds is of few variables that all share (`reuse`). Half of the others are
    little more than a loop. Those of odd seeds compute in floating point, too.
    """
    random = Random(f"control {seed}")
    has_floats = seed % 2 == 1
    if seed % 4 > 1:
        ranges: dict[str, tuple[int, int]] = {}
        return Program(Reuse(random, ranges, has_floats=has_floats).text(), ranges)
    is_small = flip(random, 0.5)
    ranges = {}
    records = _Records(random) if not is_small and flip(random, 0.5) else None
    shared = [Array("g", random.choice(TYPES), random.choice([8, 12, 16]))]
    head = [f"{shared[0].type.names[0]} g[{shared[0].extent}];"]
    if records is not None:
        head.insert(0, records.text)
    helper, given = None, ""
    if not is_small and flip(random, 0.4):
        own_left = random.randint(2, 5)
        helper = _Function(random, "h", shared, records, own_left, {}, None, _has_floats=has_floats)
        given = helper.text()
    left = random.randint(1, 3) if is_small else random.randint(4, 10)
    function = _Function(random, "f", shared, records, left, ranges, helper, _has_floats=has_floats)
    text = "\n".join(
        [
            "#include <assert.h>",
            "#include <math.h>",
            "#include <stdint.h>",
            "#include <stddef.h>",
            *head,
        ]
    )
    return Program(f"{text}\n{given}{function.text()}", ranges)


class _Records:
    """A structure type, and an array of it."""

    def __init__(self, random: Random) -> None:
        self.extent = random.choice([6, 8])
        self.members: list[tuple[str, Type]] = []
        lines = []
        for number in range(random.randint(2, 4)):
            type_, kind = random.choice(TYPES), random.randrange(6)
            member = f"m{number}"
            if kind == 0:
                lines.append(f"{type_.names[0]} {member}[4];")
                self.members += [(f"{member}[{random.randrange(4)}]", type_) for _ in range(2)]
            elif kind <= 2:
                width = random.randint(2, 9)
                unsigned = flip(random, 0.6)
                lines.append(f"{'unsigned' if unsigned else 'signed'} {member} : {width};")
                self.members.append((member, Type(("int",), width, not unsigned)))
            elif kind == 3:
                lines.append(f"struct {{ {type_.names[0]} u, v; }} {member};")
                self.members += [(f"{member}.u", type_), (f"{member}.v", type_)]
            else:
                lines.append(f"{type_.names[0]} {member};")
                self.members.append((member, type_))
        self.text = f"struct S {{ {' '.join(lines)} }};\nstruct S r[{self.extent}];"

    def arrays(self, name: str) -> list[Array]:
        return record_arrays(name, self.extent, self.members)


@dataclass(slots=True)
class _Function:
    """Makes one function.

    Members
    -------
    left: how many statements there are still to be, about. labels: further down.
    taken: how many numbers it is called with. helper: what it may call.
    ranges: of its parameters, which it fills in.
    """

    _random: Random
    _name: str
    _shared: list[Array]
    _records: _Records | None
    _left: int
    _ranges: dict[str, tuple[int, int]]
    _helper: _Function | None
    _labels: list[str] = field(default_factory=list)
    _made: int = 0
    _taken: int = 0
    _has_floats: bool = False
    _scope: Scope = field(default_factory=Scope)
    _values: Values = field(init=False)
    _limits: Limits = field(init=False)
    _loops: Loops = field(init=False)

    def __post_init__(self) -> None:
        self._values = Values(self._random, self._scope, has_floats=self._has_floats)
        self._limits = Limits(self._random, self._scope, self._values)
        self._loops = Loops(
            self._random, self._scope, self._values, self._limits, self._body, self._out
        )

    def text(self) -> str:
        """Return the function."""
        random, scope, values = self._random, self._scope, self._values
        extents = [8, 16, 16, 12, 32]
        a = Array("a", random.choice(TYPES), random.choice(extents), False)
        b = Array("b", random.choice(TYPES), random.choice(extents))
        if self._name == "h":
            # What it is given is as in the function that calls it.
            a, b = replace(self._shared[0], name="a"), replace(self._shared[0], name="b")
        scope.arrays += [a, b, *self._shared]
        parameters = [f"{'' if a.is_writable else 'const '}{a.type.names[0]} a[{a.extent}]",
                      f"{b.type.names[0]} b[{b.extent}]"]  # fmt: skip
        if self._name == "h":
            # Two names for one array: what is written by one is read by the other.
            scope.arrays[1:2] = []
            parameters.pop()
        lines: list[str] = []
        if self._records is not None:
            scope.arrays += self._records.arrays("r")
            if flip(random, 0.5) and self._name == "f":
                parameters.append(f"struct S q[{self._records.extent}]")
                scope.arrays += self._records.arrays("q")
            if flip(random, 0.4):
                place = random.randrange(self._records.extent)
                lines.append(f"struct S *w = &r[{place}];")
                member = random.choice(self._records.members)[0]
                scope.places.append(f"w->{member}")
        for name in ("s", "t", "u"):
            type_ = INT if name == "s" else random.choice(TYPES)
            lines.append(f"{values.type_name(type_)} {name} = {random.randint(-3, 9)};")
            scope.scalars.append(Number(name, type_, type_.low, type_.high))
        facts: list[str] = []
        label = self._label() if flip(random, 0.25) else None
        behind = self._label() if flip(random, 0.3) else None
        for name in ("n", "m")[: random.randint(1, 2)]:
            type_ = random.choice([INT, INT, *BYTES, *TYPES[2:], UNSIGNED])
            parameters.append(f"{values.type_name(type_)} {name}")
            cap = random.randint(3, 14)
            self._ranges[name] = max(type_.low, random.choice([-4, 0])), min(type_.high, cap + 6)
            number = Number(name, type_, type_.low, type_.high)
            kind = random.random()
            if kind < 0.6:
                facts.append(self._limits.fact(name, type_, cap, self._return, behind or label))
                if flip(random, 0.25):
                    # What it was is not limited by what it is.
                    old = random.choice([INT, *TYPES])
                    lines.append(f"{values.type_name(old)} {name}0 = {name};")
                    self._limits.note(Limited(f"{name}0", old, old.low, old.high, False))
            elif kind < 0.8:
                # An extent bounds it.
                extent = min(x.extent for x in scope.arrays)
                self._ranges[name] = max(type_.low, -2), extent
                self._limits.note(Limited(name, type_, type_.low, extent, True))
            elif type_ in BYTES:
                scope.numbers.append(number)
            else:
                scope.numbers.append(number)
        number = Number("v", UNSIGNED if flip(random, 0.3) else BYTES[1], 0, 255)
        parameters.append(f"{values.type_name(number.type)} v")
        scope.numbers.append(number)
        if flip(random, 0.2):
            facts.insert(0, values.plain())
        if behind is not None:
            self._labels.remove(behind)
            if flip(random, 0.5):
                passing = f"if ({values.condition(1)}) goto {behind};"
                facts.insert(random.randrange(len(facts) + 1), passing)
            facts.append(f"{behind}: {values.plain()}")
        where = Where(calls=self._helper is not None)
        body = self._block(where, label)
        type_ = random.choice([INT, INT, *TYPES])
        self._taken = len(parameters) - 1
        head = f"{values.type_name(type_)} {self._name}({', '.join(parameters)})"
        static = "static " if self._name == "h" else ""
        rest = "\n".join([*lines, *facts])
        return f"{static}{head} {{\n{rest}\n{body}return s * 3 + t * 7 + u;\n}}\n"

    def _label(self) -> str:
        self._made += 1
        label = f"{self._name}_out{self._made}"
        self._labels.append(label)
        return label

    def _return(self) -> str:
        return f"return {self._values.leaf()};"

    def _body(self, where: Where) -> str:
        return self._block(where)

    def _block(self, where: Where, label: str | None = None) -> str:
        random = self._random
        lines: list[str] = []
        if label is None and where.depth <= 2 and flip(random, 0.12):
            label = self._label()
        with self._scope.inner():
            count = random.randint(1, 2) if where.is_light else random.randint(1, 4)
            if where.depth == 1:
                count = min(count + 2, max(1, self._left))
            for _ in range(count):
                self._left -= 1
                lines.append(self._statement(where))
        if label is not None:
            self._labels.remove(label)
            # What was declared may not have been reached.
            lines.append(f"{label}: {self._values.plain()}")
        return "".join(line + "\n" for line in lines)

    def _statement(self, where: Where) -> str:
        random, values = self._random, self._values
        kind = random.random()
        inner = replace(where, depth=where.depth + 1)
        is_small = where.depth > _MOST_DEPTH or self._left < 0 or where.is_light
        if where.depth == 1 and self._left >= 0 and flip(random, 0.5):
            kind = 0.99
        if kind < 0.22:
            return values.plain()
        if kind < 0.34:
            before = values.plain() if flip(random, 0.4) else ""
            question = values.condition() if flip(random, 0.85) else self._step()
            return f"if ({question}) {{ {before} {self._jump(where)} }}"
        if kind < 0.4:
            question = values.pick(values.rare(), values.rare(), self._step())
            beyond = [
                array.at(counter.text)
                for counter in self._scope.counters
                for array in self._scope.arrays
                if array.is_writable and counter.low >= 0 and array.extent <= counter.high < 40
            ]
            if beyond:
                # Where the answer is no, nothing leaves the array.
                return f"if ({question}) {random.choice(beyond)} = {values.leaf()};"
            return f"if ({question}) {{ {values.plain()} }}"
        if kind < 0.45:
            return self._declared(where)
        if is_small:
            return values.plain()
        if kind < 0.5 and where.calls:
            assert self._helper is not None, "it calls one"
            arguments = [values.leaf() for _ in range(self._helper._taken)]
            return f"s = h({', '.join(['g', *arguments])});"
        if kind < 0.58:
            text = f"if ({values.condition()}) {{\n{self._block(inner)}}}"
            if flip(random, 0.5):
                text += f" else {{\n{self._block(inner)}}}"
            return text
        if kind < 0.66:
            return self._switch(where)
        return self._loops.loop(where)

    def _declared(self, where: Where) -> str:
        """Return the declaration of a number that a loop may be bounded by."""
        random, values = self._random, self._values
        if where.is_light:
            return values.plain()
        number = self._limits.number(9)
        type_ = random.choice([*TYPES, INT])
        self._made += 1
        name = f"c{self._made}"
        text = f"{values.type_name(type_)} {name} = {number.text};"
        is_told = number.is_told and type_.low <= number.low
        if flip(random, 0.2):
            text += f" if ({values.condition(1)}) {name} = {random.randint(0, 9)};"
        elif flip(random, 0.1):
            text += f" if ({values.condition(1)}) {name}--;"
            is_told = False
        high = number.high if is_told else type_.high
        self._limits.note(Limited(name, type_, type_.low, high, is_told))
        return text

    def _switch(self, where: Where) -> str:
        random, values = self._random, self._values
        inner = replace(where, depth=where.depth + 1, in_switch=True)
        selector, low = f"{values.leaf()} & 3", 0
        match random.randrange(4):
            case 0:
                selector, low = f"{values.leaf()} % 3", random.choice([0, 0, -2])
            case 1:
                name = random.choice(self._scope.scalars).text
                selector = values.pick(f"{name}++", f"--{name}", name)
            case 2:
                selector = values.value(1)
        lines = [f"switch ({selector}) {{"]
        if flip(random, 0.1):
            low = -1
        cases = random.sample(range(low, 4), random.randint(1, 3))
        default = random.choice([None, *range(len(cases) + 1)])
        for place, value in enumerate(cases):
            if default == place:
                lines.append(f"default: {values.plain()}")
            lines.append(f"case {value}:")
            if flip(random, 0.8):
                lines.append(f"{{\n{self._block(inner)}}}")
            if flip(random, 0.6):
                lines.append("break;")
        if default == len(cases):
            lines.append(f"default: {values.plain()}")
        elif lines[-1].endswith(":"):
            lines.append("break;")
        return "\n".join([*lines, "}"])

    def _step(self) -> str:
        """Return a question that changes something: outside of a header, a step mostly."""
        return self._values.effect() if flip(self._random, 0.05) else self._values.step()

    def _jump(self, where: Where) -> str:
        jumps = []
        if where.in_loop or where.in_switch:
            jumps += ["break;"] * 3
        if where.in_loop and where.before_continue is not None:
            jumps += [f"{where.before_continue} continue;"] * 2
        return self._random.choice([*jumps, self._out(where)])

    def _out(self, where: Where) -> str:
        """Return a jump out of all loops."""
        return self._random.choice([self._return(), *(f"goto {x};" for x in self._labels)])
