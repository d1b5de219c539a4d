/* exp2f, correctly rounded, on the bits of a float.
 *
 * Method: x = k + f, of which the bits below 2^-64 are left out, and 2^f as in _exp2.c. 2^x is a midpoint
 * only for x = -150, of which the even side is 0. That the errors never meet another midpoint is shown by
 * all 2^32 inputs (tests/math_library).
 */
#include "_exp2.c"

static uint32_t rtlgen_exp2f(uint32_t x)
{
  uint64_t m = x & 0x7fffff | 0x800000;
  int right = 150 - (int)(x >> 23 & 255); /* the places behind the point */
  int whole = right > 23 ? 0 : (int)(m >> (right & 31)) & 255;
  uint64_t size = right > 104 || right < 1 ? 0 : right > 64 ? m >> (right & 63) : m << (64 - right & 63);
  uint64_t f = x >> 31 ? 0 - size : size;
  uint64_t b = rtlgen_exp2_minus_1(f & 0x7fffffffffffff);
  uint64_t p = rtlgen_exp2_times(rtlgen_exp2_e[f >> 55], b);
  int scale = (x >> 31 ? -whole - (size != 0) : whole) + (int)(p >> 62 & 1);

  int is_subnormal = scale < -126;
  int down = -126 - scale < 31 ? -126 - scale : 31;
  uint32_t kept = (uint32_t)((p >> 62 & 1 ? p >> 1 : p) >> 37 & 0x1ffffff) >> (is_subnormal ? down & 31 : 0);
  uint32_t rounded = ((uint32_t)(is_subnormal ? 0 : scale + 126) << 23) + (kept + (f != 0) >> 1);

  return (x << 1) > 0xff000000                ? 0x7fc00000
         : x >> 31 == 0 && x >= 0x43000000    ? 0x7f800000
         : x >> 31 && (x << 1) >= 0x862c0000  ? 0
                                              : rounded;
}
