/* expf, correctly rounded, on the bits of a float.
 *
 * Method: x = k ln 2 + y, and e^y as in _expf.c.
 *
 * Errors, of a result in [1, 2): ln 2 in 62 bits 2^-56, E 2^-58, T 2^-51, r^2/2 2^-53, what the
 * products leave out 2^-56: in all less than 2^-50.5, and 2^-53 in the mean. x is exact in units of
 * 2^-48. e^x is no float and no midpoint, but for x = 0; below 2^-25 it rounds to 1. That the errors
 * never meet a midpoint is shown by all 2^32 inputs (tests/math_library).
 */
#include "_expf.c"

static uint32_t rtlgen_expf(uint32_t x)
{
  uint32_t magnitude = x & 0x7fffffff;
  int negative = x >> 31;

  /* |x| in units of 2^-48, below 2^7 */
  uint64_t fixed = (uint64_t)(magnitude & 0x7fffff | 0x800000) << ((magnitude >> 23) - 102 & 31);
  int64_t exact = negative ? -(int64_t)fixed : (int64_t)fixed;

  /* k is x / ln 2 rounded down, or one less, so that 0 <= y < 364/512 */
  int k = (int16_t)(exact >> 40) * 5909 - 8192 >> 20;
  uint32_t n = k + 160;
  uint64_t k_log2 = rtlgen_ln2_modulo(n & 15) + (rtlgen_ln2_modulo(n >> 4 & 15) << 4) + (n & 256 ? 0x22b23f3bab736820 : 0x62c41473794fd20);
  uint64_t y = ((uint64_t)exact << 14) - k_log2 & 0x3fffffffffffffff;

  uint64_t b = rtlgen_expf_minus_1(y & 0x1fffffffffffff);
  uint64_t p = rtlgen_expf_times(rtlgen_expf_e[y >> 53], b);

  /* p in units of 2^-57; a guard bit is kept, then rounded */
  int two = p >> 58 & 1;
  int scale = k + two;
  int is_subnormal = scale < -126;
  uint32_t kept = (uint32_t)((two ? p >> 1 : p) >> 33) & 0x1ffffff;
  uint32_t guarded = kept >> (is_subnormal ? -126 - scale & 31 : 0);
  uint32_t rounded = ((is_subnormal ? 0 : (uint32_t)(scale + 126)) << 23) + (guarded + 1 >> 1);

  return magnitude > 0x7f800000                ? 0x7fc00000
         : magnitude <= 0x33000000             ? 0x3f800000
         : !negative && magnitude > 0x42b17217 ? 0x7f800000
         : negative && magnitude >= 0x42d00000 ? 0
                                               : rounded;
}
