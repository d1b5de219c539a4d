/* sinhf, correctly rounded, on the bits of a float: as in _sinh.c.
 *
 * sinh x is no float and no midpoint, but for x = 0; below 2^-12 it rounds to x. That the errors never meet a midpoint is
 * shown by all 2^32 inputs (tests/math_library).
 */
#include "_sinh.c"

static uint32_t rtlgen_sinhf(uint32_t x)
{
  int exponent = (int)(x >> 23 & 255) + 896;
  uint64_t m = (uint64_t)(x & 0x7fffff | 0x800000) << 29;
  int k = rtlgen_exp_power(0, exponent, m);
  uint64_t q = rtlgen_sinh_of(exponent, m, k);
  int up = rtlgen_exp_up(q);
  uint32_t result = rtlgen_rounded_float(q << up, (exponent < 1024 ? exponent - 897 : 126 + k) - up);
  return (x << 1) > 0xff000000 ? 0x7fc00000
         : (x << 1) < 0x73000000 ? x : x & 0x80000000 | ((x << 1) >= 0x8565a9fa ? 0x7f800000 : result);
}
