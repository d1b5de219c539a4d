/* Two products of matrices, of which one takes the other. */

#ifndef N
#define N 64
#endif

void mm2(int alpha, int beta, int A[N][N], int B[N][N], int C[N][N], int D[N][N])
{
  int tmp[N][N];
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
}
