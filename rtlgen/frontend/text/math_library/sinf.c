/* sinf, correctly rounded, on the bits of a float.
 *
 * Method, errors: those of _sinf.c and _sinef.c. sin x is no float and no midpoint, but for x = 0; below 2^-12 it rounds
 * to x. That the errors never meet a midpoint is shown by all 2^32 inputs (tests/math_library).
 */
#include "_sinf.c"

static uint32_t rtlgen_sinf(uint32_t x)
{
  uint32_t magnitude = x & 0x7fffffff;
  uint64_t angle = rtlgen_sinef_angle_of(x);
  uint64_t p0 = rtlgen_sinf_of(magnitude, angle);
  uint32_t sixteen = rtlgen_sixteen(p0), four = rtlgen_four(sixteen);
  uint32_t zeros = rtlgen_zeros(p0, sixteen, four);
  uint32_t rounded = rtlgen_sinef_rounded(p0, zeros, rtlgen_sinf_scale(magnitude));
  uint32_t sign = (x ^ (uint32_t)(angle >> 61 & 1) << 31) & 0x80000000;

  return magnitude >= 0x7f800000  ? 0x7fc00000
         : magnitude < 0x39800000 ? x
                                  : sign | rounded;
}
