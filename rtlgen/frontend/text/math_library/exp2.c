/* exp2 on the bits of a double, within 0.6 units in the last place.
 *
 * Method: x = k + f, of which the bits below 2^-64 are left out, and 2^f as in _exp2.c.
 */
#include "_exp2.c"

static uint64_t rtlgen_exp2(uint64_t x)
{
  uint64_t m = x & 0xfffffffffffff | 0x10000000000000;
  int right = 1075 - (int)(x >> 52 & 0x7ff); /* the places behind the point */
  int whole = right > 52 ? 0 : (int)(m >> (right & 63)) & 0x7ff;
  uint64_t size = right > 127 || right < 0 ? 0 : right > 63 ? m >> (right & 63) : m << 1 << (63 - right & 63);
  uint64_t f = x >> 63 ? 0 - size : size;
  uint64_t b = rtlgen_exp2_minus_1(f & 0x7fffffffffffff);
  uint64_t p = rtlgen_exp2_times(rtlgen_exp2_e[f >> 55], b);
  int scale = (x >> 63 ? -whole - (size != 0) : whole) + (int)(p >> 62 & 1);

  return (x << 1) > 0xffe0000000000000                     ? 0x7ff8000000000000
         : x >> 63 == 0 && x >= 0x4090000000000000         ? 0x7ff0000000000000
         : x >> 63 && (x << 1) >= 0x8121a00000000000       ? 0
                                                           : rtlgen_exp2_rounded(p, scale, f != 0);
}
