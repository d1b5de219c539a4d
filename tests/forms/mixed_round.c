/* Rounded to the next integer, within a byte. */
#include <math.h>
void quantise(const float x[16], unsigned char y[16])
{
  for (int i = 0; i < 16; i++) {
    float v = roundf(x[i] * 32.0f + 128.0f);
    y[i] = v != v || v < 0 ? 0 : v > 255 ? 255 : (unsigned char)v;
  }
}
