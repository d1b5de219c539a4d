/* expm1 on the bits of a double, within 0.65 units in the last place: as in _expm1.c. Below 2^-54 it rounds to x. */
#include "_expm1.c"

static uint64_t rtlgen_expm1(uint64_t x)
{
  int exponent = (int)(x >> 52 & 0x7ff), negative = (int)(x >> 63);
  uint64_t m = x & 0xfffffffffffff | 0x10000000000000;
  int k = rtlgen_exp_power(negative, exponent, m);
  uint64_t q = rtlgen_expm1_of(negative, exponent, m, k);
  int up = rtlgen_exp_up(q);
  int scale = (exponent < 1023 ? exponent - 1 - negative : 1023 + (negative ? 0 : k)) - up;
  uint64_t result = rtlgen_rounded(q << up, scale);
  return (x << 1) > 0xffe0000000000000                   ? 0x7ff8000000000000
         : (x << 1) < 0x7920000000000000                 ? x
         : !negative && x > 0x40862e42fefa39ef           ? 0x7ff0000000000000
         : negative && (x << 1) >= 0x8088000000000000    ? 0xbff0000000000000
                                                         : x & 0x8000000000000000 | result;
}
