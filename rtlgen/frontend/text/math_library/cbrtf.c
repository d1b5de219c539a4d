/* cbrtf, correctly rounded, on the bits of a float: as in _cbrt.c.
 *
 * No root is a midpoint: its cube had 75 bits. That the errors never meet one is shown by all 2^32 inputs
 * (tests/math_library).
 */
#include "_cbrt.c"

static uint32_t rtlgen_cbrtf(uint32_t x)
{
  /* a subnormal x is shifted up */
  uint32_t s0 = x & 0x7fffff;
  uint32_t s_16 = rtlgen_sixteen(s0), s_4 = rtlgen_four(s_16);
  int shift = rtlgen_zeros(s0, s_16, s_4) - 40;
  int is_subnormal = (x >> 23 & 255) == 0;
  uint32_t m = is_subnormal ? s0 << (shift & 31) : s0 | 0x800000;
  uint32_t up = 1200 - 127 + (is_subnormal ? 1 - shift : (int)(x >> 23 & 255));
  int third = rtlgen_cbrt_third(up);
  uint32_t result = rtlgen_rounded_float(rtlgen_cbrt_of(up - 1200 - 3 * third, (uint64_t)m << 29), 126 + third);
  return (x << 1) > 0xff000000 ? 0x7fc00000 : (x << 1) == 0 || (x << 1) == 0xff000000 ? x : x & 0x80000000 | result;
}
