/* D = alpha * A * B * C + beta * D. */

#include <stdint.h>

void k2mm(uint32_t alpha, uint32_t beta, uint32_t A[8][8], uint32_t B[8][8], uint32_t C[8][8],
          uint32_t D[8][8])
{
  uint32_t tmp[8][8];

  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < 8; k++)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < 8; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }
}
