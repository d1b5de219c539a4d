/* cosf, correctly rounded, on the bits of a float.
 *
 * Method, errors: those of _sinef.c. cos x is no float and no midpoint, but for x = 0; below 2^-12 it
 * rounds to 1. That the errors never meet a midpoint is shown by all 2^32 inputs (tests/math_library).
 */
#include "_sinef.c"

static uint32_t rtlgen_cosf(uint32_t x)
{
  uint32_t magnitude = x & 0x7fffffff;
  uint64_t angle = rtlgen_sinef_angle_of(x) + 0x1000000000000000;
  uint64_t p0 = rtlgen_sinef_of(angle);
  uint32_t sixteen = rtlgen_sixteen(p0), four = rtlgen_four(sixteen);
  uint32_t zeros = rtlgen_zeros(p0, sixteen, four);
  uint32_t sign = (uint32_t)(angle >> 61 & 1) << 31;

  return magnitude >= 0x7f800000  ? 0x7fc00000
         : magnitude < 0x39800000 ? 0x3f800000
                                  : sign | rtlgen_sinef_rounded(p0, zeros, 126);
}
