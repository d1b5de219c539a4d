"""Random circuits: what the writer of Verilog has to spell, in all widths and signs."""

from __future__ import annotations

import random
from collections.abc import Callable, Sequence

from amaranth.hdl import Array, Cat, Const, Module, Mux, Shape, Signal, Value
from amaranth.lib import wiring
from amaranth.lib.memory import Memory
from amaranth.lib.wiring import In, Out, Signature

MOST_BITS = 70
_OPERATORS: Sequence[Callable[[Value, Value], Value]] = (
    lambda a, b: a + b,
    lambda a, b: a - b,
    lambda a, b: a * b,
    lambda a, b: a & b,
    lambda a, b: a | b,
    lambda a, b: a ^ b,
    lambda a, b: a == b,
    lambda a, b: a != b,
    lambda a, b: a < b,
    lambda a, b: a <= b,
    lambda a, b: a > b,
    lambda a, b: a >= b,
    lambda a, b: a << b[:4].as_unsigned(),
    lambda a, b: a >> b[:6].as_unsigned(),
    lambda a, b: Cat(a, b),
    lambda a, b: a.as_unsigned().bit_select(b[:5].as_unsigned(), 3),
    lambda a, b: a.as_unsigned().word_select(b[:3].as_unsigned(), 5),
    lambda a, b: Array([a, b, a[:3], b[1:]])[b[:2].as_unsigned()],
    lambda a, b: Mux(a.matches("1" + "-" * (len(a) - 1)), b, a) if len(a) > 1 else b,
)
_UNARY: Sequence[Callable[[Value], Value]] = (
    lambda a: ~a,
    lambda a: -a,
    lambda a: a.any(),
    lambda a: a.all(),
    lambda a: a.xor(),
    lambda a: a.bool(),
    lambda a: a.as_signed(),
    lambda a: a.as_unsigned(),
    lambda a: a[len(a) // 2 :],
    lambda a: a.replicate(2),
    lambda a: a << 3,
    lambda a: a >> 2,
    lambda a: a.rotate_left(1),
)


class RandomCircuit(wiring.Component):
    """Operators in trees, choices, registers with resets and enables, switches and a memory."""

    def __init__(self, seed: int, results: int) -> None:
        self._random = random.Random(seed)
        self._results = results
        self._inputs = {
            f"in_{n}": Shape(
                self._random.choice((1, 2, 3, 7, 8, 16, 31, 33, MOST_BITS)), bool(n & 1)
            )
            for n in range(8)
        }
        self._outputs = {
            f"out_{n}": Shape(self._random.randint(1, MOST_BITS), bool(self._random.getrandbits(1)))
            for n in range(results)
        }
        members = {name: In(shape) for name, shape in self._inputs.items()}
        members |= {name: Out(shape) for name, shape in self._outputs.items()}
        super().__init__(Signature({"enable": In(1), **members}))

    def elaborate(self, platform: object) -> Module:
        m, choose = Module(), self._random.choice
        pool: list[Value] = [getattr(self, name) for name in self._inputs]
        pool += [Const(value, shape) for value, shape in ((5, 4), (-3, Shape(6, True)))]
        memory = Memory(shape=8, depth=16, init=[])
        m.submodules.ram = memory
        write, read = memory.write_port(granularity=4), memory.read_port()
        table = Memory(shape=8, depth=16, init=range(16))
        m.submodules.rom_0 = table
        look = table.read_port(domain="comb")
        m.d.comb += [
            write.addr.eq(pool[7] ^ self._tree(pool, 1)),
            write.data.eq(self._tree(pool, 2)),
            write.en.eq(Cat(self.enable, self._tree(pool, 1)[0])),
            read.addr.eq(pool[5] ^ self._tree(pool, 1)),
            read.en.eq(self.enable ^ self._tree(pool, 1)[0]),
            look.addr.eq(pool[6] ^ self._tree(pool, 1)),
        ]
        pool += [read.data, look.data]
        for number, name in enumerate(self._outputs):
            out: Signal = getattr(self, name)
            value = self._tree(pool, 3)
            kind = self._random.randrange(6)
            if kind == 0:
                m.d.comb += out.eq(value)
            elif kind == 1:
                with m.If(self._tree(pool, 1)[0]):
                    m.d.comb += out.eq(value)
                with m.Elif(self._tree(pool, 1)[0]):
                    m.d.comb += out[: 1 + len(out) // 2].eq(self._tree(pool, 2))
            else:
                held = Signal(
                    out.shape(),
                    init=-1 if number & 1 else 0,
                    reset_less=kind == 2,
                    name=f"held_{number}",
                )
                self._update(m, held, pool, kind)
                m.d.comb += out.eq(held)
                pool.append(held)
            if choose((True, False)):
                pool.append(out)
        return m

    def _update(self, m: Module, held: Signal, pool: Sequence[Value], kind: int) -> None:
        if kind == 2:
            m.d.sync += held.eq(self._tree(pool, 3))
        elif kind == 3:
            with m.If(self.enable):
                m.d.sync += held.eq(held + self._tree(pool, 2))
            with m.Elif(self._tree(pool, 1)[0]):
                m.d.sync += held[: 1 + len(held) // 3].eq(self._tree(pool, 2))
        elif kind == 4:
            with m.Switch(Cat(self._tree(pool, 1), Const(0, 2))[:2]):
                with m.Case(0):
                    m.d.sync += held.eq(self._tree(pool, 2))
                with m.Case(1, 3), m.If(~self.enable):
                    m.d.sync += held.eq(self._tree(pool, 2))
                with m.Default():
                    m.d.sync += held.eq(held - 1)
        else:
            m.d.sync += held.eq(Mux(self.enable, self._tree(pool, 2), held))
            with m.If(self._tree(pool, 1)[0]):
                m.d.sync += held.eq(9)

    def _tree(self, pool: Sequence[Value], depth: int) -> Value:
        """Return operators of values, of no more bits than any input has."""
        if depth == 0:
            return self._random.choice(pool)
        kind = self._random.randrange(10)
        value: Value
        if kind == 0:
            value = self._random.choice(_UNARY)(self._tree(pool, depth - 1))
        elif kind == 1:
            choice = self._tree(pool, depth - 1)
            value = Mux(choice, self._tree(pool, depth - 1), self._tree(pool, depth - 1))
        else:
            first, second = self._tree(pool, depth - 1), self._tree(pool, depth - 1)
            operator = self._random.choice(_OPERATORS)
            if operator is _OPERATORS[2]:
                # Proving wide products equal is another matter than spelling them.
                first, second = _cut(first, 12), _cut(second, 12)
            value = operator(first, second)
        return _cut(value, MOST_BITS)


def _cut(value: Value, bits: int) -> Value:
    """Return a value, or its lowest bits with the same sign."""
    if len(value) == 0:
        return Const(0, 1)
    if len(value) <= bits:
        return value
    return value[:bits].as_signed() if value.shape().signed else value[:bits]
