/* y = A' * (A * x). */

#include <stdint.h>

void atax(uint32_t A[8][8], uint32_t x[8], uint32_t y[8])
{
  uint32_t tmp[8];

  for (int i = 0; i < 8; i++)
    y[i] = 0;
  for (int i = 0; i < 8; i++) {
    tmp[i] = 0;
    for (int j = 0; j < 8; j++)
      tmp[i] += A[i][j] * x[j];
    for (int j = 0; j < 8; j++)
      y[j] += A[i][j] * tmp[i];
  }
}
