/* C = alpha * A * A' + beta * C, the lower triangle. */

#include <stdint.h>

void syrk(uint32_t alpha, uint32_t beta, uint32_t A[12][8], uint32_t C[12][12])
{
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < 8; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += alpha * A[i][k] * A[j][k];
  }
}
