/* C = alpha * A * B + beta * C, where A is symmetric and its lower triangle is stored. */

#include <stdint.h>

void symm(uint32_t alpha, uint32_t beta, uint32_t A[8][8], uint32_t B[8][12], uint32_t C[8][12])
{
  uint32_t upper;

  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 12; j++) {
      upper = 0;
      for (int k = 0; k < i; k++) {
        C[k][j] += alpha * B[i][j] * A[i][k];
        upper += B[k][j] * A[i][k];
      }
      C[i][j] = beta * C[i][j] + alpha * B[i][j] * A[i][i] + alpha * upper;
    }
}
