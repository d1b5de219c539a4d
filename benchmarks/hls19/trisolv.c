/* Solve L * x = b for a lower triangular L; a quotient is cut to an integer. */

#include <stdint.h>

void trisolv(uint32_t L[8][8], uint32_t b[8], uint32_t x[8])
{
  for (int i = 0; i < 8; i++) {
    x[i] = b[i];
    for (int j = 0; j < i; j++)
      x[i] -= L[i][j] * x[j];
    x[i] /= L[i][i];
  }
}
