/* tanf on the bits of a float.
 *
 * Method: the sine of _sinf.c and the cosine of _sinef.c as doubles, and their quotient. Below 2^-12 tan x rounds to x.
 */
#include "_sinf.c"

static uint32_t rtlgen_tanf(uint32_t x)
{
  uint32_t magnitude = x & 0x7fffffff;
  uint64_t angle = rtlgen_sinef_angle_of(x);
  double sine = (double)(int64_t)rtlgen_sinf_of(magnitude, angle);
  double cosine = (double)(int64_t)rtlgen_sinef_of(angle + 0x1000000000000000);
  uint64_t quotient = __double_as_ulong(sine / cosine) - ((uint64_t)(126 - rtlgen_sinf_scale(magnitude)) << 52);
  uint32_t size = __float_as_uint((float)__ulong_as_double(quotient));
  uint32_t sign = (x ^ (uint32_t)(angle >> 60 & 1) << 31) & 0x80000000;

  return magnitude >= 0x7f800000 ? 0x7fc00000 : magnitude < 0x39800000 ? x : sign | size;
}
