/* A += u1*v1' + u2*v2'; x += beta*A'*y; x += z; w += alpha*A*x, no sum in an inner loop. */

#ifndef N
#define N 8
#endif

void gemver_opt(int alpha, int beta, int A[N][N], int u1[N], int v1[N], int u2[N], int v2[N],
                int x[N], int y[N], int z[N], int w[N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++)
      A[i][j] += u1[i] * v1[j] + u2[i] * v2[j];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      x[i] += beta * A[j][i] * y[j];
  for (int i = 0; i < N; i++)
    x[i] += z[i];
  for (int j = 0; j < N; j++)
    for (int i = 0; i < N; i++)
      w[i] += alpha * A[i][j] * x[j];
#pragma endscop
}
