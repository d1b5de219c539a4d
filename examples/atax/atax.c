/* y = A^T * (A * x). */

#ifndef N
#define N 8
#endif

void atax(int A[N][N], int x[N], int y[N], int tmp[N])
{
#pragma scop
  for (int j = 0; j < N; j++)
    y[j] = 0;
  for (int i = 0; i < N; i++) {
    tmp[i] = 0;
    for (int j = 0; j < N; j++)
      tmp[i] += A[i][j] * x[j];
    for (int j = 0; j < N; j++)
      y[j] += A[i][j] * tmp[i];
  }
#pragma endscop
}
