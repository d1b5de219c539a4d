/* sinh on the bits of a double, within 0.6 units in the last place: as in _sinh.c. Below 2^-27 it is x but for 2^-56.6 of
 * it. */
#include "_sinh.c"

static uint64_t rtlgen_sinh(uint64_t x)
{
  int exponent = (int)(x >> 52 & 0x7ff);
  uint64_t m = x & 0xfffffffffffff | 0x10000000000000;
  int k = rtlgen_exp_power(0, exponent, m);
  uint64_t q = rtlgen_sinh_of(exponent, m, k);
  int up = rtlgen_exp_up(q);
  uint64_t result = rtlgen_rounded(q << up, (exponent < 1024 ? exponent - 1 : 1022 + k) - up);
  return (x << 1) > 0xffe0000000000000  ? 0x7ff8000000000000
         : (x << 1) < 0x7c80000000000000 ? x
                                         : x & 0x8000000000000000 | ((x << 1) >= 0x810c679d1f73f0fc ? 0x7ff0000000000000 : result);
}
