/* A[r][q][:] = A[r][q][:] * C4, row by row through one row of sums. */

#ifndef N
#define N 8
#endif

void doitgen(int A[N][N][N], int C4[N][N], int sum[N])
{
#pragma scop
  for (int r = 0; r < N; r++)
    for (int q = 0; q < N; q++) {
      for (int p = 0; p < N; p++) {
        sum[p] = 0;
        for (int s = 0; s < N; s++)
          sum[p] += A[r][q][s] * C4[s][p];
      }
      for (int p = 0; p < N; p++)
        A[r][q][p] = sum[p];
    }
#pragma endscop
}
