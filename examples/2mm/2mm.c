/* D = alpha * A * B * C + beta * D. */

#ifndef N
#define N 8
#endif

void k2mm(int alpha, int beta, int A[N][N], int B[N][N], int C[N][N], int D[N][N], int tmp[N][N])
{
#pragma scop
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      tmp[i][j] = 0;
      for (int k = 0; k < N; k++)
        tmp[i][j] += alpha * A[i][k] * B[k][j];
    }
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      D[i][j] *= beta;
      for (int k = 0; k < N; k++)
        D[i][j] += tmp[i][k] * C[k][j];
    }
#pragma endscop
}
