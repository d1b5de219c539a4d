"""Operations on numbers as C of its own: those of this machine where it has the format.

`float` and `double` are the machine's, and their bits go in and out by `memcpy`. A narrower format
is computed in `double`, and rounded once more in integers. For sums, products, quotients and square
roots the first rounding changes nothing, since 53 digits are two more than twice as many as those
of the format (Figueroa, When is double rounding innocuous?, 1995); a fused product is rounded to
odd first (Boldo and Melquiond, Emulation of FMA and correctly rounded sums, 2008). Exponents of
`double` reach so far that its own subnormal numbers play no part.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from rtlgen.ir.expr import COMPARISONS, FloatOperation
from rtlgen.ir.types import FLOAT32, FLOAT64, FloatType, IntType, NumberType

FLOAT_PRELUDE = """\
#include <fenv.h>
#include <math.h>
#include <string.h>

static inline float float_of(uint64_t bits)
{
  const uint32_t word = (uint32_t)bits;
  float x;
  memcpy(&x, &word, sizeof x);
  return x;
}
static inline uint64_t bits_of_float(float x)
{
  uint32_t word;
  if (x != x) return UINT64_C(0x7fc00000);
  memcpy(&word, &x, sizeof x);
  return word;
}
static inline double double_of(uint64_t bits)
{
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}
static inline uint64_t bits_of_double(double x)
{
  uint64_t word;
  if (x != x) return UINT64_C(0x7ff8000000000000);
  memcpy(&word, &x, sizeof x);
  return word;
}
/* What is subnormal is 0, of a format with e bits of exponent and f bits of fraction. */
static inline uint64_t flushed(uint64_t bits, int e, int f)
{
  const uint64_t top = (UINT64_C(1) << e) - 1;
  return (bits >> f) & top ? bits : bits & (UINT64_C(1) << (e + f));
}
/* Of narrow formats, with e bits of exponent and f bits of fraction. */
static inline double number_of(uint64_t bits, int e, int f)
{
  const uint64_t fraction = bits & ((UINT64_C(1) << f) - 1);
  const int most = (1 << e) - 1, bias = most >> 1, biased = (int)(bits >> f) & most;
  const uint64_t significand = fraction | (uint64_t)(biased != 0) << f;
  double x = ldexp((double)significand, (biased ? biased : 1) - bias - f);
  if (biased == most) x = fraction ? (double)NAN : (double)INFINITY;
  return bits >> (e + f) ? -x : x;
}
static uint64_t rounded(uint64_t negative, uint64_t significand, int exponent, int e, int f)
{
  const int bias = (1 << (e - 1)) - 1;
  const uint64_t sign = negative << (e + f), infinity = ((UINT64_C(1) << e) - 1) << f;
  uint64_t kept = 0, magnitude, rest = significand;
  int leading = exponent - 1, last, dropped;
  while (rest) { rest >>= 1; leading++; }
  if (significand == 0) return sign;
  if (leading > bias) return sign | infinity;
  last = (leading > 1 - bias ? leading : 1 - bias) - f;
  dropped = last - exponent;
  if (dropped <= 0) {
    kept = significand << -dropped;
  } else if (dropped <= 64) {
    const uint64_t half = UINT64_C(1) << (dropped - 1);
    kept = dropped < 64 ? significand >> dropped : 0;
    rest = significand & (half | (half - 1));
    kept += rest > half || (rest == half && (kept & 1));
  }
  /* A significand that rounding has doubled carries into the exponent, up to infinity. */
  magnitude = kept + ((uint64_t)(last + f + bias - 1) << f);
  return sign | magnitude;
}
static inline uint64_t bits_of_number(double x, int e, int f)
{
  const uint64_t word = bits_of_double(x), fraction = word & ((UINT64_C(1) << 52) - 1);
  const int biased = (int)(word >> 52) & 2047;
  if (x != x) return (((UINT64_C(1) << e) - 1) << f) | UINT64_C(1) << (f - 1);
  return rounded(word >> 63, fraction | (uint64_t)(biased != 0) << 52,
    (biased ? biased : 1) - 1075, e, f);
}
static inline uint64_t bits_of_signed(uint64_t x, int e, int f)
{
  return rounded(x >> 63, x >> 63 ? 0 - x : x, 0, e, f);
}
static inline double fused(double a, double b, double c)
{
  const double product = a * b, sum = product + c, part = sum - product;
  const double rest = (product - (sum - part)) + (c - part);
  uint64_t word = bits_of_double(sum);
  if (sum - sum != 0 || rest == 0 || (word & 1)) return sum;
  word += (rest > 0) == (sum > 0) ? 1 : UINT64_MAX;
  return double_of(word);
}
static inline int fits_signed(double x, int bits)
{
  return trunc(x) >= -ldexp(1, bits - 1) && trunc(x) < ldexp(1, bits - 1);
}
static inline int fits_unsigned(double x, int bits) { return x > -1 && x < ldexp(1, bits); }
static inline uint64_t whole_signed(double x, int bits)
{
  const uint64_t limit = UINT64_C(1) << (bits - 1);
  if (x != x) return 0;
  return fits_signed(x, bits) ? (uint64_t)(int64_t)x : x < 0 ? 0 - limit : limit - 1;
}
static inline uint64_t whole_unsigned(double x, int bits)
{
  if (!(x > -1)) return 0;
  return fits_unsigned(x, bits) ? (uint64_t)x : UINT64_MAX >> (64 - bits);
}
static inline uint64_t smaller(uint64_t a, uint64_t b, double x, double y)
{
  return x != x ? b : y != y ? a : x < y ? a : b;
}
static inline uint64_t greater(uint64_t a, uint64_t b, double x, double y)
{
  return x != x ? b : y != y ? a : y < x ? a : b;
}
"""

_SYMBOLS = {"add": "+", "sub": "-", "mul": "*", "div": "/", "lt": "<", "le": "<=", "eq": "=="}
_FUNCTIONS = ("sqrt", "floor", "ceil", "trunc", "round", "rint")


@dataclass(frozen=True, slots=True)
class _Format:
    """How numbers of a type are computed.

    Members
    -------
    suffix: of the functions of <math.h>.
    """

    type: FloatType

    def __post_init__(self) -> None:
        is_own = self.type in (FLOAT32, FLOAT64)
        if not is_own and (self.type.exponent_bits > 8 or self.type.width_bits > 16):
            raise ValueError(f"numbers of {self.type} are not exact in double")

    @property
    def suffix(self) -> str:
        return "f" if self.type == FLOAT32 else ""

    def number(self, bits: str) -> str:
        """Return the number of some bits, of the type in which it is computed."""
        match self.type:
            case t if t == FLOAT32:
                return f"float_of({bits})"
            case t if t == FLOAT64:
                return f"double_of({bits})"
            case FloatType(e, f):
                return f"number_of({bits}, {e}, {f})"

    def double(self, bits: str) -> str:
        """Return the number of some bits as a `double`, which holds it."""
        return f"(double){self.number(bits)}" if self.type == FLOAT32 else self.number(bits)

    def bits(self, number: str) -> str:
        """Return the bits of a number that is computed; of a `double`, those of the nearest one."""
        match self.type:
            case t if t == FLOAT32:
                return f"bits_of_float((float)({number}))"
            case t if t == FLOAT64:
                return f"bits_of_double({number})"
            case FloatType(e, f):
                return f"bits_of_number({number}, {e}, {f})"

    def of_integer(self, value: str, type_: IntType) -> str:
        """Return the bits of the number that is nearest to an integer."""
        if self.type in (FLOAT32, FLOAT64):
            return self.bits(f"(int64_t){value}" if type_.signed else value)
        e, f = self.type.exponent_bits, self.type.fraction_bits
        if type_.signed:
            return f"bits_of_signed({value}, {e}, {f})"
        return f"rounded(0, {value}, 0, {e}, {f})"


def float_operation(expr: FloatOperation, operands: Sequence[str]) -> str:
    """Return the bits of a result, or an integer, as C without side effects.

    Parameters
    ----------
    operands: names of what is operated on.
    """
    if not expr.flushes:
        return _operation(expr, operands)
    given = [_flushed(operand, expr.of) for operand in operands]
    return _flushed(_operation(expr, given), expr.type)


def _flushed(bits: str, type_: NumberType) -> str:
    if isinstance(type_, IntType):
        return bits
    return f"flushed({bits}, {type_.exponent_bits}, {type_.fraction_bits})"


def _operation(expr: FloatOperation, operands: Sequence[str]) -> str:
    of, to = expr.of, expr.type
    if isinstance(of, IntType):
        assert isinstance(to, FloatType)
        return _Format(to).of_integer(operands[0], of)
    format_ = _Format(of)
    if isinstance(to, FloatType):
        if expr.op == "convert":
            return _Format(to).bits(format_.double(operands[0]))
        return _computed(expr.op, format_, operands)
    if expr.op in COMPARISONS:
        left, right = map(format_.number, operands)
        return f"{left} {_SYMBOLS[expr.op]} {right}"
    return f"whole_{_range(to)[0]}({format_.double(operands[0])}, {_range(to)[1]})"


def conversion_fits(expr: FloatOperation, operand: str) -> str:
    """Return as C whether a conversion to an integer has a value there."""
    of, to = expr.of, expr.type
    assert isinstance(of, FloatType) and isinstance(to, IntType)
    sign, bits = _range(to)
    return f"fits_{sign}({_Format(of).double(operand)}, {bits})"


def _range(type_: IntType) -> tuple[str, int]:
    """Return whether a type has negative values, and how many bits of it count."""
    return (
        ("signed", type_.width_bits) if type_.signed else ("unsigned", type_.maximum.bit_length())
    )


def _computed(op: str, format_: _Format, operands: Sequence[str]) -> str:
    sign = f"UINT64_C(0x{format_.type.sign_bit:x})"
    a = operands[0]
    numbers = [format_.number(operand) for operand in operands]
    match op:
        case "neg":
            return f"{a} ^ {sign}"
        case "abs":
            return f"{a} & ~{sign}"
        case "copysign":
            return f"({a} & ~{sign}) | ({operands[1]} & {sign})"
        case "min" | "max":
            name = "smaller" if op == "min" else "greater"
            return f"{name}({', '.join([*operands, *numbers])})"
        case "fma":
            is_own = format_.type in (FLOAT32, FLOAT64)
            name = f"fma{format_.suffix}" if is_own else "fused"
            return format_.bits(f"{name}({', '.join(numbers)})")
        case _ if op in _FUNCTIONS:
            return format_.bits(f"{op}{format_.suffix}({numbers[0]})")
        case _:
            return format_.bits(f"{numbers[0]} {_SYMBOLS[op]} {numbers[1]}")
