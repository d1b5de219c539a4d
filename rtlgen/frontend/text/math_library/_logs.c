/* What log2f.c and log10f.c have in common. */
#pragma once
#include "_integers.c"

/* h (c1 -+ h (c2 -+ h (c3 -+ h c4))), - if `above`, of 14 bits h; w1 and w2 are c1 and c2, above which is c4: in units
 * of c1, 2^-13 of them */
static uint64_t rtlgen_logs_of(uint64_t h, int above, uint64_t w1, uint64_t w2, uint64_t c3)
{
  uint64_t t4 = rtlgen_product(h, (w2 >> 50 & 15) << 13 | w1 >> 51) >> 8;
  uint64_t p3 = above ? c3 - t4 : c3 + t4;
  uint64_t t3 = (rtlgen_product(h, p3 >> 17) << 17) + rtlgen_product(h, p3) >> 6;
  uint64_t p2 = above ? (w2 & 0x3ffffffffffff) - t3 : (w2 & 0x3ffffffffffff) + t3;
  uint64_t t2 = (rtlgen_product(h, p2 >> 34) << 20) + (rtlgen_product(h, p2 >> 17) << 3) + (rtlgen_product(h, p2) >> 14);
  uint64_t p1 = above ? (w1 & 0x7ffffffffffff) - (t2 >> 9) : (w1 & 0x7ffffffffffff) + (t2 >> 9);
  return (rtlgen_product(h, p1 >> 34) << 33) + (rtlgen_product(h, p1 >> 17) << 16) + (rtlgen_product(h, p1) >> 1);
}

/* the sign and exponent, v in [2^63, 2^64) behind it; what is not a positive number, or 1, set right */
static uint32_t rtlgen_logs_rounded(uint32_t x, uint32_t scale, uint64_t v)
{
  return (x & 0x7fffffff) == 0 ? 0xff800000
         : x > 0x7f800000      ? 0x7fc00000
         : x == 0x7f800000     ? 0x7f800000
         : x == 0x3f800000     ? 0
                               : scale + ((uint32_t)(v >> 39) + 1 >> 1);
}
