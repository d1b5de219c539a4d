// Sine and cosine by CORDIC in fixed point, rotations by a table of arctangents.
#include <stdint.h>
#define ANGLES 28
#define STEPS 12

static const int32_t arctan[STEPS] = {
  51472, 30386, 16055, 8150, 4091, 2047, 1024, 512, 256, 128, 64, 32};

void cordic(const int32_t angle[ANGLES], int32_t sine[ANGLES], int32_t cosine[ANGLES])
{
  for (int n = 0; n < ANGLES; n++) {
    int32_t x = 39797, y = 0, z = angle[n] % 102944;
    for (int k = 0; k < STEPS; k++) {
      int32_t d = z >= 0 ? 0 : -1;
      int32_t tx = x - (((y >> k) ^ d) - d), ty = y + (((x >> k) ^ d) - d);
      z -= (arctan[k] ^ d) - d;
      x = tx;
      y = ty;
    }
    cosine[n] = x;
    sine[n] = y;
  }
}
