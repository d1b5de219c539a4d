/* log1p on the bits of a double, within 0.65 units in the last place.
 *
 * Method: that of _ln.c, of 1 + x = 2^k m to 64 bits behind the point. There z is rounded to as many, which is 1/8
 * unit in the last place of a logarithm of 2^-10; beside 1, z is x, exactly. Below 2^-54 log(1 + x) is x but for 2^-55
 * of it.
 */
#include "_ln.c"

static uint64_t rtlgen_log1p(uint64_t x)
{
  uint64_t magnitude = x & 0x7fffffffffffffff;
  int negative = (int)(x >> 63);
  int exponent = (int)(magnitude >> 52);
  uint64_t m = magnitude & 0xfffffffffffff | 0x10000000000000;

  /* |x| and 1 - |x| in units of 2^-64, for |x| below 1 */
  int left = exponent - 1011;
  uint64_t size = left < -63 ? 0 : left < 0 ? m >> (-left & 63) : m << (left & 63);
  uint64_t less = 0 - size;
  uint32_t less_16 = rtlgen_sixteen(less), less_4 = rtlgen_four(less_16);
  int zeros = rtlgen_zeros(less, less_16, less_4);

  /* x + 1 in units of 2^(exponent - 1086), for x from 1 on; it may be 2^64 more */
  int is_large = exponent >= 1023;
  uint64_t sum = (m << 11) + (exponent > 1086 ? 0 : 0x8000000000000000 >> (exponent - 1023 & 63));
  int carries = !(sum >> 63);

  int k = negative ? -1 - zeros : is_large ? exponent - 1023 + carries : 0;
  uint64_t fraction = negative ? less << 1 << (zeros & 63) : is_large ? (carries ? sum : sum << 1) : size;

  uint32_t part = fraction >> 55;
  int near = (k == 0 && part == 0) || (k == -1 && part == 511);
  uint64_t row = rtlgen_ln_c[part];
  uint64_t c = row >> 46 & 0x1fff;
  uint64_t z = rtlgen_ln_z(c, fraction >> 12) + ((fraction & 0xfff) * c + 0x800 >> 12);
  int below = (int)(z >> 63);
  uint64_t w = (below ? 0 - z : z) & 0x7fffffffffffff;
  uint64_t scaled = near ? m << 2 : w;
  int scale = near ? 1013 - exponent : 0;
  uint64_t found = rtlgen_ln_of(k, near, row, rtlgen_ln_m[part], below, w, scaled, scale, 0x8000000000000000, 0, 0);

  return magnitude > 0x7ff0000000000000   ? 0x7ff8000000000000
         : magnitude < 0x3c90000000000000 ? x
         : x > 0xbff0000000000000         ? 0x7ff8000000000000
         : x == 0xbff0000000000000        ? 0xfff0000000000000
         : x == 0x7ff0000000000000        ? x
                                          : found;
}
