"""Write a Scop as C of its own, with nothing in it that C leaves undefined.

Every value is a `uint64_t` that holds its mathematical value modulo 2**64: zero-extended for
unsigned types, sign-extended for signed ones. So addition, multiplication and comparison are
those of uint64_t, followed by a wrap to the node's type. A number is its bit pattern, see
`golden_floats`. Iterators are `int64_t`; the caller has
checked that they fit. The text is C99 and C++ alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rtlgen.ir.affine import Affine, Congruence, Constraint
from rtlgen.ir.expr import (
    COMPARISONS,
    Binary,
    Cast,
    Constant,
    Expr,
    FloatOperation,
    IndexValue,
    Read,
    ScalarParameter,
    Scatter,
    Select,
    Unary,
    walk,
)
from rtlgen.ir.scop import Access, ConditionNode, LoopNode, Node, Scop, Statement, Window
from rtlgen.ir.types import NumberType
from rtlgen.verify.golden_floats import FLOAT_PRELUDE, conversion_fits, float_operation
from rtlgen.verify.golden_state import EVENT_KINDS, EventKind, keeps_element

ENTRY = "rtlgen_golden"
WRITE_ACCESS = -1

_PRELUDE = """\
#include <stdint.h>

static inline uint64_t wrap_signed(uint64_t x, int bits)
{
  const uint64_t sign = UINT64_C(1) << (bits - 1);
  return ((x & (sign | (sign - 1))) ^ sign) - sign;
}
static inline uint64_t wrap_unsigned(uint64_t x, int bits)
{
  return x & (UINT64_MAX >> (64 - bits));
}
static inline uint64_t less_signed(uint64_t a, uint64_t b)
{
  const uint64_t top = UINT64_C(1) << 63;
  return (a ^ top) < (b ^ top);
}
static inline uint64_t less_unsigned(uint64_t a, uint64_t b) { return a < b; }
static inline uint64_t shift_right_signed(uint64_t x, uint64_t count)
{
  return x >> 63 ? ~(~x >> count) : x >> count;
}
static inline uint64_t shift_right_unsigned(uint64_t x, uint64_t count) { return x >> count; }
static inline uint64_t magnitude(uint64_t x) { return x >> 63 ? 0 - x : x; }
static inline uint64_t divide_unsigned(uint64_t a, uint64_t b)
{
  return b == 0 ? UINT64_MAX : a / b;
}
static inline uint64_t divide_signed(uint64_t a, uint64_t b)
{
  if (b == 0) return UINT64_MAX;
  const uint64_t quotient = magnitude(a) / magnitude(b);
  return (a ^ b) >> 63 ? 0 - quotient : quotient;
}
"""

_CALL = """\
  return run(arrays, written, scalars, counts, events, first, fault);
"""
_FLOAT_CALL = """\
  /* Other code in this process may have asked for other roundings, or for no subnormal numbers. */
  fenv_t kept;
  int result;
  fegetenv(&kept);
  fesetenv(FE_DFL_ENV);
  result = run(arrays, written, scalars, counts, events, first, fault);
  fesetenv(&kept);
  return result;
"""


def emit(scop: Scop) -> str:
    """Return the C text of `scop`; its entry point is described at `golden_compiled`."""
    return _Emitter(scop).text()


class _Emitter:
    def __init__(self, scop: Scop) -> None:
        self._scop = scop
        self._lines: list[str] = []
        self._depth = 1
        self._temporaries = 0
        self._arrays = {array.name: number for number, array in enumerate(scop.arrays)}
        self._scalars = {scalar.name: number for number, scalar in enumerate(scop.scalars)}
        self._statements = {s.name: number for number, s in enumerate(scop.statements)}
        # C iterator -> the emitted variable; nested loops may reuse a name.
        self._iterators: dict[str, str] = {}
        self._point_length = point_length(scop)

    def text(self) -> str:
        for array in self._scop.arrays:
            number = self._arrays[array.name]
            type_ = f"uint{array.element.width_bits}_t"
            self._line(f"{type_} *const a{number} = ({type_} *)arrays[{number}];")
        self._nodes(self._scop.tree)
        body = "\n".join(self._lines)
        expressions = (node for s in self._scop.statements for node in walk(s.expr))
        has_floats = any(isinstance(node, FloatOperation) for node in expressions)
        return f"""{_PRELUDE}{FLOAT_PRELUDE if has_floats else ""}
