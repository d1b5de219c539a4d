/* expm1f, correctly rounded, on the bits of a float: as in _expm1.c.
 *
 * e^x - 1 is no float and no midpoint, but for x = 0; below 2^-26 it rounds to x. That the errors never meet a midpoint is
 * shown by all 2^32 inputs (tests/math_library).
 */
#include "_expm1.c"

static uint32_t rtlgen_expm1f(uint32_t x)
{
  int exponent = (int)(x >> 23 & 255) + 896, negative = (int)(x >> 31);
  uint64_t m = (uint64_t)(x & 0x7fffff | 0x800000) << 29;
  int k = rtlgen_exp_power(negative, exponent, m);
  uint64_t q = rtlgen_expm1_of(negative, exponent, m, k);
  int up = rtlgen_exp_up(q);
  int scale = (exponent < 1023 ? exponent - 897 - negative : 127 + (negative ? 0 : k)) - up;
  uint32_t result = rtlgen_rounded_float(q << up, scale);
  return (x << 1) > 0xff000000                 ? 0x7fc00000
         : (x << 1) < 0x65000000               ? x
         : !negative && x > 0x42b17217         ? 0x7f800000
         : negative && (x << 1) >= 0x83800000  ? 0xbf800000
                                               : x & 0x80000000 | result;
}
