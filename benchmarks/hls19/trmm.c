/* B = alpha * A' * B, where A is lower triangular with ones on its diagonal. */

#include <stdint.h>

void trmm(uint32_t alpha, uint32_t A[8][8], uint32_t B[8][12])
{
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 12; j++) {
      for (int k = i + 1; k < 8; k++)
        B[i][j] += A[k][i] * B[k][j];
      B[i][j] *= alpha;
    }
}
