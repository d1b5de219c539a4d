/* y = alpha * A * x + beta * B * x. */

#include <stdint.h>

void gesummv(uint32_t alpha, uint32_t beta, uint32_t A[8][8], uint32_t B[8][8], uint32_t x[8],
             uint32_t y[8])
{
  uint32_t tmp[8];

  for (int i = 0; i < 8; i++) {
    tmp[i] = 0;
    y[i] = 0;
    for (int j = 0; j < 8; j++) {
      tmp[i] += A[i][j] * x[j];
      y[i] += B[i][j] * x[j];
    }
    y[i] = alpha * tmp[i] + beta * y[i];
  }
}
