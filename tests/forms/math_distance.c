/* Distances from a point, and whether they are numbers. */
#include <math.h>
int distances(const float x[16], const float y[16], float cx, float cy, float d[16])
{
  int count = 0;
  for (int i = 0; i < 16; i++) {
    float dx = fabsf(x[i] - cx), dy = fabsf(y[i] - cy);
    d[i] = sqrtf(fmaf(dx, dx, dy * dy));
    if (isfinite(d[i]) && !signbit(x[i]))
      count++;
  }
  return count;
}
