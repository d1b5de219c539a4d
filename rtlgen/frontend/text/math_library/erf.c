/* erf on the bits of a double, within 0.6 units in the last place: as in _erf.c. */
#include "_erf.c"

static uint64_t rtlgen_erf(uint64_t x)
{
  uint32_t exponent = x >> 52 & 0x7ff ? x >> 52 & 0x7ff : 1;
  uint64_t m = x & 0xfffffffffffff | (uint64_t)((x >> 52 & 0x7ff) != 0) << 52;
  uint64_t result = rtlgen_rounded(rtlgen_erf_of(exponent, m), exponent < 1022 ? exponent - 1 : 1021);
  return (x << 1) > 0xffe0000000000000 ? 0x7ff8000000000000
         : x & 0x8000000000000000 | ((x << 1) >= 0x8030000000000000 ? 0x3ff0000000000000 : result);
}
