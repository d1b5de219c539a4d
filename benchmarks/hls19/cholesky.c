/* A = L * L', L in the place of A's lower triangle; quotients and roots are cut to integers. */

#include <stdint.h>

void cholesky(uint32_t A[8][8])
{
  uint32_t rest, root;

  for (int i = 0; i < 8; i++) {
    for (int j = 0; j < i; j++) {
    update:
      for (int k = 0; k < j; k++)
        A[i][j] -= A[i][k] * A[j][k];
      A[i][j] /= A[j][j];
    }
    for (int k = 0; k < i; k++)
      A[i][i] -= A[i][k] * A[i][k];
    /* The root of A[i][i], a binary digit at a time: a stage for each. */
    rest = A[i][i];
    root = 0;
    for (int d = 0; d < 16; d++) {
#pragma HLS UNROLL
      uint32_t t = root + (0x40000000u >> 2 * d);
      if (rest >= t) {
        rest -= t;
        root = (root >> 1) + (0x40000000u >> 2 * d);
      } else
        root >>= 1;
    }
    A[i][i] = root;
  }
}
