/* atan2f on the bits of two floats: half a unit in the last place, and 2^-14 units more at most.
 *
 * Method: the quotient t of the smaller magnitude by the greater one, in 40 bits, and atan t as in _atanf.c; from
 * there, by the octant, to the angle. The error is that of t, 2^-39 of itself.
 */
#include "_atanf.c"

static uint32_t rtlgen_atan2f(uint32_t y, uint32_t x)
{
  uint32_t size_y = y & 0x7fffffff, size_x = x & 0x7fffffff;
  int is_steep = size_y > size_x;
  uint32_t low = is_steep ? size_x : size_y, high = is_steep ? size_y : size_x;

  /* subnormal ones are shifted up */
  uint32_t low_m = low >> 23 ? low & 0x7fffff | 0x800000 : low, high_m = high >> 23 ? high & 0x7fffff | 0x800000 : high;
  uint32_t low_16 = rtlgen_sixteen(low_m), low_4 = rtlgen_four(low_16);
  uint32_t high_16 = rtlgen_sixteen(high_m), high_4 = rtlgen_four(high_16);
  int low_zeros = rtlgen_zeros(low_m, low_16, low_4) - 40, high_zeros = rtlgen_zeros(high_m, high_16, high_4) - 40;
  uint64_t numerator = (uint64_t)(low_m << (low_zeros & 31) & 0xffffff) << 40;
  uint32_t denominator = high_m << (high_zeros & 31) & 0xffffff | 0x800000;

  /* t = 2^e q 2^-40 */
  uint64_t quotient = numerator / denominator;
  uint64_t q = (quotient >> 40 & 1 ? quotient : quotient << 1) & 0x1ffffffffff;
  int e = (int)((low >> 23 ? low >> 23 : 1) - low_zeros) - (int)((high >> 23 ? high >> 23 : 1) - high_zeros)
          - !(quotient >> 40 & 1);
  int is_small = e < -6;
  uint32_t parts = rtlgen_atanf_parts[e + 6 & 31];
  uint64_t b = is_small ? q : q << (parts >> 9 & 7) & 0xffffffffff;
  uint64_t h = is_small ? (e < -40 ? 0 : q >> (-e & 63)) : b >> 6;
  uint32_t part = is_small ? 511 : (uint32_t)((parts & 511) + ((q & 0xffffffffff) >> 40 - (parts >> 9 & 7))) & 511;

  uint64_t p1 = rtlgen_atanf_of(h, part);
  uint64_t p = rtlgen_atanf_c0[part] + (rtlgen_product(b >> 24, p1 >> 42) << 26)
               + (rtlgen_product(b >> 24, p1 >> 25) + rtlgen_product(b >> 7, p1 >> 42) << 9)
               + (rtlgen_product(b >> 24, p1 >> 8) + rtlgen_product(b >> 7, p1 >> 25) + rtlgen_product(b << 10, p1 >> 42) >> 8);

  /* the angle in units of 2^-58, times 2^scale */
  uint64_t at = e < -63 ? 0 : p >> (-e & 63);
  int is_left = (int)(x >> 31), is_plain = !is_steep && !is_left;
  uint64_t base = is_steep ? 0x6487ed5110b4612 : 0xc90fdaa22168c23;
  uint64_t angle = is_plain ? p : is_steep == is_left ? base + at : base - at;
  int scale = is_plain ? e : 0;
  int top = angle >> 59 & 1 ? 2 : (int)(angle >> 58 & 1);
  int exponent = 126 + top + scale;
  int down = exponent > 0 ? 0 : exponent < -30 ? 31 : 1 - exponent;
  uint32_t kept = ((uint32_t)(angle >> (33 + top)) & 0x1ffffff) >> (down & 31);
  uint32_t rounded = ((uint32_t)(exponent > 0 ? exponent - 1 : 0) << 23) + (kept + 1 >> 1);

  uint32_t half = size_x == 0x7f800000 ? (is_left ? 0x4016cbe4 : 0x3f490fdb) : 0x3fc90fdb;
  uint32_t special = size_y == 0x7f800000 ? half : is_left ? 0x40490fdb : 0;
  return size_x > 0x7f800000 || size_y > 0x7f800000 ? 0x7fc00000
         : (y & 0x80000000)
             | (size_y == 0 || high == 0x7f800000 ? special : size_x == 0 ? 0x3fc90fdb : rounded);
}
