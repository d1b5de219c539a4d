/* s = A' * r, q = A * p. */

#include <stdint.h>

void bicg(uint32_t A[8][8], uint32_t p[8], uint32_t r[8], uint32_t s[8], uint32_t q[8])
{
  for (int i = 0; i < 8; i++)
    s[i] = 0;
  for (int i = 0; i < 8; i++) {
    q[i] = 0;
    for (int j = 0; j < 8; j++) {
      s[j] += r[i] * A[i][j];
      q[i] += A[i][j] * p[j];
    }
  }
}
