/* G = (A * B) * (C * D). */

#include <stdint.h>

void k3mm(uint32_t A[8][8], uint32_t B[8][8], uint32_t C[8][8], uint32_t D[8][8], uint32_t G[8][8])
{
  uint32_t E[8][8], F[8][8];

row:
  for (int i = 0; i < 8; i++)
    for (int j = 0; j < 8; j++) {
      E[i][j] = 0;
      for (int k = 0; k < 8; k++)
        E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < 8; i++)
  column:
    for (int j = 0; j < 8; j++) {
      F[i][j] = 0;
      for (int k = 0; k < 8; k++)
        F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < 8; i++)
  column:
    for (int j = 0; j < 8; j++) {
      G[i][j] = 0;
      for (int k = 0; k < 8; k++)
        G[i][j] += E[i][k] * F[k][j];
    }
}
