/* atanf, correctly rounded, on the bits of a float.
 *
 * Method, errors: those of _atanf.c. atan x is no float and no midpoint, but for x = 0; below 2^-12 it rounds to x, and
 * from 2^26 on to pi/2. That the errors never meet a midpoint is shown by all 2^32 inputs (tests/math_library).
 */
#include "_atanf.c"

/* A product that takes two multiplier blocks. */
static uint64_t rtlgen_atanf_product(uint64_t m, uint64_t w) { return (m & 0xffffff) * (w & 0x1ffff); }

static uint32_t rtlgen_atanf(uint32_t x)
{
  uint32_t exponent = x >> 23 & 255;
  int is_small = exponent < 121;
  uint64_t m = x & 0x7fffff | 0x800000;
  uint32_t parts = rtlgen_atanf_parts[exponent - 121 & 31];
  uint64_t h = is_small ? m << (exponent - 110 & 15) : (uint64_t)(m << (parts >> 9 & 7) & 0x7fffff) << 11;
  uint64_t b = is_small ? m : h >> 11;
  uint32_t part = is_small ? 511 : (parts & 511) + ((x & 0x7fffff) >> 23 - (parts >> 9 & 7)) & 511;

  uint64_t p1 = rtlgen_atanf_of(h, part);
  uint64_t p = rtlgen_atanf_c0[part] + (rtlgen_atanf_product(b, p1 >> 51) << 28) + (rtlgen_atanf_product(b, p1 >> 34) << 11)
               + (rtlgen_atanf_product(b, p1 >> 17) + (rtlgen_atanf_product(b, p1) >> 17) >> 6);

  uint32_t two = p >> 58 & 1;
  uint32_t scale = (exponent < 127 ? exponent : 127) - 2;
  uint32_t rounded = (scale + two << 23) + (((uint32_t)((two ? p >> 1 : p) >> 33) & 0x1ffffff) + 1 >> 1);

  return (x << 1) > 0xff000000    ? 0x7fc00000
         : (x << 1) < 0x73000000  ? x
         : (x << 1) >= 0x99000000 ? x & 0x80000000 | 0x3fc90fdb
                                  : x & 0x80000000 | rounded;
}
