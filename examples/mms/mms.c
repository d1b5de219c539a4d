/* Matrix multiply, summed, twice: C += A * B, then D += C * E. */

#ifndef N
#define N 8
#endif

void mms(int A[N][N], int B[N][N], int C[N][N], int D[N][N], int E[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        C[i][j] += A[i][k] * B[k][j];
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      for (int k = 0; k < N; k++)
        D[i][k] += C[i][j] * E[j][k];
#pragma endscop
}
