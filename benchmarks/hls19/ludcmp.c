/* Solve A * x = b by A = L * U; a quotient is cut to an integer. */

#include <stdint.h>

void ludcmp(uint32_t A[8][8], uint32_t b[8], uint32_t x[8], uint32_t y[8])
{
  uint32_t w;

  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < i; j++) {
      w = A[i][j];
      for (int k = 0; k < j; k++)
        w -= A[i][k] * A[k][j];
      A[i][j] = w / A[j][j];
    }
    for (int j = i; j < 8; j++) {
      w = A[i][j];
      for (int k = 0; k < i; k++)
        w -= A[i][k] * A[k][j];
      A[i][j] = w;
    }
  }
  for (int i = 0; i < 8; i++) {
    w = b[i];
    for (int j = 0; j < i; j++)
      w -= A[i][j] * y[j];
    y[i] = w;
  }
  for (int i = 7; i >= 0; i--) {
    w = y[i];
    for (int j = i + 1; j < 8; j++)
      w -= A[i][j] * x[j];
    x[i] = w / A[i][i];
  }
}
