#include <math.h>

/* Several functions of <math.h> in one kernel: some two hundred statements. */
void functions(const float x[64], const float w[64], float y[64], float z[64])
{
  for (int i = 0; i < 64; i++) {
    float t = tanhf(expf(x[i]) * w[i]);
    y[i] = sinf(t) * cosf(w[i]);
    z[i] = logf(t + 1.5f) + powf(fabsf(x[i]), 1.5f);
  }
}
