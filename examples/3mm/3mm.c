/* G = (A * B) * (C * D). */

#ifndef N
#define N 8
#endif

void k3mm(int A[N][N], int B[N][N], int C[N][N], int D[N][N], int E[N][N], int F[N][N], int G[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      E[i][j] = 0;
      for (int k = 0; k < N; k++)
        E[i][j] += A[i][k] * B[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      F[i][j] = 0;
      for (int k = 0; k < N; k++)
        F[i][j] += C[i][k] * D[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      G[i][j] = 0;
      for (int k = 0; k < N; k++)
        G[i][j] += E[i][k] * F[k][j];
    }
#pragma endscop
}
