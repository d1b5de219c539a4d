/* exp on the bits of a double, within 0.6 units in the last place: as in _exp.c. */
#include "_exp.c"

static uint64_t rtlgen_exp(uint64_t x)
{
  uint64_t magnitude = x & 0x7fffffffffffffff;
  int negative = (int)(x >> 63);
  int exponent = (int)(magnitude >> 52);
  uint64_t m = magnitude & 0xfffffffffffff | 0x10000000000000;
  int k = rtlgen_exp_power(negative, exponent, m);
  uint64_t p = rtlgen_exp_of(negative, exponent, m, k);

  /* p in units of 2^-61; a guard bit is kept, then rounded */
  int two = (int)(p >> 62 & 1);
  int scale = k + two;
  int is_subnormal = scale < -1022;
  int down = -1022 - scale < 63 ? -1022 - scale : 63;
  uint64_t kept = ((two ? p >> 1 : p) >> 8 & 0x3fffffffffffff) >> (is_subnormal ? down & 63 : 0);
  uint64_t rounded = ((uint64_t)(is_subnormal ? 0 : scale + 1022) << 52) + (kept + 1 >> 1);

  return magnitude > 0x7ff0000000000000                ? 0x7ff8000000000000
         : !negative && magnitude > 0x40862e42fefa39ef ? 0x7ff0000000000000
         : negative && magnitude >= 0x4087500000000000 ? 0
                                                       : rounded;
}
