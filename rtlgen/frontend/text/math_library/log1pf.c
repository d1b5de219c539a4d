/* log1pf, correctly rounded, on the bits of a float: the logarithm of 1 + x, which is a double, as in _ln.c.
 *
 * log(1 + x) is no float and no midpoint, but for x = 0; below 2^-26 it rounds to x. That the errors never meet a midpoint
 * is shown by all 2^32 inputs (tests/math_library). From 2^53 on 1 + x is rounded: 2^-58 of the result.
 */
#include "_ln.c"

static uint32_t rtlgen_log1pf(uint32_t x)
{
  uint64_t y = __double_as_ulong(1.0 + (double)__uint_as_float(x));
  uint64_t log_y = rtlgen_ln_times(y, 0x8000000000000000, 0, 29);
  uint32_t size = ((uint32_t)(log_y >> 52 & 0x7ff) - 896 << 23) + ((uint32_t)(log_y >> 29) & 0x7fffff);

  return (x << 1) > 0xff000000   ? 0x7fc00000
         : (x << 1) < 0x65000000 ? x
         : x > 0xbf800000        ? 0x7fc00000
         : x == 0xbf800000       ? 0xff800000
         : x == 0x7f800000       ? x
                                 : (uint32_t)(log_y >> 63) << 31 | size;
}
