/* cbrt on the bits of a double, within 0.6 units in the last place: as in _cbrt.c. */
#include "_cbrt.c"

static uint64_t rtlgen_cbrt(uint64_t x)
{
  /* a subnormal x is shifted up */
  uint64_t s0 = x & 0xfffffffffffff;
  uint32_t s_16 = rtlgen_sixteen(s0), s_4 = rtlgen_four(s_16);
  int shift = rtlgen_zeros(s0, s_16, s_4) - 11;
  int is_subnormal = (x >> 52 & 0x7ff) == 0;
  uint64_t m = is_subnormal ? s0 << (shift & 63) : s0 | 0x10000000000000;
  uint32_t up = 1200 - 1023 + (is_subnormal ? 1 - shift : (int)(x >> 52 & 0x7ff));
  int third = rtlgen_cbrt_third(up);
  uint64_t result = rtlgen_rounded(rtlgen_cbrt_of(up - 1200 - 3 * third, m), 1022 + third);
  return (x << 1) > 0xffe0000000000000                             ? 0x7ff8000000000000
         : (x << 1) == 0 || (x << 1) == 0xffe0000000000000         ? x
                                                                   : x & 0x8000000000000000 | result;
}
