/* erff, correctly rounded, on the bits of a float: as in _erf.c.
 *
 * erf x is no float and no midpoint, but for x = 0. That the errors never meet a midpoint is shown by all 2^32 inputs
 * (tests/math_library).
 */
#include "_erf.c"

static uint32_t rtlgen_erff(uint32_t x)
{
  uint32_t exponent = x >> 23 & 255 ? x >> 23 & 255 : 1;
  uint64_t m = (uint64_t)(x & 0x7fffff | (uint32_t)((x >> 23 & 255) != 0) << 23) << 29;
  uint32_t result = rtlgen_rounded_float(rtlgen_erf_of(exponent + 896, m), exponent < 126 ? exponent - 1 : 125);
  return (x << 1) > 0xff000000 ? 0x7fc00000 : x & 0x80000000 | ((x << 1) >= 0x81000000 ? 0x3f800000 : result);
}
