/* C = alpha * A * B' + alpha * B * A' + beta * C, the lower triangle. */

#include <stdint.h>

void syr2k(uint32_t alpha, uint32_t beta, uint32_t A[12][8], uint32_t B[12][8],
           uint32_t C[12][12])
{
  for (int i = 0; i < 12; i++) {
    for (int j = 0; j <= i; j++)
      C[i][j] *= beta;
    for (int k = 0; k < 8; k++)
      for (int j = 0; j <= i; j++)
        C[i][j] += A[j][k] * alpha * B[i][k] + B[j][k] * alpha * A[i][k];
  }
}
