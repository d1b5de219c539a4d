/* cosh on the bits of a double, within 0.6 units in the last place: (e^x + e^-x)/2, as in _exp.c. */
#include "_cosh.c"

static uint64_t rtlgen_cosh(uint64_t x)
{
  int exponent = (int)(x >> 52 & 0x7ff);
  uint64_t m = x & 0xfffffffffffff | 0x10000000000000;
  int k = rtlgen_exp_power(0, exponent, m);
  uint64_t q = rtlgen_cosh_of(exponent, m, k);
  int up = rtlgen_exp_up(q);
  uint64_t result = rtlgen_rounded(q << up, 1022 + k - up);
  return (x << 1) > 0xffe0000000000000   ? 0x7ff8000000000000
         : (x << 1) >= 0x810c679d1f73f0fc ? 0x7ff0000000000000
                                          : result;
}
