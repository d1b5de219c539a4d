/* A[r][q][.] = A[r][q][.] * C4, a vector times a matrix for each r and q. */

#include <stdint.h>

void doitgen(uint32_t A[8][8][8], uint32_t C4[8][8])
{
  uint32_t sum[8];

  for (int r = 0; r < 8; r++)
    for (int q = 0; q < 8; q++) {
      for (int p = 0; p < 8; p++) {
        sum[p] = 0;
        for (int s = 0; s < 8; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < 8; p++)
        A[r][q][p] = sum[p];
    }
}
