/* fmod, which is exact, on the bits of two doubles.
 *
 * Method: that of fmodf.c, 11 of the doublings in a step: 187 steps make the 2,045 that there may be.
 */
#include "_integers.c"

static uint64_t rtlgen_fmod(uint64_t x, uint64_t y)
{
  uint64_t size_x = x & 0x7fffffffffffffff, size_y = y & 0x7fffffffffffffff;
  int e_x = size_x >> 52 ? (int)(size_x >> 52) : 1, e_y = size_y >> 52 ? (int)(size_y >> 52) : 1;
  uint64_t m_x = size_x >> 52 ? size_x & 0xfffffffffffff | 0x10000000000000 : size_x;
  uint64_t m_y = size_y >> 52 ? size_y & 0xfffffffffffff | 0x10000000000000 : size_y ? size_y : 1;

  int left = e_x > e_y ? e_x - e_y : 0;
  uint64_t rest = m_x;
  for (int step = 0; step < 187; step++) {
    int by = left > 11 ? 11 : left;
    rest = (rest << by) % m_y;
    left -= by;
  }

  /* the first bit that is set goes to where it stands in a double, or as far as the exponent goes down */
  uint32_t r_16 = rtlgen_sixteen(rest), r_4 = rtlgen_four(r_16);
  int zeros = (int)rtlgen_zeros(rest, r_16, r_4) - 11;
  int up = zeros < e_y - 1 ? zeros : e_y - 1;
  uint64_t moved = rest << (up & 63);
  uint64_t result = moved + ((moved >> 52 ? (uint64_t)(e_y - up - 1) : 0) << 52);

  return size_x >= 0x7ff0000000000000 || size_y > 0x7ff0000000000000 || size_y == 0 ? 0x7ff8000000000000
         : size_x < size_y ? x
                           : x & 0x8000000000000000 | (rest == 0 ? 0 : result);
}