static int run(void **arrays, uint8_t **written, const uint64_t *scalars, uint64_t *counts,
    uint64_t *events, int64_t *first, int64_t *fault)
{{
  (void)arrays; (void)written; (void)scalars; (void)counts;
  (void)events; (void)first; (void)fault;
{body}
  return 0;
}}

#ifdef __cplusplus
extern "C"
#endif
int {ENTRY}(void **arrays, uint8_t **written, const uint64_t *scalars, uint64_t *counts,
    uint64_t *events, int64_t *first, int64_t *fault);

int {ENTRY}(void **arrays, uint8_t **written, const uint64_t *scalars, uint64_t *counts,
    uint64_t *events, int64_t *first, int64_t *fault)
{{
{_FLOAT_CALL if has_floats else _CALL}}}
"""

    def _line(self, text: str) -> None:
        self._lines.append("  " * self._depth + text)

    def _open(self, text: str) -> None:
        self._line(text + " {")
        self._depth += 1

    def _close(self) -> None:
        self._depth -= 1
        self._line("}")

    def _temporary(self, value: str) -> str:
        name = f"t{self._temporaries}"
        self._temporaries += 1
        self._line(f"const uint64_t {name} = {value};")
        return name

    def _nodes(self, nodes: Sequence[Node]) -> None:
        for node in nodes:
            if isinstance(node, LoopNode):
                self._loop(node)
            elif isinstance(node, ConditionNode):
                test = " && ".join(map(self._condition, node.conditions))
                self._open(f"if ({test or '1'})")
                self._nodes(node.body)
                self._close()
            else:
                self._statement(self._scop.statement(node.statement))

    def _condition(self, condition: Constraint) -> str:
        if isinstance(condition, Congruence):
            # C's remainder is 0 just where the mathematical one is.
            return f"{self._affine(condition.form)} % {_int64(condition.modulus)} == 0"
        return f"{self._affine(condition)} >= 0"

    def _loop(self, node: LoopNode) -> None:
        loop = node.loop
        name = f"i{len(self._iterators)}"
        start, stop = self._affine(loop.start), self._affine(loop.stop)
        before = "<" if loop.step > 0 else ">"
        self._open("")
        self._line(f"const int64_t stop_{name} = {stop};")
        outer = self._iterators
        self._iterators = {**outer, loop.iterator: name}
        goes_on = [f"{_int64(loop.scale)} * {name} {before} stop_{name}"]
        goes_on += map(self._condition, node.ends)
        self._open(
            f"for (int64_t {name} = {start}; {' && '.join(goes_on)}; {name} += {_int64(loop.step)})"
        )
        self._nodes(node.body)
        self._iterators = outer
        self._close()
        self._close()

    def _statement(self, statement: Statement) -> None:
        self._open("")
        expr, at, is_chosen = statement.expr, tuple[Expr, ...](), isinstance(statement.expr, Select)
        if isinstance(expr, Scatter):
            self._open(f"if ({self._value(expr.condition, statement)})")
            value, at = self._value(expr.value, statement), expr.at
        elif is_chosen:
            self._line("int is_kept = 0;")
            value = self._stored(expr, statement)
        else:
            value = self._value(expr, statement)
        place = self._place(statement.write, WRITE_ACCESS, at, statement)
        array = self._scop.array(statement.write.array)
        number = self._arrays[array.name]
        self._open("if (!is_kept)" if is_chosen else "")
        self._line(f"a{number}[{place}] = (uint{array.element.width_bits}_t){value};")
        if array.role == "local":
            self._line(f"written[{number}][{place}] = 1;")
        self._close()
        if isinstance(expr, Scatter):
            self._close()
        self._line(f"counts[{self._statements[statement.name]}]++;")
        self._close()

    def _stored(self, expr: Expr, statement: Statement) -> str:
        """Emit the value that is stored; `is_kept` is 1 where the element is left as it is."""
        if isinstance(expr, Select):
            return self._select(expr, statement, self._stored)
        if isinstance(expr, Read) and keeps_element(statement.reads[expr.index], statement):
            self._line("is_kept = 1;")
            return "0"
        return self._value(expr, statement)

    def _place(
        self, access: Access, access_number: int, at: Sequence[Expr], statement: Statement
    ) -> str:
        """Emit the bounds check of an access; return its row-major position.

        Parameters
        ----------
        at: the values of the subscripts that depend on data.
        """
        array = self._scop.array(access.array)
        looked_up = iter([self._value(part, statement) for part in at])
        place, inside, element = "0", [], []
        for subscript, extent in zip(access.subscripts, array.shape, strict=True):
            if isinstance(subscript, Affine):
                name = self._temporary(f"(uint64_t)({self._affine(subscript)})")
            else:
                name = next(looked_up)
            # As unsigned, a negative subscript is a very large one.
            inside.append(f"{name} < {_uint64(extent)}")
            if isinstance(subscript, Window) and subscript.told is not None:
                low, high = max(subscript.told[0], 0), min(subscript.told[1], extent - 1)
                inside.append(f"{name} - {_uint64(low)} <= {_uint64(high - low)}")
            place = f"({place} * {_uint64(extent)} + {name})"
            element.append(name)
        if inside:
            self._open(f"if (!({' && '.join(inside)}))")
            self._line(f"fault[0] = {self._statements[statement.name]};")
            self._line(f"fault[1] = {access_number};")
            for k, name in enumerate(element):
                self._line(f"fault[{2 + k}] = (int64_t){name};")
            self._point("fault", str(2 + rank_limit(self._scop)), statement)
            self._line("return 1;")
            self._close()
        return place

    def _point(self, target: str, base: str, statement: Statement) -> None:
        for position, iterator in enumerate(statement.iterators):
            self._line(f"{target}[{base} + {position}] = {self._iterators[iterator]};")

    def _note(self, kind: EventKind, condition: str, statement: Statement) -> None:
        slot = EVENT_KINDS.index(kind) * len(self._statements) + self._statements[statement.name]
        self._open(f"if ({condition})")
        self._open(f"if (events[{slot}]++ == 0)")
        self._point("first", str(slot * self._point_length), statement)
        self._close()
        self._close()

    def _value(self, expr: Expr, statement: Statement) -> str:
        """Emit the computation of `expr`; return an expression without side effects."""
        match expr:
            case Constant(value, type_):
                return _uint64(type_.wrap(value))
            case IndexValue(affine, type_):
                return self._wrapped(f"(uint64_t)({self._affine(affine)})", type_)
            case ScalarParameter(name, type_):
                return self._wrapped(f"scalars[{self._scalars[name]}]", type_)
            case Read():
                return self._wrapped(self._read(expr, statement), expr.type)
            case Unary(op, operand, type_):
                x = self._value(operand, statement)
                exact = f"0 - {x}" if op == "neg" else f"~{x}" if op == "not" else f"{x} == 0"
                return self._wrapped(exact, type_)
            case Cast(operand, type_):
                return self._wrapped(self._value(operand, statement), type_)
            case Scatter():
                raise ValueError("a scatter is no value of one element")
            case Select():
                return self._select(expr, statement, self._value)
            case Binary():
                left = self._value(expr.left, statement)
                right = self._value(expr.right, statement)
                return self._wrapped(self._binary(expr, left, right, statement), expr.type)
            case FloatOperation(op, operands, type_):
                values = [self._value(operand, statement) for operand in operands]
                if op == "to_int":
                    fits = conversion_fits(expr, values[0])
                    self._note("float conversion", f"!{fits}", statement)
                return self._wrapped(float_operation(expr, values), type_)

    def _wrapped(self, exact: str, type_: NumberType) -> str:
        return self._temporary(f"wrap_{_sign(type_)}({exact}, {type_.width_bits})")

    def _read(self, read: Read, statement: Statement) -> str:
        access = statement.reads[read.index]
        place = self._place(access, read.index, read.at, statement)
        array = self._scop.array(access.array)
        number = self._arrays[array.name]
        if array.role == "local" and not array.is_table:
            self._note("uninitialised read", f"!written[{number}][{place}]", statement)
        return self._wrapped(f"a{number}[{place}]", array.element)

    def _select(
        self, expr: Select, statement: Statement, arm: Callable[[Expr, Statement], str]
    ) -> str:
        """Emit a branch: C evaluates one arm only, and so only one arm may read or be noted.

        Parameters
        ----------
        arm: emits what an arm computes.
        """
        name = f"t{self._temporaries}"
        self._temporaries += 1
        condition = self._value(expr.condition, statement)
        self._line(f"uint64_t {name};")
        self._open(f"if ({condition})")
        self._line(f"{name} = {arm(expr.if_true, statement)};")
        self._close()
        self._open("else")
        self._line(f"{name} = {arm(expr.if_false, statement)};")
        self._close()
        return self._wrapped(name, expr.type)

    def _binary(self, expr: Binary, left: str, right: str, statement: Statement) -> str:
        type_ = expr.left.type
        if expr.op in COMPARISONS:
            return _comparison(expr.op, left, right, _sign(type_))
        match expr.op:
            case "shl" | "shr":
                bits = type_.width_bits
                self._note("shift count", f"{right} >= {bits}", statement)
                count = f"({right} & {bits - 1})"
                if expr.op == "shl":
                    return f"{left} << {count}"
                return f"shift_right_{_sign(type_)}({left}, {count})"
            case "div" | "rem":
                return self._divide(expr, left, right, statement)
            case _:
                return f"{left} {_SYMBOLS[expr.op]} {right}"

    def _divide(self, expr: Binary, left: str, right: str, statement: Statement) -> str:
        type_ = expr.left.type
        self._note("division by zero", f"{right} == 0", statement)
        if type_.signed:
            overflow = f"{left} == {_uint64(type_.minimum)} && {right} == UINT64_MAX"
            self._note("division overflow", overflow, statement)
        quotient = f"divide_{_sign(type_)}({left}, {right})"
        # Modulo 2**64, a - q * 0 is the dividend too.
        return quotient if expr.op == "div" else f"{left} - {quotient} * {right}"

    def _affine(self, affine: Affine) -> str:
        parts = [f"{_int64(c)} * {self._iterators[name]}" for name, c in affine.terms]
        if affine.constant or not parts:
            parts.append(_int64(affine.constant))
        return f"({' + '.join(parts)})"


_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "and": "&", "or": "|", "xor": "^"}


def point_length(scop: Scop) -> int:
    """Return the number of iterators of the deepest statement."""
    return max((len(statement.iterators) for statement in scop.statements), default=0)


def rank_limit(scop: Scop) -> int:
    """Return the largest number of subscripts of an array."""
    return max((len(array.shape) for array in scop.arrays), default=0)


def _comparison(op: str, left: str, right: str, sign: str) -> str:
    match op:
        case "eq":
            return f"{left} == {right}"
        case "ne":
            return f"{left} != {right}"
        case "lt":
            return f"less_{sign}({left}, {right})"
        case "gt":
            return f"less_{sign}({right}, {left})"
        case "le":
            return f"!less_{sign}({right}, {left})"
        case _:
            return f"!less_{sign}({left}, {right})"


def _sign(type_: NumberType) -> str:
    return "signed" if type_.signed else "unsigned"


def _uint64(value: int) -> str:
    return f"UINT64_C(0x{value & (1 << 64) - 1:x})"


def _int64(value: int) -> str:
    return f"INT64_C({value})"
