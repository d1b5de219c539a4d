/* A = L * U, both in the place of A; a quotient is cut to an integer. */

#include <stdint.h>

void lu(uint32_t A[8][8])
{
  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < i; j++) {
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[k][j];
      A[i][j] /= A[j][j];
    }
    for (int j = i; j < 8; j++)
      for (int k = 0; k < i; k++)
        A[i][j] -= A[i][k] * A[k][j];
  }
}
