/* A polynomial of degree 7 of one part of a binade, within 2^-58 of what its coefficients say.
 *
 * Method: |x| = 2^e y, 1 <= y < 2. A binade has parts, of which each has a polynomial in what is left of y, h: c0 + b p,
 * p = c1 + h (c2 + h (c3 + ...)); b is h, or y where c0 is 0 and the error is to be relative.
 */
#pragma once
#include "_doubles.c"

/* a times 18 bits with a sign; h p 2^17 of 51 bits h and p, where T has the 18 upper ones of p, and L and M what follows */
static int64_t rtlgen_binades_signed(uint64_t a, int64_t b) { return (int64_t)(a & 0x1ffff) * ((int32_t)((uint32_t)b << 14) >> 14); }
static int64_t rtlgen_binades_short(uint64_t h, int64_t T, int64_t L)
{
  return (rtlgen_binades_signed(h >> 34, T) << 17) + rtlgen_binades_signed(h >> 17, T) + (int64_t)rtlgen_product(h >> 34, L);
}
static int64_t rtlgen_binades_long(uint64_t h, int64_t T, int64_t L, int64_t M)
{
  return rtlgen_binades_short(h, T, L)
         + (rtlgen_binades_signed(h, T) + (int64_t)(rtlgen_product(h >> 17, L) + rtlgen_product(h >> 34, M)) >> 17);
}

/* c0 + b p in units of 2^-63, of h in units of 2^-51 and b of 2^-63. As they stand in the tables: c0, c1, c2; c3 above 13
 * bits of c6; c4 above 18 bits of c7, in units of 2^-54, and three of no use; c5 above 19 bits, from 13 on, of c6, and
 * seven of no use. All others are in units of 2^-63. */
static uint64_t rtlgen_binades_of(uint64_t h, uint64_t b, uint64_t c0, uint64_t c1, int64_t c2, int64_t w3, int64_t w4, int64_t w5)
{
  int64_t p6 = (((int32_t)((uint32_t)w5 << 6) >> 13) * 8192l | w3 & 0x1fff)
               + (rtlgen_binades_signed(h >> 34, w4 >> 3) + (rtlgen_binades_signed(h >> 17, w4 >> 3) >> 17) >> 8);
  int64_t p5 = (w5 >> 26) + (rtlgen_binades_short(h, p6 >> 15, p6 << 2) >> 19);
  int64_t p4 = (w4 >> 21) + (rtlgen_binades_short(h, p5 >> 20, p5 >> 3) >> 14);
  int64_t p3 = (w3 >> 13) + (rtlgen_binades_long(h, p4 >> 26, p4 >> 9, p4 << 8) >> 8);
  int64_t p2 = c2 + rtlgen_binades_long(h, p3 >> 34, p3 >> 17, p3);
  uint64_t p1 = c1 + (rtlgen_binades_long(h, p2 >> 36, p2 >> 19, p2 >> 2) << 2);
  return c0 + (rtlgen_high(b, p1) << 1);
}
