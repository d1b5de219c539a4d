/* x1 = x1 + A * y1, x2 = x2 + A' * y2. */

#include <stdint.h>

void mvt(uint32_t A[8][8], uint32_t x1[8], uint32_t x2[8], uint32_t y1[8], uint32_t y2[8])
{
  for (int i = 0; i < 8; i++)
  row:
    for (int j = 0; j < 8; j++)
      x1[i] += A[i][j] * y1[j];
column:
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++)
      x2[i] += A[j][i] * y2[j];
}
