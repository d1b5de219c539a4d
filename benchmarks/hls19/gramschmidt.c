/* A = Q * R by the modified Gram-Schmidt process; quotients and roots are cut to integers. */

#include <stdint.h>

void gramschmidt(uint32_t A[8][8], uint32_t R[8][8], uint32_t Q[8][8])
{
  uint32_t norm, rest, root;

  for (int k = 0; k < 8; k++) {
    norm = 0;
  square:
    for (int i = 0; i < 8; i++)
      norm += A[i][k] * A[i][k];
    /* The root of norm, a binary digit at a time: a stage for each. */
    rest = norm;
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
    R[k][k] = root;
    for (int i = 0; i < 8; i++)
      Q[i][k] = A[i][k] / R[k][k];
    for (int j = k + 1; j < 8; j++) {
      R[k][j] = 0;
    project:
      for (int i = 0; i < 8; i++)
        R[k][j] += Q[i][k] * A[i][j];
    subtract:
      for (int i = 0; i < 8; i++)
        A[i][j] -= Q[i][k] * R[k][j];
    }
  }
}
