/* A = A + u1 * v1' + u2 * v2', x = x + beta * A' * y + z, w = w + alpha * A * x. */

#include <stdint.h>

void gemver(uint32_t alpha, uint32_t beta, uint32_t A[8][8], uint32_t u1[8], uint32_t v1[8],
            uint32_t u2[8], uint32_t v2[8], uint32_t w[8], uint32_t x[8], uint32_t y[8],
            uint32_t z[8])
{
  for (int i = 0; i < 8; i++)
  update:
    for (int j = 0; j < 8; j++)
      A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
column:
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      x[i] += beta * A[j][i] * y[j];
add:
  for (int i = 0; i < 8; i++)
    x[i] += z[i];
  for (int i = 0; i < 8; i++)
  row:
    for (int j = 0; j < 8; j++)
      w[i] += alpha * A[i][j] * x[j];
}
