/* What functions of doubles have in common. */
#pragma once
#include "_integers.c"

/* p in [1/2, 2), in units of 2^-63, times 2^(scale - 1021) */
static uint64_t rtlgen_rounded(uint64_t p, uint64_t scale)
{
  return (scale + (p >> 63) << 52) + ((p >> 63 ? p >> 10 : p >> 9) + 1 >> 1);
}

/* the same as a float, times 2^(scale - 125) */
static uint32_t rtlgen_rounded_float(uint64_t p, uint32_t scale)
{
  return (scale + (uint32_t)(p >> 63) << 23) + ((uint32_t)(p >> 63 ? p >> 39 : p >> 38) + 1 >> 1);
}
