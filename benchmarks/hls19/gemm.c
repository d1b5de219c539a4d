/* C = alpha * A * B + beta * C. */

#include <stdint.h>

void gemm(uint32_t alpha, uint32_t beta, uint32_t A[8][8], uint32_t B[8][8], uint32_t C[8][8])
{
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < 8; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
}
