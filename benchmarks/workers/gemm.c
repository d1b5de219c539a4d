/* A product of matrices, weighed and added. */

#ifndef N
#define N 64
#endif

void gemm(int alpha, int beta, int A[N][N], int B[N][N], int C[N][N])
{
  for (int i = 0; i < N; i++)
    for (int j = 0; j < N; j++) {
      C[i][j] *= beta;
      for (int k = 0; k < N; k++)
        C[i][j] += alpha * A[i][k] * B[k][j];
    }
}
