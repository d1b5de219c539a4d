/* fmodf, which is exact, on the bits of two floats.
 *
 * Method: x = 2^d r 2^e, y = m 2^e, and 2^d r modulo m, 40 of the doublings in a step: 7 steps make the 253 that there may
 * be.
 */
#include "_integers.c"

static uint32_t rtlgen_fmodf(uint32_t x, uint32_t y)
{
  uint32_t size_x = x & 0x7fffffff, size_y = y & 0x7fffffff;
  int e_x = size_x >> 23 ? (int)(size_x >> 23) : 1, e_y = size_y >> 23 ? (int)(size_y >> 23) : 1;
  uint32_t m_x = size_x >> 23 ? size_x & 0x7fffff | 0x800000 : size_x;
  uint32_t m_y = size_y >> 23 ? size_y & 0x7fffff | 0x800000 : size_y ? size_y : 1;

  int left = e_x > e_y ? e_x - e_y : 0;
  uint32_t rest = m_x;
  for (int step = 0; step < 7; step++) {
    int by = left > 40 ? 40 : left;
    rest = (uint32_t)(((uint64_t)rest << by) % m_y);
    left -= by;
  }

  /* the first bit that is set goes to where it stands in a float, or as far as the exponent goes down */
  uint32_t r_16 = rtlgen_sixteen(rest), r_4 = rtlgen_four(r_16);
  int zeros = (int)rtlgen_zeros(rest, r_16, r_4) - 40;
  int up = zeros < e_y - 1 ? zeros : e_y - 1;
  uint32_t moved = rest << (up & 31);
  uint32_t result = moved + ((moved >> 23 ? (uint32_t)(e_y - up - 1) : 0) << 23);

  return size_x >= 0x7f800000 || size_y > 0x7f800000 || size_y == 0 ? 0x7fc00000
         : size_x < size_y                                          ? x
                                                                    : x & 0x80000000 | (rest == 0 ? 0 : result);
}
