/* hypotf on the bits of two floats: half a unit in the last place, and 2^-27 units more at most.
 *
 * Method: the squares are exact in doubles, and neither too large nor too small for them; their sum and its root are
 * rounded to doubles, 2^-53 of them each.
 */
#include <stdint.h>

static uint32_t rtlgen_hypotf(uint32_t x, uint32_t y)
{
  double a = __uint_as_float(x), b = __uint_as_float(y);
  uint32_t size = __float_as_uint((float)__builtin_sqrt(a * a + b * b));
  return x << 1 == 0xff000000 || y << 1 == 0xff000000 ? 0x7f800000 : size > 0x7f800000 ? 0x7fc00000 : size;
}
